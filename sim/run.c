/* run.c - one simulation from a spec to its record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/run.h"

#include "base/error.h"
#include "sim/net/load.h"

#include <string.h>
#include <sys/resource.h>

/* --- The key of a run: a hash of all its inputs --- */

static void
add_data (GChecksum *sum, const char *name, gconstpointer data, gsize n_bytes)
{
  /* The length keeps a value from running into the next name. */
  g_autofree char *head = g_strdup_printf ("%s %zu\n", name, n_bytes);

  g_checksum_update (sum, (const guchar *) head, -1);
  g_checksum_update (sum, data, (gssize) n_bytes);
}

static void
add_text (GChecksum *sum, const char *name, const char *text)
{
  add_data (sum, name, text, strlen (text));
}

/* The text of a machine file: its values, not its comments. */
static void
add_settings (GChecksum *sum, const char *name, const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GString) settings = g_string_new (NULL);

  for (char **line = lines; *line != NULL; line++)
    if (**line != '#')
      g_string_append_printf (settings, "%s\n", *line);
  add_text (sum, name, settings->str);
}

static void
add_number (GChecksum *sum, const char *name, uint64_t number)
{
  char text[24];

  g_snprintf (text, sizeof text, "%" G_GUINT64_FORMAT, number);
  add_text (sum, name, text);
}

/* A row of numbers, the same on every machine. */
static void
add_row (GChecksum *sum, const uint32_t *numbers, uint32_t n)
{
  for (uint32_t at = 0; at < n; at++) {
    uint32_t little = GUINT32_TO_LE (numbers[at]);

    g_checksum_update (sum, (const guchar *) &little, sizeof little);
  }
}

#define PLACE_BYTES 5 /* node, little-endian, and slot */

/* The files that describe a fabric lie anywhere and are edited, so neither the
 * spec nor a path identifies the machine. */
static void
add_fabric (GChecksum *sum, const TopoMachine *machine, const RouteForwarding *tables)
{
  g_autoptr (GString) parameters = g_string_new (NULL);
  const TopoFabric *fabric = machine->fabric;

  topo_parameters_print (&machine->parameters, parameters);
  add_settings (sum, "parameters", parameters->str);
  add_number (sum, "nodes", topo_shape_nodes (&machine->shape));
  add_data (sum, "cores", machine->slot_core, machine->ranks_per_node);
  add_number (sum, "devices", fabric->n_devices);
  for (uint32_t device = 0; device < fabric->n_devices; device++) {
    const TopoDevice *it = &fabric->devices[device];

    add_row (sum, (const uint32_t[]){ it->is_switch, it->n_ports, it->node }, 3);
  }
  add_number (sum, "links", fabric->n_links);
  for (uint32_t port = 0; port < fabric->n_ports; port++) {
    const TopoPort *it = &fabric->ports[port];

    if (it->peer != TOPO_NONE)
      add_row (sum, (const uint32_t[]){ port, it->peer, it->lanes, it->speed }, 4);
  }
  add_data (sum, "tables", tables->out, (gsize) tables->n_switches * tables->n_destinations);
  if (tables->vl != NULL)
    add_data (sum, "lanes", tables->vl, (gsize) tables->n_destinations * tables->n_destinations);
  if (machine->node == NULL)
    return;
  add_number (sum, "objects", machine->node->n_objects);
  for (uint32_t object = 0; object < machine->node->n_objects; object++) {
    const TopoObject *it = &machine->node->objects[object];

    add_row (sum,
             (const uint32_t[]){ it->kind, it->level, it->parent, it->first_core, it->n_cores,
                                 (uint32_t) it->cache_bytes, (uint32_t) (it->cache_bytes >> 32),
                                 it->is_hbm },
             8);
  }
  if (machine->node->first_thread != NULL)
    add_row (sum, machine->node->first_thread, machine->node->n_cores);
  add_number (sum, "adapter", machine->node->adapter);
}

