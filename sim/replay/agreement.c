/* agreement.c - do the ranks of a communicator make the same collective calls?
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Of an open collective only the rank that others are compared with and the
 * number of its call in its stream are kept.  When calls do not match, the
 * stream is read again up to that call, for its name, arguments and place. */
#include "sim/replay/agreement.h"

#include "base/random.h"
#include "sim/net/network.h"

#include <pthread.h>

/* Which sizes of a kind MPI compares. */
typedef enum {
  SIZES_NONE,
  SIZES_SAME,      /* bytes */
  SIZES_BOTH,      /* recv_bytes, and within the call bytes */
  SIZES_TO_ROOT,   /* bytes, on the root recv_bytes */
  SIZES_FROM_ROOT, /* recv_bytes, on the root bytes */
  SIZES_LIST,      /* recv_counts[] */
  SIZES_ARGUMENTS, /* values[] */
  SIZES_LIST_TO,   /* bytes with the entry in the root's recv_counts[] */
  SIZES_LIST_FROM, /* recv_bytes with the entry in the root's counts[] */
  SIZES_PAIRS,     /* counts[] with recv_counts[] of each other */
} Sizes;

static const struct {
  bool takes_part, rooted;
  uint8_t sizes; /* Sizes */
} rules[TRACE_N_OPS] = {
  [TRACE_OP_BARRIER] = { true, false, SIZES_NONE },
  [TRACE_OP_BCAST] = { true, true, SIZES_SAME },
  [TRACE_OP_GATHER] = { true, true, SIZES_TO_ROOT },
  [TRACE_OP_GATHERV] = { true, true, SIZES_LIST_TO },
  [TRACE_OP_SCATTER] = { true, true, SIZES_FROM_ROOT },
  [TRACE_OP_SCATTERV] = { true, true, SIZES_LIST_FROM },
  [TRACE_OP_ALLGATHER] = { true, false, SIZES_BOTH },
  [TRACE_OP_ALLGATHERV] = { true, false, SIZES_LIST },
  [TRACE_OP_ALLTOALL] = { true, false, SIZES_BOTH },
  [TRACE_OP_ALLTOALLV] = { true, false, SIZES_PAIRS },
  [TRACE_OP_REDUCE] = { true, true, SIZES_SAME },
  [TRACE_OP_ALLREDUCE] = { true, false, SIZES_SAME },
  [TRACE_OP_REDUCE_SCATTER] = { true, false, SIZES_LIST },
  [TRACE_OP_SCAN] = { true, false, SIZES_SAME },
  [TRACE_OP_EXSCAN] = { true, false, SIZES_SAME },
  [TRACE_OP_NEIGHBOR_ALLGATHER] = { true, false, SIZES_NONE },
  [TRACE_OP_NEIGHBOR_ALLTOALL] = { true, false, SIZES_NONE },
  [TRACE_OP_WIN_CREATE] = { true, false, SIZES_NONE },
  [TRACE_OP_WIN_FREE] = { true, false, SIZES_NONE },
  [TRACE_OP_WIN_FENCE] = { true, false, SIZES_NONE },
  [TRACE_OP_COMM_DUP] = { true, false, SIZES_NONE },
  [TRACE_OP_COMM_SPLIT] = { true, false, SIZES_NONE },
  [TRACE_OP_COMM_CREATE] = { true, false, SIZES_NONE },
  [TRACE_OP_CART_CREATE] = { true, false, SIZES_ARGUMENTS },
  [TRACE_OP_CART_SUB] = { true, false, SIZES_ARGUMENTS },
  [TRACE_OP_GRAPH_CREATE] = { true, false, SIZES_NONE },
};

/* A call that takes part, by its number among those of its rank, from 1; 0: none. */
typedef struct {
  uint32_t rank; /* in the world */
  uint32_t number;
} Call;

/* Of the kinds that are compared pair by pair; all [members]. */
typedef struct {
  /* SIZES_LIST_*: bytes of each member's part, by itself or, once that has
   * come, by the root; unknown at first.  SIZES_PAIRS: of each receiver a hash
   * of the bytes sent to it minus one of those it receives. */
  uint64_t *values;
  uint32_t *numbers; /* of the call */
} Members;

