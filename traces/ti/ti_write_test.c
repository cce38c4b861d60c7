/* ti_write_test.c - traces written for SimGrid say the same, and SimGrid replays them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/write_testing.h"

#include <string.h>

static void
check (uint32_t n_ranks, const WriteTestingOp *ops, uint32_t n_ops, const char *expected)
{
  g_autoptr (Trace) trace = write_testing_program (n_ranks, ops, n_ops);

  write_testing_same (&trace_writer_ti, trace, expected);
}

static void
test_messages (void)
{
  static const uint32_t first[] = { 4 }, both[] = { 4, 5 };
  static const WriteTestingOp ops[] = {
    { 0, { .kind = TRACE_OP_COMPUTE, .gap_ps = 2500 } },
    { 0, { .kind = TRACE_OP_COMPUTE, .gap_ps = 2000000 } },
    { 0, { .kind = TRACE_OP_COMPUTE, .flops = 1e6, .gap_ps = 500000 } },
    { 0,
      { .kind = TRACE_OP_SEND,
        .mode = TRACE_SEND_SYNCHRONOUS,
        .peer = 1,
        .tag = 3,
        .bytes = 100 } },
    { 0, { .kind = TRACE_OP_SEND, .peer = TRACE_PROC_NULL, .bytes = 100 } },
    { 0, { .kind = TRACE_OP_IRECV, .peer = -1, .tag = -1, .bytes = 9, .request = 4 } },
    { 0, { .kind = TRACE_OP_ISEND, .peer = 1, .tag = 6, .bytes = 8, .request = 5 } },
    { 0, { .kind = TRACE_OP_TEST, .requests = both, .n_requests = 2 } },
    { 0, { .kind = TRACE_OP_WAIT, .requests = first, .n_requests = 1 } },
    { 0, { .kind = TRACE_OP_IRECV, .peer = 1, .bytes = TRACE_UNKNOWN_BYTES, .request = 4 } },
    { 0, { .kind = TRACE_OP_WAIT, .requests = both, .n_requests = 2 } },
    { 0,
      { .kind = TRACE_OP_SENDRECV,
        .peer = 1,
        .tag = 1,
        .bytes = 8,
        .recv_peer = 1,
        .recv_tag = 2,
        .recv_bytes = 16 } },
    { 0, { .kind = TRACE_OP_SEND, .peer = 1, .bytes = 1ull << 33 } },
  };

  check (2, ops, G_N_ELEMENTS (ops),
         "0 init\n"
         "0 compute 2.500\n"
         "0 compute 2000\n"
         "0 compute 1000500\n"
         "0 send 1 3 100\n"
         "0 irecv -555 -444 9\n"
         "0 isend 1 6 8\n"
         "0 wait -555 0 -444\n"
         "0 irecv 1 0 -1\n"
         "0 waitall\n"
         "0 irecv 1 2 16\n"
         "0 send 1 1 8\n"
         "0 wait 1 0 2\n"
         "0 send 1 0 1073741824 0\n"
         "0 finalize\n"
         "1 init\n"
         "1 finalize\n");
}

/* One of each kind that SimGrid has, as rank 1 of 2. */
static void
test_collectives (void)
{
  static const uint64_t counts[] = { 3, 4 }, recv_counts[] = { 5, 6 };
  static const WriteTestingOp ops[] = {
    { 1, { .kind = TRACE_OP_BARRIER } },
    { 1, { .kind = TRACE_OP_BCAST, .root = 1, .bytes = 7 } },
    { 1, { .kind = TRACE_OP_REDUCE, .root = 0, .bytes = 7 } },
    { 1, { .kind = TRACE_OP_ALLREDUCE, .bytes = 7 } },
    { 1, { .kind = TRACE_OP_SCAN, .bytes = 7 } },
    { 1, { .kind = TRACE_OP_EXSCAN, .bytes = 7 } },
    { 1, { .kind = TRACE_OP_GATHER, .root = 0, .bytes = 7 } },
    { 1, { .kind = TRACE_OP_GATHERV, .root = 0, .bytes = 7 } },
    { 1, { .kind = TRACE_OP_SCATTER, .root = 0, .recv_bytes = 7 } },
    { 1,
      { .kind = TRACE_OP_SCATTERV, .root = 1, .recv_bytes = 4, .counts = counts, .n_counts = 2 } },
    { 1, { .kind = TRACE_OP_ALLGATHER, .bytes = 7, .recv_bytes = 7 } },
    { 1,
      { .kind = TRACE_OP_ALLGATHERV, .bytes = 6, .recv_counts = recv_counts, .n_recv_counts = 2 } },
    { 1, { .kind = TRACE_OP_ALLTOALL, .bytes = 7, .recv_bytes = 7 } },
    { 1,
      { .kind = TRACE_OP_ALLTOALLV,
        .counts = counts,
        .n_counts = 2,
        .recv_counts = recv_counts,
        .n_recv_counts = 2 } },
    { 1, { .kind = TRACE_OP_REDUCE_SCATTER, .recv_counts = counts, .n_recv_counts = 2 } },
  };

  check (2, ops, G_N_ELEMENTS (ops),
         "0 init\n"
         "0 finalize\n"
         "1 init\n"
         "1 barrier\n"
         "1 bcast 7 1\n"
         "1 reduce 7 0 0\n"
         "1 allreduce 7 0\n"
         "1 scan 7 0\n"
         "1 exscan 7 0\n"
         "1 gather 7 0 0\n"
         "1 gatherv 7 0 0 0\n"
         "1 scatter 0 7 0\n"
         "1 scatterv 3 4 4 1\n"
         "1 allgather 7 7\n"
         "1 allgatherv 6 5 6\n"
         "1 alltoall 7 7\n"
         "1 alltoallv 7 3 4 11 5 6\n"
         "1 reducescatter 3 4 0\n"
         "1 finalize\n");
}

