/* table_fuzz.c - any bytes as a CSV file, plain or packed.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * All cells of a table are looked at, and written out again: that must
 * read back as the same table. */
#include ".ci/fuzzing.h"
#include "base/error.h"
#include "predictors/predict_error.h"
#include "predictors/table/samples.h"
#include "predictors/table/table.h"

#include <string.h>

static const char *const texts[] = {
  "a,b\n1,2\n3.5e-3,-4\n",
  "\xEF\xBB\xBF name ,\"x,\"\"y\"\r\nnan,\"1\"\r\n inf ,\r\n\r\n",
  "a,b,c\n1,007,0.12345678901234567\n2,1.50,1e400\n3,text,99999999999999999999\n",
  "a\n\"\"\n\"line\nfeed\"\n",
  NULL,
};

static const char *const words[] = {
  "nan",
  "-inf",
  "1e400",
  "0x1p3",
  "\\x22\\x22",
  "\\x0d\\x0a",
  ",\\x22",
  "\\x22,",
  "\\xef\\xbb\\xbf",
  "0.1234567890123456789",
  "\\x1f\\x8b\\x08",
  NULL,
};

static void
seed (FuzzSeeds *seeds)
{
  fuzz_add_texts (seeds, texts);
  fuzz_add_words (seeds, words);
}

static PredictTable *
read_bytes (const void *data, size_t size)
{
  const char *path = fuzz_file (data, size);
  g_autoptr (GError) error = NULL;
  PredictTable *table;

  table = predict_table_read (path, &error);
  g_assert_true ((table == NULL) == (error != NULL));
  if (error != NULL)
    g_assert_true ((error->domain == PREDICT_ERROR || error->domain == BASE_ERROR) &&
                   strchr (error->message, '\n') == NULL &&
                   g_str_has_prefix (error->message, path));
  return table;
}

static void
append_cell (GString *text, guint column, const char *cell)
{
  g_autoptr (GString) doubled = g_string_new (cell);

  g_string_replace (doubled, "\"", "\"\"", 0);
  g_string_append_printf (text, "%s\"%s\"", column > 0 ? "," : "", doubled->str);
}

/* All cells in quotes. */
static GString *
print_table (const PredictTable *table)
{
  GString *text = g_string_new (NULL);

  for (guint column = 0; column < table->n_columns; column++)
    append_cell (text, column, table->columns[column].name);
  g_string_append_c (text, '\n');
  for (uint64_t row = 0; row < table->n_rows; row++) {
    for (guint column = 0; column < table->n_columns; column++) {
      g_autofree char *cell = predict_table_cell (table, column, row);

      append_cell (text, column, cell);
    }
    g_string_append_c (text, '\n');
  }
  return text;
}

static void
check_column (const PredictTable *table, const PredictColumn *column)
{
  const char *features[] = { column->name, NULL };
  g_autoptr (PredictSamples) samples = NULL;
  g_autofree char *hash = predict_table_hash (table, features);
  g_autofree uint32_t *group = NULL;
  uint32_t n_groups;

  g_assert_true ((column->numbers == NULL) != (column->texts == NULL));
  g_assert_true ((column->labels == NULL) == (column->texts == NULL));
  group = predict_table_groups (table, column->name, &n_groups, NULL);
  for (uint64_t row = 0; row < table->n_rows; row++)
    g_assert_true (group[row] < n_groups &&
                   (column->texts == NULL || column->texts[row] < column->labels->len));
  samples = predict_samples_from (table, features, column->name, TRUE, NULL);
  g_assert_true (samples == NULL || column->numbers != NULL);
}

static void
check_same (const PredictTable *table, const PredictTable *again)
{
  g_assert_true (again != NULL && again->n_rows == table->n_rows &&
                 again->n_columns == table->n_columns);
  for (guint column = 0; column < table->n_columns; column++) {
    const char *names[] = { table->columns[column].name, NULL };
    g_autofree char *hash = predict_table_hash (table, names);
    g_autofree char *hash_again = predict_table_hash (again, names);

    g_assert_cmpstr (hash, ==, hash_again);
  }
}

static void
check (const uint8_t *data, size_t size)
{
  g_autoptr (PredictTable) table = read_bytes (data, size), again = NULL;
  g_autoptr (GString) text = NULL;

  if (table == NULL)
    return;
  for (guint column = 0; column < table->n_columns; column++)
    check_column (table, &table->columns[column]);
  text = print_table (table);
  again = read_bytes (text->str, text->len);
  check_same (table, again);
}

const FuzzProgram fuzz_program = { NULL, seed, check };
