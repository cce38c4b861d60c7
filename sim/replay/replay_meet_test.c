/* replay_meet_test.c - collectives and communicators in the replay.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/collective.h"
#include "sim/replay/replay_fixture.h"

#include <string.h>

#define ASSERT_ENDS(fixture, rank, ns) \
  g_assert_cmpfloat_with_epsilon (fixture_end_ns (fixture, rank), ns, 1e-6)

/* -- every kind, many sizes ---------------------------------------------- */

/* One call in the terms of operation.h; uneven counts for the v-variants. */
static void
add_collective (Trace *trace, TraceOpKind kind, uint32_t n, uint64_t bytes)
{
  g_autofree uint64_t *counts = g_new (uint64_t, n), *recv_counts = g_new (uint64_t, n);
  int32_t root = (int32_t) (n / 2);

  for (uint32_t rank = 0; rank < n; rank++) {
    TraceOp op = { .kind = kind,
                   .comm = TRACE_COMM_WORLD,
                   .root = root,
                   .bytes = bytes,
                   .recv_bytes = bytes,
                   .counts = counts,
                   .recv_counts = recv_counts,
                   .n_counts = n,
                   .n_recv_counts = n };

    for (uint32_t peer = 0; peer < n; peer++)
      if (kind == TRACE_OP_ALLTOALLV) {
        counts[peer] = (rank + 2 * peer) % 3 * bytes;
        recv_counts[peer] = (peer + 2 * rank) % 3 * bytes;
      } else
        counts[peer] = recv_counts[peer] = peer % 3 * bytes;
    if (kind == TRACE_OP_GATHERV || kind == TRACE_OP_ALLGATHERV)
      op.bytes = rank % 3 * bytes;
    if (kind == TRACE_OP_SCATTERV)
      op.recv_bytes = rank % 3 * bytes;
    script_add (trace, rank, op);
  }
}

/* User bytes that the network carried. */
static uint64_t
carried_bytes (const Fixture *f)
{
  const GArray *log = fake_network_log (f->network);
  uint64_t bytes = 0;

  for (uint32_t record = 0; record < log->len; record++)
    bytes += g_array_index (log, FakeRecord, record).message.bytes;
  return bytes;
}

static uint64_t
edge_bytes (const Fixture *f)
{
  uint64_t n, bytes = 0;
  g_autofree SimEdge *edges = sim_edges_sorted (sim_replay_edges (f->replay), &n);

  for (uint64_t edge = 0; edge < n; edge++)
    bytes += edges[edge].bytes;
  return bytes;
}

static void
check_collective (TraceOpKind kind, uint32_t n, uint64_t bytes, bool network)
{
  Fixture f;

  fixture_init (&f, n, 1);
  f.machine->parameters.collective_network = network;
  f.jitter_ps = 3000 * NS;
  for (uint32_t rank = 0; rank < n; rank++)
    script_compute (f.trace, rank, (int64_t) (rank * 7919 % 5) * 1000 * NS);
  for (uint32_t i = 0; i < 3; i++)
    add_collective (f.trace, kind, n, bytes);
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpuint (f.result->warnings->len, ==, 0);
  g_assert_cmpuint (f.result->unmatched_receives, ==, 0);
  g_assert_cmpuint (f.result->collectives, ==, 3 * n);
  g_assert_cmpuint (carried_bytes (&f), ==, f.result->message_bytes);
  g_assert_cmpuint (edge_bytes (&f), ==, f.result->message_bytes);
  fixture_clear (&f);
}

static void
test_kind (gconstpointer data)
{
  static const uint32_t sizes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17 };
  TraceOpKind kind = (TraceOpKind) GPOINTER_TO_UINT (data);

  for (uint32_t i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (uint32_t network = 0; network < 2; network++) {
      check_collective (kind, sizes[i], 0, network);
      check_collective (kind, sizes[i], 8, network);
      check_collective (kind, sizes[i], 3000, network); /* by rendezvous */
    }
}

/* -- in the network ------------------------------------------------------ */

static double
hardware_ns (const Fixture *f, TraceOpKind kind, uint64_t bytes, uint32_t n)
{
  TraceOp op = { .kind = kind, .bytes = bytes, .recv_bytes = bytes };
  SimCollective collective;

  sim_collective_init (&collective, f->machine, &op, n, 0, true);
  g_assert_cmpint (collective.method, ==, SIM_COLLECTIVE_HARDWARE);
  return (double) sim_collective_hardware_ps (&collective, f->machine) / NS;
}

