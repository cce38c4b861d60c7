/* placements.c - where pairs of ranks can sit in a node of two sockets.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validation/infiniband/placements.h"

#include "topology/mapping/message_placement.h"

/* The pairs of a marked node. */
static ValidationPlacement
pairs_of (const uint8_t mark[VALIDATION_CORES], uint32_t n_pairs)
{
  ValidationPlacement placement = { .n_pairs = (uint8_t) n_pairs };
  uint32_t n_ends[1 + VALIDATION_MAX_NOISE] = { 0 };

  for (uint32_t core = 0; core < VALIDATION_CORES; core++) {
    uint32_t pair = mark[core] == TOPO_PLACE_OBSERVED ? 0 : 1u + mark[core] - TOPO_PLACE_PAIR;

    if (mark[core] != TOPO_PLACE_FREE)
      placement.pair[pair][n_ends[pair]++] = (uint8_t) core;
  }
  return placement;
}

uint32_t
validation_placements (uint32_t n_noise, ValidationPlacement classes[VALIDATION_MAX_PLACEMENTS])
{
  g_autoptr (TopoNode) node = topo_node_harpertown ();
  g_autoptr (TopoLevels) levels = topo_levels_new (node, false);
  g_autoptr (TopoPlacements) found = NULL;

  g_assert (n_noise <= VALIDATION_MAX_NOISE && levels->n_places == VALIDATION_CORES);
  found = topo_placements_new (levels, (TopoPlacementKind){ 2, n_noise, 0 });
  g_assert (found->n <= VALIDATION_MAX_PLACEMENTS);
  for (uint32_t at = 0; at < found->n; at++)
    classes[at] = pairs_of (found->mark + VALIDATION_CORES * at, 1 + n_noise);
  return found->n;
}
