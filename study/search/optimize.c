/* optimize.c - the best of many mappings by simulated time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/search/optimize.h"

#include "study/study_error.h"

#include <math.h>

/* Nobody waits for more. */
#define MAX_RUNS    10000u
#define MAX_REPEATS 9u

typedef struct {
  StudyCandidates *candidates;
  const StudyTrialPlan *plan;
  guint n_done, n_planned; /* runs, before those that are being made */
  guint n_ended;
} Optimizer;

StudyHalving
study_halving (guint n_runs, guint n_candidates)
{
  StudyHalving halving = { .n_repeats = MIN (n_runs / 6, MAX_REPEATS) };
  guint n_most = n_runs < 40 ? 1 : 2;

  halving.n_first = MIN (n_runs - (n_most + 1) * halving.n_repeats, n_candidates);
  halving.n_finalists = MIN (n_most, halving.n_first > 0 ? halving.n_first - 1 : 0);
  return halving;
}

static gboolean
is_over (const StudyTrialPlan *plan)
{
  return (plan->deadline_us && g_get_monotonic_time () >= plan->deadline_us) ||
         (plan->stop && plan->stop (plan->data));
}

static gboolean
look (void *data, guint n_done)
{
  Optimizer *optimizer = data;
  const StudyTrialPlan *plan = optimizer->plan;

  optimizer->n_ended = n_done;
  if (plan->progress && optimizer->n_planned > 0)
    plan->progress (plan->data, (double) (optimizer->n_done + n_done) / optimizer->n_planned);
  return is_over (plan);
}

static void
run_trials (Optimizer *optimizer, const StudyTrial *trials, guint n, StudyTrialResult *results)
{
  StudyTrialOptions options = optimizer->plan->trials;

  options.stop = look;
  options.stop_data = optimizer;
  study_trials_run (trials, n, &options, results);
  for (guint i = 0; i < n; i++)
    optimizer->n_done += results[i].done;
}

/* --- One run each --- */

static void
take_result (StudyCandidate *candidate, const StudyCandidate *plain, const StudyTrialResult *result)
{
  if (result->done) {
    candidate->time_s = result->time_s;
    candidate->gain = study_gain_new (&plain->time_s, &candidate->time_s, 1);
  } else if (result->error[0])
    candidate->error = g_strdup (result->error);
}

static void
simulate_range (Optimizer *optimizer, guint first, guint n)
{
  const StudyTrialPlan *plan = optimizer->plan;
  g_autofree StudyTrial *trials = g_new (StudyTrial, n);
  g_autofree StudyTrialResult *results = g_new (StudyTrialResult, n);

  for (guint i = 0; i < n; i++)
    trials[i] = (StudyTrial){ optimizer->candidates->paths->machine,
                              study_candidate (optimizer->candidates, first + i)->mapping,
                              plan->compute_scale };
  run_trials (optimizer, trials, n, results);
  for (guint i = 0; i < n; i++)
    take_result (study_candidate (optimizer->candidates, first + i),
                 study_candidate (optimizer->candidates, 0), &results[i]);
}

/* Runs that fit before the deadline, when one takes run_us. */
static guint
runs_in_time (const StudyTrialPlan *plan, int64_t run_us)
{
  int64_t left_us = plan->deadline_us - g_get_monotonic_time ();
  double n = (double) MAX (left_us, 0) / (double) MAX (run_us, 1) * plan->trials.n_threads;

  return (guint) MIN (n, MAX_RUNS);
}

/* --- Again, on perturbed machines --- */

/* Finalists: the fastest ones, ascending. */
static guint
choose_finalists (const Optimizer *optimizer, guint n_first, guint n, guint *finalists)
{
  guint n_chosen = 0;

  for (guint i = 1; i < n_first; i++) {
    double time_s = study_candidate (optimizer->candidates, i)->time_s;
    guint place = n_chosen;

    if (isnan (time_s))
      continue;
    while (place > 0 &&
           study_candidate (optimizer->candidates, finalists[place - 1])->time_s > time_s)
      place--;
    if (place >= n)
      continue;
    n_chosen = MIN (n_chosen + 1, n);
    for (guint k = n_chosen - 1; k > place; k--)
      finalists[k] = finalists[k - 1];
    finalists[place] = i;
  }
  return n_chosen;
}

/* The gain of a finalist from the perturbed runs that both it and the default ended;
 * plain[] and its own are results[] of n_repeats runs each. */
static void
take_repeats (StudyCandidate *candidate, const StudyCandidate *plain,
              const StudyTrialResult *plain_results, const StudyTrialResult *results,
              guint n_repeats)
{
  double default_s[MAX_REPEATS + 1] = { plain->time_s };
  double time_s[MAX_REPEATS + 1] = { candidate->time_s };
  guint n = 1;

  for (guint i = 0; i < n_repeats; i++)
    if (plain_results[i].done && results[i].done) {
      default_s[n] = plain_results[i].time_s;
      time_s[n++] = results[i].time_s;
    }
  candidate->gain = study_gain_new (default_s, time_s, n);
}

