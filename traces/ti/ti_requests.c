/* ti_requests.c - requests of one rank that are under way, for traces without handles.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/ti/ti_private.h"

#include <glib.h>
#include <string.h>

#define FIRST_REQUEST (TRACE_REQUEST_NULL + 1)
#define NONE          UINT64_MAX
/* Most programs have few requests under way, or wait for them in the order of their start: this
 * many are compared one by one before a table of all of them is made. */
#define COMPARED 32

/* Requests are numbered in the order of their start; those under way stand in
 * an array, with gaps. */
typedef struct {
  TiTriple triple;
  uint32_t request;        /* TRACE_REQUEST_NULL: gone */
  uint64_t older, younger; /* numbers of the same triple; only while there are queues */
} Active;

/* The requests with one triple. */
typedef struct {
  TiTriple triple;
  uint64_t oldest, youngest;
} Queue;

struct TiRequests {
  Active *active;     /* oldest first, with gaps but not at its end */
  guint n, capacity;  /* of the array */
  guint first;        /* all before it are gone */
  uint64_t base;      /* number of the first in the array */
  GHashTable *queues; /* set of Queue, by triple; none is empty.  NULL: not needed since nothing
                       * was under way */
  uint32_t next_request;
};

static guint
hash_triple (gconstpointer key)
{
  const TiTriple *triple = key;
  uint64_t mixed = (uint32_t) triple->source * UINT64_C (0x9e3779b97f4a7c15);

  mixed = (mixed ^ (uint32_t) triple->destination) * UINT64_C (0xbf58476d1ce4e5b9);
  mixed = (mixed ^ (uint32_t) triple->tag) * UINT64_C (0x94d049bb133111eb);
  return (guint) (mixed >> 32);
}

static gboolean
same_triple (gconstpointer a, gconstpointer b)
{
  const TiTriple *x = a, *y = b;

  return x->source == y->source && x->destination == y->destination && x->tag == y->tag;
}

TiRequests *
ti_requests_new (void)
{
  TiRequests *requests = g_new0 (TiRequests, 1);

  requests->next_request = FIRST_REQUEST;
  return requests;
}

void
ti_requests_free (TiRequests *requests)
{
  if (requests == NULL)
    return;
  g_clear_pointer (&requests->queues, g_hash_table_unref);
  g_free (requests->active);
  g_free (requests);
}

static Active *
active_at (const TiRequests *requests, uint64_t number)
{
  return &requests->active[number - requests->base];
}

static Queue *
find_queue (const TiRequests *requests, TiTriple triple)
{
  return g_hash_table_lookup (requests->queues, &triple);
}

/* The request must be younger than all that are in queues. */
static void
enqueue (TiRequests *requests, uint64_t number)
{
  Active *active = active_at (requests, number);
  Queue *queue = find_queue (requests, active->triple);

  active->older = active->younger = NONE;
  if (queue == NULL) {
    queue = g_new (Queue, 1);
    *queue = (Queue){ active->triple, number, number };
    g_hash_table_add (requests->queues, queue);
  } else {
    active->older = queue->youngest;
    active_at (requests, queue->youngest)->younger = number;
    queue->youngest = number;
  }
}

static void
dequeue (TiRequests *requests, uint64_t number)
{
  const Active *active = active_at (requests, number);
  Queue *queue = find_queue (requests, active->triple);

  if (active->older != NONE)
    active_at (requests, active->older)->younger = active->younger;
  else
    queue->oldest = active->younger;
  if (active->younger != NONE)
    active_at (requests, active->younger)->older = active->older;
  else
    queue->youngest = active->older;
  if (queue->oldest == NONE)
    g_hash_table_remove (requests->queues, queue);
}

uint32_t
ti_requests_start (TiRequests *requests, TiTriple triple)
{
  uint32_t request = requests->next_request++;

  if (requests->next_request < FIRST_REQUEST)
    requests->next_request = FIRST_REQUEST;
  if (requests->n == requests->capacity) {
    requests->capacity = MAX (2 * requests->capacity, 8);
    requests->active = g_renew (Active, requests->active, requests->capacity);
  }
  requests->active[requests->n++] = (Active){ .triple = triple, .request = request };
  if (requests->queues != NULL)
    enqueue (requests, requests->base + requests->n - 1);
  return request;
}