/* A collective that some members have entered. */
typedef struct {
  uint64_t size;    /* that all have in common; a hash of a list */
  Members *members; /* NULL: not needed, or not yet */
  Call first;       /* to enter */
  Call lowest;      /* of the ranks that have entered */
  Call sized;       /* the first that knew the size; of SIZES_LIST_*, the root */
  int32_t root;
  uint32_t n_entered;
  uint8_t kind; /* TraceOpKind */
  bool nonblocking;
  bool mixed;   /* calls of several collectives: nothing is compared any more */
  bool unsized; /* lists are missing: sizes are not compared any more */
} Instance;

/* Of one communicator, in the order of their numbers. */
typedef struct {
  GArray *instances; /* (element-type Instance) */
  guint n_over;      /* at the front, which all have entered */
  uint32_t base;     /* number of the first in the array */
} Queue;

struct SimAgreement {
  Trace *trace;
  const TraceComms *comms;
  bool has_sizes;
  uint32_t *n_calls;  /* [ranks] so far */
  GHashTable *queues; /* communicator -> Queue; those without open ones are not there */
  Queue *recent;      /* the one that was used last; NULL: none, or gone */
  uint32_t recent_comm;
  GError *error;        /* that has been found */
  pthread_mutex_t lock; /* of all but n_calls */
};

/* One entry, while it is compared. */
typedef struct {
  SimAgreement *agreement;
  const TraceOp *op;
  uint32_t comm, n_members;
  Call call;
} Entry;

static void
members_free (Members *members)
{
  if (members == NULL)
    return;
  g_free (members->values);
  g_free (members->numbers);
  g_free (members);
}

static void
queue_free (gpointer data)
{
  Queue *queue = data;

  for (guint i = queue->n_over; i < queue->instances->len; i++)
    members_free (g_array_index (queue->instances, Instance, i).members);
  g_array_unref (queue->instances);
  g_free (queue);
}

SimAgreement *
sim_agreement_new (Trace *trace, const TraceComms *comms)
{
  SimAgreement *agreement = g_new (SimAgreement, 1);

  *agreement = (SimAgreement){
    .trace = trace,
    .comms = comms,
    .has_sizes = trace_collectives (trace) < TRACE_COLLECTIVES_WITHOUT_SIZES,
    .n_calls = g_new0 (uint32_t, trace_ranks (trace)),
    .queues = g_hash_table_new_full (NULL, NULL, NULL, queue_free),
  };
  pthread_mutex_init (&agreement->lock, NULL);
  return agreement;
}

void
sim_agreement_free (SimAgreement *agreement)
{
  if (agreement == NULL)
    return;
  g_hash_table_unref (agreement->queues);
  g_clear_error (&agreement->error);
  pthread_mutex_destroy (&agreement->lock);
  g_free (agreement->n_calls);
  g_free (agreement);
}

/* -- saving and loading -------------------------------------------------- */

static void
members_dump (Instance *instance, uint32_t n_members, BaseDump *dump)
{
  bool has_members = instance->members != NULL;

  BASE_DUMP_VALUE (dump, has_members);
  if (!has_members)
    return;
  if (base_dump_loads (dump)) {
    instance->members = g_new (Members, 1);
    instance->members->values = g_new0 (uint64_t, n_members);
    instance->members->numbers = g_new0 (uint32_t, n_members);
  }
  base_dump_array (dump, instance->members->values, n_members, sizeof (uint64_t));
  base_dump_array (dump, instance->members->numbers, n_members, sizeof (uint32_t));
}

void
sim_agreement_dump (SimAgreement *agreement, BaseDump *dump)
{
  GHashTableIter iterator;
  gpointer key = NULL, value = NULL;
  uint64_t n_queues;

  base_dump_section (dump, "agreement");
  BASE_DUMP_VALUE (dump, agreement->has_sizes);
  base_dump_array (dump, agreement->n_calls, trace_ranks (agreement->trace),
                   sizeof *agreement->n_calls);
  n_queues = base_dump_count (dump, g_hash_table_size (agreement->queues), sizeof (Queue));
  g_hash_table_iter_init (&iterator, agreement->queues);
  for (uint64_t i = 0; i < n_queues; i++) {
    Queue *queue;
    uint32_t comm;

    if (base_dump_loads (dump)) {
      queue = g_new0 (Queue, 1);
      queue->instances = g_array_new (FALSE, TRUE, sizeof (Instance));
    } else {
      g_hash_table_iter_next (&iterator, &key, &value);
      queue = value;
    }
    comm = GPOINTER_TO_UINT (key);
    BASE_DUMP_VALUE (dump, comm);
    BASE_DUMP_VALUE (dump, queue->base);
    BASE_DUMP_VALUE (dump, queue->n_over);
    base_dump_garray (dump, queue->instances);
    for (guint at = 0; at < queue->instances->len; at++) {
      Instance *instance = &g_array_index (queue->instances, Instance, at);

      /* Of one that is over they are gone. */
      if (base_dump_loads (dump))
        instance->members = NULL;
      if (at >= queue->n_over)
        members_dump (instance, trace_comms_size (agreement->comms, comm), dump);
    }
    if (base_dump_loads (dump))
      g_hash_table_insert (agreement->queues, GUINT_TO_POINTER (comm), queue);
  }
}

