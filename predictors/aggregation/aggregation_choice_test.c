/* aggregation_choice_test.c - equation 5 and the choice, worked by hand.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/aggregation/aggregation_choice.h"

#include "predictors/predict_error.h"

#include <math.h>

/* Without assumptions. */
#define PATTERN(id_, excluded_, rank_, computation_, communication_)                       \
  {                                                                                        \
    .id = id_, .excluded = excluded_, .energy_rank = rank_, .computation_s = computation_, \
    .communication_s = communication_                                                      \
  }

/* Eight seconds of computation and two of communication without aggregation. */
static const PredictAggregation patterns[] = {
  PATTERN (1, NULL, 6, 8, 2),    /* the reference: 10 s */
  PATTERN (2, NULL, 5, 8.25, 2), /* 10.25 s: 2.5 % */
  PATTERN (3, NULL, 4, 7, 2.5),  /* 9.5 s: faster */
  PATTERN (4, NULL, 2, 8, 2.5),  /* 10.5 s: the threshold itself */
  PATTERN (5, NULL, 2, 9, 1.25), /* 10.25 s: as much energy, less time */
  PATTERN (6, NULL, 1, 8, 2.75), /* 10.75 s */
  PATTERN (7, "too large", 0, 0, 0),
};
#define N G_N_ELEMENTS (patterns)

static void
assert_judged (const PredictAggregationJudgement *judged, double difference_s, double slowdown,
               PredictAggregationVerdict verdict)
{
  g_assert_cmpfloat_with_epsilon (judged->difference_s, difference_s, 1e-12);
  g_assert_cmpfloat_with_epsilon (judged->slowdown, slowdown, 1e-12);
  g_assert_cmpint (judged->verdict, ==, verdict);
}

static void
test_paper (void)
{
  PredictAggregationJudgement judged[N];
  g_autoptr (GError) error = NULL;

  g_assert_true (predict_aggregation_choose (patterns, N, PREDICT_REFERENCE, PREDICT_MAX_SLOWDOWN,
                                             judged, &error));
  g_assert_no_error (error);
  assert_judged (&judged[0], 0, 0, PREDICT_AGGREGATION_ADMISSIBLE);
  assert_judged (&judged[1], 0.25, 0.025, PREDICT_AGGREGATION_ADMISSIBLE);
  assert_judged (&judged[2], -0.5, -0.05, PREDICT_AGGREGATION_ADMISSIBLE);
  assert_judged (&judged[3], 0.5, 0.05, PREDICT_AGGREGATION_ADMISSIBLE);
  assert_judged (&judged[4], 0.25, 0.025, PREDICT_AGGREGATION_CHOSEN);
  assert_judged (&judged[5], 0.75, 0.075, PREDICT_AGGREGATION_TOO_SLOW);
  g_assert_cmpint (judged[6].verdict, ==, PREDICT_AGGREGATION_EXCLUDED);
  g_assert_true (isnan (judged[6].total_s) && isnan (judged[6].slowdown));
}

