/* rank_group.c - ordered sets of ranks, kept once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "mpi/rank_group.h"

#include "mpi/trace_error.h"

#include <stdlib.h>
#include <string.h>

struct TraceGroups {
  uint32_t n_ranks;
  GPtrArray *all;    /* (element-type TraceGroup) by number; 0 is the world's */
  GHashTable *known; /* set of TraceGroup by content; never iterated */
};

static guint
group_hash (gconstpointer key)
{
  const TraceGroup *group = key;
  uint32_t hash = 2166136261u;

  for (uint32_t rank = 0; rank < group->n; rank++)
    hash = (hash ^ trace_group_world_rank (group, rank)) * 16777619u;
  return hash;
}

static gboolean
group_equal (gconstpointer a, gconstpointer b)
{
  const TraceGroup *one = a, *other = b;

  if (one->n != other->n)
    return FALSE;
  for (uint32_t rank = 0; rank < one->n; rank++)
    if (trace_group_world_rank (one, rank) != trace_group_world_rank (other, rank))
      return FALSE;
  return TRUE;
}

static void
group_free (gpointer data)
{
  TraceGroup *group = data;

  g_free ((gpointer) group->ranks);
  g_free ((gpointer) group->order);
  g_free (group);
}

static int
compare_by_world_rank (gconstpointer a, gconstpointer b, gpointer ranks)
{
  uint32_t one = ((const uint32_t *) ranks)[*(const uint32_t *) a];
  uint32_t other = ((const uint32_t *) ranks)[*(const uint32_t *) b];

  return (one > other) - (one < other);
}

static const TraceGroup *
groups_add (TraceGroups *groups, TraceGroup content)
{
  TraceGroup *group = g_new (TraceGroup, 1);

  *group = content;
  group->number = groups->all->len;
  g_ptr_array_add (groups->all, group);
  g_hash_table_add (groups->known, group);
  return group;
}

TraceGroups *
trace_groups_new (uint32_t n_ranks)
{
  TraceGroups *groups = g_new (TraceGroups, 1);

  groups->n_ranks = n_ranks;
  groups->all = g_ptr_array_new_with_free_func (group_free);
  groups->known = g_hash_table_new (group_hash, group_equal);
  groups_add (groups, (TraceGroup){ .n = n_ranks });
  return groups;
}

void
trace_groups_free (TraceGroups *groups)
{
  if (groups == NULL)
    return;
  g_hash_table_unref (groups->known);
  g_ptr_array_unref (groups->all);
  g_free (groups);
}

const TraceGroup *
trace_groups_world (const TraceGroups *groups)
{
  return trace_groups_at (groups, 0);
}

const TraceGroup *
trace_groups_at (const TraceGroups *groups, uint32_t number)
{
  return g_ptr_array_index (groups->all, number);
}

const TraceGroup *
trace_groups_of (TraceGroups *groups, uint32_t *ranks, uint32_t n)
{
  TraceGroup content = { .n = n, .ranks = ranks };
  const TraceGroup *known;
  bool rises = true;

  if (n == 0)
    content.ranks = ranks = g_renew (uint32_t, ranks, 1); /* NULL would be the identity */
  known = g_hash_table_lookup (groups->known, &content);
  if (known != NULL) {
    g_free (ranks);
    return known;
  }
  for (uint32_t rank = 1; rank < n; rank++)
    rises = rises && ranks[rank - 1] < ranks[rank];
  if (!rises) {
    uint32_t *order = g_new (uint32_t, n);

    for (uint32_t rank = 0; rank < n; rank++)
      order[rank] = rank;
    g_qsort_with_data (order, (gint) n, sizeof *order, compare_by_world_rank, ranks);
    content.order = order;
  }
  return groups_add (groups, content);
}

void
trace_groups_dump (TraceGroups *groups, BaseDump *dump)
{
  uint32_t n_groups = groups->all->len;

  base_dump_section (dump, "groups");
  BASE_DUMP_VALUE (dump, n_groups);
  for (uint32_t number = 1; number < n_groups; number++) {
    const TraceGroup *group = base_dump_loads (dump) ? NULL : trace_groups_at (groups, number);
    uint32_t n = (uint32_t) base_dump_count (dump, group == NULL ? 0 : group->n, sizeof (uint32_t));
    g_autofree uint32_t *ranks = g_new (uint32_t, MAX (1u, n));

    if (group != NULL && n > 0)
      memcpy (ranks, group->ranks, n * sizeof *ranks);
    base_dump_bytes (dump, ranks, n * sizeof *ranks);
    if (group == NULL && trace_groups_of (groups, g_steal_pointer (&ranks), n)->number != number)
      base_dump_fail (dump, "has a group of ranks twice");
  }
}

uint32_t
trace_group_world_rank (const TraceGroup *group, uint32_t rank)
{
  return group->ranks == NULL ? rank : group->ranks[rank];
}

