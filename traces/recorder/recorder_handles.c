/* recorder_handles.c - numbers for the handles of MPI.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/recorder/recorder.h"
#include "traces/recorder/recorder_map.h"

#include <stdlib.h>

/* --- A map from handles and addresses to numbers --- */

/* Handles are addresses, or numbers with a kind in the high bits. */
static size_t
home (const RecorderMap *map, uint64_t key)
{
  return (size_t) ((key * 0x9e3779b97f4a7c15ull) >> 20) & (map->n_slots - 1);
}

/* The slot of the key, or the free one where it would be. */
static size_t
probe (const RecorderMap *map, uint64_t key)
{
  size_t at = home (map, key);

  while (map->slots[at].used && map->slots[at].key != key)
    at = (at + 1) & (map->n_slots - 1);
  return at;
}

uint64_t *
recorder_map_find (const RecorderMap *map, uint64_t key)
{
  size_t at;

  if (map->n_used == 0)
    return NULL;
  at = probe (map, key);
  return map->slots[at].used ? &map->slots[at].value : NULL;
}

void
recorder_map_set (RecorderMap *map, uint64_t key, uint64_t value)
{
  size_t at;

  if (2 * (map->n_used + 1) > map->n_slots) {
    RecorderMap bigger = { .n_slots = map->n_slots > 0 ? 2 * map->n_slots : 64 };

    bigger.slots = calloc (bigger.n_slots, sizeof *bigger.slots);
    if (bigger.slots == NULL)
      abort ();
    for (size_t i = 0; i < map->n_slots; i++)
      if (map->slots[i].used)
        recorder_map_set (&bigger, map->slots[i].key, map->slots[i].value);
    free (map->slots);
    *map = bigger;
  }
  at = probe (map, key);
  if (!map->slots[at].used)
    map->n_used++;
  map->slots[at] = (RecorderMapSlot){ key, value, true };
}

/* Returns the value it had, or 0. */
static uint64_t
map_remove (RecorderMap *map, uint64_t key)
{
  uint64_t *found = recorder_map_find (map, key);
  size_t last = map->n_slots - 1, hole;
  uint64_t value;

  if (found == NULL)
    return 0;
  value = *found;
  /* Slots behind the hole move up, so that no probe ends at it too early. */
  hole = probe (map, key);
  for (size_t at = (hole + 1) & last; map->slots[at].used; at = (at + 1) & last)
    if (((at - home (map, map->slots[at].key)) & last) >= ((at - hole) & last)) {
      map->slots[hole] = map->slots[at];
      hole = at;
    }
  map->slots[hole].used = false;
  map->n_used--;
  return value;
}

/* --- Communicators, windows and messages, and their numbers --- */

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
  RecorderComm *comm = (RecorderComm *) (uintptr_t) map_remove (&handles.comms, (uintptr_t) handle);

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
      (RecorderWindow *) (uintptr_t) map_remove (&handles.windows, (uintptr_t) handle);

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
      (RecorderMessage *) (uintptr_t) map_remove (&handles.messages, (uintptr_t) handle);
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

/* --- Numbers for requests --- */

/* MPI may give one handle to several requests at a time: Open MPI has one for
 * all sends that are complete when they return, and another thread may get
 * the handle of a request whose end is not written yet.  So every request has
 * a number of its own, and a handle names a queue of them. */

#define NONE UINT32_MAX

typedef struct {
  uint64_t wildcard; /* which wildcard receive it is */
  uint64_t key;      /* the handle */
  uint32_t next;     /* in the queue of the handle, or free */
  uint32_t taken;    /* by which recorder_request_begin() */
  /* Of the first of a queue: after `looked`, where the next to take may be. */
  uint32_t looked, resume;
  bool is_bound, is_persistent;
} Request;

/* The map has first | last << 32 of a handle's queue. */
static struct {
  Request *all;
  uint32_t n, capacity, free; /* of all[] */
  uint32_t round;
  uint32_t n_wildcards;
  RecorderMap queues;
} requests = { .n = TRACE_REQUEST_NULL + 1, .free = NONE, .round = 1 };

