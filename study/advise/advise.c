/* advise.c - which placement of a program's ranks to launch with, or none but the launcher's own.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/advise/advise.h"

#include "study/aggregate/node_shares.h"
#include "study/aggregate/pattern_choice.h"
#include "study/race.h"
#include "study/ranking.h"
#include "study/search/optimize.h"
#include "study/session/racing.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

const char *const study_verdict_names[] = {
  "change", "noise", "small", "nothing", "unknown", NULL
};

/* --- The runs of a candidate --- */

/* The share of a budget in seconds that the search may take. */
#define SEARCH_SHARE .2

/* The kinds of runs of a candidate. */
#define N_DRAWS  10u /* of the race: the machine as it is, then perturbed machines */
#define N_PAIRS  6u  /* further perturbed machines */
#define FRESH    N_DRAWS
#define WHAT_IFS (FRESH + N_PAIRS)
#define SHRUNK   (WHAT_IFS + STUDY_N_WHAT_IFS)
#define N_KINDS  (SHRUNK + 1)

static const struct {
  const char *name, *what;
  double stretch, compute_scale;
} what_ifs[STUDY_N_WHAT_IFS] = {
  { "no_computation", "no computation", 1, 0 },
  { "messages_twice", "messages twice as long", .5, .5 },
  { "messages_half", "messages half as long", 2, 2 },
  { "computation_twice", "computation twice as long", 1, 2 },
};

typedef enum {
  PHASE_START,
  PHASE_DEFAULT,    /* the default's run, which tells how long runs take */
  PHASE_FIRST,      /* the runs that models are validated with */
  PHASE_SHRUNK_ONE, /* whether shrunk runs are cheap */
  PHASE_SHRUNK,
  PHASE_SCREEN, /* the trusted model says which other candidates are run */
  PHASE_RACE,
  PHASE_PAIRS,
  PHASE_WHAT_IFS,
  PHASE_OVER
} Phase;

/* Chooses the runs: the data of a StudyChooser. */
typedef struct {
  const StudyAdviceOptions *options;
  StudyAdvice *advice;
  StudyRivals *rivals;
  guint (*in_plan)[N_KINDS]; /* [variants] machines of the plan */
  StudyPlan *plan;
  guint n; /* candidates: the default first */
  Phase phase;
  GArray *queue; /* (element-type guint) runs that are needed, from `next` on */
  guint next, n_pending;
  gboolean *asked;       /* [runs of the plan]: run = kind * n + candidate */
  double *times;         /* [runs] NaN: not known, INFINITY: failed */
  double *load, *shrunk; /* measures [n][N_LOAD], [n][N_SHRUNK] */
  double *predicted;     /* [n] logarithms, by the trusted model */
  gboolean is_modelled;
  bool *screened;               /* [n] by the model */
  guint n_draws, n_left;        /* of the race: of each candidate; runs */
  uint64_t default_hops;        /* packet hops of the default's run */
  gint64 begin_us, deadline_us; /* deadline 0: none */
  double sum_s;                 /* wall time of exact runs now, and their number */
  guint n_timed;
  guint challenger; /* best of those that are not the default; 0: none */
  StudyRacer *racers;
  GError *error;
} Adviser;

#define N_LOAD   3u
#define N_SHRUNK 2u

static StudyRival *
rival_at (const Adviser *adviser, guint candidate)
{
  return g_ptr_array_index (adviser->rivals->all, candidate);
}

static double *
time_at (const Adviser *adviser, guint candidate, guint kind)
{
  return &adviser->times[kind * adviser->n + candidate];
}

/* --- The plan --- */

/* The name of a variant's machine in rows; `also`: how it differs from the one as it is. */
static char *
machine_text (const Adviser *adviser, const StudyVariant *variant, const char *also)
{
  const StudyMachineInputs *inputs = &adviser->options->machine;
  GString *text = g_string_new (inputs->spec);

  if (adviser->rivals->variants->len > 1)
    g_string_append_printf (text, " ranks-per-node=%u", variant->machine->ranks_per_node);
  if (inputs->pattern != G_MININT)
    g_string_append_printf (text, " pattern=%d", inputs->pattern);
  if (inputs->cores != NULL)
    g_string_append_printf (text, " cores=%s", inputs->cores);
  for (const char *const *setting = inputs->settings; setting != NULL && *setting != NULL;
       setting++)
    g_string_append_printf (text, " %s", *setting);
  g_string_append (text, also);
  return g_string_free (text, FALSE);
}

