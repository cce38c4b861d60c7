/* ob1_test.c - Open MPI's protocols: short and long messages, progress.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Times are in nanoseconds; see fixture_new_fabric() for the machine's. */
#include "sim/replay/replay_testing.h"

#include <math.h>
#include <string.h>

#define MIB (1024u * 1024)

/* --- Open MPI's protocols: times worked by hand, short messages --- */

#define SM_EAGER               4024  /* 4096 - 72 */
#define IB_EAGER               12216 /* 12288 - 72 */
#define PER_BYTE               0.1
#define ASSERT_NS(f, rank, ns) g_assert_cmpfloat_with_epsilon (fixture_end_ns (f, rank), ns, 0.0015)

#define PAIR(call, bytes)    "0: " call " 1 7 " #bytes " | 1: recv 0 7 " #bytes
#define WITHIN(call, bytes)  .script = PAIR (call, bytes), .fabric = true, .per_node = 2
#define BETWEEN(call, bytes) .script = PAIR (call, bytes), .fabric = true

#define SM_ACK (340 + 402.4 + 200 + 740 + 40)
#define SM_END (SM_ACK + 200 + 40 + 40 + 0.1 + 200 + 40 + 0.1)
#define IB_ACK (360 + 1221.6 + 1000 + IB_EAGER + 760 + 60)
#define IB_END (IB_ACK + 1000 + 60 + 60 + 0.1 + 1000 + 1)

/* Rank 0's message to rank 1, and rank 2's, empty, that comes 1,360 after it computed. */
#define TWO_SENDERS(compute, receiver) \
  .fabric = true, .n_ranks = 3,        \
  .script = "0: send 1 7 1000 | 2: compute " #compute "; send 1 7 0 | 1: " receiver

