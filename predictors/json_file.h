/* json_file.h - files that hold one JSON object of a known schema.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <json-glib/json-glib.h>

/* The object that is all of the file at `path`, json_node_unref(); immutable.  NULL and *error
 * (PREDICT_ERROR_MODEL or G_FILE_ERROR, with path and line): no such file, no JSON, anything but one
 * object, or nested so deep that no model of ours is. */
JsonNode *predict_json_file (const char *path, GError **error);

/* Whether "schema" is `schema`, such as "hopcast.model/1".  FALSE and *error name the one that is
 * there: another version of it, or something else. */
gboolean predict_json_check_schema (JsonObject *root, const char *schema, GError **error);
