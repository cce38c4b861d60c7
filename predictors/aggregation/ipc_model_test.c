/* ipc_model_test.c - the IPC model against laws that are known.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "predictors/aggregation/ipc_fixture.h"

#include "predictors/predict_error.h"
#include "predictors/predict_testing.h"
#include "predictors/aggregation/ipc_model.h"
#include "predictors/correction/loss.h"
#include "predictors/model/scale.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#define N_TARGETS 6u

static PredictIpcModel *
train (const PredictTable *table)
{
  g_autoptr (GError) error = NULL;
  PredictIpcModel *model =
      predict_ipc_train (table, ipc_samples, ipc_events, PREDICT_IPC_RIDGE, &error);

  g_assert_no_error (error);
  return model;
}

static PredictIpcAnswer
apply (const PredictIpcModel *model, const PredictTable *table)
{
  g_autoptr (GError) error = NULL;
  PredictIpcAnswer answer = { 0 };

  g_assert_true (predict_ipc_apply (model, table, &answer, &error));
  g_assert_no_error (error);
  return answer;
}

/* The errors of a model of one table on the programs of another. */
static PredictRelativeErrors
errors_on (const PredictIpcModel *model, const PredictTable *table)
{
  g_auto (PredictIpcAnswer) answer = apply (model, table);

  return predict_relative_errors (answer.observed, answer.predicted,
                                  (uint64_t) answer.phases->n_programs * model->n_targets);
}

/* -- terms ------------------------------------------------------------------- */

/* Terms of the programs of a table, [n_programs][n_terms]: the predictions of functions that are one
 * term each. */
static double *
terms_of (PredictIpcModel *model, const PredictTable *table, guint n_programs)
{
  double *terms = g_new (double, n_programs * model->n_terms);

  for (guint k = 0; k < model->n_terms; k++) {
    g_auto (PredictIpcAnswer) answer = { 0 };

    for (guint piece = 0; piece < PREDICT_IPC_N_PIECES; piece++) {
      PredictLinear *linear = model->targets[0].pieces[piece].linear;

      for (guint i = 0; linear != NULL && i < model->n_terms; i++) {
        linear->means[i] = 0;
        linear->coefficients[i] = i == k;
      }
      if (linear != NULL)
        linear->constant = 0;
    }
    answer = apply (model, table);
    for (guint program = 0; program < n_programs; program++)
      terms[program * model->n_terms + k] = answer.predicted[program * model->n_targets];
  }
  return terms;
}

/* Two samples, two events: worked by hand from equations 1 to 3, for the first of four programs. */
static void
test_terms (void)
{
  static const char text[] = "program,pattern,ipc,a,b\n"
                             "p,4,2,0.5,0.25\np,5,3,0.125,7\np,6,1,,\n"
                             "q,4,1,0.5,0.25\nq,5,2,0.125,7\nq,6,2,,\n"
                             "r,4,2,0.5,0.5\nr,5,2,0.25,7\nr,6,1,,\n"
                             "s,4,1,1,0.25\ns,5,1,0.125,5\ns,6,1,,\n";
  static const char *const samples[] = { "4", "5", NULL }, *const events[] = { "a", "b", NULL };
  static const struct {
    const char *name;
    double value;
  } wanted[] = { { "ipc(4)", 2 },        { "ipc(4)*a(4)", 1 },     { "ipc(4)*b(4)", 0.5 },
                 { "ipc(5)", 3 },        { "ipc(5)*a(5)", 0.375 }, { "ipc(5)*b(5)", 21 },
                 { "ipc(4)*ipc(5)", 6 }, { "a(4)*a(5)", 0.0625 },  { "b(4)*b(5)", 1.75 } };
  g_autoptr (PredictTable) table = ipc_table (text, NULL);
  g_autoptr (PredictIpcModel) model =
      predict_ipc_train (table, samples, events, PREDICT_IPC_RIDGE, NULL);
  g_autofree char *file = ipc_model_text (model);
  g_autofree double *terms = terms_of (model, table, 4);
  const char *at = strstr (file, "\"terms\"");

  g_assert_cmpuint (model->n_terms, ==, G_N_ELEMENTS (wanted));
  for (guint i = 0; i < model->n_terms; i++) {
    g_autofree char *name = g_strdup_printf ("\"%s\"", wanted[i].name);

    at = strstr (at, name); /* in this order */
    g_assert_nonnull (at);
    g_assert_cmpfloat (terms[i], ==, wanted[i].value);
  }
}

