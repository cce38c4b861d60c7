/* pattern_choice.c - time and energy of a job in each aggregation pattern, and the choice among them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/aggregate/pattern_choice.h"

#include "sim/net/load.h"
#include "study/aggregate/aggregate_mapping.h"
#include "study/aggregate/bound_fill.h"
#include "study/aggregate/bound_replay.h"
#include "study/aggregate/network_pingpong.h"
#include "study/aggregate/node_shares.h"
#include "study/aggregate/pattern_run.h"
#include "study/study_error.h"

#include <math.h>

/* Working sets that are tried in a range, beside those at which a pattern's part of a cache is full. */
#define N_SETS 25

/* A share of 1 would compute nothing. */
#define LARGEST_SHARE 0.999

const StudyMemoryUse study_memory_unknown = { 0, 0.54, 0.69, 0, INFINITY, INFINITY };

bool
study_memory_is_known (const StudyMemoryUse *use)
{
  return use->share_low == use->share_high && use->set_low_bytes == use->set_high_bytes;
}

void
study_choice_free (StudyChoice *choice)
{
  if (choice == NULL)
    return;
  for (uint32_t at = 0; choice->shares != NULL && at < choice->patterns->n; at++)
    g_free (choice->shares[at]);
  g_free (choice->shares);
  if (choice->task_sets != NULL)
    g_array_unref (choice->task_sets);
  for (uint32_t at = 0; choice->patterns != NULL && at < choice->patterns->n; at++) {
    g_free (choice->row[at].excluded);
    topo_mapping_free (choice->row[at].mapping);
  }
  g_free (choice->row);
  g_free (choice->judged);
  topo_patterns_free (choice->patterns);
  topo_machine_free (choice->machine);
  g_ptr_array_unref (choice->warnings);
  g_free (choice->trace_path);
  g_free (choice->spec);
  g_free (choice);
}

/* --- Patterns and their computation --- */

/* Rows for the patterns; those that the job cannot have are excluded. */
static gboolean
list_patterns (StudyChoice *choice, GError **error)
{
  const StudyChoiceOptions *options = choice->options;
  TopoJob job = options->job;

  job.n_ranks = choice->n_ranks;
  job.n_nodes = topo_shape_nodes (&choice->machine->shape);
  choice->patterns = topo_patterns_new (choice->machine->node, TOPO_PATTERNS_DEFAULT);
  choice->row = g_new0 (StudyChoiceRow, choice->patterns->n);
  choice->judged = g_new0 (PredictAggregationJudgement, choice->patterns->n);
  if (!topo_patterns_admit (choice->patterns, &job, error)) {
    g_prefix_error (error, "%s: ", choice->spec);
    return FALSE;
  }
  for (uint32_t at = 0; at < choice->patterns->n; at++)
    choice->row[at] =
        (StudyChoiceRow){ .excluded = g_strdup (choice->patterns->pattern[at].excluded),
                          .ipc = (double) NAN,
                          .factor = 1,
                          .computation_s = (double) NAN,
                          .bound_s = (double) NAN,
                          .extrapolated = (double) NAN,
                          .time_s = (double) NAN,
                          .simulated_s = (double) NAN,
                          .energy_J = (double) NAN,
                          .delay_Js = (double) NAN,
                          .share_limit = (double) NAN };
  if (options->recorded <= choice->patterns->n)
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "%s %u: a node of %s has %u patterns",
               options->recorded == options->reference ? "--reference" : "--recorded-in",
               options->recorded, choice->spec, choice->patterns->n);
  return FALSE;
}

/* From observed or predicted IPCs; a pattern without one is excluded. */
static gboolean
set_factors_of_ipc (StudyChoice *choice, GError **error)
{
  uint32_t n = choice->patterns->n, recorded = choice->options->recorded;
  g_autofree double *ipc = g_new (double, n);
  g_autofree char **why = g_new0 (char *, n);
  gboolean done =
      study_ipc_read (&choice->options->ipc, choice->patterns, ipc, why, choice->warnings, error);

  if (done && isnan (ipc[recorded - 1])) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "%s: no IPC of pattern %u, in which the trace was recorded (--recorded-in)",
                 choice->options->ipc.table_path, recorded);
    done = FALSE;
  }
  for (uint32_t at = 0; at < n; at++) {
    StudyChoiceRow *row = &choice->row[at];

    if (done) {
      row->ipc = ipc[at];
      row->factor = ipc[recorded - 1] / ipc[at];
      if (isnan (ipc[at]) && row->excluded == NULL)
        row->excluded = g_strdup (why[at] != NULL ? why[at] : "its IPC is not known");
    }
    g_free (why[at]);
  }
  return done;
}

