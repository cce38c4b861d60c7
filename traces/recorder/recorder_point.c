/* recorder_point.c - sends, receives and probes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/recorder/recorder_wrap.h"

/* --- Sends --- */

static void
describe_send (RecorderCall *call, TraceOpKind kind, TraceSendMode mode, int count,
               MPI_Datatype type, int peer, int tag, MPI_Comm comm)
{
  TraceOp *op = &call->op;

  op->kind = kind;
  op->mode = mode;
  op->bytes = recorder_bytes (count, type);
  op->peer = recorder_peer (peer);
  op->tag = tag;
  recorder_use_comm (call, comm);
}

static void
describe_binding (RecorderCall *call, MPI_Request *request)
{
  call->binds = request;
  call->is_persistent = call->op.kind == TRACE_OP_SEND_INIT || call->op.kind == TRACE_OP_RECV_INIT;
}

#define SEND(name, mode)                                                                          \
  WRAP (name, (const void *data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm), \
        (data, count, type, peer, tag, comm),                                                     \
        describe_send (&call, TRACE_OP_SEND, mode, count, type, peer, tag, comm);                 \
        recorder_post (&call))

#define SEND_REQUEST(name, kind, mode)                                                     \
  WRAP (name,                                                                              \
        (const void *data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, \
         MPI_Request *request),                                                            \
        (data, count, type, peer, tag, comm, request),                                     \
        describe_send (&call, kind, mode, count, type, peer, tag, comm);                   \
        describe_binding (&call, request); recorder_post (&call))

SEND (Send, TRACE_SEND_STANDARD)
SEND (Bsend, TRACE_SEND_BUFFERED)
SEND (Ssend, TRACE_SEND_SYNCHRONOUS)
SEND (Rsend, TRACE_SEND_READY)
SEND_REQUEST (Isend, TRACE_OP_ISEND, TRACE_SEND_STANDARD)
SEND_REQUEST (Ibsend, TRACE_OP_ISEND, TRACE_SEND_BUFFERED)
SEND_REQUEST (Issend, TRACE_OP_ISEND, TRACE_SEND_SYNCHRONOUS)
SEND_REQUEST (Irsend, TRACE_OP_ISEND, TRACE_SEND_READY)
SEND_REQUEST (Send_init, TRACE_OP_SEND_INIT, TRACE_SEND_STANDARD)
SEND_REQUEST (Bsend_init, TRACE_OP_SEND_INIT, TRACE_SEND_BUFFERED)
SEND_REQUEST (Ssend_init, TRACE_OP_SEND_INIT, TRACE_SEND_SYNCHRONOUS)
SEND_REQUEST (Rsend_init, TRACE_OP_SEND_INIT, TRACE_SEND_READY)

/* --- Receives --- */

static void
describe_receive (RecorderCall *call, TraceOpKind kind, int count, MPI_Datatype type, int peer,
                  int tag, MPI_Comm comm)
{
  TraceOp *op = &call->op;

  op->kind = kind;
  op->bytes = recorder_bytes (count, type);
  op->peer = recorder_peer (peer);
  op->tag = recorder_tag (tag);
  if (op->peer >= 0)
    op->matched_source = op->peer;
  recorder_use_comm (call, comm);
}

/* Where the status can be read afterwards, also if the program wants none. */
static MPI_Status *
see_status (RecorderCall *call, MPI_Status *status)
{
  if (status == MPI_STATUS_IGNORE)
    status = &call->own_status;
  call->status = status;
  return status;
}

#define RECEIVE_REQUEST(name, kind)                                                  \
  WRAP (name,                                                                        \
        (void *data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, \
         MPI_Request *request),                                                      \
        (data, count, type, peer, tag, comm, request),                               \
        describe_receive (&call, kind, count, type, peer, tag, comm);                \
        describe_binding (&call, request); recorder_post (&call))

RECEIVE_REQUEST (Irecv, TRACE_OP_IRECV)
RECEIVE_REQUEST (Recv_init, TRACE_OP_RECV_INIT)

WRAP (Recv,
      (void *data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
       MPI_Status *status),
      (data, count, type, peer, tag, comm, status),
      describe_receive (&call, TRACE_OP_RECV, count, type, peer, tag, comm);
      if (peer == MPI_ANY_SOURCE) status = see_status (&call, status); recorder_post (&call))

/* --- Both --- */

static void
describe_back (RecorderCall *call, uint64_t bytes, int peer, int tag)
{
  TraceOp *op = &call->op;

  op->recv_bytes = bytes;
  op->recv_peer = recorder_peer (peer);
  op->recv_tag = recorder_tag (tag);
  if (op->recv_peer >= 0)
    op->matched_source = op->recv_peer;
}

WRAP (Sendrecv,
      (const void *data, int count, MPI_Datatype type, int peer, int tag, void *back,
       int back_count, MPI_Datatype back_type, int back_peer, int back_tag, MPI_Comm comm,
       MPI_Status *status),
      (data, count, type, peer, tag, back, back_count, back_type, back_peer, back_tag, comm,
       status),
      describe_send (&call, TRACE_OP_SENDRECV, TRACE_SEND_STANDARD, count, type, peer, tag, comm);
      describe_back (&call, recorder_bytes (back_count, back_type), back_peer, back_tag);
      if (back_peer == MPI_ANY_SOURCE) status = see_status (&call, status); recorder_post (&call))

