/* aggregation.h - the aggregation patterns of a node: which of its cores a job uses.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A pattern is the number of groups used of each level of the node, the same in
 * every group of the level above: sockets x dies x cores.  The first children are used.
 * The node of the aggregation paper, 2 x 2 x 2, has the eight patterns of its Figure 2 (the
 * figure is not in its text; 6 and 7 are deduced, infiniband.md section 0):
 *
 *   1  1x1x1  one core                     5  2x2x1  one core of each die
 *   2  2x1x1  one core of each socket      6  2x1x2  one die of each socket
 *   3  1x2x1  one core of each die of one  7  1x2x2  one socket
 *   4  1x1x2  one die                      8  2x2x2  all
 *
 * The numbers of children that a pattern may use are the divisors of their number, which divide
 * the level evenly, and the powers of two, by which the ranks of many programs divide.  So two
 * sockets of 20 cores have 16 patterns, not 40.
 *
 * Patterns are numbered from the widest spread to the full node: by tasks, among as many tasks
 * by more groups of the outermost level, then of the next.  The energy rank goes the other way:
 * fewer nodes, then fewer sockets, then fewer dies (section VI).
 *
 * Where groups differ, a group with fewer children than the pattern takes gives all of them, and
 * the groups that give most come first.  Such a pattern is uneven when its groups then have
 * different numbers of tasks. */
#pragma once

#include "topology/mapping/core_tree.h"

typedef struct {
  uint32_t id;
  uint32_t n_tasks;                /* of a node */
  uint32_t takes[TOPO_MAX_LEVELS]; /* children of a group of the level above, outermost first */
  uint32_t used[TOPO_MAX_LEVELS];  /* groups of the whole node */
  uint32_t n_sockets, n_dies; /* used; a die is what shares the outermost cache, else the socket */
  uint32_t *place;            /* [n_tasks] ascending */
  bool is_uneven;
  double symmetries; /* sets of places that share alike, this one included */

  /* After topo_patterns_admit(). */
  uint32_t n_nodes;
  uint32_t energy_rank; /* 1 needs least; patterns that use as much have the same; 0: excluded */
  char *excluded;       /* why it cannot be used; NULL: it can */
} TopoPattern;

/* Public and read-only once made. */
typedef struct {
  TopoLevels *levels;
  uint64_t node_bytes; /* of memory; 0: not known */
  uint32_t n;
  TopoPattern *pattern; /* [n]; id is 1 + its place here */
} TopoPatterns;

typedef enum {
  TOPO_PATTERNS_DEFAULT = 0,
  TOPO_PATTERNS_THREADS = 1 << 0,    /* hardware threads are places */
  TOPO_PATTERNS_ALL_COUNTS = 1 << 1, /* any number of children */
} TopoPatternFlags;

TopoPatterns *topo_patterns_new (const TopoNode *node, TopoPatternFlags flags);
void topo_patterns_free (TopoPatterns *patterns);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TopoPatterns, topo_patterns_free)

typedef struct {
  uint64_t n_ranks;    /* 0: any */
  uint64_t n_nodes;    /* that there are; 0: as many as are needed */
  uint64_t task_bytes; /* memory of a task; 0: not asked */
  uint64_t node_bytes; /* memory of a node; 0: what the node says */
  bool part_filled;    /* the last node may have fewer tasks */
} TopoJob;

/* Sets for each pattern the number of nodes that a job needs and the reason of an exclusion.
 * Errors (TOPO_ERROR): more ranks than all nodes have places, unknown memory. */
gboolean topo_patterns_admit (TopoPatterns *patterns, const TopoJob *job, GError **error);

/* The cores of a pattern without threads, ascending, in cores[n_cores]; returns how many, 0 when
 * there is none with this number. */
uint32_t topo_node_pattern (const TopoNode *node, uint32_t id, uint8_t cores[]);

/* How much of each level the pattern takes, "2x1x2"; the caller frees it. */
char *topo_pattern_takes (const TopoLevels *levels, const TopoPattern *pattern);
