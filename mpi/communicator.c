/* communicator.c - communicators and groups, rebuilt across ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A rank that takes part in a creation waits for the others, so a parent has at
 * most one creation under way.
 *
 * The lock guards what the ranks share: groups, creations, definitions and the
 * making of communicators.  The maps of a rank belong to its thread; at the end of a creation the
 * last member changes those of the others, which wait.  A communicator does not
 * move, and apart from its creation does not change once its number is known,
 * so looking one up takes no lock. */
#include "mpi/communicator.h"

#include "mpi/rank_group.h"
#include "base/small_map.h"
#include "mpi/trace_error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The contribution of one member of the parent to a creation. */
typedef struct {
  uint32_t handle; /* of the member for the new communicator */
  int32_t color, key;
  const TraceGroup *group; /* COMM_CREATE */
  bool here;
} Arrival;

typedef struct {
  TraceOpKind kind;
  uint32_t n_here;
  Arrival *arrivals; /* [size of the parent] */
  int32_t *values;   /* CART_CREATE: dims, CART_SUB: remain_dims, of the first member */
  uint32_t n_values;
} Creation;

typedef struct {
  const TraceGroup *group;
  uint32_t *dims; /* [n_dims] of a Cartesian communicator */
  uint32_t n_dims;
  bool is_cartesian, is_defined;
  Creation *creation; /* under way; NULL: none */
} Comm;

/* Communicators lie in blocks of which each is twice as large as the one before, so that none
 * moves: block b has the numbers 2^b - 1 and on. */
#define COMM_BLOCKS 32

struct TraceComms {
  uint32_t n_ranks;
  pthread_mutex_t lock;
  TraceGroups *groups;
  Comm *blocks[COMM_BLOCKS];
  uint32_t n_comms;
  BaseMap *comm_handles;  /* [n_ranks] handle -> communicator number */
  BaseMap *group_handles; /* [n_ranks] handle -> group number */
  BaseMap *windows;       /* [n_ranks] window -> communicator number; NULL: none made.  Atomic */
  GHashTable *defined;    /* gint64 (colour, group number) -> communicator number */
};

static void
creation_free (Creation *creation)
{
  if (creation == NULL)
    return;
  g_free (creation->arrivals);
  g_free (creation->values);
  g_free (creation);
}

static uint32_t
block_of (uint32_t number)
{
  return 31 - (uint32_t) __builtin_clz (number + 1);
}

static Comm *
comms_at (const TraceComms *comms, uint32_t number)
{
  uint32_t block = block_of (number);

  return &comms->blocks[block][number + 1 - (1u << block)];
}

/* Its number is the last one. */
static Comm *
comms_add (TraceComms *comms, const TraceGroup *group)
{
  uint32_t number = comms->n_comms++, block = block_of (number);
  Comm *comm;

  if (comms->blocks[block] == NULL)
    comms->blocks[block] = g_new0 (Comm, (gsize) 1 << block);
  comm = comms_at (comms, number);
  comm->group = group;
  return comm;
}

TraceComms *
trace_comms_new (uint32_t n_ranks)
{
  TraceComms *comms = g_new0 (TraceComms, 1);

  comms->n_ranks = n_ranks;
  comms->groups = trace_groups_new (n_ranks);
  pthread_mutex_init (&comms->lock, NULL);
  comms->comm_handles = g_new0 (BaseMap, n_ranks);
  comms->group_handles = g_new0 (BaseMap, n_ranks);
  comms->defined = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  comms_add (comms, trace_groups_world (comms->groups));
  return comms;
}

void
trace_comms_free (TraceComms *comms)
{
  if (comms == NULL)
    return;
  for (uint32_t rank = 0; rank < comms->n_ranks; rank++) {
    base_map_clear (&comms->comm_handles[rank]);
    base_map_clear (&comms->group_handles[rank]);
    if (comms->windows != NULL)
      base_map_clear (&comms->windows[rank]);
  }
  g_free (comms->windows);
  g_free (comms->comm_handles);
  g_free (comms->group_handles);
  g_hash_table_unref (comms->defined);
  for (uint32_t number = 0; number < comms->n_comms; number++) {
    creation_free (comms_at (comms, number)->creation);
    g_free (comms_at (comms, number)->dims);
  }
  for (uint32_t block = 0; block < COMM_BLOCKS; block++)
    g_free (comms->blocks[block]);
  pthread_mutex_destroy (&comms->lock);
  trace_groups_free (comms->groups);
  g_free (comms);
}

