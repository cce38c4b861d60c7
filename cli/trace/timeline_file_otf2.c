/* timeline_file_otf2.c - a timeline as an OTF2 archive.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A location is a rank, a location group its node, a tick a picosecond.  Times are those of the
 * timeline; what a call did is read from the trace once more, in which the timeline numbers the calls.
 *
 *   Enter MPI_Recv          Enter MPI_Isend         Enter computing
 *     Enter waiting           MpiIsend              Leave computing
 *     Leave waiting         Leave MPI_Isend
 *     MpiRecv
 *   Leave MPI_Recv
 *
 * What begins has its record at the beginning of the call, what is complete at its end.  Sizes are the
 * arguments of the calls, and of receives the sizes that were asked for.
 */
#include "cli/trace/timeline_file.h"

#include "cli/command.h"
#include "cli/trace/timeline_otf2.h"

#include <otf2/otf2.h>

#define TICKS_PER_S 1000000000000u
/* The smallest that libotf2 takes for events, and enough for definitions. */
#define CHUNK_EVENT_BYTES      (UINT64_C (1) << 18)
#define CHUNK_DEFINITION_BYTES (UINT64_C (1) << 20)
#define NO_NUMBER              UINT32_MAX

/* --- Events --- */

/* Strings, of which regions come first: the states of the timeline, then "waiting". */
typedef struct {
  const SimTimeline *timeline;
  const CliRunInputs *inputs;
  Trace *trace;
  uint32_t n_ranks;
  CliOtf2Comms *comms;
  uint64_t *intervals;      /* numbers of intervals, lane by lane in the order of time */
  uint64_t *first;          /* [n_lanes + 1] of a lane in them */
  uint64_t *n_events;       /* [n_ranks] written */
  uint64_t n_unknown;       /* receives whose source or tag the trace does not have */
  uint64_t n_inexpressible; /* accesses and collectives of neighbourhoods */
  OTF2_ErrorCode code;      /* the first failure */
} Archive;

static void
keep (Archive *archive, OTF2_ErrorCode code)
{
  if (archive->code == OTF2_SUCCESS)
    archive->code = code;
}

typedef enum { PART_NONE, PART_SEND, PART_RECEIVE, PART_COLLECTIVE } PartKind;

/* A message or collective of an operation; NONE: it has no record. */
typedef struct {
  PartKind kind;
  uint32_t comm; /* its number */
  uint32_t peer; /* or root, in it */
  uint32_t tag;
  uint64_t bytes, recv_bytes;
  OTF2_CollectiveOp op;
  uint64_t id; /* of its request */
} Part;

typedef struct {
  Archive *archive;
  OTF2_EvtWriter *writer;
  uint32_t rank;
  GHashTable *comm_of;    /* handle -> number, of communicators that the rank made */
  uint32_t n_made;        /* so far */
  GHashTable *active;     /* request handle -> GQueue of Part, in the order of their starts */
  GHashTable *persistent; /* request handle -> Part */
  uint64_t n_requests;
} Rank;

static void
queue_free (gpointer queue)
{
  g_queue_free_full (queue, g_free);
}

static uint32_t
comm_of (const Rank *rank, uint32_t handle)
{
  gpointer number;

  if (handle == TRACE_COMM_WORLD)
    return TRACE_COMMS_WORLD;
  if (handle == TRACE_COMM_SELF)
    return TRACE_COMMS_SELF;
  return g_hash_table_lookup_extended (rank->comm_of, GUINT_TO_POINTER (handle), NULL, &number)
             ? GPOINTER_TO_UINT (number)
             : TRACE_COMMS_NULL;
}

/* COMM_SELF comes after those that were made. */
static uint32_t
comm_id (const Archive *archive, uint32_t comm)
{
  return comm == TRACE_COMMS_SELF ? trace_comms_created (cli_otf2_comms_all (archive->comms)) + 1
                                  : comm;
}

static uint64_t
known_bytes (uint64_t bytes)
{
  return bytes == TRACE_UNKNOWN_BYTES ? 0 : bytes;
}

static Part
send_part (const Rank *rank, const TraceOp *op)
{
  Part part = { .comm = comm_of (rank, op->comm),
                .peer = (uint32_t) op->peer,
                .tag = (uint32_t) op->tag,
                .bytes = known_bytes (op->bytes) };

  if (op->peer >= 0 && part.comm != TRACE_COMMS_NULL)
    part.kind = PART_SEND;
  return part;
}

