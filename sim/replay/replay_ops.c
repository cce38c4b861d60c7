/* replay_ops.c - MPI calls, and the requests and handles that they use.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Processor time (machine file, [mpi]): send_overhead for each message that
 * is sent, receive_overhead for each that is received, when it is;
 * call_overhead for every other call, posting a nonblocking receive and
 * waiting included.
 *
 * A receive from any source stays one, even if the trace has the source:
 * another machine may serve another sender first.  But the next calls of the program
 * are in the trace, and may need that very sender; run.c then has the
 * recorded sources replayed.
 *
 * A handle names a queue of operations (operation.h) and, when persistent, a
 * template that MPI_Start copies.  A completion call takes operations off the
 * handle when it begins, as the trace tells which ones it will complete. */
#include "sim/replay/critical.h"

#include <math.h>

/* -- requests ------------------------------------------------------------ */

/* Handles are small numbers in most traces, and these look into an array; others, and templates,
 * which few handles have, are in a map. */
#define ARRAY_HANDLES 1024u

enum { YOUNGEST, TEMPLATE };

uint32_t
sim_request_take (SimReplay *replay, SimRequest value)
{
  uint32_t request = replay->first_free_request;

  if (request != TOPO_NONE)
    replay->first_free_request = replay->requests[request].next;
  else {
    if (replay->n_requests == replay->requests_capacity) {
      replay->requests_capacity = MAX (256u, 2 * replay->requests_capacity);
      replay->requests = sim_records_resize (replay->requests, replay->n_requests,
                                             replay->requests_capacity, sizeof (SimRequest));
    }
    request = replay->n_requests++;
  }
  replay->requests[request] = value;
  replay->requests[request].used = true;
  replay->requests[request].next = TOPO_NONE;
  return request;
}

static void
request_give (SimReplay *replay, uint32_t request)
{
  replay->requests[request].used = false;
  replay->requests[request].next = replay->first_free_request;
  replay->first_free_request = request;
}

void
sim_request_complete (SimReplay *replay, uint32_t request, int64_t at_ps)
{
  SimRequest *it = &replay->requests[request];

  g_assert (it->used && !it->complete);
  it->complete = true;
  it->at_ps = at_ps;
  if (!it->is_send && !it->no_message)
    replay->ranks[it->rank].open_receives--;
  if (it->awaited) {
    sim_rank_wait_until (replay, it->rank, at_ps);
    replay->ranks[it->rank].pending--;
  }
  if (it->owned)
    sim_active_owned (replay, it, at_ps);
  if (it->awaited || it->detached || it->owned)
    request_give (replay, request);
  else if (it->graph) {
    uint32_t rank = it->rank, operation = it->next;

    request_give (replay, request); /* before others are taken */
    sim_graph_completed (replay, rank, operation);
  }
}

void
sim_request_await (SimReplay *replay, uint32_t request)
{
  SimRequest *it = &replay->requests[request];
  SimRank *rank = &replay->ranks[it->rank];

  if (!it->complete) {
    if (rank->pending++ == 0)
      rank->n_awaited = 0;
    it->awaited = true;
    it->next = rank->n_awaited++;
    return;
  }
  sim_rank_wait_until (replay, it->rank, it->at_ps);
  request_give (replay, request);
}

/* A handle that no table can hold is none. */
static bool
handle_is_possible (SimReplay *replay, uint32_t rank, uint32_t handle)
{
  if (handle == UINT32_MAX)
    sim_report_fail (replay, rank, "request %u is impossible", handle);
  return handle != UINT32_MAX;
}

/* The entry of a handle in the map; NULL: none. */
static BaseMapEntry *
handle_find (const SimRank *rank, uint32_t handle)
{
  return rank->handles == NULL ? NULL : base_map_find (rank->handles, handle);
}

static BaseMapEntry *
handle_add (SimRank *rank, uint32_t handle)
{
  if (rank->handles == NULL)
    rank->handles = g_new0 (BaseMap, 1);
  return base_map_add (rank->handles, handle, TOPO_NONE);
}

/* Where the youngest request of a handle is noted; NULL: nowhere, it has none. */
static uint32_t *
handle_queue (const SimRank *rank, uint32_t handle)
{
  BaseMapEntry *entry;

  if (handle < ARRAY_HANDLES)
    return handle < rank->n_queues ? &rank->queues[handle] : NULL;
  entry = handle_find (rank, handle);
  return entry == NULL ? NULL : &entry->value[YOUNGEST];
}

