/* validate.c - `hopcast validate`: what was published, and what we simulate.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/csv.h"
#include "cli/parse.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/print/outfile.h"
#include "cli/print/progress.h"
#include "validation/suite.h"

#include <math.h>
#include <unistd.h>

/* Where the results go, and what came of them. */
typedef struct {
  CliFormat format;
  JsonBuilder *builder;  /* JSON only */
  CliProgress *progress; /* NULL: rows on the terminal show it */
  guint n, n_run, n_agree;
} Output;

static void
add_bound (JsonBuilder *builder, const char *name, double bound)
{
  cli_add_number (builder, name, isinf (bound) ? (double) NAN : bound);
}

static const char *
verdict (const ValidationResult *result)
{
  return !result->is_run ? "not run" : result->agrees ? "agrees" : "differs";
}

/* NaN when it was not run. */
static double
deviation (const ValidationResult *result)
{
  return result->is_run ? validation_deviation (result->published, result->simulated)
                        : (double) NAN;
}

static void
add_json (JsonBuilder *builder, const ValidationResult *result)
{
  const ValidationPublished *published = result->published;

  json_builder_begin_object (builder);
  cli_add_string (builder, "suite", result->suite);
  cli_add_string (builder, "name", published->name);
  cli_add_number (builder, "simulated", result->simulated);
  cli_add_string (builder, "unit", published->unit);
  add_bound (builder, "published_low", published->low);
  add_bound (builder, "published_high", published->high);
  cli_add_number (builder, "tolerance", published->tolerance);
  cli_add_number (builder, "deviation", deviation (result));
  cli_add_string (builder, "verdict", verdict (result));
  if (result->cause != NULL)
    cli_add_string (builder, "cause", result->cause);
  cli_add_string (builder, "role", published->role);
  cli_add_string (builder, "source", published->source);
  cli_add_string (builder, "conditions", published->conditions);
  json_builder_end_object (builder);
}

static void
print_csv (const ValidationResult *result)
{
  const ValidationPublished *published = result->published;
  double numbers[] = { published->low, published->high, published->tolerance, deviation (result) };
  char text[BASE_DECIMAL_SIZE];

  printf ("%s,%s,%s,%s", result->suite, published->name,
          result->is_run ? base_decimal_print (text, result->simulated) : "", published->unit);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    printf (",%s", isfinite (numbers[i]) ? base_decimal_print (text, numbers[i]) : "");
  printf (",%s,%s,", verdict (result), published->role);
  base_csv_field (stdout, published->source);
  putchar (',');
  base_csv_field (stdout, published->conditions);
  putchar ('\n');
}

/* "2.8 +-5%", "0.85..0.95", ">= 1.2"; the caller frees it. */
static char *
published_text (const ValidationPublished *published)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (isinf (published->high))
    g_string_printf (text, ">= %g", published->low);
  else if (isinf (published->low))
    g_string_printf (text, "<= %g", published->high);
  else if (published->low < published->high)
    g_string_printf (text, "%g..%g", published->low, published->high);
  else
    g_string_printf (text, "%g", published->low);
  if (published->tolerance > 0)
    g_string_append_printf (text, " +-%g%%", 100 * published->tolerance);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
print_row (const ValidationResult *result)
{
  const ValidationPublished *published = result->published;
  g_autofree char *text = published_text (published);

  if (!result->is_run)
    printf ("%-26s %9s %-5s  %-15s %8s  %-7s  %s\n", published->name, "-", published->unit, text,
            "-", "not run", result->why);
  else
    printf ("%-26s %9.4g %-5s  %-15s %+7.1f%%  %-7s  %-10s  %s\n", published->name,
            result->simulated, published->unit, text, 100 * deviation (result),
            result->agrees ? "agrees" : "DIFFERS", published->role, published->source);
  if (result->cause != NULL)
    printf ("    %s\n", result->cause);
}

static void
print_headings (CliFormat format)
{
  g_autofree char *heading = NULL;

  if (format == CLI_FORMAT_CSV)
    puts (
        "suite,name,simulated,unit,published_low,published_high,tolerance,deviation,verdict,role,source,"
        "conditions");
  if (format != CLI_FORMAT_TABLE)
    return;
  heading = g_strdup_printf ("%-26s %9s %-5s  %-15s %8s  %-7s  %-10s  %s", "name", "simulated",
                             "unit", "published", "beyond", "verdict", "role", "source");
  cli_print_heading (stdout, heading);
}

/* One line at once: the whole takes a while. */
static void
report (void *data, const ValidationResult *result)
{
  Output *output = data;

  if (output->n++ == 0)
    print_headings (output->format);
  output->n_run += result->is_run;
  output->n_agree += result->agrees;
  switch (output->format) {
  case CLI_FORMAT_JSON: add_json (output->builder, result); return;
  case CLI_FORMAT_CSV: print_csv (result); break;
  case CLI_FORMAT_TABLE: print_row (result); break;
  }
  fflush (stdout);
}

static void
print_json (JsonBuilder *builder)
{
  g_autoptr (JsonNode) root = json_builder_get_root (builder);

  cli_print_record (stdout, root, CLI_FORMAT_JSON);
}

static void
show_progress (void *data, double share)
{
  const Output *output = data;

  if (output->progress != NULL)
    cli_progress_share (output->progress, share);
}

