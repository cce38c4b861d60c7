/* choice_options.c - the options of `hopcast aggregate TRACE`, and their checks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/aggregate/choice.h"

#include "cli/aggregate/aggregate.h"
#include "cli/command.h"
#include "study/plan/plan.h"
#include "topology/unit.h"

#include <math.h>
#include <string.h>

#define MAX_SLOWDOWN 1000 /* a share */

const char *const cli_basis_names[] = { "simulation", "bound", NULL };

void
cli_choice_options_clear (CliChoiceOptions *options)
{
  cli_machine_options_clear (&options->machine);
  cli_format_options_clear (&options->format);
  cli_trace_options_clear (&options->trace);
  g_free (options->ipc);
  g_free (options->samples);
  g_free (options->program);
  g_free (options->computation_name);
  g_free (options->task_memory);
  g_free (options->node_memory);
  g_free (options->slowdown);
  g_free (options->power_path);
  g_free (options->memory_traffic);
  g_free (options->network_name);
  g_free (options->hosts);
  g_free (options->memory_share_text);
  g_free (options->working_set_text);
  g_free (options->table);
  g_free (options->basis_name);
  g_free (options->sizes);
  g_free (options->prefix);
  g_free (options->report);
  g_free (options->rankfile);
  g_free (options->hostfile);
  g_free (options->slurm);
  g_clear_pointer (&options->ranks, g_array_unref);
}

void
cli_choice_add_options (GOptionContext *context, CliChoiceOptions *options)
{
  const GOptionEntry entries[] = {
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->machine.settings,
      "Change one number of the machine, e.g. node.compute=1.8Gflop/s; may be repeated",
      "GROUP.KEY=VALUE" },
    { "ipc", 0, 0, G_OPTION_ARG_FILENAME, &options->ipc,
      "Instructions per cycle of the program in each pattern: a table (program,pattern,ipc), or with "
      "--samples a model of aggregate train-ipc",
      "FILE" },
    { "samples", 0, 0, G_OPTION_ARG_FILENAME, &options->samples,
      "What was counted in the sample patterns that the model asks for", "TABLE.csv" },
    { "program", 0, 0, G_OPTION_ARG_STRING, &options->program,
      "The program of the table, when it has several", "NAME" },
    { "recorded-in", 0, 0, G_OPTION_ARG_INT, &options->recorded,
      "The pattern that the computation times of the trace are of (default: that of --reference, or 1)",
      "ID" },
    { "memory-share", 0, 0, G_OPTION_ARG_STRING, &options->memory_share_text,
      "Without counters: how much of a computation's time goes to memory, were there no shared cache, "
      "e.g. 30 % or 20..40 %; a model of the node does the rest (default: any that is known of programs)",
      "SHARE" },
    { "working-set", 0, 0, G_OPTION_ARG_STRING, &options->working_set_text,
      "For the model of the node: what all ranks together use again and again, e.g. 8GiB, 1GiB..8GiB or "
      "1GiB.. (default: any; more than any cache with --memory-share)",
      "SIZE" },
    { "computation", 0, 0, G_OPTION_ARG_STRING, &options->computation_name,
      "node (default without --ipc: the model of the node), ipc, or unchanged: computations take as "
      "long in every pattern, and none is recommended",
      "HOW" },
    { "reference", 0, 0, G_OPTION_ARG_INT, &options->reference,
      "The pattern that others are compared with (default: 1; the fastest when 1 does not fit)",
      "ID" },
    { "max-slowdown", 0, 0, G_OPTION_ARG_STRING, &options->slowdown,
      "By how much a pattern may be slower than the reference (default: 5 %)", "SHARE" },
    { "memory-per-task", 0, 0, G_OPTION_ARG_STRING, &options->task_memory,
      "What a task needs, e.g. 3GiB: excludes patterns that exceed the node", "SIZE" },
    { "node-memory", 0, 0, G_OPTION_ARG_STRING, &options->node_memory,
      "What tasks can have of a node (default: all its memory)", "SIZE" },
    { "part-filled", 0, 0, G_OPTION_ARG_NONE, &options->part_filled,
      "The last node may have fewer tasks than the others", NULL },
    { "power", 0, 0, G_OPTION_ARG_FILENAME, &options->power_path,
      "Also the energy in joules, by a key file of what nodes draw, or guess", "FILE" },
    { "memory-traffic", 0, 0, G_OPTION_ARG_STRING, &options->memory_traffic,
      "With --power: what all tasks together move to and from memory, e.g. 3TB", "SIZE" },
    { "network", 0, 0, G_OPTION_ARG_STRING, &options->network_name,
      "How communication is simulated: packet (default) or flow", "NETWORK" },
    { "no-simulate", 0, 0, G_OPTION_ARG_NONE, &options->no_simulate,
      "Only the bound; needs --table", NULL },
    { "table", 0, 0, G_OPTION_ARG_FILENAME, &options->table,
      "Also an upper bound of communication, by this table of aggregate table or hopcast-pingpong; "
      "filled by simulation when it is not there",
      "FILE" },
    { "by", 0, 0, G_OPTION_ARG_STRING, &options->basis_name,
      "Which communication decides: simulation (default) or bound", "WHAT" },
    { "ranks", 0, 0, G_OPTION_ARG_STRING, &options->sizes,
      "Strong scaling: one choice for each number of ranks, which takes the place of {ranks} in TRACE "
      "and SPEC",
      "N,N,..." },
    { "seed", 0, 0, G_OPTION_ARG_INT64, &options->seed,
      "Of what is random in the grouping of ranks (default: 0)", "N" },
    { "pattern", 0, 0, G_OPTION_ARG_INT, &options->pattern,
      "The pattern that files are written of (default: the one that is recommended)", "ID" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->prefix,
      "Write the chosen placement as PREFIX.rankfile, PREFIX.hostfile and PREFIX.slurm, as far as "
      "these can say it",
      "PREFIX" },
    { "rankfile", 0, 0, G_OPTION_ARG_FILENAME, &options->rankfile,
      "Write it for Open MPI's --rankfile", "FILE" },
    { "hostfile", 0, 0, G_OPTION_ARG_FILENAME, &options->hostfile, "Write it as a host file",
      "FILE" },
    { "slurm", 0, 0, G_OPTION_ARG_FILENAME, &options->slurm,
      "Write it for Slurm's arbitrary distribution", "FILE" },
    { "report", 0, 0, G_OPTION_ARG_FILENAME, &options->report,
      "Write a page with a bar for each pattern", "PAGE.html" },
    { "hosts", 0, 0, G_OPTION_ARG_FILENAME, &options->hosts,
      "The names of the nodes, one a line or as Slurm lists them", "FILE" },
    { NULL },
  };

  cli_add_machine_option (context, &options->machine);
  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_trace_options (context, &options->trace);
  cli_add_format_options (context, &options->format);
  cli_add_quiet_option (context, &options->talk);
}

