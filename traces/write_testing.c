/* write_testing.c - helpers of the tests of writers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/write_testing.h"

#include "traces/format.h"

#include <string.h>

typedef struct {
  uint32_t n_ranks, n_ops;
  const WriteTestingOp *ops;
} Program;

typedef struct {
  const Program *program;
  uint32_t rank, next;
} ProgramCursor;

/* What the format's open() gets instead of a path. */
static Program to_open;

static gpointer
program_open (Trace *trace, const char *path, const TraceOptions *options, uint32_t *n_ranks,
              GPtrArray *files, GError **error)
{
  (void) trace, (void) path, (void) options, (void) files, (void) error;
  *n_ranks = to_open.n_ranks;
  return g_memdup2 (&to_open, sizeof to_open);
}

static gpointer
program_cursor_new (gpointer state, uint32_t rank, GError **error)
{
  ProgramCursor *cursor = g_new0 (ProgramCursor, 1);

  (void) error;
  cursor->program = state;
  cursor->rank = rank;
  return cursor;
}

static TraceNext
program_cursor_next (gpointer data, TraceOp *op, GError **error)
{
  ProgramCursor *cursor = data;
  const Program *program = cursor->program;

  (void) error;
  while (cursor->next < program->n_ops && program->ops[cursor->next].rank != cursor->rank)
    cursor->next++;
  if (cursor->next == program->n_ops)
    return TRACE_NEXT_END;
  *op = program->ops[cursor->next++].op;
  if (op->comm == 0)
    op->comm = TRACE_COMM_WORLD;
  if (op->name == NULL)
    op->name = trace_op_name (op->kind);
  return TRACE_NEXT_OPERATION;
}

static const char *
program_cursor_place (gpointer cursor)
{
  (void) cursor;
  return "program";
}

Trace *
write_testing_program (uint32_t n_ranks, const WriteTestingOp *ops, uint32_t n_ops)
{
  static const TraceFormat format = { .name = "program",
                                      .open = program_open,
                                      .close = g_free,
                                      .cursor_new = program_cursor_new,
                                      .cursor_free = g_free,
                                      .cursor_next = program_cursor_next,
                                      .cursor_place = program_cursor_place };

  to_open = (Program){ n_ranks, n_ops, ops };
  return trace_open_as (&format, "program", NULL, NULL);
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
