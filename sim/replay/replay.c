/* replay.c - the ranks: their clocks, their loop, the network's callbacks, reports.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/replay_private.h"

#include <string.h>
#include <sys/mman.h>

/* Calls that a rank may make ahead of the network's time: bounds the sends
 * that wait in the network, and how late a request to send is answered by a
 * rank that makes many calls without ever blocking. */
#define CALLS_AHEAD 32

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

void
sim_report_warn (SimReplay *replay, uint32_t rank, SimWarning warning)
{
  if (replay->warnings[warning].n++ > 0)
    return;
  replay->warnings[warning].rank = rank;
  replay->warnings[warning].place = g_strdup (place_of (replay, rank));
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

  switch (trace_cursor_next (it->cursor, &op, &replay->error)) {
  case TRACE_NEXT_OPERATION: break;
  case TRACE_NEXT_END: sim_rank_finish (replay, rank); return false;
  case TRACE_NEXT_ERROR: return false;
  }
  it->call = op.name;
  replay->n_operations++;
  if (replay->timeline != NULL)
    sim_timeline_call (replay->timeline, rank, &op, it->local_ps);
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

/* -- the network's callbacks --------------------------------------------- */

/* A message or a timer has come to a rank, or an acknowledgement back to it. */
static void
replay_event (SimReplay *replay, const SimProtocolEvent *event, int64_t now_ps)
{
  uint32_t rank = event->rank;

  if (replay->error != NULL)
    return;
  replay->now_ps = now_ps;
  switch (sim_cookie_kind (event->cookie)) {
  case SIM_COOKIE_DIRECT:
  case SIM_COOKIE_MET: sim_active_event (replay, rank, event->cookie); break;
  case SIM_COOKIE_RELEASE:
    replay->ranks[rank].state = SIM_RANK_READY;
    sim_rank_wait_until (replay, rank, now_ps);
    sim_rank_wake (replay, rank);
    break;
  case SIM_COOKIE_RESUME: rank_resume (replay, rank); break;
  case SIM_COOKIE_ACCESSED: sim_window_accessed (replay, sim_cookie_low (event->cookie)); break;
  case SIM_COOKIE_BEGIN:
  case SIM_COOKIE_END: sim_graph_timer (replay, rank, event->cookie); break;
  default: replay->protocol->event (replay, event);
  }
  replay->protocol->progress (replay, rank, SIM_MOMENT_CALLBACK);
}

static void
replay_delivered (void *client, const SimMessage *message, int64_t now_ps)
{
  SimProtocolEvent event = { message->cookie, message->bytes, message->destination_rank, false };

  replay_event (client, &event, now_ps);
}

static void
replay_timer (void *client, uint32_t rank, uint64_t cookie, int64_t now_ps)
{
  SimProtocolEvent event = { cookie, 0, rank, false };

  replay_event (client, &event, now_ps);
}

static void
replay_sent (void *client, const SimMessage *message, int64_t now_ps)
{
  SimProtocolEvent event = { message->cookie, message->bytes, message->source_rank, true };

  replay_event (client, &event, now_ps);
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
  const SimTransfer *transfer = &replay->transfers[sim_cookie_low (message->cookie)];
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
  .prefetch = replay_prefetch,
};

/* -- life ---------------------------------------------------------------- */

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
  replay->first_free_request = replay->first_free_transfer = TOPO_NONE;
  sim_match_pool_init (&replay->match_pool);
  replay->protocol = machine->fabric != NULL ? &sim_ob1 : &sim_pami;
  replay->meetings = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, g_free);
  sim_window_init (replay);
  sim_graph_init (replay);
  replay->timeline = options->timeline;
  if (replay->timeline != NULL)
    sim_timeline_begin (replay->timeline, &replay->now_ps);
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
  for (uint32_t warning = 0; warning < SIM_N_WARNINGS; warning++)
    g_free (replay->warnings[warning].place);
  sim_match_pool_clear (&replay->match_pool);
  sim_agreement_free (replay->agreement);
  trace_comms_free (replay->comms);
  sim_edges_free (replay->edges);
  g_hash_table_unref (replay->meetings);
  g_hash_table_unref (replay->windows);
  g_ptr_array_unref (replay->result.warnings);
  g_clear_error (&replay->error);
  g_free (replay->result.ranks);
  sim_records_free (replay->ranks);
  sim_records_free (replay->requests);
  sim_records_free (replay->transfers);
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

static void
result_dump (SimReplay *replay, BaseDump *dump)
{
  SimReplayResult *result = &replay->result, plain = *result;

  plain.ranks = NULL;
  plain.warnings = NULL;
  BASE_DUMP_VALUE (dump, plain);
  if (base_dump_loads (dump)) {
    plain.ranks = result->ranks;
    plain.warnings = result->warnings;
    *result = plain;
  }
  base_dump_array (dump, result->ranks, replay->n_ranks, sizeof *result->ranks);
  for (uint32_t warning = 0; warning < SIM_N_WARNINGS; warning++) {
    BASE_DUMP_VALUE (dump, replay->warnings[warning].n);
    BASE_DUMP_VALUE (dump, replay->warnings[warning].rank);
    base_dump_text (dump, &replay->warnings[warning].place);
  }
}

