/* ucx_test.c - UCX's messages: each of its ways, worked by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Random programs: replay_random_test, replay_mix_test.  Times are in nanoseconds.  Beside fixture_new_fabric()'s: a work request 60, a message that has come
 * 50, a completion 30, a registered buffer 90, the begin of a single copy 400. */
#include "sim/replay/replay_testing.h"

#include "sim/replay/ucx.h"

#define SEND    (300 + 60)
#define TAKE    (700 + 50)
#define WITHIN  (300 + 40)
#define TAKE_IN (700 + 40)
#define PACKET  8246 /* of UCX's, between nodes */

/* A machine whose UCX takes each way: up to 226 B short, up to 2,152 B copied, up to 20,000 B not
 * copied by the sender, then a rendezvous; within a node 92, then copies until 20,000. */
static Fixture
ucx_fixture (uint32_t n_ranks, uint32_t per_node)
{
  Fixture f = fixture_new_fabric (n_ranks, per_node);
  TopoParameters *parameters = &f.machine->parameters;

  parameters->mpi.library = TOPO_LIBRARY_OMPI41;
  parameters->hca.model = TOPO_CONNECTX4;
  parameters->hca.pcie_bandwidth_Bps = 100000000000u;
  parameters->ib.mtu_bytes = 4096;
  parameters->ompi.sm_lines = 0;
  parameters->ucx.version = 12;
  parameters->ucx.rndv_thresh_bytes = 20000;
  parameters->ucx.post_ps = 60 * NS;
  parameters->ucx.receive_ps = 50 * NS;
  parameters->ucx.completion_ps = 30 * NS;
  parameters->ucx.registration_ps = 90 * NS;
  parameters->ucx.single_copy_overhead_ps = 400 * NS;
  parameters->ucx.copy_bandwidth_Bps = 0;
  for (uint32_t port = 0; port < f.machine->fabric->n_ports; port++)
    f.machine->fabric->ports[port].speed = TOPO_SPEED_EDR;
  return f;
}

/* 180 ns for a registered buffer / (0.1644266 ns a byte to copy - 0.0808594 on the wire) = 2,153.9 B:
 * UCX prints zcopy from 2153 (openucx/ucx, issue 6162). */
static void
test_limits (void)
{
  g_auto (Fixture) f = ucx_fixture (2, 1);
  SimUcxChoice choice;

  sim_ucx_choose_for (f.machine, f.mapping, false, &choice);
  g_assert_cmpint (choice.transport, ==, SIM_UCX_RC_MLX5);
  g_assert_cmpuint (choice.between.short_bytes, ==, 226);
  g_assert_cmpuint (choice.between.bcopy_bytes, ==, 2152);
  g_assert_cmpuint (choice.between.zcopy_bytes, ==, 20000);
  g_assert_cmpuint (choice.fragment_bytes, ==, PACKET);
  g_assert_cmpuint (choice.within.short_bytes, ==, 92);
  g_assert_cmpuint (choice.within.zcopy_bytes, ==, 20000);
}

typedef struct {
  const char *name, *script;
  uint32_t per_node; /* 0: 1 */
  double end_ns[2];
  uint32_t carried; /* messages in the network */
} Case;

#define PAIR(call, bytes) "0: " call " 1 7 " #bytes " | 1: recv 0 7 " #bytes

static const Case cases[] = {
  /* A copy into the work request; on the way 1,000 and 1 a byte; a copy out. */
  { "between/short/0", PAIR ("send", 0), .end_ns = { SEND, SEND + 1000 + TAKE }, .carried = 1 },
  { "between/short/226", PAIR ("send", 226),
    .end_ns = { SEND + 22.6, SEND + 22.6 + 1226 + TAKE + 22.6 }, .carried = 1 },
  { "between/copied", PAIR ("isend", 2000) " | 0: wait 5",
    .end_ns = { 0, SEND + 200 + 3000 + TAKE + 200 }, .carried = 1 },
  /* A blocking send copies longer ones, in fragments: the second copy begins when the first is on its
   * way.  The second overtakes the first on this network, which keeps no order, and both are copied
   * when the first has come. */
  { "between/fragments", PAIR ("send", 10000),
    .end_ns = { SEND + 823.0 + 60 + 177.0, SEND + 823.0 + 1000 + (PACKET - 16) + TAKE + 1000.0 },
    .carried = 2 },
  /* The sender copies nothing, and is told by the adapter when all is there: 1,000 and 30. */
  { "between/not-copied", PAIR ("isend", 3000), .end_ns = { 0, SEND + 90 + 4000 + TAKE + 300 },
    .carried = 1 },
  /* RTS; the receiver finds its buffer and asks, the adapter answers; what came is known after a
   * completion, and ATS goes back. */
  { "between/rendezvous", PAIR ("send", 30000),
    .end_ns = { SEND + 90 + 1000 + TAKE + 90 + 60 + 1000 + 31000 + 30 + 60 + 1000 + 50,
                SEND + 90 + 1000 + TAKE + 90 + 60 + 1000 + 31000 + 30 + 60 },
    .carried = 4 },
  { "between/synchronous", PAIR ("ssend", 100),
    .end_ns = { SEND + 10 + 1100 + TAKE + 10 + 1000 + 50, SEND + 10 + 1100 + TAKE + 10 },
    .carried = 2 },
  { "between/buffered", PAIR ("bsend", 1000), .end_ns = { SEND + 100, 0 }, .carried = 1 },

  /* In the element of the FIFO; 200 to the other rank. */
  { "within/short", PAIR ("send", 92), 2, { WITHIN, WITHIN + 200 + TAKE_IN }, 0 },
  { "within/copied",
    PAIR ("send", 1000),
    2,
    { WITHIN + 100, WITHIN + 100 + 200 + TAKE_IN + 100 },
    0 },
  /* RTS, one copy by the receiver, ATS. */
  { "within/rendezvous",
    PAIR ("send", 30000),
    2,
    { WITHIN + 200 + TAKE_IN + 400 + 3000 + 200 + 40, WITHIN + 200 + TAKE_IN + 400 + 3000 },
    0 },
};

