/* output_test.c - numbers, CSV and JSON as other programs read them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/csv.h"
#include "cli/print/output.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What `print` writes; the caller frees it. */
static char *
captured (void (*print) (FILE *out, gconstpointer data), gconstpointer data)
{
  char *text = NULL, *copy;
  size_t length = 0;
  FILE *out = open_memstream (&text, &length);

  print (out, data);
  fclose (out);
  copy = g_strdup (text);
  free (text);
  return copy;
}

static void
test_numbers_are_short (void)
{
  char text[BASE_DECIMAL_SIZE];

  g_assert_cmpstr (base_decimal_print (text, 0.1), ==, "0.1");
  g_assert_cmpstr (base_decimal_print (text, 0), ==, "0");
  g_assert_cmpstr (base_decimal_print (text, 1e-12), ==, "1e-12");
  g_assert_cmpstr (base_decimal_print (text, 5e15), ==, "5e+15");
  g_assert_cmpstr (base_decimal_print (text, 0.1 + 0.2), ==, "0.30000000000000004");
  g_assert_cmpstr (base_decimal_print (text, NAN), ==, "");
}

static void
test_numbers_read_back (void)
{
  for (int i = 0; i < 10000; i++) {
    double value = ldexp (g_test_rand_double (), g_test_rand_int_range (-300, 300));
    char text[BASE_DECIMAL_SIZE];

    g_assert_cmpfloat (g_ascii_strtod (base_decimal_print (text, value), NULL), ==, value);
  }
}

static void
test_numbers_ignore_locale (void)
{
  char text[BASE_DECIMAL_SIZE];

  if (!setlocale (LC_NUMERIC, "de_DE.UTF-8")) {
    g_test_skip ("no locale with a decimal comma is installed");
    return;
  }
  g_assert_cmpstr (base_decimal_print (text, 2.5), ==, "2.5");
  setlocale (LC_NUMERIC, "C");
}

static void
print_field (FILE *out, gconstpointer text)
{
  base_csv_field (out, text);
}

static void
test_csv_quotes (void)
{
  static const char *const cases[][2] = {
    { "plain", "plain" },
    { "a,b", "\"a,b\"" },
    { "say \"no\"", "\"say \"\"no\"\"\"" },
    { "two\nlines", "\"two\nlines\"" },
    { "", "" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = captured (print_field, cases[i][0]);

    g_assert_cmpstr (text, ==, cases[i][1]);
  }
}

static JsonNode *
small_record (void)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (GPtrArray) strings = g_ptr_array_new ();

  g_ptr_array_add (strings, (gpointer) "one");
  g_ptr_array_add (strings, (gpointer) "a \"two\"");
  json_builder_begin_object (builder);
  cli_add_string (builder, "name", "x,y");
  cli_add_integer (builder, "big", G_GUINT64_CONSTANT (9007199254740993));
  cli_add_number (builder, "third", 1.0 / 3);
  cli_add_number (builder, "unknown", NAN);
  cli_add_strings (builder, "strings", strings);
  cli_begin_object (builder, "inner");
  cli_add_number (builder, "half", 0.5);
  json_builder_end_object (builder);
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}

static void
print_json (FILE *out, gconstpointer record)
{
  cli_print_record (out, (JsonNode *) record, CLI_FORMAT_JSON);
}

static void
print_csv (FILE *out, gconstpointer record)
{
  cli_print_record (out, (JsonNode *) record, CLI_FORMAT_CSV);
}

static void
test_json_reads_back (void)
{
  g_autoptr (JsonNode) record = small_record ();
  g_autoptr (GError) error = NULL;
  g_autofree char *text = captured (print_json, record);
  g_autoptr (JsonNode) back = json_from_string (text, &error);

  g_assert_no_error (error);
  g_assert_true (json_node_equal (record, back));
  g_assert_nonnull (strstr (text, "\"big\": 9007199254740993,"));
  g_assert_nonnull (strstr (text, "\"unknown\": null"));
}

/* A member may be named by a column of the user's table. */
static void
test_json_names (void)
{
  static const char *const names[] = { "a\"b", "back\\slash", "tab\there", "" };
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) record = NULL, back = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  json_builder_begin_object (builder);
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    cli_add_number (builder, names[i], (double) i + 0.5);
  json_builder_end_object (builder);
  record = json_builder_get_root (builder);
  text = captured (print_json, record);
  back = json_from_string (text, &error);
  g_assert_no_error (error);
  g_assert_true (json_node_equal (record, back));
}

static void
test_table_has_blocks_of_lines (void)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) record = NULL;
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream (&text, &size);

  json_builder_begin_object (builder);
  cli_add_string (builder, "c", "int\nf (void)\n");
  cli_add_string (builder, "name", "two\nlines");
  json_builder_end_object (builder);
  record = json_builder_get_root (builder);
  cli_print_record (out, record, CLI_FORMAT_TABLE);
  fclose (out);
  g_assert_cmpstr (text, ==,
                   "c                           int\n"
                   "                            f (void)\n"
                   "name                        two\\x0alines\n");
  free (text);
}

static void
test_csv_is_a_line_of_names_and_one_of_values (void)
{
  g_autoptr (JsonNode) record = small_record ();
  g_autofree char *text = captured (print_csv, record);

  g_assert_cmpstr (text, ==,
                   "name,big,third,unknown,strings,inner.half\n"
                   "\"x,y\",9007199254740993,0.3333333333333333,,\"one; a \"\"two\"\"\",0.5\n");
}

static void
test_json_is_utf8 (void)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) node = NULL;
  JsonObject *object;

  json_builder_begin_object (builder);
  cli_add_string (builder, "name", "b\377ad");
  json_builder_end_object (builder);
  node = json_builder_get_root (builder);
  object = json_node_get_object (node);
  g_assert_cmpstr (json_object_get_string_member (object, "name"), ==, "b\357\277\275ad");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/output/numbers-are-short", test_numbers_are_short);
  g_test_add_func ("/cli/output/numbers-read-back", test_numbers_read_back);
  g_test_add_func ("/cli/output/numbers-ignore-locale", test_numbers_ignore_locale);
  g_test_add_func ("/cli/output/csv-quotes", test_csv_quotes);
  g_test_add_func ("/cli/output/json-reads-back", test_json_reads_back);
  g_test_add_func ("/cli/output/json-names", test_json_names);
  g_test_add_func ("/cli/output/json-is-utf8", test_json_is_utf8);
  g_test_add_func ("/cli/output/table-blocks", test_table_has_blocks_of_lines);
  g_test_add_func ("/cli/output/csv-lines", test_csv_is_a_line_of_names_and_one_of_values);
  return g_test_run ();
}