/* -- open collectives ---------------------------------------------------- */

static Queue *
queue_of (SimAgreement *agreement, uint32_t comm)
{
  if (agreement->recent == NULL || agreement->recent_comm != comm) {
    agreement->recent = g_hash_table_lookup (agreement->queues, GUINT_TO_POINTER (comm));
    agreement->recent_comm = comm;
  }
  return agreement->recent;
}

/* Found or opened; the pointer holds until the next one is opened. */
static Instance *
instance_at (SimAgreement *agreement, uint32_t comm, uint32_t sequence)
{
  Queue *queue = queue_of (agreement, comm);
  uint32_t place;

  if (queue == NULL) {
    queue = agreement->recent = g_new (Queue, 1);
    *queue = (Queue){ g_array_new (FALSE, TRUE, sizeof (Instance)), 0, sequence };
    g_hash_table_insert (agreement->queues, GUINT_TO_POINTER (comm), queue);
  }
  place = sequence - queue->base;
  g_assert (place >= queue->n_over && place <= queue->instances->len);
  if (place == queue->instances->len)
    g_array_set_size (queue->instances, place + 1);
  return &g_array_index (queue->instances, Instance, place);
}

/* All have entered the oldest one: members enter them in order. */
static void
instance_close (SimAgreement *agreement, uint32_t comm)
{
  Queue *queue = queue_of (agreement, comm);

  members_free (g_array_index (queue->instances, Instance, queue->n_over).members);
  queue->n_over++;
  if (queue->n_over == queue->instances->len) {
    g_hash_table_remove (agreement->queues, GUINT_TO_POINTER (comm));
    agreement->recent = NULL;
  } else if (2 * queue->n_over > queue->instances->len) {
    g_array_remove_range (queue->instances, 0, queue->n_over);
    queue->base += queue->n_over;
    queue->n_over = 0;
  }
}

/* -- messages --------------------------------------------------------- */

/* A call that was made, read again. */
typedef struct {
  TraceCursor *cursor;
  TraceOp op; /* its lists live as long as the cursor stands here */
} Found;

static void
found_clear (Found *found)
{
  trace_cursor_free (found->cursor);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Found, found_clear)

/* FALSE when the stream cannot be read a second time. */
static gboolean
call_find (const SimAgreement *agreement, Call call, Found *found)
{
  uint32_t number = 0;

  found->cursor = trace_cursor_new (agreement->trace, call.rank, NULL);
  while (found->cursor != NULL &&
         trace_cursor_next (found->cursor, &found->op, NULL) == TRACE_NEXT_OPERATION)
    if (rules[found->op.kind].takes_part && ++number == call.number)
      return TRUE;
  return FALSE;
}

static void
append_call (GString *text, const SimAgreement *agreement, Call call)
{
  g_auto (Found) found = { NULL };

  if (call_find (agreement, call, &found))
    g_string_append_printf (text, "rank %u, %s at %s", call.rank, found.op.name,
                            trace_cursor_place (found.cursor));
  else
    g_string_append_printf (text, "rank %u at %s", call.rank, trace_path (agreement->trace));
}

/* "rank 1, MPI_Bcast at PLACE: does not match rank 0, MPI_Bcast at PLACE: MINE
 * against THEIRS"; a call that contradicts itself is named once. */
