/* validate.c - `hopcast validate`: published measurements and their simulation.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/csv.h"
#include "cli/parse.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/print/outfile.h"
#include "cli/print/progress.h"
#include "validation/suite.h"
#include "validation/verdict_page.h"

#include <math.h>
#include <unistd.h>

/* The form of the results, and their counts. */
typedef struct {
  CliFormat format;
  JsonBuilder *builder;  /* JSON only */
  CliProgress *progress; /* NULL: rows on the terminal show it */
  ValidationPage *page;  /* NULL: not wanted */
  bool names_suites;     /* the table has several */
  const char *suite;     /* of the last row of the table */
  guint n, n_run, n_agree, n_recorded;
} Output;

static const char *
verdict (const ValidationResult *result)
{
  return !result->is_run ? "not run" : result->agrees ? "agrees" : "differs";
}

/* NaN when the figure was not run. */
static double
deviation (const ValidationResult *result)
{
  return result->is_run ? validation_deviation (result->published, result->simulated)
                        : (double) NAN;
}

/* A line of the table; of the published value "2.8 +-5%", "0.85..0.95" or ">= 1.2". */
static void
print_row (const ValidationResult *result)
{
  const ValidationPublished *published = result->published;
  g_autofree char *text = validation_published_text (published);

  if (!result->is_run)
    printf ("%-26s %9s %-5s  %-15s %8s  %-7s  %s\n", published->name, "-", published->unit, text,
            "-", "not run", result->why);
  else
    printf ("%-26s %9.4g %-5s  %-15s %+7.1f%%  %-7s  %-10s  %s%s%s%s\n", published->name,
            result->simulated, published->unit, text, 100 * deviation (result),
            result->agrees ? "agrees" : "DIFFERS", published->role, published->source,
            result->commit == NULL ? "" : " (recorded, runs of ",
            result->commit == NULL ? "" : result->commit, result->commit == NULL ? "" : ")");
  if (isfinite (result->lower))
    printf ("    %.4g to %.4g %s\n", result->lower, result->upper,
            result->is_range ? "as guesses vary, one at a time" : "by chance");
  if (result->note != NULL)
    printf ("    %s\n", result->note);
  if (result->cause != NULL)
    printf ("    %s\n", result->cause);
}

/* Prints a result at once: the whole takes a while. */
static void
report (void *data, const ValidationResult *result)
{
  Output *output = data;
  const ValidationPublished *published = result->published;
  double numbers[] = { published->low, published->high, published->tolerance, deviation (result) };
  const char *const remarks[] = { result->note, result->cause, result->commit };
  JsonBuilder *builder = output->builder;
  gboolean is_first = output->n++ == 0;
  char text[BASE_DECIMAL_SIZE];

  output->n_run += result->is_run;
  output->n_agree += result->agrees;
  output->n_recorded += result->commit != NULL;
  if (output->page != NULL)
    validation_page_add (output->page, result);
  switch (output->format) {
  case CLI_FORMAT_JSON:
    json_builder_begin_object (builder);
    cli_add_string (builder, "suite", result->suite);
    cli_add_string (builder, "name", published->name);
    cli_add_number (builder, "simulated", result->simulated);
    cli_add_string (builder, "unit", published->unit);
    cli_add_number (builder, "published_low", isinf (numbers[0]) ? (double) NAN : numbers[0]);
    cli_add_number (builder, "published_high", isinf (numbers[1]) ? (double) NAN : numbers[1]);
    cli_add_number (builder, "tolerance", published->tolerance);
    cli_add_number (builder, "deviation", deviation (result));
    cli_add_number (builder, "lower", result->lower);
    cli_add_number (builder, "upper", result->upper);
    cli_add_string (builder, "verdict", verdict (result));
    if (result->is_range)
      cli_add_string (builder, "range_of", "guesses");
    if (result->note != NULL)
      cli_add_string (builder, "note", result->note);
    if (result->cause != NULL)
      cli_add_string (builder, "cause", result->cause);
    if (result->commit != NULL)
      cli_add_string (builder, "commit", result->commit);
    cli_add_string (builder, "role", published->role);
    cli_add_string (builder, "source", published->source);
    cli_add_string (builder, "conditions", published->conditions);
    json_builder_end_object (builder);
    return;
  case CLI_FORMAT_CSV:
    if (is_first)
      puts ("suite,name,simulated,unit,published_low,published_high,tolerance,deviation,verdict,"
            "role,lower,upper,source,conditions,note,cause,commit");
    printf ("%s,%s,%s,%s", result->suite, published->name,
            result->is_run ? base_decimal_print (text, result->simulated) : "", published->unit);
    for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
      printf (",%s", isfinite (numbers[i]) ? base_decimal_print (text, numbers[i]) : "");
    printf (",%s,%s", verdict (result), published->role);
    printf (",%s", isfinite (result->lower) ? base_decimal_print (text, result->lower) : "");
    printf (",%s,", isfinite (result->upper) ? base_decimal_print (text, result->upper) : "");
    base_csv_field (stdout, published->source);
    putchar (',');
    base_csv_field (stdout, published->conditions);
    for (guint i = 0; i < G_N_ELEMENTS (remarks); i++) {
      putchar (',');
      base_csv_field (stdout, remarks[i] != NULL ? remarks[i] : "");
    }
    putchar ('\n');
    break;
  case CLI_FORMAT_TABLE:
    if (is_first) {
      g_autofree char *heading =
          g_strdup_printf ("%-26s %9s %-5s  %-15s %8s  %-7s  %-10s  %s", "name", "simulated",
                           "unit", "published", "beyond", "verdict", "role", "source");

      cli_print_heading (stdout, heading);
    }
    if (output->names_suites && g_strcmp0 (output->suite, result->suite) != 0)
      printf ("\n%s\n", result->suite);
    output->suite = result->suite;
    print_row (result);
    break;
  }
  fflush (stdout);
}

