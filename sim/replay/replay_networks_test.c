/* replay_networks_test.c - what posted collectives, accesses and graphs send,
 * over real networks.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Under deterministic routing the packet network must carry, link by link,
 * what the load network adds up without any time. */
#include "sim/run.h"
#include "sim/replay/replay_testing.h"

typedef struct {
  TopoMachine *machine;
  TopoMapping *mapping;
  Trace *trace;
  uint32_t n;
} Setup;

static void
setup_init (Setup *setup, const char *spec, uint32_t per_node)
{
  GError *error = NULL;

  setup->machine = topo_machine_new (spec, &error);
  g_assert_no_error (error);
  setup->machine->ranks_per_node = per_node;
  setup->n = per_node * topo_shape_nodes (&setup->machine->shape);
  setup->mapping = topo_mapping_new (NULL, setup->machine, setup->n, &error);
  g_assert_no_error (error);
  setup->trace = script_new (setup->n);
}

static void
setup_clear (Setup *setup)
{
  trace_free (setup->trace);
  topo_mapping_free (setup->mapping);
  topo_machine_free (setup->machine);
}

static SimRun *
run (const Setup *setup, SimNetworkKind network)
{
  SimRunOptions options = { .network = network,
                            .policy = ROUTE_POLICY_DETERMINISTIC,
                            .compute_scale = 1 };
  GError *error = NULL;
  SimRun *it = sim_run (setup->trace, setup->machine, setup->mapping, &options, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (it->warnings->len, ==, 0);
  return it;
}

static void
check_links (const Setup *setup)
{
  g_autoptr (SimRun) packet = run (setup, SIM_NETWORK_PACKET);
  g_autoptr (SimRun) load = run (setup, SIM_NETWORK_LOAD);
  uint64_t carried_bytes = 0;

  g_assert_cmpuint (packet->result.messages, ==, load->result.messages);
  g_assert_cmpuint (packet->result.message_bytes, ==, load->result.message_bytes);
  g_assert_cmpuint (packet->result.collectives, ==, load->result.collectives);
  for (uint32_t link = 0; link < load->counters->n_nodes * load->counters->n_ports; link++) {
    carried_bytes += load->counters->link[link].payload_bytes;
    g_assert_cmpuint (packet->counters->link[link].payload_bytes, ==,
                      load->counters->link[link].payload_bytes);
  }
  g_assert_cmpuint (carried_bytes, >, 0);
}

/* -- posted collectives ---------------------------------------------------- */

static void
add_posted (const Setup *setup, uint32_t rank)
{
  static const TraceOpKind kinds[] = { TRACE_OP_BARRIER,   TRACE_OP_ALLTOALL, TRACE_OP_BCAST,
                                       TRACE_OP_ALLGATHER, TRACE_OP_REDUCE,   TRACE_OP_SCAN };

  script_compute (setup->trace, rank, rank * 7919 % 50 * 1000000);
  for (uint32_t i = 0; i < G_N_ELEMENTS (kinds); i++) {
    script_add (setup->trace, rank,
                (TraceOp){ .kind = kinds[i],
                           .comm = TRACE_COMM_WORLD,
                           .root = 3,
                           .bytes = 700,
                           .recv_bytes = 700,
                           .nonblocking = true,
                           .request = 10 + i });
    script_compute (setup->trace, rank, rank * 31 % 11 * 1000000);
  }
  for (uint32_t i = G_N_ELEMENTS (kinds); i-- > 0;)
    script_wait (setup->trace, rank, 10 + i);
}

static void
add_neighbors (const Setup *setup, uint32_t rank)
{
  int32_t ranks[] = { (int32_t) ((rank + setup->n - 5) % setup->n),
                      (int32_t) ((rank + 5) % setup->n) };
  uint64_t counts[] = { 100, 9000 }, recv_counts[] = { 9000, 100 };

  script_add (setup->trace, rank,
              (TraceOp){ .kind = TRACE_OP_NEIGHBOR_ALLTOALL,
                         .comm = TRACE_COMM_WORLD,
                         .values = ranks,
                         .values2 = ranks,
                         .counts = counts,
                         .recv_counts = recv_counts,
                         .n_counts = 2,
                         .n_recv_counts = 2 });
}

static void
test_collectives (gconstpointer spec)
{
  Setup setup;

  setup_init (&setup, spec, 2);
  for (uint32_t rank = 0; rank < setup.n; rank++) {
    add_posted (&setup, rank);
    add_neighbors (&setup, rank);
  }
  check_links (&setup);
  setup_clear (&setup);
}

/* -- accesses ------------------------------------------------------------ */

static void
add_accesses (const Setup *setup, uint32_t rank)
{
  for (uint32_t i = 0; i < 9; i++)
    script_add (setup->trace, rank,
                (TraceOp){ .kind = TRACE_OP_PUT + (TraceOpKind) (i % 3),
                           .comm = TRACE_COMM_WORLD,
                           .window = 4,
                           .peer = (int32_t) ((rank * 13 + i * 29) % setup->n),
                           .bytes = 10 + i * 3000,
                           .recv_bytes = 20 + i * i * 2500 });
}

static void
window_call (const Setup *setup, uint32_t rank, TraceOpKind kind)
{
  script_add (setup->trace, rank, (TraceOp){ .kind = kind, .comm = TRACE_COMM_WORLD, .window = 4 });
}

static void
test_accesses (gconstpointer spec)
{
  Setup setup;

  setup_init (&setup, spec, 2);
  for (uint32_t rank = 0; rank < setup.n; rank++) {
    window_call (&setup, rank, TRACE_OP_WIN_CREATE);
    add_accesses (&setup, rank);
    window_call (&setup, rank, TRACE_OP_WIN_FENCE);
    add_accesses (&setup, rank);
    window_call (&setup, rank, TRACE_OP_WIN_FREE);
  }
  check_links (&setup);
  setup_clear (&setup);
}

/* -- graphs -------------------------------------------------------------- */

/* Each rank sends to two others and computes meanwhile; what it receives it
 * sends on. */
static void
add_graph (const Setup *setup, uint32_t rank)
{
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t distance = i == 0 ? 7 : setup->n / 2;
    uint32_t first = 4 * i, received = first + 1;
    TraceOp send = { .kind = TRACE_OP_SEND,
                     .comm = TRACE_COMM_WORLD,
                     .peer = (int32_t) ((rank + distance) % setup->n),
                     .bytes = 100 + i * 20000,
                     .cpu = i };
    TraceOp receive = send;

    receive.kind = TRACE_OP_RECV;
    receive.peer = (int32_t) ((rank + setup->n - distance) % setup->n);
    script_add (setup->trace, rank, send);
    script_add (setup->trace, rank, receive);
    script_add (setup->trace, rank,
                (TraceOp){ .kind = TRACE_OP_COMPUTE, .gap_ps = rank % 5 * 3000000, .cpu = i });
    send.tag = 1;
    send.after = &received;
    send.n_after = 1;
    script_add (setup->trace, rank, send);
  }
  for (uint32_t i = 0; i < 2; i++)
    script_add (setup->trace, rank,
                (TraceOp){ .kind = TRACE_OP_RECV,
                           .comm = TRACE_COMM_WORLD,
                           .peer = TRACE_ANY_SOURCE,
                           .tag = 1,
                           .bytes = 50000 });
}

static void
test_graph (gconstpointer spec)
{
  Setup setup;

  setup_init (&setup, spec, 2);
  script_set_graph (setup.trace);
  for (uint32_t rank = 0; rank < setup.n; rank++)
    add_graph (&setup, rank);
  check_links (&setup);
  setup_clear (&setup);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/sim/replay-networks/collectives/bgq", "bgq:32", test_collectives);
  g_test_add_data_func ("/sim/replay-networks/collectives/torus", "torus:4x3m", test_collectives);
  g_test_add_data_func ("/sim/replay-networks/accesses/bgq", "bgq:32", test_accesses);
  g_test_add_data_func ("/sim/replay-networks/accesses/torus", "torus:4x3m", test_accesses);
  g_test_add_data_func ("/sim/replay-networks/graph/bgq", "bgq:32", test_graph);
  g_test_add_data_func ("/sim/replay-networks/graph/torus", "torus:4x3m", test_graph);
  return g_test_run ();
}
