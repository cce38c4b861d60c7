/* model_fixture.c - see model_fixture.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/model/model_fixture.h"

#include <glib/gstdio.h>

const char *const model_features[] = { "x0", "x1", "x2", "x3", NULL };

PredictRecipe
model_recipe (PredictMethod method)
{
  PredictRecipe recipe = { .features = model_features,
                           .target = "y",
                           .settings = predict_settings_default (method),
                           .calibration_folds = 10 };

  recipe.settings.trees = MIN (recipe.settings.trees, 10);
  return recipe;
}

PredictModel *
model_train (const PredictTable *table, const PredictRecipe *recipe)
{
  g_autoptr (GError) error = NULL;
  PredictModel *model = predict_model_train (table, recipe, NULL, NULL, &error);

  g_assert_no_error (error);
  return model;
}

char *
model_text (const PredictModel *model)
{
  char *text = NULL;
  gsize n;
  FILE *out = open_memstream (&text, &n);

  g_assert_true (predict_model_write (model, out, NULL));
  fclose (out);
  return text;
}

PredictModel *
model_read_text (const char *text, gssize n, GError **error)
{
  g_autofree char *path = NULL;
  PredictModel *model;

  g_close (g_file_open_tmp ("hopcast-model-XXXXXX", &path, NULL), NULL);
  g_assert_true (g_file_set_contents (path, text, n, NULL));
  model = predict_model_read (path, error);
  g_unlink (path);
  return model;
}

PredictAnswer
model_apply (const PredictModel *model, const PredictTable *table, double level)
{
  g_autoptr (GError) error = NULL;
  PredictAnswer answer = { 0 };

  predict_model_apply (model, table, level, 1, &answer, &error);
  g_assert_no_error (error);
  return answer;
}
