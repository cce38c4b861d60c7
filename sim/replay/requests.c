/* requests.c - requests, and the handles that name them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A handle names a queue of operations (operation.h) and, when persistent, a
 * template that MPI_Start copies.  A completion call takes operations off the
 * handle when it begins, as what it will complete is known from the trace. */
#include "sim/replay/replay_private.h"

enum { OLDEST, YOUNGEST, TEMPLATE };

uint32_t
sim_request_take (SimReplay *replay, SimRequest value)
{
  uint32_t request = replay->first_free_request;

  if (request != TOPO_NONE)
    replay->first_free_request = replay->requests[request].next;
  else {
    if (replay->n_requests == replay->requests_capacity) {
      replay->requests_capacity = MAX (256u, 2 * replay->requests_capacity);
      replay->requests = g_renew (SimRequest, replay->requests, replay->requests_capacity);
    }
    request = replay->n_requests++;
  }
  replay->requests[request] = value;
  replay->requests[request].used = true;
  replay->requests[request].next = TOPO_NONE;
  return request;
}

void
sim_request_give (SimReplay *replay, uint32_t request)
{
  replay->requests[request].used = false;
  replay->requests[request].next = replay->first_free_request;
  replay->first_free_request = request;
}

/* Given back first, as what follows may take others. */
static void
graph_request_complete (SimReplay *replay, uint32_t request)
{
  uint32_t rank = replay->requests[request].rank, operation = replay->requests[request].next;

  sim_request_give (replay, request);
  sim_graph_completed (replay, rank, operation);
}

void
sim_request_complete (SimReplay *replay, uint32_t request, int64_t at_ps)
{
  SimRequest *it = &replay->requests[request];

  g_assert (it->used && !it->complete);
  it->complete = true;
  it->at_ps = at_ps;
  if (!it->is_send && !it->nobody)
    replay->ranks[it->rank].open_receives--;
  if (it->awaited) {
    sim_rank_wait_until (replay, it->rank, at_ps);
    replay->ranks[it->rank].pending--;
  }
  if (it->owned)
    sim_active_owned (replay, it, at_ps);
  if (it->awaited || it->detached || it->owned)
    sim_request_give (replay, request);
  else if (it->graph)
    graph_request_complete (replay, request);
}

void
sim_request_await (SimReplay *replay, uint32_t request)
{
  SimRequest *it = &replay->requests[request];

  if (!it->complete) {
    it->awaited = true;
    replay->ranks[it->rank].pending++;
    return;
  }
  sim_rank_wait_until (replay, it->rank, it->at_ps);
  sim_request_give (replay, request);
}

void
sim_request_detach (SimReplay *replay, uint32_t request)
{
  if (replay->requests[request].complete)
    sim_request_give (replay, request);
  else
    replay->requests[request].detached = true;
}

/* A handle that no table can hold is none. */
static bool
handle_is_possible (SimReplay *replay, uint32_t rank, uint32_t handle)
{
  if (handle == UINT32_MAX)
    sim_report_fail (replay, rank, "request %u is impossible", handle);
  return handle != UINT32_MAX;
}

void
sim_handle_push (SimReplay *replay, uint32_t rank, uint32_t handle, uint32_t request)
{
  TraceMapEntry *entry;

  if (!handle_is_possible (replay, rank, handle))
    return;
  entry = trace_map_add (&replay->ranks[rank].handles, handle, TOPO_NONE);
  if (entry->value[OLDEST] == TOPO_NONE)
    entry->value[OLDEST] = request;
  else
    replay->requests[entry->value[YOUNGEST]].next = request;
  entry->value[YOUNGEST] = request;
}

uint32_t
sim_handle_pop (SimReplay *replay, uint32_t rank, uint32_t handle)
{
  TraceMap *handles = &replay->ranks[rank].handles;
  TraceMapEntry *entry = trace_map_find (handles, handle);
  uint32_t request = entry == NULL ? TOPO_NONE : entry->value[OLDEST];

  if (request == TOPO_NONE)
    return TOPO_NONE;
  entry->value[OLDEST] = replay->requests[request].next;
  replay->requests[request].next = TOPO_NONE;
  if (entry->value[OLDEST] == TOPO_NONE && entry->value[TEMPLATE] == TOPO_NONE)
    trace_map_remove (handles, entry);
  return request;
}

uint32_t
sim_handle_peek (const SimReplay *replay, uint32_t rank, uint32_t handle)
{
  const TraceMapEntry *entry = trace_map_find (&replay->ranks[rank].handles, handle);

  return entry == NULL ? TOPO_NONE : entry->value[OLDEST];
}

void
sim_handle_set_template (SimReplay *replay, uint32_t rank, uint32_t handle, uint32_t request)
{
  TraceMap *handles = &replay->ranks[rank].handles;
  TraceMapEntry *entry;

  if (!handle_is_possible (replay, rank, handle))
    return;
  entry = trace_map_add (handles, handle, TOPO_NONE);
  if (entry->value[TEMPLATE] != TOPO_NONE)
    sim_request_give (replay, entry->value[TEMPLATE]);
  entry->value[TEMPLATE] = request;
  if (entry->value[OLDEST] == TOPO_NONE && request == TOPO_NONE)
    trace_map_remove (handles, entry);
}

uint32_t
sim_handle_template (const SimReplay *replay, uint32_t rank, uint32_t handle)
{
  const TraceMapEntry *entry = trace_map_find (&replay->ranks[rank].handles, handle);

  return entry == NULL ? TOPO_NONE : entry->value[TEMPLATE];
}

GArray *
sim_handle_active (const SimReplay *replay, uint32_t rank)
{
  const TraceMap *handles = &replay->ranks[rank].handles;
  GArray *active = g_array_new (FALSE, FALSE, sizeof (uint32_t));

  for (uint32_t place = 0; place < handles->capacity; place++) {
    const TraceMapEntry *entry = &handles->entries[place];

    if (entry->key != UINT32_MAX && entry->value[OLDEST] != TOPO_NONE)
      g_array_append_val (active, entry->key);
  }
  return active;
}