/* 1 + |S| (n + 1) + |S| (|S| - 1) / 2 (n + 1), the constant apart; 0: no model. */
static void
test_term_counts (void)
{
  static const char *const patterns[] = { "4", "5", "6", NULL }, *const rates[] = { "a", "b", "c",
                                                                                    NULL };
  static const guint wanted[][3] = { { 1, 0, 1 },  { 1, 3, 4 },  { 2, 0, 3 }, { 2, 1, 6 },
                                     { 2, 3, 12 }, { 3, 2, 18 }, { 0, 2, 0 } };
  g_autoptr (GString) text = g_string_new ("program,pattern,ipc,a,b,c\n");
  g_autoptr (PredictTable) table = NULL;

  for (guint row = 0; row < 20; row++)
    g_string_append_printf (text, "%u,%u,1,0.5,0.25,0.125\n", row / 4, 4 + row % 4);
  table = ipc_table (text->str, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++) {
    const char *samples[4] = { NULL }, *events[4] = { NULL };
    g_autoptr (GError) error = NULL;
    g_autoptr (PredictIpcModel) model = NULL;

    memcpy (samples, patterns, wanted[i][0] * sizeof *samples);
    memcpy (events, rates, wanted[i][1] * sizeof *events);
    model = predict_ipc_train (table, samples, events, PREDICT_IPC_RIDGE, &error);
    if (wanted[i][2] == 0)
      g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION);
    else
      g_assert_cmpuint (model->n_terms, ==, wanted[i][2]);
  }
}

/* A file with 1,000 samples and 999 events asks for more terms than 32 bits count. */
static void
test_too_many_terms (void)
{
  g_autoptr (GString) text = g_string_new ("{ \"schema\": \"hopcast.ipc/1\", \"samples\": [\"0\"");
  GError *error = NULL;

  for (guint i = 1; i < 1000; i++)
    g_string_append_printf (text, ", \"%u\"", i);
  g_string_append (text, "], \"events\": [\"e0\"");
  for (guint i = 1; i < 999; i++)
    g_string_append_printf (text, ", \"e%u\"", i);
  g_string_append (text, "] }");
  g_assert_null (ipc_model_read_text (text->str, &error));
  testing_take_error (&error, BASE_ERROR, "\"samples\" is not a list as short as a model allows");
}

/* Means of 0.95 and 0.999; 1; 1.5 and 1.95; 2, 15.5 and 2.5, in the samples. */
static void
test_classes (void)
{
  static const double ipc[][2] = { { 0.5, 1.4 }, { 0.998, 1 }, { 0.75, 1.25 }, { 1.25, 1.75 },
                                   { 1.9, 2 },   { 2, 2 },     { 1, 30 },      { 3, 2 } };
  static const guint wanted[PREDICT_IPC_N_PIECES] = { 2, 1, 2, 3, 8 };
  g_autoptr (GString) text = g_string_new ("program,pattern,ipc,l2,memory\n");
  g_autoptr (PredictTable) table = NULL;
  g_autoptr (PredictIpcModel) model = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (ipc); i++)
    g_string_append_printf (text, "p%u,4,%g,1,1\np%u,5,%g,1,1\np%u,6,1,,\n", i, ipc[i][0], i,
                            ipc[i][1], i);
  table = ipc_table (text->str, NULL);
  model = train (table);
  for (guint piece = 0; piece < PREDICT_IPC_N_PIECES; piece++)
    g_assert_cmpuint (model->targets[0].pieces[piece].n_programs, ==, wanted[piece]);
}

