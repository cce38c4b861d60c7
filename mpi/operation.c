/* operation.c - names of operations, and the meaning of their sizes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sizes of collectives, in bytes.  "Own" is the contribution or the result of
 * this rank, "peer" the part to or from one other rank; "root" marks fields that
 * are set on the root alone.  Other fields are 0 or NULL, and must not be read.
 *
 *   operation        bytes         counts[]      recv_bytes    recv_counts[]
 *   barrier          -             -             -             -
 *   bcast            the payload   -             -             -
 *   gather           own           -             peer (root)   -
 *   gatherv          own           -             -             per peer (root)
 *   scatter          peer (root)   -             own           -
 *   scatterv         -             per peer (root) own         -
 *   allgather        own           -             peer          -
 *   allgatherv       own           -             -             per peer
 *   alltoall         peer          -             peer          -
 *   alltoallv        -             per peer      -             per peer
 *   reduce, scan,
 *   allreduce,
 *   exscan           the vector    -             -             -
 *   reduce_scatter   -             -             -             the part per rank
 *   neighbor_*       -             per values[]  -             per values2[]
 *
 * Alltoallw is alltoallv: its datatypes are already multiplied in.  Where
 * MPI_IN_PLACE makes the sending side of an allgather or alltoall void, bytes
 * is set from the receiving side. */
#include "mpi/operation.h"

#include "mpi/trace_error.h"

#include <glib.h>

static const char *const names[] = {
  [TRACE_OP_COMPUTE] = "compute",
  [TRACE_OP_INIT] = "init",
  [TRACE_OP_FINALIZE] = "finalize",
  [TRACE_OP_CALL] = "call",
  [TRACE_OP_SEND] = "send",
  [TRACE_OP_ISEND] = "isend",
  [TRACE_OP_SEND_INIT] = "send_init",
  [TRACE_OP_RECV] = "recv",
  [TRACE_OP_IRECV] = "irecv",
  [TRACE_OP_RECV_INIT] = "recv_init",
  [TRACE_OP_SENDRECV] = "sendrecv",
  [TRACE_OP_START] = "start",
  [TRACE_OP_PROBE] = "probe",
  [TRACE_OP_IPROBE] = "iprobe",
  [TRACE_OP_CANCEL] = "cancel",
  [TRACE_OP_REQUEST_FREE] = "request_free",
  [TRACE_OP_WAIT] = "wait",
  [TRACE_OP_WAIT_SOME] = "wait_some",
  [TRACE_OP_WAIT_OUTSTANDING] = "wait_outstanding",
  [TRACE_OP_TEST] = "test",
  [TRACE_OP_BARRIER] = "barrier",
  [TRACE_OP_BCAST] = "bcast",
  [TRACE_OP_GATHER] = "gather",
  [TRACE_OP_GATHERV] = "gatherv",
  [TRACE_OP_SCATTER] = "scatter",
  [TRACE_OP_SCATTERV] = "scatterv",
  [TRACE_OP_ALLGATHER] = "allgather",
  [TRACE_OP_ALLGATHERV] = "allgatherv",
  [TRACE_OP_ALLTOALL] = "alltoall",
  [TRACE_OP_ALLTOALLV] = "alltoallv",
  [TRACE_OP_REDUCE] = "reduce",
  [TRACE_OP_ALLREDUCE] = "allreduce",
  [TRACE_OP_REDUCE_SCATTER] = "reduce_scatter",
  [TRACE_OP_SCAN] = "scan",
  [TRACE_OP_EXSCAN] = "exscan",
  [TRACE_OP_NEIGHBOR_ALLGATHER] = "neighbor_allgather",
  [TRACE_OP_NEIGHBOR_ALLTOALL] = "neighbor_alltoall",
  [TRACE_OP_WIN_CREATE] = "win_create",
  [TRACE_OP_WIN_FREE] = "win_free",
  [TRACE_OP_WIN_FENCE] = "win_fence",
  [TRACE_OP_PUT] = "put",
  [TRACE_OP_GET] = "get",
  [TRACE_OP_FETCH] = "fetch",
  [TRACE_OP_WIN_FLUSH] = "win_flush",
  [TRACE_OP_WIN_POST] = "win_post",
  [TRACE_OP_WIN_START] = "win_start",
  [TRACE_OP_WIN_COMPLETE] = "win_complete",
  [TRACE_OP_WIN_WAIT] = "win_wait",
  [TRACE_OP_COMM_DUP] = "comm_dup",
  [TRACE_OP_COMM_SPLIT] = "comm_split",
  [TRACE_OP_COMM_CREATE] = "comm_create",
  [TRACE_OP_COMM_FREE] = "comm_free",
  [TRACE_OP_COMM_DEFINE] = "comm_define",
  [TRACE_OP_CART_CREATE] = "cart_create",
  [TRACE_OP_CART_SUB] = "cart_sub",
  [TRACE_OP_GRAPH_CREATE] = "graph_create",
  [TRACE_OP_COMM_GROUP] = "comm_group",
  [TRACE_OP_GROUP_INCL] = "group_incl",
  [TRACE_OP_GROUP_EXCL] = "group_excl",
  [TRACE_OP_GROUP_RANGE_INCL] = "group_range_incl",
  [TRACE_OP_GROUP_RANGE_EXCL] = "group_range_excl",
  [TRACE_OP_GROUP_UNION] = "group_union",
  [TRACE_OP_GROUP_INTERSECTION] = "group_intersection",
  [TRACE_OP_GROUP_DIFFERENCE] = "group_difference",
  [TRACE_OP_GROUP_FREE] = "group_free",
  [TRACE_OP_UNSUPPORTED] = "unsupported",
};

G_STATIC_ASSERT (G_N_ELEMENTS (names) == TRACE_N_OPS);

const char *
trace_op_name (TraceOpKind kind)
{
  g_assert (kind < TRACE_N_OPS);
  return names[kind];
}

GQuark
trace_error_quark (void)
{
  return g_quark_from_static_string ("trace-error-quark");
}