/* --- Saving and loading --- */

#define NO_GROUP UINT32_MAX

static void
group_dump (const TraceComms *comms, const TraceGroup **group, BaseDump *dump)
{
  uint32_t number = *group == NULL ? NO_GROUP : (*group)->number;

  BASE_DUMP_VALUE (dump, number);
  if (base_dump_loads (dump))
    *group = number == NO_GROUP ? NULL : trace_groups_at (comms->groups, number);
}

static void
creation_dump (const TraceComms *comms, Comm *parent, BaseDump *dump)
{
  bool is_under_way = parent->creation != NULL;
  Creation *it;

  BASE_DUMP_VALUE (dump, is_under_way);
  if (!is_under_way)
    return;
  if (base_dump_loads (dump)) {
    parent->creation = g_new0 (Creation, 1);
    parent->creation->arrivals = g_new0 (Arrival, parent->group->n);
  }
  it = parent->creation;
  BASE_DUMP_VALUE (dump, it->kind);
  BASE_DUMP_VALUE (dump, it->n_here);
  base_dump_list (dump, (void **) &it->values, &it->n_values, &it->n_values, sizeof *it->values);
  for (uint32_t member = 0; member < parent->group->n; member++) {
    Arrival *arrival = &it->arrivals[member];

    BASE_DUMP_VALUE (dump, arrival->handle);
    BASE_DUMP_VALUE (dump, arrival->color);
    BASE_DUMP_VALUE (dump, arrival->key);
    BASE_DUMP_VALUE (dump, arrival->here);
    group_dump (comms, &arrival->group, dump);
  }
}

static void
defined_dump (TraceComms *comms, BaseDump *dump)
{
  uint64_t n = base_dump_count (dump, g_hash_table_size (comms->defined), sizeof (gint64));
  GHashTableIter iterator;
  gpointer key, value = NULL;

  g_hash_table_iter_init (&iterator, comms->defined);
  for (uint64_t i = 0; i < n; i++) {
    uint32_t number;
    gint64 content = 0;

    if (!base_dump_loads (dump)) {
      g_hash_table_iter_next (&iterator, &key, &value);
      content = *(const gint64 *) key;
    }
    number = GPOINTER_TO_UINT (value);
    BASE_DUMP_VALUE (dump, content);
    BASE_DUMP_VALUE (dump, number);
    if (base_dump_loads (dump))
      g_hash_table_insert (comms->defined, g_memdup2 (&content, sizeof content),
                           GUINT_TO_POINTER (number));
  }
}

void
trace_comms_dump (TraceComms *comms, BaseDump *dump)
{
  bool has_windows = comms->windows != NULL;
  uint32_t n_comms = comms->n_comms;

  trace_groups_dump (comms->groups, dump);
  base_dump_section (dump, "communicators");
  BASE_DUMP_VALUE (dump, n_comms);
  for (uint32_t number = 0; number < n_comms && !base_dump_has_failed (dump); number++) {
    Comm *comm = number < comms->n_comms ? comms_at (comms, number) : comms_add (comms, NULL);

    group_dump (comms, &comm->group, dump);
    base_dump_list (dump, (void **) &comm->dims, &comm->n_dims, &comm->n_dims, sizeof *comm->dims);
    BASE_DUMP_VALUE (dump, comm->is_cartesian);
    BASE_DUMP_VALUE (dump, comm->is_defined);
    creation_dump (comms, comm, dump);
  }
  BASE_DUMP_VALUE (dump, has_windows);
  if (has_windows && comms->windows == NULL)
    comms->windows = g_new0 (BaseMap, comms->n_ranks);
  for (uint32_t rank = 0; rank < comms->n_ranks; rank++) {
    base_map_dump (&comms->comm_handles[rank], dump);
    base_map_dump (&comms->group_handles[rank], dump);
    if (has_windows)
      base_map_dump (&comms->windows[rank], dump);
  }
  defined_dump (comms, dump);
}