/* A product of two rates beyond single precision is refused, in training and in predicting. */
static void
test_too_large (void)
{
  g_autoptr (PredictTable) table = ipc_contention_table ((guint[]){ 12, 12, 12, 12 }, 0, 1);
  g_autoptr (PredictIpcModel) model = train (table);
  const PredictColumn *l2 = predict_table_find (table, "l2");
  PredictIpcAnswer answer;
  GError *error = NULL;

  for (uint64_t row = 0; row < table->n_rows; row++)
    l2->numbers[row] *= 1e30;
  g_assert_false (predict_ipc_apply (model, table, &answer, &error));
  testing_take_error (&error, PREDICT_ERROR, "l2(4)*l2(5)");
  g_assert_null (predict_ipc_train (table, ipc_samples, ipc_events, PREDICT_IPC_RIDGE, &error));
  testing_take_error (&error, PREDICT_ERROR, "too large");
}

/* -- laws -------------------------------------------------------------------- */

/* A law of the model's own form is found, from two programs more than coefficients. */
static void
test_exact_law (void)
{
  g_autoptr (PredictTable) table = ipc_bilinear_table ((guint[]){ 12, 12, 12, 12 }, 1);
  g_autoptr (PredictTable) others = ipc_bilinear_table ((guint[]){ 50, 50, 50, 50 }, 2);
  g_autoptr (PredictIpcModel) model = train (table);
  PredictRelativeErrors errors = errors_on (model, others);

  g_assert_cmpuint (errors.n, ==, 200 * N_TARGETS);
  g_test_message ("a law of the model's form: mean error %g, largest %g", errors.mean, errors.max);
  g_assert_cmpfloat (errors.mean, <, 1e-5);
  for (guint piece = 0; piece < PREDICT_IPC_N_CLASSES; piece++) {
    const PredictIpcPiece *fitted = &model->targets[0].pieces[piece];

    g_assert_cmpuint (fitted->n_programs, ==, 12);
    g_assert_cmpuint (fitted->rank, ==, 10);
    g_assert_false (predict_ipc_is_under_determined (model, fitted));
  }
}

/* A law that is not of its form, measured with noise: the patterns that were held out, of programs
 * that were not learned from. */
static void
test_contention (void)
{
  static const double noises[] = { 0, 0.002, 0.005 };

  for (guint i = 0; i < G_N_ELEMENTS (noises); i++) {
    double sum = 0;

    for (uint64_t seed = 1; seed <= 10; seed++) {
      g_autoptr (PredictTable) table =
          ipc_contention_table ((guint[]){ 12, 12, 12, 12 }, noises[i], seed);
      g_autoptr (PredictTable) others =
          ipc_contention_table ((guint[]){ 50, 50, 50, 50 }, noises[i], seed + 100);
      g_autoptr (PredictIpcModel) model = train (table);
      PredictRelativeErrors errors = errors_on (model, others);

      g_assert_cmpfloat (errors.mean, <, 0.02);
      sum += errors.mean;
    }
    g_test_message ("noise %g: mean error of ten trainings %.3f %%", noises[i], 100 * sum / 10);
  }
}

/* The same functions of each class by LAPACK's least squares of the smallest norm, which cuts singular
 * values off; all programs have all patterns. */
