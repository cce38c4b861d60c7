/* switch_tree.h - a tree of switches, read from the hops between nodes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nodes that are at most hops[level] apart are under one switch of that level, leaves
 * first.  The full tree has as many children everywhere in a level as its widest switch, so
 * that some of the places at its feet may be free. */
#pragma once

#include "study/search/distance.h"

#define STUDY_TREE_LEVELS 8u /* at most */

typedef struct {
  uint32_t n_levels;
  uint32_t hops[STUDY_TREE_LEVELS];
  uint32_t *group[STUDY_TREE_LEVELS]; /* [node] switch of the level, numbered by first nodes */
  uint32_t width[STUDY_TREE_LEVELS];  /* most children of a switch of the level */
  uint32_t *child[STUDY_TREE_LEVELS]; /* [node] which child of the switch above */
  uint32_t n_places;                  /* at the feet of the full tree */
} StudySwitchTree;

void study_switch_tree_clear (StudySwitchTree *tree);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (StudySwitchTree, study_switch_tree_clear)

/* Fills *tree, which is zero; FALSE when there are too many levels or places. */
gboolean study_switch_tree_read (StudySwitchTree *tree, const StudyDistance *distance);

/* [n_places] the node at each, TOPO_NONE where it is free.  g_free(). */
uint32_t *study_switch_tree_nodes (const StudySwitchTree *tree, uint32_t n_nodes);