/* The machine of a kind of runs, and what its computation is multiplied by. */
static TopoMachine
machine_of_kind (const Adviser *adviser, const StudyVariant *variant, guint kind,
                 double *compute_scale)
{
  *compute_scale = adviser->options->compute_scale;
  if (kind == 0 || kind == SHRUNK)
    return *variant->machine;
  if (kind < WHAT_IFS)
    return study_gain_perturbed (variant->machine, adviser->options->seed, kind, compute_scale);
  *compute_scale *= what_ifs[kind - WHAT_IFS].compute_scale;
  return study_gain_stretched (variant->machine, what_ifs[kind - WHAT_IFS].stretch);
}

/* Whether runs of this kind can be asked for. */
static gboolean
has_kind (const StudyAdviceOptions *options, guint kind)
{
  return kind != SHRUNK || options->network == SIM_NETWORK_PACKET;
}

static gboolean
make_plan (Adviser *adviser, Trace *trace, GError **error)
{
  const StudyAdviceOptions *options = adviser->options;
  g_autofree char *name =
      g_strdup_printf ("advice: %s on %s", options->trace_path, options->machine.spec);
  StudyPlan *plan = adviser->plan = study_plan_new (name, name);
  StudyPlanRun pattern = { .network = options->network, .policy = options->policy };

  adviser->in_plan = g_malloc_n (adviser->rivals->variants->len, sizeof *adviser->in_plan);
  plan->keep_links = plan->keep_ranks = options->keep_details;
  pattern.trace =
      study_plan_add_trace (plan, options->trace_path, &options->trace_options, trace, error);
  if (pattern.trace == G_MAXUINT)
    return FALSE;
  for (guint kind = 0; kind < N_KINDS && has_kind (options, kind); kind++) {
    gboolean is_perturbed = kind > 0 && kind < WHAT_IFS;

    for (guint i = 0; i < adviser->rivals->variants->len; i++) {
      const StudyVariant *variant = g_ptr_array_index (adviser->rivals->variants, i);
      g_autofree char *also = kind == 0 || kind == SHRUNK ? g_strdup ("")
                              : is_perturbed
                                  ? g_strdup_printf (" perturbed=%u", kind)
                                  : g_strdup_printf (", %s", what_ifs[kind - WHAT_IFS].what);
      g_autofree char *text = machine_text (adviser, variant, also);
      const TopoMachine machine = machine_of_kind (adviser, variant, kind, &pattern.compute_scale);

      adviser->in_plan[i][kind] = study_plan_add_machine (plan, text, &machine);
    }
    pattern.role = kind == 0 ? STUDY_RUN_LISTED : STUDY_RUN_OTHER;
    pattern.seed = options->seed + (is_perturbed ? kind : 0);
    pattern.jitter_ps = is_perturbed ? STUDY_JITTER_PS : 0;
    pattern.shrink = (SimShrink){ 0 };
    if (kind == SHRUNK)
      sim_shrink_parse ("auto:race", &pattern.shrink);
    for (guint i = 0; i < adviser->n; i++) {
      const StudyRival *rival = rival_at (adviser, i);
      const StudyVariant *variant = g_ptr_array_index (adviser->rivals->variants, rival->variant);

      pattern.machine = adviser->in_plan[rival->variant][kind];
      study_plan_add_run (plan, &pattern, rival->mapping, variant->paths);
    }
  }
  return TRUE;
}

/* --- What is run next --- */

static void
want (Adviser *adviser, guint candidate, guint kind)
{
  guint run = kind * adviser->n + candidate;

  if (!adviser->asked[run])
    g_array_append_val (adviser->queue, run);
  adviser->asked[run] = TRUE;
}

/* Logarithms of bytes on links relative to the default's, and of the ranks of a node.  Placements
 * within one node have no bytes on links. */
