/* table.c - see table.h: making tables and looking things up in them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/table/table.h"

#include "base/error.h"
#include "base/words.h"
#include "base/decimal.h"
#include "predictors/predict_error.h"
#include "predictors/table/table_private.h"

#include <math.h>
#include <string.h>

/* Of so many columns an error tells the names when one is not found. */
#define MAX_TOLD 12

static void
column_clear (PredictColumn *column)
{
  g_free (column->name);
  g_free (column->unit);
  g_free (column->numbers);
  g_free (column->texts);
  g_clear_pointer (&column->labels, g_ptr_array_unref);
}

PredictTable *
predict_table_new (const char *source, uint64_t n_rows)
{
  PredictTable *table = g_new0 (PredictTable, 1);

  table->source = g_strdup (source);
  table->n_rows = n_rows;
  return table;
}

void
predict_table_free (PredictTable *table)
{
  if (table == NULL)
    return;
  for (guint column = 0; column < table->n_columns; column++)
    column_clear (&table->columns[column]);
  g_free (table->columns);
  g_free (table->lines);
  g_free (table->source);
  g_free (table);
}

static PredictColumn *
add_column (PredictTable *table, const char *name, const char *unit)
{
  PredictColumn *column;

  g_assert (predict_table_find (table, name) == NULL);
  table->columns = g_renew (PredictColumn, table->columns, table->n_columns + 1);
  column = &table->columns[table->n_columns++];
  *column = (PredictColumn){ .name = g_strdup (name), .unit = g_strdup (unit) };
  return column;
}

void
predict_table_take_numbers (PredictTable *table, const char *name, const char *unit,
                            double *numbers)
{
  PredictColumn *column = add_column (table, name, unit);

  /* g_malloc (0) is NULL, which would be a column of texts. */
  column->numbers = numbers != NULL ? numbers : g_new (double, 1);
}

uint32_t
predict_column_label (PredictColumn *column, GHashTable *known, const char *text)
{
  gpointer label;
  char *copy;

  if (g_hash_table_lookup_extended (known, text, NULL, &label))
    return GPOINTER_TO_UINT (label);
  copy = g_strdup (text);
  g_hash_table_insert (known, copy, GUINT_TO_POINTER (column->labels->len));
  g_ptr_array_add (column->labels, copy);
  return column->labels->len - 1;
}

static gboolean
is_text (const char *text)
{
  double value;

  return text[strspn (text, " \t")] != '\0' && !base_decimal_all (text, &value);
}

/* The first row that makes the column one of texts; table->n_rows: none. */
static uint64_t
find_text_row (const PredictTable *table, const PredictColumn *column)
{
  g_autofree bool *is_one = g_new (bool, column->labels->len + 1);
  uint64_t row = 0;

  for (guint label = 0; label < column->labels->len; label++)
    is_one[label] = is_text (g_ptr_array_index (column->labels, label));
  while (row < table->n_rows && !is_one[column->texts[row]])
    row++;
  return row;
}

void
predict_table_add_texts (PredictTable *table, const char *name, const char *const *texts)
{
  PredictColumn *column = add_column (table, name, NULL);
  g_autoptr (GHashTable) known = g_hash_table_new (g_str_hash, g_str_equal);

  column->texts = g_new (uint32_t, table->n_rows + 1);
  column->labels = g_ptr_array_new_with_free_func (g_free);
  for (uint64_t row = 0; row < table->n_rows; row++)
    column->texts[row] = predict_column_label (column, known, texts[row] != NULL ? texts[row] : "");
  column->text_row = find_text_row (table, column);
}

/* -- finding ------------------------------------------------------------- */

const PredictColumn *
predict_table_find (const PredictTable *table, const char *name)
{
  for (guint column = 0; column < table->n_columns; column++)
    if (strcmp (table->columns[column].name, name) == 0)
      return &table->columns[column];
  return NULL;
}

/* The letters and digits of a name, small; the caller frees. */
static char *
bare_name (const char *name)
{
  GString *bare = g_string_new (NULL);

  for (; *name != '\0'; name++)
    if (g_ascii_isalnum (*name))
      g_string_append_c (bare, g_ascii_tolower (*name));
  return g_string_free (bare, FALSE);
}

static gboolean
is_alike (const char *name, const char *other)
{
  g_autofree char *bare = bare_name (name), *bare_other = bare_name (other);

  if (*bare == '\0' || *bare_other == '\0')
    return FALSE;
  return strstr (bare, bare_other) != NULL || strstr (bare_other, bare) != NULL;
}

