/* replay_collectives_test.c - collectives in time, posted and blocking, and communicators.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/collective.h"
#include "sim/replay/replay_testing.h"

#include <string.h>

/* --- Nonblocking collectives, and neighbourhoods, in time --- */

static void
post (Trace *trace, uint32_t rank, TraceOpKind kind, uint64_t bytes, uint32_t request)
{
  script_add (trace, rank,
              (TraceOp){ .kind = kind,
                         .comm = TRACE_COMM_WORLD,
                         .bytes = bytes,
                         .recv_bytes = bytes,
                         .nonblocking = true,
                         .request = request,
                         .name = "MPI_Icollective" });
}

static Fixture
init (uint32_t n, bool collective_network)
{
  Fixture f = fixture_new (n, 1);

  f.machine->parameters.collective_network = collective_network;
  return f;
}

/* -- steps --------------------------------------------------------------- */

/* Posted at 100, sent at 400, arrived at 1400, received after the wait of
 * 5500. */
static void
test_overlaps_a_computation (void)
{
  g_auto (Fixture) f = init (2, false);

  for (uint32_t rank = 0; rank < 2; rank++) {
    post (f.trace, rank, TRACE_OP_BARRIER, 0, 5);
    script_compute (f.trace, rank, 5000 * NS);
    script_wait (f.trace, rank, 5);
  }
  fixture_run (&f);
  for (uint32_t rank = 0; rank < 2; rank++) {
    ASSERT_ENDS (&f, rank, 6200);
    g_assert_cmpint (f.result->ranks[rank].wait_ps, ==, 0);
  }
  g_assert_cmpuint (f.result->collectives, ==, 2);
  g_assert_cmpuint (f.result->messages, ==, 2);
}

/* Two rounds among four ranks, computing for 5000 meanwhile. */
static void
two_rounds (Fixture *f, bool call_between)
{
  *f = init (4, false);
  for (uint32_t rank = 0; rank < 4; rank++) {
    post (f->trace, rank, TRACE_OP_BARRIER, 0, 5);
    script_compute (f->trace, rank, 2000 * NS);
    if (call_between)
      script_call (f->trace, rank);
    script_compute (f->trace, rank, 3000 * NS);
    script_wait (f->trace, rank, 5);
  }
}

/* First round received at 5500 + 700; the second one sent 300 later. */
static void
test_waits_for_the_processor (void)
{
  g_auto (Fixture) f = { 0 };

  two_rounds (&f, false);
  fixture_run (&f);
  for (uint32_t rank = 0; rank < 4; rank++)
    ASSERT_ENDS (&f, rank, 6200 + 300 + 1000 + 700);
}

/* The call ends at 2500, receives until 3200 and sends until 3500; so the wait
 * begins at 6600 and finds the second message. */
static void
test_any_call_makes_progress (void)
{
  g_auto (Fixture) f = { 0 };

  two_rounds (&f, true);
  fixture_run (&f);
  for (uint32_t rank = 0; rank < 4; rank++)
    ASSERT_ENDS (&f, rank, 6600 + 700);
  g_assert_cmpint (fixture_record (&f, SIM_MESSAGE_EAGER, 7)->sent_ps, ==, 3500 * NS);
}

/* The other thread receives at 1400-2100 and sends at 2400, and has all at
 * 4100. */
static void
test_async_progress_needs_no_calls (void)
{
  g_auto (Fixture) f = { 0 };

  two_rounds (&f, false);
  f.machine->parameters.async_progress = true;
  fixture_run (&f);
  for (uint32_t rank = 0; rank < 4; rank++)
    ASSERT_ENDS (&f, rank, 400 + 5000 + 100);
  g_assert_cmpint (fixture_record (&f, SIM_MESSAGE_EAGER, 7)->sent_ps, ==, 2400 * NS);
}

/* Rank 1 sends at 5400, which is there at 6400 and taken by rank 0's helper
 * until 7100: rank 0 has waited for that since 500. */
static void
test_async_progress_ends_a_wait (void)
{
  g_auto (Fixture) f = init (2, false);

  f.machine->parameters.async_progress = true;
  script_compute (f.trace, 1, 5000 * NS);
  for (uint32_t rank = 0; rank < 2; rank++) {
    post (f.trace, rank, TRACE_OP_BARRIER, 0, 5);
    script_wait (f.trace, rank, 5);
  }
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 7100);
  g_assert_cmpint (f.result->ranks[0].wait_ps, ==, 6600 * NS);
}

