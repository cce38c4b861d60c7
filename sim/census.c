/* census.c - counts the contents of a trace, without any time.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each rank is walked until it makes a communicator for which others have
 * not come yet; then the next rank has its turn.  A trace that makes none is
 * walked one rank after the other, with one cursor open at a time. */
#include "sim/net/load.h"

#include "sim/replay/agreement.h"
#include "sim/collective/collective.h"
#include "mpi/communicator.h"
#include "sim/net/network.h"
#include "base/small_map.h"

#include <glib.h>
#include <stdlib.h>

/* --- Channels: do the sends and receives add up? ---
 *
 * A channel is (communicator, source, destination, tag).  Sends and receives
 * of a channel are only counted, so memory grows with the channels and not
 * with the messages.  Receives with wildcards take the messages that the others leave. */

typedef struct {
  uint32_t comm;        /* global number */
  uint32_t source;      /* world rank; TOPO_NONE in a receive: any */
  uint32_t destination; /* world rank */
  int32_t tag;          /* TRACE_ANY_TAG in a receive: any */
} Channel;

typedef struct {
  Channel channel;
  uint64_t sends, receives;
  uint64_t cancelled; /* of the receives */
} Count;

static guint
count_hash (gconstpointer key)
{
  const Channel *channel = &((const Count *) key)->channel;
  uint32_t hash = base_map_hash (channel->comm + 1);

  hash = base_map_hash (hash ^ channel->source);
  hash = base_map_hash (hash ^ channel->destination);
  return base_map_hash (hash ^ (uint32_t) channel->tag);
}

/* By destination and communicator, so that all channels that one wildcard
 * could mean stand together. */
static int
compare_counts (const void *a, const void *b)
{
  const Channel *one = &((const Count *) a)->channel, *other = &((const Count *) b)->channel;

  if (one->destination != other->destination)
    return one->destination < other->destination ? -1 : 1;
  if (one->comm != other->comm)
    return one->comm < other->comm ? -1 : 1;
  if (one->source != other->source)
    return one->source < other->source ? -1 : 1;
  return (one->tag > other->tag) - (one->tag < other->tag);
}

static gboolean
count_equal (gconstpointer a, gconstpointer b)
{
  return compare_counts (a, b) == 0;
}

static Count *
count_of (GHashTable *counts, Channel channel)
{
  Count key = { .channel = channel };
  Count *count = g_hash_table_lookup (counts, &key);

  if (count == NULL) {
    count = g_memdup2 (&key, sizeof key);
    g_hash_table_add (counts, count);
  }
  return count;
}

/* [first, end) share destination and communicator.  The narrower a wildcard,
 * the earlier it takes: an exact receive its channel, then those of one
 * source, then those of one tag, then the others.  This may, rarely, leave
 * more than the best distribution would. */
static void
settle_group (Count *counts, uint32_t first, uint32_t end)
{
  for (uint32_t turn = 0; turn < 4; turn++)
    for (uint32_t receive = first; receive < end; receive++) {
      const Channel *wanted = &counts[receive].channel;
      bool any_tag = wanted->tag == TRACE_ANY_TAG, any_source = wanted->source == TOPO_NONE;
      uint32_t from = any_source ? first : receive, to = any_source ? end : receive + 1;

      if (counts[receive].receives == 0 || (any_tag | (uint32_t) any_source << 1) != turn)
        continue;
      /* Channels of one source stand around the receive that names it. */
      while (any_tag && !any_source && from > first &&
             counts[from - 1].channel.source == wanted->source)
        from--;
      while (any_tag && !any_source && to < end && counts[to].channel.source == wanted->source)
        to++;
      for (uint32_t sent = from; sent < to && counts[receive].receives > 0; sent++) {
        uint64_t n = MIN (counts[receive].receives, counts[sent].sends);

        if (!any_tag && wanted->tag != counts[sent].channel.tag)
          continue;
        counts[receive].receives -= n;
        counts[sent].sends -= n;
      }
    }
}

