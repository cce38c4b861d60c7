/* dumpi_ops.c - DUMPI records into operations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/dumpi/dumpi_format.h"

struct DumpiOps {
  Trace *trace;
  const DumpiFile *file;
  uint32_t n_ranks;
  DumpiTypes *types;
  DumpiWindows *windows;
  GArray *requests;             /* (element-type uint32_t) */
  GArray *completed;            /* (element-type uint32_t) */
  GArray *counts, *recv_counts; /* (element-type uint64_t) */
  GArray *sources;              /* of dumpi_sources_find(), once it is needed */
  guint next_source;
};

DumpiOps *
dumpi_ops_new (Trace *trace, const DumpiFile *file, uint32_t n_ranks)
{
  DumpiOps *ops = g_new0 (DumpiOps, 1);

  ops->trace = trace;
  ops->file = file;
  ops->n_ranks = n_ranks;
  ops->types = dumpi_types_new (trace, file);
  ops->windows = dumpi_windows_new (n_ranks);
  ops->requests = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  ops->completed = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  ops->counts = g_array_new (FALSE, FALSE, sizeof (uint64_t));
  ops->recv_counts = g_array_new (FALSE, FALSE, sizeof (uint64_t));
  return ops;
}

void
dumpi_ops_free (DumpiOps *ops)
{
  if (ops == NULL)
    return;
  dumpi_types_free (ops->types);
  dumpi_windows_free (ops->windows);
  g_array_unref (ops->requests);
  g_array_unref (ops->completed);
  g_array_unref (ops->counts);
  g_array_unref (ops->recv_counts);
  if (ops->sources != NULL)
    g_array_unref (ops->sources);
  g_free (ops);
}

static gboolean
range_error (const DumpiOps *ops, const DumpiRecord *record, const char *what, int32_t value,
             GError **error)
{
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
               "%s:0x%" G_GSIZE_MODIFIER "x: %s: %s %d is impossible among %u ranks",
               ops->file->name, record->at, dumpi_calls[record->id].name, what, value,
               ops->n_ranks);
  return FALSE;
}

/* Handles count up from 0. */
static gboolean
check_request (const DumpiOps *ops, const DumpiRecord *record, int32_t recorded, GError **error)
{
  return (int32_t) dumpi_request (ops->file, recorded) >= 0 ||
         range_error (ops, record, "request", recorded, error);
}

static uint64_t
send_bytes (const DumpiOps *ops, const DumpiRecord *record)
{
  return dumpi_types_bytes (ops->types, record->scalar[DUMPI_COUNT], record->scalar[DUMPI_TYPE]);
}

static uint64_t
recv_bytes (const DumpiOps *ops, const DumpiRecord *record)
{
  return dumpi_types_bytes (ops->types, record->scalar[DUMPI_RECV_COUNT],
                            record->scalar[DUMPI_RECV_TYPE]);
}

/* Nobody is a destination below 0, whatever number the recorded MPI had for
 * MPI_PROC_NULL. */
static gboolean
destination (const DumpiOps *ops, const DumpiRecord *record, int32_t *peer, GError **error)
{
  int32_t dest = record->scalar[DUMPI_PEER];

  if (dest >= (int32_t) ops->n_ranks)
    return range_error (ops, record, "destination", dest, error);
  *peer = dest < 0 ? TRACE_PROC_NULL : dest;
  return TRUE;
}

/* matched: what a wildcard receive is known to have got. */
static gboolean
source (const DumpiOps *ops, const DumpiRecord *record, int32_t posted, int32_t matched,
        int32_t *peer, int32_t *matched_source, GError **error)
{
  if (posted >= (int32_t) ops->n_ranks)
    return range_error (ops, record, "source", posted, error);
  if (posted < TRACE_ANY_SOURCE || (posted == TRACE_ANY_SOURCE && matched == TRACE_PROC_NULL))
    *peer = TRACE_PROC_NULL;
  else
    *peer = posted;

  if (*peer >= 0)
    *matched_source = *peer;
  else if (*peer == TRACE_ANY_SOURCE && matched >= 0 && matched < (int32_t) ops->n_ranks)
    *matched_source = matched;
  return TRUE;
}

