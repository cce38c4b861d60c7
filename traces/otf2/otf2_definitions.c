/* otf2_definitions.c - the definitions that all ranks of an OTF2 archive share.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Definitions come in any order, so that all of them are gathered before any is
 * looked up.  EZTrace gives the group of locations and the group of
 * MPI_COMM_WORLD the same number, which is why the former is kept apart. */
#include "traces/otf2/otf2_definitions.h"
#include "traces/format.h"

#include <string.h>

static Otf2CallKind
region_kind (const char *name)
{
  static const struct {
    const char *name;
    Otf2CallKind kind;
  } calls[] = {
    { "MPI_Init", OTF2_CALL_INIT },
    { "MPI_Init_thread", OTF2_CALL_INIT },
    { "MPI_Finalize", OTF2_CALL_FINALIZE },
    { "MPI_Sendrecv", OTF2_CALL_SENDRECV },
    { "MPI_Sendrecv_replace", OTF2_CALL_SENDRECV },
    { "MPI_Wait", OTF2_CALL_WAIT },
    { "MPI_Waitall", OTF2_CALL_WAIT },
    { "MPI_Waitany", OTF2_CALL_WAIT_SOME },
    { "MPI_Waitsome", OTF2_CALL_WAIT_SOME },
    { "MPI_Test", OTF2_CALL_TEST },
    { "MPI_Testall", OTF2_CALL_TEST },
    { "MPI_Testany", OTF2_CALL_TEST },
    { "MPI_Testsome", OTF2_CALL_TEST },
  };
  static const char *const moves[] = {
    "MPI_Barrier",
    "MPI_Ibarrier",
    "MPI_Bcast",
    "MPI_Ibcast",
    "MPI_Gather",
    "MPI_Igather",
    "MPI_Gatherv",
    "MPI_Igatherv",
    "MPI_Scatter",
    "MPI_Iscatter",
    "MPI_Scatterv",
    "MPI_Iscatterv",
    "MPI_Allgather",
    "MPI_Iallgather",
    "MPI_Allgatherv",
    "MPI_Iallgatherv",
    "MPI_Alltoall",
    "MPI_Ialltoall",
    "MPI_Alltoallv",
    "MPI_Ialltoallv",
    "MPI_Alltoallw",
    "MPI_Ialltoallw",
    "MPI_Reduce",
    "MPI_Ireduce",
    "MPI_Allreduce",
    "MPI_Iallreduce",
    "MPI_Reduce_scatter",
    "MPI_Ireduce_scatter",
    "MPI_Reduce_scatter_block",
    "MPI_Ireduce_scatter_block",
    "MPI_Scan",
    "MPI_Iscan",
    "MPI_Exscan",
    "MPI_Iexscan",
    "MPI_Neighbor_allgather",
    "MPI_Ineighbor_allgather",
    "MPI_Neighbor_allgatherv",
    "MPI_Ineighbor_allgatherv",
    "MPI_Neighbor_alltoall",
    "MPI_Ineighbor_alltoall",
    "MPI_Neighbor_alltoallv",
    "MPI_Ineighbor_alltoallv",
    "MPI_Neighbor_alltoallw",
    "MPI_Ineighbor_alltoallw",
    "MPI_Put",
    "MPI_Get",
    "MPI_Accumulate",
    "MPI_Get_accumulate",
    "MPI_Fetch_and_op",
    "MPI_Compare_and_swap",
    "MPI_Rput",
    "MPI_Rget",
    "MPI_Raccumulate",
    "MPI_Rget_accumulate",
  };

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    if (strcmp (name, calls[i].name) == 0)
      return calls[i].kind;
  for (guint i = 0; i < G_N_ELEMENTS (moves); i++)
    if (strcmp (name, moves[i]) == 0)
      return OTF2_CALL_MOVES;
  return OTF2_CALL_OTHER;
}

/* --- Definitions as they are read --- */

#define FIRST_HANDLE (TRACE_COMM_SELF + 1)
/* How many regions a message lists. */
#define SHOWN_REGIONS 8

typedef struct {
  gboolean is_self;
  uint64_t *members;
  uint32_t n_members;
} Group;

typedef struct {
  uint32_t id, name, group;
  gboolean inter;
} RawComm;

typedef struct {
  uint32_t id, name;
  gboolean is_mpi;
} RawRegion;