static void
measure_load (Adviser *adviser)
{
  double hop_bytes = rival_at (adviser, 0)->hop_bytes, max_bytes = rival_at (adviser, 0)->max_bytes;

  adviser->load = g_new (double, adviser->n *N_LOAD);
  for (guint i = 0; i < adviser->n; i++) {
    const StudyRival *rival = rival_at (adviser, i);
    double *load = &adviser->load[i * N_LOAD];

    load[0] = log1p (rival->hop_bytes / (hop_bytes > 0 ? hop_bytes : 1));
    load[1] = log1p (rival->max_bytes / (max_bytes > 0 ? max_bytes : 1));
    load[2] = log (rival->ranks_per_node);
  }
}

/* The candidates' times in the race, [n][n_draws]; unknown: that of a candidate without a run.  The caller
 * frees. */
static double *
race_times (const Adviser *adviser, double unknown)
{
  guint n_draws = adviser->n_draws;
  double *times = g_new (double, adviser->n *n_draws);

  for (guint i = 0; i < adviser->n; i++)
    for (guint draw = 0; draw < n_draws; draw++)
      times[i * n_draws + draw] =
          isnan (*time_at (adviser, i, 0)) ? unknown : *time_at (adviser, i, draw);
  return times;
}

/* Judges the candidates by the runs that there are and returns those that are needed.  measures[n]: the
 * smaller the better, so that candidates may be screened; NULL: those without a run are out. */
static GArray *
step_race (Adviser *adviser, const double *measures, const double *times)
{
  const StudyRace race = { .n_candidates = adviser->n,
                           .n_draws = adviser->n_draws,
                           .n_best = 1,
                           .n_measures = measures != NULL ? 1 : 0,
                           .confidence = .95,
                           .tie = STUDY_TIE,
                           .measures = measures,
                           .times = times };

  return study_race_step (&race, adviser->racers);
}

/* Exponentials of the mean measure of load, or of the predicted times: what a race takes logarithms
 * of.  The caller frees. */
static double *
race_measures (const Adviser *adviser, gboolean is_modelled)
{
  double *measures = g_new (double, adviser->n);

  for (guint i = 0; i < adviser->n; i++)
    measures[i] = is_modelled ? exp (adviser->predicted[i])
                              : exp (adviser->load[i * N_LOAD] + adviser->load[i * N_LOAD + 1]);
  return measures;
}

/* Validates a model; a trusted one predicts all candidates. */
static void
try_model (Adviser *adviser, guint trust, const double *measures, guint n_measures)
{
  StudyTrust *it = &adviser->advice->trusts[trust];
  g_autofree double *logs = g_new (double, adviser->n);

  for (guint i = 0; i < adviser->n; i++) {
    double time = *time_at (adviser, i, 0);
    gboolean is_usable = TRUE;

    for (guint k = 0; k < n_measures; k++)
      is_usable = is_usable && isfinite (measures[i * n_measures + k]);
    /* A model that cannot measure all candidates screens none of them. */
    if (!is_usable)
      return;
    logs[i] = isfinite (time) ? log (time) : (double) NAN;
  }
  if (adviser->error == NULL &&
      study_advice_validate (measures, n_measures, logs, adviser->n, it, adviser->predicted,
                             &adviser->error) &&
      it->trusted) {
    adviser->is_modelled = TRUE;
    adviser->advice->model = it->name;
    for (guint i = 0; i < adviser->n; i++)
      rival_at (adviser, i)->predicted_s = exp (adviser->predicted[i]);
  }
}

static double
mean_wall_s (const Adviser *adviser)
{
  return adviser->n_timed > 0 ? adviser->sum_s / adviser->n_timed : 0;
}

/* Runs that are handed out for each worker. */
#define PENDING 2u

static guint
n_workers (const StudyAdviceOptions *options)
{
  return options->n_workers > 0 ? options->n_workers : g_get_num_processors ();
}

/* Whether only the time for the pairs and the questions after them is left. */
static gboolean
is_race_late (const Adviser *adviser)
{
  guint workers = n_workers (adviser->options);
  /* Those that are handed out are made before. */
  double last_runs = 2 * (N_PAIRS + STUDY_N_WHAT_IFS) + PENDING * workers;
  double reserve_us = 1e6 * mean_wall_s (adviser) * ceil (last_runs / workers);

  return adviser->deadline_us > 0 &&
         (double) (adviser->deadline_us - g_get_monotonic_time ()) < reserve_us;
}

