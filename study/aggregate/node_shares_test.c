/* node_shares_test.c - what patterns leave to their tasks, by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Bandwidths are set here and not taken from the defaults, so that a better default breaks no
 * test. */
#include "study/aggregate/node_shares.h"

#include "study/aggregate/network_pingpong.h"
#include "topology/node/node_fixture.h"

#include <math.h>

#define KIB 1024.0
#define MIB (1024 * KIB)

/* A core can take half of what a bus gives, a third of what memory does. */
static TopoMachine *
new_machine (void)
{
  g_autoptr (GError) error = NULL;
  TopoMachine *machine = topo_machine_new ("systemg:2", &error);

  g_assert_no_error (error);
  machine->parameters.memory.core_memory_bandwidth_Bps = 4000000000;
  machine->parameters.memory.bus_bandwidth_Bps = 8000000000;
  machine->parameters.memory.dram_bandwidth_Bps = 12000000000;
  return machine;
}

/* Of the eight patterns of the aggregation paper: the part of an L2 of 6 MiB, and the worse of tasks of
 * a package / 2 and tasks of the node / 3. */
static void
test_harpertown_by_hand (void)
{
  static const double expected[8][2] = { { 6, 1 },       { 6, 1 },       { 6, 1 }, { 3, 1 },
                                         { 6, 4.0 / 3 }, { 3, 4.0 / 3 }, { 3, 2 }, { 3, 8.0 / 3 } };
  g_autoptr (TopoMachine) machine = new_machine ();
  g_autoptr (TopoPatterns) patterns = topo_patterns_new (machine->node, TOPO_PATTERNS_DEFAULT);

  g_assert_cmpuint (patterns->n, ==, 8);
  for (uint32_t id = 1; id <= 8; id++) {
    const TopoPattern *pattern = &patterns->pattern[id - 1];
    g_autofree PredictShare *shares =
        study_pattern_shares (machine->node, &machine->parameters, patterns->levels, pattern);

    for (uint32_t task = 0; task < pattern->n_tasks; task++) {
      g_assert_cmpfloat (shares[task].private_bytes, ==, 32 * KIB);
      g_assert_cmpfloat (shares[task].cache_bytes, ==, expected[id - 1][0] * MIB);
      g_assert_cmpfloat_with_epsilon (shares[task].crowding, expected[id - 1][1], 1e-12);
    }
  }
}

/* What the model then says of a program that mostly waits for memory: no pattern of as many tasks
 * is better than one that spreads them wider, and the full node is worst. */
static void
test_harpertown_order (void)
{
  static const uint32_t not_better[][2] = { { 2, 3 }, { 3, 4 }, { 5, 6 }, { 6, 7 }, { 7, 8 } };
  const PredictMemoryUse use = { 0.7, INFINITY, 0.5 };
  g_autoptr (TopoMachine) machine = new_machine ();
  g_autoptr (TopoPatterns) patterns = topo_patterns_new (machine->node, TOPO_PATTERNS_DEFAULT);
  double slowdown[9];

  for (uint32_t id = 1; id <= 8; id++) {
    const TopoPattern *pattern = &patterns->pattern[id - 1];
    g_autofree PredictShare *first = study_pattern_shares (machine->node, &machine->parameters,
                                                           patterns->levels, &patterns->pattern[0]);
    g_autofree PredictShare *shares =
        study_pattern_shares (machine->node, &machine->parameters, patterns->levels, pattern);

    slowdown[id] = predict_sharing_slowdown (shares, pattern->n_tasks, first, 1, &use);
  }
  g_assert_cmpfloat (slowdown[1], ==, 1);
  g_assert_cmpfloat (slowdown[4], >, 1); /* by the shared cache alone */
  /* (0.3 + 0.7 / sqrt (96) * 8/3) / (0.3 + 0.7 / sqrt (192)) */
  g_assert_cmpfloat_with_epsilon (slowdown[8], 1.39940, 1e-5);
  for (gsize at = 0; at < G_N_ELEMENTS (not_better); at++)
    g_assert_cmpfloat (slowdown[not_better[at][0]], <=, slowdown[not_better[at][1]]);
}

/* Of tasks on these cores. */
static PredictShare *
shares_on (const TopoNode *node, const TopoMachine *machine, const uint32_t *core, uint32_t n_tasks)
{
  uint32_t every_core[16];
  const TopoLevels levels = { .core = every_core };
  const TopoPattern pattern = { .n_tasks = n_tasks, .place = (uint32_t *) core };

  g_assert_cmpuint (node->n_cores, <=, G_N_ELEMENTS (every_core));
  for (uint32_t at = 0; at < node->n_cores; at++)
    every_core[at] = at;
  return study_pattern_shares (node, &machine->parameters, &levels, &pattern);
}

