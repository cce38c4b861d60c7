/* pattern_ops.c - operations kept until they are asked for, packed.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An operation has some 70 words of 32 bits, of which a send sets seven.  A
 * packed one is a bit per word, then the words that differ from those of a
 * blank operation: a sixth of the room. */
#include "traces/patterns/pattern_ops.h"

#include <string.h>

#define OP_WORDS (sizeof (TraceOp) / sizeof (guint32))
#define OP_PAIRS (sizeof (TraceOp) / sizeof (guint64))
#define OP_MASKS ((OP_WORDS + 31) / 32)

G_STATIC_ASSERT (sizeof (TraceOp) % sizeof (guint64) == 0);

/* Most words are as in a blank operation, and compared two at a time. */
typedef union {
  TraceOp op;
  guint32 words[OP_WORDS];
  guint64 pairs[OP_PAIRS];
} OpWords;

struct PatternOps {
  guint32 *words; /* packed operations */
  guint n_words, capacity;
  GPtrArray *arrays; /* arrays of the operations; NULL until there is one */
  OpWords *last;     /* the last one, not packed yet; NULL: none */
};

PatternOps *
pattern_ops_new (void)
{
  return g_new0 (PatternOps, 1);
}

void
pattern_ops_clear (PatternOps *ops)
{
  g_clear_pointer (&ops->last, g_free);
  g_clear_pointer (&ops->arrays, g_ptr_array_unref);
  ops->n_words = 0;
}

void
pattern_ops_free (PatternOps *ops)
{
  if (ops == NULL)
    return;
  pattern_ops_clear (ops);
  g_free (ops->words);
  g_free (ops);
}

static void
pack_last (PatternOps *ops)
{
  const OpWords *last = ops->last;
  OpWords blank;
  guint32 *masks;

  if (last == NULL)
    return;
  trace_op_init (&blank.op, TRACE_OP_COMPUTE, NULL);
  if (ops->capacity - ops->n_words < OP_MASKS + OP_WORDS) {
    ops->capacity = MAX (2 * ops->capacity, ops->n_words + (guint) (OP_MASKS + OP_WORDS));
    ops->words = g_renew (guint32, ops->words, ops->capacity);
  }
  masks = ops->words + ops->n_words;
  memset (masks, 0, OP_MASKS * sizeof *masks);
  ops->n_words += OP_MASKS;
  for (guint pair = 0; pair < OP_PAIRS; pair++) {
    if (last->pairs[pair] == blank.pairs[pair])
      continue;
    for (guint word = 2 * pair; word < 2 * pair + 2; word++)
      if (last->words[word] != blank.words[word]) {
        masks[word / 32] |= 1u << word % 32;
        ops->words[ops->n_words++] = last->words[word];
      }
  }
}

void
pattern_ops_seal (PatternOps *ops)
{
  pack_last (ops);
  g_clear_pointer (&ops->last, g_free);
  ops->capacity = ops->n_words;
  ops->words = g_renew (guint32, ops->words, ops->capacity);
}

gboolean
pattern_ops_read (const PatternOps *ops, guint *at, TraceOp *op)
{
  const guint32 *masks;

  g_assert (ops->last == NULL);
  if (*at == ops->n_words)
    return FALSE;
  masks = ops->words + *at;
  trace_op_init (op, TRACE_OP_COMPUTE, NULL);
  *at += OP_MASKS;
  for (guint mask = 0; mask < OP_MASKS; mask++)
    for (guint32 left = masks[mask]; left != 0; left &= left - 1)
      memcpy ((char *) op + sizeof left * (32 * mask + (guint) __builtin_ctz (left)),
              &ops->words[(*at)++], sizeof left);
  return TRUE;
}

TraceOp *
pattern_ops_add (PatternOps *ops, TraceOpKind kind, const char *name)
{
  pack_last (ops);
  if (ops->last == NULL)
    ops->last = g_new (OpWords, 1);
  trace_op_init (&ops->last->op, kind, name);
  return &ops->last->op;
}

