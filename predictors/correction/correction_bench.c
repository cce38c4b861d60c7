/* correction_bench.c - how long it takes to mend a model as the paper does.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * `make bench` runs it.  One trial of 3,000 formulas and 100 generations on 16 points (EVH1's
 * reconstructed model, a planted term, noise) on one thread, each case; then one of the best mode.
 * Beside it DEAP, with trees of the same functions and size, compiled and given numpy's arrays;
 * it has no genetic algorithm for the parameters, and so does case 2.  Seconds are processor time.
 *
 * The physical argument: a formula on 16 points is two vectors of eight a step; an operation
 * costs its dispatch, a jump that is not foreseen, and with log, exp or a power some hundred
 * cycles.  A tree of 127 steps is 2 KiB: crossing two of them copies as much again from the
 * second-level cache.  3,000 x 100 trees of some 60 steps are 2e7 steps. */
#include "predictors/correction/correction.h"

#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#define N_POINTS         16u
#define RUNS             3u
#define MOST_SECONDS     2.0 /* that a run may take */
#define DEAP_GENERATIONS "5"

typedef struct {
  PredictBaseModel *model;
  double variables[3][N_POINTS]; /* T, nx, np */
  double time[N_POINTS], observed[N_POINTS];
  const double *columns[3];
  PredictRange box[3];
  PredictCorrectionData data;
} Bench;

static void
bench_init (Bench *bench, const char *top)
{
  static const double T[] = { 0.02, 0.05, 0.1 }, np[] = { 4, 16, 64, 128 };
  g_autofree char *path =
      g_build_filename (top, "doc", "examples", "models", "evh1-r1.model", NULL);
  g_autoptr (GError) error = NULL;
  BaseRandom random = base_random_stream (1, 0);

  if (!(bench->model = predict_base_model_read (path, &error)))
    g_error ("%s", error->message);
  for (guint i = 0; i < N_POINTS; i++) {
    bench->variables[0][i] = T[i % 3];
    bench->variables[1][i] = 128 << i % 4;
    bench->variables[2][i] = np[i / 4];
  }
  for (guint column = 0; column < 3; column++) {
    bench->columns[column] = bench->variables[column];
    bench->box[column] = predict_range (INFINITY, -INFINITY);
    for (guint i = 0; i < N_POINTS; i++) {
      bench->box[column].low = MIN (bench->box[column].low, bench->variables[column][i]);
      bench->box[column].high = MAX (bench->box[column].high, bench->variables[column][i]);
    }
  }
  bench->data = (PredictCorrectionData){ .model = bench->model,
                                         .train = { bench->columns, N_POINTS },
                                         .train_observed = bench->observed,
                                         .box = bench->box };
  {
    g_autofree double *given = predict_base_model_values (bench->model);
    g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();

    predict_values (bench->model->time, &bench->data.train, given, workspace, bench->time);
  }
  for (guint i = 0; i < N_POINTS; i++)
    bench->observed[i] = (bench->time[i] + 0.08 * bench->variables[0][i] *
                                               pow (MAX (bench->variables[2][i] - 32, 0), 1.6)) *
                         (0.97 + 0.06 * base_random_unit (&random));
}

static double
cpu_seconds (void)
{
  struct timespec time;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

/* The fastest of RUNS, and the training loss of the last. */
static double
measure (const Bench *bench, const PredictCorrectionSettings *settings, double *loss)
{
  double least_s = INFINITY;

  for (guint run = 0; run < RUNS; run++) {
    double start_s = cpu_seconds ();
    g_autoptr (GError) error = NULL;
    g_autoptr (PredictCorrection) correction =
        predict_correct (&bench->data, settings, NULL, NULL, &error);

    least_s = MIN (least_s, cpu_seconds () - start_s);
    if (correction == NULL)
      g_error ("%s", error->message);
    *loss = correction->trials[0].loss;
  }
  return least_s;
}

static void
bench_mode (const Bench *bench, PredictCorrectionMode mode, const char *name)
{
  PredictCorrectionSettings settings = predict_correction_settings (mode);

  settings.n_trials = 1;
  for (settings.number = 1; settings.number <= 4; settings.number++) {
    double loss, seconds = measure (bench, &settings, &loss);

    printf ("%-6s %4u %6u x %3u %10.3f %12.3g %10.3g%s\n", name, settings.number,
            settings.population, settings.generations, seconds,
            (double) settings.population * (settings.generations + 1) / seconds, loss,
            seconds > MOST_SECONDS ? "  slower than 2 s" : "");
  }
}

/* The same points with DEAP, where Python has it. */
static void
bench_deap (const Bench *bench, const char *top)
{
  g_autofree char *python = g_find_program_in_path ("/usr/bin/python3");
  g_autofree char *script =
      g_build_filename (top, "predictors", "correction", "correction_bench.py", NULL);
  g_autofree char *folder = g_dir_make_tmp ("hopcast-bench-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "points", NULL);
  const char *arguments[] = { python, script, path, DEAP_GENERATIONS, NULL };
  FILE *points = g_fopen (path, "w");
  int status = 0;

  if (points == NULL)
    g_error ("cannot write %s", path);
  for (guint i = 0; i < N_POINTS; i++)
    fprintf (points, "%.17g %.17g %.17g %.17g %.17g\n", bench->variables[0][i],
             bench->variables[1][i], bench->variables[2][i], bench->time[i], bench->observed[i]);
  fclose (points);
  fflush (stdout);
  if (python == NULL ||
      !g_spawn_sync (NULL, (char **) arguments, NULL, G_SPAWN_CHILD_INHERITS_STDIN, NULL, NULL,
                     NULL, NULL, &status, NULL) ||
      status != 0)
    printf ("DEAP: skipped, python3-deap is not installed\n");
  g_unlink (path);
  g_rmdir (folder);
}

int
main (void)
{
  const char *top = g_getenv ("G_TEST_SRCDIR") ? g_getenv ("G_TEST_SRCDIR") : ".";
  g_autofree Bench *bench = g_new0 (Bench, 1);

  bench_init (bench, top);
  printf (
      "mending a model, %u points, one trial on one core: the fastest of %u runs\n"
      "a step of a formula costs its dispatch and two vectors, a child two trees of up to 2 KiB "
      "that are copied\n%-6s %4s %12s %10s %12s %10s\n",
      N_POINTS, RUNS, "mode", "case", "formulas", "seconds", "formulas/s", "loss");
  bench_mode (bench, PREDICT_CORRECTION_PAPER, "paper");
  bench_mode (bench, PREDICT_CORRECTION_BEST, "best");
  bench_deap (bench, top);
  predict_base_model_free (bench->model);
  return 0;
}