static PredictIpcModel *
train_by_cutting (const PredictTable *table)
{
  PredictIpcModel *model = train (table);
  g_autoptr (PredictIpcModel) scratch = train (table);
  g_auto (PredictIpcAnswer) answer = apply (model, table);
  guint n = answer.phases->n_programs, n_terms = model->n_terms;
  g_autofree double *terms = terms_of (scratch, table, n);
  g_autofree guint *chosen = g_new (guint, n);
  g_autofree double *columns = g_new (double, n *n_terms), *y = g_new (double, n + n_terms);
  g_autofree double *singular = g_new (double, n_terms);
  g_autofree PredictScale *scale = g_new (PredictScale, n_terms);
  lapack_int rank;

  for (guint at = 0; at < model->n_targets * PREDICT_IPC_N_PIECES; at++) {
    guint target = at / PREDICT_IPC_N_PIECES, piece = at % PREDICT_IPC_N_PIECES, rows = 0;
    PredictLinear *linear = model->targets[target].pieces[piece].linear;

    /* Programs lie class by class, as many of each. */
    for (guint i = 0; i < n; i++)
      if (piece == PREDICT_IPC_ALL || i / (n / PREDICT_IPC_N_CLASSES) == piece) {
        y[rows] = answer.observed[i * model->n_targets + target] - linear->constant;
        chosen[rows++] = i;
      }
    for (guint k = 0; k < n_terms; k++) {
      for (guint i = 0; i < rows; i++)
        columns[k * rows + i] = terms[chosen[i] * n_terms + k];
      scale[k] = predict_scale_doubles (columns + k * rows, rows);
      for (guint i = 0; i < rows; i++)
        columns[k * rows + i] = predict_scaled (scale[k], columns[k * rows + i]);
    }
    g_assert_cmpint (LAPACKE_dgelsd (LAPACK_COL_MAJOR, (lapack_int) rows, (lapack_int) n_terms, 1,
                                     columns, (lapack_int) rows, y,
                                     (lapack_int) MAX (rows, n_terms), singular, 0x1p-20, &rank),
                     ==, 0);
    for (guint k = 0; k < n_terms; k++)
      linear->coefficients[k] = y[k] / scale[k].sd;
  }
  return model;
}

/* Why a ridge. */
static void
test_ridge_and_cutting (void)
{
  static const guint sizes[] = { 12, 8 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    double ridge = 0, cutting = 0;
    guint n = sizes[i];

    for (uint64_t seed = 1; seed <= 10; seed++) {
      g_autoptr (PredictTable) table = ipc_contention_table ((guint[]){ n, n, n, n }, 0.005, seed);
      g_autoptr (PredictTable) others =
          ipc_contention_table ((guint[]){ 50, 50, 50, 50 }, 0.005, seed + 100);
      g_autoptr (PredictIpcModel) model = train (table), cut = train_by_cutting (table);

      ridge += errors_on (model, others).mean / 10;
      cutting += errors_on (cut, others).mean / 10;
    }
    g_test_message ("%u programs of a class, noise 0.5 %%: mean error with a ridge %.2f %%, with "
                    "singular values cut off %.2f %%",
                    n, 100 * ridge, 100 * cutting);
    g_assert_cmpfloat (ridge, <, cutting);
  }
}

/* -- too few programs ----------------------------------------------------------- */

static void
test_under_determined (void)
{
  g_autoptr (PredictTable) table = ipc_contention_table ((guint[]){ 12, 8, 3, 0 }, 0.002, 1);
  g_autoptr (PredictTable) others = ipc_contention_table ((guint[]){ 20, 20, 20, 20 }, 0.002, 2);
  g_autoptr (PredictIpcModel) model = train (table);
  static const gboolean has_own[] = { TRUE, TRUE, FALSE, FALSE, TRUE };
  static const guint programs[] = { 12, 8, 3, 0, 23 };
  static const gboolean is_under[] = { FALSE, TRUE, TRUE, TRUE, FALSE };

  for (guint target = 0; target < model->n_targets; target++)
    for (guint piece = 0; piece < PREDICT_IPC_N_PIECES; piece++) {
      const PredictIpcPiece *fitted = &model->targets[target].pieces[piece];

      g_assert_cmpuint (fitted->n_programs, ==, programs[piece]);
      g_assert_cmpint (fitted->linear != NULL, ==, has_own[piece]);
      g_assert_cmpint (predict_ipc_is_under_determined (model, fitted), ==, is_under[piece]);
      if (is_under[piece]) /* eight programs determine eight coefficients */
        g_assert_cmpuint (fitted->rank, <=, 8);
      if (is_under[piece] && fitted->linear != NULL)
        g_assert_cmpfloat (fitted->ridge, >, 0);
    }
  g_assert_cmpfloat (errors_on (model, others).mean, <, 0.05);
}

