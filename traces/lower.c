/* lower.c - one rank of a trace as messages between world ranks, and nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/lower.h"

#include "traces/format.h"
#include "traces/handles.h"
#include "base/small_map.h"

/* The operation of a request. */
typedef struct {
  TracePost post;
  gboolean is_nothing; /* complete from its start: no message */
  GArray *more;        /* (element-type TracePost) instead, of a collective; NULL: none */
  uint32_t next_free;
} Request;

typedef struct {
  Trace *trace;
  const TraceSurvey *survey;
  const TraceComms *comms;
  uint32_t rank;
  TraceSink *sink;
  BaseMap handles_of_comms; /* handle -> communicator */
  BaseMap sequences;        /* communicator -> collectives so far */
  TraceHandles *handles;
  GArray *requests;    /* (element-type Request) */
  uint32_t first_free; /* UINT32_MAX: none */
  uint32_t n_bound, n_started;
  uint32_t n_under_way; /* posts without a wait so far */
  gboolean takes_any_tag, has_steps;
  uint32_t first_comm; /* of receives; TRACE_COMMS_NULL: none */
  gboolean has_more_comms;
  GArray *awaited; /* (element-type TracePost) of the call */
} Lowering;

typedef gboolean (*Lower) (Lowering *it, const TraceOp *op, GError **error);

/* -- ranks and tags --------------------------------------------------------------- */

static gboolean
fail (GError **error, const TraceOp *op, const char *what, int64_t number, uint32_t n)
{
  return TRACE_FAIL (TRACE_ERROR_RANGE, error, "%s: %s %" G_GINT64_FORMAT " among %u",
                     trace_op_name (op->kind), what, number, n);
}

static gboolean
find_comm (const Lowering *it, const TraceOp *op, uint32_t *comm, GError **error)
{
  const BaseMapEntry *entry;

  if (op->comm == TRACE_COMM_WORLD || op->comm == TRACE_COMM_SELF) {
    *comm = op->comm == TRACE_COMM_WORLD ? TRACE_COMMS_WORLD : TRACE_COMMS_SELF;
    return TRUE;
  }
  entry = base_map_find (&it->handles_of_comms, op->comm);
  if (entry == NULL)
    return TRACE_FAIL (TRACE_ERROR_RANGE, error, "%s on unknown communicator %u",
                       trace_op_name (op->kind), op->comm);
  *comm = entry->value[0];
  return TRUE;
}

/* MPI keeps the messages of collectives from such receives. */
static void
warn_of_any_tag (const Lowering *it)
{
  if (it->takes_any_tag && it->has_steps)
    trace_warn (it->trace,
                "receives of any tag could match messages of collectives in this format");
  if (it->takes_any_tag && it->has_more_comms)
    trace_warn (it->trace, "receives of any tag could match messages of other communicators in "
                           "this format");
}

