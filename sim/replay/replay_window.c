/* replay_window.c - one-sided accesses, and what completes them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   put    the data to the target; a control packet tells the origin that it is there
 *   get    a remote get to the target, the data back
 *   fetch  the data to the target, the former data back
 *
 * An access costs the origin send_overhead and nobody anything else: the
 * target's messaging unit serves it, whatever the target does.  Within a node
 * the origin copies: shm_latency and what goes and comes at shm_bandwidth.
 * On a fabric see ob1_openib.c.
 *
 * Guesses.  Blue Gene/Q's MPI may send small accesses, and all that
 * accumulate, as active messages which the target's software handles; and it
 * may learn in another way than by a packet that a put is complete.
 * Here data of up to eager_bytes travels as an eager message, more as a
 * direct put.  A request of an access is complete when the access is, at the
 * target too, although MPI promises less. */
#include "sim/replay/ob1.h"

/* One rank's window, from its making or first access on. */
typedef struct {
  gint64 key;            /* rank and handle */
  uint32_t serial;       /* the making's number on the communicator: the same on all ranks */
  uint32_t outstanding;  /* accesses that are not complete */
  TraceMap targets;      /* world rank -> how many of them are its */
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

  trace_map_clear (&window->targets);
  g_free (window);
}

void
sim_window_init (SimReplay *replay)
{
  replay->windows = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, window_clear);
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

static bool
travels_eagerly (const SimReplay *replay, uint64_t bytes)
{
  return bytes <= replay->parameters->eager_bytes;
}

/* Data of an access, handed over by the messaging unit of one side. */
static void
send_data (SimReplay *replay, uint64_t cookie, uint32_t from, uint32_t to, uint64_t bytes,
           int64_t at_ps)
{
  bool eager = travels_eagerly (replay, bytes);

  sim_protocol_count (replay, from, to, bytes);
  sim_network_send (replay->network,
                    &(SimMessage){ .cookie = cookie,
                                   .bytes = bytes,
                                   .source_rank = from,
                                   .destination_rank = to,
                                   .kind = eager ? SIM_MESSAGE_EAGER : SIM_MESSAGE_DATA },
                    at_ps);
}

static bool
is_dynamic (const SimReplay *replay, const SimTransfer *access)
{
  RouteChoice choice = route_pami_data (
      replay->machine, replay->options.policy, replay->ranks[access->destination].node,
      replay->ranks[access->envelope.source].node, access->back_bytes);

  return choice.vc == ROUTE_VC_DYNAMIC;
}

/* As in rendezvous.c: one descriptor when the data is routed dynamically. */
static void
send_remote_get (SimReplay *replay, const SimTransfer *access, uint64_t cookie, int64_t at_ps)
{
  sim_network_send (replay->network,
                    &(SimMessage){ .cookie = cookie,
                                   .source_rank = access->envelope.source,
                                   .destination_rank = access->destination,
                                   .kind = SIM_MESSAGE_REMOTE_GET,
                                   .descriptors = access->dynamic ? 1 : 2 },
                    at_ps);
}

static void
access_copy (SimReplay *replay, const SimTransfer *access, uint64_t cookie, int64_t at_ps)
{
  uint32_t origin = access->envelope.source, target = access->destination;
  uint64_t bytes = access->bytes + access->back_bytes;

  if (access->state != TRACE_OP_GET)
    sim_protocol_count (replay, origin, target, access->bytes);
  if (access->state != TRACE_OP_PUT)
    sim_protocol_count (replay, target, origin, access->back_bytes);
  sim_network_timer (replay->network, origin, cookie,
                     at_ps + replay->parameters->shm_latency_ps +
                         sim_rendezvous_copy_ps (replay, bytes));
}

static void
access_launch (SimReplay *replay, uint32_t transfer)
{
  SimTransfer *access = &replay->transfers[transfer];
  uint32_t origin = access->envelope.source;
  int64_t at_ps = replay->ranks[origin].local_ps;
  uint64_t cookie = sim_cookie (SIM_COOKIE_ACCESS, 0, transfer);

  if (replay->ob1 != NULL)
    sim_ob1_access (replay, transfer);
  else if (sim_transfer_is_local (replay, access))
    access_copy (replay, access, sim_cookie (SIM_COOKIE_ACCESSED, 0, transfer), at_ps);
  else if (access->state == TRACE_OP_GET) {
    access->dynamic = is_dynamic (replay, access);
    send_remote_get (replay, access, cookie, at_ps);
  } else
    send_data (replay, cookie, origin, access->destination, access->bytes, at_ps);
}

