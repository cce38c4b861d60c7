/* interval.c - see interval.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/model/interval.h"

#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define MAX_SCORES 1000u
/* Of what level times a count may be above a whole number by rounding. */
#define ROUNDING 1e-9

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* Rank, from 1, in ascending order of all scores, of the kept score k, from 0: the first of rank
 * r or more is k = floor (n (r - 1) / of). */
static uint64_t
rank_of (uint32_t k, uint32_t n, uint64_t of)
{
  return (uint64_t) (((unsigned __int128) of * (k + 1) + n - 1) / n);
}

/* The mean error: where the trees differ less than that, they tell little about it. */
static double
floor_of (const double *observed, const double *predicted, uint64_t n, uint64_t n_calibrated)
{
  double sum = 0;

  for (uint64_t i = 0; i < n; i++)
    if (!isnan (predicted[i]))
      sum += fabs (observed[i] - predicted[i]) / (double) n_calibrated;
  return sum;
}

static uint64_t
count_groups (const double *predicted, const uint32_t *group, uint64_t n, uint32_t n_groups)
{
  g_autofree bool *seen = g_new0 (bool, n_groups);
  uint64_t count = 0;

  for (uint64_t i = 0; i < n; i++)
    if (!isnan (predicted[i]) && !seen[group[i]]) {
      seen[group[i]] = true;
      count++;
    }
  return count;
}

PredictInterval
predict_interval_calibrate (const double *observed, const double *predicted,
                            const double *deviation, const uint32_t *group, uint64_t n,
                            uint32_t n_groups)
{
  PredictInterval interval = { 0 };
  g_autofree double *scores = g_new (double, n);

  interval.groups = count_groups (predicted, group, n, n_groups);
  for (uint64_t i = 0; i < n; i++)
    interval.of += !isnan (predicted[i]);
  interval.floor = floor_of (observed, predicted, n, interval.of);
  for (uint64_t i = 0, k = 0; i < n; i++)
    if (!isnan (predicted[i]))
      scores[k++] = interval.floor > 0
                        ? fabs (observed[i] - predicted[i]) / (deviation[i] + interval.floor)
                        : 0;
  qsort (scores, interval.of, sizeof *scores, compare_doubles);
  interval.n = (uint32_t) MIN (interval.of, MAX_SCORES);
  interval.scores = g_new (double, interval.n);
  for (uint32_t k = 0; k < interval.n; k++)
    interval.scores[k] = scores[rank_of (k, interval.n, interval.of) - 1];
  return interval;
}

void
predict_interval_clear (PredictInterval *interval)
{
  g_free (interval->scores);
  *interval = (PredictInterval){ 0 };
}

double
predict_interval_half_width (const PredictInterval *interval, double level, double deviation)
{
  double groups = (double) interval->groups, share;
  uint64_t rank, k;

  /* Of one score per group, the smallest that is not below the new one with probability `level`
   * is number ceil ((groups + 1) level). */
  share = ceil ((groups + 1) * level - ROUNDING) / groups;
  if (!(share <= 1))
    return INFINITY;
  rank = (uint64_t) MAX (1, ceil (share * (double) interval->of - ROUNDING));
  k = (uint64_t) ((unsigned __int128) interval->n * (rank - 1) / interval->of);
  return interval->scores[k] * (deviation + interval->floor);
}
