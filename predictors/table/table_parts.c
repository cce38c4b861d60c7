/* table_parts.c - see table.h: some rows, rows by groups, and what tells two tables apart.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/predict_error.h"
#include "predictors/table/table_private.h"

#include <math.h>
#include <string.h>

#define HASH_BLOCK 512

/* -- some rows ----------------------------------------------------------- */

/* The rows with keep[row], g_free(); never NULL. */
static uint64_t *
kept_rows (const PredictTable *table, const bool *keep, uint64_t *n_kept)
{
  uint64_t *rows = g_new (uint64_t, table->n_rows + 1);
  uint64_t n = 0;

  for (uint64_t row = 0; row < table->n_rows; row++)
    if (keep[row])
      rows[n++] = row;
  *n_kept = n;
  return rows;
}

static void
pick_numbers (PredictTable *picked, const PredictColumn *column, const uint64_t *rows)
{
  double *numbers = g_new (double, picked->n_rows);

  for (uint64_t row = 0; row < picked->n_rows; row++)
    numbers[row] = column->numbers[rows[row]];
  predict_table_take_numbers (picked, column->name, column->unit, numbers);
}

static void
pick_texts (PredictTable *picked, const PredictColumn *column, const uint64_t *rows)
{
  g_autofree const char **texts = g_new (const char *, picked->n_rows);

  for (uint64_t row = 0; row < picked->n_rows; row++)
    texts[row] = g_ptr_array_index (column->labels, column->texts[rows[row]]);
  predict_table_add_texts (picked, column->name, texts);
}

PredictTable *
predict_table_pick (const PredictTable *table, const uint64_t *rows, uint64_t n)
{
  PredictTable *picked = predict_table_new (table->source, n);

  for (guint at = 0; at < table->n_columns; at++)
    if (table->columns[at].numbers != NULL)
      pick_numbers (picked, &table->columns[at], rows);
    else
      pick_texts (picked, &table->columns[at], rows);
  if (table->lines == NULL)
    return picked;
  picked->lines = g_new (uint64_t, n + 1);
  for (uint64_t row = 0; row < n; row++)
    picked->lines[row] = table->lines[rows[row]];
  return picked;
}

PredictTable *
predict_table_select (const PredictTable *table, const bool *keep)
{
  uint64_t n;
  g_autofree uint64_t *rows = kept_rows (table, keep, &n);

  return predict_table_pick (table, rows, n);
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

static void
group_numbers (const PredictTable *table, const PredictColumn *column, uint32_t *group,
               uint32_t *n_groups)
{
  g_autoptr (GHashTable) known = g_hash_table_new (number_hash, number_equal);
  gpointer number;

  for (uint64_t row = 0; row < table->n_rows; row++) {
    double *key = &column->numbers[row];

    if (!g_hash_table_lookup_extended (known, key, NULL, &number)) {
      number = GUINT_TO_POINTER ((*n_groups)++);
      g_hash_table_insert (known, key, number);
    }
    group[row] = GPOINTER_TO_UINT (number);
  }
}

uint32_t *
predict_table_groups (const PredictTable *table, const char *name, uint32_t *n_groups,
                      GError **error)
{
  const PredictColumn *column = name != NULL ? predict_table_find (table, name) : NULL;
  uint32_t *group;

  if (name != NULL && column == NULL) {
    predict_table_set_missing (table, name, error);
    return NULL;
  }
  if (table->n_rows >= G_MAXUINT32) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE,
                 "%s: %" G_GUINT64_FORMAT " rows are too many to be in groups", table->source,
                 table->n_rows);
    return NULL;
  }
  group = g_new (uint32_t, table->n_rows + 1);
  *n_groups = 0;
  if (column == NULL)
    for (uint64_t row = 0; row < table->n_rows; row++)
      group[row] = (*n_groups)++;
  else if (column->numbers != NULL)
    group_numbers (table, column, group, n_groups);
  else {
    /* Labels are in order of appearance, as groups are to be. */
    memcpy (group, column->texts, table->n_rows * sizeof *group);
    *n_groups = column->labels->len;
  }
  return group;
}

/* -- hash ---------------------------------------------------------------- */

static void
hash_numbers (GChecksum *checksum, const double *numbers, uint64_t n)
{
  uint64_t block[HASH_BLOCK];

  for (uint64_t first = 0; first < n; first += HASH_BLOCK) {
    uint64_t length = MIN (HASH_BLOCK, n - first);

    for (uint64_t at = 0; at < length; at++)
      block[at] = number_bits (numbers[first + at]);
    g_checksum_update (checksum, (const guchar *) block, (gssize) (length * sizeof *block));
  }
}

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
      hash_numbers (checksum, column->numbers, table->n_rows);
    else
      for (uint64_t row = 0; row < table->n_rows; row++)
        hash_text (checksum, g_ptr_array_index (column->labels, column->texts[row]));
  }
  return g_strdup (g_checksum_get_string (checksum));
}
