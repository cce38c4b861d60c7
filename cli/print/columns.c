/* columns.c - rows of a result, printed from one array of columns as a table, CSV or JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/columns.h"

#include "base/csv.h"
#include "cli/print/terminal.h"

#include <math.h>
#include <stdbool.h>

static bool
is_known (const CliColumn *column, const void *row)
{
  const char *field = (const char *) row + column->offset;

  switch (column->kind) {
  case CLI_CELL_U32:
  case CLI_CELL_U64:
  case CLI_CELL_BOOLEAN: return true;
  case CLI_CELL_KNOWN_U32: return *(const uint32_t *) field > 0;
  case CLI_CELL_KNOWN_U64: return *(const uint64_t *) field > 0;
  case CLI_CELL_NUMBER:
  case CLI_CELL_SHARE: return isfinite (*(const double *) field);
  case CLI_CELL_TEXT: return *(const char *const *) field != NULL;
  case CLI_CELL_NODE: return *(JsonNode *const *) field != NULL;
  }
  g_assert_not_reached ();
}

static bool
is_text (const CliColumn *column)
{
  return column->kind == CLI_CELL_TEXT;
}

static uint64_t
integer_of (const CliColumn *column, const void *row)
{
  const char *field = (const char *) row + column->offset;

  return column->kind == CLI_CELL_U64 || column->kind == CLI_CELL_KNOWN_U64
             ? *(const uint64_t *) field
             : *(const uint32_t *) field;
}

/* --- Tables --- */

static char *
table_cell (const CliColumn *column, const void *row)
{
  const char *field = (const char *) row + column->offset;
  char number[64];

  if (!is_known (column, row))
    return g_strdup ("-");
  switch (column->kind) {
  case CLI_CELL_U32:
  case CLI_CELL_U64:
  case CLI_CELL_KNOWN_U32:
  case CLI_CELL_KNOWN_U64: return g_strdup_printf ("%" G_GUINT64_FORMAT, integer_of (column, row));
  case CLI_CELL_NUMBER:
    return g_strdup (g_ascii_formatd (number, sizeof number,
                                      column->format != NULL ? column->format : "%.6g",
                                      *(const double *) field));
  case CLI_CELL_SHARE:
    /* A share that rounds to zero has no sign. */
    g_ascii_formatd (number, sizeof number, column->format != NULL ? column->format : "%+.1f",
                     0.1 * round (1000 * *(const double *) field) + 0.0);
    return g_strconcat (number, "%", NULL);
  case CLI_CELL_BOOLEAN: return g_strdup (*(const bool *) field ? "yes" : "no");
  case CLI_CELL_TEXT: return cli_visible (*(const char *const *) field);
  case CLI_CELL_NODE: break;
  }
  g_assert_not_reached ();
}

/* Cells of line 0 are the names of the columns. */
void
cli_rows_print_table (FILE *out, const CliRows *rows, const char *indent)
{
  g_autofree const CliColumn **shown = g_new (const CliColumn *, rows->n_columns);
  g_autofree int *width = g_new0 (int, rows->n_columns);
  g_autoptr (GPtrArray) cells = g_ptr_array_new_with_free_func (g_free);
  guint n = 0;

  for (guint i = 0; i < rows->n_columns; i++) {
    const CliColumn *column = &rows->columns[i];
    bool is_shown = !is_text (column);

    for (guint at = 0; at < rows->n_rows && !is_shown; at++)
      is_shown = is_known (column, (const char *) rows->rows + at * rows->row_size);
    if (is_shown && column->heading != NULL && (column->needs & ~rows->has) == 0)
      shown[n++] = column;
  }
  for (guint line = 0; line <= rows->n_rows; line++)
    for (guint i = 0; i < n; i++) {
      const char *row = (const char *) rows->rows + (line - 1) * rows->row_size;
      char *cell = line == 0 ? cli_visible (shown[i]->heading) : table_cell (shown[i], row);

      g_ptr_array_add (cells, cell);
      width[i] = MAX (width[i], (int) g_utf8_strlen (cell, -1));
    }
  for (guint line = 0; line <= rows->n_rows; line++) {
    g_autoptr (GString) text = g_string_new (indent);

    for (guint i = 0; i < n; i++) {
      const char *cell = cells->pdata[line * n + i];
      int missing = width[i] - (int) g_utf8_strlen (cell, -1);

      if (i > 0)
        g_string_append (text, "  ");
      if (is_text (shown[i]))
        g_string_append_printf (text, "%s%*s", cell, i + 1 < n ? missing : 0, "");
      else
        g_string_append_printf (text, "%*s%s", missing, "", cell);
    }
    if (line == 0)
      cli_print_heading (out, text->str);
    else
      fprintf (out, "%s\n", text->str);
  }
}

