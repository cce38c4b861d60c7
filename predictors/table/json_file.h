/* json_file.h - files that hold one JSON object of a known schema.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <json-glib/json-glib.h>

/* What `read` makes of the object that is all of the file at `path`.  NULL and *error (PREDICT_ERROR_MODEL
 * or G_FILE_ERROR, with the path and where it can be told the line): no such file, no JSON, anything but
 * one object, or nested so deep that no model of ours is; its "schema" is not `schema`, such as
 * "hopcast.model/1", with the one that is there, another version of it or something else; or `read`
 * returned NULL and an error, to which the path is added. */
gpointer predict_json_file (const char *path, const char *schema,
                            gpointer (*read) (JsonObject *root, GError **error), GError **error);
