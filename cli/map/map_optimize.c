/* map_optimize.c - `hopcast map optimize`: search for a better mapping.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

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
#include "study/search/search.h"
#include "base/words.h"

#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

/* --- Options --- */

#define MAX_BUDGET_S 1e9
#define MAX_BUDGET_N 1e6
#define MAX_THREADS  1024

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
  int objective; /* StudyObjective; objective_of() is the one to be taken */
} Options;

#define OPTIONS_INIT                                              \
  {                                                               \
    .map = CLI_MAP_OPTIONS_INIT, .compute_scale = 1, .threads = 1 \
  }

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

/* "20s", "1.5s" or "200". */
static gboolean
parse_budget (Options *options, GError **error)
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
parse_names (Options *options, GError **error)
{
  options->network = parse_named ("--network", options->network_name, study_network_names,
                                  SIM_NETWORK_PACKET, error);
  if (options->network < 0)
    return FALSE;
  options->routing =
      parse_named ("--routing", options->routing_name, study_routing_names, 0, error);
  if (options->routing < 0)
    return FALSE;
  options->objective = parse_named ("--objective", options->objective_name, objective_names,
                                    STUDY_OBJECTIVE_HOP_BYTES, error);
  return options->objective >= 0;
}

static gboolean
check_options (Options *options, GError **error)
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

static StudyObjective
objective_of (const Options *options, gboolean is_trace)
{
  if (options->objective_name == NULL && is_trace)
    return STUDY_OBJECTIVE_BOTH;
  return (StudyObjective) options->objective;
}

/* --- The end on a signal: what was found so far is the result --- */

static volatile sig_atomic_t signalled;
static struct sigaction before_interrupt, before_terminate;

/* The second one ends the program as it always does. */
static void
take_signal (int number)
{
  signalled = number;
  sigaction (SIGINT, &before_interrupt, NULL);
  sigaction (SIGTERM, &before_terminate, NULL);
}

static void
take_signals (void)
{
  struct sigaction action = { .sa_handler = take_signal };

  sigemptyset (&action.sa_mask);
  sigaction (SIGINT, NULL, &before_interrupt);
  sigaction (SIGTERM, NULL, &before_terminate);
  if (before_interrupt.sa_handler != SIG_IGN)
    sigaction (SIGINT, &action, NULL);
  sigaction (SIGTERM, &action, NULL);
}

static gboolean
is_signalled (void *data G_GNUC_UNUSED)
{
  return signalled != 0;
}

/* --- What communicates --- */

static void
count_message (void *matrix, uint32_t source, uint32_t destination, uint64_t bytes,
               bool direct_collective G_GNUC_UNUSED)
{
  study_matrix_add (matrix, source, destination, 1, bytes);
}

static StudyMatrix *
census_matrix (Trace *trace, const TopoMachine *machine, const Options *options, GError **error)
{
  g_autoptr (CliProgress) progress = cli_progress_new (options->talk.quiet);
  g_autoptr (StudyMatrix) matrix = study_matrix_new (trace_ranks (trace));
  g_autofree SimCensus *census = g_new0 (SimCensus, 1);

  if (!sim_census (trace, machine, SIM_CENSUS_POINT_TO_POINT | SIM_CENSUS_COLLECTIVES, false,
                   count_message, matrix, cli_progress_share, progress, census, error))
    return NULL;
  return g_steal_pointer (&matrix);
}

/* The matrix of a file, be it a matrix or a trace; *is_trace tells which. */
static StudyMatrix *
load_matrix (const char *path, const TopoMachine *machine, const Options *options,
             gboolean *is_trace, GError **error)
{
  g_autoptr (Trace) trace = NULL;

  *is_trace = !study_matrix_probe (path);
  if (!*is_trace)
    return study_matrix_load (path, error);
  trace = cli_trace_open (path, &options->trace, error);
  return trace ? census_matrix (trace, machine, options, error) : NULL;
}

/* --- The search --- */

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

/* Of a matrix more ranks may be asked for, which are silent; of a trace none. */
static gboolean
count_ranks (Job *job, GError **error)
{
  int asked = job->options->map.n_ranks;

  job->n_ranks = study_matrix_ranks (job->matrix);
  if (asked == G_MININT || (uint32_t) asked == job->n_ranks)
    return TRUE;
  if (job->is_trace || (uint32_t) asked < job->n_ranks) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: has %u ranks, --ranks says %d", job->path,
                 job->n_ranks, asked);
    return FALSE;
  }
  job->n_ranks = (uint32_t) asked;
  return TRUE;
}