/* Nobody knows how many bytes: none, and a word about it. */
static void
test_unknown_size (void)
{
  g_auto (Fixture) f = init (2, false);

  for (uint32_t rank = 0; rank < 2; rank++) {
    post (f.trace, rank, TRACE_OP_BCAST, TRACE_UNKNOWN_BYTES, 5);
    script_wait (f.trace, rank, 5);
  }
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpuint (f.result->message_bytes, ==, 0);
  g_assert_cmpuint (f.result->warnings->len, ==, 1);
}

/* Rank 3 ends at 400 without a wait; its second message still goes. */
static void
test_a_rank_that_is_done_helps (void)
{
  g_auto (Fixture) f = init (4, false);

  for (uint32_t rank = 0; rank < 4; rank++) {
    post (f.trace, rank, TRACE_OP_BARRIER, 0, 5);
    if (rank != 3)
      script_wait (f.trace, rank, 5);
  }
  fixture_run (&f);
  ASSERT_ENDS (&f, 3, 400);
  for (uint32_t rank = 0; rank < 3; rank++)
    ASSERT_ENDS (&f, rank, 1400 + 700 + 300 + 1000 + 700);
}

/* A receive that blocks at 500 does the barrier's first round at 1400 and the
 * second at 3400, long before its own message comes at 9300. */
static void
test_a_blocked_rank_makes_progress (void)
{
  g_auto (Fixture) f = init (4, false);

  for (uint32_t rank = 0; rank < 4; rank++)
    post (f.trace, rank, TRACE_OP_BARRIER, 0, 5);
  script_recv (f.trace, 0, 1, 0, 0);
  for (uint32_t rank = 0; rank < 4; rank++)
    script_wait (f.trace, rank, 5);
  script_compute (f.trace, 1, 5000 * NS);
  script_send (f.trace, 1, 0, 0, 0);
  fixture_run (&f);
  for (uint32_t rank = 2; rank < 4; rank++)
    ASSERT_ENDS (&f, rank, 4100);
  ASSERT_ENDS (&f, 1, 4100 + 5000 + 300);
  ASSERT_ENDS (&f, 0, 9400 + 1000 + 700 + 100);
}

/* The root of a long broadcast has no receives open, but the acknowledgement
 * of the first child, of 7400, lets it send to the second one: in the call that
 * ends at 8500. */
static void
test_a_root_makes_progress (void)
{
  g_auto (Fixture) f = init (4, false);

  for (uint32_t rank = 0; rank < 4; rank++)
    post (f.trace, rank, TRACE_OP_BCAST, 2000, 5);
  script_compute (f.trace, 0, 8000 * NS);
  script_call (f.trace, 0);
  script_compute (f.trace, 0, 20000 * NS);
  for (uint32_t rank = 0; rank < 4; rank++)
    script_wait (f.trace, rank, 5);
  fixture_run (&f);
  g_assert_no_error (f.error);
  for (uint32_t i = 0; i < fixture_count (&f, SIM_MESSAGE_CONTROL); i++) {
    const FakeRecord *control = fixture_record (&f, SIM_MESSAGE_CONTROL, i);

    if (control->message.destination_rank == 1)
      g_assert_cmpint (control->sent_ps, ==, 8800 * NS);
  }
}

/* -- every kind ---------------------------------------------------------- */

/* Uneven counts for the v-variants, as in operation.c. */
static void
add_any (Trace *trace, TraceOpKind kind, uint32_t rank, uint32_t n, uint64_t bytes,
         uint32_t request)
{
  g_autofree uint64_t *counts = g_new (uint64_t, n), *recv_counts = g_new (uint64_t, n);
  TraceOp op = { .kind = kind,
                 .comm = TRACE_COMM_WORLD,
                 .root = (int32_t) (n / 2),
                 .bytes = kind == TRACE_OP_GATHERV || kind == TRACE_OP_ALLGATHERV ? rank % 3 * bytes
                                                                                  : bytes,
                 .recv_bytes = kind == TRACE_OP_SCATTERV ? rank % 3 * bytes : bytes,
                 .counts = counts,
                 .recv_counts = recv_counts,
                 .n_counts = n,
                 .n_recv_counts = n,
                 .nonblocking = request != 0,
                 .request = request };

  for (uint32_t peer = 0; peer < n; peer++)
    if (kind == TRACE_OP_ALLTOALLV) {
      counts[peer] = (rank + 2 * peer) % 3 * bytes;
      recv_counts[peer] = (peer + 2 * rank) % 3 * bytes;
    } else
      counts[peer] = recv_counts[peer] = peer % 3 * bytes;
  script_add (trace, rank, op);
}

