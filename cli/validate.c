/* validate.c - `hopcast validate`: what was published, and what we simulate.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/options.h"
#include "validation/bgq.h"

#include <math.h>

/* Where the results go, and what came of them. */
typedef struct {
  CliFormat format;
  JsonBuilder *builder; /* JSON only */
  guint n, n_agree;
} Output;

static void
add_bound (JsonBuilder *builder, const char *name, double bound)
{
  cli_add_number (builder, name, isinf (bound) ? (double) NAN : bound);
}

static void
add_json (JsonBuilder *builder, const ValidationResult *result)
{
  const ValidationPublished *published = result->published;

  json_builder_begin_object (builder);
  cli_add_string (builder, "name", published->name);
  cli_add_number (builder, "simulated", result->simulated);
  cli_add_string (builder, "unit", published->unit);
  add_bound (builder, "published_low", published->low);
  add_bound (builder, "published_high", published->high);
  cli_add_number (builder, "tolerance", published->tolerance);
  cli_add_number (builder, "deviation", validation_deviation (published, result->simulated));
  cli_add_string (builder, "verdict", result->agrees ? "agrees" : "differs");
  cli_add_string (builder, "role", published->role);
  cli_add_string (builder, "source", published->source);
  cli_add_string (builder, "conditions", published->conditions);
  json_builder_end_object (builder);
}

static void
print_csv (const ValidationResult *result)
{
  const ValidationPublished *published = result->published;
  double numbers[] = { published->low, published->high, published->tolerance,
                       validation_deviation (published, result->simulated) };
  char text[CLI_NUMBER_SIZE];

  printf ("%s,%s,%s", published->name, cli_number (text, result->simulated), published->unit);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    printf (",%s", isinf (numbers[i]) ? "" : cli_number (text, numbers[i]));
  printf (",%s,%s,", result->agrees ? "agrees" : "differs", published->role);
  cli_csv_field (stdout, published->source);
  putchar (',');
  cli_csv_field (stdout, published->conditions);
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

  printf ("%-26s %9.4g %-5s  %-15s %+7.1f%%  %-7s  %-10s  %s\n", published->name, result->simulated,
          published->unit, text, 100 * validation_deviation (published, result->simulated),
          result->agrees ? "agrees" : "DIFFERS", published->role, published->source);
}

static void
print_headings (CliFormat format)
{
  g_autofree char *heading = NULL;

  if (format == CLI_FORMAT_CSV)
    puts (
        "name,simulated,unit,published_low,published_high,tolerance,deviation,verdict,role,source,"
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

static gboolean
run_suite (Output *output, const char *const *only, GError **error)
{
  output->builder = json_builder_new ();
  json_builder_begin_object (output->builder);
  cli_add_string (output->builder, "suite", "bgq");
  json_builder_set_member_name (output->builder, "results");
  json_builder_begin_array (output->builder);
  if (!validation_bgq_run (only, report, output, error))
    return FALSE;
  json_builder_end_array (output->builder);
  json_builder_end_object (output->builder);
  if (output->format == CLI_FORMAT_JSON)
    print_json (output->builder);
  if (output->format == CLI_FORMAT_TABLE)
    printf ("%u of %u agree\n", output->n_agree, output->n);
  return TRUE;
}

/* The suite may be left out: there is one so far. */
static gboolean
parse (GOptionContext *context, int argc, char **argv, GError **error)
{
  static const char *const suites[] = { "bgq", NULL };

  if (!g_option_context_parse (context, &argc, &argv, error))
    return FALSE;
  if (argc > 2) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "one argument too many: '%s'", argv[2]);
    return FALSE;
  }
  return argc < 2 || cli_parse_choice ("SUITE", argv[1], suites, error) >= 0;
}

int
cli_validate (int argc, char **argv, GError **error)
{
  g_autoptr (GOptionContext) context = cli_context_new (
      "[bgq]", "Repeats published measurements in simulation and compares: bgq, those of Blue "
               "Gene/Q. Exit status 1 when one differs.");
  g_auto (CliFormatOptions) format = { 0 };
  g_auto (GStrv) only = NULL;
  const GOptionEntry entries[] = {
    { "only", 0, 0, G_OPTION_ARG_STRING_ARRAY, &only,
      "Only the figure of this name; may be given several times", "NAME" },
    { NULL },
  };
  Output output = { 0 };
  gboolean done;

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_format_options (context, &format);
  if (!parse (context, argc, argv, error) || !cli_parse_format (&format, error))
    return CLI_FAILED;
  output.format = format.format;
  done = run_suite (&output, (const char *const *) only, error);
  g_object_unref (output.builder);
  if (error != NULL && g_error_matches (*error, VALIDATION_ERROR, VALIDATION_ERROR_NAME)) {
    (*error)->domain = CLI_ERROR;
    (*error)->code = CLI_ERROR_USAGE;
    g_prefix_error (error, "--only: ");
  }
  return done && output.n_agree == output.n ? CLI_DONE : CLI_FAILED;
}
