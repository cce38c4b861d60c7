/* load_test.c - static loads: by hand, by conservation, against the packets.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ports of Blue Gene/Q: A- 0, A+ 1, ... E- 8, E+ 9; link = 10 * node + port.
 * Node (a,b,c,d,e) of 4x4x4x4x2 is 128 a + 32 b + 8 c + 2 d + e. */
#include "sim/net/load.h"

#include ".ci/test_data.h"
#include "sim/net/network.h"

#include <glib.h>

typedef struct {
  TopoMachine *machine;
  RoutePaths *paths;
  TopoMapping *mapping; /* rank r on node r */
  SimCounters *counters;
} Fixture;

static void
fixture_init (Fixture *it, const char *spec)
{
  GError *error = NULL;

  it->machine = topo_machine_new (spec, &error);
  g_assert_no_error (error);
  it->paths = route_paths_new (it->machine, &error);
  g_assert_no_error (error);
  it->mapping =
      topo_mapping_new (NULL, it->machine, topo_shape_nodes (&it->machine->shape), &error);
  g_assert_no_error (error);
  it->counters = sim_counters_new (it->machine);
}

static void
fixture_clear (Fixture *it)
{
  sim_counters_free (it->counters);
  topo_mapping_free (it->mapping);
  route_paths_free (it->paths);
  topo_machine_free (it->machine);
}

static void
add (Fixture *it, uint32_t from, uint32_t to, uint64_t bytes, bool direct)
{
  sim_load_add (it->counters, it->paths, it->mapping, from, to, bytes, direct);
}

static uint64_t
bytes_of (const Fixture *it, uint32_t node, uint32_t port)
{
  return it->counters->link[node * it->counters->n_ports + port].payload_bytes;
}

static uint64_t
messages_of (const Fixture *it, uint32_t node, uint32_t fifo)
{
  return it->counters->fifo_messages[node * it->counters->n_fifos + fifo];
}

static uint64_t
all_bytes (const Fixture *it)
{
  uint64_t sum = 0;

  for (uint32_t link = 0; link < it->counters->n_places; link++)
    sum += it->counters->link[link].payload_bytes;
  return sum;
}

static uint64_t
all_messages (const Fixture *it)
{
  uint64_t sum = 0;

  for (uint32_t fifo = 0; fifo < it->counters->n_nodes * it->counters->n_fifos; fifo++)
    sum += it->counters->fifo_messages[fifo];
  return sum;
}

static void
test_line (void)
{
  Fixture it;

  fixture_init (&it, "torus:4m");
  add (&it, 0, 2, 100, false);
  add (&it, 3, 2, 7, false);
  g_assert_cmpuint (bytes_of (&it, 0, 1), ==, 100);
  g_assert_cmpuint (bytes_of (&it, 1, 1), ==, 100);
  g_assert_cmpuint (bytes_of (&it, 3, 0), ==, 7);
  g_assert_cmpuint (all_bytes (&it), ==, 207);
  g_assert_cmpuint (messages_of (&it, 0, 1), ==, 1);
  g_assert_cmpuint (messages_of (&it, 3, 0), ==, 1);
  fixture_clear (&it);
}

/* (0,0,0,0,0) to (1,0,0,0,1): first A, then E; the source's coordinates add up
 * to an even number, so E goes plus.  Two raw steps: FIFO 2. */
static void
test_eager_diagonal (void)
{
  Fixture it;

  fixture_init (&it, "bgq:4x4x4x4x2");
  add (&it, 0, 129, 4096, false);
  g_assert_cmpuint (bytes_of (&it, 0, 1), ==, 4096);
  g_assert_cmpuint (bytes_of (&it, 128, 9), ==, 4096);
  g_assert_cmpuint (all_bytes (&it), ==, 2 * 4096);
  g_assert_cmpuint (messages_of (&it, 0, 2), ==, 1);
  g_assert_cmpuint (all_messages (&it), ==, 1);
  fixture_clear (&it);
}

