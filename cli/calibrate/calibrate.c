/* calibrate.c - `hopcast calibrate` and `hopcast machine test`: a machine and what was measured on it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/csv.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/print/columns.h"
#include "cli/print/outfile.h"
#include "cli/print/progress.h"
#include "cli/print/terminal.h"
#include "study/calibrate/calibration.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define MOST_PACKETS 400000 /* of a point that is predicted: seconds */

/* What both commands have. */
typedef struct {
  CliMachineOptions machine;
  CliFormatOptions format;
  CliTalkOptions talk;
  int threads;
} Options;

#define OPTIONS_INIT ((Options){ .machine = CLI_MACHINE_OPTIONS_INIT, .threads = 0 })

static void
options_clear (Options *options)
{
  cli_machine_options_clear (&options->machine);
  cli_format_options_clear (&options->format);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_options (GOptionContext *context, Options *options)
{
  const GOptionEntry entries[] = {
    { "threads", 0, 0, G_OPTION_ARG_INT, &options->threads,
      "Simulations side by side (default: one per core)", "N" },
    { NULL },
  };

  cli_add_machine_detail_options (context, &options->machine);
  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_format_options (context, &options->format);
  cli_add_quiet_option (context, &options->talk);
}

static gboolean
check_options (Options *options, GError **error)
{
  return cli_parse_format (&options->format, error) &&
         cli_check_number ("--threads", options->threads, 0, CLI_MAX_THREADS, error);
}

/* --- Files --- */

static int
compare_names (const void *a, const void *b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Adds the tables of the files of a folder, by their names; files without any are named. */
static gboolean
read_folder (GPtrArray *tables, const char *path, gboolean quiet, GError **error)
{
  g_autoptr (GDir) folder = base_folder_open (path, error);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  if (folder == NULL)
    return FALSE;
  while ((name = g_dir_read_name (folder)) != NULL)
    if (*name != '.')
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  for (guint at = 0; at < names->len; at++) {
    g_autofree char *file = g_build_filename (path, names->pdata[at], NULL);
    guint before = tables->len;

    if (g_file_test (file, G_FILE_TEST_IS_DIR))
      continue;
    if (!study_measured_read (tables, file, error))
      return FALSE;
    if (tables->len == before && !quiet)
      cli_printf (stderr, "hopcast: warning: %s: no figures of a known benchmark\n", file);
  }
  return TRUE;
}

static gboolean
read_tables (GPtrArray *tables, const char *path, gboolean quiet, GError **error)
{
  guint before = tables->len;

  if (g_file_test (path, G_FILE_TEST_IS_DIR) ? !read_folder (tables, path, quiet, error)
                                             : !study_measured_read (tables, path, error))
    return FALSE;
  return tables->len > before ||
         cli_fail (error,
                   "%s: no figures of OSU's or Intel's MPI benchmarks or of hopcast-pingpong",
                   path);
}

/* exp (|log|) - 1, as a share; NaN stays. */
static double
share_of (double spread)
{
  return expm1 (spread);
}

/* --- hopcast calibrate --- */

typedef struct {
  const char *key, *initial, *value, *low, *high, *note;
  bool is_fitted;
} ParameterRow;

static const CliColumn parameter_columns[] = {
  { "parameter", "parameter", CLI_CELL_TEXT, offsetof (ParameterRow, key) },
  { "fitted", NULL, CLI_CELL_BOOLEAN, offsetof (ParameterRow, is_fitted) },
  { "before", "before", CLI_CELL_TEXT, offsetof (ParameterRow, initial) },
  { "value", "value", CLI_CELL_TEXT, offsetof (ParameterRow, value) },
  { "low", "from", CLI_CELL_TEXT, offsetof (ParameterRow, low) },
  { "high", "to (95 %)", CLI_CELL_TEXT, offsetof (ParameterRow, high) },
  { "note", "by, or why not", CLI_CELL_TEXT, offsetof (ParameterRow, note) },
};

typedef struct {
  const char *benchmark, *file, *left_out;
  uint32_t line, ranks, points, n_long;
  double before, after, predicted;
} TableRow;

static const CliColumn table_columns[] = {
  { "benchmark", "benchmark", CLI_CELL_TEXT, offsetof (TableRow, benchmark) },
  { "file", "file", CLI_CELL_TEXT, offsetof (TableRow, file) },
  { "line", "line", CLI_CELL_U32, offsetof (TableRow, line) },
  { "ranks", "ranks", CLI_CELL_U32, offsetof (TableRow, ranks) },
  { "points", "points", CLI_CELL_U32, offsetof (TableRow, points) },
  { "too_long", "too long", CLI_CELL_U32, offsetof (TableRow, n_long) },
  { "error_before", "error before", CLI_CELL_SHARE, offsetof (TableRow, before), "%.1f" },
  { "error", "fitted", CLI_CELL_SHARE, offsetof (TableRow, after), "%.1f" },
  { "error_left_out", "left out", CLI_CELL_SHARE, offsetof (TableRow, predicted), "%.1f" },
  { "note", "note", CLI_CELL_TEXT, offsetof (TableRow, left_out) },
};

static void
print_calibration (FILE *out, const StudyCalibration *calibration, const GPtrArray *tables,
                   CliFormat format)
{
  guint n = calibration->parameters->len;
  g_autofree ParameterRow *parameter = g_new (ParameterRow, n);
  g_autofree TableRow *table = g_new (TableRow, tables->len);
  const CliRows parameters = CLI_ROWS (parameter_columns, parameter, n);
  const CliRows files = CLI_ROWS (table_columns, table, tables->len);
  g_autoptr (JsonBuilder) builder = NULL;

  for (guint at = 0; at < n; at++) {
    const StudyCalibrated *from = g_ptr_array_index (calibration->parameters, at);

    parameter[at] = (ParameterRow){ from->key,  from->initial, from->value,    from->low,
                                    from->high, from->why,     from->is_fitted };
  }
  for (guint at = 0; at < tables->len; at++) {
    const StudyMeasured *measured = g_ptr_array_index (tables, at);
    const StudyCalibratedTable *from = &calibration->tables[at];

    table[at] = (TableRow){ measured->name,
                            measured->path,
                            from->left_out,
                            measured->first_line,
                            measured->n_ranks,
                            from->n,
                            from->n_long,
                            share_of (from->before.spread),
                            share_of (from->after.spread),
                            share_of (from->predicted.spread) };
  }
  switch (format) {
  case CLI_FORMAT_TABLE:
    cli_rows_print_table (out, &parameters, "");
    fputc ('\n', out);
    cli_rows_print_table (out, &files, "");
    fprintf (
        out,
        "\nmedian error of %u figures: %.1f %% before, %.1f %% fitted, %.1f %% of sizes that are "
        "left out of the fit\n",
        calibration->after.n, 100 * share_of (calibration->before.spread),
        100 * share_of (calibration->after.spread), 100 * share_of (calibration->predicted.spread));
    break;
  case CLI_FORMAT_CSV: cli_rows_print_csv (out, &parameters); break;
  case CLI_FORMAT_JSON:
    builder = json_builder_new ();
    json_builder_begin_object (builder);
    cli_add_string (builder, "schema", "hopcast.calibration/1");
    cli_add_integer (builder, "points", calibration->after.n);
    cli_add_number (builder, "error_before", share_of (calibration->before.spread));
    cli_add_number (builder, "error", share_of (calibration->after.spread));
    cli_add_number (builder, "error_left_out", share_of (calibration->predicted.spread));
    cli_rows_add_json (builder, "parameters", &parameters);
    cli_rows_add_json (builder, "tables", &files);
    cli_print_object (out, builder);
    break;
  }
}

int
cli_calibrate (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "MEASURED", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "MEASURED...",
      "Fits the parameters of a machine to messages that OSU's or Intel's MPI "
      "benchmarks or hopcast-pingpong measured on it, and writes its machine file: with "
      "the interval of each number that the figures determine, and the names of those "
      "that they do not.  MEASURED is a file of their output, or a folder of such.  "
      "Collectives are not fitted.");
  g_auto (Options) options = OPTIONS_INIT;
  g_autofree char *output = NULL, *text = NULL;
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
      "Where to write the machine file (default: standard output)", "FILE" },
    { NULL },
  };
  g_autoptr (GPtrArray) tables = g_ptr_array_new_with_free_func (study_measured_free);
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (CliOutfile) file = NULL;
  g_autoptr (CliProgress) progress = NULL;
  g_autoptr (StudyCalibration) calibration = NULL;
  int first = 1;

  cli_add_machine_option (context, &options.machine);
  g_option_context_add_main_entries (context, entries, NULL);
  add_options (context, &options);
  if (!cli_parse_options (context, names, &argc, &argv, error) || !check_options (&options, error))
    return CLI_FAILED;
  if (first < argc && strcmp (argv[first], "--") == 0)
    first++;
  if (first == argc) {
    cli_refuse (error, "MEASURED is missing");
    return CLI_FAILED;
  }
  if ((machine = cli_machine_new (&options.machine, error)) == NULL)
    return CLI_FAILED;
  for (int at = first; at < argc; at++)
    if (!read_tables (tables, argv[at], options.talk.quiet, error))
      return CLI_FAILED;
  /* The file is opened before the fit, so that a place that cannot be written fails at once. */
  if ((file = cli_outfile_new (output, error)) == NULL)
    return CLI_FAILED;
  progress = cli_progress_new (options.talk.quiet);
  calibration = study_calibrate (machine, tables, (guint) options.threads, cli_progress_share,
                                 progress, error);
  g_clear_pointer (&progress, cli_progress_free);
  if (calibration == NULL) {
    cli_machine_blame (&options.machine, *error);
    return CLI_FAILED;
  }
  text = study_calibration_print (calibration, machine, tables);
  fputs (text, cli_outfile_stream (file));
  if (!cli_outfile_commit (file, error))
    return CLI_FAILED;
  /* A machine file on standard output stands there alone. */
  print_calibration (output != NULL && strcmp (output, "-") != 0 ? stdout : stderr, calibration,
                     tables, options.format.format);
  return CLI_DONE;
}

