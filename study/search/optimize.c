/* optimize.c - the best of many mappings by simulated time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/search/optimize.h"
#include "base/random.h"
#include "base/student.h"
#include "study/inputs.h"
#include "study/session/worker_pool.h"
#include "study/study_error.h"

#include <math.h>
#include <string.h>

/* With two the interval would be some thirteen times wider than their difference. */
#define LEAST_PAIRS 3u

StudyGain
study_gain_new (const double *default_s, const double *time_s, guint n_times)
{
  StudyGain gain = { .nominal = NAN, .mean = NAN, .low = NAN, .high = NAN };
  double sum = 0, squares = 0, mean, half;
  guint n = n_times > 0 ? n_times - 1 : 0;

  if (n_times == 0)
    return gain;
  gain.n_pairs = n;
  gain.mean = gain.nominal = default_s[0] / time_s[0] - 1;
  for (guint i = 1; i <= n; i++) {
    sum += log (default_s[i] / time_s[i]);
    gain.n_faster += time_s[i] < default_s[i];
  }
  if (n == 0)
    return gain;
  mean = sum / n;
  gain.mean = expm1 (mean);
  if (n < LEAST_PAIRS)
    return gain;
  for (guint i = 1; i <= n; i++) {
    double off = log (default_s[i] / time_s[i]) - mean;

    squares += off * off;
  }
  half = base_student_within (0.95, n - 1) * sqrt (squares / (n - 1)) * sqrt (1 + 1.0 / n);
  gain.low = expm1 (mean - half);
  gain.high = expm1 (mean + half);
  return gain;
}

#define VARIED(field) G_STRUCT_OFFSET (TopoParameters, field)

/* Speeds and times of a machine, each 64 bits wide. */
static const gsize varied_on_all[] = { VARIED (mpi.send_overhead_ps),
                                       VARIED (mpi.receive_overhead_ps),
                                       VARIED (mpi.call_overhead_ps) };
static const gsize varied_on_fabrics[] = {
  VARIED (hca.pcie_bandwidth_Bps),    VARIED (ib.cable_latency_ps),
  VARIED (switches.latency_ps),       VARIED (hca.send_latency_ps),
  VARIED (hca.receive_latency_ps),    VARIED (memory.core_bandwidth_Bps),
  VARIED (memory.dram_bandwidth_Bps),
};
static const gsize varied_on_tori[] = {
  VARIED (link.bandwidth_Bps),
  VARIED (link.hop_latency_ps),
  VARIED (messaging.injection_latency_ps),
  VARIED (messaging.reception_latency_ps),
  VARIED (messaging.memory_bandwidth_Bps),
  VARIED (mpi.shm_bandwidth_Bps),
  VARIED (mpi.shm_latency_ps),
};

/* Uniform in its logarithm. */
static double
factor (BaseRandom *random)
{
  return pow (STUDY_PERTURBATION, 2 * base_random_unit (random) - 1);
}

static void
vary (TopoParameters *parameters, const gsize *offsets, gsize n, BaseRandom *random)
{
  for (gsize i = 0; i < n; i++) {
    int64_t *value = (int64_t *) (void *) ((char *) parameters + offsets[i]);

    *value = llround ((double) *value * factor (random));
  }
}

TopoMachine
study_gain_perturbed (const TopoMachine *machine, uint64_t seed, guint number,
                      double *compute_scale)
{
  TopoMachine copy = *machine;
  BaseRandom random = base_random_stream_added (seed, number);

  *compute_scale *= factor (&random);
  vary (&copy.parameters, varied_on_all, G_N_ELEMENTS (varied_on_all), &random);
  if (machine->fabric)
    vary (&copy.parameters, varied_on_fabrics, G_N_ELEMENTS (varied_on_fabrics), &random);
  else
    vary (&copy.parameters, varied_on_tori, G_N_ELEMENTS (varied_on_tori), &random);
  return copy;
}

/* --- Simulations side by side, in processes of their own --- */

typedef struct {
  const TopoMachine *machine; /* borrowed, as is the mapping */
  const TopoMapping *mapping;
  double compute_scale;
  guint repeat; /* 0: on the machine as it is, its ranks start at once; else they start by it */
} Trial;

typedef struct {
  bool done;
  bool no_network; /* the network cannot be built */
  double time_s;
  char error[240]; /* of one that failed; "" of one that was stopped */
} TrialResult;

typedef struct {
  StudyCandidates *candidates;
  const StudyTrialPlan *plan;
  guint n_done, n_planned; /* runs, before those that are being made */
  bool no_network;         /* the network of a run could not be built */
  const Trial *trials;     /* that are being made */
  TrialResult *results;    /* of them */
} Optimizer;

