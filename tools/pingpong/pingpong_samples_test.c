/* pingpong_samples_test.c - the interval of a median against the binomial distribution.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/pingpong/pingpong.h"

#include <math.h>

static CliPingpongMedian
median_of (const double *values, guint n)
{
  g_autoptr (GArray) samples = g_array_new (FALSE, FALSE, sizeof (double));

  g_array_append_vals (samples, values, n);
  return cli_pingpong_median (samples);
}

static void
test_median (void)
{
  static const double values[] = { 9, 1, 5, 7, 3, 100, 4 };

  g_assert_cmpfloat (median_of (values, 1).median, ==, 9);
  g_assert_cmpfloat (median_of (values, 2).median, ==, 5);
  g_assert_cmpfloat (median_of (values, 5).median, ==, 5);
  g_assert_cmpfloat (median_of (values, 6).median, ==, 6);
  g_assert_cmpfloat (median_of (values, 7).median, ==, 5);
}

static void
test_width (void)
{
  double equal[50], one_late[50];

  for (guint i = 0; i < G_N_ELEMENTS (equal); i++)
    equal[i] = one_late[i] = 2;
  one_late[7] = 1e6;
  g_assert_cmpfloat (median_of (equal, 50).width, ==, 0);
  g_assert_cmpfloat (median_of (one_late, 50).width, ==, 0);
  g_assert_true (isinf (median_of (equal, 5).width));
  /* Six samples: from the least to the largest. */
  g_assert_cmpfloat (median_of ((const double[]){ 6, 1, 2, 3, 4, 5 }, 6).width, ==, 2.5 / 3.5);
}

/* Of n independent samples each is below the median with a half of the probability: the interval
 * misses it when `below` or fewer are, or are above. */
static void
test_coverage (void)
{
  for (guint n = 6; n <= 1000; n++) {
    g_autofree double *ranks = g_new (double, n);
    CliPingpongMedian median;
    double missed = 0, below;

    for (guint i = 0; i < n; i++)
      ranks[i] = i + 1;
    median = median_of (ranks, n);
    below = (n - 1 - 2 * median.width * median.median) / 2;
    g_assert_cmpfloat (fabs (below - round (below)), <, 1e-6);
    for (guint k = 0; k <= (guint) round (below); k++)
      missed += 2 * exp (lgamma (n + 1.0) - lgamma (k + 1.0) - lgamma (n - k + 1.0) - n * log (2));
    g_assert_cmpfloat (missed, <=, 0.05);
    /* And it is not much longer than it must be. */
    g_assert_true (n < 100 || missed > 0.02);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/pingpong-samples/median", test_median);
  g_test_add_func ("/cli/pingpong-samples/width", test_width);
  g_test_add_func ("/cli/pingpong-samples/coverage", test_coverage);
  return g_test_run ();
}
