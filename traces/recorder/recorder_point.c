/* recorder_point.c - wrappers of point-to-point messages and their completion.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/recorder/recorder_wrap.h"

#include <string.h>

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

/* Where the status can be read afterwards, also if the program ignores it. */
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

/* completed[] of a probe that found a message. */
static const uint32_t found_it[] = { 0 };

static void
set_found (RecorderCall *call, const MPI_Status *status)
{
  if (call->op.kind == TRACE_OP_IPROBE) {
    call->op.completed = found_it;
    call->op.n_completed = 1;
  }
  call->op.matched_source = recorder_peer (status->MPI_SOURCE);
}

static void
keep_message (const RecorderCall *call, MPI_Message message, const MPI_Status *status)
{
  if (message == recorder_mpi.message_of_no_process || message == recorder_mpi.no_message)
    return;
  recorder_lock ();
  recorder_message_add (message,
                        (RecorderMessage){ call->op.comm, status->MPI_SOURCE, status->MPI_TAG });
  recorder_unlock ();
}

/* MPI_name, which looks for a message; the statements run when it found one. */
#define PROBE(name, kind, parameters, arguments, found, ...) \
  int MPI_##name parameters                                  \
  {                                                          \
    WRAP_BEGIN (name, arguments);                            \
    int code;                                                \
                                                             \
    describe_probe (&call, kind, peer, tag, comm);           \
    status = see_status (&call, status);                     \
    code = real arguments;                                   \
    if (code == MPI_SUCCESS && (found)) {                    \
      set_found (&call, status);                             \
      __VA_ARGS__;                                           \
    }                                                        \
    recorder_leave (&call, code);                            \
    return code;                                             \
  }                                                          \
  PROFILED (name)

PROBE (Probe, TRACE_OP_PROBE, (int peer, int tag, MPI_Comm comm, MPI_Status *status),
       (peer, tag, comm, status), true, )
PROBE (Iprobe, TRACE_OP_IPROBE, (int peer, int tag, MPI_Comm comm, int *flag, MPI_Status *status),
       (peer, tag, comm, flag, status), *flag, )
PROBE (Mprobe, TRACE_OP_PROBE,
       (int peer, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status),
       (peer, tag, comm, message, status), true, keep_message (&call, *message, status))
PROBE (Improbe, TRACE_OP_IPROBE,
       (int peer, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status),
       (peer, tag, comm, flag, message, status), *flag, keep_message (&call, *message, status))

/* The receive of a message that a probe found: its source and tag are known. */
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

/* --- Waits, tests and other calls on requests --- */

/* MPI overwrites the handles of complete requests, so they are copied before.
 * Their numbers are looked up after the call, when the operation is written:
 * by then another thread may have got the same handle, but behind this one in
 * its queue. */

/* The requests of a call, as they were before it. */
typedef struct {
  const MPI_Request *handles;
  uint32_t n;
  const MPI_Status *statuses; /* one per completed request; NULL: not seen */
} RequestList;

static RequestList
copy_requests (const MPI_Request *requests, int n)
{
  size_t size = (n > 0 ? (size_t) n : 0) * sizeof *requests;
  MPI_Request *copy = recorder_scratch (RECORDER_REQUESTS, size);

  if (size > 0)
    memcpy (copy, requests, size);
  return (RequestList){ .handles = copy, .n = n > 0 ? (uint32_t) n : 0 };
}

/* Statuses are read only for the sources of wildcard receives. */
static MPI_Status *
see_statuses (RequestList *list, MPI_Status *statuses, bool is_ignored)
{
  if (is_ignored && recorder_wildcards () > 0)
    statuses = recorder_scratch (RECORDER_STATUSES, (list->n + 1) * sizeof *statuses);
  else if (is_ignored)
    return statuses;
  list->statuses = statuses;
  return statuses;
}

static uint32_t *
look_up (const RequestList *list)
{
  uint32_t *numbers = recorder_scratch (RECORDER_VALUES, list->n * sizeof *numbers);

  recorder_request_begin ();
  for (uint32_t i = 0; i < list->n; i++)
    numbers[i] = recorder_request_take (list->handles[i]);
  return numbers;
}

/* All requests of the list are complete.  Each is dropped as it is looked up: there may
 * be many with the same handle. */
static void
leave_all (RecorderCall *call, const RequestList *list, TraceOpKind kind)
{
  uint32_t *numbers = recorder_scratch (RECORDER_VALUES, list->n * sizeof *numbers);
  uint32_t *indices = recorder_scratch (RECORDER_COMPLETED, list->n * sizeof *indices);

  recorder_lock ();
  recorder_request_begin ();
  for (uint32_t i = 0; i < list->n; i++) {
    numbers[i] = recorder_request_take (list->handles[i]);
    indices[i] = i;
    recorder_request_complete (numbers[i], list->statuses != NULL ? &list->statuses[i] : NULL);
  }
  call->op.kind = kind;
  call->op.requests = numbers;
  call->op.n_requests = list->n;
  if (kind == TRACE_OP_TEST) {
    call->op.completed = indices;
    call->op.n_completed = list->n;
  }
  recorder_leave (call, MPI_SUCCESS);
  recorder_unlock ();
}

/* Only the requests at indices[] are complete. */
static void
leave_some (RecorderCall *call, const RequestList *list, TraceOpKind kind, const int *indices,
            int n)
{
  uint32_t *completed = recorder_scratch (RECORDER_COMPLETED, (size_t) n * sizeof *completed);
  uint32_t *numbers;

  recorder_lock ();
  numbers = look_up (list);
  for (int i = 0; i < n; i++) {
    completed[i] = (uint32_t) indices[i];
    recorder_request_complete (numbers[indices[i]],
                               list->statuses != NULL ? &list->statuses[i] : NULL);
  }
  call->op.kind = kind;
  call->op.requests = numbers;
  call->op.n_requests = list->n;
  call->op.completed = completed;
  call->op.n_completed = (uint32_t) n;
  recorder_leave (call, MPI_SUCCESS);
  recorder_unlock ();
}

