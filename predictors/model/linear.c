/* linear.c - least squares with a constant, and the choice of a ridge.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/model/linear.h"

#include "base/vector.h"
#include "predictors/predict_error.h"
#include "predictors/model/scale.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

/* If the other columns explain all of a column but a smaller share of its norm, the rest is
 * rounding: features are of single precision. */
#define COLLINEAR 0x1p-20
/* Coefficients of standardised columns are multiples of this part of the largest one, or of 1:
 * one that is 0 comes out as 0 and not as a rounding error. */
#define GRAIN      0x1p-60
#define BLOCK_ROWS 512u
/* Three or four are enough unless columns are as near to collinear as is let through. */
#define MAX_CORRECTIONS 60

/* --- Numbers with twice the digits of a double ---
 *
 * A number is the unevaluated sum of two doubles, the second below half a unit in
 * the last place of the first: 106 bits (Dekker 1971; Hida, Li, Bailey 2001). */

typedef struct {
  double high, low;
} Double2;

/* high + low = a + b exactly (Knuth). */
static inline Double2
double2_sum (double a, double b)
{
  double high = a + b, of_b = high - a;

  return (Double2){ high, (a - (high - of_b)) + (b - of_b) };
}

/* a + b, relative error below 2^-104 unless they cancel. */
static inline Double2
double2_add (Double2 a, Double2 b)
{
  Double2 high = double2_sum (a.high, b.high);
  Double2 low = double2_sum (a.low, b.low);
  double middle = high.low + low.high, sum = high.high + middle;

  return double2_sum (sum, middle - (sum - high.high) + low.low);
}

/* a b. */
static inline Double2
double2_times (Double2 a, double b)
{
  double high = a.high * b;

  return double2_sum (high, fma (a.high, b, -high) + a.low * b);
}

/* --- Least squares --- */

/* The least-squares problem of standardised columns. */
typedef struct {
  const PredictSamples *samples;
  double ridge;
  guint n;             /* columns in it */
  guint *columns;      /* [n] which features they are, ascending */
  PredictScale *scale; /* [n_features] */
  PredictScale target;
} Problem;

static gboolean
set_too_large (GError **error)
{
  g_set_error_literal (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
                       "least squares: the values are too large to be squared");
  return FALSE;
}

static double
value_of (const Problem *problem, guint column, uint64_t sample)
{
  guint feature = problem->columns[column];

  return predict_scaled (problem->scale[feature],
                         problem->samples->x[feature * problem->samples->n_samples + sample]);
}

/* Turns [triangle; rows below it] into the triangle of both.  matrix is [n_columns][leading]. */
static void
absorb (double *matrix, guint leading, guint n_rows, guint n_columns)
{
  g_autofree double *tau = g_new (double, n_columns);
  lapack_int info = LAPACKE_dgeqrf (LAPACK_COL_MAJOR, (lapack_int) n_rows, (lapack_int) n_columns,
                                    matrix, (lapack_int) leading, tau);

  g_assert (info == 0);
  for (gsize column = 0; column < n_columns; column++) /* the reflectors */
    memset (matrix + column * leading + column + 1, 0, (n_rows - column - 1) * sizeof *matrix);
}

/* R of the columns and, below them, of sqrt (ridge) times the unit matrix: [n][n], column-major.
 * By blocks of rows, so that no second copy of a large table is made. */
static double *
triangle_of (const Problem *problem)
{
  guint n = problem->n, n_block = MAX (BLOCK_ROWS, 2 * n), leading = n + n_block;
  uint64_t n_samples = problem->samples->n_samples;
  g_autofree double *work = g_new0 (double, (gsize) leading *n);
  double *triangle = g_new0 (double, (gsize) n *n);

  for (uint64_t first = 0; first < n_samples; first += n_block) {
    guint n_rows = (guint) MIN (n_block, n_samples - first);

    for (guint column = 0; column < n; column++)
      for (guint row = 0; row < n_rows; row++)
        work[(gsize) column * leading + n + row] = value_of (problem, column, first + row);
    absorb (work, leading, n + n_rows, n);
  }
  for (gsize column = 0; column < n; column++)
    work[column * leading + n + column] = sqrt (problem->ridge);
  absorb (work, leading, 2 * n, n);
  for (gsize column = 0; column < n; column++)
    memcpy (triangle + column * n, work + column * leading, n * sizeof *triangle);
  return triangle;
}

