/* replay.c - the ranks: their clocks, their loop, the network's callbacks, reports.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/critical.h"

#include "base/random.h"

#include <string.h>
#include <sys/mman.h>

/* Calls that a rank may make ahead of the network's time: bounds the sends
 * that wait in the network, and how late a request to send is answered by a
 * rank that makes many calls without ever blocking. */
#define CALLS_AHEAD 32

/* Callbacks between two looks at the wall clock, and time between two calls of the progress
 * function. */
#define CALLBACKS_PER_PROGRESS 4096
#define PROGRESS_INTERVAL_US   100000

/* Ranks that a deadlock's message names. */
#define RANKS_NAMED 10

/* -- tables of records --------------------------------------------------- */

/* The byte before the first record says how far the block's beginning is. */
static void *
records_block (void *records)
{
  return records == NULL ? NULL : (uint8_t *) records - ((uint8_t *) records)[-1];
}

void *
sim_records_resize (void *records, size_t n_used, size_t n_records, size_t size)
{
  size_t before = records == NULL ? 0 : ((uint8_t *) records)[-1];
  uint8_t *block = g_realloc (records_block (records), n_records * size + SIM_CACHE_LINE);
  size_t after = SIM_CACHE_LINE - (uintptr_t) block % SIM_CACHE_LINE;

  if (before != after)
    memmove (block + after, block + before, n_used * size);
  block[after - 1] = (uint8_t) after;
#ifdef MADV_HUGEPAGE
  const uintptr_t page = (uintptr_t) 2 << 20;
  uintptr_t start = ((uintptr_t) block + page - 1) & ~(page - 1);
  uintptr_t end = ((uintptr_t) block + n_records * size) & ~(page - 1);

  if (start < end)
    madvise ((void *) start, end - start, MADV_HUGEPAGE);
#endif
  return block + after;
}

void
sim_records_free (void *records)
{
  g_free (records_block (records));
}

/* -- failures and warnings ------------------------------------------------- */

static const char *
place_of (const SimReplay *replay, uint32_t rank)
{
  TraceCursor *cursor = replay->ranks[rank].cursor;

  return cursor == NULL ? trace_path (replay->trace) : trace_cursor_place (cursor);
}

void
sim_report_fail (SimReplay *replay, uint32_t rank, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list arguments;

  if (replay->error != NULL)
    return;
  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (&replay->error, SIM_ERROR, SIM_ERROR_TRACE, "rank %u, %s at %s: %s", rank,
               replay->ranks[rank].call, place_of (replay, rank), text);
}

/* Nodes come in their order within a window, and parts of the network side by side, so the first
 * one that comes is not always the first in time. */
static bool
is_earlier (const SimReplay *replay, int64_t at_ps, uint32_t rank, const SimWarned *than)
{
  if (at_ps != than->at_ps)
    return at_ps < than->at_ps;
  return replay->ranks[rank].node < replay->ranks[than->rank].node;
}

void
sim_report_warn (SimReplay *replay, uint32_t rank, SimWarning warning)
{
  SimWarned *it = &replay->warnings[warning];

  if (it->n++ > 0 && !is_earlier (replay, replay->now_ps, rank, it))
    return;
  it->at_ps = replay->now_ps;
  it->rank = rank;
  g_free (it->place);
  it->place = g_strdup (place_of (replay, rank));
}

/* -- the ranks ------------------------------------------------------------- */

void
sim_rank_wait_until (SimReplay *replay, uint32_t rank, int64_t at_ps)
{
  SimRank *it = &replay->ranks[rank];

  if (at_ps <= it->local_ps)
    return;
  if (it->state != SIM_RANK_DONE) {
    it->wait_ps += at_ps - it->local_ps;
    sim_critical_wait (replay, rank, at_ps);
    if (replay->timeline != NULL)
      sim_timeline_wait (replay->timeline, rank, it->local_ps, at_ps);
  }
  it->local_ps = at_ps;
}

void
sim_rank_sleep (SimReplay *replay, uint32_t rank)
{
  replay->ranks[rank].state = SIM_RANK_RUNNING;
  sim_network_timer (replay->network, rank, sim_cookie (SIM_COOKIE_RESUME, 0, 0),
                     replay->ranks[rank].local_ps);
}

/* A rank that has receives open or collectives posted and computed before the
 * call it just made must have answered in that call all that came until then, so
 * the network catches up first; a rank with a helper thread need not. */
static void
rank_pause (SimReplay *replay, uint32_t rank, uint32_t calls)
{
  const SimRank *it = &replay->ranks[rank];
  bool has_posted = it->active != NULL && (!it->active->blocks || it->active->next != NULL);
  bool must_answer = !replay->parameters->mpi.async_progress &&
                     (it->open_receives > 0 || it->open_sends > 0 || has_posted) &&
                     it->computed_ps > replay->now_ps;

  if (it->state == SIM_RANK_READY && it->local_ps > replay->now_ps &&
      (must_answer || calls >= CALLS_AHEAD))
    sim_rank_sleep (replay, rank);
}

void
sim_rank_finish (SimReplay *replay, uint32_t rank)
{
  SimRank *it = &replay->ranks[rank];

  replay->result.ranks[rank].end_ps = it->local_ps;
  if (replay->timeline != NULL)
    sim_timeline_rank_end (replay->timeline, rank, it->local_ps);
  if (replay->iterations != NULL)
    sim_iterations_finish (replay->iterations, rank, replay->iteration_ends_ps);
  sim_critical_of (replay, rank);
  it->state = SIM_RANK_DONE;
  replay->n_done++;
  g_clear_pointer (&it->cursor, trace_cursor_free);
  replay->protocol->progress (replay, rank, SIM_MOMENT_ENTERED);
  sim_active_progress (replay, rank);
}

