/* node_xml.c - the inside of a node from the XML that hwloc's lstopo writes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * hwloc orders and merges the objects of a machine, but it trusts the text: version 2.9 aborts on
 * a malformed set, follows a null pointer when a set is missing, and takes a gigabyte for a
 * processor without a number.  Therefore it never sees the file.  The file is parsed here into a
 * tree, each object is checked when it begins, and hwloc loads a text that is written from this
 * tree: only objects with processors or memory, only the attributes that are used, sets that
 * agree with each other.  Devices are looked up in the tree itself. */
#include "topology/node/node_build.h"

#include "base/error.h"
#include "base/file.h"
#include "topology/machine.h"
#include "topology/node/processor.h"

#include <hwloc.h>
#include <string.h>

#define MAX_HWLOC_FORMAT 2
#define MAX_TEXT_BYTES   (4 << 20)            /* 0.16 MB describe 128 cores and their devices */
#define MAX_DEPTH        64                   /* of objects in each other; real machines need 20 */
#define MAX_CPUS         8192                 /* Linux is not built for more */
#define MAX_MEMORIES     1024                 /* likewise */
#define MAX_NAME_BYTES   64                   /* of a processor's name; CPUID has 48 */
#define MAX_BYTES        (UINT64_C (1) << 50) /* of a cache or memory: sums of 1,024 stay exact */

/* PCI classes of adapters whose driver was not there: InfiniBand, other
 * fabrics, and InfiniBand as it was first filed. */
#define PCI_CLASS_INFINIBAND            0x0207
#define PCI_CLASS_FABRIC                0x0208
#define PCI_CLASS_SERIAL_BUS_INFINIBAND 0x0c06

/* The name of a type in the XML of hwloc 1 and 2, and the name that is written for hwloc. */
typedef struct {
  const char *name, *written;
  enum { NORMAL, MEMORY, DEVICE, MISC } role;
  hwloc_obj_type_t type;
  guint8 cache_level;
  bool is_instruction_cache;
} XmlType;

static const XmlType types[] = {
  { "Machine", "Machine", NORMAL, HWLOC_OBJ_MACHINE, 0, false },
  { "System", "Machine", NORMAL, HWLOC_OBJ_MACHINE, 0, false },
  { "Package", "Package", NORMAL, HWLOC_OBJ_PACKAGE, 0, false },
  { "Socket", "Package", NORMAL, HWLOC_OBJ_PACKAGE, 0, false },
  { "Die", "Die", NORMAL, HWLOC_OBJ_DIE, 0, false },
  { "Group", "Group", NORMAL, HWLOC_OBJ_GROUP, 0, false },
  { "Tile", "Tile", NORMAL, HWLOC_OBJ_GROUP, 0, false },
  { "Module", "Module", NORMAL, HWLOC_OBJ_GROUP, 0, false },
  { "L1Cache", "L1Cache", NORMAL, HWLOC_OBJ_L1CACHE, 1, false },
  { "L2Cache", "L2Cache", NORMAL, HWLOC_OBJ_L2CACHE, 2, false },
  { "L3Cache", "L3Cache", NORMAL, HWLOC_OBJ_L3CACHE, 3, false },
  { "L4Cache", "L4Cache", NORMAL, HWLOC_OBJ_L4CACHE, 4, false },
  { "L5Cache", "L5Cache", NORMAL, HWLOC_OBJ_L5CACHE, 5, false },
  { "L1iCache", "L1iCache", NORMAL, HWLOC_OBJ_L1ICACHE, 1, true },
  { "L2iCache", "L2iCache", NORMAL, HWLOC_OBJ_L2ICACHE, 2, true },
  { "L3iCache", "L3iCache", NORMAL, HWLOC_OBJ_L3ICACHE, 3, true },
  { "Core", "Core", NORMAL, HWLOC_OBJ_CORE, 0, false },
  { "PU", "PU", NORMAL, HWLOC_OBJ_PU, 0, false },
  { "NUMANode", "NUMANode", MEMORY, HWLOC_OBJ_NUMANODE, 0, false },
  { "MemCache", NULL, MEMORY, HWLOC_OBJ_MEMCACHE, 0, false },
  { "Bridge", NULL, DEVICE, HWLOC_OBJ_BRIDGE, 0, false },
  { "PCIDev", NULL, DEVICE, HWLOC_OBJ_PCI_DEVICE, 0, false },
  { "OSDev", NULL, DEVICE, HWLOC_OBJ_OS_DEVICE, 0, false },
  { "Misc", NULL, MISC, HWLOC_OBJ_MISC, 0, false },
};

