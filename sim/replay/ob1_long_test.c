/* ob1_long_test.c - Open MPI's protocols: long messages, many ranks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/replay_fixture.h"

#include <string.h>

#define MIB      (1024u * 1024)
#define IB_EAGER (12288 - 72)
#define IB_FRAG  (65536 - 32)

/* Software's bytes tell what a message is: pml_ob1_hdr.h, with an envelope of 24. */
enum { FIN = 24, PIECE = 40, PUT = 72 };

typedef struct {
  uint32_t sends, pieces, puts, fins, writes; /* FIN: or an eager message; sends: all but writes */
  uint32_t controls;                          /* of the sends, those of the library itself */
  uint64_t bytes;
} Traffic;

static Traffic
traffic_of (const Fixture *f)
{
  const GArray *log = fake_network_log (f->network);
  Traffic traffic = { 0 };

  for (uint32_t i = 0; i < log->len; i++) {
    SimMessage message = g_array_index (log, FakeRecord, i).message;

    traffic.bytes += message.bytes;
    traffic.writes += message.kind == SIM_MESSAGE_WRITE;
    traffic.sends += message.kind != SIM_MESSAGE_WRITE;
    traffic.controls += message.kind == SIM_MESSAGE_CONTROL;
    traffic.pieces += message.software_bytes == PIECE;
    traffic.puts += message.software_bytes == PUT;
    traffic.fins += message.software_bytes == FIN;
  }
  return traffic;
}

static void
fixture_pair (Fixture *f, uint32_t per_node, uint64_t bytes)
{
  fixture_init_fabric (f, 2, per_node);
  script_send (f->trace, 0, 1, 7, bytes);
  script_recv (f->trace, 1, 0, 7, bytes);
}

/* One message between nodes: what the network carries. */
static Traffic
traffic_of_one (uint64_t bytes)
{
  Traffic traffic;
  Fixture f;

  fixture_pair (&f, 1, bytes);
  fixture_run (&f);
  g_assert_no_error (f.error);
  traffic = traffic_of (&f);
  g_assert_cmpuint (traffic.bytes, ==, bytes);
  g_assert_cmpuint (traffic.sends + traffic.writes, ==, fake_network_log (f.network)->len);
  fixture_clear (&f);
  return traffic;
}

/* -- what the network carries --------------------------------------------- */

/* The first piece, its acknowledgement, fragments. */
static void
test_fragments (void)
{
  g_assert_cmpuint (traffic_of_one (0).controls, ==, 0);
  g_assert_cmpuint (traffic_of_one (IB_EAGER).sends, ==, 1);
  g_assert_cmpuint (traffic_of_one (IB_EAGER).controls, ==, 0);
  g_assert_cmpuint (traffic_of_one (IB_EAGER + 1).controls, ==, 1);
  g_assert_cmpuint (traffic_of_one (IB_EAGER + 1).sends, ==, 3);
  g_assert_cmpuint (traffic_of_one (IB_EAGER + IB_FRAG).sends, ==, 3);
  g_assert_cmpuint (traffic_of_one (IB_EAGER + IB_FRAG + 1).sends, ==, 4);
  g_assert_cmpuint (traffic_of_one (65536).sends, ==, 3);
  g_assert_cmpuint (traffic_of_one (MIB - 1).pieces, ==, 18);
  g_assert_cmpuint (traffic_of_one (MIB + 1).pieces, ==, 18);
  g_assert_cmpuint (traffic_of_one (MIB + 1).writes, ==, 0);
}

/* RDMA from eager_limit + rdma_pipeline_send_length on: all but the last MiB. */
static void
test_rdma (void)
{
  Traffic last = traffic_of_one (MIB + 12288), first = traffic_of_one (MIB + 12289);
  Traffic long_one = traffic_of_one (8 * MIB);

  g_assert_cmpuint (last.writes, ==, 0);
  g_assert_cmpuint (first.writes, ==, 1);
  g_assert_cmpuint (first.puts, ==, 1);
  g_assert_cmpuint (first.fins, ==, 1);
  g_assert_cmpuint (first.pieces, ==, 1 + 1 + 17);
  g_assert_cmpuint (first.controls, ==, 1 + 1 + 1);
  g_assert_cmpuint (long_one.writes, ==, 7);
  g_assert_cmpuint (long_one.pieces, ==, 1 + 1 + 17);
}