static gboolean
run_suites (Output *output, const ValidationSuite *const *suites, const char *const *only,
            const char *const *stores, const char *xc30, GString *details, GError **error)
{
  const ValidationWatch watch = { .report = report,
                                  .progress = show_progress,
                                  .data = output,
                                  .details = details,
                                  .xc30 = xc30,
                                  .stores = stores };

  json_builder_begin_object (output->builder);
  json_builder_set_member_name (output->builder, "results");
  json_builder_begin_array (output->builder);
  if (!validation_run (suites, only, &watch, error))
    return FALSE;
  json_builder_end_array (output->builder);
  json_builder_end_object (output->builder);
  if (output->format == CLI_FORMAT_JSON)
    print_json (output->builder);
  if (output->format == CLI_FORMAT_TABLE && output->n_run < output->n)
    printf ("%u of %u agree, %u not run\n", output->n_agree, output->n_run,
            output->n - output->n_run);
  else if (output->format == CLI_FORMAT_TABLE)
    printf ("%u of %u agree\n", output->n_agree, output->n);
  return TRUE;
}

static gboolean
refuse (GError **error, const char *message)
{
  g_set_error_literal (error, CLI_ERROR, CLI_ERROR_USAGE, message);
  return FALSE;
}

/* Sets suites[0] to the one that is asked for; those that simulate when none is. */
static gboolean
choose (const char *name, bool has_stores, const ValidationSuite **suites,
        const ValidationSuite *const **chosen, GError **error)
{
  const char *names[8] = { NULL };
  guint n = 0;
  int at;

  *chosen = validation_suites;
  if (name == NULL)
    return !has_stores || refuse (error, "--store: only sc13 reads stores");
  for (; validation_suites[n] != NULL; n++)
    names[n] = validation_suites[n]->name;
  names[n] = validation_sc13.name;
  g_assert (n + 1 < G_N_ELEMENTS (names));
  at = cli_parse_choice ("SUITE", name, names, error);
  if (at < 0)
    return FALSE;
  suites[0] = (guint) at == n ? &validation_sc13 : validation_suites[at];
  *chosen = suites;
  if (suites[0] == &validation_sc13 && !has_stores)
    return refuse (error, "sc13 needs the stores of its studies: --store FILE; validation/sc13/run "
                          "makes them");
  if (suites[0] != &validation_sc13 && has_stores)
    return refuse (error, "--store: only sc13 reads stores");
  return TRUE;
}

/* A wrong name on the command line is wrong usage. */
static void
name_option (GError **error)
{
  if (error == NULL || !g_error_matches (*error, VALIDATION_ERROR, VALIDATION_ERROR_NAME))
    return;
  (*error)->domain = CLI_ERROR;
  (*error)->code = CLI_ERROR_USAGE;
  g_prefix_error (error, "--only: ");
}

static gboolean
validate (Output *output, const ValidationSuite *const *suites, const char *const *only,
          const char *const *stores, const char *xc30, const char *details_path, GError **error)
{
  g_autoptr (GString) details = g_string_new (validation_details_heading);
  g_autoptr (CliOutfile) file = NULL;

  if (details_path != NULL && (file = cli_outfile_new (details_path, error)) == NULL)
    return FALSE;
  if (!run_suites (output, suites, only, stores, xc30, file == NULL ? NULL : details, error)) {
    name_option (error);
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
      "[bgq|infiniband|aggregation|sc13]",
      "Repeats published measurements in simulation and compares: bgq, those of Blue Gene/Q; "
      "infiniband, those of InfiniBand clusters; aggregation, what a paper on task aggregation claims; sc13, how well counters predict which mapping is "
      "fast, from finished studies. Exit status 1 when one differs; a claim of sc13 whose study is not among the stores is not run.");
  g_auto (CliFormatOptions) format = { 0 };
  g_auto (GStrv) only = NULL, stores = NULL;
  g_autofree char *details_path = NULL, *xc30 = NULL;
  CliTalkOptions talk = { 0 };
  const GOptionEntry entries[] = {
    { "only", 0, 0, G_OPTION_ARG_STRING_ARRAY, &only,
      "Only the figure of this name; may be given several times", "NAME" },
    { "details", 0, 0, G_OPTION_ARG_FILENAME, &details_path,
      "Write the points that figures are taken from, as CSV", "FILE" },
    { "store", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &stores,
      "A finished study that sc13 reads; may be given several times", "FILE" },
    { "xc30", 0, 0, G_OPTION_ARG_FILENAME, &xc30,
      "Runs of SPEC MPI2007 on a Cray XC30, as aggregation reads them", "FILE" },
    { NULL },
  };
  const ValidationSuite *one[2] = { NULL };
  const ValidationSuite *const *suites;
  Output output = { 0 };
  gboolean done;

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_format_options (context, &format);
  cli_add_quiet_option (context, &talk);
  if (!cli_parse_options (context, names, &argc, &argv, error) ||
      !cli_parse_format (&format, error))
    return CLI_FAILED;
  if (argc > 2) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "one argument too many: '%s'", argv[2]);
    return CLI_FAILED;
  }
  if (!choose (argc < 2 ? NULL : argv[1], stores != NULL, one, &suites, error))
    return CLI_FAILED;
  if (xc30 != NULL && one[0] != NULL && one[0] != &validation_aggregation) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--xc30: only aggregation reads it");
    return CLI_FAILED;
  }
  output.format = format.format;
  output.builder = json_builder_new ();
  if (output.format == CLI_FORMAT_JSON || !isatty (STDOUT_FILENO))
    output.progress = cli_progress_new (talk.quiet);
  done = validate (&output, suites, (const char *const *) only, (const char *const *) stores, xc30,
                   details_path, error);
  cli_progress_free (output.progress);
  g_object_unref (output.builder);
  return done && output.n_run > 0 && output.n_agree == output.n_run ? CLI_DONE : CLI_FAILED;
}