/* Of a class without a function, what is learned from all is predicted. */
static void
test_merged (void)
{
  g_autoptr (PredictTable) table = ipc_contention_table ((guint[]){ 12, 3, 12, 12 }, 0, 1);
  g_autoptr (PredictTable) others = ipc_contention_table ((guint[]){ 0, 5, 0, 0 }, 0, 2);
  g_autoptr (PredictIpcModel) model = train (table);
  g_auto (PredictIpcAnswer) answer = { 0 };

  predict_linear_free (model->targets[2].pieces[0].linear);
  model->targets[2].pieces[0].linear = NULL;
  model->targets[2].pieces[PREDICT_IPC_ALL].linear->constant = 100;
  memset (model->targets[2].pieces[PREDICT_IPC_ALL].linear->coefficients, 0,
          model->n_terms * sizeof (double));
  answer = apply (model, others);
  for (guint program = 0; program < 5; program++) {
    g_assert_cmpfloat (answer.predicted[program * N_TARGETS + 2], ==, 100);
    g_assert_cmpfloat (answer.predicted[program * N_TARGETS + 1], <, 2);
  }
}

/* A pattern that some programs do not have is learned from the others. */
static void
test_missing_pattern (void)
{
  g_autoptr (PredictTable) table = ipc_contention_table ((guint[]){ 12, 12, 12, 12 }, 0, 1);
  double *ipc = predict_table_find (table, "ipc")->numbers;
  g_autoptr (PredictIpcModel) model = NULL;
  g_autoptr (GError) error = NULL;

  for (guint program = 0; program < 5; program++)
    ipc[program * 8 + 7] = NAN;
  model = train (table);
  g_assert_cmpstr (model->targets[N_TARGETS - 1].pattern, ==, "8");
  g_assert_cmpuint (model->targets[N_TARGETS - 1].pieces[0].n_programs, ==, 7);
  g_assert_cmpuint (model->targets[0].pieces[0].n_programs, ==, 12);
  for (guint program = 5; program < 45; program++)
    ipc[program * 8 + 7] = NAN;
  g_assert_null (predict_ipc_train (table, ipc_samples, ipc_events, PREDICT_IPC_RIDGE, &error));
  g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC);
  g_assert_nonnull (strstr (error->message, "pattern 8: 3 programs have it, and at least 4"));
}

static void
test_outside (void)
{
  g_autoptr (PredictTable) table = ipc_contention_table ((guint[]){ 12, 12, 12, 12 }, 0, 1);
  g_autoptr (PredictIpcModel) model = train (table);
  g_auto (PredictIpcAnswer) inside = apply (model, table), outside = { 0 };

  g_assert_cmpuint (inside.n_outside, ==, 0);
  predict_table_find (table, "memory")->numbers[3] = 0.5;
  predict_table_find (table, "memory")->numbers[8 + 7] = 0.5; /* of no sample: not looked at */
  outside = apply (model, table);
  g_assert_cmpuint (outside.n_outside, ==, 1);
}

/* -- files ------------------------------------------------------------------- */

