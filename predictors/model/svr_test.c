/* svr_test.c - support vectors against a problem solved by hand, and refusals.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/model/svr.h"

#include "predictors/predict_error.h"

#include <math.h>

static const PredictSettings settings = {
  .method = PREDICT_SVR, .svr_c = 1, .svr_epsilon = 0.1, .svr_gamma = 1
};

/* Two samples, in deviations at -1 and 1 with targets -1 and 1: f (x) = a (K (x, 1) - K (x, -1)),
 * K (x, z) = exp (-(x - z)^2), and a is as small as f (1) = 1 - epsilon allows. */
static void
test_two_samples (void)
{
  float x[] = { 10, 30 };
  double y[] = { 5, 9 }, predicted[2], between;
  PredictSamples samples = { 2, 1, x, y }, other;
  g_autoptr (PredictSvr) svr = predict_svr_fit (&samples, &settings, NULL);
  float quarter[] = { 25 };
  double a = 0.9 / (1 - exp (-4));

  other = (PredictSamples){ 1, 1, quarter, NULL };
  predict_svr_predict (svr, &samples, predicted);
  g_assert_cmpfloat_with_epsilon (predicted[0], 7 - 2 * 0.9, 2e-3);
  g_assert_cmpfloat_with_epsilon (predicted[1], 7 + 2 * 0.9, 2e-3);
  predict_svr_predict (svr, &other, &between);
  g_assert_cmpfloat_with_epsilon (between, 7 + 2 * a * (exp (-0.25) - exp (-2.25)), 2e-3);
  g_assert_cmpuint (svr->n_vectors, ==, 2);
  g_assert_cmpfloat_with_epsilon (fabs (svr->coefficients[0]), a, 1e-3);
}

/* A larger penalty than C allows: the coefficients are C. */
static void
test_bounded (void)
{
  float x[] = { 10, 30 };
  double y[] = { 5, 9 };
  PredictSamples samples = { 2, 1, x, y };
  PredictSettings bounded = settings;
  g_autoptr (PredictSvr) svr = NULL;

  bounded.svr_c = 0.25;
  svr = predict_svr_fit (&samples, &bounded, NULL);
  g_assert_cmpfloat (fabs (svr->coefficients[0]), ==, 0.25);
}

/* Equal targets, one sample, a column of one value: the mean, and nothing that is not finite. */
static void
test_degenerate (void)
{
  float x[] = { 1, 2, 3, 7, 7, 7 };
  double y[] = { 4, 4, 4 }, predicted[3];
  PredictSamples samples = { 3, 2, x, y }, one = { 1, 1, x, y };
  g_autoptr (PredictSvr) svr = predict_svr_fit (&samples, &settings, NULL);
  g_autoptr (PredictSvr) of_one = predict_svr_fit (&one, &settings, NULL);

  predict_svr_predict (svr, &samples, predicted);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpfloat (predicted[i], ==, 4);
  predict_svr_predict (of_one, &one, predicted);
  g_assert_cmpfloat (predicted[0], ==, 4);
}

static void
test_refused (void)
{
  g_autofree float *x = g_new0 (float, PREDICT_SVR_MAX_SAMPLES + 1);
  g_autofree double *y = g_new0 (double, PREDICT_SVR_MAX_SAMPLES + 1);
  double large[] = { 1e300, -1e300 };
  PredictSamples many = { PREDICT_SVR_MAX_SAMPLES + 1, 1, x, y }, wide = { 2, 1, x, large };
  g_autoptr (GError) error = NULL;

  g_assert_null (predict_svr_fit (&many, &settings, &error));
  g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION);
  g_clear_error (&error);
  g_assert_null (predict_svr_fit (&wide, &settings, &error));
  g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC);
}

static void
test_refused_without_libsvm (void)
{
  float x[2] = { 0, 1 };
  double y[2] = { 0, 1 };
  PredictSamples samples = { 2, 1, x, y };
  g_autoptr (GError) error = NULL;

  g_assert_null (predict_svr_fit (&samples, &settings, &error));
  g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION);
  g_assert_nonnull (strstr (error->message, "without libsvm"));
}

int
main (int argc, char **argv)
{
#ifdef HAVE_SVM
  const gboolean is_built_in = TRUE;
#else
  const gboolean is_built_in = FALSE;
#endif

  g_test_init (&argc, &argv, NULL);
  if (!is_built_in) {
    g_test_add_func ("/predictors/svr/refused-without-libsvm", test_refused_without_libsvm);
    return g_test_run ();
  }
  g_test_add_func ("/predictors/svr/two-samples", test_two_samples);
  g_test_add_func ("/predictors/svr/bounded", test_bounded);
  g_test_add_func ("/predictors/svr/degenerate", test_degenerate);
  g_test_add_func ("/predictors/svr/refused", test_refused);
  return g_test_run ();
}
