/* size_list.h - a list of message sizes on the command line: --sizes 8,1KiB,64KiB.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <stdint.h>

/* Appends them to sizes (element-type uint64_t), in bytes, ascending.  An empty list, a word that is no
 * size, a size beyond 1 .. largest (`limit` in words) or a repeated one is an error of --sizes. */
gboolean cli_size_list (GArray *sizes, const char *text, uint64_t largest, const char *limit,
                        GError **error);
