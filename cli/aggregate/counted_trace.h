/* counted_trace.h - the hardware counters of a trace, as those of tasks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

/* Adds every rank of the trace to tasks (element-type PredictTask): its IPC while it computed, and no events,
 * since recordings count instructions and cycles only.  FALSE and *error: no trace, or a rank without
 * counters. */
gboolean cli_counted_trace_read (const char *path, GPtrArray *tasks, GError **error);

/* Whether a path is a trace and not the text of a counter tool: a folder, or bytes that are no text. */
gboolean cli_is_counted_trace (const char *path);
