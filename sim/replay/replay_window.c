/* replay_window.c - windows, one-sided accesses, and the calls that complete them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An access costs the origin send_overhead and no other processor anything;
 * the messaging library carries it.  A request of an access is complete when
 * the access is, at the target too, although MPI promises less (guess). */
#include "sim/replay/critical.h"

/* One rank's window, from its making or first access on. */
typedef struct {
  gint64 key;            /* rank and handle */
  uint32_t serial;       /* the making's number on the communicator: the same on all ranks */
  uint32_t outstanding;  /* accesses that are not complete */
  BaseMap targets;       /* world rank -> how many of them are its */
  uint32_t flush;        /* request that a flush waits for; TOPO_NONE */
  uint32_t flush_target; /* TOPO_NONE: all */
  bool freed;
} Window;

/* Numbers of the messages of post and complete lie above all of collectives. */
#define SYNCHRONIZATION 0x80000000u
enum { POSTED, COMPLETED };

static void
window_clear (gpointer data)
{
  Window *window = data;

  base_map_clear (&window->targets);
  g_free (window);
}

void
sim_window_init (SimReplay *replay)
{
  replay->windows = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, window_clear);
}

void
sim_window_dump (SimReplay *replay, BaseDump *dump)
{
  GHashTableIter iterator;
  uint64_t n;

  base_dump_section (dump, "windows");
  n = base_dump_count (dump, g_hash_table_size (replay->windows), sizeof (Window));
  g_hash_table_iter_init (&iterator, replay->windows);
  for (uint64_t i = 0; i < n; i++) {
    Window *window = base_dump_entry (dump, &iterator, sizeof *window), plain = *window;

    plain.targets = (BaseMap){ NULL, 0, 0 };
    BASE_DUMP_VALUE (dump, plain);
    if (base_dump_loads (dump))
      *window = plain;
    base_map_dump (&window->targets, dump);
    if (base_dump_loads (dump))
      g_hash_table_replace (replay->windows, &window->key, window);
  }
}

static Window *
window_of (SimReplay *replay, uint32_t rank, uint32_t handle)
{
  gint64 key = (gint64) ((uint64_t) rank << 32 | handle);
  Window *window = g_hash_table_lookup (replay->windows, &key);

  if (window != NULL)
    return window;
  window = g_new (Window, 1);
  *window = (Window){ .key = key, .flush = TOPO_NONE };
  g_hash_table_insert (replay->windows, &window->key, window);
  return window;
}

/* -- accesses ------------------------------------------------------------ */

/* The data is at its destination; of a fetch, the data to the target. */
void
sim_window_arrived (SimReplay *replay, uint32_t transfer)
{
  const SimTransfer *access = sim_transfer_at (replay, transfer);
  uint32_t origin = access->envelope.source, target = access->destination;
  bool get = access->state == TRACE_OP_GET;

  if (replay->timeline != NULL)
    sim_timeline_received (replay->timeline, transfer, get ? target : origin, get ? origin : target,
                           get ? access->back_bytes : access->bytes, replay->now_ps);
}

static bool
is_flushed (const Window *window, uint32_t target)
{
  return target == TOPO_NONE ? window->outstanding == 0
                             : base_map_find (&window->targets, target) == NULL;
}

void
sim_window_accessed (SimReplay *replay, uint32_t transfer)
{
  SimTransfer access = *sim_transfer_at (replay, transfer);
  uint32_t origin = access.envelope.source;
  Window *window = window_of (replay, origin, access.envelope.context);
  BaseMapEntry *target = base_map_find (&window->targets, access.destination);

  sim_window_arrived (replay, transfer);
  sim_transfer_give (replay, transfer);
  if (access.send_request != TOPO_NONE)
    sim_request_complete (replay, access.send_request, replay->now_ps);
  /* One access less; it may be the one that a flush waited for. */
  window->outstanding--;
  if (--target->value[0] == 0)
    base_map_remove (&window->targets, target);
  if (window->flush != TOPO_NONE && is_flushed (window, window->flush_target)) {
    sim_request_complete (replay, window->flush, replay->now_ps);
    window->flush = TOPO_NONE;
  }
  if (window->freed && window->outstanding == 0)
    g_hash_table_remove (replay->windows, &window->key);
  sim_rank_wake (replay, origin);
}

static uint64_t
known_bytes (SimReplay *replay, uint32_t rank, uint64_t bytes)
{
  if (bytes != TRACE_UNKNOWN_BYTES)
    return bytes;
  sim_report_warn (replay, rank, SIM_WARNING_UNKNOWN_SIZE);
  return 0;
}

