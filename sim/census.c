/* census.c - counts what a trace contains, without any time.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each rank is walked until it makes a communicator for which others have
 * not come yet; then the next rank has its turn.  A trace that makes none is
 * walked one rank after the other, with one cursor open at a time. */
#include "sim/net/load.h"

#include "sim/replay/agreement.h"
#include "sim/channels.h"
#include "sim/collective/collective.h"
#include "mpi/communicator.h"
#include "sim/net/network.h"
#include "base/small_map.h"

#include <glib.h>

/* Of one kind, so that also a single rank with many is heard of. */
#define OPERATIONS_PER_TELLING 65536

/* A persistent request or, when matching, any receive: what CANCEL and START
 * need to know of it. */
typedef struct {
  SimChannel channel;
  uint64_t bytes;
  bool is_send, is_real; /* real: its peer is not PROC_NULL */
} Request;

typedef struct {
  TraceCursor *cursor; /* NULL: not begun, or done */
  TraceMap handles;    /* request handle -> index into requests */
  TraceMap sequences;  /* communicator -> collectives so far */
  GArray *requests;    /* (element-type Request); NULL when there are none */
  bool done;
  bool waits; /* for other members to make a communicator */
} Walk;

typedef struct {
  Trace *trace;
  const TopoMachine *machine;
  SimCensusScope scope;
  SimCensusMessage message;
  void *message_data;
  TraceProgress progress; /* NULL: nobody asks */
  void *progress_data;
  uint32_t n_done; /* ranks */
  SimCensus *census;
  TraceComms *comms;
  SimAgreement *agreement; /* NULL: collectives are only counted */
  SimChannels *channels;   /* NULL: no matching */
  Walk *walks;             /* [n_ranks] */
  uint32_t n_ranks;
} Walker;

static gboolean
find_comm (const Walker *walker, uint32_t rank, const TraceOp *op, uint32_t *comm, GError **error)
{
  *comm = trace_op_uses_window (op->kind) ? trace_comms_of_window (walker->comms, rank, op)
                                          : trace_comms_resolve (walker->comms, rank, op->comm);
  if (*comm == TRACE_COMMS_NULL) {
    g_set_error (error, SIM_ERROR, SIM_ERROR_TRACE, "%s on unknown communicator %u",
                 trace_op_name (op->kind), op->comm);
    return FALSE;
  }
  return TRUE;
}

/* --- Point to point --- */

static gboolean
find_peer (const Walker *walker, uint32_t rank, uint32_t comm, int32_t peer, uint32_t *world_rank,
           GError **error)
{
  if (peer == TRACE_ANY_SOURCE) {
    *world_rank = TOPO_NONE;
    return TRUE;
  }
  if (peer < 0 || (uint32_t) peer >= trace_comms_size (walker->comms, comm)) {
    g_set_error (error, SIM_ERROR, SIM_ERROR_TRACE, "peer %d on a communicator of %u ranks", peer,
                 trace_comms_size (walker->comms, comm));
    return FALSE;
  }
  *world_rank = trace_comms_world_rank (walker->comms, comm, (uint32_t) peer, rank);
  return TRUE;
}

/* Sizes that the trace does not know are replayed as nothing. */
static uint64_t
known_bytes (uint64_t bytes)
{
  return bytes == TRACE_UNKNOWN_BYTES ? 0 : bytes;
}

static gboolean
make_send (const Walker *walker, uint32_t rank, const TraceOp *op, Request *request, GError **error)
{
  uint32_t comm, peer;

  *request = (Request){ .is_send = true, .bytes = known_bytes (op->bytes) };
  if (op->peer == TRACE_PROC_NULL)
    return TRUE;
  if (!find_comm (walker, rank, op, &comm, error) ||
      !find_peer (walker, rank, comm, op->peer, &peer, error))
    return FALSE;
  if (peer == TOPO_NONE) {
    g_set_error (error, SIM_ERROR, SIM_ERROR_TRACE, "%s to any rank", trace_op_name (op->kind));
    return FALSE;
  }
  request->is_real = true;
  request->channel = (SimChannel){ comm, rank, peer, op->tag };
  return TRUE;
}

