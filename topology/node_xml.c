/* node_xml.c - the inside of a node from the XML that hwloc's lstopo writes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * hwloc reads the machine; what is wrong with the text itself is found before,
 * since hwloc tells its caller no more than that it failed. */
#include "topology/node_build.h"

#include "base/file.h"
#include "topology/machine.h"

#include <hwloc.h>
#include <string.h>

#define MAX_HWLOC_FORMAT 2

/* PCI classes of adapters whose driver was not there: InfiniBand, other
 * fabrics, and InfiniBand as it was first filed. */
#define PCI_CLASS_INFINIBAND            0x0207
#define PCI_CLASS_FABRIC                0x0208
#define PCI_CLASS_SERIAL_BUS_INFINIBAND 0x0c06

typedef struct {
  bool has_root;
  bool has_memory;
  guint format; /* 1: before the attribute was there */
} Header;

static gboolean
has_no_memory (const char *path, GError **error)
{
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "%s: the machine has no memory", path);
  return FALSE;
}

static const char *
attribute (const char *name, const char **names, const char **values)
{
  for (guint at = 0; names[at] != NULL; at++)
    if (g_str_equal (names[at], name))
      return values[at];
  return "";
}

static void
see_root (Header *header, const char *element, const char *version, GError **error)
{
  header->has_root = true;
  header->format = MAX (1, (guint) g_ascii_strtoull (version, NULL, 10));
  if (!g_str_equal (element, "topology"))
    g_set_error (error, G_MARKUP_ERROR, G_MARKUP_ERROR_UNKNOWN_ELEMENT,
                 "expected hwloc's <topology>, found <%s>", element);
}

/* An object with processors has all four sets in hwloc 2's XML; hwloc 2.9 does
 * not survive it when one is missing. */
static void
check_sets (const char **names, const char **values, GError **error)
{
  static const char *const sets[] = { "complete_cpuset", "nodeset", "complete_nodeset" };

  if (*attribute ("cpuset", names, values) == '\0')
    return;
  for (guint at = 0; at < G_N_ELEMENTS (sets); at++)
    if (*attribute (sets[at], names, values) == '\0') {
      g_set_error (error, G_MARKUP_ERROR, G_MARKUP_ERROR_MISSING_ATTRIBUTE,
                   "an object of type \"%s\" has a cpuset but no %s",
                   attribute ("type", names, values), sets[at]);
      return;
    }
}

static void
see_element (G_GNUC_UNUSED GMarkupParseContext *context, const char *element, const char **names,
             const char **values, gpointer user_data, GError **error)
{
  Header *header = user_data;

  if (!header->has_root)
    see_root (header, element, attribute ("version", names, values), error);
  else if (g_str_equal (attribute ("type", names, values), "NUMANode"))
    header->has_memory = true;
  if (header->format > 1 && *error == NULL && g_str_equal (element, "object"))
    check_sets (names, values, error);
}

/* Sound XML of an hwloc that this one can read.  (One without memory it would
 * refuse on stderr; format 1 does not list the only memory of a machine.) */
static gboolean
check_text (const char *path, const char *text, gsize length, GError **error)
{
  static const GMarkupParser parser = { .start_element = see_element };
  Header header = { 0 };
  g_autoptr (GError) cause = NULL;
  g_autoptr (GMarkupParseContext) context =
      g_markup_parse_context_new (&parser, G_MARKUP_DEFAULT_FLAGS, &header, NULL);
  bool sound = g_markup_parse_context_parse (context, text, (gssize) length, &cause) &&
               g_markup_parse_context_end_parse (context, &cause);

  if (header.format > MAX_HWLOC_FORMAT) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                 "%s: written by hwloc %u, which hwloc 2 cannot read", path, header.format);
    return FALSE;
  }
  if (!sound) {
    guint line;
    g_autofree char *reason = base_parser_reason (cause, &line);

    if (line > 0)
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s:%u: %s", path, line, reason);
    else
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s: %s", path, reason);
    return FALSE;
  }
  return header.has_memory || header.format == 1 ? TRUE : has_no_memory (path, error);
}