/* A request from or to MPI_PROC_NULL is nothing. */
static gboolean
make_post (Lowering *it, const TraceOp *op, gboolean is_send, Request *request, GError **error)
{
  gboolean second = op->kind == TRACE_OP_SENDRECV && !is_send;
  int32_t peer = second ? op->recv_peer : op->peer;
  int32_t tag = second ? op->recv_tag : op->tag;
  uint32_t comm, size;

  *request = (Request){ .is_nothing = peer == TRACE_PROC_NULL };
  if (request->is_nothing)
    return TRUE;
  if (!find_comm (it, op, &comm, error))
    return FALSE;
  size = trace_comms_size (it->comms, comm);
  if (peer == TRACE_ANY_SOURCE ? is_send : peer < 0 || (uint32_t) peer >= size)
    return fail (error, op, "rank", peer, size);
  request->post = (TracePost){ .is_send = is_send,
                               .peer = peer,
                               .tag = trace_survey_tag (it->survey, comm, tag),
                               .bytes = second ? op->recv_bytes : op->bytes };
  if (peer >= 0)
    request->post.peer =
        (int32_t) trace_comms_world_rank (it->comms, comm, (uint32_t) peer, it->rank);
  it->takes_any_tag |= tag == TRACE_ANY_TAG;
  /* A ready send is a standard one with a promise of the program. */
  if (is_send && op->mode == TRACE_SEND_SYNCHRONOUS)
    trace_warn (it->trace, "synchronous sends are written as standard ones, which may end before "
                           "they are received");
  else if (is_send && op->mode == TRACE_SEND_BUFFERED)
    trace_warn (it->trace, "buffered sends are written as standard ones, which may wait for their "
                           "receive");
  if (!is_send) {
    if (it->first_comm == TRACE_COMMS_NULL)
      it->first_comm = comm;
    it->has_more_comms |= comm != it->first_comm;
  }
  warn_of_any_tag (it);
  if (is_send && request->post.bytes == TRACE_UNKNOWN_BYTES) {
    trace_warn (it->trace, "sends of unknown length are written with 0 bytes");
    request->post.bytes = 0;
  }
  return TRUE;
}

/* -- posting and waiting -------------------------------------------------------------- */

static void
post (Lowering *it, Request *request)
{
  if (request->is_nothing)
    return;
  request->post.token = it->sink->post (it->sink, &request->post);
  it->n_under_way++;
}

static void
will_await (Lowering *it, const Request *request)
{
  if (!request->is_nothing)
    g_array_append_val (it->awaited, request->post);
}

static void
await (Lowering *it)
{
  if (it->awaited->len == 0)
    return;
  it->n_under_way -= it->awaited->len;
  it->sink->await (it->sink, (const TracePost *) (const void *) it->awaited->data, it->awaited->len,
                   it->n_under_way == 0);
  g_array_set_size (it->awaited, 0);
}

/* -- collectives ------------------------------------------------------------------------ */

static void
post_side (Lowering *it, uint32_t comm, uint32_t peer, TracePost side)
{
  Request request = { .post = side };

  if (peer == TRACE_NO_MEMBER)
    return;
  request.post.peer = (int32_t) trace_comms_world_rank (it->comms, comm, peer, it->rank);
  post (it, &request);
  will_await (it, &request);
}

/* Steps that are not in turn stay in it->awaited. */
static void
do_steps (Lowering *it, uint32_t comm, int32_t tag, const GArray *steps, gboolean in_turn)
{
  it->has_steps |= steps->len > 0;
  warn_of_any_tag (it);
  for (guint i = 0; i < steps->len; i++) {
    const TraceStep *step = &g_array_index (steps, TraceStep, i);
    gboolean last = in_turn && !step->with_next, both = step->send_to != TRACE_NO_MEMBER;

    post_side (it, comm, step->recv_from,
               (TracePost){ .tag = tag, .bytes = step->recv_bytes, .is_blocking = last && !both });
    post_side (
        it, comm, step->send_to,
        (TracePost){ .is_send = TRUE, .tag = tag, .bytes = step->send_bytes, .is_blocking = last });
    if (last)
      await (it);
  }
}

static uint32_t
request_add (Lowering *it, const Request *request)
{
  uint32_t number = it->first_free;

  if (number == UINT32_MAX) {
    g_array_append_val (it->requests, *request);
    return it->requests->len - 1;
  }
  it->first_free = g_array_index (it->requests, Request, number).next_free;
  g_array_index (it->requests, Request, number) = *request;
  return number;
}

static Request
request_take (Lowering *it, uint32_t number)
{
  Request request = g_array_index (it->requests, Request, number);

  g_array_index (it->requests, Request, number) = (Request){ .next_free = it->first_free };
  it->first_free = number;
  return request;
}

/* The call returns while its operation goes on. */
static void
begin (Lowering *it, uint32_t handle, const Request *request)
{
  it->n_started++;
  if (handle != TRACE_REQUEST_NULL)
    trace_handles_push (it->handles, handle, request_add (it, request));
  else if (request->more != NULL)
    g_array_unref (request->more);
}

