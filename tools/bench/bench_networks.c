/* bench_networks.c - packet-hops per second: networks alone, under MPI, with and without what adapters
 * cost, and beside SimGrid.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rank = node.  Every node hands all its messages over at once, so the network runs saturated: the
 * dearest case, where most packets wait at most routers.  The same list of messages goes to the
 * network, to the replay (receives, sends, one wait for all), to SimGrid and to the speed of light.
 *
 * The physical argument of a torus: the cache lines that one packet-hop must touch.  When a packet
 * goes: its port, the times of its slots, the node's line of neighbours, the packet in its receive
 * buffer and the counters beside it.  At the next node: the slot that it enters, the port that it
 * wants, and a link of that port's list; at the one before it: the slot whose token goes back.  That
 * is 8 lines and 1.25 entries of buckets of 4 or 8 bytes.  As long as the nodes (3.9 KB each) fit in
 * the second-level cache that is compute (some 700 instructions); beyond, the ports of a window are
 * known in advance and the lines are fetched ahead.  A dynamic packet adds three entries that its
 * node puts in the order of time (its arrival, its token, the look of its port) and the lines of the
 * node's queues.
 *
 * A fabric's packet-hop: the port, its lane and its counters, the packet, the slots of the input
 * buffer; the port where it goes on; the sender's lane for the credits: 7 lines.  Where ports contend
 * also the queue of its input, and the lane, the queue and the packet before it where it goes on.  1.3
 * to 1.7 events are sorted by time, those of switches switch by switch.  A packet has only four hops
 * to pay for its adapters: the pair and the message, of which there are too many to stay in the cache,
 * and, where the ranks may need more contexts than the adapter holds, the number of its context's last use
 * beside those of the same adapter.  A context that is fetched costs three more.
 *
 * The speed of light touches three: the packet, the word of the wheel, the link. */
#include "base/library.h"
#include "base/random.h"
#include "sim/run.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_light.h"
#include "traces/trace_testing.h"
#include "traces/writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum {
  MESSAGE_BYTES = 16384,
  MESSAGES = 40960, /* of all nodes together, but at least one round */
  NEIGHBOUR_MESSAGES = 102400,
  SIMGRID_MESSAGES = 2048,
  NEIGHBOURS = 10, /* of a node of a fabric; a Blue Gene/Q has as many links */
  HOT_SHARE = 10,  /* one message in so many goes to the hot spot */
};

typedef enum { UNIFORM, NEAREST, ALL_TO_ALL, HOT_SPOT } Pattern;
static const char *const pattern_names[] = { "uniform", "neighbours", "all-to-all", "hot spot" };

typedef enum { ALONE, REPLAY, FLOW, SMPIRUN } How;

typedef struct {
  const char *spec;
  Pattern pattern;
  bool dynamic;
  How how;
  bool large;
} Case;

