/* bound_ways.c - see bound_ways.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/aggregate/bound_ways.h"

#include "topology/mapping/message_placement.h"

typedef struct {
  const TopoLevels *levels;
  const StudyActivity *activity; /* [n_places] */
  PredictBoundWhere where;
  GPtrArray *kinds;
  GHashTable *seen; /* texts of classes */
  uint8_t mark[64];
  uint32_t n_pairs, n_outside, n_ways;
} Ways;

static void
note_way (Ways *ways)
{
  char *placement = topo_placement_class (ways->levels, ways->mark);
  PredictBoundKind *kind;

  ways->n_ways++;
  if (g_hash_table_contains (ways->seen, placement)) {
    g_free (placement);
    return;
  }
  kind = g_new (PredictBoundKind, 1);
  *kind = (PredictBoundKind){ PREDICT_BOUND_MESSAGE, ways->where,     placement,
                              ways->n_pairs,         ways->n_outside, 2 };
  g_hash_table_add (ways->seen, placement);
  g_ptr_array_add (ways->kinds, kind);
}

/* Every place from `place` on does one of what it can; nothing, when all its partners are taken. */
static void
try_ways (Ways *ways, uint32_t place)
{
  uint32_t n_places = ways->levels->n_places;
  bool is_free = true;

  while (place < n_places && ways->mark[place] != TOPO_PLACE_FREE)
    place++;
  if (ways->n_ways >= STUDY_MAX_WAYS)
    return;
  if (place == n_places) {
    note_way (ways);
    return;
  }
  for (uint32_t other = place + 1; other < n_places; other++) {
    if ((ways->activity[place].partners >> other & 1) == 0 || ways->mark[other] != TOPO_PLACE_FREE)
      continue;
    is_free = false;
    ways->mark[place] = ways->mark[other] = (uint8_t) (TOPO_PLACE_PAIR + ways->n_pairs++);
    try_ways (ways, place + 1);
    ways->mark[place] = ways->mark[other] = TOPO_PLACE_FREE;
    ways->n_pairs--;
  }
  if (ways->activity[place].is_outside) {
    is_free = false;
    ways->mark[place] = TOPO_PLACE_OUTSIDE;
    ways->n_outside++;
    try_ways (ways, place + 1);
    ways->n_outside--;
    ways->mark[place] = TOPO_PLACE_FREE;
  }
  if (is_free)
    try_ways (ways, place + 1);
}

static void
kind_free (gpointer data)
{
  PredictBoundKind *kind = data;

  g_free ((char *) kind->placement);
  g_free (kind);
}

GPtrArray *
study_kinds_new (void)
{
  return g_ptr_array_new_with_free_func (kind_free);
}

GPtrArray *
study_ways_kinds (const TopoLevels *levels, const StudyActivity *activity, PredictBoundWhere where)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  Ways ways = { .levels = levels,
                .activity = activity,
                .where = where,
                .kinds = study_kinds_new (),
                .seen = seen };

  g_assert (levels->n_places <= STUDY_MAX_PLACES);
  for (uint32_t place = 0; place < levels->n_places; place++)
    if (activity[place].is_observed)
      ways.mark[place] = TOPO_PLACE_OBSERVED;
  try_ways (&ways, 0);
  return ways.kinds;
}