/* The same, made if it is not there. */
static uint32_t *
handle_queue_add (SimRank *rank, uint32_t handle)
{
  uint32_t n = MAX (32u, rank->n_queues);

  if (handle >= ARRAY_HANDLES)
    return &handle_add (rank, handle)->value[YOUNGEST];
  if (handle >= rank->n_queues) {
    while (n <= handle)
      n *= 2;
    rank->queues = g_renew (uint32_t, rank->queues, n);
    while (rank->n_queues < n)
      rank->queues[rank->n_queues++] = TOPO_NONE;
  }
  return &rank->queues[handle];
}

void
sim_handle_push (SimReplay *replay, uint32_t rank, uint32_t handle, uint32_t request)
{
  uint32_t *youngest;

  if (!handle_is_possible (replay, rank, handle))
    return;
  youngest = handle_queue_add (&replay->ranks[rank], handle);
  if (*youngest == TOPO_NONE)
    replay->requests[request].next = request;
  else {
    replay->requests[request].next = replay->requests[*youngest].next;
    replay->requests[*youngest].next = request;
  }
  *youngest = request;
}

/* The oldest request of a handle; TOPO_NONE: it has none. */
static uint32_t
handle_oldest (const SimReplay *replay, uint32_t rank, uint32_t handle)
{
  const uint32_t *youngest = handle_queue (&replay->ranks[rank], handle);

  return youngest == NULL || *youngest == TOPO_NONE ? TOPO_NONE : replay->requests[*youngest].next;
}

static uint32_t
handle_pop (SimReplay *replay, uint32_t rank, uint32_t handle)
{
  uint32_t *youngest = handle_queue (&replay->ranks[rank], handle), oldest;
  BaseMapEntry *entry;

  if (youngest == NULL || *youngest == TOPO_NONE)
    return TOPO_NONE;
  oldest = replay->requests[*youngest].next;
  if (oldest == *youngest)
    *youngest = TOPO_NONE;
  else
    replay->requests[*youngest].next = replay->requests[oldest].next;
  replay->requests[oldest].next = TOPO_NONE;
  entry = handle < ARRAY_HANDLES ? NULL : handle_find (&replay->ranks[rank], handle);
  if (entry != NULL && entry->value[YOUNGEST] == TOPO_NONE && entry->value[TEMPLATE] == TOPO_NONE)
    base_map_remove (replay->ranks[rank].handles, entry);
  return oldest;
}

/* TOPO_NONE: none. */
static uint32_t
handle_template (const SimReplay *replay, uint32_t rank, uint32_t handle)
{
  const BaseMapEntry *entry = handle_find (&replay->ranks[rank], handle);

  return entry == NULL ? TOPO_NONE : entry->value[TEMPLATE];
}

static void
handle_set_template (SimReplay *replay, uint32_t rank, uint32_t handle, uint32_t request)
{
  SimRank *it = &replay->ranks[rank];
  BaseMapEntry *entry;

  if (!handle_is_possible (replay, rank, handle))
    return;
  entry = handle_add (it, handle);
  if (entry->value[TEMPLATE] != TOPO_NONE)
    request_give (replay, entry->value[TEMPLATE]);
  entry->value[TEMPLATE] = request;
  if (entry->value[YOUNGEST] == TOPO_NONE && request == TOPO_NONE)
    base_map_remove (it->handles, entry);
}

/* -- calls that are no communication ----------------------------------------- */

static void
op_call (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  (void) op;
  replay->ranks[rank].local_ps += replay->parameters->mpi.call_overhead_ps;
}

int64_t
sim_ops_compute_ps (const SimReplay *replay, const TraceOp *op)
{
  double work_ps = op->flops > 0 ? op->flops / replay->parameters->node.compute_Flops * 1e12 : 0;
  double scaled_ps = floor (((double) op->gap_ps + work_ps) * replay->options.compute_scale + 0.5);

  return (int64_t) MIN (scaled_ps, (double) SIM_LAST_PS);
}

static void
op_compute (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  int64_t compute_ps = sim_ops_compute_ps (replay, op);

  sim_critical_compute (replay, rank, compute_ps);
  replay->ranks[rank].local_ps += compute_ps;
  replay->ranks[rank].computed_ps = replay->ranks[rank].local_ps;
  replay->result.ranks[rank].compute_ps += compute_ps;
}

