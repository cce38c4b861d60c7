/* factors.c - a time that is a sum of parts, corrected by a factor for each part.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/correction/factors.h"

#include <math.h>
#include <string.h>

#define N              PREDICT_MOST_FACTORS
#define MOST_STEPS     100u
#define MOST_HALVINGS  30u
#define SMALL_STEP     1e-12 /* of the loss */
#define PULL           1e-9  /* towards 1, of the squares of the parts */
#define LEAST_DIAGONAL 1e-12 /* of the matrix: less is rounding */
#define LEAST_FREEDOM  3u
#define WIDEST         10.0 /* an interval that is wider says nothing */

/* The normal equations of a step: matrix x = side, of the parts that are known. */
typedef struct {
  guint n;
  double matrix[N][N], side[N];
} Normal;

/* Solves for the parts in `set`, the others being 0; false: singular.  inverse: NULL, or the diagonal of
 * the inverse. */
static bool
solve (const Normal *normal, guint set, double *x, double *inverse)
{
  double root[N][N] = { { 0 } }, y[N];
  guint index[N], n = 0;

  for (guint at = 0; at < normal->n; at++) {
    x[at] = 0;
    if (set >> at & 1)
      index[n++] = at;
  }
  /* Cholesky. */
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j <= i; j++) {
      double sum = normal->matrix[index[i]][index[j]];

      for (guint k = 0; k < j; k++)
        sum -= root[i][k] * root[j][k];
      if (i != j)
        root[i][j] = sum / root[j][j];
      else if (sum > LEAST_DIAGONAL * normal->matrix[index[i]][index[i]])
        root[i][i] = sqrt (sum);
      else
        return false;
    }
  for (guint column = 0; column <= (inverse != NULL ? n : 0); column++) {
    double square = 0;

    /* First the side, then the columns of the unit matrix. */
    for (guint i = 0; i < n; i++) {
      y[i] = column == 0 ? normal->side[index[i]] : i + 1 == column;
      for (guint k = 0; k < i; k++)
        y[i] -= root[i][k] * y[k];
      y[i] /= root[i][i];
      square += y[i] * y[i];
    }
    if (column > 0) {
      inverse[index[column - 1]] = square;
      continue;
    }
    for (guint i = n; i-- > 0;) {
      double sum = y[i];

      for (guint k = i + 1; k < n; k++)
        sum -= root[k][i] * x[index[k]];
      x[index[i]] = sum / root[i][i];
    }
  }
  return true;
}

/* x[]: where x' matrix x - 2 side' x is least and no x is negative. */
static void
solve_bounded (const Normal *normal, double *x)
{
  double least = INFINITY, trial[N];

  memset (x, 0, normal->n * sizeof *x);
  for (guint set = 1; set < 1u << normal->n; set++) {
    double value = 0;
    bool allowed = solve (normal, set, trial, NULL);

    for (guint at = 0; at < normal->n && allowed; at++) {
      allowed = trial[at] >= 0;
      value -= normal->side[at] * trial[at]; /* at a minimum */
    }
    if (allowed && value < least) {
      least = value;
      memcpy (x, trial, normal->n * sizeof *x);
    }
  }
}

/* The parts that are not 0 everywhere, as columns of the caller's. */
typedef struct {
  guint n;
  const double *columns[N];
  uint64_t n_points;
  const double *observed;
  PredictLoss loss;
  double *values; /* [n_points] at the present factors */
} Fit;

static double
loss_at (Fit *fit, const double *factors)
{
  for (uint64_t point = 0; point < fit->n_points; point++) {
    fit->values[point] = 0;
    for (guint at = 0; at < fit->n; at++)
      fit->values[point] += factors[at] * fit->columns[at][point];
  }
  return predict_loss (fit->loss, fit->observed, fit->values, fit->n_points);
}

