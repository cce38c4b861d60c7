/* fabric_dragonfly.c - Dragonfly+ fabrics, by numbers or from a site's table of its nodes.
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

#include <string.h>

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

/* --- From a site's table of its nodes ---
 *
 *   NODE 0001 RACK 1 CELL 1 ROW 1 PARTITION 1  SWITCH 10100
 *
 * Pairs of a word and its value, a node a line, as the PICO benchmarks have
 * them for Leonardo (github.com/HLC-Lab/pico, tracer/maps): the group and the
 * leaf of each node, in any order.  Other words are not used.  Such a file has
 * neither spines nor cables. */

typedef struct {
  const char *path;
  uint32_t line;
  Plan *plan;
  GHashTable *groups, *leaves, *nodes; /* (element-type utf8 uint) number + 1, by name */
} Table;

/* The first line that says anything decides. */
bool
topo_fabric_is_table (const char *text)
{
  while (*text != '\0') {
    gsize length = strcspn (text, "\n");
    g_autofree char *line = g_strstrip (g_strndup (text, length));

    if (*line != '\0' && *line != '#')
      return g_str_has_prefix (line, "NODE ") && strstr (line, " CELL ") != NULL &&
             strstr (line, " SWITCH ") != NULL;
    text += length + (text[length] != '\0');
  }
  return false;
}

static void fail (GError **error, const Table *table, const char *format, ...) G_GNUC_PRINTF (3, 4);

static void
fail (GError **error, const Table *table, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s:%u: %s", table->path, table->line, text);
}

static uint32_t
number_of (GHashTable *numbers, const char *name)
{
  guint found = GPOINTER_TO_UINT (g_hash_table_lookup (numbers, name));

  return found > 0 ? found - 1 : TOPO_NONE;
}

/* Remembers the name for as long as the table lives; returns the copy that lasts. */
static const char *
remember (GHashTable *numbers, const char *name, uint32_t number)
{
  char *copy = g_strdup (name);

  g_hash_table_insert (numbers, copy, GUINT_TO_POINTER (number + 1));
  return copy;
}

static gboolean
read_row (Table *table, const char *line, GError **error)
{
  static const char *const words[] = { "NODE", "CELL", "SWITCH" };
  enum { NODE, CELL, SWITCH, WORDS };
  g_auto (GStrv) fields = g_strsplit_set (line, " \t", -1);
  const char *values[WORDS] = { NULL }, *word = NULL;
  Plan *plan = table->plan;
  uint32_t group, leaf;

  for (guint at = 0; fields[at] != NULL; at++) {
    if (*fields[at] == '\0')
      continue;
    if (word == NULL) {
      word = fields[at];
      continue;
    }
    for (guint known = 0; known < WORDS; known++)
      if (!strcmp (word, words[known]))
        values[known] = fields[at];
    word = NULL;
  }
  if (word != NULL || values[NODE] == NULL || values[CELL] == NULL || values[SWITCH] == NULL) {
    fail (error, table, "expected NODE name CELL name SWITCH name, found \"%s\"", line);
    return FALSE;
  }
  if (number_of (table->nodes, values[NODE]) != TOPO_NONE) {
    fail (error, table, "node %s is there twice", values[NODE]);
    return FALSE;
  }
  if (plan->nodes->len == MAX_NODES) {
    fail (error, table, "more than %u nodes", MAX_NODES);
    return FALSE;
  }
  group = number_of (table->groups, values[CELL]);
  if (group == TOPO_NONE) {
    group = plan_group (plan);
    remember (table->groups, values[CELL], group);
  }
  leaf = number_of (table->leaves, values[SWITCH]);
  if (leaf == TOPO_NONE) {
    const char *name = remember (table->leaves, values[SWITCH], plan->leaves->len);

    leaf = plan_leaf (plan, group, name);
  } else if (g_array_index (plan->leaves, Leaf, leaf).group != group) {
    fail (error, table, "switch %s was in another cell above, not in %s", values[SWITCH],
          values[CELL]);
    return FALSE;
  }
  plan_node (plan, leaf, remember (table->nodes, values[NODE], plan->nodes->len));
  return TRUE;
}

/* Spines and cables, as the options have them. */
static gboolean
assume_cables (Plan *plan, const TopoCabling *given, GError **error)
{
  uint32_t cables = given->cables > 0 ? given->cables : 1;

  plan->rate = given->rate.lanes > 0 ? given->rate : (TopoRate){ 4, TOPO_SPEED_HDR };
  plan->n_spines = given->spines;
  for (uint32_t group = 0; group < plan->n_groups && given->spines == 0; group++)
    plan->n_spines = MAX (plan->n_spines, leaves_of (plan, group));
  if ((uint64_t) (plan->n_groups - 1) * cables > MAX_SWITCH_PORTS ||
      (uint64_t) plan->n_groups * plan->n_spines > MAX_SWITCHES) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%s: %u cells with %u spines, each with %u cables to every other cell: a switch "
                 "has at most %d ports, a fabric %u switches",
                 plan->source, plan->n_groups, plan->n_spines, cables, MAX_SWITCH_PORTS,
                 MAX_SWITCHES);
    return FALSE;
  }
  plan->n_global = (plan->n_groups - 1) * cables;
  return TRUE;
}

TopoFabric *
topo_fabric_of_table (const char *path, char *text, const TopoCabling *given, GError **error)
{
  g_autoptr (GHashTable) groups = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) leaves = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) nodes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  Plan plan;
  Table table = { path, 0, &plan, groups, leaves, nodes };
  TopoFabric *fabric = NULL;
  gboolean good = TRUE;

  plan_init (&plan, path);
  for (guint at = 0; good && lines[at] != NULL; at++) {
    const char *line = g_strstrip (lines[at]);

    table.line = at + 1;
    if (*line != '\0' && *line != '#')
      good = read_row (&table, line, error);
  }
  if (good && assume_cables (&plan, given, error))
    fabric = wire (&plan, error);
  if (fabric != NULL && (given->spines == 0 || given->cables == 0 || given->rate.lanes == 0))
    g_ptr_array_add (
        fabric->warnings,
        g_strdup_printf (
            "%s: a table has no cables: assumed are %u spine%s in every cell, each with %u cable%s "
            "of %s to every other cell (spines=, cables=, speed=)",
            path, plan.n_spines, plan.n_spines > 1 ? "s" : "", MAX (given->cables, 1),
            given->cables > 1 ? "s" : "", topo_rate_name (plan.rate)));
  plan_clear (&plan);
  return fabric;
}
