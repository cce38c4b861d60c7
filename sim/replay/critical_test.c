/* critical_test.c - the critical path's classes: hand-worked runs, and slopes of the time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/message_cost.h"
#include "sim/replay/replay_testing.h"

#include <math.h>

static SimPath
path_of (const Fixture *f, SimNetworkKind network, int64_t *time_ps)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SimRun) run = fixture_simulate (f, network, &error);

  g_assert_no_error (error);
  g_assert_true (run->result.has_path);
  fixture_check_path (&run->result);
  *time_ps = run->result.time_ps;
  return run->result.path;
}

/* --- Hand-worked --- */

/* Machines of replay_testing.h: a send call takes 300 ns, a reception 700, another call 100; a
 * message within a node 200 ns and 0.1 per byte.  Nodes are next to each other.  What the network
 * takes is what is left, and one packet on an idle network never queues. */
static const struct {
  const char *name, *script;
  uint32_t per_node;
  bool in_network;
  int64_t compute_ns, software_ns;
  int64_t bandwidth_ns; /* NOTHING: whatever the network takes */
} cases[] = {
  { "compute-alone", "0: compute 700 | 1: compute 500", 1, false, 700, 0, 0 },
  { "one-message", "0: send 1 7 500 | 1: recv 0 7 500", 1, false, 0, 1000, NOTHING },
  /* The receiver waits for what the sender computes, and not for the other way round. */
  { "late-sender", "0: compute 9000; send 1 7 500 | 1: recv 0 7 500", 1, false, 9000, 1000,
    NOTHING },
  { "late-receiver", "0: send 1 7 500 | 1: compute 9000; recv 0 7 500", 1, false, 9000, 700, 0 },
  /* There and back: the path is on both ranks, and the sum of both. */
  { "ping-pong", "0: send 1 7 500; recv 1 7 500 | 1: recv 0 7 500; compute 100; send 0 7 500", 1,
    false, 100, 2000, NOTHING },
  { "within-a-node", "0: send 1 7 500 | 1: recv 0 7 500", 2, false, 0, 1000, 50 },
  /* A rendezvous waits for the receiver, and its sender for the acknowledgement. */
  { "rendezvous", "0: send 1 7 2000 | 1: compute 9000; recv 0 7 2000", 1, false, 9000, 700,
    NOTHING },
  /* All wait for the last one. */
  { "barrier", "0: barrier; compute 10 | 1: compute 4000; barrier; compute 30", 1, true, 4030, 0,
    0 },
  /* The root is on the path, and not what a leaf did before. */
  { "broadcast", "0: compute 4000; bcast 0 8 | 1: compute 3000; bcast 0 8; compute 50000", 1, true,
    54000, 0, 0 },
};

static void
test_case (gconstpointer data)
{
  guint at = GPOINTER_TO_UINT (data);
  g_auto (Fixture) f = fixture_new (2, cases[at].per_node);
  int64_t time_ps;
  SimPath path;

  f.machine->parameters.collective.in_network = cases[at].in_network;
  script_text (f.trace, cases[at].script);
  path = path_of (&f, SIM_NETWORK_PACKET, &time_ps);
  g_assert_cmpint (path.ps[SIM_CLASS_COMPUTE], ==, cases[at].compute_ns * NS);
  g_assert_cmpint (path.ps[SIM_CLASS_SOFTWARE], ==, cases[at].software_ns * NS);
  if (cases[at].bandwidth_ns != NOTHING)
    g_assert_cmpint (path.ps[SIM_CLASS_BANDWIDTH], ==, cases[at].bandwidth_ns * NS);
  else {
    g_assert_cmpint (path.ps[SIM_CLASS_LATENCY], >, 0);
    g_assert_cmpint (path.ps[SIM_CLASS_BANDWIDTH], >, 0);
  }
  g_assert_cmpint (path.ps[SIM_CLASS_QUEUEING], <=, time_ps / 200);
}

/* Two messages share the last link: what the later one takes beyond its own bytes is queueing,
 * about the bytes of the other one. */
