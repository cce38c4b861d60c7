/* published_test.c - reading published figures, and judging by them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/published.h"

#include <math.h>
#include <string.h>

#define HEADING "# who\nname,unit,low,high,tolerance,role,source,conditions\n"

static void
test_reads_figures_in_order (void)
{
  GError *error = NULL;
  g_autoptr (GPtrArray) all = validation_published_parse (
      HEADING
      "a,us,2.8,2.8,0.05,predicted,Paper,here\n\n# more\nb,GB/s,0.85,,,calibrated,Other,there\n",
      "x", &error);
  const ValidationPublished *first, *second;

  g_assert_no_error (error);
  g_assert_cmpuint (all->len, ==, 2);
  first = g_ptr_array_index (all, 0);
  second = g_ptr_array_index (all, 1);
  g_assert_cmpstr (first->name, ==, "a");
  g_assert_cmpstr (first->unit, ==, "us");
  g_assert_cmpfloat (first->tolerance, ==, 0.05);
  g_assert_cmpstr (first->role, ==, "predicted");
  g_assert_cmpstr (second->source, ==, "Other");
  g_assert_cmpstr (second->conditions, ==, "there");
  g_assert_cmpfloat (second->low, ==, 0.85);
  g_assert_true (isinf (second->high) && second->tolerance == 0);
}

static void
test_refuses_what_is_no_figure (void)
{
  static const char *const lines[] = {
    "a,us,2.8,2.8,0.05,predicted,Paper",          /* a column short */
    "a,us,2.8,2.8,0.05,predicted,Paper,one, two", /* a comma too many */
    ",us,2.8,2.8,0.05,predicted,Paper,here",      /* no name */
    "a,us,2.8us,2.8,0.05,predicted,Paper,here",   /* no number */
    "a,us,nan,2.8,0.05,predicted,Paper,here",     /* not a number */
    "a,us,3,2,0.05,predicted,Paper,here",         /* upside down */
    "a,us,,,0.05,predicted,Paper,here",           /* agrees with everything */
    "a,us,2,3,0.05,guessed,Paper,here",           /* no role */
    "a,us,2,3,-0.05,predicted,Paper,here",        /* negative tolerance */
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_autofree char *text = g_strconcat (HEADING, lines[i], "\n", NULL);
    g_autoptr (GError) error = NULL;

    g_assert_null (validation_published_parse (text, "file.csv", &error));
    g_assert_error (error, VALIDATION_ERROR, VALIDATION_ERROR_DATA);
    g_assert_nonnull (strstr (error->message, "file.csv:3:"));
    g_assert_nonnull (strstr (error->message, lines[i]));
  }
}

static void
test_refuses_other_columns (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (validation_published_parse ("name,low,high\na,1,2\n", "file.csv", &error));
  g_assert_error (error, VALIDATION_ERROR, VALIDATION_ERROR_DATA);
}

static void
test_tolerance_widens_both_ends (void)
{
  const ValidationPublished published = { .low = 2, .high = 4, .tolerance = 0.1 };

  g_assert_false (validation_agrees (&published, 1.79));
  g_assert_true (validation_agrees (&published, 1.81));
  g_assert_true (validation_agrees (&published, 4.39));
  g_assert_false (validation_agrees (&published, 4.41));
  g_assert_false (validation_agrees (&published, NAN));
}

static void
test_deviation_counts_from_the_nearer_end (void)
{
  const ValidationPublished published = { .low = 2, .high = 4 };

  g_assert_cmpfloat_with_epsilon (validation_deviation (&published, 1), -0.5, 1e-12);
  g_assert_cmpfloat (validation_deviation (&published, 3), ==, 0);
  g_assert_cmpfloat_with_epsilon (validation_deviation (&published, 5), 0.25, 1e-12);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/validation/published/reads-figures-in-order", test_reads_figures_in_order);
  g_test_add_func ("/validation/published/refuses-what-is-no-figure",
                   test_refuses_what_is_no_figure);
  g_test_add_func ("/validation/published/refuses-other-columns", test_refuses_other_columns);
  g_test_add_func ("/validation/published/tolerance-widens-both-ends",
                   test_tolerance_widens_both_ends);
  g_test_add_func ("/validation/published/deviation-counts-from-the-nearer-end",
                   test_deviation_counts_from_the_nearer_end);
  return g_test_run ();
}
