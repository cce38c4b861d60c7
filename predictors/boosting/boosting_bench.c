/* boosting_bench.c - how fast boosting learns, beside scikit-learn.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * `make bench` runs it.  Both sides fit the same tables in processes of their own, by turns, so that both meet
 * the machine in the same state; figures are medians, ratios those of the turns.  A round reads each
 * sample at each level of its tree once per feature, or its sibling does: about rows x features x levels / 2
 * additions of 16 bytes in a histogram of 4 KB, which stays in the first cache. */
#include "predictors/boosting/boosting.h"
#include "predictors/forest/friedman_testing.h"
#include "predictors/scoring/scores.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  guint n, features, threads, runs;
} Case;

#define TURNS 5u

static const Case cases[] = {
  { 56, 10, 1, 5 },   { 336, 10, 1, 5 },    { 2016, 30, 1, 2 },
  { 2016, 30, 2, 2 }, { 100000, 30, 1, 1 }, { 100000, 30, 2, 1 },
};

typedef struct {
  double fit_s, rmse;
} Figures;

/* Our side, in a process of its own. */
static void
fit_here (const Case *it)
{
  g_autoptr (PredictSamples) samples = friedman_samples (it->n, it->features, 1);
  PredictSettings settings = predict_settings_default (PREDICT_BOOSTING);
  g_autofree double *predicted = g_new (double, it->n), *fit_s = g_new (double, it->runs);

  settings.threads = it->threads;
  settings.min_samples_leaf = 20;
  settings.early_stopping = PREDICT_STOPPING_OFF;
  for (guint run = 0; run < it->runs; run++) {
    gint64 start_us = g_get_monotonic_time ();
    g_autoptr (PredictBoosting) boosting =
        predict_boosting_fit (samples, &settings, NULL, NULL, NULL);

    fit_s[run] = (double) (g_get_monotonic_time () - start_us) * 1e-6;
    predict_boosting_predict (boosting, samples, it->threads, predicted);
  }
  qsort (fit_s, it->runs, sizeof *fit_s, predict_compare_values);
  printf ("%g %.9f\n", (fit_s[it->runs / 2] + fit_s[(it->runs - 1) / 2]) / 2,
          predict_score (samples->y, predicted, it->n).rmse);
}

/* The figures that a command prints; FALSE: it failed. */
static gboolean
figures_of (const char *command, guint threads, Figures *figures)
{
  g_auto (GStrv) environment = g_get_environ ();
  g_autofree char *number = g_strdup_printf ("%u", threads), *printed = NULL;
  g_auto (GStrv) arguments = NULL;
  int status = 1;

  environment = g_environ_setenv (environment, "OMP_NUM_THREADS", number, TRUE);
  return g_shell_parse_argv (command, NULL, &arguments, NULL) &&
         g_spawn_sync (NULL, arguments, environment, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                       &printed, NULL, &status, NULL) &&
         status == 0 && sscanf (printed, "%lf %lf", &figures->fit_s, &figures->rmse) == 2;
}

static void
compare_case (const char *program, const char *script, const char *folder, const Case *it)
{
  g_autoptr (PredictSamples) samples = friedman_samples (it->n, it->features, 1);
  g_autofree char *x = g_build_filename (folder, "x", NULL);
  g_autofree char *y = g_build_filename (folder, "y", NULL);
  g_autofree char *here =
      g_strdup_printf ("'%s' fit %u %u %u %u", program, it->n, it->features, it->threads, it->runs);
  g_autofree char *there = g_strdup_printf ("/usr/bin/python3 '%s' time '%s' %u %u %u", script,
                                            folder, it->n, it->features, it->runs);
  double ours[TURNS], theirs[TURNS], ratio[TURNS];
  Figures of_us = { 0 }, of_peer = { 0 };
  gboolean both = TRUE;

  if (!g_file_set_contents (x, (const char *) samples->x,
                            (gssize) ((gsize) it->n * it->features * sizeof (float)), NULL) ||
      !g_file_set_contents (y, (const char *) samples->y, (gssize) (it->n * sizeof (double)), NULL))
    g_error ("cannot write to %s", folder);
  for (guint turn = 0; turn < TURNS; turn++) {
    if (!figures_of (here, it->threads, &of_us))
      g_error ("%s fails", program);
    both = both && figures_of (there, it->threads, &of_peer);
    ours[turn] = of_us.fit_s;
    theirs[turn] = of_peer.fit_s;
    ratio[turn] = of_peer.fit_s / of_us.fit_s;
  }
  qsort (ours, TURNS, sizeof *ours, predict_compare_values);
  qsort (theirs, TURNS, sizeof *theirs, predict_compare_values);
  qsort (ratio, TURNS, sizeof *ratio, predict_compare_values);
  printf ("%6u x %2u, 100 trees, %u thread%s fit %8.4f s, rmse %.4f; scikit-learn ", it->n,
          it->features, it->threads, it->threads == 1 ? ": " : "s:", ours[TURNS / 2], of_us.rmse);
  if (both)
    printf ("%8.4f s (%.2f x; %.2f to %.2f), rmse %.4f\n", theirs[TURNS / 2], ratio[TURNS / 2],
            ratio[0], ratio[TURNS - 1], of_peer.rmse);
  else
    printf ("skipped\n");
  g_unlink (x);
  g_unlink (y);
}

int
main (int argc, char **argv)
{
  const char *root = g_getenv ("G_TEST_SRCDIR");
  g_autofree char *script = g_build_filename (root != NULL ? root : ".", "predictors", "boosting",
                                              "boosting_peers.py", NULL);
  g_autofree char *folder = NULL;

  if (argc == 6 && strcmp (argv[1], "fit") == 0) {
    fit_here (&(Case){ (guint) atoi (argv[2]), (guint) atoi (argv[3]), (guint) atoi (argv[4]),
                       (guint) atoi (argv[5]) });
    return 0;
  }
  setvbuf (stdout, NULL, _IOLBF, 0); /* each row as soon as it is known */
  printf ("boosting, at least 20 samples a leaf; ours beside scikit-learn, medians of %u turns\n",
          TURNS);
  folder = g_dir_make_tmp ("hopcast-bench-XXXXXX", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    compare_case (argv[0], script, folder, &cases[i]);
  g_rmdir (folder);
  return 0;
}