static const Case cases[] = {
  /* Every pattern at the size of the targets. */
  { "bgq:1024", UNIFORM, false, ALONE, false },
  { "bgq:1024", UNIFORM, true, ALONE, false },
  { "bgq:1024", UNIFORM, false, REPLAY, false },
  { "bgq:1024", UNIFORM, true, REPLAY, false },
  { "bgq:1024", NEAREST, false, ALONE, false },
  { "bgq:1024", NEAREST, false, REPLAY, false },
  { "bgq:1024", ALL_TO_ALL, false, ALONE, false },
  { "bgq:1024", ALL_TO_ALL, true, ALONE, false },
  { "bgq:1024", ALL_TO_ALL, false, REPLAY, false },
  { "bgq:1024", ALL_TO_ALL, true, REPLAY, false },
  { "bgq:1024", HOT_SPOT, false, ALONE, false },
  { "bgq:1024", HOT_SPOT, true, ALONE, false },
  { "bgq:1024", HOT_SPOT, false, REPLAY, false },
  { "bgq:1024", HOT_SPOT, true, REPLAY, false },
  /* Other sizes. */
  { "bgq:512", UNIFORM, false, ALONE, false },
  { "bgq:512", UNIFORM, true, ALONE, false },
  { "bgq:512", UNIFORM, false, REPLAY, false },
  { "bgq:512", NEAREST, false, ALONE, false },
  { "bgq:512", NEAREST, false, REPLAY, false },
  { "bgq:4096", UNIFORM, false, ALONE, false },
  { "bgq:4096", UNIFORM, true, ALONE, false },
  { "bgq:4096", UNIFORM, false, REPLAY, false },
  { "bgq:4096", NEAREST, false, ALONE, false },
  { "bgq:4096", NEAREST, false, REPLAY, false },
  { "bgq:16384", UNIFORM, false, ALONE, false },
  { "bgq:16384", UNIFORM, true, ALONE, false },
  { "bgq:16384", UNIFORM, false, REPLAY, false },
  { "bgq:16384", NEAREST, false, ALONE, false },
  { "bgq:16384", NEAREST, false, REPLAY, false },
  { "bgq:49152", UNIFORM, false, ALONE, true },
  { "bgq:49152", UNIFORM, true, ALONE, true },
  { "bgq:49152", UNIFORM, false, REPLAY, true },
  { "bgq:49152", NEAREST, false, ALONE, true },
  { "bgq:49152", NEAREST, false, REPLAY, true },
  { "bgq:98304", UNIFORM, false, ALONE, true },
  { "bgq:98304", UNIFORM, true, ALONE, true },
  { "bgq:98304", UNIFORM, false, REPLAY, true },
  { "bgq:98304", NEAREST, false, ALONE, true },
  { "bgq:98304", NEAREST, false, REPLAY, true },
  /* Fabrics of 324 and 5,184 nodes. */
  { "fattree:18x18:9", UNIFORM, false, ALONE, false },
  { "fattree:18x18:9", UNIFORM, false, REPLAY, false },
  { "fattree:18x18:9", NEAREST, false, ALONE, false },
  { "fattree:18x18:9", NEAREST, false, REPLAY, false },
  { "fattree:18x18:9", ALL_TO_ALL, false, ALONE, false },
  { "fattree:18x18:9", ALL_TO_ALL, false, REPLAY, false },
  { "fattree:18x18:9", HOT_SPOT, false, ALONE, false },
  { "fattree:18x18:9", HOT_SPOT, false, REPLAY, false },
  { "fattree:72x72:36", UNIFORM, false, ALONE, false },
  { "fattree:72x72:36", UNIFORM, false, REPLAY, false },
  { "fattree:72x72:36", NEAREST, false, ALONE, false },
  { "fattree:72x72:36", NEAREST, false, REPLAY, false },
  { "fattree:72x72:36", ALL_TO_ALL, false, ALONE, false },
  { "fattree:72x72:36", HOT_SPOT, false, ALONE, false },
  /* SimGrid is small so that it ends. */
  { "bgq:128", UNIFORM, false, FLOW, false },
  { "bgq:128", UNIFORM, false, SMPIRUN, false },
  { "bgq:128", NEAREST, false, FLOW, false },
  { "bgq:128", NEAREST, false, SMPIRUN, false },
};

/* --- The messages --- */

typedef struct {
  const Case *it;
  TopoMachine *machine;
  TopoMapping *mapping;
  RoutePaths *paths;
  uint32_t n_nodes, n_each;    /* messages of each node */
  uint32_t *to;                /* [n_nodes * n_each] by node */
  uint32_t *first_from, *from; /* the same by receiver: [n_nodes + 1] of from[] */
  uint32_t *requests;          /* 0, 1 ... as many as any rank has */
  uint32_t *neighbour;         /* of a torus, by link */
  uint32_t *first_hop, *hops;  /* of each message, for the speed of light */
  Trace *trace;                /* the messages as a program */
  TraceTestingFolder *folder;  /* of SMPIRUN */
  char *ti, *list, *platform, *hosts, *program;
} Traffic;

