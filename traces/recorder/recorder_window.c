/* recorder_window.c - one-sided communication.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/recorder/recorder_wrap.h"

#include <stdlib.h>
#include <string.h>

/* --- Windows --- */

static void
leave_with_window (RecorderCall *call, const MPI_Win *made, int code)
{
  call->leave_ns = recorder_now_ns ();
  recorder_lock ();
  if (code == MPI_SUCCESS)
    call->op.window = recorder_window_add (*made, call->op.comm)->number;
  recorder_leave (call, code);
  recorder_unlock ();
}

#define CREATE(name, parameters, arguments)                          \
  int MPI_##name parameters                                          \
  {                                                                  \
    WRAP_BEGIN (name, arguments);                                    \
    int code;                                                        \
                                                                     \
    recorder_describe_collective (&call, TRACE_OP_WIN_CREATE, comm); \
    code = real arguments;                                           \
    leave_with_window (&call, made, code);                           \
    return code;                                                     \
  }                                                                  \
  PROFILED (name)

CREATE (Win_create,
        (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *made),
        (base, size, unit, info, comm, made))
CREATE (Win_allocate,
        (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *made),
        (size, unit, info, comm, base, made))
CREATE (Win_allocate_shared,
        (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *made),
        (size, unit, info, comm, base, made))
CREATE (Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *made), (info, comm, made))

/* Its numbers are copied: another thread may be freeing another window. */
static RecorderWindow *
describe_window (RecorderCall *call, TraceOpKind kind, MPI_Win handle)
{
  RecorderWindow *window;

  recorder_lock ();
  window = recorder_window (handle);
  recorder_unlock ();
  call->op.kind = kind;
  if (window != NULL) {
    call->op.window = window->number;
    call->op.comm = window->comm;
  }
  if (window == NULL || window->comm == 0)
    call->op.kind = TRACE_OP_UNSUPPORTED;
  return window;
}

static void
describe_win_free (RecorderCall *call, MPI_Win handle)
{
  describe_window (call, TRACE_OP_WIN_FREE, handle);
  recorder_lock ();
  recorder_window_remove (handle);
  recorder_unlock ();
}

WRAP (Win_free, (MPI_Win * window), (window), describe_win_free (&call, *window))

/* --- Accesses --- */

static void
describe_access (RecorderCall *call, TraceOpKind kind, int target, uint64_t bytes,
                 uint64_t recv_bytes, MPI_Win handle)
{
  call->op.peer = recorder_peer (target);
  call->op.bytes = bytes;
  call->op.recv_bytes = recv_bytes;
  describe_window (call, kind, handle);
}

/* MPI_name and, with a request, MPI_rname. */
#define ACCESS(name, rname, parameters, arguments, ...)                                      \
  WRAP (name, (UNPACK parameters), (UNPACK arguments), describe_access (&call, __VA_ARGS__)) \
  WRAP (rname, (UNPACK parameters, MPI_Request * request), (UNPACK arguments, request),      \
        describe_access (&call, __VA_ARGS__);                                                \
        recorder_describe_nonblocking (&call, request); recorder_post (&call))

ACCESS (Put, Rput,
        (const void *data, int count, MPI_Datatype type, int target, MPI_Aint place,
         int target_count, MPI_Datatype target_type, MPI_Win window),
        (data, count, type, target, place, target_count, target_type, window), TRACE_OP_PUT, target,
        recorder_bytes (count, type), 0, window)

ACCESS (Get, Rget,
        (void *data, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,
         MPI_Datatype target_type, MPI_Win window),
        (data, count, type, target, place, target_count, target_type, window), TRACE_OP_GET, target,
        0, recorder_bytes (count, type), window)

ACCESS (Accumulate, Raccumulate,
        (const void *data, int count, MPI_Datatype type, int target, MPI_Aint place,
         int target_count, MPI_Datatype target_type, MPI_Op operation, MPI_Win window),
        (data, count, type, target, place, target_count, target_type, operation, window),
        TRACE_OP_PUT, target, recorder_bytes (count, type), 0, window)

/* With MPI_NO_OP the origin has nothing to give. */
ACCESS (Get_accumulate, Rget_accumulate,
        (const void *data, int count, MPI_Datatype type, void *result, int result_count,
         MPI_Datatype result_type, int target, MPI_Aint place, int target_count,
         MPI_Datatype target_type, MPI_Op operation, MPI_Win window),
        (data, count, type, result, result_count, result_type, target, place, target_count,
         target_type, operation, window),
        TRACE_OP_FETCH, target,
        operation == recorder_mpi.no_operation ? 0 : recorder_bytes (count, type),
        recorder_bytes (result_count, result_type), window)

