/* schedule.c - windows, buckets and the sort by node.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/schedule.h"

#include <glib.h>
#include <string.h>

#define FIRST_CAPACITY 256u

/* Below this many events a window is sorted by insertion; above, by counting.
 * Both give the same order. */
#define SMALL_WINDOW 24u

#define MAX_RADIX_BITS 12u

SimSchedule *
sim_schedule_new (uint32_t n_nodes, int64_t lookahead_ps)
{
  SimSchedule *schedule = g_new0 (SimSchedule, 1);

  g_assert (n_nodes > 0 && n_nodes <= SIM_SCHEDULE_MAX_NODES);
  g_assert (lookahead_ps >= 1);
  schedule->n_nodes = n_nodes;
  while (schedule->node_bits < 32 && (n_nodes - 1) >> schedule->node_bits)
    schedule->node_bits++;
  while ((INT64_C (2) << schedule->window_bits) <= lookahead_ps && schedule->window_bits < 40)
    schedule->window_bits++;
  schedule->window = -1;
  schedule->ring = g_new0 (SimBucket, SIM_SCHEDULE_RING);
  schedule->spare = g_new0 (SimBucket, SIM_SCHEDULE_RING);
  schedule->occupied = g_new0 (uint64_t, SIM_SCHEDULE_RING / 64);
  return schedule;
}

void
sim_schedule_free (SimSchedule *schedule)
{
  if (!schedule)
    return;
  for (uint32_t bucket = 0; bucket < SIM_SCHEDULE_RING; bucket++)
    g_free (schedule->ring[bucket].first);
  for (uint32_t spare = 0; spare < schedule->n_spare; spare++)
    g_free (schedule->spare[spare].first);
  g_free (schedule->ring);
  g_free (schedule->spare);
  g_free (schedule->occupied);
  g_free (schedule->far);
  g_free (schedule->due);
  g_free (schedule->scratch);
  g_free (schedule->extra);
  g_free (schedule);
}

void
sim_schedule_dump (SimSchedule *schedule, BaseDump *dump)
{
  g_assert (schedule->next_due == schedule->n_due && schedule->next_extra == schedule->n_extra);
  base_dump_section (dump, "schedule");
  BASE_DUMP_VALUE (dump, schedule->window);
  BASE_DUMP_VALUE (dump, schedule->n_events);
  BASE_DUMP_VALUE (dump, schedule->far_serial);
  base_dump_list (dump, (void **) &schedule->far, &schedule->n_far, &schedule->far_capacity,
                  sizeof *schedule->far);
  for (uint32_t index = 0; index < SIM_SCHEDULE_RING; index++) {
    SimBucket *bucket = &schedule->ring[index];
    uint64_t n =
        base_dump_count (dump, (uint64_t) (bucket->next - bucket->first), sizeof (SimEvent));

    if (n == 0)
      continue;
    if (base_dump_loads (dump)) {
      bucket->first = g_new (SimEvent, n);
      bucket->next = bucket->end = bucket->first + n;
      schedule->occupied[index / 64] |= UINT64_C (1) << (index % 64);
    }
    base_dump_bytes (dump, bucket->first, n * sizeof (SimEvent));
  }
}

/* --- The ring --- */

/* Room for one more: an array that another window has left, or a longer one. */
static void
bucket_grow (SimSchedule *schedule, uint32_t index)
{
  SimBucket *bucket = &schedule->ring[index];

  if (!bucket->first) {
    if (schedule->n_spare > 0)
      *bucket = schedule->spare[--schedule->n_spare];
    schedule->occupied[index / 64] |= UINT64_C (1) << (index % 64);
  }
  if (bucket->next == bucket->end) {
    size_t n = (size_t) (bucket->end - bucket->first);
    size_t capacity = n ? 2 * n : FIRST_CAPACITY;

    bucket->first = g_renew (SimEvent, bucket->first, capacity);
    bucket->next = bucket->first + n;
    bucket->end = bucket->first + capacity;
  }
}

static inline void
ring_append (SimSchedule *schedule, int64_t window, SimEvent event)
{
  uint32_t index = (uint32_t) window & (SIM_SCHEDULE_RING - 1);

  if (schedule->ring[index].next == schedule->ring[index].end)
    bucket_grow (schedule, index);
  *schedule->ring[index].next++ = event;
}

/* First occupied window after the current one within the ring, or -1. */
static int64_t
ring_first (const SimSchedule *schedule)
{
  uint32_t start = (uint32_t) (schedule->window + 1) & (SIM_SCHEDULE_RING - 1);

  for (uint32_t step = 0; step < SIM_SCHEDULE_RING;) {
    uint32_t index = (start + step) & (SIM_SCHEDULE_RING - 1);
    uint64_t bits = schedule->occupied[index / 64] >> (index % 64);

    if (bits) {
      step += (uint32_t) __builtin_ctzll (bits);
      return step < SIM_SCHEDULE_RING ? schedule->window + 1 + step : -1;
    }
    step += 64 - index % 64;
  }
  return -1;
}

