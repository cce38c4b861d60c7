/* expand_test.c - collectives as messages do what the collective is for.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The messages of all ranks are played; a message carries all that its
 * sender knows when it is sent.  In the end everybody must know what MPI
 * says that the operation brings them, and no message may be left. */
#include "traces/lower.h"

#include "mpi/rank_group.h"

#include <string.h>

enum { MAX_N = 17 };

typedef struct {
  uint32_t from, to, knows;
  uint64_t bytes;
} Message;

typedef struct {
  uint32_t n;
  GArray *steps[MAX_N];
  guint next[MAX_N];      /* step */
  guint group_end[MAX_N]; /* steps that have been posted */
  uint32_t knows[MAX_N];  /* set of the ranks whose data it has */
  uint64_t got[MAX_N];    /* bytes */
  GArray *flying;         /* (element-type Message), the oldest first */
} Play;

static void
post_group (Play *play, uint32_t rank)
{
  guint at = play->next[rank];

  do {
    const TraceStep *step = &g_array_index (play->steps[rank], TraceStep, at);
    Message message = { rank, step->send_to, play->knows[rank], step->send_bytes };

    if (step->send_to != TRACE_NO_MEMBER)
      g_array_append_val (play->flying, message);
  } while (g_array_index (play->steps[rank], TraceStep, at++).with_next);
  play->group_end[rank] = at;
}

static gboolean
receive (Play *play, uint32_t rank, const TraceStep *step)
{
  for (guint i = 0; i < play->flying->len; i++) {
    Message message = g_array_index (play->flying, Message, i);

    if (message.from != step->recv_from || message.to != rank)
      continue;
    g_assert_cmpuint (message.bytes, ==, step->recv_bytes);
    play->knows[rank] |= message.knows;
    play->got[rank] += message.bytes;
    g_array_remove_index (play->flying, i);
    return TRUE;
  }
  return FALSE;
}

/* As far as the rank gets. */
static gboolean
play_rank (Play *play, uint32_t rank)
{
  gboolean moved = FALSE;

  while (play->next[rank] < play->steps[rank]->len) {
    const TraceStep *step = &g_array_index (play->steps[rank], TraceStep, play->next[rank]);

    if (play->group_end[rank] <= play->next[rank])
      post_group (play, rank);
    if (step->recv_from != TRACE_NO_MEMBER && !receive (play, rank, step))
      return moved;
    play->next[rank]++;
    moved = TRUE;
  }
  return moved;
}

static void
play_begin (Play *play, uint32_t n)
{
  *play = (Play){ .n = n, .flying = g_array_new (FALSE, FALSE, sizeof (Message)) };
  for (uint32_t rank = 0; rank < n; rank++)
    play->knows[rank] = 1u << rank;
}

static void
play_all (Play *play)
{
  gboolean moved = TRUE;

  while (moved) {
    moved = FALSE;
    for (uint32_t rank = 0; rank < play->n; rank++)
      moved |= play_rank (play, rank);
  }
  for (uint32_t rank = 0; rank < play->n; rank++) {
    g_assert_cmpuint (play->next[rank], ==, play->steps[rank]->len);
    g_array_unref (play->steps[rank]);
  }
  g_assert_cmpuint (play->flying->len, ==, 0);
  g_array_unref (play->flying);
}

/* What a rank has to know in the end. */
typedef enum { OF_ALL, OF_ROOT, ALL_AT_ROOT, OF_LOWER } Knowledge;

typedef struct {
  TraceOpKind kind;
  Knowledge knowledge;
} Case;

static const Case cases[] = {
  { TRACE_OP_BARRIER, OF_ALL },        { TRACE_OP_BCAST, OF_ROOT },
  { TRACE_OP_GATHER, ALL_AT_ROOT },    { TRACE_OP_GATHERV, ALL_AT_ROOT },
  { TRACE_OP_SCATTER, OF_ROOT },       { TRACE_OP_SCATTERV, OF_ROOT },
  { TRACE_OP_ALLGATHER, OF_ALL },      { TRACE_OP_ALLGATHERV, OF_ALL },
  { TRACE_OP_ALLTOALL, OF_ALL },       { TRACE_OP_ALLTOALLV, OF_ALL },
  { TRACE_OP_REDUCE, ALL_AT_ROOT },    { TRACE_OP_ALLREDUCE, OF_ALL },
  { TRACE_OP_REDUCE_SCATTER, OF_ALL }, { TRACE_OP_SCAN, OF_LOWER },
  { TRACE_OP_EXSCAN, OF_LOWER },
};