static uint32_t
message_to (const Traffic *traffic, BaseRandom *random, uint32_t node, uint32_t i)
{
  uint32_t n = traffic->n_nodes, other;

  switch (traffic->it->pattern) {
  case NEAREST:
    if (traffic->paths->tables == NULL) {
      other = topo_shape_neighbour (&traffic->machine->shape, node, i % NEIGHBOURS);
      /* In a dimension of two one of the ports may have no cable. */
      return other != TOPO_NONE
                 ? other
                 : topo_shape_neighbour (&traffic->machine->shape, node, i % NEIGHBOURS ^ 1);
    }
    return (node + n + (i % 2 == 0 ? 1 : -1) * (int32_t) (i % NEIGHBOURS / 2 + 1)) % n;
  case ALL_TO_ALL:
    /* Rounds of a pairwise exchange, evenly taken from all of them. */
    return (node + 1 + (uint32_t) ((uint64_t) i * (n - 1) / traffic->n_each)) % n;
  case HOT_SPOT:
    if (base_random_below (random, HOT_SHARE) == 0 && node != 0)
      return 0;
    break;
  case UNIFORM: break;
  }
  other = (uint32_t) base_random_below (random, n - 1);
  return other + (other >= node);
}

static void
fill_messages (Traffic *traffic)
{
  uint32_t n = traffic->n_nodes * traffic->n_each, most = 0;
  BaseRandom random = base_random_stream (1, 0);
  g_autofree uint32_t *next = NULL;

  traffic->to = g_new (uint32_t, n);
  traffic->from = g_new (uint32_t, n);
  traffic->first_from = g_new0 (uint32_t, traffic->n_nodes + 1);
  for (uint32_t message = 0; message < n; message++) {
    uint32_t node = message / traffic->n_each;

    traffic->to[message] = message_to (traffic, &random, node, message % traffic->n_each);
    traffic->first_from[traffic->to[message] + 1]++;
  }
  for (uint32_t node = 0; node < traffic->n_nodes; node++) {
    most = MAX (most, traffic->first_from[node + 1]);
    traffic->first_from[node + 1] += traffic->first_from[node];
  }
  next = g_memdup2 (traffic->first_from, traffic->n_nodes * sizeof *next);
  for (uint32_t message = 0; message < n; message++)
    traffic->from[next[traffic->to[message]]++] = message / traffic->n_each;
  traffic->requests = g_new (uint32_t, most + traffic->n_each);
  for (uint32_t request = 0; request < most + traffic->n_each; request++)
    traffic->requests[request] = request;
}

static void
fill_hops (Traffic *traffic)
{
  uint32_t n = traffic->n_nodes * traffic->n_each, n_hops = 0;
  g_autofree uint32_t *links = g_new (uint32_t, traffic->paths->longest_links);

  traffic->first_hop = g_new0 (uint32_t, n + 1);
  for (uint32_t message = 0; message < n; message++) {
    uint32_t from = message / traffic->n_each, to = traffic->to[message];

    n_hops += route_paths_links (traffic->paths, from, to, from + to, links);
    traffic->first_hop[message + 1] = n_hops;
  }
  traffic->hops = g_new (uint32_t, n_hops);
  for (uint32_t message = 0; message < n; message++) {
    uint32_t from = message / traffic->n_each, to = traffic->to[message];

    route_paths_links (traffic->paths, from, to, from + to,
                       &traffic->hops[traffic->first_hop[message]]);
  }
}

/* By link, for the speed of light. */
static void
fill_neighbours (Traffic *traffic)
{
  const TopoShape *shape = &traffic->machine->shape;
  uint32_t n_ports = topo_shape_ports (shape);

  traffic->neighbour = g_new (uint32_t, (gsize) traffic->n_nodes * n_ports);
  for (uint32_t link = 0; link < traffic->n_nodes * n_ports; link++)
    traffic->neighbour[link] = topo_shape_neighbour (shape, link / n_ports, link % n_ports);
}

