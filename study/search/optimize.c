/* optimize.c - the best of many mappings by simulated time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/search/optimize.h"
#include "base/random.h"
#include "base/student.h"
#include "study/inputs.h"
#include "study/race.h"
#include "study/ranking.h"
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

/* Speeds and times of a machine, each 64 bits wide. */
typedef struct {
  gsize offset; /* in TopoParameters */
  bool is_time; /* else a speed */
} Varied;

#define VARIED_TIME(field)                        \
  {                                               \
    G_STRUCT_OFFSET (TopoParameters, field), true \
  }
#define VARIED_SPEED(field)                        \
  {                                                \
    G_STRUCT_OFFSET (TopoParameters, field), false \
  }

static const Varied varied_on_all[] = { VARIED_TIME (mpi.send_overhead_ps),
                                        VARIED_TIME (mpi.receive_overhead_ps),
                                        VARIED_TIME (mpi.call_overhead_ps) };
static const Varied varied_on_fabrics[] = {
  VARIED_SPEED (hca.pcie_bandwidth_Bps),    VARIED_TIME (ib.cable_latency_ps),
  VARIED_TIME (switches.latency_ps),        VARIED_TIME (hca.send_latency_ps),
  VARIED_TIME (hca.receive_latency_ps),     VARIED_SPEED (memory.core_bandwidth_Bps),
  VARIED_SPEED (memory.dram_bandwidth_Bps),
};
static const Varied varied_on_tori[] = {
  VARIED_SPEED (link.bandwidth_Bps),
  VARIED_TIME (link.hop_latency_ps),
  VARIED_TIME (messaging.injection_latency_ps),
  VARIED_TIME (messaging.reception_latency_ps),
  VARIED_SPEED (messaging.memory_bandwidth_Bps),
  VARIED_SPEED (mpi.shm_bandwidth_Bps),
  VARIED_TIME (mpi.shm_latency_ps),
};

/* Uniform in its logarithm. */
static double
factor (BaseRandom *random)
{
  return pow (STUDY_PERTURBATION, 2 * base_random_unit (random) - 1);
}

/* random NULL: times alone change, all by `stretch`. */
static void
vary (TopoParameters *parameters, const Varied *varied, gsize n, BaseRandom *random, double stretch)
{
  for (gsize i = 0; i < n; i++) {
    int64_t *value = (int64_t *) (void *) ((char *) parameters + varied[i].offset);

    if (random != NULL || varied[i].is_time)
      *value = llround ((double) *value * (random != NULL ? factor (random) : stretch));
  }
}

static TopoMachine
varied_machine (const TopoMachine *machine, BaseRandom *random, double stretch)
{
  TopoMachine copy = *machine;

  vary (&copy.parameters, varied_on_all, G_N_ELEMENTS (varied_on_all), random, stretch);
  if (machine->fabric)
    vary (&copy.parameters, varied_on_fabrics, G_N_ELEMENTS (varied_on_fabrics), random, stretch);
  else
    vary (&copy.parameters, varied_on_tori, G_N_ELEMENTS (varied_on_tori), random, stretch);
  return copy;
}

TopoMachine
study_gain_perturbed (const TopoMachine *machine, uint64_t seed, guint number,
                      double *compute_scale)
{
  BaseRandom random = base_random_stream_added (seed, number);

  *compute_scale *= factor (&random);
  return varied_machine (machine, &random, 1);
}