static Part
receive_part (const Rank *rank, const TraceOp *op)
{
  bool both = op->kind == TRACE_OP_SENDRECV;
  int32_t source = both ? op->recv_peer : op->peer, tag = both ? op->recv_tag : op->tag;
  Part part = { .comm = comm_of (rank, op->comm),
                .tag = (uint32_t) tag,
                .bytes = known_bytes (both ? op->recv_bytes : op->bytes) };

  if (source == TRACE_PROC_NULL || part.comm == TRACE_COMMS_NULL)
    return part;
  if (source == TRACE_ANY_SOURCE)
    source = op->matched_source;
  if (source < 0 || tag < 0) {
    rank->archive->n_unknown++;
    return part;
  }
  part.kind = PART_RECEIVE;
  part.peer = (uint32_t) source;
  return part;
}

static uint64_t
sum (const uint64_t *counts, uint32_t n)
{
  uint64_t bytes = 0;

  for (uint32_t i = 0; i < n; i++)
    bytes += counts[i];
  return bytes;
}

static Part
collective_part (const Rank *rank, const TraceOp *op)
{
  static const struct {
    TraceOpKind kind;
    OTF2_CollectiveOp op;
  } ops[] = {
    { TRACE_OP_BARRIER, OTF2_COLLECTIVE_OP_BARRIER },
    { TRACE_OP_BCAST, OTF2_COLLECTIVE_OP_BCAST },
    { TRACE_OP_GATHER, OTF2_COLLECTIVE_OP_GATHER },
    { TRACE_OP_GATHERV, OTF2_COLLECTIVE_OP_GATHERV },
    { TRACE_OP_SCATTER, OTF2_COLLECTIVE_OP_SCATTER },
    { TRACE_OP_SCATTERV, OTF2_COLLECTIVE_OP_SCATTERV },
    { TRACE_OP_ALLGATHER, OTF2_COLLECTIVE_OP_ALLGATHER },
    { TRACE_OP_ALLGATHERV, OTF2_COLLECTIVE_OP_ALLGATHERV },
    { TRACE_OP_ALLTOALL, OTF2_COLLECTIVE_OP_ALLTOALL },
    { TRACE_OP_ALLTOALLV, OTF2_COLLECTIVE_OP_ALLTOALLV },
    { TRACE_OP_REDUCE, OTF2_COLLECTIVE_OP_REDUCE },
    { TRACE_OP_ALLREDUCE, OTF2_COLLECTIVE_OP_ALLREDUCE },
    { TRACE_OP_REDUCE_SCATTER, OTF2_COLLECTIVE_OP_REDUCE_SCATTER },
    { TRACE_OP_SCAN, OTF2_COLLECTIVE_OP_SCAN },
    { TRACE_OP_EXSCAN, OTF2_COLLECTIVE_OP_EXSCAN },
  };
  Part part = { .comm = comm_of (rank, op->comm),
                .peer = op->root < 0 ? OTF2_COLLECTIVE_ROOT_NONE : (uint32_t) op->root,
                .bytes =
                    op->counts != NULL ? sum (op->counts, op->n_counts) : known_bytes (op->bytes),
                .recv_bytes = op->recv_counts != NULL ? sum (op->recv_counts, op->n_recv_counts)
                                                      : known_bytes (op->recv_bytes) };

  /* All ranks of the parent meet. */
  if (trace_op_is_creation (op->kind)) {
    part.kind = part.comm == TRACE_COMMS_NULL ? PART_NONE : PART_COLLECTIVE;
    part.op = OTF2_COLLECTIVE_OP_CREATE_HANDLE;
    part.bytes = part.recv_bytes = 0;
    return part;
  }
  for (gsize i = 0; i < G_N_ELEMENTS (ops) && part.comm != TRACE_COMMS_NULL; i++)
    if (op->kind == ops[i].kind) {
      part.kind = PART_COLLECTIVE;
      part.op = ops[i].op;
    }
  if (part.kind == PART_NONE)
    rank->archive->n_inexpressible++;
  /* Everybody has the same of it. */
  if (op->kind == TRACE_OP_BCAST || op->kind == TRACE_OP_ALLREDUCE)
    part.recv_bytes = part.bytes;
  return part;
}