void
cli_columns_print_list (FILE *out, const CliColumn *columns, guint n, const void *row, guint has)
{
  int width = 0;

  for (guint i = 0; i < n; i++)
    if (columns[i].heading != NULL && (columns[i].needs & ~has) == 0)
      width = MAX (width, (int) g_utf8_strlen (columns[i].heading, -1));
  for (guint i = 0; i < n; i++) {
    g_autofree char *cell = NULL;

    if (columns[i].heading == NULL || (columns[i].needs & ~has) != 0)
      continue;
    cell = table_cell (&columns[i], row);
    cli_printf (out, "%-*s  ", width, columns[i].heading);
    fprintf (out, "%s\n", cell);
  }
}

/* --- CSV --- */

void
cli_columns_print_csv_names (FILE *out, const CliColumn *columns, guint n)
{
  const char *separator = "";

  for (guint i = 0; i < n; i++)
    if (columns[i].name != NULL && !(columns[i].omit & CLI_NOT_CSV)) {
      fputs (separator, out);
      base_csv_field (out, columns[i].name);
      separator = ",";
    }
  fputc ('\n', out);
}

void
cli_columns_print_csv_row (FILE *out, const CliColumn *columns, guint n, const void *row)
{
  const char *separator = "";

  for (guint i = 0; i < n; i++) {
    const CliColumn *column = &columns[i];
    const char *field = (const char *) row + column->offset;
    char number[BASE_DECIMAL_SIZE];

    if (column->name == NULL || (column->omit & CLI_NOT_CSV))
      continue;
    fputs (separator, out);
    separator = ",";
    if (!is_known (column, row))
      continue;
    switch (column->kind) {
    case CLI_CELL_U32:
    case CLI_CELL_U64:
    case CLI_CELL_KNOWN_U32:
    case CLI_CELL_KNOWN_U64: fprintf (out, "%" G_GUINT64_FORMAT, integer_of (column, row)); break;
    case CLI_CELL_NUMBER:
    case CLI_CELL_SHARE: fputs (base_decimal_print (number, *(const double *) field), out); break;
    case CLI_CELL_BOOLEAN: fputs (*(const bool *) field ? "true" : "false", out); break;
    case CLI_CELL_TEXT: base_csv_field (out, *(const char *const *) field); break;
    case CLI_CELL_NODE: g_assert_not_reached ();
    }
  }
  fputc ('\n', out);
}

void
cli_rows_print_csv (FILE *out, const CliRows *rows)
{
  cli_columns_print_csv_names (out, rows->columns, rows->n_columns);
  for (guint i = 0; i < rows->n_rows; i++)
    cli_columns_print_csv_row (out, rows->columns, rows->n_columns,
                               (const char *) rows->rows + i * rows->row_size);
}

/* --- JSON --- */

void
cli_columns_add_json (JsonBuilder *builder, const CliColumn *columns, guint n, const void *row)
{
  for (guint i = 0; i < n; i++) {
    const CliColumn *column = &columns[i];
    const char *field = (const char *) row + column->offset;

    if (column->name == NULL || (column->omit & CLI_NOT_JSON))
      continue;
    if (!is_known (column, row)) {
      cli_add_string (builder, column->name, NULL);
      continue;
    }
    switch (column->kind) {
    case CLI_CELL_U32:
    case CLI_CELL_U64:
    case CLI_CELL_KNOWN_U32:
    case CLI_CELL_KNOWN_U64:
      cli_add_integer (builder, column->name, integer_of (column, row));
      break;
    case CLI_CELL_NUMBER:
    case CLI_CELL_SHARE: cli_add_number (builder, column->name, *(const double *) field); break;
    case CLI_CELL_BOOLEAN: cli_add_boolean (builder, column->name, *(const bool *) field); break;
    case CLI_CELL_TEXT: cli_add_string (builder, column->name, *(const char *const *) field); break;
    case CLI_CELL_NODE:
      json_builder_set_member_name (builder, column->name);
      json_builder_add_value (builder, json_node_copy (*(JsonNode *const *) field));
      break;
    }
  }
}

void
cli_rows_add_json (JsonBuilder *builder, const char *name, const CliRows *rows)
{
  cli_begin_array (builder, name);
  for (guint i = 0; i < rows->n_rows; i++) {
    json_builder_begin_object (builder);
    cli_columns_add_json (builder, rows->columns, rows->n_columns,
                          (const char *) rows->rows + i * rows->row_size);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
}
