/* choice.c - aggregation patterns of a job with the time and energy of each, and the choice.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/aggregate/choice.h"

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

void
cli_choice_table_clear (CliChoiceTable *table)
{
  g_clear_pointer (&table->table, predict_bound_table_free);
}

/* What a table has of collectives that can be simulated: (element-type StudyBoundCollective). */
static GArray *
collectives_of (Trace *trace, const TopoMachine *machine, GError **error)
{
  g_autofree SimCensus *census = g_new0 (SimCensus, 1);
  GArray *found = g_array_new (FALSE, FALSE, sizeof (StudyBoundCollective));

  if (!sim_census (trace, machine, SIM_CENSUS_POINT_TO_POINT, false, NULL, NULL, NULL, NULL, census,
                   error)) {
    g_array_unref (found);
    return NULL;
  }
  for (int kind = 0; kind < TRACE_N_OPS; kind++) {
    const StudyBoundCollective one = { (TraceOpKind) kind, trace_ranks (trace) };

    if (census->collectives[kind] > 0 && study_collective_is_known (one.kind) && one.n_ranks > 1)
      g_array_append_val (found, one);
  }
  return found;
}

/* Collectives that the table has already are not made again. */
static void
drop_known (const PredictBoundTable *table, const TopoPatterns *patterns, GArray *wanted)
{
  for (guint i = wanted->len; i-- > 0;) {
    const StudyBoundCollective *one = &g_array_index (wanted, StudyBoundCollective, i);
    gboolean is_known = FALSE;

    for (uint32_t at = 0; at < patterns->n && !is_known; at++) {
      g_autofree char *placement = study_bound_pattern_class (
          patterns->levels, patterns->pattern[at].place, patterns->pattern[at].n_tasks);
      const PredictBoundKind kind = {
        trace_op_name (one->kind), PREDICT_BOUND_ALL, placement, 0, 0, one->n_ranks
      };

      is_known = predict_bound_table_find (table, &kind) != NULL;
    }
    if (is_known)
      g_array_remove_index (wanted, i);
  }
}

/* Adds the collectives of one table to another. */
static void
add_collectives (PredictBoundTable *table, const PredictBoundTable *more, const GArray *wanted,
                 const TopoPatterns *patterns)
{
  for (guint i = 0; i < wanted->len; i++)
    for (uint32_t at = 0; at < patterns->n; at++) {
      const StudyBoundCollective *one = &g_array_index (wanted, StudyBoundCollective, i);
      g_autofree char *placement = study_bound_pattern_class (
          patterns->levels, patterns->pattern[at].place, patterns->pattern[at].n_tasks);
      const PredictBoundKind kind = {
        trace_op_name (one->kind), PREDICT_BOUND_ALL, placement, 0, 0, one->n_ranks
      };
      const PredictBoundCurve *curve = predict_bound_table_find (more, &kind);

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

static gboolean
fill (CliChoiceTable *table, const GArray *wanted, const TopoMachine *machine,
      const TopoPatterns *patterns, gboolean quiet, GError **error)
{
  g_autoptr (CliProgress) progress = cli_progress_new (quiet);
  const StudyBoundFill asked = {
    .machine = machine,
    .bytes = study_bound_sizes,
    .n_bytes = study_bound_n_sizes,
    .noise = { UINT32_MAX, UINT32_MAX },
    .no_messages = table->table != NULL,
    .collectives = (const StudyBoundCollective *) (const void *) wanted->data,
    .n_collectives = wanted->len,
    .progress = show_table_progress,
    .progress_data = progress,
  };
  g_autoptr (CliOutfile) file = cli_outfile_new (table->path, error);
  PredictBoundTable *filled = file != NULL ? study_bound_fill (&asked, error) : NULL;

  if (filled == NULL)
    return FALSE;
  if (table->table == NULL)
    table->table = filled;
  else {
    add_collectives (table->table, filled, wanted, patterns);
    predict_bound_table_free (filled);
  }
  predict_bound_table_write (table->table, cli_outfile_stream (file));
  return cli_outfile_commit (file, error);
}

gboolean
cli_choice_table_open (CliChoiceTable *table, Trace *trace, const TopoMachine *machine,
                       const TopoPatterns *patterns, gboolean quiet, GError **error)
{
  g_autoptr (GArray) wanted = NULL;

  if (table->path == NULL || (table->table != NULL && !table->is_ours))
    return TRUE;
  if (table->table == NULL && g_file_test (table->path, G_FILE_TEST_EXISTS)) {
    table->table = predict_bound_table_read (table->path, error);
    return table->table != NULL;
  }
  table->is_ours = TRUE;
  if (!(wanted = collectives_of (trace, machine, error)))
    return FALSE;
  if (table->table != NULL)
    drop_known (table->table, patterns, wanted);
  return (table->table != NULL && wanted->len == 0) ||
         fill (table, wanted, machine, patterns, quiet, error);
}

/* --- aggregation patterns of a job with the time and energy of each, and the choice --- */

/* While it is made. */
typedef struct {
  const CliChoiceOptions *options;
  CliChoice *choice;
  Trace *trace;
  StudyAggregate *aggregate;      /* what is sent between ranks */
  const PredictBoundTable *table; /* NULL: no bound */
  CliProgress *progress;
  uint32_t n_done, n_todo; /* patterns */
} Work;

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

/* --- What there is --- */

static TopoMachine *
open_machine (const char *spec, const CliChoiceOptions *options, GError **error)
{
  CliMachineOptions named = options->machine;
  g_autoptr (TopoMachine) machine = NULL;

  named.spec = (char *) spec;
  machine = cli_machine_new (&named, error);
  if (machine == NULL)
    return NULL;
  if (machine->node == NULL) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT,
                 "%s is a torus: nothing is said of the inside of its nodes", machine->spec);
    return NULL;
  }
  if (options->hosts != NULL && !topo_machine_set_hosts (machine, options->hosts, error))
    return NULL;
  study_slots_are_cores (machine);
  return g_steal_pointer (&machine);
}