static const ReplayCase cases[] = {
  /* Within a node: 300 + 40 and a copy; 200; 700 + 40 and a copy. */
  { .name = "sm/eager/0", WITHIN ("send", 0), .end_ns = { 340, 340 + 200 + 740 } },
  { .name = "sm/eager/1000",
    WITHIN ("send", 1000),
    .end_ns = { 440, 440 + 200 + 740 + 100 },
    .message_bytes = 1000 },
  { .name = "sm/eager/4024",
    WITHIN ("send", 4024),
    .end_ns = { 340 + 402.4, 340 + 402.4 + 200 + 740 + 402.4 } },
  /* One byte more: acknowledged before the first piece is copied out; the byte
   * follows in a fragment, whose buffer comes back to end the send. */
  { .name = "sm/rendezvous",
    WITHIN ("send", 4025),
    .end_ns = { SM_END + 200, SM_END },
    .message_bytes = 4025 },
  /* The send ends when the buffer is back, after the acknowledgement. */
  { .name = "sm/synchronous", WITHIN ("ssend", 1000), .end_ns = { 1420 + 100 + 200, 1420 + 100 } },
  /* Nothing to copy: the acknowledgement is learned last. */
  { .name = "sm/synchronous-empty", WITHIN ("ssend", 0), .end_ns = { 1320 + 200 + 40, 1320 } },

  /* Between nodes: 300 + 60 and a copy; 1,000 and 1 per byte; 700 + 60 and a copy. */
  { .name = "ib/eager/0", BETWEEN ("send", 0), .end_ns = { 360, 360 + 1000 + 760 } },
  { .name = "ib/eager/1000", BETWEEN ("send", 1000), .end_ns = { 460, 460 + 2000 + 860 } },
  { .name = "ib/eager/12216",
    BETWEEN ("send", 12216),
    .end_ns = { 360 + PER_BYTE * IB_EAGER, 2120 + (1.1 + PER_BYTE) * IB_EAGER },
    .carried = 1 },
  /* One byte more follows in a fragment, whose send is over when the adapter has
   * its acknowledgement. */
  { .name = "ib/rendezvous",
    BETWEEN ("send", 12217),
    .end_ns = { IB_END + 1000, IB_END + 60 + 0.1 },
    .message_bytes = 12217 },
  { .name = "ib/synchronous", BETWEEN ("ssend", 100), .end_ns = { 2290 + 1000 + 60, 2290 + 10 } },
  { .name = "ib/synchronous-empty", BETWEEN ("ssend", 0), .end_ns = { 2180 + 1000 + 60, 2180 } },
  { .name = "ib/buffered", BETWEEN ("bsend", 20000), .end_ns = { 360 + 2000 } },

  /* The receiver.  Rank 0's message comes at 2,460.  60 + 100 to put it aside; 700 + 60;
   * 700 + 100. */
  { .name = "unexpected",
    TWO_SENDERS (1110, "recv 2 7 0; recv 0 7 1000"),
    .end_ns = { 0, 2460 + 160 + 760 + 800 } },
  /* It comes at 640, the other at 740; put aside it is no fragment any more. */
  { .name = "unexpected-within",
    .per_node = 3,
    TWO_SENDERS (200, "recv 2 7 0; recv 0 7 1000"),
    .end_ns = { 0, 640 + 40 + 100 + 740 + 700 + 100 } },
  { .name = "expected",
    TWO_SENDERS (1110, "irecv 0 7 1000 5; recv 2 7 0; wait 5"),
    .end_ns = { 0, 2460 + 860 + 760 + 100 } },
  /* A message that came while the rank computed has not been seen: copied once. */
  { .name = "unseen",
    TWO_SENDERS (1110, "compute 50000; recv 0 7 1000; recv 2 7 0"),
    .end_ns = { 0, 50000 + 860 + 760 } },
  /* Nor is it put aside once it is taken, at 1,900 + 360 + 1,221.6 + 860: the other one
   * comes while the rank copies. */
  { .name = "forgotten",
    TWO_SENDERS (2990, "compute 1900; send 0 7 12216; recv 0 7 1000; recv 2 7 0 |"
                       "0: recv 1 7 12216"),
    .end_ns = { 0, 4350 + 760 } },
  { .name = "wildcard",
    TWO_SENDERS (1110, "recv any any 1000; recv any any 1000"),
    .end_ns = { 0, 2460 + 860 + 760 } },
  /* The message that ends the probe is put aside first. */
  { .name = "probe",
    .fabric = true,
    .script = "0: send 1 7 1000 | 1: probe 0 7; recv 0 7 1000",
    .end_ns = { 0, 2460 + 160 + 800 } },
};

/* Rank 0 sends to rank 1, on its node or on the next. */
static void
fixture_pair (Fixture *f, bool local, uint64_t bytes, TraceSendMode mode)
{
  *f = fixture_new_fabric (2, local ? 2 : 1);
  script_send_mode (f->trace, 0, 1, 7, bytes, mode);
  script_recv (f->trace, 1, 0, 7, bytes);
}

/* The whole message is copied: the first piece into the segment, the rest aside. */
static void
test_sm_buffered (void)
{
  g_auto (Fixture) f = { 0 };

  fixture_pair (&f, true, 20000, TRACE_SEND_BUFFERED);
  fixture_run (&f);
  ASSERT_NS (&f, 0, 340 + 2000);
  g_assert_cmpfloat (fixture_end_ns (&f, 1), >, 340 + 2000 + 200 + 740 + 2000);
}

static void
test_sm_single_copy (void)
{
  double end = 340 + 200 + 740 + 10000;
  g_auto (Fixture) f = { 0 };

  fixture_pair (&f, true, 100000, TRACE_SEND_STANDARD);
  f.machine->parameters.ompi.sm_single_copy = true;
  fixture_run (&f);
  ASSERT_NS (&f, 1, end);
  ASSERT_NS (&f, 0, end + 200);
}

/* Two lines of a FIFO on a Harpertown: none has to be fetched from the same L2; 100 each from
 * another one of the package, 130 each from the other package. */