/* --- Checks --- */

/* The number of a pattern; G_MININT: it was not given, and is `missing`. */
static gboolean
parse_pattern (const char *option, int number, uint32_t missing, uint32_t *pattern, GError **error)
{
  if (number != G_MININT && number < 1)
    return cli_refuse (error, "%s: %d, but patterns count from 1", option, number);
  *pattern = number != G_MININT ? (uint32_t) number : missing;
  return TRUE;
}

static gboolean
check_computation (CliChoiceOptions *options, GError **error)
{
  static const char *const names[] = { "unchanged", "ipc", "node", NULL };
  int how = options->ipc != NULL ? STUDY_COMPUTATION_IPC : STUDY_COMPUTATION_SHARING;

  if (options->ipc != NULL && options->memory_share_text != NULL &&
      options->computation_name == NULL)
    return cli_refuse (
        error,
        "--ipc and --memory-share are two models of computation; --computation ipc or node chooses one");
  if (options->computation_name != NULL &&
      (how = cli_parse_choice ("--computation", options->computation_name, names, error)) < 0)
    return FALSE;
  options->choice.computation = (StudyComputation) how;
  if (how == STUDY_COMPUTATION_IPC && options->ipc == NULL)
    return cli_refuse (error, "--computation ipc needs --ipc FILE");
  if (options->samples != NULL && options->ipc == NULL)
    return cli_refuse (error, "--samples needs --ipc MODEL.json");
  if (options->program != NULL && options->ipc == NULL)
    return cli_refuse (error, "--program needs --ipc FILE");
  if (how != STUDY_COMPUTATION_SHARING && options->ipc == NULL &&
      (options->memory_share_text != NULL || options->working_set_text != NULL))
    return cli_refuse (error,
                       "--computation unchanged has no use for --memory-share and --working-set");
  if (how == STUDY_COMPUTATION_IPC && options->working_set_text != NULL &&
      options->memory_share_text == NULL)
    return cli_refuse (error, "--working-set is for the model of the node, and --ipc replaces it");
  if (options->samples == NULL && options->ipc != NULL && g_str_has_suffix (options->ipc, ".json"))
    return cli_refuse (error, "--ipc %s: a model needs --samples TABLE.csv", options->ipc);

  options->choice.ipc = (StudyIpcSource){
    .model_path = options->samples != NULL ? options->ipc : NULL,
    .table_path = options->samples != NULL ? options->samples : options->ipc,
    .program = options->program,
  };
  options->choice.reference_is_given = options->reference != G_MININT;
  return parse_pattern ("--reference", options->reference, PREDICT_REFERENCE,
                        &options->choice.reference, error) &&
         parse_pattern ("--recorded-in", options->recorded, options->choice.reference,
                        &options->choice.recorded, error);
}

