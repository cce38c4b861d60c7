/* coverage.c - how often intervals hold the truth.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/scoring/coverage.h"

#include "predictors/scoring/interval.h"
#include "predictors/scoring/scores.h"
#include "predictors/table/samples.h"

#include <math.h>
#include <stdlib.h>

#define PARTS         10u
#define TENTHS        10u
#define ROWS_OF_TENTH 10u
#define STREAM_PARTS  (UINT64_C (5) << 60)
#define NORMAL_975    1.959963984540054

static void
coverage_clear (void *data)
{
  PredictCoverage *coverage = data;

  g_free (coverage->by);
  g_free (coverage->value);
}

/* The half widths of intervals that are calibrated without the row's part: half[n_rows]. */
static void
cross_calibrate (const PredictCovered *covered, double *half)
{
  uint64_t n = covered->table->n_rows;
  uint32_t n_parts = MIN (PARTS, covered->n_groups);
  g_autofree uint32_t *part = g_new (uint32_t, n);
  g_autofree double *others = g_new (double, n);
  BaseRandom random = base_random_stream (covered->seed, STREAM_PARTS);

  predict_split_deal (&random, covered->group, n, covered->n_groups, n_parts, part);
  for (uint32_t k = 0; k < n_parts; k++) {
    PredictInterval interval;

    for (uint64_t i = 0; i < n; i++)
      others[i] = part[i] == k ? (double) NAN : covered->predicted[i];
    interval = predict_interval_calibrate (covered->observed, others, covered->deviation,
                                           covered->group, n, covered->n_groups);
    for (uint64_t i = 0; i < n; i++)
      if (part[i] == k)
        half[i] = predict_interval_half_width (&interval, covered->level, covered->predicted[i],
                                               covered->deviation[i], 0);
    predict_interval_clear (&interval);
  }
}

/* Of rows[n]. */
static PredictCoverage
count (const PredictCovered *covered, const double *half, const uint64_t *rows, uint64_t n)
{
  PredictCoverage coverage = { .n = n, .from = NAN, .to = NAN };
  g_autofree double *widths = g_new (double, n);
  g_autofree bool *seen = g_new0 (bool, covered->n_groups);
  uint64_t n_within = 0;
  double trials, centre, reach;

  for (uint64_t i = 0; i < n; i++) {
    uint64_t row = rows[i];

    n_within += fabs (covered->observed[row] - covered->predicted[row]) <= half[row];
    widths[i] = half[row];
    coverage.groups += !seen[covered->group[row]];
    seen[covered->group[row]] = true;
  }
  qsort (widths, n, sizeof *widths, predict_compare_values);
  coverage.half_width = widths[n / 2];
  coverage.share = (double) n_within / (double) n;
  trials = (double) coverage.groups;
  centre = coverage.share + NORMAL_975 * NORMAL_975 / (2 * trials);
  reach = NORMAL_975 * sqrt (coverage.share * (1 - coverage.share) / trials +
                             NORMAL_975 * NORMAL_975 / (4 * trials * trials));
  coverage.low = fmax (0, (centre - reach) / (1 + NORMAL_975 * NORMAL_975 / trials));
  coverage.high = fmin (1, (centre + reach) / (1 + NORMAL_975 * NORMAL_975 / trials));
  return coverage;
}

/* The rows of each value of a column. */
static void
add_column (const PredictCovered *covered, const double *half, const char *name, GArray *result)
{
  const PredictTable *table = covered->table;
  uint32_t n_values;
  g_autofree uint32_t *value = predict_table_groups (table, name, &n_values, NULL);
  g_autofree uint64_t *rows = g_new (uint64_t, table->n_rows);
  guint column = (guint) (predict_table_find (table, name) - table->columns);

  if (n_values < 2 || n_values > PREDICT_COVERAGE_VALUES)
    return;
  for (uint32_t k = 0; k < n_values; k++) {
    PredictCoverage coverage;
    uint64_t n = 0;

    for (uint64_t row = 0; row < table->n_rows; row++)
      if (value[row] == k && !isnan (covered->predicted[row]))
        rows[n++] = row;
    if (n == 0)
      continue;
    coverage = count (covered, half, rows, n);
    coverage.by = g_strdup (name);
    coverage.value = predict_table_cell (table, column, rows[0]);
    g_array_append_val (result, coverage);
  }
}

typedef struct {
  double predicted;
  uint64_t row;
} Place;

static int
compare_places (const void *a, const void *b)
{
  const Place *left = a, *right = b;

  if (left->predicted != right->predicted)
    return left->predicted < right->predicted ? -1 : 1;
  return (left->row > right->row) - (left->row < right->row);
}

GArray *
predict_coverage (const PredictCovered *covered, const char *const *columns)
{
  uint64_t n_rows = covered->table->n_rows, n = 0, n_tenths;
  GArray *result = g_array_new (FALSE, FALSE, sizeof (PredictCoverage));
  g_autofree double *half = g_new (double, n_rows);
  g_autofree Place *places = g_new (Place, n_rows);
  g_autofree uint64_t *rows = g_new (uint64_t, n_rows);
  PredictCoverage coverage;

  g_array_set_clear_func (result, coverage_clear);
  for (uint64_t row = 0; row < n_rows; row++)
    if (!isnan (covered->predicted[row]))
      places[n++] = (Place){ covered->predicted[row], row };
  if (covered->n_groups < 2 || n == 0)
    return result;
  cross_calibrate (covered, half);
  qsort (places, n, sizeof *places, compare_places);
  for (uint64_t i = 0; i < n; i++)
    rows[i] = places[i].row;
  coverage = count (covered, half, rows, n);
  coverage.by = g_strdup ("all");
  coverage.value = g_strdup ("");
  g_array_append_val (result, coverage);
  n_tenths = CLAMP (n / ROWS_OF_TENTH, 1, TENTHS);
  for (uint64_t k = 0; k < n_tenths; k++) {
    uint64_t first = n * k / n_tenths, end = n * (k + 1) / n_tenths;

    coverage = count (covered, half, rows + first, end - first);
    coverage.by = g_strdup ("prediction");
    coverage.value =
        g_strdup_printf ("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT, k + 1, n_tenths);
    coverage.from = places[first].predicted;
    coverage.to = places[end - 1].predicted;
    g_array_append_val (result, coverage);
  }
  for (; columns != NULL && *columns != NULL; columns++)
    add_column (covered, half, *columns, result);
  return result;
}
