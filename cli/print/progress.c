/* progress.c - the progress of a long run, on standard error.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/progress.h"

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

/* middle: the text between the share and the remaining time. */
static void
draw (CliProgress *progress, double share, const char *middle, double wall_s)
{
  g_autofree char *left = share > 0 ? g_strdup_printf ("%.0f s left", wall_s / share * (1 - share))
                                    : g_strdup_printf ("%.0f s so far", wall_s);
  char bar[BAR_WIDTH + 1];

  for (int i = 0; i < BAR_WIDTH; i++)
    bar[i] = i < (int) (share * BAR_WIDTH) ? '#' : '.';
  bar[BAR_WIDTH] = '\0';
  if (progress->terminal) {
    wipe (progress);
    fprintf (stderr, "[%s] %3.0f %%  %s%s", bar, 100 * share, middle, left);
    progress->drawn = TRUE;
    fflush (stderr);
  } else
    fprintf (stderr, "hopcast: %.0f %% done, %s%s\n", 100 * share, middle, left);
}

/* Whether the next output is due; then *wall_s is the elapsed time. */
static gboolean
is_due (CliProgress *progress, double *wall_s)
{
  gint64 now_us;

  if (progress->quiet)
    return FALSE;
  now_us = g_get_monotonic_time ();
  if (now_us < progress->next_us)
    return FALSE;
  progress->next_us = now_us + (progress->terminal ? BAR_INTERVAL_US : LINE_INTERVAL_US);
  *wall_s = (double) (now_us - progress->started_us) * 1e-6;
  return TRUE;
}

void
cli_progress_update (void *data, double share, int64_t now_ps)
{
  CliProgress *progress = data;
  double simulated_s = (double) now_ps * 1e-12, wall_s;
  g_autofree char *middle = NULL;

  if (!is_due (progress, &wall_s))
    return;
  if (now_ps == 0)
    middle = g_strdup (""); /* the load network has no time */
  else
    middle = progress->terminal ? g_strdup_printf ("%.6f s simulated, %.2g s per second, ",
                                                   simulated_s, simulated_s / wall_s)
                                : g_strdup_printf ("%.6f s simulated, ", simulated_s);
  draw (progress, CLAMP (share, 0, 1), middle, wall_s);
}

void
cli_progress_text (CliProgress *progress, double share, const char *text)
{
  double wall_s;

  if (is_due (progress, &wall_s))
    draw (progress, CLAMP (share, 0, 1), text, wall_s);
}

void
cli_progress_share (void *progress, double share)
{
  cli_progress_text (progress, share, "");
}
