/* trace_file.h - files of a trace, plain or gzip alike; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

/* The first bytes (at most n) of the decompressed file; -1 and *error when
 * it cannot be read. */
gssize trace_file_head (const char *path, guint8 *head, gsize n, GError **error);

/* The decompressed contents.  A plain file that is not small is mapped, not
 * read, and no descriptor is kept. */
GBytes *trace_file_load (const char *path, GError **error);

/* Feeds the decompressed contents to a checksum. */
gboolean trace_file_checksum (const char *path, GChecksum *checksum, GError **error);

/* `path` when there is such a regular file, else path.gz when there is that,
 * else NULL.  Caller frees. */
char *trace_file_find (const char *path);