/* A blocking one begins; of a collective its end has the sizes. */
static void
write_begin (Rank *rank, const Part *part, int64_t at_ps)
{
  uint64_t at = (uint64_t) at_ps;
  uint32_t comm = comm_id (rank->archive, part->comm);

  if (part->kind == PART_SEND)
    keep (rank->archive, OTF2_EvtWriter_MpiSend (rank->writer, NULL, at, part->peer, comm,
                                                 part->tag, part->bytes));
  else if (part->kind == PART_COLLECTIVE)
    keep (rank->archive, OTF2_EvtWriter_MpiCollectiveBegin (rank->writer, NULL, at));
}

static void
write_end (Rank *rank, const Part *part, int64_t at_ps)
{
  uint64_t at = (uint64_t) at_ps;
  uint32_t comm = comm_id (rank->archive, part->comm);

  if (part->kind == PART_RECEIVE)
    keep (rank->archive, OTF2_EvtWriter_MpiRecv (rank->writer, NULL, at, part->peer, comm,
                                                 part->tag, part->bytes));
  else if (part->kind == PART_COLLECTIVE)
    keep (rank->archive,
          OTF2_EvtWriter_MpiCollectiveEnd (rank->writer, NULL, at, part->op, comm, part->peer,
                                           part->bytes, part->recv_bytes));
}

/* --- Requests: a handle is a queue --- */

static void
write_post (Rank *rank, uint32_t handle, Part part, int64_t at_ps)
{
  GQueue *queue = g_hash_table_lookup (rank->active, GUINT_TO_POINTER (handle));
  uint64_t at = (uint64_t) at_ps;
  uint32_t comm = comm_id (rank->archive, part.comm);

  part.id = rank->n_requests++;
  if (part.kind == PART_SEND)
    keep (rank->archive, OTF2_EvtWriter_MpiIsend (rank->writer, NULL, at, part.peer, comm, part.tag,
                                                  part.bytes, part.id));
  else if (part.kind == PART_RECEIVE)
    keep (rank->archive, OTF2_EvtWriter_MpiIrecvRequest (rank->writer, NULL, at, part.id));
  else if (part.kind == PART_COLLECTIVE)
    keep (rank->archive,
          OTF2_EvtWriter_NonBlockingCollectiveRequest (rank->writer, NULL, at, part.id));
  if (queue == NULL) {
    queue = g_queue_new ();
    g_hash_table_insert (rank->active, GUINT_TO_POINTER (handle), queue);
  }
  g_queue_push_tail (queue, g_memdup2 (&part, sizeof part));
}

static void
write_complete (Rank *rank, const Part *part, int64_t at_ps)
{
  uint64_t at = (uint64_t) at_ps;
  uint32_t comm = comm_id (rank->archive, part->comm);

  if (part->kind == PART_SEND)
    keep (rank->archive, OTF2_EvtWriter_MpiIsendComplete (rank->writer, NULL, at, part->id));
  else if (part->kind == PART_RECEIVE)
    keep (rank->archive, OTF2_EvtWriter_MpiIrecv (rank->writer, NULL, at, part->peer, comm,
                                                  part->tag, part->bytes, part->id));
  else if (part->kind == PART_COLLECTIVE)
    keep (rank->archive, OTF2_EvtWriter_NonBlockingCollectiveComplete (
                             rank->writer, NULL, at, part->op, comm, part->peer, part->bytes,
                             part->recv_bytes, part->id));
}

/* The oldest of the handle. */
static void
complete (Rank *rank, uint32_t handle, bool cancelled, int64_t at_ps)
{
  GQueue *queue = g_hash_table_lookup (rank->active, GUINT_TO_POINTER (handle));
  g_autofree Part *part = queue != NULL ? g_queue_pop_head (queue) : NULL;

  if (part == NULL)
    return;
  if (!cancelled)
    write_complete (rank, part, at_ps);
  else if (part->kind != PART_NONE)
    keep (rank->archive,
          OTF2_EvtWriter_MpiRequestCancelled (rank->writer, NULL, (uint64_t) at_ps, part->id));
}

static int
compare_ids (gconstpointer a, gconstpointer b)
{
  const Part *one = *(Part *const *) a, *other = *(Part *const *) b;

  return one->id < other->id ? -1 : one->id > other->id;
}

static void
complete_all (Rank *rank, int64_t at_ps)
{
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func (g_free);
  GHashTableIter iter;
  gpointer queue, part;

  g_hash_table_iter_init (&iter, rank->active);
  while (g_hash_table_iter_next (&iter, NULL, &queue))
    while ((part = g_queue_pop_head (queue)) != NULL)
      g_ptr_array_add (parts, part);
  g_ptr_array_sort (parts, compare_ids);
  for (guint i = 0; i < parts->len; i++)
    write_complete (rank, parts->pdata[i], at_ps);
}

