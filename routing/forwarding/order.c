/* order.c - in which order destinations are given their ports.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Engines that take "the port with fewest destinations so far" depend on it.
 * It is OpenSM's (osm_ucast_mgr.c): switches with most adapters first, those
 * with equally many by GUID, on each the adapters by the port that they are
 * plugged in. */
#include "config.h"

#include "routing/forwarding/forwarding_private.h"

#include <stdlib.h>

typedef struct {
  uint32_t n_adapters; /* plugged in at the switch */
  uint64_t guid;       /* of the switch, as it is compared */
  uint32_t leaf, number;
  uint32_t destination;
} Place;

/* OpenSM keeps GUIDs in network order and compares them as numbers of the
 * computer, which on today's are read from the last byte on. */
uint64_t
route_compared_guid (const TopoFabric *fabric, uint32_t device)
{
  return GUINT64_SWAP_LE_BE (fabric->devices[device].guid);
}

static int
by_place (const void *left, const void *right)
{
  const Place *a = left, *b = right;

  if (a->n_adapters != b->n_adapters)
    return a->n_adapters > b->n_adapters ? -1 : 1;
  if (a->guid != b->guid)
    return a->guid < b->guid ? -1 : 1;
  if (a->leaf != b->leaf)
    return a->leaf < b->leaf ? -1 : 1;
  return a->number < b->number ? -1 : a->number > b->number;
}

uint32_t
route_order (const RouteForwarding *tables, uint32_t *order)
{
  const TopoFabric *fabric = tables->fabric;
  g_autofree uint32_t *n_adapters = g_new0 (uint32_t, tables->n_switches + 1);
  g_autofree Place *places = g_new (Place, tables->n_destinations + 1);
  uint32_t n = 0;

  for (uint32_t destination = 0; destination < tables->n_destinations; destination++) {
    Place place = { .destination = destination };

    place.leaf = route_leaf_of (tables, destination, &place.number);
    if (place.leaf == TOPO_NONE)
      continue;
    place.guid = route_compared_guid (fabric, tables->switch_device[place.leaf]);
    n_adapters[place.leaf]++;
    places[n++] = place;
  }
  for (uint32_t at = 0; at < n; at++)
    places[at].n_adapters = n_adapters[places[at].leaf];
  qsort (places, n, sizeof *places, by_place);
  for (uint32_t at = 0; at < n; at++)
    order[at] = places[at].destination;
  return n;
}