/* What is of fewer than all, or does not block, is messages; a copy of the
 * world is the world. */
static void
test_expanded (void)
{
  static const uint32_t request[] = { 5 };
  static const WriteTestingOp ops[] = {
#define RANK(r)                                                                        \
  { r, { .kind = TRACE_OP_COMM_DUP, .new_comm = 10 } },                                \
      { r, { .kind = TRACE_OP_BARRIER, .comm = 10 } },                                 \
      { r, { .kind = TRACE_OP_COMM_SPLIT, .new_comm = 11, .color = 0, .key = -(r) } }, \
      { r, { .kind = TRACE_OP_BCAST, .comm = 11, .root = 0, .bytes = 4 } },            \
      { r, { .kind = TRACE_OP_BARRIER, .nonblocking = true, .request = 5 } },          \
  {                                                                                    \
    r,                                                                                 \
    {                                                                                  \
      .kind = TRACE_OP_WAIT, .requests = request, .n_requests = 1                      \
    }                                                                                  \
  }
    RANK (0),
    RANK (1),
  };
  g_autoptr (Trace) trace = write_testing_program (2, ops, G_N_ELEMENTS (ops));

  /* Tags: communicators 0, 1 and 2 begin with their own numbers. */
  write_testing_same (&trace_writer_ti, trace,
                      "0 init\n0 barrier\n0 recv 1 2 4\n0 irecv 1 0 0\n0 isend 1 0 0\n0 waitall\n"
                      "0 finalize\n"
                      "1 init\n1 barrier\n1 send 0 2 4\n1 irecv 0 0 0\n1 isend 0 0 0\n1 waitall\n"
                      "1 finalize\n");
  g_assert_true (trace_testing_warned (trace, "nonblocking collectives"));
}

/* A waitall would wait for the third, and for one that was set free. */
static void
test_waits_for_some (void)
{
  static const uint32_t both[] = { 4, 5 }, third[] = { 6 };
  static const WriteTestingOp ops[] = {
    { 0, { .kind = TRACE_OP_ISEND, .peer = 1, .tag = 4, .bytes = 8, .request = 4 } },
    { 0, { .kind = TRACE_OP_ISEND, .peer = 1, .tag = 5, .bytes = 8, .request = 5 } },
    { 0, { .kind = TRACE_OP_ISEND, .peer = 1, .tag = 6, .bytes = 8, .request = 6 } },
    { 0, { .kind = TRACE_OP_REQUEST_FREE, .requests = third, .n_requests = 1 } },
    { 0, { .kind = TRACE_OP_WAIT, .requests = both, .n_requests = 2 } },
  };

  check (2, ops, G_N_ELEMENTS (ops),
         "0 init\n0 isend 1 4 8\n0 isend 1 5 8\n0 isend 1 6 8\n0 wait 0 1 4\n0 wait 0 1 5\n"
         "0 finalize\n1 init\n1 finalize\n");
}

