/* recorder_collective.c - wrappers of collectives, also among neighbours.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/recorder/recorder_wrap.h"

#include <stdlib.h>
#include <string.h>

/* --- Collectives, blocking and not --- */

/* operation.c has the meaning of bytes, recv_bytes, counts and recv_counts of
 * each kind.  Arguments that MPI ignores, here or on this rank, are not read. */

static RecorderComm *
describe_rooted (RecorderCall *call, TraceOpKind kind, int root, MPI_Comm comm)
{
  call->op.root = root;
  return recorder_describe_collective (call, kind, comm);
}

/* The data for or from each rank: counts[i] of types[i] when there are counts and types, else the same for
 * all ranks. */
typedef struct {
  int count;
  MPI_Datatype type;
  const int *counts;
  const MPI_Datatype *types;
} Blocks;

static const uint64_t *
list_bytes (int slot, Blocks blocks, int n)
{
  uint64_t *bytes = recorder_scratch (slot, (size_t) n * sizeof *bytes);
  uint64_t unit = blocks.types == NULL ? recorder_bytes (1, blocks.type) : 0;

  for (int i = 0; i < n; i++) {
    int count = blocks.counts != NULL ? blocks.counts[i] : blocks.count;

    if (blocks.types != NULL)
      bytes[i] = recorder_bytes (count, blocks.types[i]);
    else
      bytes[i] = count > 0 ? (uint64_t) count * unit : 0;
  }
  return bytes;
}

static void
set_counts (RecorderCall *call, Blocks blocks, int n)
{
  call->op.counts = list_bytes (RECORDER_COUNTS, blocks, n);
  call->op.n_counts = (uint32_t) n;
}

static void
set_recv_counts (RecorderCall *call, Blocks blocks, int n)
{
  call->op.recv_counts = list_bytes (RECORDER_RECV_COUNTS, blocks, n);
  call->op.n_recv_counts = (uint32_t) n;
}

/* --- From one and to one --- */

static void
describe_gather (RecorderCall *call, const void *send, int count, MPI_Datatype type, int recv_count,
                 MPI_Datatype recv_type, int root, MPI_Comm handle)
{
  RecorderComm *comm = describe_rooted (call, TRACE_OP_GATHER, root, handle);

  if (!recorder_is_supported (call))
    return;
  if (comm->rank == root)
    call->op.recv_bytes = recorder_bytes (recv_count, recv_type);
  call->op.bytes = send == MPI_IN_PLACE ? call->op.recv_bytes : recorder_bytes (count, type);
}

static void
describe_gatherv (RecorderCall *call, const void *send, int count, MPI_Datatype type,
                  const int *recv_counts, MPI_Datatype recv_type, int root, MPI_Comm handle)
{
  RecorderComm *comm = describe_rooted (call, TRACE_OP_GATHERV, root, handle);

  if (!recorder_is_supported (call))
    return;
  if (comm->rank == root)
    set_recv_counts (call, (Blocks){ .counts = recv_counts, .type = recv_type }, comm->size);
  call->op.bytes = send == MPI_IN_PLACE ? recorder_bytes (recv_counts[root], recv_type)
                                        : recorder_bytes (count, type);
}

static void
describe_scatter (RecorderCall *call, int count, MPI_Datatype type, const void *recv,
                  int recv_count, MPI_Datatype recv_type, int root, MPI_Comm handle)
{
  RecorderComm *comm = describe_rooted (call, TRACE_OP_SCATTER, root, handle);

  if (!recorder_is_supported (call))
    return;
  if (comm->rank == root)
    call->op.bytes = recorder_bytes (count, type);
  call->op.recv_bytes =
      recv == MPI_IN_PLACE ? call->op.bytes : recorder_bytes (recv_count, recv_type);
}

static void
describe_scatterv (RecorderCall *call, const int *counts, MPI_Datatype type, const void *recv,
                   int recv_count, MPI_Datatype recv_type, int root, MPI_Comm handle)
{
  RecorderComm *comm = describe_rooted (call, TRACE_OP_SCATTERV, root, handle);

  if (!recorder_is_supported (call))
    return;
  if (comm->rank == root)
    set_counts (call, (Blocks){ .counts = counts, .type = type }, comm->size);
  call->op.recv_bytes = recv == MPI_IN_PLACE ? recorder_bytes (counts[root], type)
                                             : recorder_bytes (recv_count, recv_type);
}

COLLECTIVE (Bcast, Ibcast, (void *data, int count, MPI_Datatype type, int root, MPI_Comm comm),
            (data, count, type, root, comm), describe_rooted (&call, TRACE_OP_BCAST, root, comm);
            op->bytes = recorder_bytes (count, type))

