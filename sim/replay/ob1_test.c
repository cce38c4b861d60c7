/* ob1_test.c - Open MPI's protocols: times worked by hand, short messages.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/replay_fixture.h"

#define SM_EAGER               (4096 - 72)
#define IB_EAGER               (12288 - 72)
#define PER_BYTE               0.1
#define ASSERT_NS(f, rank, ns) g_assert_cmpfloat_with_epsilon (fixture_end_ns (f, rank), ns, 0.0015)

/* Rank 0 sends to rank 1, on its node or on the next. */
static void
fixture_pair (Fixture *f, bool local, uint64_t bytes, TraceSendMode mode)
{
  fixture_init_fabric (f, 2, local ? 2 : 1);
  script_send_mode (f->trace, 0, 1, 7, bytes, mode);
  script_recv (f->trace, 1, 0, 7, bytes);
}

static void
check_pair (bool local, uint64_t bytes, TraceSendMode mode, double send_ns, double receive_ns)
{
  Fixture f;

  fixture_pair (&f, local, bytes, mode);
  fixture_run (&f);
  ASSERT_NS (&f, 0, send_ns);
  ASSERT_NS (&f, 1, receive_ns);
  g_assert_cmpuint (f.result->message_bytes, ==, bytes);
  fixture_clear (&f);
}

/* -- within a node --------------------------------------------------------- */

/* 300 + 40 and a copy; 200; 700 + 40 and a copy. */
static void
test_sm_eager (void)
{
  check_pair (true, 0, TRACE_SEND_STANDARD, 340, 340 + 200 + 740);
  check_pair (true, 1000, TRACE_SEND_STANDARD, 440, 440 + 200 + 740 + 100);
  check_pair (true, SM_EAGER, TRACE_SEND_STANDARD, 340 + 402.4, 340 + 402.4 + 200 + 740 + 402.4);
}

/* One byte more: acknowledged before the first piece is copied out; the byte
 * follows in a fragment, whose buffer comes back to end the send. */
static void
test_sm_rendezvous (void)
{
  double ack = 340 + 402.4 + 200 + 740 + 40;
  double fragment = ack + 200 + 40 + 40 + 0.1;
  double end = fragment + 200 + 40 + 0.1;

  check_pair (true, SM_EAGER + 1, TRACE_SEND_STANDARD, end + 200, end);
}

/* The send ends when the buffer is back, after the acknowledgement. */
static void
test_sm_synchronous (void)
{
  double ack = 340 + 100 + 200 + 740 + 40;

  check_pair (true, 1000, TRACE_SEND_SYNCHRONOUS, ack + 100 + 200, ack + 100);
  /* Nothing to copy: the acknowledgement is learned last. */
  check_pair (true, 0, TRACE_SEND_SYNCHRONOUS, ack - 100 + 200 + 40, ack - 100);
}

/* The whole message is copied: the first piece into the segment, the rest aside. */
static void
test_sm_buffered (void)
{
  Fixture f;

  fixture_pair (&f, true, 20000, TRACE_SEND_BUFFERED);
  fixture_run (&f);
  ASSERT_NS (&f, 0, 340 + 2000);
  g_assert_cmpfloat (fixture_end_ns (&f, 1), >, 340 + 2000 + 200 + 740 + 2000);
  fixture_clear (&f);
}

static void
test_sm_single_copy (void)
{
  double end = 340 + 200 + 740 + 10000;
  Fixture f;

  fixture_pair (&f, true, 100000, TRACE_SEND_STANDARD);
  f.machine->parameters.sm_single_copy = true;
  fixture_run (&f);
  ASSERT_NS (&f, 1, end);
  ASSERT_NS (&f, 0, end + 200);
  fixture_clear (&f);
}

/* Time from one fragment to the next, in the steady state. */
static double
fragment_period_ns (uint64_t depth)
{
  double end_ns[2];

  for (uint64_t more = 0; more < 2; more++) {
    Fixture f;

    fixture_pair (&f, true, SM_EAGER + (20 * depth + more * depth) * (32768 - 32),
                  TRACE_SEND_STANDARD);
    f.machine->parameters.sm_depth = depth;
    fixture_run (&f);
    end_ns[more] = fixture_end_ns (&f, 1);
    fixture_clear (&f);
  }
  return (end_ns[1] - end_ns[0]) / (double) depth;
}

/* A fragment costs each side 40 and a copy of 3,273.6; its buffer is back
 * after both and twice 200. */
static void
test_sm_depth (void)
{
  double side = 40 + 3273.6, round = 2 * side + 2 * 200;

  g_assert_cmpfloat_with_epsilon (fragment_period_ns (1), round, 0.01);
  g_assert_cmpfloat_with_epsilon (fragment_period_ns (2), round / 2, 0.01);
  g_assert_cmpfloat_with_epsilon (fragment_period_ns (3), side, 0.01);
  g_assert_cmpfloat_with_epsilon (fragment_period_ns (8), side, 0.01);
}

