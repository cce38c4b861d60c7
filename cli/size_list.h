/* size_list.h - a list of message sizes on the command line: --sizes 8,1KiB,64KiB.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <stdint.h>

/* Appends them to sizes (element-type uint64_t), bytes, ascending.  Errors name --sizes: none, no
 * size, one that is not within 1 .. largest (which the text `limit` says), one that is twice. */
gboolean cli_size_list (GArray *sizes, const char *text, uint64_t largest, const char *limit,
                        GError **error);
