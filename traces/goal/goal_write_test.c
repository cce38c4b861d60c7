/* goal_write_test.c - traces written as GOAL say the same as the traces.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Small programs against schedules worked out by hand; recorded ones against
 * what they must have in common with their schedule. */
#include "traces/write_testing.h"

#include <string.h>

static void
check (uint32_t n_ranks, const WriteTestingOp *ops, uint32_t n_ops, const char *expected)
{
  g_autoptr (Trace) trace = write_testing_program (n_ranks, ops, n_ops);

  write_testing_same (&trace_writer_goal, trace, expected);
}

static void
test_blocking (void)
{
  static const WriteTestingOp ops[] = {
    { 0, { .kind = TRACE_OP_INIT } },
    { 0, { .kind = TRACE_OP_COMPUTE, .gap_ps = 5000 } },
    { 0, { .kind = TRACE_OP_SEND, .peer = 1, .tag = 3, .bytes = 100 } },
    { 0, { .kind = TRACE_OP_SEND, .peer = TRACE_PROC_NULL, .tag = 3, .bytes = 100 } },
    { 0,
      { .kind = TRACE_OP_SENDRECV,
        .peer = 1,
        .bytes = 8,
        .recv_peer = TRACE_ANY_SOURCE,
        .recv_tag = TRACE_ANY_TAG,
        .recv_bytes = 16 } },
    { 0, { .kind = TRACE_OP_COMPUTE, .gap_ps = 7000 } },
    { 1, { .kind = TRACE_OP_RECV, .peer = 0, .tag = 3, .bytes = 200 } },
  };

  check (2, ops, G_N_ELEMENTS (ops),
         "num_ranks 2\n\n"
         "rank 0 {\n"
         "l1: calc 5\n"
         "l2: send 100b to 1 tag 3\n"
         "l2 requires l1\n"
         "l3: recv 16b from -1 tag -1\n"
         "l3 requires l2\n"
         "l4: send 8b to 1\n"
         "l4 irequires l3\n"
         "l5: calc 7\n"
         "l5 requires l3\n"
         "l5 requires l4\n"
         "}\n\n"
         "rank 1 {\n"
         "l1: recv 200b from 0 tag 3\n"
         "}\n");
}

/* What is posted lets the program go on; a wait holds it; two starts of one
 * handle are taken in their order, and a test counts for what it saw. */
static void
test_nonblocking (void)
{
  static const uint32_t shared[] = { 9 }, both[] = { 9, 8 }, second[] = { 1 };
  static const WriteTestingOp ops[] = {
    { 0, { .kind = TRACE_OP_IRECV, .peer = 1, .tag = 1, .bytes = 10, .request = 9 } },
    { 0, { .kind = TRACE_OP_ISEND, .peer = 1, .tag = 2, .bytes = 20, .request = 9 } },
    { 0, { .kind = TRACE_OP_ISEND, .peer = 1, .tag = 3, .bytes = 30, .request = 8 } },
    { 0, { .kind = TRACE_OP_COMPUTE, .gap_ps = 1000 } },
    { 0, { .kind = TRACE_OP_WAIT, .requests = shared, .n_requests = 1 } },
    { 0, { .kind = TRACE_OP_COMPUTE, .gap_ps = 2000 } },
    { 0, { .kind = TRACE_OP_TEST, .requests = both, .n_requests = 2 } },
    { 0,
      { .kind = TRACE_OP_TEST,
        .requests = both,
        .n_requests = 2,
        .completed = second,
        .n_completed = 1 } },
    { 0, { .kind = TRACE_OP_COMPUTE, .gap_ps = 3000 } },
    { 0, { .kind = TRACE_OP_WAIT_OUTSTANDING } },
    { 0, { .kind = TRACE_OP_COMPUTE, .gap_ps = 4000 } },
  };

  check (2, ops, G_N_ELEMENTS (ops),
         "num_ranks 2\n\n"
         "rank 0 {\n"
         "l1: recv 10b from 1 tag 1\n"
         "l2: send 20b to 1 tag 2\n"
         "l2 irequires l1\n"
         "l3: send 30b to 1 tag 3\n"
         "l3 irequires l2\n"
         "l4: calc 1\n"
         "l4 irequires l3\n"
         "l5: calc 2\n"
         "l5 requires l1\n"
         "l5 requires l4\n"
         "l6: calc 3\n"
         "l6 requires l3\n"
         "l6 requires l5\n"
         "l7: calc 4\n"
         "l7 requires l2\n"
         "l7 requires l6\n"
         "}\n\n"
         "rank 1 {\n"
         "}\n");
}