/* Matrices have no times, and zones are a torus's. */
static gboolean
check_job (const Job *job, GError **error)
{
  const Options *options = job->options;

  if (!job->is_trace && options->network_name && options->network != SIM_NETWORK_LOAD)
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE,
                 "--network %s: a matrix has no times; only load knows it", options->network_name);
  else if (job->machine->fabric && options->routing >= ROUTE_POLICY_ZONE0)
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE,
                 "--routing %s: zones are a torus's, %s is a switched fabric",
                 options->routing_name, job->machine->spec);
  else
    return TRUE;
  return FALSE;
}

/* Wrong texts are wrong usage, which the search does not tell apart from bad files. */
static gboolean
check_starts (const Job *job, GError **error)
{
  for (char **start = job->options->starts; start != NULL && *start != NULL; start++) {
    g_autoptr (TopoMapping) mapping = NULL;

    if (topo_mapping_is_rankfile (*start))
      continue;
    mapping = cli_mapping_new (*start, job->machine, job->n_ranks, error);
    if (mapping == NULL) {
      g_prefix_error (error, "--start: ");
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
prepare (Job *job, GError **error)
{
  const Options *options = job->options;
  g_autoptr (TopoMapping) plain = NULL;

  if (!(job->machine = cli_machine_new (&options->map.machine, error)) ||
      !(job->matrix = load_matrix (job->path, job->machine, options, &job->is_trace, error)) ||
      !count_ranks (job, error) || !check_job (job, error) || !check_starts (job, error) ||
      !(plain = topo_mapping_new (NULL, job->machine, job->n_ranks, error)) ||
      !(job->paths = route_paths_new (job->machine, error)) ||
      !(job->distance = study_distance_new (job->paths, error)))
    return FALSE;
  if (job->machine->fabric && options->routing == ROUTE_POLICY_DETERMINISTIC)
    job->machine->parameters.adaptive = TOPO_ADAPTIVE_NONE;
  job->objective = objective_of (options, job->is_trace);
  job->graph = study_graph_new (study_matrix_edges (job->matrix), job->n_ranks);
  job->problem = (StudyProblem){ job->graph, job->distance, job->machine->ranks_per_node };
  job->candidates =
      study_candidates_new (&job->problem, job->paths, study_matrix_edges (job->matrix),
                            job->objective, plain->name, study_placement_of (&job->problem, plain));
  return TRUE;
}

/* Half of the time goes to the search when runs follow it. */
static gboolean
search (Job *job, GError **error)
{
  const Options *options = job->options;
  g_autoptr (CliProgress) progress = cli_progress_new (options->talk.quiet);
  const StudySearch search_options = {
    .starts = (const char *const *) options->starts,
    .seed = (uint64_t) options->seed,
    .n_threads = (guint) options->threads,
    .n_rounds = options->budget_n,
    .deadline_us =
        options->budget_us ? job->start_us + options->budget_us / (simulates (job) ? 2 : 1) : 0,
    .stop = is_signalled,
    .progress = cli_progress_share,
    .data = progress,
  };

  if (!study_search (job->candidates, &search_options, &job->searched, error))
    return FALSE;
  g_clear_pointer (&progress, cli_progress_free);
  if (job->searched.scotch_error && !options->talk.quiet)
    cli_printf (stderr, "hopcast: warning: %s\n", job->searched.scotch_error);
  return TRUE;
}

static gboolean
decide (Job *job, guint *best, guint *n_runs, GError **error)
{
  const Options *options = job->options;
  g_autoptr (CliProgress) progress = cli_progress_new (options->talk.quiet);
  const StudyTrialPlan plan = {
    .trials = { .trace_path = job->path,
                .trace_options = { .n_ranks = (uint32_t) options->trace.n_ranks,
                                   .from_region = options->trace.from_region,
                                   .allow_lossy = options->trace.allow_lossy },
                .network = (SimNetworkKind) options->network,
                .policy = (RoutePolicy) options->routing,
                .n_threads = (guint) options->threads },
    .compute_scale = options->compute_scale,
    .seed = (uint64_t) options->seed,
    .n_runs = options->budget_n,
    .deadline_us = options->budget_us ? job->start_us + options->budget_us : 0,
    .stop = is_signalled,
    .progress = cli_progress_share,
    .data = progress,
  };

  *best = study_candidates_best (job->candidates);
  *n_runs = 0;
  return !simulates (job) || study_optimize_trials (job->candidates, &plan, best, n_runs, error);
}

/* --- The result --- */

typedef struct {
  const char *source, *network, *objective;
  const TopoMachine *machine;
  const StudyCandidates *candidates;
  guint best;
  guint n_runs;       /* simulated */
  guint n_rounds;     /* of search */
  gboolean simulates; /* times are known, or would be */
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

static Row
row_of (const Optimum *optimum, guint i)
{
  const StudyCandidate *candidate = study_candidate (optimum->candidates, i);

  return (Row){ candidate->name,          candidate->error,
                candidate->hop_bytes,     candidate->max_bytes,
                candidate->score,         candidate->time_s,
                candidate->gain.nominal,  candidate->gain.mean,
                candidate->gain.low,      candidate->gain.high,
                i == optimum->best,       candidate->gain.n_pairs,
                candidate->gain.n_faster, i == optimum->best ? "*" : " " };
}

/* Members of an object: the error only where there is one. */
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
print_json (FILE *out, const Optimum *optimum, const Row *row)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

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
  for (guint i = 0; i < optimum->candidates->list->len; i++)
    add_row (builder, &row[i]);
  json_builder_end_array (builder);
  cli_print_object (out, builder);
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

  for (guint i = 0; i < n; i++)
    row[i] = row_of (optimum, i);
  switch (format) {
  case CLI_FORMAT_TABLE:
    cli_rows_print_table (out, &rows, "");
    print_verdict (out, optimum);
    break;
  case CLI_FORMAT_CSV: cli_rows_print_csv (out, &rows); break;
  case CLI_FORMAT_JSON: print_json (out, optimum, row); break;
  }
}

/* The first lines of the map file; the caller frees them. */
static char *
comment_of (const Optimum *optimum)
{
  const StudyCandidate *best = study_candidate (optimum->candidates, optimum->best);
  const StudyCandidate *plain = study_candidate (optimum->candidates, 0);

  return g_strdup_printf ("# %s on %s: %s\n"
                          "# hop_bytes %.17g (default %.17g), max_bytes %.17g (default %.17g)\n",
                          optimum->source, optimum->machine->spec, best->name, best->hop_bytes,
                          plain->hop_bytes, best->max_bytes, plain->max_bytes);
}

static gboolean
write_map (CliOutfile *file, const Optimum *optimum, GError **error)
{
  g_autofree char *comment = comment_of (optimum);
  g_autofree char *map = topo_mapping_print (
      study_candidate (optimum->candidates, optimum->best)->mapping, optimum->machine);

  fprintf (cli_outfile_stream (file), "%s%s", comment, map);
  return cli_outfile_commit (file, error);
}

/* The file is opened before the search: a place that cannot be written is known at once. */
static gboolean
optimize (Job *job, GError **error)
{
  const Options *options = job->options;
  g_autoptr (CliOutfile) file = NULL;
  Optimum optimum;

  if (!prepare (job, error) || !(file = cli_outfile_new (options->map.output, error)) ||
      !search (job, error))
    return FALSE;
  optimum = (Optimum){
    .source = job->path,
    .network = simulates (job) ? study_network_names[options->network] : "load",
    .objective = objective_names[job->objective],
    .machine = job->machine,
    .candidates = job->candidates,
    .n_rounds = job->searched.n_rounds,
    .simulates = simulates (job),
    .seed = (uint64_t) options->seed,
  };
  if (!decide (job, &optimum.best, &optimum.n_runs, error))
    return FALSE;
  optimum.stopped = signalled != 0;
  if (!write_map (file, &optimum, error))
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
  g_auto (Options) options = OPTIONS_INIT;
  g_auto (Job) job = { .options = &options };

  add_options (context, &options);
  if (!cli_parse (context, argc, argv, names, &job.path, error) || !check_options (&options, error))
    return CLI_FAILED;
  take_signals ();
  job.start_us = g_get_monotonic_time ();
  if (!optimize (&job, error))
    return CLI_FAILED;
  return signalled ? 128 + signalled : CLI_DONE;
}