/* Sends and receives that are left over when all have been counted. */
static void
count_unmatched (GHashTable *channels, uint64_t *sends, uint64_t *receives)
{
  g_autofree Count *counts = g_new (Count, g_hash_table_size (channels));
  uint32_t n = 0;
  GHashTableIter iter;
  gpointer count;

  g_hash_table_iter_init (&iter, channels);
  while (g_hash_table_iter_next (&iter, &count, NULL))
    counts[n++] = *(const Count *) count;
  if (n > 1)
    qsort (counts, n, sizeof *counts, compare_counts);
  *sends = *receives = 0;
  for (uint32_t first = 0, end; first < n; first = end) {
    const Channel *channel = &counts[first].channel;

    for (end = first + 1; end < n && counts[end].channel.destination == channel->destination &&
                          counts[end].channel.comm == channel->comm;)
      end++;
    settle_group (counts, first, end);
  }
  for (uint32_t channel = 0; channel < n; channel++) {
    *sends += counts[channel].sends;
    *receives +=
        counts[channel].receives - MIN (counts[channel].receives, counts[channel].cancelled);
  }
}

/* --- The walk --- */

/* Of one kind, so that progress also shows within one long rank. */
#define OPERATIONS_PER_REPORT 65536

/* A persistent request or, when matching, any receive: the properties that CANCEL and
 * START need. */
typedef struct {
  Channel channel;
  uint64_t bytes;
  bool is_send, is_real; /* real: its peer is not PROC_NULL */
} Request;

/* What a rank has begun; see SimCensusMeeting. */
typedef struct {
  BaseMap requests; /* handle -> how many of its requests are not complete */
  uint64_t sent, received;
  bool for_good; /* something whose end the walk cannot see */
} Begun;

typedef struct {
  TraceCursor *cursor; /* NULL: not begun, or done */
  BaseMap handles;     /* request handle -> index into requests */
  BaseMap sequences;   /* communicator -> collectives so far */
  GArray *requests;    /* (element-type Request); NULL when there are none */
  Begun begun;         /* nothing, unless phases are asked for */
  bool done;
  bool waits; /* for other members to make a communicator */
} Walk;

typedef struct {
  Trace *trace;
  const TopoMachine *machine;
  SimCensusScope scope;
  SimCensusMessage message;
  void *message_data;
  const SimCensusPhases *phases; /* with message_data; NULL: not wanted */
  TraceProgress progress;        /* NULL: not wanted */
  void *progress_data;
  uint32_t n_done; /* ranks */
  SimCensus *census;
  TraceComms *comms;
  SimAgreement *agreement; /* NULL: collectives are only counted */
  GHashTable *channels;    /* set of Count by channel; NULL: no matching */
  Walk *walks;             /* [n_ranks] */
  uint32_t n_ranks;
} Walker;

/* --- What is under way --- */

static void
request_begin (Walker *walker, uint32_t rank, uint32_t handle)
{
  Begun *begun = &walker->walks[rank].begun;

  if (walker->phases == NULL)
    return;
  if (handle == TRACE_REQUEST_NULL || handle == UINT32_MAX)
    begun->for_good = true;
  else
    base_map_add (&begun->requests, handle, 0)->value[0]++;
}

static void
request_end (Begun *begun, uint32_t handle)
{
  BaseMapEntry *entry = base_map_find (&begun->requests, handle);

  if (entry != NULL && --entry->value[0] == 0)
    base_map_remove (&begun->requests, entry);
}

static gboolean
find_comm (const Walker *walker, uint32_t rank, const TraceOp *op, uint32_t *comm, GError **error)
{
  *comm = trace_comms_of_op (walker->comms, rank, op);
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
  request->channel = (Channel){ comm, rank, peer, op->tag };
  return TRUE;
}

/* A wildcard whose source the trace has is no wildcard. */
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
  request->channel = (Channel){ comm, peer, rank, both ? op->recv_tag : op->tag };
  return TRUE;
}

static void
report (const Walker *walker, uint32_t source, uint32_t destination, uint64_t bytes, bool direct)
{
  if (walker->message != NULL)
    walker->message (walker->message_data, source, destination, bytes, direct);
}

static void
count_request (const Walker *walker, uint32_t rank, const Request *request)
{
  SimCensus *census = walker->census;
  Begun *begun = &walker->walks[rank].begun;

  if (!request->is_real)
    return;
  if (request->is_send) {
    begun->sent++;
    census->sends++;
    census->send_bytes += request->bytes;
    report (walker, request->channel.source, request->channel.destination, request->bytes, false);
  } else {
    begun->received++;
    census->receives++;
  }
  if (walker->channels == NULL)
    return;
  if (request->is_send)
    count_of (walker->channels, request->channel)->sends++;
  else
    count_of (walker->channels, request->channel)->receives++;
}

