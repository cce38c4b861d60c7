/* dumpi_ops.c - DUMPI records into operations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/dumpi/dumpi_format.h"

/* --- Datatypes: the bytes of an element ---
 *
 * Files list the sizes of all datatypes that were alive at the end.  Ids of user
 * datatypes are used again after MPI_Type_free, so a size that follows from
 * earlier records takes precedence over the listed one. */

/* MPI_Type_size of the ids below the first user datatype, on 64-bit Linux;
 * the list in the file takes precedence (Blue Gene/P: long has 4 bytes). */
static const uint32_t builtin_bytes[] = {
  0, 0,                /* error, NULL */
  1, 1,  1,  1, 4,     /* CHAR, SIGNED_CHAR, UNSIGNED_CHAR, BYTE, WCHAR */
  2, 2,  4,  4, 8, 8,  /* SHORT, UNSIGNED_SHORT, INT, UNSIGNED, LONG, UNSIGNED_LONG */
  4, 8,  16,           /* FLOAT, DOUBLE, LONG_DOUBLE */
  8, 8,  8,            /* LONG_LONG_INT, UNSIGNED_LONG_LONG, LONG_LONG */
  1, 0,  0,            /* PACKED, LB, UB */
  8, 12, 12, 6, 8, 20, /* FLOAT_INT, DOUBLE_INT, LONG_INT, SHORT_INT, 2INT, LONG_DOUBLE_INT */
};
#define N_BUILTIN G_N_ELEMENTS (builtin_bytes)
/* Every file lists 0 for it. */
#define LONG_LONG_INT 16

/* MPI_Type_size is an int; a larger size is capped, so that a count times a size
 * cannot overflow. */
#define MAX_TYPE_BYTES G_MAXUINT32
#define UNKNOWN_BYTES  G_MAXUINT64

typedef struct {
  Trace *trace;
  GArray *bytes; /* (element-type uint64_t), by datatype */
} Types;

static uint64_t
type_bytes (const Types *types, int32_t type)
{
  return (guint) type < types->bytes->len ? g_array_index (types->bytes, uint64_t, type)
                                          : UNKNOWN_BYTES;
}

static void
set_bytes (Types *types, int32_t type, uint64_t bytes)
{
  while (types->bytes->len <= (guint) type) {
    uint64_t unknown = UNKNOWN_BYTES;

    g_array_append_val (types->bytes, unknown);
  }
  g_array_index (types->bytes, uint64_t, type) = bytes;
}

static uint64_t
product (uint64_t count, uint64_t bytes)
{
  if (count == 0)
    return 0;
  return bytes > MAX_TYPE_BYTES / count ? MAX_TYPE_BYTES : count * bytes;
}

static uint64_t
count_of (int32_t count)
{
  return count > 0 ? (uint64_t) count : 0;
}

/* Notes the size of the datatype that a record makes. */
static void
types_note (Types *types, const DumpiRecord *record)
{
  const GArray *counts = record->array[DUMPI_COUNTS], *parts = record->array[DUMPI_TYPES];
  int32_t new_type = record->scalar[DUMPI_NEW_TYPE];
  uint64_t count = count_of (record->scalar[DUMPI_COUNT]);
  uint64_t bytes = 0, n = 0; /* n: elements of the old datatype in one of the new */

  switch (record->id) {
  case DUMPI_ID_TYPE_STRUCT:
  case DUMPI_ID_TYPE_CREATE_STRUCT:
    for (guint i = 0; i < MIN (counts->len, parts->len); i++) {
      uint64_t part_bytes = type_bytes (types, dumpi_array_at (record, DUMPI_TYPES, i));

      if (part_bytes == UNKNOWN_BYTES)
        return;
      count = count_of (dumpi_array_at (record, DUMPI_COUNTS, i));
      bytes = MIN (bytes + product (count, part_bytes), MAX_TYPE_BYTES);
    }
    break;
  case DUMPI_ID_TYPE_CONTIGUOUS: n = count; break;
  case DUMPI_ID_TYPE_VECTOR:
  case DUMPI_ID_TYPE_HVECTOR:
  case DUMPI_ID_TYPE_CREATE_HVECTOR:
  case DUMPI_ID_TYPE_CREATE_INDEXED_BLOCK:
    n = product (count, count_of (record->scalar[DUMPI_BLOCK_LENGTH]));
    break;
  case DUMPI_ID_TYPE_INDEXED:
  case DUMPI_ID_TYPE_HINDEXED:
  case DUMPI_ID_TYPE_CREATE_HINDEXED:
    for (guint i = 0; i < counts->len; i++)
      n += count_of (dumpi_array_at (record, DUMPI_COUNTS, i));
    break;
  case DUMPI_ID_TYPE_CREATE_SUBARRAY:
    n = 1;
    for (guint i = 0; i < record->array[DUMPI_VALUES]->len; i++)
      n = product (n, count_of (dumpi_array_at (record, DUMPI_VALUES, i)));
    break;
  case DUMPI_ID_TYPE_DUP:
  case DUMPI_ID_TYPE_CREATE_RESIZED: n = 1; break;
  /* The size of a distributed array's part is left to the list in the file. */
  default: return;
  }
  if (record->id != DUMPI_ID_TYPE_STRUCT && record->id != DUMPI_ID_TYPE_CREATE_STRUCT) {
    bytes = type_bytes (types, record->scalar[DUMPI_TYPE]);
    if (bytes == UNKNOWN_BYTES)
      return;
    bytes = product (n, bytes);
  }
  if (new_type >= (int32_t) N_BUILTIN)
    set_bytes (types, new_type, bytes);
}