/* --- hopcast machine test --- */

/* The points of one quantity: of a table, or of all. */
typedef struct {
  const char *benchmark, *quantity, *file, *verdict;
  uint32_t line, ranks, points, left_out;
  double error, bias, worst; /* worst: simulated over measured time */
  uint64_t worst_bytes;
} TestRow;

static const CliColumn test_columns[] = {
  { "benchmark", "benchmark", CLI_CELL_TEXT, offsetof (TestRow, benchmark) },
  { "quantity", "quantity", CLI_CELL_TEXT, offsetof (TestRow, quantity) },
  { "file", "file", CLI_CELL_TEXT, offsetof (TestRow, file) },
  { "line", NULL, CLI_CELL_KNOWN_U32, offsetof (TestRow, line) },
  { "ranks", "ranks", CLI_CELL_KNOWN_U32, offsetof (TestRow, ranks) },
  { "points", "points", CLI_CELL_U32, offsetof (TestRow, points) },
  { "left_out", "left out", CLI_CELL_U32, offsetof (TestRow, left_out) },
  { "error", "error", CLI_CELL_SHARE, offsetof (TestRow, error), "%.1f" },
  { "bias", "bias", CLI_CELL_SHARE, offsetof (TestRow, bias) },
  { "worst", "worst", CLI_CELL_NUMBER, offsetof (TestRow, worst), "%.2f" },
  { "worst_bytes", "at bytes", CLI_CELL_U64, offsetof (TestRow, worst_bytes) },
  { "verdict", "verdict", CLI_CELL_TEXT, offsetof (TestRow, verdict) },
};