/* --- The node model, without counters --- */

/* The computations of a pattern, compared with the trace. */
static double
sharing_factor (const StudyChoice *choice, uint32_t at, double share, double task_set_bytes)
{
  const TopoPattern *pattern = choice->patterns->pattern;
  uint32_t recorded = choice->options->recorded - 1;
  const PredictMemoryUse use = { MIN (share, LARGEST_SHARE), task_set_bytes,
                                 PREDICT_REUSE_EXPONENT };

  return predict_sharing_slowdown (choice->shares[at], pattern[at].n_tasks,
                                   choice->shares[recorded], pattern[recorded].n_tasks, &use);
}

/* The working sets of a task that are tried: the ends of the range, steps between them, and the parts of
 * caches that patterns leave to a task, where the model has its kinks. */
static void
list_sets (StudyChoice *choice)
{
  const StudyMemoryUse *use = &choice->options->memory;
  double low = use->set_low_bytes / choice->n_ranks, high = use->set_high_bytes / choice->n_ranks;
  double least = INFINITY, most = 0, end;

  choice->task_sets = g_array_new (FALSE, FALSE, sizeof (double));
  g_array_append_val (choice->task_sets, high);
  if (low == high)
    return;
  g_array_append_val (choice->task_sets, low);
  for (uint32_t at = 0; at < choice->patterns->n; at++)
    for (uint32_t task = 0; task < choice->patterns->pattern[at].n_tasks; task++) {
      const PredictShare *share = &choice->shares[at][task];

      least = fmin (least, share->private_bytes);
      most = fmax (most, fmax (share->private_bytes, share->cache_bytes));
      if (task == 0 && share->cache_bytes > low && share->cache_bytes < high)
        g_array_append_val (choice->task_sets, share->cache_bytes);
    }
  /* Below the private cache nothing is missed; far beyond the shared one it might as well have no end. */
  low = fmax (low, least);
  end = fmin (high, 1000 * most);
  for (uint32_t step = 1; step < N_SETS && low < end; step++) {
    double set = low * pow (end / low, (double) step / N_SETS);

    g_array_append_val (choice->task_sets, set);
  }
}

static void
set_factors_of_sharing (StudyChoice *choice)
{
  const TopoPatterns *patterns = choice->patterns;
  const StudyMemoryUse *use = &choice->options->memory;

  choice->shares = g_new0 (PredictShare *, patterns->n);
  for (uint32_t at = 0; at < patterns->n; at++)
    choice->shares[at] = study_pattern_shares (choice->machine->node, &choice->machine->parameters,
                                               patterns->levels, &patterns->pattern[at]);
  list_sets (choice);
  for (uint32_t at = 0; at < patterns->n; at++)
    choice->row[at].factor =
        sharing_factor (choice, at, use->share_middle, use->set_middle_bytes / choice->n_ranks);
}

/* computation_s[patterns->n][n] under every assumption: a share at an end of the range, since the model's
 * slow-downs rise or fall with it, and a working set that is tried. */
static double *
assumed_computations (const StudyChoice *choice, uint32_t *n)
{
  const StudyMemoryUse *use = &choice->options->memory;
  const double ends[] = { use->share_low, use->share_high };
  uint32_t n_sets = choice->task_sets->len;
  double *computation_s;

  *n = G_N_ELEMENTS (ends) * n_sets;
  computation_s = g_new (double, (gsize) choice->patterns->n *(*n));
  for (uint32_t at = 0; at < choice->patterns->n; at++) {
    const StudyChoiceRow *row = &choice->row[at];

    for (uint32_t i = 0; i < *n; i++)
      computation_s[(gsize) at * *n + i] =
          row->computation_s / row->factor *
          sharing_factor (choice, at, ends[i / n_sets],
                          g_array_index (choice->task_sets, double, i % n_sets));
  }
  return computation_s;
}

/* Of a pattern against the reference, the largest over the working sets. */
static double
slowdown_at_share (const StudyChoice *choice, const PredictAggregation *all, uint32_t at,
                   double share)
{
  uint32_t reference = choice->reference;
  double most = -INFINITY;

  for (guint i = 0; i < choice->task_sets->len; i++) {
    double set = g_array_index (choice->task_sets, double, i), total_s[2];
    const uint32_t both[] = { at, reference };

    for (guint k = 0; k < 2; k++)
      total_s[k] = all[both[k]].communication_s + all[both[k]].computation_s /
                                                      choice->row[both[k]].factor *
                                                      sharing_factor (choice, both[k], share, set);
    most = fmax (most, total_s[0] / total_s[1] - 1);
  }
  return most;
}

