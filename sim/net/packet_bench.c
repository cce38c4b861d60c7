/* packet_bench.c - packet-hops per second of the packet network.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * `make bench` runs it without arguments.  Rank = node; every node hands all
 * its messages to the messaging unit at once, so the torus runs saturated:
 * the dearest case, where most packets wait at most routers.  Each row is the
 * median of several runs in processor time, so that other programs on the
 * machine disturb it only through the caches.
 *
 * The physical argument: the cache lines that one packet-hop must touch.  When
 * a packet goes: its port, the times of its slots, the node's line of neighbours,
 * the packet in its receive buffer and the counters beside it.  At the next
 * node: the slot that it enters, the port that it wants, and a link of that
 * port's list; at the one before it: the slot whose token goes back.  That is 8
 * lines and 1.25 entries of buckets of 4 or 8 bytes.  As long as the nodes (3.9
 * KB each) fit in the second-level cache that is compute (some 700 instructions);
 * beyond, the ports of a window are known in advance and the lines are fetched
 * ahead.  A dynamic packet adds three entries that are sorted by time (its
 * arrival, its token, the look of its port) and the lines of the node's queues.
 *
 * A fabric's packet-hop touches more: the port, its lane and its counters, the
 * queue of its input, the packet, the slots of the input buffer; the port, lane and
 * queue where it goes on, and the packet before it there; the sender's lane and port
 * for the credits: 12 lines and 1.7 events that are sorted by time.  A packet has
 * only four hops to pay for its adapters: the pair, its request and the message,
 * of which there are too many to stay in the cache. */
#include "sim/counters.h"
#include "sim/net/network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define MESSAGE_BYTES 16384u
#define RUNS          5
#define COMPARISONS   3

typedef struct {
  uint64_t delivered;
} Sink;

static void
sink_delivered (void *client, const SimMessage *message, int64_t now_ps)
{
  (void) message;
  (void) now_ps;
  ((Sink *) client)->delivered++;
}

static void
sink_timer (void *client, uint32_t rank, uint64_t cookie, int64_t now_ps)
{
  (void) client;
  (void) rank;
  (void) cookie;
  (void) now_ps;
}

static const SimClient sink_client = { .delivered = sink_delivered, .timer = sink_timer };