/* The receiver's pin to the source is 2 as well; even and odd swapped: 3. */
static void
test_rendezvous_diagonal (void)
{
  Fixture it;

  fixture_init (&it, "bgq:4x4x4x4x2");
  add (&it, 0, 129, 4097, false);
  g_assert_cmpuint (all_bytes (&it), ==, 2 * 4097);
  g_assert_cmpuint (messages_of (&it, 0, 3), ==, 1);
  g_assert_cmpuint (all_messages (&it), ==, 1);
  fixture_clear (&it);
}

/* On a line eager and rendezvous data leave through the like-named FIFO: A+
 * to the next node, A- to (3,0,0,0,0), which is one step back. */
static void
test_on_a_line (void)
{
  Fixture it;

  fixture_init (&it, "bgq:4x4x4x4x2");
  add (&it, 0, 128, 10, false);
  add (&it, 0, 128, 5000, false);
  add (&it, 0, 384, 10, false);
  add (&it, 0, 384, 5000, false);
  g_assert_cmpuint (messages_of (&it, 0, 1), ==, 2);
  g_assert_cmpuint (messages_of (&it, 0, 0), ==, 2);
  g_assert_cmpuint (bytes_of (&it, 0, 1), ==, 5010);
  g_assert_cmpuint (bytes_of (&it, 0, 0), ==, 5010);
  fixture_clear (&it);
}

/* Rendezvous data to the other node of a pair: both cables, a message on
 * each.  Eager data uses one. */
static void
test_e_split (void)
{
  Fixture it;

  fixture_init (&it, "bgq:4x4x4x4x2");
  add (&it, 0, 1, 5001, false);
  g_assert_cmpuint (bytes_of (&it, 0, 8), ==, 2500);
  g_assert_cmpuint (bytes_of (&it, 0, 9), ==, 2501);
  g_assert_cmpuint (messages_of (&it, 0, 8), ==, 1);
  g_assert_cmpuint (messages_of (&it, 0, 9), ==, 1);
  add (&it, 1, 0, 4096, false);
  g_assert_cmpuint (bytes_of (&it, 1, 8), ==, 4096); /* odd source: minus */
  g_assert_cmpuint (messages_of (&it, 1, 8), ==, 1);
  g_assert_cmpuint (all_messages (&it), ==, 3);
  fixture_clear (&it);
}

static void
test_within_a_node (void)
{
  Fixture it;

  fixture_init (&it, "bgq:4x4x4x4x2");
  add (&it, 5, 5, 1000000, false);
  add (&it, 5, 5, 10, true);
  g_assert_cmpuint (all_bytes (&it), ==, 0);
  g_assert_cmpuint (all_messages (&it), ==, 0);
  fixture_clear (&it);
}

static void
test_empty_message (void)
{
  Fixture it;

  fixture_init (&it, "bgq:4x4x4x4x2");
  add (&it, 0, 128, 0, false);
  g_assert_cmpuint (all_bytes (&it), ==, 0);
  g_assert_cmpuint (messages_of (&it, 0, 1), ==, 1);
  fixture_clear (&it);
}

/* Direct collectives use all ten FIFOs alike, and one cable of E. */
static void
test_direct (void)
{
  Fixture it;

  fixture_init (&it, "bgq:4x4x4x4x2");
  for (uint32_t i = 0; i < 30; i++)
    add (&it, 0, 1, 100000, true);
  for (uint32_t fifo = 0; fifo < 10; fifo++)
    g_assert_cmpuint (messages_of (&it, 0, fifo), ==, 3);
  g_assert_cmpuint (bytes_of (&it, 0, 9), ==, 3000000);
  g_assert_cmpuint (all_bytes (&it), ==, 3000000);
  fixture_clear (&it);
}

/* Two racks: 1 MiB is asked for in pieces of 16 KiB; six steps along D. */
static void
test_paced (void)
{
  Fixture it;

  fixture_init (&it, "bgq:4x4x4x16x2");
  add (&it, 0, 12, 1048576, false);
  g_assert_cmpuint (all_messages (&it), ==, 64);
  g_assert_cmpuint (messages_of (&it, 0, 7), ==, 64);
  g_assert_cmpuint (all_bytes (&it), ==, 6 * 1048576);
  fixture_clear (&it);
}