static uint32_t
expected (const Case *c, uint32_t n, uint32_t rank, uint32_t root)
{
  switch (c->knowledge) {
  case OF_ALL: return (1u << n) - 1;
  case OF_ROOT: return (1u << rank) | (1u << root);
  case ALL_AT_ROOT: return rank == root ? (1u << n) - 1 : 0;
  case OF_LOWER: return (2u << rank) - 1;
  }
  g_assert_not_reached ();
}

static gboolean
has_lists (TraceOpKind kind, gboolean at_root)
{
  return kind == TRACE_OP_ALLGATHERV || kind == TRACE_OP_ALLTOALLV ||
         kind == TRACE_OP_REDUCE_SCATTER ||
         (at_root && (kind == TRACE_OP_GATHERV || kind == TRACE_OP_SCATTERV));
}

/* Blocks of different lengths where the kind has them: from a to b a length
 * that is the same seen from both. */
static uint64_t
length (const Case *c, uint32_t from, uint32_t to)
{
  switch (c->kind == TRACE_OP_ALLTOALLV                                        ? 2
          : c->kind == TRACE_OP_GATHERV || c->kind == TRACE_OP_ALLGATHERV      ? 1
          : c->kind == TRACE_OP_SCATTERV || c->kind == TRACE_OP_REDUCE_SCATTER ? 3
                                                                               : 0) {
  case 1: return 10 + from;
  case 2: return 100 * from + to + 1;
  case 3: return 10 + to;
  default: return 8;
  }
}

static GArray *
expand (const Case *c, uint32_t n, uint32_t rank, uint32_t root)
{
  uint64_t counts[MAX_N], recv_counts[MAX_N];
  gboolean lists = has_lists (c->kind, rank == root);
  gboolean own_for_all = c->kind == TRACE_OP_REDUCE_SCATTER;
  TraceOp op = { .kind = c->kind,
                 .root = (int32_t) root,
                 .bytes = length (c, rank, root),
                 .recv_bytes = length (c, root, rank) };
  GArray *steps;

  for (uint32_t i = 0; i < n; i++) {
    counts[i] = length (c, rank, i);
    recv_counts[i] = own_for_all ? length (c, rank, i) : length (c, i, rank);
  }
  if (lists && c->kind != TRACE_OP_GATHERV) {
    op.counts = counts;
    op.n_counts = n;
  }
  if (lists && c->kind != TRACE_OP_SCATTERV) {
    op.recv_counts = recv_counts;
    op.n_recv_counts = n;
  }
  steps = trace_expand (&op, n, rank, NULL);
  g_assert_nonnull (steps);
  return steps;
}

static void
test_everybody_knows (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (uint32_t n = 1; n <= MAX_N; n++)
      for (uint32_t root = 0; root < n; root += n / 3 + 1) {
        Play play;

        play_begin (&play, n);
        for (uint32_t rank = 0; rank < n; rank++)
          play.steps[rank] = expand (&cases[i], n, rank, root);
        play_all (&play);
        for (uint32_t rank = 0; rank < n; rank++) {
          uint32_t must = expected (&cases[i], n, rank, root);

          if ((play.knows[rank] & must) != must)
            g_error ("%s of %u ranks, root %u: rank %u lacks 0x%x", trace_op_name (cases[i].kind),
                     n, root, rank, must & ~play.knows[rank]);
        }
      }
}

