/* measured_runs.c - see measured_runs.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/learn/measured_runs.h"

#include "cli/command.h"

#include <string.h>

#define MOST_TOLD 3u /* of the values that tell runs apart */

/* What goes into a run, what people know it by first. */
static const char *const inputs[] = {
  "trace",         "machine",    "mapping", "ranks_per_node", "network",      "routing",
  "compute_scale", "repetition", "seed",    "grain",          "ranks",        "nodes",
  "links",         "version",    "key",     "trace_hash",     "machine_hash", "mapping_hash",
};

/* Both tables have the columns, at these places. */
typedef struct {
  const PredictTable *runs, *measured;
  const char *name[G_N_ELEMENTS (inputs)];
  guint in_runs[G_N_ELEMENTS (inputs)], in_measured[G_N_ELEMENTS (inputs)];
  guint n;
} Keys;

static gboolean
find_keys (Keys *keys, const char *observed, GError **error)
{
  for (gsize at = 0; at < G_N_ELEMENTS (inputs); at++) {
    const PredictColumn *run = predict_table_find (keys->runs, inputs[at]);
    const PredictColumn *measured = predict_table_find (keys->measured, inputs[at]);

    if (run == NULL || measured == NULL || strcmp (inputs[at], observed) == 0)
      continue;
    keys->name[keys->n] = inputs[at];
    keys->in_runs[keys->n] = (guint) (run - keys->runs->columns);
    keys->in_measured[keys->n++] = (guint) (measured - keys->measured->columns);
  }
  if (keys->n > 0)
    return TRUE;
  g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT,
               "%s: no column says which run was measured: trace, machine, mapping, key or another "
               "of what goes into a run",
               keys->measured->source);
  return FALSE;
}

/* -- what names a run ---------------------------------------------------- */

/* "trace=a.hct, mapping=TABCDE"; the caller frees. */
static char *
name_of (const Keys *keys, const PredictTable *table, const guint *columns, uint64_t row)
{
  GString *name = g_string_new (NULL);

  for (guint at = 0; at < keys->n; at++) {
    g_autofree char *cell = predict_table_cell (table, columns[at], row);

    g_string_append_printf (name, "%s%s=%s", at > 0 ? ", " : "", keys->name[at], cell);
  }
  return g_string_free (name, FALSE);
}

/* What tells the runs of that name apart: "mapping: ABCDET, TABCDE ..."; the caller frees. */
static char *
tell_apart (const PredictTable *runs, const uint64_t *rows, guint n)
{
  for (gsize at = 0; at < G_N_ELEMENTS (inputs); at++) {
    const PredictColumn *column = predict_table_find (runs, inputs[at]);
    g_autoptr (GPtrArray) cells = g_ptr_array_new_with_free_func (g_free);
    g_autofree char *list = NULL;

    for (guint i = 0; column != NULL && i < n && cells->len <= MOST_TOLD; i++) {
      char *cell = predict_table_cell (runs, (guint) (column - runs->columns), rows[i]);

      if (g_ptr_array_find_with_equal_func (cells, cell, g_str_equal, NULL))
        g_free (cell);
      else
        g_ptr_array_add (cells, cell);
    }
    if (cells->len < 2)
      continue;
    if (cells->len > MOST_TOLD) {
      g_free (cells->pdata[MOST_TOLD]);
      cells->pdata[MOST_TOLD] = g_strdup ("...");
    }
    g_ptr_array_add (cells, NULL);
    list = g_strjoinv (", ", (char **) cells->pdata);
    return g_strdup_printf ("%s (%s)", inputs[at], list);
  }
  g_assert_not_reached (); /* keys differ */
}

/* -- one for each row ---------------------------------------------------- */

/* Name -> GArray of uint64_t: the rows of that name. */
static GHashTable *
name_runs (const Keys *keys)
{
  GHashTable *of_name =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_array_unref);

  for (uint64_t row = 0; row < keys->runs->n_rows; row++) {
    char *name = name_of (keys, keys->runs, keys->in_runs, row);
    GArray *rows = g_hash_table_lookup (of_name, name);

    if (rows == NULL) {
      rows = g_array_new (FALSE, FALSE, sizeof row);
      g_hash_table_insert (of_name, name, rows);
    } else
      g_free (name);
    g_array_append_val (rows, row);
  }
  return of_name;
}

static gboolean
refuse (const Keys *keys, uint64_t row, const char *name, const GArray *rows, GError **error)
{
  g_autofree char *place = predict_table_place (keys->measured, row);
  g_autofree char *apart = NULL;

  if (rows == NULL) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: %s has no run with %s", place,
                 keys->runs->source, name);
    return FALSE;
  }
  apart = tell_apart (keys->runs, (const uint64_t *) (const void *) rows->data, rows->len);
  g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT,
               "%s: %s has %u runs with %s; what tells them apart is %s", place, keys->runs->source,
               rows->len, name, apart);
  return FALSE;
}

static gboolean
refuse_twice (const Keys *keys, uint64_t row, uint64_t before, const char *name, GError **error)
{
  g_autofree char *place = predict_table_place (keys->measured, row);
  g_autofree char *first = predict_table_place (keys->measured, before);

  g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: the run with %s was measured before, at %s",
               place, name, first);
  return FALSE;
}

/* picked[measured rows] */
static gboolean
pick_runs (const Keys *keys, uint64_t *picked, GError **error)
{
  g_autoptr (GHashTable) of_name = name_runs (keys);
  g_autofree uint64_t *taken = g_new0 (uint64_t, keys->runs->n_rows + 1); /* by which row, plus 1 */

  for (uint64_t row = 0; row < keys->measured->n_rows; row++) {
    g_autofree char *name = name_of (keys, keys->measured, keys->in_measured, row);
    const GArray *rows = g_hash_table_lookup (of_name, name);

    if (rows == NULL || rows->len > 1)
      return refuse (keys, row, name, rows, error);
    picked[row] = g_array_index (rows, uint64_t, 0);
    if (taken[picked[row]] > 0)
      return refuse_twice (keys, row, taken[picked[row]] - 1, name, error);
    taken[picked[row]] = row + 1;
  }
  return TRUE;
}

/* What the runs do not know of themselves, such as the size of a grid. */
static void
add_columns (PredictTable *table, const PredictTable *measured, const char *observed)
{
  for (guint at = 0; at < measured->n_columns; at++) {
    const PredictColumn *column = &measured->columns[at];

    if (column->numbers != NULL && strcmp (column->name, observed) != 0 &&
        predict_table_find (table, column->name) == NULL)
      predict_table_take_numbers (
          table, column->name, column->unit,
          g_memdup2 (column->numbers, measured->n_rows * sizeof *column->numbers));
  }
}

PredictTable *
cli_measured_runs (const PredictTable *runs, const PredictTable *measured, const char *observed,
                   GError **error)
{
  Keys keys = { .runs = runs, .measured = measured };
  g_autofree uint64_t *picked = g_new (uint64_t, measured->n_rows + 1);
  PredictTable *table;

  if (!find_keys (&keys, observed, error) || !pick_runs (&keys, picked, error))
    return NULL;
  table = predict_table_pick (runs, picked, measured->n_rows);
  g_free (table->source);
  table->source = g_strdup (measured->source);
  g_free (table->lines);
  table->lines = g_memdup2 (measured->lines, measured->n_rows * sizeof *measured->lines);
  add_columns (table, measured, observed);
  return table;
}
