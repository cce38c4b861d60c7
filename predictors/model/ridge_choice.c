/* ridge_choice.c - see ridge_choice.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/model/ridge_choice.h"

#include "predictors/predict_error.h"
#include "predictors/model/scale.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

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

/* The features that vary, standardised, column-major; the caller frees. */
static double *
standardise (const PredictSamples *samples, guint *n_varying)
{
  uint64_t n = samples->n_samples;
  double *columns = g_new (double, n * samples->n_features + 1);

  *n_varying = 0;
  for (guint feature = 0; feature < samples->n_features; feature++) {
    const float *x = samples->x + feature * n;
    PredictScale scale = predict_scale_floats (x, n);

    if (!(scale.sd > 0))
      continue;
    for (uint64_t i = 0; i < n; i++)
      columns[*n_varying * n + i] = predict_scaled (scale, x[i]);
    (*n_varying)++;
  }
  return columns;
}

/* FALSE: LAPACK finds no singular values of such numbers. */
static gboolean
decompose (Spectrum *spectrum)
{
  g_autofree double *columns = standardise (spectrum->samples, &spectrum->n_varying);
  guint n = spectrum->n, n_most = MIN (n, spectrum->n_varying);
  double unused = 0;

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
      spectrum->along[k] +=
          spectrum->left[(gsize) k * n + i] * (spectrum->samples->y[i] - spectrum->mean);
  }
  return TRUE;
}

/* The sum of the squared errors of samples left out; what is predicted of them to left_out[n].
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

static gboolean
set_too_large (GError **error)
{
  g_set_error_literal (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
                       "least squares: the values are too large to be squared");
  return FALSE;
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