typedef struct XmlObject XmlObject;
struct XmlObject {
  const XmlType *type;
  bool is_branch; /* part of the tree of processors; memory is in format 1, too */
  XmlObject *parent;
  GPtrArray *children;
  hwloc_bitmap_t cpuset, complete_cpuset; /* as declared; NULL: a device or Misc */
  hwloc_bitmap_t taken;                   /* the complete sets of its branches so far */
  hwloc_bitmap_t pus;                     /* the processors (PU) inside */
  uint32_t os_index;                      /* TOPO_NONE: not given */
  uint64_t bytes;                         /* of a cache or memory */
  bool is_die;
  uint32_t kind, subkind, dont_merge; /* of a group; they decide whether hwloc keeps it */
  bool is_infiniband, is_fabric_pci;
};

typedef struct {
  guint format; /* 1: before the attribute was there; 0: no root yet */
  XmlObject *root, *at;
  guint depth, foreign; /* objects that are open; elements of other kinds, which are skipped */
  guint n_cores;
  hwloc_bitmap_t memories; /* numbers of NUMA nodes */
  hwloc_bitmap_t hbm;      /* ... of those of high-bandwidth memory */
  TopoCpuSigns signs;      /* of the first processor that has any */
  char *vendor, *model;    /* that they point to */
} Reading;

static void
free_object (gpointer data)
{
  XmlObject *object = data;

  hwloc_bitmap_free (object->cpuset);
  hwloc_bitmap_free (object->complete_cpuset);
  hwloc_bitmap_free (object->taken);
  hwloc_bitmap_free (object->pus);
  g_ptr_array_unref (object->children);
  g_free (object);
}

/* The path and the line are prefixed after parsing. */
static bool G_GNUC_PRINTF (2, 3) refuse (GError **error, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  *error = g_error_new_valist (G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT, format, arguments);
  va_end (arguments);
  return false;
}

/* Attributes. */

typedef struct {
  const char **names, **values;
} Attributes;

static const char *
attribute (const Attributes *attributes, const char *name)
{
  for (guint at = 0; attributes->names[at] != NULL; at++)
    if (g_str_equal (attributes->names[at], name))
      return attributes->values[at];
  return NULL;
}

/* Leaves *number when the attribute is not there. */
static bool
read_number (const Attributes *attributes, const char *name, uint64_t most, uint64_t *number,
             GError **error)
{
  const char *text = attribute (attributes, name);

  return text == NULL || g_ascii_string_to_unsigned (text, 10, 0, most, number, NULL) ||
         refuse (error, "%s=\"%s\": expected a number up to %" G_GUINT64_FORMAT, name, text, most);
}

static bool
read_number32 (const Attributes *attributes, const char *name, uint32_t *number, GError **error)
{
  uint64_t wide = *number;

  if (!read_number (attributes, name, UINT32_MAX, &wide, error))
    return false;
  *number = (uint32_t) wide;
  return true;
}

/* A set is words of 32 bits, the highest first: 0x and up to eight digits, or nothing for 0
 * except in the first word.  0xf...f before them sets all higher bits. */
static bool
parse_set (const char *text, hwloc_bitmap_t set)
{
  uint32_t words[MAX_CPUS / 32] = { 0 };
  bool has_tail = g_str_has_prefix (text, "0xf...f");
  guint n = 0;

  if (has_tail)
    text += strlen ("0xf...f");
  for (bool more = !has_tail || *text++ == ','; more; more = *text++ == ',') {
    guint digits = 0;

    if (n == G_N_ELEMENTS (words))
      return false;
    if (text[0] == '0' && text[1] == 'x') {
      for (text += 2; digits < 8 && g_ascii_isxdigit (*text); text++, digits++)
        words[n] = words[n] << 4 | (uint32_t) g_ascii_xdigit_value (*text);
      if (digits == 0)
        return false;
    } else if (n == 0 && !has_tail)
      return false;
    n++;
  }
  if (text[-1] != '\0')
    return false;
  for (guint word = 0; word < n; word++)
    for (guint bit = 0; bit < 32; bit++)
      if (words[n - 1 - word] >> bit & 1)
        hwloc_bitmap_set (set, 32 * word + bit);
  if (has_tail)
    hwloc_bitmap_set_range (set, 32 * n, -1);
  return true;
}

/* The start of an object. */

static const XmlType *
find_type (const char *name)
{
  for (guint at = 0; at < G_N_ELEMENTS (types); at++)
    if (g_str_equal (types[at].name, name))
      return &types[at];
  return NULL;
}