/* "5 %"; without text *share stays as it is. */
static gboolean
parse_share (const char *option, const char *text, double most, double *share, GError **error)
{
  TopoValue value = { .real = *share };
  g_autoptr (GError) cause = NULL;

  if (text != NULL && !topo_unit_parse (TOPO_UNIT_SHARE, text, &value, &cause))
    return cli_refuse (error, "%s: %s", option, cause->message);
  *share = value.real;
  return (*share >= 0 && *share <= most) ||
         cli_refuse (error, "%s: '%s' is not within 0..%g %%", option, text, 100 * most);
}

/* Splits "LOW..HIGH"; a text without ".." is both ends.  The caller frees them. */
static void
split_range (const char *text, char **low, char **high)
{
  const char *dots = strstr (text, "..");

  *low = g_strstrip (dots != NULL ? g_strndup (text, (gsize) (dots - text)) : g_strdup (text));
  *high = g_strstrip (g_strdup (dots != NULL ? dots + strlen ("..") : text));
}

/* What is known of the program's use of memory. */
static gboolean
parse_memory (CliChoiceOptions *options, GError **error)
{
  StudyMemoryUse *use = &options->choice.memory;
  g_autofree char *low = NULL, *high = NULL, *low_set = NULL, *high_set = NULL;

  *use = study_memory_unknown;
  if (options->memory_share_text != NULL) {
    split_range (options->memory_share_text, &low, &high);
    if (strchr (high, '%') != NULL && strchr (low, '%') == NULL && *low != '\0') {
      char *percent = g_strconcat (low, " %", NULL); /* "20..40 %" */

      g_free (low);
      low = percent;
    }
    if (!parse_share ("--memory-share", low, 1, &use->share_low, error) ||
        !parse_share ("--memory-share", high, 1, &use->share_high, error))
      return FALSE;
    use->share_middle = (use->share_low + use->share_high) / 2;
    use->set_low_bytes = INFINITY; /* as aggregate memory-share learns shares */
  }
  if (options->working_set_text != NULL) {
    uint64_t low_bytes = 0, high_bytes = 0;

    split_range (options->working_set_text, &low_set, &high_set);
    if (*low_set == '\0' && *high_set == '\0')
      return cli_refuse (error, "--working-set: '%s' is no size", options->working_set_text);
    if (!cli_aggregate_bytes ("--working-set", *low_set != '\0' ? low_set : NULL, &low_bytes,
                              error) ||
        !cli_aggregate_bytes ("--working-set", *high_set != '\0' ? high_set : NULL, &high_bytes,
                              error))
      return FALSE;
    use->set_low_bytes = (double) low_bytes;
    use->set_high_bytes = high_bytes > 0 ? (double) high_bytes : (double) INFINITY;
    use->set_middle_bytes = low_bytes > 0 && high_bytes > 0
                                ? sqrt (use->set_low_bytes * use->set_high_bytes)
                                : use->set_high_bytes;
  }
  if (use->share_low > use->share_high)
    return cli_refuse (error, "--memory-share: '%s' is no range from less to more",
                       options->memory_share_text);
  return use->set_low_bytes <= use->set_high_bytes ||
         cli_refuse (error, "--working-set: '%s' is no range from less to more",
                     options->working_set_text);
}

