/* linear_test.c - least squares and the choice of a ridge, against certified values and closed forms.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "predictors/model/linear.h"
#include "predictors/model/scale.h"
#include "predictors/predict_error.h"
#include "predictors/predict_testing.h"

#include <link.h>
#include <math.h>
#include <string.h>

/* NIST StRD, data set Longley: employment by price deflator x 10, GNP, unemployed, armed forces,
 * population, year.  Every value is exact in single precision. */
static const double longley_y[] = { 60323, 61122, 60171, 61187, 63221, 63639, 64989, 63761,
                                    66019, 67857, 68169, 66513, 68655, 69564, 69331, 70551 };
static float longley_x[] = {
  830,    885,    882,    895,    962,    981,    990,    1000,   1012,   1046,   1084,   1108,
  1126,   1142,   1157,   1169,   234289, 259426, 258054, 284599, 328975, 346999, 365385, 363112,
  397469, 419180, 442769, 444546, 482704, 502601, 518173, 554894, 2356,   2325,   3682,   3351,
  2099,   1932,   1870,   3578,   2904,   2822,   2936,   4681,   3813,   3931,   4806,   4007,
  1590,   1456,   1616,   1650,   3099,   3594,   3547,   3350,   3048,   2857,   2798,   2637,
  2552,   2514,   2572,   2827,   107608, 108632, 109773, 110929, 112075, 113270, 115094, 116219,
  117388, 118734, 120445, 121950, 123366, 125368, 127852, 130081, 1947,   1948,   1949,   1950,
  1951,   1952,   1953,   1954,   1955,   1956,   1957,   1958,   1959,   1960,   1961,   1962,
};
/* The certified values, of 15 digits; the first for the deflator x 10. */
static const double longley_certified[] = { 1.50618722713733,       -0.358191792925910E-01,
                                            -2.02022980381683,      -1.03322686717359,
                                            -0.511041056535807E-01, 1829.15146461355 };
#define LONGLEY_CONSTANT -3482258.63459582

static PredictSamples
longley (void)
{
  return (PredictSamples){ .n_samples = G_N_ELEMENTS (longley_y),
                           .n_features = 6,
                           .x = longley_x,
                           .y = (double *) longley_y };
}

static PredictLinear *
fit (PredictSamples samples, double ridge)
{
  g_autoptr (GError) error = NULL;
  PredictLinear *linear = predict_linear_fit (&samples, ridge, &error);

  g_assert_no_error (error);
  return linear;
}

/* The prediction where all features are 0. */
static double
origin (const PredictLinear *linear)
{
  double sum = linear->constant;

  for (guint k = 0; k < linear->n_features; k++)
    sum -= linear->coefficients[k] * linear->means[k];
  return sum;
}

/* Condition number 5e9: plain least squares in doubles is right to some seven digits. */
static void
test_longley (void)
{
  g_autoptr (PredictLinear) linear = fit (longley (), 0);

  for (guint k = 0; k < 6; k++)
    g_assert_cmpfloat (fabs (linear->coefficients[k] / longley_certified[k] - 1), <, 2e-14);
  g_assert_cmpfloat (fabs (origin (linear) / LONGLEY_CONSTANT - 1), <, 2e-14);
}

/* NIST StRD, data set Wampler1: a polynomial of degree 5 whose coefficients are all 1.  The
 * digits lost are lost by standardising in doubles. */
static void
test_polynomial (void)
{
  enum { N = 21, DEGREE = 5 };
  float x[DEGREE * N];
  double y[N];
  g_autoptr (PredictLinear) linear = NULL;

  for (guint i = 0; i < N; i++) {
    y[i] = 1;
    for (guint k = 0; k < DEGREE; k++) {
      x[k * N + i] = (float) pow (i, k + 1);
      y[i] += pow (i, k + 1);
    }
  }
  linear = fit ((PredictSamples){ N, DEGREE, x, y }, 0);
  for (guint k = 0; k < DEGREE; k++)
    g_assert_cmpfloat (fabs (linear->coefficients[k] - 1), <, 1e-10);
  g_assert_cmpfloat (fabs (origin (linear) - 1), <, 1e-9);
}