/* Rank 0 comes at 0, rank 1 at 50,000 ns, rank 2 at 100,000 ns. */
static double
run_hardware (Fixture *f, TraceOpKind kind)
{
  fixture_init (f, 3, 1);
  f->machine->parameters.collective_network = true;
  for (uint32_t rank = 0; rank < 3; rank++) {
    script_compute (f->trace, rank, rank * 50000 * NS);
    script_collective (f->trace, rank, kind, 1, 8);
  }
  fixture_run (f);
  g_assert_no_error (f->error);
  g_assert_cmpuint (f->result->messages, ==, 0);
  g_assert_cmpuint (sim_edges_count (sim_replay_edges (f->replay)), ==, 0);
  return hardware_ns (f, kind, 8, 3);
}

static void
test_all_wait_for_the_last (void)
{
  Fixture f;
  double latency_ns = run_hardware (&f, TRACE_OP_ALLREDUCE);

  for (uint32_t rank = 0; rank < 3; rank++)
    ASSERT_ENDS (&f, rank, 100000 + latency_ns);
  g_assert_cmpint (f.result->ranks[2].wait_ps, ==, (int64_t) (latency_ns * NS));
  fixture_clear (&f);
}

static void
test_bcast_waits_for_the_root (void)
{
  Fixture f;
  double latency_ns = run_hardware (&f, TRACE_OP_BCAST);

  g_assert_cmpfloat (latency_ns, <, 50000);
  ASSERT_ENDS (&f, 0, 50000 + latency_ns);
  ASSERT_ENDS (&f, 1, 50000 + 300);
  ASSERT_ENDS (&f, 2, 100000);
  fixture_clear (&f);
}

static void
test_reduce_root_waits (void)
{
  Fixture f;
  double latency_ns = run_hardware (&f, TRACE_OP_REDUCE);

  ASSERT_ENDS (&f, 0, 300);
  ASSERT_ENDS (&f, 1, 100000 + latency_ns);
  ASSERT_ENDS (&f, 2, 100300);
  fixture_clear (&f);
}

static void
test_missing_rank_is_a_deadlock (void)
{
  Fixture f;

  fixture_init (&f, 2, 1);
  f.machine->parameters.collective_network = true;
  script_collective (f.trace, 0, TRACE_OP_BARRIER, 0, 0);
  fixture_run (&f);
  g_assert_error (f.error, SIM_ERROR, SIM_ERROR_DEADLOCK);
  g_assert_nonnull (
      strstr (f.error->message, "rank 0 waits in MPI_Collective for other ranks at rank0:1"));
  fixture_clear (&f);
}

/* -- direct -------------------------------------------------------------- */

/* Each rank hands over at 50 and 100; the later one of another's arrives at
 * 100 + 1000 + 400 at the latest. */
static void
test_direct (void)
{
  Fixture f;
  double end_ns = 0;

  fixture_init (&f, 3, 1);
  f.machine->parameters.collective_network = true;
  for (uint32_t rank = 0; rank < 3; rank++)
    script_collective (f.trace, rank, TRACE_OP_ALLTOALL, 0, 400);
  fixture_run (&f);
  g_assert_cmpuint (fixture_count (&f, SIM_MESSAGE_DIRECT), ==, 6);
  for (uint32_t rank = 0; rank < 3; rank++) {
    g_assert_cmpfloat (fixture_end_ns (&f, rank), >=, 1450);
    end_ns = MAX (end_ns, fixture_end_ns (&f, rank));
  }
  g_assert_cmpfloat_with_epsilon (end_ns, 1500, 1e-6);
  fixture_clear (&f);
}

/* What came before the rank enters is not waited for. */
static void
test_direct_late_rank (void)
{
  Fixture f;

  fixture_init (&f, 3, 1);
  f.machine->parameters.collective_network = true;
  script_compute (f.trace, 2, 9000 * NS);
  for (uint32_t rank = 0; rank < 3; rank++)
    script_collective (f.trace, rank, TRACE_OP_ALLTOALL, 0, 400);
  fixture_run (&f);
  ASSERT_ENDS (&f, 2, 9100);
  g_assert_cmpfloat (fixture_end_ns (&f, 0), >=, 9050 + 1400);
  fixture_clear (&f);
}

static void
test_direct_within_a_node (void)
{
  Fixture f;

  fixture_init (&f, 2, 2);
  f.machine->parameters.collective_network = true;
  for (uint32_t rank = 0; rank < 2; rank++)
    script_collective (f.trace, rank, TRACE_OP_ALLTOALL, 0, 400);
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 50 + 200 + 40);
  g_assert_cmpuint (fake_network_log (f.network)->len, ==, 0);
  g_assert_cmpuint (f.result->messages, ==, 2);
  fixture_clear (&f);
}