WRAP (Fetch_and_op,
      (const void *data, void *result, MPI_Datatype type, int target, MPI_Aint place,
       MPI_Op operation, MPI_Win window),
      (data, result, type, target, place, operation, window),
      describe_access (&call, TRACE_OP_FETCH, target,
                       operation == recorder_mpi.no_operation ? 0 : recorder_bytes (1, type),
                       recorder_bytes (1, type), window))

/* What to compare with and what to put in its place go there. */
WRAP (Compare_and_swap,
      (const void *data, const void *compare, void *result, MPI_Datatype type, int target,
       MPI_Aint place, MPI_Win window),
      (data, compare, result, type, target, place, window),
      describe_access (&call, TRACE_OP_FETCH, target, recorder_bytes (2, type),
                       recorder_bytes (1, type), window))

/* --- Synchronization --- */

static void
describe_flush (RecorderCall *call, int32_t target, MPI_Win handle)
{
  call->op.peer = target;
  describe_window (call, TRACE_OP_WIN_FLUSH, handle);
}

WRAP (Win_fence, (int assertion, MPI_Win window), (assertion, window),
      describe_window (&call, TRACE_OP_WIN_FENCE, window))
WRAP (Win_lock, (int type, int target, int assertion, MPI_Win window),
      (type, target, assertion, window))
WRAP (Win_lock_all, (int assertion, MPI_Win window), (assertion, window))
WRAP (Win_sync, (MPI_Win window), (window))

#define FLUSH(name)                                           \
  WRAP (name, (int target, MPI_Win window), (target, window), \
        describe_flush (&call, recorder_peer (target), window))
#define FLUSH_ALL(name) \
  WRAP (name, (MPI_Win window), (window), describe_flush (&call, TRACE_ANY_SOURCE, window))

FLUSH (Win_unlock)
FLUSH (Win_flush)
FLUSH (Win_flush_local)
FLUSH_ALL (Win_unlock_all)
FLUSH_ALL (Win_flush_all)
FLUSH_ALL (Win_flush_local_all)

/* --- Post, start, complete, wait --- */

/* Ranks of a group in the communicator of the window; the caller frees. */
static int32_t *
ranks_of (MPI_Group group, MPI_Win handle, uint32_t *n_ranks)
{
  MPI_Group all;
  int n;
  int32_t *ranks, *members;

  recorder_mpi.Group_size (group, &n);
  members = recorder_scratch (RECORDER_INDICES, (size_t) n * sizeof *members);
  ranks = calloc ((size_t) n + 1, sizeof *ranks);
  if (ranks == NULL)
    abort ();
  for (int i = 0; i < n; i++)
    members[i] = i;
  recorder_mpi.Win_get_group (handle, &all);
  recorder_mpi.Group_translate_ranks (group, n, members, all, ranks);
  recorder_mpi.Group_free (&all);
  *n_ranks = (uint32_t) n;
  return ranks;
}

/* The ranks stay with the window until the epoch ends. */
static void
describe_epoch (RecorderCall *call, TraceOpKind kind, MPI_Group group, MPI_Win handle)
{
  RecorderWindow *window = describe_window (call, kind, handle);
  int32_t **ranks;
  uint32_t *n;

  if (window == NULL)
    return;
  ranks = kind == TRACE_OP_WIN_POST ? &window->exposed : &window->accessed;
  n = kind == TRACE_OP_WIN_POST ? &window->n_exposed : &window->n_accessed;
  free (*ranks);
  *ranks = ranks_of (group, handle, n);
  call->op.values = *ranks;
  call->op.n_values = *n;
}

static void
describe_epoch_end (RecorderCall *call, TraceOpKind kind, MPI_Win handle)
{
  const RecorderWindow *window = describe_window (call, kind, handle);

  if (window == NULL)
    return;
  call->op.values = kind == TRACE_OP_WIN_WAIT ? window->exposed : window->accessed;
  call->op.n_values = kind == TRACE_OP_WIN_WAIT ? window->n_exposed : window->n_accessed;
}

WRAP (Win_post, (MPI_Group group, int assertion, MPI_Win window), (group, assertion, window),
      describe_epoch (&call, TRACE_OP_WIN_POST, group, window))
WRAP (Win_start, (MPI_Group group, int assertion, MPI_Win window), (group, assertion, window),
      describe_epoch (&call, TRACE_OP_WIN_START, group, window))
WRAP (Win_complete, (MPI_Win window), (window),
      describe_epoch_end (&call, TRACE_OP_WIN_COMPLETE, window))
WRAP (Win_wait, (MPI_Win window), (window), describe_epoch_end (&call, TRACE_OP_WIN_WAIT, window))

int
MPI_Win_test (MPI_Win window, int *flag)
{
  WRAP_BEGIN (Win_test, (window, flag));
  int code = real (window, flag);

  if (code == MPI_SUCCESS && *flag)
    describe_epoch_end (&call, TRACE_OP_WIN_WAIT, window);
  recorder_leave (&call, code);
  return code;
}
PROFILED (Win_test)