/* Asked by a remote get, whose sender has chosen the routing. */
static void
send_asked (SimReplay *replay, const SimTransfer *access, uint64_t cookie)
{
  sim_protocol_count (replay, access->destination, access->envelope.source, access->back_bytes);
  sim_network_send (replay->network,
                    &(SimMessage){ .cookie = cookie,
                                   .bytes = access->back_bytes,
                                   .source_rank = access->destination,
                                   .destination_rank = access->envelope.source,
                                   .kind = SIM_MESSAGE_DATA,
                                   .force_deterministic = !access->dynamic },
                    replay->now_ps);
}

/* The data is where it goes; of a fetch, what it brings. */
static void
access_arrived (SimReplay *replay, uint32_t transfer, const SimTransfer *access)
{
  uint32_t origin = access->envelope.source, target = access->destination;
  bool get = access->state == TRACE_OP_GET;

  if (replay->timeline != NULL)
    sim_timeline_received (replay->timeline, transfer, get ? target : origin, get ? origin : target,
                           get ? access->back_bytes : access->bytes, replay->now_ps);
}

void
sim_window_serve (SimReplay *replay, uint32_t transfer)
{
  const SimTransfer *access = &replay->transfers[transfer];
  uint32_t origin = access->envelope.source, target = access->destination;
  uint64_t cookie = sim_cookie (SIM_COOKIE_ACCESSED, 0, transfer);

  if (access->state != TRACE_OP_GET)
    access_arrived (replay, transfer, access);
  if (replay->ob1 != NULL)
    sim_ob1_serve (replay, transfer);
  else if (access->state == TRACE_OP_GET)
    send_asked (replay, access, cookie);
  else if (access->state == TRACE_OP_FETCH)
    send_data (replay, cookie, target, origin, access->back_bytes, replay->now_ps);
  else
    sim_network_send (replay->network,
                      &(SimMessage){ .cookie = cookie,
                                     .source_rank = target,
                                     .destination_rank = origin,
                                     .kind = SIM_MESSAGE_CONTROL },
                      replay->now_ps);
}

static bool
is_flushed (const Window *window, uint32_t target)
{
  return target == TOPO_NONE ? window->outstanding == 0
                             : trace_map_find (&window->targets, target) == NULL;
}

/* One access less; the end of a flush that waited for it. */
static void
window_settle (SimReplay *replay, Window *window, uint32_t target)
{
  TraceMapEntry *entry = trace_map_find (&window->targets, target);

  window->outstanding--;
  if (--entry->value[0] == 0)
    trace_map_remove (&window->targets, entry);
  if (window->flush != TOPO_NONE && is_flushed (window, window->flush_target)) {
    sim_request_complete (replay, window->flush, replay->now_ps);
    window->flush = TOPO_NONE;
  }
  if (window->freed && window->outstanding == 0)
    g_hash_table_remove (replay->windows, &window->key);
}