static void
op_finalize (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  op_call (replay, rank, op);
  sim_rank_finish (replay, rank);
}

static void
op_unsupported (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  (void) op;
  sim_report_fail (replay, rank, "this call cannot be replayed");
}

/* -- point to point: making requests ------------------------------------- */

uint32_t
sim_ops_comm (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  uint32_t comm = trace_comms_of_op (replay->comms, rank, op);

  if (comm == TRACE_COMMS_NULL)
    sim_report_fail (replay, rank, "communicator %u does not exist", op->comm);
  return comm;
}

bool
sim_ops_peer (SimReplay *replay, uint32_t rank, uint32_t comm, int32_t peer, uint32_t *world)
{
  uint32_t size = trace_comms_size (replay->comms, comm);

  *world = TOPO_NONE;
  if (peer == TRACE_ANY_SOURCE || peer == TRACE_PROC_NULL)
    return true;
  if (peer < 0 || (uint32_t) peer >= size) {
    sim_report_fail (replay, rank, "rank %d of a communicator of %u", peer, size);
    return false;
  }
  *world = trace_comms_world_rank (replay->comms, comm, (uint32_t) peer, rank);
  return true;
}

static uint32_t
send_new (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  uint32_t comm = sim_ops_comm (replay, rank, op), peer;
  uint64_t bytes = op->bytes;

  if (comm == TRACE_COMMS_NULL || !sim_ops_peer (replay, rank, comm, op->peer, &peer))
    return TOPO_NONE;
  if (op->peer == TRACE_ANY_SOURCE) {
    sim_report_fail (replay, rank, "a send to any rank");
    return TOPO_NONE;
  }
  if (bytes == TRACE_UNKNOWN_BYTES) {
    sim_report_warn (replay, rank, SIM_WARNING_UNKNOWN_SIZE);
    bytes = 0;
  }
  return sim_request_take (replay, (SimRequest){ .bytes = bytes,
                                                 .context = sim_context (comm, false),
                                                 .tag = op->tag,
                                                 .rank = rank,
                                                 .peer = peer,
                                                 .mode = (uint8_t) op->mode,
                                                 .is_send = true,
                                                 .blocking = op->kind == TRACE_OP_SEND,
                                                 .no_message = op->peer == TRACE_PROC_NULL });
}

/* Whom a receive or probe is posted for. */
static int32_t
source_of (SimReplay *replay, const TraceOp *op, int32_t posted)
{
  if (posted != TRACE_ANY_SOURCE || op->matched_source == TRACE_ANY_SOURCE)
    return posted;
  replay->knows_sources = true;
  return replay->options.recorded_sources ? op->matched_source : posted;
}

static uint32_t
receive_new (SimReplay *replay, uint32_t rank, const TraceOp *op, int32_t source, int32_t tag,
             uint64_t bytes)
{
  uint32_t comm = sim_ops_comm (replay, rank, op), peer;

  source = source_of (replay, op, source);
  if (comm == TRACE_COMMS_NULL || !sim_ops_peer (replay, rank, comm, source, &peer))
    return TOPO_NONE;
  return sim_request_take (replay, (SimRequest){ .bytes = bytes,
                                                 .context = sim_context (comm, false),
                                                 .tag = tag,
                                                 .rank = rank,
                                                 .peer = peer,
                                                 .no_message = source == TRACE_PROC_NULL });
}

uint32_t
sim_ops_request (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  if (op->kind == TRACE_OP_SEND || op->kind == TRACE_OP_ISEND || op->kind == TRACE_OP_SEND_INIT)
    return send_new (replay, rank, op);
  return receive_new (replay, rank, op, op->peer, op->tag, op->bytes);
}

/* Begins a send or a receive. */
static void
request_start (SimReplay *replay, uint32_t request)
{
  SimRequest it = replay->requests[request];

  if (it.no_message) {
    replay->ranks[it.rank].local_ps += replay->parameters->mpi.call_overhead_ps;
    sim_request_complete (replay, request, replay->ranks[it.rank].local_ps);
  } else if (it.is_send) {
    replay->result.ranks[it.rank].sends++;
    sim_message_send (replay, request);
  } else {
    replay->result.ranks[it.rank].receives++;
    sim_message_post (replay, request);
  }
}