/* Adds a row of the quantity's points of n tables from `first` on, if there are any; logs[all points of
 * these tables].  limit NaN: none. */
static void
add_row (GArray *rows, TestRow row, const GPtrArray *tables, guint first, guint n, guint quantity,
         const double *logs, double limit)
{
  g_autoptr (GArray) some = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) bytes = g_array_new (FALSE, FALSE, sizeof (uint64_t));
  StudyBenchmarkSummary summary;

  row.quantity = study_benchmark_quantities[quantity];
  for (guint at = first; at < first + n; at++) {
    const StudyMeasured *table = g_ptr_array_index (tables, at);

    for (guint i = 0; i < table->points->len; i++, logs++) {
      const StudyMeasuredPoint *point = &g_array_index (table->points, StudyMeasuredPoint, i);

      if (table->benchmark == NULL || study_benchmark_quantity (&point->run) != quantity)
        continue;
      row.left_out += isnan (*logs);
      if (isnan (*logs))
        continue;
      g_array_append_val (some, *logs);
      g_array_append_val (bytes, point->run.bytes);
    }
  }
  row.points = some->len;
  if (row.points + row.left_out == 0)
    return;
  summary = study_benchmark_summary ((const double *) (gpointer) some->data, some->len);
  row.error = share_of (summary.spread);
  row.bias = share_of (summary.bias);
  row.worst = (double) NAN;
  if (row.points > 0) {
    row.worst = exp (g_array_index (some, double, summary.worst));
    row.worst_bytes = g_array_index (bytes, uint64_t, summary.worst);
    if (!isnan (limit))
      row.verdict = row.error <= limit ? "within" : "BEYOND";
  }
  g_array_append_val (rows, row);
}

