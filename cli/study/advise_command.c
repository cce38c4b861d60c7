/* advise_command.c - `hopcast advise`: from a recorded trace to the line to launch with.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"
#include "cli/command.h"
#include "cli/map/map_options.h"
#include "cli/options.h"
#include "cli/print/columns.h"
#include "cli/print/outfile.h"
#include "cli/print/progress.h"
#include "cli/print/terminal.h"
#include "study/advise/advise.h"
#include "study/aggregate/pattern_choice.h"
#include "study/report/report.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* --- Options --- */

#define LEAST_RUNS  10u
#define SIGNAL_EXIT 128
#define REPORT_TOP  12u

typedef struct {
  CliMapOptions map; /* the machine, the format, the output and the names of nodes */
  CliTraceOptions trace;
  CliTalkOptions talk;
  char *budget, *network_name, *routing_name, *kind, *store, *report;
  double compute_scale, least_gain;
  gint64 seed;
  int threads;

  /* After check_options(). */
  const TopoLauncher *launcher; /* NULL: that of the machine */
  StudyAdviceOptions advice;
} Options;

static void
options_clear (Options *options)
{
  cli_map_options_clear (&options->map);
  cli_trace_options_clear (&options->trace);
  g_free (options->budget);
  g_free (options->network_name);
  g_free (options->routing_name);
  g_free (options->kind);
  g_free (options->store);
  g_free (options->report);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_options (GOptionContext *context, Options *options)
{
  const GOptionEntry entries[] = {
    { "budget", 0, 0, G_OPTION_ARG_STRING, &options->budget,
      "How long to search and simulate: seconds (default: 60s), or so many exact runs of the race (200)",
      "60s|200" },
    { "min-gain", 0, 0, G_OPTION_ARG_DOUBLE, &options->least_gain,
      "The share of time that makes a change worth it (default: 0.01)", "X" },
    { "network", 0, 0, G_OPTION_ARG_STRING, &options->network_name,
      "Network of the exact runs: packet (default) or flow", "NETWORK" },
    { "routing", 0, 0, G_OPTION_ARG_STRING, &options->routing_name,
      "Routing of the runs, as in simulate", "ROUTING" },
    { "compute-scale", 0, 0, G_OPTION_ARG_DOUBLE, &options->compute_scale,
      "Multiply the recorded computation by X (default: 1)", "X" },
    { "seed", 0, 0, G_OPTION_ARG_INT64, &options->seed, "Of all that is random (default: 0)", "N" },
    { "threads", 0, 0, G_OPTION_ARG_INT, &options->threads,
      "Runs that are made at a time (default: one per core)", "N" },
    { "store", 0, 0, G_OPTION_ARG_FILENAME, &options->store,
      "Where the runs are kept, so that the same command goes on from there (default: nowhere)",
      "FILE" },
    { "to", 0, 0, G_OPTION_ARG_STRING, &options->kind,
      "The launcher: see the kinds below (default: map on a torus, rankfile on a cluster)",
      "KIND" },
    { "report", 0, 0, G_OPTION_ARG_FILENAME, &options->report,
      "Write a page with the advice and its runs", "PAGE.html" },
    { NULL },
  };

  cli_add_machine_option (context, &options->map.machine);
  cli_add_machine_detail_options (context, &options->map.machine);
  cli_map_add_output_option (context, &options->map);
  cli_map_add_hosts_option (context, &options->map);
  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_trace_options (context, &options->trace);
  cli_add_format_options (context, &options->map.format);
  cli_add_quiet_option (context, &options->talk);
}

static gboolean
check_options (Options *options, GError **error)
{
  static const char *const networks[] = { "packet", "flow", NULL };
  const CliMachineOptions *machine = &options->map.machine;
  StudyAdviceOptions *advice = &options->advice;
  int network, routing;

  if (!cli_parse_format (&options->map.format, error) ||
      !cli_parse_budget (options->budget != NULL ? options->budget : "60s", LEAST_RUNS,
                         &advice->budget_us, &advice->n_runs, error) ||
      !cli_check_number ("--threads", options->threads, 0, CLI_MAX_THREADS, error) ||
      (network = cli_parse_choice ("--network", options->network_name, networks, error)) < 0 ||
      (routing =
           cli_parse_choice ("--routing", options->routing_name, study_routing_names, error)) < 0)
    return FALSE;
  if (options->seed < 0)
    return cli_refuse (error, "--seed: must not be negative");
  if (!(options->compute_scale >= 0) || !isfinite (options->compute_scale))
    return cli_refuse (error, "--compute-scale: not a number of at least 0");
  if (!(options->least_gain >= 0) || !isfinite (options->least_gain))
    return cli_refuse (error, "--min-gain: not a number of at least 0");
  if (options->kind != NULL &&
      (options->launcher = cli_map_parse_kind (options->kind, error)) == NULL)
    return FALSE;
  advice->trace_options = (TraceOptions){ .n_ranks = (uint32_t) options->trace.n_ranks,
                                          .from_region = options->trace.from_region,
                                          .allow_lossy = options->trace.allow_lossy };
  advice->machine =
      (StudyMachineInputs){ machine->spec, machine->ranks_per_node, machine->cores,
                            machine->pattern, (const char *const *) machine->settings };
  advice->network = network == 0 ? SIM_NETWORK_PACKET : SIM_NETWORK_FLOW;
  advice->policy = (RoutePolicy) routing;
  advice->compute_scale = options->compute_scale;
  advice->seed = (uint64_t) options->seed;
  advice->n_workers = (guint) options->threads;
  advice->least_gain = options->least_gain;
  advice->keep_details = options->report != NULL;
  return TRUE;
}

/* Whether trace and machine are there, before anything is searched for; their errors are those of the
 * command line where they are. */
static gboolean
check_inputs (const char *path, const Options *options, GError **error)
{
  g_autoptr (Trace) trace = cli_trace_open (path, &options->trace, error);
  g_autoptr (TopoMachine) machine =
      trace != NULL ? cli_map_machine_new (&options->map, error) : NULL;

  if (machine == NULL)
    return FALSE;
  return machine->fabric == NULL || options->advice.policy < ROUTE_POLICY_ZONE0 ||
         cli_refuse (error, "--routing %s: zones are for tori; %s is a switched fabric",
                     options->routing_name, machine->spec);
}

/* --- The advice in words --- */

static const StudyRival *
advised (const StudyAdvice *advice)
{
  return advice->verdict == STUDY_ADVICE_CHANGE ? advice->best : advice->plain;
}

static const TopoMachine *
machine_of (const StudyAdvice *advice, const StudyRival *rival)
{
  return ((const StudyVariant *) g_ptr_array_index (advice->rivals->variants, rival->variant))
      ->machine;
}

/* "scotch with 2 ranks per node on 32 nodes". */
static char *
describe (const StudyRival *rival)
{
  g_autofree char *ranks = base_count (rival->ranks_per_node, "rank");
  g_autofree char *nodes = base_count (rival->nodes, "node");

  return g_strdup_printf ("%s with %s per node on %s", rival->name, ranks, nodes);
}

/* "95 % interval 1.0 to 5.2 %; faster in 6 of 6 pairs of runs on perturbed machines". */
static char *
describe_interval (const StudyGain *gain)
{
  return g_strdup_printf ("95 %% interval %.1f to %.1f %%; faster in %u of %u pairs of runs on "
                          "perturbed machines",
                          100 * gain->low, 100 * gain->high, gain->n_faster, gain->n_pairs);
}

static void add_line (GPtrArray *lines, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
add_line (GPtrArray *lines, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_ptr_array_add (lines, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

static void
add_recommendation (GPtrArray *lines, const StudyAdvice *advice, double least_gain)
{
  g_autofree char *plain = describe (advice->plain);
  g_autofree char *best = advice->best != NULL ? describe (advice->best) : NULL;
  g_autofree char *interval = describe_interval (&advice->gain);
  double percent = 100 * advice->gain.mean;

  switch (advice->verdict) {
  case STUDY_ADVICE_CHANGE:
    add_line (lines, "Launch with %s.", best);
    add_line (lines, "It is %.1f %% faster than the default, %s (%s).", percent, plain, interval);
    return;
  case STUDY_ADVICE_UNKNOWN:
    add_line (
        lines,
        "No advice: the budget did not suffice for three pairs of runs of the default, %s, and "
        "another placement.",
        plain);
    return;
  case STUDY_ADVICE_SMALL:
  case STUDY_ADVICE_NOISE:
  case STUDY_ADVICE_NOTHING: break;
  }
  add_line (lines, "No placement is worth changing: keep the default, %s.", plain);
  add_line (lines, "The best other one, %s, is %.1f %% %s (%s).", best, fabs (percent),
            percent < 0 ? "slower" : "faster", interval);
  if (advice->verdict == STUDY_ADVICE_SMALL)
    add_line (lines, "That is less than the %.3g %% that a change is worth.", 100 * least_gain);
  if (advice->verdict == STUDY_ADVICE_NOISE)
    add_line (lines, "The uncertainty of the machine explains that.");
}

/* By how much the computation may become longer before the gain is used up; NaN: the same number of ranks
 * shares a node. */
static double
computation_margin (const StudyAdvice *advice)
{
  const StudyRival *to = advised (advice);

  if (to->ranks_per_node == advice->plain->ranks_per_node || !(advice->compute_s > 0))
    return NAN;
  return (advice->plain->time_s - to->time_s) / advice->compute_s;
}

static void
add_conditions (GPtrArray *lines, const StudyAdvice *advice)
{
  const StudyGain *gain = &advice->gain;
  double margin = computation_margin (advice);

  if (!isnan (margin))
    add_line (
        lines,
        "computation: it is taken to be as fast with %u as with %u ranks on a node; the gain is "
        "used up where it becomes %.1f %% slower",
        advised (advice)->ranks_per_node, advice->plain->ranks_per_node, 100 * margin);
  if (!isnan (margin) && !isnan (advice->slower_high))
    add_line (
        lines,
        "shared memory: by the model of the node it becomes %.1f to %.1f %% slower, as the program "
        "waits for memory (0 to %.0f %% of its time)%s; 'hopcast aggregate' finds out",
        100 * advice->slower_low, 100 * advice->slower_high, 100 * study_memory_unknown.share_high,
        advice->slower_high > margin ? ", which may be more than the gain" : "");
  else if (!isnan (margin))
    add_line (lines, "shared memory: no model of this node; times with both numbers of ranks tell");
  if (!isnan (gain->low))
    add_line (lines,
              "noise: differences below %.1f %% are not told from the uncertainty of the machine",
              50 * (gain->high - gain->low));
  for (gsize at = 0; at < STUDY_N_WHAT_IFS; at++)
    if (!isnan (advice->what_ifs[at].gain))
      add_line (lines, "%s: %+.1f %%", advice->what_ifs[at].what, 100 * advice->what_ifs[at].gain);
}

static void
add_evidence (GPtrArray *lines, const StudyAdvice *advice)
{
  static const char *const models[] = { "bytes on links", "runs with shrunk messages" };
  guint n_screened = 0, n_run = 0;
  g_autofree char *exact = base_count (advice->n_exact, "exact run");

  for (guint i = 0; i < advice->rivals->all->len; i++) {
    const StudyRival *rival = g_ptr_array_index (advice->rivals->all, i);

    n_screened += strcmp (rival->outcome, "screened") == 0;
    n_run += rival->n_draws > 0;
  }
  for (gsize at = 0; at < STUDY_N_TRUSTS; at++) {
    const StudyTrust *trust = &advice->trusts[at];

    if (trust->n > 0 && !isnan (trust->r2))
      add_line (lines,
                "model: %s are %s: nested R2 %.2f over %u placements, error %.1f %% of a spread of "
                "%.1f %%",
                models[at], trust->trusted ? "trusted" : "not trusted", trust->r2, trust->n,
                100 * trust->error, 100 * trust->spread);
  }
  add_line (lines, "placements: %u, of which %u were simulated and %u screened by the model",
            advice->rivals->all->len, n_run, n_screened);
  add_line (lines,
            "cost: %s and %u with shrunk messages, %.1f s of simulation; %.1f s of search; %.1f s "
            "in all",
            exact, advice->n_shrunk, advice->wall_s, advice->search_s, advice->elapsed_s);
}

/* --- Printing --- */

typedef struct {
  const char *mapping, *outcome, *error, *mark;
  uint32_t ranks_per_node, nodes, n_draws;
  double hop_bytes, max_bytes, predicted_s, time_s, gain, gain_mean, gain_low, gain_high;
} Row;

static const CliColumn columns[] = {
  { NULL, "", CLI_CELL_TEXT, offsetof (Row, mark) },
  { "mapping", "mapping", CLI_CELL_TEXT, offsetof (Row, mapping) },
  { "ranks_per_node", "ranks/node", CLI_CELL_U32, offsetof (Row, ranks_per_node) },
  { "nodes", "nodes", CLI_CELL_U32, offsetof (Row, nodes) },
  { "hop_bytes", "hop_bytes", CLI_CELL_NUMBER, offsetof (Row, hop_bytes) },
  { "max_bytes", "max_bytes", CLI_CELL_NUMBER, offsetof (Row, max_bytes) },
  { "predicted_s", "predicted_s", CLI_CELL_NUMBER, offsetof (Row, predicted_s) },
  { "time_s", "time_s", CLI_CELL_NUMBER, offsetof (Row, time_s) },
  { "gain", NULL, CLI_CELL_NUMBER, offsetof (Row, gain) },
  { "gain_mean", "gain", CLI_CELL_SHARE, offsetof (Row, gain_mean) },
  { "gain_low", NULL, CLI_CELL_NUMBER, offsetof (Row, gain_low) },
  { "gain_high", NULL, CLI_CELL_NUMBER, offsetof (Row, gain_high) },
  { "draws", "runs", CLI_CELL_U32, offsetof (Row, n_draws) },
  { "outcome", "outcome", CLI_CELL_TEXT, offsetof (Row, outcome) },
  { "error", "note", CLI_CELL_TEXT, offsetof (Row, error) },
};

static Row
row_of (const StudyAdvice *advice, const StudyRival *rival)
{
  return (Row){ .mark = rival == advised (advice) ? "*" : " ",
                .mapping = rival->name,
                .ranks_per_node = rival->ranks_per_node,
                .nodes = rival->nodes,
                .hop_bytes = rival->hop_bytes,
                .max_bytes = rival->max_bytes,
                .predicted_s = rival->predicted_s,
                .time_s = rival->time_s,
                .gain = rival->gain.nominal,
                .gain_mean = rival->gain.mean,
                .gain_low = rival->gain.low,
                .gain_high = rival->gain.high,
                .n_draws = rival->n_draws,
                .outcome = rival->outcome,
                .error = rival->error };
}

static void
print_lines (FILE *out, const char *heading, const GPtrArray *lines)
{
  cli_print_heading (out, heading);
  for (guint at = 0; at < lines->len; at++)
    cli_printf (out, "  %s\n", (const char *) lines->pdata[at]);
}

static void
add_member_row (JsonBuilder *builder, const char *name, const Row *row)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_object (builder);
  cli_columns_add_json (builder, columns, G_N_ELEMENTS (columns), row);
  json_builder_end_object (builder);
}

static void
print_json (FILE *out, const char *path, const Options *options, const StudyAdvice *advice,
            const TopoLaunch *launch, const CliRows *rows)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  const StudyGain *gain = &advice->gain;
  const Row best = row_of (advice, advised (advice)), plain = row_of (advice, advice->plain);

  json_builder_begin_object (builder);
  cli_add_string (builder, "schema", "hopcast.advice/1");
  cli_add_string (builder, "trace", path);
  cli_add_string (builder, "machine", options->map.machine.spec);
  cli_add_integer (builder, "ranks", advice->n_ranks);
  cli_add_string (builder, "network", study_network_names[options->advice.network]);
  cli_add_number (builder, "compute_scale", options->compute_scale);
  cli_add_integer (builder, "seed", options->advice.seed);
  cli_add_string (builder, "verdict", study_verdict_names[advice->verdict]);
  cli_add_number (builder, "min_gain", options->least_gain);
  add_member_row (builder, "recommended", &best);
  add_member_row (builder, "default", &plain);
  cli_add_string (builder, "launch", launch->line);
  cli_begin_object (builder, "gain");
  cli_add_string (builder, "of", advice->best != NULL ? advice->best->name : NULL);
  cli_add_number (builder, "nominal", gain->nominal);
  cli_add_number (builder, "mean", gain->mean);
  cli_add_number (builder, "low", gain->low);
  cli_add_number (builder, "high", gain->high);
  cli_add_integer (builder, "pairs", gain->n_pairs);
  cli_add_integer (builder, "pairs_faster", gain->n_faster);
  json_builder_end_object (builder);
  cli_begin_object (builder, "what_if");
  for (gsize at = 0; at < STUDY_N_WHAT_IFS; at++)
    cli_add_number (builder, advice->what_ifs[at].name, advice->what_ifs[at].gain);
  json_builder_end_object (builder);
  cli_add_number (builder, "computation_margin", computation_margin (advice));
  cli_begin_object (builder, "computation_slower");
  cli_add_number (builder, "low", advice->slower_low);
  cli_add_number (builder, "high", advice->slower_high);
  json_builder_end_object (builder);
  cli_add_string (builder, "model", advice->model);
  cli_begin_array (builder, "models");
  for (gsize at = 0; at < STUDY_N_TRUSTS; at++) {
    const StudyTrust *trust = &advice->trusts[at];

    if (trust->n == 0)
      continue;
    json_builder_begin_object (builder);
    cli_add_string (builder, "name", trust->name);
    cli_add_boolean (builder, "trusted", trust->trusted);
    cli_add_integer (builder, "placements", trust->n);
    cli_add_number (builder, "r2", trust->r2);
    cli_add_number (builder, "spearman", trust->spearman);
    cli_add_number (builder, "error", trust->error);
    cli_add_number (builder, "spread", trust->spread);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  cli_begin_object (builder, "cost");
  cli_add_integer (builder, "exact_runs", advice->n_exact);
  cli_add_integer (builder, "shrunk_runs", advice->n_shrunk);
  cli_add_number (builder, "simulation_s", advice->wall_s);
  cli_add_number (builder, "search_s", advice->search_s);
  cli_add_number (builder, "elapsed_s", advice->elapsed_s);
  json_builder_end_object (builder);
  cli_rows_add_json (builder, "placements", rows);
  cli_print_object (out, builder);
}

/* Prints the advice; its paragraphs are left in *told, for a page. */
static void
print_advice (FILE *out, const char *path, const Options *options, const StudyAdvice *advice,
              const TopoLaunch *launch, GPtrArray *told)
{
  g_autoptr (GPtrArray) conditions = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) evidence = g_ptr_array_new_with_free_func (g_free);
  guint n = advice->rivals->all->len;
  g_autofree Row *row = g_new (Row, n);
  const CliRows rows = CLI_ROWS (columns, row, n);

  for (guint i = 0; i < n; i++)
    row[i] = row_of (advice, g_ptr_array_index (advice->rivals->all, i));
  add_recommendation (told, advice, options->least_gain);
  if (launch->line != NULL &&
      (advice->verdict == STUDY_ADVICE_CHANGE || options->map.output != NULL))
    add_line (told, "Launch line%s: %s",
              options->map.output != NULL ? "" : " (-o FILE writes the file)", launch->line);
  add_conditions (conditions, advice);
  add_evidence (evidence, advice);
  switch (options->map.format.format) {
  case CLI_FORMAT_TABLE:
    print_lines (out, "advice", told);
    if (conditions->len > 0)
      print_lines (out, "what would change it", conditions);
    print_lines (out, "evidence", evidence);
    cli_print_heading (out, "placements");
    cli_rows_print_table (out, &rows, "  ");
    break;
  case CLI_FORMAT_CSV: cli_rows_print_csv (out, &rows); break;
  case CLI_FORMAT_JSON: print_json (out, path, options, advice, launch, &rows); break;
  }
  g_ptr_array_extend (told, conditions, (GCopyFunc) (GCallback) g_strdup, NULL);
  g_ptr_array_extend (told, evidence, (GCopyFunc) (GCallback) g_strdup, NULL);
}

/* --- The command --- */

static void
tell_progress (void *data, const StudyTally *tally)
{
  g_autofree char *runs = base_count (tally->n_done, "run");
  g_autofree char *text = g_strdup_printf ("%s, ", runs);

  cli_progress_text (data, tally->n_races > 0 ? (double) tally->n_over / tally->n_races : 0, text);
}

/* The launcher's file of what is advised. */
static char *
print_mapping (const Options *options, const StudyAdvice *advice, TopoLaunch *launch,
               GError **error)
{
  const StudyRival *rival = advised (advice);
  TopoMachine *machine = (TopoMachine *) machine_of (advice, rival);
  const TopoLauncher *launcher = options->launcher;
  char *text;

  if (launcher == NULL) {
    const char *kind = machine->fabric != NULL ? "rankfile" : "map";

    launcher = topo_launcher_find (kind, strlen (kind));
  }
  if (options->map.hosts != NULL && !topo_machine_set_hosts (machine, options->map.hosts, error))
    return NULL;
  text = launcher->print (rival->mapping, machine, error);
  if (text != NULL)
    *launch = cli_map_launch (launcher, rival->mapping, machine, options->map.output);
  return text;
}

static gboolean
write_report (CliOutfile *file, const char *store_path, const GPtrArray *told, GError **error)
{
  g_autoptr (StudyStore) store = study_store_open (store_path, STUDY_STORE_READ, error);

  return store != NULL &&
         study_report_write_store (cli_outfile_stream (file), store, NULL, told, REPORT_TOP,
                                   error) &&
         cli_outfile_commit (file, error);
}

static void
warn_of_imbalance (const StudyAdvice *advice)
{
  for (char **warning = advice->warnings; warning != NULL && *warning != NULL; warning++)
    if (g_str_has_prefix (*warning, SIM_IMBALANCE_WARNING))
      cli_printf (stderr, "hopcast: warning: %s\n", *warning);
}

static int
advise (const char *path, Options *options, GError **error)
{
  g_autoptr (GPtrArray) told = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (CliOutfile) file = NULL, page = NULL;
  g_autoptr (StudyAdvice) advice = NULL;
  g_autoptr (CliProgress) progress = NULL;
  g_autofree char *text = NULL;
  g_auto (TopoLaunch) launch = { NULL };
  gboolean is_data = g_strcmp0 (options->map.output, "-") == 0;

  /* Files are opened first, so that a place that cannot be written fails at once. */
  if ((options->map.output != NULL && !(file = cli_outfile_new (options->map.output, error))) ||
      (options->report != NULL && !(page = cli_outfile_new (options->report, error))))
    return CLI_FAILED;
  progress = cli_progress_new (options->talk.quiet);
  options->advice.progress = tell_progress;
  options->advice.progress_data = progress;
  advice = study_advise (&options->advice, error);
  g_clear_pointer (&progress, cli_progress_free);
  if (advice == NULL) {
    cli_machine_blame (&options->map.machine, *error);
    return CLI_FAILED;
  }
  if (advice->signal != 0) {
    cli_printf (stderr, "hopcast: stopped by %s; %s\n", g_strsignal (advice->signal),
                options->store != NULL ? "the same command continues"
                                       : "with --store FILE the runs would have been kept");
    return SIGNAL_EXIT + advice->signal;
  }
  text = print_mapping (options, advice, &launch, error);
  if (text == NULL)
    return CLI_FAILED;
  if (!options->talk.quiet)
    warn_of_imbalance (advice);
  /* A map file on standard output stands there alone. */
  print_advice (is_data ? stderr : stdout, path, options, advice, &launch, told);
  if (file != NULL) {
    fputs (text, cli_outfile_stream (file));
    if (!cli_outfile_commit (file, error))
      return CLI_FAILED;
    if (launch.note != NULL && !options->talk.quiet)
      cli_printf (stderr, "hopcast: note: %s\n", launch.note);
  }
  if (page != NULL && !write_report (page, advice->store_path, told, error))
    return CLI_FAILED;
  return advice->verdict == STUDY_ADVICE_UNKNOWN ? CLI_PARTLY : CLI_DONE;
}

int
cli_advise (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "TRACE", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "TRACE",
      "Says how to launch a program on a machine: which mapping, how many ranks per node, what "
      "it gains, with which line; or that no placement is worth changing.");
  g_auto (Options) options = { .map = CLI_MAP_OPTIONS_INIT, .compute_scale = 1, .least_gain = .01 };
  g_autofree char *kinds = cli_map_describe_kinds ();

  add_options (context, &options);
  g_option_context_set_description (context, kinds);
  if (!cli_parse (context, argc, argv, names, &options.advice.trace_path, error) ||
      !check_options (&options, error) ||
      !check_inputs (options.advice.trace_path, &options, error))
    return CLI_FAILED;
  options.advice.store_path = options.store;
  return advise (options.advice.trace_path, &options, error);
}
