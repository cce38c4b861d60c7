/* predict_error.h - errors of tables, settings and fits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

#define PREDICT_ERROR (predict_error_quark ())
typedef enum {
  PREDICT_ERROR_TABLE,   /* a table or its contents do not fit: file, line, column */
  PREDICT_ERROR_OPTION,  /* a setting is wrong for any table */
  PREDICT_ERROR_NUMERIC, /* the numbers do not determine an answer */
} PredictError;
GQuark predict_error_quark (void);