/* The default's run tells how many fit the budget, and so how often candidates may be repeated. */
static void
size_race (Adviser *adviser)
{
  const StudyAdviceOptions *options = adviser->options;
  double left_s = (double) (adviser->deadline_us - g_get_monotonic_time ()) * 1e-6;
  double n_fit = options->budget_us > 0
                     ? MAX (left_s, 0) / MAX (mean_wall_s (adviser), 1e-4) * n_workers (options)
                     : options->n_runs;

  adviser->n_left = options->budget_us > 0 ? G_MAXUINT : options->n_runs - 1;
  adviser->n_draws = 1 + (guint) MIN (n_fit / 6, N_DRAWS - 1);
}

/* Drops what is wanted beyond the runs that are left. */
static void
keep_to_budget (Adviser *adviser)
{
  if (adviser->queue->len - adviser->next > adviser->n_left)
    g_array_set_size (adviser->queue, adviser->next + adviser->n_left);
}

static void
want_first (Adviser *adviser)
{
  g_autofree double *measures = race_measures (adviser, FALSE);
  g_autofree double *none = g_new (double, adviser->n * adviser->n_draws);
  g_autoptr (GArray) runs = NULL;

  for (guint i = 0; i < adviser->n * adviser->n_draws; i++)
    none[i] = NAN;
  runs = step_race (adviser, measures, none);
  for (guint i = 0; i < adviser->n; i++)
    if (i == 0 || rival_at (adviser, i)->variant != rival_at (adviser, i - 1)->variant)
      want (adviser, i, 0);
  for (guint i = 0; i < runs->len; i++)
    want (adviser, g_array_index (runs, StudyRaceRun, i).candidate, 0);
  keep_to_budget (adviser);
}

static int
compare_looks (gconstpointer a, gconstpointer b, gpointer measures)
{
  const StudyRaceRun *left = a, *right = b;
  const double *measure = measures;

  if (left->draw != right->draw)
    return left->draw < right->draw ? -1 : 1;
  if (measure[left->candidate] != measure[right->candidate])
    return measure[left->candidate] < measure[right->candidate] ? -1 : 1;
  return (left->candidate > right->candidate) - (left->candidate < right->candidate);
}

/* Takes over runs, those first that look best; the default has every draw that another one has. */
static void
want_runs (Adviser *adviser, GArray *runs, double *looks)
{
  g_array_sort_with_data (runs, compare_looks, looks);
  for (guint i = 0; i < runs->len; i++) {
    StudyRaceRun run = g_array_index (runs, StudyRaceRun, i);

    want (adviser, 0, run.draw);
    want (adviser, run.candidate, run.draw);
  }
  keep_to_budget (adviser);
}

/* The first runs of those candidates that the model does not screen, and second runs, which tell noise
 * from its error; or of all candidates, without a model. */
static void
want_screened (Adviser *adviser)
{
  g_autofree double *looks = race_measures (adviser, adviser->is_modelled);
  g_autofree double *times = race_times (adviser, (double) NAN);
  g_autoptr (GArray) runs = step_race (adviser, adviser->is_modelled ? looks : NULL, times);

  for (guint i = 0; i < adviser->n; i++)
    adviser->screened[i] = adviser->racers[i].end == STUDY_RACER_SCREENED;
  for (guint i = runs->len; i-- > 0;)
    if (g_array_index (runs, StudyRaceRun, i).draw > 1)
      g_array_remove_index (runs, i);
  want_runs (adviser, runs, looks);
}

/* The next runs of all candidates that have one, whatever a model says of them. */
static void
want_race (Adviser *adviser)
{
  g_autofree double *looks = race_measures (adviser, adviser->is_modelled);
  g_autofree double *times = race_times (adviser, (double) INFINITY);
  g_autoptr (GArray) runs = step_race (adviser, NULL, times);

  want_runs (adviser, runs, looks);
}

/* The best of the race that is not the default; 0: none was run. */
static guint
find_challenger (const Adviser *adviser)
{
  const StudyRace race = { .n_candidates = adviser->n };
  g_autoptr (GArray) order = study_race_order (&race, adviser->racers);

  for (guint at = 0; at < order->len; at++) {
    guint i = g_array_index (order, guint, at);

    if (i > 0 && isfinite (*time_at (adviser, i, 0)) && adviser->racers[i].n_draws > 0)
      return i;
  }
  return 0;
}