/* Closes in on the share at which the slow-down, which rises with it, becomes more than is allowed. */
static double
share_limit (const StudyChoice *choice, const PredictAggregation *all, uint32_t at)
{
  double allowed = choice->options->max_slowdown, low = 0, high = LARGEST_SHARE;

  if (slowdown_at_share (choice, all, at, high) <= allowed)
    return 1;
  if (slowdown_at_share (choice, all, at, low) > allowed)
    return -1;
  for (int i = 0; i < 30; i++) {
    double middle = (low + high) / 2;

    *(slowdown_at_share (choice, all, at, middle) <= allowed ? &low : &high) = middle;
  }
  return low;
}

/* Before anything is simulated: the reference and the placed pattern exist and are not excluded.  The
 * default reference may be, since the fastest then replaces it. */
static gboolean
check_named_patterns (const StudyChoice *choice, GError **error)
{
  uint32_t reference = choice->options->reference, placed = choice->options->placed;
  uint32_t n = choice->patterns->n, n_excluded = 0;

  for (uint32_t at = 0; at < n; at++)
    n_excluded += choice->row[at].excluded != NULL;
  if (reference > n)
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "--reference %u: a node of %s has %u patterns", reference, choice->spec, n);
  else if (choice->row[reference - 1].excluded != NULL && choice->options->reference_is_given)
    g_set_error (
        error, STUDY_ERROR, STUDY_ERROR_INPUT,
        "pattern %u, the reference, is excluded: %s; without --reference it is the fastest pattern that is possible",
        reference, choice->row[reference - 1].excluded);
  else if (n_excluded == n)
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "%s: all patterns are excluded; pattern %u: %s", choice->spec, reference,
                 choice->row[reference - 1].excluded);
  else if (placed > n)
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "--pattern %u: a node of %s has %u patterns", placed, choice->spec, n);
  else if (placed > 0 && choice->row[placed - 1].excluded != NULL)
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "--pattern %u is excluded: %s", placed,
                 choice->row[placed - 1].excluded);
  else
    return TRUE;
  return FALSE;
}

StudyChoice *
study_choice_new (const char *trace_path, Trace *trace, const char *spec, TopoMachine *machine,
                  const StudyChoiceOptions *options, GError **error)
{
  g_autoptr (StudyChoice) choice = g_new0 (StudyChoice, 1);

  *choice = (StudyChoice){ .options = options,
                           .trace_path = g_strdup (trace_path),
                           .spec = g_strdup (spec),
                           .machine = machine,
                           .computation = "unchanged",
                           .n_ranks = trace_ranks (trace),
                           .warnings = g_ptr_array_new_with_free_func (g_free) };
  study_slots_are_cores (machine);
  if (!list_patterns (choice, error))
    return NULL;
  if (options->computation == STUDY_COMPUTATION_SHARING) {
    choice->computation =
        study_memory_is_known (&options->memory)
            ? "a model of the node, not measured"
            : "a model of the node, for all that the program may ask of memory, not measured";
    set_factors_of_sharing (choice);
  } else if (options->computation == STUDY_COMPUTATION_IPC) {
    choice->computation = options->ipc.model_path != NULL ? "IPC, predicted" : "IPC, observed";
    if (!set_factors_of_ipc (choice, error))
      return NULL;
  }
  return check_named_patterns (choice, error) ? g_steal_pointer (&choice) : NULL;
}

/* --- The table of bounds --- */

/* The curve of a collective in a pattern.  Sets *kind, whose placement the caller frees, to the
 * table's name of it; NULL when the table has none. */
static const PredictBoundCurve *
find_collective (const PredictBoundTable *table, const TopoPatterns *patterns, uint32_t at,
                 const StudyBoundCollective *collective, PredictBoundKind *kind, char **placement)
{
  const TopoPattern *pattern = &patterns->pattern[at];

  *placement = study_bound_pattern_class (patterns->levels, pattern->place, pattern->n_tasks);
  *kind = (PredictBoundKind){
    trace_op_name (collective->kind), PREDICT_BOUND_ALL, *placement, 0, 0, collective->n_ranks
  };
  return predict_bound_table_find (table, kind);
}

