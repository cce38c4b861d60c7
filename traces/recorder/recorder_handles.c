/* recorder_handles.c - numbers for communicators and windows, and what the
 * recorder knows of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/recorder/recorder.h"

#include "traces/recorder/recorder_map.h"

#include <stdlib.h>

static struct {
  RecorderMap comms, windows, messages; /* handle -> struct */
  uint32_t next_comm, next_window;
} handles = { .next_comm = TRACE_COMM_SELF + 1, .next_window = 1 };

static RecorderComm foreign_comm;

static void *
allocate (size_t size)
{
  void *memory = calloc (1, size);

  if (memory == NULL)
    abort ();
  return memory;
}

RecorderComm *
recorder_comm (MPI_Comm handle)
{
  const uint64_t *found = recorder_map_find (&handles.comms, (uintptr_t) handle);

  return found != NULL ? (RecorderComm *) (uintptr_t) *found : &foreign_comm;
}

RecorderComm *
recorder_comm_add (MPI_Comm handle)
{
  RecorderComm *comm = allocate (sizeof *comm);
  int is_inter;

  comm->number = recorder_comm_number ();
  recorder_mpi.Comm_size (handle, &comm->size);
  recorder_mpi.Comm_rank (handle, &comm->rank);
  recorder_mpi.Comm_test_inter (handle, &is_inter);
  comm->is_inter = is_inter != 0;
  recorder_comm_put (handle, comm);
  return comm;
}

uint32_t
recorder_comm_number (void)
{
  return handles.next_comm++;
}

void
recorder_comm_put (MPI_Comm handle, RecorderComm *comm)
{
  recorder_comm_remove (handle);
  recorder_map_set (&handles.comms, (uintptr_t) handle, (uintptr_t) comm);
}

void
recorder_comm_remove (MPI_Comm handle)
{
  RecorderComm *comm =
      (RecorderComm *) (uintptr_t) recorder_map_remove (&handles.comms, (uintptr_t) handle);

  if (comm == NULL)
    return;
  free (comm->out);
  free (comm->in);
  free (comm);
}

RecorderWindow *
recorder_window (MPI_Win handle)
{
  const uint64_t *found = recorder_map_find (&handles.windows, (uintptr_t) handle);

  return found != NULL ? (RecorderWindow *) (uintptr_t) *found : NULL;
}

RecorderWindow *
recorder_window_add (MPI_Win handle, uint32_t comm)
{
  RecorderWindow *window = allocate (sizeof *window);

  recorder_window_remove (handle);
  window->number = handles.next_window++;
  window->comm = comm;
  recorder_map_set (&handles.windows, (uintptr_t) handle, (uintptr_t) window);
  return window;
}

void
recorder_window_remove (MPI_Win handle)
{
  RecorderWindow *window =
      (RecorderWindow *) (uintptr_t) recorder_map_remove (&handles.windows, (uintptr_t) handle);

  if (window == NULL)
    return;
  free (window->exposed);
  free (window->accessed);
  free (window);
}

bool
recorder_window_has_comm (uint32_t comm)
{
  for (size_t i = 0; i < handles.windows.n_slots; i++) {
    const RecorderMapSlot *slot = &handles.windows.slots[i];

    if (slot->used && ((const RecorderWindow *) (uintptr_t) slot->value)->comm == comm)
      return true;
  }
  return false;
}

void
recorder_message_add (MPI_Message handle, RecorderMessage message)
{
  RecorderMessage *kept = allocate (sizeof *kept);

  *kept = message;
  recorder_map_set (&handles.messages, (uintptr_t) handle, (uintptr_t) kept);
}

RecorderMessage
recorder_message_remove (MPI_Message handle)
{
  RecorderMessage *kept =
      (RecorderMessage *) (uintptr_t) recorder_map_remove (&handles.messages, (uintptr_t) handle);
  RecorderMessage message = { 0, TRACE_PROC_NULL, TRACE_ANY_TAG };

  if (kept != NULL)
    message = *kept;
  free (kept);
  return message;
}

/* --- Describing calls --- */

uint64_t
recorder_bytes (int64_t count, MPI_Datatype type)
{
  MPI_Count size;

  if (count <= 0 || type == recorder_mpi.no_type)
    return 0;
  recorder_mpi.Type_size_x (type, &size);
  return size > 0 ? (uint64_t) count * (uint64_t) size : 0;
}

int32_t
recorder_peer (int rank)
{
  if (rank == MPI_ANY_SOURCE)
    return TRACE_ANY_SOURCE;
  return rank == MPI_PROC_NULL ? TRACE_PROC_NULL : rank;
}

int32_t
recorder_tag (int tag)
{
  return tag == MPI_ANY_TAG ? TRACE_ANY_TAG : tag;
}

RecorderComm *
recorder_use_comm (RecorderCall *call, MPI_Comm handle)
{
  RecorderComm *comm;

  recorder_lock ();
  comm = recorder_comm (handle);
  recorder_unlock ();
  call->op.comm = comm->number;
  if (comm->is_inter || comm->number == 0)
    call->op.kind = TRACE_OP_UNSUPPORTED;
  return comm;
}

RecorderComm *
recorder_describe_collective (RecorderCall *call, TraceOpKind kind, MPI_Comm comm)
{
  call->op.kind = kind;
  return recorder_use_comm (call, comm);
}

void
recorder_describe_nonblocking (RecorderCall *call, MPI_Request *request)
{
  call->op.nonblocking = true;
  call->binds = request;
}