static void
show_progress (void *data, double share)
{
  const Output *output = data;

  if (output->progress != NULL)
    cli_progress_share (output->progress, share);
}

/* Sets suites[0] to the suite of that name, and *chosen to suites; name NULL or "all": *chosen are all
 * of them. */
static gboolean
choose (const char *name, bool has_stores, const ValidationSuite **suites,
        const ValidationSuite *const **chosen, GError **error)
{
  const char *names[16] = { "all", validation_modern_full.name };
  const ValidationSuite *named[16] = { NULL, &validation_modern_full };
  bool reads_stores;
  int at = 0;

  for (guint i = 0; validation_suites[i] != NULL; i++) {
    g_assert (i + 3 < G_N_ELEMENTS (names));
    names[i + 2] = validation_suites[i]->name;
    named[i + 2] = validation_suites[i];
  }
  *chosen = validation_suites;
  if (name != NULL && (at = cli_parse_choice ("SUITE", name, names, error)) < 0)
    return FALSE;
  if (at > 0) {
    suites[0] = named[at];
    *chosen = suites;
  }
  reads_stores = suites[0] == &validation_sc13 || suites[0] == &validation_sensitivity;
  if (reads_stores && !has_stores)
    return cli_refuse (error,
                       "%s needs the stores of its studies: --store FILE; see "
                       "validation/%s",
                       suites[0]->name, suites[0]->name);
  if (!reads_stores && has_stores)
    return cli_refuse (error, "--store: only sc13 and sensitivity read stores");
  return TRUE;
}

static gboolean
validate (Output *output, const ValidationSuite *const *suites, const char *const *only,
          const ValidationWatch *inputs, const char *details_path, const char *html_path,
          GError **error)
{
  g_autoptr (GString) details = g_string_new (validation_details_heading);
  g_autoptr (CliOutfile) file = NULL, html = NULL;
  ValidationWatch watch = *inputs;

  watch.report = report;
  watch.progress = show_progress;
  watch.data = output;
  /* Of several suites there is one table only. */
  watch.out = output->format == CLI_FORMAT_TABLE && !output->names_suites ? stdout : NULL;

  if ((details_path != NULL && (file = cli_outfile_new (details_path, error)) == NULL) ||
      (html_path != NULL && (html = cli_outfile_new (html_path, error)) == NULL))
    return FALSE;
  watch.details = file == NULL ? NULL : details;
  json_builder_begin_object (output->builder);
  cli_add_string (output->builder, "schema", "hopcast.validation/1");
  cli_begin_array (output->builder, "results");
  if (!validation_run (suites, only, &watch, error)) {
    /* A wrong name on the command line is wrong usage. */
    if (g_error_matches (*error, VALIDATION_ERROR, VALIDATION_ERROR_NAME)) {
      cli_blame_usage (*error);
      g_prefix_error (error, "--only: ");
    }
    return FALSE;
  }
  json_builder_end_array (output->builder);
  if (output->format == CLI_FORMAT_JSON)
    cli_print_object (stdout, output->builder);
  if (output->format == CLI_FORMAT_TABLE) {
    printf ("%u of %u agree", output->n_agree, output->n_run);
    if (output->n_run < output->n)
      printf (", %u not run", output->n - output->n_run);
    if (output->n_recorded > 0)
      printf ("; %u are recorded results", output->n_recorded);
    putchar ('\n');
  }
  if (html != NULL) {
    validation_page_write (output->page, PACKAGE_STRING, cli_outfile_stream (html));
    if (!cli_outfile_commit (html, error))
      return FALSE;
  }
  if (file == NULL)
    return TRUE;
  fputs (details->str, cli_outfile_stream (file));
  return cli_outfile_commit (file, error);
}

