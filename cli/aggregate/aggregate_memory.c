/* aggregate_memory.c - `hopcast aggregate memory-share`: what programs ask of memory, from run times.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/print/columns.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/print/terminal.h"
#include "predictors/aggregation/node_sharing.h"
#include "predictors/table/table.h"
#include "study/aggregate/node_shares.h"
#include "topology/unit.h"

#include <math.h>
#include <stddef.h>

/* What is left of an exact fit. */
#define EXACT 1e-6

typedef struct {
  CliMachineOptions machine;
  CliFormatOptions format;
  CliTalkOptions talk;
  char *working_set;
  double footprint_bytes;
} Options;

static void
options_clear (Options *options)
{
  cli_machine_options_clear (&options->machine);
  cli_format_options_clear (&options->format);
  g_free (options->working_set);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* The table, and what it says. */
typedef struct {
  PredictTable *table;
  PredictTimedRun *runs;         /* [table->n_rows] */
  uint32_t *program, n_programs; /* [table->n_rows] */
  char **name;                   /* [n_programs], NULL at the end */
} Runs;

static void
runs_clear (Runs *runs)
{
  if (runs->table != NULL)
    predict_table_free (runs->table);
  g_free (runs->runs);
  g_free (runs->program);
  g_strfreev (runs->name);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Runs, runs_clear)

static gboolean
parse_working_set (Options *options, GError **error)
{
  TopoValue value = { 0 };
  g_autoptr (GError) cause = NULL;

  options->footprint_bytes = INFINITY;
  if (options->working_set == NULL)
    return TRUE;
  if (!topo_unit_parse (TOPO_UNIT_BYTES, options->working_set, &value, &cause) ||
      value.whole == 0) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--working-set: %s",
                 cause != NULL ? cause->message : "no memory at all");
    return FALSE;
  }
  options->footprint_bytes = (double) value.whole;
  return TRUE;
}

static gboolean
parse (Options *options, int argc, char **argv, const char **path, GError **error)
{
  static const char *const names[] = { "RUNS.csv", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "RUNS.csv",
      "Learns how much of programs' computation waits for memory, from times of runs whose "
      "nodes were filled in different patterns: columns program, pattern, ranks, time_s.");
  const GOptionEntry entries[] = {
    { "working-set", 0, 0, G_OPTION_ARG_STRING, &options->working_set,
      "What all ranks together use again and again, e.g. 8GiB (default: more than any cache)",
      "SIZE" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->machine.settings,
      "Change one number of the machine, e.g. memory.bandwidth=60GB/s; may be repeated",
      "GROUP.KEY=VALUE" },
    { NULL },
  };

  cli_add_machine_option (context, &options->machine);
  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_unpack_option (context);
  cli_add_format_options (context, &options->format);
  cli_add_quiet_option (context, &options->talk);
  if (!cli_parse (context, argc, argv, names, path, error) ||
      !cli_parse_format (&options->format, error) || !parse_working_set (options, error))
    return FALSE;
  if (options->machine.spec != NULL)
    return TRUE;
  g_set_error_literal (error, CLI_ERROR, CLI_ERROR_USAGE,
                       "--machine SPEC is missing: whose patterns are these?");
  return FALSE;
}

static gboolean
refuse_row (const PredictTable *table, uint64_t row, const char *what, GError **error)
{
  g_autofree char *place = predict_table_place (table, row);

  g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: %s", place, what);
  return FALSE;
}

/* What the task has that waits longest: programs wait for it. */
static PredictShare
share_of (const TopoMachine *machine, const TopoPatterns *patterns, uint32_t id,
          const PredictMemoryUse *use)
{
  const TopoPattern *pattern = &patterns->pattern[id - 1];
  g_autofree PredictShare *shares =
      study_pattern_shares (machine->node, &machine->parameters, patterns->levels, pattern);
  uint32_t worst = 0;

  for (uint32_t task = 1; task < pattern->n_tasks; task++)
    if (predict_sharing_time (&shares[task], use) > predict_sharing_time (&shares[worst], use))
      worst = task;
  return shares[worst];
}

static gboolean
take_rows (Runs *runs, const TopoMachine *machine, double footprint_bytes, GError **error)
{
  const PredictTable *table = runs->table;
  const double *pattern = predict_table_finite (table, "pattern", error), *ranks, *seconds;
  g_autoptr (TopoPatterns) patterns = topo_patterns_new (machine->node, TOPO_PATTERNS_DEFAULT);

  if (pattern == NULL || (ranks = predict_table_finite (table, "ranks", error)) == NULL ||
      (seconds = predict_table_finite (table, "time_s", error)) == NULL)
    return FALSE;
  runs->runs = g_new (PredictTimedRun, table->n_rows);
  for (uint64_t row = 0; row < table->n_rows; row++) {
    PredictMemoryUse use = { 1, footprint_bytes / ranks[row], PREDICT_REUSE_EXPONENT };

    if (pattern[row] != floor (pattern[row]) || pattern[row] < 1 || pattern[row] > patterns->n)
      return refuse_row (table, row,
                         "the machine's nodes have no such pattern; 'hopcast aggregate "
                         "patterns --machine SPEC' lists them",
                         error);
    if (ranks[row] < 1 || seconds[row] <= 0)
      return refuse_row (table, row, "ranks and times must be positive", error);
    runs->runs[row] =
        (PredictTimedRun){ .program = runs->program[row],
                           .ranks = ranks[row],
                           .share = share_of (machine, patterns, (uint32_t) pattern[row], &use),
                           .seconds = seconds[row] };
  }
  return TRUE;
}

