/* schedule_test.c - events come by window, node, time, code, creation.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/schedule.h"

#include <glib.h>

static void
test_empty (void)
{
  SimSchedule *schedule = sim_schedule_new (4, 1000);

  g_assert_false (sim_schedule_next_window (schedule));
  sim_schedule_free (schedule);
}

static void
test_equal_times_by_code_then_creation (void)
{
  SimSchedule *schedule = sim_schedule_new (4, 1000);
  static const uint32_t expected[] = { 10, 12, 11, 13 };
  SimEvent event = { 0 };

  sim_schedule_push (schedule, 2, 5, 11, 7);
  sim_schedule_push (schedule, 2, 1, 10, 7);
  sim_schedule_push (schedule, 2, 1, 12, 7);
  sim_schedule_push (schedule, 2, 0, 13, 8);
  g_assert_true (sim_schedule_next_window (schedule));
  for (uint32_t i = 0; i < 4; i++) {
    g_assert_true (sim_schedule_pop (schedule, &event));
    g_assert_cmpuint (event.argument, ==, expected[i]);
    g_assert_cmpuint (sim_event_node (event), ==, 2);
  }
  g_assert_false (sim_schedule_pop (schedule, &event));
  g_assert_false (sim_schedule_next_window (schedule));
  sim_schedule_free (schedule);
}

static void
test_push_into_the_current_window (void)
{
  SimSchedule *schedule = sim_schedule_new (2, 4096);
  SimEvent event = { 0 };

  sim_schedule_push (schedule, 1, 0, 1, 10);
  sim_schedule_push (schedule, 1, 0, 3, 30);
  g_assert_true (sim_schedule_next_window (schedule));
  g_assert_true (sim_schedule_pop (schedule, &event));
  sim_schedule_push (schedule, 1, 0, 2, 20);
  for (uint32_t expected = 2; expected <= 3; expected++) {
    g_assert_true (sim_schedule_pop (schedule, &event));
    g_assert_cmpuint (event.argument, ==, expected);
  }
  g_assert_cmpuint (schedule->n_events, ==, 3);
  sim_schedule_free (schedule);
}

/* An event that was far away when it was made comes before one that is made
 * for the same instant when that has come within the ring. */
static void
test_far_keeps_its_place (void)
{
  SimSchedule *schedule = sim_schedule_new (2, 40000);
  const int64_t window_ps = INT64_C (1) << schedule->window_bits;
  const int64_t meeting_ps = 300 * window_ps + 5;
  SimEvent event = { 0 };

  for (int64_t gap = 254; gap <= 257; gap++)
    sim_schedule_push (schedule, 0, 0, 99, (300 - gap) * window_ps);
  sim_schedule_push (schedule, 0, 0, 0, meeting_ps);
  for (uint32_t made = 1; made <= 4; made++) {
    g_assert_true (sim_schedule_next_window (schedule));
    g_assert_true (sim_schedule_pop (schedule, &event));
    g_assert_cmpuint (event.argument, ==, 99);
    sim_schedule_push (schedule, 0, 0, made, meeting_ps);
    g_assert_false (sim_schedule_pop (schedule, &event));
  }
  g_assert_true (sim_schedule_next_window (schedule));
  for (uint32_t made = 0; made <= 4; made++) {
    g_assert_true (sim_schedule_pop (schedule, &event));
    g_assert_cmpuint (event.argument, ==, made);
  }
  sim_schedule_free (schedule);
}

static uint64_t random_state;

static uint64_t
next_random (void)
{
  random_state = random_state * UINT64_C (6364136223846793005) + 1442695040888963407u;
  return random_state >> 20;
}

typedef struct {
  uint32_t n_nodes;
  uint64_t n_pushed;
  SimSchedule *schedule;
} Storm;

/* Times are rounded, so that many are equal; the argument is the serial. */
static void
push_random (Storm *storm, int64_t from_ps, int64_t range_ps)
{
  int64_t at_ps = from_ps + (int64_t) (next_random () % (uint64_t) range_ps);

  sim_schedule_push (storm->schedule, (uint32_t) (next_random () % storm->n_nodes),
                     (uint32_t) (next_random () % 4), (uint32_t) storm->n_pushed++,
                     (at_ps + 999) / 1000 * 1000);
}

/* Random pushes, near and far, while running: within a window nodes must rise,
 * each node must see (time, code, serial) rise, and all must come out. */
static void
run_random (uint32_t n_nodes, uint32_t n_events, int64_t horizon_ps)
{
  Storm storm = { n_nodes, 0, sim_schedule_new (n_nodes, 40000) };
  SimSchedule *schedule = storm.schedule;
  SimEvent *last = g_new0 (SimEvent, n_nodes);
  uint64_t n_popped = 0;
  SimEvent event;

  while (storm.n_pushed < n_events)
    push_random (&storm, 1, horizon_ps);
  while (sim_schedule_next_window (schedule)) {
    uint32_t node_before = 0;

    while (sim_schedule_pop (schedule, &event)) {
      uint32_t node = sim_event_node (event);
      const SimEvent *before = &last[node];

      g_assert_cmpuint (node, >=, node_before);
      g_assert_cmpint (event.at_ps >> schedule->window_bits, ==, schedule->window);
      g_assert_cmpint (event.at_ps, >=, before->at_ps);
      if (event.at_ps == before->at_ps) {
        g_assert_cmpuint (event.key, >=, before->key);
        if (event.key == before->key)
          g_assert_cmpuint (event.argument, >, before->argument);
      }
      last[node] = event;
      node_before = node;
      n_popped++;
      if (storm.n_pushed < 2 * (uint64_t) n_events)
        push_random (&storm, event.at_ps + 40000, n_popped % 3 ? 1000000 : 20000000);
    }
  }
  g_assert_cmpuint (n_popped, ==, storm.n_pushed);
  g_free (last);
  sim_schedule_free (schedule);
}

static void
test_random (void)
{
  random_state = (uint64_t) g_test_rand_int ();
  run_random (1, 1000, 1000000);
  run_random (7, 3000, 100000);             /* small windows */
  run_random (2000, 100000, 1000000);       /* counting sort, one pass */
  run_random (70000, 200000, 2000000);      /* two passes */
  run_random (50, 2000, INT64_C (1) << 50); /* the far heap */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/schedule/empty", test_empty);
  g_test_add_func ("/sim/schedule/equal-times", test_equal_times_by_code_then_creation);
  g_test_add_func ("/sim/schedule/current-window", test_push_into_the_current_window);
  g_test_add_func ("/sim/schedule/far-keeps-its-place", test_far_keeps_its_place);
  g_test_add_func ("/sim/schedule/random", test_random);
  return g_test_run ();
}