static void
test_persistent (void)
{
  static const uint32_t request[] = { 5 };
  static const WriteTestingOp ops[] = {
    { 0, { .kind = TRACE_OP_SEND_INIT, .peer = 1, .tag = 4, .bytes = 7, .request = 5 } },
    { 0, { .kind = TRACE_OP_START, .requests = request, .n_requests = 1 } },
    { 0, { .kind = TRACE_OP_WAIT, .requests = request, .n_requests = 1 } },
    { 0, { .kind = TRACE_OP_START, .requests = request, .n_requests = 1 } },
    { 0, { .kind = TRACE_OP_WAIT, .requests = request, .n_requests = 1 } },
    { 0, { .kind = TRACE_OP_REQUEST_FREE, .requests = request, .n_requests = 1 } },
    { 0, { .kind = TRACE_OP_START, .requests = request, .n_requests = 1 } },
  };

  check (1, ops, 0, "num_ranks 1\n\nrank 0 {\n}\n");
  check (2, ops, G_N_ELEMENTS (ops),
         "num_ranks 2\n\n"
         "rank 0 {\n"
         "l1: send 7b to 1 tag 4\n"
         "l2: send 7b to 1 tag 4\n"
         "l2 requires l1\n"
         "}\n\n"
         "rank 1 {\n"
         "}\n");
}

static void
test_cancelled_receive (void)
{
  static const uint32_t request[] = { 5 };
  static const WriteTestingOp ops[] = {
    { 0, { .kind = TRACE_OP_IRECV, .peer = 0, .tag = 1, .bytes = 1, .request = 4 } },
    { 0, { .kind = TRACE_OP_IRECV, .peer = 0, .tag = 4, .bytes = 7, .request = 5 } },
    { 0, { .kind = TRACE_OP_CANCEL, .requests = request, .n_requests = 1 } },
    { 0, { .kind = TRACE_OP_WAIT, .requests = request, .n_requests = 1 } },
    { 0, { .kind = TRACE_OP_COMPUTE, .gap_ps = 1000 } },
  };
  g_autoptr (Trace) trace = write_testing_program (1, ops, G_N_ELEMENTS (ops));

  write_testing_same (&trace_writer_goal, trace,
                      "num_ranks 1\n\nrank 0 {\nl1: recv 1b from 0 tag 1\nl2: calc 1\n"
                      "l2 irequires l1\n}\n");
  g_assert_true (trace_testing_warned (trace, "cancelled"));
}

/* 0.6 + 0.6 + 0.2 + 0.3 ns: 1, then 0.2 are left, 0.4, 0.7 make another. */
static void
test_remainders_are_kept (void)
{
  static const WriteTestingOp ops[] = {
    { 0, { .kind = TRACE_OP_COMPUTE, .gap_ps = 600 } },
    { 0, { .kind = TRACE_OP_COMPUTE, .gap_ps = 600 } },
    { 0, { .kind = TRACE_OP_COMPUTE, .gap_ps = 200 } },
    { 0, { .kind = TRACE_OP_COMPUTE, .gap_ps = 300 } },
    { 0, { .kind = TRACE_OP_COMPUTE, .flops = 3 } },
  };

  check (1, ops, G_N_ELEMENTS (ops),
         "num_ranks 1\n\nrank 0 {\nl1: calc 1\nl2: calc 1\nl2 requires l1\nl3: calc 3\n"
         "l3 requires l2\n}\n");
}

/* Ranks 0, 2 and 1, 3 are split off in turn, the higher first; the same tag in
 * both worlds is two tags. */