/* Coefficients of scikit-learn 1.2.1: Ridge (alpha) of StandardScaler'd Longley,
 * divided by the scales. */
static void
test_ridge_of_many (void)
{
  static const double expected[] = { 8.57967678604444,   0.011804344260696, -0.978767422120522,
                                     -0.444701323024455, 0.103433599429323, 275.174485214559 };
  g_autoptr (PredictLinear) linear = fit (longley (), 0.5);

  for (guint k = 0; k < 6; k++)
    g_assert_cmpfloat (fabs (linear->coefficients[k] / expected[k] - 1), <, 1e-11);
}

/* a, 7, b, a + b, 2 a - 3, c: the fourth and fifth add nothing. */
static void
test_constant_and_collinear (void)
{
  enum { N = 40 };
  static const PredictColumnUse use[] = { PREDICT_COLUMN_USED,      PREDICT_COLUMN_CONSTANT,
                                          PREDICT_COLUMN_USED,      PREDICT_COLUMN_COLLINEAR,
                                          PREDICT_COLUMN_COLLINEAR, PREDICT_COLUMN_USED };
  static const double expected[] = { 3, 0, -2, 0, 0, 0.5 };
  float x[6 * N];
  double y[N], predicted[N];
  BaseRandom random = base_random_stream (1, 0);
  PredictSamples samples = { N, 6, x, y };
  g_autoptr (PredictLinear) linear = NULL;

  for (guint i = 0; i < N; i++) {
    float a = (float) base_random_below (&random, 1000),
          b = (float) base_random_below (&random, 1000),
          c = (float) base_random_below (&random, 1000), row[] = { a, 7, b, a + b, 2 * a - 3, c };

    for (guint k = 0; k < 6; k++)
      x[k * N + i] = row[k];
    y[i] = 100 + 3 * (double) a - 2 * (double) b + 0.5 * (double) c;
  }
  linear = fit (samples, 0);
  predict_linear_predict (linear, &samples, predicted);
  for (guint k = 0; k < 6; k++) {
    g_assert_cmpint (linear->use[k], ==, use[k]);
    g_assert_cmpfloat_with_epsilon (linear->coefficients[k], expected[k], 1e-14);
  }
  for (guint i = 0; i < N; i++)
    g_assert_cmpfloat_with_epsilon (predicted[i], y[i], 1e-10);
}

/* One feature: the sum of the products over the sum of the squares, + ridge in units of the
 * standardised feature.  Of two equal features a penalty gives each a half. */
static void
test_ridge_by_hand (void)
{
  float x[] = { 1, 2, 4, 5, 1, 2, 4, 5 };
  double y[] = { 1, 3, 2, 6 };
  g_autoptr (PredictLinear) of_two = fit ((PredictSamples){ 4, 2, x, y }, 4);

  for (double ridge = 0; ridge <= 8; ridge += 4) {
    g_autoptr (PredictLinear) linear = fit ((PredictSamples){ 4, 1, x, y }, ridge);

    g_test_message ("ridge %g", ridge);
    /* Products 9, squares 10 (variance 2.5). */
    g_assert_cmpfloat_with_epsilon (linear->coefficients[0], 9 / (10 + ridge * 2.5), 1e-15);
    g_assert_cmpfloat (linear->constant, ==, 3);
    g_assert_cmpfloat (linear->means[0], ==, 3);
  }
  g_assert_cmpint (of_two->use[1], ==, PREDICT_COLUMN_USED);
  /* Standardised: squares 4 and 4, products 4, penalty 4: b = p / (4 + 4 + 4). */
  for (guint k = 0; k < 2; k++)
    g_assert_cmpfloat_with_epsilon (of_two->coefficients[k], 9 / 2.5 / 12, 1e-15);
}

