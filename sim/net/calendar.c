/* calendar.c - the rare cases of adding, and a window's sort.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/calendar.h"

#include <glib.h>
#include <string.h>

#define FIRST_CAPACITY 64u
#define SMALL_WINDOW   24u /* events that are sorted by insertion */

void
calendar_init (Calendar *calendar, int64_t lookahead_ps)
{
  g_assert (lookahead_ps >= 1);
  *calendar = (Calendar){ .window = -1, .late_capacity = 64 };
  while (calendar->window_bits < CALENDAR_MAX_WINDOW_BITS &&
         INT64_C (2) << calendar->window_bits <= lookahead_ps)
    calendar->window_bits++;
  calendar->ring = g_new0 (CalendarWindow, CALENDAR_RING);
  calendar->occupied = g_new0 (uint64_t, CALENDAR_RING / 64);
  calendar->spare = g_new (CalendarWindow, CALENDAR_RING);
  calendar->late = g_new (uint64_t, calendar->late_capacity);
  calendar->due_capacity = CALENDAR_AHEAD;
  calendar->due = g_new (uint64_t, calendar->due_capacity);
  calendar->due[0] = calendar->late[0] = CALENDAR_END;
}

void
calendar_clear (Calendar *calendar)
{
  for (uint32_t window = 0; window < CALENDAR_RING; window++)
    g_free (calendar->ring[window].events);
  for (uint32_t i = 0; i < calendar->n_spare; i++)
    g_free (calendar->spare[i].events);
  g_free (calendar->ring);
  g_free (calendar->occupied);
  g_free (calendar->spare);
  g_free (calendar->far);
  g_free (calendar->due);
  g_free (calendar->late);
}

void
calendar_dump (Calendar *calendar, BaseDump *dump)
{
  /* The end has been taken too. */
  g_assert (calendar->next_due >= calendar->n_due && calendar->next_late == calendar->n_late);
  base_dump_section (dump, "calendar");
  BASE_DUMP_VALUE (dump, calendar->window);
  BASE_DUMP_VALUE (dump, calendar->start_ps);
  BASE_DUMP_VALUE (dump, calendar->n_events);
  BASE_DUMP_VALUE (dump, calendar->far_serial);
  base_dump_list (dump, (void **) &calendar->far, &calendar->n_far, &calendar->far_capacity,
                  sizeof *calendar->far);
  for (uint32_t at = 0; at < CALENDAR_RING; at++) {
    CalendarWindow *window = &calendar->ring[at];

    base_dump_list (dump, (void **) &window->events, &window->n, &window->capacity,
                    sizeof *window->events);
    if (window->n > 0)
      calendar->occupied[at / 64] |= UINT64_C (1) << (at % 64);
  }
}

/* --- The far future --- */

static inline bool
far_before (const CalendarFar *a, const CalendarFar *b)
{
  return a->at_ps != b->at_ps ? a->at_ps < b->at_ps : a->serial < b->serial;
}

static void
far_push (Calendar *calendar, uint64_t event, int64_t at_ps)
{
  CalendarFar entry = { at_ps, calendar->far_serial++, event };
  uint32_t hole = calendar->n_far++;

  if (hole == calendar->far_capacity) {
    calendar->far_capacity = MAX (FIRST_CAPACITY, calendar->far_capacity * 2);
    calendar->far = g_renew (CalendarFar, calendar->far, calendar->far_capacity);
  }
  for (; hole > 0 && far_before (&entry, &calendar->far[(hole - 1) / 2]); hole = (hole - 1) / 2)
    calendar->far[hole] = calendar->far[(hole - 1) / 2];
  calendar->far[hole] = entry;
}

static CalendarFar
far_pop (Calendar *calendar)
{
  CalendarFar first = calendar->far[0], last = calendar->far[--calendar->n_far];
  uint32_t hole = 0, child;

  while ((child = 2 * hole + 1) < calendar->n_far) {
    if (child + 1 < calendar->n_far &&
        far_before (&calendar->far[child + 1], &calendar->far[child]))
      child++;
    if (!far_before (&calendar->far[child], &last))
      break;
    calendar->far[hole] = calendar->far[child];
    hole = child;
  }
  if (calendar->n_far > 0)
    calendar->far[hole] = last;
  return first;
}

/* --- Adding --- */

/* Room for more in a window of the ring; arrays go from window to window, so
 * that a burst does not make all of them long. */
static void
grow (Calendar *calendar, uint32_t at)
{
  CalendarWindow *window = &calendar->ring[at];

  if (window->events == NULL) {
    if (calendar->n_spare > 0)
      *window = calendar->spare[--calendar->n_spare];
    calendar->occupied[at / 64] |= UINT64_C (1) << (at % 64);
  }
  if (window->n == window->capacity) {
    window->capacity = MAX (FIRST_CAPACITY, 2 * window->capacity);
    window->events = g_renew (uint64_t, window->events, window->capacity);
  }
}