/* The attributes that a type has of its own. */
static bool
read_details (XmlObject *object, const Attributes *attributes, GError **error)
{
  const XmlType *type = object->type;

  if (type->role == DEVICE) {
    const char *pci = attribute (attributes, "pci_type");
    const char *kind = attribute (attributes, "osdev_type");
    guint64 pci_class = pci != NULL ? g_ascii_strtoull (pci, NULL, 16) : 0;

    object->is_infiniband = type->type == HWLOC_OBJ_OS_DEVICE && g_strcmp0 (kind, "3") == 0;
    object->is_fabric_pci = type->type == HWLOC_OBJ_PCI_DEVICE &&
                            (pci_class == PCI_CLASS_INFINIBAND || pci_class == PCI_CLASS_FABRIC ||
                             pci_class == PCI_CLASS_SERIAL_BUS_INFINIBAND);
  }
  if (type->role == DEVICE || type->role == MISC)
    return true;
  if (!read_number32 (attributes, "os_index", &object->os_index, error))
    return false;
  if (type->cache_level > 0) {
    uint64_t level = type->cache_level;
    uint64_t kind =
        type->is_instruction_cache ? HWLOC_OBJ_CACHE_INSTRUCTION : HWLOC_OBJ_CACHE_UNIFIED;

    if (!read_number (attributes, "cache_size", MAX_BYTES, &object->bytes, error) ||
        !read_number (attributes, "depth", 5, &level, error) ||
        !read_number (attributes, "cache_type", HWLOC_OBJ_CACHE_INSTRUCTION, &kind, error))
      return false;
    return (level == type->cache_level &&
            (kind == HWLOC_OBJ_CACHE_INSTRUCTION) == type->is_instruction_cache) ||
           refuse (error, "type=\"%s\" is not a cache of depth %u and type %u", type->name,
                   (guint) level, (guint) kind);
  }
  if (type->type == HWLOC_OBJ_GROUP) {
    object->is_die = g_strcmp0 (attribute (attributes, "subtype"), "Die") == 0;
    return read_number32 (attributes, "kind", &object->kind, error) &&
           read_number32 (attributes, "subkind", &object->subkind, error) &&
           read_number32 (attributes, "dont_merge", &object->dont_merge, error);
  }
  return (object->parent != NULL && type->type != HWLOC_OBJ_NUMANODE) ||
         read_number (attributes, "local_memory", MAX_BYTES, &object->bytes, error);
}

/* Unknown memory has no subtype, or that of an ordinary one ("DRAM"). */
static bool
is_hbm (const Attributes *attributes)
{
  const char *subtype = attribute (attributes, "subtype");

  return g_strcmp0 (subtype, "HBM") == 0 || g_strcmp0 (subtype, "MCDRAM") == 0;
}

/* What an <info> says of a processor.  hwloc writes them below every package, or below the
 * machine when all have the same; the first stands for all. */
static void
read_info (Reading *reading, const Attributes *attributes)
{
  const struct {
    const char *name;
    char **text;
    uint32_t *number;
  } infos[] = {
    { "CPUVendor", &reading->vendor, NULL },
    { "CPUModel", &reading->model, NULL },
    { "CPUFamilyNumber", NULL, &reading->signs.family },
    { "CPUModelNumber", NULL, &reading->signs.model_number },
    { "CPUStepping", NULL, &reading->signs.stepping },
  };
  const char *name = attribute (attributes, "name"), *value = attribute (attributes, "value");
  guint64 number;

  for (gsize at = 0; name != NULL && value != NULL && at < G_N_ELEMENTS (infos); at++) {
    if (!g_str_equal (name, infos[at].name))
      continue;
    if (infos[at].text != NULL && *infos[at].text == NULL) {
      *infos[at].text = g_strstrip (g_strndup (value, MAX_NAME_BYTES));
      for (char *byte = *infos[at].text; *byte != '\0'; byte++)
        if (!g_ascii_isprint (*byte))
          *byte = '?';
    } else if (infos[at].number != NULL && *infos[at].number == 0 &&
               g_ascii_string_to_unsigned (value, 10, 0, UINT32_MAX, &number, NULL))
      *infos[at].number = (uint32_t) number;
  }
}

/* The sets of processors, which must be inside the parent's and disjoint from the branches
 * before.  The sets of memories must be there and sound, too, though new ones are written. */