COLLECTIVE (Gather, Igather,
            (const void *send, int count, MPI_Datatype type, void *recv, int recv_count,
             MPI_Datatype recv_type, int root, MPI_Comm comm),
            (send, count, type, recv, recv_count, recv_type, root, comm),
            describe_gather (&call, send, count, type, recv_count, recv_type, root, comm))

COLLECTIVE (Gatherv, Igatherv,
            (const void *send, int count, MPI_Datatype type, void *recv, const int *recv_counts,
             const int *places, MPI_Datatype recv_type, int root, MPI_Comm comm),
            (send, count, type, recv, recv_counts, places, recv_type, root, comm),
            describe_gatherv (&call, send, count, type, recv_counts, recv_type, root, comm))

COLLECTIVE (Scatter, Iscatter,
            (const void *send, int count, MPI_Datatype type, void *recv, int recv_count,
             MPI_Datatype recv_type, int root, MPI_Comm comm),
            (send, count, type, recv, recv_count, recv_type, root, comm),
            describe_scatter (&call, count, type, recv, recv_count, recv_type, root, comm))

COLLECTIVE (Scatterv, Iscatterv,
            (const void *send, const int *counts, const int *places, MPI_Datatype type, void *recv,
             int recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm),
            (send, counts, places, type, recv, recv_count, recv_type, root, comm),
            describe_scatterv (&call, counts, type, recv, recv_count, recv_type, root, comm))

/* --- From all to all --- */

static void
describe_all (RecorderCall *call, TraceOpKind kind, const void *send, int count, MPI_Datatype type,
              int recv_count, MPI_Datatype recv_type, MPI_Comm comm)
{
  recorder_describe_collective (call, kind, comm);
  call->op.recv_bytes = recorder_bytes (recv_count, recv_type);
  call->op.bytes = send == MPI_IN_PLACE ? call->op.recv_bytes : recorder_bytes (count, type);
}

static void
describe_allgatherv (RecorderCall *call, const void *send, int count, MPI_Datatype type,
                     const int *recv_counts, MPI_Datatype recv_type, MPI_Comm handle)
{
  RecorderComm *comm = recorder_describe_collective (call, TRACE_OP_ALLGATHERV, handle);

  if (!recorder_is_supported (call))
    return;
  set_recv_counts (call, (Blocks){ .counts = recv_counts, .type = recv_type }, comm->size);
  call->op.bytes = send == MPI_IN_PLACE ? recorder_bytes (recv_counts[comm->rank], recv_type)
                                        : recorder_bytes (count, type);
}

static void
describe_alltoallv (RecorderCall *call, const void *send, Blocks sent, Blocks received,
                    MPI_Comm handle)
{
  RecorderComm *comm = recorder_describe_collective (call, TRACE_OP_ALLTOALLV, handle);

  if (!recorder_is_supported (call))
    return;
  set_recv_counts (call, received, comm->size);
  if (send == MPI_IN_PLACE) {
    call->op.counts = call->op.recv_counts;
    call->op.n_counts = call->op.n_recv_counts;
  } else
    set_counts (call, sent, comm->size);
}

COLLECTIVE (Barrier, Ibarrier, (MPI_Comm comm), (comm),
            recorder_describe_collective (&call, TRACE_OP_BARRIER, comm))

COLLECTIVE (Allgather, Iallgather,
            (const void *send, int count, MPI_Datatype type, void *recv, int recv_count,
             MPI_Datatype recv_type, MPI_Comm comm),
            (send, count, type, recv, recv_count, recv_type, comm),
            describe_all (&call, TRACE_OP_ALLGATHER, send, count, type, recv_count, recv_type,
                          comm))

COLLECTIVE (Allgatherv, Iallgatherv,
            (const void *send, int count, MPI_Datatype type, void *recv, const int *recv_counts,
             const int *places, MPI_Datatype recv_type, MPI_Comm comm),
            (send, count, type, recv, recv_counts, places, recv_type, comm),
            describe_allgatherv (&call, send, count, type, recv_counts, recv_type, comm))

COLLECTIVE (Alltoall, Ialltoall,
            (const void *send, int count, MPI_Datatype type, void *recv, int recv_count,
             MPI_Datatype recv_type, MPI_Comm comm),
            (send, count, type, recv, recv_count, recv_type, comm),
            describe_all (&call, TRACE_OP_ALLTOALL, send, count, type, recv_count, recv_type, comm))

COLLECTIVE (Alltoallv, Ialltoallv,
            (const void *send, const int *counts, const int *places, MPI_Datatype type, void *recv,
             const int *recv_counts, const int *recv_places, MPI_Datatype recv_type, MPI_Comm comm),
            (send, counts, places, type, recv, recv_counts, recv_places, recv_type, comm),
            describe_alltoallv (&call, send, (Blocks){ .counts = counts, .type = type },
                                (Blocks){ .counts = recv_counts, .type = recv_type }, comm))

