/* otf2_test.c - the reader of OTF2: recorded archives, and the operations of events.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/otf2/otf2_testing.h"

#include <string.h>

/* What `otf2-print` shows of the shared archives: counts of its lines MPI_SEND,
 * MPI_ISEND, MPI_RECV, MPI_IRECV, sums of their "Length:", and counts of its
 * lines MPI_COLLECTIVE_END by "Operation:". */
typedef struct {
  const char *path;
  uint32_t n_ranks;
  uint64_t sends, receives, bytes;
  uint64_t barriers, bcasts, gathers, scatters, allgathers, alltoalls, reduces, allreduces;
} Printed;

static void
test_printed (void)
{
  static const Printed cases[] = {
    { .path = "otf2/tracer-stencil4d-32/traces.otf2",
      .n_ranks = 32,
      .sends = 512,
      .receives = 512,
      .bytes = 67108864,
      .barriers = 96 },
    { .path = "otf2/pipit-ping-pong-otf2/traces.otf2",
      .n_ranks = 2,
      .sends = 16,
      .receives = 16,
      .bytes = 8355840 },
    { .path = "otf2/sstmacro-10rank/traces.otf2",
      .n_ranks = 10,
      .sends = 1440,
      .receives = 1440,
      .bytes = 23592600,
      .bcasts = 30,
      .gathers = 30,
      .scatters = 30,
      .allgathers = 360,
      .alltoalls = 360,
      .reduces = 30,
      .allreduces = 360 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Printed *printed = &cases[i];
    g_autofree char *path = trace_testing_shared (printed->path);
    g_autoptr (Trace) trace = NULL;
    TraceTotals totals;

    g_test_message ("%s", printed->path);
    if (path == NULL)
      continue;
    trace = trace_testing_open (path);
    g_assert_cmpstr (trace_format_name (trace), ==, "otf2");
    g_assert_cmpuint (trace_ranks (trace), ==, printed->n_ranks);
    totals = trace_testing_totals (trace);
    g_assert_cmpuint (totals.sends, ==, printed->sends);
    g_assert_cmpuint (totals.receives, ==, printed->receives);
    g_assert_cmpuint (totals.send_bytes, ==, printed->bytes);
    g_assert_cmpuint (totals.n_ops[TRACE_OP_BARRIER], ==, printed->barriers);
    g_assert_cmpuint (totals.n_ops[TRACE_OP_BCAST], ==, printed->bcasts);
    g_assert_cmpuint (totals.n_ops[TRACE_OP_GATHER], ==, printed->gathers);
    g_assert_cmpuint (totals.n_ops[TRACE_OP_SCATTER], ==, printed->scatters);
    g_assert_cmpuint (totals.n_ops[TRACE_OP_ALLGATHER], ==, printed->allgathers);
    g_assert_cmpuint (totals.n_ops[TRACE_OP_ALLTOALL], ==, printed->alltoalls);
    g_assert_cmpuint (totals.n_ops[TRACE_OP_REDUCE], ==, printed->reduces);
    g_assert_cmpuint (totals.n_ops[TRACE_OP_ALLREDUCE], ==, printed->allreduces);
  }
}

/* World ranks of the communicators that a rank has defined. */
static int32_t
world_rank (GHashTable *comms, uint32_t rank, uint32_t comm, int32_t peer)
{
  const int32_t *members;

  if (comm == TRACE_COMM_SELF)
    return (int32_t) rank;
  members = g_hash_table_lookup (comms, GUINT_TO_POINTER (comm));
  g_assert_true (comm == TRACE_COMM_WORLD || members != NULL);
  return members != NULL ? members[peer] : peer;
}

static uint64_t
message_digest (int32_t from, int32_t to, const TraceOp *op)
{
  g_autofree char *text =
      g_strdup_printf ("%d %d %u %d %" G_GUINT64_FORMAT, from, to, op->comm, op->tag, op->bytes);

  return (g_str_hash (text) + 1ull) * 0x9e3779b97f4a7c15ull;
}

/* Sums over all messages, as sent and as received. */
typedef struct {
  uint64_t sent, received;
} Digests;

static void
add_messages (Trace *trace, uint32_t rank, Digests *digests)
{
  g_autoptr (GHashTable) comms = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, NULL);
  TraceOp op;

  while (trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION) {
    int32_t me = (int32_t) rank;

    if (op.kind == TRACE_OP_COMM_DEFINE) {
      g_assert_false (g_hash_table_contains (comms, GUINT_TO_POINTER (op.new_comm)));
      g_hash_table_insert (comms, GUINT_TO_POINTER (op.new_comm),
                           g_memdup2 (op.values, op.n_values * sizeof *op.values));
    } else if (op.kind == TRACE_OP_SEND || op.kind == TRACE_OP_ISEND) {
      digests->sent += message_digest (me, world_rank (comms, rank, op.comm, op.peer), &op);
    } else if (op.kind == TRACE_OP_RECV || op.kind == TRACE_OP_IRECV) {
      g_assert_cmpint (op.matched_source, ==, op.peer);
      digests->received += message_digest (world_rank (comms, rank, op.comm, op.peer), me, &op);
    }
  }
}