/* What arrives adds up to what MPI says: 5 ranks, root 2, worked by hand. */
static void
test_bytes (void)
{
  static const struct {
    TraceOpKind kind;
    uint64_t got[5];
  } known[] = {
    { TRACE_OP_BCAST, { 8, 8, 0, 8, 8 } },
    { TRACE_OP_GATHER, { 0, 0, 32, 0, 0 } },
    { TRACE_OP_GATHERV, { 0, 0, 10 + 11 + 13 + 14, 0, 0 } },
    { TRACE_OP_SCATTERV, { 10, 11, 0, 13, 14 } },
    { TRACE_OP_ALLGATHER, { 32, 32, 32, 32, 32 } },
    { TRACE_OP_ALLGATHERV, { 50, 49, 48, 47, 46 } },
    { TRACE_OP_ALLTOALLV, { 1004, 908, 812, 716, 620 } },
    { TRACE_OP_REDUCE_SCATTER, { 40, 44, 48, 52, 56 } },
    { TRACE_OP_ALLREDUCE, { 24, 16, 16, 16, 8 } },
    { TRACE_OP_EXSCAN, { 0, 8, 16, 16, 24 } },
    { TRACE_OP_BARRIER, { 0 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++) {
    const Case c = { known[i].kind, OF_ALL };
    Play play;

    play_begin (&play, 5);
    for (uint32_t rank = 0; rank < 5; rank++)
      play.steps[rank] = expand (&c, 5, rank, 2);
    play_all (&play);
    for (uint32_t rank = 0; rank < 5; rank++)
      g_assert_cmpuint (play.got[rank], ==, known[i].got[rank]);
  }
}

/* A ring in which the lengths tell who sent what; one edge twice. */
static void
test_neighbors (void)
{
  Play play;

  play_begin (&play, 3);
  for (uint32_t rank = 0; rank < 3; rank++) {
    const int32_t to[] = { (int32_t) ((rank + 1) % 3), (int32_t) ((rank + 1) % 3), (int32_t) rank };
    const int32_t from[] = { (int32_t) ((rank + 2) % 3), (int32_t) ((rank + 2) % 3),
                             (int32_t) rank };
    const uint64_t sent[] = { 10 + rank, 20 + rank, 0 };
    const uint64_t received[] = { 10 + (rank + 2) % 3, 20 + (rank + 2) % 3, 0 };
    const TraceOp op = { .kind = TRACE_OP_NEIGHBOR_ALLTOALL,
                         .values = to,
                         .values2 = from,
                         .counts = sent,
                         .recv_counts = received,
                         .n_values = 3,
                         .n_counts = 3,
                         .n_recv_counts = 3 };

    play.steps[rank] = trace_expand (&op, 3, rank, NULL);
    g_assert_cmpuint (play.steps[rank]->len, ==, 6);
  }
  play_all (&play);
  g_assert_cmpuint (play.got[0], ==, 12 + 22);
}

static void
assert_bad (TraceOp op, const char *part)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (trace_expand (&op, 4, 1, &error));
  g_assert_error (error, TRACE_ERROR, TRACE_ERROR_RANGE);
  g_assert_nonnull (strstr (error->message, part));
}

static void
test_bad_operations (void)
{
  static const uint64_t counts[3] = { 1, 2, 3 };
  static const int32_t ranks[1] = { 4 };

  assert_bad ((TraceOp){ .kind = TRACE_OP_BCAST, .root = 4 }, "rank 4 among 4");
  assert_bad ((TraceOp){ .kind = TRACE_OP_REDUCE, .root = TRACE_NO_ROOT }, "rank -1 among 4");
  assert_bad ((TraceOp){ .kind = TRACE_OP_ALLGATHERV }, "0 counts among 4");
  assert_bad ((TraceOp){ .kind = TRACE_OP_SCATTERV, .root = 1, .counts = counts, .n_counts = 3 },
              "3 counts among 4");
  assert_bad (
      (TraceOp){
          .kind = TRACE_OP_NEIGHBOR_ALLTOALL, .values = ranks, .counts = counts, .n_counts = 1 },
      "rank 4 among 4");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/expand/everybody-knows", test_everybody_knows);
  g_test_add_func ("/traces/expand/bytes", test_bytes);
  g_test_add_func ("/traces/expand/neighbors", test_neighbors);
  g_test_add_func ("/traces/expand/bad-operations", test_bad_operations);
  return g_test_run ();
}