/* One operation; true when it was a call and not a gap between calls. */
static bool
rank_step (SimReplay *replay, uint32_t rank)
{
  SimRank *it = &replay->ranks[rank];
  TraceOp op;

  if (replay->iterations != NULL)
    sim_iterations_ended (replay->iterations, rank, it->local_ps);
  switch (trace_cursor_next (it->cursor, &op, &replay->error)) {
  case TRACE_NEXT_OPERATION: break;
  case TRACE_NEXT_END: sim_rank_finish (replay, rank); return false;
  case TRACE_NEXT_ERROR: return false;
  }
  it->call = op.name;
  replay->n_operations++;
  if (replay->timeline != NULL)
    sim_timeline_call (replay->timeline, rank, &op, it->local_ps);
  if (replay->iterations != NULL)
    sim_iterations_next (replay->iterations, rank, op.kind, replay->iteration_ends_ps);
  sim_ops_execute (replay, rank, &op);
  if (it->local_ps > SIM_LAST_PS)
    sim_report_fail (replay, rank, "simulated time passes %" G_GINT64_FORMAT " s",
                     SIM_LAST_PS / 1000000000000);
  return op.kind != TRACE_OP_COMPUTE;
}

/* Goes on until the rank blocks, sleeps or is done. */
static void
rank_run (SimReplay *replay, uint32_t rank)
{
  SimRank *it = &replay->ranks[rank];
  uint32_t calls = 0;

  if (it->state == SIM_RANK_READY && replay->protocol->is_busy (replay, rank))
    it->state = SIM_RANK_BUSY;
  rank_pause (replay, rank, calls);
  while (it->state == SIM_RANK_READY && replay->error == NULL) {
    bool call = true;

    if (it->active != NULL && it->active->blocks)
      sim_active_continue (replay, it->active);
    else
      call = rank_step (replay, rank);
    replay->protocol->progress (replay, rank, SIM_MOMENT_CALLED);
    if (it->state == SIM_RANK_READY && it->pending > 0)
      it->state = SIM_RANK_WAITING;
    if (it->state == SIM_RANK_READY && replay->protocol->is_busy (replay, rank))
      it->state = SIM_RANK_BUSY;
    if (call)
      rank_pause (replay, rank, ++calls);
  }
}

void
sim_rank_wake (SimReplay *replay, uint32_t rank)
{
  SimRank *it = &replay->ranks[rank];

  if (it->active_ready)
    sim_active_progress (replay, rank);
  if (it->state == SIM_RANK_WAITING && it->pending == 0)
    it->state = SIM_RANK_READY;
  if (it->state == SIM_RANK_READY && replay->error == NULL)
    rank_run (replay, rank);
}

/* The network's time has come to the rank's. */
static void
rank_resume (SimReplay *replay, uint32_t rank)
{
  SimRank *it = &replay->ranks[rank];

  if (it->cursor == NULL)
    it->cursor = trace_cursor_new (replay->trace, rank, &replay->error);
  if (it->cursor == NULL)
    return;
  if (replay->graphs != NULL) {
    sim_graph_start (replay, rank);
    return;
  }
  it->state = SIM_RANK_READY;
  replay->protocol->progress (replay, rank, SIM_MOMENT_ENTERED);
  if (it->state != SIM_RANK_BUSY)
    sim_ops_take_back (replay, rank);
  sim_rank_wake (replay, rank);
}

/* -- progress ------------------------------------------------------------- */

/* Share of the work done so far, 0..1: an estimate, as if all ranks had as many operations as the
 * one in the middle, and the operations still to come sent as many bytes as those before.  What the
 * network still carries is not done: ranks that do not block have started all operations long
 * before.  No view works. */
static double
share_done (SimReplay *replay)
{
  uint64_t n_done = 0, n_operations = 0, bytes_sent = 0, bytes_received = 0;
  double ranks_share, share;

  for (uint32_t view = 0; view < replay->n_views; view++) {
    n_done += replay->views[view]->n_done;
    n_operations += replay->views[view]->n_operations;
    bytes_sent += replay->views[view]->network->bytes_sent;
    bytes_received += replay->views[view]->network->bytes_received;
  }
  ranks_share = (double) n_done / MAX (replay->n_ranks, 1u);
  if (replay->operations_guess == 0) {
    uint32_t middle = replay->n_ranks / 2;
    g_autoptr (TraceCursor) cursor = trace_cursor_new (replay->trace, middle, NULL);
    uint64_t n = 0;
    TraceOp op;

    while (cursor != NULL && trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION)
      n++;
    replay->operations_guess = MAX (1u, n * replay->n_ranks);
  }
  share = (double) n_operations / (double) replay->operations_guess;
  if (bytes_sent > 0)
    share *= (double) bytes_received / (double) bytes_sent;
  return MAX (ranks_share, MIN (share, 0.99));
}

static void
tell_progress (SimReplay *replay, int64_t now_ps)
{
  int64_t now_us = g_get_monotonic_time ();

  if (replay->options.progress == NULL || now_us - replay->progress_us < PROGRESS_INTERVAL_US)
    return;
  replay->progress_us = now_us;
  replay->options.progress (replay->options.progress_data, share_done (replay), now_ps);
}