/* Behind its equals. */
static void
add_late (Calendar *calendar, uint64_t event)
{
  uint32_t hole;

  if (calendar->next_late == calendar->n_late)
    calendar->next_late = calendar->n_late = 0;
  if (calendar->n_late + 1 == calendar->late_capacity) {
    calendar->late_capacity *= 2;
    calendar->late = g_renew (uint64_t, calendar->late, calendar->late_capacity);
  }
  calendar->late[++calendar->n_late] = CALENDAR_END;
  for (hole = calendar->n_late - 1;
       hole > calendar->next_late &&
       calendar->late[hole - 1] >> CALENDAR_INDEX_SHIFT > event >> CALENDAR_INDEX_SHIFT;
       hole--)
    calendar->late[hole] = calendar->late[hole - 1];
  calendar->late[hole] = event;
  calendar->n_events++;
}

static void
append (Calendar *calendar, int64_t window, uint64_t event)
{
  uint32_t at = (uint32_t) window & (CALENDAR_RING - 1);

  grow (calendar, at);
  calendar->ring[at].events[calendar->ring[at].n++] = event;
}

void
calendar_add_slowly (Calendar *calendar, uint64_t event, int64_t at_ps)
{
  int64_t window = at_ps >> calendar->window_bits;

  g_assert (window >= calendar->window);
  if (window - calendar->window >= CALENDAR_RING)
    far_push (calendar, event, at_ps);
  else if (window == calendar->window)
    add_late (calendar, event);
  else
    append (calendar, window, event);
}

/* --- Windows --- */

/* First occupied window after the current one within the ring, or -1. */
static int64_t
first_in_ring (const Calendar *calendar)
{
  uint32_t start = (uint32_t) (calendar->window + 1) & (CALENDAR_RING - 1);

  for (uint32_t step = 0; step < CALENDAR_RING;) {
    uint32_t at = (start + step) & (CALENDAR_RING - 1);
    uint64_t bits = calendar->occupied[at / 64] >> (at % 64);

    if (bits != 0) {
      step += (uint32_t) __builtin_ctzll (bits);
      return step < CALENDAR_RING ? calendar->window + 1 + step : -1;
    }
    step += 64 - at % 64;
  }
  return -1;
}

/* Stably, by all but the argument; false when that would take more steps than
 * worth it. */
static bool
insertion_sort (uint64_t *events, uint32_t n)
{
  uint64_t most = n > 0 ? events[0] >> CALENDAR_INDEX_SHIFT : 0;
  uint32_t steps = 0;

  for (uint32_t i = 1; i < n; i++) {
    uint64_t event = events[i], key = event >> CALENDAR_INDEX_SHIFT;
    uint32_t hole = i;

    if (G_LIKELY (key >= most)) {
      most = key;
      continue;
    }
    do
      events[hole] = events[hole - 1];
    while (--hole > 0 && events[hole - 1] >> CALENDAR_INDEX_SHIFT > key);
    events[hole] = event;
    steps += i - hole;
    if (steps > 2 * n + SMALL_WINDOW * SMALL_WINDOW / 2)
      return false;
  }
  return true;
}

#define MAX_WIDTH 11u

/* A stable counting sort by `width` bits, at most MAX_WIDTH, from `shift` on. */
static void
counting_pass (const uint64_t *events, uint64_t *sorted, uint32_t n, uint32_t shift, uint32_t width)
{
  uint32_t count[1u << MAX_WIDTH], mask = (1u << width) - 1, sum = 0;

  memset (count, 0, sizeof *count << width);
  for (uint32_t i = 0; i < n; i++)
    count[events[i] >> shift & mask]++;
  for (uint32_t digit = 0; digit <= mask; digit++) {
    uint32_t here = count[digit];

    count[digit] = sum;
    sum += here;
  }
  for (uint32_t i = 0; i < n; i++)
    sorted[count[events[i] >> shift & mask]++] = events[i];
}

/* From events[] into due[], nearly: by the first bits of the time, as many as put each event of an
 * even window alone.  A pass costs as much by its digits as by its events. */
static void
sort_coarsely (Calendar *calendar, const uint64_t *events, uint32_t n)
{
  uint32_t width = 32u - (uint32_t) __builtin_clz (n);

  width = MIN (MIN (width, MAX_WIDTH), calendar->window_bits);
  counting_pass (events, calendar->due, n, CALENDAR_TIME_SHIFT + calendar->window_bits - width,
                 width);
}

