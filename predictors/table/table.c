/* table.c - tables: made, searched, cut into parts, and read from CSV files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/table/table.h"

#include "base/csv.h"
#include "base/error.h"
#include "base/words.h"
#include "base/decimal.h"
#include "predictors/predict_error.h"

#include <math.h>
#include <string.h>

/* Names that an error about a missing column lists. */
#define MAX_LISTED 12

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
  for (guint at = 0; at < table->n_columns; at++) {
    PredictColumn *column = &table->columns[at];

    g_free (column->name);
    g_free (column->unit);
    g_free (column->numbers);
    g_free (column->texts);
    g_clear_pointer (&column->labels, g_ptr_array_unref);
  }
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

/* The label of `text` in a column of texts, a new one if need be.  known: text -> label, of this
 * column, whose keys are its labels. */
static uint32_t
column_label (PredictColumn *column, GHashTable *known, const char *text)
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

void
predict_table_add_texts (PredictTable *table, const char *name, const char *const *texts)
{
  PredictColumn *column = add_column (table, name, NULL);
  g_autoptr (GHashTable) known = g_hash_table_new (g_str_hash, g_str_equal);
  g_autofree bool *is_text = NULL;
  double value;

  column->texts = g_new (uint32_t, table->n_rows + 1);
  column->labels = g_ptr_array_new_with_free_func (g_free);
  for (uint64_t row = 0; row < table->n_rows; row++)
    column->texts[row] = column_label (column, known, texts[row] != NULL ? texts[row] : "");
  /* Find the first row that is neither empty nor a number. */
  is_text = g_new (bool, column->labels->len + 1);
  for (guint label = 0; label < column->labels->len; label++) {
    const char *text = g_ptr_array_index (column->labels, label);

    is_text[label] = text[strspn (text, " \t")] != '\0' && !base_decimal_all (text, &value);
  }
  while (column->text_row < table->n_rows && !is_text[column->texts[column->text_row]])
    column->text_row++;
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
    if ((name == NULL || is_alike (name, table->columns[column].name)) && n++ < MAX_LISTED) {
      g_autofree char *quoted = base_quote (table->columns[column].name);

      g_string_append_printf (list, "%s%s", n > 1 ? ", " : "", quoted);
    }
  if (n > MAX_LISTED)
    g_string_append_printf (list, " and %u more", n - MAX_LISTED);
  return g_string_free (list, FALSE);
}

/* Sets *error: there is no column `name`, and which ones there are. */
static void
set_missing (const PredictTable *table, const char *name, GError **error)
{
  g_autofree char *alike = list_columns (table, name), *all = list_columns (table, NULL);
  g_autofree char *quoted = base_quote (name), *near = NULL;
  gboolean other_separator =
      table->n_columns == 1 && strpbrk (table->columns[0].name, ";\t") != NULL;

  if (*alike == '\0') {
    g_autoptr (GPtrArray) names = g_ptr_array_new ();
    const char *nearest;

    for (guint column = 0; column < table->n_columns; column++)
      g_ptr_array_add (names, table->columns[column].name);
    g_ptr_array_add (names, NULL);
    nearest = base_nearest (name, (const char *const *) names->pdata);
    near = nearest != NULL ? base_quote (nearest) : NULL;
  }
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

const PredictColumn *
predict_table_numbers (const PredictTable *table, const char *name, GError **error)
{
  const PredictColumn *column = predict_table_find (table, name);
  g_autofree char *quoted = NULL, *text = NULL;

  if (column == NULL) {
    set_missing (table, name, error);
    return NULL;
  }
  if (column->numbers != NULL)
    return column;
  quoted = base_quote (column->name);
  if (column->text_row == table->n_rows) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE, "%s: column %s holds texts",
                 table->source, quoted);
    return NULL;
  }
  text = base_quote (g_ptr_array_index (column->labels, column->texts[column->text_row]));
  predict_table_refuse (table, column->text_row, error, "column %s: %s is not a number", quoted,
                        text);
  return NULL;
}

gboolean
predict_table_is_unknown (const PredictTable *table, const PredictColumn *column)
{
  uint64_t n_unknown = 0;

  while (column->numbers != NULL && n_unknown < table->n_rows && isnan (column->numbers[n_unknown]))
    n_unknown++;
  return n_unknown > 0 && n_unknown == table->n_rows;
}