/* What all links carry together is hops times bytes. */
static void
test_conservation (void)
{
  static const char *const specs[] = { "bgq:512", "bgq:32", "torus:5x3m", "torus:2x2x2x2x2x2" };

  for (uint32_t spec = 0; spec < G_N_ELEMENTS (specs); spec++) {
    uint64_t hop_bytes = 0;
    Fixture it;

    fixture_init (&it, specs[spec]);
    for (uint32_t i = 0; i < 3000; i++) {
      uint32_t from = (uint32_t) g_test_rand_int_range (0, (int) it.counters->n_nodes);
      uint32_t to = (uint32_t) g_test_rand_int_range (0, (int) it.counters->n_nodes);
      uint64_t bytes = (uint64_t) g_test_rand_int_range (0, 20000);

      add (&it, from, to, bytes, i % 3 == 0);
      hop_bytes += topo_shape_hops (&it.machine->shape, from, to) * bytes;
    }
    g_assert_cmpuint (all_bytes (&it), ==, hop_bytes);
    for (uint32_t link = 0; link < it.counters->n_nodes * it.counters->n_ports; link++)
      g_assert_true (it.counters->link_exists[link] || it.counters->link[link].payload_bytes == 0);
    fixture_clear (&it);
  }
}

/* --- Fabrics --- */

/* The link that leaves this port. */
static const SimLinkCounters *
link_of (const Fixture *it, const char *port_name)
{
  for (uint32_t port = 0; port < it->machine->fabric->n_ports; port++) {
    g_autofree char *name = topo_fabric_port_name (it->machine->fabric, port);

    if (g_str_equal (name, port_name))
      return &it->counters->link[port];
  }
  g_error ("no %s", port_name);
}

/* Two leaves of two nodes; ports 3 and 4 of a leaf lead to the one spine,
 * whose ports 1, 2 lead to leaf0 and 3, 4 to leaf1. */
static void
test_fabric_by_hand (void)
{
  Fixture it;

  fixture_init (&it, "fattree:2x2:1,routes=ftree");
  add (&it, 0, 2, 1000, false);
  add (&it, 1, 3, 20, false);
  add (&it, 0, 1, 3, false);
  add (&it, 3, 3, 1000000, false);
  g_assert_cmpuint (link_of (&it, "node0 HCA-1 port 1")->payload_bytes, ==, 1003);
  g_assert_cmpuint (link_of (&it, "node1 HCA-1 port 1")->payload_bytes, ==, 20);
  g_assert_cmpuint (link_of (&it, "leaf0 port 2")->payload_bytes, ==, 3);
  g_assert_cmpuint (link_of (&it, "leaf0 port 3")->payload_bytes, ==, 1000);
  g_assert_cmpuint (link_of (&it, "leaf0 port 4")->payload_bytes, ==, 20);
  g_assert_cmpuint (link_of (&it, "spine0 port 3")->payload_bytes, ==, 1000);
  g_assert_cmpuint (link_of (&it, "spine0 port 4")->payload_bytes, ==, 20);
  g_assert_cmpuint (link_of (&it, "leaf1 port 1")->payload_bytes, ==, 1000);
  g_assert_cmpuint (link_of (&it, "leaf1 port 2")->payload_bytes, ==, 20);
  g_assert_cmpuint (all_bytes (&it), ==, 4 * 1000 + 4 * 20 + 2 * 3);
  g_assert_cmpuint (it.counters->n_fifo_places, ==, 4);
  g_assert_cmpuint (it.counters->fifo_messages[0], ==, 2);
  g_assert_cmpuint (it.counters->fifo_messages[1], ==, 1);
  g_assert_cmpuint (it.counters->fifo_messages[2], ==, 0);
  g_assert_cmpuint (it.counters->fifo_messages[3], ==, 0);
  fixture_clear (&it);
}

/* Eager up to 12 KiB less a header of 72; then so much with the envelope, writes
 * of 1 MiB up to the last 1 MiB, and fragments of 64 KiB less a header of 32. */