/* Every message is received by its destination, on the same communicator. */
static void
test_messages_match (void)
{
  static const char *const paths[] = { "otf2/tracer-stencil4d-32/traces.otf2",
                                       "otf2/pipit-ping-pong-otf2/traces.otf2",
                                       "otf2/sstmacro-10rank/traces.otf2" };

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++) {
    g_autofree char *path = trace_testing_shared (paths[i]);
    g_autoptr (Trace) trace = NULL;
    Digests digests = { 0, 0 };

    if (path == NULL)
      continue;
    trace = trace_testing_open (path);
    for (uint32_t rank = 0; rank < trace_ranks (trace); rank++)
      add_messages (trace, rank, &digests);
    g_assert_cmpuint (digests.sent, !=, 0);
    g_assert_cmpuint (digests.sent, ==, digests.received);
  }
}

/* Sums over otf2-print's lines, with Score-P's totals divided by the ranks of
 * the communicator. */
static void
test_collective_bytes (void)
{
  g_autofree char *path = trace_testing_shared ("otf2/sstmacro-10rank/traces.otf2");
  g_autoptr (Trace) trace = NULL;
  uint64_t bytes[TRACE_N_OPS] = { 0 };

  if (path == NULL)
    return;
  trace = trace_testing_open (path);
  for (uint32_t rank = 0; rank < 10; rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, NULL);
    TraceOp op;

    while (trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION)
      bytes[op.kind] += op.kind == TRACE_OP_SCATTER ? op.recv_bytes : op.bytes;
  }
  g_assert_cmpuint (bytes[TRACE_OP_ALLGATHER], ==, 491400);
  g_assert_cmpuint (bytes[TRACE_OP_ALLTOALL], ==, 491400);
  g_assert_cmpuint (bytes[TRACE_OP_ALLREDUCE], ==, 491400);
  g_assert_cmpuint (bytes[TRACE_OP_GATHER], ==, 120);
  g_assert_cmpuint (bytes[TRACE_OP_SCATTER], ==, 120);
  g_assert_cmpuint (bytes[TRACE_OP_BCAST], ==, 120);
  g_assert_cmpuint (bytes[TRACE_OP_REDUCE], ==, 120);
  /* This version of Score-P leaves no event in them. */
  g_assert_true (trace_testing_warned (trace, "MPI_Iallreduce: left no event"));
}

/* Ticks between and inside calls, summed over otf2-print's lines ENTER and
 * LEAVE of regions "MPI_...", windows of MEASUREMENT_ON_OFF left out. */
typedef struct {
  const char *path;
  double ticks_per_s;
  uint64_t gap_ticks, call_ticks, n_gaps;
} Timed;