/* No view works. */
static bool
replay_running (void *client, int64_t now_ps)
{
  SimReplay *replay = client;

  if (now_ps > 0)
    tell_progress (replay, now_ps);
  /* One that is about to fail is not worth to be saved. */
  return replay->options.pause == NULL || *replay->failed ||
         replay->options.pause (replay->options.pause_data);
}

/* -- the network's callbacks --------------------------------------------- */

/* A message or a timer has come to a rank, or an acknowledgement back to it. */
static void
replay_event (SimReplay *replay, const SimProtocolEvent *event, const SimMessage *message,
              int64_t now_ps)
{
  uint32_t rank = event->rank;

  if (__atomic_load_n (replay->failed, __ATOMIC_RELAXED))
    return;
  replay->now_ps = now_ps;
  sim_critical_event (replay, event, message);
  switch (sim_cookie_kind (event->cookie)) {
  case SIM_COOKIE_DIRECT: sim_active_direct (replay, rank, event->cookie); break;
  case SIM_COOKIE_MET: sim_active_met (replay, rank, event->cookie); break;
  case SIM_COOKIE_RELEASE:
    replay->ranks[rank].state = SIM_RANK_READY;
    sim_rank_wait_until (replay, rank, now_ps + sim_cookie_high (event->cookie));
    sim_rank_wake (replay, rank);
    break;
  case SIM_COOKIE_RESUME: rank_resume (replay, rank); break;
  case SIM_COOKIE_ACCESSED: sim_window_accessed (replay, sim_cookie_low (event->cookie)); break;
  case SIM_COOKIE_BEGIN:
  case SIM_COOKIE_END: sim_graph_timer (replay, rank, event->cookie); break;
  default: replay->protocol->event (replay, event);
  }
  replay->protocol->progress (replay, rank, SIM_MOMENT_CALLBACK);
  if (G_UNLIKELY (replay->error != NULL))
    __atomic_store_n (replay->failed, true, __ATOMIC_RELAXED);
  if (replay->n_views == 1 && ++replay->n_callbacks % CALLBACKS_PER_PROGRESS == 0)
    tell_progress (replay, now_ps);
}

static void
replay_delivered (void *client, const SimMessage *message, int64_t now_ps)
{
  SimProtocolEvent event = { message->cookie, message->bytes, message->destination_rank, false,
                             message->rail };

  replay_event (client, &event, message, now_ps);
}

static void
replay_timer (void *client, uint32_t rank, uint64_t cookie, int64_t now_ps)
{
  SimProtocolEvent event = { cookie, 0, rank, false, 0 };

  replay_event (client, &event, NULL, now_ps);
}

static void
replay_sent (void *client, const SimMessage *message, int64_t now_ps)
{
  SimProtocolEvent event = { message->cookie, message->bytes, message->source_rank, true,
                             message->rail };

  replay_event (client, &event, message, now_ps);
}

/* What replay_delivered() will touch.  A message towards the destination of its transfer is its
 * envelope, which looks for a receive, or data for a receive that is known; one back completes
 * the send. */
static void
replay_prefetch (void *client, const SimMessage *message, uint32_t step)
{
  const SimReplay *replay = client;
  const SimRank *rank = &replay->ranks[message->destination_rank];
  uint32_t kind = sim_cookie_kind (message->cookie), source = message->source_rank;
  const SimTransfer *transfer = sim_transfer_at (replay, sim_cookie_low (message->cookie));
  const BaseMap *sources = &rank->matching.sources;
  uint32_t request = TOPO_NONE, entry = TOPO_NONE;
  const BaseMapEntry *home = NULL;

  if (step == 0) {
    __builtin_prefetch (rank, 1);
    __builtin_prefetch ((const char *) rank + SIM_CACHE_LINE, 1);
    if (kind != SIM_COOKIE_DIRECT)
      __builtin_prefetch (transfer, 1);
    return;
  }
  if (kind == SIM_COOKIE_DIRECT) {
    if (step == 1 && rank->active != NULL)
      __builtin_prefetch (&rank->active->comm, 1);
    return;
  }
  if (kind < SIM_COOKIE_PROTOCOL || message->kind == SIM_MESSAGE_REMOTE_GET)
    return;
  if (transfer->destination != message->destination_rank)
    request = transfer->send_request;
  else if (message->kind == SIM_MESSAGE_DATA)
    request = transfer->receive_request;
  else if (sources->capacity > 0)
    home = &sources->entries[base_map_hash (source) & (sources->capacity - 1)];
  if (home != NULL && step == 1)
    __builtin_prefetch (home, 1);
  if (home != NULL && step > 1 && home->key == source)
    entry = home->value[SIM_MATCH_FIRST];
  if (entry != TOPO_NONE && step == 2)
    __builtin_prefetch (&replay->match_pool.entries[entry], 1);
  if (entry != TOPO_NONE && step == 3 && replay->match_pool.entries[entry].posted)
    request = replay->match_pool.entries[entry].item;
  if (request != TOPO_NONE && (step == 1 || step == 3))
    __builtin_prefetch (&replay->requests[request], 1);
}

const SimClient sim_replay_client = {
  .delivered = replay_delivered,
  .timer = replay_timer,
  .sent = replay_sent,
  .running = replay_running,
  .prefetch = replay_prefetch,
};

