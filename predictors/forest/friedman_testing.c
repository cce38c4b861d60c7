/* friedman_testing.c - tables of a known law, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/forest/friedman_testing.h"

#include "base/random.h"

#include <math.h>

#define MAX_FEATURES 10u

static const double noise_of[] = { 0, 1, 125, 0.1 }; /* [function] */

/* Box and Muller. */
static double
normal (BaseRandom *random)
{
  double radius = sqrt (-2 * log (1 - base_random_unit (random)));

  return radius * cos (2 * G_PI * base_random_unit (random));
}

/* Uniform in the range of feature k. */
static double
draw_feature (guint function, guint k, BaseRandom *random)
{
  static const double low[] = { 0, 40 * G_PI, 0, 1 }, high[] = { 100, 560 * G_PI, 1, 11 };
  double unit = base_random_unit (random);

  return function == 1 ? unit : low[k] + unit * (high[k] - low[k]);
}

static double
value_at (guint function, const double *x)
{
  double difference = x[1] * x[2] - 1 / (x[1] * x[3]);

  switch (function) {
  case 1:
    return 10 * sin (G_PI * x[0] * x[1]) + 20 * (x[2] - 0.5) * (x[2] - 0.5) + 10 * x[3] + 5 * x[4];
  case 2: return sqrt (x[0] * x[0] + difference * difference);
  default: return atan (difference / x[0]);
  }
}

PredictTable *
friedman_table (guint function, uint64_t n_rows, uint64_t seed)
{
  guint n_features = function == 1 ? MAX_FEATURES : 4;
  PredictTable *table = predict_table_new ("friedman", n_rows);
  BaseRandom random = base_random_stream (seed, function);
  double *columns[MAX_FEATURES], *y = g_new (double, n_rows);

  for (guint k = 0; k < n_features; k++)
    columns[k] = g_new (double, n_rows);
  for (uint64_t i = 0; i < n_rows; i++) {
    double x[MAX_FEATURES];

    for (guint k = 0; k < n_features; k++)
      columns[k][i] = x[k] = draw_feature (function, k, &random);
    y[i] = value_at (function, x) + noise_of[function] * normal (&random);
  }
  for (guint k = 0; k < n_features; k++) {
    g_autofree char *name = g_strdup_printf ("x%u", k);

    predict_table_take_numbers (table, name, NULL, columns[k]);
  }
  predict_table_take_numbers (table, "y", NULL, y);
  return table;
}

PredictSamples *
friedman_samples (uint64_t n_samples, guint n_features, uint64_t seed)
{
  PredictSamples *samples = predict_samples_new (n_samples, n_features, TRUE);
  BaseRandom random = base_random_stream (seed, 1);
  g_autofree double *x = g_new (double, n_features);

  for (uint64_t i = 0; i < n_samples; i++) {
    for (guint k = 0; k < n_features; k++) {
      x[k] = draw_feature (1, k, &random);
      samples->x[k * n_samples + i] = (float) x[k];
    }
    samples->y[i] = value_at (1, x) + noise_of[1] * normal (&random);
  }
  return samples;
}

PredictTable *
friedman_table_repeated (guint function, uint64_t n_rows, uint64_t seed, guint repeats)
{
  g_autoptr (PredictTable) once = friedman_table (function, n_rows, seed);
  uint64_t n = n_rows * repeats;
  PredictTable *table = predict_table_new (once->source, n);
  BaseRandom random = base_random_stream (seed, 0);
  double *group = g_new (double, n);

  for (guint column = 0; column < once->n_columns; column++) {
    double *numbers = g_new (double, n);

    for (uint64_t i = 0; i < n; i++)
      numbers[i] = once->columns[column].numbers[i / repeats];
    if (column + 1 == once->n_columns)
      for (uint64_t i = 0; i < n; i++)
        numbers[i] += 0.1 * noise_of[function] * normal (&random);
    predict_table_take_numbers (table, once->columns[column].name, NULL, numbers);
  }
  for (uint64_t i = 0; i < n; i++)
    group[i] = (double) (i / repeats);
  predict_table_take_numbers (table, "group", NULL, group);
  return table;
}
