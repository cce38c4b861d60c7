/* correct_points.c - see correct_points.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/learn/correct_points.h"

#include "cli/command.h"
#include "cli/learn/measured_runs.h"

#include <math.h>
#include <string.h>

void
cli_points_clear (CliPoints *points)
{
  predict_table_free (points->table);
  g_free (points->observed);
  g_free (points->columns);
}

gboolean
cli_points_read (CliPoints *points, const char *path, const char *observed,
                 const PredictTable *runs, GError **error)
{
  g_autoptr (PredictTable) file = predict_table_read (path, error);
  const double *times = file ? predict_table_finite (file, observed, error) : NULL;

  if (times == NULL)
    return FALSE;
  points->observed = g_memdup2 (times, file->n_rows * sizeof *times);
  points->table = runs ? cli_measured_runs (runs, file, observed, error) : g_steal_pointer (&file);
  return points->table != NULL;
}

gboolean
cli_points_bind (CliPoints *points, const PredictBaseModel *model, GError **error)
{
  g_autofree double *times = NULL;

  points->columns = predict_base_model_columns (model, points->table, error);
  times = points->columns ? predict_base_model_times (model, points->table, error) : NULL;
  return times != NULL;
}

/* An offset of either sign: what the trace does not have, and what the simulator counts twice. */
PredictBaseModel *
cli_simulator_model (const CliPoints *points)
{
  double largest = 0;
  g_autofree char *bound = NULL, *text = NULL;

  for (uint64_t point = 0; point < points->table->n_rows; point++)
    largest = MAX (largest, fabs (points->observed[point]));
  bound = predict_number_text (largest > 0 ? largest : 1);
  text = g_strdup_printf ("variable time_s\n"
                          "parameter scale 1 [0.01, 100] log\n"
                          "parameter offset 0 [-%s, %s]\n"
                          "time = scale*time_s + offset\n",
                          bound, bound);
  return predict_base_model_parse (text, "simulator", NULL);
}

/* -- where the model will be used ------------------------------------------ */

static void
extend_by_points (const PredictPoints *points, uint32_t n_variables, PredictRange *box)
{
  for (uint32_t at = 0; at < n_variables; at++)
    for (uint64_t point = 0; point < points->n; point++) {
      box[at].low = MIN (box[at].low, points->columns[at][point]);
      box[at].high = MAX (box[at].high, points->columns[at][point]);
    }
}

static gboolean
extend_by_option (const PredictBaseModel *model, const char *text, PredictRange *box,
                  GError **error)
{
  const char *equals = strchr (text, '=');
  g_autofree char *name = equals ? g_strndup (text, (gsize) (equals - text)) : NULL;
  char *colon = NULL, *end = NULL;
  double low = equals ? g_ascii_strtod (equals + 1, &colon) : (double) NAN;
  double high = colon && colon > equals + 1 && *colon == ':' ? g_ascii_strtod (colon + 1, &end)
                                                             : (double) NAN;

  if (!(low <= high) || !isfinite (low) || !isfinite (high) || end == colon + 1 || *end != '\0') {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE,
                 "--predict-range: \"%s\" is not VARIABLE=LOW:HIGH", text);
    return FALSE;
  }
  for (uint32_t at = 0; at < model->n_variables; at++)
    if (!strcmp (name, model->names.variables[at])) {
      box[at].low = MIN (box[at].low, low);
      box[at].high = MAX (box[at].high, high);
      return TRUE;
    }
  g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--predict-range: %s has no variable \"%s\"",
               model->source, name);
  return FALSE;
}

PredictRange *
cli_points_box (const PredictCorrectionData *data, char **ranges, GError **error)
{
  const PredictBaseModel *model = data->model;
  g_autofree PredictRange *box = g_new (PredictRange, model->n_variables + 1);

  for (uint32_t at = 0; at < model->n_variables; at++)
    box[at] = predict_range (INFINITY, -INFINITY);
  extend_by_points (&data->train, model->n_variables, box);
  extend_by_points (&data->test, model->n_variables, box);
  for (char **range = ranges; range != NULL && *range != NULL; range++)
    if (!extend_by_option (model, *range, box, error))
      return NULL;
  return g_steal_pointer (&box);
}
