/* json_test.c - numbers written as JSON are read back, and files of other things are refused.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include "base/error.h"

#include <float.h>
#include <glib/gstdio.h>
#include <math.h>

static void
test_numbers (void)
{
  static const double values[] = { 2e-8, -3e+20, 1e300, 5e-324, DBL_MAX, 0.5, 0, 1, 1e15, 1.5e-9 };
  static const char *const words[] = { "2e-08.0", "a\"1e+20.0", "\\", "" };
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) root = NULL, back = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  double read[G_N_ELEMENTS (values)];
  gsize n;
  FILE *out = open_memstream (&text, &n);
  JsonObject *object;

  json_builder_begin_object (builder);
  base_json_add_numbers (builder, "values", values, G_N_ELEMENTS (values));
  for (guint i = 0; i < G_N_ELEMENTS (words); i++) {
    g_autofree char *name = g_strdup_printf ("word%u", i);

    base_json_add_string (builder, name, words[i]);
  }
  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  base_json_print (root, out);
  fclose (out);

  back = json_from_string (text, &error);
  g_assert_no_error (error);
  object = json_node_get_object (back);
  g_assert_true (base_json_numbers (object, "values", G_N_ELEMENTS (values), read, &error));
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    g_assert_true (read[i] == values[i]);
  for (guint i = 0; i < G_N_ELEMENTS (words); i++) {
    g_autofree char *name = g_strdup_printf ("word%u", i);

    g_assert_cmpstr (json_object_get_string_member (object, name), ==, words[i]);
  }
}

/* JSON has no word for them: null, which a reader of numbers refuses. */
static void
test_not_finite (void)
{
  static const double values[] = { 1, NAN, -INFINITY };
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) root = NULL, back = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  double read[G_N_ELEMENTS (values)];
  gsize n;
  FILE *out = open_memstream (&text, &n);

  json_builder_begin_object (builder);
  base_json_add_numbers (builder, "values", values, G_N_ELEMENTS (values));
  base_json_add_number (builder, "one", INFINITY);
  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  base_json_print (root, out);
  fclose (out);
  g_assert_null (strstr (text, "nan"));
  g_assert_null (strstr (text, "inf"));
  back = json_from_string (text, &error);
  g_assert_no_error (error);
  g_assert_true (json_object_get_null_member (json_node_get_object (back), "one"));
  g_assert_false (base_json_numbers (json_node_get_object (back), "values", G_N_ELEMENTS (values),
                                     read, &error));
}

static gpointer
read_text (JsonObject *root, GError **error)
{
  return g_strdup (base_json_string (root, "text", error));
}

static void
test_files (void)
{
  static const struct {
    const char *text, *problem; /* NULL: it is read */
  } cases[] = {
    { "{ \"schema\": \"hopcast.text/1\", \"text\": \"x\" }\n", NULL },
    { "{ \"schema\": \"hopcast.text/1\" }", ": \"text\" is not a text" },
    { "{ \"text\": \"x\" }", ": \"schema\" is not a text" },
    { "{ \"schema\": \"hopcast.text/2\" }",
      ": a model of another version, hopcast.text/2; this program reads hopcast.text/1" },
    { "{ \"schema\": \"other/1\" }", ": no hopcast.text/1 but other/1" },
    { "{\n\"schema\": x }", ":2: no JSON: unexpected identifier `x', expected value" },
    { "", ": no model: no JSON object" },
    { "[]", ": no model: no JSON object" },
    { "{} {}", ": no JSON object and nothing else" },
    { "/* comment */ {}", ": no JSON object and nothing else" },
    { "[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]", ": no JSON object and nothing else" },
  };
  g_autofree char *folder = g_dir_make_tmp ("hopcast-json-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "file.json", NULL);

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *text = NULL;

    g_assert_true (g_file_set_contents (path, cases[at].text, -1, NULL));
    text = base_json_file (path, "hopcast.text/1", read_text, &error);
    if (cases[at].problem == NULL) {
      g_assert_no_error (error);
      g_assert_cmpstr (text, ==, "x");
    } else {
      g_autofree char *message = g_strconcat (path, cases[at].problem, NULL);

      g_assert_null (text);
      g_assert_error (error, BASE_ERROR, BASE_ERROR_JSON);
      g_assert_cmpstr (error->message, ==, message);
    }
  }
  g_unlink (path);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/json/numbers", test_numbers);
  g_test_add_func ("/base/json/not-finite", test_not_finite);
  g_test_add_func ("/base/json/files", test_files);
  return g_test_run ();
}