static const WriteTestingOp split_ops[] = {
#define SPLIT(rank)                                                                          \
  {                                                                                          \
    rank,                                                                                    \
    {                                                                                        \
      .kind = TRACE_OP_COMM_SPLIT, .new_comm = 10, .color = (rank) % 2, .key = -(int) (rank) \
    }                                                                                        \
  }
  { 0, { .kind = TRACE_OP_SEND, .peer = 1, .tag = 7, .bytes = 1 } },
  { 1, { .kind = TRACE_OP_RECV, .peer = 0, .tag = 7, .bytes = 1 } },
  SPLIT (0),
  SPLIT (1),
  SPLIT (2),
  SPLIT (3),
  { 0, { .kind = TRACE_OP_SEND, .comm = 10, .peer = 0, .tag = 7, .bytes = 2 } },
  { 2, { .kind = TRACE_OP_RECV, .comm = 10, .peer = 1, .tag = 7, .bytes = 2 } },
  { 1, { .kind = TRACE_OP_BCAST, .comm = 10, .root = 1, .bytes = 50 } },
  { 3, { .kind = TRACE_OP_BCAST, .comm = 10, .root = 1, .bytes = 50 } },
};

static void
test_communicators (void)
{
  /* The world keeps tag 7; after the highest come its namesake, 8, and the
   * collectives: 9 the world's, 10 and 11 those of the two new ones. */
  check (4, split_ops, G_N_ELEMENTS (split_ops),
         "num_ranks 4\n\n"
         "rank 0 {\nl1: send 1b to 1 tag 7\nl2: send 2b to 2 tag 8\nl2 requires l1\n}\n\n"
         "rank 1 {\nl1: recv 1b from 0 tag 7\nl2: send 50b to 3 tag 11\nl2 requires l1\n}\n\n"
         "rank 2 {\nl1: recv 2b from 0 tag 8\n}\n\n"
         "rank 3 {\nl1: recv 50b from 1 tag 11\n}\n");
}

/* Beside the program until it waits. */
static void
test_nonblocking_collective (void)
{
  static const uint32_t request[] = { 5 };
#define RANK(r)                                                               \
  { r, { .kind = TRACE_OP_COMPUTE, .gap_ps = 1000 } },                        \
      { r, { .kind = TRACE_OP_BARRIER, .nonblocking = true, .request = 5 } }, \
      { r, { .kind = TRACE_OP_COMPUTE, .gap_ps = 2000 } },                    \
      { r, { .kind = TRACE_OP_WAIT, .requests = request, .n_requests = 1 } }, \
  {                                                                           \
    r,                                                                        \
    {                                                                         \
      .kind = TRACE_OP_COMPUTE, .gap_ps = 3000                                \
    }                                                                         \
  }
  static const WriteTestingOp ops[] = { RANK (0), RANK (1) };
  g_autoptr (Trace) trace = write_testing_program (2, ops, G_N_ELEMENTS (ops));
  g_autofree char *text = write_testing_text (&trace_writer_goal, trace, NULL);

  g_assert_true (g_str_has_prefix (text, "num_ranks 2\n\n"
                                         "rank 0 {\n"
                                         "l1: calc 1\n"
                                         "l2: recv 0b from 1\n"
                                         "l2 requires l1\n"
                                         "l3: send 0b to 1\n"
                                         "l3 irequires l2\n"
                                         "l4: calc 0\n"
                                         "l4 requires l2\n"
                                         "l4 requires l3\n"
                                         "l5: calc 2\n"
                                         "l5 requires l1\n"
                                         "l6: calc 3\n"
                                         "l6 requires l4\n"
                                         "l6 requires l5\n"
                                         "}\n"));
}

/* Nothing but the tag keeps messages apart in a schedule. */
static void
test_any_tag_is_told (void)
{
  static const WriteTestingOp ops[] = {
    { 0, { .kind = TRACE_OP_RECV, .peer = 1, .tag = TRACE_ANY_TAG, .bytes = 1 } },
    { 1, { .kind = TRACE_OP_SEND, .peer = 0, .tag = 4, .bytes = 1 } },
    { 0, { .kind = TRACE_OP_BARRIER } },
    { 1, { .kind = TRACE_OP_BARRIER } },
  };

  write_testing_told (&trace_writer_goal, ops, 2, "any tag", FALSE);
  write_testing_told (&trace_writer_goal, ops, 4, "any tag", TRUE);
}