/* Begins; a completion call will ask for it by its handle. */
static void
request_post (SimReplay *replay, uint32_t rank, uint32_t handle, uint32_t request)
{
  if (!replay->requests[request].is_send && !replay->requests[request].no_message)
    replay->ranks[rank].local_ps += replay->parameters->mpi.call_overhead_ps;
  sim_handle_push (replay, rank, handle, request);
  request_start (replay, request);
}

/* -- point to point: the calls ------------------------------------------- */

static void
op_blocking (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  uint32_t request = sim_ops_request (replay, rank, op);

  if (request == TOPO_NONE)
    return;
  request_start (replay, request);
  sim_request_await (replay, request);
}

static void
op_sendrecv (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  uint32_t receive = receive_new (replay, rank, op, op->recv_peer, op->recv_tag, op->recv_bytes);
  uint32_t send = receive == TOPO_NONE ? TOPO_NONE : send_new (replay, rank, op);

  if (send == TOPO_NONE)
    return;
  request_start (replay, receive);
  request_start (replay, send);
  sim_request_await (replay, receive);
  sim_request_await (replay, send);
}

static void
op_nonblocking (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  uint32_t request = sim_ops_request (replay, rank, op);

  if (request != TOPO_NONE)
    request_post (replay, rank, op->request, request);
}

static void
op_persistent (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  uint32_t request = sim_ops_request (replay, rank, op);

  if (request == TOPO_NONE)
    return;
  handle_set_template (replay, rank, op->request, request);
  op_call (replay, rank, op);
}

static void
op_start (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  for (uint32_t i = 0; i < op->n_requests; i++) {
    uint32_t handle = op->requests[i];
    uint32_t model = handle_template (replay, rank, handle);

    if (model == TOPO_NONE)
      sim_report_warn (replay, rank, SIM_WARNING_UNKNOWN_REQUEST);
    else
      request_post (replay, rank, handle, sim_request_take (replay, replay->requests[model]));
  }
}

/* -- probing ------------------------------------------------------------- */

static void
op_probe (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  SimRank *it = &replay->ranks[rank];
  uint32_t comm, peer, transfer;
  int32_t source;

  op_call (replay, rank, op);
  if (op->kind == TRACE_OP_IPROBE && op->n_completed == 0)
    return;
  comm = sim_ops_comm (replay, rank, op);
  source = source_of (replay, op, op->peer);
  if (comm == TRACE_COMMS_NULL || !sim_ops_peer (replay, rank, comm, source, &peer) ||
      source == TRACE_PROC_NULL)
    return;
  it->probe = (SimEnvelope){ sim_context (comm, false), peer, op->tag };
  transfer = sim_match_probe (&replay->match_pool, &it->matching, it->probe);
  if (transfer == TOPO_NONE)
    it->state = SIM_RANK_PROBING;
  else
    sim_rank_wait_until (replay, rank, sim_transfer_at (replay, transfer)->at_ps);
}

/* -- completion ---------------------------------------------------------- */

static bool
is_known (const SimReplay *replay, uint32_t rank, uint32_t handle)
{
  return handle == TRACE_REQUEST_NULL || handle_template (replay, rank, handle) != TOPO_NONE;
}

static void
await_handle (SimReplay *replay, uint32_t rank, uint32_t handle)
{
  uint32_t request = handle_pop (replay, rank, handle);

  if (request != TOPO_NONE)
    sim_request_await (replay, request);
  else if (!is_known (replay, rank, handle))
    sim_report_warn (replay, rank, SIM_WARNING_UNKNOWN_REQUEST);
}

static void
op_wait (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  op_call (replay, rank, op);
  for (uint32_t i = 0; i < op->n_requests; i++)
    await_handle (replay, rank, op->requests[i]);
}

/* Requests that the program saw complete are waited for, so that it goes the same way. */
static void
op_wait_some (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  op_call (replay, rank, op);
  for (uint32_t i = 0; i < op->n_completed; i++) {
    if (op->completed[i] >= op->n_requests) {
      sim_report_fail (replay, rank, "completes number %u of %u requests", op->completed[i],
                       op->n_requests);
      return;
    }
    await_handle (replay, rank, op->requests[op->completed[i]]);
  }
}

