/* feature_sets_test.c - sets of features by name, and lists of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/predict_error.h"
#include "predictors/scoring/feature_sets.h"

#include <math.h>
#include <string.h>

static void
assert_list (const char *text, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) list = predict_feature_list (text, NULL, NULL, &error);
  g_autofree char *joined = NULL;

  g_assert_no_error (error);
  joined = g_strjoinv (" ", list);
  g_assert_cmpstr (joined, ==, expected);
}

/* Table 3 as it is printed; "A0" there is a misprint of "AO". */
static void
test_hybrids_are_the_papers (void)
{
  assert_list ("H1", "avg_bytes max_bytes max_FIFO");
  assert_list ("H2", "avg_bytes max_bytes sum_dilation_AO max_FIFO");
  assert_list ("H3", "avg_bytes max_bytes avg_buffer max_FIFO");
  assert_list ("H4", "avg_bytes max_bytes avg_buffer_TO");
  assert_list ("H5", "avg_bytes_TO avg_buffer_TO avg_delay_AO sum_hops_AO max_FIFO");
  assert_list ("H6", "avg_bytes_TO avg_buffer_AO avg_delay_TO avg_delay_AO sum_hops_AO max_FIFO");
}

static void
test_sets_are_within_all (void)
{
  const PredictFeatureSet *all = predict_feature_set ("all");
  guint n_sets = 0;

  g_assert_cmpuint (g_strv_length ((char **) all->features), ==, 31);
  for (const PredictFeatureSet *set = predict_feature_sets; set->name != NULL; set++, n_sets++) {
    g_assert_true (predict_feature_set (set->name) == set);
    for (guint at = 0; set->features[at] != NULL; at++)
      g_assert_true (g_strv_contains (all->features, set->features[at]));
  }
  g_assert_cmpuint (n_sets, ==, 9);
  g_assert_null (predict_feature_set ("h1"));
  g_assert_null (predict_feature_set (""));
}

static void
test_lists (void)
{
  assert_list ("a", "a");
  assert_list (" b ,a, b,c d", "b a c d");
  assert_list ("max_FIFO,prior,ranks,H1", "max_FIFO max_dilation avg_bytes max_bytes ranks");
}

static void
test_empty_names (void)
{
  static const char *const texts[] = { "", " ", ",", "a,", ",a", "a,,b", "H1, " };

  for (gsize at = 0; at < G_N_ELEMENTS (texts); at++) {
    g_autoptr (GError) error = NULL;

    g_assert_null (predict_feature_list (texts[at], NULL, NULL, &error));
    g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION);
  }
}

/* A set loses the features that are unknown in all rows; one that is named by itself, or known in part, stays. */
static void
test_unknown_features (void)
{
  static const char *const cases[][3] = {
    { "H3", "avg_bytes max_bytes max_FIFO", "avg_buffer" },
    { "H3,avg_buffer", "avg_bytes max_bytes avg_buffer max_FIFO", "" },
    { "H3,H4,prior", "avg_bytes max_bytes max_FIFO avg_buffer_TO max_dilation", "avg_buffer" },
    { "avg_buffer", "avg_buffer", "" },
  };
  static const char *const features[] = { "avg_bytes", "max_bytes", "avg_buffer", "max_FIFO" };
  g_autoptr (PredictTable) table = predict_table_new ("loads", 2);

  for (gsize feature = 0; feature < G_N_ELEMENTS (features); feature++) {
    double *numbers = g_new (double, 2);

    numbers[0] = feature < 2 ? 1 : (double) NAN; /* max_FIFO is known in the second row alone */
    numbers[1] = feature != 2 ? 1 : (double) NAN;
    predict_table_take_numbers (table, features[feature], NULL, numbers);
  }
  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (GPtrArray) left_out = g_ptr_array_new_with_free_func (g_free);
    g_auto (GStrv) list = predict_feature_list (cases[at][0], table, left_out, NULL);
    g_autofree char *joined = g_strjoinv (" ", list), *others = NULL;

    g_ptr_array_add (left_out, NULL);
    others = g_strjoinv (" ", (char **) left_out->pdata);
    g_assert_cmpstr (joined, ==, cases[at][1]);
    g_assert_cmpstr (others, ==, cases[at][2]);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/feature-sets/hybrids", test_hybrids_are_the_papers);
  g_test_add_func ("/predictors/feature-sets/all", test_sets_are_within_all);
  g_test_add_func ("/predictors/feature-sets/lists", test_lists);
  g_test_add_func ("/predictors/feature-sets/empty", test_empty_names);
  g_test_add_func ("/predictors/feature-sets/unknown", test_unknown_features);
  return g_test_run ();
}
