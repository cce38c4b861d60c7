/* scores.h - the agreement of predictions with observations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <stdint.h>

/* Nobody minds which of two comes first that differ by less, as a share of the smaller. */
#define PREDICT_APART 0.05

/* NaN: not defined for these values. */
typedef struct {
  uint64_t n;
  double rcc;       /* share of pairs in the same order (SC13, section 4.4); both tied: 1, one tied:
                        a half.  0.5 of a constant prediction, where nothing observed ties */
  double rcc_apart; /* of pairs of which one was observed to be more than PREDICT_APART larger; NaN:
                        there is none, or something observed is not positive */
  double rcc_paper; /* the paper's formula to the letter, which with ties depends on the order of
                        the samples */
  double tau_b;     /* Kendall's */
  double spearman;  /* with mean ranks of ties */
  double r2;        /* 1 - squared errors / squared deviations from the mean of the observed */
  double mape;      /* mean of |error / observed|, a share; NaN when something observed is 0 */
  double rmse;
  double log_rmse; /* of natural logarithms; NaN when something is not positive */
  double regret;   /* of taking the sample whose prediction is the least: what was observed of it,
                        * over the least observed, - 1; the mean of those that tie.  NaN when something
                        * observed is not positive */
  uint64_t pairs;  /* n (n - 1) / 2 */
  double mispredicted; /* pairs (1 - rcc): a pair that one side ties counts a half */
  uint64_t ties_observed, ties_predicted, ties_both; /* pairs */
} PredictScores;

/* O(n log n) time (a million samples: below a second), 56 bytes a sample.  Values are finite,
 * n <= 2^31. */
PredictScores predict_score (const double *observed, const double *predicted, uint64_t n);

/* --- The noise of the observations --- */

/* Of rows that were observed several times, each by the mean of its draws. */
typedef struct {
  guint n_draws;     /* the fewest of a row; 0: no row has any */
  double halves_rcc; /* rcc of the means of half of the draws against those of the others: the mean
                        of several ways to halve them.  NaN: a row has a single draw, or there is
                        one row */
  double noise_rcc;  /* the ceiling: the rcc expected of the true times against the means of all
                        draws.  NaN likewise */
} PredictNoise;

/* draws: [n][n_draws], NaN: not made; rows without any do not count.  The draws of one place are
 * compared with each other, so their common errors cancel.
 *
 * The halves are measured; the ceiling follows from them as if times and noise were normal, or
 * some monotone function of them.  By Greiner's relation rcc = 1/2 + asin (r) / pi with r the
 * correlation of two halves of m draws, r = v / (v + w / m), v and w the variances of the true times
 * and of one draw (Spearman and Brown); so it is sqrt (v / (v + w / n_draws)) between truth and
 * means.  In simulations (scores_test.c) it is within 0.01 of the truth, also with skewed noise of
 * unequal size; and too high by a quarter of the share of pairs whose true times are equal, which no
 * count of draws can order. */
PredictNoise predict_noise (const double *draws, uint64_t n, guint n_draws);

/* The numbers of PredictScores that are scores, for choosing and printing one by its name. */
typedef enum {
  PREDICT_RCC,
  PREDICT_RCC_PAPER,
  PREDICT_TAU_B,
  PREDICT_SPEARMAN,
  PREDICT_R2,
  PREDICT_MAPE,
  PREDICT_RMSE,
  PREDICT_LOG_RMSE,
  PREDICT_N_SCORES
} PredictScore;

/* "rcc", "rcc_paper", "tau_b", "spearman", "r2", "mape", "rmse", "log_rmse", NULL. */
extern const char *const predict_score_names[PREDICT_N_SCORES + 1];
double predict_score_value (const PredictScores *scores, PredictScore score);
/* 1: larger is better, -1: smaller. */
int predict_score_direction (PredictScore score);

/* --- The order of values --- */

/* For qsort() of doubles, ascending; none is NaN. */
int predict_compare_values (const void *a, const void *b);

typedef struct {
  uint32_t *rank; /* [n] twice the mean place of a value among all, from 0: equal values share it */
  uint32_t *order; /* [n] samples by value, those of equal values in their own order */
} PredictRanking;

/* Values are finite, n <= 2^31.  By radix: O(n), 32 bytes a sample meanwhile. */
PredictRanking predict_ranking_new (const double *values, uint64_t n);
void predict_ranking_clear (PredictRanking *ranking);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PredictRanking, predict_ranking_clear)