/* Fewer samples than features: those that are used go through all samples. */
static void
test_few_samples (void)
{
  float x[] = { 1, 2, 5, 9, 3, 7, 4, 4 };
  double y[] = { 10, 20 }, predicted[2];
  PredictSamples two = { 2, 4, x, y }, one = { 1, 4, x, y };
  g_autoptr (PredictLinear) of_two = fit (two, 0), of_one = fit (one, 0);

  predict_linear_predict (of_two, &two, predicted);
  g_assert_cmpfloat_with_epsilon (predicted[0], 10, 1e-12);
  g_assert_cmpfloat_with_epsilon (predicted[1], 20, 1e-12);
  g_assert_cmpint (of_two->use[0], ==, PREDICT_COLUMN_USED);
  g_assert_cmpint (of_two->use[1], ==, PREDICT_COLUMN_COLLINEAR);
  g_assert_cmpint (of_two->use[3], ==, PREDICT_COLUMN_CONSTANT);
  predict_linear_predict (of_one, &two, predicted);
  g_assert_cmpfloat (predicted[1], ==, 10);
}

static void
test_too_large (void)
{
  float x[] = { 1, 2, 3 };
  double y[] = { 1e300, -1e300, 1e200 };
  PredictSamples samples = { 3, 1, x, y };
  PredictRidgeChoice choice;
  GError *error = NULL;

  g_assert_null (predict_linear_fit (&samples, 0, &error));
  testing_take_error (&error, PREDICT_ERROR, "too large to be squared");
  g_assert_false (predict_ridge_choose (&samples, &choice, &error));
  testing_take_error (&error, PREDICT_ERROR, "too large to be squared");
}

/* 3,000 samples of 12 features that are badly conditioned: many blocks of rows. */
static char *
digest_of_random (void)
{
  enum { N = 3000, FEATURES = 12 };
  g_autofree float *x = g_new (float, FEATURES *N);
  g_autofree double *y = g_new (double, N);
  BaseRandom random = base_random_stream (5, 0);
  g_autoptr (PredictLinear) linear = NULL;

  for (guint i = 0; i < N; i++) {
    double common = base_random_unit (&random);

    y[i] = base_random_unit (&random);
    for (guint k = 0; k < FEATURES; k++)
      x[k * N + i] = (float) (common + ldexp (base_random_unit (&random), -(int) k));
  }
  linear = fit ((PredictSamples){ N, FEATURES, x, y }, 0);
  return g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) linear->coefficients,
                                      FEATURES * sizeof (double));
}

static void
print_digest (void)
{
  g_autofree char *digest = digest_of_random ();

  if (g_test_subprocess ())
    g_print ("digest %s\n", digest);
}

/* For dl_iterate_phdr(): stops at LAPACKE, with its folder. */
static int
find_lapacke (struct dl_phdr_info *library, size_t size, void *data)
{
  char **folder = data;
  g_autofree char *name = g_path_get_basename (library->dlpi_name);

  (void) size;
  if (!g_str_has_prefix (name, "liblapacke.so"))
    return 0;
  *folder = g_path_get_dirname (library->dlpi_name);
  return 1;
}

/* LD_LIBRARY_PATH of the reference LAPACK and BLAS, which Debian has beside LAPACKE whichever it uses;
 * NULL: they are not there. */
static char *
reference_path (void)
{
  g_autofree char *folder = NULL, *lapack = NULL, *blas = NULL;

  if (dl_iterate_phdr (find_lapacke, &folder) == 0)
    return NULL;
  lapack = g_build_filename (folder, "lapack", NULL);
  blas = g_build_filename (folder, "blas", NULL);
  if (!g_file_test (lapack, G_FILE_TEST_IS_DIR) || !g_file_test (blas, G_FILE_TEST_IS_DIR))
    return NULL;
  return g_strconcat (lapack, ":", blas, NULL);
}

/* Not one bit depends on the kernels and threads of OpenBLAS, nor on whose BLAS it is. */
static void
test_any_blas (void)
{
  g_autofree char *reference = reference_path ();
  const char *const settings[][2] = {
    { "OPENBLAS_CORETYPE", "Prescott" },
    { "OPENBLAS_CORETYPE", "Haswell" },
    { "OPENBLAS_NUM_THREADS", "1" },
    { "LD_LIBRARY_PATH", reference },
  };
  g_autofree char *digest = digest_of_random ();
  g_autofree char *pattern = g_strdup_printf ("*digest %s*", digest);

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    g_autofree char *before = g_strdup (g_getenv (settings[i][0]));

    if (settings[i][1] == NULL) {
      g_test_message ("no reference BLAS: %s not tried", settings[i][0]);
      continue;
    }
    g_test_message ("%s=%s", settings[i][0], settings[i][1]);
    g_setenv (settings[i][0], settings[i][1], TRUE);
    g_test_trap_subprocess ("/predictors/linear/digest", 0, G_TEST_SUBPROCESS_DEFAULT);
    if (before != NULL)
      g_setenv (settings[i][0], before, TRUE);
    else
      g_unsetenv (settings[i][0]);
    g_test_trap_assert_passed ();
    g_test_trap_assert_stdout (pattern);
  }
}