/* -- life ---------------------------------------------------------------- */

static void
view_init (SimReplay *view)
{
  while (view->span_bits < 40 && INT64_C (2) << view->span_bits <= view->network->lookahead_ps)
    view->span_bits++;
  view->first_free_request = view->first_free_transfer = TOPO_NONE;
  sim_match_pool_init (&view->match_pool);
  sim_window_init (view);
  sim_graph_init_view (view);
  if (view->critical != NULL)
    view->critical_links = g_new (uint32_t, view->critical->routes->longest_links + 1);
  if (view->iterations != NULL)
    view->iteration_ends_ps = g_new0 (int64_t, view->iterations->count + 1);
}

static void
view_clear (SimReplay *view)
{
  for (uint32_t warning = 0; warning < SIM_N_WARNINGS; warning++)
    g_free (view->warnings[warning].place);
  sim_match_pool_clear (&view->match_pool);
  sim_graph_free_view (view);
  sim_edges_free (view->distant_edges);
  g_hash_table_unref (view->windows);
  g_clear_pointer (&view->levels, g_hash_table_unref);
  g_free (view->iteration_ends_ps);
  g_free (view->critical_links);
  g_clear_error (&view->error);
  sim_records_free (view->requests);
}

/* A view for each part of the network; the replay, on which nothing is done yet, is the first.
 * The last of its fields are a view's own. */
static void
views_make (SimReplay *replay, SimNetwork *network)
{
  uint32_t n = sim_network_n_parts (network);

  g_assert (replay->views == NULL && (n == 1 || replay->timeline == NULL));
  replay->network = network;
  replay->n_views = n;
  replay->views = g_new (SimReplay *, n);
  replay->views[0] = replay;
  replay->transfers = sim_transfers_new (n);
  view_init (replay);
  replay->protocol->begin (replay);
  for (uint32_t part = 1; part < n; part++) {
    SimReplay *view = replay->views[part] = g_new0 (SimReplay, 1);

    memcpy (view, replay, offsetof (SimReplay, view));
    view->view = part;
    view->network = sim_network_part (network, part);
    view->result.ranks = replay->result.ranks;
    view_init (view);
    view->network->client_data = view;
  }
}

SimReplay *
sim_replay_new (Trace *trace, const TopoMachine *machine, const TopoMapping *mapping,
                const SimReplayOptions *options, GError **error)
{
  SimReplay *replay;

  if (trace_ranks (trace) != mapping->n_ranks) {
    g_set_error (error, SIM_ERROR, SIM_ERROR_TRACE, "%s: %u ranks, but the mapping places %u",
                 trace_path (trace), trace_ranks (trace), mapping->n_ranks);
    return NULL;
  }
  replay = g_new0 (SimReplay, 1);
  replay->trace = trace;
  replay->machine = machine;
  replay->mapping = mapping;
  replay->parameters = &machine->parameters;
  replay->options = *options;
  replay->n_ranks = replay->result.n_ranks = mapping->n_ranks;
  replay->ranks = sim_records_resize (NULL, 0, replay->n_ranks, sizeof (SimRank));
  for (uint32_t rank = 0; rank < replay->n_ranks; rank++) {
    replay->ranks[rank] = (SimRank){ .node = mapping->node[rank],
                                     .first_early = TOPO_NONE,
                                     .first_deferred = TOPO_NONE,
                                     .last_deferred = TOPO_NONE,
                                     .cancel = TOPO_NONE,
                                     .call = "the start",
                                     .state = SIM_RANK_RUNNING };
    sim_match_queue_init (&replay->ranks[rank].matching);
  }
  replay->result.ranks = g_new0 (SimRankTimes, replay->n_ranks);
  replay->result.warnings = g_ptr_array_new_with_free_func (g_free);
  replay->comms = trace_comms_new (replay->n_ranks);
  replay->agreement = sim_agreement_new (trace, replay->comms);
  replay->edges = sim_edges_new (replay->n_ranks);
  replay->protocol = machine->fabric == NULL                                  ? &sim_pami
                     : machine->parameters.mpi.library == TOPO_LIBRARY_OMPI13 ? &sim_ob1
                                                                              : &sim_ucx;
  replay->meetings = sim_meetings_new ();
  replay->failed = &replay->own_failed;
  sim_graph_init (replay);
  sim_critical_init (replay, options->routes);
  replay->timeline = options->timeline;
  if (replay->timeline != NULL)
    sim_timeline_begin (replay->timeline, &replay->now_ps);
  replay->iterations = options->iterations;
  if (replay->iterations != NULL)
    sim_iterations_begin (replay->iterations);
  return replay;
}

void
sim_replay_free (SimReplay *replay)
{
  if (replay == NULL)
    return;
  for (uint32_t rank = 0; rank < replay->n_ranks; rank++) {
    SimRank *it = &replay->ranks[rank];

    trace_cursor_free (it->cursor);
    sim_active_clear (it);
    sim_match_queue_clear (&it->matching);
    g_free (it->queues);
    if (it->handles != NULL)
      base_map_clear (it->handles);
    g_free (it->handles);
    base_map_clear (&it->sequences);
  }
  sim_graph_free (replay);
  sim_critical_free (replay);
  for (uint32_t part = 1; part < replay->n_views; part++) {
    view_clear (replay->views[part]);
    g_free (replay->views[part]);
  }
  if (replay->n_views > 0)
    view_clear (replay);
  g_free (replay->views);
  sim_agreement_free (replay->agreement);
  trace_comms_free (replay->comms);
  sim_edges_free (replay->edges);
  sim_meetings_free (replay->meetings);
  g_ptr_array_unref (replay->result.warnings);
  g_free (replay->result.ranks);
  sim_records_free (replay->ranks);
  if (replay->transfers != NULL)
    sim_transfers_free (replay->transfers);
  if (replay->library != NULL)
    replay->protocol->free (replay);
  g_free (replay);
}