static void
check_times (const Timed *timed)
{
  g_autofree char *path = trace_testing_shared (timed->path);
  g_autoptr (Trace) trace = NULL;
  double ps_per_tick = 1e12 / timed->ticks_per_s;
  int64_t gap_ps = 0, call_ps = 0;

  if (path == NULL)
    return;
  trace = trace_testing_open (path);
  for (uint32_t rank = 0; rank < trace_ranks (trace); rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, NULL);
    TraceOp op;

    while (trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION) {
      gap_ps += op.gap_ps;
      call_ps += op.call_ps;
    }
  }
  /* Each is right to the ps. */
  g_assert_cmpfloat_with_epsilon ((double) gap_ps, (double) timed->gap_ticks * ps_per_tick,
                                  (double) timed->n_gaps + 1);
  g_assert_cmpfloat_with_epsilon ((double) call_ps, (double) timed->call_ticks * ps_per_tick,
                                  (double) timed->n_gaps * 2 + 100);
}

static void
test_times (void)
{
  check_times (
      &(Timed){ "otf2/pipit-ping-pong-otf2/traces.otf2", 2095197216, 11193156, 824292083, 38 });
  check_times (
      &(Timed){ "otf2/sstmacro-10rank/traces.otf2", 1995386627, 14189426, 23292293859, 7000 });
  check_times (
      &(Timed){ "otf2/tracer-stencil4d-32/traces.otf2", 2095147102, 621210, 80095774709, 1152 });
}

static void
test_not_mpi (void)
{
  g_autofree char *path = trace_testing_shared ("otf2/fastotf2-mi300/traces.otf2");

  if (path != NULL)
    trace_testing_bad (path, TRACE_ERROR_LOST, "no MPI ranks");
}

static void
test_lossy_is_refused (void)
{
  g_autofree char *path = trace_testing_shared ("otf2/gen-eztrace-micro-4/eztrace_log.otf2");

  if (path != NULL)
    trace_testing_bad (path, TRACE_ERROR_LOST, "8 of 16 nonblocking receives");
}

/* Its program sends to the next rank and receives from the last, 800 bytes
 * twice with tag 7 and 80 bytes twice with tag 9; the latter are lost. */
static void
test_lossy_is_guessed (void)
{
  g_autofree char *path = trace_testing_shared ("otf2/gen-eztrace-micro-4/eztrace_log.otf2");
  g_autoptr (Trace) trace = NULL;
  Digests digests = { 0, 0 };
  TraceTotals totals;

  if (path == NULL)
    return;
  trace = trace_open (path, &(TraceOptions){ .allow_lossy = TRUE }, NULL);
  g_assert_nonnull (trace);
  for (uint32_t rank = 0; rank < 4; rank++)
    add_messages (trace, rank, &digests);
  g_assert_cmpuint (digests.sent, ==, digests.received);
  totals = trace_testing_totals (trace);
  g_assert_cmpuint (totals.sends, ==, 16);
  g_assert_cmpuint (totals.receives, ==, 16);
  g_assert_cmpuint (totals.send_bytes, ==, 7040);
  g_assert_true (trace_testing_warned (trace, "8 got those of sends"));
  g_assert_true (trace_testing_warned (trace, "0 sends have no receive"));
}

/* At 3 ticks per second a tick is 333,333,333,333 ps and a third; times are
 * rounded, not gaps, so that three gaps of a tick add up to a second. */
static void
test_gaps (void)
{
  static const Otf2Record records[] = {
    ENTER (100, AT_MAIN),     ENTER (103, AT_INIT),   LEAVE (104, AT_INIT),
    ENTER (105, AT_SEND),     SEND (105, 0, 1, 5, 9), LEAVE (106, AT_SEND),
    ENTER (107, AT_SOLVE),    ENTER (107, AT_SSEND),  SEND (107, 0, 3, 6, 0),
    LEAVE (107, AT_SSEND),    LEAVE (107, AT_SOLVE),  ENTER (110, AT_FINALIZE),
    LEAVE (112, AT_FINALIZE), LEAVE (113, AT_MAIN),
  };
  TraceTestingStream s;

  otf2_testing_open (&s, &(Otf2Testing){ SCOREP, 3, RANK (0, records) }, 0);
  EXPECT (&s, "init call_ps=333333333333 site=main", "compute gap_ps=333333333333",
          "send peer=1 tag=5 bytes=9 comm=world mode=standard", "compute gap_ps=333333333333",
          "send call_ps=0 mode=synchronous name=MPI_Ssend site=solve",
          "compute gap_ps=1000000000000", "finalize call_ps=666666666667");
  otf2_testing_close (&s);
}

