/* expand.c - collectives as point-to-point messages, for formats without them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/lower.h"
#include "traces/format.h"

#include "mpi/rank_group.h"

typedef struct {
  const TraceOp *op;
  const uint64_t *counts, *recv_counts; /* the op's, of kinds that have them; else NULL */
  uint32_t n, rank;
  GArray *steps;
} Expansion;

static void
add (Expansion *it, uint32_t send_to, uint64_t send_bytes, uint32_t recv_from, uint64_t recv_bytes,
     gboolean with_next)
{
  TraceStep step = { send_to, recv_from, send_bytes, recv_bytes, with_next };

  g_array_append_val (it->steps, step);
}

static void
add_send (Expansion *it, uint32_t to, uint64_t bytes)
{
  add (it, to, bytes, TRACE_NO_MEMBER, 0, FALSE);
}

static void
add_receive (Expansion *it, uint32_t from, uint64_t bytes)
{
  add (it, TRACE_NO_MEMBER, 0, from, bytes, FALSE);
}

/* The rank `distance` places after, or before, around the ring. */
static uint32_t
after (const Expansion *it, uint32_t distance)
{
  return (uint32_t) (((uint64_t) it->rank + distance) % it->n);
}

static uint32_t
before (const Expansion *it, uint32_t distance)
{
  return after (it, it->n - distance);
}

/* -- one rank is the root ----------------------------------------------------- */

/* Numbered from the root, a rank's parent is its number without its lowest
 * set bit. */
static uint32_t
from_root (const Expansion *it, uint32_t number)
{
  return (uint32_t) (((uint64_t) number + (uint32_t) it->op->root) % it->n);
}

static uint32_t
number_of (const Expansion *it)
{
  return before (it, (uint32_t) it->op->root);
}

/* The bit in which a rank differs from its parent; for the root the first bit
 * above all numbers. */
static uint32_t
parent_bit (const Expansion *it)
{
  uint32_t number = number_of (it), bit = 1;

  while (bit < it->n && !(number & bit))
    bit *= 2;
  return bit;
}

static void
expand_bcast (Expansion *it)
{
  uint32_t number = number_of (it), bit = parent_bit (it);

  if (number != 0)
    add_receive (it, from_root (it, number - bit), it->op->bytes);
  while ((bit /= 2) > 0)
    if (number + bit < it->n)
      add_send (it, from_root (it, number + bit), it->op->bytes);
}

static void
expand_reduce (Expansion *it)
{
  uint32_t number = number_of (it), last = parent_bit (it);

  for (uint32_t bit = 1; bit < last; bit *= 2)
    if (number + bit < it->n)
      add_receive (it, from_root (it, number + bit), it->op->bytes);
  if (number != 0)
    add_send (it, from_root (it, number - last), it->op->bytes);
}

static gboolean
is_root (const Expansion *it)
{
  return (uint32_t) it->op->root == it->rank;
}

static uint64_t
count_of (const uint64_t *counts, uint64_t same, uint32_t rank)
{
  return counts != NULL ? counts[rank] : same;
}

static void
end_group (Expansion *it)
{
  if (it->steps->len > 0)
    g_array_index (it->steps, TraceStep, it->steps->len - 1).with_next = FALSE;
}

static void
expand_gather (Expansion *it)
{
  if (!is_root (it) && it->op->bytes > 0)
    add_send (it, (uint32_t) it->op->root, it->op->bytes);
  for (uint32_t rank = 0; is_root (it) && rank < it->n; rank++) {
    uint64_t bytes = count_of (it->recv_counts, it->op->recv_bytes, rank);

    if (rank != it->rank && bytes > 0)
      add (it, TRACE_NO_MEMBER, 0, rank, bytes, TRUE);
  }
  end_group (it);
}