/* Four of them: the first two and the last one posted, or all blocking; with
 * several ranks on a node, or another thread that makes progress. */
static void
run_any (Fixture *f, TraceOpKind kind, uint32_t n, uint64_t bytes, bool network, bool posted)
{
  *f = fixture_new (n, 1 + n % 3);
  f->machine->parameters.collective_network = network;
  f->machine->parameters.async_progress = n % 2;
  f->jitter_ps = 3000 * NS;
  for (uint32_t rank = 0; rank < n; rank++) {
    script_compute (f->trace, rank, (int64_t) (rank * 7919 % 5) * 1000 * NS);
    for (uint32_t i = 1; i <= 4; i++) {
      add_any (f->trace, kind, rank, n, bytes, posted && i != 3 ? 10 + i : 0);
      script_compute (f->trace, rank, (int64_t) (rank * 31 % 7) * 500 * NS);
    }
    for (uint32_t i = 4; i >= 1 && posted; i--)
      if (i != 3)
        script_wait (f->trace, rank, 10 + i);
  }
  fixture_run (f);
  g_assert_no_error (f->error);
  g_assert_cmpuint (f->result->warnings->len, ==, 0);
  g_assert_cmpuint (f->result->unmatched_sends, ==, 0);
  g_assert_cmpuint (f->result->unmatched_receives, ==, 0);
  g_assert_cmpuint (f->result->collectives, ==, 4 * n);
}

/* Posted ones send just what blocking ones send. */
static void
test_posted_kind (gconstpointer data)
{
  static const uint32_t sizes[] = { 1, 2, 3, 5, 8, 17 };
  static const uint64_t bytes[] = { 0, 8, 3000 };
  TraceOpKind kind = (TraceOpKind) GPOINTER_TO_UINT (data);

  for (uint32_t i = 0; i < G_N_ELEMENTS (sizes) * G_N_ELEMENTS (bytes) * 2; i++) {
    uint32_t n = sizes[i / 6];
    Fixture posted, blocking;

    run_any (&posted, kind, n, bytes[i / 2 % 3], i % 2, true);
    run_any (&blocking, kind, n, bytes[i / 2 % 3], i % 2, false);
    g_assert_cmpuint (posted.result->messages, ==, blocking.result->messages);
    g_assert_cmpuint (posted.result->message_bytes, ==, blocking.result->message_bytes);
    g_assert_cmpuint (sim_edges_count (sim_replay_edges (posted.replay)), ==,
                      sim_edges_count (sim_replay_edges (blocking.replay)));
    fixture_clear (&posted);
    fixture_clear (&blocking);
  }
}

/* -- in the network ------------------------------------------------------ */

/* Rank r comes at r * 50,000, posts, computes for `work` and waits. */
static double
run_posted_hardware (Fixture *f, TraceOpKind kind, int64_t work_ps)
{
  TraceOp op = { .kind = kind, .bytes = 8, .recv_bytes = 8 };
  SimCollective collective;

  *f = init (3, true);
  for (uint32_t rank = 0; rank < 3; rank++) {
    script_compute (f->trace, rank, rank * 50000 * NS);
    post (f->trace, rank, kind, 8, 5);
    script_compute (f->trace, rank, work_ps);
    script_wait (f->trace, rank, 5);
  }
  fixture_run (f);
  g_assert_no_error (f->error);
  g_assert_cmpuint (f->result->messages, ==, 0);
  sim_collective_init (&collective, f->machine, &op, 3, 0, true);
  return (double) sim_collective_hardware_ps (&collective, f->machine) / NS;
}

static void
test_hardware_wakes_who_waits (void)
{
  g_auto (Fixture) f = { 0 };
  double latency_ns = run_posted_hardware (&f, TRACE_OP_ALLREDUCE, 0);

  g_assert_cmpfloat (latency_ns, >, 100);
  for (uint32_t rank = 0; rank < 3; rank++)
    ASSERT_ENDS (&f, rank, 100100 + latency_ns);
}