/* Rows for the patterns, with those that the job cannot have. */
static gboolean
admit (CliChoice *choice, const CliChoiceOptions *options, GError **error)
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
  return TRUE;
}

/* --- Computation --- */

/* A pattern whose IPC is not known is excluded. */
static void
set_factor (CliChoiceRow *row, double ipc, const char *why, double recorded_ipc)
{
  row->ipc = ipc;
  row->factor = recorded_ipc / ipc;
  if (isnan (ipc) && row->excluded == NULL)
    row->excluded = g_strdup (why != NULL ? why : "its IPC is not known");
}

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
    if (done)
      set_factor (&choice->row[at], ipc[at], why[at], ipc[recorded - 1]);
    g_free (why[at]);
  }
  return done;
}

/* Of the node model, without counters. */
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
  choice->computation = "unchanged";
  if (options->computation == CLI_COMPUTATION_UNCHANGED)
    return TRUE;
  if (options->computation == CLI_COMPUTATION_SHARING) {
    choice->computation = "a model of the node, not measured";
    set_factors_of_sharing (choice, options);
    return TRUE;
  }
  choice->computation = options->samples != NULL ? "IPC, predicted" : "IPC, observed";
  return set_factors_of_ipc (choice, options, error);
}

/* --- Communication --- */

static void
show_progress (void *data, double share, int64_t now_ps G_GNUC_UNUSED)
{
  Work *work = data;
  g_autofree char *text = g_strdup_printf ("%u ranks, pattern %u of %u, ", work->choice->n_ranks,
                                           work->n_done + 1, work->n_todo);

  cli_progress_text (work->progress, (work->n_done + share) / work->n_todo, text);
}

static gboolean
simulate_pattern (Work *work, uint32_t at, GError **error)
{
  CliChoice *choice = work->choice;
  CliChoiceRow *row = &choice->row[at];
  const SimRunOptions options = { .trace_path = choice->trace,
                                  .network = work->options->network,
                                  .policy = ROUTE_POLICY_DEFAULT,
                                  .progress = show_progress,
                                  .progress_data = work };
  StudyPatternRun run;

  if (!study_pattern_run (work->trace, choice->opened, choice->mapping[at], &options, row->factor,
                          &run, choice->warnings, error))
    return FALSE;
  row->computation_s = run.computation_s;
  row->simulated_s = run.longest_s;
  row->time_s = run.time_s;
  return TRUE;
}

static gboolean
bound_pattern (Work *work, uint32_t at, GError **error)
{
  CliChoiceRow *row = &work->choice->row[at];
  const StudyBoundOptions options = { .compute_scale = row->factor };
  g_auto (StudyCommBound) bound = { 0 };
  double sum_s = 0;

  if (!study_comm_bound (work->trace, work->choice->opened, work->choice->mapping[at], work->table,
                         &options, &bound, error))
    return FALSE;
  for (uint32_t rank = 0; rank < bound.n_ranks; rank++)
    sum_s += bound.rank_compute_s[rank];
  row->computation_s = sum_s / bound.n_ranks;
  row->bound_s = study_comm_bound_s (&bound, STUDY_BOUND_PATH);
  row->extrapolated =
      (double) bound.n_extrapolated / (double) MAX (bound.n_messages + bound.n_collectives, 1);
  return TRUE;
}

static gboolean
run_pattern (Work *work, uint32_t at, GError **error)
{
  CliChoice *choice = work->choice;

  choice->mapping[at] = study_aggregate_mapping (work->aggregate, &choice->patterns->pattern[at]);
  if ((work->table == NULL || bound_pattern (work, at, error)) &&
      (work->options->no_simulate || simulate_pattern (work, at, error)))
    return TRUE;
  g_prefix_error (error, "pattern %u: ", choice->patterns->pattern[at].id);
  return FALSE;
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
    if (!run_pattern (work, at, error))
      return FALSE;
    work->n_done++;
  }
  return TRUE;
}

/* --- Choice --- */