char *
sim_run_key_of_hash (const char *trace_hash, const RoutePaths *paths, const TopoMapping *mapping,
                     const SimRunOptions *options)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  gsize n_place_bytes = (gsize) mapping->n_ranks * PLACE_BYTES;
  g_autofree guchar *places = g_malloc (n_place_bytes);
  char scale[G_ASCII_DTOSTR_BUF_SIZE];

  add_text (sum, "version", PACKAGE_VERSION);
  add_text (sum, "trace", trace_hash);
  if (paths->tables != NULL) {
    add_fabric (sum, paths->machine, paths->tables);
  } else {
    g_autofree char *text = topo_machine_print (paths->machine);

    add_settings (sum, "machine", text);
  }

  /* The place of each rank; the name of the mapping does not count. */
  add_number (sum, "ranks", mapping->n_ranks);
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    guchar *place = &places[(gsize) rank * PLACE_BYTES];
    uint32_t little = GUINT32_TO_LE (mapping->node[rank]);

    memcpy (place, &little, sizeof little);
    place[sizeof little] = mapping->slot[rank];
  }
  g_checksum_update (sum, places, (gssize) n_place_bytes);

  add_number (sum, "network", options->network);
  add_number (sum, "policy", options->policy);
  add_text (sum, "compute_scale", g_ascii_dtostr (scale, sizeof scale, options->compute_scale));
  add_number (sum, "seed", options->seed);
  /* Runs of earlier versions had neither. */
  if (options->jitter_ps > 0)
    add_number (sum, "jitter", (uint64_t) options->jitter_ps);
  if (!sim_shrink_is_off (options->shrink)) {
    g_autofree char *shrink = sim_shrink_text (options->shrink);

    add_text (sum, "shrink", shrink);
  }
  return g_strdup (g_checksum_get_string (sum));
}

char *
sim_run_key (Trace *trace, const RoutePaths *paths, const TopoMapping *mapping,
             const SimRunOptions *options, GError **error)
{
  const char *hash = trace_hash (trace, error);

  return hash != NULL ? sim_run_key_of_hash (hash, paths, mapping, options) : NULL;
}

/* --- Packet and flow: the replay on a network --- */

typedef struct SimRunning {
  Trace *trace;
  const TopoMachine *machine;
  const TopoMapping *mapping;
  const SimRunOptions *options;
  const RoutePaths *paths;
  SimReplay *replay;   /* packet and flow */
  bool knows_sources;  /* of the last one */
  uint32_t n_threads;  /* one that is resumed without a number has as many as before */
  GError *trouble;     /* why it is replayed a second time; NULL: it is the first */
  GError *stopped;     /* why the pause function ended it */
  BaseDump *resume;    /* what the replay goes on from; NULL: nothing, or gone */
  SimEdges *edges;     /* load */
  SimShrinkPlan *plan; /* NULL: not made yet, or every packet is simulated */
  SimRun *run;
  int64_t begin_us; /* less the time that it took before it was resumed */
} Job;

/* --- Saving and loading --- */

#define MAX_THREADS 1024u
#define DUMP_KIND   "hopcast checkpoint 10"

static bool
is_same (BaseDump *dump, const char *mine, char **theirs)
{
  *theirs = g_strdup (mine);
  base_dump_text (dump, theirs);
  return g_strcmp0 (mine, *theirs) == 0;
}

/* Whose state it is: the same inputs, read by the same version. */
static void
identity_dump (Job *job, BaseDump *dump)
{
  g_autofree char *version = NULL, *trace = NULL, *key = NULL;
  uint32_t n_threads = job->n_threads;

  base_dump_section (dump, "run");
  if (!is_same (dump, PACKAGE_VERSION, &version))
    base_dump_fail (dump, "is of hopcast %s, and this is %s", version, PACKAGE_VERSION);
  if (!is_same (dump, trace_hash (job->trace, NULL), &trace))
    base_dump_fail (dump, "is of another trace than %s", trace_path (job->trace));
  if (!is_same (dump, job->run->key, &key))
    base_dump_fail (dump, "is of this trace, but of another machine, mapping or other options");
  BASE_DUMP_VALUE (dump, n_threads);
  if (job->options->n_threads == 0)
    job->n_threads = CLAMP (n_threads, 1, MAX_THREADS);
}