/* A wildcard of which the trace says whom it got is no wildcard. */
static gboolean
make_receive (const Walker *walker, uint32_t rank, const TraceOp *op, Request *request,
              GError **error)
{
  bool both = op->kind == TRACE_OP_SENDRECV;
  int32_t source = both ? op->recv_peer : op->peer;
  uint32_t comm, peer;

  *request = (Request){ .is_send = false };
  if (source == TRACE_PROC_NULL)
    return TRUE;
  if (source == TRACE_ANY_SOURCE)
    source = op->matched_source;
  if (!find_comm (walker, rank, op, &comm, error) ||
      !find_peer (walker, rank, comm, source, &peer, error))
    return FALSE;
  request->is_real = true;
  request->channel = (SimChannel){ comm, peer, rank, both ? op->recv_tag : op->tag };
  return TRUE;
}

static void
tell (const Walker *walker, uint32_t source, uint32_t destination, uint64_t bytes, bool direct)
{
  if (walker->message != NULL)
    walker->message (walker->message_data, source, destination, bytes, direct);
}

static void
count_request (const Walker *walker, const Request *request)
{
  SimCensus *census = walker->census;

  if (!request->is_real)
    return;
  if (request->is_send) {
    census->sends++;
    census->send_bytes += request->bytes;
    tell (walker, request->channel.source, request->channel.destination, request->bytes, false);
  } else
    census->receives++;
  if (walker->channels == NULL)
    return;
  if (request->is_send)
    sim_channels_send (walker->channels, request->channel);
  else
    sim_channels_receive (walker->channels, request->channel);
}

/* Handles are used again and again, so their places are too. */
static void
remember (Walk *walk, uint32_t handle, const Request *request)
{
  TraceMapEntry *entry;

  if (handle == TRACE_REQUEST_NULL || handle == UINT32_MAX)
    return;
  if (walk->requests == NULL)
    walk->requests = g_array_new (FALSE, FALSE, sizeof (Request));
  entry = trace_map_add (&walk->handles, handle, UINT32_MAX);
  if (entry->value[0] == UINT32_MAX) {
    entry->value[0] = walk->requests->len;
    g_array_set_size (walk->requests, walk->requests->len + 1);
  }
  g_array_index (walk->requests, Request, entry->value[0]) = *request;
}

static const Request *
recall (const Walk *walk, uint32_t handle)
{
  const TraceMapEntry *entry = trace_map_find (&walk->handles, handle);

  return entry == NULL ? NULL : &g_array_index (walk->requests, Request, entry->value[0]);
}

static gboolean
walk_send (Walker *walker, uint32_t rank, const TraceOp *op, GError **error)
{
  Request request;

  if (!make_send (walker, rank, op, &request, error))
    return FALSE;
  count_request (walker, &request);
  return TRUE;
}

static gboolean
walk_recv (Walker *walker, uint32_t rank, const TraceOp *op, GError **error)
{
  Request request;

  if (!make_receive (walker, rank, op, &request, error))
    return FALSE;
  count_request (walker, &request);
  if (op->kind == TRACE_OP_IRECV && walker->channels != NULL)
    remember (&walker->walks[rank], op->request, &request);
  return TRUE;
}

static gboolean
walk_sendrecv (Walker *walker, uint32_t rank, const TraceOp *op, GError **error)
{
  return walk_send (walker, rank, op, error) && walk_recv (walker, rank, op, error);
}

static gboolean
walk_init (Walker *walker, uint32_t rank, const TraceOp *op, GError **error)
{
  Request request;
  gboolean made = op->kind == TRACE_OP_SEND_INIT ? make_send (walker, rank, op, &request, error)
                                                 : make_receive (walker, rank, op, &request, error);

  if (made)
    remember (&walker->walks[rank], op->request, &request);
  return made;
}

/* Requests that the trace has not made are those of calls before its window. */
static gboolean
walk_start (Walker *walker, uint32_t rank, const TraceOp *op, G_GNUC_UNUSED GError **error)
{
  for (uint32_t i = 0; i < op->n_requests; i++) {
    const Request *request = recall (&walker->walks[rank], op->requests[i]);

    if (request != NULL)
      count_request (walker, request);
  }
  return TRUE;
}

/* Whether the receive had got its message already is for the replay to find
 * out: here it is excused if it is left over. */