/* The messages as a program: all receives, all sends, one wait for all of them. */
static gboolean
traffic_op (gconstpointer data, uint32_t rank, uint64_t index, TraceOp *op)
{
  const Traffic *traffic = data;
  const uint32_t *from = &traffic->from[traffic->first_from[rank]];
  uint32_t n_receives = traffic->first_from[rank + 1] - traffic->first_from[rank];
  uint32_t n = n_receives + traffic->n_each;

  op->comm = TRACE_COMM_WORLD;
  op->root = TRACE_NO_ROOT;
  op->matched_source = TRACE_ANY_SOURCE;
  if (index == 0 || index == n + 2) {
    op->kind = index == 0 ? TRACE_OP_INIT : TRACE_OP_FINALIZE;
    op->name = index == 0 ? "MPI_Init" : "MPI_Finalize";
  } else if (index <= n) {
    uint32_t request = (uint32_t) index - 1;
    bool receives = request < n_receives;

    op->kind = receives ? TRACE_OP_IRECV : TRACE_OP_ISEND;
    op->name = receives ? "MPI_Irecv" : "MPI_Isend";
    op->peer = (int32_t) (receives ? from[request]
                                   : traffic->to[rank * traffic->n_each + request - n_receives]);
    op->bytes = MESSAGE_BYTES;
    op->request = request;
  } else if (index == n + 1) {
    op->kind = TRACE_OP_WAIT;
    op->name = "MPI_Waitall";
    op->requests = traffic->requests;
    op->n_requests = n;
  } else
    return FALSE;
  return TRUE;
}

/* --- The network alone --- */

static void
ignore_delivered (void *client, const SimMessage *message, int64_t now_ps)
{
  (void) client, (void) message, (void) now_ps;
}

static void
ignore_timer (void *client, uint32_t rank, uint64_t cookie, int64_t now_ps)
{
  (void) client, (void) rank, (void) cookie, (void) now_ps;
}

static const SimClient ignore_all = { .delivered = ignore_delivered, .timer = ignore_timer };

static RoutePolicy
policy_of (const Case *it)
{
  return it->dynamic ? ROUTE_POLICY_DEFAULT : ROUTE_POLICY_DETERMINISTIC;
}

static void
fail_on (const GError *error)
{
  if (error != NULL)
    g_error ("%s", error->message);
}

/* Packet-hops; *seconds: the time. */
static double
network_run (const Traffic *traffic, double *seconds)
{
  const TopoMachine *machine = traffic->machine;
  uint8_t kind = machine->fabric != NULL ? SIM_MESSAGE_SEND
                 : traffic->it->dynamic  ? SIM_MESSAGE_DIRECT
                                         : SIM_MESSAGE_DATA;
  g_autoptr (GError) error = NULL;
  SimNetwork *network =
      machine->fabric != NULL
          ? sim_ib_new (machine, traffic->paths, traffic->mapping, &ignore_all, NULL, &error)
          : sim_packet_new (machine, traffic->mapping, policy_of (traffic->it), 1, &ignore_all,
                            NULL, &error);
  double start_s = bench_seconds (), hops;

  fail_on (error);
  for (uint32_t i = 0; i < traffic->n_each; i++)
    for (uint32_t node = 0; node < traffic->n_nodes; node++) {
      SimMessage message = { .bytes = MESSAGE_BYTES,
                             .source_rank = node,
                             .destination_rank = traffic->to[node * traffic->n_each + i],
                             .kind = kind };

      sim_network_send (network, &message, 0);
    }
  sim_network_run (network, &error);
  fail_on (error);
  *seconds = bench_seconds () - start_s;
  hops = (double) network->counters->packet_hops;
  sim_network_free (network);
  return hops;
}

/* --- Under MPI --- */

static double
run_trace (Trace *trace, const TopoMachine *machine, const TopoMapping *mapping,
           const SimRunOptions *options, double *seconds)
{
  g_autoptr (GError) error = NULL;
  double start_s = bench_seconds ();
  g_autoptr (SimRun) run = sim_run (trace, machine, mapping, options, &error);

  fail_on (error);
  *seconds = bench_seconds () - start_s;
  return (double) run->counters->packet_hops;
}

static double
replay_run (const Traffic *traffic, SimNetworkKind network, double *seconds)
{
  SimRunOptions options = { .trace_path = "made up",
                            .network = network,
                            .policy = policy_of (traffic->it),
                            .compute_scale = 1,
                            .paths = traffic->paths,
                            .key = "bench" };

  return run_trace (traffic->trace, traffic->machine, traffic->mapping, &options, seconds);
}