/* --- The far future --- */

static inline bool
far_before (const SimFarEvent *a, const SimFarEvent *b)
{
  if (a->event.at_ps != b->event.at_ps)
    return a->event.at_ps < b->event.at_ps;
  return a->serial < b->serial;
}

static void
far_push (SimSchedule *schedule, SimEvent event)
{
  SimFarEvent entry = { event, schedule->far_serial++ };
  uint32_t hole = schedule->n_far++;

  if (hole == schedule->far_capacity) {
    schedule->far_capacity = MAX (64, schedule->far_capacity * 2);
    schedule->far = g_renew (SimFarEvent, schedule->far, schedule->far_capacity);
  }
  while (hole > 0 && far_before (&entry, &schedule->far[(hole - 1) / 2])) {
    schedule->far[hole] = schedule->far[(hole - 1) / 2];
    hole = (hole - 1) / 2;
  }
  schedule->far[hole] = entry;
}

static SimEvent
far_pop (SimSchedule *schedule)
{
  SimEvent first = schedule->far[0].event;
  SimFarEvent last = schedule->far[--schedule->n_far];
  uint32_t hole = 0;

  for (;;) {
    uint32_t child = 2 * hole + 1;

    if (child >= schedule->n_far)
      break;
    if (child + 1 < schedule->n_far &&
        far_before (&schedule->far[child + 1], &schedule->far[child]))
      child++;
    if (!far_before (&schedule->far[child], &last))
      break;
    schedule->far[hole] = schedule->far[child];
    hole = child;
  }
  if (schedule->n_far > 0)
    schedule->far[hole] = last;
  return first;
}

static void
far_move_in (SimSchedule *schedule)
{
  while (schedule->n_far > 0) {
    int64_t window = schedule->far[0].event.at_ps >> schedule->window_bits;

    if (window - schedule->window >= SIM_SCHEDULE_RING)
      break;
    ring_append (schedule, window, far_pop (schedule));
  }
}

/* --- Push --- */

/* Order of two events of one node. */
static inline bool
fires_before (SimEvent a, SimEvent b)
{
  return a.at_ps < b.at_ps || (a.at_ps == b.at_ps && a.key < b.key);
}

/* Among the current node's events that came up in this window, behind its
 * equals. */
static void
extra_insert (SimSchedule *schedule, SimEvent event)
{
  uint32_t hole;

  if (schedule->next_extra == schedule->n_extra)
    schedule->next_extra = schedule->n_extra = 0;
  if (schedule->n_extra == schedule->extra_capacity) {
    schedule->extra_capacity = MAX (64, 2 * schedule->extra_capacity);
    schedule->extra = g_renew (SimEvent, schedule->extra, schedule->extra_capacity);
  }
  hole = schedule->n_extra++;
  while (hole > schedule->next_extra && fires_before (event, schedule->extra[hole - 1])) {
    schedule->extra[hole] = schedule->extra[hole - 1];
    hole--;
  }
  schedule->extra[hole] = event;
  schedule->n_events++;
}

void
sim_schedule_push_slowly (SimSchedule *schedule, SimEvent event)
{
  int64_t window = event.at_ps >> schedule->window_bits;
  int64_t ahead = window - schedule->window;

  if (ahead >= SIM_SCHEDULE_RING) {
    far_push (schedule, event);
  } else if (ahead > 0) {
    ring_append (schedule, window, event);
  } else {
    g_assert (ahead == 0 && sim_event_node (event) == schedule->node);
    extra_insert (schedule, event);
  }
}

bool
sim_schedule_pop_extra (SimSchedule *schedule, SimEvent *event)
{
  SimEvent extra = schedule->extra[schedule->next_extra];

  if (schedule->next_due < schedule->n_due) {
    SimEvent due = schedule->due[schedule->next_due];

    if (sim_event_node (due) == schedule->node && !fires_before (extra, due)) {
      *event = due;
      schedule->next_due++;
      return true;
    }
  }
  *event = extra;
  schedule->next_extra++;
  return true;
}

/* --- The current window --- */

static void
due_grow (SimSchedule *schedule, uint32_t n)
{
  if (n <= schedule->due_capacity)
    return;
  schedule->due_capacity = MAX (n, MAX (1024, schedule->due_capacity * 2));
  schedule->due = g_renew (SimEvent, schedule->due, schedule->due_capacity);
  schedule->scratch = g_renew (SimEvent, schedule->scratch, schedule->due_capacity);
}

