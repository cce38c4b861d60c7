/* levenberg_test.c - fits whose answers are known.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/correction/levenberg.h"

#include ".ci/test_data.h"
#include "predictors/table/table.h"

#include <math.h>

static PredictBaseModel *
model_of (const char *text)
{
  g_autoptr (GError) error = NULL;
  PredictBaseModel *model = predict_base_model_parse (text, "test.model", &error);

  g_assert_no_error (error);
  return model;
}

/* Latency 3 us and 2 GB/s come back from times that they made. */
static void
test_hockney (void)
{
  g_autoptr (PredictBaseModel) model = model_of ("variable n\n"
                                                 "parameter t0 1e-4 [1e-7, 1e-3] log\n"
                                                 "parameter b 1e8 [1e7, 1e11] log\n"
                                                 "time = t0 + n/b\n");
  static const double bytes[] = { 8, 1e3, 1e4, 1e5, 1e6 };
  const double *columns[] = { bytes };
  double observed[5], values[] = { 1e-4, 1e8 };
  PredictTarget target = { { columns, 5 }, observed, PREDICT_LOSS_LOG_RMSE };

  for (int at = 0; at < 5; at++)
    observed[at] = 3e-6 + bytes[at] / 2e9;
  g_assert_cmpfloat (predict_levenberg_model (model, values, &target, 5, 1), <, 1e-9);
  g_assert_cmpfloat_with_epsilon (values[0] / 3e-6, 1, 1e-7);
  g_assert_cmpfloat_with_epsilon (values[1] / 2e9, 1, 1e-7);
}

/* The answer, 2, is outside of [3, 5]. */
static void
test_bounds (void)
{
  g_autoptr (PredictBaseModel) model = model_of ("variable n\nparameter a 4 [3, 5]\ntime = a*n\n");
  static const double n[] = { 1, 2, 3 }, observed[] = { 2, 4, 6 };
  const double *columns[] = { n };
  double value = 4;
  PredictTarget target = { { columns, 3 }, observed, PREDICT_LOSS_RMSE };

  predict_levenberg_model (model, &value, &target, 3, 1);
  g_assert_cmpfloat (value, >=, 3);
  g_assert_cmpfloat (value, <, 3.001);
}

/* log (x - 5) has no value at the first point: nothing is fitted, nothing changed. */
static void
test_undefined (void)
{
  g_autoptr (PredictBaseModel) model =
      model_of ("variable n\nparameter a 4 [3, 5]\ntime = a*log(n - 5)\n");
  static const double n[] = { 1, 7, 8 };
  const double *columns[] = { n };
  double value = 4;
  PredictTarget target = { { columns, 3 }, n, PREDICT_LOSS_RMSE };

  g_assert_true (isinf (predict_levenberg_model (model, &value, &target, 1, 1)));
  g_assert_cmpfloat (value, ==, 4);
}

/* Another program found a log-RMSE of .116 on the test half after fitting R1 to the other. */
static void
test_evh1 (void)
{
  g_autofree char *path = test_data ("mecp/synthetic_evh1_like.csv");
  g_autofree char *model_path =
      g_test_build_filename (G_TEST_DIST, "doc", "examples", "models", "evh1-r1.model", NULL);
  g_autoptr (PredictBaseModel) model = predict_base_model_read (model_path, NULL);
  g_autoptr (PredictTable) table = NULL, half = NULL;
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  const double *observed;

  if (path == NULL)
    return;
  table = predict_table_read (path, NULL);
  g_assert_nonnull (model);
  g_autofree double *parameters = predict_base_model_values (model);
  for (int is_test = 0; is_test < 2; is_test++) {
    g_autofree uint64_t *rows = g_new (uint64_t, table->n_rows);
    uint64_t n = 0;
    const PredictColumn *split = predict_table_find (table, "split");
    double values[32];

    for (uint64_t row = 0; row < table->n_rows; row++)
      if (!g_strcmp0 (g_ptr_array_index (split->labels, split->texts[row]), "test") ==
          (is_test == 1))
        rows[n++] = row;
    g_clear_pointer (&half, predict_table_free);
    half = predict_table_pick (table, rows, n);
    const double *columns[] = { predict_table_find (half, "T")->numbers,
                                predict_table_find (half, "nx")->numbers,
                                predict_table_find (half, "np")->numbers };
    observed = predict_table_find (half, "t_comm")->numbers;
    PredictTarget target = { { columns, half->n_rows }, observed, PREDICT_LOSS_LOG_RMSE };
    if (is_test == 0) {
      predict_levenberg_model (model, parameters, &target, 20, 1);
      continue;
    }
    g_assert_cmpuint (half->n_rows, ==, 16);
    predict_values (model->time, &target.points, parameters, workspace, values);
    g_assert_cmpfloat_with_epsilon (predict_loss (target.loss, observed, values, 16), 0.116, 1e-3);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/levenberg/hockney", test_hockney);
  g_test_add_func ("/predictors/levenberg/bounds", test_bounds);
  g_test_add_func ("/predictors/levenberg/undefined", test_undefined);
  g_test_add_func ("/predictors/levenberg/evh1", test_evh1);
  return g_test_run ();
}