static bool
read_sets (XmlObject *object, guint format, const Attributes *attributes, GError **error)
{
  static const char *const names[] = { "cpuset", "complete_cpuset", "nodeset", "complete_nodeset" };
  const char *type = object->type->name, *missing = NULL;
  XmlObject *above = object->parent;

  for (guint at = 0; at < G_N_ELEMENTS (names); at++) {
    const char *text = attribute (attributes, names[at]);
    hwloc_bitmap_t set = NULL;

    if (text != NULL && *text != '\0') {
      set = hwloc_bitmap_alloc ();
      if (!parse_set (text, set)) {
        hwloc_bitmap_free (set);
        return refuse (error,
                       "%s=\"%s\": expected a set as hwloc writes it (0x0000000f,,0x00000001) of "
                       "numbers below %d",
                       names[at], text, MAX_CPUS);
      }
    }
    /* hwloc 1.7 wrote groups of devices without a complete_cpuset. */
    if (at == 1 && set == NULL && format == 1 && object->type->type == HWLOC_OBJ_GROUP &&
        object->cpuset != NULL)
      set = hwloc_bitmap_dup (object->cpuset);
    if (set == NULL && missing == NULL && (at < 2 || format > 1))
      missing = names[at];
    if (at == 0)
      object->cpuset = set;
    else if (at == 1)
      object->complete_cpuset = set;
    else
      hwloc_bitmap_free (set);
  }
  if (missing != NULL)
    return refuse (error, "an object of type \"%s\" has no %s", type, missing);
  if (!hwloc_bitmap_isincluded (object->cpuset, object->complete_cpuset))
    return refuse (error, "type \"%s\": its cpuset is not inside its complete_cpuset", type);
  if (above == NULL)
    return true;
  if (!hwloc_bitmap_isincluded (object->cpuset, above->cpuset) ||
      !hwloc_bitmap_isincluded (object->complete_cpuset, above->complete_cpuset))
    return refuse (error, "type \"%s\": its processors are not all in the \"%s\" around it", type,
                   above->type->name);
  if (object->is_branch && hwloc_bitmap_intersects (object->complete_cpuset, above->taken))
    return refuse (error, "type \"%s\": an object before it has some of its processors", type);
  if (object->is_branch)
    hwloc_bitmap_or (above->taken, above->taken, object->complete_cpuset);
  return true;
}

static bool
check_parent (const XmlObject *object, GError **error)
{
  const XmlObject *above = object->parent;
  hwloc_obj_type_t type = object->type->type;

  if (above == NULL)
    return type == HWLOC_OBJ_MACHINE ||
           refuse (error, "the first object is of type \"%s\", not Machine", object->type->name);
  if (object->type->role == MISC || (object->type->role == DEVICE && above->type->role != MISC))
    return true;
  if (type == HWLOC_OBJ_MACHINE || above->type->type == HWLOC_OBJ_PU ||
      (!above->is_branch && (object->is_branch || above->type->type != HWLOC_OBJ_MEMCACHE)))
    return refuse (error, "type \"%s\" inside of type \"%s\"", object->type->name,
                   above->type->name);
  for (; above != NULL; above = above->parent)
    if ((above->type->type == type && type != HWLOC_OBJ_GROUP && type != HWLOC_OBJ_MEMCACHE) ||
        (above->type->type == HWLOC_OBJ_CORE && type == HWLOC_OBJ_PACKAGE))
      return refuse (error, "type \"%s\" inside of type \"%s\"", object->type->name,
                     above->type->name);
  return true;
}

static bool
read_object (Reading *reading, XmlObject *object, const Attributes *attributes, GError **error)
{
  const char *name = attribute (attributes, "type");
  bool is_pu;
  guint most;

  if (name == NULL)
    return refuse (error, "an object has no type");
  object->type = find_type (name);
  if (object->type == NULL && g_str_equal (name, "Cache")) {
    /* hwloc 1 has one type for all caches and gives the level by an attribute. */
    uint64_t level = 0, kind = HWLOC_OBJ_CACHE_UNIFIED;
    g_autofree char *cache = NULL;

    if (!read_number (attributes, "depth", 5, &level, error) ||
        !read_number (attributes, "cache_type", HWLOC_OBJ_CACHE_INSTRUCTION, &kind, error))
      return false;
    cache = g_strdup_printf ("L%u%sCache", (guint) level,
                             kind == HWLOC_OBJ_CACHE_INSTRUCTION ? "i" : "");
    object->type = find_type (cache);
    if (object->type == NULL)
      return refuse (error, "there is no cache of depth %u and type %u", (guint) level,
                     (guint) kind);
  }
  /* In format 1 a Misc object with processors is a group. */
  if (reading->format == 1 && g_str_equal (name, "Misc") &&
      attribute (attributes, "cpuset") != NULL)
    object->type = find_type ("Group");
  if (object->type == NULL)
    return refuse (error, "hwloc 2 has no objects of type \"%s\"", name);
  object->is_branch = object->type->role == NORMAL ||
                      (reading->format == 1 && object->type->type == HWLOC_OBJ_NUMANODE);
  reading->n_cores += object->type->type == HWLOC_OBJ_CORE;
  if (!check_parent (object, error) || !read_details (object, attributes, error))
    return false;
  if (object->type->role == DEVICE || object->type->role == MISC)
    return true;
  if (!read_sets (object, reading->format, attributes, error))
    return false;

  /* A processor's sets hold its number alone; the numbers of memories are unique. */
  is_pu = object->type->type == HWLOC_OBJ_PU;
  most = is_pu ? MAX_CPUS : MAX_MEMORIES;
  if (!is_pu && object->type->type != HWLOC_OBJ_NUMANODE)
    return true;
  if (object->os_index >= most)
    return refuse (error, "type \"%s\": expected an os_index below %u", object->type->name, most);
  if (is_pu) {
    hwloc_bitmap_only (object->pus, object->os_index);
    return (hwloc_bitmap_isequal (object->cpuset, object->pus) &&
            hwloc_bitmap_isequal (object->complete_cpuset, object->pus)) ||
           refuse (error, "type \"PU\": its sets have other processors than os_index=\"%u\"",
                   object->os_index);
  }
  if (hwloc_bitmap_isset (reading->memories, object->os_index))
    return refuse (error, "type \"NUMANode\": a second one with os_index=\"%u\"", object->os_index);
  hwloc_bitmap_set (reading->memories, object->os_index);
  if (is_hbm (attributes))
    hwloc_bitmap_set (reading->hbm, object->os_index);
  return true;
}

