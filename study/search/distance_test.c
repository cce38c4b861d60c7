/* distance_test.c - hops between nodes, and trees of switches that are read from them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/search/distance.h"

static StudyDistance *
distance_of (const char *spec, TopoMachine **machine, RoutePaths **paths)
{
  g_autoptr (GError) error = NULL;
  StudyDistance *distance;

  *machine = topo_machine_new (spec, &error);
  g_assert_no_error (error);
  *paths = route_paths_new (*machine, &error);
  g_assert_no_error (error);
  distance = study_distance_new (*paths, &error);
  g_assert_no_error (error);
  return distance;
}

/* What routes say of some pairs is what the search reads, table or not. */
static void
check_machine (const char *spec, uint32_t stride, uint32_t longest)
{
  TopoMachine *machine;
  RoutePaths *paths;
  g_autoptr (StudyDistance) distance = distance_of (spec, &machine, &paths);

  for (uint32_t from = 0; from < distance->n_nodes; from += stride)
    for (uint32_t to = 0; to < distance->n_nodes; to += stride)
      g_assert_cmpuint (study_hops (distance, from, to), ==,
                        from == to ? 0 : route_paths_hops (paths, from, to, 0));
  g_assert_cmpuint (distance->longest, ==, longest);
  for (uint32_t node = 0; node < distance->n_nodes; node++) {
    g_assert_cmpuint (distance->near_first[node], <, distance->near_first[node + 1]);
    for (uint32_t i = distance->near_first[node]; i < distance->near_first[node + 1]; i++)
      g_assert_cmpuint (distance->near[i], !=, node);
  }
  route_paths_free (paths);
  topo_machine_free (machine);
}

static void
test_hops_are_those_of_routes (void)
{
  check_machine ("torus:5x4x3m", 1, 2 + 2 + 2);
  check_machine ("bgq:512", 7, 2 + 2 + 2 + 2 + 1);
  check_machine ("torus:17x17x17", 97, 24); /* too many nodes for a table */
  check_machine ("fattree:4x6", 1, 4);
  check_machine ("fattree3:8", 1, 6);
  check_machine ("fattree:200x24:24", 211, 4); /* a table of leaves */
}

/* The tables of the axes, summed, are the hops between different nodes. */
static void
test_axes_add_up (void)
{
  static const struct {
    const char *spec;
    uint32_t n_axes;
  } machines[] = { { "torus:5x1x4x3m", 3 }, { "bgq:32", 5 },     { "torus:17x17x17", 3 },
                   { "fattree:4x6", 1 },    { "fattree3:8", 1 }, { "fattree:200x24:24", 1 } };

  for (gsize i = 0; i < G_N_ELEMENTS (machines); i++) {
    TopoMachine *machine;
    RoutePaths *paths;
    g_autoptr (StudyDistance) distance = distance_of (machines[i].spec, &machine, &paths);
    const StudyAxes *axes = &distance->axes;
    uint32_t stride = 1 + distance->n_nodes / 200;

    g_assert_cmpuint (axes->n, ==, machines[i].n_axes);
    for (uint32_t from = 0; from < distance->n_nodes && axes->n > 0; from += stride)
      for (uint32_t to = 0; to < distance->n_nodes; to += stride) {
        uint32_t hops = 0;

        for (uint32_t axis = 0; axis < axes->n; axis++) {
          uint32_t first = axes->first[axis], size = axes->first[axis + 1] - first;

          hops += axes->hops[axis][(axes->place[from * TOPO_MAX_DIMENSIONS + axis] - first) * size +
                                   axes->place[to * TOPO_MAX_DIMENSIONS + axis] - first];
        }
        g_assert_cmpuint (hops, ==,
                          from == to && machine->fabric ? 2 : study_hops (distance, from, to));
      }
    route_paths_free (paths);
    topo_machine_free (machine);
  }
}

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
  g_test_add_func ("/study/distance/routes", test_hops_are_those_of_routes);
  g_test_add_func ("/study/distance/axes", test_axes_add_up);
  g_test_add_func ("/study/switch-tree/uneven-leaves", test_uneven_leaves);
  g_test_add_func ("/study/switch-tree/levels", test_too_many_levels);
  return g_test_run ();
}
