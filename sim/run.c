/* run.c - one simulation from a spec to its record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "sim/run.h"

#include "sim/net/load.h"
#include "sim/run_key.h"

#include <string.h>
#include <sys/resource.h>

/* Callbacks between two looks at the wall clock, and time between two calls
 * of the progress function. */
#define PROGRESS_CALLBACKS   4096
#define PROGRESS_INTERVAL_US 100000

typedef struct {
  Trace *trace;
  const TopoMachine *machine;
  const TopoMapping *mapping;
  const SimRunOptions *options;
  const RoutePaths *paths;
  SimReplay *replay;  /* packet and flow */
  bool knows_sources; /* of it, once it is gone */
  SimEdges *edges;    /* load */
  SimRun *run;
  uint64_t n_callbacks;
  int64_t progress_us; /* when the progress function was last called */
} Job;

/* -- packet and flow: the replay on a network ---------------------------- */

static void
job_running (void *client, int64_t now_ps)
{
  Job *job = client;
  int64_t now_us = g_get_monotonic_time ();

  if (job->options->progress == NULL || now_us - job->progress_us < PROGRESS_INTERVAL_US)
    return;
  job->progress_us = now_us;
  job->options->progress (job->options->progress_data, sim_replay_progress (job->replay), now_ps);
}

static void
progress (Job *job, int64_t now_ps)
{
  if (++job->n_callbacks % PROGRESS_CALLBACKS == 0)
    job_running (job, now_ps);
}

static void
job_delivered (void *client, const SimMessage *message, int64_t now_ps)
{
  Job *job = client;

  progress (job, now_ps);
  sim_replay_client.delivered (job->replay, message, now_ps);
}

static void
job_timer (void *client, uint32_t rank, uint64_t cookie, int64_t now_ps)
{
  Job *job = client;

  progress (job, now_ps);
  sim_replay_client.timer (job->replay, rank, cookie, now_ps);
}

static void
job_sent (void *client, const SimMessage *message, int64_t now_ps)
{
  Job *job = client;

  progress (job, now_ps);
  sim_replay_client.sent (job->replay, message, now_ps);
}

static const SimClient job_client = { job_delivered, job_timer, job_sent, job_running };

static SimNetwork *
network_new (Job *job, GError **error)
{
  const SimRunOptions *options = job->options;

  if (options->network == SIM_NETWORK_FLOW)
    return sim_flow_new (job->machine, job->paths, job->mapping, options->policy, &job_client, job,
                         error);
  if (job->machine->fabric != NULL)
    return sim_ib_new (job->machine, job->paths, job->mapping, &job_client, job, error);
  return sim_packet_new (job->machine, job->mapping, options->policy, &job_client, job, error);
}

/* The record outlives the replay. */
static void
result_copy (SimRun *run, const SimReplayResult *result)
{
  run->result = *result;
  run->result.ranks = g_new (SimRankTimes, result->n_ranks);
  memcpy (run->result.ranks, result->ranks, result->n_ranks * sizeof (SimRankTimes));
  run->result.warnings = g_ptr_array_ref (result->warnings);
}

static gboolean
replay_once (Job *job, bool recorded_sources, GError **error)
{
  SimReplayOptions options = { .compute_scale = job->options->compute_scale,
                               .policy = job->options->policy,
                               .recorded_sources = recorded_sources,
                               .timeline = job->options->timeline };
  SimNetwork *network;
  gboolean done;

  job->replay = sim_replay_new (job->trace, job->machine, job->mapping, &options, error);
  if (job->replay == NULL)
    return FALSE;
  network = network_new (job, error);
  done = network != NULL && sim_replay_run (job->replay, network, error);
  if (done) {
    result_copy (job->run, sim_replay_result (job->replay));
    sim_features_compute (job->run->features, job->paths, job->mapping,
                          sim_replay_edges (job->replay), network->counters);
    job->run->counters = g_steal_pointer (&network->counters);
  }
  job->knows_sources = sim_replay_knows_sources (job->replay);
  sim_network_free (network);
  sim_replay_free (job->replay);
  return done;
}

/* A receive from any source that gets another one than it got when recorded
 * may leave a later receive without its message.  The program would have gone
 * another way, which the trace does not have.  The flow network can be made
 * only once in a process. */
static gboolean
run_replay (Job *job, GError **error)
{
  g_autoptr (GError) trouble = NULL;

  if (replay_once (job, false, &trouble))
    return TRUE;
  if (g_error_matches (trouble, SIM_ERROR, SIM_ERROR_DEADLOCK) && job->knows_sources &&
      job->options->network == SIM_NETWORK_PACKET && replay_once (job, true, NULL)) {
    g_ptr_array_add (job->run->warnings,
                     g_strdup ("receives from any source were replayed with the sources they got "
                               "when recorded, as the trace cannot end otherwise"));
    return TRUE;
  }
  g_propagate_error (error, g_steal_pointer (&trouble));
  return FALSE;
}

/* -- load: static paths -------------------------------------------------- */

static void
job_message (void *data, uint32_t source, uint32_t destination, uint64_t bytes,
             bool direct_collective)
{
  Job *job = data;
  SimReplayResult *result = &job->run->result;

  result->messages++;
  result->message_bytes += bytes;
  sim_edges_add (job->edges, source, destination, 1, bytes);
  sim_load_add (job->run->counters, job->paths, job->mapping, source, destination, bytes,
                direct_collective);
}

