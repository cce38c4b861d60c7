/* recorder.h - the inside of the recorder, a library that is loaded into MPI
 * programs and writes their calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The library is built once for each MPI, with that MPI's mpi.h.  It defines
 * the functions of MPI, under their MPI_ and their PMPI_ names: Fortran
 * libraries of Open MPI call the latter.  It is not linked with an MPI, but
 * looks for the real functions in the program that it finds itself in, so
 * that it does no harm in the launcher and other processes without MPI.
 *
 * No GLib here: a library that is loaded into foreign programs should have no dependencies.
 *
 * A wrapper is made by WRAP (recorder_wrap.h).  It enters, describes the call
 * in call.op, lets MPI do it, and leaves.  Calls that MPI makes itself, while
 * it does one, are not recorded.
 *
 * Threads.  Under MPI_THREAD_MULTIPLE the calls of all threads become one
 * stream, in which a call that blocks would delay the operations of other
 * threads.  Then it is written as two operations: its nonblocking form when
 * the call begins, and a wait when it ends. */
#pragma once

#include "mpi/operation.h"

/* The library exports the functions that MPI declares. */
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#include <stddef.h>

/* --- The real MPI --- */

/* The function called `name`, of the MPI in this process. */
void *recorder_real (const char *name);

/* The functions of MPI that the recorder itself calls, and handles that are not constants in
 * every MPI. */
#define RECORDER_USES(F)         \
  F (Bcast)                      \
  F (Cart_shift)                 \
  F (Cartdim_get)                \
  F (Comm_get_parent)            \
  F (Comm_group)                 \
  F (Comm_rank)                  \
  F (Comm_size)                  \
  F (Comm_test_inter)            \
  F (Dist_graph_neighbors)       \
  F (Dist_graph_neighbors_count) \
  F (Get_library_version)        \
  F (Graph_neighbors)            \
  F (Graph_neighbors_count)      \
  F (Group_free)                 \
  F (Group_size)                 \
  F (Group_translate_ranks)      \
  F (Query_thread)               \
  F (Test_cancelled)             \
  F (Topo_test)                  \
  F (Type_size_x)                \
  F (Win_get_group)

#define RECORDER_POINTER(name) __typeof__ (&MPI_##name) name;
typedef struct {
  RECORDER_USES (RECORDER_POINTER)
  MPI_Comm world, self, no_comm;
  MPI_Request no_request;
  MPI_Message no_message, message_of_no_process;
  MPI_Datatype integer, no_type;
  MPI_Op no_operation;
} RecorderMpi;
#undef RECORDER_POINTER

extern RecorderMpi recorder_mpi;

/* --- Hardware counters of this thread; zeros when there are none --- */

typedef struct {
  uint64_t instructions, cycles;
} RecorderCounters;

/* --- Calls --- */

typedef struct {
  TraceOp op;
  const char *name; /* "MPI_Send" */
  const void *site; /* where the program goes on */
  int64_t enter_ns;
  int64_t leave_ns;         /* 0: when recorder_leave() is called */
  MPI_Request *binds;       /* where MPI puts the request, or NULL */
  bool is_persistent;       /* that request */
  const MPI_Status *status; /* of a receive, or NULL */
  MPI_Status own_status;    /* when the program ignores it */
  uint32_t n_values2;       /* of op.values2 */
  const TraceOp *then;      /* one more operation, after this one; or NULL */

  RecorderCounters counters; /* of the computation before */
  uint32_t wait[2];          /* requests of a blocking call that was posted */
  uint32_t n_wait;
  bool is_posted;
} RecorderCall;

/* False when the call is not to be recorded; then there must be no leave. */
bool recorder_enter (RecorderCall *call, const char *name, const void *site);
/* The operation is complete except for the results of MPI. */
void recorder_post (RecorderCall *call);
/* `code` is the result of the call. */
void recorder_leave (RecorderCall *call, int code);

int64_t recorder_now_ns (void);
/* When MPI has been initialized by a call that began at enter_ns. */
void recorder_start (const char *name, const void *site, int64_t enter_ns);
/* Writes the file up to here. */
void recorder_save (void);
/* Nothing is recorded from here on. */
void recorder_finish (void);

/* Memory of the thread, good until the next call that uses the same slot. */
enum {
  RECORDER_COUNTS,
  RECORDER_RECV_COUNTS,
  RECORDER_VALUES,
  RECORDER_VALUES2,
  RECORDER_REQUESTS,
  RECORDER_COMPLETED,
  RECORDER_STATUSES,
  RECORDER_INDICES,
  RECORDER_SLOTS,
};
void *recorder_scratch (int slot, size_t bytes);