/* --- Looking up --- */

uint32_t
trace_comms_resolve (const TraceComms *comms, uint32_t world_rank, uint32_t handle)
{
  const BaseMapEntry *entry;

  switch (handle) {
  case TRACE_COMM_NULL: return TRACE_COMMS_NULL;
  case TRACE_COMM_WORLD: return TRACE_COMMS_WORLD;
  case TRACE_COMM_SELF: return TRACE_COMMS_SELF;
  }
  entry = base_map_find (&comms->comm_handles[world_rank], handle);
  return entry == NULL ? TRACE_COMMS_NULL : entry->value[0];
}

uint32_t
trace_comms_size (const TraceComms *comms, uint32_t comm)
{
  return comm == TRACE_COMMS_SELF ? 1 : comms_at (comms, comm)->group->n;
}

uint32_t
trace_comms_world_rank (const TraceComms *comms, uint32_t comm, uint32_t rank, uint32_t self_rank)
{
  if (comm == TRACE_COMMS_SELF)
    return self_rank;
  return trace_group_world_rank (comms_at (comms, comm)->group, rank);
}

uint32_t
trace_comms_rank (const TraceComms *comms, uint32_t comm, uint32_t world_rank)
{
  return comm == TRACE_COMMS_SELF ? 0
                                  : trace_group_rank (comms_at (comms, comm)->group, world_rank);
}

bool
trace_comms_is_world (const TraceComms *comms, uint32_t comm)
{
  return comm != TRACE_COMMS_SELF &&
         comms_at (comms, comm)->group == comms_at (comms, TRACE_COMMS_WORLD)->group;
}

uint32_t
trace_comms_created (const TraceComms *comms)
{
  return comms->n_comms - 1;
}

/* --- Handles --- */

static void
unbind (BaseMap *map, uint32_t handle)
{
  BaseMapEntry *entry = base_map_find (map, handle);

  if (entry != NULL)
    base_map_remove (map, entry);
}

/* The map of a rank's windows; NULL: no rank has made one. */
static BaseMap *
windows_of (const TraceComms *comms, uint32_t world_rank)
{
  BaseMap *windows = __atomic_load_n (&comms->windows, __ATOMIC_ACQUIRE);

  return windows == NULL ? NULL : &windows[world_rank];
}

uint32_t
trace_comms_release (TraceComms *comms, uint32_t world_rank, uint32_t handle)
{
  uint32_t comm = trace_comms_resolve (comms, world_rank, handle);
  const BaseMap *windows = windows_of (comms, world_rank);

  unbind (&comms->comm_handles[world_rank], handle);
  if (comm == TRACE_COMMS_NULL || comm == TRACE_COMMS_WORLD ||
      (comm != TRACE_COMMS_SELF && comms_at (comms, comm)->is_defined))
    return TRACE_COMMS_NULL;
  for (uint32_t place = 0; windows != NULL && place < windows->capacity; place++)
    if (windows->entries[place].key != UINT32_MAX && windows->entries[place].value[0] == comm)
      return TRACE_COMMS_NULL;
  return comm;
}

static void
bind_member (TraceComms *comms, uint32_t world_rank, uint32_t handle, uint32_t number)
{
  if (handle > TRACE_COMM_SELF && handle != UINT32_MAX)
    base_map_add (&comms->comm_handles[world_rank], handle, 0)->value[0] = number;
}

/* --- Windows --- */

void
trace_comms_window_made (TraceComms *comms, uint32_t world_rank, const TraceOp *op)
{
  uint32_t comm = trace_comms_resolve (comms, world_rank, op->comm);

  if (comm == TRACE_COMMS_NULL || op->window == UINT32_MAX)
    return;
  pthread_mutex_lock (&comms->lock);
  if (comms->windows == NULL)
    __atomic_store_n (&comms->windows, g_new0 (BaseMap, comms->n_ranks), __ATOMIC_RELEASE);
  pthread_mutex_unlock (&comms->lock);
  base_map_add (windows_of (comms, world_rank), op->window, 0)->value[0] = comm;
}