static gboolean
walk_cancel (Walker *walker, uint32_t rank, const TraceOp *op, G_GNUC_UNUSED GError **error)
{
  for (uint32_t i = 0; walker->channels != NULL && i < op->n_requests; i++) {
    const Request *request = recall (&walker->walks[rank], op->requests[i]);

    if (request != NULL && request->is_real && !request->is_send)
      sim_channels_cancel (walker->channels, request->channel);
  }
  return TRUE;
}

/* --- Collectives --- */

static gboolean
check_counts (const uint64_t *counts, uint32_t n_counts, uint32_t size, GError **error)
{
  if (counts == NULL || n_counts == size)
    return TRUE;
  g_set_error (error, SIM_ERROR, SIM_ERROR_TRACE, "%u counts on a communicator of %u ranks",
               n_counts, size);
  return FALSE;
}

static gboolean
check_neighbors (const int32_t *neighbors, uint32_t n, uint32_t size, GError **error)
{
  for (uint32_t i = 0; i < n; i++)
    if (neighbors == NULL || neighbors[i] < 0 || (uint32_t) neighbors[i] >= size) {
      g_set_error (error, SIM_ERROR, SIM_ERROR_TRACE, "neighbour %d on a communicator of %u ranks",
                   neighbors == NULL ? TRACE_PROC_NULL : neighbors[i], size);
      return FALSE;
    }
  return TRUE;
}

static gboolean
check_collective (const TraceOp *op, uint32_t size, GError **error)
{
  if (sim_collective_has_neighbors (op->kind))
    return check_neighbors (op->values, op->n_counts, size, error) &&
           check_neighbors (op->values2, op->n_recv_counts, size, error);
  if (!check_counts (op->counts, op->n_counts, size, error) ||
      !check_counts (op->recv_counts, op->n_recv_counts, size, error))
    return FALSE;
  if (!sim_collective_has_root (op->kind) || (op->root >= 0 && (uint32_t) op->root < size))
    return TRUE;
  g_set_error (error, SIM_ERROR, SIM_ERROR_TRACE, "root %d on a communicator of %u ranks", op->root,
               size);
  return FALSE;
}

static void
tell_steps (const Walker *walker, uint32_t rank, uint32_t comm, const SimCollective *collective)
{
  for (uint32_t step_index = 0; step_index < collective->n_steps; step_index++) {
    SimStep step = sim_collective_step (collective, step_index);

    if (step.send_to != TOPO_NONE)
      tell (walker, rank, trace_comms_world_rank (walker->comms, comm, step.send_to, rank),
            step.send_bytes, false);
  }
}

/* Nothing is sent to those who get nothing. */
static void
tell_direct (const Walker *walker, uint32_t rank, uint32_t comm, const SimCollective *collective)
{
  for (uint32_t i = 0; i + 1 < collective->n_ranks; i++) {
    uint64_t bytes;
    uint32_t peer = sim_collective_direct (collective, i, &bytes);

    if (bytes > 0)
      tell (walker, rank, trace_comms_world_rank (walker->comms, comm, peer, rank), bytes, true);
  }
}

static gboolean
enter_collective (Walker *walker, uint32_t rank, uint32_t comm, const TraceOp *op, GError **error)
{
  TraceMap *sequences = &walker->walks[rank].sequences;

  return walker->agreement == NULL ||
         sim_agreement_enter (walker->agreement, rank, comm,
                              trace_map_add (sequences, comm, 0)->value[0]++, op, error);
}

static gboolean
walk_collective (Walker *walker, uint32_t rank, const TraceOp *op, GError **error)
{
  SimCollective collective;
  uint32_t comm;

  walker->census->collectives[op->kind]++;
  if (!find_comm (walker, rank, op, &comm, error) ||
      !check_collective (op, trace_comms_size (walker->comms, comm), error) ||
      !enter_collective (walker, rank, comm, op, error))
    return FALSE;
  if (!(walker->scope & SIM_CENSUS_COLLECTIVES))
    return TRUE;
  sim_collective_init (&collective, walker->machine, op, trace_comms_size (walker->comms, comm),
                       trace_comms_rank (walker->comms, comm, rank),
                       trace_comms_is_world (walker->comms, comm));
  if (collective.method == SIM_COLLECTIVE_STEPS)
    tell_steps (walker, rank, comm, &collective);
  else if (collective.method == SIM_COLLECTIVE_DIRECT)
    tell_direct (walker, rank, comm, &collective);
  return TRUE;
}

