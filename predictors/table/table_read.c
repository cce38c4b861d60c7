/* table_read.c - tables from CSV files.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A column is of numbers until a cell proves otherwise.  What its numbers were
 * written like is then forgotten, so the file is read a second time, now with
 * the kinds of all columns known: files with texts have them in their first row as
 * a rule, and are read once. */
#include "config.h"

#include "predictors/table/table.h"

#include "base/csv.h"
#include "base/decimal.h"
#include "base/error.h"
#include "predictors/table/table_private.h"

#include <math.h>
#include <string.h>

#define FIRST_ROWS 1024

typedef struct {
  GHashTable *known; /* label -> index, of texts */
  bool is_text;      /* its cells are kept as texts */
  bool turned;       /* found to be one of texts behind the first row */
} Kind;

typedef struct {
  PredictTable *table;
  BaseCells cells;
  guint n_columns;
  Kind *kinds;       /* [n_columns] */
  uint64_t capacity; /* rows that columns have room for */
  bool again;        /* some column has turned */
} Reader;

static void
reader_clear (Reader *reader)
{
  for (guint column = 0; column < reader->n_columns; column++)
    g_clear_pointer (&reader->kinds[column].known, g_hash_table_unref);
  g_free (reader->kinds);
  predict_table_free (reader->table);
  base_cells_clear (&reader->cells);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Reader, reader_clear)

/* -- columns ------------------------------------------------------------- */

/* Gives the columns room for so many rows. */
static void
set_capacity (Reader *reader, uint64_t capacity)
{
  PredictTable *table = reader->table;

  reader->capacity = capacity;
  for (guint at = 0; at < reader->n_columns; at++) {
    PredictColumn *column = &table->columns[at];

    if (reader->kinds[at].is_text)
      column->texts = g_renew (uint32_t, column->texts, capacity);
    else
      column->numbers = g_renew (double, column->numbers, capacity);
  }
  table->lines = g_renew (uint64_t, table->lines, capacity);
}

static void
begin_texts (Reader *reader, guint at)
{
  PredictColumn *column = &reader->table->columns[at];

  reader->kinds[at] =
      (Kind){ .is_text = true, .known = g_hash_table_new (g_str_hash, g_str_equal) };
  g_clear_pointer (&column->numbers, g_free);
  column->labels = g_ptr_array_new_with_free_func (g_free);
  column->texts = g_new (uint32_t, reader->capacity);
}

/* The text in reader->cell may be the first that makes its column one of texts. */
static void
store_cell (Reader *reader, guint at)
{
  PredictColumn *column = &reader->table->columns[at];
  Kind *kind = &reader->kinds[at];
  uint64_t row = reader->table->n_rows;
  double number = (double) NAN;

  if (!kind->is_text && !kind->turned && *base_cell_skip_blanks (reader->cells.cell->str) != '\0' &&
      !base_decimal_all (reader->cells.cell->str, &number)) {
    column->text_row = row;
    if (row == 0)
      begin_texts (reader, at);
    else
      reader->again = kind->turned = true;
  }
  if (kind->is_text)
    column->texts[row] = predict_column_label (column, kind->known, reader->cells.cell->str);
  else
    column->numbers[row] = number;
}

/* -- rows ---------------------------------------------------------------- */

/* That a line has more or fewer cells than the header; `at` is behind the first n. */
static BaseTaken
refuse_count (Reader *reader, const char *at, guint n, GError **error)
{
  for (; *at == ','; n++) {
    at++;
    if (base_cells_take (&reader->cells, &at, NULL) != BASE_TAKEN)
      break;
  }
  reader->cells.line = reader->cells.text.line;
  reader->cells.column = NULL;
  return base_cells_refuse (&reader->cells, error, "%u cell%s, but there %s %u column%s", n,
                            n == 1 ? "" : "s", reader->n_columns == 1 ? "is" : "are",
                            reader->n_columns, reader->n_columns == 1 ? "" : "s");
}

static BaseTaken
take_row (Reader *reader, const char **at, GError **error)
{
  PredictTable *table = reader->table;

  for (guint column = 0; column < reader->n_columns; column++) {
    const char *end = reader->kinds[column].is_text
                          ? NULL
                          : base_cell_number (*at, &table->columns[column].numbers[table->n_rows]);

    if (end != NULL)
      *at = end;
    else {
      BaseTaken taken;

      reader->cells.column = table->columns[column].name;
      taken = base_cells_take (&reader->cells, at, error);
      if (taken != BASE_TAKEN)
        return taken;
      store_cell (reader, column);
    }
    if ((**at == ',') != (column + 1 < reader->n_columns))
      return refuse_count (reader, *at, column + 1, error);
    *at += **at == ',';
  }
  table->lines[table->n_rows++] = reader->cells.text.line;
  return BASE_TAKEN;
}

/* Commas separate names, around which blanks do not count unless they are quoted. */
static BaseTaken
take_names (Reader *reader, GPtrArray *names, const char **at, GError **error)
{
  g_ptr_array_set_size (names, 0);
  for (;; (*at)++) {
    bool quoted = **at == '"';
    BaseTaken taken = base_cells_take (&reader->cells, at, error);

    if (taken != BASE_TAKEN)
      return taken;
    g_ptr_array_add (names, quoted ? g_strdup (reader->cells.cell->str)
                                   : g_strstrip (g_strdup (reader->cells.cell->str)));
    if (**at != ',')
      return BASE_TAKEN;
  }
}