GArray *
study_choice_missing (const StudyChoice *choice, Trace *trace, const PredictBoundTable *table,
                      GError **error)
{
  g_autofree SimCensus *census = g_new0 (SimCensus, 1);
  GArray *missing;

  if (!sim_census (trace, choice->machine, SIM_CENSUS_POINT_TO_POINT, false, NULL, NULL, NULL, NULL,
                   census, error))
    return NULL;
  missing = g_array_new (FALSE, FALSE, sizeof (StudyBoundCollective));
  for (int kind = 0; kind < TRACE_N_OPS; kind++) {
    const StudyBoundCollective collective = { (TraceOpKind) kind, choice->n_ranks };
    gboolean is_known = FALSE;

    if (census->collectives[kind] == 0 || !study_collective_is_known (collective.kind) ||
        collective.n_ranks <= 1)
      continue;
    for (uint32_t at = 0; table != NULL && at < choice->patterns->n && !is_known; at++) {
      g_autofree char *placement = NULL;
      PredictBoundKind name;

      is_known =
          find_collective (table, choice->patterns, at, &collective, &name, &placement) != NULL;
    }
    if (!is_known)
      g_array_append_val (missing, collective);
  }
  return missing;
}

gboolean
study_choice_fill (const StudyChoice *choice, const GArray *collectives, PredictBoundTable **table,
                   void (*progress) (void *data, double share), void *data, GError **error)
{
  const StudyBoundFill fill = { .machine = choice->machine,
                                .bytes = study_bound_sizes,
                                .n_bytes = study_bound_n_sizes,
                                .noise = { UINT32_MAX, UINT32_MAX },
                                .no_messages = *table != NULL,
                                .collectives = (const void *) collectives->data,
                                .n_collectives = collectives->len,
                                .progress = progress,
                                .progress_data = data };
  g_autoptr (PredictBoundTable) filled = study_bound_fill (&fill, error);

  if (filled == NULL)
    return FALSE;
  if (*table == NULL) {
    *table = g_steal_pointer (&filled);
    return TRUE;
  }
  for (guint i = 0; i < collectives->len; i++)
    for (uint32_t at = 0; at < choice->patterns->n; at++) {
      g_autofree char *placement = NULL;
      PredictBoundKind kind;
      const PredictBoundCurve *curve = find_collective (
          filled, choice->patterns, at, &g_array_index (collectives, StudyBoundCollective, i),
          &kind, &placement);

      for (uint32_t point = 0; curve != NULL && point < predict_bound_curve_points (curve);
           point++) {
        uint64_t bytes = predict_bound_curve_bytes (curve, point);

        predict_bound_table_add (*table, &kind, bytes,
                                 1e6 * predict_bound_curve_s (curve, (double) bytes, &(bool){ 0 }));
      }
    }
  return TRUE;
}

/* --- Communication --- */

typedef struct {
  StudyChoice *choice;
  Trace *trace;
  const PredictBoundTable *table;
  StudyChoiceProgress progress;
  void *data;
  uint32_t n_done, n_todo; /* patterns */
} Work;

static void
show_progress (void *data, double share, int64_t now_ps G_GNUC_UNUSED)
{
  const Work *work = data;

  work->progress (work->data, work->n_done, work->n_todo, share);
}

/* Bounds and simulates one pattern, as far as the options ask for it. */
static gboolean
run_pattern (Work *work, StudyChoiceRow *row, GError **error)
{
  const StudyChoice *choice = work->choice;

  if (work->table != NULL) {
    const StudyBoundOptions options = { .compute_scale = row->factor };
    g_auto (StudyCommBound) bound = { 0 };
    double sum_s = 0;

    if (!study_comm_bound (work->trace, choice->machine, row->mapping, work->table, &options,
                           &bound, error))
      return FALSE;
    for (uint32_t rank = 0; rank < bound.n_ranks; rank++)
      sum_s += bound.rank_compute_s[rank];
    row->computation_s = sum_s / bound.n_ranks;
    row->bound_s = bound.path_s;
    row->extrapolated =
        (double) bound.n_extrapolated / (double) MAX (bound.n_messages + bound.n_collectives, 1);
  }
  if (choice->options->simulates) {
    const SimRunOptions options = { .trace_path = choice->trace_path,
                                    .network = choice->options->network,
                                    .policy = ROUTE_POLICY_DEFAULT,
                                    .progress = show_progress,
                                    .progress_data = work };
    StudyPatternRun run;

    if (!study_pattern_run (work->trace, choice->machine, row->mapping, &options, row->factor, &run,
                            choice->warnings, error))
      return FALSE;
    row->computation_s = run.computation_s;
    row->simulated_s = run.longest_s;
    row->time_s = run.time_s;
  }
  return TRUE;
}

