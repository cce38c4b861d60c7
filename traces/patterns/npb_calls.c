/* npb_calls.c - the calls that the kernels have in common.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/patterns/npb.h"

void
npb_call (TraceBatch *batch, const char *name)
{
  trace_batch_add (batch, TRACE_OP_CALL, name);
}

void
npb_comm_split (TraceBatch *batch, int32_t color, int32_t key, uint32_t new_comm)
{
  TraceOp *op = trace_batch_add (batch, TRACE_OP_COMM_SPLIT, "MPI_Comm_split");

  op->color = color;
  op->key = key;
  op->new_comm = new_comm;
}

void
npb_comm_dup (TraceBatch *batch, uint32_t comm, uint32_t new_comm)
{
  TraceOp *op = trace_batch_add (batch, TRACE_OP_COMM_DUP, "MPI_Comm_dup");

  op->comm = comm;
  op->new_comm = new_comm;
}

static TraceOp *
add_collective (TraceBatch *batch, TraceOpKind kind, const char *name, uint32_t comm,
                uint64_t bytes)
{
  TraceOp *op = trace_batch_add (batch, kind, name);

  op->comm = comm;
  op->bytes = bytes;
  return op;
}

void
npb_barrier (TraceBatch *batch, uint32_t comm)
{
  add_collective (batch, TRACE_OP_BARRIER, "MPI_Barrier", comm, 0);
}

void
npb_bcast (TraceBatch *batch, uint32_t comm, uint64_t bytes)
{
  add_collective (batch, TRACE_OP_BCAST, "MPI_Bcast", comm, bytes)->root = 0;
}

void
npb_reduce (TraceBatch *batch, uint32_t comm, uint64_t bytes)
{
  add_collective (batch, TRACE_OP_REDUCE, "MPI_Reduce", comm, bytes)->root = 0;
}

void
npb_allreduce (TraceBatch *batch, uint32_t comm, uint64_t bytes)
{
  add_collective (batch, TRACE_OP_ALLREDUCE, "MPI_Allreduce", comm, bytes);
}

void
npb_alltoall (TraceBatch *batch, uint32_t comm, uint64_t bytes)
{
  add_collective (batch, TRACE_OP_ALLTOALL, "MPI_Alltoall", comm, bytes)->recv_bytes = bytes;
}

static void
add_message (TraceBatch *batch, TraceOpKind kind, const char *name, uint32_t comm, int32_t peer,
             int32_t tag, uint64_t bytes, uint32_t request)
{
  TraceOp *op = trace_batch_add (batch, kind, name);

  op->comm = comm;
  op->peer = peer;
  op->tag = tag;
  op->bytes = bytes;
  op->request = request;
}

void
npb_isend (TraceBatch *batch, uint32_t comm, int32_t peer, int32_t tag, uint64_t bytes,
           uint32_t request)
{
  add_message (batch, TRACE_OP_ISEND, "MPI_Isend", comm, peer, tag, bytes, request);
}

void
npb_irecv (TraceBatch *batch, uint32_t comm, int32_t peer, int32_t tag, uint64_t bytes,
           uint32_t request)
{
  add_message (batch, TRACE_OP_IRECV, "MPI_Irecv", comm, peer, tag, bytes, request);
}

void
npb_exchange (TraceBatch *batch, int32_t from, uint64_t from_bytes, int32_t to, uint64_t to_bytes,
              int32_t tag)
{
  if (from >= 0)
    trace_batch_irecv (batch, from, tag, from_bytes, TRACE_BATCH_FIRST_REQUEST);
  trace_batch_send (batch, to, tag, to_bytes);
  if (from >= 0)
    trace_batch_wait (batch, TRACE_BATCH_FIRST_REQUEST, 1);
}

void
npb_compute (const Npb *npb, TraceBatch *batch, double share)
{
  if (npb->flops * share > 0)
    trace_batch_add (batch, TRACE_OP_COMPUTE, "compute")->flops = npb->flops * share;
}