/* Ticks of a nanosecond that have counted since 1970 times ten. */
static void
test_late_clock (void)
{
  static const uint64_t t = 17000000000000000000u;
  static const Otf2Record records[] = {
    ENTER (t, AT_SEND),
    SEND (t, 0, 1, 5, 9),
    LEAVE (t + 1, AT_SEND),
    ENTER (t + 86400000000001, AT_SEND),
    SEND (t + 86400000000001, 0, 1, 5, 9),
    LEAVE (t + 86400000000002, AT_SEND),
  };
  TraceTestingStream s;

  otf2_testing_open (&s, &(Otf2Testing){ SCOREP, 1000000000, RANK (0, records) }, 0);
  EXPECT (&s, "send", "compute gap_ps=86400000000000000", "send");
  otf2_testing_close (&s);
}

/* While the recording is off, or is written to a file, nothing is known. */
static void
test_pauses (void)
{
  static const Otf2Record records[] = {
    ENTER (0, AT_RECV), RECV (1, 0, 2, 5, 8), LEAVE (2, AT_RECV),     MEASURED (3),
    MEASURED (50),      ENTER (60, AT_RECV),  RECV (61, 0, 2, 5, 8),  LEAVE (62, AT_RECV),
    FLUSHED (70, 90),   ENTER (100, AT_RECV), RECV (100, 0, 2, 5, 8), LEAVE (100, AT_RECV),
  };
  TraceTestingStream s;

  otf2_testing_open (&s, &(Otf2Testing){ SCOREP, 1000000000000, RANK (1, records) }, 1);
  EXPECT (&s, "recv", "recv matched_source=2", "compute gap_ps=18", "recv");
  otf2_testing_close (&s);
}

/* Two flushes that each end with the scale: nothing is left to compute. */
static void
test_endless_flush (void)
{
  static const Otf2Record records[] = {
    ENTER (0, AT_RECV),      RECV (1, 0, 2, 5, 8), LEAVE (2, AT_RECV),   FLUSHED (3, UINT64_MAX),
    FLUSHED (4, UINT64_MAX), ENTER (9, AT_RECV),   RECV (9, 0, 2, 5, 8), LEAVE (9, AT_RECV),
  };
  TraceTestingStream s;

  otf2_testing_open (&s, &(Otf2Testing){ SCOREP, 1000000000000, RANK (1, records) }, 1);
  EXPECT (&s, "recv", "recv");
  otf2_testing_close (&s);
}

/* The message of a receive is known only when it completes, and its request may be
 * used again then. */
static void
test_requests (void)
{
  static const Otf2Record records[] = {
    ENTER (0, AT_STARTALL),
    POST (0, 1ull << 60),
    ISEND (0, 0, 3, 7, 70, 5),
    POST (0, 9),
    LEAVE (1, AT_STARTALL),
    ENTER (1, AT_WAITALL),
    GOT (2, 0, 2, 8, 80, 9),
    SENT (2, 5),
    GOT (2, 0, 1, 9, 90, 1ull << 60),
    LEAVE (3, AT_WAITALL),
    ENTER (3, AT_IRECV),
    POST (3, 9),
    LEAVE (3, AT_IRECV),
    ENTER (3, AT_TEST),
    TESTED (3, 9),
    LEAVE (3, AT_TEST),
    ENTER (3, AT_WAITANY),
    GOT (3, 0, 1, 4, 40, 9),
    LEAVE (3, AT_WAITANY),
    ENTER (3, AT_TEST),
    LEAVE (3, AT_TEST),
  };
  TraceTestingStream s;

  otf2_testing_open (&s, &(Otf2Testing){ SCOREP, 1000, RANK (0, records) }, 0);
  EXPECT (&s, "irecv request:first peer=1 bytes=90 call_ps=1000000000",
          "isend request:second bytes=70", "irecv request:third peer=2 tag=8",
          "wait n_requests=3 requests[0]=third requests[1]=second requests[2]=first n_completed=3",
          "irecv request:third tag=4", "test n_requests=1 requests[0]=third n_completed=0",
          "wait_some requests[0]=third n_completed=1", "test n_requests=0");
  otf2_testing_close (&s);
}