/* -- saving and loading ---------------------------------------------------- */

static void
records_dump (void **records, uint32_t *n, uint32_t *capacity, size_t size, BaseDump *dump)
{
  uint32_t found = (uint32_t) base_dump_count (dump, *n, size);

  if (base_dump_loads (dump) && found > 0) {
    *records = sim_records_resize (*records, 0, found, size);
    *n = *capacity = found;
  }
  base_dump_bytes (dump, *records, found * size);
}

/* The names of calls, which are few, and then the number of each rank's. */
static void
calls_dump (SimReplay *replay, BaseDump *dump)
{
  g_autoptr (GHashTable) numbers = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  uint32_t n_names;

  for (uint32_t rank = 0; rank < replay->n_ranks && !base_dump_loads (dump); rank++) {
    gpointer name = (gpointer) replay->ranks[rank].call;

    if (g_hash_table_contains (numbers, name))
      continue;
    g_hash_table_insert (numbers, name, GUINT_TO_POINTER (names->len));
    g_ptr_array_add (names, name);
  }
  n_names = names->len;
  BASE_DUMP_VALUE (dump, n_names);
  for (uint32_t number = 0; number < n_names && !base_dump_has_failed (dump); number++) {
    char *name = base_dump_loads (dump) ? NULL : names->pdata[number];

    base_dump_text (dump, &name);
    if (!base_dump_loads (dump))
      continue;
    g_ptr_array_add (names, (gpointer) g_intern_string (name));
    g_free (name);
  }
  for (uint32_t rank = 0; rank < replay->n_ranks; rank++) {
    uint32_t number = GPOINTER_TO_UINT (g_hash_table_lookup (numbers, replay->ranks[rank].call));

    BASE_DUMP_VALUE (dump, number);
    if (base_dump_loads (dump) && number < names->len)
      replay->ranks[rank].call = names->pdata[number];
  }
}

static void
rank_dump (SimReplay *replay, uint32_t rank, BaseDump *dump)
{
  SimRank *it = &replay->ranks[rank], plain = *it;
  bool has_handles = it->handles != NULL, has_early = it->early_direct != NULL;
  uint32_t n_queues = it->n_queues;

  /* All but what is in memory of its own. */
  plain.matching.sources = plain.sequences = (BaseMap){ NULL, 0, 0 };
  plain.active = NULL;
  plain.cursor = NULL;
  plain.queues = NULL;
  plain.call = NULL;
  plain.handles = NULL;
  plain.early_direct = NULL;
  BASE_DUMP_VALUE (dump, plain);
  BASE_DUMP_VALUE (dump, has_handles);
  BASE_DUMP_VALUE (dump, has_early);
  if (base_dump_loads (dump)) {
    plain.call = it->call;
    *it = plain;
    it->handles = has_handles ? g_new0 (BaseMap, 1) : NULL;
    if (has_early)
      it->early_direct = sim_active_early_new ();
  }
  base_dump_list (dump, (void **) &it->queues, &n_queues, &it->n_queues, sizeof *it->queues);
  base_map_dump (&it->matching.sources, dump);
  base_map_dump (&it->sequences, dump);
  if (has_handles)
    base_map_dump (it->handles, dump);
  if (has_early)
    base_dump_garray (dump, it->early_direct);
  sim_active_dump (replay, rank, dump);
}

/* The streams, by the number of operations that were read of each; of those that are not
 * begun or over there is none. */
static void
cursors_dump (SimReplay *replay, BaseDump *dump)
{
  for (uint32_t rank = 0; rank < replay->n_ranks; rank++) {
    SimRank *it = &replay->ranks[rank];
    bool is_open = it->cursor != NULL;
    uint64_t n_read = is_open ? trace_cursor_count (it->cursor) : 0;
    TraceOp op;

    BASE_DUMP_VALUE (dump, is_open);
    BASE_DUMP_VALUE (dump, n_read);
    if (!base_dump_loads (dump) || !is_open || replay->error != NULL)
      continue;
    it->cursor = trace_cursor_new (replay->trace, rank, &replay->error);
    while (it->cursor != NULL && n_read > 0 &&
           trace_cursor_next (it->cursor, &op, &replay->error) == TRACE_NEXT_OPERATION)
      n_read--;
    if (n_read > 0 && replay->error == NULL)
      base_dump_fail (dump, "has read more of rank %u than there is in %s", rank,
                      trace_path (replay->trace));
  }
}

