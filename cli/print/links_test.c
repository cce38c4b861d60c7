/* links_test.c - counters as rows: which link is which line and column.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/links.h"

#include <glib/gstdio.h>
#include <stdlib.h>

/* A text that is written to `out`. */
typedef struct {
  FILE *out;
  char *text;
  size_t length;
} Text;

static FILE *
text_open (Text *text)
{
  return text->out = open_memstream (&text->text, &text->length);
}

/* Its lines. */
static char **
text_close (Text *text)
{
  char **lines;

  fclose (text->out);
  lines = g_strsplit (text->text, "\n", -1);
  free (text->text);
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
  g_auto (GStrv) lines = NULL;
  Text text;

  counters->link[1].payload_bytes = 7; /* A+ of node 0 */
  cli_links_write_csv (text_open (&text), machine, counters);
  lines = text_close (&text);
  g_assert_cmpuint (g_strv_length (lines), ==, 6); /* heading, 4 links, the end of the last line */
  g_assert_cmpstr (lines[1], ==, "0,A+,7,0,0,0,,,");
  g_assert_true (g_str_has_prefix (lines[2], "1,A-,0,"));
  g_assert_true (g_str_has_prefix (lines[4], "2,A-,0,"));
  sim_counters_free (counters);
}

/* Traffic out of A+ of node 0,... arrives through A- of its neighbour: one has the numbers of the
 * sender, the other those of the receiver. */
static void
test_bgqncl_ports (void)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:4x4x4x4x2", NULL);
  g_autoptr (TopoMapping) mapping = topo_mapping_new ("TEDCBA", machine, 2, NULL);
  SimCounters *counters = sim_counters_new (machine);
  SimLinkCounters *link = &counters->link[link_number (machine, (TopoCoordinates){ { 0 } }, 1)];
  g_auto (GStrv) lines = NULL;
  Text text;

  link->dynamic_chunks = 100;
  link->bubble_chunks = 20;
  link->priority_chunks = 3;
  link->received_packets = 9;
  link->buffered_ps = 10 * SIM_NETWORK_CYCLE_PS;
  cli_links_write_bgqncl (text_open (&text), machine, mapping, counters);
  lines = text_close (&text);
  g_assert_cmpuint (g_strv_length (lines), ==, 513);
  g_assert_true (g_str_has_prefix (lines[0], "0 0 0 0 0 0 0 0 ** 0 0 0 0 0 0 123 100 23 0 0 0 "));
  g_assert_true (g_str_has_prefix (lines[1], "0 -1 0 0 0 0 1 0 ** "));
  g_assert_true (g_str_has_prefix (lines[128], "0 1 1 0 0 0 0 0 ** 0 0 0 0 9 10 0 0 0 0 0 0 "));
  sim_counters_free (counters);
}

/* Two adapters of one name go by their ids; the switch has its own. */
static TopoMachine *
fabric_machine (void)
{
  g_autofree char *path = NULL;
  g_autofree char *spec = NULL;
  int file = g_file_open_tmp ("links-XXXXXX", &path, NULL);
  TopoMachine *machine;

  g_assert_true (g_file_set_contents (path,
                                      "Switch 2 \"S-1\" # \"leaf, left\"\n"
                                      "[1] \"H-1\"[1] # 4xQDR\n[2] \"H-2\"[1] # 4xQDR\n\n"
                                      "Ca 1 \"H-1\" # \"MT25408\"\n[1] \"S-1\"[1] # 4xQDR\n\n"
                                      "Ca 1 \"H-2\" # \"MT25408\"\n[1] \"S-1\"[2] # 4xQDR\n",
                                      -1, NULL));
  spec = g_strconcat ("fabric:", path, NULL);
  machine = topo_machine_new (spec, NULL);
  g_assert_nonnull (machine);
  g_close (file, NULL);
  g_unlink (path);
  return machine;
}

