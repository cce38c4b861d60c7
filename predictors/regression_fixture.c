/* regression_fixture.c - see regression_fixture.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/regression_fixture.h"

#include <math.h>

PredictSamples *
regression_new (uint64_t n_samples, guint n_features)
{
  PredictSamples *samples = g_new0 (PredictSamples, 1);

  samples->n_samples = n_samples;
  samples->n_features = n_features;
  samples->x = g_new0 (float, n_samples *n_features);
  samples->y = g_new0 (double, n_samples);
  return samples;
}

void
regression_free (PredictSamples *samples)
{
  g_free (samples->x);
  g_free (samples->y);
  g_free (samples);
}

static double
normal (PredictRandom *random)
{
  double radius = sqrt (-2 * log (1 - predict_random_unit (random)));

  return radius * cos (2 * G_PI * predict_random_unit (random));
}

PredictSamples *
regression_friedman (uint64_t n_samples, guint n_features, uint64_t seed)
{
  PredictSamples *samples = regression_new (n_samples, n_features);
  PredictRandom random = predict_random (seed, 0);

  for (uint64_t i = 0; i < n_samples; i++) {
    double x[5];

    for (guint feature = 0; feature < n_features; feature++) {
      double value = predict_random_unit (&random);

      samples->x[feature * n_samples + i] = (float) value;
      if (feature < 5)
        x[feature] = value;
    }
    samples->y[i] = 10 * sin (G_PI * x[0] * x[1]) + 20 * (x[2] - 0.5) * (x[2] - 0.5) + 10 * x[3] +
                    5 * x[4] + normal (&random);
  }
  return samples;
}

char *
regression_path (const char *name)
{
  const char *root = g_getenv ("G_TEST_SRCDIR");
  char *path = g_strdup_printf ("%s/../shared/data/extratrees/%s", root ? root : ".", name);

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    g_clear_pointer (&path, g_free);
  return path;
}

/* Numbers only, a header, no quotes. */
static PredictSamples *
samples_of (char **lines, guint n_lines)
{
  g_auto (GStrv) names = g_strsplit (lines[0], ",", -1);
  guint n_columns = g_strv_length (names);
  uint64_t n = n_lines - 1;
  PredictSamples *samples = regression_new (n, n_columns - 1);

  for (uint64_t i = 0; i < n; i++) {
    g_auto (GStrv) cells = g_strsplit (lines[i + 1], ",", -1);

    g_assert_cmpuint (g_strv_length (cells), ==, n_columns);
    for (guint feature = 0; feature + 1 < n_columns; feature++)
      samples->x[feature * n + i] = (float) g_ascii_strtod (cells[feature], NULL);
    samples->y[i] = g_ascii_strtod (cells[n_columns - 1], NULL);
  }
  return samples;
}

PredictSamples *
regression_read (const char *name, const char *part)
{
  g_autofree char *file = g_strdup_printf ("%s_%s.csv", name, part);
  g_autofree char *path = regression_path (file);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (path == NULL)
    return NULL;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (g_strchomp (text), "\n", -1);
  return samples_of (lines, g_strv_length (lines));
}

double
regression_r2 (const double *observed, const double *predicted, uint64_t n)
{
  double mean = 0, errors = 0, deviations = 0;

  for (uint64_t i = 0; i < n; i++)
    mean += observed[i] / (double) n;
  for (uint64_t i = 0; i < n; i++) {
    errors += (observed[i] - predicted[i]) * (observed[i] - predicted[i]);
    deviations += (observed[i] - mean) * (observed[i] - mean);
  }
  return 1 - errors / deviations;
}