/* Rows of every table and quantity, then of every quantity; the limit is that of a table. */
static void
add_rows (GArray *rows, const GPtrArray *tables, const double *logs, double limit)
{
  const double *of_table = logs;

  for (guint at = 0; at < tables->len; at++) {
    const StudyMeasured *table = g_ptr_array_index (tables, at);
    TestRow row = { .benchmark = table->name,
                    .file = table->path,
                    .line = table->first_line,
                    .ranks = table->n_ranks };

    for (guint quantity = 0; quantity < STUDY_BENCHMARK_QUANTITIES; quantity++)
      add_row (rows, row, tables, at, 1, quantity, of_table, limit);
    of_table += table->points->len;
  }
  for (guint quantity = 0; quantity < STUDY_BENCHMARK_QUANTITIES; quantity++)
    add_row (rows, (TestRow){ .benchmark = "all" }, tables, 0, tables->len, quantity, logs,
             (double) NAN);
}

/* Every point as CSV. */
static gboolean
write_details (const char *path, const GPtrArray *tables, const double *logs, GError **error)
{
  g_autoptr (CliOutfile) file = cli_outfile_new (path, error);
  char measured[BASE_DECIMAL_SIZE], ratio[BASE_DECIMAL_SIZE];

  if (file == NULL)
    return FALSE;
  fputs ("benchmark,file,line,ranks,bytes,measured,unit,time_ratio\n", cli_outfile_stream (file));
  for (guint at = 0; at < tables->len; at++) {
    const StudyMeasured *table = g_ptr_array_index (tables, at);

    for (guint i = 0; i < table->points->len; i++, logs++) {
      const StudyMeasuredPoint *point = &g_array_index (table->points, StudyMeasuredPoint, i);
      FILE *out = cli_outfile_stream (file);

      base_csv_field (out, table->name);
      fputc (',', out);
      base_csv_field (out, table->path);
      fprintf (out, ",%u,%u,%" G_GUINT64_FORMAT ",%s,%s,%s\n", table->first_line, table->n_ranks,
               point->run.bytes, base_decimal_print (measured, point->measured),
               study_benchmark_units[point->run.unit],
               isnan (*logs) ? "" : base_decimal_print (ratio, exp (*logs)));
    }
  }
  return cli_outfile_commit (file, error);
}

static void
print_test (const GArray *rows, const char *spec, CliFormat format)
{
  const CliRows all = { test_columns, G_N_ELEMENTS (test_columns),
                        rows->data,   sizeof (TestRow),
                        rows->len,    0 };
  g_autoptr (JsonBuilder) builder = NULL;

  switch (format) {
  case CLI_FORMAT_TABLE: cli_rows_print_table (stdout, &all, ""); break;
  case CLI_FORMAT_CSV: cli_rows_print_csv (stdout, &all); break;
  case CLI_FORMAT_JSON:
    builder = json_builder_new ();
    json_builder_begin_object (builder);
    cli_add_string (builder, "schema", "hopcast.machine-test/1");
    cli_add_string (builder, "machine", spec);
    cli_rows_add_json (builder, "benchmarks", &all);
    cli_print_object (stdout, builder);
    break;
  }
}