/* Handles are used again and again, so their places are too. */
static void
remember (Walk *walk, uint32_t handle, const Request *request)
{
  BaseMapEntry *entry;

  if (handle == TRACE_REQUEST_NULL || handle == UINT32_MAX)
    return;
  if (walk->requests == NULL)
    walk->requests = g_array_new (FALSE, FALSE, sizeof (Request));
  entry = base_map_add (&walk->handles, handle, UINT32_MAX);
  if (entry->value[0] == UINT32_MAX) {
    entry->value[0] = walk->requests->len;
    g_array_set_size (walk->requests, walk->requests->len + 1);
  }
  g_array_index (walk->requests, Request, entry->value[0]) = *request;
}

static const Request *
recall (const Walk *walk, uint32_t handle)
{
  const BaseMapEntry *entry = base_map_find (&walk->handles, handle);

  return entry == NULL ? NULL : &g_array_index (walk->requests, Request, entry->value[0]);
}

static gboolean
walk_send (Walker *walker, uint32_t rank, const TraceOp *op, GError **error)
{
  Request request;

  if (!make_send (walker, rank, op, &request, error))
    return FALSE;
  count_request (walker, rank, &request);
  if (op->kind == TRACE_OP_ISEND)
    request_begin (walker, rank, op->request);
  return TRUE;
}

static gboolean
walk_recv (Walker *walker, uint32_t rank, const TraceOp *op, GError **error)
{
  Request request;

  if (!make_receive (walker, rank, op, &request, error))
    return FALSE;
  count_request (walker, rank, &request);
  if (op->kind == TRACE_OP_IRECV)
    request_begin (walker, rank, op->request);
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

    request_begin (walker, rank, op->requests[i]);
    if (request != NULL)
      count_request (walker, rank, request);
  }
  return TRUE;
}

/* A completion: all of its requests, those that the program saw complete, all of the rank.  That it
 * has those is for the replay to check. */
static gboolean
walk_completion (Walker *walker, uint32_t rank, const TraceOp *op, G_GNUC_UNUSED GError **error)
{
  Begun *begun = &walker->walks[rank].begun;
  bool chosen = op->kind == TRACE_OP_WAIT_SOME || op->kind == TRACE_OP_TEST;

  if (walker->phases == NULL)
    return TRUE;
  if (op->kind == TRACE_OP_WAIT_OUTSTANDING)
    base_map_clear (&begun->requests);
  for (uint32_t i = 0; i < (chosen ? op->n_completed : op->n_requests); i++) {
    uint32_t number = chosen ? op->completed[i] : i;

    if (number < op->n_requests)
      request_end (begun, op->requests[number]);
  }
  return TRUE;
}

/* Only a replay can find out whether the receive had got its message already: here it is
 * excused if it is left over. */
static gboolean
walk_cancel (Walker *walker, uint32_t rank, const TraceOp *op, G_GNUC_UNUSED GError **error)
{
  walker->walks[rank].begun.for_good = true;
  for (uint32_t i = 0; walker->channels != NULL && i < op->n_requests; i++) {
    const Request *request = recall (&walker->walks[rank], op->requests[i]);

    if (request != NULL && request->is_real && !request->is_send)
      count_of (walker->channels, request->channel)->cancelled++;
  }
  return TRUE;
}

/* --- Collectives --- */

static gboolean
check_call (const TraceOp *op, uint32_t size, GError **error)
{
  g_autofree char *fault = sim_collective_fault (op, size);

  if (fault != NULL)
    g_set_error_literal (error, SIM_ERROR, SIM_ERROR_TRACE, fault);
  return fault == NULL;
}

/* Whether a rank needs something of all others to leave it, whatever the algorithm. */
static bool
synchronizes (const TraceOp *op)
{
  switch ((int) op->kind) {
  case TRACE_OP_BARRIER: return !op->nonblocking;
  case TRACE_OP_ALLREDUCE:
  case TRACE_OP_ALLGATHER:
  case TRACE_OP_ALLTOALL: return !op->nonblocking && known_bytes (op->bytes) > 0;
  default: return false;
  }
}

static void
enter_meeting (Walker *walker, uint32_t rank, uint32_t number, const TraceOp *op)
{
  const Begun *begun = &walker->walks[rank].begun;

  walker->phases->enter (walker->message_data, rank,
                         &(SimCensusMeeting){ .number = number,
                                              .synchronizes = synchronizes (op),
                                              .is_busy = begun->for_good || begun->requests.n > 0,
                                              .sent = begun->sent,
                                              .received = begun->received });
}

static void
leave_meeting (const Walker *walker, uint32_t comm)
{
  if (walker->phases != NULL && comm == TRACE_COMMS_WORLD)
    walker->phases->leave (walker->message_data);
}

