/* schedule_test.c - events come by window, node, time, code, creation.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "sim/schedule.h"

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

static uint64_t random_state;

static uint64_t
next_random (void)
{
  random_state = random_state * UINT64_C (6364136223846793005) + 1442695040888963407u;
  return random_state >> 20;
}

/* Random pushes, near and far, while running: each node must see its own
 * events in order of time, and all must come out. */
static void
run_random (uint32_t n_nodes, uint32_t n_events, int64_t horizon_ps)
{
  SimSchedule *schedule = sim_schedule_new (n_nodes, 40000);
  int64_t *last_ps = g_new (int64_t, n_nodes);
  uint64_t n_popped = 0, n_pushed = 0;
  SimEvent event = { 0 };

  for (uint32_t node = 0; node < n_nodes; node++)
    last_ps[node] = -1;
  for (; n_pushed < n_events; n_pushed++)
    sim_schedule_push (schedule, (uint32_t) (next_random () % n_nodes), 3, 0,
                       (int64_t) (next_random () % (uint64_t) horizon_ps));
  while (sim_schedule_next_window (schedule))
    while (sim_schedule_pop (schedule, &event)) {
      uint32_t node = sim_event_node (event);

      g_assert_cmpint (event.at_ps, >=, last_ps[node]);
      g_assert_cmpint (event.at_ps >> schedule->window_bits, ==, schedule->window);
      last_ps[node] = event.at_ps;
      n_popped++;
      if (n_pushed < 2 * (uint64_t) n_events) {
        sim_schedule_push (schedule, (uint32_t) (next_random () % n_nodes), 3, 0,
                           event.at_ps + 40000 + (int64_t) (next_random () % 1000000));
        n_pushed++;
      }
    }
  g_assert_cmpuint (n_popped, ==, n_pushed);
  g_free (last_ps);
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
  g_test_add_func ("/sim/schedule/random", test_random);
  return g_test_run ();
}