static void
window_access (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  uint32_t comm = sim_ops_comm (replay, rank, op), target, transfer;
  SimTransfer access = { .envelope = { op->window, rank, 0 },
                         .send_request = TOPO_NONE,
                         .state = (uint8_t) op->kind };
  int64_t begin_ps = replay->ranks[rank].local_ps;
  Window *window;

  if (op->peer == TRACE_ANY_SOURCE) {
    sim_report_fail (replay, rank, "an access to any rank");
    return;
  }
  if (comm == TRACE_COMMS_NULL || !sim_ops_peer (replay, rank, comm, op->peer, &target))
    return;
  replay->ranks[rank].local_ps += target == TOPO_NONE ? replay->parameters->mpi.call_overhead_ps
                                                      : replay->parameters->mpi.send_overhead_ps;
  if (op->nonblocking) {
    access.send_request = sim_request_take (
        replay,
        (SimRequest){ .rank = rank, .peer = TOPO_NONE, .no_message = true, .access = true });
    sim_handle_push (replay, rank, op->request, access.send_request);
  }
  if (target == TOPO_NONE) { /* MPI_PROC_NULL */
    if (access.send_request != TOPO_NONE)
      sim_request_complete (replay, access.send_request, replay->ranks[rank].local_ps);
    return;
  }
  access.destination = target;
  access.bytes = op->kind == TRACE_OP_GET ? 0 : known_bytes (replay, rank, op->bytes);
  access.back_bytes = op->kind == TRACE_OP_PUT ? 0 : known_bytes (replay, rank, op->recv_bytes);
  if (op->kind != TRACE_OP_GET)
    sim_message_count (replay, rank, target, access.bytes);
  if (op->kind != TRACE_OP_PUT)
    sim_message_count (replay, target, rank, access.back_bytes);
  window = window_of (replay, rank, op->window);
  window->outstanding++;
  base_map_add (&window->targets, target, 0)->value[0]++;
  transfer = sim_transfer_take (replay, access);
  sim_critical_send (replay, transfer, rank, replay->ranks[rank].local_ps);
  if (replay->timeline != NULL)
    sim_timeline_sent (replay->timeline, transfer, begin_ps);
  replay->protocol->access (replay, transfer);
}

/* -- completion ---------------------------------------------------------- */

/* The rank cannot go on before its accesses to the target, or to all, are
 * complete. */
static void
flush (SimReplay *replay, uint32_t rank, uint32_t handle, uint32_t target)
{
  Window *window = window_of (replay, rank, handle);

  if (is_flushed (window, target))
    return;
  window->flush_target = target;
  window->flush = sim_request_take (
      replay, (SimRequest){ .rank = rank, .peer = target, .no_message = true, .access = true });
  sim_request_await (replay, window->flush);
}

/* -- post, start, complete, wait ----------------------------------------- */

/* Messages without data, to or from the ranks that the call names. */
static void
window_synchronize (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  bool send = op->kind == TRACE_OP_WIN_POST || op->kind == TRACE_OP_WIN_COMPLETE;
  bool begins = op->kind == TRACE_OP_WIN_POST || op->kind == TRACE_OP_WIN_START;
  uint32_t serial = window_of (replay, rank, op->window)->serial;
  uint32_t comm = sim_ops_comm (replay, rank, op);
  TraceOp exchange = { .kind = TRACE_OP_NEIGHBOR_ALLTOALL,
                       .comm = op->comm,
                       .values = op->values,
                       .values2 = op->values,
                       .n_counts = send ? op->n_values : 0,
                       .n_recv_counts = send ? 0 : op->n_values };

  if (op->kind == TRACE_OP_WIN_COMPLETE)
    flush (replay, rank, op->window, TOPO_NONE);
  replay->ranks[rank].local_ps += replay->parameters->mpi.call_overhead_ps;
  if (op->n_values > 0 && comm != TRACE_COMMS_NULL)
    sim_active_exchange (replay, rank, &exchange, comm,
                         SYNCHRONIZATION | ((2 * serial + (begins ? POSTED : COMPLETED)) &
                                            (SYNCHRONIZATION - 1) / 2));
}

void
sim_window_call (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  uint32_t comm, target = TOPO_NONE;
  Window *window;

  switch ((int) op->kind) {
  case TRACE_OP_WIN_CREATE:
    comm = trace_comms_resolve (replay->comms, rank, op->comm);
    if (comm != TRACE_COMMS_NULL) {
      window = window_of (replay, rank, op->window);
      window->serial = base_map_add (&replay->ranks[rank].sequences, comm, 0)->value[0];
      window->freed = false;
      trace_comms_window_made (replay->comms, rank, op);
    }
    sim_active_enter (replay, rank, op);
    break;
  case TRACE_OP_WIN_FENCE:
    flush (replay, rank, op->window, TOPO_NONE);
    sim_active_enter (replay, rank, op);
    break;
  case TRACE_OP_WIN_FREE:
    flush (replay, rank, op->window, TOPO_NONE);
    window = window_of (replay, rank, op->window);
    window->freed = true;
    if (window->outstanding == 0)
      g_hash_table_remove (replay->windows, &window->key);
    sim_active_enter (replay, rank, op);
    trace_comms_window_freed (replay->comms, rank, op);
    break;
  case TRACE_OP_WIN_FLUSH:
    replay->ranks[rank].local_ps += replay->parameters->mpi.call_overhead_ps;
    if (op->peer != TRACE_ANY_SOURCE) {
      comm = sim_ops_comm (replay, rank, op);
      if (comm == TRACE_COMMS_NULL || !sim_ops_peer (replay, rank, comm, op->peer, &target) ||
          target == TOPO_NONE)
        return;
    }
    flush (replay, rank, op->window, target);
    break;
  case TRACE_OP_PUT:
  case TRACE_OP_GET:
  case TRACE_OP_FETCH: window_access (replay, rank, op); break;
  default: window_synchronize (replay, rank, op);
  }
}
