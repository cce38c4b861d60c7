/* json.h - JSON objects: members written and read, and whole files of one object.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * json-glib complains on the terminal about a member of another type; a model from a file needs
 * an answer that its reader can print.  Errors are BASE_ERROR_JSON and name the member. */
#pragma once

#include <json-glib/json-glib.h>
#include <stdint.h>
#include <stdio.h>

/* NaN and infinities become null, in arrays too: JSON has no other word for them. */
void base_json_add_number (JsonBuilder *builder, const char *name, double value);
void base_json_add_integer (JsonBuilder *builder, const char *name, int64_t value);
/* NULL becomes null. */
void base_json_add_string (JsonBuilder *builder, const char *name, const char *value);
void base_json_add_numbers (JsonBuilder *builder, const char *name, const double *values, gsize n);

/* n values of `width` bytes (4 or 8), little-endian, as base64 text: a large array costs a
 * hundredth of what an array of JSON numbers does, and loses no bit. */
void base_json_add_packed (JsonBuilder *builder, const char *name, const void *values, gsize n,
                           guint width);

/* FALSE or NULL and *error: no such member, or of another type. */
gboolean base_json_number (JsonObject *object, const char *name, double *value, GError **error);
gboolean base_json_integer (JsonObject *object, const char *name, int64_t smallest, int64_t largest,
                            int64_t *value, GError **error);
gboolean base_json_boolean (JsonObject *object, const char *name, gboolean *value, GError **error);
const char *base_json_string (JsonObject *object, const char *name, GError **error);
JsonObject *base_json_object (JsonObject *object, const char *name, GError **error);
JsonArray *base_json_array (JsonObject *object, const char *name, GError **error);

/* NaN where the member is null. */
gboolean
base_json_number_or_null (JsonObject *object, const char *name, double *value, GError **error);

/* Exactly n finite numbers. */
gboolean
base_json_numbers (JsonObject *object, const char *name, gsize n, double *values, GError **error);

/* The bytes of a packed array of values of `width` bytes, in this machine's order, *n of them; the
 * caller frees.  NULL and *error when they do not make whole values. */
void *
base_json_packed (JsonObject *object, const char *name, guint width, gsize *n, GError **error);

/* Sets *error: `name` is not `what`.  FALSE. */
gboolean base_json_fail (const char *name, const char *what, GError **error);

/* The whole text, indented, and the end of its last line. */
void base_json_print (JsonNode *root, FILE *out);

/* Reads the file at `path`, which is one JSON object whose "schema" is `schema`, such as
 * "hopcast.model/1", and returns the result of `read` on it.  NULL and *error, with the path and where
 * possible the line: no such file (G_FILE_ERROR), no JSON, anything but one object, deeper nesting than
 * any of our files, another schema or version, or the error of `read` (BASE_ERROR_JSON). */
gpointer base_json_file (const char *path, const char *schema,
                         gpointer (*read) (JsonObject *root, GError **error), GError **error);