static void
test_fabric_work_requests (void)
{
  static const struct {
    uint64_t bytes, requests;
  } cases[] = {
    { 0, 1 },
    { 12216, 1 },
    { 12217, 2 },
    { 12216 + 65504, 2 },
    { 12216 + 65505, 3 },
    { 12288 + 1048576, 1 + 17 },
    { 12288 + 1048577, 1 + 1 + 17 },
    { 3 * 1048576 + 1, 1 + 2 + 17 },
    { 3 * 1048576 + 12217, 1 + 3 + 17 },
  };

  for (uint32_t at = 0; at < G_N_ELEMENTS (cases); at++)
    for (uint32_t pinned = 0; pinned < 2; pinned++) {
      Fixture it;

      fixture_init (&it, "fattree:1x2:1");
      it.machine->parameters.ompi.leave_pinned = pinned;
      add (&it, 0, 1, cases[at].bytes, false);
      g_assert_cmpuint (it.counters->fifo_messages[0], ==, pinned ? 1 : cases[at].requests);
      g_assert_cmpuint (all_bytes (&it), ==, 2 * cases[at].bytes);
      fixture_clear (&it);
    }
}

/* On the real fabric with its tables: hops times bytes. */
static void
test_fabric_conservation (void)
{
  g_autofree char *x5 = test_data ("fabrics/x5");
  g_autofree char *spec =
      g_strdup_printf ("fabric:%s/X5.topofile,routes=%s/opensm-minhop-lfts.dump", x5, x5);
  uint64_t hop_bytes = 0;
  Fixture it;

  if (x5 == NULL)
    return;
  fixture_init (&it, spec);
  for (uint32_t i = 0; i < 5000; i++) {
    uint32_t from = (uint32_t) g_test_rand_int_range (0, (int) it.counters->n_nodes);
    uint32_t to = (uint32_t) g_test_rand_int_range (0, (int) it.counters->n_nodes);
    uint64_t bytes = (uint64_t) g_test_rand_int_range (0, 2000000);

    add (&it, from, to, bytes, i % 3 == 0);
    hop_bytes += route_paths_hops (it.paths, from, to, from + to) * bytes;
  }
  g_assert_cmpuint (all_bytes (&it), ==, hop_bytes);
  for (uint32_t link = 0; link < it.counters->n_places; link++)
    g_assert_true (it.counters->link_exists[link] || it.counters->link[link].payload_bytes == 0);
  fixture_clear (&it);
}

/* --- Against the packet network --- */

static void
count_delivered (void *client, const SimMessage *message, G_GNUC_UNUSED int64_t now_ps)
{
  *(uint64_t *) client += message->bytes;
}

static void
no_timer (G_GNUC_UNUSED void *client, G_GNUC_UNUSED uint32_t rank, G_GNUC_UNUSED uint64_t cookie,
          G_GNUC_UNUSED int64_t now_ps)
{
}

static const SimClient client = { count_delivered, no_timer };

static SimMessage
random_message (const TopoMachine *machine, uint32_t n_nodes)
{
  SimMessage message = { .bytes = (uint64_t) g_test_rand_int_range (0, 12000),
                         .source_rank = (uint32_t) g_test_rand_int_range (0, (int) n_nodes),
                         .destination_rank = (uint32_t) g_test_rand_int_range (0, (int) n_nodes) };

  if (message.destination_rank == message.source_rank)
    message.destination_rank = (message.source_rank + 1) % n_nodes;
  message.kind =
      message.bytes > machine->parameters.mpi.eager_bytes ? SIM_MESSAGE_DATA : SIM_MESSAGE_EAGER;
  if (message.bytes % 5 == 0)
    message.kind = SIM_MESSAGE_DIRECT;
  return message;
}