uint32_t
trace_comms_of_op (const TraceComms *comms, uint32_t world_rank, const TraceOp *op)
{
  const BaseMap *windows = trace_op_uses_window (op->kind) ? windows_of (comms, world_rank) : NULL;
  const BaseMapEntry *entry = windows == NULL ? NULL : base_map_find (windows, op->window);

  return entry == NULL ? trace_comms_resolve (comms, world_rank, op->comm) : entry->value[0];
}

void
trace_comms_window_freed (TraceComms *comms, uint32_t world_rank, const TraceOp *op)
{
  BaseMap *windows = windows_of (comms, world_rank);

  if (windows != NULL)
    unbind (windows, op->window);
}

/* --- Groups --- */

static const TraceGroup *
find_group (TraceComms *comms, uint32_t world_rank, const TraceOp *op, uint32_t handle,
            GError **error)
{
  const BaseMapEntry *entry;

  if (handle == TRACE_GROUP_EMPTY)
    return trace_groups_of (comms->groups, NULL, 0);
  entry = base_map_find (&comms->group_handles[world_rank], handle);
  if (entry == NULL) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "rank %u: %s of unknown group %u",
                 world_rank, trace_op_name (op->kind), handle);
    return NULL;
  }
  return trace_groups_at (comms->groups, entry->value[0]);
}

static const TraceGroup *
group_of_self (TraceComms *comms, uint32_t world_rank)
{
  uint32_t *ranks = g_new (uint32_t, 1);

  ranks[0] = world_rank;
  return trace_groups_of (comms->groups, ranks, 1);
}

/* The lock is held. */
static gboolean
group_apply (TraceComms *comms, uint32_t world_rank, const TraceOp *op, GError **error)
{
  BaseMap *handles = &comms->group_handles[world_rank];
  const TraceGroup *group, *second = NULL;

  if (op->kind == TRACE_OP_GROUP_FREE) {
    unbind (handles, op->group);
    return TRUE;
  }
  if (op->kind == TRACE_OP_COMM_GROUP) {
    uint32_t number = trace_comms_resolve (comms, world_rank, op->comm);

    if (number == TRACE_COMMS_NULL) {
      g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "rank %u: %s of unknown communicator %u",
                   world_rank, trace_op_name (op->kind), op->comm);
      return FALSE;
    }
    group = number == TRACE_COMMS_SELF ? group_of_self (comms, world_rank)
                                       : comms_at (comms, number)->group;
  } else {
    group = find_group (comms, world_rank, op, op->group, error);
    if (group == NULL)
      return FALSE;
    if (op->kind == TRACE_OP_GROUP_UNION || op->kind == TRACE_OP_GROUP_INTERSECTION ||
        op->kind == TRACE_OP_GROUP_DIFFERENCE) {
      second = find_group (comms, world_rank, op, op->group2, error);
      if (second == NULL)
        return FALSE;
    }
    group = trace_groups_apply (comms->groups, op, group, second, error);
    if (group == NULL) {
      g_prefix_error (error, "rank %u: ", world_rank);
      return FALSE;
    }
  }
  if (op->new_group > TRACE_GROUP_EMPTY && op->new_group != UINT32_MAX)
    base_map_add (handles, op->new_group, 0)->value[0] = group->number;
  return TRUE;
}

gboolean
trace_comms_group (TraceComms *comms, uint32_t world_rank, const TraceOp *op, GError **error)
{
  gboolean done;

  pthread_mutex_lock (&comms->lock);
  done = group_apply (comms, world_rank, op, error);
  pthread_mutex_unlock (&comms->lock);
  return done;
}

/* --- Creation: contributions of the members --- */

static gboolean
creation_error (const Comm *parent, const TraceOp *op, const char *what, GError **error)
{
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "%s on communicator %u of %u ranks: %s",
               trace_op_name (op->kind), op->comm, parent->group->n, what);
  return FALSE;
}

