/* trace_error.h - errors in operations and in the traces that hold them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

#define TRACE_ERROR (trace_error_quark ())
typedef enum {
  TRACE_ERROR_OPEN,   /* cannot be read at all */
  TRACE_ERROR_FORMAT, /* not of the format it claims */
  TRACE_ERROR_RANGE,  /* well formed, impossible value */
  TRACE_ERROR_LOST,   /* well formed, but the source lost data that a replay needs */
  TRACE_ERROR_WRITE,  /* a trace cannot be written, or not in that format */
} TraceError;
GQuark trace_error_quark (void);