static void
warnings_dump (Job *job, BaseDump *dump)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  const GPtrArray *known = trace_warnings (job->trace);
  uint32_t n = base_dump_loads (dump) ? 0 : known->len;

  BASE_DUMP_VALUE (dump, n);
  for (uint32_t i = 0; i < n && !base_dump_has_failed (dump); i++) {
    char *text = base_dump_loads (dump) ? NULL : g_strdup (known->pdata[i]);

    base_dump_text (dump, &text);
    g_ptr_array_add (warnings, text);
  }
  if (base_dump_loads (dump) && !base_dump_has_failed (dump))
    trace_set_warnings (job->trace, warnings);
}

/* All but the replay. */
static void
job_dump (Job *job, BaseDump *dump)
{
  g_autofree char *trouble = job->trouble == NULL ? NULL : g_strdup (job->trouble->message);
  int64_t wall_us = g_get_monotonic_time () - job->begin_us;

  identity_dump (job, dump);
  warnings_dump (job, dump);
  base_dump_text (dump, &trouble);
  BASE_DUMP_VALUE (dump, wall_us);
  if (!base_dump_loads (dump))
    return;
  job->begin_us -= wall_us;
  /* What a second replay has come after is a deadlock. */
  if (trouble != NULL)
    job->trouble = g_error_new_literal (SIM_ERROR, SIM_ERROR_DEADLOCK, trouble);
}

gboolean
sim_run_save (SimRunning *running, FILE *stream, GError **error)
{
  g_autoptr (BaseDump) dump = base_dump_save (stream, DUMP_KIND);

  job_dump (running, dump);
  sim_replay_save (running->replay, dump);
  return base_dump_end (dump, error);
}

static gboolean
job_load (Job *job, GError **error)
{
  job->resume = base_dump_load (job->options->resume, DUMP_KIND, error);
  if (job->resume == NULL)
    return FALSE;
  job_dump (job, job->resume);
  if (!base_dump_has_failed (job->resume))
    return TRUE;
  base_dump_end (job->resume, error);
  g_clear_pointer (&job->resume, base_dump_free);
  return FALSE;
}

/* --- The network's calls --- */

/* SimReplayOptions.pause */
static bool
job_pause (void *data)
{
  Job *job = data;

  return job->options->pause (job->options->pause_data, job, &job->stopped);
}

/* Says what was not done as it was asked. */
static void
warn_of_plan (Job *job)
{
  const SimShrinkPlan *plan = job->plan;
  GPtrArray *warnings = job->run->warnings;

  if (plan->factor == 1 && plan->shortest_bytes < UINT64_MAX)
    g_ptr_array_add (warnings,
                     g_strdup_printf ("messages were not shrunk: the shortest between two nodes "
                                      "has %" G_GUINT64_FORMAT " bytes, too few packets, and no "
                                      "phase of the trace is without such",
                                      plan->shortest_bytes));
  if (plan->factor > 1 && plan->factor < job->options->shrink.factor)
    g_ptr_array_add (warnings, g_strdup_printf ("messages were shrunk %u times only, as packets "
                                                "cannot hold more",
                                                plan->factor));
  if (plan->factor > 1 && plan->n_shrunk_phases < plan->n_phases)
    g_ptr_array_add (warnings, g_strdup_printf ("messages were shrunk in %u of %u phases, with "
                                                "%.3g %% of the bytes: the others have shorter "
                                                "messages",
                                                plan->n_shrunk_phases, plan->n_phases,
                                                100 * plan->shrunk_share));
}

/* Finds out which messages are shrunk, and how much, which is the same for a second replay. */
static gboolean
set_shrink (Job *job, SimNetwork *network, GError **error)
{
  if (sim_shrink_is_off (job->options->shrink))
    return TRUE;
  if (job->plan == NULL) {
    job->plan =
        sim_shrink_plan (job->options->shrink, job->trace, job->options->traffic, job->machine,
                         job->mapping, job->options->policy, network->most_shrink, error);
    if (job->plan == NULL)
      return FALSE;
    job->run->shrink = job->plan->factor;
    job->run->shrink_share = job->plan->shrunk_share;
    warn_of_plan (job);
  }
  sim_network_set_shrink (network, job->plan->factor);
  if (job->plan->exact != NULL)
    sim_replay_set_exact (job->replay, job->plan->exact, job->plan->n_exact);
  return TRUE;
}