/* In a worker.  The flow network can be made only once in a process. */
static GBytes *
make_trial (void *data, guint number, gboolean *spent)
{
  const Optimizer *optimizer = data;
  const StudyTrialPlan *plan = optimizer->plan;
  const Trial *trial = &optimizer->trials[number];
  const SimRunOptions options = { .trace_path = plan->trace_path,
                                  .network = plan->network,
                                  .policy = plan->policy,
                                  .compute_scale = trial->compute_scale,
                                  .seed = plan->seed + trial->repeat,
                                  .jitter_ps = trial->repeat > 0 ? STUDY_JITTER_PS : 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (Trace) trace = trace_open (plan->trace_path, &plan->trace_options, &error);
  g_autoptr (SimRun) run = NULL;
  TrialResult result = { 0 };

  if (trace)
    run = sim_run (trace, trial->machine, trial->mapping, &options, &error);
  if (run) {
    result.done = true;
    result.time_s = (double) run->result.time_ps * 1e-12;
  } else {
    result.no_network = g_error_matches (error, SIM_ERROR, SIM_ERROR_NETWORK);
    g_strlcpy (result.error, error->message, sizeof result.error);
  }
  *spent = plan->network == SIM_NETWORK_FLOW;
  return g_bytes_new (&result, sizeof result);
}

static gboolean
is_over (const StudyTrialPlan *plan)
{
  return (plan->deadline_us && g_get_monotonic_time () >= plan->deadline_us) ||
         (plan->stop && plan->stop (plan->data));
}

static gboolean
take_trial (void *data, const StudyPoolResult *made, guint n_done, GError **error)
{
  Optimizer *optimizer = data;
  const StudyTrialPlan *plan = optimizer->plan;

  (void) error;
  if (made) {
    TrialResult *result = &optimizer->results[made->job];

    if (made->block)
      memcpy (result, g_bytes_get_data (made->block, NULL), sizeof *result);
    else
      g_strlcpy (result->error, made->lost, sizeof result->error);
  }
  if (plan->progress && optimizer->n_planned > 0)
    plan->progress (plan->data, (double) (optimizer->n_done + n_done) / optimizer->n_planned);
  return !is_over (plan);
}

/* results[i] is of trials[i], whatever the order in which they end. */
static void
run_trials (Optimizer *optimizer, const Trial *trials, guint n, TrialResult *results)
{
  guint n_workers = CLAMP (optimizer->plan->n_threads, 1, MAX (n, 1));
  g_autoptr (GError) error = NULL;

  optimizer->trials = trials;
  optimizer->results = results;
  for (guint i = 0; i < n; i++)
    results[i] = (TrialResult){ .done = false };
  study_pool_run (n_workers, n, make_trial, take_trial, optimizer, &error);
  for (guint i = 0; i < n; i++) {
    optimizer->n_done += results[i].done;
    optimizer->no_network |= results[i].no_network;
    if (error && !results[i].done && !results[i].error[0])
      g_strlcpy (results[i].error, error->message, sizeof results[i].error);
  }
}

/* --- The best of many mappings by simulated time --- */

/* Limits of runs of any kind, and of perturbed runs of a mapping. */
#define MAX_RUNS    10000u
#define MAX_REPEATS 9u

/* How a number of runs is divided: one for each of n_first candidates, the default among them, then
 * n_repeats for each of the n_finalists best and for the default. */
typedef struct {
  guint n_first, n_finalists, n_repeats;
} Halving;

static Halving
divide (guint n_runs, guint n_candidates)
{
  Halving halving = { .n_repeats = MIN (n_runs / 6, MAX_REPEATS) };
  guint n_most = n_runs < 40 ? 1 : 2;

  halving.n_first = MIN (n_runs - (n_most + 1) * halving.n_repeats, n_candidates);
  halving.n_finalists = MIN (n_most, halving.n_first > 0 ? halving.n_first - 1 : 0);
  return halving;
}

/* One run of each candidate in a range. */
static void
simulate_range (Optimizer *optimizer, guint first, guint n)
{
  const StudyTrialPlan *plan = optimizer->plan;
  const StudyCandidate *plain = study_candidate (optimizer->candidates, 0);
  g_autofree Trial *trials = g_new (Trial, n);
  g_autofree TrialResult *results = g_new (TrialResult, n);

  for (guint i = 0; i < n; i++)
    trials[i] = (Trial){ optimizer->candidates->paths->machine,
                         study_candidate (optimizer->candidates, first + i)->mapping,
                         plan->compute_scale, 0 };
  run_trials (optimizer, trials, n, results);
  for (guint i = 0; i < n; i++) {
    StudyCandidate *candidate = study_candidate (optimizer->candidates, first + i);

    if (results[i].done) {
      candidate->time_s = results[i].time_s;
      candidate->gain = study_gain_new (&plain->time_s, &candidate->time_s, 1);
    } else if (results[i].error[0])
      candidate->error = g_strdup (results[i].error);
  }
}

/* Runs of the finalists and the default on perturbed machines.  Repeats are made in the order of
 * their numbers, so that those that end before a deadline can be compared. */
static void
simulate_again (Optimizer *optimizer, const guint *finalists, guint n_finalists, guint n_repeats)
{
  const StudyTrialPlan *plan = optimizer->plan;
  const TopoMachine *machine = optimizer->candidates->paths->machine;
  const StudyCandidate *plain = study_candidate (optimizer->candidates, 0);
  guint n_maps = n_finalists + 1, n = n_maps * n_repeats;
  g_autofree TopoMachine *machines = g_new (TopoMachine, MAX (n_repeats, 1));
  g_autofree Trial *trials = g_new (Trial, n);
  g_autofree TrialResult *results = g_new (TrialResult, n);

  for (guint repeat = 0; repeat < n_repeats; repeat++) {
    double scale = plan->compute_scale;

    machines[repeat] = study_gain_perturbed (machine, plan->seed, repeat + 1, &scale);
    for (guint map = 0; map < n_maps; map++) {
      guint which = map == 0 ? 0 : finalists[map - 1];

      trials[repeat * n_maps + map] =
          (Trial){ &machines[repeat], study_candidate (optimizer->candidates, which)->mapping,
                   scale, repeat + 1 };
    }
  }
  run_trials (optimizer, trials, n, results);
  /* A gain is of the repeats that both the finalist and the default ended. */
  for (guint map = 1; map < n_maps; map++) {
    StudyCandidate *candidate = study_candidate (optimizer->candidates, finalists[map - 1]);
    double default_s[MAX_REPEATS + 1] = { plain->time_s };
    double time_s[MAX_REPEATS + 1] = { candidate->time_s };
    guint n_times = 1;

    for (guint repeat = 0; repeat < n_repeats; repeat++) {
      const TrialResult *of_default = &results[repeat * n_maps];

      if (of_default[0].done && of_default[map].done) {
        default_s[n_times] = of_default[0].time_s;
        time_s[n_times++] = of_default[map].time_s;
      }
    }
    candidate->gain = study_gain_new (default_s, time_s, n_times);
  }
}

/* Runs all, then the fastest again; returns the best. */
static guint
halve (Optimizer *optimizer, guint n_runs)
{
  Halving halving = divide (n_runs, optimizer->candidates->list->len);
  guint finalists[2], n_chosen = 0, best = 0;
  double best_gain = 0;

  optimizer->n_planned = halving.n_first + (halving.n_finalists + 1) * halving.n_repeats;
  if (halving.n_first < 2)
    return study_candidates_best (optimizer->candidates);
  simulate_range (optimizer, 1, halving.n_first - 1);

  /* Finalists: the fastest ones, ascending. */
  for (guint i = 1; i < halving.n_first; i++) {
    double time_s = study_candidate (optimizer->candidates, i)->time_s;
    guint place = n_chosen;

    if (isnan (time_s))
      continue;
    while (place > 0 &&
           study_candidate (optimizer->candidates, finalists[place - 1])->time_s > time_s)
      place--;
    if (place >= halving.n_finalists)
      continue;
    n_chosen = MIN (n_chosen + 1, halving.n_finalists);
    for (guint k = n_chosen - 1; k > place; k--)
      finalists[k] = finalists[k - 1];
    finalists[place] = i;
  }
  if (n_chosen == 0) {
    /* By score, of those whose simulation has not failed. */
    for (guint i = 1; i < optimizer->candidates->list->len &&
                      study_candidate (optimizer->candidates, i)->score < 1;
         i++)
      if (!study_candidate (optimizer->candidates, i)->error)
        return i;
    return 0;
  }
  if (halving.n_repeats > 0 && !is_over (optimizer->plan))
    simulate_again (optimizer, finalists, n_chosen, halving.n_repeats);

  for (guint i = 0; i < n_chosen; i++) {
    const StudyCandidate *candidate = study_candidate (optimizer->candidates, finalists[i]);

    if (candidate->gain.mean > best_gain && candidate->gain.nominal > 0) {
      best = finalists[i];
      best_gain = candidate->gain.mean;
    }
  }
  return best;
}

gboolean
study_optimize_trials (StudyCandidates *candidates, const StudyTrialPlan *plan, guint *best,
                       guint *n_done, GError **error)
{
  Optimizer optimizer = { .candidates = candidates, .plan = plan };
  const StudyCandidate *plain = study_candidate (candidates, 0);
  int64_t begin_us = g_get_monotonic_time (), now_us, left_us;
  guint n_runs = plan->n_runs;

  simulate_range (&optimizer, 0, 1);
  if (plain->error) {
    /* The error of the worker, whose text alone has come through the pipe. */
    g_set_error (error, optimizer.no_network ? SIM_ERROR : STUDY_ERROR,
                 optimizer.no_network ? (int) SIM_ERROR_NETWORK : (int) STUDY_ERROR_SEARCH,
                 "the default mapping: %s", plain->error);
    return FALSE;
  }
  if (n_runs == 0) {
    /* The runs that fit before the deadline, when each takes as long as the default's. */
    now_us = g_get_monotonic_time ();
    left_us = MAX (plan->deadline_us - now_us, 0);
    n_runs =
        1 + (guint) MIN ((double) left_us / (double) MAX (now_us - begin_us, 1) * plan->n_threads,
                         MAX_RUNS);
  }
  *best = isnan (plain->time_s) ? study_candidates_best (candidates) : halve (&optimizer, n_runs);
  *n_done = optimizer.n_done;
  return TRUE;
}
