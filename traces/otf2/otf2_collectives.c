/* otf2_collectives.c - the sizes of a collective from those of its event.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * With n ranks and b bytes per rank, Score-P writes (sent, received):
 *
 *   bcast       root n*b, b      others 0, b
 *   gather      root b, n*b      others b, 0
 *   reduce      root b, n*b      others b, 0
 *   scatter     root n*b, b      others 0, b
 *   allgather, alltoall, allreduce, reduce_scatter_block     n*b, n*b
 *   scan        rank i (n-i)*b, (i+1)*b
 *   exscan      rank i (n-i-1)*b, i*b
 *
 * With MPI_IN_PLACE the rank's own part is left out: n-1 for n.  EZTrace
 * writes b, b everywhere.  Of the vector collectives, in which each peer has
 * a size of its own, either has only totals. */
#include "traces/otf2/otf2_private.h"

#include <otf2/otf2.h>

typedef struct {
  const Otf2Record *record;
  Otf2Sizes sizes;
  uint32_t me, n;
  bool guessed;
} Collective;

/* One rank's part of a total. */
static uint64_t
part (Collective *c, uint64_t total)
{
  if (c->sizes == OTF2_SIZES_PLAIN || c->n <= 1 || total == 0)
    return total;
  if (total % c->n == 0)
    return total / c->n;
  if (total % (c->n - 1) == 0)
    return total / (c->n - 1);
  c->guessed = true;
  return total / c->n + 1;
}

/* Spreads a total evenly over all ranks; the first gets the remainder. */
static uint64_t *
spread (Collective *c, uint64_t total)
{
  uint64_t *counts = g_new (uint64_t, c->n);

  for (uint32_t i = 0; i < c->n; i++)
    counts[i] = total / c->n;
  counts[0] += total % c->n;
  c->guessed = c->guessed || c->n > 1;
  return counts;
}

/* The vector of a scan; a rank sends to the ranks behind it. */
static uint64_t
scanned (Collective *c, bool exclusive)
{
  uint64_t sent = c->record->bytes, received = c->record->recv_bytes, b;
  bool overflows = sent > UINT64_MAX - received;

  if (c->sizes == OTF2_SIZES_PLAIN || overflows)
    return MAX (sent, received);
  b = (sent + received) / (c->n + 1);
  if (!exclusive && received == (c->me + 1) * b && sent == (c->n - c->me) * b)
    return b;
  b = c->n > 1 ? (sent + received) / (c->n - 1) : 0;
  if (received == c->me * b && sent == (c->n - c->me - 1) * b)
    return b;
  c->guessed = true;
  return part (c, MAX (sent, received));
}

/* The operations that follow in the enumeration create and free communicators,
 * windows and memory: all ranks meet, nothing moves. */
static const TraceOpKind op_kinds[] = {
  [OTF2_COLLECTIVE_OP_BARRIER] = TRACE_OP_BARRIER,
  [OTF2_COLLECTIVE_OP_BCAST] = TRACE_OP_BCAST,
  [OTF2_COLLECTIVE_OP_GATHER] = TRACE_OP_GATHER,
  [OTF2_COLLECTIVE_OP_GATHERV] = TRACE_OP_GATHERV,
  [OTF2_COLLECTIVE_OP_SCATTER] = TRACE_OP_SCATTER,
  [OTF2_COLLECTIVE_OP_SCATTERV] = TRACE_OP_SCATTERV,
  [OTF2_COLLECTIVE_OP_ALLGATHER] = TRACE_OP_ALLGATHER,
  [OTF2_COLLECTIVE_OP_ALLGATHERV] = TRACE_OP_ALLGATHERV,
  [OTF2_COLLECTIVE_OP_ALLTOALL] = TRACE_OP_ALLTOALL,
  [OTF2_COLLECTIVE_OP_ALLTOALLV] = TRACE_OP_ALLTOALLV,
  [OTF2_COLLECTIVE_OP_ALLTOALLW] = TRACE_OP_ALLTOALLV,
  [OTF2_COLLECTIVE_OP_ALLREDUCE] = TRACE_OP_ALLREDUCE,
  [OTF2_COLLECTIVE_OP_REDUCE] = TRACE_OP_REDUCE,
  [OTF2_COLLECTIVE_OP_REDUCE_SCATTER] = TRACE_OP_REDUCE_SCATTER,
  [OTF2_COLLECTIVE_OP_SCAN] = TRACE_OP_SCAN,
  [OTF2_COLLECTIVE_OP_EXSCAN] = TRACE_OP_EXSCAN,
  [OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK] = TRACE_OP_REDUCE_SCATTER,
};