/* Which pattern each threshold and reference chooses. */
static void
test_choices (void)
{
  static const struct {
    uint32_t reference;
    double max_slowdown;
    uint32_t chosen;
  } cases[] = {
    { 1, 0, 3 }, /* only what is no slower */
    { 1, 0.03, 5 },  { 1, 0.0499, 5 },
    { 1, 0.075, 6 }, { 3, 0, 3 }, /* 9.5 s: all others are slower */
    { 3, 0.08, 5 },               /* 10.25 / 9.5 is 7.9 % more */
    { 6, 0, 6 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    PredictAggregationJudgement judged[N];
    uint32_t chosen = 0, n_chosen = 0;

    g_assert_true (predict_aggregation_choose (patterns, N, cases[i].reference,
                                               cases[i].max_slowdown, judged, NULL));
    for (guint at = 0; at < N; at++)
      if (judged[at].verdict == PREDICT_AGGREGATION_CHOSEN) {
        chosen = patterns[at].id;
        n_chosen++;
      }
    g_assert_cmpuint (n_chosen, ==, 1);
    g_assert_cmpuint (chosen, ==, cases[i].chosen);
  }
}

/* Two assumptions: the reference takes 10 or 12 s; pattern 2 10.25 or 12.5 s, 4.17 % more at most;
 * pattern 3 10.25 or 13.25 s, 2.5 to 10.42 % more; pattern 4 11 or 14 s, 10 to 16.7 % more. */
static void
test_assumptions (void)
{
  static const double assumed_s[4][2] = { { 8, 10 }, { 8.25, 10.5 }, { 8, 11 }, { 9, 12 } };
  static const struct {
    double max_slowdown;
    PredictAggregationVerdict verdict[4];
  } cases[] = {
    { 0.05,
      { PREDICT_AGGREGATION_ADMISSIBLE, PREDICT_AGGREGATION_CHOSEN, PREDICT_AGGREGATION_DEPENDS,
        PREDICT_AGGREGATION_TOO_SLOW } },
    { 0.105,
      { PREDICT_AGGREGATION_ADMISSIBLE, PREDICT_AGGREGATION_ADMISSIBLE, PREDICT_AGGREGATION_CHOSEN,
        PREDICT_AGGREGATION_DEPENDS } },
    { 0.02,
      { PREDICT_AGGREGATION_CHOSEN, PREDICT_AGGREGATION_TOO_SLOW, PREDICT_AGGREGATION_TOO_SLOW,
        PREDICT_AGGREGATION_TOO_SLOW } },
  };
  PredictAggregation all[4];

  for (uint32_t at = 0; at < 4; at++)
    all[at] = (PredictAggregation){ .id = at + 1,
                                    .energy_rank = 4 - at,
                                    .computation_s = assumed_s[at][0],
                                    .communication_s = at == 2 ? 2.25 : 2,
                                    .assumed_s = assumed_s[at],
                                    .n_assumed = 2 };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    PredictAggregationJudgement judged[4];

    g_assert_true (predict_aggregation_choose (all, 4, PREDICT_REFERENCE, cases[i].max_slowdown,
                                               judged, NULL));
    for (uint32_t at = 0; at < 4; at++)
      g_assert_cmpint (judged[at].verdict, ==, cases[i].verdict[at]);
    g_assert_cmpfloat_with_epsilon (judged[1].slowdown_low, 0.025, 1e-12);
    g_assert_cmpfloat_with_epsilon (judged[1].slowdown_high, 0.5 / 12, 1e-12);
    g_assert_cmpfloat_with_epsilon (judged[2].slowdown_high, 1.25 / 12, 1e-12);
    g_assert_cmpfloat (judged[0].slowdown_high, ==, 0);
  }
}

static void
test_fastest (void)
{
  static const PredictAggregation none[] = { PATTERN (1, "a", 0, 0, 0), PATTERN (2, "b", 0, 0, 0) };

  g_assert_cmpuint (predict_aggregation_fastest (patterns, N), ==, 2); /* 9.5 s */
  g_assert_cmpuint (predict_aggregation_fastest (patterns, 2), ==, 0);
  g_assert_cmpuint (predict_aggregation_fastest (patterns + 6, 1), ==, 1);
  g_assert_cmpuint (predict_aggregation_fastest (none, 2), ==, 2);
}

static void
assert_refused (const PredictAggregation *of, guint n, uint32_t reference, const char *message)
{
  PredictAggregationJudgement judged[N];
  g_autoptr (GError) error = NULL;

  g_assert_false (predict_aggregation_choose (of, n, reference, 0.05, judged, &error));
  g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION);
  g_assert_cmpstr (error->message, ==, message);
}

static void
test_references (void)
{
  const PredictAggregation nothing = PATTERN (1, NULL, 1, 0, 0);

  assert_refused (patterns, N, 8, "there is no pattern 8 to compare with");
  assert_refused (patterns, N, 7,
                  "pattern 7, the reference of the comparison, is excluded: too large");
  assert_refused (&nothing, 1, 1,
                  "pattern 1, the reference of the comparison, takes no time: nothing is computed "
                  "or sent");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/aggregation-choice/paper", test_paper);
  g_test_add_func ("/aggregation-choice/choices", test_choices);
  g_test_add_func ("/aggregation-choice/assumptions", test_assumptions);
  g_test_add_func ("/aggregation-choice/fastest", test_fastest);
  g_test_add_func ("/aggregation-choice/references", test_references);
  return g_test_run ();
}