/* From events[], which are overwritten, into due[], wholly. */
static void
sort_by_counting (Calendar *calendar, uint64_t *events, uint32_t n)
{
  uint32_t bits = calendar->window_bits, passes = (bits + 7) / 8;
  uint64_t *from = events, *to = calendar->due, *sorted;

  counting_pass (events, calendar->due, n, CALENDAR_INDEX_SHIFT, 8);
  counting_pass (calendar->due, events, n, CALENDAR_CLASS_SHIFT, 4);
  for (uint32_t pass = 0; pass < passes; pass++) {
    uint32_t first = pass * bits / passes;

    counting_pass (from, to, n, CALENDAR_TIME_SHIFT + first, (pass + 1) * bits / passes - first);
    sorted = to;
    to = from;
    from = sorted;
  }
  if (from != calendar->due)
    memcpy (calendar->due, from, n * sizeof *from);
}

/* At least half of the events are at the time of the one before. */
static bool
are_tied (const uint64_t *due, uint32_t n)
{
  uint32_t ties = 0;

  for (uint32_t i = 1; i < n; i++)
    ties += due[i] >> CALENDAR_TIME_SHIFT == due[i - 1] >> CALENDAR_TIME_SHIFT;
  return 2 * ties >= n;
}

/* What the time leaves to do among events of one
 * time is little, and done by insertion, unless many come at once; then they do
 * in the next windows too. */
static void
sort_window (Calendar *calendar, uint64_t *events, uint32_t n)
{
  bool ties = calendar->ties;

  if (!ties) {
    sort_coarsely (calendar, events, n);
    ties = !insertion_sort (calendar->due, n);
    if (ties)
      memcpy (events, calendar->due, n * sizeof *events);
  }
  if (ties)
    sort_by_counting (calendar, events, n);
  calendar->ties = ties && are_tied (calendar->due, n);
}

void
calendar_sort (Calendar *calendar, uint64_t *events, uint32_t n)
{
  if (n <= SMALL_WINDOW) {
    for (uint32_t i = 0; i < n; i++)
      calendar->due[i] = events[i];
    insertion_sort (calendar->due, n);
  } else {
    sort_window (calendar, events, n);
  }
  for (uint32_t i = 0; i < CALENDAR_AHEAD; i++)
    calendar->due[n + i] = CALENDAR_END;
  calendar->n_due = n;
}

/* Makes `window` the current one; returns its events as they were added.  What the ring now has room
 * for moves in before anything new is added, so that each window keeps the order of adding. */
uint64_t *
calendar_enter_unsorted (Calendar *calendar, int64_t window, uint32_t n_more, uint32_t *n)
{
  uint32_t at = (uint32_t) window & (CALENDAR_RING - 1);
  CalendarWindow *entered = &calendar->ring[at];

  calendar->window = window;
  calendar->start_ps = window << calendar->window_bits;
  calendar->base_ps = calendar->start_ps & ~((INT64_C (1) << CALENDAR_MAX_WINDOW_BITS) - 1);
  while (calendar->n_far > 0 &&
         (calendar->far[0].at_ps >> calendar->window_bits) - window < CALENDAR_RING) {
    CalendarFar far = far_pop (calendar);

    append (calendar, far.at_ps >> calendar->window_bits, far.event);
  }
  *n = entered->n;
  if (calendar->due_capacity < *n + n_more + CALENDAR_AHEAD) {
    calendar->due_capacity = 2 * (*n + n_more) + CALENDAR_AHEAD;
    calendar->due = g_renew (uint64_t, calendar->due, calendar->due_capacity);
  }
  calendar->due[0] = calendar->late[0] = CALENDAR_END;
  calendar->n_due = calendar->next_due = 0;
  calendar->n_late = calendar->next_late = 0;
  calendar->n_events += *n;
  if (entered->events == NULL)
    return NULL;
  entered->n = 0;
  calendar->spare[calendar->n_spare++] = *entered;
  *entered = (CalendarWindow){ NULL, 0, 0 };
  calendar->occupied[at / 64] &= ~(UINT64_C (1) << (at % 64));
  return calendar->spare[calendar->n_spare - 1].events;
}

void
calendar_enter (Calendar *calendar, int64_t window)
{
  uint32_t n;
  uint64_t *events = calendar_enter_unsorted (calendar, window, 0, &n);

  calendar_sort (calendar, events, n);
}

int64_t
calendar_peek (const Calendar *calendar)
{
  int64_t window = first_in_ring (calendar);

  if (calendar->n_far > 0) {
    int64_t far = calendar->far[0].at_ps >> calendar->window_bits;

    if (window < 0 || far < window)
      window = far;
  }
  return window;
}

bool
calendar_next_window (Calendar *calendar)
{
  int64_t window = calendar_peek (calendar);

  if (window < 0)
    return false;
  calendar_enter (calendar, window);
  return true;
}
