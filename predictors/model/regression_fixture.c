/* regression_fixture.c - sets of numbers that other programs have learned from too.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/model/regression_fixture.h"

#include ".ci/test_data.h"

char *
regression_path (const char *name)
{
  g_autofree char *in_data = g_build_filename ("extratrees", name, NULL);

  return test_data (in_data);
}

PredictTable *
regression_table (const char *name, const char *part)
{
  g_autofree char *file = g_strdup_printf ("%s_%s.csv", name, part);
  g_autofree char *path = regression_path (file);
  g_autoptr (GError) error = NULL;
  PredictTable *table = path ? predict_table_read (path, &error) : NULL;

  g_assert_no_error (error);
  return table;
}

PredictSamples *
regression_samples (const char *name, const char *part)
{
  g_autoptr (PredictTable) table = regression_table (name, part);
  g_autofree const char **features = NULL;
  g_autoptr (GError) error = NULL;
  PredictSamples *samples;
  guint n_features;

  if (table == NULL)
    return NULL;
  n_features = table->n_columns - 1;
  features = g_new0 (const char *, n_features + 1);
  for (guint i = 0; i < n_features; i++)
    features[i] = table->columns[i].name;
  samples = predict_samples_from (table, features, table->columns[n_features].name, FALSE, &error);
  g_assert_no_error (error);
  return samples;
}