/* Takes collinear columns out of the problem and out of its triangle: those of which nothing is left
 * outside the span of the columns before. */
static void
drop_collinear (Problem *problem, double *triangle, PredictColumnUse *use)
{
  guint n = problem->n, n_kept = 0;
  g_autofree double *basis = g_new (double, (gsize) n *n);

  for (guint column = 0; column < n; column++) {
    guint feature = problem->columns[column];
    const double *whole = triangle + (gsize) column * n;
    double *rest = basis + (gsize) n_kept * n, norm = sqrt (base_dot (whole, whole, n)), left;

    memcpy (rest, whole, n * sizeof *rest);
    /* Twice, since the rest of a nearly dependent column is not orthogonal at once (Gram, Schmidt). */
    for (guint pass = 0; pass < 2; pass++)
      for (guint k = 0; k < n_kept; k++) {
        const double *unit = basis + (gsize) k * n;
        double along = base_dot (unit, rest, n);

        for (guint i = 0; i < n; i++)
          rest[i] -= along * unit[i];
      }
    left = sqrt (base_dot (rest, rest, n));
    if (left <= COLLINEAR * norm) {
      use[feature] = PREDICT_COLUMN_COLLINEAR;
      continue;
    }
    for (guint i = 0; i < n; i++)
      rest[i] /= left;
    problem->columns[n_kept] = feature;
    memmove (triangle + (gsize) n_kept++ * n, whole, n * sizeof *triangle);
  }
  problem->n = n_kept;
  if (n_kept < n)
    absorb (triangle, n, n, n_kept);
}

/* gradient[n] = Z' (t - Z solution) - ridge solution, with twice the digits inside. */
static void
gradient_at (const Problem *problem, const Double2 *solution, double *gradient)
{
  guint n = problem->n;
  g_autofree Double2 *sums = g_new (Double2, n);
  g_autofree double *row = g_new (double, n);

  for (guint k = 0; k < n; k++)
    sums[k] = double2_times (solution[k], -problem->ridge);
  for (uint64_t i = 0; i < problem->samples->n_samples; i++) {
    Double2 residual = { predict_scaled (problem->target, problem->samples->y[i]), 0 };

    for (guint k = 0; k < n; k++) {
      row[k] = value_of (problem, k, i);
      residual = double2_add (residual, double2_times (solution[k], -row[k]));
    }
    for (guint k = 0; k < n; k++)
      sums[k] = double2_add (sums[k], double2_times (residual, row[k]));
  }
  for (guint k = 0; k < n; k++)
    gradient[k] = sums[k].high;
}

/* The solution [n], from the triangle ([n][leading]) of the problem. */
static void
solve (const Problem *problem, const double *triangle, guint leading, double *solution)
{
  guint n = problem->n;
  g_autofree Double2 *exact = g_new0 (Double2, n);
  g_autofree double *step = g_new (double, n);
  double largest, step_size, last_step = INFINITY, grain = GRAIN;

  for (guint correction = 0; correction < MAX_CORRECTIONS; correction++) {
    gradient_at (problem, exact, step);
    LAPACKE_dpotrs (LAPACK_COL_MAJOR, 'U', (lapack_int) n, 1, triangle, (lapack_int) leading, step,
                    (lapack_int) n);
    largest = step_size = 0;
    for (guint k = 0; k < n; k++) {
      exact[k] = double2_add (exact[k], (Double2){ step[k], 0 });
      step_size = MAX (step_size, fabs (step[k]));
      largest = MAX (largest, fabs (exact[k].high));
    }
    grain = ldexp (GRAIN, MAX (0, ilogb (MAX (largest, 1))));
    if (!(step_size < last_step / 2) || step_size <= 0x1p-100 * largest)
      break;
    last_step = step_size;
  }
  for (guint k = 0; k < n; k++)
    solution[k] = nearbyint (exact[k].high / grain) * grain;
}

