/* grouping_test.c - parts against all ways there are.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validation/grouping.h"

#include <glib.h>

#define TASKS 8

static double
cut (const uint32_t *tasks, uint32_t n, uint32_t n_parts, const double *cost)
{
  double sum = 0;

  for (uint32_t a = 0; a < n; a++)
    for (uint32_t b = a + 1; b < n; b++)
      if (a / (n / n_parts) != b / (n / n_parts))
        sum += cost[tasks[a] * n + tasks[b]];
  return sum;
}

static void
draw_costs (double *cost, uint32_t n)
{
  for (uint32_t a = 0; a < n; a++)
    for (uint32_t b = 0; b <= a; b++)
      cost[a * n + b] = cost[b * n + a] = a == b ? 0 : g_test_rand_int_range (0, 100);
}

static void
assert_each_once (const uint32_t *tasks, uint32_t n)
{
  uint64_t seen = 0;

  for (uint32_t i = 0; i < n; i++)
    seen |= UINT64_C (1) << tasks[i];
  g_assert_cmpuint (seen, ==, (UINT64_C (1) << n) - 1);
}

/* The least cut of two halves, by trying all. */
static double
least_cut (const double *cost)
{
  double least = G_MAXDOUBLE;

  for (uint32_t half = 0; half < 1u << TASKS; half++) {
    uint32_t tasks[TASKS], n[2] = { 0, TASKS / 2 };

    if (__builtin_popcount (half) != TASKS / 2)
      continue;
    for (uint32_t task = 0; task < TASKS; task++)
      tasks[n[half >> task & 1]++] = task;
    least = MIN (least, cut (tasks, TASKS, 2, cost));
  }
  return least;
}

/* The paper: "a reasonable probability of finding the optimal partition". */
static void
test_halves_are_mostly_the_best (void)
{
  uint32_t n_best = 0;

  for (uint32_t round = 0; round < 100; round++) {
    uint32_t tasks[TASKS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    double cost[TASKS * TASKS], before, found;

    draw_costs (cost, TASKS);
    before = cut (tasks, TASKS, 2, cost);
    validation_group (tasks, TASKS, 2, cost, TASKS);
    found = cut (tasks, TASKS, 2, cost);
    assert_each_once (tasks, TASKS);
    g_assert_cmpfloat (found, <=, before);
    n_best += found <= least_cut (cost) + 1e-9;
  }
  g_assert_cmpuint (n_best, >=, 60);
}

/* No exchange of one pair of tasks betters what it leaves. */
static void
test_no_exchange_is_left (void)
{
  uint32_t tasks[16];
  double cost[16 * 16];

  draw_costs (cost, 16);
  for (uint32_t i = 0; i < 16; i++)
    tasks[i] = i;
  validation_group (tasks, 16, 4, cost, 16);
  assert_each_once (tasks, 16);
  for (uint32_t a = 0; a < 16; a++)
    for (uint32_t b = 0; b < a; b++) {
      uint32_t other[16];

      for (uint32_t i = 0; i < 16; i++)
        other[i] = tasks[i == a ? b : i == b ? a : i];
      g_assert_cmpfloat (cut (other, 16, 4, cost), >=, cut (tasks, 16, 4, cost) - 1e-9);
    }
}

/* Four cliques, dealt out one by one. */
static void
test_cliques_come_together (void)
{
  uint32_t tasks[16];
  double cost[16 * 16];

  for (uint32_t a = 0; a < 16; a++) {
    tasks[a] = a;
    for (uint32_t b = 0; b < 16; b++)
      cost[a * 16 + b] = a != b && a % 4 == b % 4;
  }
  validation_group (tasks, 16, 4, cost, 16);
  g_assert_cmpfloat (cut (tasks, 16, 4, cost), ==, 0);
}

static void
test_equal_costs_change_nothing (void)
{
  uint32_t tasks[] = { 3, 1, 2, 0 };
  double cost[16];

  for (uint32_t i = 0; i < 16; i++)
    cost[i] = 0.1;
  validation_group (tasks, 4, 2, cost, 4);
  g_assert_cmpuint (tasks[0], ==, 3);
  g_assert_cmpuint (tasks[1], ==, 1);
  g_assert_cmpuint (tasks[2], ==, 2);
  g_assert_cmpuint (tasks[3], ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/validation/grouping/halves-are-mostly-the-best",
                   test_halves_are_mostly_the_best);
  g_test_add_func ("/validation/grouping/no-exchange-is-left", test_no_exchange_is_left);
  g_test_add_func ("/validation/grouping/cliques-come-together", test_cliques_come_together);
  g_test_add_func ("/validation/grouping/equal-costs-change-nothing",
                   test_equal_costs_change_nothing);
  return g_test_run ();
}
