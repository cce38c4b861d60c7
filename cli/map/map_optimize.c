/* map_optimize.c - `hopcast map optimize`: search for a better mapping.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/map/optimize_options.h"
#include "cli/map/optimum.h"
#include "cli/outfile.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "sim/net/load.h"
#include "study/search/matrix.h"
#include "study/search/optimize.h"
#include "study/plan/plan.h"
#include "study/search/search.h"

#include <signal.h>
#include <string.h>

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
census_matrix (Trace *trace, const TopoMachine *machine, const CliOptimizeOptions *options,
               GError **error)
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
load_matrix (const char *path, const TopoMachine *machine, const CliOptimizeOptions *options,
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
  const CliOptimizeOptions *options;
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
  const CliOptimizeOptions *options = job->options;

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
  const CliOptimizeOptions *options = job->options;
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
  job->objective = cli_optimize_objective (options, job->is_trace);
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
  const CliOptimizeOptions *options = job->options;
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
  const CliOptimizeOptions *options = job->options;
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
  const CliOptimizeOptions *options = job->options;
  g_autoptr (CliOutfile) file = NULL;
  CliOptimum optimum;

  if (!prepare (job, error) || !(file = cli_outfile_new (options->map.output, error)) ||
      !search (job, error))
    return FALSE;
  optimum = (CliOptimum){
    .source = job->path,
    .network = simulates (job) ? study_network_names[options->network] : "load",
    .objective = cli_objective_names[job->objective],
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
  g_auto (CliOptimizeOptions) options = CLI_OPTIMIZE_OPTIONS_INIT;
  g_auto (Job) job = { .options = &options };

  cli_add_optimize_options (context, &options);
  if (!cli_parse (context, argc, argv, names, &job.path, error) ||
      !cli_check_optimize_options (&options, error))
    return CLI_FAILED;
  take_signals ();
  job.start_us = g_get_monotonic_time ();
  if (!optimize (&job, error))
    return CLI_FAILED;
  return signalled ? 128 + signalled : CLI_DONE;
}