struct Otf2Definitions {
  uint64_t ticks_per_s;
  uint64_t *locations; /* [n_ranks] */
  uint32_t n_ranks;
  GHashTable *known;   /* set of uint64_t: locations that are defined */
  GHashTable *strings; /* uint32_t -> utf8 */
  GHashTable *groups;  /* uint32_t -> Group */
  GArray *raw_regions; /* (element-type RawRegion) */
  GArray *raw_comms;   /* (element-type RawComm) */
  GHashTable *regions; /* uint32_t -> Otf2Region */
  GHashTable *comms;   /* uint32_t -> Otf2Comm */
  GHashTable *windows; /* uint32_t -> uint32_t, of its communicator */
};

static void
group_free (gpointer data)
{
  Group *group = data;

  g_free (group->members);
  g_free (group);
}

static void
comm_free (gpointer data)
{
  Otf2Comm *comm = data;

  g_free (comm->ranks);
  g_free (comm);
}

Otf2Definitions *
otf2_definitions_new (void)
{
  Otf2Definitions *d = g_new0 (Otf2Definitions, 1);

  d->known = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  d->strings = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  d->groups = g_hash_table_new_full (NULL, NULL, NULL, group_free);
  d->raw_regions = g_array_new (FALSE, FALSE, sizeof (RawRegion));
  d->raw_comms = g_array_new (FALSE, FALSE, sizeof (RawComm));
  d->regions = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  d->comms = g_hash_table_new_full (NULL, NULL, NULL, comm_free);
  d->windows = g_hash_table_new (NULL, NULL);
  return d;
}

void
otf2_definitions_free (Otf2Definitions *d)
{
  if (d == NULL)
    return;
  g_hash_table_unref (d->known);
  g_hash_table_unref (d->strings);
  g_hash_table_unref (d->groups);
  g_array_unref (d->raw_regions);
  g_array_unref (d->raw_comms);
  g_hash_table_unref (d->regions);
  g_hash_table_unref (d->comms);
  g_hash_table_unref (d->windows);
  g_free (d->locations);
  g_free (d);
}

void
otf2_definitions_clock (Otf2Definitions *d, uint64_t ticks_per_s)
{
  d->ticks_per_s = ticks_per_s;
}

void
otf2_definitions_string (Otf2Definitions *d, uint32_t id, const char *text)
{
  g_hash_table_replace (d->strings, GUINT_TO_POINTER (id), g_utf8_make_valid (text, -1));
}

void
otf2_definitions_location (Otf2Definitions *d, uint64_t id)
{
  uint64_t *key = g_new (uint64_t, 1);

  *key = id;
  g_hash_table_add (d->known, key);
}

void
otf2_definitions_region (Otf2Definitions *d, uint32_t id, uint32_t name, gboolean is_mpi)
{
  RawRegion region = { id, name, is_mpi };

  g_array_append_val (d->raw_regions, region);
}

void
otf2_definitions_mpi_locations (Otf2Definitions *d, const uint64_t *members, uint32_t n_members)
{
  if (d->n_ranks != 0)
    return;
  d->locations = g_memdup2 (members, n_members * sizeof *members);
  d->n_ranks = n_members;
}

void
otf2_definitions_mpi_group (Otf2Definitions *d, uint32_t id, gboolean is_self,
                            const uint64_t *members, uint32_t n_members)
{
  Group *group = g_new (Group, 1);

  group->is_self = is_self;
  group->members = g_memdup2 (members, n_members * sizeof *members);
  group->n_members = n_members;
  g_hash_table_replace (d->groups, GUINT_TO_POINTER (id), group);
}

void
otf2_definitions_comm (Otf2Definitions *d, uint32_t id, uint32_t name, uint32_t group)
{
  RawComm comm = { id, name, group, FALSE };

  g_array_append_val (d->raw_comms, comm);
}

void
otf2_definitions_intercomm (Otf2Definitions *d, uint32_t id)
{
  RawComm comm = { .id = id, .inter = TRUE };

  g_array_append_val (d->raw_comms, comm);
}

void
otf2_definitions_window (Otf2Definitions *d, uint32_t id, uint32_t comm)
{
  g_hash_table_replace (d->windows, GUINT_TO_POINTER (id), GUINT_TO_POINTER (comm));
}

/* --- Put together --- */