static void
test_sm_lines (void)
{
  static const struct {
    uint8_t core;
    double more_ns;
  } places[] = { { 1, 0 }, { 2, 2 * 100 }, { 4, 2 * 130 } };

  for (gsize at = 0; at < G_N_ELEMENTS (places); at++) {
    g_auto (Fixture) f = { 0 };

    fixture_pair (&f, true, 0, TRACE_SEND_STANDARD);
    f.machine->slot_core[1] = places[at].core;
    f.machine->parameters.memory.transfer_latency_ps = 100 * NS;
    f.machine->parameters.memory.package_latency_ps = 30 * NS;
    f.machine->parameters.ompi.sm_lines = 2;
    fixture_run (&f);
    ASSERT_NS (&f, 0, 340);
    ASSERT_NS (&f, 1, 340 + 200 + places[at].more_ns + 740);
  }
}

/* Half a round trip of two bytes between cores 0 and `core` of two Rome; one line of the FIFO, to
 * be written, beside that of the message, to be read. */
static double
rome_ns (uint8_t core)
{
  g_auto (Fixture) f = fixture_new_spec ("fattree:2x1:1,node=rome", 2, 2);
  const uint32_t n = 10;

  f.machine->slot_core[1] = core;
  f.machine->parameters.ompi.sm_lines = 1;
  for (uint32_t round = 0; round < n; round++)
    for (uint32_t from = 0; from < 2; from++) {
      script_send (f.trace, from, !from, 7, 2);
      script_recv (f.trace, !from, from, 7, 2);
    }
  fixture_run (&f);
  return fixture_end_ns (&f, 0) / (2 * n);
}

/* What a message takes longer than between two cores of a CCX, for which the software's part is the
 * same: osu_latency of Open MPI 4.1 on the EPYC nodes of ORFEO (github.com/dododevs/units-hpc-final,
 * exercise1/data), in us from core 0, with two digits.  Two hand-overs make most of it; the model
 * is 5 to 25 % short, and the tolerance is no forecast: it was set when that was known. */
static void
test_rome_ladder (void)
{
  static const struct {
    uint8_t core;
    double measured_us;
  } rungs[] = { { 4, 0.35 }, { 8, 0.35 }, { 16, 0.37 }, { 32, 0.41 }, { 48, 0.43 }, { 64, 0.65 } };
  double first_ns = rome_ns (1), first_us = 0.14;

  for (gsize at = 0; at < G_N_ELEMENTS (rungs); at++) {
    double measured = rungs[at].measured_us - first_us;
    double model = (rome_ns (rungs[at].core) - first_ns) / 1000;

    g_test_message ("core %u: %.2f us more measured, %.3f model", rungs[at].core, measured, model);
    g_assert_cmpfloat (fabs (model / measured - 1), <=, 0.26);
  }
}