static void
expand_scatter (Expansion *it)
{
  if (!is_root (it) && it->op->recv_bytes > 0)
    add_receive (it, (uint32_t) it->op->root, it->op->recv_bytes);
  for (uint32_t rank = 0; is_root (it) && rank < it->n; rank++) {
    uint64_t bytes = count_of (it->counts, it->op->bytes, rank);

    if (rank != it->rank && bytes > 0)
      add (it, rank, bytes, TRACE_NO_MEMBER, 0, TRUE);
  }
  end_group (it);
}

/* -- all ranks are alike ------------------------------------------------------- */

static void
add_exchange (Expansion *it, uint32_t to, uint64_t send_bytes, uint32_t from, uint64_t recv_bytes)
{
  if (send_bytes > 0 || recv_bytes > 0)
    add (it, send_bytes > 0 ? to : TRACE_NO_MEMBER, send_bytes,
         recv_bytes > 0 ? from : TRACE_NO_MEMBER, recv_bytes, FALSE);
}

static void
expand_barrier (Expansion *it)
{
  for (uint64_t distance = 1; distance < it->n; distance *= 2)
    add (it, after (it, (uint32_t) distance), 0, before (it, (uint32_t) distance), 0, FALSE);
}

/* In step k the block of the rank k places before is passed on. */
static void
expand_allgather (Expansion *it)
{
  uint64_t same = it->op->recv_bytes;

  for (uint32_t k = 0; k + 1 < it->n; k++)
    add_exchange (it, after (it, 1), count_of (it->recv_counts, same, before (it, k)),
                  before (it, 1), count_of (it->recv_counts, same, before (it, k + 1)));
}

static void
expand_alltoall (Expansion *it)
{
  for (uint32_t k = 1; k < it->n; k++)
    add_exchange (it, after (it, k), count_of (it->counts, it->op->bytes, after (it, k)),
                  before (it, k), count_of (it->recv_counts, it->op->recv_bytes, before (it, k)));
}

static void
expand_reduce_scatter (Expansion *it)
{
  for (uint32_t k = 1; k < it->n; k++)
    add_exchange (it, after (it, k), it->recv_counts[after (it, k)], before (it, k),
                  it->recv_counts[it->rank]);
}

/* Ranks beyond the largest power of two send their vector to a rank within it
 * and get the result back (Thakur et al., section 4.5). */
static void
expand_allreduce (Expansion *it)
{
  uint64_t bytes = it->op->bytes;
  uint32_t power = 1;

  while (power <= it->n / 2)
    power *= 2;
  if (it->rank >= power) {
    add_send (it, it->rank - power, bytes);
    add_receive (it, it->rank - power, bytes);
    return;
  }
  if (it->rank + power < it->n)
    add_receive (it, it->rank + power, bytes);
  for (uint32_t bit = 1; bit < power; bit *= 2)
    add (it, it->rank ^ bit, bytes, it->rank ^ bit, bytes, FALSE);
  if (it->rank + power < it->n)
    add_send (it, it->rank + power, bytes);
}

static void
expand_scan (Expansion *it)
{
  for (uint64_t distance = 1; distance < it->n; distance *= 2) {
    gboolean sends = it->rank + distance < it->n, receives = it->rank >= distance;

    if (sends || receives)
      add (it, sends ? it->rank + (uint32_t) distance : TRACE_NO_MEMBER, it->op->bytes,
           receives ? it->rank - (uint32_t) distance : TRACE_NO_MEMBER, it->op->bytes, FALSE);
  }
}

/* Receives first, as programs do. */
static void
expand_neighbors (Expansion *it)
{
  const TraceOp *op = it->op;

  for (uint32_t i = 0; i < op->n_recv_counts; i++)
    add (it, TRACE_NO_MEMBER, 0, (uint32_t) op->values2[i], op->recv_counts[i], TRUE);
  for (uint32_t i = 0; i < op->n_counts; i++)
    add (it, (uint32_t) op->values[i], op->counts[i], TRACE_NO_MEMBER, 0, TRUE);
  end_group (it);
}

/* -- all ------------------------------------------------------------------------ */

