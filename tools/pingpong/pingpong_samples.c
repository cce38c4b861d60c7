/* pingpong_samples.c - the median of repeated times and its confidence interval.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/pingpong/pingpong.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_SAMPLES 6

static int
compare (gconstpointer a, gconstpointer b)
{
  double one = *(const double *) a, other = *(const double *) b;

  return (one > other) - (one < other);
}

CliPingpongMedian
cli_pingpong_median (GArray *samples)
{
  const double *sorted = (const double *) samples->data;
  guint n = samples->len, below;
  CliPingpongMedian result = { .width = INFINITY };

  g_assert (n > 0);
  g_array_sort (samples, compare);
  result.median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
  if (n < LEAST_SAMPLES)
    return result;
  /* The samples below the interval. */
  below = (guint) MAX (0, floor (n / 2.0 - 0.98 * sqrt (n)) - 1);
  result.width = (sorted[n - 1 - below] - sorted[below]) / 2 / result.median;
  return result;
}