/* The network is done before any of the waits: rank 2 has come at 100,100. */
static void
test_hardware_needs_no_processor (void)
{
  g_auto (Fixture) f = { 0 };

  run_posted_hardware (&f, TRACE_OP_ALLREDUCE, 200000 * NS);
  for (uint32_t rank = 0; rank < 3; rank++)
    ASSERT_ENDS (&f, rank, rank * 50000 + 100 + 200000 + 100);
}

/* The root is rank 0, which hands over and goes on. */
static void
test_hardware_bcast (void)
{
  g_auto (Fixture) f = { 0 };
  double latency_ns = run_posted_hardware (&f, TRACE_OP_BCAST, 0);

  g_assert_cmpfloat (latency_ns, <, 49000);
  ASSERT_ENDS (&f, 0, 100 + 300 + 100);
  ASSERT_ENDS (&f, 1, 50000 + 200);
  ASSERT_ENDS (&f, 2, 100000 + 200);
}

static void
test_hardware_reduce (void)
{
  g_auto (Fixture) f = { 0 };
  double latency_ns = run_posted_hardware (&f, TRACE_OP_REDUCE, 0);

  ASSERT_ENDS (&f, 0, 100100 + latency_ns);
  ASSERT_ENDS (&f, 1, 50000 + 100 + 300 + 100);
  ASSERT_ENDS (&f, 2, 100000 + 100 + 300 + 100);
}

/* -- direct -------------------------------------------------------------- */

/* Handed over at 150 and 200; the last one comes at 200 + 1400. */
static void
test_posted_direct (void)
{
  g_auto (Fixture) f = init (3, true);
  double end_ns = 0;

  for (uint32_t rank = 0; rank < 3; rank++) {
    post (f.trace, rank, TRACE_OP_ALLTOALL, 400, 5);
    script_wait (f.trace, rank, 5);
  }
  fixture_run (&f);
  for (uint32_t rank = 0; rank < 3; rank++)
    end_ns = MAX (end_ns, fixture_end_ns (&f, rank));
  g_assert_cmpfloat_with_epsilon (end_ns, 1600, 1e-6);
  g_assert_cmpuint (fixture_count (&f, SIM_MESSAGE_DIRECT), ==, 6);
}

/* Three bursts each; nobody's processor is needed for what comes later. */
static void
test_direct_overlaps (void)
{
  enum { N = 40 };
  g_auto (Fixture) f = init (N, true);

  for (uint32_t rank = 0; rank < N; rank++) {
    post (f.trace, rank, TRACE_OP_ALLTOALL, 400, 5);
    script_compute (f.trace, rank, 90000 * NS);
    script_wait (f.trace, rank, 5);
  }
  fixture_run (&f);
  for (uint32_t rank = 0; rank < N; rank++)
    ASSERT_ENDS (&f, rank, 100 + (N - 1) * 50 + 90000 + 100);
}

/* -- nobody else --------------------------------------------------------- */

static void
test_posted_oneself_needs_nobody (void)
{
  g_auto (Fixture) f = init (1, true);

  post (f.trace, 0, TRACE_OP_ALLREDUCE, 8, 5);
  script_wait (f.trace, 0, 5);
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 200);
}

/* A communicator may be freed while its collectives are under way. */
static void
test_communicator_freed_meanwhile (void)
{
  static const TraceOpKind kinds[] = { TRACE_OP_ALLREDUCE, TRACE_OP_ALLTOALL, TRACE_OP_ALLGATHER };
  g_auto (Fixture) f = init (4, true);

  for (uint32_t rank = 0; rank < 4; rank++)
    for (uint32_t i = 0; i < G_N_ELEMENTS (kinds); i++) {
      script_add (f.trace, rank,
                  (TraceOp){ .kind = TRACE_OP_COMM_DUP, .comm = TRACE_COMM_WORLD, .new_comm = 9 });
      script_add (f.trace, rank,
                  (TraceOp){ .kind = kinds[i],
                             .comm = 9,
                             .bytes = 300,
                             .recv_bytes = 300,
                             .nonblocking = true,
                             .request = 20 + i });
      script_add (f.trace, rank, (TraceOp){ .kind = TRACE_OP_COMM_FREE, .comm = 9 });
    }
  for (uint32_t rank = 0; rank < 4; rank++)
    script_requests (f.trace, rank, TRACE_OP_WAIT, 3, (const uint32_t[]){ 22, 20, 21 });
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpuint (f.result->warnings->len, ==, 0);
  g_assert_cmpuint (f.result->collectives, ==, 12);
}