/* What the status of a blocking receive or probe says. */
static int32_t
source_in_status (const DumpiRecord *record)
{
  const DumpiStatus *status;

  if (record->statuses->len == 0)
    return TRACE_ANY_SOURCE;
  status = &g_array_index (record->statuses, DumpiStatus, 0);
  if (status->cancelled)
    return TRACE_ANY_SOURCE;
  return status->source < 0 ? TRACE_PROC_NULL : status->source;
}

static int32_t
source_found_later (DumpiOps *ops)
{
  if (ops->sources == NULL)
    ops->sources = dumpi_sources_find (ops->file);
  if (ops->next_source >= ops->sources->len)
    return TRACE_ANY_SOURCE;
  return g_array_index (ops->sources, int32_t, ops->next_source++);
}

static gboolean
convert_send (DumpiOps *ops, const DumpiRecord *record, TraceOp *op, GError **error)
{
  op->bytes = send_bytes (ops, record);
  return check_request (ops, record, record->scalar[DUMPI_REQUEST], error) &&
         destination (ops, record, &op->peer, error);
}

static gboolean
convert_recv (DumpiOps *ops, const DumpiRecord *record, TraceOp *op, GError **error)
{
  int32_t posted = record->scalar[DUMPI_PEER];
  int32_t matched = TRACE_ANY_SOURCE;

  op->bytes = send_bytes (ops, record);
  if (!check_request (ops, record, record->scalar[DUMPI_REQUEST], error))
    return FALSE;
  if (op->kind == TRACE_OP_RECV)
    matched = source_in_status (record);
  else if (posted == TRACE_ANY_SOURCE)
    matched = source_found_later (ops);
  return source (ops, record, posted, matched, &op->peer, &op->matched_source, error);
}

static gboolean
convert_sendrecv (DumpiOps *ops, const DumpiRecord *record, TraceOp *op, GError **error)
{
  op->bytes = send_bytes (ops, record);
  op->recv_bytes = record->id == DUMPI_ID_SENDRECV_REPLACE ? op->bytes : recv_bytes (ops, record);
  op->recv_tag = record->scalar[DUMPI_RECV_TAG];
  return destination (ops, record, &op->peer, error) &&
         source (ops, record, record->scalar[DUMPI_RECV_PEER], source_in_status (record),
                 &op->recv_peer, &op->matched_source, error);
}

static gboolean
convert_probe (DumpiOps *ops, const DumpiRecord *record, TraceOp *op, GError **error)
{
  gboolean seen = op->kind == TRACE_OP_PROBE || record->scalar[DUMPI_FLAG] != 0;
  uint32_t index = 0;

  if (op->kind == TRACE_OP_IPROBE && seen) {
    g_array_append_val (ops->completed, index);
    op->completed = (const uint32_t *) (void *) ops->completed->data;
    op->n_completed = 1;
  }
  return source (ops, record, record->scalar[DUMPI_PEER],
                 seen ? source_in_status (record) : TRACE_ANY_SOURCE, &op->peer,
                 &op->matched_source, error);
}

/* Calls with one request, with many, and what a completion saw complete. */
static gboolean
convert_requests (DumpiOps *ops, const DumpiRecord *record, TraceOp *op, GError **error)
{
  const GArray *list = record->array[DUMPI_REQUESTS];
  gboolean single = g_str_has_prefix (dumpi_calls[record->id].layout, "r");

  for (guint i = 0; i < (single ? 1 : list->len); i++) {
    int32_t recorded =
        single ? record->scalar[DUMPI_REQUEST] : dumpi_array_at (record, DUMPI_REQUESTS, i);
    uint32_t request = dumpi_request (ops->file, recorded);

    if (!check_request (ops, record, recorded, error))
      return FALSE;
    g_array_append_val (ops->requests, request);
  }
  dumpi_record_completed (record, ops->completed);
  op->requests = (const uint32_t *) (void *) ops->requests->data;
  op->n_requests = ops->requests->len;
  op->completed = (const uint32_t *) (void *) ops->completed->data;
  op->n_completed = ops->completed->len;
  return TRUE;
}

/* Counts of a v-collective in bytes; one type for all, or one for each. */
static void
fill_counts (const DumpiOps *ops, const DumpiRecord *record, DumpiArray array, DumpiScalar type,
             DumpiArray types, GArray *counts)
{
  gboolean typed = record->id == DUMPI_ID_ALLTOALLW;

  for (guint i = 0; i < record->array[array]->len; i++) {
    gboolean missing = typed && i >= record->array[types]->len;
    int32_t element = typed && !missing ? dumpi_array_at (record, types, i) : record->scalar[type];
    uint64_t bytes = dumpi_types_bytes (ops->types, dumpi_array_at (record, array, i), element);

    g_array_append_val (counts, bytes);
  }
}

