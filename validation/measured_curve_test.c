/* measured_curve_test.c - reading measured curves, and how far ours are from them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/measured_curve.h"

#include <math.h>
#include <string.h>

#define HEADING "# who\ncurve,bytes,value,unit\n"

static void
test_reads_curves_and_points (void)
{
  GError *error = NULL;
  g_autoptr (GPtrArray) curves = validation_curves_parse (
      HEADING "a,0,1.5,us\na,8,2,us\n\n# more\nb,1,300,MB/s\n", "x", &error);
  const ValidationCurve *a, *b;

  g_assert_no_error (error);
  g_assert_cmpuint (curves->len, ==, 2);
  a = validation_curve_find (curves, "a");
  b = validation_curve_find (curves, "b");
  g_assert_cmpmem (a->bytes->data, (int) (a->bytes->len * sizeof (guint64)), ((guint64[]){ 0, 8 }),
                   16);
  g_assert_cmpmem (a->values->data, (int) (a->values->len * sizeof (double)),
                   ((double[]){ 1.5, 2 }), 16);
  g_assert_cmpuint (b->bytes->len, ==, 1);
  g_assert_cmpstr (a->unit, ==, "us");
  g_assert_cmpstr (b->unit, ==, "MB/s");
  g_assert_cmpfloat (g_array_index (b->values, double, 0), ==, 300);
  g_assert_null (validation_curve_find (curves, "c"));
}

static void
test_refuses_what_is_no_point (void)
{
  static const char *const lines[] = {
    "a,9,1.5",              /* a column short */
    "a,9,1.5,us,",          /* a column too many */
    ",9,1.5,us",            /* no name */
    "a,9,1.5,",             /* no unit */
    "a,-1,1.5,us",          /* no size */
    "a,1k,1.5,us",          /* no plain number */
    "a,9,1.5us,us",         /* no number */
    "a,9,,us",              /* nothing */
    "a,9,0,us",             /* no time is 0 */
    "a,9,-1,us",            /* nor less */
    "a,9,nan,us",           /* not a number */
    "a,8,1.5,us",           /* the size again */
    "a,7,1.5,us",           /* sizes fall */
    "a,9,1.5,ms",           /* another unit */
    "b,1,1,us\na,9,1.5,us", /* begins again */
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_autofree char *text = g_strconcat (HEADING "a,8,2,us\n", lines[i], "\n", NULL);
    g_autoptr (GError) error = NULL;
    const char *last = strrchr (lines[i], '\n');

    g_assert_null (validation_curves_parse (text, "file.csv", &error));
    g_assert_error (error, VALIDATION_ERROR, VALIDATION_ERROR_DATA);
    g_assert_nonnull (strstr (error->message, last == NULL ? "file.csv:4:" : "file.csv:5:"));
    g_assert_nonnull (strstr (error->message, last == NULL ? lines[i] : last + 1));
  }
}

static void
test_refuses_other_columns (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (validation_curves_parse ("curve,bytes\na,1\n", "file.csv", &error));
  g_assert_error (error, VALIDATION_ERROR, VALIDATION_ERROR_DATA);
}

static void
test_median (void)
{
  double odd[] = { 3, 1, 2 }, even[] = { 4, 1, 8, 2 }, one[] = { 5 };

  g_assert_cmpfloat (validation_median (odd, 3), ==, 2);
  g_assert_cmpfloat (validation_median (even, 4), ==, 3);
  g_assert_cmpfloat (validation_median (one, 1), ==, 5);
  g_assert_true (isnan (validation_median (NULL, 0)));
}

/* Errors of 10 %, 50 % and 20 %, one of them below: the median is 20 %. */
static void
test_error_is_a_median_of_shares (void)
{
  const double simulated[] = { 1.1, 1, 12 };
  g_autoptr (GPtrArray) curves =
      validation_curves_parse (HEADING "a,1,1,us\na,2,2,us\na,4,10,us\n", "x", NULL);

  g_assert_cmpfloat_with_epsilon (
      validation_curve_error (validation_curve_find (curves, "a"), simulated), 0.2, 1e-12);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/validation/curve/reads-curves-and-points", test_reads_curves_and_points);
  g_test_add_func ("/validation/curve/refuses-what-is-no-point", test_refuses_what_is_no_point);
  g_test_add_func ("/validation/curve/refuses-other-columns", test_refuses_other_columns);
  g_test_add_func ("/validation/curve/median", test_median);
  g_test_add_func ("/validation/curve/error-is-a-median-of-shares",
                   test_error_is_a_median_of_shares);
  return g_test_run ();
}