static void
missing_rank (bool network)
{
  g_auto (Fixture) f = init (2, network);

  post (f.trace, 0, TRACE_OP_ALLREDUCE, 8, 5);
  script_wait (f.trace, 0, 5);
  fixture_run (&f);
  g_assert_error (f.error, SIM_ERROR, SIM_ERROR_DEADLOCK);
  g_assert_nonnull (strstr (f.error->message,
                            "rank 0 waits in MPI_Wait for other ranks in allreduce at rank0:2"));
}

static void
test_posted_missing_rank_is_a_deadlock (void)
{
  missing_rank (false);
  missing_rank (true);
}

/* -- neighbourhoods ------------------------------------------------------ */

static void
neighbors (Trace *trace, uint32_t rank, uint32_t comm, const int32_t *ranks, uint32_t n,
           uint64_t bytes, uint32_t request)
{
  g_autofree uint64_t *counts = g_new (uint64_t, n);

  for (uint32_t i = 0; i < n; i++)
    counts[i] = bytes;
  script_add (trace, rank,
              (TraceOp){ .kind = TRACE_OP_NEIGHBOR_ALLTOALL,
                         .comm = comm,
                         .values = ranks,
                         .values2 = ranks,
                         .counts = counts,
                         .recv_counts = counts,
                         .n_counts = n,
                         .n_recv_counts = n,
                         .nonblocking = request != 0,
                         .request = request });
}

static void
ring (Fixture *f, uint32_t n, uint32_t request)
{
  *f = init (n, true);
  for (uint32_t rank = 0; rank < n; rank++) {
    int32_t sides[] = { (int32_t) ((rank + n - 1) % n), (int32_t) ((rank + 1) % n) };

    neighbors (f->trace, rank, TRACE_COMM_WORLD, sides, 2, 64, request);
  }
}

/* Sent at 300 and 600, arrived at 1364 and 1664, received until 2064 and 2764. */
static void
test_ring (void)
{
  g_auto (Fixture) f = { 0 };

  ring (&f, 4, 0);
  fixture_run (&f);
  for (uint32_t rank = 0; rank < 4; rank++)
    ASSERT_ENDS (&f, rank, 2764);
  g_assert_cmpuint (f.result->collectives, ==, 4);
  g_assert_cmpuint (f.result->message_bytes, ==, 8 * 64);
  g_assert_cmpuint (sim_edges_count (sim_replay_edges (f.replay)), ==, 8);
}

/* All is posted at 700; the wait of 5800 receives both. */
static void
test_posted_ring (void)
{
  g_auto (Fixture) f = { 0 };

  ring (&f, 4, 5);
  for (uint32_t rank = 0; rank < 4; rank++) {
    script_compute (f.trace, rank, 5000 * NS);
    script_wait (f.trace, rank, 5);
  }
  fixture_run (&f);
  for (uint32_t rank = 0; rank < 4; rank++)
    ASSERT_ENDS (&f, rank, 100 + 600 + 5000 + 100 + 1400);
}

/* On both sides is the same other rank; then only oneself. */
static void
test_small_rings (void)
{
  static const int32_t self[] = { 0, 0 };
  g_auto (Fixture) f = { 0 };

  ring (&f, 2, 0);
  for (uint32_t rank = 0; rank < 2; rank++)
    neighbors (f.trace, rank, TRACE_COMM_SELF, self, 2, 10, 0);
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpuint (f.result->messages, ==, 8);
  g_assert_cmpuint (f.result->warnings->len, ==, 0);
  g_assert_cmpuint (f.result->unmatched_sends, ==, 0);
}

/* Rank 0 sends to both others and receives from nobody. */
static void
test_uneven_neighborhoods (void)
{
  static const int32_t others[] = { 1, 2 }, first[] = { 0 };
  static const uint64_t counts[] = { 5, 7 };
  g_auto (Fixture) f = init (3, false);

  script_add (f.trace, 0,
              (TraceOp){ .kind = TRACE_OP_NEIGHBOR_ALLGATHER,
                         .comm = TRACE_COMM_WORLD,
                         .values = others,
                         .counts = counts,
                         .n_counts = 2 });
  for (uint32_t rank = 1; rank < 3; rank++)
    script_add (f.trace, rank,
                (TraceOp){ .kind = TRACE_OP_NEIGHBOR_ALLGATHER,
                           .comm = TRACE_COMM_WORLD,
                           .values2 = first,
                           .recv_counts = &counts[rank - 1],
                           .n_recv_counts = 1 });
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 600);
  ASSERT_ENDS (&f, 1, 300 + 1005 + 700);
  ASSERT_ENDS (&f, 2, 600 + 1007 + 700);
  g_assert_cmpuint (f.result->warnings->len, ==, 0);
}