static void
test_shared_link (void)
{
  g_auto (Fixture) f = fixture_new_spec ("torus:3m", 3, 1);
  int64_t time_ps;
  SimPath path;

  script_text (f.trace, "0: send 2 7 100000 | 1: send 2 7 100000 |"
                        "2: irecv 0 7 100000 1; irecv 1 7 100000 2; wait 1 2");
  path = path_of (&f, SIM_NETWORK_PACKET, &time_ps);
  g_assert_cmpfloat (
      fabs ((double) path.ps[SIM_CLASS_QUEUEING] / (double) path.ps[SIM_CLASS_BANDWIDTH] - 1), <,
      0.1);
}

/* The latency of an idle way is that of its links one by one. */
static void
test_ways (void)
{
  static const char *const specs[] = { "bgq:1024", "bgq:4x4x8x12x2", "torus:5x3m" };

  for (guint at = 0; at < G_N_ELEMENTS (specs); at++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (TopoMachine) machine = topo_machine_new (specs[at], &error);
    uint32_t n = topo_shape_nodes (&machine->shape);
    g_autoptr (TopoMapping) mapping = topo_mapping_new (NULL, machine, n, &error);
    g_autoptr (RoutePaths) paths = route_paths_new (machine, &error);
    g_autofree uint32_t *links = g_new (uint32_t, paths->longest_links + 1);

    g_assert_no_error (error);
    for (uint32_t pair = 0; pair < 2000; pair++) {
      SimMessage message = { .kind = SIM_MESSAGE_CONTROL,
                             .source_rank = (uint32_t) g_test_rand_int_range (0, (gint32) n),
                             .destination_rank = (uint32_t) g_test_rand_int_range (0, (gint32) n) };
      int64_t walked_ps = sim_message_start_ps (paths, mapping, &message, links) +
                          machine->parameters.messaging.reception_latency_ps;
      SimMessageTimes idle = sim_message_idle_times (paths, mapping, &message, links);

      if (message.source_rank != message.destination_rank)
        g_assert_cmpint (idle.latency_ps, ==, walked_ps);
    }
  }
}

static void
test_graph_is_unknown (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (SimRun) run = NULL;

  script_set_graph (f.trace);
  script_text (f.trace, "0: send 1 7 500 | 1: recv 0 7 500");
  run = fixture_simulate (&f, SIM_NETWORK_PACKET, &error);
  g_assert_no_error (error);
  g_assert_false (run->result.has_path);
}

/* --- Slopes ---
 *
 * A class is what the time would change by if all of it took longer, as long as the path stays: the
 * machine is made slower by a hundredth in one way, and the time must grow by a hundredth of the class. */

typedef enum { SLOW_NONE, SLOW_COMPUTE, SLOW_SOFTWARE, SLOW_LATENCY, SLOW_BANDWIDTH } Slow;

#define LONGER 1.01

static int64_t
longer (int64_t ps)
{
  return llround ((double) ps * LONGER);
}