PredictLinear *
predict_linear_fit (const PredictSamples *samples, double ridge, GError **error)
{
  guint n_features = samples->n_features;
  g_autoptr (PredictLinear) linear = predict_linear_new (n_features);
  g_autofree guint *columns = g_new (guint, n_features);
  g_autofree PredictScale *scale = g_new (PredictScale, n_features);
  Problem problem = { .samples = samples, .ridge = ridge, .columns = columns, .scale = scale };
  gboolean finite;

  problem.target = predict_scale_doubles (samples->y, samples->n_samples);
  linear->constant = problem.target.mean;
  for (guint feature = 0; feature < n_features; feature++) {
    scale[feature] =
        predict_scale_floats (samples->x + feature * samples->n_samples, samples->n_samples);
    linear->means[feature] = scale[feature].mean;
    linear->use[feature] = scale[feature].sd > 0 ? PREDICT_COLUMN_USED : PREDICT_COLUMN_CONSTANT;
    if (scale[feature].sd > 0)
      columns[problem.n++] = feature;
  }
  if (problem.n > 0 && isfinite (problem.target.sd)) {
    guint leading = problem.n;
    g_autofree double *triangle = triangle_of (&problem);
    g_autofree double *solution = g_new (double, problem.n);

    drop_collinear (&problem, triangle, linear->use);
    solve (&problem, triangle, leading, solution);
    for (guint k = 0; k < problem.n; k++)
      linear->coefficients[columns[k]] = solution[k] * problem.target.sd / scale[columns[k]].sd;
  }
  finite = isfinite (problem.target.mean) && isfinite (problem.target.sd);
  for (guint feature = 0; feature < n_features; feature++)
    finite &= isfinite (linear->coefficients[feature]);
  if (!finite) {
    set_too_large (error);
    return NULL;
  }
  return g_steal_pointer (&linear);
}

PredictLinear *
predict_linear_new (guint n_features)
{
  PredictLinear *linear = g_new0 (PredictLinear, 1);

  linear->n_features = n_features;
  linear->means = g_new0 (double, n_features);
  linear->coefficients = g_new0 (double, n_features);
  linear->use = g_new0 (PredictColumnUse, n_features);
  return linear;
}

void
predict_linear_free (PredictLinear *linear)
{
  if (linear == NULL)
    return;
  g_free (linear->means);
  g_free (linear->coefficients);
  g_free (linear->use);
  g_free (linear);
}

void
predict_linear_predict (const PredictLinear *linear, const PredictSamples *samples,
                        double *predicted)
{
  for (uint64_t i = 0; i < samples->n_samples; i++) {
    double sum = linear->constant;

    for (guint feature = 0; feature < linear->n_features; feature++)
      sum += linear->coefficients[feature] *
             ((double) samples->x[feature * samples->n_samples + i] - linear->means[feature]);
    predicted[i] = sum;
  }
}

/* --- The choice of a ridge --- */

/* A singular value that is smaller, of the largest, is made of rounding: features are of single
 * precision. */
#define NEGLIGIBLE        0x1p-20
#define FIRST_HALF_DECADE (-16)
#define LAST_HALF_DECADE  2

/* Standardised features Z = U S V', and the deviations of the target from its mean along U. */
typedef struct {
  const PredictSamples *samples;
  guint n, n_varying; /* samples; features that vary */
  guint rank;         /* of Z */
  double mean;        /* of the target */
  double *left;       /* U, column-major: [rank][n] */
  double *singular;   /* [rank] */
  double *along;      /* [rank] */
} Spectrum;

static void
spectrum_clear (Spectrum *spectrum)
{
  g_free (spectrum->left);
  g_free (spectrum->singular);
  g_free (spectrum->along);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Spectrum, spectrum_clear)

/* Standardises the features that vary and decomposes them.  FALSE: LAPACK finds no singular values of
 * such numbers. */
