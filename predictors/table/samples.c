/* samples.c - samples from the columns of a table, and their division into training and test sets.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/table/samples.h"

#include "base/decimal.h"
#include "base/error.h"
#include "predictors/predict_error.h"

#include <float.h>
#include <math.h>
#include <string.h>

PredictSamples *
predict_samples_new (uint64_t n_samples, guint n_features, gboolean with_target)
{
  PredictSamples *samples = g_new0 (PredictSamples, 1);

  g_assert (n_samples <= UINT32_MAX);
  samples->n_samples = n_samples;
  samples->n_features = n_features;
  samples->x = g_new (float, n_samples *n_features);
  samples->y = with_target ? g_new (double, n_samples) : NULL;
  return samples;
}

void
predict_samples_free (PredictSamples *samples)
{
  if (samples == NULL)
    return;
  g_free (samples->x);
  g_free (samples->y);
  g_free (samples->group);
  g_free (samples->monotone);
  g_free (samples);
}

/* -- from a table -------------------------------------------------------- */

/* Sets *error.  Always NULL. */
static PredictSamples *
refuse (const PredictTable *table, const PredictColumn *column, uint64_t row, const char *problem,
        GError **error)
{
  g_autofree char *name = base_quote (column->name);
  char number[BASE_DECIMAL_SIZE];

  base_decimal_print (number, column->numbers[row]);
  predict_table_refuse (table, row, error, "column %s: %s%s%s", name, number,
                        *number != '\0' ? " " : "", problem);
  return NULL;
}

static PredictSamples *
refuse_unknown (const PredictTable *table, const PredictColumn *column, uint64_t row,
                GError **error)
{
  return refuse (table, column, row,
                 isnan (column->numbers[row]) ? "no number is known" : "is not finite", error);
}

PredictSamples *
predict_samples_from (const PredictTable *table, const char *const *features, const char *target,
                      gboolean log_target, GError **error)
{
  return predict_samples_with_gaps (table, features, NULL, target, log_target, error);
}

PredictSamples *
predict_samples_with_gaps (const PredictTable *table, const char *const *features,
                           const bool *may_miss, const char *target, gboolean log_target,
                           GError **error)
{
  uint64_t n = table->n_rows, largest = 0, first = n, n_large = 0;
  g_autoptr (PredictSamples) samples = NULL;
  g_autofree char *problem = NULL;
  const PredictColumn *column;

  if (n == 0) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE, "%s: has no rows", table->source);
    return NULL;
  }
  if (n > UINT32_MAX) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE,
                 "%s: has %" G_GUINT64_FORMAT " rows; %" G_GUINT32_FORMAT " can be learned from",
                 table->source, n, UINT32_MAX);
    return NULL;
  }
  samples = predict_samples_new (n, g_strv_length ((char **) features), target != NULL);
  for (guint feature = 0; feature < samples->n_features; feature++) {
    float *x = samples->x + feature * n;
    bool has_gaps = may_miss != NULL && may_miss[feature];

    column = predict_table_numbers (table, features[feature], error);
    if (column == NULL)
      return NULL;
    if (has_gaps && target != NULL && predict_table_is_unknown (table, column))
      return refuse_unknown (table, column, 0, error);
    for (uint64_t row = 0; row < n; row++) {
      x[row] = (float) column->numbers[row];
      if (has_gaps && isnan (column->numbers[row]))
        continue;
      if (!isfinite (column->numbers[row]))
        return refuse_unknown (table, column, row, error);
      if (!isfinite (x[row]))
        return refuse (table, column, row, "is too large for single precision", error);
    }
  }
  if (target == NULL)
    return g_steal_pointer (&samples);
  column = predict_table_numbers (table, target, error);
  if (column == NULL)
    return NULL;
  for (uint64_t row = 0; row < n; row++) {
    double number = column->numbers[row];

    if (!isfinite (number))
      return refuse_unknown (table, column, row, error);
    if (log_target && !(number > 0))
      return refuse (table, column, row, "has no logarithm", error);
    samples->y[row] = log_target ? log (number) : number;
    if (fabs (number) > fabs (column->numbers[largest]))
      largest = row;
    if (fabs (number) > PREDICT_LARGEST_TARGET && n_large++ == 0)
      first = row;
  }
  /* Squares of targets outside of the range overflow, or vanish. */
  if (!log_target && n_large > 0) {
    problem = g_strdup_printf ("is beyond %g, as %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                               " values of the target: squares of errors overflow; correct the "
                               "values, use another unit, or learn the logarithm",
                               PREDICT_LARGEST_TARGET, n_large, n);
    return refuse (table, column, first, problem, error);
  }
  if (!log_target && column->numbers[largest] != 0 &&
      fabs (column->numbers[largest]) < PREDICT_SMALLEST_TARGET) {
    problem =
        g_strdup_printf ("is the largest value of the target, and below %g: squares of errors "
                         "vanish; use another unit",
                         PREDICT_SMALLEST_TARGET);
    return refuse (table, column, largest, problem, error);
  }
  return g_steal_pointer (&samples);
}

/* -- parts --------------------------------------------------------------- */