/* What equation 5 takes for communication: such that with the mean computation it is the simulated
 * time itself, which also tells what unequal computations cost; or the bound. */
static double
communication_of (const CliChoiceRow *row, CliBasis basis)
{
  return basis == CLI_BASIS_BOUND ? row->bound_s : fmax (0, row->time_s - row->computation_s);
}

/* Makes the slots of the machine the cores of the placed pattern, and its mapping one of them:
 * files of launchers number what a job uses of a node. */
static gboolean
renumber_slots (CliChoice *choice, GError **error)
{
  const TopoPattern *pattern = &choice->patterns->pattern[choice->placed];
  TopoMapping *mapping = choice->mapping[choice->placed];

  if (!topo_machine_set_pattern (choice->opened, pattern->id, error))
    return FALSE;
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    uint32_t slot = 0;

    while (choice->opened->slot_core[slot] != mapping->slot[rank])
      slot++;
    mapping->slot[rank] = (uint8_t) slot;
  }
  return TRUE;
}

static gboolean
decide (CliChoice *choice, const CliChoiceOptions *options, GError **error)
{
  uint32_t n = choice->patterns->n;
  g_autofree PredictAggregation *all = g_new (PredictAggregation, n);

  for (uint32_t at = 0; at < n; at++)
    all[at] = (PredictAggregation){ .id = choice->patterns->pattern[at].id,
                                    .excluded = choice->row[at].excluded,
                                    .energy_rank = choice->patterns->pattern[at].energy_rank,
                                    .computation_s = choice->row[at].computation_s,
                                    .communication_s =
                                        communication_of (&choice->row[at], options->basis) };
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
  return renumber_slots (choice, error);
}

static gboolean
check_recorded (const CliChoice *choice, const CliChoiceOptions *options, GError **error)
{
  if ((uint32_t) options->recorded <= choice->patterns->n)
    return TRUE;
  g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s %d: a node of %s has %u patterns",
               options->recorded == options->reference ? "--reference" : "--recorded-in",
               options->recorded, choice->machine, choice->patterns->n);
  return FALSE;
}

static gboolean
has_any (const CliChoice *choice)
{
  for (uint32_t at = 0; at < choice->patterns->n; at++)
    if (choice->row[at].excluded == NULL)
      return TRUE;
  return FALSE;
}

/* Before anything is simulated.  A reference that nobody named may be excluded, since the fastest
 * takes its place. */
static gboolean
check_reference (const CliChoice *choice, const CliChoiceOptions *options, GError **error)
{
  uint32_t reference = (uint32_t) options->reference;

  if (reference > choice->patterns->n)
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "--reference %u: a node of %s has %u patterns",
                 reference, choice->machine, choice->patterns->n);
  else if (choice->row[reference - 1].excluded != NULL && options->reference_is_given)
    g_set_error (
        error, CLI_ERROR, CLI_ERROR_INPUT,
        "pattern %u, the reference, is excluded: %s; without --reference it is the fastest "
        "of those that are not",
        reference, choice->row[reference - 1].excluded);
  else if (!has_any (choice))
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: all patterns are excluded; pattern %u: %s",
                 choice->machine, reference, choice->row[reference - 1].excluded);
  else
    return TRUE;
  return FALSE;
}

static gboolean
check_placed (const CliChoice *choice, const CliChoiceOptions *options, GError **error)
{
  uint32_t pattern = (uint32_t) options->pattern;

  if (options->pattern == G_MININT)
    return TRUE;
  if (pattern > choice->patterns->n)
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "--pattern %u: a node of %s has %u patterns",
                 pattern, choice->machine, choice->patterns->n);
  else if (choice->row[pattern - 1].excluded != NULL)
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "--pattern %u is excluded: %s", pattern,
                 choice->row[pattern - 1].excluded);
  else
    return TRUE;
  return FALSE;
}

CliChoice *
cli_choice_new (const char *path, const char *spec, const CliChoiceOptions *options,
                CliChoiceTable *table, GError **error)
{
  g_autoptr (CliChoice) choice = g_new0 (CliChoice, 1);
  g_autoptr (Trace) trace = NULL;
  g_autoptr (StudyAggregate) aggregate = NULL;
  StudyAggregateOptions grouping = { .seed = (uint64_t) options->seed };
  Work work = { .options = options, .choice = choice };

  choice->trace = g_strdup (path);
  choice->machine = g_strdup (spec);
  choice->warnings = g_ptr_array_new_with_free_func (g_free);
  if (!(choice->opened = open_machine (spec, options, error)) ||
      !(trace = cli_trace_open (path, &options->trace, error)))
    return NULL;
  choice->n_ranks = trace_ranks (trace);
  if (!admit (choice, options, error) || !check_recorded (choice, options, error) ||
      !set_factors (choice, options, error) || !check_reference (choice, options, error) ||
      !check_placed (choice, options, error) ||
      !cli_choice_table_open (table, trace, choice->opened, choice->patterns, options->talk.quiet,
                              error))
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
