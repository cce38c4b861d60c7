/* linear.c - see linear.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/model/linear.h"

#include "predictors/model/double_double.h"
#include "predictors/predict_error.h"
#include "predictors/model/scale.h"

#include <lapacke.h>
#include <string.h>

/* A column whose part that the others do not explain is smaller, of its norm, is made of
 * rounding: features are of single precision. */
#define COLLINEAR 0x1p-20
/* Coefficients of standardised columns are multiples of this part of the largest one, or of 1:
 * one that is 0 comes out as 0 and not as what rounding left of it. */
#define GRAIN      0x1p-60
#define BLOCK_ROWS 512u
/* Three or four are enough unless columns are as near to collinear as is let through. */
#define MAX_CORRECTIONS 60

/* The least-squares problem of standardised columns. */
typedef struct {
  const PredictSamples *samples;
  double ridge;
  guint n;             /* columns in it */
  guint *columns;      /* [n] which features they are, ascending */
  PredictScale *scale; /* [n_features] */
  PredictScale target;
} Problem;

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

static double
dot (const double *a, const double *b, guint n)
{
  double sum = 0;

  for (guint i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

/* Whether something is left of a column [n] outside of what the n_basis ones span, which then
 * have it as another.  Twice, since what is left of a nearly dependent column is not orthogonal
 * at once (Gram and Schmidt). */
static gboolean
extend_basis (double *basis, guint n_basis, const double *column, guint n)
{
  double *rest = basis + (gsize) n_basis * n, norm = sqrt (dot (column, column, n)), left;

  memcpy (rest, column, n * sizeof *rest);
  for (guint pass = 0; pass < 2; pass++)
    for (guint k = 0; k < n_basis; k++) {
      const double *unit = basis + (gsize) k * n;
      double along = dot (unit, rest, n);

      for (guint i = 0; i < n; i++)
        rest[i] -= along * unit[i];
    }
  left = sqrt (dot (rest, rest, n));
  if (left <= COLLINEAR * norm)
    return FALSE;
  for (guint i = 0; i < n; i++)
    rest[i] /= left;
  return TRUE;
}

/* Takes collinear columns out of the problem and out of its triangle. */
static void
drop_collinear (Problem *problem, double *triangle, PredictColumnUse *use)
{
  guint n = problem->n, n_kept = 0;
  g_autofree double *basis = g_new (double, (gsize) n *n);

  for (guint column = 0; column < n; column++) {
    guint feature = problem->columns[column];

    if (!extend_basis (basis, n_kept, triangle + (gsize) column * n, n)) {
      use[feature] = PREDICT_COLUMN_COLLINEAR;
      continue;
    }
    problem->columns[n_kept] = feature;
    memmove (triangle + (gsize) n_kept++ * n, triangle + (gsize) column * n, n * sizeof *triangle);
  }
  problem->n = n_kept;
  if (n_kept < n)
    absorb (triangle, n, n, n_kept);
}

/* gradient[n] = Z' (t - Z solution) - ridge solution, with twice the digits inside. */
static void
gradient_at (const Problem *problem, const PredictDouble2 *solution, double *gradient)
{
  guint n = problem->n;
  g_autofree PredictDouble2 *sums = g_new (PredictDouble2, n);
  g_autofree double *row = g_new (double, n);

  for (guint k = 0; k < n; k++)
    sums[k] = predict_double2_times (solution[k], -problem->ridge);
  for (uint64_t i = 0; i < problem->samples->n_samples; i++) {
    PredictDouble2 residual = { predict_scaled (problem->target, problem->samples->y[i]), 0 };

    for (guint k = 0; k < n; k++) {
      row[k] = value_of (problem, k, i);
      residual = predict_double2_add (residual, predict_double2_times (solution[k], -row[k]));
    }
    for (guint k = 0; k < n; k++)
      sums[k] = predict_double2_add (sums[k], predict_double2_times (residual, row[k]));
  }
  for (guint k = 0; k < n; k++)
    gradient[k] = sums[k].high;
}

/* The solution [n], from the triangle ([n][leading]) of the problem. */
static void
solve (const Problem *problem, const double *triangle, guint leading, double *solution)
{
  guint n = problem->n;
  g_autofree PredictDouble2 *exact = g_new0 (PredictDouble2, n);
  g_autofree double *step = g_new (double, n);
  double largest, step_size, last_step = INFINITY, grain = GRAIN;

  for (guint correction = 0; correction < MAX_CORRECTIONS; correction++) {
    gradient_at (problem, exact, step);
    LAPACKE_dpotrs (LAPACK_COL_MAJOR, 'U', (lapack_int) n, 1, triangle, (lapack_int) leading, step,
                    (lapack_int) n);
    largest = step_size = 0;
    for (guint k = 0; k < n; k++) {
      exact[k] = predict_double2_add (exact[k], (PredictDouble2){ step[k], 0 });
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

static void
fit_columns (Problem *problem, PredictLinear *linear)
{
  guint leading = problem->n;
  g_autofree double *triangle = triangle_of (problem);
  g_autofree double *solution = g_new (double, problem->n);

  drop_collinear (problem, triangle, linear->use);
  solve (problem, triangle, leading, solution);
  for (guint k = 0; k < problem->n; k++) {
    guint feature = problem->columns[k];

    linear->coefficients[feature] = solution[k] * problem->target.sd / problem->scale[feature].sd;
  }
}

/* Whether everything can be computed with. */
static gboolean
check_finite (const PredictLinear *linear, const PredictScale *target, GError **error)
{
  gboolean finite = isfinite (target->mean) && isfinite (target->sd);

  for (guint feature = 0; feature < linear->n_features; feature++)
    finite &= isfinite (linear->coefficients[feature]);
  if (!finite)
    g_set_error_literal (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
                         "least squares: the values are too large to be squared");
  return finite;
}

PredictLinear *
predict_linear_fit (const PredictSamples *samples, double ridge, GError **error)
{
  guint n_features = samples->n_features;
  g_autoptr (PredictLinear) linear = predict_linear_new (n_features);
  g_autofree guint *columns = g_new (guint, n_features);
  g_autofree PredictScale *scale = g_new (PredictScale, n_features);
  Problem problem = { .samples = samples, .ridge = ridge, .columns = columns, .scale = scale };

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
  if (problem.n > 0 && isfinite (problem.target.sd))
    fit_columns (&problem, linear);
  return check_finite (linear, &problem.target, error) ? g_steal_pointer (&linear) : NULL;
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
