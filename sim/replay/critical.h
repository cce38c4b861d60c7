/* critical.h - what the time of a run is made of, along its critical path; private to sim/replay.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The path ends with the rank that ends last and goes back in time.  On a rank it follows the
 * processor; where the rank was blocked it leaves it along the message, or the meeting of ranks, that
 * let it go on, to the rank that sent it.  So each picosecond of the run belongs to one class
 * (SimTimeClass), and nothing on the path waits for another rank.
 *
 * The way is not kept, only its sums (as in Hollingsworth, "An online computation of critical path
 * profiling", 1996): each rank has the sums of the path that ends with it now, each message those of
 * the path that ends with its handing over.  Whoever was blocked takes over the sums of what has
 * come.  A message has the latency and the time of its bytes on an idle network
 * (net/message_cost.h); what it takes beyond that is queueing.
 *
 * It is asked for, as it makes runs 9 to 13 % slower.
 *
 * Approximations, in which the sums are still the time:
 *
 *   messages in pieces        those of the rank that asks for the first piece (torus), or that hands
 *                             over the last one (fabric)
 *   direct collectives        the waiting rank's own, and the time of all bytes that it receives
 *   what an agent has done    where no path leads to a time, the difference counts as queueing
 *
 * Of a trace that is a graph nothing is known, as its ranks have several processors. */
#pragma once

#include "sim/replay/replay_private.h"

/* All views share it; an entry of a rank belongs to the view of the rank, `released` to that of who
 * lets it go on from a meeting. */
struct SimCritical {
  const RoutePaths *routes;
  SimPath *ranks;    /* [n_ranks] up to a time that the rank has reached */
  SimPath *released; /* [n_ranks] of the last rank to come to a meeting */
};

void sim_critical_init (SimReplay *replay, const RoutePaths *routes);
void sim_critical_free (SimReplay *replay);
void sim_critical_dump (SimReplay *replay, BaseDump *dump);

/* The rank starts at its local time. */
void sim_critical_start (SimReplay *replay, uint32_t rank);

/* A callback begins.  message: NULL, a timer. */
void
sim_critical_event (SimReplay *replay, const SimProtocolEvent *event, const SimMessage *message);

/* The rank, which has reached its local time by work of the library, computes from then on. */
void sim_critical_compute (SimReplay *replay, uint32_t rank, int64_t compute_ps);

/* The rank was blocked from its local time to at_ps, when the present callback lets it go on. */
void sim_critical_wait (SimReplay *replay, uint32_t rank, int64_t at_ps);

/* The transfer is handed over for the rank at at_ps. */
void sim_critical_send (SimReplay *replay, uint32_t transfer, uint32_t rank, int64_t at_ps);

/* The transfer is about to be given back.  What the callback needs of its path is taken now: whoever takes
 * the transfer next writes another path into it, perhaps on another thread. */
void sim_critical_give (SimReplay *replay, uint32_t transfer);

/* The path to the rank's local time. */
SimPath sim_critical_of (SimReplay *replay, uint32_t rank);

/* Of a meeting: the rank will be released, as the end of `path` has come there. */
void sim_critical_release (SimReplay *replay, uint32_t rank, const SimPath *path);
/* The rank has waited until its local time for the root, which `path` leads to. */
void sim_critical_follow (SimReplay *replay, uint32_t rank, const SimPath *path);

/* Work in no time of the rank's: the path to the agent's time, which the rank has for now; returns the
 * rank's own, which is put back with sim_critical_leave_agent(). */
SimPath sim_critical_enter_agent (SimReplay *replay, uint32_t rank);
void sim_critical_leave_agent (SimReplay *replay, uint32_t rank, SimPath own);
