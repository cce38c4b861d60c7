/* goal_private.h - graphs of GOAL schedules, and their text; private to traces/goal/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <stdint.h>

/* --- The operations of one rank and their dependencies ---
 *
 * Nodes are numbered as in the file, where a node may stand before its
 * dependencies.  Sorting finds an order in which none does; it keeps the order
 * of the file wherever possible. */

typedef enum { GOAL_SEND, GOAL_RECV, GOAL_CALC } GoalKind;

typedef struct {
  uint64_t size; /* bytes, or picoseconds of a calc */
  uint64_t at;   /* offset in the file */
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
  uint64_t *first_after;       /* [nodes->len + 1] runs of those on ends */
  uint64_t *first_after_start; /* [nodes->len] then of those on starts */
} GoalGraph;

GoalGraph *goal_graph_new (void);
void goal_graph_free (GoalGraph *graph);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GoalGraph, goal_graph_free)

void goal_graph_add_edge (GoalGraph *graph, uint32_t node, uint32_t on, gboolean on_start);

/* --- Schedules as text ---
 *
 * The language is that of LogGOPSim's txt2bin: "num_ranks N", then for
 * each rank, in rising order, "rank R {" statements "}".  A statement is one
 * of
 *     [LABEL:] send SIZEb to RANK [tag T] [cpu C] [nic K]
 *     [LABEL:] recv SIZEb from RANK|-1 [tag T|-1] [cpu C] [nic K]
 *     [LABEL:] calc NS [cpu C]
 *     LABEL requires LABEL        the first begins when the second has ended
 *     LABEL irequires LABEL       the first begins when the second has begun
 * with the comments of C++ between them. */
typedef struct GoalText GoalText;

gboolean goal_text_probe (const guint8 *head, gsize n);

/* Finds the text of each rank, without reading it. */
GoalText *goal_text_open (const char *path, GError **error);
void goal_text_close (GoalText *text);
uint32_t goal_text_ranks (const GoalText *text);

/* The unsorted graph of a rank.  May be called from any thread. */
GoalGraph *goal_text_read (const GoalText *text, uint32_t rank, GError **error);

/* The number, from 1, of the line at a place within a rank. */
uint64_t goal_text_line (const GoalText *text, uint32_t rank, uint64_t at);
/* "\"l7\" (line 12)": a node, for messages.  Caller frees. */
char *goal_text_describe (const GoalText *text, uint32_t rank, const GoalNode *node);
