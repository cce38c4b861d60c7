/* torus.c - which way a packet goes on a Blue Gene/Q torus.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "routing/torus.h"

#include <glib.h>

/* What the firmware compares when it orders the dimensions: the longest way
 * that a packet may have in the dimension, roughly. */
static uint32_t
effective_length (const TopoShape *shape, uint32_t dimension)
{
  return shape->wrap[dimension] ? shape->size[dimension] / 2 : shape->size[dimension];
}

/* True when the firmware's sort puts `later` in front of `earlier`. */
static bool
goes_before (const TopoShape *shape, uint32_t later, uint32_t earlier)
{
  uint32_t later_length = effective_length (shape, later);
  uint32_t earlier_length = effective_length (shape, earlier);

  if (later_length != earlier_length)
    return later_length > earlier_length;
  return !shape->wrap[later];
}

/* An exchange sort, and not any other: which dimensions of equal length end
 * up first depends on its swaps (bgq.md section 2.5).  On a tie a mesh swaps
 * even with another mesh, which is why the 32-node block runs D C B A E. */
static void
order_dimensions (RouteTorus *route)
{
  uint32_t n_dimensions = route->shape.n_dimensions;
  uint8_t *order = route->order;

  g_assert (n_dimensions <= TOPO_MAX_DIMENSIONS);
  for (uint32_t dimension = 0; dimension < n_dimensions; dimension++)
    order[dimension] = (uint8_t) dimension;
  for (uint32_t slot = 0; slot < n_dimensions; slot++)
    for (uint32_t other = slot + 1; other < n_dimensions; other++)
      if (goes_before (&route->shape, order[other], order[slot])) {
        uint8_t swapped = order[slot];

        order[slot] = order[other];
        order[other] = swapped;
      }
}

static void
append_mask (RouteTorus *route, uint32_t zone, uint32_t mask)
{
  route->zone_mask[zone][route->n_zone_masks[zone]++] = (uint8_t) mask;
}

/* Zone 0: longest to shortest, dimensions of equal effective length together. */
static void
fill_zone0 (RouteTorus *route)
{
  uint32_t slot = 0;

  while (slot < route->shape.n_dimensions) {
    uint32_t length = effective_length (&route->shape, route->order[slot]);
    uint32_t mask = 0;

    for (; slot < route->shape.n_dimensions; slot++) {
      if (effective_length (&route->shape, route->order[slot]) != length)
        break;
      mask |= 1u << route->order[slot];
    }
    append_mask (route, 0, mask);
  }
}

/* The part of the first mask of the zone that still has hops to go. */
static uint8_t
first_allowed (const RouteTorus *route, uint32_t zone, uint32_t pending)
{
  for (uint32_t step = 0; step < route->n_zone_masks[zone]; step++)
    if (route->zone_mask[zone][step] & pending)
      return (uint8_t) (route->zone_mask[zone][step] & pending);
  return 0;
}

static uint8_t
first_in_order (const RouteTorus *route, uint32_t pending)
{
  for (uint32_t slot = 0; slot < route->shape.n_dimensions; slot++)
    if (pending >> route->order[slot] & 1u)
      return route->order[slot];
  return 0;
}

void
route_torus_init (RouteTorus *route, const TopoShape *shape)
{
  *route = (RouteTorus){ .shape = *shape };
  order_dimensions (route);
  /* The four zones of bgq.md section 2.6.  Zone 3 allows E in every step; on
   * other machines the last dimension stands for E. */
  uint32_t n_dimensions = route->shape.n_dimensions;
  uint32_t last = 1u << (n_dimensions - 1);

  fill_zone0 (route);
  append_mask (route, 1, (1u << n_dimensions) - 1);
  for (uint32_t slot = 0; slot < n_dimensions; slot++) {
    append_mask (route, 2, 1u << route->order[slot]);
    append_mask (route, 3, 1u << route->order[slot] | last);
  }
  for (uint32_t pending = 0; pending < ROUTE_PENDING_MASKS; pending++) {
    route->next_dimension[pending] = first_in_order (route, pending);
    for (uint32_t zone = 0; zone < ROUTE_ZONES; zone++)
      route->allowed[zone][pending] = first_allowed (route, zone, pending);
  }
}

/* The cut-off registers as the firmware loads them (bgq.md section 2.4).  Of
 * the two ways around a ring of even size, sources of even parity reach half
 * of it through plus and one less through minus, sources of odd parity the
 * other way round.  A ring of odd size, which no Blue Gene/Q has, knows no
 * tie: both reach (size - 1) / 2. */
static bool
torus_goes_plus (uint32_t size, uint32_t from, uint32_t to, bool odd)
{
  uint32_t far = size / 2, near = (size - 1) / 2;
  uint32_t plus_reach = odd ? near : far;
  uint32_t minus_reach = odd ? far : near;
  uint32_t plus_cutoff = MIN (size - 1, from + plus_reach);
  uint32_t minus_cutoff = from > minus_reach ? from - minus_reach : 0;

  return to > from ? to <= plus_cutoff : to < minus_cutoff;
}

bool
route_torus_goes_plus (const TopoShape *shape, TopoCoordinates from, TopoCoordinates to,
                       uint32_t dimension)
{
  uint32_t sum = 0;

  if (!shape->wrap[dimension])
    return to.at[dimension] > from.at[dimension];
  for (uint32_t each = 0; each < shape->n_dimensions; each++)
    sum += from.at[each];
  return torus_goes_plus (shape->size[dimension], from.at[dimension], to.at[dimension], sum & 1u);
}

static uint8_t
hops_along (uint32_t size, uint32_t from, uint32_t to, bool plus)
{
  return (uint8_t) (plus ? (to + size - from) % size : (from + size - to) % size);
}

RouteWay
route_torus_way (const RouteTorus *route, uint32_t from, uint32_t to)
{
  const TopoShape *shape = &route->shape;
  TopoCoordinates source = topo_shape_coordinates (shape, from);
  TopoCoordinates target = topo_shape_coordinates (shape, to);
  RouteWay way = { { 0 }, 0, 0 };

  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++) {
    bool plus;

    if (source.at[dimension] == target.at[dimension])
      continue;
    plus = route_torus_goes_plus (shape, source, target, dimension);
    way.hops[dimension] =
        hops_along (shape->size[dimension], source.at[dimension], target.at[dimension], plus);
    way.pending |= (uint8_t) (1u << dimension);
    way.plus |= (uint8_t) ((uint32_t) plus << dimension);
  }
  return way;
}

RouteWay
route_torus_way_hinted (const RouteTorus *route, uint32_t from, uint32_t to, uint32_t dimension,
                        bool plus)
{
  RouteWay way = route_torus_way (route, from, to);
  uint8_t bit = (uint8_t) (1u << dimension);

  if (route->shape.size[dimension] == 2 && route->shape.wrap[dimension] && (way.pending & bit))
    way.plus = (uint8_t) (plus ? way.plus | bit : way.plus & ~bit);
  return way;
}

uint32_t
route_torus_path (const RouteTorus *route, uint32_t from, RouteWay way, uint32_t *links)
{
  uint32_t n_ports = topo_shape_ports (&route->shape);
  uint32_t n_links = 0;
  uint32_t node = from;

  while (way.pending) {
    uint32_t port = route_torus_next_port (route, &way);
    uint32_t dimension = port / 2;

    links[n_links++] = node * n_ports + port;
    node = topo_shape_neighbour (&route->shape, node, port);
    if (--way.hops[dimension] == 0)
      way.pending &= (uint8_t) ~(1u << dimension);
  }
  return n_links;
}