static gboolean
fill_arrival (TraceComms *comms, const Comm *parent, uint32_t world_rank, const TraceOp *op,
              Arrival *arrival, GError **error)
{
  uint32_t rank = trace_group_rank (parent->group, world_rank), size = parent->group->n;
  uint32_t color_stride = 1, key_stride = 1;
  uint64_t n_first = 1;

  *arrival = (Arrival){ .handle = op->new_comm, .here = true };
  if (op->kind == TRACE_OP_COMM_SPLIT) {
    /* MPI's "undefined" is the only colour below 0. */
    if (op->color < 0 && op->color != TRACE_UNDEFINED)
      return creation_error (parent, op, "negative colour", error);
    arrival->color = op->color;
    arrival->key = op->key;
    return TRUE;
  }
  if (op->kind == TRACE_OP_COMM_CREATE) {
    arrival->group = find_group (comms, world_rank, op, op->group, error);
    return arrival->group != NULL;
  }
  if (op->kind == TRACE_OP_CART_CREATE || op->kind == TRACE_OP_GRAPH_CREATE) {
    /* Without reordering, which no trace records, the first ranks form the grid
     * or graph; the others get no communicator. */
    if (op->kind == TRACE_OP_GRAPH_CREATE)
      n_first = op->color > 0 ? (uint32_t) op->color : 0;
    for (uint32_t i = 0; op->kind == TRACE_OP_CART_CREATE && i < op->n_values; i++)
      if (n_first <= size) /* the product cannot overflow */
        n_first *= op->values[i] > 0 ? (uint32_t) op->values[i] : 0;
    if (n_first == 0 || n_first > size)
      return creation_error (parent, op, "impossible number of nodes", error);
    arrival->color = rank < n_first ? 0 : TRACE_UNDEFINED;
    return TRUE;
  }
  if (op->kind == TRACE_OP_CART_SUB) {
    if (!parent->is_cartesian || parent->n_dims != op->n_values)
      return creation_error (parent, op, "not a grid of that many dimensions", error);
    /* The dropped coordinates make the colour, the kept ones the key; row-major,
     * as MPI numbers the ranks of a grid. */
    for (uint32_t dimension = parent->n_dims; dimension-- > 0;) {
      uint32_t extent = parent->dims[dimension], at = rank % extent;

      rank /= extent;
      if (op->values[dimension]) {
        arrival->key += (int32_t) (at * key_stride);
        key_stride *= extent;
      } else {
        arrival->color += (int32_t) (at * color_stride);
        color_stride *= extent;
      }
    }
    return TRUE;
  }
  g_assert (op->kind == TRACE_OP_COMM_DUP); /* every member has colour and key 0 */
  return TRUE;
}

/* --- Creation: the new communicators --- */

typedef struct {
  int32_t color, key;
  uint32_t rank; /* in the parent */
} SplitEntry;

static int
compare_split (const void *a, const void *b)
{
  const SplitEntry *one = a, *other = b;

  if (one->color != other->color)
    return one->color < other->color ? -1 : 1;
  if (one->key != other->key)
    return one->key < other->key ? -1 : 1;
  return (one->rank > other->rank) - (one->rank < other->rank);
}

/* Makes the communicator of a group of the parent's members and binds each
 * member's handle to it. */
static void
make_comm (TraceComms *comms, const Comm *parent, const Creation *creation, const TraceGroup *group)
{
  bool made = creation->kind == TRACE_OP_CART_CREATE;
  bool kept = creation->kind == TRACE_OP_COMM_DUP || creation->kind == TRACE_OP_CART_SUB;
  uint32_t number = comms->n_comms;
  Comm *comm = comms_add (comms, group);

  /* The grid is given, inherited, or the rest of an inherited one. */
  if (made || (kept && parent->is_cartesian)) {
    uint32_t n_dims = made ? creation->n_values : parent->n_dims;

    comm->is_cartesian = true;
    comm->dims = g_new (uint32_t, n_dims);
    for (uint32_t dimension = 0; dimension < n_dims; dimension++)
      if (made)
        comm->dims[comm->n_dims++] = (uint32_t) creation->values[dimension];
      else if (creation->kind == TRACE_OP_COMM_DUP || creation->values[dimension])
        comm->dims[comm->n_dims++] = parent->dims[dimension];
  }
  for (uint32_t rank = 0; rank < group->n; rank++) {
    uint32_t world_rank = trace_group_world_rank (group, rank);
    uint32_t parent_rank = trace_group_rank (parent->group, world_rank);

    bind_member (comms, world_rank, creation->arrivals[parent_rank].handle, number);
  }
}