static const char *
text_of (const Otf2Definitions *d, uint32_t id)
{
  const char *text = g_hash_table_lookup (d->strings, GUINT_TO_POINTER (id));

  return text != NULL ? text : "";
}

/* Communicators are recognised by their members in order and by the number of
 * communicators with the same members that the same rank defined before: both
 * are equal in all ranks of one communicator. */
typedef struct {
  GHashTable *colors; /* utf8 -> color + 1 */
  GHashTable *seen;   /* utf8 -> count */
  int32_t next_color;
} Merging;

static int32_t
merged_color (const Otf2Definitions *d, Merging *merging, uint32_t id, const Otf2Comm *comm)
{
  g_autoptr (GString) key = g_string_new (NULL);
  g_autofree char *own = NULL;
  uint64_t owner = 0;
  guint count, color;

  /* EZTrace numbers the definitions of each process upwards from the number of
   * its location. */
  for (uint32_t rank = 0; rank < d->n_ranks; rank++)
    if (d->locations[rank] <= id && d->locations[rank] > owner)
      owner = d->locations[rank];
  for (uint32_t i = 0; i < comm->n_ranks; i++)
    g_string_append_printf (key, "%d ", comm->ranks[i]);
  own = g_strdup_printf ("%" G_GUINT64_FORMAT ":%s", owner, key->str);
  count = GPOINTER_TO_UINT (g_hash_table_lookup (merging->seen, own)) + 1;
  g_hash_table_replace (merging->seen, g_steal_pointer (&own), GUINT_TO_POINTER (count));
  g_string_append_printf (key, "#%u", count);
  color = GPOINTER_TO_UINT (g_hash_table_lookup (merging->colors, key->str));
  if (color == 0) {
    color = (guint) ++merging->next_color;
    g_hash_table_insert (merging->colors, g_strdup (key->str), GUINT_TO_POINTER (color));
  }
  return (int32_t) color - 1;
}

/* The communicator of that name, else the first with all ranks in order, is
 * MPI_COMM_WORLD. */
static void
find_world (Otf2Definitions *d)
{
  Otf2Comm *world = NULL;

  for (guint i = 0; i < d->raw_comms->len; i++) {
    const RawComm *raw = &g_array_index (d->raw_comms, RawComm, i);
    Otf2Comm *comm = g_hash_table_lookup (d->comms, GUINT_TO_POINTER (raw->id));
    gboolean named = g_str_equal (text_of (d, raw->name), "MPI_COMM_WORLD");
    uint32_t rank = 0;

    if (comm == NULL || comm->ranks == NULL || comm->n_ranks != d->n_ranks)
      continue;
    while (rank < d->n_ranks && comm->ranks[rank] == (int32_t) rank)
      rank++;
    if (rank < d->n_ranks)
      continue;
    if (world == NULL || named)
      world = comm;
    if (named)
      break;
  }
  if (world != NULL)
    world->handle = TRACE_COMM_WORLD;
}