/* Processors by their first number, as hwloc sorts them, then memories, then devices; equal
 * children keep their order. */
static gint
compare_children (gconstpointer a, gconstpointer b)
{
  const XmlObject *one = *(XmlObject *const *) a, *other = *(XmlObject *const *) b;
  int order = (one->is_branch ? -1 : (int) one->type->role) -
              (other->is_branch ? -1 : (int) other->type->role);

  if (order != 0 || !one->is_branch)
    return order;
  return hwloc_bitmap_compare_first (one->complete_cpuset, other->complete_cpuset);
}

/* The text. */

static void
begin_element (G_GNUC_UNUSED GMarkupParseContext *context, const char *element, const char **names,
               const char **values, gpointer user_data, GError **error)
{
  Reading *reading = user_data;
  Attributes attributes = { names, values };

  if (reading->format == 0) {
    const char *version = attribute (&attributes, "version");
    guint64 format = version != NULL ? g_ascii_strtoull (version, NULL, 10) : 1;

    reading->format = (guint) CLAMP (format, 1, G_MAXUINT);
    if (!g_str_equal (element, "topology"))
      refuse (error, "expected hwloc's <topology>, found <%s>", element);
    else if (reading->format > MAX_HWLOC_FORMAT)
      refuse (error, "another format");
  } else if (!g_str_equal (element, "object")) {
    if (g_str_equal (element, "info") && reading->foreign == 0 && reading->at != NULL)
      read_info (reading, &attributes);
    reading->foreign++;
  } else if (reading->foreign > 0)
    refuse (error, "an object inside of an element of another kind");
  else {
    XmlObject *object;

    if (reading->at == NULL && reading->root != NULL) {
      refuse (error, "a second machine");
      return;
    }
    if (reading->depth == MAX_DEPTH) {
      refuse (error, "more than %d objects inside of each other", MAX_DEPTH);
      return;
    }
    object = g_new0 (XmlObject, 1);
    object->parent = reading->at;
    object->children = g_ptr_array_new_with_free_func (free_object);
    object->taken = hwloc_bitmap_alloc ();
    object->pus = hwloc_bitmap_alloc ();
    object->os_index = TOPO_NONE;
    if (reading->at != NULL)
      g_ptr_array_add (reading->at->children, object);
    else
      reading->root = object;
    reading->at = object;
    reading->depth++;
    read_object (reading, object, &attributes, error);
  }
}

static void
end_element (G_GNUC_UNUSED GMarkupParseContext *context, G_GNUC_UNUSED const char *element,
             gpointer user_data, G_GNUC_UNUSED GError **error)
{
  Reading *reading = user_data;

  if (reading->foreign > 0)
    reading->foreign--;
  else if (reading->at != NULL) {
    XmlObject *object = reading->at;

    g_ptr_array_sort (object->children, compare_children);
    reading->at = object->parent;
    reading->depth--;
    if (reading->at != NULL && object->is_branch)
      hwloc_bitmap_or (reading->at->pus, reading->at->pus, object->pus);
  }
}

/* The text for hwloc. */