/* A receive that was cancelled got nothing, and one that never completes is lost. */
static void
test_cancelled_and_lost (void)
{
  static const Otf2Record cancelled[] = {
    ENTER (0, AT_IRECV), POST (0, 1),      LEAVE (1, AT_IRECV),
    ENTER (1, AT_WAIT),  CANCELLED (2, 1), LEAVE (3, AT_WAIT),
  };
  static const Otf2Record lost[] = { ENTER (0, AT_IRECV), POST (0, 1), LEAVE (1, AT_IRECV) };
  Otf2Testing lossy = { SCOREP, 1000000000000, RANK (0, lost) };
  TraceTestingStream s;

  otf2_testing_open (&s, &(Otf2Testing){ SCOREP, 1000, RANK (0, cancelled) }, 0);
  EXPECT (&s, "call", "call");
  otf2_testing_close (&s);

  otf2_testing_bad (&lossy, TRACE_ERROR_LOST, "rank 0: a receive (request 1)");
  lossy.options.allow_lossy = TRUE;
  otf2_testing_open (&s, &lossy, 0);
  EXPECT (&s, "call");
  otf2_testing_close (&s);
}

/* Peers are ranks of the communicator, which has its ranks in its own order. */
static void
test_communicators (void)
{
  static const Otf2Record records[] = {
    SEND (0, ON_SELF, 0, 1, 1), SEND (0, ON_EVEN, 0, 1, 2),  SEND (0, ON_DUP, 3, 1, 3),
    RECV (0, ON_EVEN, 0, 1, 4), SEND (0, ON_WORLD, 2, 1, 5),
  };
  TraceTestingStream s;

  otf2_testing_open (&s, &(Otf2Testing){ SCOREP, 1000, RANK (0, records) }, 0);
  EXPECT (&s, "send comm=self",
          "comm_define new_comm:even color:first n_values=2 values[0]=2 values[1]=0",
          "send comm=even peer=0 name=MPI_Send", "comm_define n_values=4 color!=first", "send",
          "recv comm=even", "send comm=world");
  otf2_testing_close (&s);
}