WRAP (Sendrecv_replace,
      (void *data, int count, MPI_Datatype type, int peer, int tag, int back_peer, int back_tag,
       MPI_Comm comm, MPI_Status *status),
      (data, count, type, peer, tag, back_peer, back_tag, comm, status),
      describe_send (&call, TRACE_OP_SENDRECV, TRACE_SEND_STANDARD, count, type, peer, tag, comm);
      describe_back (&call, op->bytes, back_peer, back_tag);
      if (back_peer == MPI_ANY_SOURCE) status = see_status (&call, status); recorder_post (&call))

/* --- Probes --- */

static void
describe_probe (RecorderCall *call, TraceOpKind kind, int peer, int tag, MPI_Comm comm)
{
  call->op.kind = kind;
  call->op.peer = recorder_peer (peer);
  call->op.tag = recorder_tag (tag);
  recorder_use_comm (call, comm);
}

/* Index 0 of completed[] says that a probe found something. */
static const uint32_t found_it[] = { 0 };

static void
set_found (RecorderCall *call, int flag, const MPI_Status *status)
{
  if (!flag)
    return;
  call->op.completed = found_it;
  call->op.n_completed = 1;
  call->op.matched_source = recorder_peer (status->MPI_SOURCE);
}

static void
keep_message (const RecorderCall *call, MPI_Message message, const MPI_Status *status)
{
  if (message == recorder_mpi.message_from_nobody || message == recorder_mpi.no_message)
    return;
  recorder_lock ();
  recorder_message_add (message,
                        (RecorderMessage){ call->op.comm, status->MPI_SOURCE, status->MPI_TAG });
  recorder_unlock ();
}

int
MPI_Probe (int peer, int tag, MPI_Comm comm, MPI_Status *status)
{
  WRAP_BEGIN (Probe, (peer, tag, comm, status));
  int code;

  describe_probe (&call, TRACE_OP_PROBE, peer, tag, comm);
  status = see_status (&call, status);
  code = real (peer, tag, comm, status);
  if (code == MPI_SUCCESS)
    call.op.matched_source = recorder_peer (status->MPI_SOURCE);
  recorder_leave (&call, code);
  return code;
}
PROFILED (Probe)

int
MPI_Iprobe (int peer, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
  WRAP_BEGIN (Iprobe, (peer, tag, comm, flag, status));
  int code;

  describe_probe (&call, TRACE_OP_IPROBE, peer, tag, comm);
  status = see_status (&call, status);
  code = real (peer, tag, comm, flag, status);
  if (code == MPI_SUCCESS)
    set_found (&call, *flag, status);
  recorder_leave (&call, code);
  return code;
}
PROFILED (Iprobe)

int
MPI_Mprobe (int peer, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
  WRAP_BEGIN (Mprobe, (peer, tag, comm, message, status));
  int code;

  describe_probe (&call, TRACE_OP_PROBE, peer, tag, comm);
  status = see_status (&call, status);
  code = real (peer, tag, comm, message, status);
  if (code == MPI_SUCCESS) {
    call.op.matched_source = recorder_peer (status->MPI_SOURCE);
    keep_message (&call, *message, status);
  }
  recorder_leave (&call, code);
  return code;
}
PROFILED (Mprobe)

int
MPI_Improbe (int peer, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
  WRAP_BEGIN (Improbe, (peer, tag, comm, flag, message, status));
  int code;

  describe_probe (&call, TRACE_OP_IPROBE, peer, tag, comm);
  status = see_status (&call, status);
  code = real (peer, tag, comm, flag, message, status);
  if (code == MPI_SUCCESS)
    set_found (&call, *flag, status);
  if (code == MPI_SUCCESS && *flag)
    keep_message (&call, *message, status);
  recorder_leave (&call, code);
  return code;
}
PROFILED (Improbe)

/* A receive of what a probe has found: its source and tag are known. */
static void
describe_matched (RecorderCall *call, TraceOpKind kind, int count, MPI_Datatype type,
                  MPI_Message handle)
{
  RecorderMessage message;
  TraceOp *op = &call->op;

  recorder_lock ();
  message = recorder_message_remove (handle);
  recorder_unlock ();
  op->kind = kind;
  op->bytes = recorder_bytes (count, type);
  op->comm = message.comm != 0 ? message.comm : TRACE_COMM_WORLD;
  op->peer = op->matched_source = message.source;
  op->tag = message.tag;
}

WRAP (Mrecv, (void *data, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status),
      (data, count, type, message, status),
      describe_matched (&call, TRACE_OP_RECV, count, type, *message);
      recorder_post (&call))

WRAP (Imrecv,
      (void *data, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request),
      (data, count, type, message, request),
      describe_matched (&call, TRACE_OP_IRECV, count, type, *message);
      describe_binding (&call, request); recorder_post (&call))