/* --- One-sided --- */

static gboolean
walk_window (Walker *walker, uint32_t rank, const TraceOp *op, GError **error)
{
  gboolean walked = walk_collective (walker, rank, op, error);

  if (op->kind == TRACE_OP_WIN_CREATE)
    trace_comms_window_made (walker->comms, rank, op);
  else
    trace_comms_window_freed (walker->comms, rank, op);
  return walked;
}

static gboolean
walk_access (Walker *walker, uint32_t rank, const TraceOp *op, GError **error)
{
  uint32_t comm, target;

  if (op->peer == TRACE_PROC_NULL)
    return TRUE;
  if (!find_comm (walker, rank, op, &comm, error) ||
      !find_peer (walker, rank, comm, op->peer, &target, error))
    return FALSE;
  if (target == TOPO_NONE) {
    g_set_error (error, SIM_ERROR, SIM_ERROR_TRACE, "%s of any rank", trace_op_name (op->kind));
    return FALSE;
  }
  if (op->kind != TRACE_OP_GET)
    tell (walker, rank, target, known_bytes (op->bytes), false);
  if (op->kind != TRACE_OP_PUT)
    tell (walker, target, rank, known_bytes (op->recv_bytes), false);
  return TRUE;
}

/* The messages without data that open and close an exposure. */
static gboolean
walk_synchronize (Walker *walker, uint32_t rank, const TraceOp *op, GError **error)
{
  uint32_t comm;

  if (!(walker->scope & SIM_CENSUS_COLLECTIVES))
    return TRUE;
  if (!find_comm (walker, rank, op, &comm, error) ||
      !check_neighbors (op->values, op->n_values, trace_comms_size (walker->comms, comm), error))
    return FALSE;
  for (uint32_t i = 0; i < op->n_values; i++)
    tell (walker, rank,
          trace_comms_world_rank (walker->comms, comm, (uint32_t) op->values[i], rank), 0, false);
  return TRUE;
}

/* --- Communicators --- */

static gboolean
walk_create (Walker *walker, uint32_t rank, const TraceOp *op, GError **error)
{
  uint32_t parent = trace_comms_resolve (walker->comms, rank, op->comm);
  bool complete;

  if (parent != TRACE_COMMS_NULL && !enter_collective (walker, rank, parent, op, error))
    return FALSE;
  if (!trace_comms_create (walker->comms, rank, op, &complete, error))
    return FALSE;
  walker->walks[rank].waits = !complete;
  if (complete)
    for (uint32_t member = 0; member < trace_comms_size (walker->comms, parent); member++)
      walker->walks[trace_comms_world_rank (walker->comms, parent, member, rank)].waits = false;
  return TRUE;
}

static gboolean
walk_comm_define (Walker *walker, uint32_t rank, const TraceOp *op, GError **error)
{
  return trace_comms_define (walker->comms, rank, op, error);
}

static gboolean
walk_comm_free (Walker *walker, uint32_t rank, const TraceOp *op, G_GNUC_UNUSED GError **error)
{
  TraceMap *sequences = &walker->walks[rank].sequences;
  uint32_t comm = trace_comms_resolve (walker->comms, rank, op->comm);

  /* Numbers of communicators come again as in op_comm_free() of replay_ops.c. */
  if (comm != TRACE_COMMS_NULL && comm != TRACE_COMMS_WORLD && trace_map_find (sequences, comm) &&
      !trace_comms_is_defined (walker->comms, comm) &&
      !trace_comms_has_window (walker->comms, rank, comm))
    trace_map_remove (sequences, trace_map_find (sequences, comm));
  trace_comms_release (walker->comms, rank, op->comm);
  return TRUE;
}

static gboolean
walk_group (Walker *walker, uint32_t rank, const TraceOp *op, GError **error)
{
  return trace_comms_group (walker->comms, rank, op, error);
}

/* What it moves nobody knows: no matter to those who only count calls. */
static gboolean
walk_unsupported (Walker *walker, G_GNUC_UNUSED uint32_t rank, const TraceOp *op, GError **error)
{
  if (!(walker->scope & SIM_CENSUS_COLLECTIVES))
    return TRUE;
  g_set_error (error, SIM_ERROR, SIM_ERROR_TRACE, "%s cannot be replayed", op->name);
  return FALSE;
}

