/* node_fuzz.c - any bytes as hwloc's XML, or as the recipe of such a file.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An input that begins with '<' is the file itself.  Other bytes say which object to open or to
 * close next; the sets of these objects mostly agree, so that strange but sound trees reach hwloc. */
#include ".ci/fuzzing.h"
#include "topology/machine.h"
#include "topology/node/node.h"

#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

static const char *const texts[] = {
  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
  "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
  "<topology version=\"2.0\">\n"
  "<object type=\"Machine\" os_index=\"0\" cpuset=\"0x0000000f\" complete_cpuset=\"0xf...f,0x0000000f\" "
  "allowed_cpuset=\"0x0000000f\" nodeset=\"0x00000003\" complete_nodeset=\"0x00000003\">\n"
  "<info name=\"Backend\" value=\"Linux\"/>\n"
  "<object type=\"Package\" os_index=\"0\" cpuset=\"0x00000003\" complete_cpuset=\"0x00000003\" "
  "nodeset=\"0x00000001\" complete_nodeset=\"0x00000001\">\n"
  "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x00000003\" complete_cpuset=\"0x00000003\" "
  "nodeset=\"0x00000001\" complete_nodeset=\"0x00000001\" local_memory=\"1073741824\"/>\n"
  "<object type=\"L2Cache\" cpuset=\"0x00000003\" complete_cpuset=\"0x00000003\" "
  "nodeset=\"0x00000001\" complete_nodeset=\"0x00000001\" cache_size=\"6291456\" depth=\"2\" "
  "cache_type=\"0\">\n"
  "<object type=\"Core\" os_index=\"0\" cpuset=\"0x00000003\" complete_cpuset=\"0x00000003\" "
  "nodeset=\"0x00000001\" complete_nodeset=\"0x00000001\">\n"
  "<object type=\"PU\" os_index=\"0\" cpuset=\"0x00000001\" complete_cpuset=\"0x00000001\" "
  "nodeset=\"0x00000001\" complete_nodeset=\"0x00000001\"/>\n"
  "<object type=\"PU\" os_index=\"1\" cpuset=\"0x00000002\" complete_cpuset=\"0x00000002\" "
  "nodeset=\"0x00000001\" complete_nodeset=\"0x00000001\"/>\n"
  "</object></object>\n"
  "<object type=\"Bridge\" bridge_type=\"0-1\" depth=\"0\" bridge_pci=\"0000:[00-0a]\">\n"
  "<object type=\"PCIDev\" pci_busid=\"0000:01:00.0\" pci_type=\"0207 [15b3:673c] [0:0] 00\">\n"
  "<object type=\"OSDev\" name=\"mlx4_0\" osdev_type=\"3\"/></object></object></object>\n"
  "<object type=\"Group\" cpuset=\"0x0000000c\" complete_cpuset=\"0x0000000c\" "
  "nodeset=\"0x00000002\" complete_nodeset=\"0x00000002\" kind=\"0\" dont_merge=\"1\">\n"
  "<object type=\"MemCache\" cpuset=\"0x0000000c\" complete_cpuset=\"0x0000000c\" "
  "nodeset=\"0x00000002\" complete_nodeset=\"0x00000002\" cache_size=\"1\" depth=\"1\">\n"
  "<object type=\"NUMANode\" os_index=\"1\" cpuset=\"0x0000000c\" complete_cpuset=\"0x0000000c\" "
  "nodeset=\"0x00000002\" complete_nodeset=\"0x00000002\" local_memory=\"1\"/></object>\n"
  "<object type=\"Core\" cpuset=\"0x00000008\" complete_cpuset=\"0x00000008\" "
  "nodeset=\"0x00000002\" complete_nodeset=\"0x00000002\">\n"
  "<object type=\"PU\" os_index=\"3\" cpuset=\"0x00000008\" complete_cpuset=\"0x00000008\" "
  "nodeset=\"0x00000002\" complete_nodeset=\"0x00000002\"/></object></object></object>\n"
  "<distances2 type=\"NUMANode\" nbobjs=\"2\" kind=\"5\" indexing=\"os\"/>\n</topology>\n",
  "<topology><object type=\"System\" cpuset=\"0x3\" complete_cpuset=\"0x3\" online_cpuset=\"0x3\" "
  "local_memory=\"8589934592\">\n<distances nbobjs=\"1\"/><page_type size=\"4096\" count=\"1\"/>\n"
  "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" nodeset=\"0x1\" "
  "complete_nodeset=\"0x1\" local_memory=\"5\">\n"
  "<object type=\"Socket\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" nodeset=\"0x1\" "
  "complete_nodeset=\"0x1\">\n"
  "<object type=\"Cache\" cpuset=\"0x3\" complete_cpuset=\"0x3\" cache_size=\"6\" depth=\"2\">\n"
  "<object type=\"Misc\" cpuset=\"0x3\" complete_cpuset=\"0x3\">\n"
  "<object type=\"Core\" cpuset=\"0x1\" complete_cpuset=\"0x1\">\n"
  "<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\"/></object>\n"
  "<object type=\"Core\" cpuset=\"0x2\" complete_cpuset=\"0x2\">\n"
  "<object type=\"PU\" os_index=\"1\" cpuset=\"0x2\" complete_cpuset=\"0x2\"/></object>\n"
  "</object></object></object></object></object></topology>\n",
  /* Recipes: packages with memory, caches, cores and processors. */
  "2F3I0 D3A1@0 @0  A1@0 @0    F3H1J0I0  A1@0 @0   A0@0   N0 ",
  "1K3I3L3A1@0 @0  A1@0 @0     M1A1@0 @0   A0@0  ",
  NULL,
};