static uint32_t
nth_rising (const TraceGroup *group, uint32_t nth)
{
  return group->order == NULL ? nth : group->order[nth];
}

uint32_t
trace_group_rank (const TraceGroup *group, uint32_t world_rank)
{
  uint32_t low = 0, high = group->n;

  if (group->ranks == NULL)
    return world_rank < group->n ? world_rank : TRACE_NO_MEMBER;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;

    if (group->ranks[nth_rising (group, middle)] < world_rank)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < group->n && group->ranks[nth_rising (group, low)] == world_rank)
    return nth_rising (group, low);
  return TRACE_NO_MEMBER;
}

/* --- Algebra --- */

/* Positions that an operation names within a group, in the order of naming. */
typedef struct {
  const TraceOp *op;
  const TraceGroup *group;
  GArray *positions; /* (element-type uint32_t) */
  bool *named;       /* [group->n] no position may be named twice */
} Selection;

static gboolean
select_position (Selection *selection, int64_t position, GError **error)
{
  uint32_t chosen = (uint32_t) position;

  if (position < 0 || position >= selection->group->n) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                 "%s: rank %" G_GINT64_FORMAT " in a group of %u",
                 trace_op_name (selection->op->kind), position, selection->group->n);
    return FALSE;
  }
  if (selection->named[chosen]) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "%s: rank %u is named twice",
                 trace_op_name (selection->op->kind), chosen);
    return FALSE;
  }
  selection->named[chosen] = true;
  g_array_append_val (selection->positions, chosen);
  return TRUE;
}

/* Members of `first` that `second` has (or has not), in the order of first;
 * for a union then the members of `second` that first has not. */
static const TraceGroup *
combine (TraceGroups *groups, TraceOpKind kind, const TraceGroup *first, const TraceGroup *second)
{
  uint32_t *ranks = g_new (uint32_t, (gsize) first->n + second->n + 1);
  uint32_t n = 0;

  for (uint32_t rank = 0; rank < first->n; rank++) {
    uint32_t world_rank = trace_group_world_rank (first, rank);
    bool shared = trace_group_rank (second, world_rank) != TRACE_NO_MEMBER;

    if (kind == TRACE_OP_GROUP_UNION || shared == (kind == TRACE_OP_GROUP_INTERSECTION))
      ranks[n++] = world_rank;
  }
  if (kind == TRACE_OP_GROUP_UNION)
    for (uint32_t rank = 0; rank < second->n; rank++)
      if (trace_group_rank (first, trace_group_world_rank (second, rank)) == TRACE_NO_MEMBER)
        ranks[n++] = trace_group_world_rank (second, rank);
  return trace_groups_of (groups, ranks, n);
}

const TraceGroup *
trace_groups_apply (TraceGroups *groups, const TraceOp *op, const TraceGroup *first,
                    const TraceGroup *second, GError **error)
{
  bool is_ranges = op->kind == TRACE_OP_GROUP_RANGE_INCL || op->kind == TRACE_OP_GROUP_RANGE_EXCL;
  bool keep_named = op->kind == TRACE_OP_GROUP_INCL || op->kind == TRACE_OP_GROUP_RANGE_INCL;
  g_autoptr (GArray) positions = NULL;
  g_autofree bool *named = NULL;
  Selection selection;
  uint32_t *ranks, n = 0;

  if (second != NULL)
    return combine (groups, op->kind, first, second);
  positions = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  named = g_new0 (bool, first->n);
  selection = (Selection){ op, first, positions, named };

  if (is_ranges && op->n_values % 3 != 0) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                 "%s: %u values are not triples of first, last, stride", trace_op_name (op->kind),
                 op->n_values);
    return NULL;
  }
  for (uint32_t entry = 0; entry < op->n_values; entry += is_ranges ? 3 : 1) {
    int64_t position = op->values[entry];
    int64_t last = is_ranges ? op->values[entry + 1] : position;
    int64_t stride = is_ranges ? op->values[entry + 2] : 1;

    if (stride == 0) {
      g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "%s: range of stride 0",
                   trace_op_name (op->kind));
      return NULL;
    }
    for (; stride > 0 ? position <= last : position >= last; position += stride)
      if (!select_position (&selection, position, error))
        return NULL;
  }

  /* The named members in the order of naming, or the others in the group's order. */
  ranks = g_new (uint32_t, first->n + 1);
  for (uint32_t entry = 0; keep_named && entry < positions->len; entry++)
    ranks[n++] = trace_group_world_rank (first, g_array_index (positions, uint32_t, entry));
  for (uint32_t rank = 0; !keep_named && rank < first->n; rank++)
    if (!named[rank])
      ranks[n++] = trace_group_world_rank (first, rank);
  return trace_groups_of (groups, ranks, n);
}
