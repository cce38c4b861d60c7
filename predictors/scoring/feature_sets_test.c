/* feature_sets_test.c - sets of features by name, and lists of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/predict_error.h"
#include "predictors/scoring/feature_sets.h"

#include <string.h>

static void
assert_list (const char *text, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) list = predict_feature_list (text, &error);
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

    g_assert_null (predict_feature_list (texts[at], &error));
    g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION);
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
  return g_test_run ();
}
