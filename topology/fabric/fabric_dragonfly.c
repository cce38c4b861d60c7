/* fabric_dragonfly.c - Dragonfly+ fabrics by numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A group is a complete bipartite graph of leaves, which have the nodes, and
 * spines, which have the cables to other groups (Shpiner, Haramaty, Eliad,
 * Zdornov, Gafni and Zahavi, "Dragonfly+: low cost topology for scaling
 * datacenters", 2017).  No site publishes which cable goes where; the
 * wiring is an assumption:
 *
 *   leaf    first its nodes, in order, then the spines of its group, in order
 *   spine   first the leaves of its group, in order, then its global ports
 *
 * The global ports of a group are numbered through, spine after spine.  With G
 * groups and C cables between each two of them, cable j of groups a < b joins
 * port j (G - 1) + b - 1 of a and port j (G - 1) + a of b: the cables from a
 * group to another are spread over its spines, and every port has one. */
#include "topology/fabric/fabric.h"
#include "topology/fabric/fabric_build.h"
#include "topology/machine.h"

#define MAX_SWITCH_PORTS 254
#define MAX_SWITCHES     65535u
#define MAX_NODES        65535u /* destinations have 16 bits in a packet of the simulator */

typedef struct {
  uint32_t group, place; /* number among the leaves of its group */
  uint32_t n_nodes;
  const char *name; /* borrowed; NULL: by its number */
} Leaf;

typedef struct {
  uint32_t leaf;
  const char *name; /* borrowed; NULL: by its number */
} Node;

/* A fabric before it is wired. */
typedef struct {
  const char *source;
  uint32_t n_groups, n_spines; /* of a group */
  uint32_t n_global;           /* cables of a spine to other groups */
  TopoRate rate;
  GArray *leaves;   /* (element-type Leaf) */
  GArray *nodes;    /* (element-type Node) */
  GArray *n_leaves; /* (element-type guint32) of each group */
} Plan;

static void
plan_init (Plan *plan, const char *source)
{
  *plan = (Plan){ .source = source };
  plan->leaves = g_array_new (FALSE, FALSE, sizeof (Leaf));
  plan->nodes = g_array_new (FALSE, FALSE, sizeof (Node));
  plan->n_leaves = g_array_new (FALSE, TRUE, sizeof (guint32));
}

static void
plan_clear (Plan *plan)
{
  g_array_unref (plan->leaves);
  g_array_unref (plan->nodes);
  g_array_unref (plan->n_leaves);
}

static uint32_t
plan_group (Plan *plan)
{
  g_array_set_size (plan->n_leaves, plan->n_leaves->len + 1);
  return plan->n_groups++;
}

static uint32_t
plan_leaf (Plan *plan, uint32_t group, const char *name)
{
  guint32 *n = &g_array_index (plan->n_leaves, guint32, group);
  Leaf leaf = { .group = group, .place = (*n)++, .name = name };

  g_array_append_val (plan->leaves, leaf);
  return plan->leaves->len - 1;
}

static void
plan_node (Plan *plan, uint32_t leaf, const char *name)
{
  Node node = { leaf, name };

  g_array_append_val (plan->nodes, node);
  g_array_index (plan->leaves, Leaf, leaf).n_nodes++;
}

static guint32
leaves_of (const Plan *plan, uint32_t group)
{
  return g_array_index (plan->n_leaves, guint32, group);
}

/* --- Wiring --- */

static gboolean
add_devices (const Plan *plan, TopoFabricBuilder *builder, GError **error)
{
  for (uint32_t at = 0; at < plan->leaves->len; at++) {
    const Leaf *leaf = &g_array_index (plan->leaves, Leaf, at);

    if (!topo_wire_device (builder, TOPO_WIRE_LEAF, at, leaf->name, leaf->n_nodes + plan->n_spines,
                           error))
      return FALSE;
  }
  for (uint32_t at = 0; at < plan->n_groups * plan->n_spines; at++)
    if (!topo_wire_device (builder, TOPO_WIRE_SPINE, at, NULL,
                           leaves_of (plan, at / plan->n_spines) + plan->n_global, error))
      return FALSE;
  for (uint32_t at = 0; at < plan->nodes->len; at++)
    if (!topo_wire_device (builder, TOPO_WIRE_NODE, at, g_array_index (plan->nodes, Node, at).name,
                           1, error))
      return FALSE;
  return TRUE;
}