static uint64_t
types_bytes (const Types *types, int32_t count, int32_t type)
{
  uint64_t bytes = type_bytes (types, type);

  if (count < 0) {
    trace_warn (types->trace, "negative counts are read as 0");
    return 0;
  }
  if (bytes == UNKNOWN_BYTES && count > 0) {
    trace_warn (types->trace, "datatype %d " TRACE_WARNING_NO_SIZE ": its elements count as 1 byte",
                type);
    bytes = 1;
  }
  return count == 0 ? 0 : (uint64_t) count * bytes;
}

/* --- The sources of non-blocking receives from any source ---
 *
 * The record that posts a receive has no source; the status in the record that
 * completes it has.  The source is needed early: under MPICH MPI_PROC_NULL has
 * the number that DUMPI gives to MPI_ANY_SOURCE, so that a receive from
 * MPI_PROC_NULL, common at the edges of a domain, looks like a receive from any
 * source and would wait for ever. */

#define NO_RECEIVE G_MAXUINT

/* A persistent receive had different sources. */
#define SEVERAL G_MININT32

typedef struct {
  const DumpiFile *file;
  GArray *sources;        /* (element-type int32_t): the result */
  GHashTable *active;     /* request -> GArray of receive numbers, oldest first */
  GHashTable *persistent; /* request -> receive number */
  GArray *completed;
} Search;

static gpointer
key_of (const Search *search, int32_t request)
{
  return GUINT_TO_POINTER (dumpi_request (search->file, request));
}

static GArray *
queue_of (Search *search, int32_t request)
{
  gpointer key = key_of (search, request);
  GArray *queue = g_hash_table_lookup (search->active, key);

  if (queue == NULL) {
    queue = g_array_new (FALSE, FALSE, sizeof (guint));
    g_hash_table_insert (search->active, key, queue);
  }
  return queue;
}

static void
activate (Search *search, int32_t request, guint receive)
{
  g_array_append_val (queue_of (search, request), receive);
}

/* The number of a new wildcard receive, or none for any other operation. */
static guint
number_of (Search *search, const DumpiRecord *record, gboolean receives)
{
  int32_t unknown = TRACE_ANY_SOURCE;

  if (!receives || record->scalar[DUMPI_PEER] != TRACE_ANY_SOURCE)
    return NO_RECEIVE;
  g_array_append_val (search->sources, unknown);
  return search->sources->len - 1;
}

static void
start (Search *search, int32_t request)
{
  gpointer receive;

  if (!g_hash_table_lookup_extended (search->persistent, key_of (search, request), NULL, &receive))
    receive = GUINT_TO_POINTER (NO_RECEIVE);
  activate (search, request, GPOINTER_TO_UINT (receive));
}