/* What a rank sends itself is copied once. */
static void
test_self (void)
{
  Fixture f;

  for (uint64_t bytes = 1000; bytes <= 1000000; bytes *= 10) {
    fixture_init_fabric (&f, 2, 2);
    script_irecv (f.trace, 0, 0, 7, bytes, 5);
    script_send (f.trace, 0, 0, 7, bytes);
    script_wait (f.trace, 0, 5);
    fixture_run (&f);
    ASSERT_NS (&f, 0, 100 + 300 + 700 + PER_BYTE * (double) bytes + 100);
    fixture_clear (&f);
  }
}

/* -- between nodes --------------------------------------------------------- */

/* 300 + 60 and a copy; 1,000 and 1 per byte; 700 + 60 and a copy. */
static void
test_ib_eager (void)
{
  double big = 1.1 * IB_EAGER + PER_BYTE * IB_EAGER;
  Fixture f;

  check_pair (false, 0, TRACE_SEND_STANDARD, 360, 360 + 1000 + 760);
  check_pair (false, 1000, TRACE_SEND_STANDARD, 460, 460 + 2000 + 860);
  check_pair (false, IB_EAGER, TRACE_SEND_STANDARD, 360 + PER_BYTE * IB_EAGER, 2120 + big);
  fixture_pair (&f, false, IB_EAGER, TRACE_SEND_STANDARD);
  fixture_run (&f);
  g_assert_cmpuint (fake_network_log (f.network)->len, ==, 1);
  g_assert_false (fixture_record (&f, SIM_MESSAGE_SEND, 0)->message.acknowledge);
  g_assert_cmpuint (fixture_record (&f, SIM_MESSAGE_SEND, 0)->message.software_bytes, ==, 24);
  fixture_clear (&f);
}

/* One byte more follows in a fragment, whose send is over when the adapter has
 * its acknowledgement. */
static void
test_ib_rendezvous (void)
{
  double ack = 360 + 1221.6 + 1000 + IB_EAGER + 760 + 60;
  double fragment = ack + 1000 + 60 + 60 + 0.1 + 1000 + 1;

  check_pair (false, IB_EAGER + 1, TRACE_SEND_STANDARD, fragment + 1000, fragment + 60 + 0.1);
}

static void
test_ib_synchronous (void)
{
  double ack = 360 + 10 + 1100 + 760 + 60;

  check_pair (false, 100, TRACE_SEND_SYNCHRONOUS, ack + 1000 + 60, ack + 10);
  check_pair (false, 0, TRACE_SEND_SYNCHRONOUS, ack - 110 + 1000 + 60, ack - 110);
}

static void
test_ib_buffered (void)
{
  Fixture f;

  fixture_pair (&f, false, 20000, TRACE_SEND_BUFFERED);
  fixture_run (&f);
  ASSERT_NS (&f, 0, 360 + 2000);
  fixture_clear (&f);
}

/* -- the receiver ---------------------------------------------------------- */

/* Rank 0's message comes at 2,460 and rank 2's, empty, at that time. */
static void
fixture_two_senders (Fixture *f, int64_t second_ns)
{
  fixture_init_fabric (f, 3, 1);
  script_send (f->trace, 0, 1, 7, 1000);
  script_compute (f->trace, 2, (second_ns - 1360) * NS);
  script_send (f->trace, 2, 1, 7, 0);
}

static void
test_unexpected (void)
{
  Fixture f;

  fixture_two_senders (&f, 2470);
  script_recv (f.trace, 1, 2, 7, 0);
  script_recv (f.trace, 1, 0, 7, 1000);
  fixture_run (&f);
  /* 60 + 100 to put it aside; 700 + 60; 700 + 100. */
  ASSERT_NS (&f, 1, 2460 + 160 + 760 + 800);
  fixture_clear (&f);
}

static void
test_unexpected_within (void)
{
  Fixture f;

  fixture_init_fabric (&f, 3, 3);
  script_send (f.trace, 0, 1, 7, 1000);
  script_compute (f.trace, 2, 200 * NS);
  script_send (f.trace, 2, 1, 7, 0);
  script_recv (f.trace, 1, 2, 7, 0);
  script_recv (f.trace, 1, 0, 7, 1000);
  fixture_run (&f);
  /* It comes at 640, the other at 740; put aside it is no fragment any more. */
  ASSERT_NS (&f, 1, 640 + 40 + 100 + 740 + 700 + 100);
  fixture_clear (&f);
}