/* Without branches the messages are posted at once.  Steps in turn at the wait of
 * the program could make ranks wait for each other in a circle that MPI does not
 * have. */
static void
begin_steps (Lowering *it, uint32_t handle, uint32_t comm, int32_t tag, const GArray *steps)
{
  Request request = { .is_nothing = steps->len == 0 };
  uint32_t n_under_way = it->n_under_way;

  if (it->sink->fork != NULL && steps->len > 0) {
    it->sink->fork (it->sink);
    do_steps (it, comm, tag, steps, TRUE);
    request.post = (TracePost){ .token = it->sink->join (it->sink) };
    it->n_under_way = n_under_way + 1;
  } else if (steps->len > 0) {
    trace_warn (it->trace, "the messages of nonblocking collectives do not wait for each other");
    do_steps (it, comm, tag, steps, FALSE);
    request.more = it->awaited;
    it->awaited = g_array_new (FALSE, FALSE, sizeof (TracePost));
  }
  begin (it, handle, &request);
}

static gboolean
lower_collective (Lowering *it, const TraceOp *op, GError **error)
{
  g_autoptr (GArray) steps = NULL;
  TraceOp known = *op;
  BaseMapEntry *sequence;
  uint32_t comm;
  int32_t tag;

  if (!find_comm (it, op, &comm, error))
    return FALSE;
  if (op->bytes == TRACE_UNKNOWN_BYTES || op->recv_bytes == TRACE_UNKNOWN_BYTES) {
    trace_warn (it->trace, "collectives of unknown length are written with 0 bytes");
    known.bytes = op->bytes == TRACE_UNKNOWN_BYTES ? 0 : op->bytes;
    known.recv_bytes = op->recv_bytes == TRACE_UNKNOWN_BYTES ? 0 : op->recv_bytes;
  }
  steps = trace_expand (&known, trace_comms_size (it->comms, comm),
                        trace_comms_rank (it->comms, comm, it->rank), error);
  if (steps == NULL)
    return FALSE;
  sequence = base_map_add (&it->sequences, comm, 0);
  tag = trace_survey_collective_tag (it->survey, comm, sequence->value[0]++);
  if (op->nonblocking)
    begin_steps (it, op->request, comm, tag, steps);
  else if (!trace_comms_is_world (it->comms, comm) || !it->sink->collective (it->sink, &known))
    do_steps (it, comm, tag, steps, TRUE);
  return TRUE;
}

/* -- messages ---------------------------------------------------------------------------- */

static gboolean
lower_blocking (Lowering *it, const TraceOp *op, GError **error)
{
  Request request;

  if (!make_post (it, op, op->kind == TRACE_OP_SEND, &request, error))
    return FALSE;
  request.post.is_blocking = TRUE;
  post (it, &request);
  will_await (it, &request);
  await (it);
  return TRUE;
}

static gboolean
lower_sendrecv (Lowering *it, const TraceOp *op, GError **error)
{
  Request receive, send;

  if (!make_post (it, op, FALSE, &receive, error) || !make_post (it, op, TRUE, &send, error))
    return FALSE;
  post (it, &receive);
  send.post.is_blocking = TRUE;
  post (it, &send);
  will_await (it, &receive);
  will_await (it, &send);
  await (it);
  return TRUE;
}

/* A trace does not record whether a cancelled receive got a message; without the
 * receive no rank can wait for ever. */
static void
begin_message (Lowering *it, uint32_t handle, Request *request)
{
  if (trace_survey_is_cancelled (it->survey, it->rank, it->n_started)) {
    trace_warn (it->trace, "receives that the program cancelled are left out");
    request->is_nothing = TRUE;
  }
  post (it, request);
  begin (it, handle, request);
}

