/* pattern_testing.c - what a pattern sends, for its tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/patterns/pattern_testing.h"

#include "traces/patterns/pattern.h"

typedef void (*OpFunction) (void *data, uint32_t rank, const TraceOp *op);

static void
for_each_op (Trace *trace, OpFunction function, void *data)
{
  g_autoptr (GError) error = NULL;

  for (uint32_t rank = 0; rank < trace_ranks (trace); rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, &error);
    TraceNext next;
    TraceOp op;

    while ((next = trace_cursor_next (cursor, &op, &error)) == TRACE_NEXT_OPERATION)
      function (data, rank, &op);
    g_assert_no_error (error);
    g_assert_cmpint (next, ==, TRACE_NEXT_END);
  }
}

static void
add_message (PatternSums *sums, uint32_t source, uint32_t destination, uint64_t bytes)
{
  int64_t distance = (int64_t) source - destination;

  sums->n++;
  sums->bytes += bytes;
  sums->products += (uint64_t) source * destination;
  sums->squares += (uint64_t) (distance * distance);
}

typedef struct {
  PatternSums sums;
  GHashTable *open;     /* "source destination tag bytes" -> sends less receives */
  GHashTable *requests; /* "rank request", not waited for yet */
} Sends;

static void
count_message (GHashTable *open, uint32_t source, uint32_t destination, const TraceOp *op, int step)
{
  char *key =
      g_strdup_printf ("%u %u %d %" G_GUINT64_FORMAT, source, destination, op->tag, op->bytes);
  int n = GPOINTER_TO_INT (g_hash_table_lookup (open, key)) + step;

  if (n == 0) {
    g_hash_table_remove (open, key);
    g_free (key);
  } else
    g_hash_table_insert (open, key, GINT_TO_POINTER (n));
}

static void
start_request (GHashTable *requests, uint32_t rank, uint32_t request)
{
  g_assert_cmpuint (request, >=, PATTERN_FIRST_REQUEST);
  g_assert_true (g_hash_table_add (requests, g_strdup_printf ("%u %u", rank, request)));
}

static void
end_requests (GHashTable *requests, uint32_t rank, const TraceOp *op)
{
  for (uint32_t i = 0; i < op->n_requests; i++) {
    g_autofree char *key = g_strdup_printf ("%u %u", rank, op->requests[i]);

    g_assert_true (g_hash_table_remove (requests, key));
  }
}

static void
look_at_send (void *data, uint32_t rank, const TraceOp *op)
{
  Sends *sends = data;

  if (op->kind == TRACE_OP_ISEND || op->kind == TRACE_OP_IRECV)
    start_request (sends->requests, rank, op->request);
  if (op->kind == TRACE_OP_WAIT)
    end_requests (sends->requests, rank, op);
  if (op->kind == TRACE_OP_ISEND || op->kind == TRACE_OP_SEND) {
    g_assert_cmpuint (op->comm, ==, TRACE_COMM_WORLD);
    count_message (sends->open, rank, (uint32_t) op->peer, op, 1);
    add_message (&sends->sums, rank, (uint32_t) op->peer, op->bytes);
  }
  if (op->kind == TRACE_OP_IRECV || op->kind == TRACE_OP_RECV)
    count_message (sends->open, (uint32_t) op->peer, rank, op, -1);
}

PatternSums
pattern_testing_sends (const char *spec)
{
  g_autoptr (Trace) trace = trace_testing_open (spec);
  Sends sends = {
    .open = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
    .requests = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
  };

  for_each_op (trace, look_at_send, &sends);
  g_assert_cmpuint (g_hash_table_size (sends.open), ==, 0);
  g_assert_cmpuint (g_hash_table_size (sends.requests), ==, 0);
  g_hash_table_unref (sends.open);
  g_hash_table_unref (sends.requests);
  return sends.sums;
}

/* What a rank does on one communicator. */
typedef struct {
  uint32_t rank;
  int32_t key;
  uint64_t calls, bytes;
} Member;

typedef struct {
  GHashTable *groups; /* "handle colour" -> (element-type Member), by rank */
} Alltoalls;

static Member *
add_member (Alltoalls *all, uint32_t rank, const TraceOp *op)
{
  char *name = g_strdup_printf ("%u %d", op->new_comm, op->color);
  GArray *members = g_hash_table_lookup (all->groups, name);
  Member member = { .rank = rank, .key = op->key };

  if (members == NULL) {
    members = g_array_new (FALSE, FALSE, sizeof (Member));
    g_hash_table_insert (all->groups, g_strdup (name), members);
  }
  g_free (name);
  g_array_append_val (members, member);
  return &g_array_index (members, Member, members->len - 1);
}

/* The rank as a member of the communicator with this handle; one must be. */
static Member *
find_member (Alltoalls *all, uint32_t rank, uint32_t comm)
{
  g_autofree char *prefix = g_strdup_printf ("%u ", comm);
  GHashTableIter iter;
  gpointer name, members;

  g_hash_table_iter_init (&iter, all->groups);
  while (g_hash_table_iter_next (&iter, &name, &members))
    if (g_str_has_prefix (name, prefix))
      for (guint i = 0; i < ((GArray *) members)->len; i++)
        if (g_array_index ((GArray *) members, Member, i).rank == rank)
          return &g_array_index ((GArray *) members, Member, i);
  g_assert_not_reached ();
}

static void
look_at_alltoall (void *data, uint32_t rank, const TraceOp *op)
{
  const TraceOp world = { .new_comm = TRACE_COMM_WORLD };
  Alltoalls *all = data;
  Member *member;

  if (op->kind == TRACE_OP_INIT)
    add_member (all, rank, &world);
  if (op->kind == TRACE_OP_COMM_SPLIT) {
    g_assert_cmpuint (op->comm, ==, TRACE_COMM_WORLD);
    add_member (all, rank, op);
  }
  if (op->kind != TRACE_OP_ALLTOALL)
    return;
  g_assert_cmpuint (op->bytes, ==, op->recv_bytes);
  member = find_member (all, rank, op->comm);
  member->calls++;
  member->bytes += op->bytes;
}

/* Keys of members in rank order must be in order too: then the rank in the
 * communicator is that of the grid. */
static void
add_group (PatternSums *sums, const GArray *members)
{
  const Member *first = &g_array_index (members, Member, 0);

  for (guint i = 0; i < members->len; i++) {
    const Member *source = &g_array_index (members, Member, i);

    g_assert_cmpuint (source->calls, ==, first->calls);
    g_assert_cmpuint (source->bytes, ==, first->bytes);
    if (i > 0)
      g_assert_cmpint (source->key, >=, source[-1].key);
    for (guint j = 0; first->calls > 0 && j < members->len; j++)
      if (i != j)
        for (uint64_t call = 0; call < first->calls; call++)
          add_message (sums, source->rank, g_array_index (members, Member, j).rank,
                       first->bytes / first->calls);
  }
}

PatternSums
pattern_testing_alltoalls (const char *spec, guint *n_communicators)
{
  g_autoptr (Trace) trace = trace_testing_open (spec);
  Alltoalls all = { g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                           (GDestroyNotify) g_array_unref) };
  PatternSums sums = { 0 };
  GHashTableIter iter;
  gpointer members;

  for_each_op (trace, look_at_alltoall, &all);
  g_hash_table_iter_init (&iter, all.groups);
  while (g_hash_table_iter_next (&iter, NULL, &members))
    add_group (&sums, members);
  *n_communicators = g_hash_table_size (all.groups) - 1;
  g_hash_table_unref (all.groups);
  return sums;
}
