/* scores_test.c - scores by their definitions, by hand and by SciPy.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "predictors/predict_testing.h"
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
  g_assert_cmpfloat (scores.rcc_apart, ==, 0.9);
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

/* What is predicted to be the fastest takes 3, the fastest 2: half as long again.  Of two that tie, one
 * of which is the fastest, half of that is to be expected. */
static void
test_regret (void)
{
  static const double x[] = { 4, 3, 2, 5 }, y[] = { 9, 1, 2, 8 }, ties[] = { 9, 1, 1, 8 };
  static const double not_positive[] = { 4, 3, 0, 5 };

  g_assert_cmpfloat (SCORE (x, y).regret, ==, 0.5);
  g_assert_cmpfloat (SCORE (x, ties).regret, ==, 0.25);
  g_assert_cmpfloat (SCORE (x, x).regret, ==, 0);
  g_assert_true (isnan (SCORE (not_positive, y).regret));
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
  double apart_right, apart; /* likewise, of pairs that are apart; all of those */
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
      if (fmax (x[i], x[j]) > fmin (x[i], x[j]) * (1 + PREDICT_APART)) {
        pairs.apart++;
        pairs.apart_right += tied_y ? 0.5 : (x[i] < x[j]) == (y[i] < y[j]);
      }
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
    /* Values of 21 to 40 and more are a few percent apart; those up to 0 have no ratio. */
    for (guint i = 0; i < n; i++)
      x[i] += 41;
    scores = predict_score (x, y, n);
    pairs = count_pairs (x, y, n);
    assert_near_or_nan (scores.rcc_apart, pairs.apart_right / pairs.apart);
    x[0] = 0;
    g_assert_true (isnan (predict_score (x, y, n).rcc_apart));
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

/* --- The noise of the observations --- */

enum { NOISE_ROWS = 84, NOISE_MOST_DRAWS = 8, NOISE_SEEDS = 60 };

typedef struct {
  const char *name;
  guint n_draws;
  double noise;               /* standard deviation of a draw; that of the true times is 1 */
  gboolean is_skewed;         /* lognormal times, exponential noise, 20 times larger in some rows */
  guint n_equal;              /* so many rows have the same true time */
  double most_low, most_high; /* of the ceiling, off the truth */
} NoiseCase;

/* The mean ceiling, and the mean rcc of the true times against the means of the draws. */
static void
draw_noise (const NoiseCase *it, double *ceiling, double *truth)
{
  double times[NOISE_ROWS], means[NOISE_ROWS], draws[NOISE_ROWS * NOISE_MOST_DRAWS];

  *ceiling = *truth = 0;
  for (guint seed = 0; seed < NOISE_SEEDS; seed++) {
    BaseRandom random = base_random_stream (seed, 0);

    for (guint row = 0; row < NOISE_ROWS; row++) {
      double scale = it->noise * (!it->is_skewed ? 1 : row % 4 == 0 ? 2 : 0.1);

      if (row % it->n_equal == 0)
        times[row] = it->is_skewed ? exp (testing_normal (&random)) : testing_normal (&random);
      else
        times[row] = times[row - 1];
      means[row] = 0;
      for (guint draw = 0; draw < it->n_draws; draw++) {
        double error =
            it->is_skewed ? -log (1 - base_random_unit (&random)) : testing_normal (&random);

        draws[row * it->n_draws + draw] = times[row] + scale * error;
        means[row] += draws[row * it->n_draws + draw] / it->n_draws;
      }
      /* The mean of the noise is a part of the true time. */
      if (it->is_skewed)
        times[row] += scale;
    }
    *truth += predict_score (times, means, NOISE_ROWS).rcc / NOISE_SEEDS;
    *ceiling += predict_noise (draws, NOISE_ROWS, it->n_draws).noise_rcc / NOISE_SEEDS;
  }
}

/* A perfect predictor has the rcc of the ceiling, on average over many tables. */
static void
test_ceiling (void)
{
  static const NoiseCase cases[] = {
    { "little noise, two draws", 2, 0.05, FALSE, 1, 0.002, 0.002 },
    { "two draws", 2, 0.3, FALSE, 1, 0.005, 0.005 },
    { "three draws", 3, 0.3, FALSE, 1, 0.005, 0.005 },
    { "four draws", 4, 0.3, FALSE, 1, 0.005, 0.005 },
    { "eight draws", 8, 0.3, FALSE, 1, 0.005, 0.005 },
    { "much noise, two draws", 2, 1, FALSE, 1, 0.01, 0.01 },
    { "much noise, four draws", 4, 1, FALSE, 1, 0.01, 0.01 },
    { "skewed, two draws", 2, 0.2, TRUE, 1, 0.01, 0.01 },
    { "skewed, four draws", 4, 0.2, TRUE, 1, 0.01, 0.01 },
    { "skewed, much noise", 4, 4, TRUE, 1, 0.01, 0.01 },
    /* 11 of 83 pairs, which no count of draws can order: the ceiling is too high by a quarter. */
    { "equal times", 4, 0.05, FALSE, 12, 0, 0.045 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    double ceiling, truth;

    draw_noise (&cases[i], &ceiling, &truth);
    g_test_message ("%s: ceiling %.4f, a perfect predictor %.4f", cases[i].name, ceiling, truth);
    g_assert_cmpfloat (ceiling, >=, truth - cases[i].most_low);
    g_assert_cmpfloat (ceiling, <=, truth + cases[i].most_high);
  }
}

static void
test_noise_by_hand (void)
{
  /* The second draw swaps one of three pairs: correlation sin (pi / 6), so of the means with the
   * truth sqrt (2 / 3). */
  static const double swap[] = { 1, 1, 2, 3, 3, 2 };
  /* Errors that all rows share; a row without draws, and one that lacks one of three. */
  static const double common[] = { 1, 8, 3, 2, 9, 4, NAN, NAN, NAN, 3, NAN, 5 };
  static const double single[] = { 1, 1, 2, NAN };
  static const double opposite[] = { 1, 2, 2, 1 };
  static const double apart[] = { 1, 2, NAN, NAN, NAN, NAN, 3, 4 };
  PredictNoise noise = predict_noise (swap, 3, 2);

  g_assert_cmpuint (noise.n_draws, ==, 2);
  g_assert_cmpfloat_with_epsilon (noise.halves_rcc, 2.0 / 3, 1e-12);
  g_assert_cmpfloat_with_epsilon (noise.noise_rcc, 0.5 + asin (sqrt (2.0 / 3)) / G_PI, 1e-12);
  noise = predict_noise (common, 4, 3);
  g_assert_cmpuint (noise.n_draws, ==, 2);
  g_assert_cmpfloat (noise.noise_rcc, >, 0.5);
  noise = predict_noise (common, 2, 3);
  g_assert_cmpfloat (noise.halves_rcc, ==, 1);
  g_assert_cmpfloat (noise.noise_rcc, ==, 1);
  g_assert_cmpfloat (predict_noise (opposite, 2, 2).noise_rcc, ==, 0.5);
  noise = predict_noise (single, 2, 2);
  g_assert_cmpuint (noise.n_draws, ==, 1);
  g_assert_true (isnan (noise.halves_rcc) && isnan (noise.noise_rcc));
  /* Halved in the middle, no row has draws on both sides. */
  g_assert_true (isnan (predict_noise (apart, 2, 4).noise_rcc));
  g_assert_true (isnan (predict_noise (swap, 1, 2).noise_rcc));
  g_assert_cmpuint (predict_noise (NULL, 0, 0).n_draws, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/scores/one-swap", test_one_swap);
  g_test_add_func ("/predictors/scores/regret", test_regret);
  g_test_add_func ("/predictors/scores/paper-depends-on-order", test_paper_depends_on_order);
  g_test_add_func ("/predictors/scores/ties", test_ties);
  g_test_add_func ("/predictors/scores/values", test_values);
  g_test_add_func ("/predictors/scores/not-defined", test_not_defined);
  g_test_add_func ("/predictors/scores/extremes", test_extremes);
  g_test_add_func ("/predictors/scores/names", test_names);
  g_test_add_func ("/predictors/scores/every-pair", test_every_pair);
  g_test_add_func ("/predictors/scores/recorded-scipy", test_recorded_scipy);
  g_test_add_func ("/predictors/scores/million", test_million);
  g_test_add_func ("/predictors/scores/ceiling", test_ceiling);
  g_test_add_func ("/predictors/scores/noise-by-hand", test_noise_by_hand);
  return g_test_run ();
}