static gboolean
run_network (Job *job, SimNetwork *network, GError **error)
{
  gboolean done;

  if (!set_shrink (job, network, error))
    return FALSE;
  for (uint32_t part = 0; part < sim_network_n_parts (network); part++)
    sim_network_part (network, part)->windows_per_call = job->options->windows_per_pause;
  if (job->options->loads != NULL) {
    sim_link_loads_begin (job->options->loads);
    sim_network_watch (network, job->options->loads);
  }
  if (job->resume == NULL)
    return sim_replay_run (job->replay, network, error);
  done = sim_replay_resume (job->replay, network, job->resume, error);
  g_clear_pointer (&job->resume, base_dump_free);
  return done;
}

static gboolean
replay_once (Job *job, bool recorded_sources, uint32_t n_threads, GError **error)
{
  bool has_loop = job->run->iterations != NULL && job->run->iterations->count > 0;
  SimReplayOptions options = { .compute_scale = job->options->compute_scale,
                               .policy = job->options->policy,
                               .recorded_sources = recorded_sources,
                               .jitter_ps = job->options->jitter_ps,
                               .seed = job->options->seed,
                               .timeline = job->options->timeline,
                               .routes = job->options->critical_path ? job->paths : NULL,
                               .iterations = has_loop ? job->run->iterations : NULL,
                               .progress = job->options->progress,
                               .progress_data = job->options->progress_data,
                               .pause = job->options->pause == NULL ? NULL : job_pause,
                               .pause_data = job };
  RoutePolicy policy = job->options->policy;
  SimEdges *edges = NULL;
  SimReplay *replay = sim_replay_new (job->trace, job->machine, job->mapping, &options, error);
  SimNetwork *network;
  gboolean done;

  if (replay == NULL)
    return FALSE;
  if (job->options->network == SIM_NETWORK_FLOW)
    network = sim_flow_new (job->machine, job->paths, job->mapping, policy, &sim_replay_client,
                            replay, error);
  else if (job->machine->fabric != NULL)
    network =
        sim_ib_new (job->machine, job->paths, job->mapping, &sim_replay_client, replay, error);
  else
    network = sim_packet_new (job->machine, job->mapping, policy, n_threads, &sim_replay_client,
                              replay, error);
  job->replay = replay;
  done = network != NULL && run_network (job, network, error);
  if (done && job->options->loads != NULL)
    sim_link_loads_take (job->options->loads, network->counters, INT64_MAX);
  if (done) {
    /* The record outlives the replay. */
    job->run->result = *sim_replay_result (replay);
    job->run->result.ranks =
        g_memdup2 (job->run->result.ranks, job->run->result.n_ranks * sizeof (SimRankTimes));
    g_ptr_array_ref (job->run->result.warnings);
    job->run->counters = g_steal_pointer (&network->counters);
    edges = sim_replay_take_edges (replay);
  }
  job->knows_sources = sim_replay_knows_sources (replay);
  sim_network_free (network);
  sim_replay_free (replay);
  /* Not before: the sorted edges take the room that replay and network had. */
  if (done)
    sim_features_compute (job->run->features, job->paths, job->mapping, edges, job->run->counters);
  sim_edges_free (edges);
  return done;
}

/* A receive from any source that gets another one than it got when recorded
 * may leave a later receive without its message.  The program would have gone
 * another way, which the trace does not have.  The flow network can be made
 * only once in a process.
 *
 * Of several errors threads may find another one first than one thread does, which therefore
 * looks for it again: all that fails fails with the same message. */
