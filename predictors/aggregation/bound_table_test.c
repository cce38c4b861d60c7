/* bound_table_test.c - curves worked by hand, files that are wrong.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/aggregation/bound_table.h"

#include "predictors/predict_error.h"
#include "predictors/predict_testing.h"

#include <math.h>

#define HEADING "operation,where,class,pairs,outside,ranks,bytes,time_us\n"

static gpointer
read_file (const char *path, GError **error)
{
  return predict_bound_table_read (path, error);
}

static PredictBoundTable *
read_good (const char *text)
{
  g_autoptr (GError) error = NULL;
  PredictBoundTable *table = testing_read (read_file, text, -1, &error);

  g_assert_no_error (error);
  return table;
}

/* Times of 8, 24 and 40 bytes: 2 us and 1 us per 8 bytes up to 24, then 1 us per 4; rows in any order.
 * In the second placement the time at 16 bytes is below that at 8: until 24 nothing is faster. */
static void
test_curves (void)
{
  static const struct {
    PredictBoundKind kind;
    double bytes, time_us;
    bool is_beyond;
  } cases[] = {
    { { PREDICT_BOUND_MESSAGE, PREDICT_BOUND_WITHIN, "(oo)", 0, 0, 2 }, 0, 3, false },
    { { PREDICT_BOUND_MESSAGE, PREDICT_BOUND_WITHIN, "(oo)", 0, 0, 2 }, 8, 3, false },
    { { PREDICT_BOUND_MESSAGE, PREDICT_BOUND_WITHIN, "(oo)", 0, 0, 2 }, 16, 4, false },
    { { PREDICT_BOUND_MESSAGE, PREDICT_BOUND_WITHIN, "(oo)", 0, 0, 2 }, 24, 5, false },
    { { PREDICT_BOUND_MESSAGE, PREDICT_BOUND_WITHIN, "(oo)", 0, 0, 2 }, 28, 6, false },
    { { PREDICT_BOUND_MESSAGE, PREDICT_BOUND_WITHIN, "(oo)", 0, 0, 2 }, 40, 9, false },
    { { PREDICT_BOUND_MESSAGE, PREDICT_BOUND_WITHIN, "(oo)", 0, 0, 2 }, 80, 19, true },
    { { PREDICT_BOUND_MESSAGE, PREDICT_BOUND_WITHIN, "(o.)", 0, 0, 2 }, 12, 4, false },
    { { PREDICT_BOUND_MESSAGE, PREDICT_BOUND_WITHIN, "(o.)", 0, 0, 2 }, 16, 4, false },
    { { PREDICT_BOUND_MESSAGE, PREDICT_BOUND_WITHIN, "(o.)", 0, 0, 2 }, 20, 5, false },
    /* Single sizes. */
    { { PREDICT_BOUND_MESSAGE, PREDICT_BOUND_BETWEEN, "(oo)", 0, 0, 2 }, 4, 4, false },
    { { PREDICT_BOUND_MESSAGE, PREDICT_BOUND_BETWEEN, "(oo)", 0, 0, 2 }, 32, 16, true },
    { { "barrier", PREDICT_BOUND_ALL, "(oo)", 0, 0, 16 }, 0, 20, false },
    { { "barrier", PREDICT_BOUND_ALL, "(oo)", 0, 0, 16 }, 8, 20, true },
    /* Kinds. */
    { { PREDICT_BOUND_MESSAGE, PREDICT_BOUND_WITHIN, "(oox)", 0, 1, 2 }, 8, 5, false },
    { { PREDICT_BOUND_MESSAGE, PREDICT_BOUND_WITHIN, "(oox)", 1, 1, 2 }, 8, 6, false },
    { { PREDICT_BOUND_MESSAGE, PREDICT_BOUND_WITHIN, "(oox)", 1, 2, 2 }, 8, NAN, false },
    { { "allreduce", PREDICT_BOUND_ALL, "(oo)", 0, 0, 16 }, 8, 7, false },
    { { "allreduce", PREDICT_BOUND_ALL, "(oo)", 0, 0, 32 }, 8, 8, false },
  };
  g_autoptr (PredictBoundTable) table = read_good (HEADING "pingpong,within,(oo),0,0,2,24,5\n"
                                                           "pingpong,within,(oo),0,0,2,8,3\n"
                                                           "pingpong,within,(oo),0,0,2,40,9\n"
                                                           "pingpong,within,(o.),0,0,2,8,4\n"
                                                           "pingpong,within,(o.),0,0,2,16,3\n"
                                                           "pingpong,within,(o.),0,0,2,24,6\n"
                                                           "pingpong,between,(oo),0,0,2,8,4\n"
                                                           "pingpong,within,(oox),0,1,2,8,5\n"
                                                           "pingpong,within,(oox),1,1,2,8,6\n"
                                                           "barrier,,(oo),0,0,16,0,20\n"
                                                           "allreduce,,(oo),0,0,16,8,7\n"
                                                           "allreduce,,(oo),0,0,32,8,8\n");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const PredictBoundCurve *curve = predict_bound_table_find (table, &cases[i].kind);
    bool is_beyond = false;

    g_test_message ("%s %s, %g bytes", cases[i].kind.operation, cases[i].kind.placement,
                    cases[i].bytes);
    g_assert_cmpint (curve == NULL, ==, isnan (cases[i].time_us));
    if (curve == NULL)
      continue;
    g_assert_cmpfloat_with_epsilon (predict_bound_curve_s (curve, cases[i].bytes, &is_beyond) * 1e6,
                                    cases[i].time_us, 1e-9);
    g_assert_cmpint (is_beyond, ==, cases[i].is_beyond);
  }
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

/* Tables are written curve by curve, sizes ascending. */
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
    GError *error = NULL;

    g_assert_null (testing_read (read_file, cases[at].text, -1, &error));
    testing_take_error (&error, PREDICT_ERROR, cases[at].message);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bound-table/curves", test_curves);
  g_test_add_func ("/bound-table/longest", test_longest);
  g_test_add_func ("/bound-table/write", test_write);
  g_test_add_func ("/bound-table/broken", test_broken);
  return g_test_run ();
}
