/* node_learning_test.c - memory shares that are known are found again.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/aggregation/node_learning.h"

#include "predictors/predict_error.h"

#include <math.h>

#define N_PROGRAMS 3
#define N_RUNS     (N_PROGRAMS * 4)

static const PredictNodeAssumptions assumptions = {
  .footprint_bytes = 1600, .reuse_exponent = 0.5, .growth = 1.0 / 3, .with_overhead = true
};
static const char *const names[N_PROGRAMS] = { "bt", "lu", "sp" };
static const double shares[N_PROGRAMS] = { 0, 0.3, 0.75 };

/* Written out, not by the functions under test.  Private 1; with 8 ranks a working set of 200, with 64
 * one of 25. */
static double
slow_by_hand (double ranks, double cache, double crowding)
{
  double tail = 1 / sqrt (1600 / ranks);

  return crowding * (1 / sqrt (cache) - tail) / (1 - tail);
}

static double
time_by_hand (uint32_t program, double ranks, double cache, double crowding, double overhead)
{
  double m = shares[program];

  return (1 - m + m * slow_by_hand (ranks, cache, crowding)) /
             (1 - m + m * slow_by_hand (8, 16, 1)) +
         overhead * cbrt (ranks / 8);
}

/* Sparse and dense, with 8 and 64 ranks; each program has a work of its own. */
static void
make_runs (PredictTimedRun runs[N_RUNS], double overhead)
{
  for (uint32_t at = 0; at < N_RUNS; at++) {
    bool dense = at % 2 == 1;
    PredictTimedRun run = { .program = at / 4,
                            .ranks = at % 4 < 2 ? 8 : 64,
                            .share = { 1, dense ? 8 : 16, dense ? 2.5 : 1 } };

    run.seconds =
        (100 + 50 * run.program) / run.ranks *
        time_by_hand (run.program, run.ranks, run.share.cache_bytes, run.share.crowding, overhead);
    runs[at] = run;
  }
}

static PredictNodeFigures *
learn (const PredictTimedRun *runs, uint32_t n, const PredictNodeAssumptions *how)
{
  g_autoptr (GError) error = NULL;
  PredictNodeFigures *figures = predict_node_learn (runs, n, names, N_PROGRAMS, how, &error);

  g_assert_no_error (error);
  return figures;
}

static void
test_known_law (void)
{
  static const double overheads[] = { 0, 0.2, 1.5 };

  for (gsize at = 0; at < G_N_ELEMENTS (overheads); at++) {
    PredictTimedRun runs[N_RUNS];
    g_autoptr (PredictNodeFigures) figures = NULL;

    make_runs (runs, overheads[at]);
    figures = learn (runs, N_RUNS, &assumptions);
    g_assert_cmpfloat_with_epsilon (figures->overhead, overheads[at], 1e-5);
    g_assert_cmpfloat (figures->log_rms, <, 1e-6);
    for (uint32_t program = 0; program < N_PROGRAMS; program++)
      g_assert_cmpfloat_with_epsilon (figures->memory_share[program], shares[program], 1e-5);
  }
}

/* Ranks and densities that were not learned from. */
static void
test_predicts (void)
{
  PredictTimedRun runs[N_RUNS];
  g_autoptr (PredictNodeFigures) figures = NULL;

  make_runs (runs, 0.2);
  figures = learn (runs, N_RUNS, &assumptions);
  for (uint32_t program = 0; program < N_PROGRAMS; program++) {
    const PredictTimedRun run = { .program = program, .ranks = 27, .share = { 1, 4, 5 } };

    g_assert_cmpfloat_with_epsilon (predict_node_time (figures, &run),
                                    time_by_hand (program, 27, 4, 5, 0.2), 1e-4);
  }
}

/* The first run of a program is its origin, wherever it stands. */
static void
test_order_of_programs (void)
{
  PredictTimedRun runs[N_RUNS], turned[N_RUNS];
  g_autoptr (PredictNodeFigures) figures = NULL, again = NULL;

  make_runs (runs, 0.2);
  for (uint32_t at = 0; at < N_RUNS; at++)
    turned[at] = runs[(at % N_PROGRAMS) * 4 + at / N_PROGRAMS];
  figures = learn (runs, N_RUNS, &assumptions);
  again = learn (turned, N_RUNS, &assumptions);
  for (uint32_t program = 0; program < N_PROGRAMS; program++)
    g_assert_cmpfloat_with_epsilon (figures->memory_share[program], again->memory_share[program],
                                    1e-6);
}

/* One count of ranks tells the shares alone: what is wrong by an overhead that is not asked for. */
static void
test_one_count_of_ranks (void)
{
  PredictNodeAssumptions alone = assumptions;
  PredictTimedRun runs[N_RUNS], few[N_PROGRAMS * 2];
  g_autoptr (PredictNodeFigures) figures = NULL;

  alone.with_overhead = false;
  make_runs (runs, 0);
  for (uint32_t at = 0; at < G_N_ELEMENTS (few); at++)
    few[at] = runs[at / 2 * 4 + at % 2];
  figures = learn (few, G_N_ELEMENTS (few), &alone);
  g_assert_cmpfloat (figures->overhead, ==, 0);
  for (uint32_t program = 0; program < N_PROGRAMS; program++)
    g_assert_cmpfloat_with_epsilon (figures->memory_share[program], shares[program], 1e-5);
}

static void
assert_refused (const PredictTimedRun *runs, uint32_t n, const char *pattern)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (predict_node_learn (runs, n, names, N_PROGRAMS, &assumptions, &error));
  g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC);
  g_assert_true (g_pattern_match_simple (pattern, error->message));
}

/* A program that always ran as densely; none with a second count of ranks; a program without runs. */
static void
test_undetermined (void)
{
  PredictTimedRun runs[N_RUNS], few[N_PROGRAMS * 2];

  make_runs (runs, 0);
  for (uint32_t at = 0; at < G_N_ELEMENTS (few); at++)
    few[at] = runs[at / 2 * 4 + at % 2];
  assert_refused (few, G_N_ELEMENTS (few), "the overhead needs runs of different ranks*");
  assert_refused (runs, 8, "sp: no two runs*");
  for (uint32_t at = 4; at < 8; at++)
    runs[at].share = runs[4].share;
  assert_refused (runs, N_RUNS, "lu: no two runs*");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/node-learning/known-law", test_known_law);
  g_test_add_func ("/predictors/node-learning/predicts", test_predicts);
  g_test_add_func ("/predictors/node-learning/order-of-programs", test_order_of_programs);
  g_test_add_func ("/predictors/node-learning/one-count-of-ranks", test_one_count_of_ranks);
  g_test_add_func ("/predictors/node-learning/undetermined", test_undetermined);
  return g_test_run ();
}
