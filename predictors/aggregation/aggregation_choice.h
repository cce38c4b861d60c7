/* aggregation_choice.h - the aggregation pattern a job should have, by the cost of each.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Section VI of the aggregation paper.  A pattern is compared with the reference, where no node has
 * two tasks, by equation 5,
 *
 *   difference = computation + communication - those of the reference,
 *
 * which forgives errors that all patterns share, such as of overlap.  Patterns that are slower than
 * the reference by more than a threshold are out; of the others the one that needs the least energy
 * by its rank (fewest nodes, then sockets, then dies: topology/mapping/aggregation.h) is chosen, among as
 * good ones that with the least time.
 *
 * The paper calls the threshold a "performance penalty" and gives no base: here, of the
 * reference's whole time.
 *
 * Where the time of computation depends on something unknown, it is given under several assumptions, and
 * a pattern is fast enough when it is so under each of them. */
#pragma once

#include <glib.h>
#include <stdint.h>

/* The paper's. */
#define PREDICT_MAX_SLOWDOWN 0.05
#define PREDICT_REFERENCE    1u

typedef struct {
  uint32_t id;
  const char *excluded;   /* why it is out or unknown; NULL: it is a candidate */
  uint32_t energy_rank;   /* 1 needs least; patterns that use as much have the same */
  double computation_s;   /* mean over the tasks; at least 0 */
  double communication_s; /* of the task with most; at least 0 */
  /* [n_assumed] what computation_s is under each assumption; the same number for all patterns, 0:
   * computation_s is known. */
  const double *assumed_s;
  uint32_t n_assumed;
} PredictAggregation;

typedef enum {
  PREDICT_AGGREGATION_CHOSEN,
  PREDICT_AGGREGATION_ADMISSIBLE, /* fast enough; needs more energy, or as much and more time */
  PREDICT_AGGREGATION_DEPENDS,    /* fast enough under some of the assumptions */
  PREDICT_AGGREGATION_TOO_SLOW,
  PREDICT_AGGREGATION_EXCLUDED,
} PredictAggregationVerdict;

/* "chosen", "admissible", "depends", "too slow", "excluded". */
extern const char *const predict_aggregation_verdicts[];

/* NaN for excluded patterns. */
typedef struct {
  double total_s;
  double difference_s;                /* equation 5; negative: faster than the reference */
  double slowdown;                    /* difference_s as a share of the reference's total_s */
  double slowdown_low, slowdown_high; /* over the assumptions; without any as slowdown */
  PredictAggregationVerdict verdict;
} PredictAggregationJudgement;

/* The one with the least time, of those that are not excluded; of equal ones the first; n: all are
 * excluded. */
uint32_t predict_aggregation_fastest (const PredictAggregation *patterns, uint32_t n);

/* Fills judgements[n].  The reference's own slow-down is 0, so that one is chosen always.  FALSE
 * and *error (PREDICT_ERROR_OPTION): there is no pattern with the number of the reference, it is
 * excluded, or its time is not above 0.  max_slowdown is a share of at least 0. */
gboolean predict_aggregation_choose (const PredictAggregation *patterns, uint32_t n,
                                     uint32_t reference, double max_slowdown,
                                     PredictAggregationJudgement *judgements, GError **error);