static gboolean
run_replay (Job *job, GError **error)
{
  g_autoptr (GError) second = NULL;
  bool is_second = job->trouble != NULL; /* one that is resumed may be it already */
  uint32_t n_threads = job->n_threads;

  if (!is_second && replay_once (job, false, n_threads, &job->trouble))
    return TRUE;
  if (n_threads > 1 && (g_error_matches (job->trouble, SIM_ERROR, SIM_ERROR_TRACE) ||
                        g_error_matches (job->trouble, SIM_ERROR, SIM_ERROR_MISMATCH))) {
    g_clear_error (&job->trouble);
    return replay_once (job, false, 1, error);
  }
  if (is_second || (g_error_matches (job->trouble, SIM_ERROR, SIM_ERROR_DEADLOCK) &&
                    job->knows_sources && job->options->network == SIM_NETWORK_PACKET)) {
    if (replay_once (job, true, n_threads, &second)) {
      g_ptr_array_add (job->run->warnings,
                       g_strdup ("receives from any source were replayed with the sources they got "
                                 "when recorded, as the trace cannot end otherwise"));
      return TRUE;
    }
  }
  if (job->stopped != NULL)
    g_propagate_error (error, g_steal_pointer (&job->stopped));
  else if (g_error_matches (second, BASE_ERROR, BASE_ERROR_DUMP))
    g_propagate_error (error, g_steal_pointer (&second));
  else
    g_propagate_error (error, g_steal_pointer (&job->trouble));
  return FALSE;
}

/* --- Load: static paths --- */

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