/* Messages to a rank in two communicators, of which one takes any tag. */
static void
test_any_tag_of_communicators_is_told (void)
{
  static const WriteTestingOp ops[] = {
    { 0, { .kind = TRACE_OP_COMM_DUP, .new_comm = 10 } },
    { 1, { .kind = TRACE_OP_COMM_DUP, .new_comm = 10 } },
    { 0, { .kind = TRACE_OP_RECV, .peer = 1, .tag = TRACE_ANY_TAG, .bytes = 1 } },
    { 1, { .kind = TRACE_OP_SEND, .peer = 0, .tag = 4, .bytes = 1 } },
    { 0, { .kind = TRACE_OP_RECV, .comm = 10, .peer = 1, .tag = 4, .bytes = 1 } },
    { 1, { .kind = TRACE_OP_SEND, .comm = 10, .peer = 0, .tag = 4, .bytes = 1 } },
  };

  write_testing_told (&trace_writer_goal, ops, 4, "of other communicators", FALSE);
  write_testing_told (&trace_writer_goal, ops, 6, "of other communicators", TRUE);
}

/* The simulator would take the machine's rate. */
static void
test_counted_work_is_told (void)
{
  for (int flops = 0; flops <= 3; flops += 3) {
    WriteTestingOp op = { 0, { .kind = TRACE_OP_COMPUTE, .gap_ps = 9000, .flops = flops } };

    write_testing_told (&trace_writer_goal, &op, 1, "counted work", flops > 0);
  }
}