static hwloc_topology_t
read_topology (const char *path, const char *text, gsize length, GError **error)
{
  hwloc_topology_t topology;

  if (hwloc_topology_init (&topology) < 0)
    g_error ("hwloc does not start");
  if (hwloc_topology_set_flags (topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
      hwloc_topology_set_io_types_filter (topology, HWLOC_TYPE_FILTER_KEEP_ALL) == 0 &&
      hwloc_topology_set_xmlbuffer (topology, text, (int) length + 1) == 0 &&
      hwloc_topology_load (topology) == 0)
    return topology;
  hwloc_topology_destroy (topology);
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
               "%s: sound XML, but hwloc cannot make a machine of it", path);
  return NULL;
}

/* Sets which cores are in a set of processors. */
static void
count_cores (hwloc_topology_t topology, hwloc_const_cpuset_t set, TopoObject *object)
{
  hwloc_obj_t core = NULL;

  while ((core = hwloc_get_next_obj_by_type (topology, HWLOC_OBJ_CORE, core)) != NULL)
    if (hwloc_bitmap_isincluded (core->cpuset, set)) {
      if (object->n_cores == 0)
        object->first_core = core->logical_index;
      object->n_cores++;
    }
}

/* Its number among the objects that are kept, its parent's when it is left out. */
static uint32_t
keep (hwloc_topology_t topology, hwloc_obj_t it, uint32_t parent, GArray *objects)
{
  TopoObject object = { .parent = parent };

  count_cores (topology, it->cpuset, &object);
  if (it->type == HWLOC_OBJ_MACHINE)
    object.kind = TOPO_OBJECT_MACHINE;
  else if (it->type == HWLOC_OBJ_PACKAGE) {
    object.kind = TOPO_OBJECT_PACKAGE;
    object.os_index = it->os_index;
  } else if (hwloc_obj_type_is_dcache (it->type)) {
    const TopoObject *above = &g_array_index (objects, TopoObject, parent);

    if (above->kind == TOPO_OBJECT_CACHE && above->n_cores == object.n_cores)
      return parent;
    object.kind = TOPO_OBJECT_CACHE;
    object.level = (uint8_t) it->attr->cache.depth;
    object.cache_bytes = it->attr->cache.size;
  } else if (it->type == HWLOC_OBJ_CORE) {
    object.kind = TOPO_OBJECT_CORE;
    object.os_index = (uint32_t) hwloc_bitmap_first (it->cpuset);
  } else
    return parent;
  if (object.n_cores == 0)
    return parent;
  g_array_append_val (objects, object);
  return objects->len - 1;
}

/* A NUMA node, or a cache in front of one. */
static void
keep_memory (hwloc_topology_t topology, hwloc_obj_t it, uint32_t parent, GArray *objects)
{
  TopoObject object = { .kind = TOPO_OBJECT_MEMORY, .parent = parent, .os_index = it->os_index };

  for (hwloc_obj_t below = it->memory_first_child; below != NULL; below = below->next_sibling)
    keep_memory (topology, below, parent, objects);
  count_cores (topology, it->cpuset, &object);
  if (it->type == HWLOC_OBJ_NUMANODE)
    object.memory_bytes = it->attr->numanode.local_memory;
  if (it->type == HWLOC_OBJ_NUMANODE && object.n_cores > 0)
    g_array_append_val (objects, object);
}

static void
walk (hwloc_topology_t topology, hwloc_obj_t it, uint32_t parent, GArray *objects)
{
  uint32_t number = keep (topology, it, parent, objects);

  for (hwloc_obj_t memory = it->memory_first_child; memory != NULL; memory = memory->next_sibling)
    keep_memory (topology, memory, number, objects);
  for (hwloc_obj_t child = it->first_child; child != NULL; child = child->next_sibling)
    walk (topology, child, number, objects);
}