void
sim_window_accessed (SimReplay *replay, uint32_t transfer)
{
  SimTransfer access = replay->transfers[transfer];
  uint32_t origin = access.envelope.source;

  access_arrived (replay, transfer, &access);
  sim_transfer_give (replay, transfer);
  if (access.send_request != TOPO_NONE)
    sim_request_complete (replay, access.send_request, replay->now_ps);
  window_settle (replay, window_of (replay, origin, access.envelope.context), access.destination);
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

static uint32_t
access_request (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  uint32_t request;

  if (!op->nonblocking)
    return TOPO_NONE;
  request = sim_request_take (
      replay, (SimRequest){ .rank = rank, .peer = TOPO_NONE, .nobody = true, .access = true });
  sim_handle_push (replay, rank, op->request, request);
  return request;
}

void
sim_window_access (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  uint32_t comm = sim_ops_comm (replay, rank, op), target, transfer;
  SimTransfer access = { .envelope = { op->window, rank, 0 }, .state = (uint8_t) op->kind };
  int64_t begin_ps = replay->ranks[rank].local_ps;
  Window *window;

  if (op->peer == TRACE_ANY_SOURCE) {
    sim_report_fail (replay, rank, "an access to any rank");
    return;
  }
  if (comm == TRACE_COMMS_NULL || !sim_ops_peer (replay, rank, comm, op->peer, &target))
    return;
  replay->ranks[rank].local_ps += target == TOPO_NONE ? replay->parameters->call_overhead_ps
                                                      : replay->parameters->send_overhead_ps;
  access.send_request = access_request (replay, rank, op);
  if (target == TOPO_NONE) { /* MPI_PROC_NULL */
    if (access.send_request != TOPO_NONE)
      sim_request_complete (replay, access.send_request, replay->ranks[rank].local_ps);
    return;
  }
  access.destination = target;
  access.bytes = op->kind == TRACE_OP_GET ? 0 : known_bytes (replay, rank, op->bytes);
  access.back_bytes = op->kind == TRACE_OP_PUT ? 0 : known_bytes (replay, rank, op->recv_bytes);
  window = window_of (replay, rank, op->window);
  window->outstanding++;
  trace_map_add (&window->targets, target, 0)->value[0]++;
  transfer = sim_transfer_take (replay, access);
  if (replay->timeline != NULL)
    sim_timeline_sent (replay->timeline, transfer, begin_ps);
  access_launch (replay, transfer);
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
      replay, (SimRequest){ .rank = rank, .peer = target, .nobody = true, .access = true });
  sim_request_await (replay, window->flush);
}

void
sim_window_flush (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  uint32_t target = TOPO_NONE;

  replay->ranks[rank].local_ps += replay->parameters->call_overhead_ps;
  if (op->peer != TRACE_ANY_SOURCE) {
    uint32_t comm = sim_ops_comm (replay, rank, op);

    if (comm == TRACE_COMMS_NULL || !sim_ops_peer (replay, rank, comm, op->peer, &target) ||
        target == TOPO_NONE)
      return;
  }
  flush (replay, rank, op->window, target);
}

void
sim_window_create (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  uint32_t comm = trace_comms_resolve (replay->comms, rank, op->comm);

  if (comm != TRACE_COMMS_NULL) {
    Window *window = window_of (replay, rank, op->window);

    window->serial = trace_map_add (&replay->ranks[rank].sequences, comm, 0)->value[0];
    window->freed = false;
    trace_comms_window_made (replay->comms, rank, op);
  }
  sim_active_enter (replay, rank, op);
}

void
sim_window_fence (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  flush (replay, rank, op->window, TOPO_NONE);
  if (op->kind == TRACE_OP_WIN_FREE) {
    Window *window = window_of (replay, rank, op->window);

    window->freed = true;
    if (window->outstanding == 0)
      g_hash_table_remove (replay->windows, &window->key);
  }
  sim_active_enter (replay, rank, op);
  if (op->kind == TRACE_OP_WIN_FREE)
    trace_comms_window_freed (replay->comms, rank, op);
}

/* -- post, start, complete, wait ----------------------------------------- */

/* Messages without data, to or from the ranks that the call names. */
static void
synchronize (SimReplay *replay, uint32_t rank, const TraceOp *op, bool send, uint32_t what)
{
  uint32_t serial = window_of (replay, rank, op->window)->serial;
  uint32_t comm = sim_ops_comm (replay, rank, op);
  TraceOp exchange = { .kind = TRACE_OP_NEIGHBOR_ALLTOALL,
                       .comm = op->comm,
                       .values = op->values,
                       .values2 = op->values,
                       .n_counts = send ? op->n_values : 0,
                       .n_recv_counts = send ? 0 : op->n_values };

  replay->ranks[rank].local_ps += replay->parameters->call_overhead_ps;
  if (op->n_values > 0 && comm != TRACE_COMMS_NULL)
    sim_active_exchange (replay, rank, &exchange, comm,
                         SYNCHRONIZATION | ((2 * serial + what) & (SYNCHRONIZATION - 1) / 2));
}

void
sim_window_synchronize (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  bool send = op->kind == TRACE_OP_WIN_POST || op->kind == TRACE_OP_WIN_COMPLETE;
  bool begins = op->kind == TRACE_OP_WIN_POST || op->kind == TRACE_OP_WIN_START;

  if (op->kind == TRACE_OP_WIN_COMPLETE)
    flush (replay, rank, op->window, TOPO_NONE);
  synchronize (replay, rank, op, send, begins ? POSTED : COMPLETED);
}
