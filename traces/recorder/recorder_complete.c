/* recorder_complete.c - waits and tests, and what else is done to requests.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * MPI overwrites the handles of what is complete, so they are copied before.
 * Their numbers are looked up after the call, together with what is written:
 * by then another thread may have got the same handle, but behind this one in
 * its queue. */
#include "traces/recorder/recorder_wrap.h"

#include <string.h>

/* The requests of a call, as they were before it. */
typedef struct {
  const MPI_Request *handles;
  uint32_t n;
  const MPI_Status *statuses; /* one per completed request; NULL: not seen */
} Batch;

static Batch
batch_of (const MPI_Request *requests, int n)
{
  size_t size = (n > 0 ? (size_t) n : 0) * sizeof *requests;
  MPI_Request *copy = recorder_scratch (RECORDER_REQUESTS, size);

  if (size > 0)
    memcpy (copy, requests, size);
  return (Batch){ .handles = copy, .n = n > 0 ? (uint32_t) n : 0 };
}

/* Statuses are read only for the sources of wildcard receives. */
static MPI_Status *
see_statuses (Batch *batch, MPI_Status *statuses, bool is_ignored)
{
  if (is_ignored && recorder_wildcards () > 0)
    statuses = recorder_scratch (RECORDER_STATUSES, (batch->n + 1) * sizeof *statuses);
  else if (is_ignored)
    return statuses;
  batch->statuses = statuses;
  return statuses;
}

static bool
is_done (int code)
{
  return code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS;
}

static uint32_t *
look_up (const Batch *batch)
{
  uint32_t *numbers = recorder_scratch (RECORDER_VALUES, batch->n * sizeof *numbers);

  recorder_request_begin ();
  for (uint32_t i = 0; i < batch->n; i++)
    numbers[i] = recorder_request_take (batch->handles[i]);
  return numbers;
}

/* All of the batch is complete.  Each is dropped as it is looked up: there may
 * be many with the same handle. */
static void
leave_all (RecorderCall *call, const Batch *batch, TraceOpKind kind)
{
  uint32_t *numbers = recorder_scratch (RECORDER_VALUES, batch->n * sizeof *numbers);
  uint32_t *indices = recorder_scratch (RECORDER_COMPLETED, batch->n * sizeof *indices);

  recorder_lock ();
  recorder_request_begin ();
  for (uint32_t i = 0; i < batch->n; i++) {
    numbers[i] = recorder_request_take (batch->handles[i]);
    indices[i] = i;
    recorder_request_complete (numbers[i], batch->statuses != NULL ? &batch->statuses[i] : NULL);
  }
  call->op.kind = kind;
  call->op.requests = numbers;
  call->op.n_requests = batch->n;
  if (kind == TRACE_OP_TEST) {
    call->op.completed = indices;
    call->op.n_completed = batch->n;
  }
  recorder_leave (call, MPI_SUCCESS);
  recorder_unlock ();
}

/* Only indices[] are. */
static void
leave_some (RecorderCall *call, const Batch *batch, TraceOpKind kind, const int *indices, int n)
{
  uint32_t *completed = recorder_scratch (RECORDER_COMPLETED, (size_t) n * sizeof *completed);
  uint32_t *numbers;

  recorder_lock ();
  numbers = look_up (batch);
  for (int i = 0; i < n; i++) {
    completed[i] = (uint32_t) indices[i];
    recorder_request_complete (numbers[indices[i]],
                               batch->statuses != NULL ? &batch->statuses[i] : NULL);
  }
  call->op.kind = kind;
  call->op.requests = numbers;
  call->op.n_requests = batch->n;
  call->op.completed = completed;
  call->op.n_completed = (uint32_t) n;
  recorder_leave (call, MPI_SUCCESS);
  recorder_unlock ();
}

/* None is. */
static void
leave_none (RecorderCall *call, TraceOpKind kind, int code)
{
  call->op.kind = kind;
  recorder_leave (call, code);
}

int
MPI_Wait (MPI_Request *request, MPI_Status *status)
{
  WRAP_BEGIN (Wait, (request, status));
  Batch batch = batch_of (request, 1);
  int code;

  status = see_statuses (&batch, status, status == MPI_STATUS_IGNORE);
  code = real (request, status);
  if (is_done (code))
    leave_all (&call, &batch, TRACE_OP_WAIT);
  else
    leave_none (&call, TRACE_OP_CALL, code);
  return code;
}
PROFILED (Wait)