static void
find_cpus (hwloc_topology_t topology, TopoNode *node)
{
  uint32_t most = (uint32_t) hwloc_get_nbobjs_by_type (topology, HWLOC_OBJ_PU), n = 0;
  uint32_t *cpu = g_new (uint32_t, most), *cpu_core = g_new (uint32_t, most);
  hwloc_obj_t core = NULL;

  while ((core = hwloc_get_next_obj_by_type (topology, HWLOC_OBJ_CORE, core)) != NULL) {
    int number = -1;

    while ((number = hwloc_bitmap_next (core->cpuset, number)) >= 0) {
      cpu[n] = (uint32_t) number;
      cpu_core[n++] = core->logical_index;
    }
  }
  topo_node_set_cpus (node, cpu, cpu_core, n);
}

static hwloc_obj_t
find_adapter (hwloc_topology_t topology)
{
  hwloc_obj_t device = NULL;

  while ((device = hwloc_get_next_osdev (topology, device)) != NULL)
    if (device->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS)
      return device;
  while ((device = hwloc_get_next_pcidev (topology, device)) != NULL)
    if (device->attr->pcidev.class_id == PCI_CLASS_INFINIBAND ||
        device->attr->pcidev.class_id == PCI_CLASS_FABRIC ||
        device->attr->pcidev.class_id == PCI_CLASS_SERIAL_BUS_INFINIBAND)
      return device;
  return NULL;
}

/* The package whose bridge the adapter hangs below, the machine otherwise. */
static uint32_t
place_adapter (hwloc_topology_t topology, const TopoNode *node)
{
  hwloc_obj_t device = find_adapter (topology);
  hwloc_obj_t above = device != NULL ? hwloc_get_non_io_ancestor_obj (topology, device) : NULL;

  while (above != NULL && above->type != HWLOC_OBJ_PACKAGE)
    above = above->parent;
  for (uint32_t object = 0; above != NULL && object < node->n_objects; object++)
    if (node->objects[object].kind == TOPO_OBJECT_PACKAGE &&
        node->objects[object].os_index == above->os_index)
      return object;
  return 0;
}

static gboolean
check_cores (const char *path, hwloc_topology_t topology, GError **error)
{
  int n_cores = hwloc_get_nbobjs_by_type (topology, HWLOC_OBJ_CORE);

  if (n_cores > 0 && n_cores <= TOPO_MAX_RANKS_PER_NODE)
    return TRUE;
  if (n_cores <= 0)
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "%s: the machine has no cores", path);
  else
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%s: the machine has %d cores; a node has at most %d", path, n_cores,
                 TOPO_MAX_RANKS_PER_NODE);
  return FALSE;
}

static TopoNode *
make_node (const char *path, hwloc_topology_t topology, GError **error)
{
  GArray *objects;
  TopoNode *node;

  if (!check_cores (path, topology, error))
    return NULL;
  objects = g_array_new (FALSE, TRUE, sizeof (TopoObject));
  walk (topology, hwloc_get_root_obj (topology), TOPO_NONE, objects);
  node = topo_node_make (g_strdup (path), objects);
  node->adapter = place_adapter (topology, node);
  find_cpus (topology, node);
  if (node->n_memories > 0)
    return node;
  topo_node_free (node);
  has_no_memory (path, error);
  return NULL;
}

TopoNode *
topo_node_load (const char *path, GError **error)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) cause = NULL;
  gsize length;
  hwloc_topology_t topology;
  TopoNode *node;

  if (!base_file_read (path, &text, &length, &cause)) {
    g_set_error_literal (error, TOPO_ERROR, TOPO_ERROR_FILE, cause->message);
    return NULL;
  }
  if (length == 0 || length >= INT_MAX) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s: %s", path,
                 length == 0 ? "empty" : "too long");
    return NULL;
  }
  if (!check_text (path, text, length, error))
    return NULL;
  topology = read_topology (path, text, length, error);
  if (topology == NULL)
    return NULL;
  node = make_node (path, topology, error);
  hwloc_topology_destroy (topology);
  return node;
}