static void
test_case (gconstpointer data)
{
  const Case *it = data;
  g_auto (Fixture) f = ucx_fixture (2, MAX (1, it->per_node));

  script_text (f.trace, it->script);
  fixture_run (&f);
  g_assert_no_error (f.error);
  for (uint32_t rank = 0; rank < 2; rank++)
    if (it->end_ns[rank] > 0)
      g_assert_cmpfloat_with_epsilon (fixture_end_ns (&f, rank), it->end_ns[rank], 0.0015);
  g_assert_cmpuint (fake_network_log (f.network)->len, ==, it->carried);
}

/* Two adapters: each half of the data is asked for, and answered, on a rail of its own. */
static void
test_rails (void)
{
  g_auto (Fixture) f = ucx_fixture (2, 1);
  TopoHost *host = &f.machine->fabric->hosts[0];
  uint32_t rails[2] = { f.machine->fabric->rails[host->first_rail],
                        f.machine->fabric->rails[host->first_rail] };
  uint32_t *kept = f.machine->fabric->rails, first = host->first_rail;
  bool seen[2] = { false, false };

  f.machine->fabric->rails = rails;
  *host = (TopoHost){ host->name, 0, 2 };
  f.without_path = true;
  script_text (f.trace, PAIR ("send", 30001));
  fixture_run (&f);
  g_assert_no_error (f.error);
  for (uint32_t at = 0; at < fake_network_log (f.network)->len; at++) {
    const FakeRecord *it = &g_array_index (fake_network_log (f.network), FakeRecord, at);

    if (it->message.kind != SIM_MESSAGE_WRITE)
      continue;
    g_assert_cmpuint (it->message.bytes, ==, it->message.rail == 0 ? 15000 : 15001);
    seen[it->message.rail] = true;
  }
  g_assert_true (seen[0] && seen[1]);
  f.machine->fabric->rails = kept;
  *host = (TopoHost){ host->name, first, 1 };
}

/* What came before anybody asked is copied once, when it matches. */
static void
test_unexpected (void)
{
  g_auto (Fixture) f = ucx_fixture (2, 1);

  script_text (f.trace, "0: send 1 7 2000 | 1: compute 50000; recv 0 7 2000");
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpfloat_with_epsilon (fixture_end_ns (&f, 1), 50000 + TAKE + 200, 0.0015);
}

/* Lines of a FIFO on a Harpertown, 100 ns within a package and 130 to the other.  Rank 2 is in one, rank 1
 * beside it, rank 0 in the other.  An element goes to its sender and comes back; the head goes to rank 1
 * once, as rank 0 has had it before, and once more to be changed, if rank 0 has kept it. */
static void
test_fifo_lines (gconstpointer data)
{
  bool migratory = GPOINTER_TO_INT (data);
  g_auto (Fixture) f = ucx_fixture (3, 3);
  const double first = WITHIN + 200 + 2 * 130 + TAKE_IN, far = 50000;
  const double head = migratory ? 130 : 2 * 130;
  const double second = far + WITHIN + head + 200 + 2 * 100 + TAKE_IN;

  f.machine->slot_core[0] = 4;
  f.machine->slot_core[1] = 2;
  f.machine->slot_core[2] = 0;
  f.machine->parameters.memory.transfer_latency_ps = 100 * NS;
  f.machine->parameters.memory.package_latency_ps = 30 * NS;
  f.machine->parameters.memory.migratory = migratory;
  f.machine->parameters.ompi.sm_lines = 2;
  script_text (f.trace, "0: send 2 7 0 | 1: compute 50000; send 2 7 0; send 2 7 0 |"
                        "2: recv 0 7 0; recv 1 7 0; recv 1 7 0");
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpfloat (first, <, far);
  g_assert_cmpfloat_with_epsilon (fixture_end_ns (&f, 0), WITHIN, 0.0015);
  g_assert_cmpfloat_with_epsilon (fixture_end_ns (&f, 1), far + WITHIN + head + WITHIN, 0.0015);
  /* The third has come while the second was taken. */
  g_assert_cmpfloat_with_epsilon (fixture_end_ns (&f, 2), second + TAKE_IN + 100, 0.0015);
}

