/* shape_test.c - nodes, ports and links of tori and meshes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/shape.h"

#include <glib.h>

static const TopoShape midplane = { 5, { 4, 4, 4, 4, 2 }, { true, true, true, true, true } };
static const TopoShape board = { 5, { 2, 2, 2, 2, 2 }, { false, false, false, false, true } };
static const TopoShape odd = { 3, { 5, 1, 3 }, { true, true, false } };
static const TopoShape *const shapes[] = { &midplane, &board, &odd };

static void
test_nodes_count (void)
{
  g_assert_cmpuint (topo_shape_nodes (&midplane), ==, 512);
  g_assert_cmpuint (topo_shape_nodes (&board), ==, 32);
  g_assert_cmpuint (topo_shape_nodes (&odd), ==, 15);
}

/* By hand: a midplane has all ten links at each node; on the board each node
 * has one link per mesh dimension and both E cables; in 5 x 1 x 3m there are
 * 15 x 2 in the ring and 5 lines of two cables in the mesh. */
static void
test_links_count (void)
{
  g_assert_cmpuint (topo_shape_links (&midplane), ==, 5120);
  g_assert_cmpuint (topo_shape_links (&board), ==, 32 * 6);
  g_assert_cmpuint (topo_shape_links (&odd), ==, 30 + 20);
}

/* E is the fastest dimension: node 1 is at E = 1, node 2 at D = 1. */
static void
test_last_dimension_is_fastest (void)
{
  TopoCoordinates at = topo_shape_coordinates (&midplane, 511 - 2);

  g_assert_cmpuint (at.at[0], ==, 3);
  g_assert_cmpuint (at.at[3], ==, 2);
  g_assert_cmpuint (at.at[4], ==, 1);
  g_assert_cmpuint (topo_shape_coordinates (&midplane, 1).at[4], ==, 1);
  g_assert_cmpuint (topo_shape_coordinates (&midplane, 2).at[3], ==, 1);
}

static void
test_coordinates_invert (void)
{
  for (gsize each = 0; each < G_N_ELEMENTS (shapes); each++)
    for (uint32_t node = 0; node < topo_shape_nodes (shapes[each]); node++)
      g_assert_cmpuint (topo_shape_node (shapes[each], topo_shape_coordinates (shapes[each], node)),
                        ==, node);
}

/* The cable that leaves through a port comes back through the opposite one,
 * and as many ports have a cable as topo_shape_links() says. */
static void
test_neighbours_are_mutual (void)
{
  for (gsize each = 0; each < G_N_ELEMENTS (shapes); each++) {
    const TopoShape *shape = shapes[each];
    uint32_t n_links = 0;

    for (uint32_t node = 0; node < topo_shape_nodes (shape); node++)
      for (uint32_t port = 0; port < topo_shape_ports (shape); port++) {
        uint32_t neighbour = topo_shape_neighbour (shape, node, port);

        if (neighbour == TOPO_NONE)
          continue;
        n_links++;
        g_assert_cmpuint (neighbour, !=, node);
        g_assert_cmpuint (topo_shape_neighbour (shape, neighbour, topo_port_opposite (port)), ==,
                          node);
      }
    g_assert_cmpuint (n_links, ==, topo_shape_links (shape));
  }
}

static void
test_ring_of_two_has_two_cables (void)
{
  g_assert_cmpuint (topo_shape_neighbour (&midplane, 0, 8), ==, 1);
  g_assert_cmpuint (topo_shape_neighbour (&midplane, 0, 9), ==, 1);
}

static void
test_mesh_ends_at_its_edge (void)
{
  g_assert_cmpuint (topo_shape_neighbour (&board, 0, 0), ==, TOPO_NONE);
  g_assert_cmpuint (topo_shape_neighbour (&board, 0, 1), ==, 16);
  g_assert_cmpuint (topo_shape_neighbour (&board, 16, 1), ==, TOPO_NONE);
}

static void
test_plus_goes_up_and_wraps (void)
{
  g_assert_cmpuint (topo_shape_neighbour (&midplane, 0, 1), ==, 128);
  g_assert_cmpuint (topo_shape_neighbour (&midplane, 3 * 128, 1), ==, 0);
  g_assert_cmpuint (topo_shape_neighbour (&midplane, 0, 0), ==, 3 * 128);
  g_assert_cmpuint (topo_shape_neighbour (&odd, 0, 2), ==, TOPO_NONE);
}

/* Distances found by flooding from a node, which knows neighbours only. */
static void
flood (const TopoShape *shape, uint32_t start, uint32_t *distance, uint32_t *queue)
{
  uint32_t n_queued = 1;

  for (uint32_t node = 0; node < topo_shape_nodes (shape); node++)
    distance[node] = TOPO_NONE;
  distance[start] = 0;
  queue[0] = start;
  for (uint32_t next = 0; next < n_queued; next++)
    for (uint32_t port = 0; port < topo_shape_ports (shape); port++) {
      uint32_t neighbour = topo_shape_neighbour (shape, queue[next], port);

      if (neighbour == TOPO_NONE || distance[neighbour] != TOPO_NONE)
        continue;
      distance[neighbour] = distance[queue[next]] + 1;
      queue[n_queued++] = neighbour;
    }
}

static void
test_hops_are_shortest (void)
{
  uint32_t distance[512], queue[512];

  for (gsize each = 0; each < G_N_ELEMENTS (shapes); each++)
    for (uint32_t from = 0; from < topo_shape_nodes (shapes[each]); from++) {
      flood (shapes[each], from, distance, queue);
      for (uint32_t to = 0; to < topo_shape_nodes (shapes[each]); to++)
        g_assert_cmpuint (topo_shape_hops (shapes[each], from, to), ==, distance[to]);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/shape/nodes", test_nodes_count);
  g_test_add_func ("/topology/shape/links", test_links_count);
  g_test_add_func ("/topology/shape/last-dimension-fastest", test_last_dimension_is_fastest);
  g_test_add_func ("/topology/shape/coordinates-invert", test_coordinates_invert);
  g_test_add_func ("/topology/shape/neighbours-mutual", test_neighbours_are_mutual);
  g_test_add_func ("/topology/shape/two-cables", test_ring_of_two_has_two_cables);
  g_test_add_func ("/topology/shape/mesh-edge", test_mesh_ends_at_its_edge);
  g_test_add_func ("/topology/shape/plus-and-wrap", test_plus_goes_up_and_wraps);
  g_test_add_func ("/topology/shape/hops-shortest", test_hops_are_shortest);
  return g_test_run ();
}
