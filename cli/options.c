/* options.c - the options that several commands share, each defined once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include "base/csv.h"
#include "cli/command.h"
#include "base/text_file.h"
#include "sim/net/network.h"
#include "study/study_error.h"
#include "study/inputs.h"
#include "traces/patterns/pattern.h"

#include <string.h>

/* As many as a pattern may have. */
#define MAX_TRACE_RANKS (1 << 24)

GOptionContext *
cli_context_new (const char *arguments, const char *description)
{
  GOptionContext *context = g_option_context_new (arguments);

  g_option_context_set_summary (context, description);
  return context;
}

static gboolean
take_csv_safe (const char *name G_GNUC_UNUSED, const char *value G_GNUC_UNUSED,
               gpointer data G_GNUC_UNUSED, GError **error G_GNUC_UNUSED)
{
  base_csv_make_safe ();
  return TRUE;
}

void
cli_add_csv_option (GOptionContext *context)
{
  const GOptionEntry entries[] = {
    { "csv-safe", 0, G_OPTION_FLAG_NO_ARG, G_OPTION_ARG_CALLBACK,
      __extension__(gpointer) take_csv_safe,
      "In CSV, put ' before names that a spreadsheet would take for formulas", NULL },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
}

void
cli_add_format_options (GOptionContext *context, CliFormatOptions *options)
{
  const GOptionEntry entries[] = {
    { "format", 0, 0, G_OPTION_ARG_STRING, &options->format_name,
      "How to print: table (default), csv or json", "FORMAT" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_csv_option (context);
}

void
cli_add_machine_option (GOptionContext *context, CliMachineOptions *options)
{
  const GOptionEntry entries[] = {
    { "machine", 0, 0, G_OPTION_ARG_STRING, &options->spec,
      "The machine: bgq:512, torus:8x8x8m, systemg:16, fattree:18x18:9, fabric:FILE ... or a "
      "machine file",
      "SPEC" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
}

void
cli_add_machine_detail_options (GOptionContext *context, CliMachineOptions *options)
{
  const GOptionEntry entries[] = {
    { "ranks-per-node", 0, 0, G_OPTION_ARG_INT, &options->ranks_per_node,
      "Slots for ranks on each node: on a torus 1 to 64, on a fabric to the node's cores (default: what the "
      "machine says, else 1)",
      "N" },
    { "cores", 0, 0, G_OPTION_ARG_STRING, &options->cores,
      "Which cores the slots of a fabric's nodes are: 0,2,4-7 in the order of the slots, compact "
      "(default), scatter or os",
      "LIST" },
    { "pattern", 0, 0, G_OPTION_ARG_INT, &options->pattern,
      "Slots and cores of an aggregation pattern of the fabric's nodes: 'hopcast aggregate "
      "patterns --machine SPEC' lists them",
      "K" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->settings,
      "Change one number of the machine, e.g. link.hop_latency=50ns; may be repeated",
      "GROUP.KEY=VALUE" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
}

void
cli_add_mapping_option (GOptionContext *context, char **mapping)
{
  const GOptionEntry entries[] = {
    { "mapping", 0, 0, G_OPTION_ARG_FILENAME, mapping,
      "Where the ranks are: an order of dimensions, such as ABCDET on Blue Gene/Q and AT on a "
      "fabric (the defaults, also by the word default), a recipe, such as hilbert, or a map file or "
      "that of a launcher",
      "M" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
}

static gboolean
unpack_all (G_GNUC_UNUSED const char *option, G_GNUC_UNUSED const char *value,
            G_GNUC_UNUSED gpointer data, G_GNUC_UNUSED GError **error)
{
  base_text_unpack_all ();
  trace_unpack_all ();
  return TRUE;
}

void
cli_add_unpack_option (GOptionContext *context)
{
  const GOptionEntry entries[] = {
    { "unpack-all", 0, G_OPTION_FLAG_NO_ARG, G_OPTION_ARG_CALLBACK,
      __extension__(gpointer) unpack_all,
      "Read gzip files also when they unpack to more than 100 times their size", NULL },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
}

void
cli_add_trace_options (GOptionContext *context, CliTraceOptions *options)
{
  const GOptionEntry entries[] = {
    { "trace-ranks", 0, 0, G_OPTION_ARG_INT, &options->n_ranks,
      "Ranks of a trace that does not say how many it has", "N" },
    { "from-region", 0, 0, G_OPTION_ARG_STRING, &options->from_region,
      "Only what the program did inside this user region (OTF2)", "NAME" },
    { "allow-lossy", 0, 0, G_OPTION_ARG_NONE, &options->allow_lossy,
      "Guess what the source of the trace lost, with a warning, instead of failing", NULL },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_unpack_option (context);
}

void
cli_add_quiet_option (GOptionContext *context, CliTalkOptions *options)
{
  const GOptionEntry entries[] = {
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &options->quiet, "No progress, no warnings", NULL },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
}

void
cli_add_talk_options (GOptionContext *context, CliTalkOptions *options)
{
  const GOptionEntry entries[] = {
    { "verbose", 'v', 0, G_OPTION_ARG_NONE, &options->verbose, "Say more on standard error", NULL },
    { NULL },
  };

  cli_add_quiet_option (context, options);
  g_option_context_add_main_entries (context, entries, NULL);
}

gboolean
cli_parse_format (CliFormatOptions *options, GError **error)
{
  static const char *const names[] = { "table", "csv", "json", NULL };
  int choice = cli_parse_choice ("--format", options->format_name, names, error);

  options->format = (CliFormat) MAX (choice, 0);
  return choice >= 0;
}

/* Returns `made`; when it is NULL, turns an *error STUDY_ERROR_OPTION into CLI_ERROR_USAGE. */
static gpointer
usage_of (gpointer made, GError **error)
{
  if (made == NULL && g_error_matches (*error, STUDY_ERROR, STUDY_ERROR_OPTION))
    cli_blame_usage (*error);
  return made;
}

TopoMachine *
cli_machine_new (const CliMachineOptions *options, GError **error)
{
  const StudyMachineInputs inputs = { options->spec, options->ranks_per_node, options->cores,
                                      options->pattern, (const char *const *) options->settings };

  if (!options->spec) {
    cli_refuse (error, "--machine SPEC is missing");
    return NULL;
  }
  return usage_of (study_machine_new (&inputs, error), error);
}

void
cli_machine_blame (const CliMachineOptions *options, GError *error)
{
  if (options->settings != NULL && g_error_matches (error, SIM_ERROR, SIM_ERROR_NETWORK))
    cli_blame_usage (error);
}

TopoMapping *
cli_mapping_new (const char *text, TopoMachine *machine, uint32_t n_ranks, GError **error)
{
  return usage_of (study_mapping_new (text, machine, n_ranks, error), error);
}

Trace *
cli_trace_open (const char *path, const CliTraceOptions *options, GError **error)
{
  const TraceOptions trace_options = { .n_ranks = (uint32_t) options->n_ranks,
                                       .from_region = options->from_region,
                                       .allow_lossy = options->allow_lossy };
  Trace *trace;

  if (!cli_check_number ("--trace-ranks", options->n_ranks, 0, MAX_TRACE_RANKS, error))
    return NULL;
  trace = trace_open (path, &trace_options, error);
  /* A pattern is wrong by its text alone. */
  if (trace == NULL && trace_pattern_is_spec (path))
    cli_blame_usage (*error);
  return trace;
}

void
cli_trace_options_clear (CliTraceOptions *options)
{
  g_free (options->from_region);
  *options = (CliTraceOptions){ 0 };
}

void
cli_format_options_clear (CliFormatOptions *options)
{
  g_clear_pointer (&options->format_name, g_free);
}

void
cli_machine_options_clear (CliMachineOptions *options)
{
  g_clear_pointer (&options->spec, g_free);
  g_clear_pointer (&options->cores, g_free);
  g_clear_pointer (&options->settings, g_strfreev);
}