/* Once put aside it is in the receiver's cache, not where the adapter wrote it. */
static void
test_unexpected_is_near (void)
{
  Fixture f;

  fixture_two_senders (&f, 50000);
  f.machine->parameters.core_memory_bandwidth_Bps = 1000000000;
  script_recv (f.trace, 1, 2, 7, 0);
  script_recv (f.trace, 1, 0, 7, 1000);
  fixture_run (&f);
  ASSERT_NS (&f, 1, 50000 + 760 + 800);
  fixture_clear (&f);
}

static void
test_expected (void)
{
  Fixture f;

  fixture_two_senders (&f, 2470);
  script_irecv (f.trace, 1, 0, 7, 1000, 5);
  script_recv (f.trace, 1, 2, 7, 0);
  script_wait (f.trace, 1, 5);
  fixture_run (&f);
  ASSERT_NS (&f, 1, 2460 + 860 + 760 + 100);
  fixture_clear (&f);
}

/* What came while the rank computed has not been seen: copied once. */
static void
test_unseen (void)
{
  Fixture f;

  fixture_two_senders (&f, 2470);
  script_compute (f.trace, 1, 50000 * NS);
  script_recv (f.trace, 1, 0, 7, 1000);
  script_recv (f.trace, 1, 2, 7, 0);
  fixture_run (&f);
  ASSERT_NS (&f, 1, 50000 + 860 + 760);
  fixture_clear (&f);
}

/* Nor is it put aside once it is taken: it comes while the rank copies. */
static void
test_unseen_is_forgotten (void)
{
  Fixture f;

  fixture_two_senders (&f, 4350);
  script_compute (f.trace, 1, 1900 * NS);
  script_send (f.trace, 1, 0, 7, IB_EAGER);
  script_recv (f.trace, 1, 0, 7, 1000);
  script_recv (f.trace, 1, 2, 7, 0);
  script_recv (f.trace, 0, 1, 7, IB_EAGER);
  fixture_run (&f);
  /* It has been taken at 1,900 + 360 + 1,221.6 + 860, before the other comes. */
  ASSERT_NS (&f, 1, 4350 + 760);
  fixture_clear (&f);
}

static void
test_wildcard (void)
{
  Fixture f;

  fixture_two_senders (&f, 2470);
  script_recv (f.trace, 1, TRACE_ANY_SOURCE, TRACE_ANY_TAG, 1000);
  script_recv (f.trace, 1, TRACE_ANY_SOURCE, TRACE_ANY_TAG, 1000);
  fixture_run (&f);
  ASSERT_NS (&f, 1, 2460 + 860 + 760);
  fixture_clear (&f);
}

/* The message that ends the probe is put aside first. */
static void
test_probe (void)
{
  Fixture f;

  fixture_init_fabric (&f, 2, 1);
  script_send (f.trace, 0, 1, 7, 1000);
  script_add (f.trace, 1,
              (TraceOp){ .kind = TRACE_OP_PROBE, .comm = TRACE_COMM_WORLD, .peer = 0, .tag = 7 });
  script_recv (f.trace, 1, 0, 7, 1000);
  fixture_run (&f);
  ASSERT_NS (&f, 1, 2460 + 160 + 800);
  fixture_clear (&f);
}

/* -- past ob1 -------------------------------------------------------------- */

static void
add_window (Fixture *f, TraceOpKind access, uint64_t bytes, uint64_t back_bytes)
{
  for (uint32_t rank = 0; rank < 2; rank++) {
    script_add (f->trace, rank,
                (TraceOp){ .kind = TRACE_OP_WIN_CREATE, .comm = TRACE_COMM_WORLD, .window = 3 });
    if (rank == 0)
      script_add (f->trace, rank,
                  (TraceOp){ .kind = access,
                             .comm = TRACE_COMM_WORLD,
                             .window = 3,
                             .peer = 1,
                             .bytes = bytes,
                             .recv_bytes = back_bytes });
    script_add (f->trace, rank,
                (TraceOp){ .kind = TRACE_OP_WIN_FENCE, .comm = TRACE_COMM_WORLD, .window = 3 });
  }
}

static void
check_access (TraceOpKind access, uint64_t bytes, uint64_t back_bytes, uint32_t n_writes)
{
  for (uint32_t per_node = 1; per_node <= 2; per_node++) {
    uint64_t carried = 0;
    Fixture f;

    fixture_init_fabric (&f, 2, per_node);
    add_window (&f, access, bytes, back_bytes);
    fixture_run (&f);
    g_assert_no_error (f.error);
    g_assert_cmpuint (fixture_count (&f, SIM_MESSAGE_WRITE), ==, per_node == 1 ? n_writes : 0);
    for (uint32_t i = 0; i < fixture_count (&f, SIM_MESSAGE_WRITE); i++)
      carried += fixture_record (&f, SIM_MESSAGE_WRITE, i)->message.bytes;
    g_assert_cmpuint (carried, ==, per_node == 1 ? bytes + back_bytes : 0);
    /* The origin waits for it: a copy, or there and back. */
    g_assert_cmpfloat (fixture_end_ns (&f, 0), >,
                       300 + (double) (bytes + back_bytes) * (per_node == 1 ? 1 : PER_BYTE) + 200);
    fixture_clear (&f);
  }
}