static uint64_t
key_of (MPI_Request handle)
{
  return (uint64_t) (uintptr_t) handle;
}

uint32_t
recorder_request_new (bool is_persistent, uint64_t wildcard)
{
  uint32_t number = requests.free;

  if (number != NONE) {
    requests.free = requests.all[number].next;
  } else {
    if (requests.n >= requests.capacity) {
      requests.capacity = requests.capacity > 0 ? 2 * requests.capacity : 256;
      requests.all = realloc (requests.all, requests.capacity * sizeof *requests.all);
      if (requests.all == NULL)
        abort ();
    }
    number = requests.n++;
  }
  requests.all[number] =
      (Request){ .wildcard = wildcard, .next = NONE, .is_persistent = is_persistent };
  requests.n_wildcards += wildcard != RECORDER_NO_WILDCARD;
  return number;
}

void
recorder_request_bind (uint32_t number, MPI_Request handle)
{
  uint64_t key = key_of (handle), *queue = recorder_map_find (&requests.queues, key);

  requests.all[number].key = key;
  requests.all[number].is_bound = true;
  if (queue == NULL) {
    recorder_map_set (&requests.queues, key, number | (uint64_t) number << 32);
    return;
  }
  requests.all[*queue >> 32].next = number;
  *queue = (uint32_t) *queue | (uint64_t) number << 32;
}

/* Removes a request from the queue of its handle. */
static void
unbind (uint32_t number)
{
  Request *request = &requests.all[number];
  uint64_t *queue = recorder_map_find (&requests.queues, request->key);
  uint32_t at, before = NONE;

  if (queue == NULL)
    return;
  at = (uint32_t) *queue;
  while (at != number) {
    before = at;
    at = requests.all[at].next;
  }
  if (before != NONE)
    requests.all[before].next = request->next;
  else if (request->next != NONE)
    *queue = (*queue & ~(uint64_t) UINT32_MAX) | request->next;
  else
    map_remove (&requests.queues, request->key);
  if (before != NONE && request->next == NONE)
    *queue = (uint32_t) *queue | (uint64_t) before << 32;
}

void
recorder_request_release (uint32_t number)
{
  if (number == TRACE_REQUEST_NULL)
    return;
  if (requests.all[number].is_bound)
    unbind (number);
  requests.n_wildcards -= requests.all[number].wildcard != RECORDER_NO_WILDCARD;
  requests.all[number].next = requests.free;
  requests.free = number;
}

void
recorder_request_begin (void)
{
  requests.round++;
}

uint32_t
recorder_request_take (MPI_Request handle)
{
  const uint64_t *queue = recorder_map_find (&requests.queues, key_of (handle));
  Request *first;
  uint32_t at;

  if (queue == NULL)
    return TRACE_REQUEST_NULL;
  at = (uint32_t) *queue;
  first = &requests.all[at];
  if (first->looked == requests.round)
    at = first->resume;
  while (at != NONE && requests.all[at].taken == requests.round)
    at = requests.all[at].next;
  first->looked = requests.round;
  first->resume = at != NONE ? requests.all[at].next : NONE;
  if (at == NONE)
    return TRACE_REQUEST_NULL;
  requests.all[at].taken = requests.round;
  return at;
}

void
recorder_request_complete (uint32_t number, const MPI_Status *status)
{
  const Request *request = &requests.all[number];
  int cancelled = 0;

  if (number == TRACE_REQUEST_NULL)
    return;
  if (request->wildcard != RECORDER_NO_WILDCARD && status != NULL) {
    recorder_mpi.Test_cancelled (status, &cancelled);
    if (!cancelled)
      recorder_file_source (request->wildcard, recorder_peer (status->MPI_SOURCE));
  }
  recorder_comm_arrived (number);
  if (!request->is_persistent)
    recorder_request_release (number);
}

uint32_t
recorder_wildcards (void)
{
  return requests.n_wildcards;
}
