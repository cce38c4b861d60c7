/* trials.c - simulations side by side, each in a process of its own.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/trials.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Milliseconds between two looks at stop(). */
#define LOOK_MS 50

typedef struct {
  pid_t process;
  int pipe; /* what it has to say; -1: no process */
  guint trial;
} Worker;

/* --- In the process of a trial --- */

static void
simulate (const StudyTrial *trial, const StudyTrialOptions *options, StudyTrialResult *result)
{
  const SimRunOptions run_options = { .trace_path = options->trace_path,
                                      .network = options->network,
                                      .policy = options->policy,
                                      .compute_scale = trial->compute_scale };
  g_autoptr (GError) error = NULL;
  g_autoptr (Trace) trace = trace_open (options->trace_path, &options->trace_options, &error);
  g_autoptr (SimRun) run = NULL;

  if (trace)
    run = sim_run (trace, trial->machine, trial->mapping, &run_options, &error);
  if (run) {
    result->done = true;
    result->time_s = (double) run->result.time_ps * 1e-12;
  } else
    g_strlcpy (result->error, error->message, sizeof result->error);
}

/* Signals end it at once: what it would tidy up belongs to its parent. */
G_NORETURN static void
be_trial (const StudyTrial *trial, const StudyTrialOptions *options, int out)
{
  StudyTrialResult result = { 0 };
  ssize_t written;

  signal (SIGHUP, SIG_DFL);
  signal (SIGINT, SIG_DFL);
  signal (SIGTERM, SIG_DFL);
  simulate (trial, options, &result);
  written = write (out, &result, sizeof result);
  _exit (written == (ssize_t) sizeof result ? 0 : 1);
}

/* --- In the parent --- */

static void
worker_start (Worker *worker, guint trial, const StudyTrial *trials,
              const StudyTrialOptions *options, StudyTrialResult *result)
{
  int ends[2];

  if (pipe2 (ends, O_CLOEXEC) != 0) {
    g_snprintf (result->error, sizeof result->error, "no pipe: %s", g_strerror (errno));
    return;
  }
  worker->process = fork ();
  if (worker->process == 0)
    be_trial (&trials[trial], options, ends[1]);
  close (ends[1]);
  if (worker->process < 0) {
    g_snprintf (result->error, sizeof result->error, "no process: %s", g_strerror (errno));
    close (ends[0]);
    return;
  }
  worker->pipe = ends[0];
  worker->trial = trial;
}

static void
worker_reap (Worker *worker)
{
  while (waitpid (worker->process, NULL, 0) < 0 && errno == EINTR)
    ;
  close (worker->pipe);
  worker->pipe = -1;
}

/* A result is shorter than what a pipe holds, so that it comes in one piece. */
static void
worker_take (Worker *worker, StudyTrialResult *result)
{
  ssize_t n;

  while ((n = read (worker->pipe, result, sizeof *result)) < 0 && errno == EINTR)
    ;
  if (n != (ssize_t) sizeof *result) {
    result->done = false;
    g_strlcpy (result->error, "the process of the simulation died", sizeof result->error);
  }
  worker_reap (worker);
}

/* Returns how many results came. */
static guint
wait_for_results (Worker *workers, guint n_workers, StudyTrialResult *results)
{
  g_autofree struct pollfd *waiting = g_new0 (struct pollfd, n_workers);
  guint n_taken = 0;

  for (guint i = 0; i < n_workers; i++)
    waiting[i] = (struct pollfd){ .fd = workers[i].pipe, .events = POLLIN };
  if (poll (waiting, n_workers, LOOK_MS) <= 0)
    return 0;
  for (guint i = 0; i < n_workers; i++)
    if (workers[i].pipe >= 0 && waiting[i].revents) {
      worker_take (&workers[i], &results[workers[i].trial]);
      n_taken++;
    }
  return n_taken;
}

static guint
count_busy (const Worker *workers, guint n_workers)
{
  guint n = 0;

  for (guint i = 0; i < n_workers; i++)
    n += workers[i].pipe >= 0;
  return n;
}

static void
stop_all (Worker *workers, guint n_workers)
{
  for (guint i = 0; i < n_workers; i++)
    if (workers[i].pipe >= 0) {
      kill (workers[i].process, SIGKILL);
      worker_reap (&workers[i]);
    }
}

void
study_trials_run (const StudyTrial *trials, guint n_trials, const StudyTrialOptions *options,
                  StudyTrialResult *results)
{
  guint n_workers = MAX (options->n_threads, 1), next = 0, n_done = 0;
  g_autofree Worker *workers = g_new (Worker, n_workers);

  for (guint i = 0; i < n_workers; i++)
    workers[i].pipe = -1;
  for (guint i = 0; i < n_trials; i++)
    results[i] = (StudyTrialResult){ .done = false };
  while (next < n_trials || count_busy (workers, n_workers) > 0) {
    if (options->stop && options->stop (options->stop_data, n_done)) {
      stop_all (workers, n_workers);
      return;
    }
    for (guint i = 0; i < n_workers && next < n_trials; i++)
      if (workers[i].pipe < 0) {
        worker_start (&workers[i], next, trials, options, &results[next]);
        next++;
      }
    n_done += wait_for_results (workers, n_workers, results);
  }
}