static void
test_impossible_neighbor (void)
{
  static const int32_t outside[] = { 1, 2 };
  g_auto (Fixture) f = init (2, false);

  neighbors (f.trace, 0, TRACE_COMM_WORLD, outside, 2, 8, 0);
  fixture_run (&f);
  g_assert_error (f.error, SIM_ERROR, SIM_ERROR_TRACE);
  g_assert_nonnull (strstr (f.error->message, "neighbour 2 in a communicator of 2 ranks"));
}

/* --- Collectives and communicators in the replay --- */

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
  g_auto (Fixture) f = fixture_new (n, 1);

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
  *f = fixture_new (3, 1);
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
  g_auto (Fixture) f = { 0 };
  double latency_ns = run_hardware (&f, TRACE_OP_ALLREDUCE);

  for (uint32_t rank = 0; rank < 3; rank++)
    ASSERT_ENDS (&f, rank, 100000 + latency_ns);
  g_assert_cmpint (f.result->ranks[2].wait_ps, ==, (int64_t) (latency_ns * NS));
}

static void
test_bcast_waits_for_the_root (void)
{
  g_auto (Fixture) f = { 0 };
  double latency_ns = run_hardware (&f, TRACE_OP_BCAST);

  g_assert_cmpfloat (latency_ns, <, 50000);
  ASSERT_ENDS (&f, 0, 50000 + latency_ns);
  ASSERT_ENDS (&f, 1, 50000 + 300);
  ASSERT_ENDS (&f, 2, 100000);
}

static void
test_reduce_root_waits (void)
{
  g_auto (Fixture) f = { 0 };
  double latency_ns = run_hardware (&f, TRACE_OP_REDUCE);

  ASSERT_ENDS (&f, 0, 300);
  ASSERT_ENDS (&f, 1, 100000 + latency_ns);
  ASSERT_ENDS (&f, 2, 100300);
}

static void
test_missing_rank_is_a_deadlock (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  f.machine->parameters.collective_network = true;
  script_collective (f.trace, 0, TRACE_OP_BARRIER, 0, 0);
  fixture_run (&f);
  g_assert_error (f.error, SIM_ERROR, SIM_ERROR_DEADLOCK);
  g_assert_nonnull (
      strstr (f.error->message, "rank 0 waits in MPI_Collective for other ranks at rank0:1"));
}

/* -- direct -------------------------------------------------------------- */

/* Each rank hands over at 50 and 100; the later one of another's arrives at
 * 100 + 1000 + 400 at the latest. */
static void
test_direct (void)
{
  g_auto (Fixture) f = fixture_new (3, 1);
  double end_ns = 0;

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
}

/* What came before the rank enters is not waited for. */
static void
test_direct_late_rank (void)
{
  g_auto (Fixture) f = fixture_new (3, 1);

  f.machine->parameters.collective_network = true;
  script_compute (f.trace, 2, 9000 * NS);
  for (uint32_t rank = 0; rank < 3; rank++)
    script_collective (f.trace, rank, TRACE_OP_ALLTOALL, 0, 400);
  fixture_run (&f);
  ASSERT_ENDS (&f, 2, 9100);
  g_assert_cmpfloat (fixture_end_ns (&f, 0), >=, 9050 + 1400);
}

static void
test_direct_within_a_node (void)
{
  g_auto (Fixture) f = fixture_new (2, 2);

  f.machine->parameters.collective_network = true;
  for (uint32_t rank = 0; rank < 2; rank++)
    script_collective (f.trace, rank, TRACE_OP_ALLTOALL, 0, 400);
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 50 + 200 + 40);
  g_assert_cmpuint (fake_network_log (f.network)->len, ==, 0);
  g_assert_cmpuint (f.result->messages, ==, 2);
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
  g_auto (Fixture) f = fixture_new (4, 1);

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
}

