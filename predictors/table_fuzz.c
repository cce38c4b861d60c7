/* table_fuzz.c - any bytes as a CSV file, plain or packed.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Of what is a table all cells are looked at, and written out again: that must
 * read back as the same table. */
#include "predictors/error.h"
#include "predictors/samples.h"
#include "predictors/table.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize (int *argc, char ***argv);
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static char *path; /* of the input, as a file */

static const char *const seeds[] = {
  "a,b\n1,2\n3.5e-3,-4\n",
  "\xEF\xBB\xBF name ,\"x,\"\"y\"\r\nnan,\"1\"\r\n inf ,\r\n\r\n",
  "a,b,c\n1,007,0.12345678901234567\n2,1.50,1e400\n3,text,99999999999999999999\n",
  "a\n\"\"\n\"line\nfeed\"\n",
};

static const char words[] = "\"nan\"\n\"-inf\"\n\"1e400\"\n\"0x1p3\"\n\"\\x22\\x22\"\n"
                            "\"\\x0d\\x0a\"\n\",\\x22\"\n\"\\x22,\"\n\"\\xef\\xbb\\xbf\"\n"
                            "\"0.1234567890123456789\"\n\"\\x1f\\x8b\\x08\"\n";

static void
write_seeds (const char *folder)
{
  g_autofree char *dictionary = g_strconcat (folder, ".dict", NULL);

  g_assert_true (g_file_set_contents (dictionary, words, -1, NULL));
  for (gsize at = 0; at < G_N_ELEMENTS (seeds); at++) {
    g_autofree char *seed = g_strdup_printf ("%s/seed-%02d", folder, (int) at);

    g_assert_true (g_file_set_contents (seed, seeds[at], -1, NULL));
  }
}

static void
remove_input (void)
{
  g_unlink (path);
  g_free (path);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  const char *folder = g_getenv ("FUZZ_SEEDS");

  (void) argc, (void) argv;
  if (folder != NULL) {
    write_seeds (folder);
    exit (0);
  }
  g_close (g_file_open_tmp ("table-fuzz-XXXXXX", &path, NULL), NULL);
  atexit (remove_input);
  return 0;
}

static PredictTable *
read_bytes (const void *data, size_t size)
{
  FILE *file = g_fopen (path, "wb");
  g_autoptr (GError) error = NULL;
  PredictTable *table;

  g_assert_true (file != NULL && fwrite (data, 1, size, file) == size && fclose (file) == 0);
  table = predict_table_read (path, &error);
  g_assert_true ((table == NULL) == (error != NULL));
  if (error != NULL)
    g_assert_true (error->domain == PREDICT_ERROR && strchr (error->message, '\n') == NULL &&
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

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (PredictTable) table = read_bytes (data, size), again = NULL;
  g_autoptr (GString) text = NULL;

  if (table == NULL)
    return 0;
  for (guint column = 0; column < table->n_columns; column++)
    check_column (table, &table->columns[column]);
  text = print_table (table);
  again = read_bytes (text->str, text->len);
  check_same (table, again);
  return 0;
}