static void
test_file (void)
{
  g_autoptr (PredictTable) table = ipc_contention_table ((guint[]){ 12, 9, 3, 0 }, 0.01, 1);
  g_autoptr (PredictIpcModel) model = train (table), back = NULL;
  g_autofree char *text = ipc_model_text (model), *again = NULL;
  g_auto (PredictIpcAnswer) before = apply (model, table), after = { 0 };
  g_autoptr (GError) error = NULL;

  back = ipc_model_read_text (text, &error);
  g_assert_no_error (error);
  again = ipc_model_text (back);
  g_assert_cmpstr (again, ==, text);
  after = apply (back, table);
  g_assert_cmpmem (before.predicted, 24 * N_TARGETS * sizeof (double), after.predicted,
                   24 * N_TARGETS * sizeof (double));
}

static void
test_refused_files (void)
{
  static const TestingChange changes[] = {
    { "hopcast.ipc/1", "hopcast.ipc/2", "another version, hopcast.ipc/2; this program reads" },
    { "hopcast.ipc/1", "hopcast.model/1", "no hopcast.ipc/1 but hopcast.model/1" },
    { "\"4\",\n", "\"5\",\n", "\"samples\" is not a list of different names" },
    { "\"4\",\n", "4,\n", "\"samples\" is not a list of different names" },
    { "\"l2\",\n", "\"ipc\",\n", "\"ipc\" is not the name of an event" },
    { "\"l2\",\n", "", "\"smallest\" has 6 numbers where 4 are needed" },
    { "\"pattern\" : \"1\"", "\"pattern\" : \"4\"", "a pattern other than the samples" },
    { "\"pattern\" : \"1\"", "\"pattern\" : \"2\"", "\"2\" is not a unique pattern" },
    { "\"class\" : \"[0,1)\"", "\"class\" : \"[0,2)\"", "\"class\" is not [0,1)" },
    { "\"pieces\" : [", "\"pieces\" : [ {},", "\"pieces\"" },
    { "\"patterns\" : [", "\"patterns\" : [], \"a\" : [", "at least one pattern" },
    { "\"constant\" : ", "\"constant\" : null, \"a\" : ", "\"constant\"" },
    { "\"means\" : [", "\"means\" : [ 1,", "\"means\" has 10 numbers" },
  };
  g_autoptr (PredictTable) table = ipc_contention_table ((guint[]){ 12, 0, 0, 0 }, 0, 1);
  g_autoptr (PredictIpcModel) model = train (table);
  g_autofree char *text = ipc_model_text (model);

  testing_refuse (ipc_model_read_text, text, changes, G_N_ELEMENTS (changes), BASE_ERROR);
  /* Wherever a file ends early, it is no model. */
  for (gsize n = strlen (text) - 2; n > 0; n -= MIN (n, 97)) {
    g_autofree char *cut = g_strndup (text, n);
    g_autoptr (GError) error = NULL;

    g_assert_null (ipc_model_read_text (cut, &error));
    g_assert_error (error, BASE_ERROR, BASE_ERROR_JSON);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/ipc-model/terms", test_terms);
  g_test_add_func ("/predictors/ipc-model/term-counts", test_term_counts);
  g_test_add_func ("/predictors/ipc-model/too-many-terms", test_too_many_terms);
  g_test_add_func ("/predictors/ipc-model/classes", test_classes);
  g_test_add_func ("/predictors/ipc-model/exact-law", test_exact_law);
  g_test_add_func ("/predictors/ipc-model/too-large", test_too_large);
  g_test_add_func ("/predictors/ipc-model/contention", test_contention);
  g_test_add_func ("/predictors/ipc-model/ridge-and-cutting", test_ridge_and_cutting);
  g_test_add_func ("/predictors/ipc-model/under-determined", test_under_determined);
  g_test_add_func ("/predictors/ipc-model/merged", test_merged);
  g_test_add_func ("/predictors/ipc-model/missing-pattern", test_missing_pattern);
  g_test_add_func ("/predictors/ipc-model/outside", test_outside);
  g_test_add_func ("/predictors/ipc-model/file", test_file);
  g_test_add_func ("/predictors/ipc-model/refused-files", test_refused_files);
  return g_test_run ();
}
