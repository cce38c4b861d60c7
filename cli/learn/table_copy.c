/* table_copy.c - a table again, with more columns.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/learn/table_copy.h"

#include "cli/command.h"
#include "study/text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFER_BYTES (1u << 18)
#define BOM          "\xEF\xBB\xBF"

/* Where standard input began: it may be a file that somebody has read a part of. */
static off_t input_start;

static void
set_input_error (GError **error)
{
  g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "standard input: %s", g_strerror (errno));
}

/* Everything there is to read, to `file`. */
static gboolean
put_aside (FILE *file)
{
  g_autofree char *buffer = g_malloc (BUFFER_BYTES);
  ssize_t n;

  while ((n = read (STDIN_FILENO, buffer, BUFFER_BYTES)) != 0) {
    if (n < 0 && errno != EINTR)
      return FALSE;
    if (n > 0 && fwrite (buffer, 1, (size_t) n, file) != (size_t) n)
      return FALSE;
  }
  return fflush (file) == 0;
}

gboolean
cli_keep_input (GError **error)
{
  FILE *file;
  gboolean kept;

  input_start = lseek (STDIN_FILENO, 0, SEEK_CUR);
  if (input_start >= 0)
    return TRUE;
  input_start = 0;
  file = tmpfile ();
  kept = file != NULL && put_aside (file) && dup2 (fileno (file), STDIN_FILENO) >= 0 &&
         lseek (STDIN_FILENO, 0, SEEK_SET) == 0;
  if (!kept)
    set_input_error (error);
  if (file != NULL)
    fclose (file);
  return kept;
}

/* -- out of a file ------------------------------------------------------------- */

typedef struct {
  gzFile file;
  uint64_t line; /* that `text` begins with, from 1 */
  GString *text; /* a record: a line without its end, or several where a quote spans them */
  uint64_t n_lines;
} Reader;

static gboolean
reader_open (Reader *reader, const char *path, GError **error)
{
  int descriptor = -1;

  *reader = (Reader){ .text = g_string_new (NULL) };
  if (strcmp (path, "-") != 0)
    reader->file = gzopen (path, "rbe");
  else if (lseek (STDIN_FILENO, input_start, SEEK_SET) >= 0 &&
           (descriptor = dup (STDIN_FILENO)) >= 0)
    reader->file = gzdopen (descriptor, "rb");
  if (reader->file == NULL) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: %s", path, g_strerror (errno));
    return FALSE;
  }
  gzbuffer (reader->file, BUFFER_BYTES);
  return TRUE;
}

static void
reader_clear (Reader *reader)
{
  if (reader->file != NULL)
    gzclose (reader->file);
  g_string_free (reader->text, TRUE);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Reader, reader_clear)

/* Adds a line with its end to the text; FALSE at the end of the file. */
static gboolean
add_line (Reader *reader)
{
  gsize before = reader->text->len;
  char piece[4096];

  while (gzgets (reader->file, piece, sizeof piece) != NULL) {
    g_string_append (reader->text, piece);
    if (reader->text->str[reader->text->len - 1] == '\n')
      break;
  }
  if (reader->text->len == before)
    return FALSE;
  reader->n_lines++;
  return TRUE;
}

/* Within quotes a quote is doubled: it is open after an odd number of them. */
static gboolean
is_open (const char *text)
{
  gboolean open = FALSE;

  for (text = strchr (text, '"'); text != NULL; text = strchr (text + 1, '"'))
    open = !open;
  return open;
}

static gboolean
next_record (Reader *reader)
{
  g_string_truncate (reader->text, 0);
  reader->line = reader->n_lines + 1;
  if (!add_line (reader))
    return FALSE;
  while (is_open (reader->text->str) && add_line (reader))
    ;
  while (reader->text->len > 0 && strchr ("\r\n", reader->text->str[reader->text->len - 1]) != NULL)
    g_string_truncate (reader->text, reader->text->len - 1);
  return TRUE;
}

/* A byte order mark alone is an empty line too. */
static gboolean
is_empty (const GString *text)
{
  return text->len == 0 || strcmp (text->str, BOM) == 0;
}

static void
print_names (FILE *out, const CliNewColumn *columns)
{
  for (; columns->name != NULL; columns++) {
    fputc (',', out);
    study_csv_field (out, columns->name);
  }
  fputc ('\n', out);
}

static void
print_numbers (FILE *out, const CliNewColumn *columns, uint64_t row)
{
  char number[STUDY_NUMBER_SIZE];

  for (; columns->name != NULL; columns++)
    fprintf (out, ",%s", study_number (number, columns->values[row]));
  fputc ('\n', out);
}

/* A record as it was read; its fields one by one where formulas are to be made harmless. */
static void
print_record (FILE *out, const GString *record)
{
  const char *at = record->str;

  if (!study_csv_is_safe ()) {
    fwrite (record->str, 1, record->len, out);
    return;
  }
  if (g_str_has_prefix (at, BOM)) {
    fputs (BOM, out);
    at += strlen (BOM);
  }
  for (gboolean more = TRUE; more; at++) {
    g_autoptr (GString) field = g_string_new (NULL);

    for (gboolean quoted = FALSE; *at != '\0' && (quoted || *at != ','); at++)
      if (*at != '"')
        g_string_append_c (field, *at);
      else if (quoted && at[1] == '"')
        g_string_append_c (field, *at++);
      else
        quoted = !quoted;
    study_csv_field (out, field->str);
    more = *at == ',';
    if (more)
      fputc (',', out);
  }
}

static gboolean
copy_file (const PredictTable *table, const char *path, const CliNewColumn *columns, FILE *out,
           GError **error)
{
  g_auto (Reader) reader = { NULL };
  gboolean has_header = FALSE;
  uint64_t row = 0;

  if (!reader_open (&reader, path, error))
    return FALSE;
  while (next_record (&reader)) {
    if (!has_header && !is_empty (reader.text)) {
      print_record (out, reader.text);
      print_names (out, columns);
      has_header = TRUE;
    } else if (row < table->n_rows && reader.line == table->lines[row]) {
      print_record (out, reader.text);
      print_numbers (out, columns, row++);
    }
  }
  if (row == table->n_rows)
    return TRUE;
  g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: has changed while it was read",
               table->source);
  return FALSE;
}

/* -- out of no file -------------------------------------------------------------- */

static void
copy_cells (const PredictTable *table, const CliNewColumn *columns, FILE *out)
{
  for (guint column = 0; column < table->n_columns; column++) {
    if (column > 0)
      fputc (',', out);
    study_csv_field (out, table->columns[column].name);
  }
  print_names (out, columns);
  for (uint64_t row = 0; row < table->n_rows; row++) {
    for (guint column = 0; column < table->n_columns; column++) {
      g_autofree char *cell = predict_table_cell (table, column, row);

      if (column > 0)
        fputc (',', out);
      study_csv_field (out, cell);
    }
    print_numbers (out, columns, row);
  }
}

gboolean
cli_table_copy (const PredictTable *table, const char *path, const CliNewColumn *columns, FILE *out,
                GError **error)
{
  for (const CliNewColumn *column = columns; column->name != NULL; column++)
    if (predict_table_find (table, column->name) != NULL) {
      g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: has a column '%s' already",
                   table->source, column->name);
      return FALSE;
    }
  if (table->lines != NULL)
    return copy_file (table, path, columns, out, error);
  copy_cells (table, columns, out);
  return TRUE;
}