static gboolean
lower_nonblocking (Lowering *it, const TraceOp *op, GError **error)
{
  Request request;

  if (!make_post (it, op, op->kind == TRACE_OP_ISEND, &request, error))
    return FALSE;
  begin_message (it, op->request, &request);
  return TRUE;
}

static gboolean
lower_model (Lowering *it, const TraceOp *op, GError **error)
{
  Request request;

  if (!make_post (it, op, op->kind == TRACE_OP_SEND_INIT, &request, error))
    return FALSE;
  trace_handles_set_model (it->handles, op->request, request_add (it, &request));
  return TRUE;
}

static gboolean
lower_start (Lowering *it, const TraceOp *op, GError **error)
{
  uint32_t model;

  (void) error;
  for (uint32_t i = 0; i < op->n_requests; i++)
    if (trace_handles_model (it->handles, op->requests[i], &model)) {
      Request request = g_array_index (it->requests, Request, model);

      begin_message (it, op->requests[i], &request);
    }
  return TRUE;
}

/* -- completion --------------------------------------------------------------------------- */

static void
end_request (Lowering *it, uint32_t number)
{
  Request request = request_take (it, number);

  if (request.more == NULL) {
    will_await (it, &request);
    return;
  }
  g_array_append_vals (it->awaited, request.more->data, request.more->len);
  g_array_unref (request.more);
}

static void
end_handle (Lowering *it, uint32_t handle)
{
  uint32_t number;

  if (trace_handles_pop (it->handles, handle, &number))
    end_request (it, number);
  else if (handle != TRACE_REQUEST_NULL && !trace_handles_model (it->handles, handle, &number))
    trace_warn (it->trace, "waits for requests that are not under way are passed over");
}

static gboolean
lower_wait (Lowering *it, const TraceOp *op, GError **error)
{
  (void) error;
  for (uint32_t i = 0; i < op->n_requests; i++)
    end_handle (it, op->requests[i]);
  await (it);
  return TRUE;
}

static gboolean
lower_some (Lowering *it, const TraceOp *op, GError **error)
{
  for (uint32_t i = 0; i < op->n_completed; i++) {
    if (op->completed[i] >= op->n_requests)
      return fail (error, op, "request number", op->completed[i], op->n_requests);
    end_handle (it, op->requests[op->completed[i]]);
  }
  await (it);
  return TRUE;
}

static gboolean
lower_outstanding (Lowering *it, const TraceOp *op, GError **error)
{
  g_autoptr (GArray) all = trace_handles_pop_all (it->handles);

  (void) op, (void) error;
  for (guint i = 0; i < all->len; i++)
    end_request (it, g_array_index (all, uint32_t, i));
  await (it);
  return TRUE;
}

/* The operation goes on without a wait. */
static void
forget (Lowering *it, uint32_t number)
{
  Request request = request_take (it, number);

  if (request.more != NULL)
    g_array_unref (request.more);
}

static gboolean
lower_free (Lowering *it, const TraceOp *op, GError **error)
{
  uint32_t handle = op->n_requests > 0 ? op->requests[0] : TRACE_REQUEST_NULL, number, model;
  gboolean persistent = trace_handles_model (it->handles, handle, &model);

  (void) error;
  while (trace_handles_pop (it->handles, handle, &number)) {
    forget (it, number);
    if (!persistent)
      return TRUE;
  }
  if (persistent) {
    request_take (it, model);
    trace_handles_drop_model (it->handles, handle);
  }
  return TRUE;
}

/* -- the rest -------------------------------------------------------------------------------- */

static gboolean
lower_compute (Lowering *it, const TraceOp *op, GError **error)
{
  (void) error;
  it->sink->compute (it->sink, op->gap_ps, op->flops);
  return TRUE;
}

static gboolean
lower_comm_free (Lowering *it, const TraceOp *op, GError **error)
{
  BaseMapEntry *entry = base_map_find (&it->handles_of_comms, op->comm);

  (void) error;
  if (entry != NULL)
    base_map_remove (&it->handles_of_comms, entry);
  return TRUE;
}