static void
test_all_rdma (void)
{
  double end_ns[2];

  for (uint32_t i = 0; i < 2; i++) {
    Traffic traffic;
    Fixture f;

    fixture_pair (&f, 1, 5 * MIB);
    f.machine->parameters.leave_pinned = true;
    for (uint32_t again = 0; again < i; again++) {
      script_send (f.trace, 0, 1, 7, 5 * MIB);
      script_recv (f.trace, 1, 0, 7, 5 * MIB);
    }
    fixture_run (&f);
    traffic = traffic_of (&f);
    g_assert_cmpuint (traffic.writes, ==, 1 + i);
    g_assert_cmpuint (traffic.sends, ==, 3 + 3 * i);
    g_assert_cmpuint (traffic.controls, ==, traffic.sends);
    end_ns[i] = fixture_end_ns (&f, 1);
    fixture_clear (&f);
  }
  /* 300 + 60 and the registration; 1,000; 700 + 60 + 60 and the registration; 1,000;
   * 60; the data; 1,000; 60; 1,000; 60. */
  g_assert_cmpfloat_with_epsilon (
      end_ns[0], 300 + 2 * (2000 + 1280 * 10) + 700 + 6 * 60 + 5000 + 5 * MIB, 0.01);
  /* The second: nothing is registered any more, and the sender begins 1,060
   * before the receiver has ended the first. */
  g_assert_cmpfloat_with_epsilon (end_ns[1] - end_ns[0], 300 + 700 + 6 * 60 + 5000 + 5 * MIB - 1060,
                                  0.01);
}

/* A buffered send is copied aside, into memory that is not registered: fragments
 * (pml_ob1_sendreq.h, start_btl, asks for that first). */
static void
test_buffered_is_not_pinned (void)
{
  Fixture f;

  fixture_init_fabric (&f, 2, 1);
  f.machine->parameters.leave_pinned = true;
  script_send_mode (f.trace, 0, 1, 7, 200000, TRACE_SEND_BUFFERED);
  script_recv (f.trace, 1, 0, 7, 200000);
  fixture_run (&f);
  g_assert_cmpuint (traffic_of (&f).writes, ==, 0);
  g_assert_cmpuint (traffic_of (&f).bytes, ==, 200000);
  fixture_clear (&f);
}

/* -- pipelines ------------------------------------------------------------- */

/* The most that were sent and not yet answered, whenever one is sent. */
static uint32_t
most_in_flight (const Fixture *f, uint16_t sent, uint16_t answered)
{
  const GArray *log = fake_network_log (f->network);
  uint32_t most = 0;

  for (uint32_t i = 0; i < log->len; i++) {
    const FakeRecord *it = &g_array_index (log, FakeRecord, i);
    uint32_t n = 0;

    if (it->message.software_bytes != sent)
      continue;
    for (uint32_t j = 0; j < log->len; j++) {
      const FakeRecord *other = &g_array_index (log, FakeRecord, j);

      if (other->message.bytes == 0 && sent == PIECE)
        continue;
      n += other->message.software_bytes == sent && other->sent_ps <= it->sent_ps;
      if (answered == PIECE) /* by the adapter */
        n -=
            other->message.software_bytes == sent && other->delivered_ps + 1000 * NS <= it->sent_ps;
      else
        n -= other->message.software_bytes == answered && other->delivered_ps <= it->sent_ps;
    }
    most = MAX (most, n);
  }
  return most;
}

static void
test_send_depth (void)
{
  for (uint64_t depth = 1; depth <= 5; depth++) {
    Fixture f;

    fixture_pair (&f, 1, MIB);
    f.machine->parameters.send_depth = depth;
    fixture_run (&f);
    g_assert_cmpuint (most_in_flight (&f, PIECE, PIECE), ==, depth);
    fixture_clear (&f);
  }
}

static void
test_rdma_depth (void)
{
  for (uint64_t depth = 1; depth <= 6; depth++) {
    Fixture f;

    fixture_pair (&f, 1, 10 * MIB);
    f.machine->parameters.rdma_depth = depth;
    fixture_run (&f);
    g_assert_cmpuint (most_in_flight (&f, PUT, FIN), ==, depth);
    fixture_clear (&f);
  }
}

/* Beside RDMA fragments are not held back. */
static void
test_fragments_beside_rdma (void)
{
  Fixture f;

  fixture_pair (&f, 1, 4 * MIB);
  fixture_run (&f);
  g_assert_cmpuint (most_in_flight (&f, PIECE, PIECE), >, 10);
  fixture_clear (&f);
}

/* -- many ------------------------------------------------------------------ */

static void
test_sendrecv (void)
{
  static const uint64_t sizes[] = { 0, 4024, 4025, 12216, 12217, 65536, MIB, MIB + 12289, 5 * MIB };

  for (uint32_t per_node = 1; per_node <= 2; per_node++)
    for (uint32_t i = 0; i < G_N_ELEMENTS (sizes); i++) {
      Fixture f;

      fixture_init_fabric (&f, 2, per_node);
      for (int32_t rank = 0; rank < 2; rank++)
        script_add (f.trace, (uint32_t) rank,
                    (TraceOp){ .kind = TRACE_OP_SENDRECV,
                               .comm = TRACE_COMM_WORLD,
                               .peer = 1 - rank,
                               .recv_peer = 1 - rank,
                               .bytes = sizes[i],
                               .recv_bytes = sizes[i] });
      fixture_run (&f);
      /* Nothing tells the two apart. */
      g_assert_cmpfloat (fixture_end_ns (&f, 0), ==, fixture_end_ns (&f, 1));
      g_assert_cmpuint (f.result->message_bytes, ==, 2 * sizes[i]);
      if (per_node == 1)
        g_assert_cmpuint (traffic_of (&f).bytes, ==, 2 * sizes[i]);
      fixture_clear (&f);
    }
}

