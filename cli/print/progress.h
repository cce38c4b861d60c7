/* progress.h - the progress of a long run, on standard error.
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

/* The same, with a text between the share and the remaining time: "3 of 7 runs, ". */
void cli_progress_text (CliProgress *progress, double share, const char *text);

/* The same for work without simulated time; of the form of TraceProgress. */
void cli_progress_share (void *progress, double share);
