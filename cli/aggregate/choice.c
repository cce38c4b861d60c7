/* choice.c - time and energy of a job in each aggregation pattern, and the choice among them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/aggregate/choice.h"

#include "cli/aggregate/aggregate.h"
#include "cli/command.h"
#include "cli/print/outfile.h"
#include "cli/print/progress.h"
#include "sim/net/load.h"
#include "study/aggregate/aggregate_mapping.h"
#include "study/aggregate/bound_fill.h"
#include "study/aggregate/bound_replay.h"
#include "study/aggregate/ipc_factors.h"
#include "study/aggregate/network_pingpong.h"
#include "study/aggregate/node_shares.h"
#include "study/aggregate/pattern_run.h"

#include <math.h>

/* --- The table of bounds --- */

void
cli_choice_table_clear (CliChoiceTable *table)
{
  g_clear_pointer (&table->table, predict_bound_table_free);
}

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

/* The collectives of a trace that can be simulated and that the table (NULL: empty) has in no
 * pattern: (element-type StudyBoundCollective). */
static GArray *
missing_collectives (Trace *trace, const TopoMachine *machine, const PredictBoundTable *table,
                     const TopoPatterns *patterns, GError **error)
{
  g_autofree SimCensus *census = g_new0 (SimCensus, 1);
  GArray *missing;

  if (!sim_census (trace, machine, SIM_CENSUS_POINT_TO_POINT, false, NULL, NULL, NULL, NULL, census,
                   error))
    return NULL;
  missing = g_array_new (FALSE, FALSE, sizeof (StudyBoundCollective));
  for (int kind = 0; kind < TRACE_N_OPS; kind++) {
    const StudyBoundCollective collective = { (TraceOpKind) kind, trace_ranks (trace) };
    gboolean is_known = FALSE;

    if (census->collectives[kind] == 0 || !study_collective_is_known (collective.kind) ||
        collective.n_ranks <= 1)
      continue;
    for (uint32_t at = 0; table != NULL && at < patterns->n && !is_known; at++) {
      g_autofree char *placement = NULL;
      PredictBoundKind name;

      is_known = find_collective (table, patterns, at, &collective, &name, &placement) != NULL;
    }
    if (!is_known)
      g_array_append_val (missing, collective);
  }
  return missing;
}

/* Copies the curves of the collectives from one table to another. */
static void
add_collectives (PredictBoundTable *table, const PredictBoundTable *more, const GArray *collectives,
                 const TopoPatterns *patterns)
{
  for (guint i = 0; i < collectives->len; i++)
    for (uint32_t at = 0; at < patterns->n; at++) {
      g_autofree char *placement = NULL;
      PredictBoundKind kind;
      const PredictBoundCurve *curve = find_collective (
          more, patterns, at, &g_array_index (collectives, StudyBoundCollective, i), &kind,
          &placement);

      for (uint32_t point = 0; curve != NULL && point < predict_bound_curve_points (curve);
           point++) {
        uint64_t bytes = predict_bound_curve_bytes (curve, point);

        predict_bound_table_add (table, &kind, bytes,
                                 1e6 * predict_bound_curve_s (curve, (double) bytes, &(bool){ 0 }));
      }
    }
}

static void
show_table_progress (void *progress, double share)
{
  cli_progress_text (progress, share, "table of bounds, ");
}

/* An existing file is read, and used as it is.  A missing one is filled with messages and with the
 * collectives of the trace on the machine, whose slots are cores, and kept; collectives of later
 * traces are added to it. */
static gboolean
open_table (CliChoiceTable *table, Trace *trace, const TopoMachine *machine,
            const TopoPatterns *patterns, gboolean quiet, GError **error)
{
  StudyBoundFill fill = { .machine = machine,
                          .bytes = study_bound_sizes,
                          .n_bytes = study_bound_n_sizes,
                          .noise = { UINT32_MAX, UINT32_MAX },
                          .no_messages = table->table != NULL,
                          .progress = show_table_progress };
  g_autoptr (GArray) missing = NULL;
  g_autoptr (CliProgress) progress = NULL;
  g_autoptr (CliOutfile) file = NULL;
  PredictBoundTable *filled;

  if (table->path == NULL || (table->table != NULL && !table->is_ours))
    return TRUE;
  if (table->table == NULL && g_file_test (table->path, G_FILE_TEST_EXISTS)) {
    table->table = predict_bound_table_read (table->path, error);
    return table->table != NULL;
  }
  table->is_ours = TRUE;
  if (!(missing = missing_collectives (trace, machine, table->table, patterns, error)))
    return FALSE;
  if (table->table != NULL && missing->len == 0)
    return TRUE;
  progress = cli_progress_new (quiet);
  fill.collectives = (const StudyBoundCollective *) (const void *) missing->data;
  fill.n_collectives = missing->len;
  fill.progress_data = progress;
  if (!(file = cli_outfile_new (table->path, error)) || !(filled = study_bound_fill (&fill, error)))
    return FALSE;
  if (table->table == NULL)
    table->table = filled;
  else {
    add_collectives (table->table, filled, missing, patterns);
    predict_bound_table_free (filled);
  }
  predict_bound_table_write (table->table, cli_outfile_stream (file));
  return cli_outfile_commit (file, error);
}

