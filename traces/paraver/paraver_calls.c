/* paraver_calls.c - every MPI call that a Paraver trace can hold.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The values are those of Extrae, and only used where no .pcf file names them
 * (bsc-performance-tools/extrae, src/merger/paraver/MPI_EventEncoding.h and
 * mpi_prv_events.c at 044e8b2).  What is not in the table moves nothing. */
#include "traces/paraver/paraver_format.h"

#define CALL(name, value, kind)                                 \
  {                                                             \
    "MPI_" name, value, 0, TRACE_OP_##kind, TRACE_SEND_STANDARD \
  }
#define PART(name, value, kind, part)                              \
  {                                                                \
    "MPI_" name, value, part, TRACE_OP_##kind, TRACE_SEND_STANDARD \
  }
#define SEND(name, value, kind, part, mode)                      \
  {                                                              \
    "MPI_" name, value, part, TRACE_OP_##kind, TRACE_SEND_##mode \
  }

const ParaverCallKind paraver_calls[] = {
  [PARAVER_CALL_UNKNOWN] = { "MPI call", 0, 0, TRACE_OP_CALL, TRACE_SEND_STANDARD },
  SEND ("Send", 1, SEND, PARAVER_SENDS, STANDARD),
  PART ("Recv", 2, RECV, PARAVER_RECEIVES),
  SEND ("Isend", 3, ISEND, PARAVER_SENDS | PARAVER_AT_ONCE, STANDARD),
  PART ("Irecv", 4, IRECV, PARAVER_RECEIVES | PARAVER_AT_ONCE),
  PART ("Wait", 5, WAIT, PARAVER_COMPLETES),
  PART ("Waitall", 6, WAIT, PARAVER_COMPLETES | PARAVER_COMPLETES_ALL),
  CALL ("Bcast", 7, BCAST),
  CALL ("Barrier", 8, BARRIER),
  CALL ("Reduce", 9, REDUCE),
  CALL ("Allreduce", 10, ALLREDUCE),
  CALL ("Alltoall", 11, ALLTOALL),
  CALL ("Alltoallv", 12, ALLTOALLV),
  CALL ("Gather", 13, GATHER),
  CALL ("Gatherv", 14, GATHERV),
  CALL ("Scatter", 15, SCATTER),
  CALL ("Scatterv", 16, SCATTERV),
  CALL ("Allgather", 17, ALLGATHER),
  CALL ("Allgatherv", 18, ALLGATHERV),
  CALL ("Comm_rank", 19, CALL),
  CALL ("Comm_size", 20, CALL),
  CALL ("Comm_create", 21, CALL),
  CALL ("Comm_dup", 22, CALL),
  CALL ("Comm_split", 23, CALL),
  CALL ("Comm_group", 24, CALL),
  CALL ("Comm_free", 25, CALL),
  CALL ("Scan", 30, SCAN),
  CALL ("Exscan", 0, EXSCAN),
  CALL ("Init", 31, INIT),
  CALL ("Init_thread", 0, INIT),
  CALL ("Finalize", 32, FINALIZE),
  SEND ("Bsend", 33, SEND, PARAVER_SENDS, BUFFERED),
  SEND ("Ssend", 34, SEND, PARAVER_SENDS, SYNCHRONOUS),
  SEND ("Rsend", 35, SEND, PARAVER_SENDS, READY),
  SEND ("Ibsend", 36, ISEND, PARAVER_SENDS | PARAVER_AT_ONCE, BUFFERED),
  SEND ("Issend", 37, ISEND, PARAVER_SENDS | PARAVER_AT_ONCE, SYNCHRONOUS),
  SEND ("Irsend", 38, ISEND, PARAVER_SENDS | PARAVER_AT_ONCE, READY),
  PART ("Test", 39, TEST, PARAVER_COMPLETES),
  CALL ("Cancel", 40, CALL),
  PART ("Sendrecv", 41, SENDRECV, PARAVER_SENDS | PARAVER_RECEIVES),
  PART ("Sendrecv_replace", 42, SENDRECV, PARAVER_SENDS | PARAVER_RECEIVES),
  CALL ("Cart_create", 43, CALL),
  CALL ("Cart_sub", 49, CALL),
  PART ("Waitany", 59, WAIT_SOME, PARAVER_COMPLETES),
  PART ("Waitsome", 60, WAIT_SOME, PARAVER_COMPLETES),
  CALL ("Probe", 61, CALL),
  CALL ("Iprobe", 62, CALL),
  CALL ("Win_create", 63, UNSUPPORTED),
  CALL ("Win_free", 64, UNSUPPORTED),
  CALL ("Put", 65, UNSUPPORTED),
  CALL ("Get", 66, UNSUPPORTED),
  CALL ("Accumulate", 67, UNSUPPORTED),
  CALL ("Get_accumulate", 172, UNSUPPORTED),
  CALL ("Win_fence", 68, UNSUPPORTED),
  CALL ("Win_start", 69, UNSUPPORTED),
  CALL ("Win_complete", 70, UNSUPPORTED),
  CALL ("Win_post", 71, UNSUPPORTED),
  CALL ("Win_wait", 72, UNSUPPORTED),
  CALL ("Win_lock", 74, UNSUPPORTED),
  CALL ("Win_unlock", 75, UNSUPPORTED),
  CALL ("Reduce_scatter", 80, REDUCE_SCATTER),
  CALL ("Intercomm_create", 96, UNSUPPORTED),
  CALL ("Intercomm_merge", 97, UNSUPPORTED),
  CALL ("Bsend_init", 112, CALL),
  CALL ("Request_free", 115, CALL),
  CALL ("Recv_init", 116, CALL),
  CALL ("Send_init", 117, CALL),
  CALL ("Rsend_init", 121, CALL),
  CALL ("Ssend_init", 122, CALL),
  PART ("Start", 123, START, PARAVER_STARTS),
  PART ("Startall", 124, START, PARAVER_STARTS),
  PART ("Testall", 125, TEST, PARAVER_COMPLETES),
  PART ("Testany", 126, TEST, PARAVER_COMPLETES),
  PART ("Testsome", 128, TEST, PARAVER_COMPLETES),
  CALL ("Comm_spawn", 151, UNSUPPORTED),
  CALL ("Comm_spawn_multiple", 152, UNSUPPORTED),
  CALL ("Request_get_status", 153, CALL),
  PART ("Ireduce", 154, REDUCE, PARAVER_AT_ONCE),
  PART ("Iallreduce", 155, ALLREDUCE, PARAVER_AT_ONCE),
  PART ("Ibarrier", 156, BARRIER, PARAVER_AT_ONCE),
  PART ("Ibcast", 157, BCAST, PARAVER_AT_ONCE),
  PART ("Ialltoall", 158, ALLTOALL, PARAVER_AT_ONCE),
  PART ("Ialltoallv", 159, ALLTOALLV, PARAVER_AT_ONCE),
  PART ("Iallgather", 160, ALLGATHER, PARAVER_AT_ONCE),
  PART ("Iallgatherv", 161, ALLGATHERV, PARAVER_AT_ONCE),
  PART ("Igather", 162, GATHER, PARAVER_AT_ONCE),
  PART ("Igatherv", 163, GATHERV, PARAVER_AT_ONCE),
  PART ("Iscatter", 164, SCATTER, PARAVER_AT_ONCE),
  PART ("Iscatterv", 165, SCATTERV, PARAVER_AT_ONCE),
  PART ("Ireduce_scatter", 166, REDUCE_SCATTER, PARAVER_AT_ONCE),
  PART ("Iscan", 167, SCAN, PARAVER_AT_ONCE),
  CALL ("Reduce_scatter_block", 168, REDUCE_SCATTER),
  PART ("Ireduce_scatter_block", 169, REDUCE_SCATTER, PARAVER_AT_ONCE),
  CALL ("Alltoallw", 170, ALLTOALLV),
  CALL ("Neighbor_allgather", 0, UNSUPPORTED),
  CALL ("Neighbor_allgatherv", 0, UNSUPPORTED),
  CALL ("Neighbor_alltoall", 0, UNSUPPORTED),
  CALL ("Neighbor_alltoallv", 0, UNSUPPORTED),
  CALL ("Neighbor_alltoallw", 0, UNSUPPORTED),
  CALL ("Ineighbor_allgather", 0, UNSUPPORTED),
  CALL ("Ineighbor_allgatherv", 0, UNSUPPORTED),
  CALL ("Ineighbor_alltoall", 0, UNSUPPORTED),
  CALL ("Ineighbor_alltoallv", 0, UNSUPPORTED),
  CALL ("Ineighbor_alltoallw", 0, UNSUPPORTED),
  PART ("Ialltoallw", 171, ALLTOALLV, PARAVER_AT_ONCE),
};

const uint32_t paraver_n_calls = G_N_ELEMENTS (paraver_calls);

uint32_t
paraver_call_by_name (const char *name)
{
  for (uint32_t i = 1; i < paraver_n_calls; i++)
    if (g_str_equal (paraver_calls[i].name, name))
      return i;
  return PARAVER_NONE;
}

uint32_t
paraver_call_by_value (uint64_t value)
{
  for (uint32_t i = 1; i < paraver_n_calls; i++)
    if (paraver_calls[i].value == value)
      return i;
  return PARAVER_NONE;
}