static gboolean
enter_collective (Walker *walker, uint32_t rank, uint32_t comm, const TraceOp *op, GError **error)
{
  BaseMap *sequences = &walker->walks[rank].sequences;
  uint32_t number;

  if (walker->agreement == NULL)
    return TRUE;
  number = base_map_add (sequences, comm, 0)->value[0]++;
  if (!sim_agreement_enter (walker->agreement, rank, comm, number, op, error))
    return FALSE;
  if (walker->phases != NULL && comm == TRACE_COMMS_WORLD)
    enter_meeting (walker, rank, number + 1, op);
  if (op->nonblocking)
    request_begin (walker, rank, op->request);
  return TRUE;
}

static gboolean
walk_collective (Walker *walker, uint32_t rank, const TraceOp *op, GError **error)
{
  SimCollective collective;
  uint32_t comm, size;

  walker->census->collectives[op->kind]++;
  if (!find_comm (walker, rank, op, &comm, error))
    return FALSE;
  size = trace_comms_size (walker->comms, comm);
  if (!check_call (op, size, error) || !enter_collective (walker, rank, comm, op, error))
    return FALSE;
  if (!(walker->scope & SIM_CENSUS_COLLECTIVES))
    return TRUE;
  sim_collective_init (&collective, walker->machine, op, size,
                       trace_comms_rank (walker->comms, comm, rank),
                       trace_comms_is_world (walker->comms, comm), NULL);
  for (uint32_t at = 0; collective.method == SIM_COLLECTIVE_STEPS && at < collective.n_steps;
       at++) {
    SimStep step = sim_collective_step (&collective, at);

    if (step.send_to != TOPO_NONE)
      report (walker, rank, trace_comms_world_rank (walker->comms, comm, step.send_to, rank),
              step.send_bytes, false);
  }
  for (uint32_t at = 0; collective.method == SIM_COLLECTIVE_DIRECT && at + 1 < collective.n_ranks;
       at++) {
    uint64_t bytes;
    uint32_t peer = sim_collective_direct (&collective, at, &bytes);

    if (bytes > 0)
      report (walker, rank, trace_comms_world_rank (walker->comms, comm, peer, rank), bytes, true);
  }
  leave_meeting (walker, comm);
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

  walker->walks[rank].begun.for_good = true;
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
    report (walker, rank, target, known_bytes (op->bytes), false);
  if (op->kind != TRACE_OP_PUT)
    report (walker, target, rank, known_bytes (op->recv_bytes), false);
  return TRUE;
}

