/* expression_fuzz.c - any bytes as a model file, and as a formula.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A formula that is accepted must be printed and read back to the same steps, keep its values when it is
 * simplified, and stay within its bounds. */
#include ".ci/fuzzing.h"
#include "base/error.h"
#include "predictors/formula/base_model.h"
#include "predictors/formula/bounds.h"
#include "predictors/formula/evaluate_blocks.h"
#include "predictors/formula/expression_testing.h"

#include <math.h>
#include <string.h>

static const char *const texts[] = {
  "variable T in s\nvariable nx, np\nconstant f 4965 in 1/s\nconstant nv 7 in word\n"
  "g 2.45e-8 [2e-9, 2e-7] log in s/word # copy\nwords = nv*nx^2/np\ntime = f*T*2*g*words\n",
  "variable n\nparameter a 1 [0, 2]\ntime = a + max(n, 3)^1.5\n",
  "-x^2 + min(y, --2)*log2(x)/(exp(y) - 1)**-3",
  "ceil(sqrt(abs(sin(x)*cos(y))))^pi^p - floor(q)",
  NULL,
};

static const char *const words[] = {
  "variable ", "constant ", "parameter ", "time = ", " in ", " log",  "[0, 1]", "s/word",
  "log2(",     "sqrt(",     "max(",       "^-2",     "**",   "1e308", "pi",     NULL,
};

static void
seed (FuzzSeeds *seeds)
{
  fuzz_add_texts (seeds, texts);
  fuzz_add_words (seeds, words);
}

static void
check_error (GError *error)
{
  g_assert_true (error != NULL && (error->domain == PREDICT_ERROR || error->domain == BASE_ERROR) &&
                 strchr (error->message, '\n') == NULL);
  g_error_free (error);
}

static void
check_values (const PredictExpression *expression, uint32_t n_variables, uint32_t n_parameters)
{
  static const double numbers[] = { -1.5, 0, 1, 1e10, 0.25 };
  g_autoptr (PredictExpression) simple = predict_expression_simplify (expression);
  uint32_t n = MAX (n_variables, n_parameters) + 1;
  g_autofree PredictRange *ranges = g_new (PredictRange, n);
  g_autofree double *at = g_new (double, n);

  for (guint point = 0; point < G_N_ELEMENTS (numbers); point++) {
    double value, again;
    PredictRange range;

    for (uint32_t i = 0; i < n; i++) {
      at[i] = numbers[(point + i) % G_N_ELEMENTS (numbers)];
      ranges[i] = predict_range (at[i], at[i]);
    }
    value = predict_value (expression, at, at);
    again = predict_value (simple, at, at);
    range = predict_bounds (expression, ranges, ranges);
    g_assert_true (value == again || (!isfinite (value) && !isfinite (again)));
    g_assert_true (isfinite (value) ? range.low <= value && value <= range.high : range.undefined);
  }
}

static void
check_expression (const PredictExpression *expression, const PredictNames *names,
                  uint32_t n_variables, uint32_t n_parameters)
{
  g_autofree char *text = predict_expression_text (expression, names);
  g_autofree char *latex = predict_expression_latex (expression, names);
  g_autoptr (PredictExpression) again = predict_expression_parse (text, names, NULL, NULL);

  g_assert_true (expression_testing_check (expression, n_variables, n_parameters));
  g_assert_true (again != NULL && expression_testing_equal (expression, again));
  check_values (expression, n_variables, n_parameters);
}

static void
try_formula (const char *text)
{
  static const char *const variables[] = { "x", "y", NULL };
  static const char *const parameters[] = { "p", "q", NULL };
  const PredictNames names = { .variables = variables, .parameters = parameters };
  GError *error = NULL;
  g_autoptr (PredictExpression) expression = predict_expression_parse (text, &names, NULL, &error);

  if (expression == NULL)
    check_error (error);
  else
    check_expression (expression, &names, 2, 2);
}

static void
try_model (const char *text)
{
  GError *error = NULL;
  g_autoptr (PredictBaseModel) model = predict_base_model_parse (text, "m", &error);
  g_autoptr (PredictBaseModel) again = NULL;
  g_autofree double *values = NULL;
  g_autofree char *printed = NULL;

  if (model == NULL) {
    check_error (error);
    return;
  }
  values = predict_base_model_values (model);
  printed = predict_base_model_text (model, values);
  again = predict_base_model_parse (printed, "m", NULL);
  g_assert_true (again != NULL && expression_testing_equal (model->time, again->time));
  check_expression (model->time, &model->names, model->n_variables, model->n_parameters);
}

static void
check (const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);

  try_formula (text);
  try_model (text);
}

const FuzzProgram fuzz_program = { NULL, seed, check };