static void
complete (Search *search, int32_t request, const DumpiStatus *status)
{
  GArray *queue = queue_of (search, request);
  guint receive;
  int32_t *source, got;

  if (queue->len == 0)
    return;
  receive = g_array_index (queue, guint, 0);
  g_array_remove_index (queue, 0);
  if (receive == NO_RECEIVE || status == NULL || status->cancelled)
    return;
  source = &g_array_index (search->sources, int32_t, receive);
  got = status->source < 0 ? TRACE_PROC_NULL : status->source;
  *source = *source == TRACE_ANY_SOURCE || *source == got ? got : SEVERAL;
}

/* Looks ahead in the file.  Returns (element-type int32_t), for each
 * non-blocking or persistent receive with a wildcard source, in their order:
 * the source, TRACE_PROC_NULL, or TRACE_ANY_SOURCE where the file has none. */
static GArray *
sources_find (const DumpiFile *file)
{
  Search search = { .file = file };
  DumpiRecord record;
  gboolean finalized = FALSE;
  gsize at = file->body;

  search.sources = g_array_new (FALSE, FALSE, sizeof (int32_t));
  search.active =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) (void (*) (void)) g_array_unref);
  search.persistent = g_hash_table_new (NULL, NULL);
  search.completed = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  dumpi_record_init (&record);
  /* An error comes up again when the stream gets there; here it ends the search. */
  while (dumpi_record_next (file, &at, finalized, &record, NULL) == TRACE_NEXT_OPERATION) {
    TraceOpKind kind = dumpi_calls[record.id].kind;
    const GArray *requests = record.array[DUMPI_REQUESTS];
    int32_t request = record.scalar[DUMPI_REQUEST];
    gboolean single = record.id == DUMPI_ID_WAIT || record.id == DUMPI_ID_TEST;

    finalized |= kind == TRACE_OP_FINALIZE;
    if (kind == TRACE_OP_ISEND || kind == TRACE_OP_IRECV) {
      activate (&search, request, number_of (&search, &record, kind == TRACE_OP_IRECV));
    } else if (kind == TRACE_OP_SEND_INIT || kind == TRACE_OP_RECV_INIT) {
      guint number = number_of (&search, &record, kind == TRACE_OP_RECV_INIT);

      g_hash_table_insert (search.persistent, key_of (&search, request), GUINT_TO_POINTER (number));
    } else if (kind == TRACE_OP_START) {
      if (requests->len == 0)
        start (&search, request);
      for (guint i = 0; i < requests->len; i++)
        start (&search, dumpi_array_at (&record, DUMPI_REQUESTS, i));
    } else if (kind == TRACE_OP_REQUEST_FREE) {
      /* A started operation goes on, but there will be no status. */
      if (g_hash_table_remove (search.persistent, key_of (&search, request)))
        g_array_set_size (queue_of (&search, request), 0);
      else
        complete (&search, request, NULL);
    }

    /* Only a wait or a test completes requests. */
    g_array_set_size (search.completed, 0);
    dumpi_record_completed (&record, search.completed);
    for (guint i = 0; i < search.completed->len; i++) {
      uint32_t index = g_array_index (search.completed, uint32_t, i);

      if (!single)
        request = dumpi_array_at (&record, DUMPI_REQUESTS, index);
      if (request != TRACE_REQUEST_NULL)
        complete (&search, request, dumpi_record_status (&record, i, index));
    }
  }
  dumpi_record_clear (&record);
  for (guint i = 0; i < search.sources->len; i++)
    if (g_array_index (search.sources, int32_t, i) == SEVERAL)
      g_array_index (search.sources, int32_t, i) = TRACE_ANY_SOURCE;
  g_array_unref (search.completed);
  g_hash_table_unref (search.persistent);
  g_hash_table_unref (search.active);
  return search.sources;
}

/* --- Windows of one-sided communication, and the groups that open them ---
 *
 * A record of an access has a window; its communicator is in the record that
 * created it.  MPI_Win_post and MPI_Win_start have a group, whose ranks must be
 * known in that communicator: groups are lists of ranks of the communicator that
 * they come from, which is enough for the usual ones (of the window's
 * communicator, or included from it). */

/* Whole groups of communicators other than MPI_COMM_WORLD have no list: their
 * size is not in the file. */
typedef struct {
  uint32_t comm;
  GArray *ranks; /* (element-type int32_t); NULL: all */
} Group;