static void
test_refused (void)
{
  static const struct {
    WriteTestingOp op;
    const char *part;
  } bad[] = {
    { { 0, { .kind = TRACE_OP_PUT, .name = "MPI_Rput" } }, "rank 0: MPI_Rput cannot be expressed" },
    { { 0, { .kind = TRACE_OP_WIN_FENCE, .name = "MPI_Win_fence" } }, "MPI_Win_fence" },
    { { 0, { .kind = TRACE_OP_UNSUPPORTED, .name = "MPI_Comm_spawn" } }, "MPI_Comm_spawn" },
    { { 0, { .kind = TRACE_OP_SEND, .peer = 2 } }, "send: rank 2 among 2" },
    { { 0, { .kind = TRACE_OP_SEND, .peer = TRACE_ANY_SOURCE } }, "send: rank -1 among 2" },
    { { 0, { .kind = TRACE_OP_SEND, .peer = 1, .tag = -1 } }, "send with tag -1" },
    { { 0, { .kind = TRACE_OP_BCAST, .root = 7 } }, "bcast with rank 7 among 2" },
    { { 0, { .kind = TRACE_OP_RECV, .comm = 44 } }, "recv on unknown communicator 44" },
    { { 0, { .kind = TRACE_OP_COMM_DUP, .new_comm = 44 } }, "not all ranks come" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    write_testing_refused (&trace_writer_goal, &bad[i].op, bad[i].part);
}

/* -- schedules ------------------------------------------------------------------ */

static Trace *
open_text (const char *folder, const char *text)
{
  g_autofree char *path = trace_testing_write_text (folder, "t.goal", text);

  return trace_testing_open (path);
}

/* A schedule comes back as it is: times, processors, dependencies, wildcards. */
static void
test_schedule_comes_back (void)
{
  static const char text[] = "num_ranks 2\n\n"
                             "rank 0 {\n"
                             "l1: calc 7 cpu 3\n"
                             "l2: send 5b to 1 tag 9\n"
                             "l3: recv 6b from -1 tag -1 cpu 1\n"
                             "l3 requires l1\n"
                             "l3 irequires l2\n"
                             "l4: calc 0\n"
                             "l4 requires l1\n"
                             "l4 requires l3\n"
                             "}\n\n"
                             "rank 1 {\n"
                             "}\n";
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autoptr (Trace) trace = open_text (folder, text);

  write_testing_same (&trace_writer_goal, trace, text);
}

/* -- recorded programs ------------------------------------------------------------- */

/* One operation of a schedule that is played. */
typedef struct {
  TraceOp op;
  uint32_t *after; /* [n_after + n_after_start] */
  uint32_t waits;  /* how many of them have not come yet */
  gboolean begun, ended;
  GArray *ends, *starts; /* (element-type uint32_t) those that wait for it; NULL: none */
} Played;

typedef struct {
  uint32_t rank, index;
} Which;

typedef struct {
  uint32_t n_ranks;
  GArray **ops;      /* [n_ranks] (element-type Played) */
  GHashTable *sent;  /* "from to tag" -> number of messages on their way */
  GHashTable *asked; /* "from to tag" -> GQueue of Which */
  GQueue ready;      /* of Which */
  uint64_t n_ended;
} Schedule;

static Played *
played (const Schedule *schedule, Which which)
{
  return &g_array_index (schedule->ops[which.rank], Played, which.index);
}

static void
add_waiting (GArray **list, uint32_t index)
{
  if (*list == NULL)
    *list = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  g_array_append_val (*list, index);
}

static void
schedule_read (Schedule *schedule, Trace *trace, uint32_t rank)
{
  g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, NULL);
  GArray *ops = schedule->ops[rank] = g_array_new (FALSE, TRUE, sizeof (Played));
  TraceOp op;

  while (trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION) {
    Played it = { .op = op, .waits = op.n_after + op.n_after_start };
    uint32_t index = ops->len;

    for (uint32_t i = 0; i < op.n_after; i++)
      add_waiting (&g_array_index (ops, Played, op.after[i]).ends, index);
    for (uint32_t i = 0; i < op.n_after_start; i++)
      add_waiting (&g_array_index (ops, Played, op.after_start[i]).starts, index);
    g_array_append_val (ops, it);
    if (it.waits == 0)
      g_queue_push_tail (&schedule->ready, g_memdup2 (&(Which){ rank, index }, sizeof (Which)));
  }
}

static void
release (Schedule *schedule, uint32_t rank, const GArray *list)
{
  for (guint i = 0; list != NULL && i < list->len; i++) {
    Which which = { rank, g_array_index (list, uint32_t, i) };

    if (--played (schedule, which)->waits == 0)
      g_queue_push_tail (&schedule->ready, g_memdup2 (&which, sizeof which));
  }
}

static void
finish (Schedule *schedule, Which which)
{
  Played *it = played (schedule, which);

  g_assert_false (it->ended);
  it->ended = TRUE;
  schedule->n_ended++;
  release (schedule, which.rank, it->ends);
}

static GQueue *
queue_at (GHashTable *table, uint32_t from, uint32_t to, int32_t tag)
{
  char *channel = g_strdup_printf ("%u %u %d", from, to, tag);
  GQueue *queue = g_hash_table_lookup (table, channel);

  if (queue != NULL) {
    g_free (channel);
    return queue;
  }
  queue = g_queue_new ();
  g_hash_table_insert (table, channel, queue);
  return queue;
}

/* A send ends when its receive has been posted, as a long one would: stricter
 * than any MPI, so that what gets through does so everywhere. */
static void
meet (Schedule *schedule, Which which)
{
  const TraceOp *op = &played (schedule, which)->op;
  gboolean sends = op->kind == TRACE_OP_SEND;
  uint32_t from = sends ? which.rank : (uint32_t) op->peer;
  uint32_t to = sends ? (uint32_t) op->peer : which.rank;
  GQueue *other = queue_at (sends ? schedule->asked : schedule->sent, from, to, op->tag);
  Which *match = g_queue_pop_head (other);

  g_assert_cmpint (op->peer, >=, 0);
  if (match == NULL) {
    g_queue_push_tail (queue_at (sends ? schedule->sent : schedule->asked, from, to, op->tag),
                       g_memdup2 (&which, sizeof which));
    return;
  }
  if (sends)
    g_assert_cmpuint (op->bytes, <=, played (schedule, *match)->op.bytes);
  finish (schedule, which);
  finish (schedule, *match);
  g_free (match);
}

static void
schedule_play (Schedule *schedule)
{
  Which *which;

  while ((which = g_queue_pop_head (&schedule->ready)) != NULL) {
    Played *it = played (schedule, *which);

    it->begun = TRUE;
    release (schedule, which->rank, it->starts);
    if (it->op.kind == TRACE_OP_COMPUTE)
      finish (schedule, *which);
    else
      meet (schedule, *which);
    g_free (which);
  }
}

static void
queue_free (gpointer queue)
{
  g_queue_free_full (queue, g_free);
}

/* Every statement begins and ends, and no message is left. */
static void
check_plays (Trace *trace)
{
  Schedule schedule = {
    .n_ranks = trace_ranks (trace),
    .ops = g_new (GArray *, trace_ranks (trace)),
    .sent = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, queue_free),
    .asked = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, queue_free),
    .ready = G_QUEUE_INIT,
  };
  uint64_t n_ops = 0;

  for (uint32_t rank = 0; rank < schedule.n_ranks; rank++) {
    schedule_read (&schedule, trace, rank);
    n_ops += schedule.ops[rank]->len;
  }
  schedule_play (&schedule);
  g_assert_cmpuint (schedule.n_ended, ==, n_ops);
  for (uint32_t rank = 0; rank < schedule.n_ranks; rank++) {
    for (guint i = 0; i < schedule.ops[rank]->len; i++) {
      Played *it = &g_array_index (schedule.ops[rank], Played, i);

      g_clear_pointer (&it->ends, g_array_unref);
      g_clear_pointer (&it->starts, g_array_unref);
    }
    g_array_unref (schedule.ops[rank]);
  }
  g_free (schedule.ops);
  g_hash_table_unref (schedule.sent);
  g_hash_table_unref (schedule.asked);
}

