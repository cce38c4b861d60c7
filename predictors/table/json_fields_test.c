/* json_fields_test.c - numbers written as JSON are read back, whatever they look like.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/table/json_fields.h"

#include <float.h>
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
  predict_json_add_numbers (builder, "values", values, G_N_ELEMENTS (values));
  for (guint i = 0; i < G_N_ELEMENTS (words); i++) {
    g_autofree char *name = g_strdup_printf ("word%u", i);

    predict_json_add_string (builder, name, words[i]);
  }
  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  predict_json_print (root, out);
  fclose (out);

  back = json_from_string (text, &error);
  g_assert_no_error (error);
  object = json_node_get_object (back);
  g_assert_true (predict_json_numbers (object, "values", G_N_ELEMENTS (values), read, &error));
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
  predict_json_add_numbers (builder, "values", values, G_N_ELEMENTS (values));
  predict_json_add_number (builder, "one", INFINITY);
  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  predict_json_print (root, out);
  fclose (out);
  g_assert_null (strstr (text, "nan"));
  g_assert_null (strstr (text, "inf"));
  back = json_from_string (text, &error);
  g_assert_no_error (error);
  g_assert_true (json_object_get_null_member (json_node_get_object (back), "one"));
  g_assert_false (predict_json_numbers (json_node_get_object (back), "values",
                                        G_N_ELEMENTS (values), read, &error));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/json-fields/numbers", test_numbers);
  g_test_add_func ("/predictors/json-fields/not-finite", test_not_finite);
  return g_test_run ();
}
