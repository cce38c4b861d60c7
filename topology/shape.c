/* shape.c - an n-dimensional torus or mesh: its nodes, ports and links.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/shape.h"

#include <glib.h>

uint32_t
topo_shape_nodes (const TopoShape *shape)
{
  uint32_t n_nodes = 1;

  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++)
    n_nodes *= shape->size[dimension];
  return n_nodes;
}

uint32_t
topo_shape_links (const TopoShape *shape)
{
  uint32_t n_nodes = topo_shape_nodes (shape);
  uint32_t n_links = 0;

  /* Directed links along each line of nodes.  In a ring each node has two outgoing links,
   * even in a ring of two. */
  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++) {
    uint32_t size = shape->size[dimension];

    if (size > 1)
      n_links += n_nodes / size * 2 * (shape->wrap[dimension] ? size : size - 1);
  }
  return n_links;
}

TopoCoordinates
topo_shape_coordinates (const TopoShape *shape, uint32_t node)
{
  TopoCoordinates coordinates = { { 0 } };

  for (uint32_t dimension = shape->n_dimensions; dimension-- > 0;) {
    coordinates.at[dimension] = (uint16_t) (node % shape->size[dimension]);
    node /= shape->size[dimension];
  }
  return coordinates;
}

uint32_t
topo_shape_node (const TopoShape *shape, TopoCoordinates coordinates)
{
  uint32_t node = 0;

  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++) {
    g_assert (coordinates.at[dimension] < shape->size[dimension]);
    node = node * shape->size[dimension] + coordinates.at[dimension];
  }
  return node;
}

uint32_t
topo_shape_neighbour (const TopoShape *shape, uint32_t node, uint32_t port)
{
  uint32_t dimension = port / 2;
  uint32_t size = shape->size[dimension];
  uint32_t stride = 1;
  uint32_t at;

  for (uint32_t faster = dimension + 1; faster < shape->n_dimensions; faster++)
    stride *= shape->size[faster];
  at = node / stride % size;
  if (size == 1)
    return TOPO_NONE;
  if (port % 2 == 1) {
    if (at + 1 < size)
      return node + stride;
    return shape->wrap[dimension] ? node - at * stride : TOPO_NONE;
  }
  if (at > 0)
    return node - stride;
  return shape->wrap[dimension] ? node + (size - 1) * stride : TOPO_NONE;
}

uint32_t
topo_shape_hops (const TopoShape *shape, uint32_t from, uint32_t to)
{
  uint32_t hops = 0;

  for (uint32_t dimension = shape->n_dimensions; dimension-- > 0;) {
    uint32_t size = shape->size[dimension];
    uint32_t here = from % size, there = to % size;
    uint32_t distance = here > there ? here - there : there - here;

    hops += shape->wrap[dimension] ? MIN (distance, size - distance) : distance;
    from /= size;
    to /= size;
  }
  return hops;
}