static const char *const words[] = {
  "0xf...f",
  "0x00000001,,0x0",
  "0xffffffff",
  "<object type=\\\"",
  "</object>",
  "cpuset=\\\"",
  "complete_cpuset=\\\"",
  "nodeset=\\\"",
  "os_index=\\\"",
  "depth=\\\"",
  "cache_type=\\\"",
  "Group",
  "Die",
  "L1iCache",
  "MemCache",
  "subtype=\\\"HBM\\\"",
  "<info name=\\\"CPUModelNumber\\\" value=\\\"",
  "AMD EPYC 7742",
  "4294967295",
  "18446744073709551615",
  NULL,
};

static void
seed (FuzzSeeds *seeds)
{
  fuzz_add_texts (seeds, texts);
  fuzz_add_words (seeds, words);
}

/* An object that is open: its processors, and the first that no object in it has. */
typedef struct {
  guint first, n, next;
} Open;

static void
append_set (GString *text, const char *name, guint first, guint n)
{
  guint64 bits = n == 0 ? 0 : n >= 64 ? ~UINT64_C (0) : ((UINT64_C (1) << n) - 1) << first;

  g_string_append_printf (text, " %s=\"0x%08x,0x%08x\"", name, (guint) (bits >> 32), (guint) bits);
}

/* Two bytes: the type and flags; how much of what is left of the parent's processors. */
static void
open_object (GString *text, GArray *open, guint8 type, guint8 share, bool is_old, guint *memory)
{
  static const char *const names[] = { "PU",      "Core",     "L1Cache",  "L2Cache",
                                       "L3Cache", "L2iCache", "Package",  "Die",
                                       "Group",   "NUMANode", "MemCache", "Socket",
                                       "Cache",   "Misc",     "OSDev",    "Tile" };
  const char *name = names[type % G_N_ELEMENTS (names)];
  Open *above = &g_array_index (open, Open, open->len - 1);
  guint left = above->first + above->n - above->next;
  bool is_memory = g_str_equal (name, "NUMANode") || g_str_equal (name, "MemCache");
  Open object = { above->next, MIN (left, 1u + share % 8), above->next };

  if (g_str_equal (name, "PU"))
    object.n = MIN (left, 1u);
  if (is_memory && !is_old)
    object = (Open){ above->first, above->n, above->first };
  else
    above->next += share & 0x80 ? 0 : object.n;
  g_string_append_printf (text, "<object type=\"%s\"", name);
  if (g_str_equal (name, "NUMANode"))
    g_string_append_printf (text, " os_index=\"%u\"", (*memory)++);
  else if (g_str_equal (name, "PU"))
    g_string_append_printf (text, " os_index=\"%u\"", object.first);
  else if (share & 0x40)
    g_string_append_printf (text, " os_index=\"%u\" subtype=\"Die\" dont_merge=\"1\"", share);
  if (g_str_equal (name, "Cache"))
    g_string_append_printf (text, " depth=\"%u\" cache_type=\"%u\"", share % 6, share / 6 % 3);
  if (!g_str_equal (name, "OSDev") && (is_old || !g_str_equal (name, "Misc"))) {
    append_set (text, "cpuset", object.first, share & 0x20 ? object.n : 0);
    append_set (text, "complete_cpuset", object.first, object.n);
    g_string_append (text, " nodeset=\"0x1\" complete_nodeset=\"0x1\"");
  }
  g_string_append (text, ">\n");
  g_array_append_val (open, object);
}

