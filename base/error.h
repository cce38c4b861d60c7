/* error.h - errors about texts from outside: their domain, places and quotations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <stdarg.h>

#define BASE_ERROR (base_error_quark ())
typedef enum {
  BASE_ERROR_JSON, /* a file is not JSON, or not the object that its reader needs */
  BASE_ERROR_TEXT, /* a text, CSV file or gzip file is malformed: file, line, column */
  BASE_ERROR_DUMP, /* a saved state is torn, damaged or not this program's */
} BaseError;
GQuark base_error_quark (void);

/* Where a text begins, for errors: "SOURCE:LINE:COLUMN: ". */
typedef struct {
  const char *source; /* NULL: errors begin with "column N: " */
  guint line, column; /* from 1 */
} BasePlace;

/* Sets *error (BASE_ERROR_TEXT) with the place, but that column.  Always FALSE. */
gboolean base_fail_at (const BasePlace *place, guint column, GError **error, const char *format,
                       ...) G_GNUC_PRINTF (4, 5);
gboolean base_fail_at_v (const BasePlace *place, guint column, GError **error, const char *format,
                         va_list arguments) G_GNUC_PRINTF (4, 0);

/* A name or a cell for an error: in quotes, at most 60 characters, on one line; the caller frees. */
char *base_quote (const char *text);

/* The reason in an error of GLib's or JSON-GLib's parsers, without the place before it, in one line;
 * the caller frees it.  *line is the number of the line that the parser names, 0 when it names none. */
char *base_parser_reason (const GError *cause, guint *line);