static void
load_progress (void *data, double share)
{
  const SimRunOptions *options = ((Job *) data)->options;

  if (options->progress != NULL)
    options->progress (options->progress_data, share, 0);
}

static void
count_collectives (SimRun *run, const SimCensus *census)
{
  for (uint32_t kind = 0; kind < TRACE_N_OPS; kind++)
    run->result.collectives += census->collectives[kind];
}

/* What a walk through the trace would tell is known. */
static void
load_traffic (Job *job, const SimTraffic *traffic)
{
  SimRun *run = job->run;

  sim_traffic_load (traffic, run->counters, job->paths, job->mapping);
  run->result.messages = traffic->messages;
  run->result.message_bytes = traffic->bytes;
  count_collectives (run, &traffic->census);
  sim_features_compute_sorted (run->features, job->paths, job->mapping, traffic->edges,
                               traffic->n_edges, run->counters);
}

static gboolean
load_trace (Job *job, GError **error)
{
  SimRun *run = job->run;
  SimCensus census;
  gboolean done;

  job->edges = sim_edges_new (job->mapping->n_ranks);
  done = sim_census (job->trace, job->machine, SIM_CENSUS_COLLECTIVES, false, job_message, job,
                     load_progress, job, &census, error);
  if (done) {
    count_collectives (run, &census);
    sim_features_compute (run->features, job->paths, job->mapping, job->edges, run->counters);
  }
  sim_edges_free (job->edges);
  return done;
}

static gboolean
run_load (Job *job, GError **error)
{
  SimRun *run = job->run;

  if (trace_ranks (job->trace) != job->mapping->n_ranks) {
    g_set_error (error, SIM_ERROR, SIM_ERROR_TRACE, "%s: %u ranks, but the mapping places %u",
                 trace_path (job->trace), trace_ranks (job->trace), job->mapping->n_ranks);
    return FALSE;
  }
  run->counters = sim_counters_new (job->machine);
  run->result.n_ranks = job->mapping->n_ranks;
  run->result.ranks = g_new0 (SimRankTimes, job->mapping->n_ranks);
  run->result.warnings = g_ptr_array_new_with_free_func (g_free);
  if (job->options->traffic == NULL)
    return load_trace (job, error);
  load_traffic (job, job->options->traffic);
  return TRUE;
}

/* -- the record ---------------------------------------------------------- */

static void
warnings_append (GPtrArray *to, const GPtrArray *from)
{
  for (guint i = 0; from != NULL && i < from->len; i++)
    g_ptr_array_add (to, g_strdup (g_ptr_array_index (from, i)));
}

/* Of the whole process, so the largest of all runs so far in a study. */
static uint64_t
peak_rss_bytes (void)
{
  struct rusage usage;

  return getrusage (RUSAGE_SELF, &usage) == 0 ? (uint64_t) usage.ru_maxrss * 1024 : 0;
}

/* A fabric's packets go where its tables say. */
static gboolean
check_policy (const TopoMachine *machine, RoutePolicy policy, GError **error)
{
  if (machine->fabric == NULL || policy < ROUTE_POLICY_ZONE0)
    return TRUE;
  g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
               "%s: routing zones are a torus's; a fabric's packets follow its forwarding tables",
               machine->spec);
  return FALSE;
}

static gboolean
set_key (Job *job, GError **error)
{
  job->run->key = job->options->key != NULL
                      ? g_strdup (job->options->key)
                      : sim_run_key (job->trace, job->paths, job->mapping, job->options, error);
  return job->run->key != NULL;
}

static gboolean
run_job (Job *job, GError **error)
{
  /* Tables of a fabric may take seconds. */
  g_autoptr (RoutePaths) own = NULL;

  if (!check_policy (job->machine, job->options->policy, error))
    return FALSE;
  job->paths = job->options->paths;
  if (job->paths == NULL)
    job->paths = own = route_paths_new (job->machine, error);
  if (job->paths == NULL || !route_paths_check (job->paths, job->mapping, error) ||
      !set_key (job, error))
    return FALSE;
  return job->options->network == SIM_NETWORK_LOAD ? run_load (job, error)
                                                   : run_replay (job, error);
}

SimRun *
sim_run (Trace *trace, const TopoMachine *machine, const TopoMapping *mapping,
         const SimRunOptions *options, GError **error)
{
  g_autoptr (SimRun) run = g_new0 (SimRun, 1);
  Job job = {
    .trace = trace, .machine = machine, .mapping = mapping, .options = options, .run = run
  };
  int64_t begin_us = g_get_monotonic_time ();
  gboolean done;

  run->warnings = g_ptr_array_new_with_free_func (g_free);
  done = run_job (&job, error);
  if (!done)
    return NULL;
  topo_machine_assumptions (machine, run->warnings);
  if (machine->fabric != NULL)
    warnings_append (run->warnings, machine->fabric->warnings);
  warnings_append (run->warnings, trace_warnings (trace));
  warnings_append (run->warnings, run->result.warnings);
  run->wall_s = (double) (g_get_monotonic_time () - begin_us) / 1e6;
  run->peak_rss_bytes = peak_rss_bytes ();
  return g_steal_pointer (&run);
}

void
sim_run_free (SimRun *run)
{
  if (run == NULL)
    return;
  g_free (run->key);
  g_free (run->result.ranks);
  g_clear_pointer (&run->result.warnings, g_ptr_array_unref);
  g_clear_pointer (&run->warnings, g_ptr_array_unref);
  sim_counters_free (run->counters);
  g_free (run);
}