static void
want_pairs (Adviser *adviser)
{
  g_autofree double *times = race_times (adviser, (double) INFINITY);

  g_array_unref (step_race (adviser, NULL, times));
  adviser->challenger = find_challenger (adviser);
  for (guint kind = FRESH; adviser->challenger > 0 && kind < FRESH + N_PAIRS; kind++) {
    want (adviser, 0, kind);
    want (adviser, adviser->challenger, kind);
  }
}

static void
want_what_ifs (Adviser *adviser)
{
  for (guint kind = WHAT_IFS; adviser->challenger > 0 && kind < WHAT_IFS + STUDY_N_WHAT_IFS;
       kind++) {
    /* Without computation there is none to change. */
    if (adviser->advice->compute_s <= 0 && what_ifs[kind - WHAT_IFS].stretch == 1)
      continue;
    want (adviser, 0, kind);
    want (adviser, adviser->challenger, kind);
  }
}

/* Everything that was wanted is there. */
static void
advance (Adviser *adviser)
{
  switch (adviser->phase) {
  case PHASE_START:
    want (adviser, 0, 0);
    adviser->phase = PHASE_DEFAULT;
    return;
  case PHASE_DEFAULT:
    if (!isfinite (*time_at (adviser, 0, 0))) {
      adviser->phase = PHASE_OVER;
      return;
    }
    size_race (adviser);
    want_first (adviser);
    adviser->phase = PHASE_FIRST;
    return;
  case PHASE_FIRST:
    adviser->phase = PHASE_SCREEN;
    /* So few candidates are all run. */
    if (!study_race_screens (adviser->n, 1))
      return;
    try_model (adviser, 0, adviser->load, N_LOAD);
    if (!adviser->is_modelled && has_kind (adviser->options, SHRUNK)) {
      want (adviser, 0, SHRUNK);
      adviser->phase = PHASE_SHRUNK_ONE;
    }
    return;
  case PHASE_SHRUNK_ONE:
    for (guint i = 1; isfinite (*time_at (adviser, 0, SHRUNK)) && i < adviser->n; i++)
      want (adviser, i, SHRUNK);
    adviser->phase = PHASE_SHRUNK;
    return;
  case PHASE_SHRUNK:
    try_model (adviser, 1, adviser->shrunk, N_SHRUNK);
    adviser->phase = PHASE_SCREEN;
    return;
  case PHASE_SCREEN:
    if (adviser->n_left > 0 && !is_race_late (adviser))
      want_screened (adviser);
    if (adviser->queue->len == adviser->next)
      adviser->phase = PHASE_RACE;
    return;
  case PHASE_RACE:
    if (adviser->n_left > 0 && !is_race_late (adviser))
      want_race (adviser);
    if (adviser->queue->len > adviser->next)
      return;
    want_pairs (adviser);
    adviser->phase = PHASE_PAIRS;
    return;
  case PHASE_PAIRS:
    want_what_ifs (adviser);
    adviser->phase = PHASE_WHAT_IFS;
    return;
  case PHASE_WHAT_IFS: adviser->phase = PHASE_OVER; return;
  case PHASE_OVER: return;
  }
}

/* --- The chooser --- */

static GArray *
choose (void *data)
{
  Adviser *adviser = data;
  GArray *wanted = g_array_new (FALSE, FALSE, sizeof (guint));
  guint most = PENDING * n_workers (adviser->options);
  gboolean is_race = adviser->phase > PHASE_DEFAULT && adviser->phase < PHASE_PAIRS;

  /* What is queued for the race gives way to the pairs. */
  if (is_race && is_race_late (adviser))
    g_array_set_size (adviser->queue, adviser->next);
  while (adviser->n_pending == 0 && adviser->next == adviser->queue->len &&
         adviser->phase != PHASE_OVER)
    advance (adviser);
  while (adviser->n_pending < most && adviser->next < adviser->queue->len) {
    guint run = g_array_index (adviser->queue, guint, adviser->next++);

    adviser->n_pending++;
    if (adviser->phase == PHASE_FIRST || adviser->phase >= PHASE_SCREEN)
      adviser->n_left -= adviser->n_left > 0;
    g_array_append_val (wanted, run);
  }
  return wanted;
}