static void
append_set (GString *text, const char *name, hwloc_const_bitmap_t set)
{
  char *digits = NULL;

  if (hwloc_bitmap_asprintf (&digits, set) < 0)
    g_error ("out of memory");
  g_string_append_printf (text, " %s=\"%s\"", name, digits);
  free (digits);
}

/* Memory whose object has no processors goes to the next one around it that has some. */
static void
append_object (GString *text, const Reading *reading, const XmlObject *object)
{
  bool is_memory = object->type->type == HWLOC_OBJ_NUMANODE;
  bool is_written = is_memory || (object->is_branch && !hwloc_bitmap_iszero (object->pus));

  if (is_written) {
    g_string_append_printf (text, "<object type=\"%s\"",
                            object->is_die ? "Die" : object->type->written);
    if (object->os_index != TOPO_NONE)
      g_string_append_printf (text, " os_index=\"%u\"", object->os_index);
    if (object->type->cache_level > 0)
      g_string_append_printf (
          text, " cache_size=\"%" G_GUINT64_FORMAT "\" depth=\"%u\" cache_type=\"%d\"",
          object->bytes, object->type->cache_level,
          object->type->is_instruction_cache ? HWLOC_OBJ_CACHE_INSTRUCTION
                                             : HWLOC_OBJ_CACHE_UNIFIED);
    else if (object->bytes > 0)
      g_string_append_printf (text, " local_memory=\"%" G_GUINT64_FORMAT "\"", object->bytes);
    if (object->type->type == HWLOC_OBJ_GROUP && !object->is_die)
      g_string_append_printf (text, " kind=\"%u\" subkind=\"%u\" dont_merge=\"%u\"", object->kind,
                              object->subkind, object->dont_merge);
    /* Sets of memories are the same everywhere, since hwloc makes its own from where they stand;
     * without memories (in format 1) there are none. */
    hwloc_bitmap_t processors = hwloc_bitmap_dup (object->pus), all = hwloc_bitmap_alloc ();
    hwloc_bitmap_t memories = hwloc_bitmap_dup (reading->memories);

    hwloc_bitmap_set_range (all, 0, MAX_CPUS - 1);
    hwloc_bitmap_and (all, all, object->complete_cpuset);
    if (!object->is_branch)
      hwloc_bitmap_and (processors, object->cpuset, reading->root->pus);
    if (object->type->type == HWLOC_OBJ_NUMANODE)
      hwloc_bitmap_only (memories, object->os_index);
    append_set (text, "cpuset", processors);
    append_set (text, "complete_cpuset", all);
    if (!hwloc_bitmap_iszero (memories)) {
      append_set (text, "nodeset", memories);
      append_set (text, "complete_nodeset", memories);
    }
    hwloc_bitmap_free (processors);
    hwloc_bitmap_free (all);
    hwloc_bitmap_free (memories);
    g_string_append (text, ">\n");
  }
  for (guint child = 0; child < object->children->len; child++)
    append_object (text, reading, g_ptr_array_index (object->children, child));
  if (is_written)
    g_string_append (text, "</object>\n");
}

/* hwloc's own reading of the tree. */
static hwloc_topology_t
load_tree (const char *path, const Reading *reading, GError **error)
{
  g_autoptr (GString) text = g_string_new ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  hwloc_topology_t topology;

  g_string_append_printf (text, "<!DOCTYPE topology SYSTEM \"hwloc%s.dtd\">\n<topology%s>\n",
                          reading->format == 1 ? "" : "2",
                          reading->format == 1 ? "" : " version=\"2.0\"");
  append_object (text, reading, reading->root);
  g_string_append (text, "</topology>\n");
  if (hwloc_topology_init (&topology) < 0)
    g_error ("hwloc does not start");
  if (hwloc_topology_set_flags (topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
      hwloc_topology_set_xmlbuffer (topology, text->str, (int) text->len + 1) == 0 &&
      hwloc_topology_load (topology) == 0)
    return topology;
  hwloc_topology_destroy (topology);
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
               "%s: well-formed XML, but hwloc finds no valid topology in it", path);
  return NULL;
}

/* Sets first_core and n_cores to the cores inside a set of processors. */
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

/* Keeps packages, cores, and of the data caches that serve the same cores the outermost; the
 * children of other objects get the object above as their parent. */