/* --- Walking --- */

typedef gboolean (*Visit) (Walker *walker, uint32_t rank, const TraceOp *op, GError **error);

/* Operations that are not here move nothing and make nothing. */
static const Visit visits[TRACE_N_OPS] = {
  [TRACE_OP_SEND] = walk_send,
  [TRACE_OP_ISEND] = walk_send,
  [TRACE_OP_SEND_INIT] = walk_init,
  [TRACE_OP_RECV] = walk_recv,
  [TRACE_OP_IRECV] = walk_recv,
  [TRACE_OP_RECV_INIT] = walk_init,
  [TRACE_OP_SENDRECV] = walk_sendrecv,
  [TRACE_OP_START] = walk_start,
  [TRACE_OP_CANCEL] = walk_cancel,
  [TRACE_OP_BARRIER] = walk_collective,
  [TRACE_OP_BCAST] = walk_collective,
  [TRACE_OP_GATHER] = walk_collective,
  [TRACE_OP_GATHERV] = walk_collective,
  [TRACE_OP_SCATTER] = walk_collective,
  [TRACE_OP_SCATTERV] = walk_collective,
  [TRACE_OP_ALLGATHER] = walk_collective,
  [TRACE_OP_ALLGATHERV] = walk_collective,
  [TRACE_OP_ALLTOALL] = walk_collective,
  [TRACE_OP_ALLTOALLV] = walk_collective,
  [TRACE_OP_REDUCE] = walk_collective,
  [TRACE_OP_ALLREDUCE] = walk_collective,
  [TRACE_OP_REDUCE_SCATTER] = walk_collective,
  [TRACE_OP_SCAN] = walk_collective,
  [TRACE_OP_EXSCAN] = walk_collective,
  [TRACE_OP_NEIGHBOR_ALLGATHER] = walk_collective,
  [TRACE_OP_NEIGHBOR_ALLTOALL] = walk_collective,
  [TRACE_OP_WIN_CREATE] = walk_window,
  [TRACE_OP_WIN_FREE] = walk_window,
  [TRACE_OP_WIN_FENCE] = walk_collective,
  [TRACE_OP_PUT] = walk_access,
  [TRACE_OP_GET] = walk_access,
  [TRACE_OP_FETCH] = walk_access,
  [TRACE_OP_WIN_POST] = walk_synchronize,
  [TRACE_OP_WIN_COMPLETE] = walk_synchronize,
  [TRACE_OP_COMM_DUP] = walk_create,
  [TRACE_OP_COMM_SPLIT] = walk_create,
  [TRACE_OP_COMM_CREATE] = walk_create,
  [TRACE_OP_COMM_FREE] = walk_comm_free,
  [TRACE_OP_COMM_DEFINE] = walk_comm_define,
  [TRACE_OP_CART_CREATE] = walk_create,
  [TRACE_OP_CART_SUB] = walk_create,
  [TRACE_OP_GRAPH_CREATE] = walk_create,
  [TRACE_OP_COMM_GROUP] = walk_group,
  [TRACE_OP_GROUP_INCL] = walk_group,
  [TRACE_OP_GROUP_EXCL] = walk_group,
  [TRACE_OP_GROUP_RANGE_INCL] = walk_group,
  [TRACE_OP_GROUP_RANGE_EXCL] = walk_group,
  [TRACE_OP_GROUP_UNION] = walk_group,
  [TRACE_OP_GROUP_INTERSECTION] = walk_group,
  [TRACE_OP_GROUP_DIFFERENCE] = walk_group,
  [TRACE_OP_GROUP_FREE] = walk_group,
  [TRACE_OP_UNSUPPORTED] = walk_unsupported,
};

/* The share of the ranks that are done: how long a stream is, nobody knows. */
static void
tell_progress (const Walker *walker)
{
  if (walker->progress != NULL)
    walker->progress (walker->progress_data, walker->n_done / (double) walker->n_ranks);
}