static void
skip_empty_lines (BaseText *text)
{
  while (text->at < text->end && *text->at != ',' && base_cell_ends (text->at)) {
    text->at += *text->at == '\r' ? 2 : 1;
    text->line++;
  }
}

/* The next line that is not empty: its names, or where names is NULL a row of the table.
 * *any: whether there was one. */
static gboolean
read_line (Reader *reader, GPtrArray *names, gboolean *any, GError **error)
{
  BaseText *text = &reader->cells.text;

  do {
    const char *at;
    BaseTaken taken = BASE_TAKE_MORE;

    skip_empty_lines (text);
    at = text->at;
    reader->cells.line = text->line;
    reader->cells.column = NULL;
    if (at < text->end)
      taken =
          names != NULL ? take_names (reader, names, &at, error) : take_row (reader, &at, error);
    if (taken == BASE_TAKEN) {
      text->at = at + (*at == '\r' ? 2 : 1);
      text->line = reader->cells.line + 1;
      *any = TRUE;
      return TRUE;
    }
    if (taken == BASE_REFUSED || !base_text_more (text, any, error))
      return FALSE;
  } while (*any);
  if (text->at == text->end)
    return TRUE;
  base_cells_refuse (&reader->cells, error, "a quote that does not end");
  return FALSE;
}

/* -- the table ----------------------------------------------------------- */

/* Where pandas writes the index of a table, the first column has no name. */
static void
name_index (GPtrArray *names)
{
  char **first = (char **) names->pdata;

  if (names->len < 2 || **first != '\0')
    return;
  g_free (*first);
  *first = g_strdup ("row");
}

static gboolean
check_names (const Reader *reader, const GPtrArray *names, GError **error)
{
  g_autoptr (GHashTable) known = g_hash_table_new (g_str_hash, g_str_equal);
  guint n_numbers = 0;
  double number;

  for (guint at = 0; at < names->len; at++) {
    char *name = g_ptr_array_index (names, at);

    n_numbers += base_decimal_all (name, &number);
    if (*name == '\0')
      return base_cells_refuse (&reader->cells, error, "column %u has no name", at + 1) ==
             BASE_TAKEN;
    if (!g_hash_table_add (known, name)) {
      g_autofree char *quoted = base_quote (name);

      return base_cells_refuse (&reader->cells, error, "two columns are called %s", quoted) ==
             BASE_TAKEN;
    }
  }
  if (n_numbers < names->len)
    return TRUE;
  base_cells_refuse (&reader->cells, error, "the first line must name the columns; it has numbers");
  return FALSE;
}

static gboolean
read_header (Reader *reader, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  gboolean any;

  if (!read_line (reader, names, &any, error))
    return FALSE;
  if (!any) {
    g_set_error (error, BASE_ERROR, BASE_ERROR_TEXT,
                 "%s: is empty: the first line must name the columns", reader->cells.text.name);
    return FALSE;
  }
  name_index (names);
  if (!check_names (reader, names, error))
    return FALSE;
  reader->n_columns = names->len;
  reader->kinds = g_new0 (Kind, names->len);
  for (guint at = 0; at < names->len; at++)
    predict_table_take_numbers (reader->table, g_ptr_array_index (names, at), NULL, NULL);
  set_capacity (reader, FIRST_ROWS);
  return TRUE;
}

static gboolean
read_rows (Reader *reader, GError **error)
{
  gboolean any = TRUE;

  while (any) {
    if (reader->table->n_rows == reader->capacity)
      set_capacity (reader, 2 * reader->capacity);
    if (!read_line (reader, NULL, &any, error))
      return FALSE;
  }
  return TRUE;
}

/* All rows once more, with the columns that have turned as texts. */
static gboolean
read_again (Reader *reader, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  uint64_t n_rows = reader->table->n_rows;
  gboolean any;

  for (guint at = 0; at < reader->n_columns; at++)
    if (reader->kinds[at].turned)
      begin_texts (reader, at);
  reader->again = false;
  reader->table->n_rows = 0;
  if (!base_text_rewind (&reader->cells.text, error) || !read_line (reader, names, &any, error) ||
      !read_rows (reader, error))
    return FALSE;
  if (!reader->again && reader->table->n_rows == n_rows)
    return TRUE;
  g_set_error (error, BASE_ERROR, BASE_ERROR_TEXT, "%s: changed while it was read",
               reader->cells.text.name);
  return FALSE;
}

PredictTable *
predict_table_read (const char *path, GError **error)
{
  g_auto (Reader) reader = { NULL };

  if (!base_cells_open (&reader.cells, path, error))
    return NULL;
  reader.table = predict_table_new (reader.cells.text.name, 0);
  if (!read_header (&reader, error) || !read_rows (&reader, error) ||
      (reader.again && !read_again (&reader, error)))
    return NULL;
  /* Room that is left over is given back, but for one row: no array is NULL. */
  set_capacity (&reader, MAX (reader.table->n_rows, 1));
  return g_steal_pointer (&reader.table);
}