/* --- Choice --- */

static gboolean
decide (StudyChoice *choice, GError **error)
{
  const StudyChoiceOptions *options = choice->options;
  uint32_t n = choice->patterns->n;
  g_autofree PredictAggregation *all = g_new (PredictAggregation, n);
  g_autofree double *assumed_s = NULL;
  uint32_t n_assumed = 0;
  TopoMapping *mapping;

  if (choice->shares != NULL)
    assumed_s = assumed_computations (choice, &n_assumed);

  for (uint32_t at = 0; at < n; at++) {
    const TopoPattern *pattern = &choice->patterns->pattern[at];
    const StudyChoiceRow *row = &choice->row[at];

    /* The simulated communication of equation 5 makes its sum the simulated time, unequal
     * computations included. */
    all[at] =
        (PredictAggregation){ .id = pattern->id,
                              .excluded = row->excluded,
                              .energy_rank = pattern->energy_rank,
                              .computation_s = row->computation_s,
                              .communication_s = options->basis == STUDY_BASIS_BOUND
                                                     ? row->bound_s
                                                     : fmax (0, row->time_s - row->computation_s),
                              .assumed_s =
                                  assumed_s != NULL ? &assumed_s[(gsize) at * n_assumed] : NULL,
                              .n_assumed = n_assumed };
  }
  choice->fastest = predict_aggregation_fastest (all, n);
  choice->reference = options->reference - 1;
  if (choice->row[choice->reference].excluded != NULL)
    choice->reference = choice->fastest;
  if (!predict_aggregation_choose (all, n, all[choice->reference].id, options->max_slowdown,
                                   choice->judged, error))
    return FALSE;
  choice->is_recommended = options->computation != STUDY_COMPUTATION_UNCHANGED;
  for (uint32_t at = 0; at < n; at++) {
    if (choice->judged[at].verdict == PREDICT_AGGREGATION_CHOSEN) {
      choice->chosen = at;
      if (!choice->is_recommended)
        choice->judged[at].verdict = PREDICT_AGGREGATION_ADMISSIBLE;
    }
    if (options->power != NULL) {
      choice->row[at].energy_J =
          study_power_energy_J (options->power, &choice->patterns->pattern[at],
                                choice->judged[at].total_s, options->memory_bytes);
      choice->row[at].delay_Js = choice->row[at].energy_J * choice->judged[at].total_s;
    }
    if (choice->shares != NULL && choice->row[at].excluded == NULL &&
        !study_memory_is_known (&options->memory))
      choice->row[at].share_limit = share_limit (choice, all, at);
  }
  choice->placed = options->placed > 0 ? options->placed - 1 : choice->chosen;
  /* Files of launchers number only the cores that a job uses: these become the machine's slots. */
  if (!topo_machine_set_pattern (choice->machine, choice->patterns->pattern[choice->placed].id,
                                 error))
    return FALSE;
  mapping = choice->row[choice->placed].mapping;
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    uint32_t slot = 0;

    while (choice->machine->slot_core[slot] != mapping->slot[rank])
      slot++;
    mapping->slot[rank] = (uint8_t) slot;
  }
  return TRUE;
}

gboolean
study_choice_run (StudyChoice *choice, Trace *trace, const PredictBoundTable *table,
                  StudyChoiceProgress progress, void *data, GError **error)
{
  const StudyAggregateOptions grouping = { .table = table, .seed = choice->options->seed };
  g_autoptr (StudyAggregate) aggregate =
      study_aggregate_new (trace, choice->patterns, &grouping, NULL, NULL, error);
  Work work = {
    .choice = choice, .trace = trace, .table = table, .progress = progress, .data = data
  };

  if (aggregate == NULL)
    return FALSE;
  for (uint32_t at = 0; at < choice->patterns->n; at++)
    work.n_todo += choice->row[at].excluded == NULL;
  for (uint32_t at = 0; at < choice->patterns->n; at++) {
    const TopoPattern *pattern = &choice->patterns->pattern[at];
    StudyChoiceRow *row = &choice->row[at];

    if (row->excluded != NULL)
      continue;
    row->mapping = study_aggregate_mapping (aggregate, pattern);
    if (!run_pattern (&work, row, error)) {
      g_prefix_error (error, "pattern %u: ", pattern->id);
      return FALSE;
    }
    work.n_done++;
  }
  return decide (choice, error);
}
