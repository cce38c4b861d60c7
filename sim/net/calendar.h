/* calendar.h - the pending events of a simulation, in windows of time.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A calendar queue (Brown, Calendar queues, CACM 31(10), 1988) whose days are
 * windows no longer than the shortest time in which one node can affect another.
 * An event is one word that sorts:
 *
 *     time : 20 | class : 4 | index : 8 | argument : 32
 *
 * and events of one time come by class, then by index, then as they were added.
 * The owner chooses classes and indices so that what an event means, not the
 * moment at which it was added, decides between equal times of one node; the
 * argument names a record.
 *
 *     while (calendar_next_window (c))
 *       while ((event = calendar_take (c)) != CALENDAR_END)
 *         ...
 *
 * Why not one heap over all events?  Its pop is a walk through cold memory with
 * branches that cannot be foretold.  Here adding appends 8 bytes to an array, a
 * window is sorted in a few counting passes, and what the next events will touch is known, so that it can be
 * fetched ahead. */
#pragma once

#include "base/dump.h"

#include <stdbool.h>
#include <stdint.h>

#define CALENDAR_MAX_WINDOW_BITS 20u
#define CALENDAR_END             UINT64_MAX
#define CALENDAR_AHEAD           8u /* words behind the window's last event that may be read: END */
#define CALENDAR_RING            1024u

enum { CALENDAR_INDEX_SHIFT = 32, CALENDAR_CLASS_SHIFT = 40, CALENDAR_TIME_SHIFT = 44 };

/* One window's events as they were added. */
typedef struct {
  uint64_t *events;
  uint32_t n, capacity;
} CalendarWindow;

typedef struct {
  int64_t at_ps;
  uint64_t serial; /* order of adding, to break ties */
  uint64_t event;
} CalendarFar;

/* Public for inlining; use the functions. */
typedef struct {
  uint32_t window_bits; /* a window is 2^window_bits ps */
  int64_t window;       /* number of the current one; -1 before the first */
  int64_t start_ps;     /* ... and its first instant; 0 before the first */
  int64_t base_ps;      /* the instant that times in it are counted from */
  uint64_t n_events;    /* handed out so far */

  CalendarWindow *ring;  /* [CALENDAR_RING] */
  uint64_t *occupied;    /* bit window of the ring */
  CalendarWindow *spare; /* arrays without a window */
  uint32_t n_spare;

  CalendarFar *far; /* beyond the ring: binary heap by (time, serial) */
  uint32_t n_far, far_capacity;
  uint64_t far_serial;

  uint64_t *due; /* the current window's, sorted; CALENDAR_END behind them */
  uint32_t n_due, next_due, due_capacity;
  bool ties;      /* most events of the last window came at the time of another */
  uint64_t *late; /* those that were added in it, sorted; CALENDAR_END behind them */
  uint32_t n_late, next_late, late_capacity;
} Calendar;

/* lookahead_ps >= 1; the window is the largest power of two not above it, or 2^20. */
void calendar_init (Calendar *calendar, int64_t lookahead_ps);
void calendar_clear (Calendar *calendar);
/* Between two windows; loads into one that has no events. */
void calendar_dump (Calendar *calendar, BaseDump *dump);

/* Goes to the next window that has events; false when none are left.  All of
 * the current one have been taken. */
bool calendar_next_window (Calendar *calendar);

/* The two halves of that, for an owner of several calendars that go on together: the number of the
 * next window with events, -1 when none are left; and the step to a window that is not behind it. */
int64_t calendar_peek (const Calendar *calendar);
void calendar_enter (Calendar *calendar, int64_t window);

/* The same step for an owner that sorts: the n events as they were added, which stand until something
 * is added.  calendar->due[] has room for them and n_more. */
uint64_t *
calendar_enter_unsorted (Calendar *calendar, int64_t window, uint32_t n_more, uint32_t *n);
/* All of them by time, class and index into due[]; overwrites them. */
void calendar_sort (Calendar *calendar, uint64_t *events, uint32_t n);

static inline int64_t
calendar_time_ps (const Calendar *calendar, uint64_t event)
{
  return calendar->base_ps + (int64_t) (event >> CALENDAR_TIME_SHIFT);
}

static inline uint32_t
calendar_class (uint64_t event)
{
  return (uint32_t) (event >> CALENDAR_CLASS_SHIFT) & 15;
}

static inline uint32_t
calendar_index (uint64_t event)
{
  return (uint32_t) (event >> CALENDAR_INDEX_SHIFT) & 255;
}

static inline uint32_t
calendar_argument (uint64_t event)
{
  return (uint32_t) event;
}

/* The next event of the window; CALENDAR_END at its end.  Few are added in their own window. */
static inline uint64_t
calendar_take (Calendar *calendar)
{
  uint64_t due = calendar->due[calendar->next_due], late;

  if (__builtin_expect (calendar->next_late < calendar->n_late, 0)) {
    late = calendar->late[calendar->next_late];
    if (late >> CALENDAR_INDEX_SHIFT < due >> CALENDAR_INDEX_SHIFT) {
      calendar->next_late++;
      return late;
    }
  }
  calendar->next_due++;
  return due;
}

/* Not for use: the rare cases of calendar_add(). */
void calendar_add_slowly (Calendar *calendar, uint64_t event, int64_t at_ps);

/* at_ps must not be before the event being handled; class below 16, index
 * below 256. */
static inline void
calendar_add (Calendar *calendar, uint32_t class, uint32_t index, uint32_t argument, int64_t at_ps)
{
  /* Bits of the time above the first 20 go; those that a short window leaves are all its events'. */
  uint64_t event = (uint64_t) at_ps << CALENDAR_TIME_SHIFT |
                   (uint64_t) class << CALENDAR_CLASS_SHIFT |
                   (uint64_t) index << CALENDAR_INDEX_SHIFT | argument;
  int64_t window = at_ps >> calendar->window_bits;
  CalendarWindow *in = &calendar->ring[window & (CALENDAR_RING - 1)];

  if (__builtin_expect ((uint64_t) (window - calendar->window - 1) >= CALENDAR_RING - 1 ||
                            in->n == in->capacity,
                        0)) {
    calendar_add_slowly (calendar, event, at_ps);
    return;
  }
  in->events[in->n++] = event;
}