static void
replay_dump (SimReplay *replay, BaseDump *dump)
{
  bool has_timeline = replay->timeline != NULL;

  base_dump_section (dump, "replay");
  BASE_DUMP_VALUE (dump, has_timeline);
  if (has_timeline != (replay->timeline != NULL))
    base_dump_fail (dump, has_timeline ? "is of a run with a timeline"
                                       : "is of a run without a timeline");
  BASE_DUMP_VALUE (dump, replay->knows_sources);
  BASE_DUMP_VALUE (dump, replay->now_ps);
  BASE_DUMP_VALUE (dump, replay->n_done);
  BASE_DUMP_VALUE (dump, replay->n_operations);
  BASE_DUMP_VALUE (dump, replay->operations_guess);
  BASE_DUMP_VALUE (dump, replay->n_works);
  result_dump (replay, dump);
  trace_comms_dump (replay->comms, dump);
  sim_agreement_dump (replay->agreement, dump);
  sim_edges_dump (replay->edges, dump);
  base_dump_section (dump, "messages");
  base_dump_list (dump, (void **) &replay->match_pool.entries, &replay->match_pool.n,
                  &replay->match_pool.capacity, sizeof *replay->match_pool.entries);
  BASE_DUMP_VALUE (dump, replay->match_pool.first_free);
  records_dump ((void **) &replay->requests, &replay->n_requests, &replay->requests_capacity,
                sizeof *replay->requests, dump);
  BASE_DUMP_VALUE (dump, replay->first_free_request);
  records_dump ((void **) &replay->transfers, &replay->n_transfers, &replay->transfers_capacity,
                sizeof *replay->transfers, dump);
  BASE_DUMP_VALUE (dump, replay->first_free_transfer);
  base_dump_section (dump, "ranks");
  calls_dump (replay, dump);
  for (uint32_t rank = 0; rank < replay->n_ranks; rank++)
    rank_dump (replay, rank, dump);
  sim_meetings_dump (replay, dump);
  sim_window_dump (replay, dump);
  sim_graph_dump (replay, dump);
  replay->protocol->dump (replay, dump);
  if (replay->timeline != NULL)
    sim_timeline_dump (replay->timeline, dump);
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

static void
append_rank (GString *text, const SimReplay *replay, uint32_t rank)
{
  const SimRank *it = &replay->ranks[rank];

  g_string_append_printf (text, "rank %u waits in %s", rank, it->call);
  switch ((SimRankState) it->state) {
  case SIM_RANK_WAITING: /* for its oldest request, and others */
    for (uint32_t request = 0; request < replay->n_requests; request++)
      if (replay->requests[request].used && replay->requests[request].awaited &&
          replay->requests[request].rank == rank) {
        append_request (text, replay, &replay->requests[request]);
        break;
      }
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
  uint32_t n_stuck = replay->n_ranks - replay->n_done, named = 0;

  for (uint32_t rank = 0; rank < replay->n_ranks && named < RANKS_NAMED; rank++) {
    if (replay->ranks[rank].state == SIM_RANK_DONE)
      continue;
    if (named++ > 0)
      g_string_append (text, "; ");
    if (replay->graphs != NULL)
      append_graph_rank (text, replay, rank);
    else
      append_rank (text, replay, rank);
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

/* Sums over the ranks, and warnings. */
static void
result_finish (SimReplay *replay)
{
  SimReplayResult *result = &replay->result;
  char *collectives = sim_agreement_left (replay->agreement);

  for (uint32_t rank = 0; rank < replay->n_ranks; rank++) {
    const SimRank *it = &replay->ranks[rank];

    result->time_ps = MAX (result->time_ps, result->ranks[rank].end_ps);
    result->ranks[rank].wait_ps = it->wait_ps;
    result->unmatched_sends += it->matching.n_unexpected;
    for (uint32_t early = it->first_early; early != TOPO_NONE;
         early = replay->transfers[early].next)
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
  if (!sim_network_run (replay->network, error))
    return FALSE;
  if (replay->error != NULL) {
    g_propagate_error (error, g_steal_pointer (&replay->error));
    return FALSE;
  }
  if (replay->n_done < replay->n_ranks) {
    report_deadlock (replay, error);
    return FALSE;
  }
  result_finish (replay);
  return TRUE;
}

gboolean
sim_replay_run (SimReplay *replay, SimNetwork *network, GError **error)
{
  replay->network = network;
  replay->protocol->begin (replay);
  for (uint32_t rank = 0; rank < replay->n_ranks; rank++)
    sim_rank_sleep (replay, rank);
  return run_on (replay, error);
}

gboolean
sim_replay_resume (SimReplay *replay, SimNetwork *network, BaseDump *dump, GError **error)
{
  replay->network = network;
  replay->protocol->begin (replay);
  replay_dump (replay, dump);
  if (replay->error != NULL) {
    g_propagate_error (error, g_steal_pointer (&replay->error));
    return FALSE;
  }
  return base_dump_end (dump, error) && run_on (replay, error);
}

bool
sim_replay_has_failed (const SimReplay *replay)
{
  return replay->error != NULL;
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

double
sim_replay_progress (SimReplay *replay)
{
  double ranks_share = (double) replay->n_done / MAX (replay->n_ranks, 1u), share;

  if (replay->operations_guess == 0) {
    uint32_t middle = replay->n_ranks / 2;
    g_autoptr (TraceCursor) cursor = trace_cursor_new (replay->trace, middle, NULL);
    uint64_t n = 0;
    TraceOp op;

    while (cursor != NULL && trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION)
      n++;
    replay->operations_guess = MAX (1u, n * replay->n_ranks);
  }
  share = (double) replay->n_operations / (double) replay->operations_guess;
  return MAX (ranks_share, MIN (share, 0.99));
}