typedef struct {
  uint32_t comm;
  GArray *started, *posted; /* (element-type int32_t); NULL: not open, or not known */
} Window;

typedef struct {
  uint32_t n_ranks;
  GHashTable *windows; /* handle -> Window */
  GHashTable *groups;  /* handle -> Group */
} Windows;

static void
group_free (gpointer data)
{
  Group *group = data;

  g_clear_pointer (&group->ranks, g_array_unref);
  g_free (group);
}

static void
window_free (gpointer data)
{
  Window *window = data;

  g_clear_pointer (&window->started, g_array_unref);
  g_clear_pointer (&window->posted, g_array_unref);
  g_free (window);
}

static Group *
find_group (const Windows *windows, uint32_t handle)
{
  return g_hash_table_lookup (windows->groups, GUINT_TO_POINTER (handle));
}

/* Takes the list. */
static void
bind_group (Windows *windows, uint32_t handle, uint32_t comm, GArray *ranks)
{
  Group *group = g_new (Group, 1);

  *group = (Group){ comm, ranks };
  g_hash_table_insert (windows->groups, GUINT_TO_POINTER (handle), group);
}

static GArray *
new_list (void)
{
  return g_array_new (FALSE, FALSE, sizeof (int32_t));
}

/* Makes the list of a whole group; FALSE when it cannot be known. */
static gboolean
has_list (const Windows *windows, Group *group)
{
  if (group->ranks != NULL)
    return TRUE;
  if (group->comm != TRACE_COMM_WORLD)
    return FALSE;
  group->ranks = new_list ();
  for (int32_t rank = 0; rank < (int32_t) windows->n_ranks; rank++)
    g_array_append_val (group->ranks, rank);
  return TRUE;
}

/* Appends the member at a place of a group; FALSE when there is none. */
static gboolean
append_member (const Group *group, int32_t place, GArray *list)
{
  if (place < 0 || (group->ranks != NULL && place >= (int32_t) group->ranks->len))
    return FALSE;
  if (group->ranks != NULL)
    place = g_array_index (group->ranks, int32_t, place);
  g_array_append_val (list, place);
  return TRUE;
}

/* The members of a group derived from a known one; FALSE when they cannot be
 * known. */
static gboolean
derive_members (const Windows *windows, Group *group, const TraceOp *op, GArray *list)
{
  g_autoptr (GHashTable) left_out = NULL;

  if (op->kind == TRACE_OP_GROUP_INCL) {
    for (uint32_t i = 0; i < op->n_values; i++)
      if (!append_member (group, op->values[i], list))
        return FALSE;
    return TRUE;
  }
  if (op->kind == TRACE_OP_GROUP_RANGE_INCL) {
    for (uint32_t i = 0; i + 2 < op->n_values; i += 3) {
      int64_t first = op->values[i], last = op->values[i + 1], stride = op->values[i + 2];

      if (stride == 0)
        return FALSE;
      /* No list has more members than there are ranks, whatever the range. */
      for (int64_t at = first; stride > 0 ? at <= last : at >= last; at += stride)
        if (list->len >= windows->n_ranks || !append_member (group, (int32_t) at, list))
          return FALSE;
    }
    return TRUE;
  }
  if (op->kind != TRACE_OP_GROUP_EXCL || !has_list (windows, group))
    return FALSE;
  left_out = g_hash_table_new (NULL, NULL);
  for (uint32_t i = 0; i < op->n_values; i++)
    g_hash_table_add (left_out, GINT_TO_POINTER (op->values[i]));
  for (int32_t i = 0; i < (int32_t) group->ranks->len; i++)
    if (!g_hash_table_contains (left_out, GINT_TO_POINTER (i)))
      append_member (group, i, list);
  return TRUE;
}

static gboolean
is_of_comm (gpointer handle, gpointer group, gpointer comm)
{
  (void) handle;
  return ((Group *) group)->comm == GPOINTER_TO_UINT (comm);
}

