/* published.h - figures that others have published, and whether ours agree.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The figures are data (validation/data, one CSV per machine), compiled into
 * the program.  Columns: name, unit, low, high, tolerance, role, source,
 * conditions; fields have no commas and no quotes. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#define VALIDATION_ERROR (validation_error_quark ())
typedef enum {
  VALIDATION_ERROR_DATA,       /* the figures cannot be read */
  VALIDATION_ERROR_NAME,       /* no figure has that name */
  VALIDATION_ERROR_EXPERIMENT, /* an experiment could not be run */
  VALIDATION_ERROR_NOT_RUN,    /* what it needs was not given: no verdict, and no failure */
} ValidationError;
GQuark validation_error_quark (void);

typedef struct {
  char *name, *unit;
  double low, high; /* published; -INFINITY and INFINITY where open */
  double tolerance; /* share by which each end may be missed */
  char *role;       /* "calibrated": it helped to set the model; "predicted": it did not;
                     * "recomputed": from the publication's own numbers, without a model; "limit":
                     * nobody has published it, it is what this project asks of itself */
  char *source;     /* where it was published */
  char *conditions;
} ValidationPublished;

/* (element-type ValidationPublished), in the order of the text; NULL and
 * *error naming `path` and the line. */
GPtrArray *validation_published_parse (const char *text, const char *path, GError **error);

bool validation_agrees (const ValidationPublished *published, double simulated);

/* The same of a figure that by the chance of its measurement is anywhere from lower to upper: whether
 * any of that is published. */
bool validation_agrees_within (const ValidationPublished *published, double lower, double upper);

/* How far beyond the nearer published end, as a share of it: 0 within, negative below. */
double validation_deviation (const ValidationPublished *published, double simulated);
