/* goal_text.h - GOAL schedules as text.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The language is what LogGOPSim's txt2bin accepts: "num_ranks N", then for
 * each rank, in rising order, "rank R {" statements "}".  A statement is one
 * of
 *     [LABEL:] send SIZEb to RANK [tag T] [cpu C] [nic K]
 *     [LABEL:] recv SIZEb from RANK|-1 [tag T|-1] [cpu C] [nic K]
 *     [LABEL:] calc NS [cpu C]
 *     LABEL requires LABEL        the first begins when the second has ended
 *     LABEL irequires LABEL       the first begins when the second has begun
 * with the comments of C++ between them. */
#pragma once

#include "traces/goal/goal_graph.h"

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
