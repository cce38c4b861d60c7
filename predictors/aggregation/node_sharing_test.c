/* node_sharing_test.c - the cost of sharing, worked by hand and at its limits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/aggregation/node_sharing.h"

#include "predictors/predict_error.h"

#include <math.h>

static void
assert_near (double found, double expected)
{
  g_assert_cmpfloat_with_epsilon (found, expected, 1e-12 * fmax (1, fabs (expected)));
}

/* All of the time at memory that takes as long as for one task: T is the share that is missed. */
static double
missed (double private_bytes, double cache_bytes, double working_set_bytes, double exponent)
{
  const PredictShare share = { private_bytes, cache_bytes, 1 };

  return predict_sharing_time (&share, &(PredictMemoryUse){ 1, working_set_bytes, exponent });
}

static void
test_missed (void)
{
  static const struct {
    double private_bytes, cache_bytes, working_set, exponent, missed;
  } cases[] = {
    /* A part of 4: (1/2 - 1/4) / (1 - 1/4), 1 - log 4 / log 16, (1/4 - 1/16) / (1 - 1/16). */
    { 1, 4, 16, 0.5, 1.0 / 3 },
    { 1, 4, 16, 0, 0.5 },
    { 1, 4, 16, 1, 0.2 },
    { 2, 8, 32, 0.5, 1.0 / 3 },
    /* Without an end of the working set a quarter of the misses needs 16 times the cache. */
    { 1, 16, INFINITY, 0.5, 0.25 },
    { 1, 16, 1e30, 0.5, 0.25 },
    { 1, 16, INFINITY, 0, 1 },
    { 1, 1, 16, 0.5, 1 },   /* nothing beyond the private cache */
    { 1, 0.1, 16, 0.5, 1 }, /* a part that is smaller than it */
    { 1, 16, 16, 0.5, 0 },  /* fits */
    { 1, 4, 0.5, 0.5, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_test_message ("%g of %g, exponent %g", cases[i].cache_bytes, cases[i].working_set,
                    cases[i].exponent);
    assert_near (missed (cases[i].private_bytes, cases[i].cache_bytes, cases[i].working_set,
                         cases[i].exponent),
                 cases[i].missed);
  }
  /* No jump where it fits, nor where the power law becomes the logarithm. */
  g_assert_cmpfloat (missed (1, 15.999, 16, 0.5), <, 1e-4);
  g_assert_cmpfloat_with_epsilon (missed (1, 3, 50, 1e-5), missed (1, 3, 50, 0), 1e-4);
}

/* More cache never misses more, a larger working set never less. */
static void
test_missed_is_monotonic (void)
{
  for (double exponent = 0; exponent <= 1; exponent += 0.25)
    for (double cache = 1; cache < 60; cache += 1) {
      g_assert_cmpfloat (missed (1, cache + 1, 50, exponent), <=, missed (1, cache, 50, exponent));
      g_assert_cmpfloat (missed (1, 10, cache + 1, exponent), >=, missed (1, 10, cache, exponent));
    }
}

/* Tasks take 6 GB/s each, of 12 GB/s or without a limit. */
static void
test_slowdown (void)
{
  const struct {
    const char *name;
    PredictShare shares[3];
    guint n;
    PredictShare reference;
    PredictMemoryUse use;
    double slowdown;
  } cases[] = {
    /* Four against one below a cache of 4: a part of 1 misses all and takes twice as long, one of 4
     * misses half. */
    { "four against one",
      { { 1, 1, predict_crowding (4, 6e9, 12e9) } },
      1,
      { 1, 4, predict_crowding (1, 6e9, 12e9) },
      { 0.6, INFINITY, 0.5 },
      (0.4 + 0.6 * 2) / (0.4 + 0.6 * 0.5) },
    { "against itself", { { 1, 4, 1 } }, 1, { 1, 4, 1 }, { 1, 100, 0.5 }, 1 },
    { "computes only", { { 1, 1, 7 } }, 1, { 1, 4, 1 }, { 0, 100, 0.5 }, 1 },
    { "endless bandwidth",
      { { 1, 1, predict_crowding (64, 6e9, INFINITY) } },
      1,
      { 1, 1, predict_crowding (1, 6e9, INFINITY) },
      { 1, 100, 0.5 },
      1 },
    { "fits", { { 1, 1, 7 } }, 1, { 1, 4, 1 }, { 1, 0.9, 0.5 }, 1 },
    /* No time at all is as fast as no time at all; any other time is beyond it. */
    { "no time", { { 1, 4, 1 } }, 1, { 1, 4, 1 }, { 1, 3, 0.5 }, 1 },
    { "against no time", { { 1, 2, 1 } }, 1, { 1, 4, 1 }, { 1, 3, 0.5 }, INFINITY },
    /* The slowest counts. */
    { "uneven",
      { { 1, 1, 1 }, { 1, 1, 3 }, { 1, 1, 2 } },
      3,
      { 1, 1, 1 },
      { 0.5, INFINITY, 0.5 },
      2 },
    /* Beside another thread: what is left of computation takes 1.6 times as long. */
    { "threads", { { 1, 4, 1, 0.6 } }, 1, { 1, 4, 1, 0 }, { 0, INFINITY, 0.5 }, 1.6 },
    { "threads at memory",
      { { 1, 1, 2, 0.6 } },
      1,
      { 1, 1, 1, 0 },
      { 0.5, INFINITY, 0.5 },
      0.5 * 1.6 + 0.5 * 2 },
    /* A saturated memory: slower in proportion to the tasks. */
    { "8 tasks",
      { { 1, 1, predict_crowding (8, 6e9, 12e9) } },
      1,
      { 1, 1, predict_crowding (4, 6e9, 12e9) },
      { 1, INFINITY, 0.5 },
      2 },
    { "64 tasks",
      { { 1, 1, predict_crowding (64, 6e9, 12e9) } },
      1,
      { 1, 1, predict_crowding (4, 6e9, 12e9) },
      { 1, INFINITY, 0.5 },
      16 },
  };
  const PredictShare share = { .private_bytes = 1, .cache_bytes = 4, .crowding = 3 };
  const PredictMemoryUse use = { 0.5, 16, 0.5 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    double slowdown = predict_sharing_slowdown (cases[i].shares, cases[i].n, &cases[i].reference, 1,
                                                &cases[i].use);

    g_test_message ("%s: %g", cases[i].name, slowdown);
    if (isinf (cases[i].slowdown) || cases[i].slowdown == 1)
      g_assert_cmpfloat (slowdown, ==, cases[i].slowdown);
    else
      assert_near (slowdown, cases[i].slowdown);
  }
  /* Half of the time at memory, a third of it missed, three times as long: 1/2 + 1/2 * 1/3 * 3. */
  assert_near (predict_sharing_time (&share, &use), 1);
}

/* Of 12 GB/s, two that take 5 GB/s each have enough, three do not. */
static void
test_crowding (void)
{
  static const struct {
    uint32_t n;
    double bandwidth, crowding;
  } cases[] = {
    { 1, 12e9, 1 }, { 2, 12e9, 1 }, { 3, 12e9, 1.25 }, { 6, 12e9, 2.5 }, { 100, INFINITY, 1 }
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_test_message ("%u tasks", cases[i].n);
    assert_near (predict_crowding (cases[i].n, 5e9, cases[i].bandwidth), cases[i].crowding);
  }
}

/* --- Memory shares that are known are found again --- */

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

/* Also ranks and densities that were not learned from. */
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
    for (uint32_t program = 0; program < N_PROGRAMS; program++) {
      const PredictTimedRun other = { .program = program, .ranks = 27, .share = { 1, 4, 5 } };

      g_assert_cmpfloat_with_epsilon (figures->memory_share[program], shares[program], 1e-5);
      g_assert_cmpfloat_with_epsilon (predict_node_time (figures, &other),
                                      time_by_hand (program, 27, 4, 5, overheads[at]), 1e-4);
    }
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

/* One count of ranks determines the shares alone, without an overhead. */
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
  g_test_add_func ("/predictors/node-sharing/missed", test_missed);
  g_test_add_func ("/predictors/node-sharing/missed-monotonic", test_missed_is_monotonic);
  g_test_add_func ("/predictors/node-sharing/crowding", test_crowding);
  g_test_add_func ("/predictors/node-sharing/slowdown", test_slowdown);
  g_test_add_func ("/predictors/node-learning/known-law", test_known_law);
  g_test_add_func ("/predictors/node-learning/order-of-programs", test_order_of_programs);
  g_test_add_func ("/predictors/node-learning/one-count-of-ranks", test_one_count_of_ranks);
  g_test_add_func ("/predictors/node-learning/undetermined", test_undetermined);
  return g_test_run ();
}