/* --- With and without what adapters cost --- */

typedef struct {
  const char *name, *spec, *pattern; /* the trace is gen:PATTERN:ranks=N,bytes=BYTES,iterations=1 */
  uint32_t n_ranks;
  const char *bytes;
} AdapterCase;

/* The second needs no more contexts than an adapter holds, the third five times as many: fetching them
 * makes it three times as long, so that its hops are not those of the run without. */
static const AdapterCase adapter_cases[] = {
  { "fattree:18x18:9 adapters; halo3d", "fattree:18x18:9", "halo3d", 324, "256K" },
  { "fattree:18x18:9 adapters; all-to-all of 64 ranks", "fattree:18x18:9", "alltoall", 64, "16K" },
  { "fattree:18x18:9 adapters; all-to-all of 324 ranks", "fattree:18x18:9", "alltoall", 324,
    "16K" },
};

/* The time of a request in an adapter, the gaps between messages, and what it may have to fetch. */
static const char *const no_costs[][2] = {
  { "hca.send_latency", "0 ns" }, { "hca.receive_latency", "0 ns" }, { "hca.read_latency", "0 ns" },
  { "hca.message_gap", "0 ns" },  { "hca.contexts", "0" },           { "hca.receive_queues", "0" },
};

typedef struct {
  TopoMachine *machine;
  RoutePaths *paths;
} Fabric;

typedef struct {
  Trace *trace;
  TopoMapping *mapping;
  Fabric on, off;
} Adapters;

static gboolean
fabric_open (Fabric *fabric, const char *spec, gboolean costs, GError **error)
{
  if (!(fabric->machine = topo_machine_new (spec, error)))
    return FALSE;
  for (guint at = 0; !costs && at < G_N_ELEMENTS (no_costs); at++)
    if (!topo_parameters_set (&fabric->machine->parameters, no_costs[at][0], no_costs[at][1],
                              error))
      return FALSE;
  return (fabric->paths = route_paths_new (fabric->machine, error)) != NULL;
}

static void
fabric_close (Fabric *fabric)
{
  route_paths_free (fabric->paths);
  topo_machine_free (fabric->machine);
}

static void
adapters_close (gpointer state)
{
  Adapters *adapters = state;

  g_clear_pointer (&adapters->trace, trace_free);
  topo_mapping_free (adapters->mapping);
  fabric_close (&adapters->on);
  fabric_close (&adapters->off);
  g_free (adapters);
}

static gpointer
adapters_open (BenchRow *row, GError **error)
{
  const AdapterCase *it = row->details;
  g_autofree char *spec = bench_spec (row, it->spec), *trace = NULL;
  Adapters *adapters = g_new0 (Adapters, 1);

  if (!fabric_open (&adapters->on, spec, TRUE, error) ||
      !fabric_open (&adapters->off, spec, FALSE, error))
    goto failed;
  row->n_nodes = topo_shape_nodes (&adapters->on.machine->shape);
  row->n_ranks = MIN (it->n_ranks, row->n_nodes);
  trace = g_strdup_printf ("gen:%s:ranks=%u,bytes=%s,iterations=1", it->pattern, row->n_ranks,
                           it->bytes);
  if ((adapters->trace = trace_open (trace, NULL, error)) &&
      (adapters->mapping = topo_mapping_new (NULL, adapters->on.machine, row->n_ranks, error)))
    return adapters;

failed:
  adapters_close (adapters);
  return NULL;
}

/* M hops/s. */
static double
adapters_speed (const Adapters *adapters, const Fabric *fabric)
{
  SimRunOptions options = { .trace_path = "made up",
                            .network = SIM_NETWORK_PACKET,
                            .policy = ROUTE_POLICY_DETERMINISTIC,
                            .compute_scale = 1,
                            .paths = fabric->paths,
                            .key = "bench" };
  double seconds,
      hops = run_trace (adapters->trace, fabric->machine, adapters->mapping, &options, &seconds);

  return 1e-6 * hops / seconds;
}