gboolean
otf2_definitions_finish (Otf2Definitions *d, gboolean merge, const char *path, GError **error)
{
  g_autoptr (GHashTable) colors = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Merging merging = { colors, seen, 0 };

  if (d->n_ranks == 0)
    return TRACE_FAIL (
        TRACE_ERROR_LOST, error,
        "%s: there are no MPI ranks in this archive: none of its %u locations is in a "
        "group of MPI processes",
        path, g_hash_table_size (d->known));
  for (uint32_t rank = 0; rank < d->n_ranks; rank++)
    if (!g_hash_table_contains (d->known, &d->locations[rank]))
      return TRACE_FAIL (TRACE_ERROR_FORMAT, error,
                         "%s: MPI rank %u is location %" G_GUINT64_FORMAT ", which is not defined",
                         path, rank, d->locations[rank]);
  if (d->ticks_per_s == 0)
    return TRACE_FAIL (TRACE_ERROR_FORMAT, error, "%s: no clock is defined", path);

  for (guint i = 0; i < d->raw_regions->len; i++) {
    const RawRegion *raw = &g_array_index (d->raw_regions, RawRegion, i);
    g_autofree char *name = g_strdup (text_of (d, raw->name));
    Otf2Region *region = g_new (Otf2Region, 1);

    /* TAU writes "MPI_Send()". */
    if (g_str_has_prefix (name, "MPI_") && g_str_has_suffix (name, "()"))
      name[strlen (name) - 2] = '\0';
    region->name = g_intern_string (*name != '\0' ? name : "unnamed");
    region->kind = OTF2_CALL_USER;
    if (raw->is_mpi || g_str_has_prefix (region->name, "MPI_"))
      region->kind = region_kind (region->name);
    g_hash_table_replace (d->regions, GUINT_TO_POINTER (raw->id), region);
  }

  for (guint i = 0; i < d->raw_comms->len; i++) {
    const RawComm *raw = &g_array_index (d->raw_comms, RawComm, i);
    const Group *group = g_hash_table_lookup (d->groups, GUINT_TO_POINTER (raw->group));
    Otf2Comm *comm;

    /* The groups of other paradigms were not kept. */
    if (group == NULL && !raw->inter)
      continue;
    comm = g_new0 (Otf2Comm, 1);
    g_hash_table_replace (d->comms, GUINT_TO_POINTER (raw->id), comm);
    if (raw->inter) {
      comm->refused = "an intercommunicator";
      continue;
    }
    if (group->is_self) {
      comm->handle = TRACE_COMM_SELF;
      comm->n_ranks = 1;
      continue;
    }
    comm->n_ranks = group->n_members;
    comm->ranks = g_new (int32_t, group->n_members);
    for (uint32_t member = 0; member < group->n_members; member++) {
      if (group->members[member] >= d->n_ranks)
        return TRACE_FAIL (TRACE_ERROR_RANGE, error,
                           "%s: communicator %u has rank %" G_GUINT64_FORMAT
                           " as a member, of %u ranks",
                           path, raw->id, group->members[member], d->n_ranks);
      comm->ranks[member] = (int32_t) group->members[member];
    }
    comm->color = merge ? merged_color (d, &merging, raw->id, comm) : merging.next_color++;
    comm->handle = FIRST_HANDLE + (uint32_t) comm->color;
  }
  find_world (d);
  return TRUE;
}

uint32_t
otf2_definitions_ranks (const Otf2Definitions *d)
{
  return d->n_ranks;
}

uint64_t
otf2_definitions_location_of (const Otf2Definitions *d, uint32_t rank)
{
  return d->locations[rank];
}

uint64_t
otf2_definitions_ticks_per_s (const Otf2Definitions *d)
{
  return d->ticks_per_s;
}

const Otf2Region *
otf2_definitions_find_region (const Otf2Definitions *d, uint32_t id)
{
  return g_hash_table_lookup (d->regions, GUINT_TO_POINTER (id));
}

const Otf2Comm *
otf2_definitions_find_comm (const Otf2Definitions *d, uint32_t id)
{
  return g_hash_table_lookup (d->comms, GUINT_TO_POINTER (id));
}

const Otf2Comm *
otf2_definitions_window_comm (const Otf2Definitions *d, uint32_t id)
{
  gpointer comm;

  if (!g_hash_table_lookup_extended (d->windows, GUINT_TO_POINTER (id), NULL, &comm))
    return NULL;
  return otf2_definitions_find_comm (d, GPOINTER_TO_UINT (comm));
}

const char *
otf2_definitions_user_region (const Otf2Definitions *d, const char *name, const char *path,
                              GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autoptr (GString) shown = g_string_new (NULL);

  for (guint i = 0; i < d->raw_regions->len; i++) {
    const RawRegion *raw = &g_array_index (d->raw_regions, RawRegion, i);
    const Otf2Region *region = otf2_definitions_find_region (d, raw->id);

    if (region->kind == OTF2_CALL_USER && g_hash_table_add (seen, (gpointer) region->name))
      g_ptr_array_add (names, (gpointer) region->name);
  }
  for (guint i = 0; i < names->len; i++)
    if (strcmp (names->pdata[i], name) == 0)
      return names->pdata[i];
  for (guint i = 0; i < MIN (names->len, SHOWN_REGIONS); i++)
    g_string_append_printf (shown, "%s\"%s\"", i == 0 ? ": " : ", ",
                            (const char *) names->pdata[i]);
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_OPEN,
               "%s: no region of the program is called \"%s\" (it has %u%s%s)", path, name,
               names->len, shown->str, names->len > SHOWN_REGIONS ? ", ..." : "");
  return NULL;
}
