/* trials.c - simulations side by side, in processes of their own.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/search/trials.h"

#include "study/session/crew.h"

#include <string.h>

/* Milliseconds between two looks at stop(). */
#define LOOK_MS 50

typedef struct {
  const StudyTrial *trials;
  const StudyTrialOptions *options;
} Work;

/* --- In a worker --- */

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

/* The flow network can be made only once in a process. */
static GBytes *
make_trial (void *data, guint trial, gboolean *spent)
{
  const Work *work = data;
  StudyTrialResult result = { 0 };

  simulate (&work->trials[trial], work->options, &result);
  *spent = work->options->network == SIM_NETWORK_FLOW;
  return g_bytes_new (&result, sizeof result);
}

/* --- In the parent --- */

static void
hand_out (StudyCrew *crew, guint n_trials, guint *next)
{
  int worker;

  while (*next < n_trials && (worker = crew->idlest (crew)) >= 0)
    crew->give (crew, (guint) worker, (*next)++);
}

static void
take_result (const StudyCrewResult *made, StudyTrialResult *result)
{
  if (made->block)
    memcpy (result, g_bytes_get_data (made->block, NULL), sizeof *result);
  else
    g_strlcpy (result->error, made->lost, sizeof result->error);
}

/* False when nobody can work. */
static gboolean
work_until_stopped (StudyCrew *crew, guint n_trials, const StudyTrialOptions *options,
                    StudyTrialResult *results, GError **error)
{
  guint next = 0, n_done = 0;

  while (n_done < n_trials && !(options->stop && options->stop (options->stop_data, n_done))) {
    StudyCrewResult made = { 0 };
    StudyCrewTaken taken;

    hand_out (crew, n_trials, &next);
    taken = crew->take (crew, LOOK_MS, NULL, &made, error);
    if (taken == STUDY_CREW_ERROR)
      return FALSE;
    if (taken == STUDY_CREW_RESULT) {
      take_result (&made, &results[made.job]);
      study_crew_result_clear (&made);
      n_done++;
    }
  }
  return TRUE;
}

void
study_trials_run (const StudyTrial *trials, guint n_trials, const StudyTrialOptions *options,
                  StudyTrialResult *results)
{
  Work work = { trials, options };
  g_autoptr (GError) error = NULL;
  g_autoptr (StudyCrew) crew = NULL;

  for (guint i = 0; i < n_trials; i++)
    results[i] = (StudyTrialResult){ .done = false };
  crew = study_workers_new (CLAMP (options->n_threads, 1, MAX (n_trials, 1)), make_trial, &work,
                            &error);
  if (crew && work_until_stopped (crew, n_trials, options, results, &error))
    return;
  for (guint i = 0; i < n_trials; i++)
    if (!results[i].done && !results[i].error[0])
      g_strlcpy (results[i].error, error->message, sizeof results[i].error);
}
