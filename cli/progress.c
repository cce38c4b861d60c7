/* progress.c - how far a long run is, told on standard error.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#define BAR_WIDTH        24
#define BAR_INTERVAL_US  (G_USEC_PER_SEC / 5)
#define LINE_INTERVAL_US (10 * G_USEC_PER_SEC)

struct CliProgress {
  gboolean quiet, terminal, drawn;
  gint64 started_us, next_us; /* wall clock */
};

CliProgress *
cli_progress_new (gboolean quiet)
{
  CliProgress *progress = g_new0 (CliProgress, 1);

  progress->quiet = quiet;
  progress->terminal = isatty (STDERR_FILENO);
  progress->started_us = g_get_monotonic_time ();
  progress->next_us =
      progress->started_us + (progress->terminal ? BAR_INTERVAL_US : LINE_INTERVAL_US);
  return progress;
}

static void
wipe (CliProgress *progress)
{
  if (progress->drawn)
    fputs ("\r\033[K", stderr);
  progress->drawn = FALSE;
}

void
cli_progress_free (CliProgress *progress)
{
  if (!progress)
    return;
  wipe (progress);
  g_free (progress);
}

static void
draw (CliProgress *progress, double share, double simulated_s, double wall_s)
{
  double left_s = share > 0 ? wall_s / share * (1 - share) : 0;
  char bar[BAR_WIDTH + 1];

  for (int i = 0; i < BAR_WIDTH; i++)
    bar[i] = i < (int) (share * BAR_WIDTH) ? '#' : '.';
  bar[BAR_WIDTH] = '\0';
  if (progress->terminal) {
    wipe (progress);
    fprintf (stderr, "[%s] %3.0f %%  %.6f s simulated, %.2g s per second, %.0f s left", bar,
             100 * share, simulated_s, simulated_s / wall_s, left_s);
    progress->drawn = TRUE;
    fflush (stderr);
  } else
    fprintf (stderr, "hopcast: %.0f %% done, %.6f s simulated, %.0f s left\n", 100 * share,
             simulated_s, left_s);
}

void
cli_progress_update (void *data, double share, int64_t now_ps)
{
  CliProgress *progress = data;
  gint64 now_us;

  if (progress->quiet)
    return;
  now_us = g_get_monotonic_time ();
  if (now_us < progress->next_us)
    return;
  progress->next_us = now_us + (progress->terminal ? BAR_INTERVAL_US : LINE_INTERVAL_US);
  draw (progress, CLAMP (share, 0, 1), (double) now_ps * 1e-12,
        (double) (now_us - progress->started_us) * 1e-6);
}
