/* csv.c - the cells of a CSV file (RFC 4180), one after the other.
 *
 * SPDX-License-Identifier: Apache-2.0 */
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

BaseTaken
base_cells_take (BaseCells *cells, const char **at, GError **error)
{
  const char *from = *at, *quote, *plain;

  g_string_truncate (cells->cell, 0);
  if (*from == '"') {
    for (++*at;; g_string_append_c (cells->cell, '"'), ++*at) {
      quote = memchr (*at, '"', (gsize) (cells->text.end - *at));
      if (quote == NULL)
        return BASE_TAKE_MORE;
      g_string_append_len (cells->cell, *at, quote - *at);
      *at = quote + 1;
      /* The quote is not the last byte: the block ends with a line feed. */
      if (**at != '"')
        break;
    }
    if (!base_cell_ends (*at))
      return base_cells_refuse (cells, error, "text behind the quote that ends a cell");
  } else {
    for (plain = *at; !base_cell_ends (*at); ++*at) {
      if (**at == '"')
        return base_cells_refuse (
            cells, error, "a quote within a cell: put quotes around it and double those within");
      if (**at == '\r')
        return base_cells_refuse (cells, error, "a carriage return that ends no line");
    }
    g_string_append_len (cells->cell, plain, *at - plain);
  }
  if (!g_utf8_validate (cells->cell->str, (gssize) cells->cell->len, NULL))
    return base_cells_refuse (cells, error, "text that is not UTF-8");
  for (; from < *at; from++)
    cells->line += *from == '\n';
  return BASE_TAKEN;
}

gboolean
base_cells_line (BaseCells *cells, BaseTaken (*take) (void *data, const char **at, GError **error),
                 void *data, gboolean *any, GError **error)
{
  BaseText *text = &cells->text;

  do {
    const char *at;
    BaseTaken taken = BASE_TAKE_MORE;

    while (text->at < text->end && *text->at != ',' &&
           base_cell_ends (text->at)) { /* empty lines */
      text->at += *text->at == '\r' ? 2 : 1;
      text->line++;
    }
    at = text->at;
    cells->line = text->line;
    cells->column = NULL;
    if (at < text->end)
      taken = take (data, &at, error);
    if (taken == BASE_TAKEN) {
      text->at = at + (*at == '\r' ? 2 : 1);
      text->line = cells->line + 1;
      *any = TRUE;
      return TRUE;
    }
    if (taken == BASE_REFUSED || !base_text_more (text, any, error))
      return FALSE;
  } while (*any);
  if (text->at == text->end)
    return TRUE;
  base_cells_refuse (cells, error, "a quote that does not end");
  return FALSE;
}

typedef struct {
  BaseCells *cells;
  GPtrArray *names; /* (element-type utf8) */
} Header;

static BaseTaken
take_names (void *data, const char **at, GError **error)
{
  Header *header = data;

  g_ptr_array_set_size (header->names, 0);
  for (;; (*at)++) {
    bool quoted = **at == '"';
    BaseTaken taken = base_cells_take (header->cells, at, error);
    char *name;

    if (taken != BASE_TAKEN)
      return taken;
    name = g_strdup (header->cells->cell->str);
    g_ptr_array_add (header->names, quoted ? name : g_strstrip (name));
    if (**at != ',')
      return BASE_TAKEN;
  }
}

gboolean
base_cells_header (BaseCells *cells, GPtrArray *names, gboolean *any, GError **error)
{
  Header header = { cells, names };

  return base_cells_line (cells, take_names, &header, any, error);
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

void
base_csv_field (FILE *out, const char *text)
{
  g_autofree char *safe = NULL;
  char *end;

  /* A spreadsheet takes such a text for a formula, unless it is a number. */
  if (csv_is_safe && *text != '\0' && strchr ("=+-@\t\r", *text) != NULL) {
    g_ascii_strtod (text, &end);
    if (end == text || *end != '\0')
      text = safe = g_strconcat ("'", text, NULL);
  }
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