static bool
is_gone (const TiRequests *requests, guint index)
{
  return requests->active[index].request == TRACE_REQUEST_NULL;
}

void
ti_requests_forget (TiRequests *requests)
{
  g_clear_pointer (&requests->queues, g_hash_table_unref);
  requests->n = requests->first = 0;
}

/* Gaps are closed when they are half of the array, so that taking costs
 * constant time on average, in whatever order. */
static void
take (TiRequests *requests, uint64_t number)
{
  if (requests->queues != NULL)
    dequeue (requests, number);
  active_at (requests, number)->request = TRACE_REQUEST_NULL;
  while (requests->first < requests->n && is_gone (requests, requests->first))
    requests->first++;
  while (requests->n > requests->first && is_gone (requests, requests->n - 1))
    requests->n--;
  if (requests->n == requests->first) {
    ti_requests_forget (requests);
  } else if (requests->first * 2 >= requests->n) {
    requests->n -= requests->first;
    memmove (requests->active, requests->active + requests->first, requests->n * sizeof (Active));
    requests->base += requests->first;
    requests->first = 0;
  }
}

static bool
matches (int32_t posted, int32_t wanted, int32_t any)
{
  return posted == wanted || posted == any;
}

/* Sets *number to the oldest request with this triple, else to the oldest with a wildcard that
 * matches it, else to NONE.  False when COMPARED comparisons do not decide that. */
static bool
compare_some (const TiRequests *requests, TiTriple triple, uint64_t *number)
{
  guint end = MIN (requests->n, requests->first + COMPARED);

  *number = NONE;
  for (guint i = requests->first; i < end; i++) {
    const TiTriple *posted = &requests->active[i].triple;

    if (posted->destination != triple.destination || is_gone (requests, i) ||
        !matches (posted->source, triple.source, TRACE_ANY_SOURCE) ||
        !matches (posted->tag, triple.tag, TRACE_ANY_TAG))
      continue;
    if (same_triple (posted, &triple)) {
      *number = requests->base + i;
      return true;
    }
    if (*number == NONE)
      *number = requests->base + i;
  }
  return end == requests->n;
}

static uint64_t
oldest_of (const TiRequests *requests, int32_t source, int32_t destination, int32_t tag)
{
  const Queue *queue = find_queue (requests, (TiTriple){ source, destination, tag });

  return queue != NULL ? queue->oldest : NONE;
}

/* Does the same by the queues, which are made when there are none. */
static uint64_t
look_up (TiRequests *requests, TiTriple triple)
{
  int32_t to = triple.destination;
  uint64_t number;

  if (requests->queues == NULL) {
    requests->queues = g_hash_table_new_full (hash_triple, same_triple, g_free, NULL);
    for (guint i = requests->first; i < requests->n; i++)
      if (!is_gone (requests, i))
        enqueue (requests, requests->base + i);
  }
  number = oldest_of (requests, triple.source, to, triple.tag);
  if (number == NONE) {
    number = MIN (oldest_of (requests, TRACE_ANY_SOURCE, to, triple.tag),
                  oldest_of (requests, triple.source, to, TRACE_ANY_TAG));
    number = MIN (number, oldest_of (requests, TRACE_ANY_SOURCE, to, TRACE_ANY_TAG));
  }
  return number;
}

bool
ti_requests_find (TiRequests *requests, TiTriple triple, bool taken, uint32_t *request)
{
  uint64_t number;

  if (!compare_some (requests, triple, &number))
    number = look_up (requests, triple);
  if (number == NONE)
    return false;
  *request = active_at (requests, number)->request;
  if (taken)
    take (requests, number);
  return true;
}

bool
ti_requests_take_last (TiRequests *requests, uint32_t *request)
{
  uint64_t number = requests->base + requests->n - 1;

  if (requests->n == requests->first)
    return false;
  *request = active_at (requests, number)->request;
  take (requests, number);
  return true;
}
