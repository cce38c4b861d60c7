/* csv_cells.c - see csv_cells.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/table/csv_cells.h"

#include "predictors/predict_error.h"
#include "predictors/table/table_private.h"

#include <string.h>

gboolean
predict_cells_open (PredictCells *cells, const char *path, GError **error)
{
  *cells = (PredictCells){ .cell = g_string_new (NULL), .line = 1 };
  return predict_text_open (&cells->text, path, error);
}

void
predict_cells_clear (PredictCells *cells)
{
  predict_text_close (&cells->text);
  if (cells->cell != NULL)
    g_string_free (cells->cell, TRUE);
}

PredictTaken
predict_cells_refuse (const PredictCells *cells, GError **error, const char *format, ...)
{
  g_autoptr (GString) text = g_string_new (NULL);
  va_list arguments;

  g_string_printf (text, "%s:%" G_GUINT64_FORMAT ": ", cells->text.name, cells->line);
  if (cells->column != NULL) {
    g_autofree char *name = predict_table_quote (cells->column);

    g_string_append_printf (text, "column %s: ", name);
  }
  va_start (arguments, format);
  g_string_append_vprintf (text, format, arguments);
  va_end (arguments);
  g_set_error_literal (error, PREDICT_ERROR, PREDICT_ERROR_TABLE, text->str);
  return PREDICT_REFUSED;
}

/* The text between quotes; *at is behind the first, and then behind the last. */
static PredictTaken
take_quoted (PredictCells *cells, const char **at, GError **error)
{
  const char *quote;

  while ((quote = memchr (*at, '"', (gsize) (cells->text.end - *at))) != NULL) {
    g_string_append_len (cells->cell, *at, quote - *at);
    *at = quote + 1;
    /* There is a byte behind it: the block ends with a line feed. */
    if (**at != '"')
      return predict_cell_ends (*at)
                 ? PREDICT_TAKEN
                 : predict_cells_refuse (cells, error, "text behind the quote that ends a cell");
    g_string_append_c (cells->cell, '"');
    (*at)++;
  }
  return PREDICT_TAKE_MORE;
}

static PredictTaken
take_plain (PredictCells *cells, const char **at, GError **error)
{
  const char *from = *at;

  for (; !predict_cell_ends (*at); (*at)++) {
    if (**at == '"')
      return predict_cells_refuse (
          cells, error, "a quote within a cell: put quotes around it and double those within");
    if (**at == '\r')
      return predict_cells_refuse (cells, error, "a carriage return that ends no line");
  }
  g_string_append_len (cells->cell, from, *at - from);
  return PREDICT_TAKEN;
}

PredictTaken
predict_cells_take (PredictCells *cells, const char **at, GError **error)
{
  const char *from = *at;
  PredictTaken taken;

  g_string_truncate (cells->cell, 0);
  *at += *from == '"';
  taken = *from == '"' ? take_quoted (cells, at, error) : take_plain (cells, at, error);
  if (taken != PREDICT_TAKEN)
    return taken;
  if (!g_utf8_validate (cells->cell->str, (gssize) cells->cell->len, NULL))
    return predict_cells_refuse (cells, error, "text that is not UTF-8");
  for (; from < *at; from++)
    cells->line += *from == '\n';
  return PREDICT_TAKEN;
}