static void
complete_some (Rank *rank, const TraceOp *op, int64_t at_ps)
{
  for (uint32_t i = 0; i < op->n_completed; i++)
    if (op->completed[i] < op->n_requests)
      complete (rank, op->requests[op->completed[i]], false, at_ps);
  /* What a test saw under way. */
  for (uint32_t i = 0; op->kind == TRACE_OP_TEST && op->n_completed == 0 && i < op->n_requests;
       i++) {
    GQueue *queue = g_hash_table_lookup (rank->active, GUINT_TO_POINTER (op->requests[i]));
    const Part *part = queue != NULL ? g_queue_peek_head (queue) : NULL;

    if (part != NULL && part->kind != PART_NONE)
      keep (rank->archive,
            OTF2_EvtWriter_MpiRequestTest (rank->writer, NULL, (uint64_t) at_ps, part->id));
  }
}

/* --- Calls --- */

static void
make_persistent (Rank *rank, const TraceOp *op)
{
  Part part = op->kind == TRACE_OP_SEND_INIT ? send_part (rank, op) : receive_part (rank, op);

  g_hash_table_replace (rank->persistent, GUINT_TO_POINTER (op->request),
                        g_memdup2 (&part, sizeof part));
}

/* What the call does at its beginning.  Returns the part that ends with it. */
static Part
begin_call (Rank *rank, const TraceOp *op, int64_t at_ps)
{
  Part part = { PART_NONE };

  if (op->kind == TRACE_OP_SEND || op->kind == TRACE_OP_SENDRECV) {
    part = send_part (rank, op);
    write_begin (rank, &part, at_ps);
    part = op->kind == TRACE_OP_SENDRECV ? receive_part (rank, op) : (Part){ PART_NONE };
  } else if (op->kind == TRACE_OP_RECV) {
    part = receive_part (rank, op);
  } else if (op->kind == TRACE_OP_ISEND) {
    write_post (rank, op->request, send_part (rank, op), at_ps);
  } else if (op->kind == TRACE_OP_IRECV) {
    write_post (rank, op->request, receive_part (rank, op), at_ps);
  } else if (op->kind == TRACE_OP_SEND_INIT || op->kind == TRACE_OP_RECV_INIT) {
    make_persistent (rank, op);
  } else if (op->kind == TRACE_OP_START) {
    for (uint32_t i = 0; i < op->n_requests; i++) {
      const Part *made = g_hash_table_lookup (rank->persistent, GUINT_TO_POINTER (op->requests[i]));

      if (made != NULL)
        write_post (rank, op->requests[i], *made, at_ps);
    }
  } else if (op->kind >= TRACE_OP_WIN_CREATE && op->kind <= TRACE_OP_WIN_WAIT) {
    rank->archive->n_inexpressible++;
    if (op->nonblocking)
      write_post (rank, op->request, part, at_ps);
  } else if (trace_op_is_collective (op->kind) || trace_op_is_creation (op->kind)) {
    part = collective_part (rank, op);
    if (op->nonblocking) {
      write_post (rank, op->request, part, at_ps);
      part.kind = PART_NONE;
    }
    write_begin (rank, &part, at_ps);
  }
  return part;
}

static void
end_call (Rank *rank, const TraceOp *op, const Part *part, int64_t at_ps)
{
  write_end (rank, part, at_ps);
  switch ((int) op->kind) {
  case TRACE_OP_WAIT:
    for (uint32_t i = 0; i < op->n_requests; i++)
      complete (rank, op->requests[i], false, at_ps);
    break;
  case TRACE_OP_WAIT_SOME:
  case TRACE_OP_TEST: complete_some (rank, op, at_ps); break;
  case TRACE_OP_WAIT_OUTSTANDING: complete_all (rank, at_ps); break;
  case TRACE_OP_CANCEL:
    if (op->n_requests > 0)
      complete (rank, op->requests[0], true, at_ps);
    break;
  default: break;
  }
}

static void
write_region (Rank *rank, bool enters, uint32_t region, int64_t at_ps)
{
  keep (rank->archive, enters
                           ? OTF2_EvtWriter_Enter (rank->writer, NULL, (uint64_t) at_ps, region)
                           : OTF2_EvtWriter_Leave (rank->writer, NULL, (uint64_t) at_ps, region));
}

