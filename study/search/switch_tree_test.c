/* switch_tree_test.c - trees of switches that are read from hops.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/search/switch_tree.h"

#define N 5

/* Nodes 0 and 3 are on one leaf switch, the others on a second one: a full tree has two times
 * three feet, of which the last one of the first leaf is free. */
static void
test_uneven_leaves (void)
{
  static const uint32_t leaf[N] = { 0, 1, 1, 0, 1 };
  static const uint32_t expected[] = { 0, 3, TOPO_NONE, 1, 2, 4 };
  g_auto (StudySwitchTree) tree = { 0 };
  g_autofree uint32_t *node_of = NULL;
  uint8_t hops[N * N];
  const StudyDistance distance = { .n_nodes = N, .longest = 4, .table = hops };

  for (guint from = 0; from < N; from++)
    for (guint to = 0; to < N; to++)
      hops[from * N + to] = from == to ? 0 : leaf[from] == leaf[to] ? 2 : 4;
  g_assert_true (study_switch_tree_read (&tree, &distance));
  g_assert_cmpuint (tree.n_levels, ==, 2);
  g_assert_cmpuint (tree.hops[0], ==, 2);
  g_assert_cmpuint (tree.hops[1], ==, 4);
  g_assert_cmpuint (tree.width[0], ==, 3);
  g_assert_cmpuint (tree.width[1], ==, 2);
  node_of = study_switch_tree_nodes (&tree, N);
  g_assert_cmpuint (tree.n_places, ==, G_N_ELEMENTS (expected));
  for (guint place = 0; place < G_N_ELEMENTS (expected); place++)
    g_assert_cmpuint (node_of[place], ==, expected[place]);
}

/* Nodes in a row, as far apart as their numbers: nine lengths of ways, one too many, and of
 * nine nodes eight. */
static void
test_too_many_levels (void)
{
  enum { MOST = 10 };

  for (uint32_t n = STUDY_TREE_LEVELS + 1; n <= MOST; n++) {
    g_auto (StudySwitchTree) tree = { 0 };
    uint8_t hops[MOST * MOST];
    const StudyDistance distance = { .n_nodes = n, .longest = n - 1, .table = hops };

    for (guint from = 0; from < n; from++)
      for (guint to = 0; to < n; to++)
        hops[from * n + to] = (uint8_t) ABS ((int) from - (int) to);
    g_assert_true (study_switch_tree_read (&tree, &distance) == (n - 1 <= STUDY_TREE_LEVELS));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/study/switch-tree/uneven-leaves", test_uneven_leaves);
  g_test_add_func ("/study/switch-tree/levels", test_too_many_levels);
  return g_test_run ();
}