/* Shares, sizes and power. */
static gboolean
check_amounts (CliChoiceOptions *options, GError **error)
{
  StudyChoiceOptions *choice = &options->choice;
  uint64_t traffic;

  choice->max_slowdown = PREDICT_MAX_SLOWDOWN;
  if (!parse_share ("--max-slowdown", options->slowdown, MAX_SLOWDOWN, &choice->max_slowdown,
                    error) ||
      !parse_memory (options, error) ||
      !cli_aggregate_bytes ("--memory-per-task", options->task_memory, &choice->job.task_bytes,
                            error) ||
      !cli_aggregate_bytes ("--node-memory", options->node_memory, &choice->job.node_bytes,
                            error) ||
      !cli_aggregate_bytes ("--memory-traffic", options->memory_traffic, &traffic, error))
    return FALSE;
  choice->memory_bytes = (double) traffic;
  if (options->power_path == NULL)
    return options->memory_traffic == NULL ||
           cli_refuse (error, "--memory-traffic needs --power FILE");
  options->power_is_guess = !strcmp (options->power_path, "guess");
  options->power = study_power_guess;
  choice->power = &options->power;
  return options->power_is_guess || study_power_read (options->power_path, &options->power, error);
}

static gboolean
parse_ranks (CliChoiceOptions *options, const char *trace, GError **error)
{
  g_auto (GStrv) words = options->sizes != NULL ? g_strsplit (options->sizes, ",", -1) : NULL;
  gboolean has_place = strstr (trace, "{ranks}") != NULL;

  if (words == NULL)
    return !has_place || cli_refuse (error, "%s: {ranks} needs --ranks N,N,...", trace);
  if (!has_place)
    return cli_refuse (error, "--ranks: '%s' has no {ranks} to replace", trace);
  options->ranks = g_array_new (FALSE, FALSE, sizeof (guint));
  for (char **word = words; *word != NULL; word++) {
    guint64 n;
    guint size;

    if (!g_ascii_string_to_unsigned (g_strstrip (*word), 10, 1, G_MAXINT32, &n, NULL))
      return cli_refuse (error, "--ranks: '%s' is not a list of numbers such as 16,32",
                         options->sizes);
    size = (guint) n;
    g_array_append_val (options->ranks, size);
  }
  return TRUE;
}

gboolean
cli_choice_check (CliChoiceOptions *options, const char *trace, GError **error)
{
  /* "load" is missing, since it has no times. */
  static const char *const networks[] = { "packet", "flow", NULL };
  StudyChoiceOptions *choice = &options->choice;
  gboolean has_pattern = options->pattern != G_MININT;
  gboolean has_files = options->prefix != NULL || options->rankfile != NULL ||
                       options->hostfile != NULL || options->slurm != NULL;
  int basis = options->no_simulate ? STUDY_BASIS_BOUND : STUDY_BASIS_SIMULATION, network = 0;

  if (options->network_name != NULL &&
      (network = cli_parse_choice ("--network", options->network_name, networks, error)) < 0)
    return FALSE;
  choice->network = (SimNetworkKind) network;
  if (options->seed < 0)
    return cli_refuse (error, "--seed: must not be negative");
  choice->seed = (uint64_t) options->seed;
  choice->simulates = !options->no_simulate;
  choice->job.part_filled = options->part_filled;
  if (!cli_parse_format (&options->format, error))
    return FALSE;

  /* The basis. */
  if (options->no_simulate && options->table == NULL)
    return cli_refuse (error, "--no-simulate needs --table FILE");
  if (options->basis_name != NULL &&
      (basis = cli_parse_choice ("--by", options->basis_name, cli_basis_names, error)) < 0)
    return FALSE;
  if (basis == STUDY_BASIS_BOUND && options->table == NULL)
    return cli_refuse (error, "--by bound needs --table FILE");
  if (basis == STUDY_BASIS_SIMULATION && options->no_simulate)
    return cli_refuse (error, "--by simulation and --no-simulate exclude each other");
  choice->basis = (StudyBasis) basis;

  if (!check_computation (options, error) || !check_amounts (options, error) ||
      !parse_ranks (options, trace, error))
    return FALSE;

  /* Files of a placement: of the recommended pattern, or of that of --pattern. */
  if (options->ranks != NULL && options->ranks->len > 1 && has_files)
    return cli_refuse (error, "files of a placement need a single number of --ranks");
  if (!parse_pattern ("--pattern", options->pattern, 0, &choice->placed, error))
    return FALSE;
  if (has_pattern && !has_files)
    return cli_refuse (error, "--pattern needs -o, --rankfile, --hostfile or --slurm");
  if (has_files && !has_pattern && choice->computation == STUDY_COMPUTATION_UNCHANGED)
    return cli_refuse (
        error,
        "no pattern is recommended with --computation unchanged; --pattern ID chooses one for the files");
  return TRUE;
}