static void
adapters_sample (gpointer state, BenchSample *sample)
{
  const Adapters *adapters = state;

  sample->value = adapters_speed (adapters, &adapters->on);
  sample->peak_bytes = bench_peak_bytes ();
  sample->beside = adapters_speed (adapters, &adapters->off);
}

static const BenchKind adapters_kind = { adapters_open, adapters_sample, adapters_close };

static BenchRow *
adapters_row (const AdapterCase *it)
{
  BenchRow *row = g_new0 (BenchRow, 1);

  *row = (BenchRow){ .kind = &adapters_kind,
                     .details = it,
                     .name = g_strdup (it->name),
                     .unit = "M hops/s",
                     .beside = "without",
                     .bound = "a context more for each packet: about two cache lines" };
  return row;
}

/* --- SimGrid's own replayer --- */

/* As validation/simgrid/flow_smpirun_test.sh has them: the same links, no corrections for TCP. */
static const char *const smpirun_settings[] = {
  "--cfg=network/model:CM02",
  "--cfg=network/latency-factor:1",
  "--cfg=network/bandwidth-factor:1",
  "--cfg=network/weight-S:0",
  "--cfg=network/TCP-gamma:0",
  "--cfg=network/crosstraffic:0",
  "--cfg=smpi/bw-factor:0:1",
  "--cfg=smpi/lat-factor:0:1",
  "--cfg=smpi/async-small-thresh:65536",
};

static gboolean
write_platform (const Traffic *traffic, GError **error)
{
  g_autofree char *writer = bench_built ("validation/simgrid/simgrid_platform");
  g_autofree char *text = NULL;
  const char *arguments[] = { writer, traffic->machine->spec, NULL };
  int status = 0;

  return g_spawn_sync (NULL, (char **) arguments, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                       &text, NULL, &status, error) &&
         g_spawn_check_wait_status (status, error) &&
         g_file_set_contents (traffic->platform, text, -1, error);
}

static gboolean
write_hosts (const Traffic *traffic, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (uint32_t node = 0; node < traffic->n_nodes; node++)
    g_string_append_printf (text, "n%u\n", node);
  return g_file_set_contents (traffic->hosts, text->str, -1, error);
}

static gboolean
write_ti (const Traffic *traffic, GError **error)
{
  FILE *out = fopen (traffic->ti, "w");
  gboolean written = out != NULL && trace_writer_ti.write (traffic->trace, out, NULL, NULL, error);

  /* A list of one file: all ranks are in it. */
  return out != NULL && fclose (out) == 0 && written &&
         g_file_set_contents (traffic->list, traffic->ti, -1, error);
}

static gboolean
smpirun_open (Traffic *traffic, GError **error)
{
  traffic->program = g_find_program_in_path ("smpirun");
  if (traffic->program == NULL) {
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK, "smpirun is not installed");
    return FALSE;
  }
  traffic->folder = trace_testing_folder ();
  traffic->ti = g_build_filename (traffic->folder, "t.ti", NULL);
  traffic->list = g_build_filename (traffic->folder, "list", NULL);
  traffic->platform = g_build_filename (traffic->folder, "platform.xml", NULL);
  traffic->hosts = g_build_filename (traffic->folder, "hosts", NULL);
  return write_platform (traffic, error) && write_hosts (traffic, error) &&
         write_ti (traffic, error);
}

