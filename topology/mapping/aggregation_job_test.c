/* aggregation_job_test.c - which patterns of the paper's node a job can have.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/mapping/aggregation.h"

#include "topology/machine.h"

/* The patterns with a rank, in its order: "8 5 2"; *excluded: why the others are not. */
static char *
admitted (const TopoPatterns *patterns, GString *excluded)
{
  GString *text = g_string_new (NULL);

  for (uint32_t rank = 1; rank <= patterns->n; rank++)
    for (uint32_t at = 0; at < patterns->n; at++)
      if (patterns->pattern[at].energy_rank == rank)
        g_string_append_printf (text, "%s%u", text->len > 0 ? " " : "", at + 1);
  for (uint32_t at = 0; at < patterns->n; at++) {
    const TopoPattern *pattern = &patterns->pattern[at];

    g_assert_true ((pattern->energy_rank == 0) == (pattern->excluded != NULL));
    if (pattern->excluded != NULL)
      g_string_append_printf (excluded, "%u: %s\n", at + 1, pattern->excluded);
  }
  return g_string_free (text, FALSE);
}

static void
assert_admitted (const TopoJob *job, const char *ranking, const char *excluded)
{
  g_autoptr (TopoNode) node = topo_node_harpertown ();
  g_autoptr (TopoPatterns) patterns = topo_patterns_new (node, TOPO_PATTERNS_DEFAULT);
  g_autoptr (GString) why = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *found = NULL;

  g_assert_true (topo_patterns_admit (patterns, job, &error));
  g_assert_no_error (error);
  found = admitted (patterns, why);
  g_assert_cmpstr (found, ==, ranking);
  g_assert_cmpstr (why->str, ==, excluded);
}

static void
test_ranks (void)
{
  assert_admitted (&(TopoJob){ .n_ranks = 16 }, "8 7 6 5 4 3 2 1", "");
  assert_admitted (&(TopoJob){ .n_ranks = 12 }, "7 6 5 4 3 2 1",
                   "8: 12 ranks are no multiple of 8 tasks\n");
  assert_admitted (&(TopoJob){ .n_ranks = 2 }, "4 3 2 1",
                   "5: 4 tasks are more than all 2 ranks\n"
                   "6: 4 tasks are more than all 2 ranks\n"
                   "7: 4 tasks are more than all 2 ranks\n"
                   "8: 8 tasks are more than all 2 ranks\n");
  assert_admitted (&(TopoJob){ .n_ranks = 7 }, "1",
                   "2: 7 ranks are no multiple of 2 tasks\n"
                   "3: 7 ranks are no multiple of 2 tasks\n"
                   "4: 7 ranks are no multiple of 2 tasks\n"
                   "5: 7 ranks are no multiple of 4 tasks\n"
                   "6: 7 ranks are no multiple of 4 tasks\n"
                   "7: 7 ranks are no multiple of 4 tasks\n"
                   "8: 8 tasks are more than all 7 ranks\n");
}

/* 13 ranks on 2, 4 or 7 nodes; still no pattern has more tasks than there are ranks. */
static void
test_part_filled (void)
{
  assert_admitted (&(TopoJob){ .n_ranks = 13, .part_filled = true }, "8 7 6 5 4 3 2 1", "");
  assert_admitted (&(TopoJob){ .n_ranks = 3, .part_filled = true }, "4 3 2 1",
                   "5: 4 tasks are more than all 3 ranks\n"
                   "6: 4 tasks are more than all 3 ranks\n"
                   "7: 4 tasks are more than all 3 ranks\n"
                   "8: 8 tasks are more than all 3 ranks\n");
}

/* As in the paper, where tasks of FT need more than an eighth of a node's 8 GiB. */
static void
test_memory (void)
{
  const uint64_t gibibyte = UINT64_C (1) << 30;

  assert_admitted (&(TopoJob){ .task_bytes = gibibyte }, "8 7 6 5 4 3 2 1", "");
  assert_admitted (&(TopoJob){ .n_ranks = 16, .task_bytes = gibibyte + 1 }, "7 6 5 4 3 2 1",
                   "8: 8 tasks of 1073741825 B need more than the node's 8 GiB\n");
  assert_admitted (&(TopoJob){ .task_bytes = 3 * gibibyte }, "4 3 2 1",
                   "5: 4 tasks of 3 GiB need more than the node's 8 GiB\n"
                   "6: 4 tasks of 3 GiB need more than the node's 8 GiB\n"
                   "7: 4 tasks of 3 GiB need more than the node's 8 GiB\n"
                   "8: 8 tasks of 3 GiB need more than the node's 8 GiB\n");
  assert_admitted (&(TopoJob){ .task_bytes = 3 * gibibyte, .node_bytes = 24 * gibibyte },
                   "8 7 6 5 4 3 2 1", "");
}

static void
test_nodes (void)
{
  g_autoptr (TopoNode) node = topo_node_harpertown ();
  g_autoptr (TopoPatterns) patterns = topo_patterns_new (node, TOPO_PATTERNS_DEFAULT);
  g_autoptr (GError) error = NULL;

  assert_admitted (&(TopoJob){ .n_ranks = 16, .n_nodes = 4 }, "8 7 6 5",
                   "1: needs 16 nodes of 4\n"
                   "2: needs 8 nodes of 4\n"
                   "3: needs 8 nodes of 4\n"
                   "4: needs 8 nodes of 4\n");
  g_assert_false (
      topo_patterns_admit (patterns, &(TopoJob){ .n_ranks = 33, .n_nodes = 4 }, &error));
  g_assert_error (error, TOPO_ERROR, TOPO_ERROR_RANGE);
  g_assert_cmpstr (error->message, ==, "33 ranks are more than 4 nodes of 8 have room for");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/aggregation-job/ranks", test_ranks);
  g_test_add_func ("/topology/aggregation-job/part-filled", test_part_filled);
  g_test_add_func ("/topology/aggregation-job/memory", test_memory);
  g_test_add_func ("/topology/aggregation-job/nodes", test_nodes);
  return g_test_run ();
}