static gboolean
run_load (Job *job, GError **error)
{
  const SimTraffic *traffic = job->options->traffic;
  SimRun *run = job->run;
  SimCensus census;
  gboolean done;

  if (trace_ranks (job->trace) != job->mapping->n_ranks) {
    g_set_error (error, SIM_ERROR, SIM_ERROR_TRACE, "%s: %u ranks, but the mapping places %u",
                 trace_path (job->trace), trace_ranks (job->trace), job->mapping->n_ranks);
    return FALSE;
  }
  run->counters = sim_counters_new (job->machine);
  run->result.n_ranks = job->mapping->n_ranks;
  run->result.ranks = g_new0 (SimRankTimes, job->mapping->n_ranks);
  run->result.warnings = g_ptr_array_new_with_free_func (g_free);

  /* A walk through the trace would find the same messages. */
  if (traffic != NULL) {
    sim_traffic_load (traffic, run->counters, job->paths, job->mapping);
    run->result.messages = traffic->messages;
    run->result.message_bytes = traffic->bytes;
    count_collectives (run, &traffic->census);
    sim_features_compute_sorted (run->features, job->paths, job->mapping, traffic->edges,
                                 traffic->n_edges, run->counters);
    return TRUE;
  }
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

/* --- Imbalance ---
 *
 * The average rank has to wait for the slowest one, at the end of the run at the latest, for as long as
 * that one computes more.  Its messages may come so much later without making the run longer: the time
 * does not show whether links were congested.  The time less the slowest rank's computation is the
 * most that the network can have taken.
 *
 * That rest also has the waits for computation when another rank is the slowest in every step, so the
 * imbalance need not be as long as the rest to hide the network.  A third of it is where recorded
 * programs divide.  Above it (NPB EP, FT, IS, MG; LULESH; LAMMPS on 64 ranks) the times of 16 placements
 * are within 0.8 % of each other; below it (NPB BT, CG, LU, SP; CoMD; LAMMPS on 16 ranks) they are 0.9 to
 * 13 % apart, over the mean. */
#define IMBALANCE_SHARE (1.0 / 3)

static void
warn_of_imbalance (SimRun *run)
{
  const SimReplayResult *result = &run->result;
  int64_t longest_ps = 0, shortest_ps = INT64_MAX;
  double sum_ps = 0, more_ps;

  for (uint32_t rank = 0; rank < result->n_ranks; rank++) {
    longest_ps = MAX (longest_ps, result->ranks[rank].compute_ps);
    shortest_ps = MIN (shortest_ps, result->ranks[rank].compute_ps);
    sum_ps += (double) result->ranks[rank].compute_ps;
  }
  /* Equal computation is balanced, whatever the rounding of its sum. */
  if (longest_ps <= shortest_ps || result->messages + result->collectives == 0)
    return;
  more_ps = (double) longest_ps - sum_ps / result->n_ranks;
  if (more_ps <= IMBALANCE_SHARE * (double) MAX (0, result->time_ps - longest_ps))
    return;
  g_ptr_array_add (run->warnings,
                   g_strdup_printf (SIM_IMBALANCE_WARNING
                                    "the slowest rank computes %.3g s longer than the average, "
                                    "which hides communication: the time says little about the "
                                    "mapping; --compute-scale 0 leaves computation out",
                                    more_ps / 1e12));
}

/* --- The record --- */

static void
warnings_append (GPtrArray *to, const GPtrArray *from)
{
  for (guint i = 0; from != NULL && i < from->len; i++)
    g_ptr_array_add (to, g_strdup (g_ptr_array_index (from, i)));
}

SimRun *
sim_run (Trace *trace, const TopoMachine *machine, const TopoMapping *mapping,
         const SimRunOptions *options, GError **error)
{
  g_autoptr (SimRun) run = g_new0 (SimRun, 1);
  g_autoptr (RoutePaths) own = NULL; /* tables of a fabric may take seconds */
  Job job = {
    .trace = trace,
    .machine = machine,
    .mapping = mapping,
    .options = options,
    .run = run,
    .begin_us = g_get_monotonic_time (),
    .n_threads = options->timeline == NULL ? MAX (1, options->n_threads) : 1,
  };
  struct rusage usage;
  gboolean done;

  run->warnings = g_ptr_array_new_with_free_func (g_free);
  if (options->network != SIM_NETWORK_PACKET &&
      (options->pause != NULL || options->resume != NULL)) {
    g_set_error_literal (error, SIM_ERROR, SIM_ERROR_NETWORK,
                         "only a run on the packet network can be saved and resumed");
    return NULL;
  }
  if (options->network != SIM_NETWORK_PACKET && !sim_shrink_is_off (options->shrink)) {
    g_set_error_literal (error, SIM_ERROR, SIM_ERROR_NETWORK,
                         "messages can be shrunk on the packet network only");
    return NULL;
  }
  if (machine->fabric != NULL && options->policy >= ROUTE_POLICY_ZONE0) {
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "%s: routing zones are a torus's; a fabric's packets follow its forwarding tables",
                 machine->spec);
    return NULL;
  }
  job.paths = options->paths;
  if (job.paths == NULL)
    job.paths = own = route_paths_new (machine, error);
  if (job.paths == NULL || !route_paths_check (job.paths, mapping, error))
    return NULL;
  run->key = options->key != NULL ? g_strdup (options->key)
                                  : sim_run_key (trace, job.paths, mapping, options, error);
  if (run->key == NULL)
    return NULL;
  if (options->iterations && options->network != SIM_NETWORK_LOAD &&
      (run->iterations = sim_iterations_new (trace, error)) == NULL)
    return NULL;
  if (options->resume != NULL && !job_load (&job, error))
    return NULL;
  run->shrink = 1;
  done = options->network == SIM_NETWORK_LOAD ? run_load (&job, error) : run_replay (&job, error);
  g_clear_pointer (&job.resume, base_dump_free);
  g_clear_pointer (&job.plan, sim_shrink_plan_free);
  g_clear_error (&job.trouble);
  g_clear_error (&job.stopped);
  if (!done)
    return NULL;
  topo_machine_assumptions (machine, run->warnings);
  if (machine->fabric != NULL)
    warnings_append (run->warnings, machine->fabric->warnings);
  warnings_append (run->warnings, trace_warnings (trace));
  warnings_append (run->warnings, run->result.warnings);
  warn_of_imbalance (run);
  run->wall_s = (double) (g_get_monotonic_time () - job.begin_us) / 1e6;
  /* Of the whole process, so the largest of all runs so far in a study. */
  if (getrusage (RUSAGE_SELF, &usage) == 0)
    run->peak_rss_bytes = (uint64_t) usage.ru_maxrss * 1024;
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
  sim_iterations_free (run->iterations);
  g_free (run);
}
