/* names.h - lists of names as Slurm writes them; private to topology/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Appends the names of "node[1-16,018],r[1-2]n[1-4]" to `names` (element-type
 * utf8), in order, leading zeros kept.  False when the text is no such list or
 * has more than 131,072 names, one of more than 255 bytes or of more than 8 pairs of
 * brackets; some may have been appended then. */
bool topo_names_expand (const char *text, GPtrArray *names);
