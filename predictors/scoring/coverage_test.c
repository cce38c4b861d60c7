/* coverage_test.c - coverage by prediction and category: counted by hand, and of known laws.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/scoring/coverage.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

typedef struct {
  PredictTable *table;
  double *observed, *predicted, *deviation;
  uint32_t *group;
  uint32_t n_groups;
} Rows;

static void
rows_clear (Rows *rows)
{
  predict_table_free (rows->table);
  g_free (rows->observed);
  g_free (rows->predicted);
  g_free (rows->deviation);
  g_free (rows->group);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Rows, rows_clear)

/* Predictions 0 ... n - 1, each row its own group, columns "kind" (a, b, a, b ...) and "name" (all
 * different).  The errors are to be filled in. */
static Rows
make_rows (guint n)
{
  Rows rows = { predict_table_new ("rows", n),
                g_new0 (double, n),
                g_new (double, n),
                g_new0 (double, n),
                g_new (uint32_t, n),
                n };
  g_autofree const char **kinds = g_new (const char *, n);
  g_auto (GStrv) names = g_new0 (char *, n + 1);

  for (guint i = 0; i < n; i++) {
    rows.observed[i] = rows.predicted[i] = i;
    rows.group[i] = i;
    kinds[i] = i % 2 == 0 ? "a" : "b";
    names[i] = g_strdup_printf ("row %u", i);
  }
  predict_table_add_texts (rows.table, "kind", kinds);
  predict_table_add_texts (rows.table, "name", (const char *const *) names);
  return rows;
}

static GArray *
cover (const Rows *rows, double level)
{
  static const char *const columns[] = { "kind", "name", NULL };

  return predict_coverage (&(PredictCovered){ .table = rows->table,
                                              .observed = rows->observed,
                                              .predicted = rows->predicted,
                                              .deviation = rows->deviation,
                                              .group = rows->group,
                                              .n_groups = rows->n_groups,
                                              .level = level,
                                              .seed = 1 },
                           columns);
}

static const PredictCoverage *
at (const GArray *coverage, const char *by, const char *value)
{
  for (guint i = 0; i < coverage->len; i++) {
    const PredictCoverage *one = &g_array_index (coverage, PredictCoverage, i);

    if (g_str_equal (one->by, by) && g_str_equal (one->value, value))
      return one;
  }
  g_error ("no coverage by \"%s\" of \"%s\"", by, value);
}

/* Thirty rows of one class, three of which, all of kind a and low, are 50 off, the others 1: at a level of
 * a half every interval is 1 wide, and holds all but the three. */
static void
test_by_hand (void)
{
  g_auto (Rows) rows = make_rows (30);
  g_autoptr (GArray) coverage = NULL;
  const PredictCoverage *all, *low, *a, *b;

  for (guint i = 0; i < 30; i++)
    rows.observed[i] += i == 0 || i == 2 || i == 4 ? 50 : 1;
  coverage = cover (&rows, 0.5);
  g_assert_cmpuint (coverage->len, ==, 1 + 3 + 2); /* "name" has too many values */
  all = at (coverage, "all", "");
  g_assert_cmpuint (all->n, ==, 30);
  g_assert_cmpuint (all->groups, ==, 30);
  g_assert_cmpfloat_with_epsilon (all->share, 0.9, 1e-12);
  g_assert_cmpfloat_with_epsilon (all->half_width, 1, 1e-12);
  /* Wilson's bounds of 27 of 30: (p + z^2 / 2n -+ z sqrt (p q / n + z^2 / 4n^2)) / (1 + z^2 / n). */
  g_assert_cmpfloat_with_epsilon (all->low, 0.743790, 1e-5);
  g_assert_cmpfloat_with_epsilon (all->high, 0.965403, 1e-5);
  low = at (coverage, "prediction", "1 of 3");
  g_assert_cmpuint (low->n, ==, 10);
  g_assert_cmpfloat (low->from, ==, 0);
  g_assert_cmpfloat (low->to, ==, 9);
  g_assert_cmpfloat_with_epsilon (low->share, 0.7, 1e-12);
  g_assert_cmpfloat (at (coverage, "prediction", "3 of 3")->share, ==, 1);
  a = at (coverage, "kind", "a");
  b = at (coverage, "kind", "b");
  g_assert_cmpfloat_with_epsilon (a->share, 0.8, 1e-12);
  g_assert_true (isnan (a->from));
  g_assert_cmpuint (b->n, ==, 15);
  g_assert_cmpfloat (b->share, ==, 1);
}