static void
await_all (SimReplay *replay, uint32_t rank, uint32_t handle)
{
  uint32_t request;

  while ((request = handle_pop (replay, rank, handle)) != TOPO_NONE)
    sim_request_await (replay, request);
}

/* All handles with operations that have begun. */
static void
op_wait_outstanding (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  const SimRank *it = &replay->ranks[rank];
  g_autoptr (GArray) others = g_array_new (FALSE, FALSE, sizeof (uint32_t));

  op_call (replay, rank, op);
  for (uint32_t handle = 0; handle < it->n_queues; handle++)
    await_all (replay, rank, handle);
  /* Listed first: removing moves the entries of the map. */
  for (uint32_t place = 0; it->handles != NULL && place < it->handles->capacity; place++)
    if (it->handles->entries[place].key != UINT32_MAX)
      g_array_append_val (others, it->handles->entries[place].key);
  for (uint32_t i = 0; i < others->len; i++)
    await_all (replay, rank, g_array_index (others, uint32_t, i));
}

static void
op_request_free (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  uint32_t handle = op->n_requests > 0 ? op->requests[0] : TRACE_REQUEST_NULL, request;
  bool persistent = handle_template (replay, rank, handle) != TOPO_NONE;

  op_call (replay, rank, op);
  if (!is_known (replay, rank, handle) && handle_oldest (replay, rank, handle) == TOPO_NONE)
    sim_report_warn (replay, rank, SIM_WARNING_UNKNOWN_REQUEST);
  /* All that a persistent one has started, or the oldest of a shared one. */
  while ((request = handle_pop (replay, rank, handle)) != TOPO_NONE) {
    if (replay->requests[request].complete)
      request_give (replay, request);
    else
      replay->requests[request].detached = true;
    if (!persistent)
      return;
  }
  if (persistent)
    handle_set_template (replay, rank, handle, TOPO_NONE);
}

void
sim_ops_take_back (SimReplay *replay, uint32_t rank)
{
  SimRank *it = &replay->ranks[rank];
  uint32_t number = it->cancel;
  const SimRequest *request;

  it->cancel = TOPO_NONE;
  if (number == TOPO_NONE)
    return;
  request = &replay->requests[number];
  if (!request->complete && !request->is_send && !request->no_message &&
      sim_match_cancel (&replay->match_pool, &it->matching, sim_request_envelope (request), number))
    sim_request_complete (replay, number, it->local_ps);
}

/* Whether anything has matched is only known when the network has caught up.
 * A send is never taken back: it may be under way. */
static void
op_cancel (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  uint32_t handle = op->n_requests > 0 ? op->requests[0] : TRACE_REQUEST_NULL;
  uint32_t request = handle_oldest (replay, rank, handle);

  op_call (replay, rank, op);
  if (request == TOPO_NONE) {
    if (!is_known (replay, rank, handle))
      sim_report_warn (replay, rank, SIM_WARNING_UNKNOWN_REQUEST);
    return;
  }
  replay->ranks[rank].cancel = request;
  sim_rank_sleep (replay, rank);
}

/* -- communicators and groups -------------------------------------------- */

static void
op_comm_free (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  BaseMap *sequences = &replay->ranks[rank].sequences;
  BaseMapEntry *sequence =
      base_map_find (sequences, trace_comms_release (replay->comms, rank, op->comm));

  op_call (replay, rank, op);
  if (sequence != NULL)
    base_map_remove (sequences, sequence);
}

/* No call of the program: costs nothing. */
static void
op_comm_define (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  g_autoptr (GError) error = NULL;

  if (!trace_comms_define (replay->comms, rank, op, &error))
    sim_report_fail (replay, rank, "%s", error->message);
}

static void
op_group (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  g_autoptr (GError) error = NULL;

  op_call (replay, rank, op);
  if (!trace_comms_group (replay->comms, rank, op, &error))
    sim_report_fail (replay, rank, "%s", error->message);
}

typedef void (*Execute) (SimReplay *replay, uint32_t rank, const TraceOp *op);