static void
test_accesses (void)
{
  check_access (TRACE_OP_PUT, 50000, 0, 1);
  check_access (TRACE_OP_GET, 0, 50000, 2);
  check_access (TRACE_OP_FETCH, 5000, 5000, 2);
}

/* Direct messages: copied by their senders within the node, written to the other. */
static void
test_direct (void)
{
  Fixture f;

  fixture_init_fabric (&f, 4, 2);
  f.machine->parameters.collectives = TOPO_COLLECTIVES_BGQ;
  f.machine->parameters.collective_network = true;
  for (uint32_t rank = 0; rank < 4; rank++)
    script_collective (f.trace, rank, TRACE_OP_ALLTOALL, TRACE_NO_ROOT, 1000);
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpuint (fixture_count (&f, SIM_MESSAGE_WRITE), ==, 8);
  g_assert_cmpuint (f.result->messages, ==, 12);
  /* Handed over every 300, to the other node 300 + 60, in an order of the sender's
   * own; what comes from there comes last. */
  for (uint32_t rank = 0; rank < 4; rank++) {
    int64_t last_ps = 0;

    for (uint32_t i = 0; i < 8; i++) {
      const FakeRecord *it = fixture_record (&f, SIM_MESSAGE_WRITE, i);

      g_assert_true (it->sent_ps % (300 * NS) == 60 * NS || it->sent_ps % (300 * NS) == 120 * NS);
      g_assert_cmpint (it->sent_ps, <=, 1020 * NS);
      if (it->message.destination_rank == rank)
        last_ps = MAX (last_ps, it->delivered_ps);
    }
    g_assert_cmpint (f.result->ranks[rank].end_ps, ==, last_ps);
  }
  fixture_clear (&f);
}

/* A communicator is made in as many messages one after the other as it takes to
 * double one rank to all. */
static void
test_creation (void)
{
  for (uint32_t n = 2; n <= 8; n *= 2) {
    uint32_t rounds = n == 2 ? 1 : n == 4 ? 2 : 3;
    Fixture f;

    fixture_init_fabric (&f, n, 1);
    f.machine->parameters.hca_send_latency_ps = 400 * NS;
    f.machine->parameters.hca_receive_latency_ps = 500 * NS;
    for (uint32_t rank = 0; rank < n; rank++)
      script_add (f.trace, rank,
                  (TraceOp){ .kind = TRACE_OP_COMM_DUP, .comm = TRACE_COMM_WORLD, .new_comm = 7 });
    fixture_run (&f);
    g_assert_no_error (f.error);
    ASSERT_NS (&f, 0, rounds * (300 + 60 + 400 + 500 + 60 + 700));
    fixture_clear (&f);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/ob1/sm/eager", test_sm_eager);
  g_test_add_func ("/sim/ob1/sm/rendezvous", test_sm_rendezvous);
  g_test_add_func ("/sim/ob1/sm/synchronous", test_sm_synchronous);
  g_test_add_func ("/sim/ob1/sm/buffered", test_sm_buffered);
  g_test_add_func ("/sim/ob1/sm/single-copy", test_sm_single_copy);
  g_test_add_func ("/sim/ob1/sm/depth", test_sm_depth);
  g_test_add_func ("/sim/ob1/self", test_self);
  g_test_add_func ("/sim/ob1/ib/eager", test_ib_eager);
  g_test_add_func ("/sim/ob1/ib/rendezvous", test_ib_rendezvous);
  g_test_add_func ("/sim/ob1/ib/synchronous", test_ib_synchronous);
  g_test_add_func ("/sim/ob1/ib/buffered", test_ib_buffered);
  g_test_add_func ("/sim/ob1/unexpected", test_unexpected);
  g_test_add_func ("/sim/ob1/unexpected-within", test_unexpected_within);
  g_test_add_func ("/sim/ob1/unexpected-near", test_unexpected_is_near);
  g_test_add_func ("/sim/ob1/forgotten", test_unseen_is_forgotten);
  g_test_add_func ("/sim/ob1/expected", test_expected);
  g_test_add_func ("/sim/ob1/unseen", test_unseen);
  g_test_add_func ("/sim/ob1/wildcard", test_wildcard);
  g_test_add_func ("/sim/ob1/probe", test_probe);
  g_test_add_func ("/sim/ob1/accesses", test_accesses);
  g_test_add_func ("/sim/ob1/direct", test_direct);
  g_test_add_func ("/sim/ob1/creation", test_creation);
  return g_test_run ();
}