const double *
predict_table_finite (const PredictTable *table, const char *name, GError **error)
{
  const PredictColumn *column = predict_table_numbers (table, name, error);

  for (uint64_t row = 0; column != NULL && row < table->n_rows; row++)
    if (!isfinite (column->numbers[row])) {
      predict_table_refuse (table, row, error, "column \"%s\" has no finite number", name);
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

gboolean
predict_table_refuse (const PredictTable *table, uint64_t row, GError **error, const char *format,
                      ...)
{
  g_autofree char *place = predict_table_place (table, row), *message = NULL;
  va_list arguments;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE, "%s: %s", place, message);
  return FALSE;
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

/* -- some rows ----------------------------------------------------------- */

PredictTable *
predict_table_pick (const PredictTable *table, const uint64_t *rows, uint64_t n)
{
  PredictTable *picked = predict_table_new (table->source, n);

  for (guint at = 0; at < table->n_columns; at++) {
    const PredictColumn *column = &table->columns[at];

    if (column->numbers != NULL) {
      double *numbers = g_new (double, n);

      for (uint64_t row = 0; row < n; row++)
        numbers[row] = column->numbers[rows[row]];
      predict_table_take_numbers (picked, column->name, column->unit, numbers);
    } else {
      g_autofree const char **texts = g_new (const char *, n);

      for (uint64_t row = 0; row < n; row++)
        texts[row] = g_ptr_array_index (column->labels, column->texts[rows[row]]);
      predict_table_add_texts (picked, column->name, texts);
    }
  }
  if (table->lines == NULL)
    return picked;
  picked->lines = g_new (uint64_t, n + 1);
  for (uint64_t row = 0; row < n; row++)
    picked->lines[row] = table->lines[rows[row]];
  return picked;
}

/* -- groups -------------------------------------------------------------- */

/* The same bytes on every machine, and one NaN. */
static uint64_t
number_bits (double number)
{
  uint64_t bits;

  if (isnan (number))
    number = (double) NAN;
  memcpy (&bits, &number, sizeof bits);
  return GUINT64_TO_LE (bits);
}

/* Numbers as keys: all NaN are one, and so are 0 and -0. */
static gboolean
number_equal (gconstpointer left, gconstpointer right)
{
  double a = *(const double *) left, b = *(const double *) right;

  return a == b || (isnan (a) && isnan (b));
}

/* The upper bits of a product: those of whole numbers differ only in a few places. */
static guint
number_hash (gconstpointer key)
{
  double number = *(const double *) key;
  uint64_t bits = number == 0 ? 0 : number_bits (number);

  return (guint) ((bits * 0x9E3779B97F4A7C15u) >> 32);
}

uint32_t *
predict_table_groups (const PredictTable *table, const char *name, uint32_t *n_groups,
                      GError **error)
{
  const PredictColumn *column = name != NULL ? predict_table_find (table, name) : NULL;
  uint32_t *group;

  if (name != NULL && column == NULL) {
    set_missing (table, name, error);
    return NULL;
  }
  if (table->n_rows >= G_MAXUINT32) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE,
                 "%s: %" G_GUINT64_FORMAT " rows are too many for groups", table->source,
                 table->n_rows);
    return NULL;
  }
  group = g_new (uint32_t, table->n_rows + 1);
  *n_groups = 0;
  if (column == NULL)
    for (uint64_t row = 0; row < table->n_rows; row++)
      group[row] = (*n_groups)++;
  else if (column->numbers != NULL) {
    g_autoptr (GHashTable) known = g_hash_table_new (number_hash, number_equal);
    gpointer number;

    for (uint64_t row = 0; row < table->n_rows; row++) {
      if (!g_hash_table_lookup_extended (known, &column->numbers[row], NULL, &number)) {
        number = GUINT_TO_POINTER ((*n_groups)++);
        g_hash_table_insert (known, &column->numbers[row], number);
      }
      group[row] = GPOINTER_TO_UINT (number);
    }
  } else {
    /* Labels are in order of appearance, like groups. */
    memcpy (group, column->texts, table->n_rows * sizeof *group);
    *n_groups = column->labels->len;
  }
  return group;
}

uint32_t *
predict_table_sets (const PredictTable *table, const char *const *names, uint32_t *n_sets,
                    GError **error)
{
  g_autofree uint32_t *set = NULL;

  *n_sets = 0;
  for (; *names != NULL; names++) {
    uint32_t n_groups;
    g_autofree uint32_t *group = predict_table_groups (table, *names, &n_groups, error);
    g_autoptr (GHashTable) known =
        g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

    if (group == NULL)
      return NULL;
    if (set == NULL)
      set = g_new0 (uint32_t, table->n_rows + 1);
    *n_sets = 0;
    for (uint64_t row = 0; row < table->n_rows; row++) {
      uint64_t pair = (uint64_t) set[row] << 32 | group[row];
      gpointer number;

      if (!g_hash_table_lookup_extended (known, &pair, NULL, &number)) {
        number = GUINT_TO_POINTER ((*n_sets)++);
        g_hash_table_insert (known, g_memdup2 (&pair, sizeof pair), number);
      }
      set[row] = GPOINTER_TO_UINT (number);
    }
  }
  return g_steal_pointer (&set);
}

/* -- hash ---------------------------------------------------------------- */

#define HASH_BLOCK 512

