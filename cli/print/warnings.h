/* warnings.h - warnings about a trace, one line for many ranks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

/* One line for messages that differ only in the number after "rank ", at the
 * place of the first: "rank 3 and 14 more ranks: cut".  (element-type utf8),
 * owned by the caller. */
GPtrArray *cli_warnings_summarize (const GPtrArray *warnings);

/* Prints them so on standard error. */
void cli_warnings_tell (const GPtrArray *warnings);