static gboolean
refuse (const SimAgreement *agreement, Call mine, const char *what_mine, Call theirs,
        const char *what_theirs, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);

  append_call (text, agreement, mine);
  if (theirs.rank != mine.rank) {
    g_string_append (text, ": does not match ");
    append_call (text, agreement, theirs);
  }
  g_set_error (error, SIM_ERROR, SIM_ERROR_MISMATCH, "%s: %s against %s", text->str, what_mine,
               what_theirs);
  return FALSE;
}

#define BYTES "%" G_GUINT64_FORMAT " bytes"

/* In words, the size in a call that all members, or all but the root, must
 * have in common. */
static char *
describe_size (const SimAgreement *agreement, uint32_t comm, uint32_t rank, const TraceOp *op)
{
  bool root = op->root == (int32_t) trace_comms_rank (agreement->comms, comm, rank);
  GString *text;

  switch ((Sizes) rules[op->kind].sizes) {
  case SIZES_BOTH: return g_strdup_printf (BYTES " received from each rank", op->recv_bytes);
  case SIZES_TO_ROOT:
    return root ? g_strdup_printf (BYTES " received from each rank", op->recv_bytes)
                : g_strdup_printf (BYTES " sent", op->bytes);
  case SIZES_FROM_ROOT:
    return root ? g_strdup_printf (BYTES " sent to each rank", op->bytes)
                : g_strdup_printf (BYTES " received", op->recv_bytes);
  case SIZES_ARGUMENTS:
    text = g_string_new (NULL);
    for (uint32_t i = 0; op->values != NULL && i < op->n_values; i++)
      g_string_append_printf (text, i == 0 ? "%d" : " x %d", op->values[i]);
    return g_string_free (text, FALSE);
  case SIZES_SAME:
  case SIZES_NONE:
  case SIZES_LIST:
  case SIZES_LIST_TO:
  case SIZES_LIST_FROM:
  case SIZES_PAIRS: break;
  }
  return g_strdup_printf (BYTES, op->bytes);
}

/* -- call and root ------------------------------------------------------- */

/* Where the trace has lost communicators, the n-th calls are not one collective. */
static gboolean
calls_differ (const Entry *entry, Instance *instance, const char *mine, const char *theirs,
              GError **error)
{
  if (trace_collectives (entry->agreement->trace) < TRACE_COLLECTIVES_MIXED)
    return refuse (entry->agreement, entry->call, mine, instance->first, theirs, error);
  instance->mixed = true;
  return TRUE;
}

static gboolean
compare_calls (const Entry *entry, Instance *instance, GError **error)
{
  const TraceOp *op = entry->op;
  g_autofree char *root = NULL, *other = NULL;

  if (instance->kind != op->kind)
    return calls_differ (entry, instance, trace_op_name (op->kind),
                         trace_op_name ((TraceOpKind) instance->kind), error);
  if (instance->nonblocking != op->nonblocking)
    return calls_differ (entry, instance, op->nonblocking ? "nonblocking" : "blocking",
                         op->nonblocking ? "blocking" : "nonblocking", error);
  if (!rules[op->kind].rooted || instance->root == op->root)
    return TRUE;
  root = g_strdup_printf ("root %d", op->root);
  other = g_strdup_printf ("root %d", instance->root);
  return calls_differ (entry, instance, root, other, error);
}

/* -- sizes that all have in common --------------------------------------- */

/* Asked when sizes differ: by then a trace has told whether it guesses them. */
static bool
sizes_are_known (const Entry *entry)
{
  return trace_collectives (entry->agreement->trace) < TRACE_COLLECTIVES_WITHOUT_SIZES;
}

static uint32_t
member_of (const Entry *entry)
{
  return trace_comms_rank (entry->agreement->comms, entry->comm, entry->call.rank);
}

/* NULL: the trace does not have it. */
static const uint64_t *
sent_list (const Entry *entry)
{
  return entry->op->n_counts == entry->n_members ? entry->op->counts : NULL;
}

static const uint64_t *
received_list (const Entry *entry)
{
  return entry->op->n_recv_counts == entry->n_members ? entry->op->recv_counts : NULL;
}