/* With the NUL that ends it, so that no two lists of texts give the same bytes. */
static void
hash_text (GChecksum *checksum, const char *text)
{
  g_checksum_update (checksum, (const guchar *) text, (gssize) strlen (text) + 1);
}

char *
predict_table_hash (const PredictTable *table, const char *const *names)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);

  for (; *names != NULL; names++) {
    const PredictColumn *column = predict_table_find (table, *names);

    g_assert (column != NULL);
    hash_text (checksum, column->name);
    hash_text (checksum, column->numbers != NULL ? "numbers" : "texts");
    if (column->numbers != NULL)
      for (uint64_t first = 0; first < table->n_rows; first += HASH_BLOCK) {
        uint64_t block[HASH_BLOCK], length = MIN (HASH_BLOCK, table->n_rows - first);

        for (uint64_t at = 0; at < length; at++)
          block[at] = number_bits (column->numbers[first + at]);
        g_checksum_update (checksum, (const guchar *) block, (gssize) (length * sizeof *block));
      }
    else
      for (uint64_t row = 0; row < table->n_rows; row++)
        hash_text (checksum, g_ptr_array_index (column->labels, column->texts[row]));
  }
  return g_strdup (g_checksum_get_string (checksum));
}

/* == reading CSV files ====================================================
 *
 * A column is of numbers until a cell proves otherwise.  The spelling of its numbers is then lost, so the
 * file is read a second time, now with the kinds of all columns known: files with texts have them in
 * their first row as a rule, and are read once. */

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

/* -- rows ---------------------------------------------------------------- */

/* Refuses a line with more or fewer cells than the header; `at` is behind the first n. */
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

/* The cells of a row.  A cell that is no number makes its column one of texts: at once in the first
 * row, later by reading again. */
static BaseTaken
take_row (void *data, const char **at, GError **error)
{
  Reader *reader = data;
  PredictTable *table = reader->table;
  uint64_t row = table->n_rows;

  for (guint i = 0; i < reader->n_columns; i++) {
    PredictColumn *column = &table->columns[i];
    Kind *kind = &reader->kinds[i];
    const char *end = kind->is_text ? NULL : base_cell_number (*at, &column->numbers[row]);
    const char *text;
    double number = (double) NAN;

    if (end != NULL)
      *at = end;
    else {
      BaseTaken taken;

      reader->cells.column = column->name;
      taken = base_cells_take (&reader->cells, at, error);
      if (taken != BASE_TAKEN)
        return taken;
      text = reader->cells.cell->str;
      if (!kind->is_text && !kind->turned && *base_cell_skip_blanks (text) != '\0' &&
          !base_decimal_all (text, &number)) {
        column->text_row = row;
        if (row == 0)
          begin_texts (reader, i);
        else
          reader->again = kind->turned = true;
      }
      if (kind->is_text)
        column->texts[row] = column_label (column, kind->known, text);
      else
        column->numbers[row] = number;
    }
    if ((**at == ',') != (i + 1 < reader->n_columns))
      return refuse_count (reader, *at, i + 1, error);
    *at += **at == ',';
  }
  table->lines[table->n_rows++] = reader->cells.text.line;
  return BASE_TAKEN;
}

/* -- the table ----------------------------------------------------------- */

static gboolean
read_header (Reader *reader, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) known = g_hash_table_new (g_str_hash, g_str_equal);
  guint n_numbers = 0;
  double number;
  gboolean any;

  if (!base_cells_header (&reader->cells, names, &any, error))
    return FALSE;
  if (!any) {
    g_set_error (error, BASE_ERROR, BASE_ERROR_TEXT,
                 "%s: is empty: the first line must name the columns", reader->cells.text.name);
    return FALSE;
  }
  /* Where pandas writes the index of a table, the first column has no name. */
  if (names->len > 1 && *(char *) names->pdata[0] == '\0') {
    g_free (names->pdata[0]);
    names->pdata[0] = g_strdup ("row");
  }
  for (guint at = 0; at < names->len; at++) {
    char *name = g_ptr_array_index (names, at);
    g_autofree char *quoted = NULL;

    n_numbers += base_decimal_all (name, &number);
    if (*name == '\0')
      return base_cells_refuse (&reader->cells, error, "column %u has no name", at + 1) ==
             BASE_TAKEN;
    if (g_hash_table_add (known, name))
      continue;
    quoted = base_quote (name);
    return base_cells_refuse (&reader->cells, error, "two columns are called %s", quoted) ==
           BASE_TAKEN;
  }
  if (n_numbers == names->len)
    return base_cells_refuse (&reader->cells, error,
                              "the first line must name the columns; it has numbers") == BASE_TAKEN;
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
    if (!base_cells_line (&reader->cells, take_row, reader, &any, error))
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
  if (!base_text_rewind (&reader->cells.text, error) ||
      !base_cells_header (&reader->cells, names, &any, error) || !read_rows (reader, error))
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
