/* map_optimize.c - `hopcast map optimize`: search for a better mapping.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/columns.h"
#include "cli/command.h"
#include "cli/map/map_options.h"
#include "cli/print/outfile.h"
#include "cli/print/progress.h"
#include "cli/print/terminal.h"
#include "sim/net/load.h"
#include "study/search/search.h"
#include "study/search/matrix.h"
#include "study/search/optimize.h"
#include "study/plan/plan.h"
#include "base/words.h"

#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

/* --- Options --- */

static const char *const objective_names[] = { "hop-bytes", "max-bytes", "both", NULL };

typedef struct {
  CliMapOptions map;
  CliTraceOptions trace;
  CliTalkOptions talk;
  char *budget, *network_name, *routing_name, *objective_name; /* NULL: not given */
  char **starts;
  double compute_scale;
  gint64 seed;
  int threads;

  /* After check_options(). */
  int64_t budget_us; /* 0: budget_n counts */
  guint budget_n;
  int network;   /* SimNetworkKind */
  int routing;   /* RoutePolicy */
  int objective; /* StudyObjective, if objective_name is given */
} Options;

static void
options_clear (Options *options)
{
  cli_map_options_clear (&options->map);
  cli_trace_options_clear (&options->trace);
  g_free (options->budget);
  g_free (options->network_name);
  g_free (options->routing_name);
  g_free (options->objective_name);
  g_strfreev (options->starts);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_options (GOptionContext *context, Options *options)
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

static gboolean
check_options (Options *options, GError **error)
{
  const char *budget = options->budget;

  if (!cli_parse_format (&options->map.format, error) ||
      !cli_map_check_ranks (&options->map, FALSE, error))
    return FALSE;
  if (!budget)
    return cli_refuse (error,
                       "--budget is missing: seconds (20s) or a number of evaluations (200)");
  if (!cli_parse_budget (budget, 1, &options->budget_us, &options->budget_n, error))
    return FALSE;
  if (!cli_check_number ("--threads", options->threads, 1, CLI_MAX_THREADS, error))
    return FALSE;
  if (options->seed < 0)
    return cli_refuse (error, "--seed: must not be negative");
  if (!(options->compute_scale >= 0) || !isfinite (options->compute_scale))
    return cli_refuse (error, "--compute-scale: not a number of at least 0");
  if ((options->network =
           cli_parse_choice ("--network", options->network_name, study_network_names, error)) < 0 ||
      (options->routing =
           cli_parse_choice ("--routing", options->routing_name, study_routing_names, error)) < 0 ||
      (options->objective =
           cli_parse_choice ("--objective", options->objective_name, objective_names, error)) < 0)
    return FALSE;
  return options->map.output != NULL || cli_refuse (error, "--output FILE is missing");
}

/* --- A signal ends the search; the result is the best mapping so far --- */

static volatile sig_atomic_t signalled;
static struct sigaction before_interrupt, before_terminate;

/* A second signal ends the program. */
static void
take_signal (int number)
{
  signalled = number;
  sigaction (SIGINT, &before_interrupt, NULL);
  sigaction (SIGTERM, &before_terminate, NULL);
}

static gboolean
is_signalled (void *data G_GNUC_UNUSED)
{
  return signalled != 0;
}

/* --- The search --- */

static void
count_message (void *matrix, uint32_t source, uint32_t destination, uint64_t bytes,
               bool direct_collective G_GNUC_UNUSED)
{
  study_matrix_add (matrix, source, destination, 1, bytes);
}

/* The matrix of a file; *is_trace: the file is a trace and not a matrix. */
static StudyMatrix *
load_matrix (const char *path, const TopoMachine *machine, const Options *options,
             gboolean *is_trace, GError **error)
{
  g_autoptr (Trace) trace = NULL;
  g_autoptr (CliProgress) progress = NULL;
  g_autoptr (StudyMatrix) matrix = NULL;
  g_autofree SimCensus *census = g_new0 (SimCensus, 1);

  *is_trace = !study_matrix_probe (path);
  if (!*is_trace)
    return study_matrix_load (path, error);
  if (!(trace = cli_trace_open (path, &options->trace, error)))
    return NULL;
  progress = cli_progress_new (options->talk.quiet);
  matrix = study_matrix_new (trace_ranks (trace));
  if (!sim_census (trace, machine, SIM_CENSUS_POINT_TO_POINT | SIM_CENSUS_COLLECTIVES, false,
                   count_message, matrix, cli_progress_share, progress, census, error))
    return NULL;
  return g_steal_pointer (&matrix);
}

typedef struct {
  const char *path;
  const Options *options;
  TopoMachine *machine;
  StudyMatrix *matrix;
  gboolean is_trace;
  StudyObjective objective;
  uint32_t n_ranks;
  RoutePaths *paths;
  StudyDistance *distance;
  StudyGraph *graph;
  StudyProblem problem;
  StudyCandidates *candidates;
  StudySearched searched;
  int64_t start_us;
} Job;

static void
job_clear (Job *job)
{
  study_candidates_free (job->candidates);
  study_graph_free (job->graph);
  study_distance_free (job->distance);
  route_paths_free (job->paths);
  study_matrix_free (job->matrix);
  topo_machine_free (job->machine);
  g_free (job->searched.scotch_error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Job, job_clear)

static gboolean
simulates (const Job *job)
{
  return job->is_trace && job->options->network != SIM_NETWORK_LOAD;
}

static gboolean
prepare (Job *job, GError **error)
{
  const Options *options = job->options;
  const char *network = options->network_name, *routing = options->routing_name;
  int asked = options->map.n_ranks;
  g_autoptr (TopoMapping) plain = NULL;

  if (!(job->machine = cli_machine_new (&options->map.machine, error)) ||
      !(job->matrix = load_matrix (job->path, job->machine, options, &job->is_trace, error)))
    return FALSE;
  /* More ranks than a matrix has are silent; a trace has all of its ranks. */
  job->n_ranks = study_matrix_ranks (job->matrix);
  if (asked != G_MININT && (uint32_t) asked != job->n_ranks) {
    if (job->is_trace || (uint32_t) asked < job->n_ranks)
      return cli_fail (error, "%s: has %u ranks, --ranks says %d", job->path, job->n_ranks, asked);
    job->n_ranks = (uint32_t) asked;
  }
  if (!job->is_trace && network && options->network != SIM_NETWORK_LOAD)
    return cli_refuse (error, "--network %s: a matrix has no times: only load takes it", network);
  if (job->machine->fabric && options->routing >= ROUTE_POLICY_ZONE0)
    return cli_refuse (error, "--routing %s: zones are for tori; %s is a switched fabric", routing,
                       job->machine->spec);
  /* A wrong text is wrong usage; the search does not distinguish it from a bad file. */
  for (char **start = options->starts; start != NULL && *start != NULL; start++) {
    g_autoptr (TopoMapping) mapping = NULL;

    if (topo_mapping_is_rankfile (*start))
      continue;
    mapping = cli_mapping_new (*start, job->machine, job->n_ranks, error);
    if (mapping == NULL) {
      g_prefix_error (error, "--start: ");
      return FALSE;
    }
  }
  if (!(plain = topo_mapping_new (NULL, job->machine, job->n_ranks, error)) ||
      !(job->paths = route_paths_new (job->machine, error)) ||
      !(job->distance = study_distance_new (job->paths, error)))
    return FALSE;
  if (job->machine->fabric && options->routing == ROUTE_POLICY_DETERMINISTIC)
    job->machine->parameters.switches.adaptive = TOPO_ADAPTIVE_NONE;
  job->objective = options->objective_name == NULL && job->is_trace
                       ? STUDY_OBJECTIVE_BOTH
                       : (StudyObjective) options->objective;
  job->graph = study_graph_new (study_matrix_edges (job->matrix), job->n_ranks);
  job->problem = (StudyProblem){ job->graph, job->distance, job->machine->ranks_per_node };
  job->candidates =
      study_candidates_new (&job->problem, job->paths, study_matrix_edges (job->matrix),
                            job->objective, plain->name, study_placement_of (&job->problem, plain));
  return TRUE;
}

/* Searches by bytes on links, then, of a trace, by simulated runs.  Half of the time goes to the
 * former if runs follow it. */
static gboolean
search (Job *job, guint *best, guint *n_runs, GError **error)
{
  const Options *options = job->options;
  int64_t budget_us = options->budget_us;
  g_autoptr (CliProgress) progress = cli_progress_new (options->talk.quiet);
  const StudySearch search_options = {
    .starts = (const char *const *) options->starts,
    .seed = (uint64_t) options->seed,
    .n_threads = (guint) options->threads,
    .n_rounds = options->budget_n,
    .deadline_us = budget_us ? job->start_us + budget_us / (simulates (job) ? 2 : 1) : 0,
    .stop = is_signalled,
    .progress = cli_progress_share,
    .data = progress,
  };
  StudyTrialPlan plan;

  if (!study_search (job->candidates, &search_options, &job->searched, error))
    return FALSE;
  g_clear_pointer (&progress, cli_progress_free);
  if (job->searched.scotch_error && !options->talk.quiet)
    cli_printf (stderr, "hopcast: warning: %s\n", job->searched.scotch_error);
  *best = study_candidates_best (job->candidates);
  *n_runs = 0;
  if (!simulates (job))
    return TRUE;

  progress = cli_progress_new (options->talk.quiet);
  plan = (StudyTrialPlan){
    .trace_path = job->path,
    .trace_options = { .n_ranks = (uint32_t) options->trace.n_ranks,
                       .from_region = options->trace.from_region,
                       .allow_lossy = options->trace.allow_lossy },
    .network = (SimNetworkKind) options->network,
    .policy = (RoutePolicy) options->routing,
    .n_threads = (guint) options->threads,
    .compute_scale = options->compute_scale,
    .seed = (uint64_t) options->seed,
    .n_runs = options->budget_n,
    .deadline_us = budget_us ? job->start_us + budget_us : 0,
    .stop = is_signalled,
    .progress = cli_progress_share,
    .data = progress,
  };
  if (study_optimize_trials (job->candidates, &plan, best, n_runs, error))
    return TRUE;
  cli_machine_blame (&options->map.machine, *error);
  return FALSE;
}

/* --- The result --- */

typedef struct {
  const char *source, *network, *objective;
  const TopoMachine *machine;
  const StudyCandidates *candidates;
  guint best;
  guint n_runs;       /* simulated */
  guint n_rounds;     /* of search */
  gboolean simulates; /* if the budget allows it */
  gboolean stopped;   /* by a signal */
  uint64_t seed;
} Optimum;

typedef struct {
  const char *mapping, *error;
  double hop_bytes, max_bytes, score, time_s;
  double gain, gain_mean, gain_low, gain_high; /* over the default */
  uint32_t is_best, n_pairs, n_faster;
  const char *mark;
} Row;

static const CliColumn columns[] = {
  { NULL, "", CLI_CELL_TEXT, offsetof (Row, mark) },
  { "mapping", "mapping", CLI_CELL_TEXT, offsetof (Row, mapping) },
  { "best", NULL, CLI_CELL_U32, offsetof (Row, is_best), .omit = CLI_NOT_JSON },
  { "hop_bytes", "hop_bytes", CLI_CELL_NUMBER, offsetof (Row, hop_bytes) },
  { "max_bytes", "max_bytes", CLI_CELL_NUMBER, offsetof (Row, max_bytes) },
  { "score", "score", CLI_CELL_NUMBER, offsetof (Row, score), "%.4f" },
  { "time_s", "time_s", CLI_CELL_NUMBER, offsetof (Row, time_s) },
  { "gain", NULL, CLI_CELL_NUMBER, offsetof (Row, gain) },
  { "gain_mean", "gain", CLI_CELL_NUMBER, offsetof (Row, gain_mean), "%.4f" },
  { "gain_low", NULL, CLI_CELL_NUMBER, offsetof (Row, gain_low) },
  { "gain_high", NULL, CLI_CELL_NUMBER, offsetof (Row, gain_high) },
  { "pairs", NULL, CLI_CELL_U32, offsetof (Row, n_pairs) },
  { "pairs_faster", NULL, CLI_CELL_U32, offsetof (Row, n_faster) },
  { NULL, "note", CLI_CELL_TEXT, offsetof (Row, error) },
};

/* An object; it has an error only where there is one. */
static void
add_row (JsonBuilder *builder, const Row *row)
{
  json_builder_begin_object (builder);
  cli_columns_add_json (builder, columns, G_N_ELEMENTS (columns), row);
  if (row->error != NULL)
    cli_add_string (builder, "error", row->error);
  json_builder_end_object (builder);
}

static void
print_verdict (FILE *out, const Optimum *optimum)
{
  const StudyCandidate *best = study_candidate (optimum->candidates, optimum->best);
  const StudyGain *gain = &best->gain;
  g_autofree char *pairs = base_count (gain->n_pairs, "pair");

  cli_printf (out, "\nbest: %s", best->name);
  if (optimum->best == 0)
    fputs (", the default: nothing better was found", out);
  else if (!isnan (gain->low))
    fprintf (
        out,
        "; %.1f %% faster than the default (95 %% interval %.1f to %.1f %%; faster in %u of %s "
        "of runs with perturbed machines)",
        100 * gain->mean, 100 * gain->low, 100 * gain->high, gain->n_faster, pairs);
  else if (gain->n_pairs > 0)
    fprintf (out,
             "; %.1f %% faster than the default (faster in %u of %s of runs with perturbed "
             "machines: too few for an interval)",
             100 * gain->mean, gain->n_faster, pairs);
  else if (!isnan (gain->nominal))
    fprintf (out, "; %.1f %% faster than the default in one simulation, confidence unknown",
             100 * gain->nominal);
  else if (optimum->simulates)
    cli_printf (out, "; not simulated: %s",
                optimum->stopped ? "stopped before" : "the budget is too small");
  fputs ("\n", out);
}

static void
print (FILE *out, const Optimum *optimum, CliFormat format)
{
  guint n = optimum->candidates->list->len;
  g_autofree Row *row = g_new (Row, n);
  const CliRows rows = CLI_ROWS (columns, row, n);
  g_autoptr (JsonBuilder) builder = NULL;

  for (guint i = 0; i < n; i++) {
    const StudyCandidate *candidate = study_candidate (optimum->candidates, i);
    const StudyGain *gain = &candidate->gain;

    row[i] = (Row){ .mapping = candidate->name,
                    .error = candidate->error,
                    .hop_bytes = candidate->hop_bytes,
                    .max_bytes = candidate->max_bytes,
                    .score = candidate->score,
                    .time_s = candidate->time_s,
                    .gain = gain->nominal,
                    .gain_mean = gain->mean,
                    .gain_low = gain->low,
                    .gain_high = gain->high,
                    .is_best = i == optimum->best,
                    .n_pairs = gain->n_pairs,
                    .n_faster = gain->n_faster,
                    .mark = i == optimum->best ? "*" : " " };
  }
  switch (format) {
  case CLI_FORMAT_TABLE:
    cli_rows_print_table (out, &rows, "");
    print_verdict (out, optimum);
    break;
  case CLI_FORMAT_CSV: cli_rows_print_csv (out, &rows); break;
  case CLI_FORMAT_JSON:
    builder = json_builder_new ();
    json_builder_begin_object (builder);
    cli_add_string (builder, "schema", "hopcast.optimum/1");
    cli_add_string (builder, "source", optimum->source);
    cli_add_string (builder, "machine", optimum->machine->spec);
    cli_add_integer (builder, "ranks", optimum->candidates->problem->graph->n_ranks);
    cli_add_string (builder, "network", optimum->network);
    cli_add_string (builder, "objective", optimum->objective);
    cli_add_integer (builder, "seed", optimum->seed);
    cli_add_integer (builder, "rounds", optimum->n_rounds);
    cli_add_integer (builder, "runs", optimum->n_runs);
    cli_add_boolean (builder, "stopped", optimum->stopped);
    json_builder_set_member_name (builder, "best");
    add_row (builder, &row[optimum->best]);
    cli_begin_array (builder, "candidates");
    for (guint i = 0; i < n; i++)
      add_row (builder, &row[i]);
    json_builder_end_array (builder);
    cli_print_object (out, builder);
    break;
  }
}

static gboolean
optimize (Job *job, GError **error)
{
  const Options *options = job->options;
  g_autoptr (CliOutfile) file = NULL;
  g_autofree char *map = NULL;
  const StudyCandidate *best, *plain;
  Optimum optimum;

  /* The file is opened before the search, so that a place that cannot be written fails at once. */
  if (!prepare (job, error) || !(file = cli_outfile_new (options->map.output, error)))
    return FALSE;
  optimum = (Optimum){
    .source = job->path,
    .network = simulates (job) ? study_network_names[options->network] : "load",
    .objective = objective_names[job->objective],
    .machine = job->machine,
    .candidates = job->candidates,
    .simulates = simulates (job),
    .seed = (uint64_t) options->seed,
  };
  if (!search (job, &optimum.best, &optimum.n_runs, error))
    return FALSE;
  optimum.n_rounds = job->searched.n_rounds;
  optimum.stopped = signalled != 0;

  best = study_candidate (job->candidates, optimum.best);
  plain = study_candidate (job->candidates, 0);
  map = topo_mapping_print (best->mapping, job->machine);
  fprintf (cli_outfile_stream (file),
           "# %s on %s: %s\n"
           "# hop_bytes %.17g (default %.17g), max_bytes %.17g (default %.17g)\n"
           "%s",
           job->path, job->machine->spec, best->name, best->hop_bytes, plain->hop_bytes,
           best->max_bytes, plain->max_bytes, map);
  if (!cli_outfile_commit (file, error))
    return FALSE;
  /* A map file on standard output stands there alone. */
  print (strcmp (options->map.output, "-") ? stdout : stderr, &optimum, options->map.format.format);
  return TRUE;
}

int
cli_map_optimize (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "MATRIX|TRACE", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "MATRIX|TRACE", "Searches for a mapping better than the default, first by the bytes on the "
                      "links, then, for a trace, by simulated runs, and writes its map file.");
  g_auto (Options) options = { .map = CLI_MAP_OPTIONS_INIT, .compute_scale = 1, .threads = 1 };
  g_auto (Job) job = { .options = &options };
  struct sigaction action = { .sa_handler = take_signal };

  add_options (context, &options);
  if (!cli_parse (context, argc, argv, names, &job.path, error) || !check_options (&options, error))
    return CLI_FAILED;
  sigemptyset (&action.sa_mask);
  sigaction (SIGINT, NULL, &before_interrupt);
  sigaction (SIGTERM, NULL, &before_terminate);
  if (before_interrupt.sa_handler != SIG_IGN)
    sigaction (SIGINT, &action, NULL);
  sigaction (SIGTERM, &action, NULL);
  job.start_us = g_get_monotonic_time ();
  if (!optimize (&job, error))
    return CLI_FAILED;
  return signalled ? 128 + signalled : CLI_DONE;
}
