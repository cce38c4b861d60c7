/* measured_curve.h - a measured quantity over message sizes, and how far ours is from it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The curves are data (validation/data, one CSV), compiled into the program.
 * Columns: curve, bytes, value, unit; the lines of one curve stand together,
 * sizes growing. */
#pragma once

#include "validation/published.h"

#include <stdint.h>

typedef struct {
  char *name, *unit;
  GArray *bytes;  /* (element-type guint64) */
  GArray *values; /* (element-type double), positive, one per size */
} ValidationCurve;

/* (element-type ValidationCurve), in the order of the text; NULL and *error
 * (VALIDATION_ERROR_DATA) naming `path` and the line. */
GPtrArray *validation_curves_parse (const char *text, const char *path, GError **error);

/* The one of a name; NULL: there is none. */
const ValidationCurve *validation_curve_find (const GPtrArray *curves, const char *name);

/* Middle value, of an even number the mean of the two in the middle; sorts
 * values[].  NaN for none. */
double validation_median (double *values, guint n);

/* The median over the points of |simulated / measured - 1|; simulated[] has
 * one value per point. */
double validation_curve_error (const ValidationCurve *curve, const double *simulated);