/* A copied message to the other package, with lines of 130 ns and 1.3 ns a byte that comes out of the other's
 * cache.  The sender reads where to copy it, and fetches what the receiver has read there before; the
 * element is changed meanwhile, if its line did not come for that already.  The receiver fetches the
 * element, the first line, and all bytes. */
static void
test_segment_lines (gconstpointer data)
{
  bool migratory = GPOINTER_TO_INT (data);
  g_auto (Fixture) f = ucx_fixture (2, 2);
  const double sent = WITHIN + 130 + 1300, came = sent + 200 + (migratory ? 0 : 130);

  f.machine->slot_core[0] = 4;
  f.machine->slot_core[1] = 0;
  f.machine->parameters.memory.core_transfer_bandwidth_Bps = 1000000000;
  f.machine->parameters.memory.transfer_latency_ps = 100 * NS;
  f.machine->parameters.memory.package_latency_ps = 30 * NS;
  f.machine->parameters.memory.migratory = migratory;
  f.machine->parameters.ompi.sm_lines = 2;
  script_text (f.trace, PAIR ("send", 1000));
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpfloat_with_epsilon (fixture_end_ns (&f, 0), sent, 0.0015);
  g_assert_cmpfloat_with_epsilon (fixture_end_ns (&f, 1), came + TAKE_IN + 130 + 130 + 1300,
                                  0.0015);
}

/* Three sends in a row.  90 ns each, of them 40 from the counting of the head on, which waits for the line
 * of the element before: 100 ns within a package, 130 to the other. */
static void
test_locked_head (void)
{
  static const struct {
    uint32_t core;
    double line_ns;
  } senders[] = { { 2, 100 }, { 4, 130 } };

  for (guint i = 0; i < G_N_ELEMENTS (senders); i++) {
    g_auto (Fixture) f = ucx_fixture (2, 2);

    f.machine->slot_core[0] = (uint8_t) senders[i].core;
    f.machine->slot_core[1] = 0;
    f.machine->parameters.memory.transfer_latency_ps = 100 * NS;
    f.machine->parameters.memory.package_latency_ps = 30 * NS;
    f.machine->parameters.mpi.send_overhead_ps = 50 * NS;
    f.machine->parameters.ompi.sm_lines = 2;
    script_text (f.trace, "0: send 1 7 0; send 1 7 0; send 1 7 0 |"
                          "1: recv 0 7 0; recv 0 7 0; recv 0 7 0");
    fixture_run (&f);
    g_assert_no_error (f.error);
    g_assert_cmpfloat_with_epsilon (fixture_end_ns (&f, 0), 90 + 2 * (senders[i].line_ns + 40),
                                    0.0015);
  }
}

/* MPI_Send asks for a fast completion, MPI_Isend does not; MPICH never asks. */
static void
test_fast_completion (void)
{
  g_auto (Fixture) f = ucx_fixture (2, 1);
  SimUcxChoice choice;

  f.machine->parameters.ucx.rndv_thresh_bytes = 0;
  sim_ucx_choose_for (f.machine, f.mapping, false, &choice);
  g_assert_cmpuint (choice.between.zcopy_bytes, <, 65536);
  sim_ucx_choose_for (f.machine, f.mapping, true, &choice);
  g_assert_cmpuint (choice.between.zcopy_bytes, ==, 262143);
  f.machine->parameters.mpi.library = TOPO_LIBRARY_MPICH4;
  sim_ucx_choose_for (f.machine, f.mapping, true, &choice);
  g_assert_cmpuint (choice.between.zcopy_bytes, <, 65536);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/ucx/limits", test_limits);
  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autofree char *path = g_strconcat ("/sim/ucx/", cases[at].name, NULL);

    g_test_add_data_func (path, &cases[at], test_case);
  }
  g_test_add_func ("/sim/ucx/rails", test_rails);
  g_test_add_func ("/sim/ucx/unexpected", test_unexpected);
  g_test_add_func ("/sim/ucx/fast-completion", test_fast_completion);
  for (int migratory = 0; migratory < 2; migratory++) {
    const char *lines = migratory ? "leave" : "stay";
    g_autofree char *fifo = g_strconcat ("/sim/ucx/fifo-lines/", lines, NULL);
    g_autofree char *segment = g_strconcat ("/sim/ucx/segment-lines/", lines, NULL);

    g_test_add_data_func (fifo, GINT_TO_POINTER (migratory), test_fifo_lines);
    g_test_add_data_func (segment, GINT_TO_POINTER (migratory), test_segment_lines);
  }
  g_test_add_func ("/sim/ucx/locked-head", test_locked_head);
  return g_test_run ();
}
