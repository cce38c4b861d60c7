/* aggregate_memory.c - `hopcast aggregate memory-share`: memory shares of programs, from run times.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/aggregate/aggregate.h"
#include "cli/command.h"
#include "cli/print/columns.h"
#include "cli/print/terminal.h"
#include "predictors/aggregation/node_sharing.h"
#include "predictors/table/table.h"
#include "study/aggregate/node_shares.h"

#include <math.h>
#include <stddef.h>

#define EXACT 1e-6 /* residual of an exact fit */

typedef struct {
  CliMachineOptions machine;
  CliFormatOptions format;
  CliTalkOptions talk;
  char *working_set;
  double footprint_bytes; /* INFINITY: more than any cache */
} Options;

static void
options_clear (Options *options)
{
  cli_machine_options_clear (&options->machine);
  cli_format_options_clear (&options->format);
  g_free (options->working_set);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

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
  uint64_t bytes;

  cli_add_machine_option (context, &options->machine);
  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_unpack_option (context);
  cli_add_format_options (context, &options->format);
  cli_add_quiet_option (context, &options->talk);
  if (!cli_parse (context, argc, argv, names, path, error) ||
      !cli_parse_format (&options->format, error) ||
      !cli_aggregate_bytes ("--working-set", options->working_set, &bytes, error))
    return FALSE;
  options->footprint_bytes = bytes > 0 ? (double) bytes : (double) INFINITY;
  return options->machine.spec != NULL || cli_refuse (error, "--machine SPEC is missing");
}

static gboolean
refuse_row (const PredictTable *table, uint64_t row, const char *what, GError **error)
{
  g_autofree char *place = predict_table_place (table, row);

  return cli_fail (error, "%s: %s", place, what);
}

static gboolean
read_runs (Runs *runs, const char *path, const TopoMachine *machine, double footprint_bytes,
           GError **error)
{
  static const char *const names[] = { "program", "pattern", "ranks", "time_s", NULL };
  g_autoptr (TopoPatterns) patterns = topo_patterns_new (machine->node, TOPO_PATTERNS_DEFAULT);
  PredictTable *table = runs->table = predict_table_read (path, error);
  const double *pattern, *ranks, *seconds;
  guint program;

  if (table == NULL || !predict_table_has_all (table, names, error))
    return FALSE;
  if (table->n_rows == 0 || table->n_rows > G_MAXINT32)
    return cli_fail (error, "%s: no runs, or too many", path);
  if (!(runs->program = predict_table_groups (table, "program", &runs->n_programs, error)) ||
      !(pattern = predict_table_finite (table, "pattern", error)) ||
      !(ranks = predict_table_finite (table, "ranks", error)) ||
      !(seconds = predict_table_finite (table, "time_s", error)))
    return FALSE;
  runs->runs = g_new (PredictTimedRun, table->n_rows);
  runs->name = g_new0 (char *, runs->n_programs + 1);
  program = (guint) (predict_table_find (table, "program") - table->columns);
  for (uint64_t row = 0; row < table->n_rows; row++) {
    const PredictMemoryUse use = { 1, footprint_bytes / ranks[row], PREDICT_REUSE_EXPONENT };
    g_autofree PredictShare *shares = NULL;
    const TopoPattern *run;
    uint32_t worst = 0;

    if (pattern[row] != floor (pattern[row]) || pattern[row] < 1 || pattern[row] > patterns->n)
      return refuse_row (table, row,
                         "the machine's nodes have no such pattern; 'hopcast aggregate "
                         "patterns --machine SPEC' lists them",
                         error);
    if (ranks[row] < 1 || seconds[row] <= 0)
      return refuse_row (table, row, "ranks and times must be positive", error);
    /* A program waits for the task that waits longest. */
    run = &patterns->pattern[(uint32_t) pattern[row] - 1];
    shares = study_pattern_shares (machine->node, &machine->parameters, patterns->levels, run);
    for (uint32_t task = 1; task < run->n_tasks; task++)
      if (predict_sharing_time (&shares[task], &use) > predict_sharing_time (&shares[worst], &use))
        worst = task;
    runs->runs[row] = (PredictTimedRun){ .program = runs->program[row],
                                         .ranks = ranks[row],
                                         .share = shares[worst],
                                         .seconds = seconds[row] };
    if (runs->name[runs->program[row]] == NULL)
      runs->name[runs->program[row]] = predict_table_cell (table, program, row);
  }
  return TRUE;
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
    row[program] = (Row){ runs->name[program], figures->memory_share[program], 0 };
  for (uint64_t run = 0; run < runs->table->n_rows; run++)
    row[runs->program[run]].n_runs++;
  switch (format) {
  case CLI_FORMAT_TABLE: cli_rows_print_table (stdout, &rows, ""); break;
  case CLI_FORMAT_CSV: cli_rows_print_csv (stdout, &rows); break;
  case CLI_FORMAT_JSON:
    builder = json_builder_new ();
    json_builder_begin_object (builder);
    cli_add_string (builder, "schema", "hopcast.memory-share/1");
    cli_add_number (builder, "overhead",
                    figures->assumptions.with_overhead ? figures->overhead : (double) NAN);
    cli_add_number (builder, "log_rms", figures->log_rms);
    cli_rows_add_json (builder, "programs", &rows);
    cli_print_object (stdout, builder);
    break;
  }
}

static gboolean
learn (const char *path, const Options *options, GError **error)
{
  g_autoptr (TopoMachine) machine = cli_aggregate_machine (&options->machine, error);
  g_autoptr (PredictNodeFigures) figures = NULL;
  g_auto (Runs) runs = { 0 };
  PredictNodeAssumptions assumptions = { .footprint_bytes = options->footprint_bytes,
                                         .reuse_exponent = PREDICT_REUSE_EXPONENT,
                                         .growth = PREDICT_SURFACE_GROWTH };
  g_autofree double *ranks = NULL;
  uint64_t n_free;

  if (machine == NULL || !read_runs (&runs, path, machine, options->footprint_bytes, error))
    return FALSE;
  /* The overhead can be learned only from a program that ran with different numbers of ranks. */
  ranks = g_new0 (double, runs.n_programs);
  for (uint64_t row = 0; row < runs.table->n_rows; row++) {
    double *before = &ranks[runs.program[row]];

    assumptions.with_overhead |= *before > 0 && *before != runs.runs[row].ranks;
    *before = runs.runs[row].ranks;
  }
  figures =
      predict_node_learn (runs.runs, (uint32_t) runs.table->n_rows, (const char *const *) runs.name,
                          runs.n_programs, &assumptions, error);
  if (figures == NULL) {
    g_prefix_error (error, "%s: ", path);
    return FALSE;
  }
  print (&runs, figures, options->format.format);
  if (options->talk.quiet)
    return TRUE;
  if (figures->assumptions.with_overhead)
    cli_printf (stderr, "overhead %.3g of the computation of a program's first run\n",
                figures->overhead);
  /* The work and the share of each program are free. */
  n_free = 2 * (uint64_t) runs.n_programs + figures->assumptions.with_overhead;
  if (runs.table->n_rows > n_free || figures->log_rms > EXACT)
    cli_printf (
        stderr,
        "times are met within %.2g %% (root mean square) by a model of the node, not counters\n",
        100 * figures->log_rms);
  else
    fputs ("a model of the node, not counters; so few times fit exactly in any case\n", stderr);
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