/* The same tag on two communicators, received in the other order. */
static void
test_communicators_keep_messages_apart (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

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
}

static void
test_collectives_of_a_split (void)
{
  g_auto (Fixture) f = fixture_new (9, 3);

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
  g_auto (Fixture) f = fixture_new (2, 1);

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
}

/* Rank 0 frees and defines again while rank 2 has not come to the first
 * broadcast: the second one is another instance. */
static void
test_definition_after_free (void)
{
  static const int32_t members[] = { 0, 1, 2 };
  g_auto (Fixture) f = fixture_new (3, 1);

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
}

static void
test_definition_without_oneself (void)
{
  static const int32_t members[] = { 1 };
  g_auto (Fixture) f = fixture_new (2, 1);

  add_definition (f.trace, 0, 10, members, 1);
  fixture_run (&f);
  g_assert_error (f.error, SIM_ERROR, SIM_ERROR_TRACE);
  g_assert_nonnull (strstr (f.error->message, "rank0:1"));
  g_assert_nonnull (strstr (f.error->message, "no member itself"));
}

static void
test_oneself_needs_nobody (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  script_add (f.trace, 0,
              (TraceOp){ .kind = TRACE_OP_ALLREDUCE, .comm = TRACE_COMM_SELF, .bytes = 8 });
  script_add (f.trace, 0,
              (TraceOp){ .kind = TRACE_OP_COMM_DUP, .comm = TRACE_COMM_SELF, .new_comm = 7 });
  script_add (f.trace, 0, (TraceOp){ .kind = TRACE_OP_BARRIER, .comm = 7 });
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 300);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/replay-active/overlap", test_overlaps_a_computation);
  g_test_add_func ("/sim/replay-active/processor", test_waits_for_the_processor);
  g_test_add_func ("/sim/replay-active/call", test_any_call_makes_progress);
  g_test_add_func ("/sim/replay-active/async", test_async_progress_needs_no_calls);
  g_test_add_func ("/sim/replay-active/async-wait", test_async_progress_ends_a_wait);
  g_test_add_func ("/sim/replay-active/unknown-size", test_unknown_size);
  g_test_add_func ("/sim/replay-active/done", test_a_rank_that_is_done_helps);
  g_test_add_func ("/sim/replay-active/root", test_a_root_makes_progress);
  g_test_add_func ("/sim/replay-active/blocked", test_a_blocked_rank_makes_progress);
  g_test_add_func ("/sim/replay-active/hardware/waits", test_hardware_wakes_who_waits);
  g_test_add_func ("/sim/replay-active/hardware/overlap", test_hardware_needs_no_processor);
  g_test_add_func ("/sim/replay-active/hardware/bcast", test_hardware_bcast);
  g_test_add_func ("/sim/replay-active/hardware/reduce", test_hardware_reduce);
  g_test_add_func ("/sim/replay-active/direct", test_posted_direct);
  g_test_add_func ("/sim/replay-active/direct-overlap", test_direct_overlaps);
  g_test_add_func ("/sim/replay-active/self", test_posted_oneself_needs_nobody);
  g_test_add_func ("/sim/replay-active/freed", test_communicator_freed_meanwhile);
  g_test_add_func ("/sim/replay-active/missing", test_posted_missing_rank_is_a_deadlock);
  g_test_add_func ("/sim/replay-active/neighbors/ring", test_ring);
  g_test_add_func ("/sim/replay-active/neighbors/posted", test_posted_ring);
  g_test_add_func ("/sim/replay-active/neighbors/small", test_small_rings);
  g_test_add_func ("/sim/replay-active/neighbors/uneven", test_uneven_neighborhoods);
  g_test_add_func ("/sim/replay-active/neighbors/impossible", test_impossible_neighbor);
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
  for (TraceOpKind kind = TRACE_OP_BARRIER; kind <= TRACE_OP_EXSCAN; kind++) {
    g_autofree char *posted = g_strdup_printf ("/sim/replay-active/kind/%s", trace_op_name (kind));
    g_autofree char *blocking = g_strdup_printf ("/sim/replay-meet/kind/%s", trace_op_name (kind));

    g_test_add_data_func (posted, GUINT_TO_POINTER (kind), test_posted_kind);
    g_test_add_data_func (blocking, GUINT_TO_POINTER (kind), test_kind);
  }
  return g_test_run ();
}