/* At the factors for which the values are; pull: towards 1. */
static Normal
linearise (const Fit *fit, double pull)
{
  Normal normal = { .n = fit->n };

  for (uint64_t point = 0; point < fit->n_points; point++) {
    double slope,
        deviation = predict_deviation (fit->loss, fit->observed[point], fit->values[point], &slope);
    double wanted = slope * fit->values[point] - deviation;

    for (guint i = 0; i < fit->n; i++) {
      double row = slope * fit->columns[i][point];

      normal.side[i] += row * wanted;
      for (guint j = 0; j <= i; j++)
        normal.matrix[i][j] += row * slope * fit->columns[j][point];
    }
  }
  for (guint i = 0; i < fit->n; i++) {
    double more = pull * normal.matrix[i][i];

    normal.matrix[i][i] += more;
    normal.side[i] += more;
    for (guint j = 0; j < i; j++)
      normal.matrix[j][i] = normal.matrix[i][j];
  }
  return normal;
}

/* Steps as long as they help. */
static double
descend (Fit *fit, double *factors)
{
  double loss = loss_at (fit, factors), wanted[N], trial[N];

  for (guint step = 0; step < MOST_STEPS && isfinite (loss) && loss > 0; step++) {
    Normal normal = linearise (fit, PULL);
    double share = 1, found = INFINITY;

    solve_bounded (&normal, wanted);
    for (guint halving = 0; halving < MOST_HALVINGS && !(found < loss); halving++, share /= 2) {
      for (guint at = 0; at < fit->n; at++)
        trial[at] = factors[at] + share * (wanted[at] - factors[at]);
      found = loss_at (fit, trial);
    }
    if (!(found < loss))
      break;
    memcpy (factors, trial, fit->n * sizeof *factors);
    if (loss - found <= SMALL_STEP * loss)
      return found;
    loss = found;
  }
  return loss_at (fit, factors);
}

static void
find_intervals (Fit *fit, PredictFactors *result)
{
  guint freedom = (guint) MIN (fit->n_points, G_MAXUINT) - fit->n, at = 0;
  double half[N], x[N], inverse[N], squares = 0, student;
  bool determined;
  Normal normal;

  for (guint part = 0; part < result->n; part++) {
    result->lower[part] = 0;
    result->upper[part] = INFINITY;
  }
  if (fit->n_points < fit->n + LEAST_FREEDOM || !isfinite (result->loss))
    return;
  /* Student's 97.5 % point, within 4 % for three and more. */
  student = 1.96 + 2.37 / freedom + 2.82 / ((double) freedom * freedom);
  for (uint64_t point = 0; point < fit->n_points; point++) {
    double deviation =
        predict_deviation (fit->loss, fit->observed[point], fit->values[point], NULL);

    squares += deviation * deviation;
  }
  normal = linearise (fit, 0);
  determined = solve (&normal, (1u << fit->n) - 1, x, inverse);
  for (guint i = 0; i < fit->n; i++)
    half[i] = determined ? student * sqrt (squares / freedom * inverse[i]) : (double) INFINITY;
  for (guint part = 0; part < result->n; part++) {
    if (!result->known[part])
      continue;
    if (half[at] < WIDEST) {
      result->lower[part] = MAX (0, result->factors[part] - half[at]);
      result->upper[part] = result->factors[part] + half[at];
    }
    at++;
  }
}

PredictFactors
predict_factors_fit (const PredictPoints *parts, guint n, const double *observed, PredictLoss loss)
{
  g_autofree double *values = g_new (double, parts->n + 1);
  Fit fit = { .n_points = parts->n, .observed = observed, .loss = loss, .values = values };
  PredictFactors result = { .n = n };
  double factors[N];
  guint at = 0;

  g_assert (n >= 1 && n <= N);
  for (guint part = 0; part < n; part++) {
    result.factors[part] = 1;
    for (uint64_t point = 0; point < parts->n; point++)
      result.known[part] = result.known[part] || parts->columns[part][point] > 0;
    if (!result.known[part])
      continue;
    factors[fit.n] = 1;
    fit.columns[fit.n++] = parts->columns[part];
  }
  result.loss = descend (&fit, factors);
  for (guint part = 0; part < n; part++)
    if (result.known[part])
      result.factors[part] = factors[at++];
  find_intervals (&fit, &result);
  return result;
}

void
predict_factors_values (const PredictFactors *factors, const PredictPoints *parts, double *values)
{
  for (uint64_t point = 0; point < parts->n; point++) {
    values[point] = 0;
    for (guint part = 0; part < factors->n; part++)
      values[point] += factors->factors[part] * parts->columns[part][point];
  }
}
