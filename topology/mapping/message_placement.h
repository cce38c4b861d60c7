/* message_placement.h - the placements of messages in a node, up to symmetry.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The slowdown of a message by others depends on the places of all of them (the aggregation
 * paper, section V).  A placement gives the content of each place of a node: an end of the
 * observed message, an end of a pair that exchanges messages inside the node (noise), an
 * end of a message from or to another node (noise too), or nothing.  Placements that an
 * automorphism of the node's tree turns into each other share the same hardware and are
 * one class (the paper's Figure 5).  Pairs of noise are alike, and so are both ends of a
 * pair. */
#pragma once

#include "topology/mapping/core_tree.h"

enum {
  TOPO_PLACE_FREE,
  TOPO_PLACE_OBSERVED, /* two of them inside the node, one when the other is in another node */
  TOPO_PLACE_OUTSIDE,  /* of noise to another node */
  TOPO_PLACE_CLOSED,   /* free, but nothing can be put there: no process runs on it */
  TOPO_PLACE_PAIR,     /* both ends of the first pair of noise; of the next PAIR + 1 ... */
};

typedef struct {
  uint32_t n_observed; /* 1 or 2 */
  uint32_t n_pairs, n_outside;
} TopoPlacementKind;

typedef struct {
  uint32_t n, n_places;
  uint8_t *mark; /* [n][n_places], as above */
} TopoPlacements;

/* Equal for the placements of one class and for no others: a text like ((oo)(#1#1)(..)).
 * The caller frees it. */
char *topo_placement_class (const TopoLevels *levels, const uint8_t mark[]);

/* One placement of each class of a kind, in the order of the texts of their classes; none when
 * the node has too few places.  At most 200 pairs. */
TopoPlacements *topo_placements_new (const TopoLevels *levels, TopoPlacementKind kind);

/* The same for the classes that fit on the open places: open[levels->n_places]; closed places
 * are free in all of them. */
TopoPlacements *
topo_placements_on (const TopoLevels *levels, TopoPlacementKind kind, const bool open[]);
void topo_placements_free (TopoPlacements *placements);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TopoPlacements, topo_placements_free)