bool
otf2_collectives_fill (const Otf2Record *record, Otf2Sizes sizes, uint32_t me, uint32_t n,
                       TraceOp *op, bool *guessed)
{
  Collective c = { record, sizes, me, n, false };
  uint64_t sent = record->bytes, received = record->recv_bytes;
  TraceOpKind kind = record->op < G_N_ELEMENTS (op_kinds) ? op_kinds[record->op] : TRACE_OP_BARRIER;
  bool has_root = kind == TRACE_OP_BCAST || kind == TRACE_OP_REDUCE ||
                  (kind >= TRACE_OP_GATHER && kind <= TRACE_OP_SCATTERV);
  bool is_root = has_root && record->peer == me;
  bool is_block = record->op == OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK;

  op->kind = kind;
  op->root = TRACE_NO_ROOT;
  if (has_root && record->peer >= n)
    return false;
  if (has_root)
    op->root = (int32_t) record->peer;

  if (kind == TRACE_OP_BCAST) {
    op->bytes = received != 0 ? received : part (&c, sent);
  } else if (kind == TRACE_OP_GATHER) {
    op->recv_bytes = is_root ? part (&c, received) : 0;
    op->bytes = sent != 0 ? sent : op->recv_bytes;
  } else if (kind == TRACE_OP_SCATTER) {
    op->bytes = is_root ? part (&c, sent) : 0;
    op->recv_bytes = received != 0 ? received : op->bytes;
  } else if (kind == TRACE_OP_ALLGATHER || kind == TRACE_OP_ALLTOALL) {
    op->bytes = part (&c, sent);
    op->recv_bytes = part (&c, received);
  } else if (kind == TRACE_OP_ALLREDUCE) {
    op->bytes = part (&c, MAX (sent, received));
  } else if (kind == TRACE_OP_REDUCE) {
    op->bytes = sent != 0 ? sent : part (&c, received);
  } else if (kind == TRACE_OP_SCAN || kind == TRACE_OP_EXSCAN) {
    op->bytes = scanned (&c, kind == TRACE_OP_EXSCAN);

    /* Counts are one per rank of the communicator: on the root alone, or on all ranks. */
  } else if (kind == TRACE_OP_GATHERV) {
    op->bytes = sent;
    op->recv_counts = is_root ? spread (&c, received) : NULL;
  } else if (kind == TRACE_OP_ALLGATHERV) {
    op->bytes = part (&c, sent);
    op->recv_counts = spread (&c, received);
  } else if (kind == TRACE_OP_SCATTERV) {
    op->recv_bytes = received;
    op->counts = is_root ? spread (&c, sent) : NULL;
  } else if (kind == TRACE_OP_ALLTOALLV) {
    op->counts = spread (&c, sent);
    op->recv_counts = spread (&c, received);
  } else if (kind == TRACE_OP_REDUCE_SCATTER) {
    uint64_t whole = sent != 0 ? sent : received;

    /* EZTrace writes the block that each rank gets. */
    if (is_block && sizes == OTF2_SIZES_PLAIN && whole <= UINT64_MAX / n)
      whole *= n;
    op->recv_counts = spread (&c, whole);
    if (is_block)
      c.guessed = false;
  }
  op->n_counts = op->counts != NULL ? n : 0;
  op->n_recv_counts = op->recv_counts != NULL ? n : 0;
  *guessed = c.guessed;
  return true;
}