/* The messages without data that open and close an exposure. */
static gboolean
walk_synchronize (Walker *walker, uint32_t rank, const TraceOp *op, GError **error)
{
  const TraceOp exchange = { .kind = TRACE_OP_NEIGHBOR_ALLTOALL,
                             .values = op->values,
                             .n_counts = op->n_values };
  uint32_t comm;

  walker->walks[rank].begun.for_good = true;
  if (!(walker->scope & SIM_CENSUS_COLLECTIVES))
    return TRUE;
  if (!find_comm (walker, rank, op, &comm, error) ||
      !check_call (&exchange, trace_comms_size (walker->comms, comm), error))
    return FALSE;
  for (uint32_t i = 0; i < op->n_values; i++)
    report (walker, rank,
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
  leave_meeting (walker, parent);
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
  BaseMap *sequences = &walker->walks[rank].sequences;
  BaseMapEntry *sequence =
      base_map_find (sequences, trace_comms_release (walker->comms, rank, op->comm));

  if (sequence != NULL)
    base_map_remove (sequences, sequence);
  return TRUE;
}

static gboolean
walk_group (Walker *walker, uint32_t rank, const TraceOp *op, GError **error)
{
  return trace_comms_group (walker->comms, rank, op, error);
}

/* Its bytes are unknown, which does not matter when only calls are counted. */
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
  [TRACE_OP_WAIT] = walk_completion,
  [TRACE_OP_WAIT_SOME] = walk_completion,
  [TRACE_OP_WAIT_OUTSTANDING] = walk_completion,
  [TRACE_OP_TEST] = walk_completion,
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

/* The share of the ranks that are done: the length of a stream is unknown. */
static void
report_progress (const Walker *walker)
{
  if (walker->progress != NULL)
    walker->progress (walker->progress_data, walker->n_done / (double) walker->n_ranks);
}

static void
walk_end (Walk *walk)
{
  g_clear_pointer (&walk->cursor, trace_cursor_free);
  g_clear_pointer (&walk->requests, g_array_unref);
  base_map_clear (&walk->handles);
  base_map_clear (&walk->sequences);
  base_map_clear (&walk->begun.requests);
  walk->done = true;
}

/* Until the rank waits or is done. */
static gboolean
walk_rank (Walker *walker, uint32_t rank, GError **error)
{
  Walk *walk = &walker->walks[rank];
  GError *trouble = NULL;
  TraceOp op;

  if (walk->cursor == NULL) {
    walk->cursor = trace_cursor_new (walker->trace, rank, error);
    if (walk->cursor == NULL)
      return FALSE;
  }
  if (walker->phases != NULL)
    walker->phases->turn (walker->message_data, rank);
  while (!walk->waits) {
    switch (trace_cursor_next (walk->cursor, &op, error)) {
    case TRACE_NEXT_OPERATION: break;
    case TRACE_NEXT_ERROR: return FALSE;
    case TRACE_NEXT_END:
      walk_end (walk);
      walker->n_done++;
      report_progress (walker);
      return TRUE;
    }
    if (++walker->census->calls[op.kind] % OPERATIONS_PER_REPORT == 0)
      report_progress (walker);
    walker->census->operations += op.kind != TRACE_OP_COMPUTE;
    if (visits[op.kind] == NULL || visits[op.kind](walker, rank, &op, &trouble))
      continue;
    if (!g_error_matches (trouble, SIM_ERROR, SIM_ERROR_MISMATCH)) /* that has both places */
      g_prefix_error (&trouble, "%s: rank %u: ", trace_cursor_place (walk->cursor), rank);
    g_propagate_error (error, trouble);
    return FALSE;
  }
  return TRUE;
}

/* Every rank that can go on has a turn, until none can. */
static gboolean
walk_all (Walker *walker, GError **error)
{
  uint32_t n_walked;

  do {
    n_walked = 0;
    for (uint32_t rank = 0; rank < walker->n_ranks; rank++) {
      if (walker->walks[rank].done || walker->walks[rank].waits)
        continue;
      if (!walk_rank (walker, rank, error))
        return FALSE;
      n_walked++;
    }
  } while (n_walked > 0);
  for (uint32_t rank = 0; rank < walker->n_ranks; rank++)
    if (!walker->walks[rank].done) {
      g_set_error (error, SIM_ERROR, SIM_ERROR_DEADLOCK,
                   "%s: rank %u makes a communicator for which not all ranks come",
                   trace_cursor_place (walker->walks[rank].cursor), rank);
      return FALSE;
    }
  return TRUE;
}

/* All of the trace, with what the caller has set. */
static gboolean
take_census (Walker *walker, bool match, GError **error)
{
  SimCensus *census = walker->census;
  gboolean walked;

  g_assert (walker->machine != NULL || !(walker->scope & SIM_CENSUS_COLLECTIVES));
  *census = (SimCensus){ 0 };
  walker->n_ranks = trace_ranks (walker->trace);
  walker->comms = trace_comms_new (walker->n_ranks);
  if (walker->scope & SIM_CENSUS_COLLECTIVES)
    walker->agreement = sim_agreement_new (walker->trace, walker->comms);
  walker->channels = match ? g_hash_table_new_full (count_hash, count_equal, g_free, NULL) : NULL;
  walker->walks = g_new0 (Walk, walker->n_ranks);
  walked = walk_all (walker, error);
  census->communicators = trace_comms_created (walker->comms);
  if (walked && match)
    count_unmatched (walker->channels, &census->unmatched_sends, &census->unmatched_receives);
  for (uint32_t rank = 0; rank < walker->n_ranks; rank++)
    walk_end (&walker->walks[rank]);
  g_free (walker->walks);
  g_clear_pointer (&walker->channels, g_hash_table_unref);
  sim_agreement_free (walker->agreement);
  trace_comms_free (walker->comms);
  return walked;
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

  return take_census (&walker, match, error);
}

gboolean
sim_census_phases (Trace *trace, const TopoMachine *machine, const SimCensusPhases *phases,
                   void *data, GError **error)
{
  SimCensus census;
  Walker walker = {
    .trace = trace,
    .machine = machine,
    .scope = SIM_CENSUS_COLLECTIVES,
    .message = phases->message,
    .message_data = data,
    .phases = phases,
    .census = &census,
  };

  return take_census (&walker, false, error);
}