/* What a reader would take for something else; nothing else is told. */
static void
test_losses_are_told (void)
{
  static const struct {
    TraceOp op;
    const char *warning; /* NULL: none */
  } cases[] = {
    { { .kind = TRACE_OP_COMPUTE, .gap_ps = 2500 }, "measured times are written as work" },
    { { .kind = TRACE_OP_COMPUTE, .flops = 2500 }, NULL },
    { { .kind = TRACE_OP_SEND, .peer = 1, .mode = TRACE_SEND_SYNCHRONOUS }, "synchronous sends" },
    { { .kind = TRACE_OP_ISEND, .peer = 1, .mode = TRACE_SEND_BUFFERED }, "buffered sends" },
    { { .kind = TRACE_OP_SEND, .peer = 1, .mode = TRACE_SEND_READY }, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    WriteTestingOp op = { 0, cases[i].op };
    g_autoptr (Trace) trace = write_testing_program (2, &op, 1);
    g_autofree char *text = write_testing_text (&trace_writer_ti, trace, NULL);

    g_assert_nonnull (text);
    g_assert_cmpuint (trace_warnings (trace)->len, ==, cases[i].warning != NULL);
    g_assert_true (cases[i].warning == NULL || trace_testing_warned (trace, cases[i].warning));
  }
}

/* What SimGrid's int cannot count becomes messages, on every rank alike. */
static void
test_long_collectives (void)
{
#define LONG(r)                                                          \
  { r, { .kind = TRACE_OP_BCAST, .root = 0, .bytes = 1500000000 } },     \
      { r, { .kind = TRACE_OP_BCAST, .root = 0, .bytes = 3000000000 } }, \
  {                                                                      \
    r,                                                                   \
    {                                                                    \
      .kind = TRACE_OP_GATHER, .root = 0, .bytes = 1500000000,           \
      .recv_bytes = (r) == 0 ? 1500000000 : 0                            \
    }                                                                    \
  }
  static const WriteTestingOp ops[] = { LONG (0), LONG (1) };

  check (2, ops, G_N_ELEMENTS (ops),
         "0 init\n0 bcast 1500000000 0\n0 send 1 1 375000000 0\n0 recv 1 2 1500000000\n"
         "0 finalize\n"
         "1 init\n1 bcast 1500000000 0\n1 recv 0 1 375000000 0\n1 send 0 2 1500000000\n"
         "1 finalize\n");
}

static void
test_refused (void)
{
  static const uint64_t counts[] = { 1ull << 30, 1ull << 30 };
  static const struct {
    WriteTestingOp op;
    const char *part;
  } bad[] = {
    { { 0, { .kind = TRACE_OP_SEND, .peer = 1, .bytes = (8ull << 31) + 1 } },
      "17179869185 bytes is too long for SimGrid" },
    { { 0,
        { .kind = TRACE_OP_ALLTOALLV,
          .counts = counts,
          .recv_counts = counts,
          .n_counts = 2,
          .n_recv_counts = 2 } },
      "2147483648 bytes is too long" },
    { { 0, { .kind = TRACE_OP_GET, .name = "MPI_Get" } }, "MPI_Get cannot be expressed" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    write_testing_refused (&trace_writer_ti, &bad[i].op, bad[i].part);
}

static void
test_graph_is_refused (void)
{
  static const char text[] = "num_ranks 1 rank 0 { calc 1 }";
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = trace_testing_write_text (folder, "t.goal", text);
  g_autoptr (Trace) trace = trace_testing_open (path);
  g_autoptr (GError) error = NULL;

  g_assert_null (write_testing_text (&trace_writer_ti, trace, &error));
  g_assert_error (error, TRACE_ERROR, TRACE_ERROR_WRITE);
}

/* -- SimGrid -------------------------------------------------------------------------- */

static char *
platform_of (uint32_t n_ranks)
{
  return g_strdup_printf ("<?xml version='1.0'?>\n"
                          "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                          "<platform version=\"4.1\">\n<cluster id=\"c\" prefix=\"n\" suffix=\"\" "
                          "radical=\"0-%u\" speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\"/>\n"
                          "</platform>\n",
                          n_ranks - 1);
}

static void
write_file (const char *folder, const char *name, const char *text)
{
  g_free (trace_testing_write_text (folder, name, text));
}

/* Lets smpirun replay folder/t.ti, and record what it replays in folder/again;
 * the simulated seconds, or negative when it did not end well. */
static double
replay (const char *folder, uint32_t n_ranks)
{
  g_autofree char *n = g_strdup_printf ("%u", n_ranks);
  const char *argv[] = { "smpirun",   "-np",   n,           "-platform",   "platform.xml",
                         "-hostfile", "hosts", "-trace-ti", "-trace-file", "again",
                         "-replay",   "list",  NULL };
  g_autofree char *out = NULL;
  g_autofree char *err = NULL;
  g_autofree char *platform = platform_of (n_ranks);
  g_autoptr (GString) hosts = g_string_new (NULL);
  const char *found;
  int status;

  for (uint32_t rank = 0; rank < n_ranks; rank++)
    g_string_append_printf (hosts, "n%u\n", rank);
  write_file (folder, "platform.xml", platform);
  write_file (folder, "hosts", hosts->str);
  write_file (folder, "list", "t.ti\n");
  g_assert_true (g_spawn_sync (folder, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out,
                               &err, &status, NULL));
  found = strstr (err, "Simulation time ");
  if (status == 0 && found != NULL)
    return g_ascii_strtod (found + strlen ("Simulation time "), NULL);
  g_test_message ("smpirun: %s%s", out, err);
  return -1;
}

static gboolean
has_simgrid (void)
{
  g_autofree char *path = g_find_program_in_path ("smpirun");

  if (path == NULL)
    g_test_skip ("no smpirun");
  return path != NULL;
}

/* What SimGrid sent on each channel, and the collectives it took part in, are
 * those of the file that it replayed. */
static void
check_recording (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, "t.ti", NULL);
  g_autofree char *again_path = g_build_filename (folder, "again", NULL);
  g_autoptr (Trace) written = trace_testing_open (path);
  g_autoptr (Trace) again = trace_testing_open (again_path);
  TraceTotals a = trace_testing_totals (written), b = trace_testing_totals (again);

  g_assert_cmpuint (a.sends, ==, b.sends);
  g_assert_cmpuint (a.send_bytes, ==, b.send_bytes);
  g_assert_cmpuint (a.channel_digest, ==, b.channel_digest);
  for (int kind = TRACE_OP_BARRIER; kind <= TRACE_OP_EXSCAN; kind++)
    g_assert_cmpuint (a.n_ops[kind], ==, b.n_ops[kind]);
}

/* Written and replayed; the seconds.  compare: SimGrid's own recording of the
 * replay can be read, which it cannot when there are gathers in it (where
 * lengths and roots of 0 are missing). */
static double
check_replay (Trace *trace, gboolean compare)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autoptr (GError) error = NULL;
  g_autofree char *text = write_testing_text (&trace_writer_ti, trace, &error);
  double seconds;

  g_assert_no_error (error);
  write_file (folder, "t.ti", text);
  seconds = replay (folder, trace_ranks (trace));
  g_assert_cmpfloat (seconds, >=, 0);
  if (compare)
    check_recording (folder);
  return seconds;
}

/* Every kind of operation that a rank may do, of 3 in a ring. */
static void
add_every_kind (GArray *ops, uint32_t rank)
{
  static const uint64_t counts[] = { 100, 200, 300 }, own[] = { 100, 100, 100 };
  static const uint32_t one[] = { 5 }, two[] = { 5, 6 }, three[] = { 7, 5 }, first[] = { 0 };
  static const int32_t next[] = { 1, 2, 0 }, previous[] = { 2, 0, 1 };
  const int32_t to = next[rank], from = previous[rank];
  const gboolean root = rank == 1;
  const uint64_t mine = counts[rank];
  const TraceOp all[] = {
    { .kind = TRACE_OP_INIT },
    { .kind = TRACE_OP_COMPUTE, .gap_ps = 1000000000 },
    { .kind = TRACE_OP_IRECV, .peer = from, .bytes = 0, .request = 5 },
    { .kind = TRACE_OP_SEND, .peer = to, .bytes = 0 },
    { .kind = TRACE_OP_WAIT, .requests = one, .n_requests = 1 },
    { .kind = TRACE_OP_IRECV, .peer = -1, .tag = 2, .bytes = 5000, .request = 5 },
    { .kind = TRACE_OP_ISEND, .peer = to, .tag = 2, .bytes = 5000, .request = 6 },
    { .kind = TRACE_OP_WAIT_SOME,
      .requests = two,
      .n_requests = 2,
      .completed = first,
      .n_completed = 1 },
    { .kind = TRACE_OP_WAIT_OUTSTANDING },
    { .kind = TRACE_OP_SENDRECV,
      .peer = to,
      .tag = 3,
      .bytes = 70000,
      .recv_peer = from,
      .recv_tag = 3,
      .recv_bytes = 70000 },
    { .kind = TRACE_OP_SEND_INIT, .peer = to, .tag = 4, .bytes = 80, .request = 7 },
    { .kind = TRACE_OP_START, .requests = three, .n_requests = 1 },
    { .kind = TRACE_OP_PROBE, .peer = from, .tag = 4 },
    { .kind = TRACE_OP_RECV, .peer = from, .tag = 4, .bytes = TRACE_UNKNOWN_BYTES },
    { .kind = TRACE_OP_WAIT, .requests = three, .n_requests = 1 },
    { .kind = TRACE_OP_REQUEST_FREE, .requests = three, .n_requests = 1 },
    { .kind = TRACE_OP_BARRIER },
    { .kind = TRACE_OP_BCAST, .root = 1, .bytes = 700 },
    { .kind = TRACE_OP_REDUCE, .root = 2, .bytes = 700 },
    { .kind = TRACE_OP_ALLREDUCE, .bytes = 700 },
    { .kind = TRACE_OP_SCAN, .bytes = 700 },
    { .kind = TRACE_OP_EXSCAN, .bytes = 700 },
    { .kind = TRACE_OP_GATHER, .root = 1, .bytes = 700, .recv_bytes = root ? 700 : 0 },
    { .kind = TRACE_OP_GATHERV,
      .root = 1,
      .bytes = mine,
      .recv_counts = root ? counts : NULL,
      .n_recv_counts = root ? 3 : 0 },
    { .kind = TRACE_OP_SCATTER, .root = 1, .bytes = root ? 700 : 0, .recv_bytes = 700 },
    { .kind = TRACE_OP_SCATTERV,
      .root = 1,
      .recv_bytes = mine,
      .counts = root ? counts : NULL,
      .n_counts = root ? 3 : 0 },
    { .kind = TRACE_OP_ALLGATHER, .bytes = 700, .recv_bytes = 700 },
    { .kind = TRACE_OP_ALLGATHERV, .bytes = mine, .recv_counts = counts, .n_recv_counts = 3 },
    { .kind = TRACE_OP_ALLTOALL, .bytes = 700, .recv_bytes = 700 },
    { .kind = TRACE_OP_ALLTOALLV,
      .counts = own,
      .n_counts = 3,
      .recv_counts = own,
      .n_recv_counts = 3 },
    { .kind = TRACE_OP_REDUCE_SCATTER, .recv_counts = counts, .n_recv_counts = 3 },
    { .kind = TRACE_OP_NEIGHBOR_ALLTOALL,
      .values = &next[rank],
      .values2 = &previous[rank],
      .n_values = 1,
      .counts = own,
      .n_counts = 1,
      .recv_counts = own,
      .n_recv_counts = 1 },
    { .kind = TRACE_OP_ALLREDUCE, .bytes = 90, .nonblocking = true, .request = 5 },
    { .kind = TRACE_OP_COMM_SPLIT, .new_comm = 10, .color = (int32_t) rank % 2, .key = 0 },
    { .kind = TRACE_OP_ALLTOALL, .comm = 10, .bytes = 44, .recv_bytes = 44 },
    { .kind = TRACE_OP_TEST, .requests = one, .n_requests = 1 },
    { .kind = TRACE_OP_WAIT, .requests = one, .n_requests = 1 },
    { .kind = TRACE_OP_FINALIZE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    WriteTestingOp op = { rank, all[i] };

    g_array_append_val (ops, op);
  }
}

static void
test_replay_of_every_kind (void)
{
  g_autoptr (GArray) ops = g_array_new (FALSE, FALSE, sizeof (WriteTestingOp));
  g_autoptr (Trace) trace = NULL;
  double seconds;

  if (!has_simgrid ())
    return;
  for (uint32_t rank = 0; rank < 3; rank++)
    add_every_kind (ops, rank);
  trace = write_testing_program (3, (const WriteTestingOp *) (const void *) ops->data, ops->len);
  seconds = check_replay (trace, FALSE);
  /* 1 ms of work, and messages that take less. */
  g_assert_cmpfloat (seconds, >, 1e-3);
  g_assert_cmpfloat (seconds, <, 2e-3);
}

/* A rank that only works takes, on a host of 1 Gflop/s, what it took. */
static void
test_replay_keeps_time (void)
{
  static const WriteTestingOp ops[] = {
    { 0, { .kind = TRACE_OP_COMPUTE, .gap_ps = 250000000000 } },
    { 0, { .kind = TRACE_OP_COMPUTE, .flops = 5e8 } },
  };
  g_autoptr (Trace) trace = NULL;

  if (!has_simgrid ())
    return;
  trace = write_testing_program (1, ops, G_N_ELEMENTS (ops));
  g_assert_cmpfloat_with_epsilon (check_replay (trace, TRUE), 0.75, 1e-9);
}

/* Of recorded programs the messages of their own stay on their channels. */
static void
test_recorded (gconstpointer name)
{
  g_autoptr (TraceTestingFolder) folder = NULL, other = trace_testing_folder ();
  g_autofree char *path = trace_testing_recorded (name, &folder);
  g_autoptr (Trace) trace = path == NULL ? NULL : trace_testing_open (path);

  if (trace != NULL) {
    g_autofree char *text = write_testing_text (&trace_writer_ti, trace, NULL);
    g_autofree char *written_path = trace_testing_write_text (other, "t.ti", text);
    g_autoptr (Trace) written = trace_testing_open (written_path);

    write_testing_same_channels (trace, written);
    write_testing_same (&trace_writer_ti, written, text);
    if (has_simgrid ())
      check_replay (trace, TRUE);
  }
}

int
main (int argc, char **argv)
{
  static const char *const sets[] = {
    "recorded/npb-is-A-16",
    "recorded/npb-cg-A-16",
    "recorded/npb-ft-W-16",
    "dumpi/gen-lulesh-27/dumpi-2026.11.20.12.00.06.meta",
    "dumpi/amg-27-hopper/dumpi-2014.03.03.14.55.00.meta",
    "ti/gen-lulesh-27/lulesh-27.txt",
    "ti/gen-nas-is-S-16/nas-is-S-16.txt",
  };

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/ti-write/messages", test_messages);
  g_test_add_func ("/traces/ti-write/collectives", test_collectives);
  g_test_add_func ("/traces/ti-write/expanded", test_expanded);
  g_test_add_func ("/traces/ti-write/waits-for-some", test_waits_for_some);
  g_test_add_func ("/traces/ti-write/losses-are-told", test_losses_are_told);
  g_test_add_func ("/traces/ti-write/long-collectives", test_long_collectives);
  g_test_add_func ("/traces/ti-write/refused", test_refused);
  g_test_add_func ("/traces/ti-write/graph-is-refused", test_graph_is_refused);
  g_test_add_func ("/traces/ti-write/replay-keeps-time", test_replay_keeps_time);
  g_test_add_func ("/traces/ti-write/replay-of-every-kind", test_replay_of_every_kind);
  for (guint i = 0; i < G_N_ELEMENTS (sets); i++) {
    g_autofree char *path = g_strconcat ("/traces/ti-write/recorded/", sets[i], NULL);

    g_test_add_data_func (path, sets[i], test_recorded);
  }
  return g_test_run ();
}