/* Follows an operation that makes a group or a communicator. */
static void
windows_note (Windows *windows, const TraceOp *op)
{
  if (op->kind == TRACE_OP_COMM_GROUP)
    bind_group (windows, op->new_group, op->comm, NULL);
  else if (op->kind == TRACE_OP_GROUP_FREE)
    g_hash_table_remove (windows->groups, GUINT_TO_POINTER (op->group));
  else if (op->kind > TRACE_OP_COMM_GROUP && op->kind < TRACE_OP_GROUP_FREE) {
    Group *group = find_group (windows, op->group);
    g_autoptr (GArray) list = new_list ();

    /* Unknown groups are forgotten, and accesses that need them are not
     * supported. */
    if (group != NULL && derive_members (windows, group, op, list))
      bind_group (windows, op->new_group, group->comm, g_steal_pointer (&list));
    else
      g_hash_table_remove (windows->groups, GUINT_TO_POINTER (op->new_group));
  } else if (op->kind >= TRACE_OP_COMM_DUP && op->kind <= TRACE_OP_GRAPH_CREATE)
    /* The handle may have had another communicator before. */
    g_hash_table_foreach_remove (windows->groups, is_of_comm, GUINT_TO_POINTER (op->new_comm));
}

/* Sets the communicator and the ranks of an operation on a window; FALSE when
 * they are not known.  The ranks live until the next operation. */
static gboolean
windows_use (Windows *windows, TraceOp *op)
{
  gboolean starts = op->kind == TRACE_OP_WIN_START, posts = op->kind == TRACE_OP_WIN_POST;
  GArray **list = NULL;
  Window *window;

  if (op->kind == TRACE_OP_WIN_CREATE) {
    window = g_new0 (Window, 1);
    window->comm = op->comm;
    g_hash_table_insert (windows->windows, GUINT_TO_POINTER (op->window), window);
    return TRUE;
  }
  window = g_hash_table_lookup (windows->windows, GUINT_TO_POINTER (op->window));
  if (window == NULL)
    return FALSE;
  op->comm = window->comm;
  if (starts || op->kind == TRACE_OP_WIN_COMPLETE)
    list = &window->started;
  if (posts || op->kind == TRACE_OP_WIN_WAIT)
    list = &window->posted;
  if (starts || posts) {
    Group *group = find_group (windows, op->group);

    g_clear_pointer (list, g_array_unref);
    if (op->group == TRACE_GROUP_EMPTY)
      *list = new_list ();
    else if (group != NULL && group->comm == window->comm && has_list (windows, group))
      *list = g_array_ref (group->ranks);
  }
  if (list != NULL) {
    if (*list == NULL)
      return FALSE;
    op->values = (const int32_t *) (void *) (*list)->data;
    op->n_values = (*list)->len;
  }
  if (op->kind == TRACE_OP_WIN_FREE)
    g_hash_table_remove (windows->windows, GUINT_TO_POINTER (op->window));
  return TRUE;
}

/* --- Records into operations --- */

struct DumpiOps {
  Trace *trace;
  const DumpiFile *file;
  uint32_t n_ranks;
  Types types;
  Windows windows;
  GArray *requests;             /* (element-type uint32_t) */
  GArray *completed;            /* (element-type uint32_t) */
  GArray *counts, *recv_counts; /* (element-type uint64_t) */
  GArray *sources;              /* of sources_find(), once it is needed */
  guint next_source;
};

DumpiOps *
dumpi_ops_new (Trace *trace, const DumpiFile *file, uint32_t n_ranks)
{
  DumpiOps *ops = g_new0 (DumpiOps, 1);

  ops->trace = trace;
  ops->file = file;
  ops->n_ranks = n_ranks;
  ops->windows.n_ranks = n_ranks;
  ops->windows.windows = g_hash_table_new_full (NULL, NULL, NULL, window_free);
  ops->windows.groups = g_hash_table_new_full (NULL, NULL, NULL, group_free);
  ops->requests = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  ops->completed = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  ops->counts = g_array_new (FALSE, FALSE, sizeof (uint64_t));
  ops->recv_counts = g_array_new (FALSE, FALSE, sizeof (uint64_t));

  ops->types.trace = trace;
  ops->types.bytes = g_array_new (FALSE, FALSE, sizeof (uint64_t));
  for (guint type = 0; type < N_BUILTIN; type++)
    set_bytes (&ops->types, (int32_t) type, builtin_bytes[type]);
  if (file->sizes != 0) {
    DumpiReader reader = { file->data, file->sizes, file->size, FALSE };
    int32_t n = dumpi_read_i4 (&reader);

    /* Ids are 16 bits wide. */
    n = MIN (n, G_MAXUINT16 + 1);
    for (int32_t type = 0; type < n; type++) {
      int32_t bytes = dumpi_read_i4 (&reader);

      if (!reader.failed && bytes >= 0 && !(type == LONG_LONG_INT && bytes == 0))
        set_bytes (&ops->types, type, (uint64_t) bytes);
    }
  }
  return ops;
}

