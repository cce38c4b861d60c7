/* shape.h - an n-dimensional torus or mesh: its nodes, ports and links.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Three index spaces meet here:
 *
 *   node   0 .. n_nodes-1, row-major: the last dimension is the fastest, so
 *          that on Blue Gene/Q nodes run in the order ABCDE, E fastest.
 *   port   0 .. 2 * n_dimensions - 1 at each node: 2 * dimension, plus one for
 *          the positive direction: A-, A+, B-, B+, ... (bgq.md section 1).
 *   link   node * n_ports + port: the cable direction that leaves the node
 *          through the port.  The packet that it carries arrives at the
 *          neighbour through the input port of the same number, so an input
 *          port is named after the direction of travel, not after the side
 *          of the node it is on.
 *
 * Not every link number is a link: a mesh has none beyond its edge.  A torus
 * dimension of size 2 has two cables between its two nodes, a mesh of size 2
 * one, a dimension of size 1 none. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TOPO_MAX_DIMENSIONS 6
#define TOPO_MAX_PORTS      (2 * TOPO_MAX_DIMENSIONS)
#define TOPO_NONE           UINT32_MAX

typedef struct {
  uint32_t n_dimensions;
  uint32_t size[TOPO_MAX_DIMENSIONS]; /* nodes along each dimension, >= 1 */
  bool wrap[TOPO_MAX_DIMENSIONS];     /* torus (true) or mesh (false) */
} TopoShape;

typedef struct {
  uint16_t at[TOPO_MAX_DIMENSIONS];
} TopoCoordinates;

static inline uint32_t
topo_shape_ports (const TopoShape *shape)
{
  return 2 * shape->n_dimensions;
}

/* The port at the other end of a cable: A+ faces A-. */
static inline uint32_t
topo_port_opposite (uint32_t port)
{
  return port ^ 1u;
}

/* The letter of a dimension as people write it: A, B, C ... */
static inline char
topo_dimension_letter (uint32_t dimension)
{
  return (char) ('A' + dimension);
}

uint32_t topo_shape_nodes (const TopoShape *shape);

/* Directed links that exist: both cables of a two-node torus dimension. */
uint32_t topo_shape_links (const TopoShape *shape);

TopoCoordinates topo_shape_coordinates (const TopoShape *shape, uint32_t node);

/* Every coordinate must be below the size of its dimension. */
uint32_t topo_shape_node (const TopoShape *shape, TopoCoordinates coordinates);

/* The node that a link leads to; TOPO_NONE beyond the edge of a mesh. */
uint32_t topo_shape_neighbour (const TopoShape *shape, uint32_t node, uint32_t port);

/* Length of a shortest path. */
uint32_t topo_shape_hops (const TopoShape *shape, uint32_t from, uint32_t to);
