/* place.h - where in a text something is wrong.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/predict_error.h"

#include <stdarg.h>

/* Where a text begins, for errors: "SOURCE:LINE:COLUMN: ". */
typedef struct {
  const char *source; /* NULL: errors begin with "column N: " */
  guint line, column; /* from 1 */
} PredictPlace;

/* Sets *error (PREDICT_ERROR_MODEL) with the place, but that column.  Always FALSE. */
gboolean predict_fail_at (const PredictPlace *place, guint column, GError **error,
                          const char *format, ...) G_GNUC_PRINTF (4, 5);
gboolean predict_fail_at_v (const PredictPlace *place, guint column, GError **error,
                            const char *format, va_list arguments) G_GNUC_PRINTF (4, 0);