static double
children_seconds (void)
{
  struct rusage usage;

  getrusage (RUSAGE_CHILDREN, &usage);
  return (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double
smpirun_run (const Traffic *traffic)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new ();
  g_autofree char *n = g_strdup_printf ("%u", traffic->n_nodes);
  g_autoptr (GError) error = NULL;
  double start_s = children_seconds ();
  int status = 0;
  const char *const begin[] = { traffic->program, "-np",         n, "-platform", traffic->platform,
                                "-hostfile",      traffic->hosts };

  for (guint i = 0; i < G_N_ELEMENTS (begin); i++)
    g_ptr_array_add (words, (char *) begin[i]);
  for (guint i = 0; i < G_N_ELEMENTS (smpirun_settings); i++)
    g_ptr_array_add (words, (char *) smpirun_settings[i]);
  g_ptr_array_add (words, (char *) "-replay");
  g_ptr_array_add (words, traffic->list);
  g_ptr_array_add (words, NULL);
  if (!g_spawn_sync (traffic->folder, (char **) words->pdata, NULL,
                     G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, NULL,
                     NULL, &status, &error) ||
      !g_spawn_check_wait_status (status, &error))
    g_error ("smpirun: %s", error->message);
  return children_seconds () - start_s;
}

/* --- Rows --- */

static void
traffic_close (gpointer state)
{
  Traffic *traffic = state;

  g_clear_pointer (&traffic->trace, trace_free);
  g_clear_pointer (&traffic->folder, trace_testing_remove);
  route_paths_free (traffic->paths);
  topo_mapping_free (traffic->mapping);
  topo_machine_free (traffic->machine);
  g_free (traffic->to);
  g_free (traffic->from);
  g_free (traffic->first_from);
  g_free (traffic->requests);
  g_free (traffic->first_hop);
  g_free (traffic->hops);
  g_free (traffic->neighbour);
  g_free (traffic->ti);
  g_free (traffic->list);
  g_free (traffic->platform);
  g_free (traffic->hosts);
  g_free (traffic->program);
  g_free (traffic);
}

static uint32_t
messages_each (const Case *it, uint32_t n_nodes)
{
  uint32_t all = it->how >= FLOW          ? SIMGRID_MESSAGES
                 : it->pattern == NEAREST ? NEIGHBOUR_MESSAGES
                                          : MESSAGES;

  return it->pattern == NEAREST ? NEIGHBOURS * MAX (1, all / NEIGHBOURS / n_nodes)
                                : MAX (1, all / n_nodes);
}

static gpointer
traffic_open (BenchRow *row, GError **error)
{
  const Case *it = row->details;
  g_autofree char *spec = bench_spec (row, it->spec);
  Traffic *traffic = g_new0 (Traffic, 1);

  traffic->it = it;
  if (!(traffic->machine = topo_machine_new (spec, error)) ||
      !(traffic->paths = route_paths_new (traffic->machine, error)))
    goto failed;
  traffic->n_nodes = topo_shape_nodes (&traffic->machine->shape);
  if (!(traffic->mapping = topo_mapping_new (NULL, traffic->machine, traffic->n_nodes, error)))
    goto failed;
  if (it->dynamic) /* rendezvous data of any length */
    traffic->machine->parameters.mpi.dynamic_bytes = 0;
  traffic->n_each = messages_each (it, traffic->n_nodes);
  fill_messages (traffic);
  traffic->trace = trace_testing_made_up (traffic->n_nodes, FALSE, traffic_op, traffic, NULL);
  if (it->how == SMPIRUN && !smpirun_open (traffic, error))
    goto failed;
  if (it->how == FLOW) {
    g_autofree char *library = base_library_find ("libhopcast-flow.so");

    if (library == NULL) {
      g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK, "built without SimGrid");
      goto failed;
    }
  }
  row->n_nodes = traffic->n_nodes;
  row->n_ranks = it->how == ALONE ? 0 : traffic->n_nodes;
  return traffic;

failed:
  traffic_close (traffic);
  return NULL;
}

static void
hops_sample (gpointer state, BenchSample *sample)
{
  Traffic *traffic = state;
  const TopoMachine *machine = traffic->machine;
  BenchLight light = { .n_nodes = traffic->n_nodes, .n_each = traffic->n_each };
  double seconds, hops;

  hops = traffic->it->how == ALONE ? network_run (traffic, &seconds)
                                   : replay_run (traffic, SIM_NETWORK_PACKET, &seconds);
  sample->value = 1e-6 * hops / seconds;
  sample->peak_bytes = bench_peak_bytes ();

  if (traffic->hops == NULL) {
    fill_hops (traffic);
    if (machine->fabric == NULL)
      fill_neighbours (traffic);
  }
  light.first_hop = traffic->first_hop;
  light.hops = traffic->hops;
  if (machine->fabric == NULL) {
    light.neighbour = traffic->neighbour;
    light.n_ports = topo_shape_ports (&machine->shape);
    light.n_links = traffic->n_nodes * light.n_ports;
    light.n_packets = MESSAGE_BYTES / (uint32_t) machine->parameters.packet.payload_bytes;
  } else {
    light.n_links = machine->fabric->n_ports;
    light.n_packets = MESSAGE_BYTES / (uint32_t) machine->parameters.ib.mtu_bytes;
  }
  hops = (double) bench_light_run (&light, &seconds);
  sample->beside = 1e-6 * hops / seconds;
}

