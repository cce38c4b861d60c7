/* rank_model.c - see rank_model.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/study/rank_model.h"

#include "cli/study/rank_print.h"
#include "cli/terminal.h"
#include "predictors/model/forecaster.h"

#include <math.h>
#include <string.h>

void
cli_rank_model_free (CliRankModel *model)
{
  if (model == NULL)
    return;
  g_free (model->note);
  g_free (model->target);
  g_free (model->predicted);
  g_free (model->lower);
  g_free (model->upper);
  g_free (model->measured);
  g_free (model);
}

/* -- from the table to the rows ------------------------------------------ */

/* For each row of the store the row of the table that is of the same run, plus 1; 0: none. */
static uint64_t *
match_rows (const PredictTable *table, const GPtrArray *rows)
{
  const PredictColumn *key = predict_table_find (table, "key");
  g_autoptr (GHashTable) of_key = g_hash_table_new (g_str_hash, g_str_equal);
  uint64_t *matches = g_new0 (uint64_t, rows->len);

  for (uint64_t at = 0; at < table->n_rows; at++)
    g_hash_table_insert (of_key, g_ptr_array_index (key->labels, key->texts[at]),
                         GSIZE_TO_POINTER (at + 1));
  for (guint at = 0; at < rows->len; at++)
    matches[at] = GPOINTER_TO_SIZE (
        g_hash_table_lookup (of_key, ((const StudyRow *) g_ptr_array_index (rows, at))->key));
  return matches;
}

/* values of the table for the rows of the store; NULL: no values. */
static double *
spread_values (const double *values, const uint64_t *matches, guint n_rows)
{
  double *spread = values != NULL ? g_new (double, n_rows) : NULL;

  for (guint at = 0; values != NULL && at < n_rows; at++)
    spread[at] = matches[at] > 0 ? values[matches[at] - 1] : (double) NAN;
  return spread;
}

static gboolean
any_known (const PredictColumn *column, uint64_t n)
{
  for (uint64_t at = 0; column != NULL && column->numbers != NULL && at < n; at++)
    if (!isnan (column->numbers[at]))
      return TRUE;
  return FALSE;
}

static char *
tell_source (const char *path, const PredictForecaster *model, const CliLearningOptions *learning)
{
  g_autofree char *kind = model->learned
                              ? g_strdup_printf ("trained on %" G_GUINT64_FORMAT " samples of %s",
                                                 model->learned->n_samples, model->learned->source)
                              : g_strdup ("a formula");

  return g_strdup_printf ("predicted by %s, %s, from the features of %s%s", path, kind,
                          learning->features_text != NULL ? "the runs with " : "the same runs",
                          learning->features_text != NULL ? learning->features_text : "");
}

CliRankModel *
cli_rank_model_new (const char *path, double level, const CliLearningOptions *learning,
                    StudyStore *store, const GPtrArray *rows, GError **error)
{
  g_autoptr (PredictForecaster) model = predict_forecaster_read (path, error);
  g_autoptr (PredictTable) table =
      model != NULL ? cli_learning_table (study_store_path (store), learning, FALSE, FALSE, error)
                    : NULL;
  g_auto (PredictAnswer) answer = { NULL, NULL, NULL, 0 };
  g_autofree uint64_t *matches = NULL;
  const PredictColumn *measured;
  CliRankModel *ranked;

  if (table == NULL || !predict_forecaster_apply (model, table, level, 0, &answer, error))
    return NULL;
  if (answer.n_outside > 0)
    cli_printf (stderr,
                "hopcast: note: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                " runs are outside of what %s was trained on\n",
                answer.n_outside, table->n_rows, path);
  matches = match_rows (table, rows);
  measured = predict_table_find (table, predict_forecaster_target (model));
  ranked = g_new0 (CliRankModel, 1);
  ranked->note = tell_source (path, model, learning);
  ranked->target = g_strdup (predict_forecaster_target (model));
  ranked->predicted = spread_values (answer.predicted, matches, rows->len);
  ranked->lower = spread_values (answer.lower, matches, rows->len);
  ranked->upper = spread_values (answer.upper, matches, rows->len);
  if (any_known (measured, table->n_rows))
    ranked->measured = spread_values (measured->numbers, matches, rows->len);
  return ranked;
}

/* -- cases and columns --------------------------------------------------- */

GPtrArray *
cli_rank_model_cases (const CliRankModel *model, const GPtrArray *rows, double tie,
                      StudyMachineOf machine, void *data)
{
  const char *name = strcmp (model->target, "time_s") == 0 ? "predicted_s" : "predicted";

  return study_cases_new_by_values (rows, name, model->predicted, tie, machine, data);
}

static GHashTable *
values_of_mappings (const StudyCase *study_case)
{
  GHashTable *values = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);

  for (guint at = 0; at < study_case->ranked->len; at++) {
    const StudyRanked *ranked = &g_array_index (study_case->ranked, StudyRanked, at);

    g_hash_table_insert (values, (gpointer) ranked->mapping,
                         g_memdup2 (&ranked->value, sizeof ranked->value));
  }
  return values;
}

/* Medians over the repetitions, as the predictions are. */
static void
add_column (GArray *columns, const GPtrArray *rows, const char *name, const double *values)
{
  CliRankColumn column = { name, NULL };
  g_autoptr (GPtrArray) cases = NULL;

  if (values == NULL)
    return;
  cases = study_cases_new_by_values (rows, name, values, 0, NULL, NULL);
  column.of_case = g_ptr_array_new_with_free_func ((GDestroyNotify) g_hash_table_unref);
  for (guint number = 0; number < cases->len; number++)
    g_ptr_array_add (column.of_case, values_of_mappings (g_ptr_array_index (cases, number)));
  g_array_append_val (columns, column);
}

static void
column_clear (gpointer data)
{
  g_ptr_array_unref (((CliRankColumn *) data)->of_case);
}

GArray *
cli_rank_model_columns (const CliRankModel *model, const GPtrArray *rows)
{
  GArray *columns = g_array_new (FALSE, FALSE, sizeof (CliRankColumn));

  g_array_set_clear_func (columns, column_clear);
  add_column (columns, rows, "lower", model->lower);
  add_column (columns, rows, "upper", model->upper);
  add_column (columns, rows, model->target, model->measured);
  return columns;
}
