/* forest_bench.c - how fast trees grow and predict, beside scikit-learn.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * `make bench` runs it without arguments.  Both sides learn the same table, each in a
 * process of its own, by turns, so that both meet the machine in the same state and the peak
 * of memory is that of one fit.  Scikit-learn's includes its interpreter; figures are medians.
 *
 * The physical argument: a node reads each of its samples twice, once for the ranges and once
 * for the sums, one cache line for sixteen features, and 16 bytes of index and target
 * each time; a third pass divides them.  A sample that comes by d nodes so costs about
 * d (2 lines (f / 16) + 1) lines.  As long as the rows fit in the second-level cache that
 * is compute: one comparison and two additions of vectors for sixteen features; beyond, rows are
 * fetched eight ahead.  Half of all nodes have two or three samples, where drawing and weighing
 * sixteen cuts costs more than reading.  A prediction is a walk: 12 bytes a node, of
 * which the lower half of the way is not in the cache; rows are divided among the
 * branches first, so that those that go on together read the same lines. */
#include "predictors/forest/forest.h"
#include "predictors/forest/friedman_testing.h"
#include "predictors/scoring/scores.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

typedef struct {
  uint64_t n;
  guint features, trees, threads;
  guint turns; /* of both sides */
  guint runs;  /* within each process */
} Case;

/* The small table is fitted often enough for the clock; scikit-learn's fits of the others take from
 * five seconds to a minute each, and so one is enough. */
static const Case cases[] = {
  { 336, 10, 100, 1, 5, 5 },   { 336, 10, 100, 2, 5, 5 },    { 2016, 30, 1000, 1, 1, 1 },
  { 2016, 30, 1000, 2, 1, 1 }, { 100000, 30, 100, 1, 1, 1 }, { 100000, 30, 100, 2, 1, 1 },
};

typedef struct {
  double fit_s, predict_s, peak_bytes, r2;
} Figures;

static int
compare (const void *left, const void *right)
{
  double a = *(const double *) left, b = *(const double *) right;

  return (a > b) - (a < b);
}

static double
median (double *values, guint n)
{
  qsort (values, n, sizeof *values, compare);
  return (values[n / 2] + values[(n - 1) / 2]) / 2;
}

/* --- Our side, in a process of its own --- */

static double
seconds_since (gint64 start_us)
{
  return (double) (g_get_monotonic_time () - start_us) * 1e-6;
}

static void
fit_here (const Case *it)
{
  PredictSamples *samples = friedman_samples (it->n, it->features, 1);
  PredictSettings settings = predict_settings_default (PREDICT_EXTRA_TREES);
  g_autofree double *predicted = g_new (double, it->n), *fit_s = g_new (double, it->runs);
  g_autofree double *predict_s = g_new (double, it->runs);
  struct rusage usage;

  settings.trees = it->trees;
  settings.threads = it->threads;
  for (guint run = 0; run < it->runs; run++) {
    gint64 start_us = g_get_monotonic_time ();
    PredictForest *forest = predict_forest_fit (samples, &settings, NULL, NULL, NULL);

    fit_s[run] = seconds_since (start_us);
    start_us = g_get_monotonic_time ();
    predict_forest_predict (forest, samples, it->threads, predicted, NULL);
    predict_s[run] = seconds_since (start_us);
    predict_forest_free (forest);
  }
  getrusage (RUSAGE_SELF, &usage);
  printf ("%g %g %g %.9f\n", median (fit_s, it->runs), median (predict_s, it->runs),
          (double) usage.ru_maxrss * 1024, predict_score (samples->y, predicted, it->n).r2);
  predict_samples_free (samples);
}

/* --- Both sides --- */

/* The last line that a program prints; FALSE: it failed. */
static gboolean
figures_of (const char *const *arguments, const Case *it, Figures *figures)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *printed = NULL;
  int status = 1;

  for (; *arguments; arguments++)
    g_ptr_array_add (words, g_strdup (*arguments));
  g_ptr_array_add (words, g_strdup_printf ("%" G_GUINT64_FORMAT, it->n));
  g_ptr_array_add (words, g_strdup_printf ("%u", it->features));
  g_ptr_array_add (words, g_strdup_printf ("%u", it->trees));
  g_ptr_array_add (words, g_strdup_printf ("%u", it->threads));
  g_ptr_array_add (words, g_strdup_printf ("%u", it->runs));
  g_ptr_array_add (words, NULL);
  return g_spawn_sync (NULL, (char **) words->pdata, NULL,
                       G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &printed, NULL,
                       &status, NULL) &&
         status == 0 &&
         sscanf (printed, "%lf %lf %lf %lf", &figures->fit_s, &figures->predict_s,
                 &figures->peak_bytes, &figures->r2) == 4;
}

