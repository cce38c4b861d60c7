/* write_testing.c - helpers of the tests of writers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/write_testing.h"

#include <string.h>

typedef struct {
  uint32_t n_ops;
  const WriteTestingOp *ops;
} Program;

static gboolean
program_op (gconstpointer data, uint32_t rank, uint64_t index, TraceOp *op)
{
  const Program *program = data;
  uint32_t at = 0;

  for (; at < program->n_ops; at++)
    if (program->ops[at].rank == rank && index-- == 0)
      break;
  if (at == program->n_ops)
    return FALSE;
  *op = program->ops[at].op;
  if (op->comm == 0)
    op->comm = TRACE_COMM_WORLD;
  if (op->name == NULL)
    op->name = trace_op_name (op->kind);
  return TRUE;
}

Trace *
write_testing_program (uint32_t n_ranks, const WriteTestingOp *ops, uint32_t n_ops)
{
  const Program program = { n_ops, ops };

  return trace_testing_made_up (n_ranks, FALSE, program_op, g_memdup2 (&program, sizeof program),
                                g_free);
}

char *
write_testing_text (const TraceWriter *writer, Trace *trace, GError **error)
{
  char *text = NULL;
  size_t n = 0;
  FILE *out = open_memstream (&text, &n);
  gboolean good = writer->write (trace, out, NULL, NULL, error);
  char *copy;

  fclose (out);
  copy = good ? g_strndup (text, n) : NULL;
  free (text);
  return copy;
}

void
write_testing_same (const TraceWriter *writer, Trace *trace, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = write_testing_text (writer, trace, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (text, ==, expected);
}

void
write_testing_told (const TraceWriter *writer, const WriteTestingOp *ops, uint32_t n_ops,
                    const char *part, gboolean told)
{
  g_autoptr (Trace) trace = write_testing_program (2, ops, n_ops);
  g_autofree char *text = write_testing_text (writer, trace, NULL);

  g_assert_nonnull (text);
  g_assert_cmpint (trace_testing_warned (trace, part), ==, told);
}

void
write_testing_refused (const TraceWriter *writer, const WriteTestingOp *op, const char *part)
{
  g_autoptr (Trace) trace = write_testing_program (2, op, 1);
  g_autoptr (GError) error = NULL;
  g_autofree char *text = write_testing_text (writer, trace, &error);

  g_assert_null (text);
  g_assert_true (error->domain == TRACE_ERROR);
  if (strstr (error->message, part) == NULL)
    g_error ("expected \"%s\" in \"%s\"", part, error->message);
}

/* -- channels ------------------------------------------------------------------------ */

/* Bytes by "source destination tag" of messages with a tag up to `most`, and the highest tag. */
static GHashTable *
channels_of (Trace *trace, int32_t most, int32_t *highest)
{
  GHashTable *channels = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  *highest = -1;
  for (uint32_t rank = 0; rank < trace_ranks (trace); rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, NULL);
    TraceOp op;

    while (trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION) {
      g_autofree char *channel = NULL;
      uint64_t *bytes;

      if ((op.kind != TRACE_OP_SEND && op.kind != TRACE_OP_ISEND && op.kind != TRACE_OP_SENDRECV) ||
          op.peer < 0 || op.tag > most)
        continue;
      *highest = MAX (*highest, op.tag);
      channel = g_strdup_printf ("%u %d %d", rank, op.peer, op.tag);
      bytes = g_hash_table_lookup (channels, channel);
      if (bytes == NULL) {
        bytes = g_new0 (uint64_t, 1);
        g_hash_table_insert (channels, g_steal_pointer (&channel), bytes);
      }
      *bytes += op.bytes;
    }
  }
  return channels;
}

void
write_testing_same_channels (Trace *trace, Trace *written)
{
  int32_t highest, other_highest;
  g_autoptr (GHashTable) a = channels_of (trace, INT32_MAX, &highest);
  g_autoptr (GHashTable) b = channels_of (written, highest, &other_highest);
  GHashTableIter iter;
  gpointer channel, bytes;

  g_assert_cmpuint (g_hash_table_size (a), ==, g_hash_table_size (b));
  g_hash_table_iter_init (&iter, a);
  while (g_hash_table_iter_next (&iter, &channel, &bytes)) {
    const uint64_t *other = g_hash_table_lookup (b, channel);

    if (other == NULL || *other != *(const uint64_t *) bytes)
      g_error ("channel %s: %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT " bytes",
               (const char *) channel, *(const uint64_t *) bytes, other == NULL ? 0 : *other);
  }
}