static gboolean
decompose (Spectrum *spectrum)
{
  const PredictSamples *samples = spectrum->samples;
  guint n = spectrum->n, n_most;
  g_autofree double *columns = g_new (double, (gsize) n * samples->n_features + 1);
  double unused = 0;

  for (guint feature = 0; feature < samples->n_features; feature++) {
    const float *x = samples->x + feature * samples->n_samples;
    PredictScale scale = predict_scale_floats (x, n);

    if (!(scale.sd > 0))
      continue;
    for (uint64_t i = 0; i < n; i++)
      columns[(gsize) spectrum->n_varying * n + i] = predict_scaled (scale, x[i]);
    spectrum->n_varying++;
  }
  n_most = MIN (n, spectrum->n_varying);
  spectrum->left = g_new (double, (gsize) n *n_most + 1);
  spectrum->singular = g_new0 (double, n_most + 1);
  spectrum->along = g_new0 (double, n_most + 1);
  for (gsize i = 0; i < (gsize) n * spectrum->n_varying; i++)
    if (!isfinite (columns[i]))
      return FALSE;
  if (n_most > 0 &&
      LAPACKE_dgesvd (LAPACK_COL_MAJOR, 'S', 'N', (lapack_int) n, (lapack_int) spectrum->n_varying,
                      columns, (lapack_int) n, spectrum->singular, spectrum->left, (lapack_int) n,
                      &unused, 1, spectrum->along) != 0)
    return FALSE;
  while (spectrum->rank < n_most &&
         spectrum->singular[spectrum->rank] > NEGLIGIBLE * spectrum->singular[0])
    spectrum->rank++;
  for (guint k = 0; k < spectrum->rank; k++) {
    spectrum->along[k] = 0;
    for (guint i = 0; i < n; i++)
      spectrum->along[k] += spectrum->left[(gsize) k * n + i] * (samples->y[i] - spectrum->mean);
  }
  return TRUE;
}

/* The sum of the squared errors of samples left out; their predictions in left_out[n].
 * A fit is a projection H y, and the error of a sample that is left out is its error in the fit of
 * all / (1 - its diagonal element of H). */
static double
leave_out (const Spectrum *spectrum, double ridge, double *left_out)
{
  double sum = 0;

  for (guint i = 0; i < spectrum->n; i++) {
    double fitted = spectrum->mean, own = 1.0 / spectrum->n, off;

    for (guint k = 0; k < spectrum->rank; k++) {
      double square = spectrum->singular[k] * spectrum->singular[k],
             share = square / (square + ridge);
      double unit = spectrum->left[(gsize) k * spectrum->n + i];

      fitted += unit * share * spectrum->along[k];
      own += unit * unit * share;
    }
    off = (spectrum->samples->y[i] - fitted) / (1 - own);
    left_out[i] = spectrum->samples->y[i] - off;
    sum += off * off;
  }
  return sum;
}

gboolean
predict_ridge_choose (const PredictSamples *samples, PredictRidgeChoice *choice, GError **error)
{
  g_auto (Spectrum) spectrum = { .samples = samples, .n = (guint) samples->n_samples };
  PredictScale target = predict_scale_doubles (samples->y, samples->n_samples);
  g_autofree double *left_out = g_new (double, samples->n_samples);
  g_autofree double *best_left_out = g_new0 (double, samples->n_samples);
  double least = INFINITY, best = NAN;
  gboolean is_determined;

  g_assert (samples->n_samples >= 2 && samples->n_samples <= G_MAXINT32);
  spectrum.mean = target.mean;
  if (!isfinite (target.sd) || !decompose (&spectrum))
    return set_too_large (error);
  /* Without a sample more than coefficients, one that is left out is missed by all. */
  is_determined = spectrum.rank == spectrum.n_varying && spectrum.n > spectrum.rank + 1;
  for (int k = LAST_HALF_DECADE; k >= FIRST_HALF_DECADE - (is_determined ? 1 : 0); k--) {
    double ridge = k < FIRST_HALF_DECADE ? 0 : spectrum.n * pow (10, k / 2.0);
    double sum = leave_out (&spectrum, ridge, left_out);

    if (sum < least) {
      least = sum;
      best = ridge;
      memcpy (best_left_out, left_out, samples->n_samples * sizeof *left_out);
    }
  }
  if (!isfinite (least))
    return set_too_large (error);
  *choice = (PredictRidgeChoice){ best, spectrum.rank + 1, g_steal_pointer (&best_left_out) };
  return TRUE;
}
