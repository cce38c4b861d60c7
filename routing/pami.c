/* pami.c - the decisions of IBM's messaging library per message: routing, FIFO.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "routing/pami.h"

#include <glib.h>

/* Dimension E of a Blue Gene/Q, which PAMI leaves out of its distances. */
#define DIMENSION_E 4

/* Remote gets of more than this are paced (bgq.md section 3.4). */
#define PACED_BYTES 65536u
#define PACED_NODES 1024u
#define PACED_HOPS  4u

/* Largest block whose direct collectives run unconstrained (section 2.7). */
#define DIRECT_ZONE1_NODES 512u

/* The zone of large rendezvous data (section 2.7): `in` when the flexibility
 * metric is strictly between low and high. */
typedef struct {
  uint32_t racks; /* from this many racks on */
  double low, high;
  uint8_t in, out;
} ZoneRule;

static const ZoneRule zone_rules[] = {
  { 64, 0.75, 3.0, 3, 0 }, { 16, 1.3, 3.0, 3, 0 }, { 8, 1.5, 2.5, 3, 0 },
  { 2, 1.5, 3.5, 3, 0 },   { 1, 1.5, 3.5, 2, 0 },  { 0, 1.5, 3.5, 3, 3 },
};

typedef struct {
  uint32_t racks; /* from this many racks on */
  uint64_t piece_bytes, window_bytes;
} PacingRule;

static const PacingRule pacing_rules[] = {
  { 8, 8192, 24576 },
  { 4, 8192, 32768 },
  { 0, 16384, 65536 },
};

/* How two nodes lie to each other. */
typedef struct {
  uint32_t differing;    /* bit d: they differ in dimension d */
  uint32_t raw_distance; /* sum over the dimensions, none of which wraps */
} Relation;

static Relation
relation_of (const TopoShape *shape, uint32_t from, uint32_t to)
{
  Relation relation = { 0, 0 };

  for (uint32_t dimension = shape->n_dimensions; dimension-- > 0;) {
    uint32_t size = shape->size[dimension];
    uint32_t here = from % size, there = to % size;

    from /= size;
    to /= size;
    relation.differing |= (uint32_t) (here != there) << dimension;
    relation.raw_distance += here > there ? here - there : there - here;
  }
  return relation;
}

static uint32_t
dimension_hops (const TopoShape *shape, TopoCoordinates from, TopoCoordinates to,
                uint32_t dimension)
{
  uint32_t here = from.at[dimension], there = to.at[dimension];
  uint32_t distance = here > there ? here - there : there - here;

  return shape->wrap[dimension] ? MIN (distance, shape->size[dimension] - distance) : distance;
}

/* Sum over A-D of hops / (size / 2); E does not count. */
static double
flexibility_of (const TopoMachine *machine, uint32_t from, uint32_t to)
{
  const TopoShape *shape = &machine->shape;
  TopoCoordinates source = topo_shape_coordinates (shape, from);
  TopoCoordinates target = topo_shape_coordinates (shape, to);
  double flexibility = 0;

  for (uint32_t dimension = 0; dimension < (machine->is_bgq ? DIMENSION_E : shape->n_dimensions);
       dimension++)
    flexibility +=
        dimension_hops (shape, source, target, dimension) / (shape->size[dimension] / 2.0);
  return flexibility;
}

/* The routing under a policy of a message that PAMI would route in `zone`. */
static RouteChoice
dynamic_choice (RoutePolicy policy, uint8_t zone)
{
  switch (policy) {
  case ROUTE_POLICY_DEFAULT: break;
  case ROUTE_POLICY_DETERMINISTIC: return (RouteChoice){ ROUTE_VC_BUBBLE, 0 };
  case ROUTE_POLICY_ZONE0: zone = 0; break;
  case ROUTE_POLICY_ZONE1: zone = 1; break;
  case ROUTE_POLICY_ZONE2: zone = 2; break;
  case ROUTE_POLICY_ZONE3: zone = 3; break;
  }
  return (RouteChoice){ ROUTE_VC_DYNAMIC, zone };
}

