/* fabric_slurm.c - the topology.conf of a Slurm cluster.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   SwitchName=leaf1 Nodes=node[1-16,18]
 *   SwitchName=spine Switches=leaf[1-4] LinkSpeed=10
 *
 * It tells who hangs on whom, but neither how many cables there are nor how
 * fast they are: one cable each, 4x QDR, with a warning that says so.
 * LinkSpeed is a number without a unit for the administrator; it is not used. */
#include "topology/fabric/fabric_build.h"
#include "topology/fabric/fabric_files.h"
#include "topology/machine.h"
#include "topology/fabric/names.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  char *name;
  bool is_switch;
  uint32_t line, n_ports, device;
} Item;

typedef struct {
  uint32_t parent, child; /* items */
  uint32_t line;
} Edge;

typedef struct {
  const char *path;
  uint32_t line;
  GArray *items;       /* (element-type Item) */
  GHashTable *by_name; /* (element-type utf8 uint) item + 1 */
  GArray *edges;       /* (element-type Edge) */
  GHashTable *joined;  /* set of pairs of items, as 64 bits */
} Slurm;

/* The first line that tells: comments may hold anything. */
bool
topo_fabric_is_slurm (const char *text)
{
  while (text != NULL && *text != '[') {
    g_autofree char *line = g_ascii_strdown (text, (gssize) strcspn (text, "#\n"));

    if (strstr (line, "switchname=") != NULL)
      return true;
    text = strchr (text, '\n');
    text = text != NULL ? text + 1 : NULL;
  }
  return false;
}

static gboolean
bad_list (const Slurm *slurm, const char *text, GError **error)
{
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
               "%s:%u: expected names such as node[1-16,18],login, found \"%s\"", slurm->path,
               slurm->line, text);
  return FALSE;
}

/* --- Lines --- */

static uint32_t
item_of (Slurm *slurm, const char *name, bool is_switch)
{
  guint known = GPOINTER_TO_UINT (g_hash_table_lookup (slurm->by_name, name));
  Item item = { .name = (char *) name, .is_switch = is_switch, .line = slurm->line };

  if (known > 0)
    return known - 1;
  item.name = g_strdup (name);
  g_array_append_val (slurm->items, item);
  g_hash_table_insert (slurm->by_name, item.name, GUINT_TO_POINTER (slurm->items->len));
  return slurm->items->len - 1;
}

static void
join (Slurm *slurm, uint32_t parent, uint32_t child)
{
  Edge edge = { parent, child, slurm->line };
  gint64 key = (gint64) ((uint64_t) MIN (parent, child) << 32 | MAX (parent, child));

  if (parent == child || g_hash_table_contains (slurm->joined, &key))
    return;
  g_hash_table_add (slurm->joined, g_memdup2 (&key, sizeof key));
  g_array_append_val (slurm->edges, edge);
  g_array_index (slurm->items, Item, parent).n_ports++;
  g_array_index (slurm->items, Item, child).n_ports++;
}

static gboolean
join_all (Slurm *slurm, uint32_t parent, const char *list, bool are_switches, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  if (!topo_names_expand (list, names))
    return bad_list (slurm, list, error);
  for (guint at = 0; at < names->len; at++) {
    uint32_t child = item_of (slurm, names->pdata[at], are_switches);

    if (g_array_index (slurm->items, Item, child).is_switch != are_switches)
      return bad_list (slurm, list, error);
    join (slurm, parent, child);
  }
  return TRUE;
}

static gboolean
read_line (Slurm *slurm, char *line, GError **error)
{
  g_auto (GStrv) fields = NULL;
  uint32_t parent = TOPO_NONE;

  line[strcspn (line, "#")] = '\0';
  fields = g_strsplit_set (line, " \t", -1);
  for (guint at = 0; fields[at] != NULL; at++) {
    char *value = strchr (fields[at], '=');

    if (fields[at][0] == '\0')
      continue;
    if (value == NULL)
      return bad_list (slurm, fields[at], error);
    *value++ = '\0';
    if (!g_ascii_strcasecmp (fields[at], "SwitchName"))
      parent = item_of (slurm, value, true);
    else if (parent == TOPO_NONE)
      return bad_list (slurm, fields[at], error);
    else if (!g_ascii_strcasecmp (fields[at], "Nodes")) {
      if (!join_all (slurm, parent, value, false, error))
        return FALSE;
    } else if (!g_ascii_strcasecmp (fields[at], "Switches")) {
      if (!join_all (slurm, parent, value, true, error))
        return FALSE;
    } else if (g_ascii_strcasecmp (fields[at], "LinkSpeed") != 0)
      return bad_list (slurm, fields[at], error);
  }
  return TRUE;
}