/* What a view has for itself, but for what the network and the streams are to say. */
static void
view_dump (SimReplay *view, BaseDump *dump)
{
  SimReplayResult *result = &view->result, plain = *result;
  bool has_distant = view->distant_edges != NULL;

  base_dump_section (dump, "view");
  BASE_DUMP_VALUE (dump, view->knows_sources);
  BASE_DUMP_VALUE (dump, view->now_ps);
  BASE_DUMP_VALUE (dump, view->n_done);
  BASE_DUMP_VALUE (dump, view->n_operations);
  BASE_DUMP_VALUE (dump, view->operations_guess);
  BASE_DUMP_VALUE (dump, view->n_meeting_waits);
  BASE_DUMP_VALUE (dump, view->n_works);
  plain.ranks = NULL;
  plain.warnings = NULL;
  BASE_DUMP_VALUE (dump, plain);
  if (base_dump_loads (dump)) {
    plain.ranks = result->ranks;
    plain.warnings = result->warnings;
    *result = plain;
  }
  for (uint32_t warning = 0; warning < SIM_N_WARNINGS; warning++) {
    SimWarned *it = &view->warnings[warning];

    BASE_DUMP_VALUE (dump, it->n);
    BASE_DUMP_VALUE (dump, it->at_ps);
    BASE_DUMP_VALUE (dump, it->rank);
    base_dump_text (dump, &it->place);
  }
  if (view->iterations != NULL) {
    base_dump_array (dump, view->iteration_ends_ps, view->iterations->count + 1,
                     sizeof *view->iteration_ends_ps);
    BASE_DUMP_VALUE (dump, view->loop_messages);
    BASE_DUMP_VALUE (dump, view->loop_bytes);
  }
  BASE_DUMP_VALUE (dump, has_distant);
  if (has_distant) {
    if (base_dump_loads (dump))
      view->distant_edges = sim_edges_new (view->n_ranks);
    sim_edges_dump (view->distant_edges, dump);
  }
  base_dump_section (dump, "messages");
  base_dump_list (dump, (void **) &view->match_pool.entries, &view->match_pool.n,
                  &view->match_pool.capacity, sizeof *view->match_pool.entries);
  BASE_DUMP_VALUE (dump, view->match_pool.first_free);
  records_dump ((void **) &view->requests, &view->n_requests, &view->requests_capacity,
                sizeof *view->requests, dump);
  BASE_DUMP_VALUE (dump, view->first_free_request);
  BASE_DUMP_VALUE (dump, view->next_transfer);
  BASE_DUMP_VALUE (dump, view->end_transfer);
  BASE_DUMP_VALUE (dump, view->first_free_transfer);
  sim_window_dump (view, dump);
  sim_graph_dump_view (view, dump);
}

static void
replay_dump (SimReplay *replay, BaseDump *dump)
{
  bool has_timeline = replay->timeline != NULL, has_iterations = replay->iterations != NULL;
  bool has_path = replay->critical != NULL;
  uint32_t n_views = replay->n_views;

  base_dump_section (dump, "replay");
  BASE_DUMP_VALUE (dump, has_timeline);
  if (has_timeline != (replay->timeline != NULL))
    base_dump_fail (dump, has_timeline ? "is of a run with a timeline"
                                       : "is of a run without a timeline");
  BASE_DUMP_VALUE (dump, has_iterations);
  if (has_iterations != (replay->iterations != NULL))
    base_dump_fail (dump, has_iterations ? "is of a run with times of iterations"
                                         : "is of a run without times of iterations");
  BASE_DUMP_VALUE (dump, has_path);
  if (has_path != (replay->critical != NULL))
    base_dump_fail (dump, has_path ? "is of a run that finds its critical path"
                                   : "is of a run that does not find its critical path");
  BASE_DUMP_VALUE (dump, n_views);
  if (n_views != replay->n_views)
    base_dump_fail (dump, "is of a run with %u threads, and this one has %u", n_views,
                    replay->n_views);
  if (base_dump_has_failed (dump))
    return;
  trace_comms_dump (replay->comms, dump);
  sim_agreement_dump (replay->agreement, dump);
  sim_edges_dump (replay->edges, dump);
  base_dump_array (dump, replay->result.ranks, replay->n_ranks, sizeof *replay->result.ranks);
  for (uint32_t view = 0; view < n_views; view++)
    view_dump (replay->views[view], dump);
  sim_transfers_dump (replay, dump);
  base_dump_section (dump, "ranks");
  calls_dump (replay, dump);
  for (uint32_t rank = 0; rank < replay->n_ranks; rank++)
    rank_dump (replay, rank, dump);
  sim_meetings_dump (replay, dump);
  sim_critical_dump (replay, dump);
  sim_graph_dump (replay, dump);
  replay->protocol->dump (replay, dump);
  if (replay->timeline != NULL)
    sim_timeline_dump (replay->timeline, dump);
  if (replay->iterations != NULL)
    sim_iterations_dump (replay->iterations, dump);
  sim_network_dump (replay->network, dump);
  base_dump_section (dump, "streams");
  cursors_dump (replay, dump);
}

void
sim_replay_save (SimReplay *replay, BaseDump *dump)
{
  replay_dump (replay, dump);
}

/* -- deadlocks ----------------------------------------------------------- */

static void
append_envelope (GString *text, const SimReplay *replay, bool is_send, uint32_t peer,
                 SimEnvelope envelope)
{
  g_string_append (text, is_send ? " to " : " from ");
  if (peer == TOPO_NONE)
    g_string_append (text, "any rank");
  else
    g_string_append_printf (text, "%u", peer);
  /* Tags of collectives are ours, not the program's; communicators have odd
   * contexts for them. */
  if ((envelope.context & 1u) != 0 || envelope.context / 2 > trace_comms_created (replay->comms))
    return;
  if (envelope.tag == TRACE_ANY_TAG)
    g_string_append (text, " any tag");
  else
    g_string_append_printf (text, " tag %d", envelope.tag);
}