static void
take_row (void *data, guint run, const StudyRow *row)
{
  Adviser *adviser = data;
  guint kind = run / adviser->n, candidate = run % adviser->n;
  StudyRival *rival = rival_at (adviser, candidate);
  gboolean is_done = row->status == STUDY_DONE && row->time_s > 0;

  adviser->n_pending--;
  adviser->times[run] = is_done ? row->time_s : (double) INFINITY;
  if (!is_done) {
    if (rival->error == NULL)
      rival->error = g_strdup (row->error != NULL ? row->error : "it has no time");
    return;
  }
  adviser->advice->wall_s += row->wall_s;
  if (kind == SHRUNK) {
    double measures[STUDY_RACING_MEASURES];

    /* At most half of the work of an exact run, or there is no point in it. */
    if (candidate == 0 && 2 * row->packet_hops > adviser->default_hops)
      adviser->times[run] = INFINITY;
    adviser->advice->n_shrunk++;
    study_racing_measures (row, measures);
    for (guint k = 0; k < N_SHRUNK; k++)
      adviser->shrunk[candidate * N_SHRUNK + k] = log (measures[k]);
    return;
  }
  adviser->advice->n_exact++;
  adviser->sum_s += row->wall_s;
  adviser->n_timed++;
  if (run == 0) {
    adviser->default_hops = row->packet_hops;
    adviser->advice->compute_s = row->compute_s_avg;
    g_strfreev (adviser->advice->warnings);
    adviser->advice->warnings = g_strdupv (row->warnings);
  }
}

static void
count_phases (void *data, guint *n_races, guint *n_over)
{
  const Adviser *adviser = data;

  *n_races = PHASE_OVER;
  *n_over = adviser->phase;
}

static const StudyChooser chooser = { choose, take_row, count_phases };

/* --- What came of it --- */

/* A gain by the runs of some kinds that both the default and the candidate have; the nominal one is that
 * of kind 0. */
static StudyGain
gain_of (const Adviser *adviser, guint candidate, guint first, guint n)
{
  double default_s[N_KINDS], time_s[N_KINDS];
  guint n_times = 1;

  default_s[0] = *time_at (adviser, 0, 0);
  time_s[0] = *time_at (adviser, candidate, 0);
  if (!isfinite (default_s[0]) || !isfinite (time_s[0]))
    return study_gain_new (NULL, NULL, 0);
  for (guint kind = first; kind < first + n; kind++) {
    default_s[n_times] = *time_at (adviser, 0, kind);
    time_s[n_times] = *time_at (adviser, candidate, kind);
    n_times += isfinite (default_s[n_times]) && isfinite (time_s[n_times]);
  }
  return study_gain_new (default_s, time_s, n_times);
}

static const char *
outcome_of (const Adviser *adviser, guint candidate)
{
  const StudyRacer *racer = &adviser->racers[candidate];

  if (candidate == 0)
    return "default";
  if (candidate == adviser->challenger)
    return "best other";
  if (isnan (*time_at (adviser, candidate, 0)))
    return adviser->screened[candidate] ? "screened" : "not run";
  if (racer->end == STUDY_RACER_FAILED)
    return "failed";
  return racer->end == STUDY_RACER_BEATEN ? "beaten" : "not told apart";
}

static StudyVerdict
verdict_of (const StudyAdvice *advice, double least_gain)
{
  const StudyGain *gain = &advice->gain;

  if (advice->best == NULL || isnan (gain->low))
    return STUDY_ADVICE_UNKNOWN;
  if (gain->mean <= 0 || gain->nominal <= 0)
    return STUDY_ADVICE_NOTHING;
  if (gain->mean < least_gain)
    return STUDY_ADVICE_SMALL;
  return gain->low <= 0 ? STUDY_ADVICE_NOISE : STUDY_ADVICE_CHANGE;
}

static const TopoMachine *
machine_of (const Adviser *adviser, const StudyRival *rival)
{
  return ((StudyVariant *) g_ptr_array_index (adviser->rivals->variants, rival->variant))->machine;
}