/* Sorts the members by colour, key and rank; each colour is a communicator. */
static void
finish_split (TraceComms *comms, const Comm *parent, const Creation *creation)
{
  g_autofree SplitEntry *entries = g_new (SplitEntry, parent->group->n);
  uint32_t n = 0;

  for (uint32_t rank = 0; rank < parent->group->n; rank++)
    if (creation->arrivals[rank].color != TRACE_UNDEFINED)
      entries[n++] =
          (SplitEntry){ creation->arrivals[rank].color, creation->arrivals[rank].key, rank };
  if (n > 1)
    qsort (entries, n, sizeof *entries, compare_split);
  for (uint32_t first = 0, next; first < n; first = next) {
    uint32_t *ranks;

    for (next = first + 1; next < n && entries[next].color == entries[first].color;)
      next++;
    ranks = g_new (uint32_t, next - first);
    for (uint32_t entry = first; entry < next; entry++)
      ranks[entry - first] = trace_group_world_rank (parent->group, entries[entry].rank);
    make_comm (comms, parent, creation, trace_groups_of (comms->groups, ranks, next - first));
  }
}

/* The first member of a group makes the communicator for all of them; members
 * of the parent that are not in their own group get none. */
static gboolean
finish_groups (TraceComms *comms, const Comm *parent, const Creation *creation, GError **error)
{
  for (uint32_t rank = 0; rank < parent->group->n; rank++) {
    const TraceGroup *group = creation->arrivals[rank].group;

    if (trace_group_rank (group, trace_group_world_rank (parent->group, rank)) != 0)
      continue;
    /* Each member must be in the parent and have named this same group. */
    for (uint32_t member = 0; member < group->n; member++) {
      uint32_t world_rank = trace_group_world_rank (group, member);
      uint32_t parent_rank = trace_group_rank (parent->group, world_rank);

      if (parent_rank == TRACE_NO_MEMBER || creation->arrivals[parent_rank].group != group) {
        g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                     "comm_create: rank %u is in a group that it did not name itself", world_rank);
        return FALSE;
      }
    }
    make_comm (comms, parent, creation, group);
  }
  return TRUE;
}

/* Adds the contribution of a rank; the last one creates the communicators. */
static gboolean
arrive (TraceComms *comms, Comm *parent, uint32_t world_rank, const TraceOp *op, bool *complete,
        GError **error)
{
  uint32_t rank = trace_group_rank (parent->group, world_rank);
  uint32_t n_values = op->values == NULL ? 0 : op->n_values;
  gsize n_bytes = n_values * sizeof *op->values;
  Creation *creation = parent->creation;
  gboolean good = TRUE;
  Arrival arrival;

  if (creation != NULL && (creation->kind != op->kind || creation->n_values != n_values ||
                           (n_values > 0 && memcmp (creation->values, op->values, n_bytes) != 0)))
    return creation_error (parent, op, "other members call something else", error);
  if (!fill_arrival (comms, parent, world_rank, op, &arrival, error))
    return FALSE;
  if (creation == NULL) {
    parent->creation = creation = g_new0 (Creation, 1);
    creation->kind = op->kind;
    creation->arrivals = g_new0 (Arrival, parent->group->n);
    creation->n_values = n_values;
    creation->values = g_memdup2 (op->values, n_bytes);
  }
  g_assert (!creation->arrivals[rank].here);
  creation->arrivals[rank] = arrival;
  *complete = ++creation->n_here == parent->group->n;
  if (!*complete)
    return TRUE;

  /* A reused handle loses its former meaning, also in members that get no
   * communicator this time. */
  parent->creation = NULL;
  for (uint32_t member = 0; member < parent->group->n; member++)
    trace_comms_release (comms, trace_group_world_rank (parent->group, member),
                         creation->arrivals[member].handle);
  if (creation->kind == TRACE_OP_COMM_CREATE)
    good = finish_groups (comms, parent, creation, error);
  else
    finish_split (comms, parent, creation);
  creation_free (creation);
  return good;
}