/* MPI_name, which completes requests.  `leave` records them when code is a
 * success and the condition holds; else the call is an operation of kind
 * `otherwise`. */
#define COMPLETION(name, parameters, arguments, requests, n, statuses, ignored, condition, leave, \
                   otherwise)                                                                     \
  int MPI_##name parameters                                                                       \
  {                                                                                               \
    WRAP_BEGIN (name, arguments);                                                                 \
    RequestList list = copy_requests (requests, n);                                               \
    int code;                                                                                     \
                                                                                                  \
    statuses = see_statuses (&list, statuses, statuses == ignored);                               \
    code = real arguments;                                                                        \
    if ((code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS) && (condition)) {                      \
      leave;                                                                                      \
    } else {                                                                                      \
      call.op.kind = otherwise;                                                                   \
      recorder_leave (&call, code);                                                               \
    }                                                                                             \
    return code;                                                                                  \
  }                                                                                               \
  PROFILED (name)

COMPLETION (Wait, (MPI_Request * request, MPI_Status *status), (request, status), request, 1,
            status, MPI_STATUS_IGNORE, true, leave_all (&call, &list, TRACE_OP_WAIT), TRACE_OP_CALL)

COMPLETION (Waitall, (int n, MPI_Request requests[], MPI_Status statuses[]),
            (n, requests, statuses), requests, n, statuses, MPI_STATUSES_IGNORE, true,
            leave_all (&call, &list, TRACE_OP_WAIT), TRACE_OP_CALL)

COMPLETION (Waitany, (int n, MPI_Request requests[], int *index, MPI_Status *status),
            (n, requests, index, status), requests, n, status, MPI_STATUS_IGNORE,
            *index != MPI_UNDEFINED, leave_some (&call, &list, TRACE_OP_WAIT_SOME, index, 1),
            TRACE_OP_CALL)

COMPLETION (Waitsome,
            (int n, MPI_Request requests[], int *n_done, int indices[], MPI_Status statuses[]),
            (n, requests, n_done, indices, statuses), requests, n, statuses, MPI_STATUSES_IGNORE,
            *n_done != MPI_UNDEFINED,
            leave_some (&call, &list, TRACE_OP_WAIT_SOME, indices, *n_done), TRACE_OP_CALL)

COMPLETION (Test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status),
            request, 1, status, MPI_STATUS_IGNORE, *flag, leave_all (&call, &list, TRACE_OP_TEST),
            TRACE_OP_TEST)

COMPLETION (Testall, (int n, MPI_Request requests[], int *flag, MPI_Status statuses[]),
            (n, requests, flag, statuses), requests, n, statuses, MPI_STATUSES_IGNORE, *flag,
            leave_all (&call, &list, TRACE_OP_TEST), TRACE_OP_TEST)

COMPLETION (Testany, (int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status),
            (n, requests, index, flag, status), requests, n, status, MPI_STATUS_IGNORE,
            *flag &&*index != MPI_UNDEFINED, leave_some (&call, &list, TRACE_OP_TEST, index, 1),
            TRACE_OP_TEST)

COMPLETION (Testsome,
            (int n, MPI_Request requests[], int *n_done, int indices[], MPI_Status statuses[]),
            (n, requests, n_done, indices, statuses), requests, n, statuses, MPI_STATUSES_IGNORE,
            *n_done != MPI_UNDEFINED && *n_done > 0,
            leave_some (&call, &list, TRACE_OP_TEST, indices, *n_done), TRACE_OP_TEST)

/* --- Persistent requests, cancelled ones, forgotten ones --- */

/* Names the requests in call->op.  A request that the recorder did not see made (of a
 * persistent collective, say) moves unknown data. */
static void
describe_requests (RecorderCall *call, TraceOpKind kind, const MPI_Request *handles, int n)
{
  RequestList list = { .handles = handles, .n = n > 0 ? (uint32_t) n : 0 };
  uint32_t *numbers;

  recorder_lock ();
  numbers = look_up (&list);
  recorder_unlock ();
  call->op.kind = kind;
  call->op.requests = numbers;
  call->op.n_requests = list.n;
  for (uint32_t i = 0; i < list.n; i++)
    if (numbers[i] == TRACE_REQUEST_NULL)
      call->op.kind = TRACE_OP_UNSUPPORTED;
}

WRAP (Start, (MPI_Request * request), (request),
      describe_requests (&call, TRACE_OP_START, request, 1);
      recorder_post (&call))

WRAP (Startall, (int n, MPI_Request requests[]), (n, requests),
      describe_requests (&call, TRACE_OP_START, requests, n);
      recorder_post (&call))

WRAP (Cancel, (MPI_Request * request), (request),
      describe_requests (&call, TRACE_OP_CANCEL, request, 1))

int
MPI_Request_free (MPI_Request *request)
{
  WRAP_BEGIN (Request_free, (request));
  int code;

  describe_requests (&call, TRACE_OP_REQUEST_FREE, request, 1);
  code = real (request);
  recorder_lock ();
  if (code == MPI_SUCCESS && call.op.kind == TRACE_OP_REQUEST_FREE)
    recorder_request_release (call.op.requests[0]);
  recorder_leave (&call, code);
  recorder_unlock ();
  return code;
}
PROFILED (Request_free)

WRAP (Request_get_status, (MPI_Request request, int *flag, MPI_Status *status),
      (request, flag, status))
