/* torus_test.c - the packet network of a torus against the engine that it takes the place of.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Machines and programs are drawn from a seed: shapes, meshes, sizes of
 * buffers, latencies, ranks per node, kinds and sizes of messages, answers sent
 * from callbacks, timers.  Both engines must deliver the same messages at the
 * same picosecond and in the same order at every node, and count the same on
 * every link. */
#include "base/random.h"
#include "sim/counters.h"
#include "sim/net/network.h"
#include "sim/net/torus_messages.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  TopoMachine *machine;
  TopoMapping *mapping;
  RoutePolicy policy;
  uint64_t seed;
  uint32_t n_ranks, n_first; /* messages sent before the run */
  int64_t within_ps;         /* they start within this time */
  uint64_t most_bytes;
  uint32_t answers; /* of 256 deliveries, so many are answered */
} Program;

typedef struct {
  const Program *program;
  SimNetwork *network;
  uint64_t n_sent, n_delivered, n_timers;
  uint64_t *order; /* [node] deliveries and timers, with their times */
} Run;

/* What a message is depends on its number alone. */
static void
send_one (Run *run, uint64_t cookie, uint32_t source, int64_t at_ps)
{
  static const uint8_t kinds[] = { SIM_MESSAGE_EAGER,      SIM_MESSAGE_EAGER, SIM_MESSAGE_CONTROL,
                                   SIM_MESSAGE_REMOTE_GET, SIM_MESSAGE_DATA,  SIM_MESSAGE_DATA,
                                   SIM_MESSAGE_DIRECT };
  const Program *program = run->program;
  BaseRandom random = base_random_stream (program->seed, cookie);
  SimMessage message = { .cookie = cookie, .source_rank = source };

  do
    message.destination_rank = (uint32_t) base_random_below (&random, program->n_ranks);
  while (program->mapping->node[message.destination_rank] == program->mapping->node[source]);
  message.kind = kinds[base_random_below (&random, G_N_ELEMENTS (kinds))];
  message.descriptors = (uint8_t) (1 + base_random_below (&random, 2));
  message.force_deterministic = base_random_below (&random, 4) == 0;
  if (message.kind != SIM_MESSAGE_CONTROL && message.kind != SIM_MESSAGE_REMOTE_GET)
    message.bytes = base_random_below (&random, 2)
                        ? base_random_below (&random, program->most_bytes + 1)
                        : base_random_below (&random, 600);
  run->n_sent++;
  sim_network_send (run->network, &message, at_ps);
}

static void
note (Run *run, uint32_t rank, uint64_t what, int64_t now_ps)
{
  uint64_t *hash = &run->order[run->program->mapping->node[rank]];

  *hash = (*hash ^ what) * UINT64_C (0x100000001b3);
  *hash = (*hash ^ (uint64_t) now_ps) * UINT64_C (0x100000001b3);
}

/* Numbers of answers and timers follow from those of the messages. */
static void
on_delivered (void *client, const SimMessage *message, int64_t now_ps)
{
  Run *run = client;
  const Program *program = run->program;
  uint64_t next = message->cookie + (UINT64_C (1) << 32);
  BaseRandom random = base_random_stream (program->seed, ~message->cookie);

  run->n_delivered++;
  note (run, message->destination_rank, message->cookie, now_ps);
  if (base_random_below (&random, 256) >= program->answers || next >> 32 > 6)
    return;
  if (base_random_below (&random, 3) == 0)
    sim_network_timer (run->network, message->destination_rank, next,
                       now_ps + (int64_t) base_random_below (&random, 3000000));
  else
    send_one (run, next, message->destination_rank,
              now_ps + (int64_t) base_random_below (&random, 2) * 1300000);
}

static void
on_timer (void *client, uint32_t rank, uint64_t cookie, int64_t now_ps)
{
  Run *run = client;

  run->n_timers++;
  note (run, rank, ~cookie, now_ps);
  send_one (run, cookie, rank, now_ps);
}

static const SimClient client = { .delivered = on_delivered, .timer = on_timer };

