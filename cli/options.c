/* options.c - the options that several commands share, each defined once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/options.h"

#include "cli/command.h"

#include <string.h>

/* As many as a pattern may have. */
#define MAX_TRACE_RANKS (1 << 24)

GQuark
cli_error_quark (void)
{
  return g_quark_from_static_string ("hopcast-cli-error");
}

GOptionContext *
cli_context_new (const char *arguments, const char *description)
{
  GOptionContext *context = g_option_context_new (arguments);

  g_option_context_set_summary (context, description);
  return context;
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
      "Slots for ranks on each node, 1 to 64 (default: what the machine says, else 1)", "N" },
    { "cores", 0, 0, G_OPTION_ARG_STRING, &options->cores,
      "Which cores the slots of a fabric's nodes are: 0,2,4-7 in the order of the slots, compact "
      "(default), scatter or os",
      "LIST" },
    { "pattern", 0, 0, G_OPTION_ARG_INT, &options->pattern,
      "Slots and cores of an aggregation pattern, 1 to 8: one core; one of each package; one of "
      "each die of a package; one die; one core of each die; one die of each package; one package; "
      "all",
      "K" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->settings,
      "Change one number of the machine, e.g. link.hop_latency=50ns; may be repeated",
      "GROUP.KEY=VALUE" },
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
cli_parse (GOptionContext *context, int argc, char **argv, const char *const *names,
           const char **values, GError **error)
{
  int next = 1;

  if (!g_option_context_parse (context, &argc, &argv, error))
    return FALSE;
  if (next < argc && !strcmp (argv[next], "--"))
    next++;
  for (; *names; names++, values++, next++) {
    if (next >= argc) {
      g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "%s is missing", *names);
      return FALSE;
    }
    *values = argv[next];
  }
  if (next < argc) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "one argument too many: '%s'", argv[next]);
    return FALSE;
  }
  return TRUE;
}

int
cli_parse_choice (const char *option, const char *text, const char *const *choices, GError **error)
{
  g_autofree char *list = NULL;

  for (int i = 0; choices[i]; i++)
    if (!strcmp (text, choices[i]))
      return i;
  list = g_strjoinv (", ", (char **) choices);
  g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "%s: '%s' is none of %s", option, text, list);
  return -1;
}

gboolean
cli_parse_format (CliFormatOptions *options, GError **error)
{
  static const char *const names[] = { "table", "csv", "json", NULL };
  int choice;

  if (!options->format_name)
    return TRUE;
  choice = cli_parse_choice ("--format", options->format_name, names, error);
  if (choice >= 0)
    options->format = (CliFormat) choice;
  return choice >= 0;
}

static gboolean
apply_setting (TopoMachine *machine, const char *setting, GError **error)
{
  const char *equals = strchr (setting, '=');
  g_autofree char *key = NULL;

  if (!equals || equals == setting || !memchr (setting, '.', (gsize) (equals - setting))) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE,
                 "--set: '%s' is not of the form GROUP.KEY=VALUE", setting);
    return FALSE;
  }
  key = g_strndup (setting, (gsize) (equals - setting));
  if (!topo_parameters_set (&machine->parameters, key, equals + 1, error)) {
    g_prefix_error (error, "--set %s: ", setting);
    return FALSE;
  }
  return TRUE;
}

/* The order of the cores before how many of them there are. */
static gboolean
apply_slots (TopoMachine *machine, const CliMachineOptions *options, GError **error)
{
  if (options->cores && !topo_machine_set_cores (machine, options->cores, error)) {
    g_prefix_error (error, "--cores %s: ", options->cores);
    return FALSE;
  }
  if (options->pattern != G_MININT &&
      !topo_machine_set_pattern (machine, (uint32_t) options->pattern, error)) {
    g_prefix_error (error, "--pattern: ");
    return FALSE;
  }
  if (options->ranks_per_node != G_MININT &&
      !topo_machine_set_ranks_per_node (machine, (uint32_t) options->ranks_per_node, error)) {
    g_prefix_error (error, "--ranks-per-node: ");
    return FALSE;
  }
  return TRUE;
}

/* What the command line says alone, whatever the machine. */
static gboolean
check_slots (const CliMachineOptions *options, GError **error)
{
  if (options->ranks_per_node != G_MININT &&
      (options->ranks_per_node < 1 || options->ranks_per_node > TOPO_MAX_RANKS_PER_NODE)) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--ranks-per-node: %d is not within 1..%d",
                 options->ranks_per_node, TOPO_MAX_RANKS_PER_NODE);
    return FALSE;
  }
  if (options->pattern == G_MININT)
    return TRUE;
  if (options->pattern < 1 || options->pattern > 8) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--pattern: %d is not within 1..8",
                 options->pattern);
    return FALSE;
  }
  if (options->cores || options->ranks_per_node != G_MININT) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE,
                 "--pattern says the slots and cores; it does not go with --cores or "
                 "--ranks-per-node");
    return FALSE;
  }
  return TRUE;
}

TopoMachine *
cli_machine_new (const CliMachineOptions *options, GError **error)
{
  g_autoptr (TopoMachine) machine = NULL;

  if (!options->spec) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--machine SPEC is missing");
    return NULL;
  }
  if (!check_slots (options, error))
    return NULL;
  machine = topo_machine_new (options->spec, error);
  if (!machine)
    return NULL;
  if (!apply_slots (machine, options, error))
    return NULL;
  for (char **setting = options->settings; setting && *setting; setting++)
    if (!apply_setting (machine, *setting, error))
      return NULL;
  return g_steal_pointer (&machine);
}

TopoMapping *
cli_mapping_new (const char *text, TopoMachine *machine, uint32_t n_ranks, GError **error)
{
  if (text && machine->node && topo_mapping_is_rankfile (text) &&
      !topo_machine_set_ranks_per_node (machine, machine->node->n_cores, error))
    return NULL;
  return topo_mapping_new (text, machine, n_ranks, error);
}

Trace *
cli_trace_open (const char *path, const CliTraceOptions *options, GError **error)
{
  const TraceOptions trace_options = { .n_ranks = (uint32_t) options->n_ranks,
                                       .from_region = options->from_region,
                                       .allow_lossy = options->allow_lossy };

  if (options->n_ranks < 0 || options->n_ranks > MAX_TRACE_RANKS) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--trace-ranks: %d is not within 0..%d",
                 options->n_ranks, MAX_TRACE_RANKS);
    return NULL;
  }
  return trace_open (path, &trace_options, error);
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
