/* correction_test.c - models with a planted fault are corrected; trees stay trees.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/correction/correction_private.h"
#include "predictors/formula/expression_testing.h"
#include "predictors/predict_error.h"
#include "predictors/predict_testing.h"

#include <math.h>
#include <string.h>

#define N 24u

static const PredictOp functions[] = { PREDICT_OP_ADD, PREDICT_OP_DIVIDE, PREDICT_OP_POWER,
                                       PREDICT_OP_LOG };
static const PredictGrammar grammar = { functions, G_N_ELEMENTS (functions), 3 };

/* -- trees ------------------------------------------------------------------ */

static void
check_tree (const PredictTree *tree, uint32_t most)
{
  const PredictExpression expression = { (PredictStep *) tree->steps, tree->n };

  g_assert_cmpuint (tree->n, <=, most);
  g_assert_true (expression_testing_check (&expression, 3, 0));
  g_assert_cmpuint (predict_expression_first (&expression, tree->n - 1), ==, 0);
}

static guint
depth_of (const PredictTree *tree)
{
  guint depth[PREDICT_MAX_TREE], n = 0;

  for (uint32_t step = 0; step < tree->n; step++) {
    guint deepest = 0;

    n -= predict_ops[tree->steps[step].op].n_operands;
    for (guint operand = 0; operand < predict_ops[tree->steps[step].op].n_operands; operand++)
      deepest = MAX (deepest, depth[n + operand]);
    depth[n++] = deepest + 1;
  }
  return depth[0];
}

static void
test_trees (void)
{
  BaseRandom random = base_random_stream (7, 0);
  PredictTree a, b, child;

  for (guint round = 0; round < 2000; round++) {
    guint depth = 2 + round % 6;

    predict_tree_grow (&grammar, depth, true, &random, &a);
    check_tree (&a, PREDICT_MAX_TREE);
    g_assert_cmpuint (depth_of (&a), ==, depth);
    predict_tree_grow (&grammar, depth, false, &random, &b);
    g_assert_cmpuint (depth_of (&b), <=, depth);
    predict_tree_cross (&a, &b, MAX (a.n, 40), &random, &child);
    check_tree (&child, MAX (a.n, 40));
    predict_tree_mutate (&grammar, MAX (child.n, 40), &random, &child);
    check_tree (&child, MAX (child.n, 40));
    predict_tree_vary (&grammar, MAX (child.n, 40), &random, &child);
    check_tree (&child, MAX (child.n, 40));
    if (predict_tree_tidy (&child))
      check_tree (&child, child.n);
  }
}