/* splitmix64: the same stream on every machine. */
static uint64_t
next_random (uint64_t *state)
{
  uint64_t z = (*state += UINT64_C (0x9e3779b97f4a7c15));

  z = (z ^ (z >> 30)) * UINT64_C (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C (0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static void
send (SimNetwork *network, uint32_t from, uint32_t to, uint8_t kind)
{
  SimMessage message = {
    .bytes = MESSAGE_BYTES,
    .source_rank = from,
    .destination_rank = to,
    .kind = kind,
  };

  sim_network_send (network, &message, 0);
}

static void
send_uniform (SimNetwork *network, uint32_t n_nodes, uint32_t n_messages, uint8_t kind)
{
  uint64_t state = 1;

  for (uint32_t round = 0; round < n_messages; round++)
    for (uint32_t node = 0; node < n_nodes; node++) {
      uint32_t other = (uint32_t) (next_random (&state) % (n_nodes - 1));

      send (network, node, other + (other >= node), kind);
    }
}

static void
send_neighbours (SimNetwork *network, const TopoMachine *machine, uint32_t n_rounds)
{
  uint32_t n_nodes = topo_shape_nodes (&machine->shape);

  for (uint32_t round = 0; round < n_rounds; round++)
    for (uint32_t node = 0; node < n_nodes; node++)
      for (uint32_t port = 0; port < topo_shape_ports (&machine->shape); port++) {
        uint32_t neighbour = topo_shape_neighbour (&machine->shape, node, port);

        if (neighbour != TOPO_NONE)
          send (network, node, neighbour, SIM_MESSAGE_DATA);
      }
}

typedef enum { UNIFORM, UNIFORM_DYNAMIC, NEIGHBOURS } Pattern;
static const char *const pattern_names[] = { "uniform random", "uniform random, dynamic",
                                             "nearest neighbour" };

typedef struct {
  double cpu_s, wall_s, hops, events;
} Sample;

static double
cpu_seconds (void)
{
  struct timespec time;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

/* `paths` of a fabric, NULL of a torus. */
static Sample
run_once (const TopoMachine *machine, const RoutePaths *paths, const TopoMapping *mapping,
          Pattern pattern, uint32_t n_messages)
{
  g_autoptr (GError) error = NULL;
  uint32_t n_nodes = topo_shape_nodes (&machine->shape);
  RoutePolicy policy = pattern == UNIFORM || pattern == NEIGHBOURS ? ROUTE_POLICY_DETERMINISTIC
                                                                   : ROUTE_POLICY_DEFAULT;
  Sink sink = { 0 };
  SimNetwork *network =
      paths ? sim_ib_new (machine, paths, mapping, &sink_client, &sink, &error)
            : sim_packet_new (machine, mapping, policy, &sink_client, &sink, &error);
  int64_t start_us = g_get_monotonic_time ();
  double start_cpu_s = cpu_seconds ();

  if (pattern == NEIGHBOURS)
    send_neighbours (network, machine, MAX (1, n_messages / 10));
  else
    send_uniform (network, n_nodes, n_messages,
                  paths                        ? SIM_MESSAGE_SEND
                  : pattern == UNIFORM_DYNAMIC ? SIM_MESSAGE_DIRECT
                                               : SIM_MESSAGE_DATA);
  if (!sim_network_run (network, &error))
    g_error ("%s", error->message);

  Sample sample = {
    .cpu_s = cpu_seconds () - start_cpu_s,
    .wall_s = (double) (g_get_monotonic_time () - start_us) * 1e-6,
    .hops = (double) network->counters->packet_hops,
    .events = (double) network->counters->events,
  };

  sim_network_free (network);
  return sample;
}

static int
by_cpu (const void *a, const void *b)
{
  double difference = ((const Sample *) a)->cpu_s - ((const Sample *) b)->cpu_s;

  return (difference > 0) - (difference < 0);
}

static int
by_value (const void *a, const void *b)
{
  double difference = *(const double *) a - *(const double *) b;

  return (difference > 0) - (difference < 0);
}

/* Prints a row; returns the hops per second of the median. */
static double
bench (const char *spec, Pattern pattern, uint32_t n_messages)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMachine) machine = topo_machine_new (spec, &error);
  g_autoptr (TopoMapping) mapping = NULL;
  g_autoptr (RoutePaths) paths = NULL;
  Sample samples[RUNS];
  struct rusage usage;

  if (!machine)
    g_error ("%s", error->message);
  mapping = topo_mapping_new (NULL, machine, topo_shape_nodes (&machine->shape), &error);
  if (machine->fabric && !(paths = route_paths_new (machine, &error)))
    g_error ("%s", error->message);
  for (uint32_t run = 0; run < RUNS; run++)
    samples[run] = run_once (machine, paths, mapping, pattern, n_messages);
  qsort (samples, RUNS, sizeof *samples, by_cpu);

  const Sample *median = &samples[RUNS / 2];

  getrusage (RUSAGE_SELF, &usage);
  printf ("%-16s %-23s %5.1f M hops %6.2f s wall %6.2f M hops/s (%.2f .. %.2f) %6.1f ns/hop %5.2f"
          " events/hop %6.1f MB peak\n",
          spec, pattern_names[pattern], median->hops * 1e-6, median->wall_s,
          median->hops / median->cpu_s * 1e-6, median->hops / samples[RUNS - 1].cpu_s * 1e-6,
          median->hops / samples[0].cpu_s * 1e-6, median->cpu_s / median->hops * 1e9,
          median->events / median->hops, (double) usage.ru_maxrss / 1024);
  fflush (stdout);
  return median->hops / median->cpu_s;
}

/* A fabric and a torus of about as many nodes by turns, so that both meet the
 * machine in the same state. */
static void
compare_with_torus (void)
{
  double ratio[COMPARISONS];

  for (uint32_t run = 0; run < COMPARISONS; run++) {
    double torus = bench ("bgq:512", UNIFORM, 10);
    double fabric = bench ("fattree:18x18:9", UNIFORM, 40);

    ratio[run] = fabric / torus;
  }
  qsort (ratio, COMPARISONS, sizeof *ratio, by_value);
  printf ("fattree:18x18:9, packets of 2 KiB, to bgq:512: %.0f %% of its hops/s (%.0f .. %.0f)\n",
          100 * ratio[COMPARISONS / 2], 100 * ratio[0], 100 * ratio[COMPARISONS - 1]);
}

int
main (int argc, char **argv)
{
  if (argc == 2 && strcmp (argv[1], "fabric") == 0) {
    compare_with_torus ();
    return 0;
  }
  if (argc == 4) {
    bench (argv[1],
           argv[2][0] == 'n'   ? NEIGHBOURS
           : argv[2][0] == 'd' ? UNIFORM_DYNAMIC
                               : UNIFORM,
           (uint32_t) atoi (argv[3]));
    return 0;
  }
  printf ("packet network, 16 KiB messages, 512 B packets, one core; median (worst .. best) of %d"
          " runs\na hop touches 8 cache lines: in the cache compute bound,"
          " beyond it fetched ahead\n",
          RUNS);
  bench ("bgq:1024", NEIGHBOURS, 100);
  bench ("bgq:1024", UNIFORM, 40);
  bench ("bgq:1024", UNIFORM_DYNAMIC, 40);
  bench ("bgq:512", UNIFORM, 40);
  bench ("bgq:8192", UNIFORM, 6);
  bench ("bgq:49152", UNIFORM, 1);
  compare_with_torus ();
  return 0;
}