/* --- Patterns --- */

void
cli_choice_free (CliChoice *choice)
{
  if (choice == NULL)
    return;
  for (uint32_t at = 0; choice->patterns != NULL && at < choice->patterns->n; at++) {
    g_free (choice->row[at].excluded);
    topo_mapping_free (choice->mapping[at]);
  }
  g_free (choice->row);
  g_free (choice->judged);
  g_free (choice->mapping);
  topo_patterns_free (choice->patterns);
  topo_machine_free (choice->opened);
  g_ptr_array_unref (choice->warnings);
  g_free (choice->trace);
  g_free (choice->machine);
  g_free (choice);
}

/* Rows for the patterns; those that the job cannot have are excluded. */
static gboolean
list_patterns (CliChoice *choice, const CliChoiceOptions *options, GError **error)
{
  TopoJob job = options->job;

  job.n_ranks = choice->n_ranks;
  job.n_nodes = topo_shape_nodes (&choice->opened->shape);
  choice->patterns = topo_patterns_new (choice->opened->node, TOPO_PATTERNS_DEFAULT);
  choice->row = g_new0 (CliChoiceRow, choice->patterns->n);
  choice->judged = g_new0 (PredictAggregationJudgement, choice->patterns->n);
  choice->mapping = g_new0 (TopoMapping *, choice->patterns->n);
  if (!topo_patterns_admit (choice->patterns, &job, error)) {
    g_prefix_error (error, "%s: ", choice->machine);
    return FALSE;
  }
  for (uint32_t at = 0; at < choice->patterns->n; at++)
    choice->row[at] = (CliChoiceRow){ .excluded = g_strdup (choice->patterns->pattern[at].excluded),
                                      .ipc = (double) NAN,
                                      .factor = 1,
                                      .computation_s = (double) NAN,
                                      .bound_s = (double) NAN,
                                      .extrapolated = (double) NAN,
                                      .time_s = (double) NAN,
                                      .simulated_s = (double) NAN,
                                      .energy_J = (double) NAN };
  if ((uint32_t) options->recorded <= choice->patterns->n)
    return TRUE;
  g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s %d: a node of %s has %u patterns",
               options->recorded == options->reference ? "--reference" : "--recorded-in",
               options->recorded, choice->machine, choice->patterns->n);
  return FALSE;
}

/* --- Computation --- */

