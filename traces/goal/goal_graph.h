/* goal_graph.h - the operations of one rank of a GOAL schedule and their dependencies.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nodes are numbered as the file has them, which may be before the nodes that they
 * depend on.  Sorting finds an order in which nothing is; it is the file's
 * wherever that will do. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef enum { GOAL_SEND, GOAL_RECV, GOAL_CALC } GoalKind;

typedef struct {
  uint64_t size; /* bytes, or picoseconds of a calc */
  uint64_t at;   /* where it stands in the file */
  int32_t peer, tag;
  uint8_t kind; /* GoalKind */
  uint8_t cpu;
} GoalNode;

/* node may not begin before `on` has ended, or only begun. */
typedef struct {
  uint32_t node, on;
  uint32_t on_start; /* 0 or 1 */
} GoalEdge;

typedef struct {
  GArray *nodes;               /* (element-type GoalNode) */
  GArray *edges;               /* (element-type GoalEdge) */
  uint32_t *order;             /* [nodes->len] node at each place; made by sorting */
  uint32_t *after;             /* [edges->len] places, by place of the node that waits */
  uint64_t *first_after;       /* [nodes->len + 1] those on ends; NULL: no edges */
  uint64_t *first_after_start; /* [nodes->len] then those on starts */
} GoalGraph;

GoalGraph *goal_graph_new (void);
void goal_graph_free (GoalGraph *graph);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GoalGraph, goal_graph_free)

void goal_graph_add_edge (GoalGraph *graph, uint32_t node, uint32_t on, gboolean on_start);