static void
append_request (GString *text, const SimReplay *replay, const SimRequest *request)
{
  const SimActive *active = request->collective ? sim_active_of (replay, request) : NULL;

  if (active != NULL)
    g_string_append_printf (text, " for other ranks in %s",
                            trace_op_name (active->collective.kind));
  else
    append_envelope (text, replay, request->is_send, request->peer, sim_request_envelope (request));
}

/* Its oldest operation has all that it comes after, so it is a message that
 * waits for another rank. */
static void
append_graph_rank (GString *text, const SimReplay *replay, uint32_t rank)
{
  uint32_t request, n_open, number = sim_graph_oldest (replay, rank, &request, &n_open);
  g_autoptr (TraceCursor) cursor = trace_cursor_new (replay->trace, rank, NULL);
  TraceOp op = { .name = "a call" };

  for (uint32_t i = 0; cursor != NULL && i <= number; i++)
    if (trace_cursor_next (cursor, &op, NULL) != TRACE_NEXT_OPERATION)
      break;
  g_string_append_printf (text, "rank %u waits in operation %u, %s", rank, number, op.name);
  if (request != TOPO_NONE)
    append_request (text, replay, &replay->requests[request]);
  if (n_open > 1)
    g_string_append_printf (text, " and %u more", n_open - 1);
  g_string_append_printf (
      text, " at %s", cursor == NULL ? trace_path (replay->trace) : trace_cursor_place (cursor));
}

/* Of the requests that a rank waits for. */
static const SimRequest *
awaited_first (const SimReplay *replay, uint32_t rank)
{
  const SimRequest *first = NULL;

  for (uint32_t request = 0; request < replay->n_requests; request++) {
    const SimRequest *it = &replay->requests[request];

    if (it->used && it->awaited && it->rank == rank && (first == NULL || it->next < first->next))
      first = it;
  }
  g_assert (first != NULL);
  return first;
}

static void
append_rank (GString *text, const SimReplay *replay, uint32_t rank)
{
  const SimRank *it = &replay->ranks[rank];

  g_string_append_printf (text, "rank %u waits in %s", rank, it->call);
  switch ((SimRankState) it->state) {
  case SIM_RANK_WAITING: /* for the first that its call names, and others */
    append_request (text, replay, awaited_first (replay, rank));
    if (it->pending > 1)
      g_string_append_printf (text, " and %u more", it->pending - 1);
    break;
  case SIM_RANK_PROBING: append_envelope (text, replay, false, it->probe.source, it->probe); break;
  case SIM_RANK_MEETING:
  case SIM_RANK_GATHERING: g_string_append (text, " for other ranks"); break;
  case SIM_RANK_READY:
  case SIM_RANK_RUNNING:
  case SIM_RANK_BUSY:
  case SIM_RANK_GRAPH:
  case SIM_RANK_DONE: break;
  }
  g_string_append_printf (text, " at %s", place_of (replay, rank));
}

static void
report_deadlock (const SimReplay *replay, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  uint32_t n_stuck = 0, named = 0;

  for (uint32_t rank = 0; rank < replay->n_ranks; rank++)
    n_stuck += replay->ranks[rank].state != SIM_RANK_DONE;
  for (uint32_t rank = 0; rank < replay->n_ranks && named < RANKS_NAMED; rank++) {
    if (replay->ranks[rank].state == SIM_RANK_DONE)
      continue;
    if (named++ > 0)
      g_string_append (text, "; ");
    if (replay->graphs != NULL)
      append_graph_rank (text, sim_replay_view (replay, rank), rank);
    else
      append_rank (text, sim_replay_view (replay, rank), rank);
  }
  if (n_stuck > named)
    g_string_append_printf (text, "; and %u more ranks", n_stuck - named);
  g_set_error (error, SIM_ERROR, SIM_ERROR_DEADLOCK, "%s: the trace cannot end: %s",
               trace_path (replay->trace), text->str);
}

/* -- the result ---------------------------------------------------------- */

static const char *const warning_texts[SIM_N_WARNINGS] = {
  [SIM_WARNING_UNKNOWN_REQUEST] = "completions or starts of unknown requests were skipped",
  [SIM_WARNING_TRUNCATED] = "messages were longer than the receives they matched",
  [SIM_WARNING_UNKNOWN_SIZE] = "messages of unknown size were replayed as empty ones",
};

/* What the views know of the iterations, and the latest of their ends. */
static void
iterations_merge (SimReplay *replay)
{
  SimIterations *iterations = replay->iterations;

  for (uint32_t part = 0; iterations != NULL && part < replay->n_views; part++) {
    const SimReplay *view = replay->views[part];

    for (uint32_t end = 0; end <= iterations->count; end++)
      iterations->ends_ps[end] = MAX (iterations->ends_ps[end], view->iteration_ends_ps[end]);
    iterations->messages += view->loop_messages;
    iterations->message_bytes += view->loop_bytes;
  }
}

