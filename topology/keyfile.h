/* keyfile.h - GLib key files, with the line numbers that GLib does not keep.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

/* The key file at `path`; errors (TOPO_ERROR) name path:line.  A key that
 * appears twice in a group is an error. */
GKeyFile *topo_keyfile_load (const char *path, GError **error);

/* "path:line" of a key, of the head of its group when key is NULL; just
 * "path" when the file does not hold it.  For error messages: it reads the
 * file again.  The caller frees the text. */
char *topo_keyfile_where (const char *path, const char *group, const char *key);
