/* student_test.c - Student's distribution against published tables and closed forms.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/student.h"

#include <glib.h>
#include <math.h>

/* Abramowitz and Stegun, table 26.10, three digits after the point. */
static void
test_table (void)
{
  static const struct {
    double probability;
    unsigned degrees;
    double t;
  } table[] = {
    { .95, 1, 12.706 }, { .95, 2, 4.303 },   { .95, 3, 3.182 },  { .95, 4, 2.776 },
    { .95, 5, 2.571 },  { .95, 9, 2.262 },   { .95, 10, 2.228 }, { .95, 19, 2.093 },
    { .95, 30, 2.042 }, { .95, 120, 1.980 }, { .99, 3, 5.841 },  { .99, 10, 3.169 },
    { .9, 7, 1.895 },   { .5, 1, 1.000 },    { .5, 120, 0.677 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (table); i++)
    g_assert_cmpfloat_with_epsilon (base_student_within (table[i].probability, table[i].degrees),
                                    table[i].t, 5.01e-4);
}

/* Cauchy's and that of two degrees have closed forms. */
static void
test_closed_forms (void)
{
  for (double p = .01; p < 1; p += .01) {
    g_assert_cmpfloat_with_epsilon (base_student_within (p, 1) / tan (1.57079632679489661923 * p),
                                    1, 1e-12);
    g_assert_cmpfloat_with_epsilon (base_student_within (p, 2) / (p * sqrt (2 / (1 - p * p))), 1,
                                    1e-12);
  }
}

/* With many degrees of freedom it is the normal distribution, whose .95 is within 1.95996. */
static void
test_limits (void)
{
  g_assert_cmpfloat_with_epsilon (base_student_within (.95, 100000), 1.959964, 1e-4);
  g_assert_cmpfloat (base_student_within (0, 4), <, 1e-300);
  for (unsigned degrees = 1; degrees < 40; degrees++)
    g_assert_cmpfloat (base_student_within (.95, degrees), >,
                       base_student_within (.95, degrees + 1));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/student/table", test_table);
  g_test_add_func ("/base/student/closed-forms", test_closed_forms);
  g_test_add_func ("/base/student/limits", test_limits);
  return g_test_run ();
}