COLLECTIVE (Alltoallw, Ialltoallw,
            (const void *send, const int *counts, const int *places, const MPI_Datatype *types,
             void *recv, const int *recv_counts, const int *recv_places,
             const MPI_Datatype *recv_types, MPI_Comm comm),
            (send, counts, places, types, recv, recv_counts, recv_places, recv_types, comm),
            describe_alltoallv (&call, send, (Blocks){ .counts = counts, .types = types },
                                (Blocks){ .counts = recv_counts, .types = recv_types }, comm))

/* --- Reductions --- */

static void
describe_reduction (RecorderCall *call, TraceOpKind kind, int count, MPI_Datatype type,
                    MPI_Comm comm)
{
  recorder_describe_collective (call, kind, comm);
  call->op.bytes = recorder_bytes (count, type);
}

static void
describe_reduce_scatter (RecorderCall *call, Blocks blocks, MPI_Comm handle)
{
  RecorderComm *comm = recorder_describe_collective (call, TRACE_OP_REDUCE_SCATTER, handle);

  if (recorder_is_supported (call))
    set_recv_counts (call, blocks, comm->size);
}

COLLECTIVE (Reduce, Ireduce,
            (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op operation, int root,
             MPI_Comm comm),
            (send, recv, count, type, operation, root, comm),
            describe_rooted (&call, TRACE_OP_REDUCE, root, comm);
            op->bytes = recorder_bytes (count, type))

#define REDUCTION(name, iname, kind)                                                         \
  COLLECTIVE (name, iname,                                                                   \
              (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op operation, \
               MPI_Comm comm),                                                               \
              (send, recv, count, type, operation, comm),                                    \
              describe_reduction (&call, kind, count, type, comm))

REDUCTION (Allreduce, Iallreduce, TRACE_OP_ALLREDUCE)
REDUCTION (Scan, Iscan, TRACE_OP_SCAN)
REDUCTION (Exscan, Iexscan, TRACE_OP_EXSCAN)

COLLECTIVE (Reduce_scatter, Ireduce_scatter,
            (const void *send, void *recv, const int *counts, MPI_Datatype type, MPI_Op operation,
             MPI_Comm comm),
            (send, recv, counts, type, operation, comm),
            describe_reduce_scatter (&call, (Blocks){ .counts = counts, .type = type }, comm))

COLLECTIVE (Reduce_scatter_block, Ireduce_scatter_block,
            (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op operation,
             MPI_Comm comm),
            (send, recv, count, type, operation, comm),
            describe_reduce_scatter (&call, (Blocks){ .count = count, .type = type }, comm))

/* --- Collectives of neighbourhoods, blocking and not --- */

static void
allocate_neighbors (RecorderComm *comm, int n_in, int n_out)
{
  comm->n_in = n_in;
  comm->n_out = n_out;
  comm->in = realloc (comm->in, ((size_t) n_in + 1) * sizeof *comm->in);
  comm->out = realloc (comm->out, ((size_t) n_out + 1) * sizeof *comm->out);
  if (comm->in == NULL || comm->out == NULL)
    abort ();
}

static RecorderComm *
describe_neighbors (RecorderCall *call, TraceOpKind kind, MPI_Comm handle)
{
  RecorderComm *comm = recorder_describe_collective (call, kind, handle);
  int topology;

  if (!recorder_is_supported (call) || comm->has_neighbors)
    return comm;
  recorder_mpi.Topo_test (handle, &topology);
  if (topology == MPI_CART) {
    /* MPI 3.1, section 7.6: in each dimension first the one before, then the one
     * after, and these are both the sources and the destinations. */
    int n_dims;

    recorder_mpi.Cartdim_get (handle, &n_dims);
    allocate_neighbors (comm, 2 * n_dims, 2 * n_dims);
    for (int i = 0; i < n_dims; i++)
      recorder_mpi.Cart_shift (handle, i, 1, &comm->in[2 * i], &comm->in[2 * i + 1]);
    memcpy (comm->out, comm->in, 2 * (size_t) n_dims * sizeof *comm->out);
  } else if (topology == MPI_GRAPH) {
    int n;

    recorder_mpi.Graph_neighbors_count (handle, comm->rank, &n);
    allocate_neighbors (comm, n, n);
    recorder_mpi.Graph_neighbors (handle, comm->rank, n, comm->in);
    memcpy (comm->out, comm->in, (size_t) n * sizeof *comm->out);
  } else if (topology == MPI_DIST_GRAPH) {
    int n_in, n_out, is_weighted, *weights;

    recorder_mpi.Dist_graph_neighbors_count (handle, &n_in, &n_out, &is_weighted);
    allocate_neighbors (comm, n_in, n_out);
    weights = recorder_scratch (RECORDER_INDICES, ((size_t) n_in + n_out + 2) * sizeof *weights);
    recorder_mpi.Dist_graph_neighbors (handle, n_in, comm->in, weights, n_out, comm->out,
                                       weights + n_in + 1);
  }
  comm->has_neighbors = true;
  return comm;
}

