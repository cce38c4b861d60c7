/* npb_matching_test.c - all that generated benchmarks send is received.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/trace_testing.h"

/* What goes from one rank to another under a tag, in order. */
static GArray *
channel (GHashTable *channels, uint32_t from, uint32_t to, const TraceOp *op)
{
  g_autofree char *key = g_strdup_printf ("%u %u %u %d", op->comm, from, to, op->tag);
  GArray *sizes = g_hash_table_lookup (channels, key);

  if (sizes == NULL) {
    sizes = g_array_new (FALSE, FALSE, sizeof (uint64_t));
    g_hash_table_insert (channels, g_steal_pointer (&key), sizes);
  }
  return sizes;
}

static void
note_message (GHashTable *sent, GHashTable *received, uint32_t rank, const TraceOp *op)
{
  uint32_t peer = (uint32_t) op->peer;

  if (op->kind == TRACE_OP_SEND || op->kind == TRACE_OP_ISEND)
    g_array_append_val (channel (sent, rank, peer, op), op->bytes);
  else if (op->kind == TRACE_OP_RECV || op->kind == TRACE_OP_IRECV)
    g_array_append_val (channel (received, peer, rank, op), op->bytes);
}

/* A collective adds its kind and size to a running number of its rank. */
static void
note_collective (uint64_t *digest, const TraceOp *op)
{
  if (trace_op_is_collective (op->kind))
    *digest = (*digest + op->kind) * 31 + op->bytes;
}

static void
check_channels (GHashTable *sent, GHashTable *received)
{
  GHashTableIter iter;
  gpointer key, value;

  g_assert_cmpuint (g_hash_table_size (sent), ==, g_hash_table_size (received));
  g_hash_table_iter_init (&iter, sent);
  while (g_hash_table_iter_next (&iter, &key, &value)) {
    const GArray *from = value, *to = g_hash_table_lookup (received, key);

    if (to == NULL || to->len != from->len)
      g_error ("channel %s: %u messages, %u receives", (char *) key, from->len,
               to != NULL ? to->len : 0);
    for (guint i = 0; i < from->len; i++)
      g_assert_cmpuint (g_array_index (from, uint64_t, i), <=, g_array_index (to, uint64_t, i));
  }
}

/* Every message is received, with room for it, and all ranks meet in the same
 * collectives.  There are no wildcards, so that the order in a channel is all. */
static void
check_matching (const char *kernel, char class_name, uint32_t n_ranks)
{
  g_autofree char *spec = g_strdup_printf ("gen:npb:kernel=%s,class=%c,ranks=%u,iterations=1",
                                           kernel, class_name, n_ranks);
  g_autoptr (Trace) trace = trace_testing_open (spec);
  GDestroyNotify free_array = (GDestroyNotify) g_array_unref;
  g_autoptr (GHashTable) sent = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_array);
  g_autoptr (GHashTable) received =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_array);
  uint64_t first_digest = 0;
  TraceOp op;

  g_assert_cmpuint (trace_ranks (trace), ==, n_ranks);
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, NULL);
    uint64_t digest = 1;

    while (trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION) {
      note_message (sent, received, rank, &op);
      note_collective (&digest, &op);
    }
    if (rank == 0)
      first_digest = digest;
    g_assert_cmpuint (digest, ==, first_digest);
  }
  check_channels (sent, received);
}

static void
test_matching (gconstpointer data)
{
  const char *kernel = data;
  gboolean square = g_str_equal (kernel, "bt") || g_str_equal (kernel, "sp");
  static const uint32_t squares[] = { 1, 4, 9, 16 }, powers[] = { 1, 2, 4, 8 };

  for (guint i = 0; i < G_N_ELEMENTS (squares); i++) {
    if (i < 3) /* LU's class S has no parts for more */
      check_matching (kernel, 'S', square ? squares[i] : powers[i]);
    check_matching (kernel, 'A', square ? squares[i] : powers[i]);
  }
}

/* Where sizes are uneven or ranks are without points on coarse levels. */
static void
test_matching_many (void)
{
  check_matching ("bt", 'A', 100);
  check_matching ("sp", 'W', 144);
  check_matching ("lu", 'W', 64);
  check_matching ("lu", 'A', 128);
  check_matching ("cg", 'S', 512);
  check_matching ("cg", 'S', 1024);
  check_matching ("mg", 'S', 512);
  check_matching ("mg", 'S', 1024);
  check_matching ("mg", 'S', 2048);
  check_matching ("is", 'S', 128);
  check_matching ("ep", 'S', 7);
}

int
main (int argc, char **argv)
{
  static const char *const kernels[] = { "bt", "sp", "lu", "cg", "mg", "ft", "is", "ep" };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (kernels); i++) {
    g_autofree char *path = g_strconcat ("/traces/npb/matching/", kernels[i], NULL);

    g_test_add_data_func (path, kernels[i], test_matching);
  }
  g_test_add_func ("/traces/npb/matching/many", test_matching_many);
  return g_test_run ();
}