static void
test_impossible_messages (void)
{
  static const struct {
    Otf2Record record;
    TraceError code;
    const char *part;
  } cases[] = {
    { SEND (0, ON_EVEN, 0, 1, 1), TRACE_ERROR_RANGE, "not in" },
    { SEND (0, ON_WORLD, 4, 1, 1), TRACE_ERROR_RANGE, "rank 4" },
    { SEND (0, 77, 0, 1, 1), TRACE_ERROR_FORMAT, "not defined" },
    { SEND (0, ON_INTER, 0, 1, 1), TRACE_ERROR_LOST, "intercommunicator" },
    { SEND (0, ON_WORLD, 0, UINT32_MAX, 1), TRACE_ERROR_RANGE, "tag 4294967295" },
    { ENTER (0, 99), TRACE_ERROR_RANGE, "region 99" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Otf2Testing testing = { SCOREP, 9, .records[1] = &cases[i].record, .n_records[1] = 1 };

    g_test_message ("%s", cases[i].part);
    otf2_testing_bad (&testing, cases[i].code, cases[i].part);
  }
}

static void
test_sendrecv (void)
{
  static const Otf2Record records[] = {
    ENTER (0, AT_SENDRECV), SEND (1, 0, 1, 4, 10),  RECV (2, 0, 3, 5, 20),
    LEAVE (3, AT_SENDRECV), ENTER (3, AT_SENDRECV), RECV (4, 0, 3, 5, 20),
    LEAVE (5, AT_SENDRECV), ENTER (5, AT_SENDRECV), LEAVE (5, AT_SENDRECV),
  };
  TraceTestingStream s;

  otf2_testing_open (&s, &(Otf2Testing){ SCOREP, 1000, RANK (0, records) }, 0);
  EXPECT (&s,
          "sendrecv peer=1 tag=4 bytes=10 recv_peer=3 recv_tag=5 recv_bytes=20 call_ps=3000000000",
          "sendrecv peer=null recv_peer=3", "call");
  otf2_testing_close (&s);
}

/* Only what is inside; the gap begins with the region and ends with it. */
static void
test_region (void)
{
  static const Otf2Record records[] = {
    ENTER (0, AT_MAIN),         ENTER (1, AT_IRECV),  POST (1, 1),
    LEAVE (2, AT_IRECV),        ENTER (5, AT_SOLVE),  ENTER (7, AT_SEND),
    SEND (7, ON_EVEN, 0, 1, 1), LEAVE (8, AT_SEND),   ENTER (8, AT_ISEND),
    ISEND (8, 0, 1, 2, 3, 2),   LEAVE (8, AT_ISEND),  ENTER (8, AT_WAIT),
    GOT (8, 0, 1, 1, 1, 1),     LEAVE (8, AT_WAIT),   LEAVE (11, AT_SOLVE),
    ENTER (12, AT_WAIT),        SENT (12, 2),         LEAVE (13, AT_WAIT),
    ENTER (14, AT_SOLVE),       LEAVE (20, AT_SOLVE),
  };
  TraceTestingStream s;

  otf2_testing_open (
      &s,
      &(Otf2Testing){ SCOREP, 1000000000000, RANK (0, records), .options.from_region = "solve" },
      0);
  EXPECT (&s, "compute gap_ps=2", "comm_define", "send", "isend",
          "call" /* the wait for what was posted before */, "compute gap_ps=3", "compute gap_ps=6");
  g_assert_cmpint (trace_cursor_next (s.cursor, &s.op, NULL), ==, TRACE_NEXT_END);
  g_assert_true (trace_testing_warned (s.trace, "1 completions of requests that were posted "
                                                "before, and 1 after"));
  otf2_testing_close (&s);
}

static void
test_unknown_region (void)
{
  static const Otf2Record records[] = { ENTER (0, AT_MAIN) };
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path =
      otf2_testing_write (folder, &(Otf2Testing){ "Score-P", 9, RANK (0, records) });
  static const char *const names[] = { "sovle", "MPI_Send", "" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (GError) error = NULL;

    g_assert_null (trace_open (path, &(TraceOptions){ .from_region = names[i] }, &error));
    g_assert_error (error, TRACE_ERROR, TRACE_ERROR_OPEN);
    g_assert_nonnull (strstr (error->message, "3: \"main\", \"solve\", \"write output\""));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/otf2/printed", test_printed);
  g_test_add_func ("/traces/otf2/messages-match", test_messages_match);
  g_test_add_func ("/traces/otf2/collective-bytes", test_collective_bytes);
  g_test_add_func ("/traces/otf2/times", test_times);
  g_test_add_func ("/traces/otf2/not-mpi", test_not_mpi);
  g_test_add_func ("/traces/otf2/lossy-is-refused", test_lossy_is_refused);
  g_test_add_func ("/traces/otf2/lossy-is-guessed", test_lossy_is_guessed);
  g_test_add_func ("/traces/otf2/gaps", test_gaps);
  g_test_add_func ("/traces/otf2/late-clock", test_late_clock);
  g_test_add_func ("/traces/otf2/endless-flush", test_endless_flush);
  g_test_add_func ("/traces/otf2/pauses", test_pauses);
  g_test_add_func ("/traces/otf2/requests", test_requests);
  g_test_add_func ("/traces/otf2/cancelled-and-lost", test_cancelled_and_lost);
  g_test_add_func ("/traces/otf2/communicators", test_communicators);
  g_test_add_func ("/traces/otf2/impossible-messages", test_impossible_messages);
  g_test_add_func ("/traces/otf2/sendrecv", test_sendrecv);
  g_test_add_func ("/traces/otf2/region", test_region);
  g_test_add_func ("/traces/otf2/unknown-region", test_unknown_region);
  return g_test_run ();
}