/* The neighbours that exist and their bytes; returns how many. */
static uint32_t
list_edges (const int32_t *neighbors, int n, Blocks blocks, int32_t *ranks, uint64_t *bytes)
{
  uint32_t n_listed = 0;

  for (int i = 0; i < n; i++)
    if (neighbors[i] != MPI_PROC_NULL) {
      ranks[n_listed] = neighbors[i];
      bytes[n_listed++] = recorder_bytes (blocks.counts != NULL ? blocks.counts[i] : blocks.count,
                                          blocks.types != NULL ? blocks.types[i] : blocks.type);
    }
  return n_listed;
}

static void
describe_edges (RecorderCall *call, const RecorderComm *comm, Blocks send, Blocks recv)
{
  size_t n_out = (size_t) comm->n_out + 1, n_in = (size_t) comm->n_in + 1;
  int32_t *to = recorder_scratch (RECORDER_VALUES, n_out * sizeof *to);
  int32_t *from = recorder_scratch (RECORDER_VALUES2, n_in * sizeof *from);
  uint64_t *bytes = recorder_scratch (RECORDER_COUNTS, n_out * sizeof *bytes);
  uint64_t *recv_bytes = recorder_scratch (RECORDER_RECV_COUNTS, n_in * sizeof *recv_bytes);
  TraceOp *op = &call->op;

  if (!recorder_is_supported (call))
    return;
  op->n_values = op->n_counts = list_edges (comm->out, comm->n_out, send, to, bytes);
  call->n_values2 = op->n_recv_counts = list_edges (comm->in, comm->n_in, recv, from, recv_bytes);
  op->values = to;
  op->values2 = from;
  op->counts = bytes;
  op->recv_counts = recv_bytes;
}

#define NEIGHBORS(name, iname, kind, parameters, arguments, send_edges, recv_edges) \
  COLLECTIVE (name, iname, parameters, arguments,                                   \
              describe_edges (&call, describe_neighbors (&call, kind, comm),        \
                              (Blocks){ UNPACK send_edges }, (Blocks){ UNPACK recv_edges }))

NEIGHBORS (Neighbor_allgather, Ineighbor_allgather, TRACE_OP_NEIGHBOR_ALLGATHER,
           (const void *send, int count, MPI_Datatype type, void *recv, int recv_count,
            MPI_Datatype recv_type, MPI_Comm comm),
           (send, count, type, recv, recv_count, recv_type, comm), (.count = count, .type = type),
           (.count = recv_count, .type = recv_type))

NEIGHBORS (Neighbor_allgatherv, Ineighbor_allgatherv, TRACE_OP_NEIGHBOR_ALLGATHER,
           (const void *send, int count, MPI_Datatype type, void *recv, const int *recv_counts,
            const int *places, MPI_Datatype recv_type, MPI_Comm comm),
           (send, count, type, recv, recv_counts, places, recv_type, comm),
           (.count = count, .type = type), (.counts = recv_counts, .type = recv_type))

NEIGHBORS (Neighbor_alltoall, Ineighbor_alltoall, TRACE_OP_NEIGHBOR_ALLTOALL,
           (const void *send, int count, MPI_Datatype type, void *recv, int recv_count,
            MPI_Datatype recv_type, MPI_Comm comm),
           (send, count, type, recv, recv_count, recv_type, comm), (.count = count, .type = type),
           (.count = recv_count, .type = recv_type))

NEIGHBORS (Neighbor_alltoallv, Ineighbor_alltoallv, TRACE_OP_NEIGHBOR_ALLTOALL,
           (const void *send, const int *counts, const int *places, MPI_Datatype type, void *recv,
            const int *recv_counts, const int *recv_places, MPI_Datatype recv_type, MPI_Comm comm),
           (send, counts, places, type, recv, recv_counts, recv_places, recv_type, comm),
           (.counts = counts, .type = type), (.counts = recv_counts, .type = recv_type))

NEIGHBORS (Neighbor_alltoallw, Ineighbor_alltoallw, TRACE_OP_NEIGHBOR_ALLTOALL,
           (const void *send, const int *counts, const MPI_Aint *places, const MPI_Datatype *types,
            void *recv, const int *recv_counts, const MPI_Aint *recv_places,
            const MPI_Datatype *recv_types, MPI_Comm comm),
           (send, counts, places, types, recv, recv_counts, recv_places, recv_types, comm),
           (.counts = counts, .types = types), (.counts = recv_counts, .types = recv_types))
