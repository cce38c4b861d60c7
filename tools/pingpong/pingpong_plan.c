/* pingpong_plan.c - the classes of placements that the processes of a job can take up, and the part
 * of each rank in them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/pingpong/pingpong.h"

#include "cli/command.h"

typedef struct {
  const TopoLevels *levels;
  uint32_t n_nodes;
  uint32_t *rank;       /* [n_nodes][n_places]; TOPO_NONE: the place is free */
  uint32_t node, other; /* where messages are observed; other: TOPO_NONE when there is one node */
  CliPingpongPlan *plan;
} Planning;

static uint32_t *
ranks_of (const Planning *planning, uint32_t node)
{
  return planning->rank + (gsize) node * planning->levels->n_places;
}

static void
class_free (gpointer data)
{
  CliPingpongClass *class = data;

  g_free (class->class);
  g_free (class->partner);
  g_free (class);
}

void
cli_pingpong_plan_free (CliPingpongPlan *plan)
{
  if (plan == NULL)
    return;
  g_ptr_array_unref (plan->classes);
  g_ptr_array_unref (plan->unreachable);
  g_free (plan);
}

/* --- Nodes --- */

static uint32_t
count_nodes (const CliPingpongSeat seats[], uint32_t n_ranks)
{
  uint32_t n = 0;

  for (uint32_t rank = 0; rank < n_ranks; rank++)
    n = MAX (n, seats[rank].node + 1);
  return n;
}

/* The places that are taken in both nodes. */
static uint32_t
common_places (const Planning *planning, uint32_t node, uint32_t other)
{
  const uint32_t *ranks = ranks_of (planning, node), *others = ranks_of (planning, other);
  uint32_t n = 0;

  for (uint32_t place = 0; place < planning->levels->n_places; place++)
    n += ranks[place] != TOPO_NONE && others[place] != TOPO_NONE;
  return n;
}

/* --- Classes --- */

static void
join (CliPingpongClass *class, uint32_t rank, uint32_t other)
{
  class->partner[rank] = other;
  class->partner[other] = rank;
}

static void
join_pairs (CliPingpongClass *class, const uint32_t ranks[], const uint8_t mark[],
            uint32_t n_places)
{
  for (uint32_t place = 0; place < n_places; place++)
    for (uint32_t other = place + 1; mark[place] >= TOPO_PLACE_PAIR && other < n_places; other++)
      if (mark[other] == mark[place])
        join (class, ranks[place], ranks[other]);
}

static CliPingpongClass *
class_new (const Planning *planning, TopoPlacementKind kind, const uint8_t mark[])
{
  CliPingpongClass *class = g_new0 (CliPingpongClass, 1);

  *class = (CliPingpongClass){ .is_between = kind.n_observed == 1,
                               .n_pairs = kind.n_pairs,
                               .n_outside = kind.n_outside,
                               .class = topo_placement_class (planning->levels, mark),
                               .ping = TOPO_NONE,
                               .pong = TOPO_NONE };
  return class;
}

/* Adds the classes of one kind: those of the places that are taken, in which each rank gets its
 * partner, and all others as unreachable. */
static gboolean
add_kind (Planning *planning, TopoPlacementKind kind, uint32_t max_classes, GError **error)
{
  CliPingpongPlan *plan = planning->plan;
  uint32_t n_places = planning->levels->n_places;
  const uint32_t *ranks = ranks_of (planning, planning->node);
  const uint32_t *others =
      planning->other != TOPO_NONE ? ranks_of (planning, planning->other) : NULL;
  g_autofree bool *open = g_new0 (bool, n_places);
  g_autoptr (TopoPlacements) all = topo_placements_new (planning->levels, kind), some = NULL;
  guint reached = plan->classes->len;

  if (plan->classes->len + plan->unreachable->len + all->n > max_classes)
    return cli_fail (
        error, "more than %u classes of placements: --max-pairs and --max-outside reduce them",
        max_classes);
  for (uint32_t place = 0; place < n_places; place++)
    open[place] = ranks[place] != TOPO_NONE && ((kind.n_observed == 2 && kind.n_outside == 0) ||
                                                (others != NULL && others[place] != TOPO_NONE));
  some = topo_placements_on (planning->levels, kind, open);
  for (uint32_t at = 0; at < some->n; at++) {
    const uint8_t *mark = some->mark + (gsize) at * n_places;
    CliPingpongClass *class = class_new (planning, kind, mark);

    class->partner = g_new (uint32_t, plan->n_ranks);
    for (uint32_t rank = 0; rank < plan->n_ranks; rank++)
      class->partner[rank] = rank;
    for (uint32_t place = 0; place < n_places; place++)
      if (mark[place] == TOPO_PLACE_OUTSIDE)
        join (class, ranks[place], others[place]);
      else if (mark[place] == TOPO_PLACE_OBSERVED) {
        if (class->ping == TOPO_NONE)
          class->ping = ranks[place];
        class->pong = class->is_between ? others[place] : ranks[place];
      }
    join_pairs (class, ranks, mark, n_places);
    if (class->is_between)
      join_pairs (class, others, mark, n_places);
    join (class, class->ping, class->pong);
    g_ptr_array_add (plan->classes, class);
  }
  /* Both lists are in the order of their texts. */
  for (uint32_t at = 0; at < all->n; at++) {
    CliPingpongClass *class = class_new (planning, kind, all->mark + (gsize) at * n_places);
    const CliPingpongClass *next =
        reached < plan->classes->len ? g_ptr_array_index (plan->classes, reached) : NULL;

    if (next != NULL && g_str_equal (next->class, class->class)) {
      reached++;
      class_free (class);
    } else
      g_ptr_array_add (plan->unreachable, class);
  }
  return TRUE;
}