/* Unknown when there is nothing to compare. */
static uint64_t
common_size (const Entry *entry)
{
  const TraceOp *op = entry->op;
  uint64_t hash;

  switch ((Sizes) rules[op->kind].sizes) {
  case SIZES_SAME: return op->bytes;
  case SIZES_BOTH: return op->recv_bytes;
  case SIZES_TO_ROOT: return op->root == (int32_t) member_of (entry) ? op->recv_bytes : op->bytes;
  case SIZES_FROM_ROOT: return op->root == (int32_t) member_of (entry) ? op->bytes : op->recv_bytes;
  case SIZES_LIST:
    if (received_list (entry) == NULL)
      return TRACE_UNKNOWN_BYTES;
    hash = entry->n_members;
    for (uint32_t i = 0; i < entry->n_members; i++) {
      if (op->recv_counts[i] == TRACE_UNKNOWN_BYTES)
        return TRACE_UNKNOWN_BYTES;
      hash = base_random_mix (hash + op->recv_counts[i]);
    }
    return hash;
  case SIZES_ARGUMENTS:
    hash = op->values == NULL ? 0 : op->n_values;
    for (uint32_t i = 0; op->values != NULL && i < op->n_values; i++)
      hash = base_random_mix (hash + (uint32_t) op->values[i]);
    return hash;
  case SIZES_NONE:
  case SIZES_LIST_TO:
  case SIZES_LIST_FROM:
  case SIZES_PAIRS: break;
  }
  return TRACE_UNKNOWN_BYTES;
}

static gboolean
compare_common (const Entry *entry, Instance *instance, GError **error)
{
  const SimAgreement *agreement = entry->agreement;
  const TraceOp *op = entry->op;
  uint64_t size = common_size (entry);
  g_auto (Found) found = { NULL };
  g_autofree char *mine = NULL, *theirs = NULL;

  if (size == TRACE_UNKNOWN_BYTES)
    return TRUE;
  if (instance->sized.number == 0) {
    instance->size = size;
    instance->sized = entry->call;
    return TRUE;
  }
  if (instance->size == size || !sizes_are_known (entry))
    return TRUE;
  if (!call_find (agreement, instance->sized, &found))
    return refuse (agreement, entry->call, "other sizes", instance->sized, "these", error);
  if (rules[op->kind].sizes == SIZES_LIST) { /* the first entry that differs */
    uint32_t i = 0, world;

    while (i + 1 < MIN (op->n_recv_counts, found.op.n_recv_counts) &&
           op->recv_counts[i] == found.op.recv_counts[i])
      i++;
    world = trace_comms_world_rank (agreement->comms, entry->comm, i, entry->call.rank);
    mine = g_strdup_printf (BYTES " for rank %u", op->recv_counts[i], world);
    theirs = g_strdup_printf (BYTES " for rank %u", found.op.recv_counts[i], world);
  } else {
    mine = describe_size (agreement, entry->comm, entry->call.rank, op);
    theirs = describe_size (agreement, entry->comm, instance->sized.rank, &found.op);
  }
  return refuse (agreement, entry->call, mine, instance->sized, theirs, error);
}

/* A rank receives as many bytes from itself as it sends to itself.  With MPI_IN_PLACE the sending
 * side is void, and not every format has it as the receiving one then. */
static gboolean
compare_with_itself (const Entry *entry, GError **error)
{
  const TraceOp *op = entry->op;
  bool list = op->kind == TRACE_OP_ALLGATHERV;
  uint64_t received = op->recv_bytes;
  g_autofree char *mine = NULL, *theirs = NULL;

  if (!list && rules[op->kind].sizes != SIZES_BOTH)
    return TRUE;
  if (list)
    received =
        received_list (entry) == NULL ? TRACE_UNKNOWN_BYTES : op->recv_counts[member_of (entry)];
  if (op->bytes == received || op->bytes == TRACE_UNKNOWN_BYTES ||
      received == TRACE_UNKNOWN_BYTES ||
      trace_collectives (entry->agreement->trace) > TRACE_COLLECTIVES_KNOWN)
    return TRUE;
  mine = g_strdup_printf (BYTES " sent", op->bytes);
  theirs = g_strdup_printf (BYTES " received from %s", received, list ? "itself" : "each rank");
  return refuse (entry->agreement, entry->call, mine, entry->call, theirs, error);
}

/* -- sizes pair by pair -------------------------------------------------- */

static Call
member_call (const Entry *entry, const Members *members, uint32_t member)
{
  return (Call){ trace_comms_world_rank (entry->agreement->comms, entry->comm, member,
                                         entry->call.rank),
                 members->numbers[member] };
}

