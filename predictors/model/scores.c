/* scores.c - see scores.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/model/scores.h"

#include "predictors/model/inversions.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>

const char *const predict_score_names[PREDICT_N_SCORES + 1] = {
  [PREDICT_RCC] = "rcc",     [PREDICT_RCC_PAPER] = "rcc_paper",
  [PREDICT_TAU_B] = "tau_b", [PREDICT_SPEARMAN] = "spearman",
  [PREDICT_R2] = "r2",       [PREDICT_MAPE] = "mape",
  [PREDICT_RMSE] = "rmse",   [PREDICT_LOG_RMSE] = "log_rmse",
  [PREDICT_N_SCORES] = NULL,
};

double
predict_score_value (const PredictScores *scores, PredictScore score)
{
  switch (score) {
  case PREDICT_RCC: return scores->rcc;
  case PREDICT_RCC_PAPER: return scores->rcc_paper;
  case PREDICT_TAU_B: return scores->tau_b;
  case PREDICT_SPEARMAN: return scores->spearman;
  case PREDICT_R2: return scores->r2;
  case PREDICT_MAPE: return scores->mape;
  case PREDICT_RMSE: return scores->rmse;
  case PREDICT_LOG_RMSE: return scores->log_rmse;
  case PREDICT_N_SCORES: break;
  }
  g_assert_not_reached ();
}

int
predict_score_direction (PredictScore score)
{
  return score == PREDICT_MAPE || score == PREDICT_RMSE || score == PREDICT_LOG_RMSE ? -1 : 1;
}

/* -- order ----------------------------------------------------------------- */

/* Integers, so that equal orders score exactly 1 and -1. */
static double
spearman (const PredictRanking *observed, const PredictRanking *predicted, uint64_t n)
{
  __int128 products = 0, squares_observed = 0, squares_predicted = 0;

  for (uint64_t i = 0; i < n; i++) {
    int64_t x = (int64_t) observed->rank[i] - (int64_t) (n - 1);
    int64_t y = (int64_t) predicted->rank[i] - (int64_t) (n - 1);

    products += (__int128) x * y;
    squares_observed += (__int128) x * x;
    squares_predicted += (__int128) y * y;
  }
  return (double) products / sqrt ((double) squares_observed * (double) squares_predicted);
}

/* The literal formula is asked of each pair j < i: observed[i] >= observed[j] and
 * predicted[i] >= predicted[j], or observed[i] < observed[j] and predicted[i] < predicted[j].  A
 * pair that differs in both is right when the signs are; one that ties in both is right; one that
 * ties in one is wrong when the other descends from j to i. */
static void
score_order (const double *observed, const double *predicted, PredictScores *scores)
{
  uint64_t n = scores->n, ties_once, concordant;
  double pairs = (double) scores->pairs;
  g_auto (PredictRanking) x = predict_ranking_new (observed, n);
  g_auto (PredictRanking) y = predict_ranking_new (predicted, n);
  PredictInversions counts = predict_ranking_inversions (&x, &y, n);

  scores->ties_observed = counts.ties_first;
  scores->ties_predicted = counts.ties_second;
  scores->ties_both = counts.ties_both;
  ties_once = counts.ties_first - counts.ties_both + counts.ties_second - counts.ties_both;
  concordant = scores->pairs - ties_once - counts.ties_both - counts.inversions;
  scores->mispredicted = (double) counts.inversions + 0.5 * (double) ties_once;
  scores->rcc = ((double) (concordant + counts.ties_both) + 0.5 * (double) ties_once) / pairs;
  scores->rcc_paper = (double) (scores->pairs - counts.inversions - counts.ties_inverted) / pairs;
  scores->tau_b = ((double) concordant - (double) counts.inversions) /
                  sqrt ((double) (scores->pairs - counts.ties_first) *
                        (double) (scores->pairs - counts.ties_second));
  scores->spearman = spearman (&x, &y, n);
}

/* -- values ---------------------------------------------------------------- */

/* Beyond 2^(+-RANGE) squares of values overflow or vanish, and the values are divided by about
 * their largest; at most by 2^(+-MOST), whose inverse is a number too. */
#define RANGE 400
#define MOST  1000

/* A power of two, so that no digit changes; 1 of all values but huge and tiny ones. */
static double
factor_of (const double *observed, const double *predicted, uint64_t n)
{
  double largest = 0;
  int exponent;

  for (uint64_t i = 0; i < n; i++)
    largest = fmax (largest, fmax (fabs (observed[i]), fabs (predicted[i])));
  if (!(largest > 0) || !isfinite (largest))
    return 1;
  exponent = ilogb (largest);
  return abs (exponent) <= RANGE ? 1 : ldexp (1, CLAMP (-exponent, -MOST, MOST));
}

static void
score_values (const double *observed, const double *predicted, PredictScores *scores)
{
  double mean = 0, deviations = 0, squares = 0, shares = 0, log_squares = 0, n = (double) scores->n;
  double factor = factor_of (observed, predicted, scores->n);

  for (uint64_t i = 0; i < scores->n; i++)
    mean += observed[i] * factor;
  mean /= n;
  for (uint64_t i = 0; i < scores->n; i++) {
    double off = observed[i] * factor - mean, plain = predicted[i] - observed[i];
    double error = predicted[i] * factor - observed[i] * factor;
    double share = isfinite (plain) ? plain / observed[i] : error / (observed[i] * factor);
    double ratio =
        observed[i] > 0 && predicted[i] > 0 ? log (predicted[i]) - log (observed[i]) : (double) NAN;

    deviations += off * off;
    squares += error * error;
    shares += observed[i] == 0 ? (double) NAN : fabs (share);
    log_squares += ratio * ratio;
  }
  scores->r2 = deviations > 0 ? 1 - squares / deviations : (double) NAN;
  scores->mape = shares / n;
  scores->rmse = sqrt (squares / n) / factor;
  scores->log_rmse = sqrt (log_squares / n);
}

PredictScores
predict_score (const double *observed, const double *predicted, uint64_t n)
{
  PredictScores scores = { .n = n, .pairs = n * (n - 1) / 2 };

  score_order (observed, predicted, &scores);
  score_values (observed, predicted, &scores);
  return scores;
}
