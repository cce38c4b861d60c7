/* recorder_requests.c - numbers for requests.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * MPI may give one handle to several requests at a time: Open MPI has one for
 * all sends that are complete when they return, and another thread may get
 * the handle of a request whose end is not written yet.  So every request has
 * a number of its own, and a handle names a queue of them. */
#include "traces/recorder/recorder.h"

#include "traces/recorder/recorder_map.h"

#include <stdlib.h>

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

static void
grow (void)
{
  requests.capacity = requests.capacity > 0 ? 2 * requests.capacity : 256;
  requests.all = realloc (requests.all, requests.capacity * sizeof *requests.all);
  if (requests.all == NULL)
    abort ();
}

uint32_t
recorder_request_new (bool is_persistent, uint64_t wildcard)
{
  uint32_t number = requests.free;

  if (number != NONE) {
    requests.free = requests.all[number].next;
  } else {
    if (requests.n >= requests.capacity)
      grow ();
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

/* Takes it out of the queue of its handle. */
static void
unbind (uint32_t number)
{
  Request *request = &requests.all[number];
  uint64_t *queue = recorder_map_find (&requests.queues, request->key);
  uint32_t at = (uint32_t) *queue, before = NONE;

  while (at != number) {
    before = at;
    at = requests.all[at].next;
  }
  if (before != NONE)
    requests.all[before].next = request->next;
  else if (request->next != NONE)
    *queue = (*queue & ~(uint64_t) UINT32_MAX) | request->next;
  else
    recorder_map_remove (&requests.queues, request->key);
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