void recorder_lock (void);
void recorder_unlock (void);

/* --- The file --- */

/* False when the process is not recorded: there is no file, or another process has recorded this rank,
 * which the file RECORDING_REFUSED then states, with the header and the lines of `launcher`. */
bool recorder_file_open (const char *folder, int rank, const char *header, const char *launcher);
/* Gap, time and strings beside the operation. */
typedef struct {
  int64_t gap_ns, time_ns;
  RecorderCounters counters;
  const void *site;
  uint32_t n_values2;
  bool is_wildcard;
} RecorderExtra;
void recorder_file_write (const TraceOp *op, const RecorderExtra *extra);
/* A wildcard receive, counted from 0, got its message from `source`. */
void recorder_file_source (uint64_t receive, int32_t source);
/* Writes the block if it is full or a second old. */
void recorder_file_flush_due (int64_t now_ns);
void recorder_file_flush (void);
void recorder_file_close (void);

/* --- Handles.  All under the lock. --- */

#define RECORDER_NO_WILDCARD UINT64_MAX

/* A number for a request that begins, and the handle that MPI gave it. */
uint32_t recorder_request_new (bool is_persistent, uint64_t wildcard);
void recorder_request_bind (uint32_t number, MPI_Request handle);
void recorder_request_release (uint32_t number);
/* The oldest request of that handle that was not yet taken since the last
 * recorder_request_begin(); TRACE_REQUEST_NULL when there is none. */
void recorder_request_begin (void);
uint32_t recorder_request_take (MPI_Request handle);
/* The program saw it complete; status may be NULL.  It is gone unless it is
 * persistent. */
void recorder_request_complete (uint32_t number, const MPI_Status *status);
/* How many wildcard receives are under way. */
uint32_t recorder_wildcards (void);

typedef struct {
  uint32_t number; /* 0: a communicator that the recorder did not see made */
  int size, rank;
  bool is_inter;
  bool has_neighbors; /* the lists are there */
  int n_out, n_in;
  int32_t *out, *in; /* ranks; MPI_PROC_NULL among them */
  uint64_t identity; /* the same in all members, most likely unique */
  uint64_t n_made;   /* communicators by all its members together */
} RecorderComm;

/* Never NULL. */
RecorderComm *recorder_comm (MPI_Comm handle);
RecorderComm *recorder_comm_add (MPI_Comm handle);
void recorder_comm_remove (MPI_Comm handle);
/* For those that get their handle later. */
uint32_t recorder_comm_number (void);
void recorder_comm_put (MPI_Comm handle, RecorderComm *comm);
/* The request is complete; it may have been that of MPI_Comm_idup(). */
void recorder_comm_arrived (uint32_t request);

typedef struct {
  uint32_t number;
  uint32_t comm;
  bool is_inter;
  int32_t *exposed, *accessed; /* by post and start; NULL: not in an epoch */
  uint32_t n_exposed, n_accessed;
} RecorderWindow;

RecorderWindow *recorder_window (MPI_Win handle); /* NULL when it is not known */
RecorderWindow *recorder_window_add (MPI_Win handle, uint32_t comm);
void recorder_window_remove (MPI_Win handle);
/* Whether there is a window of that communicator. */
bool recorder_window_has_comm (uint32_t comm);

/* A message that MPI_Mprobe found, until it is received. */
typedef struct {
  uint32_t comm;
  int32_t source, tag;
} RecorderMessage;
void recorder_message_add (MPI_Message handle, RecorderMessage message);
RecorderMessage recorder_message_remove (MPI_Message handle);

/* --- Describing calls --- */

uint64_t recorder_bytes (int64_t count, MPI_Datatype type);
int32_t recorder_peer (int rank);
int32_t recorder_tag (int tag);
/* Sets op.comm; a communicator unknown to a replay makes the operation
 * TRACE_OP_UNSUPPORTED. */
RecorderComm *recorder_use_comm (RecorderCall *call, MPI_Comm comm);
RecorderComm *recorder_describe_collective (RecorderCall *call, TraceOpKind kind, MPI_Comm comm);
void recorder_describe_nonblocking (RecorderCall *call, MPI_Request *request);
static inline bool
recorder_is_supported (const RecorderCall *call)
{
  return call->op.kind != TRACE_OP_UNSUPPORTED;
}
