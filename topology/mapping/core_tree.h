/* core_tree.h - the cores of a node as a tree of equal depth: which share what.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   package   0       0       0       0     | 1 ...      groups of the outermost level
 *   L2        0       0       1       1     | 2 ...
 *   core      0       1       2       3     | 4 ...      a group for each place
 *
 * A level parts the places into groups, and every level parts the groups of the one before.
 * What a node has of packages, memories (NUMA nodes) and caches becomes a level when it
 * parts them further; kinds that part them alike are one level with the names of all
 * ("package+memory+L3"), and what all cores share, or a core has for itself, is none.  A
 * core that an object of the kind does not serve stays with its neighbours as they were.
 *
 * A place is a core, or a hardware thread where these are asked for.  Places are
 * numbered as cores are, so that a group is a range of them.
 *
 * Two sets of places share alike when an automorphism of the tree, an exchange of
 * groups that look the same from inside, turns one into the other. */
#pragma once

#include "topology/node/node.h"

#define TOPO_MAX_LEVELS 9 /* package, memory, L5 to L1, core, thread */

typedef struct {
  char *name;
  uint32_t n_groups;
  uint32_t *group; /* [n_places] ascending */
} TopoLevel;

/* Public and read-only once made. */
typedef struct {
  uint32_t n_places;
  uint32_t n_levels; /* at least 1 */
  TopoLevel level[TOPO_MAX_LEVELS];
  uint32_t *core; /* [n_places] */
  uint32_t *cpu;  /* [n_places] the operating system's number */
} TopoLevels;

TopoLevels *topo_levels_new (const TopoNode *node, bool with_threads);
/* Of a node of which nothing is known but the numbers of its processors, cpu[n]: all its cores
 * are alike. */
TopoLevels *topo_levels_flat (const uint32_t cpu[], uint32_t n);
void topo_levels_free (TopoLevels *levels);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TopoLevels, topo_levels_free)

/* Where the first child of a group that starts at `first` ends; `below` is the level of
 * the children, `end` the end of the group. */
uint32_t
topo_levels_child_end (const TopoLevels *levels, uint32_t below, uint32_t first, uint32_t end);

/* "2 package, each 2 L2, each 2 core"; with "at most" where groups differ.  The caller frees it. */
char *topo_levels_describe (const TopoLevels *levels);

/* The least of the texts of the tree that its automorphisms lead to, with mark[place]
 * (element-type utf8) as what stands on a place: equal for marks that share alike and for no
 * others, if no mark has brackets and none starts with another.  The caller frees it. */
char *topo_levels_canonical (const TopoLevels *levels, const char *const mark[]);

/* Into how many markings the automorphisms turn this one, itself included: exact below
 * 2^53. */
double topo_levels_images (const TopoLevels *levels, const char *const mark[]);