/* -- communicators ------------------------------------------------------- */

static void
add_split (Trace *trace, uint32_t rank, int32_t color, uint32_t new_comm)
{
  script_add (trace, rank,
              (TraceOp){ .kind = TRACE_OP_COMM_SPLIT,
                         .comm = TRACE_COMM_WORLD,
                         .color = color,
                         .new_comm = new_comm });
}

/* Even and odd ranks, in reverse order: rank 0 of each is 2 or 3. */
static void
test_split_and_send (void)
{
  Fixture f;

  fixture_init (&f, 4, 1);
  f.machine->parameters.collective_network = false;
  for (uint32_t rank = 0; rank < 4; rank++) {
    script_add (f.trace, rank,
                (TraceOp){ .kind = TRACE_OP_COMM_SPLIT,
                           .comm = TRACE_COMM_WORLD,
                           .color = (int32_t) rank % 2,
                           .key = -(int32_t) rank,
                           .new_comm = 10 + rank });
    script_add (f.trace, rank,
                (TraceOp){ .kind = rank < 2 ? TRACE_OP_SEND : TRACE_OP_RECV,
                           .comm = 10 + rank,
                           .peer = rank < 2 ? 0 : 1,
                           .bytes = 64 });
  }
  fixture_run (&f);
  /* Two doublings of 300 + 700 for the making, then one message. */
  ASSERT_ENDS (&f, 0, 2000 + 300);
  ASSERT_ENDS (&f, 2, 2300 + 1064 + 700);
  for (uint32_t i = 0; i < 2; i++) {
    SimMessage message = fixture_record (&f, SIM_MESSAGE_EAGER, i)->message;

    g_assert_cmpuint (message.destination_rank, ==, message.source_rank + 2);
  }
  g_assert_cmpuint (f.result->unmatched_sends, ==, 0);
  fixture_clear (&f);
}

/* The same tag on two communicators, received in the other order. */
static void
test_communicators_keep_messages_apart (void)
{
  Fixture f;

  fixture_init (&f, 2, 1);
  for (uint32_t rank = 0; rank < 2; rank++)
    add_split (f.trace, rank, 0, 5);
  for (uint32_t i = 0; i < 2; i++) {
    script_add (f.trace, 0,
                (TraceOp){ .kind = TRACE_OP_SEND,
                           .comm = i == 0 ? TRACE_COMM_WORLD : 5,
                           .peer = 1,
                           .bytes = i == 0 ? 10 : 999 });
    script_add (f.trace, 1,
                (TraceOp){ .kind = TRACE_OP_RECV,
                           .comm = i == 0 ? 5 : TRACE_COMM_WORLD,
                           .peer = TRACE_ANY_SOURCE,
                           .tag = TRACE_ANY_TAG,
                           .bytes = i == 0 ? 999 : 10 });
  }
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpuint (f.result->warnings->len, ==, 0);
  fixture_clear (&f);
}

static void
test_collectives_of_a_split (void)
{
  Fixture f;

  fixture_init (&f, 9, 3);
  f.machine->parameters.collective_network = true;
  for (uint32_t rank = 0; rank < 9; rank++) {
    add_split (f.trace, rank, (int32_t) rank % 2, 5);
    for (TraceOpKind kind = TRACE_OP_BARRIER; kind <= TRACE_OP_ALLREDUCE; kind++)
      if (kind != TRACE_OP_GATHERV && kind != TRACE_OP_SCATTERV && kind != TRACE_OP_ALLGATHERV &&
          kind != TRACE_OP_ALLTOALLV)
        script_add (f.trace, rank,
                    (TraceOp){ .kind = kind, .comm = 5, .bytes = 100, .recv_bytes = 100 });
    script_add (f.trace, rank, (TraceOp){ .kind = TRACE_OP_COMM_FREE, .comm = 5 });
  }
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpuint (f.result->warnings->len, ==, 0);
  fixture_clear (&f);
}

static void
add_definition (Trace *trace, uint32_t rank, uint32_t handle, const int32_t *members, uint32_t n)
{
  script_add (trace, rank,
              (TraceOp){ .kind = TRACE_OP_COMM_DEFINE,
                         .new_comm = handle,
                         .color = 1,
                         .values = members,
                         .n_values = n });
}

/* Rank 0 does not wait for rank 1, which defines it late and under another
 * handle. */
