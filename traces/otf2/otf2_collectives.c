/* otf2_collectives.c - what the sizes in a collective's event mean.
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
#include "traces/otf2/otf2_collectives.h"

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

/* A total over all ranks evenly, what is left over on the first. */
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

/* The vector of a scan; what a rank sends is for those behind it. */
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

static uint64_t
broadcast (Collective *c)
{
  const Otf2Record *record = c->record;

  if (record->recv_bytes != 0)
    return record->recv_bytes;
  return part (c, record->bytes);
}

/* The one vector that all ranks reduce. */
static uint64_t
reduced (Collective *c)
{
  const Otf2Record *record = c->record;

  if (record->bytes != 0)
    return record->bytes;
  return part (c, record->recv_bytes);
}

static TraceOpKind
kind_of (uint8_t op)
{
  static const TraceOpKind kinds[] = {
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

  /* Those behind create and free communicators, windows and memory: all
   * ranks meet, nothing moves. */
  return op < G_N_ELEMENTS (kinds) ? kinds[op] : TRACE_OP_BARRIER;
}

/* Counts are one per rank of the communicator: root's alone, or everybody's. */
static void
fill_vector (Collective *c, TraceOp *op, uint64_t **counts, uint64_t **recv_counts)
{
  const Otf2Record *record = c->record;
  bool is_root = op->root == (int32_t) c->me;
  uint64_t whole = record->bytes != 0 ? record->bytes : record->recv_bytes;
  bool is_block = record->op == OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK;

  if (op->kind == TRACE_OP_GATHERV)
    op->bytes = record->bytes;
  else if (op->kind == TRACE_OP_ALLGATHERV)
    op->bytes = part (c, record->bytes);
  else if (op->kind == TRACE_OP_SCATTERV)
    op->recv_bytes = record->recv_bytes;

  if (op->kind == TRACE_OP_ALLTOALLV || (op->kind == TRACE_OP_SCATTERV && is_root))
    op->counts = *counts = spread (c, record->bytes);
  if (op->kind == TRACE_OP_ALLTOALLV || op->kind == TRACE_OP_ALLGATHERV ||
      (op->kind == TRACE_OP_GATHERV && is_root))
    op->recv_counts = *recv_counts = spread (c, record->recv_bytes);
  if (op->kind == TRACE_OP_REDUCE_SCATTER) {
    bool guessed = c->guessed;

    /* A block is what each rank gets, which EZTrace writes. */
    if (is_block && c->sizes == OTF2_SIZES_PLAIN && whole <= UINT64_MAX / c->n)
      whole *= c->n;
    op->recv_counts = *recv_counts = spread (c, whole);
    if (is_block)
      c->guessed = guessed;
  }
  op->n_counts = op->counts != NULL ? c->n : 0;
  op->n_recv_counts = op->recv_counts != NULL ? c->n : 0;
}

static void
fill_sizes (Collective *c, TraceOp *op, uint64_t **counts, uint64_t **recv_counts)
{
  const Otf2Record *record = c->record;
  bool is_root = op->root == (int32_t) c->me;

  if (op->kind == TRACE_OP_BCAST) {
    op->bytes = broadcast (c);
  } else if (op->kind == TRACE_OP_GATHER) {
    op->recv_bytes = is_root ? part (c, record->recv_bytes) : 0;
    op->bytes = record->bytes != 0 ? record->bytes : op->recv_bytes;
  } else if (op->kind == TRACE_OP_SCATTER) {
    op->bytes = is_root ? part (c, record->bytes) : 0;
    op->recv_bytes = record->recv_bytes != 0 ? record->recv_bytes : op->bytes;
  } else if (op->kind == TRACE_OP_ALLGATHER || op->kind == TRACE_OP_ALLTOALL) {
    op->bytes = part (c, record->bytes);
    op->recv_bytes = part (c, record->recv_bytes);
  } else if (op->kind == TRACE_OP_ALLREDUCE) {
    op->bytes = part (c, MAX (record->bytes, record->recv_bytes));
  } else if (op->kind == TRACE_OP_REDUCE) {
    op->bytes = reduced (c);
  } else if (op->kind == TRACE_OP_SCAN || op->kind == TRACE_OP_EXSCAN) {
    op->bytes = scanned (c, op->kind == TRACE_OP_EXSCAN);
  } else if (op->kind != TRACE_OP_BARRIER) {
    fill_vector (c, op, counts, recv_counts);
  }
}

bool
otf2_collectives_fill (const Otf2Record *record, Otf2Sizes sizes, uint32_t me, uint32_t n,
                       TraceOp *op, uint64_t **counts, uint64_t **recv_counts, bool *guessed)
{
  Collective c = { record, sizes, me, n, false };
  bool has_root;

  *counts = *recv_counts = NULL;
  op->kind = kind_of (record->op);
  has_root = op->kind == TRACE_OP_BCAST || op->kind == TRACE_OP_REDUCE ||
             (op->kind >= TRACE_OP_GATHER && op->kind <= TRACE_OP_SCATTERV);
  op->root = TRACE_NO_ROOT;
  if (has_root) {
    if (record->peer >= n)
      return false;
    op->root = (int32_t) record->peer;
  }
  fill_sizes (&c, op, counts, recv_counts);
  *guessed = c.guessed;
  return true;
}