static void
simgrid_sample (gpointer state, BenchSample *sample)
{
  const Traffic *traffic = state;
  double messages = 1e-3 * traffic->n_nodes * traffic->n_each, seconds;

  replay_run (traffic, SIM_NETWORK_PACKET, &seconds);
  sample->beside = messages / seconds;
  if (traffic->it->how == SMPIRUN)
    seconds = smpirun_run (traffic);
  else
    replay_run (traffic, SIM_NETWORK_FLOW, &seconds);
  sample->value = messages / seconds;
  sample->peak_bytes = NAN; /* of both networks */
}

static const BenchKind hops_kind = { traffic_open, hops_sample, traffic_close };
static const BenchKind simgrid_kind = { traffic_open, simgrid_sample, traffic_close };

static const char *
bound_of (const Case *it)
{
  bool fabric = g_str_has_prefix (it->spec, "fattree");

  if (it->how == FLOW || it->how == SMPIRUN)
    return "each start and end of a flow shares all links anew";
  if (it->how == REPLAY)
    return it->pattern == NEAREST ? "3 messages of software for each: matching and requests"
           : fabric               ? "the hops and per message its match and requests"
                                  : "the hops and 3 messages of software for each of 32 packets";
  if (fabric)
    return it->pattern == NEAREST ? "2 hops a packet: adapters and messages"
                                  : "7 to 11 cache lines and 1.3 to 1.7 sorted events a hop";
  if (it->pattern == NEAREST)
    return "1 hop a packet: injection and reception";
  if (it->dynamic)
    return "8 cache lines and 3 sorted events a hop";
  return it->large ? "8 cache lines a hop from memory: fetched ahead"
                   : "8 cache lines a hop: 626 instructions";
}

/* The letter by which earlier programs know the case. */
static char *
old_words_of (const Case *it)
{
  uint32_t n_nodes = (uint32_t) g_ascii_strtoull (strchr (it->spec, ':') + 1, NULL, 10), per_leaf;
  const char *letter = it->pattern == NEAREST ? "n" : it->dynamic ? "d" : "u";

  if (it->how != ALONE || it->pattern > NEAREST)
    return NULL;
  if (sscanf (it->spec, "fattree:%*ux%u", &per_leaf) == 1)
    n_nodes *= per_leaf;
  return g_strdup_printf ("%s %s %u", it->spec, letter, messages_each (it, n_nodes));
}

void
bench_add_networks (GPtrArray *rows)
{
  static const char *const suffixes[] = { "", " replay", " flow", " smpirun" };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Case *it = &cases[i];
    bool simgrid = it->how >= FLOW;
    BenchRow *row = g_new0 (BenchRow, 1);

    *row = (BenchRow){ .kind = simgrid ? &simgrid_kind : &hops_kind,
                       .details = it,
                       .name = g_strconcat (it->spec, " ", pattern_names[it->pattern],
                                            it->dynamic ? " dynamic" : "", suffixes[it->how], NULL),
                       .unit = simgrid ? "k messages/s" : "M hops/s",
                       .beside = simgrid ? "packets" : "light",
                       .bound = bound_of (it),
                       .old_words = old_words_of (it),
                       .once = it->how == FLOW,
                       .large = it->large };
    g_ptr_array_add (rows, row);
  }
  for (guint i = 0; i < G_N_ELEMENTS (adapter_cases); i++)
    g_ptr_array_add (rows, adapters_row (&adapter_cases[i]));
}