static GString *
follow_recipe (const uint8_t *data, size_t size)
{
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (Open));
  GString *text = g_string_new (NULL);
  bool is_old = size > 0 && data[0] % 2 == 1;
  Open machine = { 0, 64, 0 };
  guint memory = 0;

  g_string_append_printf (text, "<topology%s>\n<object type=\"Machine\"",
                          is_old ? "" : " version=\"2.0\"");
  append_set (text, "cpuset", 0, 64);
  append_set (text, "complete_cpuset", 0, 64);
  g_string_append (text, " nodeset=\"0x1\" complete_nodeset=\"0x1\" local_memory=\"1\">\n");
  g_array_append_val (open, machine);
  for (size_t at = 1; at < size; at++)
    if (data[at] == ' ' && open->len > 1) {
      g_array_set_size (open, open->len - 1);
      g_string_append (text, "</object>\n");
    } else if (data[at] != ' ' && at + 1 < size) {
      open_object (text, open, data[at], data[at + 1], is_old, &memory);
      at++;
    }
  for (guint left = 0; left < open->len; left++)
    g_string_append (text, "</object>\n");
  g_string_append (text, "</topology>\n");
  return text;
}

/* What every reader of a node may rely on. */
static void
check_node (const TopoNode *node)
{
  g_assert_true (node->n_cores > 0 && node->n_cores <= TOPO_MAX_RANKS_PER_NODE);
  g_assert_cmpint (node->objects[0].kind, ==, TOPO_OBJECT_MACHINE);
  g_assert_cmpuint (node->objects[0].n_cores, ==, node->n_cores);
  g_assert_true (node->n_memories > 0 && node->adapter < node->n_objects);
  for (uint32_t object = 1; object < node->n_objects; object++) {
    const TopoObject *it = &node->objects[object], *above = &node->objects[it->parent];

    g_assert_cmpuint (it->parent, <, object);
    g_assert_cmpuint (it->n_cores, >, 0);
    g_assert_cmpuint (it->first_core, >=, above->first_core);
    g_assert_cmpuint (it->first_core + it->n_cores, <=, above->first_core + above->n_cores);
  }
  for (uint32_t core = 0; core < node->n_cores; core++)
    g_assert_cmpuint (node->objects[node->core[core]].first_core, ==, core);
  g_assert_cmpuint (node->n_cpus, >=, node->n_cores);
  for (uint32_t cpu = 0; cpu < node->n_cpus; cpu++)
    g_assert_cmpuint (node->cpu_core[cpu], <, node->n_cores);
}

static void
check (const uint8_t *data, size_t size)
{
  g_autoptr (GString) recipe = size > 0 && data[0] == '<' ? NULL : follow_recipe (data, size);
  const char *path = recipe == NULL ? fuzz_file (data, size)
                                    : fuzz_file ((const uint8_t *) recipe->str, recipe->len);
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoNode) node = NULL;
  g_autofree char *text = NULL;

  node = topo_node_load (path, &error);
  g_assert_true ((node == NULL) == (error != NULL));
  if (node == NULL) {
    g_assert_true (error->domain == TOPO_ERROR && strchr (error->message, '\n') == NULL);
    return;
  }
  check_node (node);
  text = topo_node_print (node);
}

/* hwloc loads its plugins for the first topology and drops them with the last: this one stays. */
static hwloc_topology_t held;

static void
release (void)
{
  hwloc_topology_destroy (held);
}

static void
prepare (void)
{
  g_assert_cmpint (hwloc_topology_init (&held), ==, 0);
  atexit (release);
}

const FuzzProgram fuzz_program = { prepare, seed, check };