void
dumpi_ops_free (DumpiOps *ops)
{
  if (ops == NULL)
    return;
  g_array_unref (ops->types.bytes);
  g_hash_table_unref (ops->windows.windows);
  g_hash_table_unref (ops->windows.groups);
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
  return TRACE_FAIL (TRACE_ERROR_RANGE, error,
                     "%s:0x%" G_GSIZE_MODIFIER "x: %s: %s %d is impossible among %u ranks",
                     ops->file->name, record->at, dumpi_calls[record->id].name, what, value,
                     ops->n_ranks);
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
  return types_bytes (&ops->types, record->scalar[DUMPI_COUNT], record->scalar[DUMPI_TYPE]);
}

static uint64_t
recv_bytes (const DumpiOps *ops, const DumpiRecord *record)
{
  return types_bytes (&ops->types, record->scalar[DUMPI_RECV_COUNT],
                      record->scalar[DUMPI_RECV_TYPE]);
}

/* Negative destinations are MPI_PROC_NULL, whatever its number was in the
 * recorded MPI. */
static gboolean
destination (const DumpiOps *ops, const DumpiRecord *record, int32_t *peer, GError **error)
{
  int32_t dest = record->scalar[DUMPI_PEER];

  if (dest >= (int32_t) ops->n_ranks)
    return range_error (ops, record, "destination", dest, error);
  *peer = dest < 0 ? TRACE_PROC_NULL : dest;
  return TRUE;
}

/* matched: the known source of a wildcard receive. */
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

/* From the status of a blocking receive or probe. */
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
  else if (posted == TRACE_ANY_SOURCE) {
    if (ops->sources == NULL)
      ops->sources = sources_find (ops->file);
    if (ops->next_source < ops->sources->len)
      matched = g_array_index (ops->sources, int32_t, ops->next_source++);
  }
  return source (ops, record, posted, matched, &op->peer, &op->matched_source, error);
}

/* The requests of a call, one or many, and those that a completion call
 * completed. */
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
    uint64_t bytes = types_bytes (&ops->types, dumpi_array_at (record, array, i), element);

    g_array_append_val (counts, bytes);
  }
}

static gboolean
convert_collective (DumpiOps *ops, const DumpiRecord *record, TraceOp *op, GError **error)
{
  op->bytes = send_bytes (ops, record);
  op->recv_bytes = recv_bytes (ops, record);
  fill_counts (ops, record, DUMPI_COUNTS, DUMPI_TYPE, DUMPI_TYPES, ops->counts);
  fill_counts (ops, record, DUMPI_RECV_COUNTS, DUMPI_RECV_TYPE, DUMPI_RECV_TYPES, ops->recv_counts);
  if (ops->counts->len > 0)
    op->counts = (const uint64_t *) (void *) ops->counts->data;
  if (ops->recv_counts->len > 0)
    op->recv_counts = (const uint64_t *) (void *) ops->recv_counts->data;
  op->n_counts = ops->counts->len;
  op->n_recv_counts = ops->recv_counts->len;

  /* With MPI_IN_PLACE, which is not recorded, as much is sent as is received, and
   * the arguments for sending are void: usually a void type or no elements. */
  if ((op->kind == TRACE_OP_ALLGATHER || op->kind == TRACE_OP_ALLTOALL) &&
      (record->scalar[DUMPI_TYPE] <= 1 || op->bytes == 0))
    op->bytes = op->recv_bytes;
  if (op->kind == TRACE_OP_ALLTOALLV && op->n_counts == 0) {
    op->counts = op->recv_counts;
    op->n_counts = op->n_recv_counts;
  }

  if (op->kind == TRACE_OP_BCAST || op->kind == TRACE_OP_REDUCE || op->kind == TRACE_OP_GATHER ||
      op->kind == TRACE_OP_GATHERV || op->kind == TRACE_OP_SCATTER ||
      op->kind == TRACE_OP_SCATTERV) {
    op->root = record->scalar[DUMPI_ROOT];
    if (op->root >= (int32_t) ops->n_ranks)
      return range_error (ops, record, "root", op->root, error);
    /* MPI_ROOT and MPI_PROC_NULL as root: between two groups. */
    if (op->root < 0)
      op->kind = TRACE_OP_UNSUPPORTED;
  }
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
  /* MPI_UNDEFINED differs between MPI libraries, but colours are not negative. */
  if (op->kind == TRACE_OP_COMM_SPLIT && (op->new_comm == TRACE_COMM_NULL || op->color < 0))
    op->color = TRACE_UNDEFINED;
  if (op->kind == TRACE_OP_CART_CREATE)
    set_values (record, DUMPI_VALUES2, &op->values2, &n_values2);
  set_values (record, DUMPI_VALUES, &op->values, &op->n_values);
  if (op->kind == TRACE_OP_CART_CREATE && n_values2 != op->n_values)
    return range_error (ops, record, "number of periods", (int32_t) n_values2, error);
  windows_note (&ops->windows, op);
  return TRUE;
}