/* Packages with memories of their own: eight cores at 4 GB/s on 12 GB/s, and no bus between. */
static void
test_own_memories (void)
{
  static const uint32_t spread[] = { 0, 8 }, one_package[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
  g_autoptr (TopoMachine) machine = new_machine ();
  g_autoptr (TopoNode) node = topo_node_named ("sandybridge");
  g_autofree PredictShare *two = shares_on (node, machine, spread, 2);
  g_autofree PredictShare *eight = shares_on (node, machine, one_package, 8);

  g_assert_cmpfloat (two[1].crowding, ==, 1);
  g_assert_cmpfloat (two[1].cache_bytes, ==, 20 * MIB);
  g_assert_cmpfloat_with_epsilon (eight[7].crowding, 8.0 / 3, 1e-12);
  g_assert_cmpfloat (eight[7].cache_bytes, ==, 2.5 * MIB);
  g_assert_cmpfloat (eight[7].private_bytes, ==, 256 * KIB);
}

/* Two tasks on the threads of a core part its own cache. */
static void
test_threads (void)
{
  static const uint32_t core[] = { 3, 3, 4 };
  g_autoptr (TopoMachine) machine = new_machine ();
  g_autoptr (TopoNode) node = topo_node_named ("sandybridge");
  g_autofree PredictShare *shares = shares_on (node, machine, core, 3);

  g_assert_cmpfloat (shares[0].private_bytes, ==, 128 * KIB);
  g_assert_cmpfloat (shares[2].private_bytes, ==, 256 * KIB);
  g_assert_cmpfloat_with_epsilon (shares[0].threads, 0.6, 1e-12);
  g_assert_cmpfloat (shares[2].threads, ==, 0);
}

/* All eight cores against one of each L2: with data without end each has half of its 6 MiB, and 8/3 instead of
 * 4/3 of the time of a byte.  Sets that only the larger part holds make the most of it: the model's missed is then 0
 * in the reference, so that of a share of 0.5 the time rises by 0.5 x missed x 8/3 of 0.5. */
static void
test_slots (void)
{
  g_autoptr (TopoMachine) machine = new_machine (), sparse = new_machine ();
  const StudyMemoryRange none = { 0, 0 }, half = { 0, 0.5 }, known = { 0.5, 0.5 };
  double low, high, endless, fits;

  study_slots_are_cores (machine);
  g_assert_true (topo_machine_set_cores (sparse, "0,2,4,6", NULL));
  g_assert_true (study_slots_slowdown (machine, 8, sparse, 4, &none, &low, &high));
  g_assert_cmpfloat (low, ==, 0);
  g_assert_cmpfloat (high, ==, 0);
  g_assert_true (study_slots_slowdown (machine, 8, machine, 8, &half, &low, &high));
  g_assert_cmpfloat (high, ==, 0);
  /* Shared caches are 96 and 192 times the private one. */
  endless = (0.5 + 0.5 * 8 / 3 / sqrt (96)) / (0.5 + 0.5 * 4 / 3 / sqrt (192)) - 1;
  fits = 8.0 / 3 * (1 / sqrt (96) - 1 / sqrt (128 * sqrt (2))) / (1 - 1 / sqrt (128 * sqrt (2)));
  g_assert_true (study_slots_slowdown (machine, 8, sparse, 4, &known, &low, &high));
  g_assert_cmpfloat (low, ==, 0); /* sets that fit both */
  g_assert_cmpfloat_with_epsilon (high, fmax (endless, fits), 1e-9);
}

/* Cores without caches have the guess, and what they share is memory alone. */
static void
test_no_caches (void)
{
  static const uint32_t core[] = { 0, 1, 2, 3, 4, 5 };
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMachine) machine = new_machine ();
  g_autoptr (TopoNode) node = node_fixture_synthetic ("package:1 core:6 pu:1", &error);
  g_autofree PredictShare *shares = NULL;

  g_assert_no_error (error);
  shares = shares_on (node, machine, core, 6);
  g_assert_cmpfloat (shares[5].private_bytes, ==, STUDY_PRIVATE_BYTES);
  g_assert_cmpfloat (shares[5].cache_bytes, ==, 0);
  g_assert_cmpfloat (shares[5].crowding, >=, 2);
}

/* Every pattern of a real node leaves something, and never more than the first one. */
static void
test_recorded_nodes (gconstpointer name)
{
  g_autoptr (TopoMachine) machine = new_machine ();
  g_autoptr (TopoNode) node = node_fixture_load (name);
  g_autoptr (TopoPatterns) patterns = NULL;
  g_autofree PredictShare *first = NULL;

  if (node == NULL)
    return;
  patterns = topo_patterns_new (node, TOPO_PATTERNS_DEFAULT);
  first =
      study_pattern_shares (node, &machine->parameters, patterns->levels, &patterns->pattern[0]);
  g_assert_cmpfloat (first->crowding, ==, 1);
  g_assert_cmpfloat (first->cache_bytes, >, first->private_bytes);
  for (uint32_t at = 0; at < patterns->n; at++) {
    const TopoPattern *pattern = &patterns->pattern[at];
    g_autofree PredictShare *shares =
        study_pattern_shares (node, &machine->parameters, patterns->levels, pattern);

    for (uint32_t task = 0; task < pattern->n_tasks; task++) {
      g_assert_cmpfloat (shares[task].crowding, >=, 1);
      g_assert_cmpfloat (shares[task].cache_bytes, >, 0);
      g_assert_cmpfloat (shares[task].cache_bytes, <=, first->cache_bytes);
    }
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/study/node-shares/harpertown-by-hand", test_harpertown_by_hand);
  g_test_add_func ("/study/node-shares/harpertown-order", test_harpertown_order);
  g_test_add_func ("/study/node-shares/own-memories", test_own_memories);
  g_test_add_func ("/study/node-shares/threads", test_threads);
  g_test_add_func ("/study/node-shares/slots", test_slots);
  g_test_add_func ("/study/node-shares/no-caches", test_no_caches);
  g_test_add_data_func ("/study/node-shares/" E5420, E5420, test_recorded_nodes);
  g_test_add_data_func ("/study/node-shares/" X5550, X5550, test_recorded_nodes);
  g_test_add_data_func ("/study/node-shares/" X5675, X5675, test_recorded_nodes);
  g_test_add_data_func ("/study/node-shares/" E5_2660, E5_2660, test_recorded_nodes);
  g_test_add_data_func ("/study/node-shares/" E5_2680, E5_2680, test_recorded_nodes);
  return g_test_run ();
}