int
cli_validate (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "SUITE", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "[all|bgq|infiniband|aggregation|simgrid|modern|modern-full|evh1|sc13|sensitivity|shrink]",
      "Repeats published measurements in simulation and compares: bgq, those of Blue Gene/Q; "
      "infiniband, those of InfiniBand clusters; aggregation, what a paper on task aggregation claims; modern, benchmarks on clusters of today, in minutes; modern-full, all sizes of them, in hours; evh1, what a paper on correcting a model claims, with a stand-in for its lost data; sc13, how well counters predict which mapping is "
      "fast, from finished studies; sensitivity, whether intervals and rankings of replicas hold, likewise; shrink, what shrunk messages are off by, in hours; simgrid, packets and flows beside SimGrid's own replayer. Without a suite, or with all, the first four are run, and of the others the recorded results are shown, marked with the commit of their runs. Exit status 1 when one differs; a claim of sc13 whose study is not among the stores is not run.");
  g_auto (CliFormatOptions) format = { 0 };
  g_auto (GStrv) only = NULL, stores = NULL;
  g_autofree char *details_path = NULL, *xc30 = NULL, *runs = NULL, *traces = NULL;
  g_autofree char *smpirun = NULL, *html = NULL;
  CliTalkOptions talk = { 0 };
  const GOptionEntry entries[] = {
    { "only", 0, 0, G_OPTION_ARG_STRING_ARRAY, &only,
      "Only the figures of this name, * for any letters; may be given several times", "NAME" },
    { "details", 0, 0, G_OPTION_ARG_FILENAME, &details_path,
      "Write the points that figures are taken from, as CSV", "FILE" },
    { "html", 0, 0, G_OPTION_ARG_FILENAME, &html,
      "Write a page with counts, a picture and a table of each suite", "FILE" },
    { "store", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &stores,
      "A finished study that sc13 or sensitivity reads; may be given several times", "FILE" },
    { "xc30", 0, 0, G_OPTION_ARG_FILENAME, &xc30,
      "Runs of SPEC MPI2007 on another machine for aggregation (default: those of a Cray XC30)",
      "FILE" },
    { "runs", 0, 0, G_OPTION_ARG_FILENAME, &runs,
      "Keep the runs of shrink in FILE, and make only those that it lacks", "FILE" },
    { "traces", 0, 0, G_OPTION_ARG_FILENAME, &traces,
      "The folder of the traces that simgrid replays (default: traces/data)", "FOLDER" },
    { "smpirun", 0, 0, G_OPTION_ARG_FILENAME, &smpirun,
      "SimGrid's smpirun for simgrid (default: the one in PATH)", "PROGRAM" },
    { NULL },
  };
  const ValidationSuite *one[2] = { NULL };
  const ValidationSuite *const *suites;
  Output output = { 0 };
  ValidationWatch inputs;
  gboolean done;

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_format_options (context, &format);
  cli_add_quiet_option (context, &talk);
  if (!cli_parse_options (context, names, &argc, &argv, error) ||
      !cli_parse_format (&format, error))
    return CLI_FAILED;
  if (argc > 2) {
    cli_refuse (error, "one argument too many: '%s'", argv[2]);
    return CLI_FAILED;
  }
  if (!choose (argc < 2 ? NULL : argv[1], stores != NULL, one, &suites, error))
    return CLI_FAILED;
  if (xc30 != NULL && one[0] != NULL && one[0] != &validation_aggregation) {
    cli_refuse (error, "--xc30: only aggregation reads it");
    return CLI_FAILED;
  }
  if (runs != NULL && one[0] != &validation_shrink) {
    cli_refuse (error, "--runs: only shrink keeps its runs");
    return CLI_FAILED;
  }
  if ((traces != NULL || smpirun != NULL) && one[0] != NULL && one[0] != &validation_simgrid) {
    cli_refuse (error, "%s: only simgrid replays traces",
                traces != NULL ? "--traces" : "--smpirun");
    return CLI_FAILED;
  }
  inputs = (ValidationWatch){ .xc30 = xc30,
                              .stores = (const char *const *) stores,
                              .runs = runs,
                              .traces = traces,
                              .smpirun = smpirun,
                              .recorded = one[0] == NULL ? validation_long_suites : NULL };
  output.format = format.format;
  output.builder = json_builder_new ();
  output.names_suites = one[0] == NULL;
  output.page = html != NULL ? validation_page_new () : NULL;
  if (output.format == CLI_FORMAT_JSON || !isatty (STDOUT_FILENO) || one[0] == &validation_shrink)
    output.progress = cli_progress_new (talk.quiet);
  done = validate (&output, suites, (const char *const *) only, &inputs, details_path, html, error);
  validation_page_free (output.page);
  cli_progress_free (output.progress);
  g_object_unref (output.builder);
  return done && output.n_run > 0 && output.n_agree == output.n_run ? CLI_DONE : CLI_FAILED;
}