typedef enum {
  NO_LISTS = 0,
  SENT = 1,
  RECEIVED = 2,
  AT_ROOT = 4,
  ROOTED = 8,
  NEIGHBORS = 16
} Needs;

typedef struct {
  void (*expand) (Expansion *it);
  guint needs;
} Method;

static const Method methods[TRACE_N_OPS] = {
  [TRACE_OP_BARRIER] = { expand_barrier, NO_LISTS },
  [TRACE_OP_BCAST] = { expand_bcast, ROOTED },
  [TRACE_OP_GATHER] = { expand_gather, ROOTED },
  [TRACE_OP_GATHERV] = { expand_gather, ROOTED | AT_ROOT | RECEIVED },
  [TRACE_OP_SCATTER] = { expand_scatter, ROOTED },
  [TRACE_OP_SCATTERV] = { expand_scatter, ROOTED | AT_ROOT | SENT },
  [TRACE_OP_ALLGATHER] = { expand_allgather, NO_LISTS },
  [TRACE_OP_ALLGATHERV] = { expand_allgather, RECEIVED },
  [TRACE_OP_ALLTOALL] = { expand_alltoall, NO_LISTS },
  [TRACE_OP_ALLTOALLV] = { expand_alltoall, SENT | RECEIVED },
  [TRACE_OP_REDUCE] = { expand_reduce, ROOTED },
  [TRACE_OP_ALLREDUCE] = { expand_allreduce, NO_LISTS },
  [TRACE_OP_REDUCE_SCATTER] = { expand_reduce_scatter, RECEIVED },
  [TRACE_OP_SCAN] = { expand_scan, NO_LISTS },
  [TRACE_OP_EXSCAN] = { expand_scan, NO_LISTS },
  [TRACE_OP_NEIGHBOR_ALLGATHER] = { expand_neighbors, NEIGHBORS },
  [TRACE_OP_NEIGHBOR_ALLTOALL] = { expand_neighbors, NEIGHBORS },
};

static gboolean
check_list (const Expansion *it, const uint64_t *list, uint32_t n, GError **error)
{
  if (list != NULL && n == it->n)
    return TRUE;
  return TRACE_FAIL (TRACE_ERROR_RANGE, error, "%s with %u counts among %u ranks",
                     trace_op_name (it->op->kind), list == NULL ? 0 : n, it->n);
}

static gboolean
check_ranks (const Expansion *it, const int32_t *ranks, uint32_t n, GError **error)
{
  for (uint32_t i = 0; i < n; i++)
    if (ranks[i] < 0 || (uint32_t) ranks[i] >= it->n)
      return TRACE_FAIL (TRACE_ERROR_RANGE, error, "%s with rank %d among %u",
                         trace_op_name (it->op->kind), ranks[i], it->n);
  return TRUE;
}

GArray *
trace_expand (const TraceOp *op, uint32_t n, uint32_t rank, GError **error)
{
  const Method *method = &methods[op->kind];
  guint needs = method->needs;
  Expansion it = { .op = op, .n = n, .rank = rank };
  gboolean lists;

  g_assert (method->expand != NULL && rank < n);
  if ((needs & ROOTED) && !check_ranks (&it, &op->root, 1, error))
    return NULL;
  lists = !(needs & AT_ROOT) || is_root (&it);
  if (lists && (needs & SENT) && !check_list (&it, op->counts, op->n_counts, error))
    return NULL;
  if (lists && (needs & RECEIVED) && !check_list (&it, op->recv_counts, op->n_recv_counts, error))
    return NULL;
  if ((needs & NEIGHBORS) && (!check_ranks (&it, op->values, op->n_counts, error) ||
                              !check_ranks (&it, op->values2, op->n_recv_counts, error)))
    return NULL;
  it.counts = needs & SENT ? op->counts : NULL;
  it.recv_counts = needs & RECEIVED ? op->recv_counts : NULL;
  it.steps = g_array_new (FALSE, FALSE, sizeof (TraceStep));
  method->expand (&it);
  return it.steps;
}