gboolean
trace_comms_create (TraceComms *comms, uint32_t world_rank, const TraceOp *op, bool *complete,
                    GError **error)
{
  uint32_t number = trace_comms_resolve (comms, world_rank, op->comm);
  gboolean done;

  *complete = false;
  if (number == TRACE_COMMS_NULL) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "rank %u: %s on unknown communicator %u",
                 world_rank, trace_op_name (op->kind), op->comm);
    return FALSE;
  }
  pthread_mutex_lock (&comms->lock);
  if (number == TRACE_COMMS_SELF) {
    /* A creation on COMM_SELF is complete at once; the parent has no object. */
    Comm self = { .group = group_of_self (comms, world_rank) };

    done = arrive (comms, &self, world_rank, op, complete, error);
  } else
    done = arrive (comms, comms_at (comms, number), world_rank, op, complete, error);
  pthread_mutex_unlock (&comms->lock);
  if (!done)
    g_prefix_error (error, "rank %u: ", world_rank);
  return done;
}

/* --- Definition --- */

static int
compare_ranks (const void *a, const void *b)
{
  uint32_t one = *(const uint32_t *) a, other = *(const uint32_t *) b;

  return (one > other) - (one < other);
}

static gboolean definition_error (const TraceOp *op, uint32_t world_rank, GError **error,
                                  const char *format, ...) G_GNUC_PRINTF (4, 5);

static gboolean
definition_error (const TraceOp *op, uint32_t world_rank, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list arguments;

  va_start (arguments, format);
  what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "rank %u: definition of communicator %u: %s",
               world_rank, op->new_comm, what);
  return FALSE;
}

gboolean
trace_comms_define (TraceComms *comms, uint32_t world_rank, const TraceOp *op, GError **error)
{
  g_autofree uint32_t *sorted = NULL;
  gpointer number;
  const TraceGroup *group;
  uint32_t *ranks;
  gint64 key;

  if (op->new_comm <= TRACE_COMM_SELF || op->new_comm == UINT32_MAX)
    return definition_error (op, world_rank, error, "this handle is predefined");
  if (op->n_values == 0)
    return definition_error (op, world_rank, error, "no members");
  for (uint32_t rank = 0; rank < op->n_values; rank++)
    if (op->values[rank] < 0 || (uint32_t) op->values[rank] >= comms->n_ranks)
      return definition_error (op, world_rank, error, "member %d of a trace of %u ranks",
                               op->values[rank], comms->n_ranks);
  sorted = g_memdup2 (op->values, op->n_values * sizeof *sorted);
  for (uint32_t rank = 1; rank < op->n_values; rank++)
    if (sorted[rank - 1] >= sorted[rank]) {
      qsort (sorted, op->n_values, sizeof *sorted, compare_ranks);
      break;
    }
  for (uint32_t rank = 1; rank < op->n_values; rank++)
    if (sorted[rank - 1] == sorted[rank])
      return definition_error (op, world_rank, error, "a rank is a member twice");

  if (bsearch (&world_rank, sorted, op->n_values, sizeof *sorted, compare_ranks) == NULL)
    return definition_error (op, world_rank, error, "the rank itself is not a member");
  ranks = g_memdup2 (op->values, op->n_values * sizeof *ranks);
  pthread_mutex_lock (&comms->lock);
  group = trace_groups_of (comms->groups, ranks, op->n_values);
  key = (gint64) ((uint64_t) (uint32_t) op->color << 32 | group->number);
  if (!g_hash_table_lookup_extended (comms->defined, &key, NULL, &number)) {
    number = GUINT_TO_POINTER (comms->n_comms);
    comms_add (comms, group)->is_defined = true;
    g_hash_table_insert (comms->defined, g_memdup2 (&key, sizeof key), number);
  }
  pthread_mutex_unlock (&comms->lock);
  bind_member (comms, world_rank, op->new_comm, GPOINTER_TO_UINT (number));
  return TRUE;
}
