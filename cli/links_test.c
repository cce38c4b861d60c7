/* links_test.c - counters as rows: which link is which line and column.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/links.h"

#include <stdlib.h>

/* Lines of what was written to `text` by the time `out` is closed. */
static char **
lines_of (FILE *out, char **text)
{
  char **lines;

  fclose (out);
  lines = g_strsplit (*text, "\n", -1);
  free (*text);
  return lines;
}

static uint32_t
link_number (const TopoMachine *machine, TopoCoordinates from, uint32_t port)
{
  return topo_shape_node (&machine->shape, from) * topo_shape_ports (&machine->shape) + port;
}

static void
test_hottest_first (void)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("torus:8", NULL);
  SimCounters *counters = sim_counters_new (machine);
  uint32_t links[3];

  g_assert_cmpuint (cli_links_hottest (counters, links, 3), ==, 0);
  counters->link[5].payload_bytes = 10;
  counters->link[2].payload_bytes = 30;
  g_assert_cmpuint (cli_links_hottest (counters, links, 3), ==, 2);
  counters->link[9].payload_bytes = 20;
  counters->link[7].payload_bytes = 20;
  counters->link[11].payload_bytes = 40;
  g_assert_cmpuint (cli_links_hottest (counters, links, 3), ==, 3);
  g_assert_cmpuint (links[0], ==, 11);
  g_assert_cmpuint (links[1], ==, 2);
  g_assert_cmpuint (links[2], ==, 7); /* of equal ones the first */
  sim_counters_free (counters);
}

static void
test_names (void)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:4x4x4x4x2", NULL);
  g_autofree char *plus =
      cli_link_name (machine, link_number (machine, (TopoCoordinates){ { 3, 0, 1, 2, 1 } }, 5));
  g_autofree char *minus =
      cli_link_name (machine, link_number (machine, (TopoCoordinates){ { 0, 0, 0, 0, 0 } }, 8));

  g_assert_cmpstr (plus, ==, "C+ of 3,0,1,2,1");
  g_assert_cmpstr (minus, ==, "E- of 0,0,0,0,0");
}

static void
test_csv_has_existing_links_only (void)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("torus:3m", NULL);
  SimCounters *counters = sim_counters_new (machine);
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream (&text, &length);
  g_auto (GStrv) lines = NULL;

  counters->link[1].payload_bytes = 7; /* A+ of node 0 */
  cli_links_write_csv (out, machine, counters);
  lines = lines_of (out, &text);
  g_assert_cmpuint (g_strv_length (lines), ==, 6); /* heading, 4 links, what ends the last */
  g_assert_true (g_str_has_prefix (lines[1], "0,A+,7,"));
  g_assert_true (g_str_has_prefix (lines[2], "1,A-,0,"));
  g_assert_true (g_str_has_prefix (lines[4], "2,A-,0,"));
  sim_counters_free (counters);
}

/* What goes out through A+ of node 0,... comes in through A- of its
 * neighbour: sent numbers stand at the one, received ones at the other. */
static void
test_bgqncl_ports (void)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:4x4x4x4x2", NULL);
  g_autoptr (TopoMapping) mapping = topo_mapping_new ("TEDCBA", machine, 2, NULL);
  SimCounters *counters = sim_counters_new (machine);
  SimLinkCounters *link = &counters->link[link_number (machine, (TopoCoordinates){ { 0 } }, 1)];
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream (&text, &length);
  g_auto (GStrv) lines = NULL;

  link->dynamic_chunks = 100;
  link->bubble_chunks = 20;
  link->priority_chunks = 3;
  link->received_packets = 9;
  link->buffered_ps = 10 * SIM_NETWORK_CYCLE_PS;
  cli_links_write_bgqncl (out, machine, mapping, counters);
  lines = lines_of (out, &text);
  g_assert_cmpuint (g_strv_length (lines), ==, 513);
  g_assert_true (g_str_has_prefix (lines[0], "0 0 0 0 0 0 0 0 ** 0 0 0 0 0 0 123 100 23 0 0 0 "));
  g_assert_true (g_str_has_prefix (lines[1], "0 -1 0 0 0 0 1 0 ** "));
  g_assert_true (g_str_has_prefix (lines[128], "0 1 1 0 0 0 0 0 ** 0 0 0 0 9 10 0 0 0 0 0 0 "));
  sim_counters_free (counters);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/links/hottest-first", test_hottest_first);
  g_test_add_func ("/cli/links/names", test_names);
  g_test_add_func ("/cli/links/csv", test_csv_has_existing_links_only);
  g_test_add_func ("/cli/links/bgqncl-ports", test_bgqncl_ports);
  return g_test_run ();
}
