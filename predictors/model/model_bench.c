/* model_bench.c - how long a large model takes to be written and read.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A thousand trees of 2,000 leaves: 20 bytes a node, a third more as base64.  Every character is
 * written once and looked at one by one by the JSON parser.  In processor time. */
#include "predictors/forest/friedman_testing.h"
#include "predictors/model/model.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <time.h>

enum { TREES = 1000, LEAVES = 2000 };

static PredictModel *
train (void)
{
  static const char *const features[] = { "x0", "x1", "x2", "x3", "x4", NULL };
  g_autoptr (PredictTable) table = friedman_table (1, LEAVES, 1);
  PredictRecipe recipe = { .features = features,
                           .target = "y",
                           .settings = predict_settings_default (PREDICT_EXTRA_TREES) };

  recipe.settings.trees = TREES;
  return predict_model_train (table, &recipe, NULL, NULL, NULL);
}

static double
cpu_seconds (void)
{
  struct timespec time;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

int
main (void)
{
  g_autoptr (PredictModel) model = train (), back = NULL;
  g_autofree char *path = NULL;
  FILE *out = fdopen (g_file_open_tmp ("model-bench-XXXXXX", &path, NULL), "w");
  double start = cpu_seconds (), written, end;
  GStatBuf file;

  if (!predict_model_write (model, out, NULL) || fclose (out) != 0)
    return EXIT_FAILURE;
  written = cpu_seconds ();
  back = predict_model_read (path, NULL);
  end = cpu_seconds ();
  g_stat (path, &file);
  g_unlink (path);
  g_print ("model of %d trees with %d leaves: %.1f MB, written in %.2f s, read in %.2f s\n", TREES,
           LEAVES, (double) file.st_size / 1e6, written - start, end - written);
  return back != NULL ? EXIT_SUCCESS : EXIT_FAILURE;
}