CliPingpongPlan *
cli_pingpong_plan_new (const TopoLevels *levels, const CliPingpongSeat seats[], uint32_t n_ranks,
                       CliPingpongNoise noise, GError **error)
{
  g_autoptr (CliPingpongPlan) plan = g_new0 (CliPingpongPlan, 1);
  uint32_t n_nodes = count_nodes (seats, n_ranks), n_places = levels->n_places, most = 0;
  g_autofree uint32_t *ranks = g_new (uint32_t, (gsize) n_nodes * n_places);
  Planning planning = {
    .levels = levels, .n_nodes = n_nodes, .rank = ranks, .other = TOPO_NONE, .plan = plan
  };

  *plan = (CliPingpongPlan){ n_ranks, n_nodes, g_ptr_array_new_with_free_func (class_free),
                             g_ptr_array_new_with_free_func (class_free) };
  for (gsize at = 0; at < (gsize) n_nodes * n_places; at++)
    ranks[at] = TOPO_NONE;
  for (uint32_t rank = 0; rank < n_ranks; rank++)
    if (seats[rank].place != TOPO_NONE) {
      uint32_t *seat = ranks_of (&planning, seats[rank].node) + seats[rank].place;

      g_assert (*seat == TOPO_NONE);
      *seat = rank;
    }
  /* The node with the most processes, and the other one that has most of its places. */
  for (uint32_t node = 1; node < n_nodes; node++)
    if (common_places (&planning, node, node) >
        common_places (&planning, planning.node, planning.node))
      planning.node = node;
  for (uint32_t node = 0; node < n_nodes; node++) {
    uint32_t n = common_places (&planning, planning.node, node);

    if (node != planning.node && n > most) {
      most = n;
      planning.other = node;
    }
  }
  for (uint32_t observed = 2; observed > 0; observed--)
    for (uint32_t pairs = 0; pairs <= noise.max_pairs && observed + 2 * pairs <= n_places; pairs++)
      for (uint32_t outside = 0;
           outside <= noise.max_outside && observed + 2 * pairs + outside <= n_places; outside++)
        if (!add_kind (&planning, (TopoPlacementKind){ observed, pairs, outside },
                       noise.max_classes, error))
          return NULL;
  return g_steal_pointer (&plan);
}

char *
cli_pingpong_tasks_class (const TopoLevels *levels, const CliPingpongSeat seats[], uint32_t n_ranks)
{
  uint32_t n_nodes = count_nodes (seats, n_ranks);
  g_autofree uint8_t *mark = g_new0 (uint8_t, (gsize) n_nodes * levels->n_places);
  g_autofree char *class = NULL;

  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    if (seats[rank].place == TOPO_NONE)
      return NULL;
    mark[(gsize) seats[rank].node * levels->n_places + seats[rank].place] = TOPO_PLACE_OBSERVED;
  }
  for (uint32_t node = 0; node < n_nodes; node++) {
    g_autofree char *text = topo_placement_class (levels, mark + (gsize) node * levels->n_places);

    if (class != NULL && !g_str_equal (class, text))
      return NULL;
    if (class == NULL)
      class = g_steal_pointer (&text);
  }
  return g_steal_pointer (&class);
}
