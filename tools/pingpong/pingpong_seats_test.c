/* pingpong_seats_test.c - where processes sit, by where they may run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/pingpong/pingpong.h"

#include "cli/command.h"
#include "topology/node/node_fixture.h"

#include <string.h>

/* Two packages of two cores of two threads: core c has processors c and c + 4. */
static TopoNode *
threaded_node (void)
{
  g_autoptr (GError) error = NULL;
  TopoNode *node =
      node_fixture_synthetic ("package:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)", &error);

  g_assert_no_error (error);
  return node;
}

/* Processes of one node that may run on these processors, a bit for each. */
static void
put (CliPingpongProcess processes[], const uint32_t bits[], uint32_t n)
{
  memset (processes, 0, n * sizeof *processes);
  for (uint32_t rank = 0; rank < n; rank++) {
    processes[rank].local = rank;
    for (uint32_t cpu = 0; cpu < 32; cpu++)
      processes[rank].may_run[cpu] = bits[rank] >> cpu & 1;
  }
}

static CliPingpongSeating *
seat (const TopoNode *node, const CliPingpongProcess processes[], uint32_t n, guint n_warnings)
{
  g_autoptr (GError) error = NULL;
  CliPingpongSeating *seating = cli_pingpong_seating_new (node, processes, n, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (seating->warnings->len, ==, n_warnings);
  return seating;
}

static void
assert_refused (const TopoNode *node, const CliPingpongProcess processes[], uint32_t n,
                const char *words)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (cli_pingpong_seating_new (node, processes, n, &error));
  g_assert_error (error, CLI_ERROR, CLI_ERROR_FILE);
  g_assert_nonnull (strstr (error->message, words));
}

/* A core is one place, whichever of its threads a process may run on. */
static void
test_on_cores (void)
{
  g_autoptr (TopoNode) node = threaded_node ();
  CliPingpongProcess processes[3];
  g_autoptr (CliPingpongSeating) seating = NULL;

  put (processes, (const uint32_t[]){ 0x20, 0x88, 0x01 }, 3);
  processes[2].node = 1;
  seating = seat (node, processes, 3, 0);
  g_assert_cmpuint (seating->seats[0].place, ==, 1);
  g_assert_cmpuint (seating->seats[1].place, ==, 3);
  g_assert_cmpuint (seating->seats[2].place, ==, 0);
  g_assert_cmpuint (seating->seats[2].node, ==, 1);
  g_assert_cmpuint (seating->levels->n_places, ==, 4);
}

static void
test_shared_core (void)
{
  g_autoptr (TopoNode) node = threaded_node ();
  CliPingpongProcess processes[3];
  g_autoptr (CliPingpongSeating) seating = NULL;

  put (processes, (const uint32_t[]){ 0x01, 0x02, 0x10 }, 3);
  seating = seat (node, processes, 3, 1);
  g_assert_cmpuint (seating->seats[0].place, ==, 0);
  g_assert_cmpuint (seating->seats[2].place, ==, TOPO_NONE);
}

static void
test_refused (void)
{
  g_autoptr (TopoNode) node = threaded_node ();
  CliPingpongProcess processes[2];

  put (processes, (const uint32_t[]){ 0x01, 0x03 }, 2);
  assert_refused (node, processes, 2, "process 1 is not bound to one core");
  put (processes, (const uint32_t[]){ 0x01, 0x100 }, 2);
  assert_refused (node, processes, 2, "process 1 may run on processor 8, which");
  put (processes, (const uint32_t[]){ 0x01, 0 }, 2);
  assert_refused (node, processes, 2, "process 1: its processors are unknown");
  assert_refused (NULL, processes, 2, "process 1: its processors are unknown");
}

/* In the order of processors, each node by itself. */
static void
test_in_a_row (void)
{
  CliPingpongProcess processes[5];
  g_autoptr (CliPingpongSeating) seating = NULL;

  put (processes, (const uint32_t[]){ 0x08, 0x04, 0x01, 0x02, 0x02 }, 5);
  processes[3].node = processes[4].node = 1;
  processes[4].may_run[1] = 0;
  processes[4].may_run[0] = 1;
  seating = seat (NULL, processes, 5, 0);
  g_assert_cmpuint (seating->seats[0].place, ==, 2);
  g_assert_cmpuint (seating->seats[1].place, ==, 1);
  g_assert_cmpuint (seating->seats[2].place, ==, 0);
  g_assert_cmpuint (seating->seats[3].place, ==, 1);
  g_assert_cmpuint (seating->seats[4].place, ==, 0);
  g_assert_cmpuint (seating->levels->n_places, ==, 3);
}

/* Two reasons why a place is not of one process alone, told apart; sets that have nothing in common
 * are none. */
static void
test_warnings (void)
{
  static const struct {
    uint32_t bits[2];
    const char *words;
  } cases[] = { { { 0x3, 0x3 }, "not bound" },
                { { 0x3, 0x2 }, "not bound" },
                { { 0x2, 0x2 }, "share a processor" },
                { { 0x3, 0xc }, NULL } };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    CliPingpongProcess processes[2];
    g_autoptr (CliPingpongSeating) seating = NULL;

    put (processes, cases[at].bits, 2);
    seating = seat (NULL, processes, 2, cases[at].words != NULL);
    if (cases[at].words != NULL)
      g_assert_nonnull (strstr (g_ptr_array_index (seating->warnings, 0), cases[at].words));
  }
}

static void
test_choose (void)
{
  g_autoptr (TopoNode) node = threaded_node ();
  CliPingpongProcess processes[6];
  static const uint32_t all[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0x80 };
  static const uint32_t expected[] = { 0, 1, 2, 3, 0, 7 }, expected_flat[] = { 0, 1, 2, 3, 4, 7 };
  g_autofree uint32_t *cpu = NULL, *flat = NULL;

  put (processes, all, 6);
  processes[5].node = 1;
  processes[5].local = 0;
  cpu = cli_pingpong_choose_cpus (node, processes, 6, NULL);
  flat = cli_pingpong_choose_cpus (NULL, processes, 6, NULL);
  g_assert_cmpmem (cpu, sizeof expected, expected, sizeof expected);
  g_assert_cmpmem (flat, sizeof expected_flat, expected_flat, sizeof expected_flat);
}

static void
test_pretend (void)
{
  static const uint32_t node[] = { 0, 0, 0, 1, 1 }, local[] = { 0, 1, 2, 0, 1 };
  CliPingpongProcess processes[5] = { { 0 } };

  cli_pingpong_pretend_nodes (processes, 5, 2);
  for (uint32_t rank = 0; rank < 5; rank++) {
    g_assert_cmpuint (processes[rank].node, ==, node[rank]);
    g_assert_cmpuint (processes[rank].local, ==, local[rank]);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/pingpong-seats/on-cores", test_on_cores);
  g_test_add_func ("/cli/pingpong-seats/shared-core", test_shared_core);
  g_test_add_func ("/cli/pingpong-seats/refused", test_refused);
  g_test_add_func ("/cli/pingpong-seats/in-a-row", test_in_a_row);
  g_test_add_func ("/cli/pingpong-seats/warnings", test_warnings);
  g_test_add_func ("/cli/pingpong-seats/choose", test_choose);
  g_test_add_func ("/cli/pingpong-seats/pretend", test_pretend);
  return g_test_run ();
}