/* The state of an operation that took no time, as the timeline would call it; NO_NUMBER: no other
 * operation of that name took any, and it is left out unless it moves something. */
static uint32_t
find_state (const SimTimeline *timeline, const TraceOp *op)
{
  const char *name = op->name != NULL ? op->name : trace_op_name (op->kind);

  for (uint32_t state = 0; state < sim_timeline_states (timeline); state++)
    if (g_str_equal (sim_timeline_state (timeline, state)->name, name))
      return state;
  return NO_NUMBER;
}

/* Writes the intervals [*next, ...) of the call and its records.  Returns false when the timeline was
 * cut off within it, or before. */
static bool
write_call (Rank *rank, uint64_t call, const TraceOp *op, uint64_t *next, int64_t *now_ps)
{
  const Archive *archive = rank->archive;
  const SimTimeline *timeline = archive->timeline;
  uint64_t end = archive->first[rank->rank + 1], last = *next;
  int64_t begin_ps = *now_ps, end_ps = begin_ps;
  bool is_cut = sim_timeline_end_ps (timeline) != INT64_MAX;
  uint32_t state = NO_NUMBER, waiting = sim_timeline_states (timeline);
  SimTimelineEvent event;
  Part part;

  for (; last < end && sim_timeline_event (timeline, archive->intervals[last], &event) &&
         event.call == call;
       last++) {
    begin_ps = last == *next ? event.begin_ps : begin_ps;
    end_ps = event.end_ps;
    state = event.state;
  }
  if (is_cut && ((last == *next && last == end) || end_ps >= sim_timeline_end_ps (timeline))) {
    /* What it did, if it has begun, is not known to be complete. */
    if (last > *next) {
      write_region (rank, true, state, begin_ps);
      write_region (rank, false, state, end_ps);
    }
    return false;
  }
  if (state == NO_NUMBER && op->kind != TRACE_OP_COMPUTE && op->kind != TRACE_OP_COMM_DEFINE)
    state = find_state (timeline, op);
  if (state != NO_NUMBER)
    write_region (rank, true, state, begin_ps);
  part = begin_call (rank, op, begin_ps);
  for (; *next < last; ++*next)
    if (sim_timeline_event (timeline, archive->intervals[*next], &event) && event.waits) {
      write_region (rank, true, waiting, event.begin_ps);
      write_region (rank, false, waiting, event.end_ps);
    }
  end_call (rank, op, &part, end_ps);
  if (state != NO_NUMBER)
    write_region (rank, false, state, end_ps);
  *now_ps = end_ps;
  return true;
}

/* Creations bind handles, in the order in which the walk found the communicators. */
static void
bind_comm (Rank *rank, const TraceOp *op)
{
  if (trace_op_is_creation (op->kind) || op->kind == TRACE_OP_COMM_DEFINE)
    g_hash_table_insert (
        rank->comm_of, GUINT_TO_POINTER (op->new_comm),
        GUINT_TO_POINTER (cli_otf2_comms_made (rank->archive->comms, rank->rank, rank->n_made++)));
}

static gboolean
write_operations (Rank *rank, GError **error)
{
  g_autoptr (TraceCursor) cursor = trace_cursor_new (rank->archive->trace, rank->rank, error);
  uint64_t next = rank->archive->first[rank->rank];
  uint64_t end = rank->archive->first[rank->rank + 1];
  int64_t now_ps = 0;
  SimTimelineEvent event;
  TraceOp op;

  if (cursor == NULL)
    return FALSE;
  /* Before its first operation a rank is idle. */
  for (; next < end &&
         sim_timeline_event (rank->archive->timeline, rank->archive->intervals[next], &event) &&
         event.call == 0;
       next++)
    now_ps = event.end_ps;
  for (uint64_t call = 1;; call++) {
    TraceNext found = trace_cursor_next (cursor, &op, error);

    if (found != TRACE_NEXT_OPERATION)
      return found == TRACE_NEXT_END;
    if (!write_call (rank, call, &op, &next, &now_ps))
      return TRUE;
    bind_comm (rank, &op);
  }
}