/* --- The fabric --- */

static gboolean
add_item (TopoFabricBuilder *builder, Item *item, GError **error)
{
  g_autofree char *name =
      item->is_switch ? g_strdup (item->name) : g_strdup_printf ("%s HCA-1", item->name);
  TopoBuildDevice device = { .id = item->name,
                             .name = name,
                             .is_switch = item->is_switch,
                             .n_ports = MAX (item->n_ports, 1),
                             .line = item->line };

  item->n_ports = 0;
  item->device = topo_build_device (builder, &device, error);
  return item->device != TOPO_NONE;
}

static gboolean
add_end (TopoFabricBuilder *builder, const Item *here, const Item *there, uint32_t line,
         GError **error)
{
  TopoBuildEnd end = { .device = here->device,
                       .number = here->n_ports,
                       .peer_id = there->name,
                       .peer_number = there->n_ports,
                       .lanes = 4,
                       .speed = TOPO_SPEED_QDR,
                       .line = line };

  return topo_build_end (builder, &end, error);
}

static gboolean
add_edge (const Slurm *slurm, TopoFabricBuilder *builder, const Edge *edge, GError **error)
{
  Item *parent = &g_array_index (slurm->items, Item, edge->parent);
  Item *child = &g_array_index (slurm->items, Item, edge->child);

  parent->n_ports++;
  child->n_ports++;
  return add_end (builder, parent, child, edge->line, error) &&
         add_end (builder, child, parent, edge->line, error);
}

static TopoFabric *
build (const Slurm *slurm, GError **error)
{
  g_autoptr (TopoFabricBuilder) builder = topo_build_new (slurm->path);
  TopoFabric *fabric;

  for (guint at = 0; at < slurm->items->len; at++)
    if (!add_item (builder, &g_array_index (slurm->items, Item, at), error))
      return NULL;
  for (guint at = 0; at < slurm->edges->len; at++)
    if (!add_edge (slurm, builder, &g_array_index (slurm->edges, Edge, at), error))
      return NULL;
  fabric = topo_build_finish (builder, error);
  if (fabric != NULL)
    g_ptr_array_add (fabric->warnings,
                     g_strdup_printf ("%s: Slurm does not tell cables: one of 4x QDR is taken "
                                      "wherever two are joined",
                                      slurm->path));
  return fabric;
}

static void
item_clear (gpointer data)
{
  g_free (((Item *) data)->name);
}

TopoFabric *
topo_fabric_slurm (const char *path, char *text, GError **error)
{
  g_autoptr (GArray) items = g_array_new (FALSE, FALSE, sizeof (Item));
  g_autoptr (GArray) edges = g_array_new (FALSE, FALSE, sizeof (Edge));
  g_autoptr (GHashTable) by_name = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) joined = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  Slurm slurm = { path, 0, items, by_name, edges, joined };
  g_autoptr (GString) whole = g_string_new (NULL);
  uint32_t n_lines = 0;
  char *line;

  g_array_set_clear_func (items, item_clear);
  while ((line = topo_fabric_line (&text)) != NULL) {
    n_lines++;
    if (whole->len == 0)
      slurm.line = n_lines;
    g_string_append (whole, line);
    /* A backslash at the end: it goes on in the next line. */
    if (g_str_has_suffix (line, "\\")) {
      g_string_truncate (whole, whole->len - 1);
      continue;
    }
    if (!read_line (&slurm, whole->str, error))
      return NULL;
    g_string_truncate (whole, 0);
  }
  return build (&slurm, error);
}
