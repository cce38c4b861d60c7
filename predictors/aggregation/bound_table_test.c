/* bound_table_test.c - curves worked by hand, files that are wrong.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/aggregation/bound_table.h"

#include "predictors/predict_error.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define HEADING "operation,where,class,pairs,outside,ranks,bytes,time_us\n"

static const PredictBoundKind alone = {
  PREDICT_BOUND_MESSAGE, PREDICT_BOUND_WITHIN, "(oo)", 0, 0, 2
};

static PredictBoundTable *
read_text (const char *text, GError **error)
{
  g_autofree char *path = NULL;
  int file = g_file_open_tmp ("bound-XXXXXX.csv", &path, NULL);
  PredictBoundTable *table;

  g_assert_cmpint (file, >=, 0);
  close (file);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  table = predict_bound_table_read (path, error);
  g_unlink (path);
  return table;
}

static PredictBoundTable *
read_good (const char *text)
{
  g_autoptr (GError) error = NULL;
  PredictBoundTable *table = read_text (text, &error);

  g_assert_no_error (error);
  return table;
}

static void
assert_us (const PredictBoundTable *table, const PredictBoundKind *kind, double bytes,
           double expected_us, bool expected_beyond)
{
  const PredictBoundCurve *curve = predict_bound_table_find (table, kind);
  bool beyond = false;

  g_assert_nonnull (curve);
  g_assert_cmpfloat_with_epsilon (predict_bound_curve_s (curve, bytes, &beyond) * 1e6, expected_us,
                                  1e-9);
  g_assert_cmpint (beyond, ==, expected_beyond);
}

/* 2 us and 1 us per 8 bytes up to 24, then 1 us per 4; rows in any order. */
static void
test_between_and_beyond (void)
{
  g_autoptr (PredictBoundTable) table = read_good (HEADING "pingpong,within,(oo),0,0,2,24,5\n"
                                                           "pingpong,within,(oo),0,0,2,8,3\n"
                                                           "pingpong,within,(oo),0,0,2,40,9\n");

  assert_us (table, &alone, 0, 3, false);
  assert_us (table, &alone, 8, 3, false);
  assert_us (table, &alone, 16, 4, false);
  assert_us (table, &alone, 24, 5, false);
  assert_us (table, &alone, 28, 6, false);
  assert_us (table, &alone, 40, 9, false);
  assert_us (table, &alone, 80, 19, true);
}

/* The time at 16 bytes is below that at 8: until 24 nothing is faster. */
static void
test_never_faster (void)
{
  g_autoptr (PredictBoundTable) table = read_good (HEADING "pingpong,within,(oo),0,0,2,8,4\n"
                                                           "pingpong,within,(oo),0,0,2,16,3\n"
                                                           "pingpong,within,(oo),0,0,2,24,6\n");

  assert_us (table, &alone, 12, 4, false);
  assert_us (table, &alone, 16, 4, false);
  assert_us (table, &alone, 20, 5, false);
}

static void
test_single_sizes (void)
{
  const PredictBoundKind barrier = { "barrier", PREDICT_BOUND_ALL, "(oo)", 0, 0, 16 };
  g_autoptr (PredictBoundTable) table = read_good (HEADING "pingpong,within,(oo),0,0,2,8,3\n"
                                                           "barrier,,(oo),0,0,16,0,20\n");

  assert_us (table, &alone, 4, 3, false);
  assert_us (table, &alone, 32, 12, true);
  assert_us (table, &barrier, 0, 20, false);
  assert_us (table, &barrier, 8, 20, true);
}

static void
test_kinds (void)
{
  PredictBoundKind kind = alone;
  g_autoptr (PredictBoundTable) table = read_good (HEADING "pingpong,within,(oo),0,0,2,8,3\n"
                                                           "pingpong,between,(oo),0,0,2,8,4\n"
                                                           "pingpong,within,(oox),0,1,2,8,5\n"
                                                           "pingpong,within,(oox),1,1,2,8,6\n"
                                                           "allreduce,,(oo),0,0,16,8,7\n"
                                                           "allreduce,,(oo),0,0,32,8,8\n");

  g_assert_cmpuint (predict_bound_table_curves (table), ==, 6);
  assert_us (table, &kind, 8, 3, false);
  kind.where = PREDICT_BOUND_BETWEEN;
  assert_us (table, &kind, 8, 4, false);
  kind = (PredictBoundKind){ PREDICT_BOUND_MESSAGE, PREDICT_BOUND_WITHIN, "(oox)", 0, 1, 2 };
  assert_us (table, &kind, 8, 5, false);
  kind.pairs = 1;
  assert_us (table, &kind, 8, 6, false);
  kind.outside = 2;
  g_assert_null (predict_bound_table_find (table, &kind));
  kind = (PredictBoundKind){ "allreduce", PREDICT_BOUND_ALL, "(oo)", 0, 0, 32 };
  assert_us (table, &kind, 8, 8, false);
}

