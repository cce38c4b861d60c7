/* timeline.h - intervals and messages of every rank, kept while a replay runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A lane is a rank's processor.  Its intervals follow each other without a gap
 * from 0 to the rank's end: the calls of the rank, of which each is cut in
 * parts in which it works and parts in which it waits, and the computation
 * between them.  They add up to SimRankTimes: intervals of kind COMPUTE to
 * compute_ps, those that wait to wait_ps.  Ranks whose operations are a graph
 * have a lane per processor; they wait, on their first one, while all are idle.
 *
 *   rank 0  |computing|MPI_Send |MPI_Recv...waits...|MPI_Recv|
 *                      \ message
 *   rank 1  |MPI_Recv.....waits....|MPI_Recv|
 *
 * A message is a user's, a step of a collective or a one-sided access: from
 * when its sender begins to send it to when its receiver has taken it out; an
 * access goes to where its data goes, until that side's adapter has it or, if
 * only that is known, until its origin knows.  The messages of collectives in
 * which every rank sends to every other at once are not kept, as they are the square
 * of the ranks.
 *
 * An interval or message takes 40 bytes.  At the limit the timeline ends: it is
 * whole up to sim_timeline_end_ps() and empty after. */
#pragma once

#include "base/dump.h"
#include "mpi/operation.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct SimTimeline SimTimeline;

typedef enum {
  SIM_STATE_COMPUTE,
  SIM_STATE_SEND,
  SIM_STATE_RECEIVE,
  SIM_STATE_COMPLETION, /* MPI_Wait and MPI_Test */
  SIM_STATE_COLLECTIVE,
  SIM_STATE_ONE_SIDED,
  SIM_STATE_OTHER,
  SIM_STATE_IDLE, /* of a graph: nothing may begin, but not on all processors */
  SIM_N_STATE_KINDS
} SimStateKind;

/* The state of a lane: a call by its MPI name, "computing", "idle". */
typedef struct {
  char *name;
  SimStateKind kind;
} SimState;

typedef struct {
  uint32_t rank, processor;
} SimLane;

typedef struct {
  int64_t begin_ps, end_ps; /* begin_ps < end_ps of intervals, <= of messages */
  uint32_t lane;            /* of a message: its source */
  bool is_message;
  /* An interval. */
  bool first; /* of its call */
  bool waits;
  uint16_t state;
  uint64_t
      call; /* the number of its operation in the rank's stream, from 1; 0: before the first, or
                  * of a graph */
  /* A message. */
  uint32_t destination; /* its lane */
  uint64_t bytes;
} SimTimelineEvent;

/* Keeps up to `limit` intervals and messages, of the ranks that are shown
 * ([n_ranks], copied; NULL: all) and between them. */
SimTimeline *sim_timeline_new (uint32_t n_ranks, const bool *shown, uint64_t limit);
void sim_timeline_free (SimTimeline *timeline);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SimTimeline, sim_timeline_free)

/* -- reading, after the run ------------------------------------------ */

bool sim_timeline_shows (const SimTimeline *timeline, uint32_t rank);
/* Lanes 0 .. n_ranks - 1 are the ranks' first processors. */
uint32_t sim_timeline_lanes (const SimTimeline *timeline);
SimLane sim_timeline_lane (const SimTimeline *timeline, uint32_t lane);
uint32_t sim_timeline_states (const SimTimeline *timeline);
const SimState *sim_timeline_state (const SimTimeline *timeline, uint32_t state);

/* Events are numbered in an order in which those of a lane are in the order of
 * their times.  False for one that is beyond the end. */
uint64_t sim_timeline_size (const SimTimeline *timeline);
bool sim_timeline_event (const SimTimeline *timeline, uint64_t number, SimTimelineEvent *event);

/* Where the limit cut it off; INT64_MAX: nowhere. */
int64_t sim_timeline_end_ps (const SimTimeline *timeline);
/* Intervals and messages that the limit kept out. */
uint64_t sim_timeline_left_out (const SimTimeline *timeline);

/* -- recording, by a replay --------------------------------------------------- */

/* Forgets everything; *now_ps is the time of the network as long as this is told. */
void sim_timeline_begin (SimTimeline *timeline, const int64_t *now_ps);
/* What is kept and under way; loads into one that has begun.  Fails when that has another limit or shows
 * other ranks. */
void sim_timeline_dump (SimTimeline *timeline, BaseDump *dump);
/* The rank begins an operation; the one before has ended. */
void
sim_timeline_call (SimTimeline *timeline, uint32_t rank, const TraceOp *operation, int64_t at_ps);
/* It waited.  Up to then it worked. */
void sim_timeline_wait (SimTimeline *timeline, uint32_t rank, int64_t begin_ps, int64_t end_ps);
void sim_timeline_rank_end (SimTimeline *timeline, uint32_t rank, int64_t at_ps);
/* A graph's processor is busy. */
void sim_timeline_work (SimTimeline *timeline, uint32_t rank, uint32_t processor, TraceOpKind kind,
                        int64_t begin_ps, int64_t end_ps);
/* A transfer begins; its number is free again once it was received. */
void sim_timeline_sent (SimTimeline *timeline, uint32_t transfer, int64_t at_ps);
/* Told twice, the first counts. */
void sim_timeline_received (SimTimeline *timeline, uint32_t transfer, uint32_t source,
                            uint32_t destination, uint64_t bytes, int64_t at_ps);