static void
walk (hwloc_topology_t topology, hwloc_obj_t it, uint32_t parent, GArray *objects)
{
  TopoObject object = { .parent = parent };
  bool is_kept = true;

  count_cores (topology, it->cpuset, &object);
  if (it->type == HWLOC_OBJ_MACHINE)
    object.kind = TOPO_OBJECT_MACHINE;
  else if (it->type == HWLOC_OBJ_PACKAGE) {
    object.kind = TOPO_OBJECT_PACKAGE;
    object.os_index = it->os_index;
  } else if (hwloc_obj_type_is_dcache (it->type)) {
    const TopoObject *above = &g_array_index (objects, TopoObject, parent);

    is_kept = above->kind != TOPO_OBJECT_CACHE || above->n_cores != object.n_cores;
    object.kind = TOPO_OBJECT_CACHE;
    object.level = (uint8_t) it->attr->cache.depth;
    object.cache_bytes = it->attr->cache.size;
  } else if (it->type == HWLOC_OBJ_CORE) {
    object.kind = TOPO_OBJECT_CORE;
    object.os_index = (uint32_t) hwloc_bitmap_first (it->cpuset);
  } else
    is_kept = false;
  if (is_kept && object.n_cores > 0) {
    parent = objects->len;
    g_array_append_val (objects, object);
  }
  for (hwloc_obj_t memory = it->memory_first_child; memory != NULL; memory = memory->next_sibling)
    keep_memory (topology, memory, parent, objects);
  for (hwloc_obj_t child = it->first_child; child != NULL; child = child->next_sibling)
    walk (topology, child, parent, objects);
}

/* The first device of InfiniBand below an object, or of the PCI classes for it. */
static const XmlObject *
find_adapter (const XmlObject *object, bool by_pci_class)
{
  const XmlObject *found = NULL;

  if (by_pci_class ? object->is_fabric_pci : object->is_infiniband)
    return object;
  for (guint child = 0; child < object->children->len && found == NULL; child++)
    found = find_adapter (g_ptr_array_index (object->children, child), by_pci_class);
  return found;
}

static bool
has_cores (const char *path, int n_cores, GError **error)
{
  if (n_cores > 0 && n_cores <= TOPO_MAX_RANKS_PER_NODE)
    return true;
  if (n_cores <= 0)
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "%s: the machine has no cores", path);
  else
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%s: the machine has %d cores; a node has at most %d", path, n_cores,
                 TOPO_MAX_RANKS_PER_NODE);
  return false;
}

/* Reads the file into a tree of sound objects that have cores and memory. */
static bool
parse_file (const char *path, Reading *reading, GError **error)
{
  static const GMarkupParser parser = { .start_element = begin_element,
                                        .end_element = end_element };
  g_autoptr (GMarkupParseContext) context =
      g_markup_parse_context_new (&parser, G_MARKUP_DEFAULT_FLAGS, reading, NULL);
  g_autofree char *text = NULL;
  g_autoptr (GError) cause = NULL;
  gsize length;
  bool is_parsed;

  if (!base_file_read (path, &text, &length, &cause)) {
    g_set_error_literal (error, TOPO_ERROR, TOPO_ERROR_FILE, cause->message);
    return false;
  }
  if (length == 0 || length > MAX_TEXT_BYTES) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s: %s", path,
                 length == 0 ? "empty" : "too long for the XML of a node (at most 4 MiB)");
    return false;
  }
  is_parsed = g_markup_parse_context_parse (context, text, (gssize) length, &cause) &&
              g_markup_parse_context_end_parse (context, &cause);
  if (reading->format > MAX_HWLOC_FORMAT) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                 "%s: written by hwloc %u, which hwloc 2 cannot read", path, reading->format);
    return false;
  }
  if (!is_parsed) {
    guint parsed_line;
    g_autofree char *reason = base_parser_reason (cause, &parsed_line);
    gint line, character;

    /* GLib counts the end of a line as the first character of the next one. */
    g_markup_parse_context_get_position (context, &line, &character);
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s:%d: %s", path,
                 MAX (line - (character <= 1), 1), reason);
    return false;
  }
  if (reading->root == NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s: <topology> has no <object>", path);
    return false;
  }
  /* Format 1 does not list the only memory of a machine. */
  if (reading->format > 1 && hwloc_bitmap_iszero (reading->memories)) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "%s: the machine has no memory", path);
    return false;
  }
  return has_cores (path, hwloc_bitmap_iszero (reading->root->pus) ? 0 : (int) reading->n_cores,
                    error);
}