int
MPI_Waitall (int n, MPI_Request requests[], MPI_Status statuses[])
{
  WRAP_BEGIN (Waitall, (n, requests, statuses));
  Batch batch = batch_of (requests, n);
  int code;

  statuses = see_statuses (&batch, statuses, statuses == MPI_STATUSES_IGNORE);
  code = real (n, requests, statuses);
  if (is_done (code))
    leave_all (&call, &batch, TRACE_OP_WAIT);
  else
    leave_none (&call, TRACE_OP_CALL, code);
  return code;
}
PROFILED (Waitall)

int
MPI_Waitany (int n, MPI_Request requests[], int *index, MPI_Status *status)
{
  WRAP_BEGIN (Waitany, (n, requests, index, status));
  Batch batch = batch_of (requests, n);
  int code;

  status = see_statuses (&batch, status, status == MPI_STATUS_IGNORE);
  code = real (n, requests, index, status);
  if (is_done (code) && *index != MPI_UNDEFINED)
    leave_some (&call, &batch, TRACE_OP_WAIT_SOME, index, 1);
  else
    leave_none (&call, TRACE_OP_CALL, code);
  return code;
}
PROFILED (Waitany)

int
MPI_Waitsome (int n, MPI_Request requests[], int *n_done, int indices[], MPI_Status statuses[])
{
  WRAP_BEGIN (Waitsome, (n, requests, n_done, indices, statuses));
  Batch batch = batch_of (requests, n);
  int code;

  statuses = see_statuses (&batch, statuses, statuses == MPI_STATUSES_IGNORE);
  code = real (n, requests, n_done, indices, statuses);
  if (is_done (code) && *n_done != MPI_UNDEFINED)
    leave_some (&call, &batch, TRACE_OP_WAIT_SOME, indices, *n_done);
  else
    leave_none (&call, TRACE_OP_CALL, code);
  return code;
}
PROFILED (Waitsome)

int
MPI_Test (MPI_Request *request, int *flag, MPI_Status *status)
{
  WRAP_BEGIN (Test, (request, flag, status));
  Batch batch = batch_of (request, 1);
  int code;

  status = see_statuses (&batch, status, status == MPI_STATUS_IGNORE);
  code = real (request, flag, status);
  if (is_done (code) && *flag)
    leave_all (&call, &batch, TRACE_OP_TEST);
  else
    leave_none (&call, TRACE_OP_TEST, code);
  return code;
}
PROFILED (Test)

int
MPI_Testall (int n, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
  WRAP_BEGIN (Testall, (n, requests, flag, statuses));
  Batch batch = batch_of (requests, n);
  int code;

  statuses = see_statuses (&batch, statuses, statuses == MPI_STATUSES_IGNORE);
  code = real (n, requests, flag, statuses);
  if (is_done (code) && *flag)
    leave_all (&call, &batch, TRACE_OP_TEST);
  else
    leave_none (&call, TRACE_OP_TEST, code);
  return code;
}
PROFILED (Testall)

int
MPI_Testany (int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
  WRAP_BEGIN (Testany, (n, requests, index, flag, status));
  Batch batch = batch_of (requests, n);
  int code;

  status = see_statuses (&batch, status, status == MPI_STATUS_IGNORE);
  code = real (n, requests, index, flag, status);
  if (is_done (code) && *flag && *index != MPI_UNDEFINED)
    leave_some (&call, &batch, TRACE_OP_TEST, index, 1);
  else
    leave_none (&call, TRACE_OP_TEST, code);
  return code;
}
PROFILED (Testany)

int
MPI_Testsome (int n, MPI_Request requests[], int *n_done, int indices[], MPI_Status statuses[])
{
  WRAP_BEGIN (Testsome, (n, requests, n_done, indices, statuses));
  Batch batch = batch_of (requests, n);
  int code;

  statuses = see_statuses (&batch, statuses, statuses == MPI_STATUSES_IGNORE);
  code = real (n, requests, n_done, indices, statuses);
  if (is_done (code) && *n_done != MPI_UNDEFINED && *n_done > 0)
    leave_some (&call, &batch, TRACE_OP_TEST, indices, *n_done);
  else
    leave_none (&call, TRACE_OP_TEST, code);
  return code;
}
PROFILED (Testsome)

/* --- Persistent requests, cancelled ones, forgotten ones --- */

/* Names the requests in call->op.  What the recorder did not see made (a
 * persistent collective, say) moves something that it does not know. */
static void
describe_requests (RecorderCall *call, TraceOpKind kind, const MPI_Request *handles, int n)
{
  Batch batch = { .handles = handles, .n = n > 0 ? (uint32_t) n : 0 };
  uint32_t *numbers;

  recorder_lock ();
  numbers = look_up (&batch);
  recorder_unlock ();
  call->op.kind = kind;
  call->op.requests = numbers;
  call->op.n_requests = batch.n;
  for (uint32_t i = 0; i < batch.n; i++)
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
