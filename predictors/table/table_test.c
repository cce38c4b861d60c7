/* table_test.c - tables from files and from memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/predict_error.h"
#include "base/error.h"
#include "predictors/predict_testing.h"
#include "predictors/table/table.h"

#include <math.h>
#include <sys/stat.h>
#include <zlib.h>

#define NAME "hopcast-table-test.csv"

static char *folder;

static char *
file_path (void)
{
  return g_build_filename (folder, NAME, NULL);
}

static PredictTable *
read_bytes (const char *bytes, gssize length, GError **error)
{
  g_autofree char *path = file_path ();

  g_assert_true (g_file_set_contents (path, bytes, length, NULL));
  return predict_table_read (path, error);
}

static PredictTable *
read_text (const char *text)
{
  g_autoptr (GError) error = NULL;
  PredictTable *table = read_bytes (text, -1, &error);

  g_assert_no_error (error);
  return table;
}

/* All of a table on one line: columns with "#" behind those of numbers, then rows, with the line of
 * each: "a#|b;2:1|x;3:|y". */
static char *
flatten (const PredictTable *table)
{
  GString *flat = g_string_new (NULL);

  for (guint column = 0; column < table->n_columns; column++)
    g_string_append_printf (flat, "%s%s%s", column > 0 ? "|" : "", table->columns[column].name,
                            table->columns[column].numbers != NULL ? "#" : "");
  for (uint64_t row = 0; row < table->n_rows; row++)
    for (guint column = 0; column < table->n_columns; column++) {
      g_autofree char *cell = predict_table_cell (table, column, row);

      if (column == 0)
        g_string_append_printf (flat, ";%" G_GUINT64_FORMAT ":", table->lines[row]);
      g_string_append_printf (flat, "%s%s", column > 0 ? "|" : "", cell);
    }
  return g_string_free (flat, FALSE);
}

static void
assert_table (const char *text, const char *expected)
{
  g_autoptr (PredictTable) table = read_text (text);
  g_autofree char *flat = flatten (table);

  g_assert_cmpstr (flat, ==, expected);
}