/* What more ranks on a node may cost that the runs do not have: all candidates compute as recorded. */
static void
ask_node_model (const Adviser *adviser)
{
  StudyAdvice *advice = adviser->advice;
  const StudyMemoryRange unknown = { study_memory_unknown.share_low,
                                     study_memory_unknown.share_high };

  advice->slower_low = advice->slower_high = NAN;
  if (advice->best != NULL && advice->best->ranks_per_node != advice->plain->ranks_per_node)
    study_slots_slowdown (machine_of (adviser, advice->best), advice->best->ranks_per_node,
                          machine_of (adviser, advice->plain), advice->plain->ranks_per_node,
                          &unknown, &advice->slower_low, &advice->slower_high);
}

/* Fills in what the runs say, and puts the rivals in order. */
static void
conclude (Adviser *adviser)
{
  StudyAdvice *advice = adviser->advice;
  const StudyRace race = { .n_candidates = adviser->n };
  g_autoptr (GPtrArray) ordered = g_ptr_array_new ();
  g_autoptr (GArray) order = study_race_order (&race, adviser->racers);

  for (guint i = 0; i < adviser->n; i++) {
    StudyRival *rival = rival_at (adviser, i);
    double time = *time_at (adviser, i, 0);

    rival->time_s = isfinite (time) ? time : (double) NAN;
    rival->n_draws = adviser->racers[i].n_draws;
    rival->gain = i > 0 ? gain_of (adviser, i, 1, N_DRAWS - 1) : rival->gain;
    rival->outcome = outcome_of (adviser, i);
  }
  advice->plain = rival_at (adviser, 0);
  advice->best = adviser->challenger > 0 ? rival_at (adviser, adviser->challenger) : NULL;
  advice->gain = adviser->challenger > 0 ? gain_of (adviser, adviser->challenger, FRESH, N_PAIRS)
                                         : study_gain_new (NULL, NULL, 0);
  advice->verdict = verdict_of (advice, adviser->options->least_gain);
  ask_node_model (adviser);
  for (guint at = 0; at < STUDY_N_WHAT_IFS; at++) {
    double plain = *time_at (adviser, 0, WHAT_IFS + at);
    double best = *time_at (adviser, adviser->challenger, WHAT_IFS + at);

    advice->what_ifs[at].name = what_ifs[at].name;
    advice->what_ifs[at].what = what_ifs[at].what;
    advice->what_ifs[at].gain = adviser->challenger > 0 && isfinite (plain) && isfinite (best)
                                    ? plain / best - 1
                                    : (double) NAN;
  }
  for (guint at = 0; at < order->len; at++)
    g_ptr_array_add (ordered, rival_at (adviser, g_array_index (order, guint, at)));
  memcpy (adviser->rivals->all->pdata, ordered->pdata, ordered->len * sizeof *ordered->pdata);
  advice->rivals = g_steal_pointer (&adviser->rivals);
}

/* The path of the store, in a new folder if it is a temporary one.  A store of other things is not
 * overwritten. */
static gboolean
find_store (const StudyAdviceOptions *options, StudyAdvice *advice, const StudyPlan *plan,
            GError **error)
{
  g_autoptr (StudyStore) store = NULL;
  g_autofree char *name = NULL, *folder = NULL;

  if (options->store_path == NULL) {
    folder = g_dir_make_tmp ("hopcast-advice-XXXXXX", error);
    if (folder == NULL)
      return FALSE;
    advice->store_path = g_build_filename (folder, "advice.store", NULL);
    advice->is_temporary = TRUE;
    return TRUE;
  }
  advice->store_path = g_strdup (options->store_path);
  if (!g_file_test (options->store_path, G_FILE_TEST_EXISTS))
    return TRUE;
  store = study_store_open (options->store_path, STUDY_STORE_READ, error);
  name = store != NULL ? study_store_name (store, error) : NULL;
  if (name == NULL)
    return FALSE;
  if (strcmp (name, plan->name) == 0)
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_STORE,
               "%s: is the store of '%s'; an advice has its own", options->store_path, name);
  return FALSE;
}