RouteChoice
route_pami_data (const TopoMachine *machine, RoutePolicy policy, uint32_t from, uint32_t to,
                 uint64_t bytes)
{
  const ZoneRule *rule = zone_rules;
  double flexibility;
  uint32_t racks;

  if (bytes <= machine->parameters.mpi.dynamic_bytes ||
      __builtin_popcount (relation_of (&machine->shape, from, to).differing) < 2)
    return (RouteChoice){ ROUTE_VC_BUBBLE, 0 };
  flexibility = flexibility_of (machine, from, to);
  racks = topo_machine_racks (machine);
  while (racks < rule->racks)
    rule++;
  return dynamic_choice (policy, flexibility > rule->low && flexibility < rule->high ? rule->in
                                                                                     : rule->out);
}

RouteChoice
route_pami_direct (const TopoMachine *machine, RoutePolicy policy)
{
  bool small = topo_shape_nodes (&machine->shape) <= DIRECT_ZONE1_NODES;

  return dynamic_choice (policy, small ? 1 : 0);
}

/* Torus FIFOs that the machine's dimensions name.  A sixth dimension, which
 * Blue Gene/Q does not have, shares the FIFOs of the first. */
static uint32_t
torus_fifos (const TopoShape *shape)
{
  return MIN (topo_shape_ports (shape), ROUTE_TORUS_FIFOS);
}

uint32_t
route_pami_pin (const TopoMachine *machine, uint32_t from, uint32_t to, uint32_t to_slot)
{
  const TopoShape *shape = &machine->shape;
  Relation relation = relation_of (shape, from, to);

  if (relation.differing == 0)
    return ROUTE_TORUS_FIFOS + to_slot % 6;
  if (__builtin_popcount (relation.differing) == 1) {
    uint32_t dimension = (uint32_t) __builtin_ctz (relation.differing);
    uint32_t plus = route_torus_goes_plus (shape, topo_shape_coordinates (shape, from),
                                           topo_shape_coordinates (shape, to), dimension);

    return (2 * dimension + plus) % torus_fifos (shape);
  }
  return relation.raw_distance % torus_fifos (shape);
}

uint32_t
route_pami_pin_fifo (uint32_t pin)
{
  if (pin < ROUTE_TORUS_FIFOS)
    return pin;
  return pin % 2 == 0 ? ROUTE_FIFO_LOCAL0 : ROUTE_FIFO_LOCAL1;
}

uint32_t
route_pami_pin_to_self (uint32_t pin)
{
  if (pin < ROUTE_TORUS_FIFOS)
    return pin ^ 1u;
  return pin % 2 == 0 ? 11 : 10;
}

bool
route_pami_paced (const TopoMachine *machine, uint32_t from, uint32_t to, uint64_t bytes,
                  uint64_t *piece_bytes, uint64_t *window_bytes)
{
  const PacingRule *rule = pacing_rules;
  uint32_t racks;

  if (!machine->parameters.mpi.pacing || !machine->is_bgq || bytes <= PACED_BYTES)
    return false;
  if (topo_shape_nodes (&machine->shape) <= PACED_NODES)
    return false;
  /* Paced pairs are far apart, or in more than one dimension; E aside. */
  TopoCoordinates source = topo_shape_coordinates (&machine->shape, from);
  TopoCoordinates target = topo_shape_coordinates (&machine->shape, to);
  uint32_t n_differing = 0, hops = 0;

  for (uint32_t dimension = 0; dimension < DIMENSION_E; dimension++) {
    uint32_t along = dimension_hops (&machine->shape, source, target, dimension);

    hops += along;
    n_differing += along > 0;
  }
  if (hops <= PACED_HOPS && n_differing <= 1)
    return false;
  racks = topo_machine_racks (machine);
  while (racks < rule->racks)
    rule++;
  *piece_bytes = rule->piece_bytes;
  *window_bytes = rule->window_bytes;
  return true;
}

bool
route_pami_e_split (const TopoMachine *machine, uint32_t from, uint32_t to, uint64_t bytes)
{
  return machine->is_bgq && bytes >= machine->parameters.mpi.e_split_bytes &&
         relation_of (&machine->shape, from, to).differing == 1u << DIMENSION_E;
}