/* Stable, by node. */
static void
sort_small (SimEvent *events, uint32_t n)
{
  for (uint32_t i = 1; i < n; i++) {
    SimEvent event = events[i];
    uint32_t hole = i;

    while (hole > 0 && sim_event_node (events[hole - 1]) > sim_event_node (event)) {
      events[hole] = events[hole - 1];
      hole--;
    }
    events[hole] = event;
  }
}

/* One stable counting pass over `bits` bits of the key from `shift` on. */
static void
sort_pass (const SimEvent *from, SimEvent *to, uint32_t n, uint32_t shift, uint32_t bits)
{
  uint32_t start[1u << MAX_RADIX_BITS];
  uint32_t radix = 1u << bits, sum = 0;

  memset (start, 0, radix * sizeof *start);
  for (uint32_t i = 0; i < n; i++)
    start[(from[i].key >> shift) & (radix - 1)]++;
  for (uint32_t digit = 0; digit < radix; digit++) {
    uint32_t count = start[digit];

    start[digit] = sum;
    sum += count;
  }
  for (uint32_t i = 0; i < n; i++)
    to[start[(from[i].key >> shift) & (radix - 1)]++] = from[i];
}

/* The window's events from its bucket into due[]: in as few passes as leave
 * a table of digits that is not much longer than the list. */
static void
sort_by_node (SimSchedule *schedule, const SimEvent *events, uint32_t n)
{
  uint32_t n_passes = 1;

  if (n <= SMALL_WINDOW || schedule->node_bits == 0) {
    memcpy (schedule->due, events, n * sizeof *events);
    sort_small (schedule->due, n);
    return;
  }
  while (schedule->node_bits > n_passes * MAX_RADIX_BITS ||
         (n_passes < 3 && (n << 2) >> ((schedule->node_bits + n_passes - 1) / n_passes) == 0))
    n_passes++;
  uint32_t bits = (schedule->node_bits + n_passes - 1) / n_passes;

  for (uint32_t pass = 0; pass < n_passes; pass++) {
    sort_pass (events, schedule->scratch, n, SIM_SCHEDULE_CODE_BITS + pass * bits,
               MIN (bits, 32 - SIM_SCHEDULE_CODE_BITS - pass * bits));
    SimEvent *sorted = schedule->scratch;

    schedule->scratch = schedule->due;
    schedule->due = sorted;
    events = sorted;
  }
}

/* Puts each node's events, which stand together, into order.  There are few
 * of a node in a window, and most are in order as they come. */
static void
sort_within_nodes (SimEvent *events, uint32_t n)
{
  for (uint32_t i = 1; i < n; i++) {
    SimEvent event = events[i];
    uint32_t hole = i;

    while (hole > 0 && sim_event_node (events[hole - 1]) == sim_event_node (event) &&
           fires_before (event, events[hole - 1])) {
      events[hole] = events[hole - 1];
      hole--;
    }
    if (hole != i)
      events[hole] = event;
  }
}

/* Makes `window` the current one; its events are in the ring by then. */
static void
take_bucket (SimSchedule *schedule, int64_t window)
{
  uint32_t index = (uint32_t) window & (SIM_SCHEDULE_RING - 1);
  SimBucket *bucket = &schedule->ring[index];
  uint32_t n = (uint32_t) (bucket->next - bucket->first);

  schedule->n_due = n;
  schedule->n_events += n;
  schedule->next_due = 0;
  if (bucket->first == NULL)
    return;
  due_grow (schedule, n);
  sort_by_node (schedule, bucket->first, n);
  sort_within_nodes (schedule->due, n);
  bucket->next = bucket->first;
  schedule->spare[schedule->n_spare++] = *bucket;
  *bucket = (SimBucket){ NULL, NULL, NULL };
  schedule->occupied[index / 64] &= ~(UINT64_C (1) << (index % 64));
}

int64_t
sim_schedule_peek (const SimSchedule *schedule)
{
  int64_t window = ring_first (schedule);

  if (schedule->n_far > 0) {
    int64_t far_window = schedule->far[0].event.at_ps >> schedule->window_bits;

    if (window < 0 || far_window < window)
      window = far_window;
  }
  return window;
}

void
sim_schedule_enter (SimSchedule *schedule, int64_t window)
{
  g_assert (schedule->next_due == schedule->n_due && window > schedule->window);
  /* What the ring now has room for moves in before anything new is pushed, so
   * that each window keeps the order of creation. */
  schedule->window = window;
  far_move_in (schedule);
  take_bucket (schedule, window);
}

bool
sim_schedule_next_window (SimSchedule *schedule)
{
  int64_t window = sim_schedule_peek (schedule);

  if (window < 0)
    return false;
  sim_schedule_enter (schedule, window);
  return true;
}
