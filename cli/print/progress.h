/* progress.h - how far a long run is, told on standard error.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A bar with simulated time (if any) and remaining time on a terminal;
 * elsewhere a plain line every ten seconds.  Nothing when quiet. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct CliProgress CliProgress;

CliProgress *cli_progress_new (gboolean quiet);

/* Wipes the bar. */
void cli_progress_free (CliProgress *progress);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CliProgress, cli_progress_free)

/* Of the form of SimRunOptions.progress; share is within 0..1. */
void cli_progress_update (void *progress, double share, int64_t now_ps);

/* The same, with a text between the share and the time that is left: "3 of 7 runs, ". */
void cli_progress_text (CliProgress *progress, double share, const char *text);

/* The same for work in which no time is simulated; of the form of TraceProgress. */
void cli_progress_share (void *progress, double share);