/* Link 0 begins at port 1 of the switch, link 2 at the first adapter. */
static void
test_fabric_rows (void)
{
  g_autoptr (TopoMachine) machine = fabric_machine ();
  g_autofree char *name = cli_link_name (machine, 2);
  SimCounters *counters = sim_counters_new (machine);
  g_auto (GStrv) without = NULL, lines = NULL;
  Text text;

  g_assert_cmpstr (name, ==, "H-1 port 1 -> leaf, left port 1");
  g_assert_false (cli_links_fit_bgqncl (machine));
  cli_links_write_csv (text_open (&text), machine, counters);
  without = text_close (&text); /* packets */
  g_assert_true (g_str_has_suffix (without[1], ",4,QDR,0,,,,,,,"));

  counters->has_buffers = true;
  counters->link[0] = (SimLinkCounters){ .payload_bytes = 1000,
                                         .wire_bytes = 1100,
                                         .sent_packets = 2,
                                         .received_packets = 3,
                                         .wait_ps = 5000,
                                         .buffered_packets = 1,
                                         .buffered_ps = 7999 };
  counters->link[2] =
      (SimLinkCounters){ .wire_bytes = 60, .sent_packets = 4, .received_packets = 5 };
  cli_links_write_csv (text_open (&text), machine, counters);
  lines = text_close (&text);
  g_assert_cmpuint (g_strv_length (lines), ==, 6); /* heading, 4 links, the end of the last line */
  g_assert_cmpstr (lines[1], ==,
                   "\"leaf, left port 1 -> H-1 port 1\",\"leaf, left\",1,H-1,1,4,QDR,1000,"
                   "275,2,15,5,5,1,7.999");
  g_assert_cmpstr (lines[3], ==,
                   "\"H-1 port 1 -> leaf, left port 1\",H-1,1,\"leaf, left\",1,4,QDR,0,"
                   "15,4,275,3,0,0,0");
  sim_counters_free (counters);
}

/* Rank 1 is in the second slot of the first node, whose core is 3. */
static void
test_fabric_ranks (void)
{
  g_autoptr (TopoMachine) machine = fabric_machine ();
  SimRankTimes times[2] = { { .end_ps = 1000000 }, { .end_ps = 2000000, .sends = 4 } };
  SimReplayResult result = { .n_ranks = 2, .ranks = times };
  g_autoptr (TopoMapping) mapping = NULL;
  g_auto (GStrv) lines = NULL;
  Text text;

  machine->ranks_per_node = 2;
  machine->slot_core[0] = 0;
  machine->slot_core[1] = 3;
  mapping = topo_mapping_new (NULL, machine, 2, NULL);
  cli_ranks_write_csv (text_open (&text), machine, mapping, &result, NULL);
  lines = text_close (&text);
  g_assert_cmpstr (lines[0], ==, "rank,node,host,slot,core,end_s,compute_s,wait_s,sends,receives");
  g_assert_cmpstr (lines[1], ==, "0,0,H-1,0,0,1e-06,0,0,0,0");
  g_assert_cmpstr (lines[2], ==, "1,0,H-1,1,3,2e-06,0,0,4,0");
}

/* Rank 1 has no loop. */
static void
test_iterations_of_ranks (void)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("torus:2", NULL);
  g_autoptr (TopoMapping) mapping = topo_mapping_new (NULL, machine, 2, NULL);
  SimRankTimes times[2] = { { .end_ps = 9000000 }, { .end_ps = 2000000 } };
  SimReplayResult result = { .n_ranks = 2, .ranks = times };
  SimRankIterations ranks[2] = { { .n_ends = 5,
                                   .begin_ps = 1000000,
                                   .last_ps = 9000000,
                                   .least_ps = 1500000,
                                   .most_ps = 3000000 } };
  SimIterations iterations = { .count = 4, .n_ranks = 2, .ranks = ranks };
  g_auto (GStrv) lines = NULL;
  Text text;

  cli_ranks_write_csv (text_open (&text), machine, mapping, &result, &iterations);
  lines = text_close (&text);
  g_assert_cmpstr (lines[0], ==,
                   "rank,node,slot,end_s,compute_s,wait_s,sends,receives,iterations,"
                   "iteration_mean_s,iteration_least_s,iteration_most_s");
  g_assert_cmpstr (lines[1], ==, "0,0,0,9e-06,0,0,0,0,4,2e-06,1.5e-06,3e-06");
  g_assert_cmpstr (lines[2], ==, "1,1,0,2e-06,0,0,0,0,,,,");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/links/hottest-first", test_hottest_first);
  g_test_add_func ("/cli/links/names", test_names);
  g_test_add_func ("/cli/links/csv", test_csv_has_existing_links_only);
  g_test_add_func ("/cli/links/bgqncl-ports", test_bgqncl_ports);
  g_test_add_func ("/cli/links/fabric-rows", test_fabric_rows);
  g_test_add_func ("/cli/links/fabric-ranks", test_fabric_ranks);
  g_test_add_func ("/cli/links/iterations-of-ranks", test_iterations_of_ranks);
  return g_test_run ();
}
