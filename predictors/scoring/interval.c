/* interval.c - conformal intervals of predictions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/scoring/interval.h"

#include "base/int128.h"
#include "predictors/scoring/scores.h"

#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define MAX_SCORES 1000u
/* A level times a count may be above a whole number by this much, by rounding. */
#define ROUNDING 1e-9

PredictInterval
predict_interval_calibrate (const double *observed, const double *predicted,
                            const double *deviation, const uint32_t *group, uint64_t n,
                            uint32_t n_groups)
{
  PredictInterval interval = { 0 };
  g_autofree double *scores = g_new (double, n);
  g_autofree bool *seen = g_new0 (bool, n_groups);

  for (uint64_t i = 0; i < n; i++)
    if (!isnan (predicted[i])) {
      interval.of++;
      interval.groups += !seen[group[i]];
      seen[group[i]] = true;
    }
  /* The mean error: where the trees differ less than that, their deviation is no measure of it. */
  for (uint64_t i = 0; i < n; i++)
    if (!isnan (predicted[i]))
      interval.floor += fabs (observed[i] - predicted[i]) / (double) interval.of;
  for (uint64_t i = 0, k = 0; i < n; i++)
    if (!isnan (predicted[i]))
      scores[k++] = interval.floor > 0
                        ? fabs (observed[i] - predicted[i]) / (deviation[i] + interval.floor)
                        : 0;
  qsort (scores, interval.of, sizeof *scores, predict_compare_values);

  /* Kept score k, from 0, has this rank, from 1, among all: the first of rank r or more is
   * k = floor (n (r - 1) / of). */
  interval.n = (uint32_t) MIN (interval.of, MAX_SCORES);
  interval.scores = g_new (double, interval.n);
  for (uint32_t k = 0; k < interval.n; k++) {
    BaseUint128 rank = ((BaseUint128) interval.of * (k + 1) + interval.n - 1) / interval.n;

    interval.scores[k] = scores[(uint64_t) rank - 1];
  }
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
  k = (uint64_t) ((BaseUint128) interval->n * (rank - 1) / interval->of);
  return interval->scores[k] * (deviation + interval->floor);
}
