/* report_json.h - JSON text that may stand in a page.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The generator of json-glib writes all digits of a double and leaves '<' as it
 * is; here numbers are the shortest that read back, and no text ends a script. */
#pragma once

#include <glib.h>
#include <stdint.h>

/* Text that is not UTF-8 gets U+FFFD where it is not.  NULL is null. */
void study_json_string (GString *json, const char *text);

void study_json_number (GString *json, double value); /* NaN, infinity: null */

/* "name": with a comma before it unless the object or array was just opened. */
void study_json_member (GString *json, const char *name);

/* A comma unless the object or array was just opened. */
void study_json_next (GString *json);

/* A member and its value. */
void study_json_member_string (GString *json, const char *name, const char *text);
void study_json_member_number (GString *json, const char *name, double value);
