/* iterations.h - the main loop of a program, and how long each of its iterations takes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program with a main loop makes the same operations again and again after some start-up.  The
 * loop of a rank is the stretch of whole repetitions that spans most of its operations, at least
 * half of them; a loop within the body spans less and is not taken.
 *
 *   operations   S T | a b c c | a b c c | a b c c | a b | R
 *                    begin   end 1     end 2     end 3      first = 2, period = 4, count = 3
 *
 * Operations are equal when call, peer, tag, communicator, root and sizes are; where that gives no
 * loop, without the sizes, as those of particle codes differ from step to step.  Computation, calls
 * that move nothing, and calls that a program makes as often as it has to (tests, probes that do
 * not block, waits for some of its requests) are not counted.
 *
 * An iteration of a rank ends with the last operation of its body, and the next one begins there,
 * with the computation before its first operation.  The first begins where the last call before
 * the loop ended.  An iteration of the program ends when the last rank has ended it. */
#pragma once

#include "base/dump.h"
#include "traces/trace.h"

/* In operations that count. */
typedef struct {
  uint64_t first;  /* that many come before */
  uint64_t period; /* of the body; 0: there is no loop */
  uint64_t count;  /* whole iterations, at least 2 */
} SimLoop;

/* The loop in a sequence of n hashes of operations; of several that span the same number, the one
 * of the shortest period, and of those the first.  Takes time and memory proportional to n. */
SimLoop sim_loop_find (const uint64_t *operations, uint32_t n);

/* The times of one rank. */
typedef struct {
  uint64_t n_counted; /* operations so far */
  uint64_t next;      /* how many there are at the next end; UINT64_MAX: no more ends */
  uint32_t n_ends;    /* so far, the begin of the first iteration included; 0: no loop */
  uint32_t
      end_moves;    /* the last operation belongs to what came before it; no bool, so that there is
                          no padding to be saved */
  int64_t end_ps;   /* of the last operation that counts, and of calls that belong to it */
  int64_t begin_ps; /* of the first iteration */
  int64_t last_ps;  /* the last end */
  int64_t least_ps, most_ps; /* the shortest and the longest iteration */
} SimRankIterations;

typedef struct {
  uint32_t count; /* iterations of the program; 0: none, and `reason` tells why */
  char *reason;
  bool sizes_differ; /* between iterations */
  uint32_t n_ranks;
  SimLoop *loops; /* [n_ranks] of all the same count, or period 0: a rank without operations */

  /* Filled by a replay. */
  SimRankIterations *ranks; /* [n_ranks] */
  int64_t *ends_ps;         /* [count + 1] when the last rank ended so many iterations; [0]: when it
                               began the first one */
  uint64_t messages, message_bytes; /* that ranks sent within their loops */
} SimIterations;

/* Reads the trace once, or twice when sizes differ, a rank after the other; takes 16 bytes per operation of the longest rank.
 * NULL and *error when the trace cannot be read. */
SimIterations *sim_iterations_new (Trace *trace, GError **error);
void sim_iterations_free (SimIterations *iterations);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SimIterations, sim_iterations_free)

/* --- For a replay --- */

/* Forgets the times of a replay before. */
void sim_iterations_begin (SimIterations *iterations);
/* A rank has ended its last operation, or has just started, and goes on to the next one at now_ps. */
void sim_iterations_ended (SimIterations *iterations, uint32_t rank, int64_t now_ps);
/* That is of this kind; ends_ps: [count + 1] of the thread that replays the rank. */
void
sim_iterations_next (SimIterations *iterations, uint32_t rank, TraceOpKind kind, int64_t *ends_ps);
/* Nothing comes any more. */
void sim_iterations_finish (SimIterations *iterations, uint32_t rank, int64_t *ends_ps);
void sim_iterations_dump (SimIterations *iterations, BaseDump *dump);

static inline bool
sim_iterations_in_loop (const SimIterations *iterations, uint32_t rank)
{
  const SimRankIterations *it = &iterations->ranks[rank];

  return it->n_ends > 0 && it->n_ends <= iterations->count;
}

/* --- After it --- */

/* The mean iteration of a rank, in picoseconds; NaN: it has no loop. */
double sim_iterations_mean_ps (const SimIterations *iterations, uint32_t rank);