static void
run_program (const Program *program, bool fast, Run *run)
{
  g_autoptr (GError) error = NULL;

  *run = (Run){ .program = program };
  run->order = g_new0 (uint64_t, topo_shape_nodes (&program->machine->shape));
  run->network = (fast ? sim_packet_new : sim_packet_general_new) (
      program->machine, program->mapping, program->policy, &client, run, &error);
  g_assert_no_error (error);
  for (uint32_t i = 0; i < program->n_first; i++) {
    BaseRandom random = base_random_stream (program->seed ^ 77, i);

    send_one (run, i, (uint32_t) base_random_below (&random, program->n_ranks),
              program->within_ps == 0
                  ? 0
                  : (int64_t) base_random_below (&random, (uint64_t) program->within_ps));
  }
  sim_network_run (run->network, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (run->n_delivered, ==, run->n_sent);
}

static void
clear_run (Run *run)
{
  sim_network_free (run->network);
  g_free (run->order);
}

static void
assert_same (const Run *a, const Run *b)
{
  const SimCounters *left = a->network->counters, *right = b->network->counters;

  g_assert_cmpint (memcmp (left->link, right->link, left->n_places * sizeof *left->link), ==, 0);
  g_assert_cmpint (memcmp (left->fifo_messages, right->fifo_messages,
                           left->n_fifo_places * sizeof *left->fifo_messages),
                   ==, 0);
  g_assert_cmpint (memcmp (a->order, b->order, left->n_nodes * sizeof *a->order), ==, 0);
  g_assert_cmpuint (a->n_sent, ==, b->n_sent);
  g_assert_cmpuint (a->n_timers, ==, b->n_timers);
  g_assert_cmpuint (left->packets, ==, right->packets);
  g_assert_cmpuint (left->packet_hops, ==, right->packet_hops);
  g_assert_cmpuint (left->messages, ==, right->messages);
}

static const char *
one_of (BaseRandom *random, const char *const *texts)
{
  return texts[base_random_below (random, g_strv_length ((char **) texts))];
}

static void
set (Program *program, const char *key, const char *value)
{
  g_autoptr (GError) error = NULL;

  if (value[0] == '\0')
    return;
  topo_parameters_set (&program->machine->parameters, key, value, &error);
  g_assert_no_error (error);
}

/* "" keeps the default, which is drawn more often than the extremes. */
static void
draw_machine (Program *program, BaseRandom *random)
{
  static const char *const specs[] = { "torus:2",     "torus:3",          "torus:8",
                                       "torus:4x4",   "torus:4x3m",       "torus:5x3x2",
                                       "torus:8x4m",  "torus:3mx3mx2m",   "torus:2x2x2x2x2x4",
                                       "torus:4x4x4", "torus:3x2x3x2mx2", "bgq:32",
                                       "bgq:64",      "bgq:128",          "bgq:1024",
                                       NULL };
  static const struct {
    const char *key;
    const char *values[9];
  } draws[] = {
    { "router.bubble_tokens", { "", "", "", "2", "3", "8", "200", NULL } },
    { "router.priority_tokens", { "", "", "2", "9", NULL } },
    { "router.dynamic_tokens", { "", "", "33", "40", "1000", NULL } },
    { "router.dynamic_queues", { "", "", "1", "2", NULL } },
    { "router.stay_on_bubble", { "", "true", NULL } },
    { "router.receiver_grants", { "", "", "1", "3", NULL } },
    { "router.reception_packets", { "", "", "1", "3000", NULL } },
    { "link.hop_latency", { "", "", "", "1ns", "37ns", "20us", "1ms", NULL } },
    { "link.token_latency", { "", "", "", "1ns", "90ns", "12us", NULL } },
    { "link.midplane_latency", { "", "0ns", "300ns", "1ms", NULL } },
    { "messaging.injection_latency", { "", "", "1ns", "1us", NULL } },
    { "messaging.reception_latency", { "", "", "0ns", "1us", NULL } },
    { "messaging.memory_bandwidth", { "", "", "1GB/s", "200MB/s", NULL } },
    { "packet.payload", { "", "", "", "128B", "1KiB", NULL } },
    { "link.bandwidth", { "", "", "", "100GB/s", "10MB/s", NULL } },
  };
  static const uint32_t ranks[] = { 1, 1, 2, 3, 16, 64 };
  g_autoptr (GError) error = NULL;
  uint32_t n_nodes;

  program->machine = topo_machine_new (one_of (random, specs), &error);
  g_assert_no_error (error);
  for (size_t i = 0; i < G_N_ELEMENTS (draws); i++)
    set (program, draws[i].key, one_of (random, draws[i].values));
  topo_machine_set_ranks_per_node (program->machine,
                                   ranks[base_random_below (random, G_N_ELEMENTS (ranks))], &error);
  g_assert_no_error (error);
  n_nodes = topo_shape_nodes (&program->machine->shape);
  program->n_ranks = n_nodes * program->machine->ranks_per_node;
  program->mapping = topo_mapping_new (NULL, program->machine, program->n_ranks, &error);
  g_assert_no_error (error);
}

static void
check_seed (uint64_t seed)
{
  static const int64_t within_ps[] = { 0, 0, 100000, 50000000, INT64_C (20000000000) };
  static const uint64_t most_bytes[] = { 0, 700, 4096, 65536 };
  BaseRandom random = base_random_stream (seed, 1);
  Program program = { .seed = seed };
  Run fast, general;

  draw_machine (&program, &random);
  program.policy = base_random_below (&random, 3) == 0
                       ? ROUTE_POLICY_DEFAULT
                       : (RoutePolicy) (ROUTE_POLICY_DEFAULT + base_random_below (&random, 6));
  program.within_ps = within_ps[base_random_below (&random, G_N_ELEMENTS (within_ps))];
  program.most_bytes = most_bytes[base_random_below (&random, G_N_ELEMENTS (most_bytes))];
  program.n_first = (uint32_t) base_random_below (&random, 3000);
  program.answers = (uint32_t) base_random_below (&random, 256);
  g_test_message (
      "seed %" G_GUINT64_FORMAT ": %s, %u ranks, %u messages up to %" G_GUINT64_FORMAT " B", seed,
      program.machine->spec, program.n_ranks, program.n_first, program.most_bytes);
  run_program (&program, true, &fast);
  run_program (&program, false, &general);
  assert_same (&fast, &general);
  clear_run (&fast);
  clear_run (&general);
  topo_mapping_free (program.mapping);
  topo_machine_free (program.machine);
}

/* TORUS_SEEDS="FIRST N" runs others. */
static void
test_equal_to_the_general_engine (void)
{
  const char *seeds = g_getenv ("TORUS_SEEDS");
  unsigned first = 1, n = 60;

  if (seeds != NULL)
    g_assert_cmpint (sscanf (seeds, "%u %u", &first, &n), ==, 2);
  for (unsigned seed = first; seed < first + n; seed++)
    check_seed (seed);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/torus/equal", test_equal_to_the_general_engine);
  return g_test_run ();
}