static gboolean
write_rank (Archive *archive, OTF2_Archive *otf2, uint32_t number, GError **error)
{
  Rank rank = { .archive = archive,
                .writer = OTF2_Archive_GetEvtWriter (otf2, number),
                .rank = number };
  gboolean good = TRUE;

  if (rank.writer == NULL) {
    keep (archive, OTF2_ERROR_MEM_FAULT);
    return TRUE;
  }
  rank.comm_of = g_hash_table_new (NULL, NULL);
  rank.active = g_hash_table_new_full (NULL, NULL, NULL, queue_free);
  rank.persistent = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  /* libotf2 writes no file without events, which a reader would miss. */
  keep (archive, OTF2_EvtWriter_MeasurementOnOff (rank.writer, NULL, 0,
                                                  sim_timeline_shows (archive->timeline, number)
                                                      ? OTF2_MEASUREMENT_ON
                                                      : OTF2_MEASUREMENT_OFF));
  if (sim_timeline_shows (archive->timeline, number))
    good = write_operations (&rank, error);
  keep (archive, OTF2_EvtWriter_GetNumberOfEvents (rank.writer, &archive->n_events[number]));
  keep (archive, OTF2_Archive_CloseEvtWriter (otf2, rank.writer));
  g_hash_table_unref (rank.comm_of);
  g_hash_table_unref (rank.active);
  g_hash_table_unref (rank.persistent);
  return good;
}

/* --- Definitions --- */

typedef struct {
  Archive *archive;
  OTF2_GlobalDefWriter *writer;
  uint32_t n_strings, n_groups;
} Definitions;

static uint32_t
define_string (Definitions *d, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  keep (d->archive, OTF2_GlobalDefWriter_WriteString (d->writer, d->n_strings, valid));
  return d->n_strings++;
}

static void
define_region (Definitions *d, uint32_t number, const char *text, SimStateKind kind)
{
  static const OTF2_RegionRole roles[SIM_N_STATE_KINDS] = {
    [SIM_STATE_COMPUTE] = OTF2_REGION_ROLE_FUNCTION,
    [SIM_STATE_SEND] = OTF2_REGION_ROLE_POINT2POINT,
    [SIM_STATE_RECEIVE] = OTF2_REGION_ROLE_POINT2POINT,
    [SIM_STATE_COMPLETION] = OTF2_REGION_ROLE_POINT2POINT,
    [SIM_STATE_COLLECTIVE] = OTF2_REGION_ROLE_COLL_OTHER,
    [SIM_STATE_ONE_SIDED] = OTF2_REGION_ROLE_RMA,
    [SIM_STATE_OTHER] = OTF2_REGION_ROLE_FUNCTION,
    [SIM_STATE_IDLE] = OTF2_REGION_ROLE_ARTIFICIAL,
  };
  uint32_t name = define_string (d, text), empty = 0;
  bool is_mpi = kind != SIM_STATE_COMPUTE && kind != SIM_STATE_IDLE;

  keep (d->archive,
        OTF2_GlobalDefWriter_WriteRegion (d->writer, number, name, name, empty, roles[kind],
                                          is_mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER,
                                          OTF2_REGION_FLAG_NONE, empty, 0, 0));
}

static void
define_places (Definitions *d)
{
  const CliRunInputs *inputs = d->archive->inputs;
  uint32_t n_nodes = topo_shape_nodes (&inputs->machine->shape);
  g_autofree bool *known = g_new0 (bool, n_nodes);
  uint32_t machine = define_string (d, inputs->machine->spec), class = define_string (d, "machine");

  keep (d->archive, OTF2_GlobalDefWriter_WriteSystemTreeNode (d->writer, 0, machine, class,
                                                              OTF2_UNDEFINED_SYSTEM_TREE_NODE));
  for (uint32_t rank = 0; rank < d->archive->n_ranks; rank++) {
    uint32_t node = inputs->mapping->node[rank];
    g_autofree char *rank_name = cli_timeline_lane_name ((SimLane){ rank, 0 });

    if (!known[node]) {
      g_autofree char *name = cli_timeline_node_name (inputs->machine, node);

      keep (d->archive, OTF2_GlobalDefWriter_WriteLocationGroup (
                            d->writer, node, define_string (d, name),
                            OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP));
      known[node] = true;
    }
    keep (d->archive, OTF2_GlobalDefWriter_WriteLocation (
                          d->writer, rank, define_string (d, rank_name),
                          OTF2_LOCATION_TYPE_CPU_THREAD, d->archive->n_events[rank], node));
  }
}

static uint32_t
define_group (Definitions *d, OTF2_GroupType type, uint32_t n, const uint64_t *members)
{
  uint32_t empty = 0;

  keep (d->archive,
        OTF2_GlobalDefWriter_WriteGroup (d->writer, d->n_groups, empty, type, OTF2_PARADIGM_MPI,
                                         OTF2_GROUP_FLAG_NONE, n, members));
  return d->n_groups++;
}

