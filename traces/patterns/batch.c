/* batch.c - operations kept until they are asked for, packed.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An operation has some 70 words of 32 bits, of which a send sets seven.  A
 * packed one is a bit per word, then the words that differ from those of a
 * blank operation: a sixth of the room. */
#include "traces/patterns/batch.h"

#include <string.h>

#define OP_WORDS (sizeof (TraceOp) / sizeof (guint32))
#define OP_MASKS ((OP_WORDS + 31) / 32)

G_STATIC_ASSERT (sizeof (TraceOp) % sizeof (guint32) == 0);

struct TraceBatch {
  guint32 *words; /* packed operations */
  guint n_words, capacity;
  GPtrArray *arrays; /* what operations point to; NULL until there is one */
  TraceOp *op;       /* the last one, not packed yet; NULL: none */
};

static const TraceOp blank = {
  .comm = TRACE_COMM_WORLD,
  .matched_source = TRACE_ANY_SOURCE,
  .root = TRACE_NO_ROOT,
};

TraceBatch *
trace_batch_new (void)
{
  return g_new0 (TraceBatch, 1);
}

void
trace_batch_clear (TraceBatch *batch)
{
  g_clear_pointer (&batch->op, g_free);
  g_clear_pointer (&batch->arrays, g_ptr_array_unref);
  batch->n_words = 0;
}

void
trace_batch_free (TraceBatch *batch)
{
  if (batch == NULL)
    return;
  trace_batch_clear (batch);
  g_free (batch->words);
  g_free (batch);
}

static void
reserve (TraceBatch *batch, guint n_words)
{
  if (batch->capacity - batch->n_words >= n_words)
    return;
  batch->capacity = MAX (2 * batch->capacity, batch->n_words + n_words);
  batch->words = g_renew (guint32, batch->words, batch->capacity);
}

static void
pack_last (TraceBatch *batch)
{
  guint32 words[OP_WORDS], plain[OP_WORDS], *masks;

  if (batch->op == NULL)
    return;
  memcpy (words, batch->op, sizeof words);
  memcpy (plain, &blank, sizeof plain);
  reserve (batch, OP_MASKS + OP_WORDS);
  masks = batch->words + batch->n_words;
  memset (masks, 0, OP_MASKS * sizeof *masks);
  batch->n_words += OP_MASKS;
  for (guint word = 0; word < OP_WORDS; word++)
    if (words[word] != plain[word]) {
      masks[word / 32] |= 1u << word % 32;
      batch->words[batch->n_words++] = words[word];
    }
}

void
trace_batch_seal (TraceBatch *batch)
{
  pack_last (batch);
  g_clear_pointer (&batch->op, g_free);
  batch->capacity = batch->n_words;
  batch->words = g_renew (guint32, batch->words, batch->capacity);
}

gboolean
trace_batch_read (const TraceBatch *batch, guint *at, TraceOp *op)
{
  guint32 words[OP_WORDS];
  const guint32 *masks;

  g_assert (batch->op == NULL);
  if (*at == batch->n_words)
    return FALSE;
  masks = batch->words + *at;
  memcpy (words, &blank, sizeof words);
  *at += OP_MASKS;
  for (guint mask = 0; mask < OP_MASKS; mask++)
    for (guint32 left = masks[mask]; left != 0; left &= left - 1)
      words[32 * mask + (guint) g_bit_nth_lsf (left, -1)] = batch->words[(*at)++];
  memcpy (op, words, sizeof words);
  return TRUE;
}

TraceOp *
trace_batch_add (TraceBatch *batch, TraceOpKind kind, const char *name)
{
  pack_last (batch);
  if (batch->op == NULL)
    batch->op = g_new (TraceOp, 1);
  memcpy (batch->op, &blank, sizeof blank);
  batch->op->kind = kind;
  batch->op->name = name;
  return batch->op;
}

void
trace_batch_compute (TraceBatch *batch, int64_t gap_ps)
{
  if (gap_ps > 0)
    trace_batch_add (batch, TRACE_OP_COMPUTE, "compute")->gap_ps = gap_ps;
}

