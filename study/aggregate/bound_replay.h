/* bound_replay.h - an upper bound of the time that the ranks of a program communicate.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Section V of the aggregation paper: every operation takes the time of the table for its placement
 * among its noise, and the job the largest sum of a rank.  Two forms:
 *
 * SUM is the paper's: a rank's operations, added up.  A message is one operation at each end, a
 * nonblocking one counts once.  The waits of ranks for each other are in no operation's time: a
 * pipeline such as LU's wavefront, or ranks that compute unequally, exceed the sum.
 *
 * PATH replays the program with these times, so that waiting is there: a rank's communication
 * is its end less its computation.  In it
 *  - a message up to the eager limit is under way when its sender posts it, and costs the sender
 *    nothing more: half of a round trip has the sender's part in it;
 *  - a longer one is under way when both ends have posted it and are in a call that waits, as
 *    nothing moves otherwise, and takes its time at both;
 *  - a rank does one operation at a time: messages that are under way at once, received or sent,
 *    take their times one after the other, in the order in which they begin.  Those that it sends
 *    also leave one after the other, and arrive no earlier than that lets them;
 *  - a message that arrives before the receiver waits for it still takes its time then;
 *  - a collective begins when the last rank is there, and ends for all at once.
 *
 * Neither is a theorem: noise lasts as long as the message and has its size, in the table and so
 * here, and nothing outside of two nodes holds messages up. */
#pragma once

#include "study/aggregate/bound_noise.h"
#include "traces/trace.h"
#include "topology/machine.h"

typedef enum { STUDY_BOUND_PATH, STUDY_BOUND_SUM } StudyBoundForm;

typedef struct {
  StudyNear near;         /* whose messages are noise */
  double compute_scale;   /* recorded computation is multiplied by it; 0: 1 */
  TraceProgress progress; /* of reading the trace; may be NULL */
  void *progress_data;
} StudyBoundOptions;

/* Both forms, in seconds. */
typedef struct {
  uint32_t n_ranks;
  double path_s, sum_s;             /* of the rank with most */
  uint32_t path_rank, sum_rank;     /* which; the first of equals */
  double *rank_path_s, *rank_sum_s; /* [n_ranks] */
  double *rank_compute_s;           /* [n_ranks] */
  double end_s;                     /* of the last rank, by PATH */
  uint64_t n_messages;     /* between different ranks, with those of taken-apart collectives */
  uint64_t n_collectives;  /* of all ranks */
  uint64_t n_extrapolated; /* of both, operations longer than any of the table */
  uint64_t n_substituted;  /* of which the table lacks the class, see StudyBoundDoubt */
  uint32_t n_classes;      /* of placements that were looked up */
} StudyCommBound;

/* Communication of the mapping's ranks, on slots of the machine.  A message
 * to oneself takes no time.  Errors: the trace's; STUDY_ERROR_INPUT where the table lacks a time
 * or ranks wait for each other for ever; STUDY_ERROR_OPTION on a torus. */
gboolean study_comm_bound (Trace *trace, const TopoMachine *machine, const TopoMapping *mapping,
                           const PredictBoundTable *table, const StudyBoundOptions *options,
                           StudyCommBound *bound, GError **error);
void study_comm_bound_clear (StudyCommBound *bound);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (StudyCommBound, study_comm_bound_clear)

/* Of the form. */
static inline double
study_comm_bound_s (const StudyCommBound *bound, StudyBoundForm form)
{
  return form == STUDY_BOUND_SUM ? bound->sum_s : bound->path_s;
}