/* From observed or predicted IPCs; a pattern without one is excluded. */
static gboolean
set_factors_of_ipc (CliChoice *choice, const CliChoiceOptions *options, GError **error)
{
  const StudyIpcSource source = { .model_path = options->samples != NULL ? options->ipc : NULL,
                                  .table_path =
                                      options->samples != NULL ? options->samples : options->ipc,
                                  .program = options->program };
  uint32_t n = choice->patterns->n, recorded = (uint32_t) options->recorded;
  g_autofree double *ipc = g_new (double, n);
  g_autofree char **why = g_new0 (char *, n);
  gboolean done = study_ipc_read (&source, choice->patterns, ipc, why, error);

  if (done && isnan (ipc[recorded - 1])) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT,
                 "%s: tells no IPC of pattern %u, which the computation times of the trace are of "
                 "(--recorded-in)",
                 source.table_path, recorded);
    done = FALSE;
  }
  for (uint32_t at = 0; at < n; at++) {
    CliChoiceRow *row = &choice->row[at];

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

/* From the node model, without counters. */
static void
set_factors_of_sharing (CliChoice *choice, const CliChoiceOptions *options)
{
  const TopoPatterns *patterns = choice->patterns;
  const TopoMachine *machine = choice->opened;
  const TopoPattern *recorded = &patterns->pattern[options->recorded - 1];
  const PredictMemoryUse use = { .memory_share = options->memory_share,
                                 .working_set_bytes = options->working_set / choice->n_ranks,
                                 .reuse_exponent = PREDICT_REUSE_EXPONENT };
  g_autofree PredictShare *alone =
      study_pattern_shares (machine->node, &machine->parameters, patterns->levels, recorded);

  for (uint32_t at = 0; at < patterns->n; at++) {
    g_autofree PredictShare *shares = study_pattern_shares (
        machine->node, &machine->parameters, patterns->levels, &patterns->pattern[at]);

    choice->row[at].factor = predict_sharing_slowdown (shares, patterns->pattern[at].n_tasks, alone,
                                                       recorded->n_tasks, &use);
  }
}

static gboolean
set_factors (CliChoice *choice, const CliChoiceOptions *options, GError **error)
{
  switch (options->computation) {
  case CLI_COMPUTATION_UNCHANGED: choice->computation = "unchanged"; break;
  case CLI_COMPUTATION_SHARING:
    choice->computation = "a model of the node, not measured";
    set_factors_of_sharing (choice, options);
    break;
  case CLI_COMPUTATION_IPC:
    choice->computation = options->samples != NULL ? "IPC, predicted" : "IPC, observed";
    return set_factors_of_ipc (choice, options, error);
  }
  return TRUE;
}

/* Before anything is simulated: the reference and the pattern of --pattern exist and are not
 * excluded.  The default reference may be, since the fastest then takes its place. */
static gboolean
check_named_patterns (const CliChoice *choice, const CliChoiceOptions *options, GError **error)
{
  uint32_t reference = (uint32_t) options->reference, pattern = (uint32_t) options->pattern;
  uint32_t n = choice->patterns->n, n_excluded = 0;

  for (uint32_t at = 0; at < n; at++)
    n_excluded += choice->row[at].excluded != NULL;
  if (reference > n)
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "--reference %u: a node of %s has %u patterns",
                 reference, choice->machine, n);
  else if (choice->row[reference - 1].excluded != NULL && options->reference_is_given)
    g_set_error (
        error, CLI_ERROR, CLI_ERROR_INPUT,
        "pattern %u, the reference, is excluded: %s; without --reference it is the fastest "
        "of those that are not",
        reference, choice->row[reference - 1].excluded);
  else if (n_excluded == n)
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: all patterns are excluded; pattern %u: %s",
                 choice->machine, reference, choice->row[reference - 1].excluded);
  else if (options->pattern == G_MININT)
    return TRUE;
  else if (pattern > n)
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "--pattern %u: a node of %s has %u patterns",
                 pattern, choice->machine, n);
  else if (choice->row[pattern - 1].excluded != NULL)
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "--pattern %u is excluded: %s", pattern,
                 choice->row[pattern - 1].excluded);
  else
    return TRUE;
  return FALSE;
}

/* --- Communication --- */

typedef struct {
  const CliChoiceOptions *options;
  CliChoice *choice;
  Trace *trace;
  StudyAggregate *aggregate;      /* the messages between ranks */
  const PredictBoundTable *table; /* NULL: no bound */
  CliProgress *progress;
  uint32_t n_done, n_todo; /* patterns */
} Work;

static void
show_progress (void *data, double share, int64_t now_ps G_GNUC_UNUSED)
{
  Work *work = data;
  g_autofree char *text = g_strdup_printf ("%u ranks, pattern %u of %u, ", work->choice->n_ranks,
                                           work->n_done + 1, work->n_todo);

  cli_progress_text (work->progress, (work->n_done + share) / work->n_todo, text);
}

/* Bounds and simulates one pattern, as far as the options ask for it. */
static gboolean
run_pattern (Work *work, uint32_t at, GError **error)
{
  CliChoice *choice = work->choice;
  CliChoiceRow *row = &choice->row[at];
  const TopoMapping *mapping;

  mapping = choice->mapping[at] =
      study_aggregate_mapping (work->aggregate, &choice->patterns->pattern[at]);
  if (work->table != NULL) {
    const StudyBoundOptions options = { .compute_scale = row->factor };
    g_auto (StudyCommBound) bound = { 0 };
    double sum_s = 0;

    if (!study_comm_bound (work->trace, choice->opened, mapping, work->table, &options, &bound,
                           error))
      return FALSE;
    for (uint32_t rank = 0; rank < bound.n_ranks; rank++)
      sum_s += bound.rank_compute_s[rank];
    row->computation_s = sum_s / bound.n_ranks;
    row->bound_s = study_comm_bound_s (&bound, STUDY_BOUND_PATH);
    row->extrapolated =
        (double) bound.n_extrapolated / (double) MAX (bound.n_messages + bound.n_collectives, 1);
  }
  if (!work->options->no_simulate) {
    const SimRunOptions options = { .trace_path = choice->trace,
                                    .network = work->options->network,
                                    .policy = ROUTE_POLICY_DEFAULT,
                                    .progress = show_progress,
                                    .progress_data = work };
    StudyPatternRun run;

    if (!study_pattern_run (work->trace, choice->opened, mapping, &options, row->factor, &run,
                            choice->warnings, error))
      return FALSE;
    row->computation_s = run.computation_s;
    row->simulated_s = run.longest_s;
    row->time_s = run.time_s;
  }
  return TRUE;
}