static gboolean
run_plan (Adviser *adviser, GError **error)
{
  const StudyAdviceOptions *options = adviser->options;
  guint n_runs = adviser->plan->runs->len;
  const StudySessionOptions session = { .n_workers = options->n_workers,
                                        .store_path = adviser->advice->store_path,
                                        .retry_failed = TRUE,
                                        .chooser = &chooser,
                                        .chooser_data = adviser,
                                        .deadline_us = adviser->deadline_us,
                                        .progress = options->progress,
                                        .progress_data = options->progress_data };
  g_auto (StudyTally) tally = { 0 };
  const StudyRival *plain = rival_at (adviser, 0);

  adviser->asked = g_new0 (gboolean, n_runs);
  /* Kinds that are not in the plan have no times. */
  adviser->times = g_new (double, adviser->n *N_KINDS);
  for (guint i = 0; i < adviser->n * N_KINDS; i++)
    adviser->times[i] = NAN;
  adviser->shrunk = g_new (double, adviser->n *N_SHRUNK);
  for (guint i = 0; i < adviser->n * N_SHRUNK; i++)
    adviser->shrunk[i] = NAN;
  adviser->predicted = g_new0 (double, adviser->n);
  adviser->racers = g_new0 (StudyRacer, adviser->n);
  adviser->screened = g_new0 (bool, adviser->n);
  measure_load (adviser);
  if (!study_session_run (adviser->plan, &study_pool_of_processes, &session, &tally, error))
    return FALSE;
  adviser->advice->signal = tally.signal;
  if (adviser->error != NULL) {
    g_propagate_error (error, g_steal_pointer (&adviser->error));
    return FALSE;
  }
  if (plain->error != NULL && !isfinite (*time_at (adviser, 0, 0))) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_SEARCH, "the default mapping, %s: %s", plain->name,
                 plain->error);
    return FALSE;
  }
  return TRUE;
}

static void
adviser_clear (Adviser *adviser)
{
  study_plan_free (adviser->plan);
  study_rivals_free (adviser->rivals);
  g_free (adviser->in_plan);
  g_array_unref (adviser->queue);
  g_free (adviser->asked);
  g_free (adviser->times);
  g_free (adviser->load);
  g_free (adviser->shrunk);
  g_free (adviser->predicted);
  g_free (adviser->racers);
  g_free (adviser->screened);
  g_clear_error (&adviser->error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Adviser, adviser_clear)

StudyAdvice *
study_advise (const StudyAdviceOptions *options, GError **error)
{
  g_autoptr (StudyAdvice) advice = g_new0 (StudyAdvice, 1);
  g_autoptr (Trace) trace = trace_open (options->trace_path, &options->trace_options, error);
  g_auto (Adviser) adviser = { .options = options,
                               .advice = advice,
                               .queue = g_array_new (FALSE, FALSE, sizeof (guint)),
                               .n_draws = N_DRAWS,
                               .begin_us = g_get_monotonic_time () };

  advice->model = "exact";
  advice->trusts[0].name = "load";
  advice->trusts[1].name = "shrunk";
  if (trace == NULL)
    return NULL;
  advice->n_ranks = trace_ranks (trace);
  if (options->budget_us > 0)
    adviser.deadline_us = adviser.begin_us + options->budget_us;
  adviser.rivals = study_rivals_new (trace, &options->machine, options->policy, options->seed,
                                     (gint64) (SEARCH_SHARE * (double) options->budget_us), error);
  if (adviser.rivals == NULL)
    return NULL;
  adviser.n = adviser.rivals->all->len;
  advice->search_s = (double) (g_get_monotonic_time () - adviser.begin_us) * 1e-6;
  if (!make_plan (&adviser, trace, error) || !find_store (options, advice, adviser.plan, error) ||
      !run_plan (&adviser, error))
    return NULL;
  conclude (&adviser);
  advice->elapsed_s = (double) (g_get_monotonic_time () - adviser.begin_us) * 1e-6;
  return g_steal_pointer (&advice);
}

/* With the files that SQLite keeps beside it, and its folder. */
static void
remove_store (const char *path)
{
  static const char *const endings[] = { "", "-wal", "-shm", "-journal" };
  g_autofree char *folder = g_path_get_dirname (path);

  for (gsize at = 0; at < G_N_ELEMENTS (endings); at++) {
    g_autofree char *file = g_strconcat (path, endings[at], NULL);

    g_unlink (file);
  }
  g_rmdir (folder);
}

void
study_advice_free (StudyAdvice *advice)
{
  if (advice == NULL)
    return;
  if (advice->is_temporary)
    remove_store (advice->store_path);
  g_free (advice->store_path);
  study_rivals_free (advice->rivals);
  g_strfreev (advice->warnings);
  g_free (advice);
}