static TraceOp *
add_message (TraceBatch *batch, TraceOpKind kind, const char *name, int32_t peer, int32_t tag,
             uint64_t bytes)
{
  TraceOp *op = trace_batch_add (batch, kind, name);

  op->peer = peer;
  op->tag = tag;
  op->bytes = bytes;
  return op;
}

void
trace_batch_send (TraceBatch *batch, int32_t peer, int32_t tag, uint64_t bytes)
{
  if (peer >= 0)
    add_message (batch, TRACE_OP_SEND, "MPI_Send", peer, tag, bytes);
}

void
trace_batch_recv (TraceBatch *batch, int32_t peer, int32_t tag, uint64_t bytes)
{
  if (peer >= 0 || peer == TRACE_ANY_SOURCE)
    add_message (batch, TRACE_OP_RECV, "MPI_Recv", peer, tag, bytes);
}

void
trace_batch_isend (TraceBatch *batch, int32_t peer, int32_t tag, uint64_t bytes, uint32_t request)
{
  if (peer >= 0)
    add_message (batch, TRACE_OP_ISEND, "MPI_Isend", peer, tag, bytes)->request = request;
}

void
trace_batch_irecv (TraceBatch *batch, int32_t peer, int32_t tag, uint64_t bytes, uint32_t request)
{
  if (peer >= 0 || peer == TRACE_ANY_SOURCE)
    add_message (batch, TRACE_OP_IRECV, "MPI_Irecv", peer, tag, bytes)->request = request;
}

void
trace_batch_wait (TraceBatch *batch, uint32_t first, uint32_t n)
{
  uint32_t *requests;

  if (n == 0)
    return;
  trace_batch_add (batch, TRACE_OP_WAIT, n == 1 ? "MPI_Wait" : "MPI_Waitall");
  requests = trace_batch_requests (batch, n);
  for (uint32_t i = 0; i < n; i++)
    requests[i] = first + i;
}

void
trace_batch_alltoall (TraceBatch *batch, uint32_t comm, uint64_t bytes)
{
  TraceOp *op = trace_batch_add (batch, TRACE_OP_ALLTOALL, "MPI_Alltoall");

  op->comm = comm;
  op->bytes = bytes;
  op->recv_bytes = bytes;
}

void
trace_batch_split (TraceBatch *batch, uint32_t comm, int32_t color, int32_t key, uint32_t new_comm)
{
  TraceOp *op = trace_batch_add (batch, TRACE_OP_COMM_SPLIT, "MPI_Comm_split");

  op->comm = comm;
  op->color = color;
  op->key = key;
  op->new_comm = new_comm;
}

static gpointer
add_array (TraceBatch *batch, gsize n, gsize element_bytes)
{
  gpointer array = g_malloc0_n (MAX (n, 1), element_bytes);

  g_assert (batch->op != NULL);
  if (batch->arrays == NULL)
    batch->arrays = g_ptr_array_new_full (1, g_free);
  g_ptr_array_add (batch->arrays, array);
  return array;
}

uint32_t *
trace_batch_requests (TraceBatch *batch, uint32_t n)
{
  uint32_t *requests = add_array (batch, n, sizeof *requests);

  batch->op->requests = requests;
  batch->op->n_requests = n;
  return requests;
}

uint64_t *
trace_batch_counts (TraceBatch *batch, uint32_t n)
{
  uint64_t *counts = add_array (batch, n, sizeof *counts);

  batch->op->counts = counts;
  batch->op->n_counts = n;
  return counts;
}

uint64_t *
trace_batch_recv_counts (TraceBatch *batch, uint32_t n)
{
  uint64_t *counts = add_array (batch, n, sizeof *counts);

  batch->op->recv_counts = counts;
  batch->op->n_recv_counts = n;
  return counts;
}

int32_t *
trace_batch_values (TraceBatch *batch, uint32_t n)
{
  int32_t *values = add_array (batch, n, sizeof *values);

  batch->op->values = values;
  batch->op->n_values = n;
  return values;
}
