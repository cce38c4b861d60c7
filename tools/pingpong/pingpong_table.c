/* pingpong_table.c - see pingpong_table.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/pingpong/pingpong_table.h"

#include "tools/pingpong/pingpong_collectives.h"
#include "cli/progress.h"
#include "cli/terminal.h"

#include <math.h>
#include <stdio.h>

#define LEAST_US 1e-3 /* the clock has no finer steps */

typedef struct {
  const CliPingpongJob *job;
  GString *rows;
  CliProgress *progress;
  guint n_done, n_all;
  guint n_unsure;
  double widest;
} Work;

static guint
n_sizes (const CliPingpongJob *job)
{
  return job->options->sizes->len;
}

static uint64_t
size (const CliPingpongJob *job, guint at)
{
  return g_array_index (job->options->sizes, uint64_t, at);
}

static CliPingpongCollective
collective (const CliPingpongJob *job, guint at)
{
  return (CliPingpongCollective) g_array_index (job->options->collectives, guint, at);
}

static gboolean
fits (const CliPingpongJob *job, CliPingpongCollective which, uint64_t bytes)
{
  return cli_pingpong_buffer_bytes (which, bytes, job->n_ranks) <= CLI_PINGPONG_MAX_BYTES;
}

/* Of a barrier one, which is none. */
static guint
sizes_of_collective (const CliPingpongJob *job, CliPingpongCollective which)
{
  guint n = 0;

  for (guint at = 0; at < n_sizes (job); at++)
    n += fits (job, which, size (job, at));
  return which == CLI_PINGPONG_BARRIER ? 1 : n;
}

guint
cli_pingpong_count (const CliPingpongJob *job)
{
  guint n = job->plan != NULL ? job->plan->classes->len * n_sizes (job) : 0;

  for (guint at = 0; job->tasks_class != NULL && at < job->options->collectives->len; at++)
    n += sizes_of_collective (job, collective (job, at));
  return n;
}

/* ---- a dry run ---- */

static void
add_message (GString *rows, const CliPingpongClass *class)
{
  g_string_append_printf (rows, "pingpong,%s,%s,%u,%u,2,", class->is_between ? "between" : "within",
                          class->class, class->n_pairs, class->n_outside);
}

static void
add_collective (GString *rows, const CliPingpongJob *job, CliPingpongCollective which)
{
  g_string_append_printf (rows, "%s,,%s,0,0,%u,", cli_pingpong_collectives[which], job->tasks_class,
                          job->n_ranks);
}

static void
tell_how_long (const CliPingpongJob *job)
{
  guint n = cli_pingpong_count (job);
  double seconds = ceil (n * job->options->effort.seconds);

  cli_printf (stderr, "hopcast-pingpong: %u times of at most %g s each: %.0f min %02.0f s\n", n,
              job->options->effort.seconds, floor (seconds / 60), fmod (seconds, 60));
}

char *
cli_pingpong_list (const CliPingpongJob *job)
{
  GString *rows = g_string_new ("operation,where,class,pairs,outside,ranks,sizes\n");

  for (guint at = 0; job->plan != NULL && at < job->plan->classes->len; at++) {
    add_message (rows, g_ptr_array_index (job->plan->classes, at));
    g_string_append_printf (rows, "%u\n", n_sizes (job));
  }
  for (guint at = 0; job->plan != NULL && at < job->plan->unreachable->len; at++) {
    add_message (rows, g_ptr_array_index (job->plan->unreachable, at));
    g_string_append (rows, "0\n");
  }
  for (guint at = 0; job->tasks_class != NULL && at < job->options->collectives->len; at++) {
    add_collective (rows, job, collective (job, at));
    g_string_append_printf (rows, "%u\n", sizes_of_collective (job, collective (job, at)));
  }
  tell_how_long (job);
  return g_string_free (rows, FALSE);
}

/* ---- the measurement ---- */

static void
add_time (Work *work, uint64_t bytes, CliPingpongMedian us)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (text, sizeof text, "%.6g", MAX (us.median, LEAST_US));
  g_string_append_printf (work->rows, "%" G_GUINT64_FORMAT ",%s\n", bytes, text);
  if (us.width > work->job->options->effort.precision) {
    work->n_unsure++;
    work->widest = MAX (work->widest, us.width);
  }
  work->n_done++;
  cli_progress_share (work->progress, (double) work->n_done / work->n_all);
}

static void
measure_class (Work *work, const CliPingpongClass *class)
{
  const CliPingpongJob *job = work->job;

  for (guint at = 0; at < n_sizes (job); at++) {
    add_message (work->rows, class);
    add_time (work, size (job, at),
              cli_pingpong_measure (class, size (job, at), job->options->effort));
  }
}

static void
measure_collective (Work *work, CliPingpongCollective which)
{
  const CliPingpongJob *job = work->job;
  const gboolean is_barrier = which == CLI_PINGPONG_BARRIER;

  for (guint at = 0; at < (is_barrier ? 1 : n_sizes (job)); at++) {
    uint64_t bytes = is_barrier ? 0 : size (job, at);

    if (!fits (job, which, bytes))
      continue;
    add_collective (work->rows, job, which);
    add_time (work, bytes, cli_pingpong_measure_collective (which, bytes, job->options->effort));
  }
}

static void
tell_how_sure (const Work *work)
{
  if (work->n_unsure > 0 && !work->job->options->quiet)
    cli_printf (
        stderr,
        "hopcast-pingpong: %u of %u medians are not known to %g %%, the least sure to %.0f %%; "
        "more --seconds make them surer\n",
        work->n_unsure, work->n_all, work->job->options->effort.precision * 100,
        work->widest * 100);
}

char *
cli_pingpong_table (const CliPingpongJob *job)
{
  g_autoptr (CliProgress) progress = cli_progress_new (job->options->quiet);
  Work work = { .job = job,
                .rows = g_string_new ("operation,where,class,pairs,outside,ranks,bytes,time_us\n"),
                .progress = progress,
                .n_all = cli_pingpong_count (job) };

  for (guint at = 0; job->plan != NULL && at < job->plan->classes->len; at++)
    measure_class (&work, g_ptr_array_index (job->plan->classes, at));
  for (guint at = 0; job->tasks_class != NULL && at < job->options->collectives->len; at++)
    measure_collective (&work, collective (job, at));
  g_clear_pointer (&progress, cli_progress_free);
  tell_how_sure (&work);
  return g_string_free (work.rows, FALSE);
}
