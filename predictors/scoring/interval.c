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
#include <string.h>

#define MAX_SCORES 1000u
/* Of 1,000 groups, and of fewer as far as the classes are full. */
#define MIN_CLASSES 10u
/* A level times a count may be above a whole number by this much, by rounding. */
#define ROUNDING 1e-9

/* The samples that are calibrated on. */
typedef struct {
  const double *observed, *predicted, *deviation;
  const uint32_t *group;
  uint32_t n_groups;
  uint64_t n; /* in the order of their predictions */
  struct Place {
    double predicted;
    uint64_t sample;
  } * places; /* [n] */
} Calibration;

static int
compare_places (const void *a, const void *b)
{
  const struct Place *left = a, *right = b;

  if (left->predicted != right->predicted)
    return left->predicted < right->predicted ? -1 : 1;
  return (left->sample > right->sample) - (left->sample < right->sample);
}

/* Of the places from first to below end. */
static uint64_t
count_groups (const Calibration *calibration, uint64_t first, uint64_t end)
{
  g_autofree bool *seen = g_new0 (bool, calibration->n_groups);
  uint64_t groups = 0;

  for (uint64_t i = first; i < end; i++) {
    uint32_t group = calibration->group[calibration->places[i].sample];

    groups += !seen[group];
    seen[group] = true;
  }
  return groups;
}

static PredictIntervalScores
score_places (const Calibration *calibration, uint64_t first, uint64_t end)
{
  PredictIntervalScores errors = { .of = end - first,
                                   .groups = count_groups (calibration, first, end) };
  g_autofree double *scores = g_new (double, errors.of);

  for (uint64_t i = 0; i < errors.of; i++) {
    uint64_t sample = calibration->places[first + i].sample;

    scores[i] = fabs (calibration->observed[sample] - calibration->predicted[sample]);
    /* The mean error: where the trees differ less than that, their deviation is no measure of it. */
    errors.floor += scores[i] / (double) errors.of;
  }
  for (uint64_t i = 0; i < errors.of && errors.floor > 0; i++)
    scores[i] /= calibration->deviation[calibration->places[first + i].sample] + errors.floor;
  if (errors.of > 0)
    qsort (scores, errors.of, sizeof *scores, predict_compare_values);

  /* Kept score k, from 0, has this rank, from 1, among all: the first of rank r or more is
   * k = floor (n (r - 1) / of). */
  errors.n = (uint32_t) MIN (errors.of, MAX_SCORES);
  errors.scores = g_new (double, errors.n);
  for (uint32_t k = 0; k < errors.n; k++) {
    BaseUint128 rank = ((BaseUint128) errors.of * (k + 1) + errors.n - 1) / errors.n;

    errors.scores[k] = scores[(uint64_t) rank - 1];
  }
  return errors;
}

/* Where class k of n_classes begins among the places: equal predictions are of one class. */
static uint64_t
class_begin (const Calibration *calibration, uint32_t k, uint32_t n_classes)
{
  uint64_t begin = calibration->n * k / n_classes;

  while (begin > 0 && begin < calibration->n &&
         calibration->places[begin - 1].predicted == calibration->places[begin].predicted)
    begin--;
  return begin;
}

/* The most classes that all have enough groups. */
static uint32_t
count_classes (const Calibration *calibration, uint64_t groups)
{
  uint32_t n_classes = MIN_CLASSES;

  while (n_classes < PREDICT_MAX_CLASSES &&
         (uint64_t) (n_classes + 1) * (n_classes + 1) * (n_classes + 1) <= groups)
    n_classes++;
  n_classes = (uint32_t) MIN (n_classes, groups / PREDICT_CLASS_GROUPS);
  for (; n_classes > 1; n_classes--) {
    uint32_t k = 0;

    while (k < n_classes &&
           count_groups (calibration, class_begin (calibration, k, n_classes),
                         class_begin (calibration, k + 1, n_classes)) >= PREDICT_CLASS_GROUPS)
      k++;
    if (k == n_classes)
      return n_classes;
  }
  return 0;
}

PredictInterval
predict_interval_calibrate (const double *observed, const double *predicted,
                            const double *deviation, const uint32_t *group, uint64_t n,
                            uint32_t n_groups)
{
  g_autofree struct Place *places = g_new (struct Place, n);
  Calibration calibration = { observed, predicted, deviation, group, n_groups, 0, places };
  double smallest = INFINITY, largest = -INFINITY;
  PredictInterval interval = { 0 };

  for (uint64_t i = 0; i < n; i++)
    if (!isnan (predicted[i])) {
      places[calibration.n++] = (struct Place){ predicted[i], i };
      smallest = fmin (smallest, observed[i]);
      largest = fmax (largest, observed[i]);
    }
  if (calibration.n > 0)
    qsort (places, calibration.n, sizeof *places, compare_places);
  interval.range = calibration.n > 0 ? largest - smallest : (double) NAN;
  interval.all = score_places (&calibration, 0, calibration.n);
  interval.n_classes = count_classes (&calibration, interval.all.groups);
  if (interval.n_classes == 0)
    return interval;
  interval.edges = g_new (double, interval.n_classes - 1);
  interval.classes = g_new (PredictIntervalScores, interval.n_classes);
  for (uint32_t k = 0; k < interval.n_classes; k++) {
    uint64_t begin = class_begin (&calibration, k, interval.n_classes);

    if (k > 0)
      interval.edges[k - 1] = places[begin].predicted;
    interval.classes[k] =
        score_places (&calibration, begin, class_begin (&calibration, k + 1, interval.n_classes));
  }
  return interval;
}

void
predict_interval_clear (PredictInterval *interval)
{
  g_free (interval->all.scores);
  for (uint32_t k = 0; k < interval->n_classes; k++)
    g_free (interval->classes[k].scores);
  g_free (interval->classes);
  g_free (interval->edges);
  *interval = (PredictInterval){ 0 };
}

/* By the errors of some samples; infinite when their groups are too few. */
static double
half_width_by (const PredictIntervalScores *errors, double level, double deviation)
{
  double groups = (double) errors->groups, share;
  uint64_t rank, k;

  /* Of one score per group, the smallest that is not below the new one with probability `level`
   * is number ceil ((groups + 1) level). */
  share = ceil ((groups + 1) * level - ROUNDING) / groups;
  if (!(share <= 1))
    return INFINITY;
  rank = (uint64_t) MAX (1, ceil (share * (double) errors->of - ROUNDING));
  k = (uint64_t) ((BaseUint128) errors->n * (rank - 1) / errors->of);
  return errors->scores[k] * (deviation + errors->floor);
}

double
predict_interval_half_width (const PredictInterval *interval, double level, double predicted,
                             double deviation, double outside)
{
  double half = INFINITY;

  if (interval->n_classes > 0 && !isnan (predicted)) {
    uint32_t class = 0;

    while (class + 1 < interval->n_classes && predicted >= interval->edges[class])
      class ++;
    half = half_width_by (&interval->classes[class], level, deviation);
  }
  if (isinf (half))
    half = half_width_by (&interval->all, level, deviation);
  if (outside > 0)
    half += isfinite (outside) && isfinite (interval->range) ? interval->range * outside
                                                             : (double) INFINITY;
  return half;
}
