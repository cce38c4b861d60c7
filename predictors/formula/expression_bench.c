/* expression_bench.c - node evaluations per second of formulas.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * `make bench` runs it.  Random trees of the kind that evolution breeds, all operations of a set
 * equally often down to the fourth level, leaves below: two thirds variables, one third numbers.
 * A node is an operation or a leaf.  Each row is the fastest of several runs in processor time.
 *
 * The physical argument: a block of 256 points is 2 KiB a step; the few values that wait stay in
 * the first-level cache, two of them read and one written for each operation.  Leaves, half of the
 * nodes, are only pointed at.  The rest is arithmetic: a division makes four results in about
 * eight cycles, log and exp take some 30 operations each, a power both.  With few points an
 * operation costs its dispatch, a jump that is not foreseen. */
#include "predictors/formula/evaluate_blocks.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#define N_TREES     500u
#define MOST_STEPS  31u
#define MOST_POINTS 1000u
#define LEVELS      4u
#define RUNS        5u

typedef struct {
  const char *name;
  guint n;
  PredictOp ops[7];
} Set;

static const Set sets[] = {
  { "+ - * /", 4, { PREDICT_OP_ADD, PREDICT_OP_SUBTRACT, PREDICT_OP_MULTIPLY, PREDICT_OP_DIVIDE } },
  { "+ - * / log exp",
    6,
    { PREDICT_OP_ADD, PREDICT_OP_SUBTRACT, PREDICT_OP_MULTIPLY, PREDICT_OP_DIVIDE, PREDICT_OP_LOG,
      PREDICT_OP_EXP } },
  { "+ - * / ^ log exp",
    7,
    { PREDICT_OP_ADD, PREDICT_OP_SUBTRACT, PREDICT_OP_MULTIPLY, PREDICT_OP_DIVIDE, PREDICT_OP_POWER,
      PREDICT_OP_LOG, PREDICT_OP_EXP } },
};

typedef struct {
  PredictStep steps[N_TREES][MOST_STEPS];
  uint32_t n[N_TREES];
  uint64_t n_nodes;
  double x[3][MOST_POINTS];
  const double *columns[3];
  double values[MOST_POINTS], slopes[MOST_STEPS * MOST_POINTS];
  PredictWorkspace *workspace;
} Bench;

static void
grow (BaseRandom *random, const Set *set, guint level, PredictStep *steps, uint32_t *n)
{
  PredictStep step = { .op = (uint8_t) set->ops[base_random_below (random, set->n)] };

  if (level == 0) {
    step.op = base_random_below (random, 3) == 0 ? PREDICT_OP_CONSTANT : PREDICT_OP_VARIABLE;
    if (step.op == PREDICT_OP_CONSTANT)
      step.value = 0.5 + base_random_unit (random);
    else
      step.index = (int32_t) base_random_below (random, 3);
  }
  for (guint operand = 0; operand < predict_ops[step.op].n_operands; operand++)
    grow (random, set, level - 1, steps, n);
  steps[(*n)++] = step;
}

static void
bench_fill (Bench *bench, const Set *set)
{
  BaseRandom random = base_random_stream (1, set->n);

  bench->n_nodes = 0;
  for (guint tree = 0; tree < N_TREES; tree++) {
    bench->n[tree] = 0;
    grow (&random, set, LEVELS, bench->steps[tree], &bench->n[tree]);
    bench->n_nodes += bench->n[tree];
  }
  for (guint column = 0; column < 3; column++) {
    bench->columns[column] = bench->x[column];
    for (guint i = 0; i < MOST_POINTS; i++)
      bench->x[column][i] = 1 + base_random_unit (&random);
  }
}

static double
cpu_seconds (void)
{
  struct timespec time;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

static void
evaluate_all (Bench *bench, uint64_t n_points, bool derivatives)
{
  const PredictPoints points = { bench->columns, n_points };
  int32_t unknown[MOST_STEPS];

  for (guint tree = 0; tree < N_TREES; tree++) {
    PredictExpression expression = { bench->steps[tree], bench->n[tree] };
    uint32_t n;

    if (!derivatives) {
      predict_values (&expression, &points, NULL, bench->workspace, bench->values);
      continue;
    }
    n = predict_unknowns (&expression, 0, true, unknown);
    predict_derivatives (&expression, &points, NULL, unknown, n, bench->workspace, bench->values,
                         bench->slopes);
  }
}

/* Node evaluations per second. */
static double
measure (Bench *bench, uint64_t n_points, bool derivatives)
{
  guint n_rounds = (guint) (8000 / n_points) + 1;
  double best_s = INFINITY;

  for (guint run = 0; run < RUNS; run++) {
    double start_s = cpu_seconds ();

    for (guint round = 0; round < n_rounds; round++)
      evaluate_all (bench, n_points, derivatives);
    best_s = MIN (best_s, cpu_seconds () - start_s);
  }
  return (double) bench->n_nodes * (double) n_points * n_rounds / best_s;
}

/* The same with DEAP, where Python has it. */
static void
bench_deap (void)
{
  const char *top = g_getenv ("G_TEST_SRCDIR");
  g_autofree char *python = g_find_program_in_path ("/usr/bin/python3");
  g_autofree char *script = g_build_filename (top != NULL ? top : ".", "predictors", "formula",
                                              "expression_bench.py", NULL);
  const char *arguments[] = { python, script, NULL };
  int status = 0;

  fflush (stdout);
  if (python == NULL ||
      !g_spawn_sync (NULL, (char **) arguments, NULL, G_SPAWN_CHILD_INHERITS_STDIN, NULL, NULL,
                     NULL, NULL, &status, NULL) ||
      status != 0)
    printf ("DEAP: skipped, python3-deap is not installed\n");
}

int
main (void)
{
  static const guint n_points[] = { 16, 32, 1000 };
  g_autofree Bench *bench = g_new0 (Bench, 1);

  printf (
      "formulas, one core: node evaluations per second, fastest of %u runs\n"
      "leaves cost nothing; an operation reads and writes the first-level cache and is bound by "
      "its arithmetic,\nwith few points by its dispatch\n%-20s %6s %6s %12s %16s\n",
      RUNS, "operations", "nodes", "points", "values", "and derivatives");
  bench->workspace = predict_workspace_new ();
  for (guint set = 0; set < G_N_ELEMENTS (sets); set++) {
    bench_fill (bench, &sets[set]);
    for (guint at = 0; at < G_N_ELEMENTS (n_points); at++)
      printf ("%-20s %6.1f %6u %12.3g %16.3g\n", sets[set].name, (double) bench->n_nodes / N_TREES,
              n_points[at], measure (bench, n_points[at], false),
              measure (bench, n_points[at], true));
  }
  predict_workspace_free (bench->workspace);
  bench_deap ();
  return 0;
}