/* Time from one fragment to the next, in the steady state. */
static double
fragment_period_ns (uint64_t depth)
{
  double end_ns[2];

  for (uint64_t more = 0; more < 2; more++) {
    g_auto (Fixture) f = { 0 };

    fixture_pair (&f, true, SM_EAGER + (20 * depth + more * depth) * (32768 - 32),
                  TRACE_SEND_STANDARD);
    f.machine->parameters.ompi.sm_depth = depth;
    fixture_run (&f);
    end_ns[more] = fixture_end_ns (&f, 1);
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

/* A message of a rank to itself is copied once. */
static void
test_self (void)
{
  for (uint64_t bytes = 1000; bytes <= 1000000; bytes *= 10) {
    g_auto (Fixture) f = fixture_new_fabric (2, 2);

    script_irecv (f.trace, 0, 0, 7, bytes, 5);
    script_send (f.trace, 0, 0, 7, bytes);
    script_wait (f.trace, 0, 5);
    fixture_run (&f);
    ASSERT_NS (&f, 0, 100 + 300 + 700 + PER_BYTE * (double) bytes + 100);
  }
}

static void
test_ib_envelope (void)
{
  g_auto (Fixture) f = { 0 };

  fixture_pair (&f, false, IB_EAGER, TRACE_SEND_STANDARD);
  fixture_run (&f);
  g_assert_false (fixture_record (&f, SIM_MESSAGE_SEND, 0)->message.acknowledge);
  g_assert_cmpuint (fixture_record (&f, SIM_MESSAGE_SEND, 0)->message.software_bytes, ==, 24);
}

/* Once put aside it is in the receiver's cache, not where the adapter wrote it. */
static void
test_unexpected_is_near (void)
{
  g_auto (Fixture) f = fixture_new_fabric (3, 1);

  f.machine->parameters.memory.core_memory_bandwidth_Bps = 1000000000;
  script_text (f.trace, "0: send 1 7 1000 | 1: recv 2 7 0; recv 0 7 1000 |"
                        "2: compute 48640; send 1 7 0");
  fixture_run (&f);
  ASSERT_NS (&f, 1, 50000 + 760 + 800);
}

/* -- past ob1 -------------------------------------------------------------- */

static void
check_access (const char *access, uint64_t bytes, uint64_t back_bytes, uint32_t n_writes)
{
  g_autofree char *script =
      g_strdup_printf ("0: win_create; %s; win_fence | 1: win_create; win_fence", access);

  g_test_message ("%s", access);
  for (uint32_t per_node = 1; per_node <= 2; per_node++) {
    uint64_t carried = 0;
    g_auto (Fixture) f = fixture_new_fabric (2, per_node);

    script_text (f.trace, script);
    fixture_run (&f);
    g_assert_no_error (f.error);
    g_assert_cmpuint (fixture_count (&f, SIM_MESSAGE_WRITE), ==, per_node == 1 ? n_writes : 0);
    for (uint32_t i = 0; i < fixture_count (&f, SIM_MESSAGE_WRITE); i++)
      carried += fixture_record (&f, SIM_MESSAGE_WRITE, i)->message.bytes;
    g_assert_cmpuint (carried, ==, per_node == 1 ? bytes + back_bytes : 0);
    /* The origin waits for it: a copy, or there and back. */
    g_assert_cmpfloat (fixture_end_ns (&f, 0), >,
                       300 + (double) (bytes + back_bytes) * (per_node == 1 ? 1 : PER_BYTE) + 200);
  }
}

static void
test_accesses (void)
{
  check_access ("put 1 50000", 50000, 0, 1);
  check_access ("get 1 50000", 0, 50000, 2);
  check_access ("fetch 1 5000 5000", 5000, 5000, 2);
}

/* Direct messages: copied by their senders within the node, written to the other. */
static void
test_direct (void)
{
  g_auto (Fixture) f = fixture_new_fabric (4, 2);

  f.machine->parameters.mpi.collectives = TOPO_COLLECTIVES_BGQ;
  f.machine->parameters.collective.in_network = true;
  for (uint32_t rank = 0; rank < 4; rank++)
    script_collective (f.trace, rank, TRACE_OP_ALLTOALL, TRACE_NO_ROOT, 1000);
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpuint (fixture_count (&f, SIM_MESSAGE_WRITE), ==, 8);
  g_assert_cmpuint (f.result->messages, ==, 12);
  /* Handed over every 300, to the other node 300 + 60, in an order of the sender's
   * own; messages from there come last. */
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
}

/* A communicator is made in as many messages one after the other as it takes to
 * double one rank to all. */
static void
test_creation (void)
{
  for (uint32_t n = 2; n <= 8; n *= 2) {
    uint32_t rounds = n == 2 ? 1 : n == 4 ? 2 : 3;
    g_auto (Fixture) f = fixture_new_fabric (n, 1);

    f.machine->parameters.hca.send_latency_ps = 400 * NS;
    f.machine->parameters.hca.receive_latency_ps = 500 * NS;
    script_text (f.trace, "*: comm_dup 7");
    fixture_run (&f);
    g_assert_no_error (f.error);
    ASSERT_NS (&f, 0, rounds * (300 + 60 + 400 + 500 + 60 + 700));
  }
}

/* --- Open MPI's protocols: long messages, many ranks --- */

#define IB_FRAG (65536 - 32)

/* Software's bytes identify a message: pml_ob1_hdr.h, with an envelope of 24. */
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

/* The traffic of one message between nodes. */
static Traffic
traffic_of_one (uint64_t bytes)
{
  Traffic traffic;
  Fixture f;

  fixture_pair (&f, false, bytes, TRACE_SEND_STANDARD);
  fixture_run (&f);
  g_assert_no_error (f.error);
  traffic = traffic_of (&f);
  g_assert_cmpuint (traffic.bytes, ==, bytes);
  g_assert_cmpuint (traffic.sends + traffic.writes, ==, fake_network_log (f.network)->len);
  fixture_clear (&f);
  return traffic;
}

/* -- traffic --------------------------------------------- */

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
    g_auto (Fixture) f = { 0 };

    fixture_pair (&f, false, 5 * MIB, TRACE_SEND_STANDARD);
    f.machine->parameters.ompi.leave_pinned = true;
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
  g_auto (Fixture) f = fixture_new_fabric (2, 1);

  f.machine->parameters.ompi.leave_pinned = true;
  script_text (f.trace, "0: bsend 1 7 200000 | 1: recv 0 7 200000");
  fixture_run (&f);
  g_assert_cmpuint (traffic_of (&f).writes, ==, 0);
  g_assert_cmpuint (traffic_of (&f).bytes, ==, 200000);
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
test_depths (void)
{
  for (uint64_t depth = 1; depth <= 6; depth++) {
    g_auto (Fixture) f = { 0 }, rdma = { 0 };

    g_test_message ("depth %u", (uint32_t) depth);
    fixture_pair (&f, false, MIB, TRACE_SEND_STANDARD);
    f.machine->parameters.ompi.send_depth = depth;
    fixture_run (&f);
    g_assert_cmpuint (most_in_flight (&f, PIECE, PIECE), ==, depth);
    fixture_pair (&rdma, false, 10 * MIB, TRACE_SEND_STANDARD);
    rdma.machine->parameters.ompi.rdma_depth = depth;
    fixture_run (&rdma);
    g_assert_cmpuint (most_in_flight (&rdma, PUT, FIN), ==, depth);
  }
}

/* Beside RDMA fragments are not held back. */
static void
test_fragments_beside_rdma (void)
{
  g_auto (Fixture) f = { 0 };

  fixture_pair (&f, false, 4 * MIB, TRACE_SEND_STANDARD);
  fixture_run (&f);
  g_assert_cmpuint (most_in_flight (&f, PIECE, PIECE), >, 10);
}

/* -- many ------------------------------------------------------------------ */

static void
test_sendrecv (void)
{
  static const uint64_t sizes[] = { 0, 4024, 4025, 12216, 12217, 65536, MIB, MIB + 12289, 5 * MIB };

  for (uint32_t per_node = 1; per_node <= 2; per_node++)
    for (uint32_t i = 0; i < G_N_ELEMENTS (sizes); i++) {
      g_auto (Fixture) f = fixture_new_fabric (2, per_node);

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
    }
}

/* Eight ranks of a node and eight of another, everyone to everyone. */
static void
test_full_nodes (void)
{
  SimRankTimes before[16];

  for (uint32_t run = 0; run < 2; run++) {
    g_auto (Fixture) f = fixture_new_fabric (16, 8);

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
  }
}

/* A graph's messages cost its processors the overheads, an agent the rest. */
static void
test_graph (void)
{
  for (uint32_t per_node = 1; per_node <= 2; per_node++) {
    g_auto (Fixture) f = fixture_new_fabric (2, per_node);

    script_set_graph (f.trace);
    script_text (f.trace, "0: isend 1 7 1000 5; isend 1 8 2097152 6 |"
                          "1: irecv 0 8 2097152 6; irecv 0 7 1000 5");
    fixture_run (&f);
    g_assert_no_error (f.error);
    g_assert_cmpuint (f.result->messages, ==, 2);
    if (per_node == 1)
      g_assert_cmpuint (traffic_of (&f).bytes, ==, 1000 + 2 * MIB);
    /* Both sides copy it. */
    else
      g_assert_cmpfloat (fixture_end_ns (&f, 1), >, 0.1 * 2 * MIB);
  }
}

/* -- messages that never match ---------------------------------------------------- */

/* A long send waits for ever, a short one is left over. */
static void
test_no_receive (void)
{
  for (uint32_t per_node = 1; per_node <= 2; per_node++) {
    g_auto (Fixture) f = fixture_new_fabric (2, per_node);

    script_send (f.trace, 0, 1, 7, 1000);
    fixture_run (&f);
    g_assert_no_error (f.error);
    g_assert_cmpuint (f.result->unmatched_sends, ==, 1);
    script_send (f.trace, 0, 1, 7, 20000);
    fixture_run (&f);
    g_assert_error (f.error, SIM_ERROR, SIM_ERROR_DEADLOCK);
    g_assert_nonnull (strstr (f.error->message, "rank 0 waits in MPI_Send"));
  }
}

/* --- Open MPI's protocols: progress --- */

static void
fixture_overlap (Fixture *f, uint32_t per_node, bool sender_computes, bool agent)
{
  *f = fixture_new_fabric (2, per_node);
  f->machine->parameters.mpi.async_progress = agent;
  script_text (f->trace, "0: isend 1 7 200000 5 | 1: irecv 0 7 200000 5");
  script_text (f->trace, sender_computes ? "0: compute 5000000" : "1: compute 5000000");
  script_text (f->trace, "*: wait 5");
  fixture_run (f);
}

/* A rank that computes holds the message up, unless an agent works for it. */
static void
test_outside (void)
{
  for (uint32_t per_node = 1; per_node <= 2; per_node++)
    for (uint32_t sender = 0; sender < 2; sender++) {
      g_auto (Fixture) f = { 0 };

      fixture_overlap (&f, per_node, sender, false);
      g_assert_cmpfloat (fixture_end_ns (&f, 0), >, 5000000);
      g_assert_cmpfloat (fixture_end_ns (&f, 1), >, 5000000);
      g_assert_cmpfloat (fixture_end_ns (&f, sender ? 0 : 1), >, 5000000 + 15000);
      fixture_clear (&f);
      fixture_overlap (&f, per_node, sender, true);
      g_assert_cmpfloat (fixture_end_ns (&f, sender ? 1 : 0), <, 500000);
      g_assert_cmpfloat_with_epsilon (fixture_end_ns (&f, sender ? 0 : 1), 5000000, 3000);
    }
}

/* Rank 1 posts its second receive when it has computed, long after that message
 * has come; the work of its agent does not wait for that. */
static void
test_agent_is_not_held_up (void)
{
  g_auto (Fixture) f = fixture_new_fabric (3, 1);

  f.machine->parameters.mpi.async_progress = true;
  script_text (f.trace, "0: send 1 7 200000 | 2: send 1 8 100 |"
                        "1: irecv 0 7 200000 5; compute 5000000; irecv 2 8 100 6; waitall");
  fixture_run (&f);
  g_assert_cmpfloat (fixture_end_ns (&f, 0), <, 500000);
  /* 100 for each posting and the wait; 700 + 60 and a copy, begun when it is posted. */
  g_assert_cmpfloat_with_epsilon (fixture_end_ns (&f, 1), 5000000 + 200 + 770, 0.01);
}

/* Calls in between move it on, as far as one round of the library does. */
static void
test_polling (void)
{
  double end_ns[2];

  for (uint32_t polls = 0; polls < 2; polls++) {
    g_auto (Fixture) f = fixture_new_fabric (2, 1);

    script_isend (f.trace, 0, 1, 7, MIB, 5);
    for (uint32_t i = 0; i < 100; i++) {
      script_compute (f.trace, 0, 50000 * NS);
      if (polls)
        script_call (f.trace, 0);
    }
    script_wait (f.trace, 0, 5);
    script_recv (f.trace, 1, 0, 7, MIB);
    fixture_run (&f);
    end_ns[polls] = fixture_end_ns (&f, 1);
  }
  g_assert_cmpfloat (end_ns[0], >, 5000000);
  g_assert_cmpfloat (end_ns[1], <, 3000000);
}

/* A call handles the messages that have come by then, not those that come meanwhile: two
 * senders are faster than the copies of their receiver, which sends to rank 3 when it
 * goes on. */
static void
test_one_round (void)
{
  g_auto (Fixture) f = fixture_new_fabric (4, 1);

  f.machine->parameters.memory.core_bandwidth_Bps = 1000000000;
  script_text (f.trace, "0: isend 1 7 4194304 5; wait 5 | 2: isend 1 7 4194304 5; wait 5 |"
                        "1: irecv 0 7 4194304 5; irecv 2 7 4194304 7; compute 200000; call;"
                        "   compute 200000; call; send 3 7 0; waitall | 3: recv 1 7 0");
  fixture_run (&f);
  /* All the copies out take 2 ms. */
  g_assert_cmpfloat (fixture_end_ns (&f, 3), <, 1000000);
  g_assert_cmpfloat (fixture_end_ns (&f, 1), >, 2200000);
}

/* The send of a posted collective completes before its rank blocks; nothing
 * else will wake the rank. */
static void
test_posted_send (void)
{
  for (uint32_t per_node = 1; per_node <= 2; per_node++) {
    g_auto (Fixture) f = fixture_new_fabric (2, per_node);

    script_text (f.trace, "*: igather 0 0 5; wait 5");
    fixture_run (&f);
    g_assert_no_error (f.error);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  replay_cases_add ("/sim/ob1", cases, G_N_ELEMENTS (cases));
  g_test_add_func ("/sim/ob1/ib/envelope", test_ib_envelope);
  g_test_add_func ("/sim/ob1/sm/buffered", test_sm_buffered);
  g_test_add_func ("/sim/ob1/sm/single-copy", test_sm_single_copy);
  g_test_add_func ("/sim/ob1/sm/depth", test_sm_depth);
  g_test_add_func ("/sim/ob1/sm/lines", test_sm_lines);
  g_test_add_func ("/sim/ob1/sm/rome-ladder", test_rome_ladder);
  g_test_add_func ("/sim/ob1/self", test_self);
  g_test_add_func ("/sim/ob1/unexpected-near", test_unexpected_is_near);
  g_test_add_func ("/sim/ob1/accesses", test_accesses);
  g_test_add_func ("/sim/ob1/direct", test_direct);
  g_test_add_func ("/sim/ob1/creation", test_creation);
  g_test_add_func ("/sim/ob1-long/fragments", test_fragments);
  g_test_add_func ("/sim/ob1-long/rdma", test_rdma);
  g_test_add_func ("/sim/ob1-long/all-rdma", test_all_rdma);
  g_test_add_func ("/sim/ob1-long/buffered", test_buffered_is_not_pinned);
  g_test_add_func ("/sim/ob1-long/depths", test_depths);
  g_test_add_func ("/sim/ob1-long/fragments-beside-rdma", test_fragments_beside_rdma);
  g_test_add_func ("/sim/ob1-long/sendrecv", test_sendrecv);
  g_test_add_func ("/sim/ob1-long/full-nodes", test_full_nodes);
  g_test_add_func ("/sim/ob1-long/graph", test_graph);
  g_test_add_func ("/sim/ob1-long/no-receive", test_no_receive);
  g_test_add_func ("/sim/ob1-progress/outside", test_outside);
  g_test_add_func ("/sim/ob1-progress/agent", test_agent_is_not_held_up);
  g_test_add_func ("/sim/ob1-progress/polling", test_polling);
  g_test_add_func ("/sim/ob1-progress/one-round", test_one_round);
  g_test_add_func ("/sim/ob1-progress/posted-send", test_posted_send);
  return g_test_run ();
}