PredictSamples *
predict_samples_select (const PredictSamples *samples, const bool *is_test, bool wanted)
{
  PredictSamples *selected;
  uint64_t n = 0, at = 0;

  for (uint64_t sample = 0; sample < samples->n_samples; sample++)
    n += is_test[sample] == wanted;
  selected = predict_samples_new (n, samples->n_features, samples->y != NULL);
  for (guint feature = 0; feature < samples->n_features; feature++)
    for (uint64_t sample = 0; sample < samples->n_samples; sample++)
      if (is_test[sample] == wanted)
        selected->x[at++] = samples->x[feature * samples->n_samples + sample];
  at = 0;
  for (uint64_t sample = 0; samples->y != NULL && sample < samples->n_samples; sample++)
    if (is_test[sample] == wanted)
      selected->y[at++] = samples->y[sample];
  if (samples->group != NULL)
    selected->group = predict_split_groups (samples->group, is_test, wanted, samples->n_samples,
                                            samples->n_groups, &selected->n_groups);
  selected->monotone =
      g_memdup2 (samples->monotone, samples->n_features * sizeof *samples->monotone);
  return selected;
}

PredictSamples *
predict_samples_project (const PredictSamples *samples, const guint *columns, guint n_columns)
{
  uint64_t n = samples->n_samples;
  PredictSamples *projected = predict_samples_new (n, n_columns, samples->y != NULL);

  for (guint column = 0; column < n_columns; column++)
    memcpy (projected->x + column * n, samples->x + columns[column] * n, n * sizeof *projected->x);
  if (samples->y != NULL)
    memcpy (projected->y, samples->y, n * sizeof *projected->y);
  projected->group = g_memdup2 (samples->group, n * sizeof *samples->group);
  projected->n_groups = samples->n_groups;
  projected->monotone = samples->monotone != NULL ? g_new (int8_t, n_columns) : NULL;
  for (guint column = 0; samples->monotone != NULL && column < n_columns; column++)
    projected->monotone[column] = samples->monotone[columns[column]];
  return projected;
}

void
predict_samples_normalize (PredictSamples *samples, const uint32_t *set, uint32_t n_sets)
{
  uint64_t n = samples->n_samples;
  g_autofree double *sums = g_new (double, n_sets);
  g_autofree uint64_t *counts = g_new0 (uint64_t, n_sets);

  for (uint64_t i = 0; i < n; i++)
    counts[set[i]]++;
  for (guint column = 0; column <= samples->n_features; column++) {
    float *x = column < samples->n_features ? samples->x + column * n : NULL;
    double *y = x == NULL ? samples->y : NULL;

    memset (sums, 0, n_sets * sizeof *sums);
    for (uint64_t i = 0; (x != NULL || y != NULL) && i < n; i++)
      sums[set[i]] += x != NULL ? (double) x[i] : y[i];
    for (uint64_t i = 0; (x != NULL || y != NULL) && i < n; i++) {
      double mean = sums[set[i]] / (double) counts[set[i]];

      if (mean == 0)
        continue;
      if (x != NULL)
        x[i] = (float) ((double) x[i] / mean);
      else
        y[i] /= mean;
    }
  }
}

/* -- splits -------------------------------------------------------------- */

/* A third of 84 is 28, whichever way 1 / 3 was rounded. */
#define ROUNDING 1e-9

/* place[n_groups] of each group among all, shuffled (Fisher and Yates; Durstenfeld 1964). */
static uint32_t *
shuffle (BaseRandom *random, uint32_t n_groups)
{
  uint32_t *place = g_new (uint32_t, n_groups);

  for (uint32_t group = 0; group < n_groups; group++) {
    uint32_t other = (uint32_t) base_random_below (random, group + 1);

    place[group] = place[other];
    place[other] = group;
  }
  return place;
}

void
predict_split_draw (BaseRandom *random, const uint32_t *group, uint64_t n, uint32_t n_groups,
                    double share, bool *is_test)
{
  g_autofree uint32_t *place = shuffle (random, n_groups);
  double wanted = ceil (share * n_groups * (1 - ROUNDING));
  uint32_t n_test = (uint32_t) CLAMP (wanted, 1, MAX (n_groups, 2) - 1);

  for (uint64_t i = 0; i < n; i++)
    is_test[i] = place[group[i]] < n_test;
}

void
predict_split_deal (BaseRandom *random, const uint32_t *group, uint64_t n, uint32_t n_groups,
                    guint n_folds, uint32_t *fold)
{
  g_autofree uint32_t *place = shuffle (random, n_groups);

  g_assert (n_folds > 0 && n_folds <= n_groups);
  for (uint64_t i = 0; i < n; i++)
    fold[i] = place[group[i]] % n_folds;
}

uint32_t *
predict_split_groups (const uint32_t *group, const bool *is_test, bool wanted, uint64_t n,
                      uint32_t n_groups, uint32_t *n_left)
{
  g_autofree uint32_t *number = g_new0 (uint32_t, n_groups); /* from 1; 0: not met yet */
  uint32_t *left = g_new (uint32_t, n);
  uint64_t next = 0;

  *n_left = 0;
  for (uint64_t i = 0; i < n; i++)
    if (is_test[i] == wanted) {
      if (number[group[i]] == 0)
        number[group[i]] = ++*n_left;
      left[next++] = number[group[i]] - 1;
    }
  return left;
}