/* Of the placements within a node that have a pair of noise at least, the longest is that with
 * two; nothing has three. */
static void
test_longest (void)
{
  PredictBoundKind kind = { PREDICT_BOUND_MESSAGE, PREDICT_BOUND_WITHIN, "(oo..)", 1, 0, 2 };
  g_autoptr (PredictBoundTable) table = read_good (HEADING "pingpong,within,(a),0,0,2,8,90\n"
                                                           "pingpong,between,(b),1,0,2,8,80\n"
                                                           "pingpong,within,(c),1,0,2,8,5\n"
                                                           "pingpong,within,(d),2,1,2,8,7\n");
  bool beyond = false;

  g_assert_cmpfloat_with_epsilon (predict_bound_table_longest_s (table, &kind, 8, &beyond), 7e-6,
                                  1e-15);
  g_assert_false (beyond);
  g_assert_cmpfloat_with_epsilon (predict_bound_table_longest_s (table, &kind, 16, &beyond), 14e-6,
                                  1e-15);
  g_assert_true (beyond);
  kind.pairs = 3;
  g_assert_true (isnan (predict_bound_table_longest_s (table, &kind, 8, &beyond)));
}

/* What is written reads back, curve by curve, sizes ascending. */
static void
test_write (void)
{
  g_autoptr (PredictBoundTable) table = read_good (HEADING "pingpong,between,(o.x),1,2,2,64,3.25\n"
                                                           "allreduce,,(oo),0,0,16,8,0.1\n"
                                                           "pingpong,between,(o.x),1,2,2,8,3\n");
  char *text;
  size_t length;
  FILE *out = open_memstream (&text, &length);

  predict_bound_table_write (table, out);
  fclose (out);
  g_assert_cmpstr (text, ==,
                   HEADING "pingpong,between,(o.x),1,2,2,8,3\n"
                           "pingpong,between,(o.x),1,2,2,64,3.25\n"
                           "allreduce,,(oo),0,0,16,8,0.1\n");
  free (text);
}

static void
test_broken (void)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
    { "operation,where,bytes\nx,,1\n", "class" },
    { HEADING "pingpong,,(oo),0,0,2,8,3\n", ":2: where: \"\" of a pingpong" },
    { HEADING "pingpong,inside,(oo),0,0,2,8,3\n", ":2: where: \"inside\" of a pingpong" },
    { HEADING "bcast,within,(oo),0,0,2,8,3\n", ":2: where: \"within\" is not empty" },
    { HEADING ",within,(oo),0,0,2,8,3\n", ":2: operation: none" },
    { HEADING "pingpong,within,(oo),0.5,0,2,8,3\n", ":2: pairs: 0.5 is not a whole number" },
    { HEADING "pingpong,within,(oo),0,-1,2,8,3\n", ":2: outside: -1 is not a whole number" },
    { HEADING "pingpong,within,(oo),0,0,2,1e17,3\n", ":2: bytes: 1e+17 is not a whole number" },
    { HEADING "pingpong,within,(oo),0,0,2,8,0\n", ":2: time_us: 0 is not above 0" },
    { HEADING "pingpong,within,(oo),0,0,2,8,x\n", "time_us" },
    { HEADING "pingpong,within,(oo),0,0,2,8,3\npingpong,within,(oo),0,0,2,8,4\n",
      ":3: pingpong of 8 bytes in placement (oo) is there twice" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (GError) error = NULL;

    g_assert_null (read_text (cases[at].text, &error));
    g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE);
    if (strstr (error->message, cases[at].message) == NULL)
      g_error ("\"%s\", expected \"%s\"", error->message, cases[at].message);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bound-table/between-and-beyond", test_between_and_beyond);
  g_test_add_func ("/bound-table/never-faster", test_never_faster);
  g_test_add_func ("/bound-table/single-sizes", test_single_sizes);
  g_test_add_func ("/bound-table/kinds", test_kinds);
  g_test_add_func ("/bound-table/longest", test_longest);
  g_test_add_func ("/bound-table/write", test_write);
  g_test_add_func ("/bound-table/broken", test_broken);
  return g_test_run ();
}
