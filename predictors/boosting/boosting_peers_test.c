/* boosting_peers_test.c - boosting is that of scikit-learn.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Both learn the same samples and predict the same new ones.  Where no two gains are equal, they are the same
 * trees, and predictions differ by rounding alone.  Targets that are whole numbers (diabetes), small leaves and
 * gradients of a quantile make equal gains, of which either takes its own; there the errors are compared, on average over the
 * divisions.  The quantiles that part Friedman's features are order statistics at places k (n - 1) / 255, which
 * scikit-learn rounds: n - 1 has no divisor of 255, so that no place is whole.  Skipped without scikit-learn for
 * /usr/bin/python3.  BOOSTING_PEERS_DIVISIONS=50 makes so many divisions instead of three. */
#include "predictors/boosting/boosting.h"
#include "predictors/forest/friedman_testing.h"
#include "predictors/model/regression_fixture.h"
#include "predictors/scoring/scores.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define PYTHON "/usr/bin/python3"
#define ROWS   702u /* 468 to learn from */

static guint
count_divisions (void)
{
  const char *text = g_getenv ("BOOSTING_PEERS_DIVISIONS");
  guint64 n = 3;

  g_assert_true (text == NULL || g_ascii_string_to_unsigned (text, 10, 2, 10000, &n, NULL));
  return (guint) n;
}

static gboolean
has_peer (void)
{
  const char *const arguments[] = { PYTHON, "-c",
                                    "from sklearn.ensemble import HistGradientBoostingRegressor",
                                    NULL };
  int status;

  if (g_spawn_sync (NULL, (char **) arguments, NULL,
                    G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, NULL, NULL,
                    &status, NULL) &&
      status == 0)
    return TRUE;
  g_test_skip ("no scikit-learn for " PYTHON);
  return FALSE;
}

static void
write_values (const char *folder, const char *name, const void *values, gsize n_bytes)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  g_assert_true (g_file_set_contents (path, values, (gssize) n_bytes, NULL));
}

/* What scikit-learn predicts; the caller frees. */
static double *
ask_peer (const PredictSamples *learned, const PredictSamples *tested, guint least, double quantile)
{
  g_autofree char *folder = g_dir_make_tmp ("hopcast-peer-XXXXXX", NULL);
  g_autofree char *script =
      g_test_build_filename (G_TEST_DIST, "predictors", "boosting", "boosting_peers.py", NULL);
  g_autofree char *command = g_strdup_printf (
      PYTHON " '%s' predict '%s' %u %u %u %u %g", script, folder, (guint) learned->n_samples,
      (guint) tested->n_samples, learned->n_features, least, quantile);
  static const char *const files[] = { "x", "y", "test", "predicted" };
  g_autofree char *answer = g_build_filename (folder, "predicted", NULL);
  g_autoptr (GError) error = NULL;
  char *predicted;
  gsize n_bytes;
  int status;

  write_values (folder, "x", learned->x, learned->n_samples * learned->n_features * sizeof (float));
  write_values (folder, "y", learned->y, learned->n_samples * sizeof (double));
  write_values (folder, "test", tested->x, tested->n_samples * tested->n_features * sizeof (float));
  g_spawn_command_line_sync (command, NULL, NULL, &status, &error);
  g_assert_no_error (error);
  g_assert_cmpint (status, ==, 0);
  g_file_get_contents (answer, &predicted, &n_bytes, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (n_bytes, ==, tested->n_samples * sizeof (double));
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree char *path = g_build_filename (folder, files[i], NULL);

    g_unlink (path);
  }
  g_rmdir (folder);
  return (double *) (void *) predicted;
}

typedef struct {
  const char *name; /* of the reference data; NULL: Friedman's function 1 */
  guint least;
  double quantile;
  double near;     /* the mean losses over the divisions differ by at most this share */
  double distance; /* predictions differ by at most so much */
} Case;

