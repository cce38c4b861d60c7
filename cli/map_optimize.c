/* map_optimize.c - `hopcast map optimize`: search for a better mapping.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/map_options.h"
#include "cli/optimum.h"
#include "cli/outfile.h"
#include "cli/progress.h"
#include "sim/load.h"
#include "study/matrix.h"
#include "study/optimize.h"
#include "study/search.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>

static const char *const network_names[] = { "packet", "flow", "load", NULL };
static const char *const routing_names[] = { "default", "deterministic", "zone0", "zone1",
                                             "zone2",   "zone3",         NULL };
static const char *const objective_names[] = { "hop-bytes", "max-bytes", "both", NULL };

typedef struct {
  CliMapOptions map;
  CliTraceOptions trace;
  CliTalkOptions talk;
  char *budget, *network_name, *routing_name, *objective_name;
  char **starts;
  double compute_scale;
  gint64 seed;
  int threads;

  /* After check_options(). */
  int64_t budget_us; /* 0: a number */
  guint budget_n;
  int network, routing, objective; /* -1: not given */
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
add_own_options (GOptionContext *context, Options *options)
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

G_GNUC_PRINTF (2, 3)
static gboolean
refuse (GError **error, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_propagate_error (error, g_error_new_valist (CLI_ERROR, CLI_ERROR_USAGE, format, arguments));
  va_end (arguments);
  return FALSE;
}

/* "20s", "1.5s" or "200". */
static gboolean
parse_budget (Options *options, GError **error)
{
  const char *text = options->budget;
  char *end;
  double value;

  if (!text)
    return refuse (error, "--budget is missing: seconds (20s) or a number of evaluations (200)");
  value = g_ascii_strtod (text, &end);
  if (end != text && !strcmp (end, "s") && value > 0 && value <= 1e9)
    options->budget_us = (int64_t) ceil (value * 1e6);
  else if (end != text && *end == '\0' && value >= 1 && value <= 1e6 && value == floor (value))
    options->budget_n = (guint) value;
  else
    return refuse (
        error, "--budget: '%s' is neither seconds, such as 20s, nor a number of at least 1", text);
  return TRUE;
}

static int
parse_named (const char *option, const char *text, const char *const *names, int default_value,
             GError **error)
{
  return text ? cli_parse_choice (option, text, names, error) : default_value;
}

static gboolean
check_options (Options *options, GError **error)
{
  if (!cli_parse_format (&options->map.format, error) ||
      !cli_map_check_ranks (&options->map, FALSE, error) || !parse_budget (options, error))
    return FALSE;
  if (options->threads < 1 || options->threads > 1024)
    return refuse (error, "--threads: %d is not within 1..1024", options->threads);
  if (options->seed < 0)
    return refuse (error, "--seed: must not be negative");
  if (!(options->compute_scale >= 0) || !isfinite (options->compute_scale))
    return refuse (error, "--compute-scale: not a number of at least 0");
  options->network =
      parse_named ("--network", options->network_name, network_names, SIM_NETWORK_PACKET, error);
  if (options->network < 0)
    return FALSE;
  options->routing = parse_named ("--routing", options->routing_name, routing_names, 0, error);
  return options->routing >= 0;
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
  Options *options;
  TopoMachine *machine;
  StudyMatrix *matrix;
  gboolean is_trace;
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
    return refuse (error, "--network %s: a matrix has no times; only load knows it",
                   options->network_name);
  if (job->machine->fabric && options->routing >= ROUTE_POLICY_ZONE0)
    return refuse (error, "--routing %s: zones are a torus's, %s is a switched fabric",
                   options->routing_name, job->machine->spec);
  return TRUE;
}

static gboolean
prepare (Job *job, GError **error)
{
  Options *options = job->options;
  g_autoptr (TopoMapping) plain = NULL;

  if (!(job->machine = cli_machine_new (&options->map.machine, error)) ||
      !(job->matrix = load_matrix (job->path, job->machine, options, &job->is_trace, error)) ||
      !count_ranks (job, error) || !check_job (job, error) ||
      !(plain = topo_mapping_new (NULL, job->machine, job->n_ranks, error)) ||
      !(job->paths = route_paths_new (job->machine, error)) ||
      !(job->distance = study_distance_new (job->paths, error)))
    return FALSE;
  if (job->machine->fabric && options->routing == ROUTE_POLICY_DETERMINISTIC)
    job->machine->parameters.adaptive = TOPO_ADAPTIVE_NONE;
  options->objective =
      parse_named ("--objective", options->objective_name, objective_names,
                   job->is_trace ? STUDY_OBJECTIVE_BOTH : STUDY_OBJECTIVE_HOP_BYTES, error);
  if (options->objective < 0)
    return FALSE;
  job->graph = study_graph_new (study_matrix_edges (job->matrix), job->n_ranks);
  job->problem = (StudyProblem){ job->graph, job->distance, job->machine->ranks_per_node };
  job->candidates = study_candidates_new (
      &job->problem, job->paths, study_matrix_edges (job->matrix),
      (StudyObjective) options->objective, plain->name, study_placement_of (&job->problem, plain));
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
    fprintf (stderr, "hopcast: warning: %s\n", job->searched.scotch_error);
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

static gboolean
write_map (CliOutfile *file, const CliOptimum *optimum, GError **error)
{
  g_autofree char *comment = cli_optimum_comment (optimum);
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
  CliOptimum optimum;

  if (!prepare (job, error) || !(file = cli_outfile_new (options->map.output, error)) ||
      !search (job, error))
    return FALSE;
  optimum = (CliOptimum){
    .source = job->path,
    .network = simulates (job) ? network_names[options->network] : "load",
    .objective = objective_names[options->objective],
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
  cli_optimum_print (strcmp (options->map.output, "-") ? stdout : stderr, &optimum,
                     options->map.format.format);
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

  add_own_options (context, &options);
  if (!cli_parse (context, argc, argv, names, &job.path, error) || !check_options (&options, error))
    return CLI_FAILED;
  if (!options.map.output) {
    refuse (error, "--output FILE is missing");
    return CLI_FAILED;
  }
  take_signals ();
  job.start_us = g_get_monotonic_time ();
  if (!optimize (&job, error))
    return CLI_FAILED;
  return signalled ? 128 + signalled : CLI_DONE;
}