static void
test_definition_waits_for_nobody (void)
{
  static const int32_t members[] = { 1, 0 };
  Fixture f;

  fixture_init (&f, 2, 1);
  script_compute (f.trace, 1, 4000 * NS);
  for (uint32_t rank = 0; rank < 2; rank++) {
    add_definition (f.trace, rank, 10 + rank, members, 2);
    script_add (f.trace, rank,
                (TraceOp){ .kind = rank == 0 ? TRACE_OP_SEND : TRACE_OP_RECV,
                           .comm = 10 + rank,
                           .peer = rank == 0 ? 0 : 1,
                           .bytes = 64 });
  }
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 300);
  ASSERT_ENDS (&f, 1, 4000 + 700);
  g_assert_cmpuint (f.result->unmatched_sends, ==, 0);
  fixture_clear (&f);
}

/* Rank 0 frees and defines again while rank 2 has not come to the first
 * broadcast: the second one is another instance. */
static void
test_definition_after_free (void)
{
  static const int32_t members[] = { 0, 1, 2 };
  Fixture f;

  fixture_init (&f, 3, 1);
  f.machine->parameters.collective_network = true;
  script_compute (f.trace, 2, 90000 * NS);
  for (uint32_t rank = 0; rank < 3; rank++)
    for (uint32_t i = 0; i < 2; i++) {
      add_definition (f.trace, rank, 10 + i, members, 3);
      script_add (f.trace, rank,
                  (TraceOp){ .kind = TRACE_OP_BCAST, .comm = 10 + i, .bytes = 8, .root = 0 });
      script_add (f.trace, rank, (TraceOp){ .kind = TRACE_OP_COMM_FREE, .comm = 10 + i });
    }
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 2 * 300 + 200);
  ASSERT_ENDS (&f, 2, 90000 + 200);
  g_assert_cmpuint (f.result->collectives, ==, 6);
  fixture_clear (&f);
}

static void
test_definition_without_oneself (void)
{
  static const int32_t members[] = { 1 };
  Fixture f;

  fixture_init (&f, 2, 1);
  add_definition (f.trace, 0, 10, members, 1);
  fixture_run (&f);
  g_assert_error (f.error, SIM_ERROR, SIM_ERROR_TRACE);
  g_assert_nonnull (strstr (f.error->message, "rank0:1"));
  g_assert_nonnull (strstr (f.error->message, "no member itself"));
  fixture_clear (&f);
}

static void
test_oneself_needs_nobody (void)
{
  Fixture f;

  fixture_init (&f, 2, 1);
  script_add (f.trace, 0,
              (TraceOp){ .kind = TRACE_OP_ALLREDUCE, .comm = TRACE_COMM_SELF, .bytes = 8 });
  script_add (f.trace, 0,
              (TraceOp){ .kind = TRACE_OP_COMM_DUP, .comm = TRACE_COMM_SELF, .new_comm = 7 });
  script_add (f.trace, 0, (TraceOp){ .kind = TRACE_OP_BARRIER, .comm = 7 });
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 300);
  fixture_clear (&f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (TraceOpKind kind = TRACE_OP_BARRIER; kind <= TRACE_OP_EXSCAN; kind++) {
    g_autofree char *path = g_strdup_printf ("/sim/replay-meet/kind/%s", trace_op_name (kind));

    g_test_add_data_func (path, GUINT_TO_POINTER (kind), test_kind);
  }
  g_test_add_func ("/sim/replay-meet/hardware/all", test_all_wait_for_the_last);
  g_test_add_func ("/sim/replay-meet/hardware/bcast", test_bcast_waits_for_the_root);
  g_test_add_func ("/sim/replay-meet/hardware/reduce", test_reduce_root_waits);
  g_test_add_func ("/sim/replay-meet/hardware/missing", test_missing_rank_is_a_deadlock);
  g_test_add_func ("/sim/replay-meet/direct", test_direct);
  g_test_add_func ("/sim/replay-meet/direct-late", test_direct_late_rank);
  g_test_add_func ("/sim/replay-meet/direct-node", test_direct_within_a_node);
  g_test_add_func ("/sim/replay-meet/split", test_split_and_send);
  g_test_add_func ("/sim/replay-meet/contexts", test_communicators_keep_messages_apart);
  g_test_add_func ("/sim/replay-meet/split-collectives", test_collectives_of_a_split);
  g_test_add_func ("/sim/replay-meet/define", test_definition_waits_for_nobody);
  g_test_add_func ("/sim/replay-meet/define-free", test_definition_after_free);
  g_test_add_func ("/sim/replay-meet/define-error", test_definition_without_oneself);
  g_test_add_func ("/sim/replay-meet/self", test_oneself_needs_nobody);
  return g_test_run ();
}