/* Repeats are made in the order of their numbers, so that what a deadline leaves can be
 * compared. */
static void
simulate_again (Optimizer *optimizer, const guint *finalists, guint n_finalists, guint n_repeats)
{
  const StudyTrialPlan *plan = optimizer->plan;
  const TopoMachine *machine = optimizer->candidates->paths->machine;
  guint n_maps = n_finalists + 1, n = n_maps * n_repeats;
  g_autofree TopoMachine *machines = g_new (TopoMachine, MAX (n_repeats, 1));
  g_autofree StudyTrial *trials = g_new (StudyTrial, n);
  g_autofree StudyTrialResult *results = g_new (StudyTrialResult, n);
  g_autofree StudyTrialResult *sorted = g_new (StudyTrialResult, n);

  for (guint repeat = 0; repeat < n_repeats; repeat++) {
    double scale = plan->compute_scale;

    machines[repeat] = study_gain_perturbed (machine, plan->seed, repeat + 1, &scale);
    for (guint map = 0; map < n_maps; map++) {
      guint which = map == 0 ? 0 : finalists[map - 1];

      trials[repeat * n_maps + map] =
          (StudyTrial){ &machines[repeat], study_candidate (optimizer->candidates, which)->mapping,
                        scale };
    }
  }
  run_trials (optimizer, trials, n, results);
  for (guint i = 0; i < n; i++)
    sorted[i % n_maps * n_repeats + i / n_maps] = results[i];
  for (guint map = 1; map < n_maps; map++)
    take_repeats (study_candidate (optimizer->candidates, finalists[map - 1]),
                  study_candidate (optimizer->candidates, 0), sorted, &sorted[map * n_repeats],
                  n_repeats);
}

static guint
best_finalist (const Optimizer *optimizer, const guint *finalists, guint n)
{
  double best_gain = 0;
  guint best = 0;

  for (guint i = 0; i < n; i++) {
    const StudyCandidate *candidate = study_candidate (optimizer->candidates, finalists[i]);

    if (candidate->gain.mean > best_gain && candidate->gain.nominal > 0) {
      best = finalists[i];
      best_gain = candidate->gain.mean;
    }
  }
  return best;
}

/* --- All of it --- */

/* The default's run, which also tells how long runs take. */
static gboolean
simulate_default (Optimizer *optimizer, int64_t *run_us, GError **error)
{
  int64_t begin_us = g_get_monotonic_time ();
  StudyCandidate *plain = study_candidate (optimizer->candidates, 0);

  simulate_range (optimizer, 0, 1);
  *run_us = g_get_monotonic_time () - begin_us;
  if (!plain->error)
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_SEARCH, "the default mapping: %s", plain->error);
  return FALSE;
}

/* By score, of those whose simulation has not failed. */
static guint
best_untried (const StudyCandidates *candidates)
{
  for (guint i = 1; i < candidates->list->len && study_candidate (candidates, i)->score < 1; i++)
    if (!study_candidate (candidates, i)->error)
      return i;
  return 0;
}

static guint
halve (Optimizer *optimizer, guint n_runs)
{
  StudyHalving halving = study_halving (n_runs, optimizer->candidates->list->len);
  guint finalists[2], n_finalists;

  optimizer->n_planned = halving.n_first + (halving.n_finalists + 1) * halving.n_repeats;
  if (halving.n_first < 2)
    return study_candidates_best (optimizer->candidates);
  simulate_range (optimizer, 1, halving.n_first - 1);
  n_finalists = choose_finalists (optimizer, halving.n_first, halving.n_finalists, finalists);
  if (n_finalists == 0)
    return best_untried (optimizer->candidates);
  if (halving.n_repeats > 0 && !is_over (optimizer->plan))
    simulate_again (optimizer, finalists, n_finalists, halving.n_repeats);
  return best_finalist (optimizer, finalists, n_finalists);
}

gboolean
study_optimize_trials (StudyCandidates *candidates, const StudyTrialPlan *plan, guint *best,
                       guint *n_done, GError **error)
{
  Optimizer optimizer = { .candidates = candidates, .plan = plan };
  int64_t run_us;

  if (!simulate_default (&optimizer, &run_us, error))
    return FALSE;
  if (isnan (study_candidate (candidates, 0)->time_s))
    *best = study_candidates_best (candidates);
  else
    *best = halve (&optimizer, plan->n_runs ? plan->n_runs : runs_in_time (plan, run_us) + 1);
  *n_done = optimizer.n_done;
  return TRUE;
}
