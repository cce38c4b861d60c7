/* torus.c - which way a packet goes on a Blue Gene/Q torus.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "routing/torus.h"

#include <glib.h>

/* The firmware orders the dimensions by this length: roughly the longest way of a packet in
 * the dimension. */
static uint32_t
effective_length (const TopoShape *shape, uint32_t dimension)
{
  return shape->wrap[dimension] ? shape->size[dimension] / 2 : shape->size[dimension];
}

/* An exchange sort, and not any other: the order of dimensions of equal length
 * depends on its swaps (bgq.md section 2.5).  On a tie a mesh swaps
 * even with another mesh, which is why the 32-node block runs D C B A E. */
static void
order_dimensions (RouteTorus *route)
{
  const TopoShape *shape = &route->shape;
  uint8_t *order = route->order;

  g_assert (shape->n_dimensions <= TOPO_MAX_DIMENSIONS);
  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++)
    order[dimension] = (uint8_t) dimension;
  for (uint32_t slot = 0; slot < shape->n_dimensions; slot++)
    for (uint32_t other = slot + 1; other < shape->n_dimensions; other++) {
      uint32_t length = effective_length (shape, order[slot]);
      uint32_t other_length = effective_length (shape, order[other]);

      if (other_length != length ? other_length > length : !shape->wrap[order[other]]) {
        uint8_t swapped = order[slot];

        order[slot] = order[other];
        order[other] = swapped;
      }
    }
}

static void
append_mask (RouteTorus *route, uint32_t zone, uint32_t mask)
{
  route->zone_mask[zone][route->n_zone_masks[zone]++] = (uint8_t) mask;
}

void
route_torus_init (RouteTorus *route, const TopoShape *shape)
{
  uint32_t n_dimensions = shape->n_dimensions, last = 1u << (n_dimensions - 1);

  *route = (RouteTorus){ .shape = *shape };
  order_dimensions (route);
  /* The four zones of bgq.md section 2.6.  Zone 0 goes from longest to shortest, dimensions of
   * equal effective length together.  Zone 3 allows E in every step; on other machines the
   * last dimension stands for E. */
  for (uint32_t slot = 0; slot < n_dimensions;) {
    uint32_t length = effective_length (shape, route->order[slot]), mask = 0;

    for (; slot < n_dimensions && effective_length (shape, route->order[slot]) == length; slot++)
      mask |= 1u << route->order[slot];
    append_mask (route, 0, mask);
  }
  append_mask (route, 1, (1u << n_dimensions) - 1);
  for (uint32_t slot = 0; slot < n_dimensions; slot++) {
    append_mask (route, 2, 1u << route->order[slot]);
    append_mask (route, 3, 1u << route->order[slot] | last);
  }

  /* Of the dimensions with hops to go, the first in order, and for each zone the part in the
   * zone's first mask that has any. */
  for (uint32_t pending = 0; pending < ROUTE_PENDING_MASKS; pending++) {
    for (uint32_t slot = n_dimensions; slot-- > 0;)
      if (pending >> route->order[slot] & 1u)
        route->next_dimension[pending] = route->order[slot];
    for (uint32_t zone = 0; zone < ROUTE_ZONES; zone++)
      for (uint32_t step = route->n_zone_masks[zone]; step-- > 0;)
        if (route->zone_mask[zone][step] & pending)
          route->allowed[zone][pending] = (uint8_t) (route->zone_mask[zone][step] & pending);
  }
}

/* The cut-off registers as the firmware loads them (bgq.md section 2.4).  Of
 * the two ways around a ring of even size, sources of even parity reach half
 * of it through plus and one less through minus, sources of odd parity the
 * other way round.  A ring of odd size, which no Blue Gene/Q has, has no
 * tie: both reach (size - 1) / 2. */
static inline bool
goes_plus (const TopoShape *shape, uint32_t here, uint32_t there, bool odd, uint32_t dimension)
{
  uint32_t size = shape->size[dimension], far = size / 2, near = (size - 1) / 2;
  uint32_t plus_cutoff, minus_cutoff;

  if (!shape->wrap[dimension])
    return there > here;
  plus_cutoff = MIN (size - 1, here + (odd ? near : far));
  minus_cutoff = here > (odd ? far : near) ? here - (odd ? far : near) : 0;
  return there > here ? there <= plus_cutoff : there < minus_cutoff;
}

static inline bool
is_odd (const TopoShape *shape, const TopoCoordinates *from)
{
  uint32_t sum = 0;

  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++)
    sum += from->at[dimension];
  return sum & 1u;
}

bool
route_torus_goes_plus (const TopoShape *shape, TopoCoordinates from, TopoCoordinates to,
                       uint32_t dimension)
{
  return goes_plus (shape, from.at[dimension], to.at[dimension], is_odd (shape, &from), dimension);
}

/* Coordinates come out of node numbers one dimension after the other, so both nodes are taken
 * apart in the pass that compares them; the sum that decides ties is known at its end. */
RouteWay
route_torus_way (const RouteTorus *route, uint32_t from, uint32_t to)
{
  const TopoShape *shape = &route->shape;
  RouteWay way = { { 0 }, 0, 0 };
  uint32_t sum = 0, ties = 0;

  for (uint32_t dimension = shape->n_dimensions; dimension-- > 0;) {
    uint32_t size = shape->size[dimension], bit = 1u << dimension;
    uint32_t here = from % size, there = to % size;
    uint32_t hops_plus = there > here ? there - here : there + size - here;
    uint32_t hops_minus = size - hops_plus;
    bool plus = shape->wrap[dimension] ? hops_plus < hops_minus : there > here;

    from /= size;
    to /= size;
    sum += here;
    if (here == there)
      continue;
    way.hops[dimension] = (uint8_t) (plus ? hops_plus : hops_minus);
    way.pending |= (uint8_t) bit;
    way.plus |= (uint8_t) (plus ? bit : 0);
    ties |= shape->wrap[dimension] && hops_plus == hops_minus ? bit : 0;
  }
  if (sum % 2 == 0)
    way.plus |= (uint8_t) ties;
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
  const TopoShape *shape = &route->shape;
  uint32_t n_ports = topo_shape_ports (shape), n_links = 0, node = from;

  while (way.pending) {
    uint32_t port = route_torus_next_port (route, &way), dimension = port / 2;
    uint32_t size = shape->size[dimension], stride = 1, at;

    /* All hops along a dimension; those that are left are in others. */
    for (uint32_t faster = dimension + 1; faster < shape->n_dimensions; faster++)
      stride *= shape->size[faster];
    at = node / stride % size;
    for (uint32_t hop = 0; hop < way.hops[dimension]; hop++) {
      links[n_links++] = node * n_ports + port;
      if (port % 2 == 1) {
        node += at + 1 < size ? stride : stride - size * stride;
        at = at + 1 < size ? at + 1 : 0;
      } else {
        node -= at > 0 ? stride : stride - size * stride;
        at = at > 0 ? at - 1 : size - 1;
      }
    }
    way.pending &= (uint8_t) ~(1u << dimension);
  }
  return n_links;
}