/* Number `division` of the case: two thirds to learn from. */
static gboolean
divide (const Case *it, guint division, PredictSamples **learned, PredictSamples **tested)
{
  g_autoptr (PredictSamples) all = NULL;
  g_autofree bool *is_test = NULL;
  g_autofree uint32_t *alone = NULL;
  BaseRandom random = base_random_stream (7, division);

  all = it->name != NULL ? regression_samples (it->name, "train")
                         : friedman_samples (ROWS, 10, 100 + division);
  if (all == NULL)
    return FALSE;
  is_test = g_new (bool, all->n_samples);
  alone = g_new (uint32_t, all->n_samples);
  for (uint32_t i = 0; i < all->n_samples; i++)
    alone[i] = i;
  predict_split_draw (&random, alone, all->n_samples, (uint32_t) all->n_samples, 1.0 / 3, is_test);
  *learned = predict_samples_select (all, is_test, false);
  *tested = predict_samples_select (all, is_test, true);
  return TRUE;
}

/* The root mean squared error or, of a quantile, the mean pinball loss. */
static double
loss_of (const PredictSamples *tested, const double *predicted, double quantile)
{
  double sum = 0;

  if (quantile == 0)
    return predict_score (tested->y, predicted, tested->n_samples).rmse;
  for (uint64_t i = 0; i < tested->n_samples; i++) {
    double below = tested->y[i] - predicted[i];

    sum += below > 0 ? quantile * below : (quantile - 1) * below;
  }
  return sum / (double) tested->n_samples;
}

static void
test_peer (gconstpointer data)
{
  const Case *it = data;
  double of_ours = 0, of_theirs = 0, squares = 0;
  guint n_divisions = count_divisions ();

  if (!has_peer ())
    return;
  for (guint division = 0; division < n_divisions; division++) {
    g_autoptr (PredictSamples) learned = NULL, tested = NULL;
    PredictSettings settings = predict_settings_default (PREDICT_BOOSTING);
    g_autoptr (PredictBoosting) boosting = NULL;
    g_autofree double *ours = NULL, *theirs = NULL;
    double here, there, distance = 0;

    if (!divide (it, division, &learned, &tested))
      return;
    settings.min_samples_leaf = it->least;
    settings.quantile = it->quantile;
    ours = g_new (double, tested->n_samples);
    boosting = predict_boosting_fit (learned, &settings, NULL, NULL, NULL);
    predict_boosting_predict (boosting, tested, 1, ours);
    theirs = ask_peer (learned, tested, it->least, it->quantile);
    here = loss_of (tested, ours, it->quantile);
    there = loss_of (tested, theirs, it->quantile);
    for (uint64_t i = 0; i < tested->n_samples; i++)
      distance = fmax (distance, fabs (ours[i] - theirs[i]));
    g_test_message ("division %u: loss %.4f, scikit-learn %.4f; predictions differ by %g", division,
                    here, there, distance);
    g_assert_cmpfloat (distance, <=, it->distance);
    of_ours += here / n_divisions;
    of_theirs += there / n_divisions;
    squares += (here - there) * (here - there);
  }
  squares -= n_divisions * (of_ours - of_theirs) * (of_ours - of_theirs);
  g_test_message (
      "mean of %u: loss %.4f, scikit-learn %.4f, difference %.5f with standard error %.5f",
      n_divisions, of_ours, of_theirs, of_ours - of_theirs,
      sqrt (fmax (0, squares) / (n_divisions - 1) / n_divisions));
  g_assert_cmpfloat (fabs (of_ours / of_theirs - 1), <, it->near);
}

int
main (int argc, char **argv)
{
  static const Case friedman = { NULL, 20, 0, 1e-9, 1e-9 };
  static const Case friedman_small = { NULL, 5, 0, 0.01, INFINITY };
  static const Case diabetes = { "diabetes", 20, 0, 0.01, INFINITY };
  static const Case diabetes_small = { "diabetes", 5, 0, 0.01, INFINITY };
  static const Case quantile = { NULL, 20, 0.9, 0.03, INFINITY };

  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/predictors/boosting-peers/friedman1", &friedman, test_peer);
  g_test_add_data_func ("/predictors/boosting-peers/friedman1-small-leaves", &friedman_small,
                        test_peer);
  g_test_add_data_func ("/predictors/boosting-peers/diabetes", &diabetes, test_peer);
  g_test_add_data_func ("/predictors/boosting-peers/diabetes-small-leaves", &diabetes_small,
                        test_peer);
  g_test_add_data_func ("/predictors/boosting-peers/quantile", &quantile, test_peer);
  return g_test_run ();
}