/* The receive that follows waits for the same message. */
static gboolean
lower_probe (Lowering *it, const TraceOp *op, GError **error)
{
  (void) op, (void) error;
  trace_warn (it->trace, "probes are left out: the receive that follows waits instead");
  return TRUE;
}

/* Other operations move nothing, or the survey has refused them. */
static const Lower lowers[TRACE_N_OPS] = {
  [TRACE_OP_COMPUTE] = lower_compute,
  [TRACE_OP_SEND] = lower_blocking,
  [TRACE_OP_RECV] = lower_blocking,
  [TRACE_OP_ISEND] = lower_nonblocking,
  [TRACE_OP_IRECV] = lower_nonblocking,
  [TRACE_OP_SEND_INIT] = lower_model,
  [TRACE_OP_RECV_INIT] = lower_model,
  [TRACE_OP_SENDRECV] = lower_sendrecv,
  [TRACE_OP_START] = lower_start,
  [TRACE_OP_PROBE] = lower_probe,
  [TRACE_OP_REQUEST_FREE] = lower_free,
  [TRACE_OP_WAIT] = lower_wait,
  [TRACE_OP_WAIT_SOME] = lower_some,
  [TRACE_OP_TEST] = lower_some,
  [TRACE_OP_WAIT_OUTSTANDING] = lower_outstanding,
  [TRACE_OP_COMM_FREE] = lower_comm_free,
};

static gboolean
lower (Lowering *it, const TraceOp *op, GError **error)
{
  if (trace_survey_binds (op->kind)) {
    uint32_t comm = trace_survey_bound (it->survey, it->rank, it->n_bound++);
    BaseMapEntry *entry;

    if (op->new_comm <= TRACE_COMM_SELF || op->new_comm == UINT32_MAX)
      return TRUE;
    if (comm != TRACE_COMMS_NULL) {
      base_map_add (&it->handles_of_comms, op->new_comm, 0)->value[0] = comm;
      return TRUE;
    }
    entry = base_map_find (&it->handles_of_comms, op->new_comm);
    if (entry != NULL)
      base_map_remove (&it->handles_of_comms, entry);
    return TRUE;
  }
  if (trace_op_is_collective (op->kind))
    return lower_collective (it, op, error);
  return lowers[op->kind] == NULL || lowers[op->kind](it, op, error);
}

gboolean
trace_lower (Trace *trace, const TraceSurvey *survey, uint32_t rank, TraceSink *sink,
             GError **error)
{
  Lowering it = {
    .trace = trace,
    .survey = survey,
    .comms = trace_survey_comms (survey),
    .rank = rank,
    .sink = sink,
    .first_comm = TRACE_COMMS_NULL,
    .handles = trace_handles_new (),
    .requests = g_array_new (FALSE, FALSE, sizeof (Request)),
    .first_free = UINT32_MAX,
    .awaited = g_array_new (FALSE, FALSE, sizeof (TracePost)),
  };
  g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, error);
  g_autoptr (GArray) left = NULL;
  TraceNext next = TRACE_NEXT_ERROR;
  TraceOp op;

  while (cursor != NULL && (next = trace_cursor_next (cursor, &op, error)) == TRACE_NEXT_OPERATION)
    if (!lower (&it, &op, error)) {
      g_prefix_error (error, "%s: rank %u: ", trace_cursor_place (cursor), rank);
      break;
    }
  left = trace_handles_pop_all (it.handles);
  for (guint i = 0; i < left->len; i++)
    forget (&it, g_array_index (left, uint32_t, i));
  base_map_clear (&it.handles_of_comms);
  base_map_clear (&it.sequences);
  trace_handles_free (it.handles);
  g_array_unref (it.requests);
  g_array_unref (it.awaited);
  return next == TRACE_NEXT_END;
}
