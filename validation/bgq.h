/* bgq.h - experiments that were done on Blue Gene/Q, done again here.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each published figure (validation/data/bgq_published.csv) has a function in
 * bgq.c that repeats the measurement on the packet network with the default
 * parameters.  The role of a figure tells whether it had a part in setting
 * them: agreement proves something only for those that had none. */
#pragma once

#include "validation/published.h"

typedef struct {
  const ValidationPublished *published;
  double simulated; /* in the published unit */
  bool agrees;
} ValidationResult;

/* Called for each figure as soon as it is known; `result` is borrowed. */
typedef void (*ValidationReport) (void *data, const ValidationResult *result);

/* Repeats the measurement of every figure, in the order of the CSV: some ten
 * seconds in all.  With `only` (may be NULL) those named in the
 * NULL-terminated list; VALIDATION_ERROR_NAME when there is none of a name. */
gboolean
validation_bgq_run (const char *const *only, ValidationReport report, void *data, GError **error);
