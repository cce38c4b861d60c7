/* paraver_sizes.c - what the sizes of collectives in a Paraver trace mean.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the sizes of a collective mean is Extrae's choice (its wrappers,
 * src/tracer/wrappers/MPI/mpi_wrapper_coll_c.c, and
 * src/merger/paraver/mpi_prv_semantics.c, both at 044e8b2):
 *
 *   call             sent                     received
 *   bcast            on the root the payload  elsewhere the payload
 *   reduce           not on the root          on the root
 *   allreduce, scan  the vector               the vector
 *   alltoall         to one peer              0
 *   alltoallv, -w    to all peers together    0
 *   allgather(v)     own                      from all together
 *   gather(v)        own                      on the root, from all together
 *   scatter(v)       on the root, to all      own
 *   reduce_scatter   the whole vector         own part
 *
 * What one rank does not tell, such as the counts of a gatherv, the calls of
 * the others in the same collective do. */
#include "traces/paraver/paraver_format.h"

/* One collective, on one rank. */
typedef struct {
  const ParaverState *state;
  uint32_t rank;
  ParaverCounts *counts;
} Sizes;

/* Counts per member are what each of them says about itself. */
static void
collect (Sizes *sizes, const ParaverCall *call, uint32_t n, gboolean sent, GArray *counts)
{
  g_array_set_size (counts, 0);
  for (uint32_t i = 0; i < n; i++) {
    const ParaverCall *partner = paraver_partner (sizes->state, call, i);
    uint64_t bytes = sent ? partner->sent_bytes : partner->recv_bytes;

    g_array_append_val (counts, bytes);
  }
}

static uint64_t
share (uint64_t bytes, uint32_t n, uint32_t member)
{
  return bytes / n + (member < bytes % n);
}

static void
use_counts (TraceOp *op, const GArray *counts)
{
  op->counts = (const uint64_t *) (void *) counts->data;
  op->n_counts = counts->len;
}

static void
use_recv_counts (TraceOp *op, const GArray *counts)
{
  op->recv_counts = (const uint64_t *) (void *) counts->data;
  op->n_recv_counts = counts->len;
}

/* Who of the peers gets how much is not recorded. */
static void
convert_alltoallv (Sizes *sizes, const ParaverCall *call, const ParaverComm *comm, TraceOp *op)
{
  gpointer me = g_hash_table_lookup (comm->position, GUINT_TO_POINTER (sizes->rank));

  trace_warn (sizes->state->trace,
              "%s: who gets how much is not in this format: taken to be equal shares", op->name);
  g_array_set_size (sizes->counts->counts, 0);
  g_array_set_size (sizes->counts->recv_counts, 0);
  for (uint32_t i = 0; i < comm->n_members; i++) {
    uint64_t to = share (call->sent_bytes, comm->n_members, i);
    uint64_t from = share (paraver_partner (sizes->state, call, i)->sent_bytes, comm->n_members,
                           GPOINTER_TO_UINT (me));

    g_array_append_val (sizes->counts->counts, to);
    g_array_append_val (sizes->counts->recv_counts, from);
  }
  use_counts (op, sizes->counts->counts);
  use_recv_counts (op, sizes->counts->recv_counts);
}

/* The parts that the members say they get, where these are the whole vector;
 * else equal parts. */
static void
convert_reduce_scatter (Sizes *sizes, const ParaverCall *call, uint32_t n, TraceOp *op)
{
  uint64_t total = 0;

  collect (sizes, call, n, FALSE, sizes->counts->recv_counts);
  for (uint32_t i = 0; i < n; i++)
    total += g_array_index (sizes->counts->recv_counts, uint64_t, i);
  if (total != call->sent_bytes)
    for (uint32_t i = 0; i < n; i++)
      g_array_index (sizes->counts->recv_counts, uint64_t, i) = share (call->sent_bytes, n, i);
  use_recv_counts (op, sizes->counts->recv_counts);
}

static gboolean
is_here (const Sizes *sizes, const ParaverComm *comm, int32_t root)
{
  return comm->members[root] == (int32_t) sizes->rank;
}

static void
set_sizes (Sizes *sizes, const ParaverCall *call, const ParaverComm *comm, TraceOp *op)
{
  uint32_t n = comm->n_members;

  if (op->kind == TRACE_OP_BCAST || op->kind == TRACE_OP_REDUCE)
    op->bytes = MAX (call->sent_bytes, call->recv_bytes);
  else if (op->kind == TRACE_OP_ALLREDUCE || op->kind == TRACE_OP_SCAN ||
           op->kind == TRACE_OP_EXSCAN)
    op->bytes = call->sent_bytes;
  else if (op->kind == TRACE_OP_ALLTOALL)
    op->bytes = op->recv_bytes = call->sent_bytes;
  else if (op->kind == TRACE_OP_ALLGATHER) {
    op->recv_bytes = call->recv_bytes / n;
    op->bytes = call->sent_bytes > 0 ? call->sent_bytes : op->recv_bytes;
  } else if (op->kind == TRACE_OP_GATHER) {
    op->bytes = call->sent_bytes;
    op->recv_bytes = is_here (sizes, comm, call->root) ? call->recv_bytes / n : 0;
  } else if (op->kind == TRACE_OP_SCATTER) {
    op->bytes = is_here (sizes, comm, call->root) ? call->sent_bytes / n : 0;
    op->recv_bytes = call->recv_bytes;
  }
}

static void
set_counts (Sizes *sizes, const ParaverCall *call, const ParaverComm *comm, TraceOp *op)
{
  uint32_t n = comm->n_members;

  if (op->kind == TRACE_OP_ALLTOALLV)
    convert_alltoallv (sizes, call, comm, op);
  else if (op->kind == TRACE_OP_REDUCE_SCATTER)
    convert_reduce_scatter (sizes, call, n, op);
  else if (op->kind == TRACE_OP_ALLGATHERV || op->kind == TRACE_OP_GATHERV) {
    op->bytes = call->sent_bytes;
    if (op->kind == TRACE_OP_GATHERV && !is_here (sizes, comm, call->root))
      return;
    collect (sizes, call, n, TRUE, sizes->counts->recv_counts);
    use_recv_counts (op, sizes->counts->recv_counts);
  } else if (op->kind == TRACE_OP_SCATTERV) {
    op->recv_bytes = call->recv_bytes;
    if (!is_here (sizes, comm, call->root))
      return;
    collect (sizes, call, n, FALSE, sizes->counts->counts);
    use_counts (op, sizes->counts->counts);
  }
}

void
paraver_sizes_set (const ParaverState *state, const ParaverCall *call, uint32_t rank,
                   ParaverCounts *counts, TraceOp *op)
{
  Sizes sizes = { state, rank, counts };
  const ParaverComm *comm = state->header.comms->pdata[call->comm];

  set_sizes (&sizes, call, comm, op);
  set_counts (&sizes, call, comm, op);
}