void
pattern_ops_compute (PatternOps *ops, int64_t gap_ps)
{
  if (gap_ps > 0)
    pattern_ops_add (ops, TRACE_OP_COMPUTE, "compute")->gap_ps = gap_ps;
}

static TraceOp *
add_message (PatternOps *ops, TraceOpKind kind, const char *name, int32_t peer, int32_t tag,
             uint64_t bytes)
{
  TraceOp *op = pattern_ops_add (ops, kind, name);

  op->peer = peer;
  op->tag = tag;
  op->bytes = bytes;
  return op;
}

void
pattern_ops_send (PatternOps *ops, int32_t peer, int32_t tag, uint64_t bytes)
{
  if (peer >= 0)
    add_message (ops, TRACE_OP_SEND, "MPI_Send", peer, tag, bytes);
}

void
pattern_ops_recv (PatternOps *ops, int32_t peer, int32_t tag, uint64_t bytes)
{
  if (peer >= 0 || peer == TRACE_ANY_SOURCE)
    add_message (ops, TRACE_OP_RECV, "MPI_Recv", peer, tag, bytes);
}

void
pattern_ops_isend (PatternOps *ops, int32_t peer, int32_t tag, uint64_t bytes, uint32_t request)
{
  if (peer >= 0)
    add_message (ops, TRACE_OP_ISEND, "MPI_Isend", peer, tag, bytes)->request = request;
}

void
pattern_ops_irecv (PatternOps *ops, int32_t peer, int32_t tag, uint64_t bytes, uint32_t request)
{
  if (peer >= 0 || peer == TRACE_ANY_SOURCE)
    add_message (ops, TRACE_OP_IRECV, "MPI_Irecv", peer, tag, bytes)->request = request;
}

static gpointer
add_array (PatternOps *ops, gsize n, gsize element_bytes)
{
  gpointer array = g_malloc0_n (MAX (n, 1), element_bytes);

  g_assert (ops->last != NULL);
  if (ops->arrays == NULL)
    ops->arrays = g_ptr_array_new_full (1, g_free);
  g_ptr_array_add (ops->arrays, array);
  return array;
}

void
pattern_ops_wait (PatternOps *ops, uint32_t first, uint32_t n)
{
  uint32_t *requests;

  if (n == 0)
    return;
  pattern_ops_add (ops, TRACE_OP_WAIT, n == 1 ? "MPI_Wait" : "MPI_Waitall");
  requests = add_array (ops, n, sizeof *requests);
  for (uint32_t i = 0; i < n; i++)
    requests[i] = first + i;
  ops->last->op.requests = requests;
  ops->last->op.n_requests = n;
}

void
pattern_ops_alltoall (PatternOps *ops, uint32_t comm, uint64_t bytes)
{
  TraceOp *op = pattern_ops_add (ops, TRACE_OP_ALLTOALL, "MPI_Alltoall");

  op->comm = comm;
  op->bytes = bytes;
  op->recv_bytes = bytes;
}

void
pattern_ops_split (PatternOps *ops, uint32_t comm, int32_t color, int32_t key, uint32_t new_comm)
{
  TraceOp *op = pattern_ops_add (ops, TRACE_OP_COMM_SPLIT, "MPI_Comm_split");

  op->comm = comm;
  op->color = color;
  op->key = key;
  op->new_comm = new_comm;
}

uint64_t *
pattern_ops_counts (PatternOps *ops, uint32_t n)
{
  uint64_t *counts = add_array (ops, n, sizeof *counts);

  ops->last->op.counts = counts;
  ops->last->op.n_counts = n;
  return counts;
}

uint64_t *
pattern_ops_recv_counts (PatternOps *ops, uint32_t n)
{
  uint64_t *counts = add_array (ops, n, sizeof *counts);

  ops->last->op.recv_counts = counts;
  ops->last->op.n_recv_counts = n;
  return counts;
}
