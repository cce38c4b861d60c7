/* csv.c - the cells of a CSV file (RFC 4180), one after the other.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/csv.h"

#include "base/error.h"

#include <string.h>

gboolean
base_cells_open (BaseCells *cells, const char *path, GError **error)
{
  *cells = (BaseCells){ .cell = g_string_new (NULL), .line = 1 };
  return base_text_open (&cells->text, path, error);
}

void
base_cells_clear (BaseCells *cells)
{
  base_text_close (&cells->text);
  if (cells->cell != NULL)
    g_string_free (cells->cell, TRUE);
}

BaseTaken
base_cells_refuse (const BaseCells *cells, GError **error, const char *format, ...)
{
  g_autoptr (GString) text = g_string_new (NULL);
  va_list arguments;

  g_string_printf (text, "%s:%" G_GUINT64_FORMAT ": ", cells->text.name, cells->line);
  if (cells->column != NULL) {
    g_autofree char *name = base_quote (cells->column);

    g_string_append_printf (text, "column %s: ", name);
  }
  va_start (arguments, format);
  g_string_append_vprintf (text, format, arguments);
  va_end (arguments);
  g_set_error_literal (error, BASE_ERROR, BASE_ERROR_TEXT, text->str);
  return BASE_REFUSED;
}

/* The text between quotes; *at is behind the first, and then behind the last. */
static BaseTaken
take_quoted (BaseCells *cells, const char **at, GError **error)
{
  const char *quote;

  while ((quote = memchr (*at, '"', (gsize) (cells->text.end - *at))) != NULL) {
    g_string_append_len (cells->cell, *at, quote - *at);
    *at = quote + 1;
    /* There is a byte behind it: the block ends with a line feed. */
    if (**at != '"')
      return base_cell_ends (*at)
                 ? BASE_TAKEN
                 : base_cells_refuse (cells, error, "text behind the quote that ends a cell");
    g_string_append_c (cells->cell, '"');
    (*at)++;
  }
  return BASE_TAKE_MORE;
}

static BaseTaken
take_plain (BaseCells *cells, const char **at, GError **error)
{
  const char *from = *at;

  for (; !base_cell_ends (*at); (*at)++) {
    if (**at == '"')
      return base_cells_refuse (
          cells, error, "a quote within a cell: put quotes around it and double those within");
    if (**at == '\r')
      return base_cells_refuse (cells, error, "a carriage return that ends no line");
  }
  g_string_append_len (cells->cell, from, *at - from);
  return BASE_TAKEN;
}

BaseTaken
base_cells_take (BaseCells *cells, const char **at, GError **error)
{
  const char *from = *at;
  BaseTaken taken;

  g_string_truncate (cells->cell, 0);
  *at += *from == '"';
  taken = *from == '"' ? take_quoted (cells, at, error) : take_plain (cells, at, error);
  if (taken != BASE_TAKEN)
    return taken;
  if (!g_utf8_validate (cells->cell->str, (gssize) cells->cell->len, NULL))
    return base_cells_refuse (cells, error, "text that is not UTF-8");
  for (; from < *at; from++)
    cells->line += *from == '\n';
  return BASE_TAKEN;
}

/* --- Writing --- */

static gboolean csv_is_safe;

void
base_csv_make_safe (void)
{
  csv_is_safe = TRUE;
}

gboolean
base_csv_is_safe (void)
{
  return csv_is_safe;
}

static gboolean
is_formula (const char *text)
{
  char *end;

  if (*text == '\0' || strchr ("=+-@\t\r", *text) == NULL)
    return FALSE;
  g_ascii_strtod (text, &end);
  return end == text || *end != '\0';
}

void
base_csv_field (FILE *out, const char *text)
{
  g_autofree char *safe = csv_is_safe && is_formula (text) ? g_strconcat ("'", text, NULL) : NULL;

  if (safe != NULL)
    text = safe;
  if (!strpbrk (text, ",\"\r\n")) {
    fputs (text, out);
    return;
  }
  fputc ('"', out);
  for (; *text; text++) {
    if (*text == '"')
      fputc ('"', out);
    fputc (*text, out);
  }
  fputc ('"', out);
}