static const Execute execute[TRACE_N_OPS] = {
  [TRACE_OP_COMPUTE] = op_compute,
  [TRACE_OP_INIT] = op_call,
  [TRACE_OP_FINALIZE] = op_finalize,
  [TRACE_OP_CALL] = op_call,
  [TRACE_OP_SEND] = op_blocking,
  [TRACE_OP_ISEND] = op_nonblocking,
  [TRACE_OP_SEND_INIT] = op_persistent,
  [TRACE_OP_RECV] = op_blocking,
  [TRACE_OP_IRECV] = op_nonblocking,
  [TRACE_OP_RECV_INIT] = op_persistent,
  [TRACE_OP_SENDRECV] = op_sendrecv,
  [TRACE_OP_START] = op_start,
  [TRACE_OP_PROBE] = op_probe,
  [TRACE_OP_IPROBE] = op_probe,
  [TRACE_OP_CANCEL] = op_cancel,
  [TRACE_OP_REQUEST_FREE] = op_request_free,
  [TRACE_OP_WAIT] = op_wait,
  [TRACE_OP_WAIT_SOME] = op_wait_some,
  [TRACE_OP_WAIT_OUTSTANDING] = op_wait_outstanding,
  [TRACE_OP_TEST] = op_wait_some,
  [TRACE_OP_BARRIER] = sim_active_enter,
  [TRACE_OP_BCAST] = sim_active_enter,
  [TRACE_OP_GATHER] = sim_active_enter,
  [TRACE_OP_GATHERV] = sim_active_enter,
  [TRACE_OP_SCATTER] = sim_active_enter,
  [TRACE_OP_SCATTERV] = sim_active_enter,
  [TRACE_OP_ALLGATHER] = sim_active_enter,
  [TRACE_OP_ALLGATHERV] = sim_active_enter,
  [TRACE_OP_ALLTOALL] = sim_active_enter,
  [TRACE_OP_ALLTOALLV] = sim_active_enter,
  [TRACE_OP_REDUCE] = sim_active_enter,
  [TRACE_OP_ALLREDUCE] = sim_active_enter,
  [TRACE_OP_REDUCE_SCATTER] = sim_active_enter,
  [TRACE_OP_SCAN] = sim_active_enter,
  [TRACE_OP_EXSCAN] = sim_active_enter,
  [TRACE_OP_NEIGHBOR_ALLGATHER] = sim_active_enter,
  [TRACE_OP_NEIGHBOR_ALLTOALL] = sim_active_enter,
  [TRACE_OP_WIN_CREATE] = sim_window_call,
  [TRACE_OP_WIN_FREE] = sim_window_call,
  [TRACE_OP_WIN_FENCE] = sim_window_call,
  [TRACE_OP_PUT] = sim_window_call,
  [TRACE_OP_GET] = sim_window_call,
  [TRACE_OP_FETCH] = sim_window_call,
  [TRACE_OP_WIN_FLUSH] = sim_window_call,
  [TRACE_OP_WIN_POST] = sim_window_call,
  [TRACE_OP_WIN_START] = sim_window_call,
  [TRACE_OP_WIN_COMPLETE] = sim_window_call,
  [TRACE_OP_WIN_WAIT] = sim_window_call,
  [TRACE_OP_COMM_DEFINE] = op_comm_define,
  [TRACE_OP_COMM_DUP] = sim_active_create_comm,
  [TRACE_OP_COMM_SPLIT] = sim_active_create_comm,
  [TRACE_OP_COMM_CREATE] = sim_active_create_comm,
  [TRACE_OP_COMM_FREE] = op_comm_free,
  [TRACE_OP_CART_CREATE] = sim_active_create_comm,
  [TRACE_OP_CART_SUB] = sim_active_create_comm,
  [TRACE_OP_GRAPH_CREATE] = sim_active_create_comm,
  [TRACE_OP_COMM_GROUP] = op_group,
  [TRACE_OP_GROUP_INCL] = op_group,
  [TRACE_OP_GROUP_EXCL] = op_group,
  [TRACE_OP_GROUP_RANGE_INCL] = op_group,
  [TRACE_OP_GROUP_RANGE_EXCL] = op_group,
  [TRACE_OP_GROUP_UNION] = op_group,
  [TRACE_OP_GROUP_INTERSECTION] = op_group,
  [TRACE_OP_GROUP_DIFFERENCE] = op_group,
  [TRACE_OP_GROUP_FREE] = op_group,
  [TRACE_OP_UNSUPPORTED] = op_unsupported,
};

void
sim_ops_execute (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  execute[op->kind](replay, rank, op);
}
