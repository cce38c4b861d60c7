/* model_apply.c - what a model says about the rows of a table; see model.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/predict_error.h"
#include "predictors/model/model.h"

#include <math.h>
#include <string.h>

/* Where both the model and the table tell one, they must agree. */
static gboolean
check_units (const PredictModel *model, const PredictTable *table, GError **error)
{
  for (guint i = 0; model->features[i] != NULL; i++) {
    const char *unit = predict_table_find (table, model->features[i])->unit;

    if (unit == NULL || *unit == '\0' || *model->units[i] == '\0' ||
        strcmp (unit, model->units[i]) == 0)
      continue;
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE,
                 "%s: \"%s\" is in %s, and the model has learned it in %s", table->source,
                 model->features[i], unit, model->units[i]);
    return FALSE;
  }
  return TRUE;
}

static gboolean
is_outside (const PredictModel *model, const PredictSamples *samples, uint64_t row)
{
  for (guint feature = 0; feature < samples->n_features; feature++) {
    double value = (double) samples->x[feature * samples->n_samples + row];

    if (value < model->smallest[feature] || value > model->largest[feature])
      return TRUE;
  }
  return FALSE;
}

/* Bounds of a logarithm are bounds of the value. */
static void
bound (const PredictModel *model, double level, const double *deviation, uint64_t n,
       PredictAnswer *answer)
{
  answer->lower = g_new (double, n);
  answer->upper = g_new (double, n);
  for (uint64_t i = 0; i < n; i++) {
    double half = predict_interval_half_width (&model->interval, level, deviation[i]);

    answer->lower[i] = answer->predicted[i] - half;
    answer->upper[i] = answer->predicted[i] + half;
  }
}

static void
exponentiate (double *values, uint64_t n)
{
  for (uint64_t i = 0; values != NULL && i < n; i++)
    values[i] = exp (values[i]);
}

/* A model predicts a number or fails: far outside of its samples a line may overflow, and so may the
 * exponential of a logarithm. */
static gboolean
check_predicted (const PredictModel *model, const PredictTable *table, const PredictAnswer *answer,
                 GError **error)
{
  for (uint64_t row = 0; row < table->n_rows; row++)
    if (!isfinite (answer->predicted[row]) ||
        (answer->lower != NULL && (isnan (answer->lower[row]) || isnan (answer->upper[row])))) {
      g_autofree char *place = predict_table_place (table, row);

      g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
                   "%s: the prediction of %s overflows: the row is too far from what the model has "
                   "learned",
                   place, model->target);
      return FALSE;
    }
  return TRUE;
}

gboolean
predict_model_apply (const PredictModel *model, const PredictTable *table, double level,
                     guint threads, PredictAnswer *answer, GError **error)
{
  g_autoptr (PredictSamples) samples = NULL;
  g_autofree double *deviation = NULL;
  uint64_t n = table->n_rows;

  if (!(level >= 0 && level < 1)) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                 "an interval covers a share between 0 and 1, not %g", level);
    return FALSE;
  }
  if (!predict_table_has_all (table, (const char *const *) model->features, error) ||
      !check_units (model, table, error))
    return FALSE;
  samples = predict_samples_from (table, (const char *const *) model->features, NULL, FALSE, error);
  if (samples == NULL)
    return FALSE;
  *answer = (PredictAnswer){ .predicted = g_new (double, n) };
  deviation = level > 0 ? g_new (double, n) : NULL;
  predict_fitted_predict (model->fitted, samples, threads, answer->predicted, deviation);
  if (level > 0)
    bound (model, level, deviation, n, answer);
  if (model->log_target) {
    exponentiate (answer->predicted, n);
    exponentiate (answer->lower, n);
    exponentiate (answer->upper, n);
  }
  if (!check_predicted (model, table, answer, error)) {
    predict_answer_clear (answer);
    return FALSE;
  }
  for (uint64_t i = 0; i < n; i++)
    answer->n_outside += is_outside (model, samples, i);
  return TRUE;
}

void
predict_answer_clear (PredictAnswer *answer)
{
  g_free (answer->predicted);
  g_free (answer->lower);
  g_free (answer->upper);
  *answer = (PredictAnswer){ 0 };
}
