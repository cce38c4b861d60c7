/* node_sharing_test.c - what sharing costs, worked by hand and at its limits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/aggregation/node_sharing.h"

#include <glib.h>
#include <math.h>

static void
assert_near (double found, double expected)
{
  g_assert_cmpfloat_with_epsilon (found, expected, 1e-12 * fmax (1, fabs (expected)));
}

/* Private 1, working set 16, part 4: (1/2 - 1/4) / (1 - 1/4), 1 - log 4 / log 16 and
 * (1/4 - 1/16) / (1 - 1/16). */
static void
test_missed_by_hand (void)
{
  assert_near (predict_missed (1, 4, 16, 0.5), 1.0 / 3);
  assert_near (predict_missed (1, 4, 16, 0), 0.5);
  assert_near (predict_missed (1, 4, 16, 1), 0.2);
  assert_near (predict_missed (2, 8, 32, 0.5), 1.0 / 3);
}

/* Without an end of the working set a quarter of the misses needs 16 times the cache. */
static void
test_missed_at_limits (void)
{
  assert_near (predict_missed (1, 16, INFINITY, 0.5), 0.25);
  assert_near (predict_missed (1, 16, 1e30, 0.5), 0.25);
  assert_near (predict_missed (1, 16, INFINITY, 0), 1);
  assert_near (predict_missed (1, 1, 16, 0.5), 1);   /* nothing beyond the private cache */
  assert_near (predict_missed (1, 0.1, 16, 0.5), 1); /* a part that is smaller than it */
  assert_near (predict_missed (1, 16, 16, 0.5), 0);  /* fits */
  assert_near (predict_missed (1, 4, 0.5, 0.5), 0);
  g_assert_cmpfloat (predict_missed (1, 15.999, 16, 0.5), <, 1e-4); /* no jump where it fits */
}

/* The logarithm is where the power law goes as its exponent goes to 0. */
static void
test_missed_is_continuous_in_the_exponent (void)
{
  g_assert_cmpfloat_with_epsilon (predict_missed (1, 3, 50, 1e-5), predict_missed (1, 3, 50, 0),
                                  1e-4);
}

/* More cache never misses more, a larger working set never less. */
static void
test_missed_is_monotonic (void)
{
  for (double exponent = 0; exponent <= 1; exponent += 0.25)
    for (double cache = 1; cache < 60; cache += 1) {
      g_assert_cmpfloat (predict_missed (1, cache + 1, 50, exponent), <=,
                         predict_missed (1, cache, 50, exponent));
      g_assert_cmpfloat (predict_missed (1, 10, cache + 1, exponent), >=,
                         predict_missed (1, 10, cache, exponent));
    }
}

/* Of 12 GB/s, two that take 5 GB/s each have enough, three do not. */
static void
test_crowding (void)
{
  assert_near (predict_crowding (1, 5e9, 12e9), 1);
  assert_near (predict_crowding (2, 5e9, 12e9), 1);
  assert_near (predict_crowding (3, 5e9, 12e9), 1.25);
  assert_near (predict_crowding (6, 5e9, 12e9), 2.5);
  assert_near (predict_crowding (100, 5e9, INFINITY), 1);
}

/* Half of the time at memory, a third of it missed, three times as long: 1/2 + 1/2 * 1/3 * 3. */
static void
test_time_by_hand (void)
{
  const PredictShare share = { .private_bytes = 1, .cache_bytes = 4, .crowding = 3 };
  const PredictMemoryUse use = { 0.5, 16, 0.5 };

  assert_near (predict_sharing_time (&share, &use), 1);
}

/* Four against one below a cache of 4 and 12 GB/s, at 6 GB/s each, without an end of the working
 * set: a part of 1 misses all and takes twice as long, one of 4 misses half. */
