/* aggregation_choice.c - the aggregation pattern a job should have, by the cost of each.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/aggregation/aggregation_choice.h"

#include "predictors/predict_error.h"

#include <math.h>

const char *const predict_aggregation_verdicts[] = { "chosen", "admissible", "depends", "too slow",
                                                     "excluded" };

static double
total_of (const PredictAggregation *pattern)
{
  return pattern->computation_s + pattern->communication_s;
}

/* Sets the range of the slow-down over the assumptions, each of which holds for both patterns. */
static void
set_range (PredictAggregationJudgement *judgement, const PredictAggregation *pattern,
           const PredictAggregation *compared)
{
  g_assert (pattern->n_assumed == compared->n_assumed);
  judgement->slowdown_low = judgement->slowdown_high = judgement->slowdown;
  for (uint32_t at = 0; at < pattern->n_assumed; at++) {
    double slowdown = (pattern->assumed_s[at] + pattern->communication_s) /
                          (compared->assumed_s[at] + compared->communication_s) -
                      1;

    judgement->slowdown_low = fmin (judgement->slowdown_low, slowdown);
    judgement->slowdown_high = fmax (judgement->slowdown_high, slowdown);
  }
}

uint32_t
predict_aggregation_fastest (const PredictAggregation *patterns, uint32_t n)
{
  uint32_t fastest = n;

  for (uint32_t i = 0; i < n; i++)
    if (patterns[i].excluded == NULL &&
        (fastest == n || total_of (&patterns[i]) < total_of (&patterns[fastest])))
      fastest = i;
  return fastest;
}

gboolean
predict_aggregation_choose (const PredictAggregation *patterns, uint32_t n, uint32_t reference,
                            double max_slowdown, PredictAggregationJudgement *judgements,
                            GError **error)
{
  const PredictAggregation *compared = NULL;
  uint32_t best = n;

  for (uint32_t i = 0; i < n; i++)
    if (patterns[i].id == reference)
      compared = &patterns[i];
  if (compared == NULL) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                 "there is no pattern %u to compare with", reference);
    return FALSE;
  }
  if (compared->excluded != NULL) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                 "pattern %u, the reference of the comparison, is excluded: %s", reference,
                 compared->excluded);
    return FALSE;
  }
  if (!(total_of (compared) > 0)) {
    g_set_error (
        error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
        "pattern %u, the reference of the comparison, takes no time: nothing is computed or "
        "sent",
        reference);
    return FALSE;
  }
  for (uint32_t i = 0; i < n; i++) {
    PredictAggregationJudgement *judgement = &judgements[i];

    *judgement = (PredictAggregationJudgement){ .total_s = (double) NAN,
                                                .difference_s = (double) NAN,
                                                .slowdown = (double) NAN,
                                                .slowdown_low = (double) NAN,
                                                .slowdown_high = (double) NAN,
                                                .verdict = PREDICT_AGGREGATION_EXCLUDED };
    if (patterns[i].excluded != NULL)
      continue;
    judgement->total_s = total_of (&patterns[i]);
    judgement->difference_s = judgement->total_s - total_of (compared);
    judgement->slowdown = judgement->difference_s / total_of (compared);
    set_range (judgement, &patterns[i], compared);
    judgement->verdict = judgement->slowdown_high <= max_slowdown  ? PREDICT_AGGREGATION_ADMISSIBLE
                         : judgement->slowdown_low <= max_slowdown ? PREDICT_AGGREGATION_DEPENDS
                                                                   : PREDICT_AGGREGATION_TOO_SLOW;
    if (judgement->verdict != PREDICT_AGGREGATION_ADMISSIBLE)
      continue;
    if (best == n || patterns[i].energy_rank < patterns[best].energy_rank ||
        (patterns[i].energy_rank == patterns[best].energy_rank &&
         judgements[i].total_s < judgements[best].total_s))
      best = i;
  }
  judgements[best].verdict = PREDICT_AGGREGATION_CHOSEN;
  return TRUE;
}
