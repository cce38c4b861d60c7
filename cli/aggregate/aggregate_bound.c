/* aggregate_bound.c - `hopcast aggregate bound`: upper bounds of communication time, by pattern.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/aggregate/aggregate.h"
#include "cli/command.h"
#include "cli/print/columns.h"
#include "cli/print/progress.h"
#include "cli/print/terminal.h"
#include "predictors/scoring/scores.h"
#include "study/aggregate/aggregate_mapping.h"
#include "study/aggregate/bound_replay.h"
#include "study/aggregate/network_pingpong.h"

#include <math.h>
#include <stddef.h>

static const char *const near_names[] = { "phase", "run", "none", NULL };

typedef struct {
  CliMachineOptions machine;
  CliTraceOptions trace;
  CliFormatOptions format;
  CliTalkOptions talk;
  char *table, *near_name;
  int pattern; /* G_MININT: all */
  int near;
  double compute_scale;
  gint64 seed;
  gboolean simulate;
} Options;

#define OPTIONS_INIT                                                             \
  {                                                                              \
    .machine = CLI_MACHINE_OPTIONS_INIT, .pattern = G_MININT, .compute_scale = 1 \
  }

static void
options_clear (Options *options)
{
  cli_machine_options_clear (&options->machine);
  cli_trace_options_clear (&options->trace);
  cli_format_options_clear (&options->format);
  g_free (options->table);
  g_free (options->near_name);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

typedef struct {
  const TopoPattern *pattern;
  uint32_t id, n_tasks, n_nodes;
  double path_s, sum_s, simulated_s; /* NaN: excluded, or not simulated */
  double compute_s;                  /* of the rank of path_s */
  double tightness;                  /* path_s over simulated_s */
  uint64_t n_messages, n_collectives, n_extrapolated, n_substituted;
  uint32_t n_classes;
  const char *excluded;
} Row;

enum { HAS_SIMULATED = 1 };

static const CliColumn columns[] = {
  { "pattern", "id", CLI_CELL_U32, offsetof (Row, id) },
  { "tasks", "tasks", CLI_CELL_U32, offsetof (Row, n_tasks) },
  { "nodes", "nodes", CLI_CELL_U32, offsetof (Row, n_nodes) },
  { "bound_s", "bound s", CLI_CELL_NUMBER, offsetof (Row, path_s) },
  { "sum_s", "sum s", CLI_CELL_NUMBER, offsetof (Row, sum_s) },
  { "simulated_s", "simulated s", CLI_CELL_NUMBER, offsetof (Row, simulated_s),
    .needs = HAS_SIMULATED },
  { NULL, "tightness", CLI_CELL_NUMBER, offsetof (Row, tightness), "%.3g", HAS_SIMULATED },
  { "compute_s", NULL, CLI_CELL_NUMBER, offsetof (Row, compute_s) },
  { "messages", NULL, CLI_CELL_U64, offsetof (Row, n_messages) },
  { "collectives", NULL, CLI_CELL_U64, offsetof (Row, n_collectives) },
  { "extrapolated", NULL, CLI_CELL_U64, offsetof (Row, n_extrapolated) },
  { "substituted", NULL, CLI_CELL_U64, offsetof (Row, n_substituted) },
  { "classes", "classes", CLI_CELL_U32, offsetof (Row, n_classes) },
  { "excluded", "excluded", CLI_CELL_TEXT, offsetof (Row, excluded) },
};

typedef struct {
  const Options *options;
  const char *trace_path;
  Trace *trace;
  TopoMachine *machine;
  TopoPatterns *patterns;
  PredictBoundTable *table;
  StudyAggregate *aggregate;
  RoutePaths *paths; /* NULL: nothing is simulated */
} Work;

static void
work_clear (Work *work)
{
  g_clear_pointer (&work->paths, route_paths_free);
  g_clear_pointer (&work->aggregate, study_aggregate_free);
  g_clear_pointer (&work->table, predict_bound_table_free);
  g_clear_pointer (&work->patterns, topo_patterns_free);
  g_clear_pointer (&work->trace, trace_free);
  g_clear_pointer (&work->machine, topo_machine_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Work, work_clear)

static gboolean
parse (Options *options, int argc, char **argv, const char **trace_path, GError **error)
{
  static const char *const names[] = { "TRACE", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "TRACE", "Bounds the time that the ranks of a program communicate, for each aggregation "
               "pattern of a node, from a table of how long operations take among others.");
  const GOptionEntry entries[] = {
    { "table", 0, 0, G_OPTION_ARG_FILENAME, &options->table,
      "What 'aggregate table' wrote, or was measured (hopcast-aggregate(1), BOUND TABLES)",
      "TABLE.csv" },
    { "pattern", 0, 0, G_OPTION_ARG_INT, &options->pattern,
      "This one alone (default: all that the job can have)", "N" },
    { "near", 0, 0, G_OPTION_ARG_STRING, &options->near_name,
      "Whose messages are noise: of the same phase, between two collectives of all ranks (default); "
      "of the whole run; or none",
      "phase|run|none" },
    { "simulate", 0, 0, G_OPTION_ARG_NONE, &options->simulate,
      "Also simulate each pattern, and tell how tight the bound is", NULL },
    { "compute-scale", 0, 0, G_OPTION_ARG_DOUBLE, &options->compute_scale,
      "Multiply computation by F (default: 1)", "F" },
    { "seed", 0, 0, G_OPTION_ARG_INT64, &options->seed, "Of the grouping of ranks (default: 0)",
      "N" },
    { NULL },
  };

  cli_add_machine_option (context, &options->machine);
  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_trace_options (context, &options->trace);
  cli_add_format_options (context, &options->format);
  cli_add_quiet_option (context, &options->talk);
  if (!cli_parse (context, argc, argv, names, trace_path, error) ||
      !cli_parse_format (&options->format, error))
    return FALSE;
  if (options->machine.spec == NULL || options->table == NULL)
    return cli_refuse (error, options->machine.spec == NULL ? "--machine SPEC is missing"
                                                            : "--table TABLE.csv is missing");
  if (!(options->compute_scale > 0) || !isfinite (options->compute_scale))
    return cli_refuse (error, "--compute-scale: not a number above 0");
  if (options->seed < 0)
    return cli_refuse (error, "--seed: must not be negative");
  if (options->pattern != G_MININT && options->pattern < 1)
    return cli_refuse (error, "--pattern: %d, but patterns count from 1", options->pattern);
  if (options->trace.n_ranks < 0)
    return cli_refuse (error, "--trace-ranks: %d is negative", options->trace.n_ranks);
  return options->near_name == NULL ||
         (options->near = cli_parse_choice ("--near", options->near_name, near_names, error)) >= 0;
}

static gboolean
open_inputs (Work *work, CliProgress *progress, GError **error)
{
  const Options *options = work->options;
  StudyAggregateOptions grouping = { .seed = (uint64_t) options->seed };
  TopoJob job = { 0 };

  if (!(work->machine = cli_aggregate_machine (&options->machine, error)) ||
      !(work->table = predict_bound_table_read (options->table, error)) ||
      !(work->trace = cli_trace_open (work->trace_path, &options->trace, error)))
    return FALSE;
  study_slots_are_cores (work->machine);
  work->patterns = topo_patterns_new (work->machine->node, 0);
  job.n_ranks = trace_ranks (work->trace);
  job.n_nodes = topo_shape_nodes (&work->machine->shape);
  if (!topo_patterns_admit (work->patterns, &job, error)) {
    g_prefix_error (error, "%s: ", work->machine->spec);
    return FALSE;
  }
  if (options->pattern != G_MININT) {
    if (!cli_check_number ("--pattern", options->pattern, 1, (int) work->patterns->n, error))
      return FALSE;
    if (work->patterns->pattern[options->pattern - 1].excluded != NULL)
      return cli_fail (error, "--pattern %d: %s", options->pattern,
                       work->patterns->pattern[options->pattern - 1].excluded);
  }
  grouping.table = work->table;
  work->aggregate = study_aggregate_new (work->trace, work->patterns, &grouping, cli_progress_share,
                                         progress, error);
  return work->aggregate != NULL &&
         (!options->simulate || (work->paths = route_paths_new (work->machine, error)) != NULL);
}

/* Bounds one pattern, and simulates it when the options ask for it. */
static gboolean
fill_row (const Work *work, Row *row, GError **error)
{
  g_autoptr (TopoMapping) mapping = study_aggregate_mapping (work->aggregate, row->pattern);
  const StudyBoundOptions options = { .near = (StudyNear) work->options->near,
                                      .compute_scale = work->options->compute_scale };
  const SimRunOptions simulated = { .trace_path = work->trace_path,
                                    .network = SIM_NETWORK_PACKET,
                                    .policy = ROUTE_POLICY_DEFAULT,
                                    .compute_scale = work->options->compute_scale,
                                    .paths = work->paths };
  g_auto (StudyCommBound) bound = { 0 };
  g_autoptr (SimRun) run = NULL;
  int64_t longest_ps = 0;

  if (!study_comm_bound (work->trace, work->machine, mapping, work->table, &options, &bound, error))
    return FALSE;
  row->path_s = bound.path_s;
  row->sum_s = bound.sum_s;
  row->compute_s = bound.rank_compute_s[bound.path_rank];
  row->n_messages = bound.n_messages;
  row->n_collectives = bound.n_collectives;
  row->n_extrapolated = bound.n_extrapolated;
  row->n_substituted = bound.n_substituted;
  row->n_classes = bound.n_classes;
  if (work->paths == NULL)
    return TRUE;
  if (!(run = sim_run (work->trace, work->machine, mapping, &simulated, error)))
    return FALSE;
  for (uint32_t rank = 0; rank < run->result.n_ranks; rank++)
    longest_ps =
        MAX (longest_ps, run->result.ranks[rank].end_ps - run->result.ranks[rank].compute_ps);
  row->simulated_s = (double) longest_ps * 1e-12;
  row->tightness = row->path_s / row->simulated_s;
  return TRUE;
}

/* --- Printing --- */

/* Agreement of the bounds with the simulated times. */
typedef struct {
  guint n, n_bounded;
  double rcc, least, most; /* tightness: bound over simulated */
} Agreement;

static Agreement
agreement_of (const CliRows *rows, bool is_sum)
{
  g_autofree double *observed = g_new (double, rows->n_rows + 1);
  g_autofree double *predicted = g_new (double, rows->n_rows + 1);
  Agreement agreement = { .rcc = NAN, .least = NAN, .most = NAN };

  for (guint i = 0; i < rows->n_rows; i++) {
    const Row *row = (const Row *) rows->rows + i;
    double bound_s = is_sum ? row->sum_s : row->path_s, tightness = bound_s / row->simulated_s;

    if (isnan (row->simulated_s))
      continue;
    observed[agreement.n] = row->simulated_s;
    predicted[agreement.n++] = bound_s;
    agreement.n_bounded += bound_s >= row->simulated_s;
    agreement.least = fmin (agreement.least, tightness);
    agreement.most = fmax (agreement.most, tightness);
  }
  if (agreement.n > 1)
    agreement.rcc = predict_score (observed, predicted, agreement.n).rcc;
  return agreement;
}

static void
print_table (const Work *work, const CliRows *rows)
{
  uint64_t n = 0, n_extrapolated = 0, n_substituted = 0;

  cli_printf (stdout, "%s on %s, times by %s\n", work->trace_path, work->machine->spec,
              work->options->table);
  cli_rows_print_table (stdout, rows, "");
  for (int is_sum = 0; is_sum < 2; is_sum++) {
    const Agreement agreement = agreement_of (rows, is_sum);

    if (agreement.n == 0)
      continue;
    printf ("%s bounds %u of %u, tightness %.3g .. %.3g", is_sum ? "sum" : "bound",
            agreement.n_bounded, agreement.n, agreement.least, agreement.most);
    if (!isnan (agreement.rcc))
      printf (", rank correctness %.3g", agreement.rcc);
    putchar ('\n');
  }
  for (guint i = 0; i < rows->n_rows; i++) {
    const Row *row = (const Row *) rows->rows + i;

    n += row->n_messages + row->n_collectives;
    n_extrapolated += row->n_extrapolated;
    n_substituted += row->n_substituted;
  }
  if (n_extrapolated > 0)
    printf ("%.3g %% of the operations are longer than any of the table\n",
            100 * (double) n_extrapolated / (double) n);
  if (n_substituted > 0)
    printf ("%.3g %% of the operations have placements that the table lacks\n",
            100 * (double) n_substituted / (double) n);
}

static void
print_json (const Work *work, const CliRows *rows)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  cli_add_string (builder, "schema", "hopcast.bound/1");
  cli_add_string (builder, "trace", work->trace_path);
  cli_add_string (builder, "machine", work->machine->spec);
  cli_add_string (builder, "table", work->options->table);
  cli_add_integer (builder, "ranks", trace_ranks (work->trace));
  for (int is_sum = 0; is_sum < 2 && work->options->simulate; is_sum++) {
    const Agreement agreement = agreement_of (rows, is_sum);

    cli_begin_object (builder, is_sum ? "sum" : "bound");
    cli_add_integer (builder, "patterns", agreement.n);
    cli_add_integer (builder, "bounded", agreement.n_bounded);
    cli_add_number (builder, "tightness_min", agreement.least);
    cli_add_number (builder, "tightness_max", agreement.most);
    cli_add_number (builder, "rcc", agreement.rcc);
    json_builder_end_object (builder);
  }
  cli_rows_add_json (builder, "patterns", rows);
  cli_print_object (stdout, builder);
}

int
cli_aggregate_bound (int argc, char **argv, GError **error)
{
  g_auto (Options) options = OPTIONS_INIT;
  g_auto (Work) work = { .options = &options };
  g_autoptr (CliProgress) progress = NULL;
  g_autofree Row *rows = NULL;
  CliRows table;
  guint n = 0;

  if (!parse (&options, argc, argv, &work.trace_path, error))
    return CLI_FAILED;
  progress = cli_progress_new (options.talk.quiet);
  if (!open_inputs (&work, progress, error))
    return CLI_FAILED;
  rows = g_new0 (Row, work.patterns->n);
  for (uint32_t at = 0; at < work.patterns->n; at++) {
    const TopoPattern *pattern = &work.patterns->pattern[at];

    if (options.pattern == G_MININT || options.pattern == (int) at + 1)
      rows[n++] = (Row){ .pattern = pattern,
                         .id = pattern->id,
                         .n_tasks = pattern->n_tasks,
                         .n_nodes = pattern->n_nodes,
                         .path_s = NAN,
                         .sum_s = NAN,
                         .simulated_s = NAN,
                         .compute_s = NAN,
                         .tightness = NAN,
                         .excluded = pattern->excluded };
  }
  for (guint i = 0; i < n; i++) {
    if (rows[i].excluded == NULL && !fill_row (&work, &rows[i], error))
      return CLI_FAILED;
    cli_progress_share (progress, (double) (i + 1) / n);
  }
  g_clear_pointer (&progress, cli_progress_free);
  table = CLI_ROWS (columns, rows, n);
  table.has = options.simulate ? HAS_SIMULATED : 0;
  switch (options.format.format) {
  case CLI_FORMAT_TABLE: print_table (&work, &table); break;
  case CLI_FORMAT_CSV: cli_rows_print_csv (stdout, &table); break;
  case CLI_FORMAT_JSON: print_json (&work, &table); break;
  }
  return CLI_DONE;
}
