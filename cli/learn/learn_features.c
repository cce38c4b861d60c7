/* learn_features.c - which columns of a table are learned from.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/learn/learn_features.h"

#include "cli/command.h"
#include "predictors/model/feature_sets.h"

#include <math.h>

/* The name of a first column without one: the index of a pandas table. */
#define INDEX_NAME "row"

static char **
listed_features (const char *text, const char *target, GError **error)
{
  g_auto (GStrv) features = NULL;
  g_autoptr (GError) trouble = NULL;

  features = predict_feature_list (text, &trouble);
  if (features == NULL) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--features: %s", trouble->message);
    return NULL;
  }
  if (g_strv_contains ((const char *const *) features, target)) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--features: '%s' is the target", target);
    return NULL;
  }
  return g_steal_pointer (&features);
}

static gboolean
is_empty (const PredictColumn *column, uint64_t n_rows)
{
  for (uint64_t row = 0; row < n_rows; row++)
    if (!isnan (column->numbers[row]))
      return FALSE;
  return n_rows > 0;
}

/* NULL: it may be learned from. */
static const char *
why_not (const PredictTable *table, const PredictColumn *column, const char *group)
{
  if (column->numbers == NULL)
    return "texts";
  if (g_strcmp0 (column->name, group) == 0)
    return "the group";
  if (g_strcmp0 (column->name, INDEX_NAME) == 0)
    return "an index";
  return is_empty (column, table->n_rows) ? "empty" : NULL;
}

/* A row of a store has everything that came out of the run: only its features can be known
 * where the target is not. */
static gboolean
is_candidate (const PredictTable *table, const PredictColumn *column)
{
  const char *const *features = predict_feature_set ("all")->features;

  return table->lines != NULL || g_strv_contains (features, column->name);
}

char **
cli_choose_features (const PredictTable *table, const char *text, const char *target,
                     const char *group, GPtrArray *left_out, GError **error)
{
  g_autoptr (GPtrArray) features = NULL;

  if (text != NULL)
    return listed_features (text, target, error);
  features = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < table->n_columns; i++) {
    const PredictColumn *column = &table->columns[i];
    const char *reason = why_not (table, column, group);

    if (g_strcmp0 (column->name, target) == 0 || !is_candidate (table, column))
      continue;
    if (reason != NULL)
      g_ptr_array_add (left_out, g_strdup_printf ("%s (%s)", column->name, reason));
    else
      g_ptr_array_add (features, g_strdup (column->name));
  }
  if (features->len == 0) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT,
                 "%s: no column of numbers to learn from besides the target", table->source);
    return NULL;
  }
  g_ptr_array_add (features, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&features), FALSE);
}