/* The nodes of the leaves, and the leaves with the spines of their groups. */
static gboolean
wire_groups (const Plan *plan, TopoFabricBuilder *builder, GError **error)
{
  g_autofree uint32_t *next = g_new0 (uint32_t, plan->leaves->len + 1);

  for (uint32_t at = 0; at < plan->nodes->len; at++) {
    uint32_t leaf = g_array_index (plan->nodes, Node, at).leaf;

    if (!topo_wire_cable (builder, (TopoPlug){ TOPO_WIRE_LEAF, leaf, ++next[leaf] },
                          (TopoPlug){ TOPO_WIRE_NODE, at, 1 }, plan->rate, error))
      return FALSE;
  }
  for (uint32_t at = 0; at < plan->leaves->len; at++) {
    const Leaf *leaf = &g_array_index (plan->leaves, Leaf, at);

    for (uint32_t spine = 0; spine < plan->n_spines; spine++)
      if (!topo_wire_cable (
              builder, (TopoPlug){ TOPO_WIRE_LEAF, at, leaf->n_nodes + spine + 1 },
              (TopoPlug){ TOPO_WIRE_SPINE, leaf->group * plan->n_spines + spine, leaf->place + 1 },
              plan->rate, error))
        return FALSE;
  }
  return TRUE;
}

static TopoPlug
global_plug (const Plan *plan, uint32_t group, uint32_t port)
{
  return (TopoPlug){ TOPO_WIRE_SPINE, group * plan->n_spines + port / plan->n_global,
                     leaves_of (plan, group) + port % plan->n_global + 1 };
}

static TopoFabric *
wire (const Plan *plan, GError **error)
{
  g_autoptr (TopoFabricBuilder) builder = topo_build_new (plan->source);
  uint32_t others = plan->n_groups - 1;
  uint32_t n_cables = others > 0 ? plan->n_spines * plan->n_global / others : 0;

  if (!add_devices (plan, builder, error) || !wire_groups (plan, builder, error))
    return NULL;
  for (uint32_t a = 0; a < plan->n_groups; a++)
    for (uint32_t b = a + 1; b < plan->n_groups; b++)
      for (uint32_t cable = 0; cable < n_cables; cable++)
        if (!topo_wire_cable (builder, global_plug (plan, a, cable * others + b - 1),
                              global_plug (plan, b, cable * others + a), plan->rate, error))
          return NULL;
  return topo_build_finish (builder, error);
}

/* --- By numbers --- */

static gboolean
refuse (GError **error, const char *source, const char *why)
{
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "%s: %s", source, why);
  return FALSE;
}

static gboolean
check_shape (const char *source, const TopoDragonfly *shape, GError **error)
{
  uint64_t n_leaves = (uint64_t) shape->groups * shape->leaves;
  uint64_t n_switches = n_leaves + (uint64_t) shape->groups * shape->spines;

  if (shape->groups < 2 || shape->leaves < 1 || shape->spines < 1 || shape->nodes < 1)
    return refuse (error, source,
                   "a Dragonfly+ has two or more groups with leaves, spines and nodes");
  if (shape->nodes + shape->spines > MAX_SWITCH_PORTS ||
      shape->leaves + shape->global > MAX_SWITCH_PORTS) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%s: needs leaves of %u and spines of %u ports; a switch has at most %d", source,
                 shape->nodes + shape->spines, shape->leaves + shape->global, MAX_SWITCH_PORTS);
    return FALSE;
  }
  if (n_leaves * shape->nodes > MAX_NODES || n_switches > MAX_SWITCHES)
    return refuse (error, source, "more than 65535 nodes or switches");
  if (shape->global > 0 && (uint64_t) shape->spines * shape->global % (shape->groups - 1) == 0)
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "%s: %u spines with %u cables each have %u to other groups, which is no multiple of "
               "the %u other groups",
               source, shape->spines, shape->global, shape->spines * shape->global,
               shape->groups - 1);
  return FALSE;
}

TopoFabric *
topo_fabric_dragonfly (const TopoDragonfly *wanted, TopoRate rate, GError **error)
{
  TopoDragonfly shape = *wanted;
  g_autofree char *source = NULL;
  TopoFabric *fabric;
  Plan plan;

  if (shape.global == 0 && shape.groups > 0)
    shape.global = shape.groups - 1;
  source = g_strdup_printf ("dragonflyplus:%ux%ux%u:%u:%u", shape.groups, shape.leaves,
                            shape.spines, shape.nodes, shape.global);
  if (!check_shape (source, &shape, error))
    return NULL;
  plan_init (&plan, source);
  plan.n_spines = shape.spines;
  plan.n_global = shape.global;
  plan.rate = rate;
  for (uint32_t group = 0; group < shape.groups; group++) {
    plan_group (&plan);
    for (uint32_t at = 0; at < shape.leaves; at++) {
      uint32_t leaf = plan_leaf (&plan, group, NULL);

      for (uint32_t node = 0; node < shape.nodes; node++)
        plan_node (&plan, leaf, NULL);
    }
  }
  fabric = wire (&plan, error);
  plan_clear (&plan);
  return fabric;
}
