/* recorder_collective.c - collectives, blocking and not.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What bytes, recv_bytes, counts and recv_counts are of each kind is in
 * operation.c.  An argument that MPI does not look at, here or on this rank,
 * is not looked at either. */
#include "traces/recorder/recorder_wrap.h"

static RecorderComm *
describe_rooted (RecorderCall *call, TraceOpKind kind, int root, MPI_Comm comm)
{
  call->op.root = root;
  return recorder_describe_collective (call, kind, comm);
}

static void
set_counts (RecorderCall *call, const uint64_t *bytes, int n)
{
  call->op.counts = bytes;
  call->op.n_counts = (uint32_t) n;
}

static void
set_recv_counts (RecorderCall *call, const uint64_t *bytes, int n)
{
  call->op.recv_counts = bytes;
  call->op.n_recv_counts = (uint32_t) n;
}

/* n counts of one type. */
static const uint64_t *
list_bytes (int slot, const int *counts, MPI_Datatype type, int n)
{
  uint64_t *bytes = recorder_scratch (slot, (size_t) n * sizeof *bytes);
  uint64_t unit = recorder_bytes (1, type);

  for (int i = 0; i < n; i++)
    bytes[i] = (uint64_t) counts[i] * unit;
  return bytes;
}

static const uint64_t *
list_typed_bytes (int slot, const int *counts, const MPI_Datatype *types, int n)
{
  uint64_t *bytes = recorder_scratch (slot, (size_t) n * sizeof *bytes);

  for (int i = 0; i < n; i++)
    bytes[i] = recorder_bytes (counts[i], types[i]);
  return bytes;
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
    set_recv_counts (call, list_bytes (RECORDER_RECV_COUNTS, recv_counts, recv_type, comm->size),
                     comm->size);
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
    set_counts (call, list_bytes (RECORDER_COUNTS, counts, type, comm->size), comm->size);
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
  set_recv_counts (call, list_bytes (RECORDER_RECV_COUNTS, recv_counts, recv_type, comm->size),
                   comm->size);
  call->op.bytes = send == MPI_IN_PLACE ? recorder_bytes (recv_counts[comm->rank], recv_type)
                                        : recorder_bytes (count, type);
}

static void
describe_alltoallv (RecorderCall *call, const void *send, const int *counts, MPI_Datatype type,
                    const int *recv_counts, MPI_Datatype recv_type, MPI_Comm handle)
{
  RecorderComm *comm = recorder_describe_collective (call, TRACE_OP_ALLTOALLV, handle);

  if (!recorder_is_supported (call))
    return;
  set_recv_counts (call, list_bytes (RECORDER_RECV_COUNTS, recv_counts, recv_type, comm->size),
                   comm->size);
  if (send == MPI_IN_PLACE)
    set_counts (call, call->op.recv_counts, comm->size);
  else
    set_counts (call, list_bytes (RECORDER_COUNTS, counts, type, comm->size), comm->size);
}

static void
describe_alltoallw (RecorderCall *call, const void *send, const int *counts,
                    const MPI_Datatype *types, const int *recv_counts,
                    const MPI_Datatype *recv_types, MPI_Comm handle)
{
  RecorderComm *comm = recorder_describe_collective (call, TRACE_OP_ALLTOALLV, handle);

  if (!recorder_is_supported (call))
    return;
  set_recv_counts (call,
                   list_typed_bytes (RECORDER_RECV_COUNTS, recv_counts, recv_types, comm->size),
                   comm->size);
  if (send == MPI_IN_PLACE)
    set_counts (call, call->op.recv_counts, comm->size);
  else
    set_counts (call, list_typed_bytes (RECORDER_COUNTS, counts, types, comm->size), comm->size);
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
            describe_alltoallv (&call, send, counts, type, recv_counts, recv_type, comm))

COLLECTIVE (Alltoallw, Ialltoallw,
            (const void *send, const int *counts, const int *places, const MPI_Datatype *types,
             void *recv, const int *recv_counts, const int *recv_places,
             const MPI_Datatype *recv_types, MPI_Comm comm),
            (send, counts, places, types, recv, recv_counts, recv_places, recv_types, comm),
            describe_alltoallw (&call, send, counts, types, recv_counts, recv_types, comm))

/* --- Reductions --- */

static void
describe_reduction (RecorderCall *call, TraceOpKind kind, int count, MPI_Datatype type,
                    MPI_Comm comm)
{
  recorder_describe_collective (call, kind, comm);
  call->op.bytes = recorder_bytes (count, type);
}

static void
describe_reduce_scatter (RecorderCall *call, const int *counts, MPI_Datatype type, MPI_Comm handle)
{
  RecorderComm *comm = recorder_describe_collective (call, TRACE_OP_REDUCE_SCATTER, handle);

  if (recorder_is_supported (call))
    set_recv_counts (call, list_bytes (RECORDER_RECV_COUNTS, counts, type, comm->size), comm->size);
}

static void
describe_reduce_scatter_block (RecorderCall *call, int count, MPI_Datatype type, MPI_Comm handle)
{
  RecorderComm *comm = recorder_describe_collective (call, TRACE_OP_REDUCE_SCATTER, handle);
  uint64_t *bytes;

  if (!recorder_is_supported (call))
    return;
  bytes = recorder_scratch (RECORDER_RECV_COUNTS, (size_t) comm->size * sizeof *bytes);
  for (int i = 0; i < comm->size; i++)
    bytes[i] = recorder_bytes (count, type);
  set_recv_counts (call, bytes, comm->size);
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
            describe_reduce_scatter (&call, counts, type, comm))

COLLECTIVE (Reduce_scatter_block, Ireduce_scatter_block,
            (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op operation,
             MPI_Comm comm),
            (send, recv, count, type, operation, comm),
            describe_reduce_scatter_block (&call, count, type, comm))
