/* model_fuzz.c - any bytes as a model file.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What is read as a model must predict without harm, and be written and read the same. */
#include "predictors/friedman.h"
#include "predictors/model.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize (int *argc, char ***argv);
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static char *path; /* of the input, as a file */

static const char words[] =
    "\"null\"\n\"1e308\"\n\"-1\"\n\"\\\"linear\\\"\"\n\"\\\"svr\\\"\"\n\"\\\"mean\\\"\"\n"
    "\"\\\"forest\\\"\"\n\"\\\"nodes_of_trees\\\"\"\n\"\\\"scores\\\"\"\n\"\\\"collinear\\\"\"\n"
    "\"AAAA\"\n\"////\"\n\"AADAfw==\"\n\"9223372036854775807\"\n";

static char *
text_of (const PredictModel *model)
{
  char *text = NULL;
  gsize n;
  FILE *out = open_memstream (&text, &n);

  predict_model_write (model, out);
  fclose (out);
  return text;
}

/* A small model of each method. */
static void
write_seeds (const char *folder)
{
  static const char *const features[] = { "x0", "x3", NULL };
  g_autofree char *dictionary = g_strconcat (folder, ".dict", NULL);
  g_autoptr (PredictTable) table = friedman_table (1, 8, 1);

  for (guint method = 0; method < PREDICT_N_METHODS; method++) {
    PredictRecipe recipe = { .features = features,
                             .target = "y",
                             .settings = predict_settings_default ((PredictMethod) method),
                             .calibration_folds = 2,
                             .permutation_repeats = method == 0,
                             .trial = { .repeats = method < 2, .folds = 2 } };
    g_autofree char *seed = g_strdup_printf ("%s/seed-%02u", folder, method), *text = NULL;
    g_autoptr (PredictModel) model = NULL;

    recipe.settings.trees = MIN (recipe.settings.trees, 2);
    model = predict_model_train (table, &recipe, NULL, NULL, NULL);
    text = text_of (model);
    g_assert_true (g_file_set_contents (seed, text, -1, NULL));
  }
  g_assert_true (g_file_set_contents (dictionary, words, -1, NULL));
}

static void
remove_input (void)
{
  g_unlink (path);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  const char *folder = g_getenv ("FUZZ_SEEDS");

  (void) argc, (void) argv;
  if (folder != NULL) {
    write_seeds (folder);
    exit (0);
  }
  g_close (g_file_open_tmp ("model-fuzz-XXXXXX", &path, NULL), NULL);
  atexit (remove_input);
  return 0;
}

static void
check_predicts (const PredictModel *model)
{
  static const double values[] = { 0, 0.75, -1e30 };
  g_autoptr (PredictTable) table = predict_table_new ("fuzz", G_N_ELEMENTS (values));
  g_auto (PredictAnswer) answer = { 0 };
  g_autoptr (GError) error = NULL;

  for (guint i = 0; model->features[i] != NULL; i++)
    predict_table_take_numbers (table, model->features[i], NULL, g_memdup2 (values, sizeof values));
  g_assert_true (predict_model_apply (model, table, 0.9, 1, &answer, &error));
  g_assert_no_error (error);
}

static void
check_same (const PredictModel *model)
{
  g_autofree char *text = text_of (model), *again = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (PredictModel) back = NULL;

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  back = predict_model_read (path, &error);
  g_assert_no_error (error);
  again = text_of (back);
  g_assert_cmpstr (again, ==, text);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (PredictModel) model = NULL;
  FILE *file = g_fopen (path, "wb");

  g_assert_true (file != NULL && fwrite (data, 1, size, file) == size && fclose (file) == 0);
  model = predict_model_read (path, &error);
  g_assert_true ((model == NULL) == (error != NULL));
  if (model == NULL)
    return 0;
  check_predicts (model);
  check_same (model);
  return 0;
}
