/* ti_requests.c - requests of one rank that are under way, for traces without handles.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/ti_requests.h"

#include "traces/operation.h"

#include <glib.h>

#define FIRST_REQUEST (TRACE_REQUEST_NULL + 1)

typedef struct {
  TiTriple triple;
  uint32_t request; /* TRACE_REQUEST_NULL: gone */
} Active;

struct TiRequests {
  GArray *active; /* (element-type Active), oldest first, with gaps */
  guint first;    /* before it all are gone */
  uint32_t next_request;
};

TiRequests *
ti_requests_new (void)
{
  TiRequests *requests = g_new (TiRequests, 1);

  requests->active = g_array_new (FALSE, FALSE, sizeof (Active));
  requests->first = 0;
  requests->next_request = FIRST_REQUEST;
  return requests;
}

void
ti_requests_free (TiRequests *requests)
{
  if (requests == NULL)
    return;
  g_array_unref (requests->active);
  g_free (requests);
}

static Active *
active_at (TiRequests *requests, guint at)
{
  return &g_array_index (requests->active, Active, at);
}

uint32_t
ti_requests_start (TiRequests *requests, TiTriple triple)
{
  Active active = { triple, requests->next_request++ };

  if (requests->next_request < FIRST_REQUEST)
    requests->next_request = FIRST_REQUEST;
  g_array_append_val (requests->active, active);
  return active.request;
}

/* Gaps are closed when they are half of the array, so that taking costs
 * constant time on average, in whatever order. */
static void
take (TiRequests *requests, guint at)
{
  active_at (requests, at)->request = TRACE_REQUEST_NULL;
  while (requests->first < requests->active->len &&
         active_at (requests, requests->first)->request == TRACE_REQUEST_NULL)
    requests->first++;
  while (requests->active->len > requests->first &&
         active_at (requests, requests->active->len - 1)->request == TRACE_REQUEST_NULL)
    g_array_set_size (requests->active, requests->active->len - 1);
  if (requests->first > 0 && requests->first * 2 >= requests->active->len) {
    g_array_remove_range (requests->active, 0, requests->first);
    requests->first = 0;
  }
}

static bool
fits (const TiTriple *posted, const TiTriple *asked, bool wildcards)
{
  if (posted->destination != asked->destination)
    return false;
  if (!wildcards)
    return posted->source == asked->source && posted->tag == asked->tag;
  return (posted->source == asked->source || posted->source == TRACE_ANY_SOURCE) &&
         (posted->tag == asked->tag || posted->tag == TRACE_ANY_TAG);
}

static bool
search (TiRequests *requests, const TiTriple *asked, bool wildcards, guint *at)
{
  for (*at = requests->first; *at < requests->active->len; ++*at) {
    const Active *active = active_at (requests, *at);

    if (active->request != TRACE_REQUEST_NULL && fits (&active->triple, asked, wildcards))
      return true;
  }
  return false;
}

bool
ti_requests_find (TiRequests *requests, TiTriple triple, bool taken, uint32_t *request)
{
  guint at;

  if (!search (requests, &triple, false, &at) && !search (requests, &triple, true, &at))
    return false;
  *request = active_at (requests, at)->request;
  if (taken)
    take (requests, at);
  return true;
}

bool
ti_requests_take_last (TiRequests *requests, uint32_t *request)
{
  if (requests->active->len == requests->first)
    return false;
  *request = active_at (requests, requests->active->len - 1)->request;
  take (requests, requests->active->len - 1);
  return true;
}

void
ti_requests_forget (TiRequests *requests)
{
  g_array_set_size (requests->active, 0);
  requests->first = 0;
}
