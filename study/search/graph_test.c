/* graph_test.c - communication graphs and distances, against cases worked by hand.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/search/distance.h"
#include "study/search/graph.h"

static void
test_both_ends_know_an_edge (void)
{
  SimEdges *edges = sim_edges_new (4);
  g_autoptr (StudyGraph) graph = NULL;

  sim_edges_add (edges, 0, 2, 1, 10);
  sim_edges_add (edges, 2, 0, 1, 5);
  sim_edges_add (edges, 3, 2, 1, 7);
  graph = study_graph_new (edges, 4);
  g_assert_cmpuint (graph->n_edges, ==, 3);
  g_assert_cmpuint (graph->first[4], ==, 4);
  g_assert_cmpuint (graph->first[1] - graph->first[0], ==, 1);
  g_assert_cmpuint (graph->first[2] - graph->first[1], ==, 0);
  g_assert_cmpuint (graph->neighbour[0], ==, 2);
  g_assert_cmpint (graph->weight[0], ==, 15);
  g_assert_cmpuint (graph->sent[0], ==, 10);
  g_assert_cmpuint (graph->received[0], ==, 5);
  /* Rank 2: 0, then 3. */
  g_assert_cmpuint (graph->neighbour[1], ==, 0);
  g_assert_cmpuint (graph->sent[1], ==, 5);
  g_assert_cmpuint (graph->neighbour[2], ==, 3);
  g_assert_cmpuint (graph->sent[2], ==, 0);
  g_assert_cmpint (graph->weight[2], ==, 7);
  sim_edges_free (edges);
}

/* Sums that would not fit are kept small, and no edge becomes nothing. */
static void
test_large_weights_are_shifted (void)
{
  SimEdges *edges = sim_edges_new (3);
  g_autoptr (StudyGraph) graph = NULL;

  sim_edges_add (edges, 0, 1, 1, G_MAXINT64);
  sim_edges_add (edges, 1, 0, 1, G_MAXINT64);
  sim_edges_add (edges, 1, 2, 1, 1);
  graph = study_graph_new (edges, 3);
  g_assert_cmpuint (graph->shift, >, 0);
  g_assert_cmpint (graph->weight[0], >, 0);
  g_assert_cmpint (graph->weight[0], <, G_MAXINT64 / STUDY_MAX_HOPS);
  g_assert_cmpint (graph->weight[2], ==, 1);
  sim_edges_free (edges);
}

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
                        from == to ? 0 : route_paths_hops (paths, from, to, 0, 0));
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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/study/graph/both-ends", test_both_ends_know_an_edge);
  g_test_add_func ("/study/graph/large-weights", test_large_weights_are_shifted);
  g_test_add_func ("/study/distance/routes", test_hops_are_those_of_routes);
  return g_test_run ();
}