static void
define_comm (Definitions *d, uint32_t comm, const char *name, uint32_t group)
{
  keep (d->archive, OTF2_GlobalDefWriter_WriteComm (d->writer, comm_id (d->archive, comm),
                                                    define_string (d, name), group,
                                                    OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
}

static void
define_comms (Definitions *d)
{
  const TraceComms *comms = cli_otf2_comms_all (d->archive->comms);
  uint32_t n_ranks = d->archive->n_ranks;
  g_autofree uint64_t *members = g_new (uint64_t, n_ranks);

  for (uint32_t rank = 0; rank < n_ranks; rank++)
    members[rank] = rank;
  define_group (d, OTF2_GROUP_TYPE_COMM_LOCATIONS, n_ranks, members);
  define_comm (d, TRACE_COMMS_WORLD, "MPI_COMM_WORLD",
               define_group (d, OTF2_GROUP_TYPE_COMM_GROUP, n_ranks, members));
  for (uint32_t comm = 1; comm <= trace_comms_created (comms); comm++) {
    g_autofree char *name = g_strdup_printf ("communicator %u", comm);
    uint32_t n = trace_comms_size (comms, comm);

    for (uint32_t i = 0; i < n; i++)
      members[i] = trace_comms_world_rank (comms, comm, i, 0);
    define_comm (d, comm, name, define_group (d, OTF2_GROUP_TYPE_COMM_GROUP, n, members));
  }
  define_comm (d, TRACE_COMMS_SELF, "MPI_COMM_SELF",
               define_group (d, OTF2_GROUP_TYPE_COMM_SELF, 0, NULL));
}

/* Each location's own definitions, which readers expect to be there: none. */
static void
write_own_definitions (Archive *archive, OTF2_Archive *otf2)
{
  keep (archive, OTF2_Archive_OpenDefFiles (otf2));
  for (uint32_t rank = 0; archive->code == OTF2_SUCCESS && rank < archive->n_ranks; rank++) {
    OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter (otf2, rank);

    /* A file of nothing is not written. */
    keep (archive,
          writer == NULL ? OTF2_ERROR_MEM_FAULT : OTF2_DefWriter_WriteString (writer, 0, ""));
    if (writer != NULL)
      keep (archive, OTF2_Archive_CloseDefWriter (otf2, writer));
  }
  keep (archive, OTF2_Archive_CloseDefFiles (otf2));
}

static void
write_definitions (Archive *archive, OTF2_Archive *otf2)
{
  const SimTimeline *timeline = archive->timeline;
  Definitions d = { .archive = archive, .writer = OTF2_Archive_GetGlobalDefWriter (otf2) };
  uint64_t end = 0;
  SimTimelineEvent event;

  if (d.writer == NULL) {
    keep (archive, OTF2_ERROR_MEM_FAULT);
    return;
  }
  for (uint64_t number = 0; number < sim_timeline_size (timeline); number++)
    if (sim_timeline_event (timeline, number, &event) && !event.is_message)
      end = MAX (end, (uint64_t) event.end_ps);
  keep (archive, OTF2_GlobalDefWriter_WriteClockProperties (d.writer, TICKS_PER_S, 0, end + 1,
                                                            OTF2_UNDEFINED_TIMESTAMP));
  define_string (&d, "");
  for (uint32_t state = 0; state < sim_timeline_states (timeline); state++) {
    const SimState *it = sim_timeline_state (timeline, state);

    define_region (&d, state, it->name, it->kind);
  }
  define_region (&d, sim_timeline_states (timeline), "waiting", SIM_STATE_IDLE);
  define_places (&d);
  define_comms (&d);
  keep (archive, OTF2_Archive_CloseGlobalDefWriter (otf2, d.writer));
}

/* --- The archive --- */

static OTF2_FlushType
on_flush (void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool final)
{
  (void) data, (void) type, (void) location, (void) caller, (void) final;
  return OTF2_FLUSH;
}

/* Failures are in the codes that functions return. */
static OTF2_ErrorCode
on_error (void *data, const char *file, uint64_t line, const char *function, OTF2_ErrorCode code,
          const char *format, va_list arguments)
{
  (void) data, (void) file, (void) line, (void) function, (void) format, (void) arguments;
  return code;
}

/* Intervals by lane, each lane's in the order of time. */
static void
sort_intervals (Archive *archive)
{
  const SimTimeline *timeline = archive->timeline;
  uint32_t n_lanes = sim_timeline_lanes (timeline);
  uint64_t size = sim_timeline_size (timeline);
  g_autofree uint64_t *at = NULL;
  SimTimelineEvent event;

  archive->first = g_new0 (uint64_t, n_lanes + 1);
  archive->intervals = g_new (uint64_t, size);
  for (uint64_t number = 0; number < size; number++)
    if (sim_timeline_event (timeline, number, &event) && !event.is_message)
      archive->first[event.lane + 1]++;
  for (uint32_t lane = 0; lane < n_lanes; lane++)
    archive->first[lane + 1] += archive->first[lane];
  at = g_memdup2 (archive->first, (n_lanes + 1) * sizeof *at);
  for (uint64_t number = 0; number < size; number++)
    if (sim_timeline_event (timeline, number, &event) && !event.is_message)
      archive->intervals[at[event.lane]++] = number;
}

static gboolean
write_archive (Archive *archive, OTF2_Archive *otf2, GError **error)
{
  static const OTF2_FlushCallbacks flush = { on_flush, NULL };
  gboolean good = TRUE;

  keep (archive, OTF2_Archive_SetFlushCallbacks (otf2, &flush, NULL));
  keep (archive, OTF2_Archive_SetSerialCollectiveCallbacks (otf2));
  keep (archive, OTF2_Archive_SetCreator (otf2, "hopcast " PACKAGE_VERSION));
  keep (archive, OTF2_Archive_OpenEvtFiles (otf2));
  for (uint32_t rank = 0; good && archive->code == OTF2_SUCCESS && rank < archive->n_ranks; rank++)
    good = write_rank (archive, otf2, rank, error);
  if (!good)
    return FALSE;
  keep (archive, OTF2_Archive_CloseEvtFiles (otf2));
  write_own_definitions (archive, otf2);
  if (archive->code == OTF2_SUCCESS)
    write_definitions (archive, otf2);
  return TRUE;
}

static char *
losses_text (const Archive *archive)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (archive->n_unknown > 0)
    g_string_append_printf (
        text, "%" G_GUINT64_FORMAT " receives whose source or tag the trace does not have",
        archive->n_unknown);
  if (archive->n_inexpressible > 0)
    g_string_append_printf (text,
                            "%s%" G_GUINT64_FORMAT " one-sided calls and collectives of neighbours",
                            text->len > 0 ? ", " : "", archive->n_inexpressible);
  return text->len == 0
             ? NULL
             : g_strdup_printf ("the OTF2 archive has the times, but no records of: %s", text->str);
}

gboolean
cli_timeline_write_otf2 (const char *path, const SimTimeline *timeline, const CliRunInputs *inputs,
                         Trace *trace, char **warning, GError **error)
{
  g_autoptr (CliOtf2Comms) comms = cli_otf2_comms_new (trace, error);
  g_autoptr (CliOtf2Place) place = comms != NULL ? cli_otf2_place_new (path, error) : NULL;
  Archive archive = { .timeline = timeline,
                      .inputs = inputs,
                      .trace = trace,
                      .n_ranks = trace_ranks (trace),
                      .comms = comms };
  OTF2_ErrorCallback before;
  OTF2_Archive *otf2;
  gboolean good = TRUE;

  *warning = NULL;
  if (place == NULL)
    return FALSE;
  before = OTF2_Error_RegisterCallback (on_error, NULL);
  otf2 = OTF2_Archive_Open (cli_otf2_place_folder (place), cli_otf2_place_name (place),
                            OTF2_FILEMODE_WRITE, CHUNK_EVENT_BYTES, CHUNK_DEFINITION_BYTES,
                            OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  archive.n_events = g_new0 (uint64_t, archive.n_ranks);
  sort_intervals (&archive);
  if (otf2 == NULL)
    keep (&archive, OTF2_ERROR_FILE_CAN_NOT_OPEN);
  else {
    good = write_archive (&archive, otf2, error);
    keep (&archive, OTF2_Archive_Close (otf2));
  }
  if (good && archive.code != OTF2_SUCCESS)
    good = cli_fail (error, "%s: cannot write: %s", path, OTF2_Error_GetDescription (archive.code));
  good = good && cli_otf2_place_commit (place, error);
  *warning = good ? losses_text (&archive) : NULL;
  OTF2_Error_RegisterCallback (before, NULL);
  g_free (archive.intervals);
  g_free (archive.first);
  g_free (archive.n_events);
  return good;
}