/* One member's part of a gatherv or scatterv, and the root's list. */
static gboolean
refuse_part (const Entry *entry, const Instance *instance, uint32_t member, uint64_t part,
             uint64_t listed, GError **error)
{
  bool gathers = rules[entry->op->kind].sizes == SIZES_LIST_TO;
  Call call = member_call (entry, instance->members, member);
  g_autofree char *at_member = g_strdup_printf (BYTES " %s", part, gathers ? "sent" : "received");
  g_autofree char *at_root = g_strdup_printf (BYTES " %s rank %u", listed,
                                              gathers ? "received from" : "sent to", call.rank);

  if (call.rank == entry->call.rank)
    return refuse (entry->agreement, call, at_member, instance->sized, at_root, error);
  return refuse (entry->agreement, entry->call, at_root, call, at_member, error);
}

static bool
parts_differ (const Entry *entry, uint64_t one, uint64_t other)
{
  return one != other && one != TRACE_UNKNOWN_BYTES && other != TRACE_UNKNOWN_BYTES &&
         sizes_are_known (entry);
}

static gboolean
compare_parts (const Entry *entry, Instance *instance, GError **error)
{
  const TraceOp *op = entry->op;
  bool gathers = rules[op->kind].sizes == SIZES_LIST_TO;
  uint32_t me = member_of (entry);
  uint64_t part = gathers ? op->bytes : op->recv_bytes;
  uint64_t *listed = &instance->members->values[me];

  if (op->root == (int32_t) me) {
    const uint64_t *list = gathers ? received_list (entry) : sent_list (entry);
    uint64_t *parts = instance->members->values;

    instance->sized = entry->call;
    for (uint32_t member = 0; list != NULL && member < entry->n_members; member++) {
      if (member == me)
        continue;
      if (parts_differ (entry, parts[member], list[member]))
        return refuse_part (entry, instance, member, parts[member], list[member], error);
      parts[member] = list[member];
    }
    return TRUE;
  }
  if (instance->sized.number > 0 && parts_differ (entry, part, *listed))
    return refuse_part (entry, instance, me, part, *listed, error);
  if (instance->sized.number == 0)
    *listed = part;
  return TRUE;
}

/* Looks for the sender whose bytes are not those that the receiver expects. */
static gboolean
refuse_pair (const Entry *entry, const Instance *instance, uint32_t receiver, GError **error)
{
  const SimAgreement *agreement = entry->agreement;
  Call to = member_call (entry, instance->members, receiver);
  g_auto (Found) receives = { NULL };
  gboolean found = call_find (agreement, to, &receives);

  for (uint32_t sender = 0; found && sender < entry->n_members; sender++) {
    uint64_t expected = receives.op.recv_counts[sender];
    Call from = member_call (entry, instance->members, sender);
    g_auto (Found) sends = { NULL };
    g_autofree char *sent = NULL, *received = NULL;

    if (sender == receiver || !call_find (agreement, from, &sends) ||
        sends.op.counts[receiver] == expected)
      continue;
    sent = g_strdup_printf (BYTES " sent to rank %u", sends.op.counts[receiver], to.rank);
    received = g_strdup_printf (BYTES " received from rank %u", expected, from.rank);
    return refuse (agreement, from, sent, to, received, error);
  }
  return refuse (agreement, entry->call, "bytes sent", to, "other bytes received", error);
}

/* Entries of 0 are left out, and hashes of equal ones cancel out.  The data that a
 * rank copies to itself moves nothing.  Compared when all have entered. */
static gboolean
compare_pairs (const Entry *entry, Instance *instance, GError **error)
{
  const TraceOp *op = entry->op;
  uint64_t *sums = instance->members->values;
  uint32_t me = member_of (entry);
  bool listed = sent_list (entry) != NULL && received_list (entry) != NULL;

  if (!listed)
    instance->unsized = true;
  for (uint32_t peer = 0; listed && peer < entry->n_members; peer++) {
    if (op->counts[peer] == TRACE_UNKNOWN_BYTES || op->recv_counts[peer] == TRACE_UNKNOWN_BYTES)
      instance->unsized = true;
    if (peer == me)
      continue;
    if (op->counts[peer] > 0)
      sums[peer] += base_random_mix (base_random_mix (me) + op->counts[peer]);
    if (op->recv_counts[peer] > 0)
      sums[me] -= base_random_mix (base_random_mix (peer) + op->recv_counts[peer]);
  }
  if (instance->n_entered < entry->n_members || instance->unsized)
    return TRUE;
  for (uint32_t member = 0; member < entry->n_members; member++)
    if (sums[member] != 0)
      return !sizes_are_known (entry) || refuse_pair (entry, instance, member, error);
  return TRUE;
}