static SimPath
slowed (bool fabric, SimNetworkKind network, Slow slow, int64_t *time_ps)
{
  static const uint64_t bytes[] = { 20, 900, 30000, 400 };
  g_auto (Fixture) f = fabric ? fixture_new_fabric (4, 1) : fixture_new_spec ("torus:4", 4, 1);
  TopoParameters *it = &f.machine->parameters;

  switch (slow) {
  case SLOW_NONE: break;
  case SLOW_COMPUTE: it->node.compute_Flops /= LONGER; break;
  case SLOW_SOFTWARE:
    it->mpi.send_overhead_ps = longer (it->mpi.send_overhead_ps);
    it->mpi.receive_overhead_ps = longer (it->mpi.receive_overhead_ps);
    it->mpi.call_overhead_ps = longer (it->mpi.call_overhead_ps);
    it->ompi.fragment_overhead_ps = longer (it->ompi.fragment_overhead_ps);
    break;
  case SLOW_LATENCY:
    it->link.hop_latency_ps = longer (it->link.hop_latency_ps);
    it->messaging.injection_latency_ps = longer (it->messaging.injection_latency_ps);
    it->messaging.reception_latency_ps = longer (it->messaging.reception_latency_ps);
    it->hca.send_latency_ps = longer (it->hca.send_latency_ps);
    it->hca.receive_latency_ps = longer (it->hca.receive_latency_ps);
    it->hca.read_latency_ps = longer (it->hca.read_latency_ps);
    it->ib.cable_latency_ps = longer (it->ib.cable_latency_ps);
    it->switches.latency_ps = longer (it->switches.latency_ps);
    break;
  case SLOW_BANDWIDTH:
    it->link.bandwidth_Bps = (uint64_t) ((double) it->link.bandwidth_Bps / LONGER);
    it->hca.pcie_bandwidth_Bps = (uint64_t) ((double) it->hca.pcie_bandwidth_Bps / LONGER);
    break;
  }
  /* Rank 0 begins a message that goes around four times; each rank works before it passes it on. */
  for (guint round = 0; round < 4; round++)
    for (uint32_t rank = 0; rank < 4; rank++) {
      int32_t next = (int32_t) (rank + 1) % 4, before = (int32_t) (rank + 3) % 4;

      if (rank > 0)
        script_recv (f.trace, rank, before, 7, bytes[round]);
      script_add (f.trace, rank,
                  (TraceOp){ .kind = TRACE_OP_COMPUTE, .flops = 1000 * (rank + round + 1) });
      script_send (f.trace, rank, next, 7, bytes[round]);
      if (rank == 0)
        script_recv (f.trace, rank, before, 7, bytes[round]);
    }
  return path_of (&f, network, time_ps);
}

static void
check_slopes (bool fabric, SimNetworkKind network, guint which, double tolerance)
{
  static const SimTimeClass class_of[] = {
    [SLOW_COMPUTE] = SIM_CLASS_COMPUTE,
    [SLOW_SOFTWARE] = SIM_CLASS_SOFTWARE,
    [SLOW_LATENCY] = SIM_CLASS_LATENCY,
    [SLOW_BANDWIDTH] = SIM_CLASS_BANDWIDTH,
  };
  int64_t time_ps, slow_ps;
  SimPath path = slowed (fabric, network, SLOW_NONE, &time_ps);

  for (Slow slow = SLOW_COMPUTE; slow <= SLOW_BANDWIDTH; slow++) {
    double found = (double) path.ps[class_of[slow]], expected;

    if (!(which >> slow & 1))
      continue;
    slowed (fabric, network, slow, &slow_ps);
    expected = (double) (slow_ps - time_ps) / (LONGER - 1);
    g_test_message ("%s: %.0f of %.0f ns, by the slope %.0f", sim_class_names[class_of[slow]],
                    found / NS, (double) time_ps / NS, expected / NS);
    g_assert_cmpfloat (expected, >, 0);
    g_assert_cmpfloat (fabs (found - expected), <, tolerance * (double) time_ps);
  }
}

static void
test_slopes_torus (void)
{
  check_slopes (false, SIM_NETWORK_PACKET,
                1 << SLOW_COMPUTE | 1 << SLOW_SOFTWARE | 1 << SLOW_LATENCY | 1 << SLOW_BANDWIDTH,
                0.01);
}

static void
test_slopes_fabric (void)
{
  /* Its links have the speed of a standard, and its library dozens of costs and copies. */
  check_slopes (true, SIM_NETWORK_PACKET, 1 << SLOW_COMPUTE | 1 << SLOW_LATENCY, 0.01);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autofree char *path = g_strdup_printf ("/sim/replay/critical/%s", cases[at].name);

    g_test_add_data_func (path, GUINT_TO_POINTER (at), test_case);
  }
  g_test_add_func ("/sim/replay/critical/shared-link", test_shared_link);
  g_test_add_func ("/sim/replay/critical/ways", test_ways);
  g_test_add_func ("/sim/replay/critical/graph", test_graph_is_unknown);
  g_test_add_func ("/sim/replay/critical/slopes-torus", test_slopes_torus);
  g_test_add_func ("/sim/replay/critical/slopes-fabric", test_slopes_fabric);
  return g_test_run ();
}