static int64_t
computed_ps (Trace *trace)
{
  int64_t ps = 0;

  for (uint32_t rank = 0; rank < trace_ranks (trace); rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, NULL);
    TraceOp op;

    while (trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION)
      if (op.kind == TRACE_OP_COMPUTE)
        ps += op.gap_ps + (int64_t) (op.flops * 1000);
  }
  return ps;
}

typedef struct {
  const char *name;
  gboolean plays; /* without wildcards, and whole: all messages meet */
} Recorded;

/* The schedule has the program's channels, its time to half a ns for each
 * rank, and is a schedule that comes back. */
static void
test_recorded (gconstpointer data)
{
  const Recorded *recorded = data;
  g_autoptr (TraceTestingFolder) folder = NULL, other = trace_testing_folder ();
  g_autofree char *path = trace_testing_recorded (recorded->name, &folder);
  g_autoptr (Trace) trace = path == NULL ? NULL : trace_testing_open (path);

  if (trace != NULL) {
    g_autofree char *text = write_testing_text (&trace_writer_goal, trace, NULL);
    g_autoptr (Trace) schedule = open_text (other, text);
    int64_t off_ps = computed_ps (trace) - computed_ps (schedule);

    write_testing_same_channels (trace, schedule);
    write_testing_same (&trace_writer_goal, schedule, text);
    g_assert_cmpint (ABS (off_ps), <=, 500 * (int64_t) trace_ranks (trace));
    if (recorded->plays)
      check_plays (schedule);
  }
}

static const Recorded sets[] = {
  { "recorded/npb-is-A-16", TRUE },
  { "recorded/npb-cg-A-16", TRUE },
  { "recorded/npb-mg-A-16", FALSE },
  { "recorded/npb-ep-A-16", TRUE },
  { "recorded/npb-ft-W-16", TRUE },
  { "recorded/comd-256-ti", TRUE },
  { "dumpi/gen-lulesh-27/dumpi-2026.11.20.12.00.06.meta", TRUE },
  { "dumpi/amg-27-hopper/dumpi-2014.03.03.14.55.00.meta", TRUE },
  { "dumpi/sst-testtrace-4/testtrace.meta", FALSE },
  { "ti/gen-lulesh-27/lulesh-27.txt", TRUE },
  { "ti/gen-nas-is-S-16/nas-is-S-16.txt", TRUE },
};

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/goal-write/blocking", test_blocking);
  g_test_add_func ("/traces/goal-write/nonblocking", test_nonblocking);
  g_test_add_func ("/traces/goal-write/persistent", test_persistent);
  g_test_add_func ("/traces/goal-write/cancelled-receive", test_cancelled_receive);
  g_test_add_func ("/traces/goal-write/remainders-are-kept", test_remainders_are_kept);
  g_test_add_func ("/traces/goal-write/communicators", test_communicators);
  g_test_add_func ("/traces/goal-write/nonblocking-collective", test_nonblocking_collective);
  g_test_add_func ("/traces/goal-write/any-tag-is-told", test_any_tag_is_told);
  g_test_add_func ("/traces/goal-write/any-tag-of-communicators-is-told",
                   test_any_tag_of_communicators_is_told);
  g_test_add_func ("/traces/goal-write/counted-work-is-told", test_counted_work_is_told);
  g_test_add_func ("/traces/goal-write/refused", test_refused);
  g_test_add_func ("/traces/goal-write/schedule-comes-back", test_schedule_comes_back);
  for (guint i = 0; i < G_N_ELEMENTS (sets); i++) {
    g_autofree char *path = g_strconcat ("/traces/goal-write/recorded/", sets[i].name, NULL);

    g_test_add_data_func (path, &sets[i], test_recorded);
  }
  return g_test_run ();
}
