/* calendar_test.c - events come by time, class, index and order of adding.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/calendar.h"

#include "base/random.h"

#include <glib.h>

static void
test_empty (void)
{
  Calendar calendar;

  calendar_init (&calendar, 1000);
  g_assert_false (calendar_next_window (&calendar));
  calendar_clear (&calendar);
}

static void
test_window_is_a_power_of_two (void)
{
  static const struct {
    int64_t lookahead_ps;
    uint32_t bits;
  } cases[] = { { 1, 0 }, { 2, 1 }, { 1000, 9 }, { 1024, 10 }, { INT64_C (1) << 40, 20 } };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    Calendar calendar;

    calendar_init (&calendar, cases[i].lookahead_ps);
    g_assert_cmpuint (calendar.window_bits, ==, cases[i].bits);
    calendar_clear (&calendar);
  }
}

/* What is expected, by a plain list that is sorted. */
typedef struct {
  int64_t at_ps;
  uint32_t class, index;
  uint64_t argument; /* tells the order of adding; no padding, as records are compared whole */
} Expected;

static int
by_order (const void *a, const void *b)
{
  const Expected *x = a, *y = b;

  if (x->at_ps != y->at_ps)
    return x->at_ps < y->at_ps ? -1 : 1;
  if (x->class != y->class)
    return x->class < y->class ? -1 : 1;
  if (x->index != y->index)
    return x->index < y->index ? -1 : 1;
  return x->argument < y->argument ? -1 : x->argument > y->argument;
}

/* Adds `n` events at the start and up to `n_late` while they are taken, no
 * earlier than the event at hand and of a later class if at its time; compares
 * all that come with the sorted list. */
static void
check_order (uint64_t seed, int64_t lookahead_ps, uint32_t n, uint32_t n_late, int64_t within_ps,
             uint32_t n_indices)
{
  BaseRandom random = base_random_stream (seed, 1);
  g_autoptr (GArray) expected = g_array_new (FALSE, FALSE, sizeof (Expected));
  g_autoptr (GArray) taken = g_array_new (FALSE, FALSE, sizeof (Expected));
  Calendar calendar;
  uint64_t event;

  calendar_init (&calendar, lookahead_ps);
  for (uint32_t i = 0; i < n; i++) {
    Expected one = { (int64_t) base_random_below (&random, (uint64_t) within_ps),
                     (uint32_t) base_random_below (&random, 14),
                     (uint32_t) base_random_below (&random, n_indices), i };

    g_array_append_val (expected, one);
    calendar_add (&calendar, one.class, one.index, i, one.at_ps);
  }
  while (calendar_next_window (&calendar))
    while ((event = calendar_take (&calendar)) != CALENDAR_END) {
      Expected one = { calendar_time_ps (&calendar, event), calendar_class (event),
                       calendar_index (event), calendar_argument (event) };

      g_array_append_val (taken, one);
      if (expected->len < n + n_late && base_random_below (&random, 3) == 0) {
        Expected late = { one.at_ps + (int64_t) base_random_below (&random, (uint64_t) within_ps),
                          14, (uint32_t) base_random_below (&random, n_indices), expected->len };

        if (base_random_below (&random, 4) == 0 && one.class < 14)
          late.at_ps = one.at_ps;
        else
          late.at_ps++;
        g_array_append_val (expected, late);
        calendar_add (&calendar, late.class, late.index, expected->len - 1, late.at_ps);
      }
    }
  qsort (expected->data, expected->len, sizeof (Expected), by_order);
  g_assert_cmpuint (calendar.n_events, ==, expected->len);
  g_assert_cmpmem (taken->data, (int) (taken->len * sizeof (Expected)), expected->data,
                   (int) (expected->len * sizeof (Expected)));
  calendar_clear (&calendar);
}

/* Windows from 1 ps to beyond the largest; times within a window, over many, and
 * beyond the ring; few at a time and all at once. */
static void
test_order (void)
{
  static const int64_t lookaheads_ps[] = { 1, 700, 65536, 1 << 21 };
  static const int64_t within_ps[] = { 1, 5, 60000, INT64_C (400000000), INT64_C (1) << 42 };

  for (size_t window = 0; window < G_N_ELEMENTS (lookaheads_ps); window++)
    for (size_t within = 0; within < G_N_ELEMENTS (within_ps); within++) {
      uint64_t seed = 10 * window + within;

      check_order (seed, lookaheads_ps[window], 10, 5, within_ps[within], 3);
      check_order (seed, lookaheads_ps[window], 3000, 2000, within_ps[within], 2);
      check_order (seed, lookaheads_ps[window], 6000, 100, within_ps[within], 256);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/calendar/empty", test_empty);
  g_test_add_func ("/sim/calendar/window", test_window_is_a_power_of_two);
  g_test_add_func ("/sim/calendar/order", test_order);
  return g_test_run ();
}
