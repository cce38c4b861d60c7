/* surface.h - times as a smooth surface over the variables, without a formula: what a term is held against.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two surfaces, both over the logarithms of variables that are positive at all points (others as they
 * are), centred and in units of their standard deviation, and of the logarithm of the time where all
 * times are positive:
 *
 *     quadratic   constant, linear, square and mixed terms by ridge regression, the ridge being chosen
 *                 by leaving one point out (linear.h)
 *     kriging     a Gaussian process of constant mean with the kernel Matern 5/2,
 *                 k(r) = (1 + sqrt(5) r + 5/3 r^2) exp(-sqrt(5) r), a length for each variable, and
 *                 noise; lengths and noise by the greatest likelihood (Rasmussen and Williams 2006,
 *                 chapters 4 and 5), mean and variance by generalised least squares
 *
 * A surface has a value everywhere: beyond the points it goes on to the observed range and its width
 * on either side, and no further. */
#pragma once

#include "predictors/formula/evaluate_blocks.h"
#include "predictors/model/linear.h"

typedef enum { PREDICT_SURFACE_QUADRATIC, PREDICT_SURFACE_KRIGING } PredictSurfaceKind;

/* Lengths in standard deviations of a variable; noise as a share of the variance. */
typedef struct {
  double *lengths; /* [n_used] */
  double noise;
} PredictKernel;

/* Read-only for callers. */
typedef struct {
  PredictSurfaceKind kind;
  uint32_t n_used;    /* variables that vary */
  uint32_t *used;     /* [n_used] their columns */
  bool *log_variable; /* [n_used] */
  double *least; /* [n_used] of a variable with a logarithm: smaller values count as this one */
  double *mean, *unit; /* [n_used] of the (logarithms of) values */
  bool log_time;
  double low, high; /* where values end */
  /* Quadratic. */
  PredictLinear *linear;
  double ridge;
  /* Kriging. */
  uint64_t n;
  double *places;              /* [n_used][n] */
  double *weights;             /* [n] */
  PredictKernel kernel;        /* lengths NULL: quadratic */
  double constant, likelihood; /* of the logarithm, but for a constant */
} PredictSurface;

/* At least two points; finite values.  kernel: lengths and noise that are not searched; NULL: they
 * are.  More than PREDICT_KRIGING_MOST points: as many of them are drawn, always the same ones.
 * NULL and *error (PREDICT_ERROR_NUMERIC): numbers too large for the quadratic surface. */
#define PREDICT_KRIGING_MOST 1000u
PredictSurface *
predict_surface_fit (PredictSurfaceKind kind, const PredictPoints *points, uint32_t n_variables,
                     const double *observed, const PredictKernel *kernel, GError **error);
void predict_surface_free (PredictSurface *surface);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictSurface, predict_surface_free)

/* values[points->n], finite; a variable whose logarithm is needed is at least a billionth of the smallest
 * value that was learned from. */
void
predict_surface_values (const PredictSurface *surface, const PredictPoints *points, double *values);

/* Lines of a model file (base_model.h) that define `name` as the surface, and other names that begin
 * with it, of variables[] (names of the columns); appended to `text`. */
void predict_surface_text (const PredictSurface *surface, const char *const *variables,
                           const char *name, GString *text);