static void
convert_counts (DumpiOps *ops, const DumpiRecord *record, TraceOp *op)
{
  fill_counts (ops, record, DUMPI_COUNTS, DUMPI_TYPE, DUMPI_TYPES, ops->counts);
  fill_counts (ops, record, DUMPI_RECV_COUNTS, DUMPI_RECV_TYPE, DUMPI_RECV_TYPES, ops->recv_counts);
  if (ops->counts->len > 0)
    op->counts = (const uint64_t *) (void *) ops->counts->data;
  if (ops->recv_counts->len > 0)
    op->recv_counts = (const uint64_t *) (void *) ops->recv_counts->data;
  op->n_counts = ops->counts->len;
  op->n_recv_counts = ops->recv_counts->len;
}

static gboolean
is_rooted (TraceOpKind kind)
{
  return kind == TRACE_OP_BCAST || kind == TRACE_OP_REDUCE || kind == TRACE_OP_GATHER ||
         kind == TRACE_OP_GATHERV || kind == TRACE_OP_SCATTER || kind == TRACE_OP_SCATTERV;
}

/* With MPI_IN_PLACE, which is not recorded, what is sent is as long as what
 * is received, and the arguments for sending mean nothing: usually a void
 * type or no elements. */
static void
read_in_place (TraceOp *op, gboolean void_type)
{
  if ((op->kind == TRACE_OP_ALLGATHER || op->kind == TRACE_OP_ALLTOALL) &&
      (void_type || op->bytes == 0))
    op->bytes = op->recv_bytes;
  if (op->kind == TRACE_OP_ALLTOALLV && op->n_counts == 0) {
    op->counts = op->recv_counts;
    op->n_counts = op->n_recv_counts;
  }
}

static gboolean
convert_collective (DumpiOps *ops, const DumpiRecord *record, TraceOp *op, GError **error)
{
  op->bytes = send_bytes (ops, record);
  op->recv_bytes = recv_bytes (ops, record);
  convert_counts (ops, record, op);
  read_in_place (op, record->scalar[DUMPI_TYPE] <= 1);
  if (!is_rooted (op->kind))
    return TRUE;
  op->root = record->scalar[DUMPI_ROOT];
  if (op->root >= (int32_t) ops->n_ranks)
    return range_error (ops, record, "root", op->root, error);
  /* MPI_ROOT and MPI_PROC_NULL as root: between two groups. */
  if (op->root < 0)
    op->kind = TRACE_OP_UNSUPPORTED;
  return TRUE;
}

static void
set_values (const DumpiRecord *record, DumpiArray array, const int32_t **values, uint32_t *n)
{
  *values = (const int32_t *) (void *) record->array[array]->data;
  *n = record->array[array]->len;
}

static gboolean
convert_comm (DumpiOps *ops, const DumpiRecord *record, TraceOp *op, GError **error)
{
  uint32_t n_values2 = 0;

  op->color = record->scalar[DUMPI_COLOR];
  op->key = record->scalar[DUMPI_KEY];
  /* Its number differs between MPI libraries, but colours are not negative. */
  if (op->kind == TRACE_OP_COMM_SPLIT && (op->new_comm == TRACE_COMM_NULL || op->color < 0))
    op->color = TRACE_UNDEFINED;
  if (op->kind == TRACE_OP_CART_CREATE)
    set_values (record, DUMPI_VALUES2, &op->values2, &n_values2);
  set_values (record, DUMPI_VALUES, &op->values, &op->n_values);
  if (op->kind == TRACE_OP_CART_CREATE && n_values2 != op->n_values)
    return range_error (ops, record, "number of periods", (int32_t) n_values2, error);
  dumpi_windows_note (ops->windows, op);
  return TRUE;
}

/* Of a trace that begins when the window was there already, and of groups that
 * are made in unusual ways, the ranks are not known. */
static void
use_window (DumpiOps *ops, TraceOp *op)
{
  if (dumpi_windows_use (ops->windows, op))
    return;
  trace_warn (ops->trace,
              "%s: the communicator of the window, or the ranks of the group, are "
              "not known",
              op->name);
  op->kind = TRACE_OP_UNSUPPORTED;
}