/* A row's own error has no part in its interval: where every error is larger than all before it, the
 * largest is never held at a level that takes the largest of the others. */
static void
test_own_error (void)
{
  g_auto (Rows) rows = make_rows (12);
  g_autoptr (GArray) coverage = NULL;

  for (guint i = 0; i < 12; i++)
    rows.observed[i] += i + 1;
  coverage = cover (&rows, 0.9); /* eleven or fewer others: their largest */
  g_assert_cmpfloat (at (coverage, "all", "")->share, <, 1);
  g_assert_cmpfloat (at (coverage, "all", "")->share, >=, 10.0 / 12);
}

/* Rows without a prediction do not count; of one group nothing is known; of two, no interval of 90 %. */
static void
test_few (void)
{
  g_auto (Rows) rows = make_rows (12);
  g_autoptr (GArray) some = NULL, one = NULL, two = NULL;

  rows.predicted[3] = rows.predicted[7] = NAN;
  some = cover (&rows, 0.5);
  g_assert_cmpuint (at (some, "all", "")->n, ==, 10);
  g_assert_cmpuint (at (some, "kind", "b")->n, ==, 4);
  for (guint i = 0; i < 12; i++)
    rows.group[i] = i % 2;
  rows.n_groups = 2;
  two = cover (&rows, 0.9);
  g_assert_cmpuint (at (two, "all", "")->groups, ==, 2);
  g_assert_true (isinf (at (two, "all", "")->half_width));
  memset (rows.group, 0, 12 * sizeof *rows.group);
  rows.n_groups = 1;
  one = cover (&rows, 0.9);
  g_assert_cmpuint (one->len, ==, 0);
}

/* Errors of +- (0.1 + the prediction), uniform: each tenth is covered by nine tenths within four standard errors
 * of 200 rows, 8.5 %, and its half width is that of its middle. */
static void
test_law (void)
{
  enum { ROWS = 2000 };
  g_auto (Rows) rows = make_rows (ROWS);
  BaseRandom random = base_random_stream (1, 0);
  g_autoptr (GArray) coverage = NULL;

  for (guint i = 0; i < ROWS; i++) {
    rows.predicted[i] /= ROWS;
    rows.observed[i] =
        rows.predicted[i] + (0.1 + rows.predicted[i]) * (2 * base_random_unit (&random) - 1);
  }
  coverage = cover (&rows, 0.9);
  for (guint k = 0; k < 10; k++) {
    g_autofree char *value = g_strdup_printf ("%u of 10", k + 1);
    const PredictCoverage *tenth = at (coverage, "prediction", value);
    double wanted = 0.9 * (0.1 + (k + 0.5) / 10);

    g_test_message ("%s: %.3f, half width %.3f (%.3f)", value, tenth->share, tenth->half_width,
                    wanted);
    g_assert_cmpfloat (fabs (tenth->share - 0.9), <, 0.085);
    g_assert_cmpfloat (fabs (tenth->half_width / wanted - 1), <, 0.25);
  }
  g_assert_cmpfloat (fabs (at (coverage, "all", "")->share - 0.9), <, 0.027);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/coverage/by-hand", test_by_hand);
  g_test_add_func ("/predictors/coverage/own-error", test_own_error);
  g_test_add_func ("/predictors/coverage/few", test_few);
  g_test_add_func ("/predictors/coverage/law", test_law);
  return g_test_run ();
}
