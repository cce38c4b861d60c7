/* recorder_neighbor.c - collectives of neighbourhoods, blocking and not.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/recorder/recorder_wrap.h"

#include <stdlib.h>
#include <string.h>

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

/* MPI 3.1, section 7.6: in each dimension first the one before, then the one
 * after, and these are both the sources and the destinations. */
static void
find_cart_neighbors (RecorderComm *comm, MPI_Comm handle)
{
  int n_dims;

  recorder_mpi.Cartdim_get (handle, &n_dims);
  allocate_neighbors (comm, 2 * n_dims, 2 * n_dims);
  for (int i = 0; i < n_dims; i++)
    recorder_mpi.Cart_shift (handle, i, 1, &comm->in[2 * i], &comm->in[2 * i + 1]);
  memcpy (comm->out, comm->in, 2 * (size_t) n_dims * sizeof *comm->out);
}

static void
find_graph_neighbors (RecorderComm *comm, MPI_Comm handle)
{
  int n;

  recorder_mpi.Graph_neighbors_count (handle, comm->rank, &n);
  allocate_neighbors (comm, n, n);
  recorder_mpi.Graph_neighbors (handle, comm->rank, n, comm->in);
  memcpy (comm->out, comm->in, (size_t) n * sizeof *comm->out);
}

static void
find_dist_graph_neighbors (RecorderComm *comm, MPI_Comm handle)
{
  int n_in, n_out, is_weighted, *weights;

  recorder_mpi.Dist_graph_neighbors_count (handle, &n_in, &n_out, &is_weighted);
  allocate_neighbors (comm, n_in, n_out);
  weights = recorder_scratch (RECORDER_INDICES, ((size_t) n_in + n_out + 2) * sizeof *weights);
  recorder_mpi.Dist_graph_neighbors (handle, n_in, comm->in, weights, n_out, comm->out,
                                     weights + n_in + 1);
}

static RecorderComm *
describe_neighbors (RecorderCall *call, TraceOpKind kind, MPI_Comm handle)
{
  RecorderComm *comm = recorder_describe_collective (call, kind, handle);
  int topology;

  if (!recorder_is_supported (call) || comm->has_neighbors)
    return comm;
  recorder_mpi.Topo_test (handle, &topology);
  if (topology == MPI_CART)
    find_cart_neighbors (comm, handle);
  else if (topology == MPI_GRAPH)
    find_graph_neighbors (comm, handle);
  else if (topology == MPI_DIST_GRAPH)
    find_dist_graph_neighbors (comm, handle);
  comm->has_neighbors = true;
  return comm;
}

/* What goes over one edge is counts[i] of types[i] when there are counts and
 * types, else the same over all. */
typedef struct {
  int count;
  MPI_Datatype type;
  const int *counts;
  const MPI_Datatype *types;
} Edges;

static uint64_t
edge_bytes (const Edges *edges, int i)
{
  return recorder_bytes (edges->counts != NULL ? edges->counts[i] : edges->count,
                         edges->types != NULL ? edges->types[i] : edges->type);
}

/* The neighbours that exist and their bytes; returns how many. */
static uint32_t
list_edges (const int32_t *neighbors, int n, const Edges *edges, int32_t *ranks, uint64_t *bytes)
{
  uint32_t n_listed = 0;

  for (int i = 0; i < n; i++)
    if (neighbors[i] != MPI_PROC_NULL) {
      ranks[n_listed] = neighbors[i];
      bytes[n_listed++] = edge_bytes (edges, i);
    }
  return n_listed;
}

static void
describe_edges (RecorderCall *call, const RecorderComm *comm, Edges send, Edges recv)
{
  size_t n_out = (size_t) comm->n_out + 1, n_in = (size_t) comm->n_in + 1;
  int32_t *to = recorder_scratch (RECORDER_VALUES, n_out * sizeof *to);
  int32_t *from = recorder_scratch (RECORDER_VALUES2, n_in * sizeof *from);
  uint64_t *bytes = recorder_scratch (RECORDER_COUNTS, n_out * sizeof *bytes);
  uint64_t *recv_bytes = recorder_scratch (RECORDER_RECV_COUNTS, n_in * sizeof *recv_bytes);
  TraceOp *op = &call->op;

  if (!recorder_is_supported (call))
    return;
  op->n_values = op->n_counts = list_edges (comm->out, comm->n_out, &send, to, bytes);
  call->n_values2 = op->n_recv_counts = list_edges (comm->in, comm->n_in, &recv, from, recv_bytes);
  op->values = to;
  op->values2 = from;
  op->counts = bytes;
  op->recv_counts = recv_bytes;
}

#define NEIGHBORS(name, iname, kind, parameters, arguments, send_edges, recv_edges) \
  COLLECTIVE (name, iname, parameters, arguments,                                   \
              describe_edges (&call, describe_neighbors (&call, kind, comm),        \
                              (Edges){ UNPACK send_edges }, (Edges){ UNPACK recv_edges }))

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
