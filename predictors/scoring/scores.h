/* scores.h - the agreement of predictions with observations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <stdint.h>

/* NaN: not defined for these values. */
typedef struct {
  uint64_t n;
  double rcc;       /* share of pairs in the same order (SC13, section 4.4); both tied: 1, one tied:
                        a half.  0.5 of a constant prediction, where nothing observed ties */
  double rcc_paper; /* the paper's formula to the letter, which with ties depends on the order of
                        the samples */
  double tau_b;     /* Kendall's */
  double spearman;  /* with mean ranks of ties */
  double r2;        /* 1 - squared errors / squared deviations from the mean of the observed */
  double mape;      /* mean of |error / observed|, a share; NaN when something observed is 0 */
  double rmse;
  double log_rmse;     /* of natural logarithms; NaN when something is not positive */
  uint64_t pairs;      /* n (n - 1) / 2 */
  double mispredicted; /* pairs (1 - rcc): a pair that one side ties counts a half */
  uint64_t ties_observed, ties_predicted, ties_both; /* pairs */
} PredictScores;

/* O(n log n) time (a million samples: below a second), 48 bytes a sample.  Values are finite,
 * n <= 2^31. */
PredictScores predict_score (const double *observed, const double *predicted, uint64_t n);

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
