/* schedule.h - the pending events of one simulation, node by node in windows.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Time is cut into windows no longer than the shortest time in which one node
 * can affect another (the lookahead: a link's latency).  Within a window nodes
 * are therefore independent, and the schedule hands out all events of one
 * node, in order, before it goes to the next:
 *
 *     while (sim_schedule_next_window (s))
 *       while (sim_schedule_pop (s, &event))
 *         ...
 *
 * Why not one heap over all events?  Its pop is a walk through cold memory, and
 * consecutive events hit unrelated nodes, so that each of them misses the
 * cache again.  Here a push appends 16 bytes to an array, a window is sorted by
 * node in one to three linear passes, and a node's state is fetched once for
 * all its events of the window.  The same windows are what threads can run
 * side by side.
 *
 *     ring of windows            the current window, sorted by node, then in order
 *     +---+---+---+---+          +------------------------------+
 *     | w |w+1|w+2|...| -------> | node 0: e e | node 3: e | ...|
 *     +-|-+---+---+---+          +------------------------------+
 *       v                        extra: what the current node adds to this window
 *     [eeee..]                   far future: a heap, moved in when its window comes near
 *
 * Order: a node's events fire by (time, code, order of creation); codes are
 * chosen by the engine so that an event's meaning, not the moment of its
 * creation, decides between equal times. */
#pragma once

#include "base/dump.h"

#include <stdbool.h>
#include <stdint.h>

#define SIM_SCHEDULE_CODE_BITS 12
#define SIM_SCHEDULE_MAX_NODES (1u << (32 - SIM_SCHEDULE_CODE_BITS))

typedef struct {
  int64_t at_ps;
  uint32_t key; /* node << SIM_SCHEDULE_CODE_BITS | code */
  uint32_t argument;
} SimEvent;

static inline uint32_t
sim_event_node (SimEvent event)
{
  return event.key >> SIM_SCHEDULE_CODE_BITS;
}

static inline uint32_t
sim_event_code (SimEvent event)
{
  return event.key & ((1u << SIM_SCHEDULE_CODE_BITS) - 1);
}

/* One window's events in order of creation; arrays go from window to window. */
typedef struct {
  SimEvent *first, *next, *end; /* array, first free place, its end */
} SimBucket;

typedef struct {
  SimEvent event;
  uint64_t serial; /* order of creation, to break ties */
} SimFarEvent;

/* Public to the engine that includes it, for inlining; use the functions. */
typedef struct {
  uint32_t n_nodes;
  uint32_t node_bits;   /* bits of the largest node number */
  uint32_t window_bits; /* a window is 2^window_bits ps */
  int64_t window;       /* number of the current one; -1 before the first */
  uint64_t n_events;    /* handed out so far */

  SimBucket *ring;    /* [SIM_SCHEDULE_RING] */
  uint64_t *occupied; /* bit per bucket of the ring */
  SimBucket *spare;   /* arrays without a window */
  uint32_t n_spare;

  SimFarEvent *far; /* binary heap by (time, serial) */
  uint32_t n_far, far_capacity;
  uint64_t far_serial;

  SimEvent *due, *scratch; /* the current window, sorted by node, then in order */
  uint32_t n_due, next_due, due_capacity;

  SimEvent *extra; /* the current node's events that came up in this window */
  uint32_t n_extra, next_extra, extra_capacity;
  uint32_t node; /* of the event handed out last */
} SimSchedule;

#define SIM_SCHEDULE_RING 256u

/* lookahead_ps >= 1; the window is the largest power of two not above it. */
SimSchedule *sim_schedule_new (uint32_t n_nodes, int64_t lookahead_ps);
void sim_schedule_free (SimSchedule *schedule);
/* Between two windows; loads into one that has no events. */
void sim_schedule_dump (SimSchedule *schedule, BaseDump *dump);

/* Goes to the next window that has events; false when none are left. */
bool sim_schedule_next_window (SimSchedule *schedule);

/* The two halves of that, for an engine whose windows have other events too:
 * the number of the next window with events, -1 when none are left; and the
 * step to a window that is not behind it. */
int64_t sim_schedule_peek (const SimSchedule *schedule);
void sim_schedule_enter (SimSchedule *schedule, int64_t window);

/* First instant of the current window: what other nodes did up to here is
 * settled. */
static inline int64_t
sim_schedule_window_start_ps (const SimSchedule *schedule)
{
  return schedule->window << schedule->window_bits;
}

/* Not for use: the rare case of sim_schedule_pop(). */
bool sim_schedule_pop_extra (SimSchedule *schedule, SimEvent *event);

/* Takes the next event of the window; false at its end. */
static inline bool
sim_schedule_pop (SimSchedule *schedule, SimEvent *event)
{
  if (__builtin_expect (schedule->next_extra < schedule->n_extra, 0))
    return sim_schedule_pop_extra (schedule, event);
  if (schedule->next_due == schedule->n_due)
    return false;
  *event = schedule->due[schedule->next_due++];
  schedule->node = sim_event_node (*event);
  return true;
}

/* Not for use: the rare cases of sim_schedule_push(). */
void sim_schedule_push_slowly (SimSchedule *schedule, SimEvent event);

/* at_ps must not be before the event being handled; an event for another
 * node must lie in a later window (asserted). */
static inline void
sim_schedule_push (SimSchedule *schedule, uint32_t node, uint32_t code, uint32_t argument,
                   int64_t at_ps)
{
  SimEvent event = { at_ps, node << SIM_SCHEDULE_CODE_BITS | code, argument };
  int64_t window = at_ps >> schedule->window_bits;
  SimBucket *bucket = &schedule->ring[window & (SIM_SCHEDULE_RING - 1)];

  if (__builtin_expect ((uint64_t) (window - schedule->window - 1) >= SIM_SCHEDULE_RING - 1 ||
                            bucket->next == bucket->end,
                        0))
    sim_schedule_push_slowly (schedule, event);
  else
    *bucket->next++ = event;
}