static void
test_slowdown_by_hand (void)
{
  const PredictShare one = { 1, 4, predict_crowding (1, 6e9, 12e9) },
                     four = { 1, 1, predict_crowding (4, 6e9, 12e9) };
  const PredictMemoryUse use = { 0.6, INFINITY, 0.5 };

  assert_near (predict_sharing_slowdown (&four, 1, &one, 1, &use),
               (0.4 + 0.6 * 2) / (0.4 + 0.6 * 0.5));
}

/* One task against itself; one that computes only; bandwidth and caches without end; what fits. */
static void
test_no_slowdown (void)
{
  const PredictShare one = { 1, 4, 1 }, dense = { 1, 1, 7 };
  const PredictMemoryUse bound = { 1, 100, 0.5 }, compute = { 0, 100, 0.5 },
                         small = { 1, 0.9, 0.5 };
  const PredictShare alone = { 1, 1, predict_crowding (1, 6e9, INFINITY) },
                     many = { 1, 1, predict_crowding (64, 6e9, INFINITY) };

  g_assert_cmpfloat (predict_sharing_slowdown (&one, 1, &one, 1, &bound), ==, 1);
  g_assert_cmpfloat (predict_sharing_slowdown (&dense, 1, &one, 1, &compute), ==, 1);
  g_assert_cmpfloat (predict_sharing_slowdown (&many, 1, &alone, 1, &bound), ==, 1);
  g_assert_cmpfloat (predict_sharing_slowdown (&dense, 1, &one, 1, &small), ==, 1);
}

/* No time at all is as fast as no time at all; any other time is beyond it. */
static void
test_all_in_cache (void)
{
  const PredictShare fits = { 1, 4, 1 }, does_not = { 1, 2, 1 };
  const PredictMemoryUse use = { 1, 3, 0.5 };

  g_assert_cmpfloat (predict_sharing_slowdown (&fits, 1, &fits, 1, &use), ==, 1);
  g_assert_true (isinf (predict_sharing_slowdown (&does_not, 1, &fits, 1, &use)));
}

/* A saturated memory: a program that only waits for it is slower in proportion to its tasks. */
static void
test_saturated (void)
{
  const PredictMemoryUse use = { 1, INFINITY, 0.5 };
  const PredictShare reference = { 1, 1, predict_crowding (4, 6e9, 12e9) };

  for (uint32_t n = 4; n <= 64; n *= 2) {
    const PredictShare share = { 1, 1, predict_crowding (n, 6e9, 12e9) };

    assert_near (predict_sharing_slowdown (&share, 1, &reference, 1, &use), n / 4.0);
  }
}

/* Tasks that have less to share wait for the one that has more. */
static void
test_slowest_counts (void)
{
  const PredictShare uneven[] = { { 1, 1, 1 }, { 1, 1, 3 }, { 1, 1, 2 } }, one = { 1, 1, 1 };
  const PredictMemoryUse use = { 0.5, INFINITY, 0.5 };

  assert_near (predict_sharing_slowdown (uneven, 3, &one, 1, &use), 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/node-sharing/missed-by-hand", test_missed_by_hand);
  g_test_add_func ("/predictors/node-sharing/missed-at-limits", test_missed_at_limits);
  g_test_add_func ("/predictors/node-sharing/missed-continuous-in-exponent",
                   test_missed_is_continuous_in_the_exponent);
  g_test_add_func ("/predictors/node-sharing/missed-monotonic", test_missed_is_monotonic);
  g_test_add_func ("/predictors/node-sharing/crowding", test_crowding);
  g_test_add_func ("/predictors/node-sharing/time-by-hand", test_time_by_hand);
  g_test_add_func ("/predictors/node-sharing/slowdown-by-hand", test_slowdown_by_hand);
  g_test_add_func ("/predictors/node-sharing/no-slowdown", test_no_slowdown);
  g_test_add_func ("/predictors/node-sharing/all-in-cache", test_all_in_cache);
  g_test_add_func ("/predictors/node-sharing/saturated", test_saturated);
  g_test_add_func ("/predictors/node-sharing/slowest-counts", test_slowest_counts);
  return g_test_run ();
}
