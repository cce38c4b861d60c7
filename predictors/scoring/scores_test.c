/* scores_test.c - scores by their definitions, by hand and by SciPy.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "predictors/scoring/scores.h"

#include <glib.h>
#include <math.h>

#define SCORE(x, y) predict_score (x, y, G_N_ELEMENTS (x))

/* -- by hand --------------------------------------------------------------- */

/* One of ten pairs is in the wrong order: tau is 9 / 10 - 1 / 10, and two places are off by one:
 * Spearman is 1 - 6 x 2 / (5 x 24). */
static void
test_one_swap (void)
{
  static const double x[] = { 1, 2, 3, 4, 5 }, y[] = { 1.1, 1.9, 3.5, 3.2, 6 };
  PredictScores scores = SCORE (x, y);

  g_assert_cmpuint (scores.pairs, ==, 10);
  g_assert_cmpfloat (scores.mispredicted, ==, 1);
  g_assert_cmpfloat (scores.rcc, ==, 0.9);
  g_assert_cmpfloat (scores.rcc_paper, ==, 0.9);
  g_assert_cmpfloat (scores.tau_b, ==, 0.8);
  g_assert_cmpfloat (scores.spearman, ==, 0.9);
}

/* The literal formula counts a tie of the predictions as right only when the observations ascend. */
static void
test_paper_depends_on_order (void)
{
  static const struct {
    double x[4], y[4], rcc, rcc_paper;
  } cases[] = {
    { { 1, 2, 3, 4 }, { 1, 2, 2, 3 }, 5.5 / 6, 1 },
    { { 4, 3, 2, 1 }, { 3, 2, 2, 1 }, 5.5 / 6, 5.0 / 6 },
    { { 1, 2, 3, 4 }, { 7, 7, 7, 7 }, 0.5, 1 },
    { { 4, 3, 2, 1 }, { 7, 7, 7, 7 }, 0.5, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    PredictScores scores = SCORE (cases[i].x, cases[i].y);

    g_test_message ("case %u", i);
    g_assert_cmpfloat (scores.rcc, ==, cases[i].rcc);
    g_assert_cmpfloat (scores.mispredicted, ==, i < 2 ? 0.5 : 3);
    g_assert_cmpfloat (scores.rcc_paper, ==, cases[i].rcc_paper);
    g_assert_true (isnan (scores.tau_b) == (i >= 2) && isnan (scores.spearman) == (i >= 2));
  }
}

/* Of 15 pairs, the first two and the last two samples tie in both (zero has no sign), the fourth
 * with the last two in the observed values only. */
static void
test_ties (void)
{
  static const double x[] = { 1, 1, 2, 5, 5, 5 }, y[] = { -0.0, 0.0, 3, 9, 4, 4 };
  PredictScores scores = SCORE (x, y);

  g_assert_cmpuint (scores.ties_observed, ==, 4);
  g_assert_cmpuint (scores.ties_predicted, ==, 2);
  g_assert_cmpuint (scores.ties_both, ==, 2);
  g_assert_cmpfloat (scores.mispredicted, ==, 1);
  g_assert_cmpfloat (scores.rcc, ==, 14.0 / 15);
}

/* Errors 1, -1, 2 of 2, 4, 4; deviations -4/3, 2/3, 2/3: 24/9 in squares. */
static void
test_values (void)
{
  static const double x[] = { 2, 4, 4 }, y[] = { 3, 3, 6 };
  PredictScores scores = SCORE (x, y);

  g_assert_cmpfloat_with_epsilon (scores.rmse, sqrt (2), 1e-15);
  g_assert_cmpfloat_with_epsilon (scores.r2, 1 - 6 / (24.0 / 9), 1e-15);
  g_assert_cmpfloat_with_epsilon (scores.mape, (0.5 + 0.25 + 0.5) / 3, 1e-15);
  g_assert_cmpfloat_with_epsilon (
      scores.log_rmse, sqrt ((log (1.5) * log (1.5) * 2 + log (0.75) * log (0.75)) / 3), 1e-15);
}

static void
test_not_defined (void)
{
  static const double zero[] = { 0, 1 }, negative[] = { -1, 1 }, one[] = { 1, 2 },
                      same[] = { 3, 3 };

  g_assert_true (isnan (SCORE (zero, one).mape));
  g_assert_true (isnan (SCORE (zero, one).log_rmse));
  g_assert_true (isnan (SCORE (one, zero).log_rmse));
  g_assert_cmpfloat (SCORE (one, zero).mape, ==, 0.75);
  g_assert_true (isnan (SCORE (negative, one).log_rmse));
  g_assert_cmpfloat (SCORE (negative, one).mape, ==, 1.5);
  g_assert_true (isnan (SCORE (same, one).r2));
  for (uint64_t n = 0; n < 2; n++) {
    PredictScores scores = predict_score (one, one, n);

    g_assert_cmpuint (scores.pairs, ==, 0);
    g_assert_cmpfloat (scores.mispredicted, ==, 0);
    g_assert_true (isnan (scores.rcc) && isnan (scores.rcc_paper) && isnan (scores.tau_b));
    g_assert_true (isnan (scores.spearman) && isnan (scores.r2));
    g_assert_true (n == 1 ? scores.rmse == 0 : isnan (scores.rmse));
  }
}

/* Squares of these overflow or vanish, and so do differences of the first; the scores do not.  Of the
 * tiny ones the mean is 1.5e-200, the deviations are 0.5e-200, and the only error is 1e-200. */
static void
test_extremes (void)
{
  static const struct {
    double x[2], y[2], unit;
    double rmse, r2, mape; /* rmse / unit */
  } cases[] = {
    { { 1e308, -1e308 }, { 0, 0 }, 1e308, 1, 0, 1 },
    { { 1e308, -1e308 }, { -1e308, 1e308 }, 1e308, 2, -3, 2 },
    { { 1e-200, 2e-200 }, { 2e-200, 2e-200 }, 1e-200, G_SQRT2 / 2, -1, 0.5 },
    { { 0x1p-1074, 0x1p-1073 }, { 0x1p-1073, 0x1p-1073 }, 0, 0, -1, 0.5 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    PredictScores scores = SCORE (cases[i].x, cases[i].y);

    g_test_message ("%g and %g", cases[i].x[0], cases[i].x[1]);
    if (cases[i].unit > 0 && isfinite (cases[i].rmse * cases[i].unit))
      g_assert_cmpfloat_with_epsilon (scores.rmse / cases[i].unit, cases[i].rmse, 1e-12);
    g_assert_cmpfloat_with_epsilon (scores.r2, cases[i].r2, 1e-12);
    g_assert_cmpfloat_with_epsilon (scores.mape, cases[i].mape, 1e-12);
  }
}

static void
test_names (void)
{
  static const double x[] = { 1, 2, 3, 4 }, y[] = { 1, 3, 2, 5 };
  PredictScores scores = SCORE (x, y);
  const double values[] = { scores.rcc, scores.rcc_paper, scores.tau_b, scores.spearman,
                            scores.r2,  scores.mape,      scores.rmse,  scores.log_rmse };
  static const char *const names[] = { "rcc", "rcc_paper", "tau_b", "spearman",
                                       "r2",  "mape",      "rmse",  "log_rmse" };

  for (int score = 0; score < PREDICT_N_SCORES; score++) {
    g_assert_cmpstr (predict_score_names[score], ==, names[score]);
    g_assert_cmpfloat (predict_score_value (&scores, (PredictScore) score), ==, values[score]);
    g_assert_cmpint (predict_score_direction ((PredictScore) score), ==,
                     score < PREDICT_MAPE ? 1 : -1);
  }
  g_assert_null (predict_score_names[PREDICT_N_SCORES]);
}

/* -- by definition --------------------------------------------------------- */

typedef struct {
  double half, paper, signs; /* pairs that count as right; Kendall's sum */
  uint64_t ties_observed, ties_predicted, ties_both;
} Pairs;

static Pairs
count_pairs (const double *x, const double *y, guint n)
{
  Pairs pairs = { 0 };

  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < i; j++) {
      gboolean tied_x = x[i] == x[j], tied_y = y[i] == y[j];

      pairs.ties_observed += tied_x;
      pairs.ties_predicted += tied_y;
      pairs.ties_both += tied_x && tied_y;
      pairs.signs += ((x[i] > x[j]) - (x[i] < x[j])) * ((y[i] > y[j]) - (y[i] < y[j]));
      pairs.half += tied_x != tied_y ? 0.5 : (x[i] < x[j]) == (y[i] < y[j]);
      pairs.paper += (x[i] >= x[j] && y[i] >= y[j]) || (x[i] < x[j] && y[i] < y[j]);
    }
  return pairs;
}

/* Twice the mean rank of x[at], less that of all. */
static double
centred_rank (const double *x, guint n, guint at)
{
  double rank = 0;

  for (guint i = 0; i < n; i++)
    rank += (x[i] < x[at]) - (x[i] > x[at]);
  return rank;
}

/* Pearson's correlation of the ranks. */
static double
rank_correlation (const double *x, const double *y, guint n)
{
  double xx = 0, yy = 0, xy = 0;

  for (guint i = 0; i < n; i++) {
    double a = centred_rank (x, n, i), b = centred_rank (y, n, i);

    xx += a * a;
    yy += b * b;
    xy += a * b;
  }
  return xy / sqrt (xx * yy);
}

static void
assert_near_or_nan (double found, double expected)
{
  g_assert_cmpint (isnan (found), ==, isnan (expected));
  if (!isnan (found))
    g_assert_cmpfloat_with_epsilon (found, expected, 1e-13);
}

/* From few values, of which most are tied, to many; in 1,000 lists of 2 to 40. */
static void
test_every_pair (void)
{
  BaseRandom random = base_random_stream ((uint64_t) g_test_rand_int (), 0);
  double x[40], y[40];

  for (guint list = 0; list < 1000; list++) {
    guint n = 2 + (guint) base_random_below (&random, 39);
    uint64_t n_x = 1 + base_random_below (&random, 60);
    uint64_t n_y = 1 + base_random_below (&random, 60);
    PredictScores scores;
    Pairs pairs;

    for (guint i = 0; i < n; i++) {
      x[i] = (double) base_random_below (&random, n_x) - 20;
      y[i] = ((double) base_random_below (&random, n_y) - 20) * 0x1p-1060;
    }
    scores = predict_score (x, y, n);
    pairs = count_pairs (x, y, n);
    g_assert_cmpuint (scores.ties_observed, ==, pairs.ties_observed);
    g_assert_cmpuint (scores.ties_predicted, ==, pairs.ties_predicted);
    g_assert_cmpuint (scores.ties_both, ==, pairs.ties_both);
    g_assert_cmpfloat (scores.rcc, ==, pairs.half / (n * (n - 1) / 2));
    g_assert_cmpfloat (scores.rcc_paper, ==, pairs.paper / (n * (n - 1) / 2));
    g_assert_cmpfloat (scores.mispredicted, ==, n * (n - 1) / 2 - pairs.half);
    assert_near_or_nan (scores.tau_b,
                        pairs.signs / sqrt ((n * (n - 1.0) / 2 - (double) pairs.ties_observed) *
                                            (n * (n - 1.0) / 2 - (double) pairs.ties_predicted)));
    assert_near_or_nan (scores.spearman, rank_correlation (x, y, n));
  }
}

/* -- by SciPy -------------------------------------------------------------- */

/* scipy.stats.kendalltau and spearmanr (1.10.1) of 28 samples whose prediction is off by up to 30 %,
 * rounded so that some are tied. */
static void
test_recorded_scipy (void)
{
  BaseRandom random = base_random_stream (28, 0);
  double x[28], y[28];
  PredictScores scores;

  for (guint i = 0; i < 28; i++) {
    x[i] = 1 + (double) base_random_below (&random, 40) / 8;
    y[i] = rint (8 * x[i] * (0.7 + 0.6 * base_random_unit (&random))) / 8;
  }
  scores = SCORE (x, y);
  g_assert_cmpfloat_with_epsilon (scores.tau_b, 0.8201908910205585, 1e-14);
  g_assert_cmpfloat_with_epsilon (scores.spearman, 0.9451566482254284, 1e-14);
}

/* -- many ------------------------------------------------------------------ */

/* A million, of which pairs of neighbours are swapped, so that n / 2 pairs are wrong; then in the
 * opposite order. */
static void
test_million (void)
{
  const guint n = 1000000;
  g_autofree double *x = g_new (double, n), *y = g_new (double, n);
  double pairs = n * (n - 1.0) / 2;
  PredictScores scores;

  for (guint i = 0; i < n; i++) {
    x[i] = i;
    y[i] = (i ^ 1) * 3.0;
  }
  scores = predict_score (x, y, n);
  g_assert_cmpfloat (scores.mispredicted, ==, n / 2);
  g_assert_cmpfloat (scores.tau_b, ==, (pairs - n) / pairs);
  for (guint i = 0; i < n; i++)
    y[i] = -x[i];
  scores = predict_score (x, y, n);
  g_assert_cmpfloat (scores.mispredicted, ==, pairs);
  g_assert_cmpfloat (scores.rcc, ==, 0);
  g_assert_cmpfloat (scores.tau_b, ==, -1);
  g_assert_cmpfloat (scores.spearman, ==, -1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/scores/one-swap", test_one_swap);
  g_test_add_func ("/predictors/scores/paper-depends-on-order", test_paper_depends_on_order);
  g_test_add_func ("/predictors/scores/ties", test_ties);
  g_test_add_func ("/predictors/scores/values", test_values);
  g_test_add_func ("/predictors/scores/not-defined", test_not_defined);
  g_test_add_func ("/predictors/scores/extremes", test_extremes);
  g_test_add_func ("/predictors/scores/names", test_names);
  g_test_add_func ("/predictors/scores/every-pair", test_every_pair);
  g_test_add_func ("/predictors/scores/recorded-scipy", test_recorded_scipy);
  g_test_add_func ("/predictors/scores/million", test_million);
  return g_test_run ();
}
