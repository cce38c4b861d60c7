/* optimize_options.c - the options of `hopcast map optimize`.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/map/optimize_options.h"

#include "cli/command.h"
#include "study/plan/plan.h"

#include <math.h>
#include <string.h>

#define MAX_BUDGET_S 1e9
#define MAX_BUDGET_N 1e6
#define MAX_THREADS  1024

const char *const cli_objective_names[] = { "hop-bytes", "max-bytes", "both", NULL };

void
cli_optimize_options_clear (CliOptimizeOptions *options)
{
  cli_map_options_clear (&options->map);
  cli_trace_options_clear (&options->trace);
  g_free (options->budget);
  g_free (options->network_name);
  g_free (options->routing_name);
  g_free (options->objective_name);
  g_strfreev (options->starts);
}

void
cli_add_optimize_options (GOptionContext *context, CliOptimizeOptions *options)
{
  const GOptionEntry entries[] = {
    { "budget", 0, 0, G_OPTION_ARG_STRING, &options->budget,
      "How long to search: seconds (20s), or so many rounds of search and simulated runs (200)",
      "20s|200" },
    { "objective", 0, 0, G_OPTION_ARG_STRING, &options->objective_name,
      "What mappings are compared by before they are simulated: hop-bytes (the default for a "
      "matrix), max-bytes (of the busiest link) or both (the default for a trace)",
      "WHAT" },
    { "network", 0, 0, G_OPTION_ARG_STRING, &options->network_name,
      "Network that decides: packet (the default for a trace), flow, or load, which simulates "
      "nothing",
      "NETWORK" },
    { "routing", 0, 0, G_OPTION_ARG_STRING, &options->routing_name,
      "Routing of the simulated runs, as in simulate", "ROUTING" },
    { "start", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options->starts,
      "A mapping to start from besides the default; may be given several times", "M" },
    { "compute-scale", 0, 0, G_OPTION_ARG_DOUBLE, &options->compute_scale,
      "Multiply the recorded computation by X (default: 1)", "X" },
    { "seed", 0, 0, G_OPTION_ARG_INT64, &options->seed, "Of all that is random (default: 0)", "N" },
    { "threads", 0, 0, G_OPTION_ARG_INT, &options->threads,
      "Searches or simulated runs side by side (default: 1)", "N" },
    { NULL },
  };

  cli_map_add_ranks_option (context, &options->map);
  cli_map_add_output_option (context, &options->map);
  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_trace_options (context, &options->trace);
  cli_add_format_options (context, &options->map.format);
  cli_add_quiet_option (context, &options->talk);
}

/* "20s", "1.5s" or "200". */
static gboolean
parse_budget (CliOptimizeOptions *options, GError **error)
{
  const char *text = options->budget;
  char *end;
  double value;

  if (!text)
    return cli_refuse (error,
                       "--budget is missing: seconds (20s) or a number of evaluations (200)");
  value = g_ascii_strtod (text, &end);
  if (end != text && !strcmp (end, "s") && value > 0 && value <= MAX_BUDGET_S)
    options->budget_us = (int64_t) ceil (value * 1e6);
  else if (end != text && *end == '\0' && value >= 1 && value <= MAX_BUDGET_N &&
           value == floor (value))
    options->budget_n = (guint) value;
  else
    return cli_refuse (
        error, "--budget: '%s' is neither seconds, such as 20s, nor a number of at least 1", text);
  return TRUE;
}

/* -1 and *error when it is none of the names. */
static int
parse_named (const char *option, const char *text, const char *const *names, int default_value,
             GError **error)
{
  return text ? cli_parse_choice (option, text, names, error) : default_value;
}

static gboolean
parse_names (CliOptimizeOptions *options, GError **error)
{
  options->network = parse_named ("--network", options->network_name, study_network_names,
                                  SIM_NETWORK_PACKET, error);
  if (options->network < 0)
    return FALSE;
  options->routing =
      parse_named ("--routing", options->routing_name, study_routing_names, 0, error);
  if (options->routing < 0)
    return FALSE;
  options->objective = parse_named ("--objective", options->objective_name, cli_objective_names,
                                    STUDY_OBJECTIVE_HOP_BYTES, error);
  return options->objective >= 0;
}

gboolean
cli_check_optimize_options (CliOptimizeOptions *options, GError **error)
{
  if (!cli_parse_format (&options->map.format, error) ||
      !cli_map_check_ranks (&options->map, FALSE, error) || !parse_budget (options, error))
    return FALSE;
  if (options->threads < 1 || options->threads > MAX_THREADS)
    return cli_refuse (error, "--threads: %d is not within 1..%d", options->threads, MAX_THREADS);
  if (options->seed < 0)
    return cli_refuse (error, "--seed: must not be negative");
  if (!(options->compute_scale >= 0) || !isfinite (options->compute_scale))
    return cli_refuse (error, "--compute-scale: not a number of at least 0");
  if (!parse_names (options, error))
    return FALSE;
  return options->map.output != NULL || cli_refuse (error, "--output FILE is missing");
}

StudyObjective
cli_optimize_objective (const CliOptimizeOptions *options, gboolean is_trace)
{
  if (options->objective_name == NULL && is_trace)
    return STUDY_OBJECTIVE_BOTH;
  return (StudyObjective) options->objective;
}