static gboolean
walk_operation (Walker *walker, uint32_t rank, const TraceOp *op, GError **error)
{
  GError *trouble = NULL;

  if (++walker->census->calls[op->kind] % OPERATIONS_PER_TELLING == 0)
    tell_progress (walker);
  walker->census->operations += op->kind != TRACE_OP_COMPUTE;
  if (visits[op->kind] == NULL || visits[op->kind](walker, rank, op, &trouble))
    return TRUE;
  if (!g_error_matches (trouble, SIM_ERROR, SIM_ERROR_MISMATCH)) /* that has both places */
    g_prefix_error (&trouble, "%s: rank %u: ", trace_cursor_place (walker->walks[rank].cursor),
                    rank);
  g_propagate_error (error, trouble);
  return FALSE;
}

static void
walk_end (Walk *walk)
{
  g_clear_pointer (&walk->cursor, trace_cursor_free);
  g_clear_pointer (&walk->requests, g_array_unref);
  trace_map_clear (&walk->handles);
  trace_map_clear (&walk->sequences);
  walk->done = true;
}

/* Until the rank waits or is done. */
static gboolean
walk_rank (Walker *walker, uint32_t rank, GError **error)
{
  Walk *walk = &walker->walks[rank];
  TraceOp op;

  if (walk->cursor == NULL) {
    walk->cursor = trace_cursor_new (walker->trace, rank, error);
    if (walk->cursor == NULL)
      return FALSE;
  }
  while (!walk->waits)
    switch (trace_cursor_next (walk->cursor, &op, error)) {
    case TRACE_NEXT_ERROR: return FALSE;
    case TRACE_NEXT_END:
      walk_end (walk);
      walker->n_done++;
      tell_progress (walker);
      return TRUE;
    case TRACE_NEXT_OPERATION:
      if (!walk_operation (walker, rank, &op, error))
        return FALSE;
      break;
    }
  return TRUE;
}

/* One turn of every rank that can go on; *n_walked says how many could. */
static gboolean
walk_round (Walker *walker, uint32_t *n_walked, GError **error)
{
  *n_walked = 0;
  for (uint32_t rank = 0; rank < walker->n_ranks; rank++) {
    if (walker->walks[rank].done || walker->walks[rank].waits)
      continue;
    if (!walk_rank (walker, rank, error))
      return FALSE;
    ++*n_walked;
  }
  return TRUE;
}

static gboolean
check_all_done (const Walker *walker, GError **error)
{
  for (uint32_t rank = 0; rank < walker->n_ranks; rank++)
    if (!walker->walks[rank].done) {
      g_set_error (error, SIM_ERROR, SIM_ERROR_DEADLOCK,
                   "%s: rank %u makes a communicator for which not all ranks come",
                   trace_cursor_place (walker->walks[rank].cursor), rank);
      return FALSE;
    }
  return TRUE;
}

static gboolean
walk_all (Walker *walker, GError **error)
{
  uint32_t n_walked;

  do
    if (!walk_round (walker, &n_walked, error))
      return FALSE;
  while (n_walked > 0);
  return check_all_done (walker, error);
}

gboolean
sim_census (Trace *trace, const TopoMachine *machine, SimCensusScope scope, bool match,
            SimCensusMessage message, void *message_data, TraceProgress progress,
            void *progress_data, SimCensus *census, GError **error)
{
  Walker walker = {
    .trace = trace,
    .machine = machine,
    .scope = scope,
    .message = message,
    .message_data = message_data,
    .progress = progress,
    .progress_data = progress_data,
    .census = census,
  };
  gboolean walked;

  g_assert (machine != NULL || !(scope & SIM_CENSUS_COLLECTIVES));
  *census = (SimCensus){ 0 };
  walker.n_ranks = trace_ranks (trace);
  walker.comms = trace_comms_new (walker.n_ranks);
  if (scope & SIM_CENSUS_COLLECTIVES)
    walker.agreement = sim_agreement_new (trace, walker.comms);
  walker.channels = match ? sim_channels_new () : NULL;
  walker.walks = g_new0 (Walk, walker.n_ranks);
  walked = walk_all (&walker, error);
  census->communicators = trace_comms_created (walker.comms);
  if (walked && match)
    sim_channels_unmatched (walker.channels, &census->unmatched_sends, &census->unmatched_receives);
  for (uint32_t rank = 0; rank < walker.n_ranks; rank++)
    walk_end (&walker.walks[rank]);
  g_free (walker.walks);
  sim_channels_free (walker.channels);
  sim_agreement_free (walker.agreement);
  trace_comms_free (walker.comms);
  return walked;
}