/* Every link to the byte, every FIFO to the message, direct ones among them. */
static void
check_against_packets (const char *spec)
{
  Fixture it;
  GError *error = NULL;
  g_autoptr (TopoMapping) mapping = NULL;
  uint64_t sent_bytes = 0, delivered_bytes = 0;
  SimNetwork *network;
  bool direct = false;

  fixture_init (&it, spec);
  mapping = topo_mapping_new (NULL, it.machine, it.counters->n_nodes, &error);
  g_assert_no_error (error);
  network = sim_packet_new (it.machine, mapping, ROUTE_POLICY_DETERMINISTIC, 1, &client,
                            &delivered_bytes, &error);
  g_assert_no_error (error);
  for (uint32_t i = 0; i < 2000; i++) {
    SimMessage message = random_message (it.machine, it.counters->n_nodes);

    direct = direct || message.kind == SIM_MESSAGE_DIRECT;
    sent_bytes += message.bytes;
    sim_network_send (network, &message, 0);
    add (&it, mapping->node[message.source_rank], mapping->node[message.destination_rank],
         message.bytes, message.kind == SIM_MESSAGE_DIRECT);
  }
  g_assert_true (sim_network_run (network, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (delivered_bytes, ==, sent_bytes);
  for (uint32_t link = 0; link < it.counters->n_nodes * it.counters->n_ports; link++)
    g_assert_cmpuint (it.counters->link[link].payload_bytes, ==,
                      network->counters->link[link].payload_bytes);
  for (uint32_t fifo = 0; fifo < it.counters->n_nodes * it.counters->n_fifos; fifo++)
    g_assert_cmpuint (it.counters->fifo_messages[fifo], ==, network->counters->fifo_messages[fifo]);
  g_assert_true (direct);
  sim_network_free (network);
  fixture_clear (&it);
}

static void
test_same_links_as_packets (void)
{
  check_against_packets ("bgq:32");
  check_against_packets ("bgq:2x4x2x2x2");
  check_against_packets ("torus:5x3m");
}

/* Without direct messages every FIFO is the same. */
static void
test_same_fifos_as_packets (void)
{
  Fixture it;
  GError *error = NULL;
  g_autoptr (TopoMapping) mapping = NULL;
  uint64_t delivered_bytes = 0;
  SimNetwork *network;

  fixture_init (&it, "bgq:2x4x2x2x2");
  mapping = topo_mapping_new (NULL, it.machine, it.counters->n_nodes, &error);
  g_assert_no_error (error);
  network = sim_packet_new (it.machine, mapping, ROUTE_POLICY_DEFAULT, 1, &client, &delivered_bytes,
                            &error);
  g_assert_no_error (error);
  for (uint32_t i = 0; i < 1000; i++) {
    SimMessage message = random_message (it.machine, it.counters->n_nodes);

    if (message.kind == SIM_MESSAGE_DIRECT)
      continue;
    sim_network_send (network, &message, 0);
    add (&it, mapping->node[message.source_rank], mapping->node[message.destination_rank],
         message.bytes, false);
  }
  g_assert_true (sim_network_run (network, &error));
  for (uint32_t fifo = 0; fifo < it.counters->n_nodes * it.counters->n_fifos; fifo++)
    g_assert_cmpuint (it.counters->fifo_messages[fifo], ==, network->counters->fifo_messages[fifo]);
  sim_network_free (network);
  fixture_clear (&it);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/load/line", test_line);
  g_test_add_func ("/sim/load/eager-diagonal", test_eager_diagonal);
  g_test_add_func ("/sim/load/rendezvous-diagonal", test_rendezvous_diagonal);
  g_test_add_func ("/sim/load/on-a-line", test_on_a_line);
  g_test_add_func ("/sim/load/e-split", test_e_split);
  g_test_add_func ("/sim/load/within-a-node", test_within_a_node);
  g_test_add_func ("/sim/load/empty-message", test_empty_message);
  g_test_add_func ("/sim/load/direct", test_direct);
  g_test_add_func ("/sim/load/paced", test_paced);
  g_test_add_func ("/sim/load/conservation", test_conservation);
  g_test_add_func ("/sim/load/fabric-by-hand", test_fabric_by_hand);
  g_test_add_func ("/sim/load/fabric-work-requests", test_fabric_work_requests);
  g_test_add_func ("/sim/load/fabric-conservation", test_fabric_conservation);
  g_test_add_func ("/sim/load/same-links-as-packets", test_same_links_as_packets);
  g_test_add_func ("/sim/load/same-fifos-as-packets", test_same_fifos_as_packets);
  return g_test_run ();
}