static PredictTree
tree_of (const char *text)
{
  const char *const variables[] = { "n", "p", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (PredictExpression) expression =
      predict_expression_parse (text, &(PredictNames){ .variables = variables }, NULL, &error);
  PredictTree tree = { 0 };

  g_assert_no_error (error);
  tree.n = expression->n;
  memcpy (tree.steps, expression->steps, tree.n * sizeof *tree.steps);
  return tree;
}

static char *
text_of (const PredictTree *tree)
{
  const char *const variables[] = { "n", "p", NULL };

  return predict_expression_text (&(PredictExpression){ (PredictStep *) tree->steps, tree->n },
                                  &(PredictNames){ .variables = variables });
}

static void
test_tidy (void)
{
  static const struct {
    const char *text, *tidy;
  } cases[] = { { "3*n", "n" },           { "n/3*2", "n" },
                { "2*(n/3)", "n" },       { "n + (1 + 2*3)", "n + 7" },
                { "log(1)*n", "n" },      { "3/n", "3/n" },
                { "n*(p*2)", "n*(p*2)" }, { "2*3", "6" } };
  PredictTree tree = tree_of ("n + log(1 - 2)");

  g_assert_false (predict_tree_tidy (&tree));
  for (guint at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autofree char *text = NULL;

    tree = tree_of (cases[at].text);
    g_assert_true (predict_tree_tidy (&tree));
    text = text_of (&tree);
    g_assert_cmpstr (text, ==, cases[at].tidy);
  }
}

static uint64_t
hash_of (const char *text)
{
  PredictTree tree = tree_of (text);

  return predict_tree_hash (&tree);
}

static void
test_hash (void)
{
  g_assert_cmpuint (hash_of ("n*p + 3"), ==, hash_of ("4 + p*n"));
  g_assert_cmpuint (hash_of ("n - p"), !=, hash_of ("p - n"));
  g_assert_cmpuint (hash_of ("n/p"), !=, hash_of ("p/n"));
  g_assert_cmpuint (hash_of ("n + n"), !=, hash_of ("p + p"));
  g_assert_cmpuint (hash_of ("n^2"), !=, hash_of ("n^3"));
  g_assert_cmpuint (hash_of ("n + p*n"), !=, hash_of ("p + n*n"));
}

/* -- corrections ------------------------------------------------------------- */

typedef struct {
  PredictBaseModel *model;
  double n[N], p[N], observed[N];
  const double *columns[2];
  PredictRange box[2];
  PredictCorrectionData data;
} Fixture;

/* 2 n + p^2 / 2, of which the model knows 2 n. */
static void
fixture_init (Fixture *fixture, const char *model)
{
  g_autoptr (GError) error = NULL;

  *fixture = (Fixture){ .model = predict_base_model_parse (model, "test.model", &error) };
  g_assert_no_error (error);
  for (uint32_t at = 0; at < N; at++) {
    fixture->n[at] = 1 + at % 6;
    fixture->p[at] = 4 << at / 6;
    fixture->observed[at] = 2 * fixture->n[at] + 0.5 * fixture->p[at] * fixture->p[at];
  }
  fixture->columns[0] = fixture->n;
  fixture->columns[1] = fixture->p;
  fixture->box[0] = predict_range (1, 6);
  fixture->box[1] = predict_range (4, 32);
  fixture->data = (PredictCorrectionData){ .model = fixture->model,
                                           .train = { fixture->columns, N },
                                           .train_observed = fixture->observed,
                                           .box = fixture->box };
}

static void
fixture_clear (Fixture *fixture)
{
  predict_base_model_free (fixture->model);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fixture, fixture_clear)

static const char linear[] = "variable n, p\nparameter a 2 [1, 4]\ntime = a*n\n";

/* A term that is added to the model's time, which is given: a or 0 times n. */
static CorrectionProblem
problem_of (const Fixture *fixture, const PredictCorrectionSettings *settings, double *given,
            double *given_time)
{
  for (uint32_t at = 0; at < N; at++)
    given_time[at] = given[0] * fixture->n[at];
  return (CorrectionProblem){ .data = &fixture->data,
                              .settings = settings,
                              .grammar = grammar,
                              .most_steps = 25,
                              .added = true,
                              .best = settings->mode == PREDICT_CORRECTION_BEST,
                              .given = given,
                              .given_time = given_time,
                              .least_loss = 1e-9 };
}

/* 7 sin (n/2 + 1) p^3, from nothing: the law itself, which then holds where nothing was learned. */
static void
test_law (void)
{
  static const PredictOp of_waves[] = { PREDICT_OP_ADD,   PREDICT_OP_SUBTRACT, PREDICT_OP_MULTIPLY,
                                        PREDICT_OP_POWER, PREDICT_OP_SIN,      PREDICT_OP_COS };
  g_auto (Fixture) fixture = { 0 };
  PredictCorrectionSettings settings = predict_correction_settings (PREDICT_CORRECTION_BEST);
  g_autoptr (PredictCorrection) correction = NULL;
  double place[] = { 11.3, 70 };

  settings.functions = of_waves;
  settings.n_functions = G_N_ELEMENTS (of_waves);
  settings.number = 2;
  settings.loss = PREDICT_LOSS_RMSE;
  settings.n_trials = 1;
  settings.generations = 100;
  fixture_init (&fixture, "variable n, p\ntime = 0\n");
  for (uint32_t at = 0; at < N; at++)
    fixture.observed[at] = 7 * sin (fixture.n[at] / 2 + 1) * pow (fixture.p[at], 3);
  correction = predict_correct (&fixture.data, &settings, NULL, NULL, NULL);
  g_assert_cmpuint (correction->n_converged, ==, 1);
  g_assert_cmpfloat_with_epsilon (predict_value (correction->trials[0].time, place, NULL) /
                                      (7 * sin (11.3 / 2 + 1) * pow (70, 3)),
                                  1, 1e-6);
}

/* Remains of ancestors go, and digits that do not change the loss. */
static void
test_polish (void)
{
  g_auto (Fixture) fixture = { 0 };
  PredictCorrectionSettings settings = predict_correction_settings (PREDICT_CORRECTION_BEST);
  double none[1] = { 0 }, given_time[N];
  CorrectionProblem problem;
  CorrectionMember member = { .tree = tree_of ("n^2.00000001 + 0.25*(p + 11) - 2.75"),
                              .parameters = none,
                              .factor = 1 };
  g_autoptr (CorrectionWork) work = NULL;
  g_autofree char *text = NULL;

  settings.loss = PREDICT_LOSS_RMSE;
  fixture_init (&fixture, "variable n, p\ntime = 0\n");
  problem = problem_of (&fixture, &settings, none, given_time);
  for (uint32_t at = 0; at < N; at++)
    fixture.observed[at] = 3 * (fixture.n[at] * fixture.n[at] + 0.25 * fixture.p[at]);
  work = correction_work_new (&problem, 0);
  correction_judge (work, &member);
  g_assert_true (isfinite (member.loss));
  correction_polish (work, &member);
  text = text_of (&member.tree);
  g_assert_cmpstr (text, ==, "n^2 + 0.25*p");
  g_assert_cmpfloat (member.factor, ==, 3);
}

static PredictCorrectionSettings
small_settings (guint number)
{
  PredictCorrectionSettings settings = predict_correction_settings (PREDICT_CORRECTION_BEST);

  settings.number = number;
  settings.n_trials = 3;
  settings.population = 60;
  settings.generations = 8;
  return settings;
}

/* The fault is 0.5 p^2: in every case, exactly. */
static void
test_planted (gconstpointer number)
{
  g_auto (Fixture) fixture = { 0 };
  PredictCorrectionSettings settings = small_settings (GPOINTER_TO_UINT (number));
  g_autoptr (PredictCorrection) correction = NULL;

  settings.population = 200;
  settings.generations = 20;
  fixture_init (&fixture, linear);
  correction = predict_correct (&fixture.data, &settings, NULL, NULL, NULL);
  g_assert_nonnull (correction);
  g_assert_cmpfloat (correction->base_train.log_rmse, >, 1);
  g_assert_cmpuint (correction->n_converged, ==, 3);
  g_assert_cmpuint (correction->n_better, ==, 3);
  g_assert_cmpfloat (correction->trials[correction->best].train.log_rmse, <, 1e-6);
}

static void
test_threads (void)
{
  g_auto (Fixture) fixture = { 0 };
  PredictCorrectionSettings settings = small_settings (4);
  g_autoptr (PredictCorrection) one = NULL, three = NULL;

  fixture_init (&fixture, linear);
  one = predict_correct (&fixture.data, &settings, NULL, NULL, NULL);
  settings.n_threads = 3;
  three = predict_correct (&fixture.data, &settings, NULL, NULL, NULL);
  g_assert_cmpuint (one->best, ==, three->best);
  for (guint at = 0; at < 3; at++) {
    g_assert_true (expression_testing_equal (one->trials[at].time, three->trials[at].time));
    g_assert_cmpmem (&one->trials[at].loss, sizeof (double), &three->trials[at].loss,
                     sizeof (double));
  }
}

static void
test_paper (void)
{
  g_auto (Fixture) fixture = { 0 };
  PredictCorrectionSettings settings = predict_correction_settings (PREDICT_CORRECTION_PAPER);
  g_autoptr (PredictCorrection) correction = NULL;

  g_assert_cmpuint (settings.population, ==, 3000);
  g_assert_cmpuint (settings.generations, ==, 100);
  g_assert_cmpuint (settings.n_trials, ==, 30);
  settings.number = 2;
  settings.n_trials = 2;
  settings.population = 500;
  settings.generations = 15;
  fixture_init (&fixture, linear);
  correction = predict_correct (&fixture.data, &settings, NULL, NULL, NULL);
  g_assert_cmpuint (correction->n_better, ==, 2);
  g_assert_cmpfloat (correction->trials[correction->best].train.rmse, <,
                     0.2 * correction->base_train.rmse);
}

/* A corrected model is written, read, and has the same values. */
static void
test_text (void)
{
  g_auto (Fixture) fixture = { 0 };
  PredictCorrectionSettings settings = small_settings (3);
  g_autoptr (PredictCorrection) correction = NULL;
  g_autoptr (PredictBaseModel) read = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  const PredictCorrectionTrial *best;

  fixture_init (&fixture, "variable n in s\nvariable p\nparameter a 2 [1, 4]\ntime = a*n\n");
  correction = predict_correct (&fixture.data, &settings, NULL, NULL, NULL);
  best = &correction->trials[correction->best];
  text = predict_correction_text (fixture.model, best);
  read = predict_base_model_parse (text, "read", &error);
  g_assert_no_error (error);
  for (uint32_t at = 0; at < N; at++) {
    double point[] = { fixture.n[at], fixture.p[at] };

    g_assert_cmpfloat_with_epsilon (predict_value (read->time, point, best->parameters),
                                    predict_value (best->time, point, best->parameters),
                                    1e-12 * fixture.observed[at]);
  }
}

/* The fault is -n: where p is 1, and nowhere else, the corrected model would be negative. */
static void
test_corners (void)
{
  g_auto (Fixture) fixture = { 0 };
  PredictCorrectionSettings settings = small_settings (2);
  g_autoptr (PredictCorrection) correction = NULL;

  fixture_init (&fixture, "variable n, p\nparameter a 10 [5, 20]\ntime = a*ceil(log2(p))\n");
  for (uint32_t at = 0; at < N; at++)
    fixture.observed[at] = 10 * ceil (log2 (fixture.p[at])) - fixture.n[at];
  fixture.box[1].low = 1;
  correction = predict_correct (&fixture.data, &settings, NULL, NULL, NULL);
  g_assert_nonnull (correction);
  for (guint at = 0; at < correction->n_trials; at++) {
    const PredictCorrectionTrial *trial = &correction->trials[at];

    if (trial->time != NULL)
      for (double n = 1; n <= 6; n += 5)
        g_assert_cmpfloat (predict_value (trial->time, (double[]){ n, 1 }, trial->parameters), >,
                           0);
  }
}

/* A time below 0 has no logarithm: such a member must not win by its description.  A dent of 1,000 that
 * is 0.002 wide is found, though no drawn place and no point is in it. */
static void
test_negative (void)
{
  g_auto (Fixture) fixture = { 0 };
  PredictCorrectionSettings paper = predict_correction_settings (PREDICT_CORRECTION_PAPER);
  PredictCorrectionSettings best = small_settings (2);
  double given[] = { 2 }, given_time[N];
  CorrectionProblem of_paper, of_best;
  CorrectionMember member = { .tree = { 1, { { .op = PREDICT_OP_CONSTANT } } },
                              .parameters = given };
  CorrectionMember dent = { .tree = tree_of ("exp(-((n - 3.7)*1000)^2)"), .parameters = given };
  g_autoptr (CorrectionWork) work = NULL, work_of_best = NULL;

  paper.loss = PREDICT_LOSS_LOG_RMSE;
  fixture_init (&fixture, linear);
  of_paper = problem_of (&fixture, &paper, given, given_time);
  work = correction_work_new (&of_paper, 0);
  for (double value = -3; value <= 3; value += 6) {
    member.tree.steps[0].value = value;
    correction_judge (work, &member);
    g_assert_true (isfinite (member.loss) == (value > 0));
    g_assert_true (isfinite (member.description) == (value > 0));
  }
  of_best = problem_of (&fixture, &best, given, given_time);
  work_of_best = correction_work_new (&of_best, 0);
  for (dent.factor = -1000; dent.factor <= 1000; dent.factor += 2000)
    g_assert_true (correction_stays_positive (work_of_best, &dent) == (dent.factor > 0));
}

/* The observations follow the model's own law with a = 3: case 2 can only add a multiple of it, as the
 * parameter can.  A planted fault is a term. */
static void
test_verdict (void)
{
  g_auto (Fixture) fixture = { 0 }, planted = { 0 };
  PredictCorrectionSettings settings = small_settings (2);
  g_autoptr (PredictCorrection) correction = NULL, of_planted = NULL;

  fixture_init (&fixture, linear);
  for (uint32_t at = 0; at < N; at++)
    fixture.observed[at] = 3 * fixture.n[at] * (1 + 0.01 * (at % 3 - 1.0));
  correction = predict_correct (&fixture.data, &settings, NULL, NULL, NULL);
  g_assert_cmpint (correction->verdict, ==, PREDICT_TAKE_REFITTED);
  g_assert_cmpfloat (correction->refitted_folds, <, 0.011);
  g_assert_cmpfloat (correction->base_folds, >, 0.3);

  fixture_init (&planted, linear);
  of_planted = predict_correct (&planted.data, &settings, NULL, NULL, NULL);
  g_assert_cmpint (of_planted->verdict, ==, PREDICT_TAKE_TERM);
  g_assert_cmpfloat (of_planted->corrected_folds, <, 1e-6);
}

/* Without parameters, too, there is an order. */
static void
test_no_parameters (void)
{
  g_auto (Fixture) fixture = { 0 };
  PredictCorrectionSettings settings = predict_correction_settings (PREDICT_CORRECTION_PAPER);
  g_autoptr (PredictCorrection) correction = NULL;

  settings.n_trials = 1;
  settings.population = 100;
  settings.generations = 3;
  fixture_init (&fixture, "variable n, p\ntime = 2*n\n");
  correction = predict_correct (&fixture.data, &settings, NULL, NULL, NULL);
  g_assert_nonnull (correction);
  g_assert_cmpuint (correction->n_converged, ==, 1);
}

static void
test_refused (void)
{
  static const struct {
    const char *model;
    uint64_t n;
    double observed; /* at a point; NaN: as it is */
    bool everywhere;
    const char *message;
  } cases[] = {
    { linear, 2, NAN, false, "fewer than three" },
    { linear, N, -1, false, "logrmse is not defined where -1" },
    { linear, N, 7, true, "all observed values are the same" },
    { "variable n, p\nparameter a 2 [1, 4]\ntime = a/(n - 3)\n", N, NAN, false, "point 3" },
    /* Between the points, which are integers. */
    { "variable n, p\nparameter a 2 [1, 4]\ntime = a/(n - 2.5)\n", N, NAN, false,
      "within the range" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (Fixture) fixture = { 0 };
    PredictCorrectionSettings settings = small_settings (2);
    GError *error = NULL;

    fixture_init (&fixture, cases[i].model);
    fixture.data.train.n = cases[i].n;
    for (uint32_t at = 0; at < N && !isnan (cases[i].observed); at++)
      if (cases[i].everywhere || at == 5)
        fixture.observed[at] = cases[i].observed;
    g_test_message ("%s", cases[i].message);
    g_assert_null (predict_correct (&fixture.data, &settings, NULL, NULL, &error));
    testing_take_error (&error, PREDICT_ERROR, cases[i].message);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/correction/trees", test_trees);
  g_test_add_func ("/predictors/correction/tidy", test_tidy);
  g_test_add_func ("/predictors/correction/hash", test_hash);
  g_test_add_func ("/predictors/correction/law", test_law);
  g_test_add_func ("/predictors/correction/polish", test_polish);
  for (guint number = 1; number <= 4; number++) {
    g_autofree char *path = g_strdup_printf ("/predictors/correction/planted/%u", number);

    g_test_add_data_func (path, GUINT_TO_POINTER (number), test_planted);
  }
  g_test_add_func ("/predictors/correction/threads", test_threads);
  g_test_add_func ("/predictors/correction/paper", test_paper);
  g_test_add_func ("/predictors/correction/text", test_text);
  g_test_add_func ("/predictors/correction/negative", test_negative);
  g_test_add_func ("/predictors/correction/corners", test_corners);
  g_test_add_func ("/predictors/correction/verdict", test_verdict);
  g_test_add_func ("/predictors/correction/no-parameters", test_no_parameters);
  g_test_add_func ("/predictors/correction/refused", test_refused);
  return g_test_run ();
}
