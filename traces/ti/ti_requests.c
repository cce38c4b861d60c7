/* ti_requests.c - requests of one rank that are under way, for traces without handles.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/ti/ti_private.h"

#define FIRST_REQUEST (TRACE_REQUEST_NULL + 1)
#define NONE          UINT64_MAX

/* Requests are numbered in the order of their start; those under way stand in
 * an array, with gaps. */
typedef struct {
  TiTriple triple;
  uint32_t request;        /* TRACE_REQUEST_NULL: gone */
  uint64_t older, younger; /* numbers of the same triple */
} Active;

/* The requests with one triple. */
typedef struct {
  TiTriple triple;
  uint64_t oldest, youngest;
} Queue;

struct TiRequests {
  GArray *active;     /* (element-type Active), oldest first, with gaps but not at its end */
  uint64_t base;      /* number of the first in the array */
  guint first;        /* all before it are gone */
  GHashTable *queues; /* set of Queue, by triple; none is empty */
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

  requests->active = g_array_new (FALSE, FALSE, sizeof (Active));
  requests->queues = g_hash_table_new_full (hash_triple, same_triple, g_free, NULL);
  requests->next_request = FIRST_REQUEST;
  return requests;
}

void
ti_requests_free (TiRequests *requests)
{
  if (requests == NULL)
    return;
  g_array_unref (requests->active);
  g_hash_table_unref (requests->queues);
  g_free (requests);
}

static Active *
active_at (const TiRequests *requests, uint64_t number)
{
  return &g_array_index (requests->active, Active, number - requests->base);
}

static Queue *
find_queue (const TiRequests *requests, TiTriple triple)
{
  return g_hash_table_lookup (requests->queues, &triple);
}

uint32_t
ti_requests_start (TiRequests *requests, TiTriple triple)
{
  Active active = { triple, requests->next_request++, NONE, NONE };
  uint64_t number = requests->base + requests->active->len;
  Queue *queue = find_queue (requests, triple);

  if (requests->next_request < FIRST_REQUEST)
    requests->next_request = FIRST_REQUEST;
  if (queue == NULL) {
    queue = g_new (Queue, 1);
    *queue = (Queue){ triple, number, number };
    g_hash_table_add (requests->queues, queue);
  } else {
    active.older = queue->youngest;
    active_at (requests, queue->youngest)->younger = number;
    queue->youngest = number;
  }
  g_array_append_val (requests->active, active);
  return active.request;
}

static gboolean
is_gone (const TiRequests *requests, guint index)
{
  return g_array_index (requests->active, Active, index).request == TRACE_REQUEST_NULL;
}

/* Gaps are closed when they are half of the array, so that taking costs
 * constant time on average, in whatever order. */
static void
take (TiRequests *requests, uint64_t number)
{
  GArray *array = requests->active;
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
  active_at (requests, number)->request = TRACE_REQUEST_NULL;
  while (requests->first < array->len && is_gone (requests, requests->first))
    requests->first++;
  while (array->len > requests->first && is_gone (requests, array->len - 1))
    g_array_set_size (array, array->len - 1);
  if (requests->first > 0 && requests->first * 2 >= array->len) {
    g_array_remove_range (array, 0, requests->first);
    requests->base += requests->first;
    requests->first = 0;
  }
}

static uint64_t
oldest_of (const TiRequests *requests, int32_t source, int32_t destination, int32_t tag)
{
  const Queue *queue = find_queue (requests, (TiTriple){ source, destination, tag });

  return queue != NULL ? queue->oldest : NONE;
}

bool
ti_requests_find (TiRequests *requests, TiTriple triple, bool taken, uint32_t *request)
{
  int32_t to = triple.destination;
  uint64_t number = oldest_of (requests, triple.source, to, triple.tag);

  if (number == NONE) {
    number = MIN (oldest_of (requests, TRACE_ANY_SOURCE, to, triple.tag),
                  oldest_of (requests, triple.source, to, TRACE_ANY_TAG));
    number = MIN (number, oldest_of (requests, TRACE_ANY_SOURCE, to, TRACE_ANY_TAG));
  }
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
  uint64_t number = requests->base + requests->active->len - 1;

  if (requests->active->len == requests->first)
    return false;
  *request = active_at (requests, number)->request;
  take (requests, number);
  return true;
}

void
ti_requests_forget (TiRequests *requests)
{
  g_hash_table_remove_all (requests->queues);
  g_array_set_size (requests->active, 0);
  requests->first = 0;
}