/* -- entering ------------------------------------------------------------ */

static gboolean
compare_sizes (const Entry *entry, Instance *instance, GError **error)
{
  Sizes sizes = (Sizes) rules[entry->op->kind].sizes;

  if (sizes < SIZES_LIST_TO)
    return compare_common (entry, instance, error) && compare_with_itself (entry, error);
  if (instance->members == NULL) {
    Members *members = instance->members = g_new (Members, 1);

    members->values = g_new0 (uint64_t, entry->n_members);
    members->numbers = g_new0 (uint32_t, entry->n_members);
    for (uint32_t member = 0; sizes != SIZES_PAIRS && member < entry->n_members; member++)
      members->values[member] = TRACE_UNKNOWN_BYTES;
  }
  instance->members->numbers[member_of (entry)] = entry->call.number;
  return sizes == SIZES_PAIRS ? compare_pairs (entry, instance, error)
                              : compare_parts (entry, instance, error);
}

static gboolean
enter (const Entry *entry, uint32_t sequence, GError **error)
{
  SimAgreement *agreement = entry->agreement;
  const TraceOp *op = entry->op;
  Instance *instance = instance_at (agreement, entry->comm, sequence);

  if (instance->n_entered++ == 0) {
    instance->first = instance->lowest = entry->call;
    instance->kind = (uint8_t) op->kind;
    instance->nonblocking = op->nonblocking;
    instance->root = op->root;
  }
  if (entry->call.rank < instance->lowest.rank)
    instance->lowest = entry->call;
  if (!instance->mixed && !compare_calls (entry, instance, error))
    return FALSE;
  if (!instance->mixed && agreement->has_sizes && !compare_sizes (entry, instance, error))
    return FALSE;
  if (instance->n_entered == entry->n_members)
    instance_close (agreement, entry->comm);
  return TRUE;
}

gboolean
sim_agreement_enter (SimAgreement *agreement, uint32_t rank, uint32_t comm, uint32_t sequence,
                     const TraceOp *op, GError **error)
{
  Entry entry = {
    .agreement = agreement,
    .op = op,
    .comm = comm,
    .n_members = trace_comms_size (agreement->comms, comm),
    .call = { rank, ++agreement->n_calls[rank] },
  };
  gboolean agrees;

  g_assert (rules[op->kind].takes_part);
  if (entry.n_members == 1)
    return TRUE;
  pthread_mutex_lock (&agreement->lock);
  agrees = agreement->error == NULL && enter (&entry, sequence, &agreement->error);
  if (!agrees)
    g_propagate_error (error, g_error_copy (agreement->error));
  pthread_mutex_unlock (&agreement->lock);
  return agrees;
}

/* Not by the numbers of communicators, which depend on the order of their making. */
static bool
is_before (Call one, Call other)
{
  return one.rank != other.rank ? one.rank < other.rank : one.number < other.number;
}

char *
sim_agreement_left (const SimAgreement *agreement)
{
  Call first = { 0, 0 }; /* of the lowest rank */
  g_autoptr (GString) text = NULL;
  GHashTableIter iterator;
  gpointer value;
  uint64_t n = 0;

  g_hash_table_iter_init (&iterator, agreement->queues);
  while (g_hash_table_iter_next (&iterator, NULL, &value)) {
    const Queue *queue = value;

    for (guint i = queue->n_over; i < queue->instances->len; i++) {
      Call lowest = g_array_index (queue->instances, Instance, i).lowest;

      if (n++ == 0 || is_before (lowest, first))
        first = lowest;
    }
  }
  if (n == 0)
    return NULL;
  text = g_string_new (NULL);
  g_string_append_printf (text,
                          "%" G_GUINT64_FORMAT
                          " collectives were not entered by all ranks of their communicator;"
                          " the first: ",
                          n);
  append_call (text, agreement, first);
  return g_string_free (g_steal_pointer (&text), FALSE);
}