static gboolean
run_patterns (Work *work, GError **error)
{
  const CliChoice *choice = work->choice;
  g_autoptr (CliProgress) progress = cli_progress_new (work->options->talk.quiet);

  work->progress = progress;
  for (uint32_t at = 0; at < choice->patterns->n; at++)
    work->n_todo += choice->row[at].excluded == NULL;
  for (uint32_t at = 0; at < choice->patterns->n; at++) {
    if (choice->row[at].excluded != NULL)
      continue;
    if (!run_pattern (work, at, error)) {
      g_prefix_error (error, "pattern %u: ", choice->patterns->pattern[at].id);
      return FALSE;
    }
    work->n_done++;
  }
  return TRUE;
}

/* --- Choice --- */

static gboolean
decide (CliChoice *choice, const CliChoiceOptions *options, GError **error)
{
  uint32_t n = choice->patterns->n;
  g_autofree PredictAggregation *all = g_new (PredictAggregation, n);
  TopoMapping *mapping;

  for (uint32_t at = 0; at < n; at++) {
    const TopoPattern *pattern = &choice->patterns->pattern[at];
    const CliChoiceRow *row = &choice->row[at];

    /* The simulated communication of equation 5 makes its sum the simulated time, unequal
     * computations included. */
    all[at] =
        (PredictAggregation){ .id = pattern->id,
                              .excluded = row->excluded,
                              .energy_rank = pattern->energy_rank,
                              .computation_s = row->computation_s,
                              .communication_s = options->basis == CLI_BASIS_BOUND
                                                     ? row->bound_s
                                                     : fmax (0, row->time_s - row->computation_s) };
  }
  choice->fastest = predict_aggregation_fastest (all, n);
  choice->reference = (uint32_t) options->reference - 1;
  if (choice->row[choice->reference].excluded != NULL)
    choice->reference = choice->fastest;
  if (!predict_aggregation_choose (all, n, all[choice->reference].id, options->max_slowdown,
                                   choice->judged, error))
    return FALSE;
  choice->is_recommended = options->computation != CLI_COMPUTATION_UNCHANGED;
  for (uint32_t at = 0; at < n; at++) {
    if (choice->judged[at].verdict == PREDICT_AGGREGATION_CHOSEN) {
      choice->chosen = at;
      if (!choice->is_recommended)
        choice->judged[at].verdict = PREDICT_AGGREGATION_ADMISSIBLE;
    }
    if (options->has_power)
      choice->row[at].energy_J =
          study_power_energy_J (&options->power, &choice->patterns->pattern[at],
                                choice->judged[at].total_s, options->memory_bytes);
  }
  choice->placed = options->pattern != G_MININT ? (uint32_t) options->pattern - 1 : choice->chosen;
  /* Files of launchers number only the cores that a job uses: these become the machine's slots. */
  if (!topo_machine_set_pattern (choice->opened, choice->patterns->pattern[choice->placed].id,
                                 error))
    return FALSE;
  mapping = choice->mapping[choice->placed];
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    uint32_t slot = 0;

    while (choice->opened->slot_core[slot] != mapping->slot[rank])
      slot++;
    mapping->slot[rank] = (uint8_t) slot;
  }
  return TRUE;
}

CliChoice *
cli_choice_new (const char *path, const char *spec, const CliChoiceOptions *options,
                CliChoiceTable *table, GError **error)
{
  g_autoptr (CliChoice) choice = g_new0 (CliChoice, 1);
  g_autoptr (Trace) trace = NULL;
  g_autoptr (StudyAggregate) aggregate = NULL;
  StudyAggregateOptions grouping = { .seed = (uint64_t) options->seed };
  CliMachineOptions named = options->machine;
  Work work = { .options = options, .choice = choice };

  choice->trace = g_strdup (path);
  choice->machine = g_strdup (spec);
  choice->warnings = g_ptr_array_new_with_free_func (g_free);
  named.spec = choice->machine;
  choice->opened = cli_aggregate_machine (&named, error);
  if (choice->opened == NULL ||
      (options->hosts != NULL && !topo_machine_set_hosts (choice->opened, options->hosts, error)) ||
      !(trace = cli_trace_open (path, &options->trace, error)))
    return NULL;
  study_slots_are_cores (choice->opened);
  choice->n_ranks = trace_ranks (trace);
  if (!list_patterns (choice, options, error) || !set_factors (choice, options, error) ||
      !check_named_patterns (choice, options, error) ||
      !open_table (table, trace, choice->opened, choice->patterns, options->talk.quiet, error))
    return NULL;
  grouping.table = table->table;
  if (!(aggregate = study_aggregate_new (trace, choice->patterns, &grouping, NULL, NULL, error)))
    return NULL;
  work.trace = trace;
  work.aggregate = aggregate;
  work.table = table->table;
  if (!run_patterns (&work, error) || !decide (choice, options, error))
    return NULL;
  return g_steal_pointer (&choice);
}
