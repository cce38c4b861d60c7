/* model_fuzz.c - any bytes as a model file.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A model that is read must predict without harm, and be written and read the same. */
#include ".ci/fuzzing.h"
#include "predictors/predict_error.h"
#include "predictors/forest/friedman_testing.h"
#include "predictors/model/model.h"

#include <string.h>

static const char *const words[] = {
  "null",
  "1e308",
  "-1",
  "\\\"linear\\\"",
  "\\\"svr\\\"",
  "\\\"mean\\\"",
  "\\\"forest\\\"",
  "\\\"nodes_of_trees\\\"",
  "\\\"scores\\\"",
  "\\\"collinear\\\"",
  "AAAA",
  "////",
  "AADAfw==",
  "9223372036854775807",
  NULL,
};

static char *
text_of (const PredictModel *model)
{
  char *text = NULL;
  gsize n;
  FILE *out = open_memstream (&text, &n);

  g_assert_true (predict_model_write (model, out, NULL));
  fclose (out);
  return text;
}

/* A small model of each method. */
static void
seed (FuzzSeeds *seeds)
{
  static const char *const features[] = { "x0", "x3", NULL };
  g_autoptr (PredictTable) table = friedman_table (1, 8, 1);

  for (guint method = 0; method < PREDICT_N_METHODS; method++) {
    PredictRecipe recipe = { .features = features,
                             .target = "y",
                             .settings = predict_settings_default ((PredictMethod) method),
                             .calibration_folds = 2,
                             .permutation_repeats = method == 0,
                             .trial = { .repeats = method < 2, .folds = 2 } };
    g_autofree char *text = NULL;
    g_autoptr (PredictModel) model = NULL;

    recipe.settings.trees = MIN (recipe.settings.trees, 2);
    model = predict_model_train (table, &recipe, NULL, NULL, NULL);
    text = text_of (model);
    fuzz_add_text (seeds, text);
  }
  fuzz_add_words (seeds, words);
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
  if (!predict_model_apply (model, table, 0.9, 1, &answer, &error))
    g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC);
}

static void
check_same (const PredictModel *model)
{
  g_autofree char *text = text_of (model), *again = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (PredictModel) back = NULL;

  back = predict_model_read (fuzz_file ((const uint8_t *) text, strlen (text)), &error);
  g_assert_no_error (error);
  again = text_of (back);
  g_assert_cmpstr (again, ==, text);
}

static void
check (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (PredictModel) model = NULL;

  model = predict_model_read (fuzz_file (data, size), &error);
  g_assert_true ((model == NULL) == (error != NULL));
  if (model == NULL)
    return;
  check_predicts (model);
  check_same (model);
}

const FuzzProgram fuzz_program = { NULL, seed, check };