static gboolean
convert_group (DumpiOps *ops, const DumpiRecord *record, TraceOp *op, GError **error)
{
  gboolean ranges = op->kind == TRACE_OP_GROUP_RANGE_INCL || op->kind == TRACE_OP_GROUP_RANGE_EXCL;

  set_values (record, DUMPI_VALUES, &op->values, &op->n_values);
  if (ranges && op->n_values % 3 != 0)
    return range_error (ops, record, "length of a list of ranges", (int32_t) op->n_values, error);
  if (record->id == DUMPI_ID_WIN_GET_GROUP)
    use_window (ops, op);
  dumpi_windows_note (ops->windows, op);
  return TRUE;
}

static gboolean
convert_window (DumpiOps *ops, const DumpiRecord *record, TraceOp *op, GError **error)
{
  if (op->kind == TRACE_OP_PUT)
    op->bytes = send_bytes (ops, record);
  if (op->kind == TRACE_OP_GET)
    op->recv_bytes = send_bytes (ops, record);
  if ((op->kind == TRACE_OP_PUT || op->kind == TRACE_OP_GET || op->kind == TRACE_OP_WIN_FLUSH) &&
      !destination (ops, record, &op->peer, error))
    return FALSE;
  /* A test that saw nothing leaves the window as it is. */
  if (record->id == DUMPI_ID_WIN_TEST && record->scalar[DUMPI_FLAG] == 0)
    op->kind = TRACE_OP_CALL;
  else
    use_window (ops, op);
  return TRUE;
}

static gboolean
convert_nothing (DumpiOps *ops, const DumpiRecord *record, TraceOp *op, GError **error)
{
  (void) op, (void) error;
  dumpi_types_note (ops->types, record);
  return TRUE;
}

typedef gboolean (*Convert) (DumpiOps *, const DumpiRecord *, TraceOp *, GError **);

static Convert
converter (TraceOpKind kind)
{
  if (kind >= TRACE_OP_WIN_CREATE && kind <= TRACE_OP_WIN_WAIT)
    return convert_window;
  if (trace_op_is_collective (kind))
    return convert_collective;
  if (kind >= TRACE_OP_SEND && kind <= TRACE_OP_SEND_INIT)
    return convert_send;
  if (kind >= TRACE_OP_RECV && kind <= TRACE_OP_RECV_INIT)
    return convert_recv;
  if (kind == TRACE_OP_SENDRECV)
    return convert_sendrecv;
  if (kind == TRACE_OP_PROBE || kind == TRACE_OP_IPROBE)
    return convert_probe;
  if (kind >= TRACE_OP_START && kind <= TRACE_OP_TEST)
    return convert_requests;
  if (kind >= TRACE_OP_COMM_DUP && kind <= TRACE_OP_GRAPH_CREATE)
    return convert_comm;
  if (kind >= TRACE_OP_COMM_GROUP && kind <= TRACE_OP_GROUP_FREE)
    return convert_group;
  return convert_nothing;
}

gboolean
dumpi_ops_convert (DumpiOps *ops, const DumpiRecord *record, TraceOp *op, GError **error)
{
  const DumpiCall *call = &dumpi_calls[record->id];

  g_array_set_size (ops->requests, 0);
  g_array_set_size (ops->completed, 0);
  g_array_set_size (ops->counts, 0);
  g_array_set_size (ops->recv_counts, 0);
  *op = (TraceOp){
    .kind = call->kind,
    .mode = call->mode,
    .comm = (uint32_t) record->scalar[DUMPI_COMM],
    .tag = record->scalar[DUMPI_TAG],
    .root = TRACE_NO_ROOT,
    .request = dumpi_request (ops->file, record->scalar[DUMPI_REQUEST]),
    .matched_source = TRACE_ANY_SOURCE,
    .window = (uint32_t) record->scalar[DUMPI_WINDOW],
    .new_comm = (uint32_t) record->scalar[DUMPI_NEW_COMM],
    .group = (uint32_t) record->scalar[DUMPI_GROUP],
    .group2 = (uint32_t) record->scalar[DUMPI_GROUP2],
    .new_group = (uint32_t) record->scalar[DUMPI_NEW_GROUP],
    .name = call->name,
  };
  return converter (call->kind) (ops, record, op, error);
}