#define MAX_SIZE 16u

/* n samples of p features, the last of which may be the sum of the first two; the target is a sum of
 * the features, and noise. */
static PredictSamples *
make_ridge_samples (guint n, guint p, double noise, gboolean is_dependent, uint64_t seed)
{
  PredictSamples *samples = predict_samples_new (n, p, TRUE);
  BaseRandom random = base_random_stream (seed, 0);

  for (guint i = 0; i < n; i++) {
    samples->y[i] = 3 + noise * testing_normal (&random);
    for (guint k = 0; k < p; k++) {
      float *x = &samples->x[k * n + i];

      *x = is_dependent && k == p - 1
               ? samples->x[i] + samples->x[n + i]
               : (float) (k + 1) * (float) base_random_below (&random, 4096) / 4096;
      samples->y[i] += (double) *x / (k + 2.0);
    }
  }
  return samples;
}

static PredictRidgeChoice
choose (const PredictSamples *samples)
{
  g_autoptr (GError) error = NULL;
  PredictRidgeChoice choice;

  g_assert_true (predict_ridge_choose (samples, &choice, &error));
  g_assert_no_error (error);
  return choice;
}

/* Gauss and Jordan, with pivots; matrix is [n][n + 1], the last column the right side, then the
 * solution. */
static void
solve_by_elimination (double matrix[][MAX_SIZE + 1], guint n)
{
  for (guint k = 0; k < n; k++) {
    guint pivot = k;

    for (guint row = k; row < n; row++)
      pivot = fabs (matrix[row][k]) > fabs (matrix[pivot][k]) ? row : pivot;
    for (guint column = 0; column <= n; column++) {
      double other = matrix[pivot][column];

      matrix[pivot][column] = matrix[k][column];
      matrix[k][column] = other;
    }
    for (guint row = 0; row < n; row++) {
      double factor = row == k ? 0 : matrix[row][k] / matrix[k][k];

      for (guint column = 0; column <= n; column++)
        matrix[row][column] -= factor * matrix[k][column];
    }
  }
  for (guint k = 0; k < n; k++)
    matrix[k][n] /= matrix[k][k];
}

/* The prediction of one sample by the normal equations of all others; the constant is not penalised. */
static double
predict_without (const PredictSamples *samples, guint left_out, double ridge)
{
  guint n = (guint) samples->n_samples, p = samples->n_features;
  double matrix[MAX_SIZE][MAX_SIZE + 1] = { 0 }, of_left_out[MAX_SIZE], predicted = 0;

  for (guint i = 0; i < n; i++) {
    double row[MAX_SIZE] = { 1 };

    for (guint k = 0; k < p; k++)
      row[k + 1] =
          predict_scaled (predict_scale_floats (samples->x + k * n, n), samples->x[k * n + i]);
    for (guint k = 0; k <= p; k++) {
      of_left_out[k] = i == left_out ? row[k] : of_left_out[k];
      for (guint l = 0; l <= p && i != left_out; l++)
        matrix[k][l] += row[k] * row[l];
      matrix[k][p + 1] += i != left_out ? row[k] * samples->y[i] : 0;
    }
  }
  for (guint k = 1; k <= p; k++)
    matrix[k][k] += ridge;
  solve_by_elimination (matrix, p + 1);
  for (guint k = 0; k <= p; k++)
    predicted += matrix[k][p + 1] * of_left_out[k];
  return predicted;
}

/* The sum of squares of the errors. */
static double
press (const PredictSamples *samples, double ridge)
{
  double sum = 0;

  for (guint i = 0; i < samples->n_samples; i++) {
    double off = samples->y[i] - predict_without (samples, i, ridge);

    sum += off * off;
  }
  return sum;
}

