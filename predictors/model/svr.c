/* svr.c - epsilon support vector regression with a radial kernel, by libsvm.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/model/svr.h"

#include "predictors/predict_error.h"

#include <math.h>
#if defined HAVE_LIBSVM_SVM_H
#include <libsvm/svm.h>
#elif defined HAVE_SVM
#include <svm.h>
#endif

/* As scikit-learn's SVR: libsvm's tolerance of the optimum and MB for rows of the kernel. */
#define TOLERANCE 1e-3
#define CACHE_MB  200

static double
standardised (const PredictSvr *svr, const PredictSamples *samples, guint feature, uint64_t sample)
{
  return predict_scaled (svr->scale[feature], samples->x[feature * samples->n_samples + sample]);
}

#ifdef HAVE_SVM
static void
keep_silent (const char *text)
{
  (void) text;
}

static void
find_vectors (PredictSvr *svr, const PredictSamples *samples, const PredictSettings *settings)
{
  static gsize silent;
  gsize n = samples->n_samples, width = svr->n_features + 1;
  g_autofree struct svm_node *nodes = g_new (struct svm_node, n * width);
  g_autofree struct svm_node **rows = g_new (struct svm_node *, n);
  g_autofree double *target = g_new (double, n);
  struct svm_problem problem = { (int) n, target, rows };
  struct svm_parameter parameter = { .svm_type = EPSILON_SVR,
                                     .kernel_type = RBF,
                                     .gamma = svr->gamma,
                                     .cache_size = CACHE_MB,
                                     .eps = TOLERANCE,
                                     .C = settings->svr_c,
                                     .p = settings->svr_epsilon,
                                     .shrinking = 1 };
  struct svm_model *model;

  /* A sample is its features, numbered from 1, and -1. */
  for (gsize i = 0; i < n; i++) {
    rows[i] = nodes + i * width;
    for (guint feature = 0; feature < svr->n_features; feature++)
      rows[i][feature] =
          (struct svm_node){ (int) feature + 1, standardised (svr, samples, feature, i) };
    rows[i][svr->n_features] = (struct svm_node){ -1, 0 };
    target[i] = predict_scaled (svr->target, samples->y[i]);
  }
  /* libsvm has one print function for all threads. */
  if (g_once_init_enter (&silent)) {
    svm_set_print_string_function (keep_silent);
    g_once_init_leave (&silent, 1);
  }
  model = svm_train (&problem, &parameter);
  svr->n_vectors = (uint32_t) model->l;
  svr->bias = -model->rho[0];
  svr->vectors = g_new (float, (gsize) svr->n_vectors * svr->n_features);
  svr->coefficients = g_new (double, svr->n_vectors);
  for (gsize k = 0; k < svr->n_vectors; k++) {
    uint64_t sample = (uint64_t) model->sv_indices[k] - 1;

    svr->coefficients[k] = model->sv_coef[0][k];
    for (guint feature = 0; feature < svr->n_features; feature++)
      svr->vectors[k * svr->n_features + feature] =
          samples->x[feature * samples->n_samples + sample];
  }
  svm_free_and_destroy_model (&model);
}

PredictSvr *
predict_svr_fit (const PredictSamples *samples, const PredictSettings *settings, GError **error)
{
  g_autoptr (PredictSvr) svr = predict_svr_new (samples->n_features, 0);

  svr->gamma = settings->svr_gamma > 0 ? settings->svr_gamma : 1.0 / samples->n_features;
  svr->target = predict_scale_doubles (samples->y, samples->n_samples);
  if (samples->n_samples > PREDICT_SVR_MAX_SAMPLES) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                 "svr: %" G_GUINT64_FORMAT " samples; its time grows with their square, and more "
                 "than %u are refused",
                 samples->n_samples, PREDICT_SVR_MAX_SAMPLES);
    return NULL;
  }
  if (!isfinite (svr->target.mean) || !isfinite (svr->target.sd)) {
    g_set_error_literal (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
                         "svr: the values of the target are too large to be squared");
    return NULL;
  }
  for (guint feature = 0; feature < svr->n_features; feature++)
    svr->scale[feature] =
        predict_scale_floats (samples->x + feature * samples->n_samples, samples->n_samples);
  find_vectors (svr, samples, settings);
  return g_steal_pointer (&svr);
}
#else /* without libsvm */
PredictSvr *
predict_svr_fit (G_GNUC_UNUSED const PredictSamples *samples,
                 G_GNUC_UNUSED const PredictSettings *settings, GError **error)
{
  g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
               "svr: this hopcast was built without libsvm, which finds the vectors");
  return NULL;
}
#endif

PredictSvr *
predict_svr_new (guint n_features, uint32_t n_vectors)
{
  PredictSvr *svr = g_new0 (PredictSvr, 1);

  svr->n_features = n_features;
  svr->n_vectors = n_vectors;
  svr->scale = g_new0 (PredictScale, n_features);
  svr->vectors = g_new0 (float, (gsize) n_vectors *n_features);
  svr->coefficients = g_new0 (double, n_vectors);
  return svr;
}

void
predict_svr_free (PredictSvr *svr)
{
  if (svr == NULL)
    return;
  g_free (svr->scale);
  g_free (svr->vectors);
  g_free (svr->coefficients);
  g_free (svr);
}

void
predict_svr_predict (const PredictSvr *svr, const PredictSamples *samples, double *predicted)
{
  guint n = svr->n_features;
  g_autofree double *vectors = g_new (double, (gsize) svr->n_vectors *n);
  g_autofree double *row = g_new (double, n);

  for (gsize k = 0; k < svr->n_vectors; k++)
    for (guint feature = 0; feature < n; feature++)
      vectors[k * n + feature] =
          predict_scaled (svr->scale[feature], svr->vectors[k * n + feature]);
  for (uint64_t i = 0; i < samples->n_samples; i++) {
    double sum = svr->bias;

    for (guint feature = 0; feature < n; feature++)
      row[feature] = standardised (svr, samples, feature, i);
    for (gsize k = 0; k < svr->n_vectors; k++) {
      const double *vector = vectors + k * n;
      double squares = 0;

      for (guint feature = 0; feature < n; feature++)
        squares += (vector[feature] - row[feature]) * (vector[feature] - row[feature]);
      sum += svr->coefficients[k] * exp (-svr->gamma * squares);
    }
    predicted[i] = svr->target.mean + svr->target.sd * sum;
  }
}
