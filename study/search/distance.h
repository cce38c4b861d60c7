/* distance.h - hops between any two nodes of a machine, and the nodes near each.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A torus of many nodes computes them from coordinates; a smaller one and every
 * fabric has a table, a large fabric one of its leaf switches.  Where a fabric's
 * routes have different lengths there and back, the longer one counts. */
#pragma once

#include "routing/paths.h"

/* Hops as a sum of small tables.  Between two nodes of a torus they are the sum over its
 * dimensions; a fabric has one axis, its leaf switches.  So the cost of a rank at a node takes as many
 * additions as there are axes, however many partners the rank has.
 *
 *   hops (a, b) = sum over axes of hops[axis][size * coordinate of a + coordinate of b]
 *
 * holds for different nodes a and b.  Within a node the sum is that of two nodes of a leaf, 0 on a
 * torus; two times the hops between two nodes are never less than both these sums. */
typedef struct {
  uint32_t n;                              /* 0: this machine has no such tables */
  uint32_t first[TOPO_MAX_DIMENSIONS + 1]; /* of an axis in a row of all axes' coordinates */
  uint16_t *hops[TOPO_MAX_DIMENSIONS];     /* [size * size] */
  uint16_t *place;  /* [node * TOPO_MAX_DIMENSIONS + axis] first[axis] + coordinate */
  bool within_leaf; /* the sum within a node is not 0 */
} StudyAxes;

typedef struct {
  uint32_t n_nodes;
  uint32_t longest;       /* hops between the two nodes that are farthest apart */
  uint8_t *table;         /* [n_nodes * n_nodes]; NULL: see below */
  const TopoShape *shape; /* of a torus without a table */
  uint16_t *at;           /* [n_nodes * TOPO_MAX_DIMENSIONS] its coordinates */
  uint32_t *leaf;         /* [n_nodes] of a fabric without a table */
  uint32_t n_leaves;
  uint8_t *leaf_table; /* [n_leaves * n_leaves], diagonal: within a leaf */

  /* The nodes nearest to each: on a torus one hop away, on a fabric on the same
   * leaf switch.  At least one when there is more than one node. */
  uint32_t *near_first; /* [n_nodes + 1] of near[] */
  uint32_t *near;
  StudyAxes axes;
} StudyDistance;

/* Borrows paths and its machine.  NULL and *error when two nodes have no way. */
StudyDistance *study_distance_new (const RoutePaths *paths, GError **error);
void study_distance_free (StudyDistance *distance);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyDistance, study_distance_free)

uint32_t study_distance_compute (const StudyDistance *distance, uint32_t from, uint32_t to);

static inline uint32_t
study_hops (const StudyDistance *distance, uint32_t from, uint32_t to)
{
  if (distance->table)
    return distance->table[(size_t) from * distance->n_nodes + to];
  return study_distance_compute (distance, from, to);
}

/* --- A tree of switches, read from the hops between nodes --- */

/* Nodes that are at most hops[level] apart are under one switch of that level, leaves
 * first.  The full tree has as many children everywhere in a level as its widest switch, so
 * that some of the places at its feet may be free. */

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