static void
test_left_out (void)
{
  static const struct {
    guint n, p;
    double noise;
    gboolean is_dependent;
  } cases[] = { { 12, 9, 0.05, FALSE },
                { 12, 9, 2, FALSE },
                { 8, 9, 0.05, FALSE },
                { 20, 5, 0.1, TRUE },
                { 3, 1, 0.1, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (PredictSamples) samples =
        make_ridge_samples (cases[i].n, cases[i].p, cases[i].noise, cases[i].is_dependent, i + 1);
    PredictRidgeChoice choice = choose (samples);
    double chosen = press (samples, choice.ridge);

    for (guint k = 0; k < cases[i].n; k++)
      g_assert_cmpfloat_with_epsilon (choice.left_out[k],
                                      predict_without (samples, k, choice.ridge), 1e-4);
    /* Smaller ridges leave the test's own equations without digits. */
    for (int k = -10; k <= 2; k++)
      g_assert_cmpfloat (chosen, <=, press (samples, cases[i].n * pow (10, k / 2.0)) * (1 + 1e-6));
    g_free (choice.left_out);
  }
}

static void
test_rank (void)
{
  static const struct {
    guint n, p;
    gboolean is_dependent;
    guint rank;
  } cases[] = { { 12, 9, FALSE, 10 }, { 12, 9, TRUE, 9 }, { 8, 9, FALSE, 8 }, { 2, 9, FALSE, 2 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (PredictSamples) samples =
        make_ridge_samples (cases[i].n, cases[i].p, 1, cases[i].is_dependent, 7);
    PredictRidgeChoice choice = choose (samples);

    g_assert_cmpuint (choice.rank, ==, cases[i].rank);
    g_assert_true (choice.ridge > 0 || choice.rank == cases[i].p + 1);
    g_free (choice.left_out);
  }
}

/* Where the features say all, no penalty; where they say nothing, the largest.  With a constant feature
 * a sample is predicted by the mean of the others. */
static void
test_extremes (void)
{
  float x[] = { 2, 2, 2 };
  double y[] = { 1, 2, 6 };
  PredictSamples constant = { .n_samples = 3, .n_features = 1, .x = x, .y = y };
  g_autoptr (PredictSamples) exact = make_ridge_samples (14, 9, 0, FALSE, 1);
  g_autoptr (PredictSamples) noise = make_ridge_samples (14, 9, 1000, FALSE, 2);
  PredictRidgeChoice of_exact = choose (exact), of_noise = choose (noise);
  PredictRidgeChoice of_constant = choose (&constant);

  g_assert_cmpfloat (of_exact.ridge, ==, 0);
  for (guint i = 0; i < 14; i++)
    g_assert_cmpfloat_with_epsilon (of_exact.left_out[i], exact->y[i], 1e-9);
  g_assert_cmpfloat (of_noise.ridge, ==, 140);
  g_assert_cmpuint (of_constant.rank, ==, 1);
  g_assert_cmpfloat_with_epsilon (of_constant.left_out[0], 4, 1e-12);
  g_assert_cmpfloat_with_epsilon (of_constant.left_out[2], 1.5, 1e-12);
  g_free (of_exact.left_out);
  g_free (of_noise.left_out);
  g_free (of_constant.left_out);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/linear/longley", test_longley);
  g_test_add_func ("/predictors/linear/polynomial", test_polynomial);
  g_test_add_func ("/predictors/linear/ridge-by-hand", test_ridge_by_hand);
  g_test_add_func ("/predictors/linear/ridge-of-many", test_ridge_of_many);
  g_test_add_func ("/predictors/linear/constant-and-collinear", test_constant_and_collinear);
  g_test_add_func ("/predictors/linear/few-samples", test_few_samples);
  g_test_add_func ("/predictors/linear/too-large", test_too_large);
  g_test_add_func ("/predictors/linear/any-blas", test_any_blas);
  g_test_add_func ("/predictors/linear/digest", print_digest);
  g_test_add_func ("/predictors/ridge-choice/left-out", test_left_out);
  g_test_add_func ("/predictors/ridge-choice/rank", test_rank);
  g_test_add_func ("/predictors/ridge-choice/extremes", test_extremes);
  return g_test_run ();
}