/* The columns whose names are like `name`, or all, as a list; the caller frees. */
static char *
list_columns (const PredictTable *table, const char *name)
{
  GString *list = g_string_new (NULL);
  guint n = 0;

  for (guint column = 0; column < table->n_columns; column++)
    if ((name == NULL || is_alike (name, table->columns[column].name)) && n++ < MAX_TOLD) {
      g_autofree char *quoted = base_quote (table->columns[column].name);

      g_string_append_printf (list, "%s%s", n > 1 ? ", " : "", quoted);
    }
  if (n > MAX_TOLD)
    g_string_append_printf (list, " and %u more", n - MAX_TOLD);
  return g_string_free (list, FALSE);
}

/* The column whose name is near, quoted, or NULL; the caller frees. */
static char *
nearest_column (const PredictTable *table, const char *name)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  const char *near;

  for (guint column = 0; column < table->n_columns; column++)
    g_ptr_array_add (names, table->columns[column].name);
  g_ptr_array_add (names, NULL);
  near = base_nearest (name, (const char *const *) names->pdata);
  return near != NULL ? base_quote (near) : NULL;
}

void
predict_table_set_missing (const PredictTable *table, const char *name, GError **error)
{
  g_autofree char *alike = list_columns (table, name), *all = list_columns (table, NULL);
  g_autofree char *quoted = base_quote (name), *near = NULL;
  gboolean other_separator =
      table->n_columns == 1 && strpbrk (table->columns[0].name, ";\t") != NULL;

  if (*alike == '\0')
    near = nearest_column (table, name);
  if (near != NULL)
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE,
                 "%s: there is no column %s; did you mean %s?", table->source, quoted, near);
  else
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE, "%s: there is no column %s; %s %s%s",
                 table->source, quoted, *alike != '\0' ? "there is" : "the columns are",
                 *alike != '\0' ? alike : all,
                 other_separator ? " (columns are separated by commas)" : "");
}

gboolean
predict_table_has_all (const PredictTable *table, const char *const *names, GError **error)
{
  g_autoptr (GString) missing = g_string_new (NULL);
  guint n = 0;

  for (; *names != NULL; names++)
    if (predict_table_find (table, *names) == NULL)
      g_string_append_printf (missing, "%s\"%s\"", n++ > 0 ? ", " : "", *names);
  if (n == 0)
    return TRUE;
  g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE, "%s lacks %s that the model needs: %s",
               table->source, n == 1 ? "a column" : "columns", missing->str);
  return FALSE;
}

/* That a column is of texts: where and which. */
static void
set_texts (const PredictTable *table, const PredictColumn *column, GError **error)
{
  g_autofree char *name = base_quote (column->name), *place = NULL, *text = NULL;

  if (column->text_row == table->n_rows) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE, "%s: column %s holds texts",
                 table->source, name);
    return;
  }
  place = predict_table_place (table, column->text_row);
  text = base_quote (g_ptr_array_index (column->labels, column->texts[column->text_row]));
  g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE, "%s: column %s: %s is not a number",
               place, name, text);
}

const PredictColumn *
predict_table_numbers (const PredictTable *table, const char *name, GError **error)
{
  const PredictColumn *column = predict_table_find (table, name);

  if (column != NULL && column->numbers != NULL)
    return column;
  if (column == NULL)
    predict_table_set_missing (table, name, error);
  else
    set_texts (table, column, error);
  return NULL;
}

const double *
predict_table_finite (const PredictTable *table, const char *name, GError **error)
{
  const PredictColumn *column = predict_table_numbers (table, name, error);
  g_autofree char *place = NULL;

  for (uint64_t row = 0; column != NULL && row < table->n_rows; row++)
    if (!isfinite (column->numbers[row])) {
      place = predict_table_place (table, row);
      g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE,
                   "%s: column \"%s\" has no finite number", place, name);
      return NULL;
    }
  return column ? column->numbers : NULL;
}

char *
predict_table_place (const PredictTable *table, uint64_t row)
{
  if (table->lines == NULL)
    return g_strdup_printf ("%s, row %" G_GUINT64_FORMAT, table->source, row + 1);
  return g_strdup_printf ("%s:%" G_GUINT64_FORMAT, table->source, table->lines[row]);
}

char *
predict_table_cell (const PredictTable *table, guint column, uint64_t row)
{
  const PredictColumn *from = &table->columns[column];
  char number[BASE_DECIMAL_SIZE];

  if (from->numbers != NULL)
    return g_strdup (base_decimal_print (number, from->numbers[row]));
  return g_strdup (g_ptr_array_index (from->labels, from->texts[row]));
}