/* Eight ranks of a node and eight of another, everyone to everyone. */
static void
test_full_nodes (void)
{
  SimRankTimes before[16];

  for (uint32_t run = 0; run < 2; run++) {
    Fixture f;

    fixture_init_fabric (&f, 16, 8);
    for (int32_t rank = 0; rank < 16; rank++) {
      for (int32_t peer = 0; peer < 16; peer++) {
        script_irecv (f.trace, (uint32_t) rank, peer, 7, 40000, 100);
        script_isend (f.trace, (uint32_t) rank, peer, 7, 40000, 200);
      }
      script_add (f.trace, (uint32_t) rank, (TraceOp){ .kind = TRACE_OP_WAIT_OUTSTANDING });
    }
    fixture_run (&f);
    g_assert_no_error (f.error);
    g_assert_cmpuint (f.result->messages, ==, 256);
    g_assert_cmpuint (traffic_of (&f).bytes, ==, 2 * 64 * 40000);
    /* A rank's own copies alone: in and out, once for itself. */
    g_assert_cmpfloat (fixture_end_ns (&f, 3), >, (15 * 2 + 1) * 4000);
    if (run == 1)
      g_assert_cmpmem (before, sizeof before, f.result->ranks, sizeof before);
    memcpy (before, f.result->ranks, sizeof before);
    fixture_clear (&f);
  }
}

/* A graph's messages cost its processors the overheads, an agent the rest. */
static void
test_graph (void)
{
  for (uint32_t per_node = 1; per_node <= 2; per_node++) {
    Fixture f;

    fixture_init_fabric (&f, 2, per_node);
    script_set_graph (f.trace);
    script_isend (f.trace, 0, 1, 7, 1000, 5);
    script_isend (f.trace, 0, 1, 8, 2 * MIB, 6);
    script_irecv (f.trace, 1, 0, 8, 2 * MIB, 6);
    script_irecv (f.trace, 1, 0, 7, 1000, 5);
    fixture_run (&f);
    g_assert_no_error (f.error);
    g_assert_cmpuint (f.result->messages, ==, 2);
    if (per_node == 1)
      g_assert_cmpuint (traffic_of (&f).bytes, ==, 1000 + 2 * MIB);
    /* Both sides copy it. */
    else
      g_assert_cmpfloat (fixture_end_ns (&f, 1), >, 0.1 * 2 * MIB);
    fixture_clear (&f);
  }
}

/* -- what never matches ---------------------------------------------------- */

/* A long send waits for ever, a short one is left over. */
static void
test_no_receive (void)
{
  for (uint32_t per_node = 1; per_node <= 2; per_node++) {
    Fixture f;

    fixture_init_fabric (&f, 2, per_node);
    script_send (f.trace, 0, 1, 7, 1000);
    fixture_run (&f);
    g_assert_no_error (f.error);
    g_assert_cmpuint (f.result->unmatched_sends, ==, 1);
    script_send (f.trace, 0, 1, 7, 20000);
    fixture_run (&f);
    g_assert_error (f.error, SIM_ERROR, SIM_ERROR_DEADLOCK);
    g_assert_nonnull (strstr (f.error->message, "rank 0 waits in MPI_Send"));
    fixture_clear (&f);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/ob1-long/fragments", test_fragments);
  g_test_add_func ("/sim/ob1-long/rdma", test_rdma);
  g_test_add_func ("/sim/ob1-long/all-rdma", test_all_rdma);
  g_test_add_func ("/sim/ob1-long/buffered", test_buffered_is_not_pinned);
  g_test_add_func ("/sim/ob1-long/send-depth", test_send_depth);
  g_test_add_func ("/sim/ob1-long/rdma-depth", test_rdma_depth);
  g_test_add_func ("/sim/ob1-long/fragments-beside-rdma", test_fragments_beside_rdma);
  g_test_add_func ("/sim/ob1-long/sendrecv", test_sendrecv);
  g_test_add_func ("/sim/ob1-long/full-nodes", test_full_nodes);
  g_test_add_func ("/sim/ob1-long/graph", test_graph);
  g_test_add_func ("/sim/ob1-long/no-receive", test_no_receive);
  return g_test_run ();
}