TopoMachine
study_gain_stretched (const TopoMachine *machine, double stretch)
{
  return varied_machine (machine, NULL, stretch);
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
/* From so many runs on some are kept for the interval of the winner's gain. */
#define N_INTERVAL (6 * LEAST_PAIRS)
/* Below so many the runs would not do for screening. */
#define N_SCREENING 40u
#define CONFIDENCE  0.95
#define N_MEASURES  3u

/* A race (study/race.h) between the candidates.  Their first draw is the run with the inputs as they
 * are, the others are on perturbed machines; the default has every draw that another one has. */
typedef struct {
  guint n, n_draws, n_left; /* candidates; runs that the budget has left */
  double *measures, *times; /* as StudyRace has them */
  bool is_over;             /* the budget or the time is */
} Heat;

static Heat
heat_new (const Optimizer *optimizer, guint n_runs)
{
  guint n_candidates = optimizer->candidates->list->len, n_repeats = MIN (n_runs / 6, MAX_REPEATS);
  /* With few runs a third of them are for repeats. */
  guint n = MIN (n_runs < N_SCREENING ? n_runs - 2 * n_repeats : n_candidates, n_candidates);
  Heat heat = { .n = n,
                .n_draws = 1 + n_repeats,
                .n_left = n_runs - 1,
                .measures = g_new (double, n *N_MEASURES),
                .times = g_new (double, n *(1 + n_repeats)) };

  for (guint i = 0; i < n; i++) {
    const StudyCandidate *candidate = study_candidate (optimizer->candidates, i);
    double *measures = &heat.measures[i * N_MEASURES];

    measures[0] = candidate->score;
    measures[1] = candidate->hop_bytes;
    measures[2] = candidate->max_bytes;
  }
  for (guint at = 0; at < n * heat.n_draws; at++)
    heat.times[at] = (double) NAN;
  heat.times[0] = study_candidate (optimizer->candidates, 0)->time_s;
  return heat;
}

static void
heat_clear (Heat *heat)
{
  g_free (heat->measures);
  g_free (heat->times);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Heat, heat_clear)

static double *
time_at (const Heat *heat, StudyRaceRun run)
{
  return &heat->times[run.candidate * heat->n_draws + run.draw];
}

static void
add_run (const Heat *heat, GArray *runs, guint candidate, guint draw)
{
  const StudyRaceRun run = { candidate, draw };

  if (isnan (*time_at (heat, run)))
    g_array_append_val (runs, run);
}

/* Makes the runs that the budget has left. */
static void
make_runs (Optimizer *optimizer, Heat *heat, const GArray *runs)
{
  const StudyTrialPlan *plan = optimizer->plan;
  const TopoMachine *machine = optimizer->candidates->paths->machine;
  guint n = MIN (runs->len, heat->n_left);
  g_autofree TopoMachine *machines = g_new (TopoMachine, heat->n_draws);
  g_autofree double *scales = g_new (double, heat->n_draws);
  g_autofree Trial *trials = g_new (Trial, MAX (n, 1));
  g_autofree TrialResult *results = g_new (TrialResult, MAX (n, 1));

  for (guint draw = 0; draw < heat->n_draws; draw++) {
    scales[draw] = plan->compute_scale;
    machines[draw] =
        draw == 0 ? *machine : study_gain_perturbed (machine, plan->seed, draw, &scales[draw]);
  }
  for (guint i = 0; i < n; i++) {
    StudyRaceRun run = g_array_index (runs, StudyRaceRun, i);

    trials[i] = (Trial){ run.draw == 0 ? machine : &machines[run.draw],
                         study_candidate (optimizer->candidates, run.candidate)->mapping,
                         scales[run.draw], run.draw };
  }
  run_trials (optimizer, trials, n, results);
  heat->is_over = n < runs->len || is_over (plan);
  heat->n_left -= n;
  for (guint i = 0; i < n; i++) {
    StudyRaceRun run = g_array_index (runs, StudyRaceRun, i);
    StudyCandidate *candidate = study_candidate (optimizer->candidates, run.candidate);

    if (results[i].done)
      *time_at (heat, run) = results[i].time_s;
    else if (results[i].error[0]) {
      *time_at (heat, run) = (double) INFINITY;
      if (candidate->error == NULL)
        candidate->error = g_strdup (results[i].error);
    } else
      heat->is_over = true; /* it was stopped */
  }
}

/* Times of the unperturbed runs, and gains by the draws that the candidate and the default have. */
static void
tell_candidates (Optimizer *optimizer, const Heat *heat)
{
  for (guint i = 0; i < heat->n; i++) {
    StudyCandidate *candidate = study_candidate (optimizer->candidates, i);
    double default_s[MAX_REPEATS + 1], time_s[MAX_REPEATS + 1];
    guint n_times = 0;

    if (!isfinite (*time_at (heat, (StudyRaceRun){ i, 0 })))
      continue;
    candidate->time_s = *time_at (heat, (StudyRaceRun){ i, 0 });
    for (guint draw = 0; draw < heat->n_draws; draw++) {
      double of_default = *time_at (heat, (StudyRaceRun){ 0, draw });
      double of_it = *time_at (heat, (StudyRaceRun){ i, draw });

      if (isfinite (of_default) && isfinite (of_it)) {
        default_s[n_times] = of_default;
        time_s[n_times++] = of_it;
      }
    }
    candidate->gain = study_gain_new (default_s, time_s, i == 0 ? MIN (n_times, 1) : n_times);
  }
}

/* The winner of the race as far as it has gone; the default unless that is faster. */
static guint
winner_of (const StudyRace *race, const StudyRacer *racers)
{
  g_autoptr (GArray) order = study_race_order (race, racers);
  guint first = g_array_index (order, guint, 0);

  return racers[first].end == STUDY_RACER_IN && racers[first].n_draws > 0 ? first : 0;
}

/* Races the candidates, then gives the winner and the default the draws that they lack; returns the
 * best. */
static guint
race (Optimizer *optimizer, guint n_runs)
{
  g_auto (Heat) heat = heat_new (optimizer, n_runs);
  const StudyRace race = { heat.n,    heat.n_draws,  1,         N_MEASURES, CONFIDENCE,
                           STUDY_TIE, heat.measures, heat.times };
  g_autofree StudyRacer *racers = g_new (StudyRacer, heat.n);
  g_autoptr (GArray) last = g_array_new (FALSE, FALSE, sizeof (StudyRaceRun));
  guint n_kept = n_runs >= N_INTERVAL ? 2 * LEAST_PAIRS : 0, winner;
  const StudyGain *gain;

  optimizer->n_planned = n_runs;
  if (heat.n < 2)
    return study_candidates_best (optimizer->candidates);
  heat.n_left -= n_kept;
  while (!heat.is_over) {
    g_autoptr (GArray) wanted = study_race_step (&race, racers);
    g_autoptr (GArray) runs = g_array_new (FALSE, FALSE, sizeof (StudyRaceRun));

    if (wanted->len == 0)
      break;
    for (guint i = 0; i < wanted->len; i++) {
      StudyRaceRun run = g_array_index (wanted, StudyRaceRun, i);

      if (i == 0 || run.draw != g_array_index (wanted, StudyRaceRun, i - 1).draw)
        add_run (&heat, runs, 0, run.draw);
      if (run.candidate > 0)
        add_run (&heat, runs, run.candidate, run.draw);
    }
    make_runs (optimizer, &heat, runs);
  }
  g_array_unref (study_race_step (&race, racers));
  winner = winner_of (&race, racers);
  heat.n_left += n_kept;
  for (guint draw = 1; winner > 0 && draw < heat.n_draws; draw++) {
    add_run (&heat, last, 0, draw);
    add_run (&heat, last, winner, draw);
  }
  if (!is_over (optimizer->plan))
    make_runs (optimizer, &heat, last);
  tell_candidates (optimizer, &heat);
  if (winner == 0) {
    bool is_compared = false;

    for (guint i = 1; i < heat.n; i++)
      is_compared |= !isnan (study_candidate (optimizer->candidates, i)->time_s);
    /* By score, of those whose simulation has not failed. */
    for (guint i = 1; !is_compared && i < optimizer->candidates->list->len &&
                      study_candidate (optimizer->candidates, i)->score < 1;
         i++)
      if (!study_candidate (optimizer->candidates, i)->error)
        return i;
    return 0;
  }
  gain = &study_candidate (optimizer->candidates, winner)->gain;
  return gain->mean > 0 && gain->nominal > 0 ? winner : 0;
}

/* The default's run with the inputs as they are. */
static void
run_default (Optimizer *optimizer)
{
  StudyCandidate *plain = study_candidate (optimizer->candidates, 0);
  const Trial trial = { optimizer->candidates->paths->machine, plain->mapping,
                        optimizer->plan->compute_scale, 0 };
  TrialResult result;

  run_trials (optimizer, &trial, 1, &result);
  if (result.done) {
    plain->time_s = result.time_s;
    plain->gain = study_gain_new (&plain->time_s, &plain->time_s, 1);
  } else if (result.error[0])
    plain->error = g_strdup (result.error);
}

gboolean
study_optimize_trials (StudyCandidates *candidates, const StudyTrialPlan *plan, guint *best,
                       guint *n_done, GError **error)
{
  Optimizer optimizer = { .candidates = candidates, .plan = plan };
  const StudyCandidate *plain = study_candidate (candidates, 0);
  int64_t begin_us = g_get_monotonic_time (), now_us, left_us;
  guint n_runs = plan->n_runs;

  run_default (&optimizer);
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
  *best = isnan (plain->time_s) ? study_candidates_best (candidates) : race (&optimizer, n_runs);
  *n_done = optimizer.n_done;
  return TRUE;
}