/* What the views have counted goes to the first one. */
static void
views_merge (SimReplay *replay)
{
  for (uint32_t part = 0; part < replay->n_views; part++) {
    SimReplay *view = replay->views[part];

    if (view->distant_edges != NULL)
      sim_edges_merge (replay->edges, view->distant_edges);
    if (part == 0)
      continue;
    replay->result.messages += view->result.messages;
    replay->result.message_bytes += view->result.message_bytes;
    replay->result.collectives += view->result.collectives;
    for (uint32_t warning = 0; warning < SIM_N_WARNINGS; warning++) {
      SimWarned *to = &replay->warnings[warning], *from = &view->warnings[warning];
      uint64_t n = to->n + from->n;

      if (from->n > 0 && (to->n == 0 || is_earlier (replay, from->at_ps, from->rank, to))) {
        SimWarned later = *to;

        *to = *from;
        *from = later;
      }
      to->n = n;
    }
  }
}

/* Sums over the ranks, and warnings. */
static void
result_finish (SimReplay *replay)
{
  SimReplayResult *result = &replay->result;
  char *collectives = sim_agreement_left (replay->agreement);

  result->has_path = replay->critical != NULL;
  views_merge (replay);
  iterations_merge (replay);
  for (uint32_t rank = 0; rank < replay->n_ranks; rank++) {
    const SimRank *it = &replay->ranks[rank];

    if (replay->critical != NULL && (rank == 0 || result->ranks[rank].end_ps > result->time_ps))
      result->path = replay->critical->ranks[rank];
    result->time_ps = MAX (result->time_ps, result->ranks[rank].end_ps);
    result->ranks[rank].wait_ps = it->wait_ps;
    result->unmatched_sends += it->matching.n_unexpected;
    for (uint32_t early = it->first_early; early != TOPO_NONE;
         early = sim_transfer_at (replay, early)->next)
      result->unmatched_sends++;
    result->unmatched_receives += it->matching.n_posted;
  }
  for (uint32_t warning = 0; warning < SIM_N_WARNINGS; warning++)
    if (replay->warnings[warning].n > 0)
      g_ptr_array_add (result->warnings,
                       g_strdup_printf ("%" G_GUINT64_FORMAT " %s; the first: rank %u at %s",
                                        replay->warnings[warning].n, warning_texts[warning],
                                        replay->warnings[warning].rank,
                                        replay->warnings[warning].place));
  if (result->unmatched_sends > 0)
    g_ptr_array_add (result->warnings,
                     g_strdup_printf ("%" G_GUINT64_FORMAT " messages were sent but never received",
                                      result->unmatched_sends));
  if (result->unmatched_receives > 0)
    g_ptr_array_add (result->warnings, g_strdup_printf ("%" G_GUINT64_FORMAT
                                                        " receives were posted but never matched",
                                                        result->unmatched_receives));
  if (collectives != NULL)
    g_ptr_array_add (result->warnings, collectives);
}

/* -- running ---------------------------------------------------------------- */

/* The network has what the replay asked of it so far. */
static gboolean
run_on (SimReplay *replay, GError **error)
{
  gboolean done = sim_network_run (replay->network, error);
  uint32_t n_done = 0;

  for (uint32_t part = 0; part < replay->n_views; part++) {
    SimReplay *view = replay->views[part];

    replay->knows_sources = replay->knows_sources || view->knows_sources;
    n_done += view->n_done;
    if (done && view->error != NULL) {
      g_propagate_error (error, g_steal_pointer (&view->error));
      done = FALSE;
    }
  }
  if (!done)
    return FALSE;
  if (n_done < replay->n_ranks) {
    report_deadlock (replay, error);
    return FALSE;
  }
  result_finish (replay);
  return TRUE;
}

/* When a rank starts: the same for a seed whatever the other ranks do. */
static int64_t
start_ps (const SimReplayOptions *options, uint32_t rank)
{
  static const uint64_t purpose =
      UINT64_C (0x7374617274696e67); /* other streams of the seed differ */
  BaseRandom random;

  if (options->jitter_ps <= 0)
    return 0;
  random = base_random_stream (options->seed ^ purpose, rank);
  return (int64_t) base_random_below (&random, (uint64_t) options->jitter_ps);
}

void
sim_replay_set_exact (SimReplay *replay, const bool *exact, uint32_t n_exact)
{
  g_assert (replay->views == NULL && n_exact > 0);
  replay->exact = exact;
  replay->n_exact = n_exact;
}

gboolean
sim_replay_run (SimReplay *replay, SimNetwork *network, GError **error)
{
  views_make (replay, network);
  for (uint32_t rank = 0; rank < replay->n_ranks; rank++) {
    replay->ranks[rank].local_ps = start_ps (&replay->options, rank);
    sim_critical_start (replay, rank);
    sim_rank_sleep (sim_replay_view (replay, rank), rank);
  }
  return run_on (replay, error);
}

gboolean
sim_replay_resume (SimReplay *replay, SimNetwork *network, BaseDump *dump, GError **error)
{
  views_make (replay, network);
  replay_dump (replay, dump);
  if (replay->error != NULL) {
    g_propagate_error (error, g_steal_pointer (&replay->error));
    return FALSE;
  }
  return base_dump_end (dump, error) && run_on (replay, error);
}

const SimReplayResult *
sim_replay_result (const SimReplay *replay)
{
  return &replay->result;
}

const SimEdges *
sim_replay_edges (const SimReplay *replay)
{
  return replay->edges;
}

SimEdges *
sim_replay_take_edges (SimReplay *replay)
{
  return g_steal_pointer (&replay->edges);
}

bool
sim_replay_knows_sources (const SimReplay *replay)
{
  return replay->knows_sources;
}