/* A file made from CPUID alone has one memory for all packages, though each has its own. */
static GArray *
split_memory (GArray *objects, bool *is_split)
{
  g_autofree uint32_t *place = g_new (uint32_t, objects->len); /* in the new array */
  uint32_t n_packages = 0, n_memories = 0, number = 0;
  uint64_t bytes = 0;
  GArray *split;

  for (guint at = 0; at < objects->len; at++) {
    const TopoObject *object = &g_array_index (objects, TopoObject, at);

    n_packages += object->kind == TOPO_OBJECT_PACKAGE;
    n_memories += object->kind == TOPO_OBJECT_MEMORY;
    if (object->kind == TOPO_OBJECT_MEMORY)
      bytes = object->memory_bytes;
  }
  *is_split = n_packages > 1 && n_memories == 1;
  if (!*is_split)
    return objects;
  split = g_array_new (FALSE, TRUE, sizeof (TopoObject));
  for (guint at = 0; at < objects->len; at++) {
    TopoObject object = g_array_index (objects, TopoObject, at);

    if (object.kind == TOPO_OBJECT_MEMORY)
      continue;
    place[at] = split->len;
    if (object.parent != TOPO_NONE)
      object.parent = place[object.parent];
    g_array_append_val (split, object);
    if (object.kind == TOPO_OBJECT_PACKAGE) {
      TopoObject memory = { .kind = TOPO_OBJECT_MEMORY,
                            .parent = place[at],
                            .os_index = number++,
                            .first_core = object.first_core,
                            .n_cores = object.n_cores,
                            .memory_bytes = bytes / n_packages };

      g_array_append_val (split, memory);
    }
  }
  g_array_unref (objects);
  return split;
}

static TopoNode *
make_node (const char *path, const Reading *reading, hwloc_topology_t topology, GError **error)
{
  bool is_nearest = false, is_split = false;
  TopoCpuSigns signs = reading->signs;
  const TopoProcessor *processor;
  GArray *objects, *cpu, *cpu_core;
  const XmlObject *above;
  hwloc_obj_t core = NULL;
  TopoNode *node;
  guint n;

  if (!has_cores (path, hwloc_get_nbobjs_by_type (topology, HWLOC_OBJ_CORE), error))
    return NULL;
  objects = g_array_new (FALSE, TRUE, sizeof (TopoObject));
  walk (topology, hwloc_get_root_obj (topology), TOPO_NONE, objects);
  for (guint at = 0; at < objects->len; at++) {
    TopoObject *object = &g_array_index (objects, TopoObject, at);

    object->is_hbm =
        object->kind == TOPO_OBJECT_MEMORY && hwloc_bitmap_isset (reading->hbm, object->os_index);
  }
  signs.vendor = reading->vendor;
  signs.model = reading->model;
  processor = topo_processor_find (&signs, &is_nearest);
  if (processor != NULL && processor->has_controllers)
    objects = split_memory (objects, &is_split);
  node = topo_node_make (g_strdup (path), objects);
  node->model = g_strdup (reading->model);
  node->processor = processor;
  node->is_nearest = is_nearest;
  node->has_split_memory = is_split;

  /* The adapter belongs to the package above its bridge, else to the machine. */
  above = find_adapter (reading->root, false);
  if (above == NULL)
    above = find_adapter (reading->root, true);
  while (above != NULL && above->type->type != HWLOC_OBJ_PACKAGE)
    above = above->parent;
  node->adapter = 0;
  for (uint32_t object = 0; above != NULL && object < node->n_objects; object++)
    if (node->objects[object].kind == TOPO_OBJECT_PACKAGE &&
        node->objects[object].os_index == above->os_index) {
      node->adapter = object;
      break;
    }

  /* The hardware threads of the cores. */
  cpu = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  cpu_core = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  while ((core = hwloc_get_next_obj_by_type (topology, HWLOC_OBJ_CORE, core)) != NULL) {
    uint32_t core_number = core->logical_index;
    int number = -1;

    while ((number = hwloc_bitmap_next (core->cpuset, number)) >= 0) {
      g_array_append_val (cpu, number);
      g_array_append_val (cpu_core, core_number);
    }
  }
  n = cpu->len;
  topo_node_set_cpus (node, (gpointer) g_array_free (cpu, FALSE),
                      (gpointer) g_array_free (cpu_core, FALSE), n);
  if (node->n_memories == 0) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "%s: the machine has no memory", path);
    g_clear_pointer (&node, topo_node_free);
  }
  return node;
}

TopoNode *
topo_node_load (const char *path, GError **error)
{
  Reading reading = { .memories = hwloc_bitmap_alloc (), .hbm = hwloc_bitmap_alloc () };
  hwloc_topology_t topology = NULL;
  TopoNode *node = NULL;

  if (parse_file (path, &reading, error))
    topology = load_tree (path, &reading, error);
  if (topology != NULL) {
    node = make_node (path, &reading, topology, error);
    hwloc_topology_destroy (topology);
  }
  if (reading.root != NULL)
    free_object (reading.root);
  hwloc_bitmap_free (reading.memories);
  hwloc_bitmap_free (reading.hbm);
  g_free (reading.vendor);
  g_free (reading.model);
  return node;
}