static void
test_files (void)
{
  static const struct {
    const char *text, *flat;
  } cases[] = {
    { "a,b\n1,x\n,y\n", "a#|b;2:1|x;3:|y" },
    { "a,b", "a#|b#" },
    { "a,b\r\n", "a#|b#" },
    { "a\n7", "a#;2:7" },
    { "a,b\r\n1,2\r\n3,x\r\n", "a#|b;2:1|2;3:3|x" },
    { "\xEF\xBB\xBF"
      "a,b\n1,2\n",
      "a#|b#;2:1|2" },
    { "\n\r\na,b\n\n1,2\n\r\n\n3,4\n\n", "a#|b#;5:1|2;8:3|4" },
    { " a ,\tb\t,\" c \"\n 1 ,\t2 , 3\n", "a#|b#| c #;2:1|2|3" },
    { "a,b\n 1 x , y \n", "a|b;2: 1 x | y " },
    { "\"a,\"\"b\"\"\",c\n\"x\ny\",\"\"\n\"\",\"7\"\n", "a,\"b\"|c#;2:x\ny|;4:|7" },
    { "a\n\"\"\n1\n", "a#;2:;3:1" },
    { "a,b,c\nnan,inf,-Infinity\nNaN,-INF,1\n", "a#|b#|c#;2:|inf|-inf;3:|-inf|1" },
    { "a,b\n0x10,1e400\n", "a|b#;2:0x10|inf" },
    { "a,b\n1,007\n2,1.50\n3,x\n", "a#|b;2:1|007;3:2|1.50;4:3|x" },
    { "a,b\n, \n, 1\nx,\n", "a|b#;2:|;3:|1;4:x|" },
    { "a,b\n1,2\n3,4", "a#|b#;2:1|2;3:3|4" },
    { "a,b\n1,2\r", "a#|b#;2:1|2" },
    { ",a\n0,1\n", "row#|a#;2:0|1" },
    { "Zeit,\xC3\xBC\n1,\xE2\x82\xAC\n", "Zeit#|\xC3\xBC;2:1|\xE2\x82\xAC" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++)
    assert_table (cases[at].text, cases[at].flat);
}

static void
test_refusals (void)
{
  static const struct {
    const char *text, *problem;
  } cases[] = {
    { "", ": is empty: the first line must name the columns" },
    { "\n\r\n", ": is empty: the first line must name the columns" },
    { "a,b,a\n", ":1: two columns are called \"a\"" },
    { "a,,b\n", ":1: column 2 has no name" },
    { "a,\n", ":1: column 2 has no name" },
    { ",\n", ":1: column 2 has no name" },
    { "\"\"\n1\n", ":1: column 1 has no name" },
    { ",row\n1,2\n", ":1: two columns are called \"row\"" },
    { "\n1,2.5\n3,4\n", ":2: the first line must name the columns; it has numbers" },
    { "a,b\n1,2\n3\n", ":3: 1 cell, but there are 2 columns" },
    { "a,b\n1,2,3,\"4\",\n", ":2: 5 cells, but there are 2 columns" },
    { "a\n\n1,2\n", ":3: 2 cells, but there is 1 column" },
    { "a,b\n1,\"x\n\n", ":2: column \"b\": a quote that does not end" },
    { "a,\"b\n1,2\n", ":1: a quote that does not end" },
    { "a,b\n1,\"x\ny\",3\n", ":2: 3 cells, but there are 2 columns" },
    { "a,b\n\"x\ny\",\"z\" \n", ":3: column \"b\": text behind the quote that ends a cell" },
    { "a,b\n1,5\" disk\n", ":2: column \"b\": a quote within a cell" },
    { "a,b\n1, \"x\"\n", ":2: column \"b\": a quote within a cell" },
    { "a,b\r1,2\r", ":1: a carriage return that ends no line" },
    { "a,b\n1,x\ry\n", ":2: column \"b\": a carriage return that ends no line" },
    { "a,b\n1,\xFF\n", ":2: column \"b\": text that is not UTF-8" },
    { "\xC3,b\n", ":1: text that is not UTF-8" },
    { "a\"b\n", ":1: a quote within a cell" },
  };
  static const char nul_byte[] = "a,b\n1,2\n3,\0\n";
  g_autofree char *none = g_build_filename (folder, "none.csv", NULL);
  GError *error = NULL;

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autofree char *path = file_path ();
    g_autofree char *expected = g_strconcat (path, cases[at].problem, NULL);

    g_assert_null (read_bytes (cases[at].text, -1, &error));
    testing_take_error (&error, BASE_ERROR, expected);
  }
  g_assert_null (read_bytes (nul_byte, sizeof nul_byte - 1, &error));
  testing_take_error (&error, BASE_ERROR, NAME ":3: a NUL byte");
  g_assert_null (predict_table_read (none, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT);
  testing_take_error (&error, G_FILE_ERROR, none);
  g_assert_null (predict_table_read (folder, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_ISDIR);
  g_clear_error (&error);
}

/* -- numbers of many rows ------------------------------------------------ */

/* Rows that fill many blocks: numbers, texts with commas, quotes and line feeds, and empty cells,
 * each row by rule, and written by g_string_append_printf() alone. */
static char *
many_rows (uint64_t n, double *numbers, uint64_t *lines)
{
  GString *text = g_string_new ("n,text,empty,last\n");
  uint64_t line = 2;

  for (uint64_t row = 0; row < n; row++) {
    numbers[row] = g_test_rand_double_range (-1000, 1000);
    lines[row] = line;
    g_string_append_printf (text, "%.17g,", numbers[row]);
    if (row % 7 == 3)
      g_string_append_printf (text, "\"a\"\"%d\n,\",,%d\r\n", (int) (row % 3), (int) row);
    else
      g_string_append_printf (text, "plain,,%d\n", (int) row);
    line += row % 7 == 3 ? 2 : 1;
  }
  return g_string_free (text, FALSE);
}

static void
check_many_rows (const PredictTable *table, uint64_t n, const double *numbers,
                 const uint64_t *lines)
{
  g_assert_cmpuint (table->n_rows, ==, n);
  g_assert_cmpuint (table->columns[1].labels->len, ==, 4);
  for (uint64_t row = 0; row < n; row++) {
    g_autofree char *cell = predict_table_cell (table, 1, row);
    g_autofree char *quoted = g_strdup_printf ("a\"%d\n,", (int) (row % 3));

    g_assert_true (table->columns[0].numbers[row] == numbers[row]);
    g_assert_cmpstr (cell, ==, row % 7 == 3 ? quoted : "plain");
    g_assert_true (isnan (table->columns[2].numbers[row]));
    g_assert_true (table->columns[3].numbers[row] == (double) row);
    g_assert_cmpuint (table->lines[row], ==, lines[row]);
  }
}

static void
write_gzip (const char *path, const char *text, gsize length)
{
  gzFile file = gzopen (path, "wb1");

  g_assert_cmpint (gzwrite (file, text, (unsigned) length), ==, (int) length);
  g_assert_cmpint (gzclose (file), ==, Z_OK);
}

static void
test_many_rows_plain_and_gzip (void)
{
  enum { N = 50000 };
  g_autofree double *numbers = g_new (double, N);
  g_autofree uint64_t *lines = g_new (uint64_t, N);
  g_autofree char *text = many_rows (N, numbers, lines), *path = file_path ();
  g_autoptr (PredictTable) plain = read_text (text), packed = NULL;
  g_autoptr (GError) error = NULL;

  check_many_rows (plain, N, numbers, lines);
  write_gzip (path, text, strlen (text));
  packed = predict_table_read (path, &error);
  g_assert_no_error (error);
  check_many_rows (packed, N, numbers, lines);
}

/* 40 kB that unpack to 40 MB are refused; up to the limit any growth is allowed.  A file that stops
 * early is refused. */
static void
test_bad_gzip (void)
{
  g_autofree char *path = file_path (), *line = g_strnfill (400, '1'), *packed = NULL;
  g_autoptr (GString) text = g_string_new ("a\n");
  GError *error = NULL;
  g_autoptr (PredictTable) table = NULL;
  gsize length;

  while (text->len < 40 << 20)
    g_string_append_printf (text, "%s\n", line);
  write_gzip (path, text->str, text->len);
  g_assert_null (predict_table_read (path, &error));
  g_assert_true (g_str_has_prefix (error->message, path));
  g_assert_nonnull (strstr (error->message, "more than 16 MiB"));
  testing_take_error (&error, BASE_ERROR, "--unpack-all");
  g_string_truncate (text, 15 << 20);
  write_gzip (path, text->str, text->len);
  table = predict_table_read (path, &error);
  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (path, &packed, &length, NULL));
  g_assert_null (read_bytes (packed, (gssize) length / 2, &error));
  testing_take_error (&error, BASE_ERROR, "damaged gzip file");
}

/* A text in the last of many rows: cells read as numbers come back as they were written. */
static void
test_text_at_the_end (void)
{
  g_autoptr (GString) text = g_string_new ("a,b,c\n");
  g_autoptr (PredictTable) table = NULL;
  g_autoptr (GError) error = NULL;

  for (guint row = 0; row < 40000; row++)
    g_string_append_printf (text, "%04u,%u.50,%u\n", row % 10, row % 10, row);
  g_string_append (text, "1,none,\n");
  table = read_text (text->str);
  g_assert_cmpuint (table->n_rows, ==, 40001);
  g_assert_null (table->columns[1].numbers);
  g_assert_cmpuint (table->columns[1].labels->len, ==, 11);
  g_assert_cmpuint (table->columns[1].text_row, ==, 40000);
  g_assert_cmpstr (g_ptr_array_index (table->columns[1].labels, 7), ==, "7.50");
  g_assert_true (table->columns[2].numbers[39999] == 39999);
  g_assert_null (predict_table_numbers (table, "b", &error));
  g_assert_nonnull (strstr (error->message, NAME ":40002: column \"b\": \"none\" is not a number"));
}

static gpointer
write_all (gpointer data)
{
  g_autofree char *path = g_build_filename (folder, "pipe", NULL);
  FILE *pipe = g_fopen (path, "wb");

  fputs (data, pipe);
  fclose (pipe);
  return NULL;
}

/* A pipe is read twice all the same. */
static void
test_pipe (void)
{
  g_autoptr (GString) text = g_string_new ("a,b\n");
  g_autoptr (GError) error = NULL;
  g_autoptr (PredictTable) table = NULL;
  g_autofree char *path = g_build_filename (folder, "pipe", NULL);
  GThread *writer;

  for (guint row = 0; row < 30000; row++)
    g_string_append_printf (text, "%u,%02u\n", row, row);
  g_string_append (text, "1,x\n");
  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  writer = g_thread_new ("writer", write_all, text->str);
  table = predict_table_read (path, &error);
  g_thread_join (writer);
  g_unlink (path);
  g_assert_no_error (error);
  g_assert_cmpuint (table->n_rows, ==, 30001);
  g_assert_cmpstr (g_ptr_array_index (table->columns[1].labels, 7), ==, "07");
}

/* -- looking things up --------------------------------------------------- */

static void
test_missing_columns (void)
{
  g_autoptr (PredictTable) table = read_text ("max_bytes,avg_bytes,time_s\n1,2,3\n");
  g_autoptr (PredictTable) semicolons = read_text ("a;b\n1;2\n");
  GError *error = NULL;

  g_assert_true (predict_table_numbers (table, "time_s", NULL) == &table->columns[2]);
  g_assert_null (predict_table_numbers (table, "Max Bytes", &error));
  g_assert_null (strstr (error->message, "time_s"));
  testing_take_error (&error, PREDICT_ERROR, "no column \"Max Bytes\"; there is \"max_bytes\"");
  g_assert_null (predict_table_numbers (table, "zz", &error));
  testing_take_error (&error, PREDICT_ERROR,
                      "the columns are \"max_bytes\", \"avg_bytes\", \"time_s\"");
  g_assert_null (predict_table_numbers (semicolons, "b", &error));
  testing_take_error (&error, PREDICT_ERROR, "separated by commas");
}

static PredictTable *
made_table (void)
{
  static const double numbers[] = { 1, NAN, -0.0, 0, NAN, 1 };
  static const char *const texts[] = { "b", "a", NULL, "b", "c", "a" };
  PredictTable *table = predict_table_new ("made", G_N_ELEMENTS (numbers));

  predict_table_take_numbers (table, "n", "bytes", g_memdup2 (numbers, sizeof numbers));
  predict_table_add_texts (table, "t", texts);
  return table;
}

static void
assert_groups (const PredictTable *table, const char *name, const uint32_t *expected,
               uint32_t n_expected)
{
  uint32_t n_groups = 99;
  g_autoptr (GError) error = NULL;
  g_autofree uint32_t *group = predict_table_groups (table, name, &n_groups, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (n_groups, ==, n_expected);
  for (uint64_t row = 0; row < table->n_rows; row++)
    g_assert_cmpuint (group[row], ==, expected[row]);
}

static void
test_groups (void)
{
  static const uint32_t of_numbers[] = { 0, 1, 2, 2, 1, 0 }, of_texts[] = { 0, 1, 2, 0, 3, 1 };
  static const uint32_t own[] = { 0, 1, 2, 3, 4, 5 };
  g_autoptr (PredictTable) table = made_table ();
  g_autoptr (GError) error = NULL;
  uint32_t n_groups;

  assert_groups (table, "n", of_numbers, 3);
  assert_groups (table, "t", of_texts, 4);
  assert_groups (table, NULL, own, 6);
  g_assert_null (predict_table_groups (table, "x", &n_groups, &error));
  g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE);
}

static void
test_made_tables (void)
{
  g_autoptr (PredictTable) table = made_table (), none = predict_table_new ("none", 0);
  g_autofree char *place = predict_table_place (table, 1), *cell = predict_table_cell (table, 1, 2);
  g_autoptr (GError) error = NULL;

  g_assert_cmpstr (place, ==, "made, row 2");
  g_assert_cmpstr (cell, ==, "");
  g_assert_cmpstr (predict_table_find (table, "n")->unit, ==, "bytes");
  g_assert_cmpuint (predict_table_find (table, "t")->text_row, ==, 0);
  g_assert_null (predict_table_numbers (table, "t", &error));
  g_assert_nonnull (strstr (error->message, "made, row 1: column \"t\": \"b\" is not a number"));
  predict_table_take_numbers (none, "n", NULL, NULL);
  predict_table_add_texts (none, "t", NULL);
  g_assert_nonnull (predict_table_numbers (none, "n", NULL));
  g_assert_null (predict_table_numbers (none, "t", NULL));
}

static void
test_pick (void)
{
  static const uint64_t rows[] = { 2, 0, 2 }, texts[] = { 1, 2, 3 }, one_text[] = { 2 };
  static const char *const names[] = { "a", "c", "b", "d", NULL };
  g_autoptr (PredictTable) table = read_text ("a,b\n1,x\n\n2,y\n3,7\n4,y\n");
  g_autoptr (PredictTable) some = predict_table_pick (table, rows, 3);
  g_autoptr (PredictTable) behind = predict_table_pick (table, texts, 3);
  g_autoptr (PredictTable) one = predict_table_pick (table, one_text, 1);
  g_autofree char *flat = flatten (some), *flat_behind = flatten (behind);
  g_autoptr (GError) missing = NULL, error = NULL;

  g_assert_cmpstr (flat, ==, "a#|b;5:3|7;2:1|x;5:3|7");
  g_assert_false (predict_table_has_all (some, names, &missing));
  g_assert_nonnull (strstr (missing->message, "lacks columns that the model needs: \"c\", \"d\""));
  g_assert_true (predict_table_has_all (some, names + 4, NULL));
  g_assert_cmpstr (flat_behind, ==, "a#|b;4:2|y;5:3|7;6:4|y");
  g_assert_cmpuint (behind->columns[1].labels->len, ==, 2);
  g_assert_cmpuint (behind->columns[1].text_row, ==, 0);
  g_assert_null (predict_table_numbers (one, "b", &error));
  g_assert_nonnull (strstr (error->message, "column \"b\" holds texts"));
}

/* Differences that must, and must not, change the hash.  The hash of column n is that of the bytes
 * "n\0numbers\0" and three doubles, lowest byte first, by sha256sum. */
static void
test_hash (void)
{
  static const char *const n[] = { "n", NULL }, *const both[] = { "n", "t", NULL };
  static const char *const swapped[] = { "t", "n", NULL };
  g_autoptr (PredictTable) table = read_text ("n,t,z\n1,x,5\n-2.5,y,6\nnan,x,7\n");
  g_autoptr (PredictTable) same = read_text ("t,n\r\nx,1.0\r\n\r\ny,-25e-1\r\nx,-NaN\r\n");
  g_autoptr (PredictTable) order = read_text ("n,t\n1,x\nnan,x\n-2.5,y\n");
  g_autoptr (PredictTable) texts = read_text ("n,t\n1,x\n-2.5,y\nnan,xx\n");
  g_autofree char *hash = predict_table_hash (table, n), *all = predict_table_hash (table, both);
  g_autofree char *of_same = predict_table_hash (same, both);
  g_autofree char *of_order = predict_table_hash (order, both);
  g_autofree char *of_texts = predict_table_hash (texts, both);
  g_autofree char *of_swapped = predict_table_hash (table, swapped);

  g_assert_cmpstr (hash, ==, "6cbc08d3b935449f294ff4a67c042242ca036018c492c221e7c2682b0309c355");
  g_assert_cmpstr (all, ==, of_same);
  g_assert_cmpstr (all, !=, hash);
  g_assert_cmpstr (all, !=, of_order);
  g_assert_cmpstr (all, !=, of_texts);
  g_assert_cmpstr (all, !=, of_swapped);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  int status;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("hopcast-table-XXXXXX", &error);
  g_assert_no_error (error);
  g_test_add_func ("/predictors/table/files", test_files);
  g_test_add_func ("/predictors/table/refusals", test_refusals);
  g_test_add_func ("/predictors/table/many-rows", test_many_rows_plain_and_gzip);
  g_test_add_func ("/predictors/table/bad-gzip", test_bad_gzip);
  g_test_add_func ("/predictors/table/text-at-the-end", test_text_at_the_end);
  g_test_add_func ("/predictors/table/pipe", test_pipe);
  g_test_add_func ("/predictors/table/missing", test_missing_columns);
  g_test_add_func ("/predictors/table/groups", test_groups);
  g_test_add_func ("/predictors/table/made", test_made_tables);
  g_test_add_func ("/predictors/table/pick", test_pick);
  g_test_add_func ("/predictors/table/hash", test_hash);
  status = g_test_run ();
  path = file_path ();
  g_unlink (path);
  g_rmdir (folder);
  g_free (folder);
  return status;
}
