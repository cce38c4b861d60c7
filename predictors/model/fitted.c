/* fitted.c - see fitted.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/predict_error.h"
#include "predictors/model/fitted_private.h"
#include "predictors/model/scale.h"

#include <math.h>
#include <string.h>

static gboolean
check_samples (const PredictSamples *samples, GError **error)
{
  const char *lack = samples->n_samples == 0    ? "samples"
                     : samples->n_features == 0 ? "features"
                     : samples->y == NULL       ? "a target"
                                                : NULL;

  if (lack != NULL)
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE, "nothing can be learned without %s",
                 lack);
  return lack == NULL;
}

/* FALSE and *error when the method has no answer. */
static gboolean
learn (PredictFitted *fitted, const PredictSamples *samples, const PredictSettings *settings,
       PredictForestReport *report, PredictProgress progress, void *progress_data, GError **error)
{
  switch (settings->method) {
  case PREDICT_EXTRA_TREES:
  case PREDICT_FOREST:
  case PREDICT_TREE:
    fitted->forest = predict_forest_fit (samples, settings, report, progress, progress_data);
    return TRUE;
  case PREDICT_LINEAR:
    fitted->linear = predict_linear_fit (samples, settings->ridge, error);
    return fitted->linear != NULL;
  case PREDICT_SVR:
    fitted->svr = predict_svr_fit (samples, settings, error);
    return fitted->svr != NULL;
  case PREDICT_MEAN:
    fitted->mean = predict_scale_doubles (samples->y, samples->n_samples).mean;
    return TRUE;
  case PREDICT_N_METHODS: break;
  }
  g_assert_not_reached ();
}

static gboolean
all_finite (const double *values, gsize n)
{
  gboolean finite = TRUE;

  for (gsize i = 0; i < n; i++)
    finite &= isfinite (values[i]) != 0;
  return finite;
}

/* Only a fit of finite numbers predicts, and can be read back from a file. */
static gboolean
is_finite (const PredictFitted *fitted)
{
  const PredictForest *forest = fitted->forest;
  const PredictLinear *linear = fitted->linear;
  const PredictSvr *svr = fitted->svr;

  if (forest != NULL)
    return all_finite (forest->values, forest->first[forest->n_trees]);
  if (linear != NULL)
    return isfinite (linear->constant) && all_finite (linear->means, linear->n_features) &&
           all_finite (linear->coefficients, linear->n_features);
  if (svr == NULL)
    return isfinite (fitted->mean) != 0;
  for (guint feature = 0; feature < svr->n_features; feature++)
    if (!isfinite (svr->scale[feature].mean) || !isfinite (svr->scale[feature].sd))
      return FALSE;
  return isfinite (svr->bias) && isfinite (svr->target.mean) && isfinite (svr->target.sd) &&
         all_finite (svr->coefficients, svr->n_vectors);
}

PredictFitted *
predict_fit (const PredictSamples *samples, const PredictSettings *settings,
             PredictForestReport *report, PredictProgress progress, void *progress_data,
             GError **error)
{
  g_autoptr (PredictFitted) fitted = NULL;

  if (report != NULL)
    memset (report, 0, sizeof *report);
  if (!predict_settings_check (settings, error) || !check_samples (samples, error))
    return NULL;
  fitted = g_new0 (PredictFitted, 1);
  fitted->settings = *settings;
  fitted->settings.threads = 0;
  fitted->n_features = samples->n_features;
  if (!learn (fitted, samples, settings, report, progress, progress_data, error))
    return NULL;
  if (is_finite (fitted))
    return g_steal_pointer (&fitted);
  if (report != NULL)
    predict_forest_report_clear (report);
  g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
               "%s: the fit overflows: the values of the target, or the settings, are too large",
               predict_method_names[settings->method]);
  return NULL;
}

void
predict_fitted_free (PredictFitted *fitted)
{
  if (fitted == NULL)
    return;
  predict_forest_free (fitted->forest);
  predict_linear_free (fitted->linear);
  predict_svr_free (fitted->svr);
  g_free (fitted);
}

const PredictSettings *
predict_fitted_settings (const PredictFitted *fitted)
{
  return &fitted->settings;
}

guint
predict_fitted_n_features (const PredictFitted *fitted)
{
  return fitted->n_features;
}

void
predict_fitted_predict (const PredictFitted *fitted, const PredictSamples *samples, guint threads,
                        double *predicted, double *deviation)
{
  if (fitted->forest != NULL) {
    predict_forest_predict (fitted->forest, samples, threads, predicted, deviation);
    return;
  }
  if (fitted->linear != NULL)
    predict_linear_predict (fitted->linear, samples, predicted);
  else if (fitted->svr != NULL)
    predict_svr_predict (fitted->svr, samples, predicted);
  else
    for (uint64_t i = 0; i < samples->n_samples; i++)
      predicted[i] = fitted->mean;
  if (deviation != NULL && samples->n_samples > 0)
    memset (deviation, 0, samples->n_samples * sizeof *deviation);
}