static Figures
medians (const Figures *figures, guint n)
{
  double fit_s[8], predict_s[8], peak_bytes[8];

  for (guint i = 0; i < n; i++) {
    fit_s[i] = figures[i].fit_s;
    predict_s[i] = figures[i].predict_s;
    peak_bytes[i] = figures[i].peak_bytes;
  }
  return (Figures){ median (fit_s, n), median (predict_s, n), median (peak_bytes, n),
                    figures[0].r2 };
}

/* The table as scikit-learn's side reads it: single precision by columns, then the target. */
static void
table_write (const char *folder, const Case *it)
{
  PredictSamples *samples = friedman_samples (it->n, it->features, 1);
  g_autofree char *x = g_build_filename (folder, "x", NULL);
  g_autofree char *y = g_build_filename (folder, "y", NULL);

  if (!g_file_set_contents (x, (const char *) samples->x,
                            (gssize) (it->n * it->features * sizeof (float)), NULL) ||
      !g_file_set_contents (y, (const char *) samples->y, (gssize) (it->n * sizeof (double)), NULL))
    g_error ("cannot write to %s", folder);
  predict_samples_free (samples);
}

static void
row_print (const Case *it, Figures ours, const Figures *theirs)
{
  printf ("%6" G_GUINT64_FORMAT " x %2u, %4u trees, %u thread%s fit %8.4f s %7.0f trees/s, predict"
          " %8.5f s %6.1f ns/row/tree, %6.1f MB",
          it->n, it->features, it->trees, it->threads, it->threads == 1 ? ": " : "s:", ours.fit_s,
          it->trees / ours.fit_s, ours.predict_s, ours.predict_s * 1e9 / (double) it->n / it->trees,
          ours.peak_bytes * 1e-6);
  if (theirs)
    printf ("; scikit-learn fit %8.4f s (%.1f x), predict %8.5f s (%.1f x), %6.1f MB (%.2f)",
            theirs->fit_s, theirs->fit_s / ours.fit_s, theirs->predict_s,
            theirs->predict_s / ours.predict_s, theirs->peak_bytes * 1e-6,
            ours.peak_bytes / theirs->peak_bytes);
  else
    printf ("; scikit-learn: skipped");
  printf ("\n");
}

static void
compare_case (const char *program, const char *script, const char *folder, const Case *it)
{
  const char *const here[] = { program, "fit", NULL };
  const char *const there[] = { "/usr/bin/python3", script, folder, NULL };
  Figures ours[8], theirs[8];
  gboolean both = TRUE;

  table_write (folder, it);
  for (guint turn = 0; turn < it->turns; turn++) {
    if (!figures_of (here, it, &ours[turn]))
      g_error ("%s fails", program);
    both = both && figures_of (there, it, &theirs[turn]);
  }
  if (both) {
    Figures there_all = medians (theirs, it->turns);

    row_print (it, medians (ours, it->turns), &there_all);
  } else
    row_print (it, medians (ours, it->turns), NULL);
}

static void
compare_all (const char *program)
{
  const char *root = g_getenv ("G_TEST_SRCDIR");
  g_autofree char *script =
      g_build_filename (root ? root : ".", "predictors", "forest", "forest_bench.py", NULL);
  g_autofree char *folder = g_dir_make_tmp ("hopcast-bench-XXXXXX", NULL);

  printf (
      "extra-trees, all features tried; ours beside scikit-learn, medians of turns\n"
      "a node reads a sample's 16 features as one line, twice, and 16 bytes of index and target;"
      " a walk reads 12 bytes a node\n");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    compare_case (program, script, folder, &cases[i]);
  for (guint i = 0; i < 2; i++) {
    g_autofree char *path = g_build_filename (folder, i == 0 ? "x" : "y", NULL);

    g_unlink (path);
  }
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  if (argc == 7 && strcmp (argv[1], "fit") == 0) {
    Case it = { .n = strtoull (argv[2], NULL, 10),
                .features = (guint) atoi (argv[3]),
                .trees = (guint) atoi (argv[4]),
                .threads = (guint) atoi (argv[5]),
                .runs = (guint) atoi (argv[6]) };

    fit_here (&it);
    return 0;
  }
  setvbuf (stdout, NULL, _IOLBF, 0); /* each row as soon as it is known */
  compare_all (argv[0]);
  return 0;
}
