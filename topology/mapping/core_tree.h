/* core_tree.h - the cores of a node as a tree of equal depth, by the hardware they share.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   package   0       0       0       0     | 1 ...      groups of the outermost level
 *   L2        0       0       1       1     | 2 ...
 *   core      0       1       2       3     | 4 ...      a group for each place
 *
 * A level divides the places into groups, and every level divides the groups of the level
 * before.  The packages, memories (NUMA nodes) and caches of a node become a level if they
 * divide the groups further; kinds that divide them alike are one level with all names
 * ("package+memory+L3").  Objects that all cores share, or that serve one core only, make
 * no level.  A core without an object of the kind stays in the group of its neighbours.
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
/* The levels of an unknown node with these processors, cpu[n]: all its cores are alike. */
TopoLevels *topo_levels_flat (const uint32_t cpu[], uint32_t n);
void topo_levels_free (TopoLevels *levels);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TopoLevels, topo_levels_free)

/* The end of the first child of the group [first, end); `below` is the level of the children. */
uint32_t
topo_levels_child_end (const TopoLevels *levels, uint32_t below, uint32_t first, uint32_t end);

/* "2 package, each 2 L2, each 2 core"; with "at most" where groups differ.  The caller frees it. */
char *topo_levels_describe (const TopoLevels *levels);

/* The least of the texts of the tree that its automorphisms lead to, with mark[place]
 * (element-type utf8) as what stands on a place: equal for marks that share alike and for no
 * others, if no mark has brackets and none starts with another.  The caller frees it. */
char *topo_levels_canonical (const TopoLevels *levels, const char *const mark[]);

/* The number of markings that are images of this one under the automorphisms, itself included:
 * exact below 2^53. */
double topo_levels_images (const TopoLevels *levels, const char *const mark[]);