/* The ranks are unknown when the trace begins after the creation of the window,
 * and for groups that are made in unusual ways. */
static void
use_window (DumpiOps *ops, TraceOp *op)
{
  if (windows_use (&ops->windows, op))
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
  windows_note (&ops->windows, op);
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
  /* A test without a result leaves the window unchanged. */
  if (record->id == DUMPI_ID_WIN_TEST && record->scalar[DUMPI_FLAG] == 0)
    op->kind = TRACE_OP_CALL;
  else
    use_window (ops, op);
  return TRUE;
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
  if (call->kind >= TRACE_OP_WIN_CREATE && call->kind <= TRACE_OP_WIN_WAIT)
    return convert_window (ops, record, op, error);
  if (trace_op_is_collective (call->kind))
    return convert_collective (ops, record, op, error);
  if (call->kind >= TRACE_OP_SEND && call->kind <= TRACE_OP_SEND_INIT) {
    op->bytes = send_bytes (ops, record);
    return check_request (ops, record, record->scalar[DUMPI_REQUEST], error) &&
           destination (ops, record, &op->peer, error);
  }
  if (call->kind >= TRACE_OP_RECV && call->kind <= TRACE_OP_RECV_INIT)
    return convert_recv (ops, record, op, error);
  if (call->kind == TRACE_OP_SENDRECV) {
    op->bytes = send_bytes (ops, record);
    op->recv_bytes = record->id == DUMPI_ID_SENDRECV_REPLACE ? op->bytes : recv_bytes (ops, record);
    op->recv_tag = record->scalar[DUMPI_RECV_TAG];
    return destination (ops, record, &op->peer, error) &&
           source (ops, record, record->scalar[DUMPI_RECV_PEER], source_in_status (record),
                   &op->recv_peer, &op->matched_source, error);
  }
  if (call->kind == TRACE_OP_PROBE || call->kind == TRACE_OP_IPROBE) {
    gboolean seen = call->kind == TRACE_OP_PROBE || record->scalar[DUMPI_FLAG] != 0;
    uint32_t index = 0;

    if (call->kind == TRACE_OP_IPROBE && seen) {
      g_array_append_val (ops->completed, index);
      op->completed = (const uint32_t *) (void *) ops->completed->data;
      op->n_completed = 1;
    }
    return source (ops, record, record->scalar[DUMPI_PEER],
                   seen ? source_in_status (record) : TRACE_ANY_SOURCE, &op->peer,
                   &op->matched_source, error);
  }
  if (call->kind >= TRACE_OP_START && call->kind <= TRACE_OP_TEST)
    return convert_requests (ops, record, op, error);
  if (call->kind >= TRACE_OP_COMM_DUP && call->kind <= TRACE_OP_GRAPH_CREATE)
    return convert_comm (ops, record, op, error);
  if (call->kind >= TRACE_OP_COMM_GROUP && call->kind <= TRACE_OP_GROUP_FREE)
    return convert_group (ops, record, op, error);
  types_note (&ops->types, record);
  return TRUE;
}