static void
name_programs (Runs *runs)
{
  const PredictColumn *column = predict_table_find (runs->table, "program");
  guint number = (guint) (column - runs->table->columns);

  runs->name = g_new0 (char *, runs->n_programs + 1);
  for (uint64_t row = 0; row < runs->table->n_rows; row++) {
    uint32_t program = runs->program[row];

    if (runs->name[program] == NULL)
      runs->name[program] = predict_table_cell (runs->table, number, row);
  }
}

/* Whether any program ran with different ranks: only then an overhead can be told. */
static bool
has_counts (const Runs *runs)
{
  g_autofree double *ranks = g_new0 (double, runs->n_programs);

  for (uint64_t row = 0; row < runs->table->n_rows; row++) {
    double *before = &ranks[runs->program[row]];

    if (*before > 0 && *before != runs->runs[row].ranks)
      return true;
    *before = runs->runs[row].ranks;
  }
  return false;
}

static gboolean
read_runs (Runs *runs, const char *path, const TopoMachine *machine, double footprint_bytes,
           GError **error)
{
  static const char *const names[] = { "program", "pattern", "ranks", "time_s", NULL };

  runs->table = predict_table_read (path, error);
  if (runs->table == NULL || !predict_table_has_all (runs->table, names, error))
    return FALSE;
  if (runs->table->n_rows == 0 || runs->table->n_rows > G_MAXINT32) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: no runs, or too many", path);
    return FALSE;
  }
  runs->program = predict_table_groups (runs->table, "program", &runs->n_programs, error);
  if (runs->program == NULL || !take_rows (runs, machine, footprint_bytes, error))
    return FALSE;
  name_programs (runs);
  return TRUE;
}

static guint
count_runs (const Runs *runs, uint32_t program)
{
  guint n = 0;

  for (uint64_t row = 0; row < runs->table->n_rows; row++)
    n += runs->program[row] == program;
  return n;
}

/* A program of the table. */
typedef struct {
  const char *name;
  double memory_share;
  uint32_t n_runs;
} Row;

static const CliColumn columns[] = {
  { "program", "program", CLI_CELL_TEXT, offsetof (Row, name) },
  { "memory_share", "memory share", CLI_CELL_SHARE, offsetof (Row, memory_share), "%.1f" },
  { "runs", "runs", CLI_CELL_U32, offsetof (Row, n_runs) },
};

static void
print (const Runs *runs, const PredictNodeFigures *figures, CliFormat format)
{
  g_autofree Row *row = g_new (Row, runs->n_programs);
  const CliRows rows = CLI_ROWS (columns, row, runs->n_programs);
  g_autoptr (JsonBuilder) builder = NULL;

  for (uint32_t program = 0; program < runs->n_programs; program++)
    row[program] =
        (Row){ runs->name[program], figures->memory_share[program], count_runs (runs, program) };
  switch (format) {
  case CLI_FORMAT_TABLE: cli_rows_print_table (stdout, &rows, ""); break;
  case CLI_FORMAT_CSV: cli_rows_print_csv (stdout, &rows); break;
  case CLI_FORMAT_JSON:
    builder = json_builder_new ();
    json_builder_begin_object (builder);
    cli_add_number (builder, "overhead",
                    figures->assumptions.with_overhead ? figures->overhead : (double) NAN);
    cli_add_number (builder, "log_rms", figures->log_rms);
    cli_rows_add_json (builder, "programs", &rows);
    cli_print_object (stdout, builder);
    break;
  }
}

/* Two numbers of each program are free: its work and its share. */
static void
tell (const Runs *runs, const PredictNodeFigures *figures)
{
  uint64_t n_free = 2 * (uint64_t) runs->n_programs + figures->assumptions.with_overhead;

  if (figures->assumptions.with_overhead)
    cli_printf (stderr, "overhead %.3g of the computation of a program's first run\n",
                figures->overhead);
  if (runs->table->n_rows > n_free || figures->log_rms > EXACT)
    cli_printf (
        stderr,
        "times are met within %.2g %% (root mean square) by a model of the node, not counters\n",
        100 * figures->log_rms);
  else
    fputs ("a model of the node, not counters; so few times are met in any case\n", stderr);
}

static gboolean
learn (const char *path, const Options *options, GError **error)
{
  g_autoptr (TopoMachine) machine = cli_machine_new (&options->machine, error);
  g_autoptr (PredictNodeFigures) figures = NULL;
  g_auto (Runs) runs = { 0 };
  PredictNodeAssumptions assumptions = { .footprint_bytes = options->footprint_bytes,
                                         .reuse_exponent = PREDICT_REUSE_EXPONENT,
                                         .growth = PREDICT_SURFACE_GROWTH };

  if (machine == NULL)
    return FALSE;
  if (machine->node == NULL) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT,
                 "%s is a torus: nothing is said of the inside of its nodes", machine->spec);
    return FALSE;
  }
  if (!read_runs (&runs, path, machine, options->footprint_bytes, error))
    return FALSE;
  assumptions.with_overhead = has_counts (&runs);
  figures =
      predict_node_learn (runs.runs, (uint32_t) runs.table->n_rows, (const char *const *) runs.name,
                          runs.n_programs, &assumptions, error);
  if (figures == NULL) {
    g_prefix_error (error, "%s: ", path);
    return FALSE;
  }
  print (&runs, figures, options->format.format);
  if (!options->talk.quiet)
    tell (&runs, figures);
  return TRUE;
}

int
cli_aggregate_memory_share (int argc, char **argv, GError **error)
{
  g_auto (Options) options = { .machine = CLI_MACHINE_OPTIONS_INIT };
  const char *path;

  if (!parse (&options, argc, argv, &path, error) || !learn (path, &options, error))
    return CLI_FAILED;
  return CLI_DONE;
}