int
cli_machine_test (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "SPEC", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "SPEC",
      "Predicts what OSU's or Intel's MPI benchmarks or hopcast-pingpong measured on the "
      "machine, collectives too, and prints the median error of each: of times, and of rates "
      "and bandwidths as times.  Exit status 1 when one is beyond --limit.");
  g_auto (Options) options = OPTIONS_INIT;
  g_autofree char *measured = NULL, *limit_text = NULL, *details = NULL;
  int most_packets = MOST_PACKETS;
  const GOptionEntry entries[] = {
    { "measured", 0, 0, G_OPTION_ARG_FILENAME, &measured,
      "The output of the benchmarks: a file, or a folder of files", "FILE" },
    { "limit", 0, 0, G_OPTION_ARG_STRING, &limit_text,
      "The median error that is enough, as a share (0.3)", "X" },
    { "packets", 0, 0, G_OPTION_ARG_INT, &most_packets,
      "Leave out points that move more packets (default: 400000)", "N" },
    { "details", 0, 0, G_OPTION_ARG_FILENAME, &details, "Write every point, as CSV", "FILE" },
    { NULL },
  };
  g_autoptr (GPtrArray) tables = g_ptr_array_new_with_free_func (study_measured_free);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (TestRow));
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (CliProgress) progress = NULL;
  g_autofree double *logs = NULL;
  double limit = (double) NAN;
  guint n_points = 0, n_beyond = 0;
  const char *spec;
  char *end;

  g_option_context_add_main_entries (context, entries, NULL);
  add_options (context, &options);
  if (!cli_parse (context, argc, argv, names, &spec, error) || !check_options (&options, error) ||
      !cli_check_number ("--packets", most_packets, 1, G_MAXINT, error))
    return CLI_FAILED;
  if (limit_text != NULL) {
    limit = g_ascii_strtod (limit_text, &end);
    if (end == limit_text || *end != '\0' || !(limit > 0) || !isfinite (limit)) {
      cli_refuse (error, "--limit: '%s' is no number above 0", limit_text);
      return CLI_FAILED;
    }
  }
  options.machine.spec = g_strdup (spec);
  if (measured == NULL) {
    cli_refuse (error, "--measured FILE is missing");
    return CLI_FAILED;
  }
  if ((machine = cli_machine_new (&options.machine, error)) == NULL ||
      !read_tables (tables, measured, options.talk.quiet, error))
    return CLI_FAILED;
  for (guint at = 0; at < tables->len; at++)
    n_points += ((const StudyMeasured *) g_ptr_array_index (tables, at))->points->len;
  logs = g_new (double, n_points);
  progress = cli_progress_new (options.talk.quiet);
  if (!study_calibration_test (machine, tables, most_packets, (guint) options.threads,
                               cli_progress_share, progress, logs, error)) {
    cli_machine_blame (&options.machine, *error);
    return CLI_FAILED;
  }
  g_clear_pointer (&progress, cli_progress_free);
  add_rows (rows, tables, logs, limit);
  for (guint at = 0; at < tables->len && !options.talk.quiet; at++) {
    const StudyMeasured *table = g_ptr_array_index (tables, at);

    if (table->benchmark == NULL)
      cli_printf (stderr, "hopcast: warning: %s:%u: %s is not simulated\n", table->path,
                  table->first_line, table->name);
  }
  for (guint at = 0; at < rows->len; at++)
    n_beyond += g_strcmp0 (g_array_index (rows, TestRow, at).verdict, "BEYOND") == 0;
  if (details != NULL && !write_details (details, tables, logs, error))
    return CLI_FAILED;
  print_test (rows, spec, options.format.format);
  return n_beyond > 0 ? CLI_FAILED : CLI_DONE;
}
