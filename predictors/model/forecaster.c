/* forecaster.c - a model of either kind: learned from a table, or a formula.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/model/forecaster.h"

#include "predictors/formula/base_model.h"
#include "predictors/predict_error.h"

#include <stdio.h>

PredictForecaster *
predict_forecaster_read (const char *path, GError **error)
{
  g_autoptr (PredictForecaster) forecaster = g_new0 (PredictForecaster, 1);
  /* Only a regular file can be read twice; anything else is a learned model. */
  FILE *file = g_file_test (path, G_FILE_TEST_IS_REGULAR) ? fopen (path, "rb") : NULL;
  int first = '{';

  if (file != NULL) {
    do
      first = fgetc (file);
    while (first != EOF && g_ascii_isspace (first));
    fclose (file);
  }
  if (first == '{')
    forecaster->learned = predict_model_read (path, error);
  else
    forecaster->formula = predict_base_model_read (path, error);
  return forecaster->learned || forecaster->formula ? g_steal_pointer (&forecaster) : NULL;
}

void
predict_forecaster_free (PredictForecaster *forecaster)
{
  if (forecaster == NULL)
    return;
  predict_model_free (forecaster->learned);
  predict_base_model_free (forecaster->formula);
  g_free (forecaster);
}

const char *
predict_forecaster_target (const PredictForecaster *forecaster)
{
  return forecaster->learned ? forecaster->learned->target : "time_s";
}

gboolean
predict_forecaster_apply (const PredictForecaster *forecaster, const PredictTable *table,
                          double level, guint threads, PredictAnswer *answer, GError **error)
{
  double *times;

  if (forecaster->learned)
    return predict_model_apply (forecaster->learned, table, level, threads, answer, error);
  if (level != 0) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                 "%s: a formula has no intervals, only models that were learned have",
                 forecaster->formula->source);
    return FALSE;
  }
  times = predict_base_model_times (forecaster->formula, table, error);
  if (times != NULL)
    *answer = (PredictAnswer){ .predicted = times };
  return times != NULL;
}
