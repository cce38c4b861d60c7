/* node_test.c - trees of real nodes by hand, and files that are none.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/node/node.h"

#include "topology/node/node_fixture.h"
#include "topology/topology_testing.h"

#include <hwloc.h>
#include <string.h>

/* The four sets of an object, its processors and the first memory. */
#define ALL_SETS(cpus) \
  "cpuset=\"" cpus "\" complete_cpuset=\"" cpus "\" nodeset=\"0x1\" complete_nodeset=\"0x1\""

/* The same with other memories. */
#define THREE_SETS(cpus, nodes)                                         \
  "cpuset=\"" cpus "\" complete_cpuset=\"" cpus "\" nodeset=\"0x" nodes \
  "\" complete_nodeset=\"0x" nodes "\""

static uint32_t
count (const TopoNode *node, TopoObjectKind kind, uint32_t level)
{
  uint32_t n = 0;

  for (uint32_t object = 0; object < node->n_objects; object++)
    n += node->objects[object].kind == kind && node->objects[object].level == level;
  return n;
}

/* Parents come first and hold their children; cores are where they say. */
static void
assert_sound (const TopoNode *node)
{
  g_assert_cmpint (node->objects[0].kind, ==, TOPO_OBJECT_MACHINE);
  g_assert_cmpuint (node->objects[0].parent, ==, TOPO_NONE);
  g_assert_cmpuint (node->objects[0].n_cores, ==, node->n_cores);
  g_assert_cmpuint (node->n_memories, >, 0);
  for (uint32_t object = 1; object < node->n_objects; object++) {
    const TopoObject *it = &node->objects[object];
    const TopoObject *above = &node->objects[it->parent];

    g_assert_cmpuint (it->parent, <, object);
    g_assert_cmpuint (it->n_cores, >, 0);
    g_assert_cmpuint (it->first_core, >=, above->first_core);
    g_assert_cmpuint (it->first_core + it->n_cores, <=, above->first_core + above->n_cores);
    g_assert_cmpuint (it->kind == TOPO_OBJECT_CACHE, ==, it->cache_bytes > 0);
  }
  for (uint32_t core = 0; core < node->n_cores; core++) {
    g_assert_cmpint (node->objects[node->core[core]].kind, ==, TOPO_OBJECT_CORE);
    g_assert_cmpuint (node->objects[node->core[core]].first_core, ==, core);
  }
}

/* What any dual Harpertown is: dies (0 1) (2 3) | (4 5) (6 7). */
static void
assert_harpertown (const TopoNode *node)
{
  static const uint32_t cpus[8] = { 0, 4, 2, 6, 1, 5, 3, 7 };

  assert_sound (node);
  g_assert_cmpuint (node->n_cores, ==, 8);
  g_assert_cmpuint (node->n_memories, ==, 1);
  g_assert_cmpuint (node->adapter, ==, 0);
  g_assert_cmpuint (count (node, TOPO_OBJECT_PACKAGE, 0), ==, 2);
  g_assert_cmpuint (count (node, TOPO_OBJECT_CACHE, 2), ==, 4);
  g_assert_cmpuint (count (node, TOPO_OBJECT_CACHE, 1), ==, 8);
  for (uint32_t core = 0; core < 8; core++) {
    uint32_t die = topo_node_above (node, core, TOPO_OBJECT_CACHE);
    uint32_t package = topo_node_above (node, core, TOPO_OBJECT_PACKAGE);

    g_assert_cmpuint (node->objects[die].parent, ==, package);
    g_assert_cmpuint (node->objects[package].parent, ==, 0);
    g_assert_cmpuint (node->objects[node->core[core]].os_index, ==, cpus[core]);
    g_assert_cmpuint (node->objects[die].cache_bytes, ==, 6144 * 1024);
    g_assert_cmpuint (node->objects[die].level, ==, 2);
    for (uint32_t other = 0; other < 8; other++) {
      g_assert_true ((topo_node_above (node, other, TOPO_OBJECT_CACHE) == die) ==
                     (core / 2 == other / 2));
      g_assert_true ((topo_node_above (node, other, TOPO_OBJECT_PACKAGE) == package) ==
                     (core / 4 == other / 4));
    }
  }
}

static void
test_harpertown (void)
{
  g_autoptr (TopoNode) node = topo_node_harpertown ();

  assert_harpertown (node);
  g_assert_cmpstr (node->source, ==, "harpertown");
}

/* The built-in tree is the one of a real node with the same dies. */
static void
test_e5420_is_a_harpertown (void)
{
  g_autoptr (TopoNode) node = node_fixture_load (E5420);
  g_autoptr (TopoNode) built_in = topo_node_harpertown ();

  if (node == NULL)
    return;
  assert_harpertown (node);
  g_assert_cmpuint (node->n_objects, ==, built_in->n_objects);
  for (uint32_t object = 0; object < node->n_objects; object++) {
    const TopoObject *a = &node->objects[object], *b = &built_in->objects[object];

    g_assert_cmpint (a->kind, ==, b->kind);
    g_assert_cmpuint (a->level, ==, b->level);
    g_assert_cmpuint (a->parent, ==, b->parent);
    g_assert_cmpuint (a->os_index, ==, b->os_index);
    g_assert_cmpuint (a->first_core, ==, b->first_core);
    g_assert_cmpuint (a->n_cores, ==, b->n_cores);
    g_assert_cmpuint (a->cache_bytes, ==, b->cache_bytes);
  }
}

/* Two packages, each with one L3, one memory and `cores` cores. */
static void
assert_two_packages (const TopoNode *node, uint32_t cores, uint32_t l3_kibibytes)
{
  assert_sound (node);
  g_assert_cmpuint (node->n_cores, ==, 2 * cores);
  g_assert_cmpuint (node->n_memories, ==, 2);
  g_assert_cmpuint (count (node, TOPO_OBJECT_CACHE, 3), ==, 2);
  g_assert_cmpuint (count (node, TOPO_OBJECT_CACHE, 2), ==, 2 * cores);
  g_assert_cmpuint (count (node, TOPO_OBJECT_CACHE, 1), ==, 0);
  for (uint32_t core = 0; core < 2 * cores; core++) {
    uint32_t package = core / cores;
    uint32_t l3 = topo_node_above (node, core, TOPO_OBJECT_CACHE);
    uint32_t memory = topo_node_above (node, core, TOPO_OBJECT_MEMORY);

    g_assert_cmpuint (node->objects[l3].n_cores, ==, cores);
    g_assert_cmpuint (node->objects[l3].cache_bytes, ==, (uint64_t) l3_kibibytes * 1024);
    g_assert_cmpuint (memory, ==, node->memory[package]);
    g_assert_cmpuint (node->objects[memory].os_index, ==, package);
    g_assert_cmpuint (node->objects[memory].parent, ==,
                      topo_node_above (node, core, TOPO_OBJECT_PACKAGE));
  }
}

static void
test_nehalem (void)
{
  g_autoptr (TopoNode) node = node_fixture_load (X5550);

  if (node == NULL)
    return;
  assert_two_packages (node, 4, 8192);
  g_assert_cmpuint (node->adapter, ==, topo_node_above (node, 0, TOPO_OBJECT_PACKAGE));
  for (uint32_t core = 0; core < 8; core++)
    g_assert_cmpuint (node->objects[node->core[core]].os_index, ==,
                      core < 4 ? 2 * core : 2 * core - 7);
}

/* Two hardware threads per core: a core is one core, called by its first. */
static void
test_westmere_has_hyper_threads (void)
{
  g_autoptr (TopoNode) node = node_fixture_load (X5675);

  if (node == NULL)
    return;
  assert_two_packages (node, 6, 12288);
  g_assert_cmpuint (node->adapter, ==, 0);
  g_assert_cmpuint (node->objects[node->core[1]].os_index, ==, 2);
  g_assert_cmpuint (node->objects[node->core[6]].os_index, ==, 1);
}

/* PCI is part of these packages, and the adapter sits below the second. */
static void
test_sandy_bridge (void)
{
  g_autoptr (TopoNode) node = node_fixture_load (E5_2660);

  if (node == NULL)
    return;
  assert_two_packages (node, 8, 20480);
  g_assert_cmpint (node->objects[node->adapter].kind, ==, TOPO_OBJECT_PACKAGE);
  g_assert_cmpuint (node->objects[node->adapter].os_index, ==, 1);
}

/* Cluster on die: two L3 and two memories in each package. */
static void
test_haswell (void)
{
  static const uint32_t memories[4] = { 0, 2, 1, 3 };
  g_autoptr (TopoNode) node = node_fixture_load (E5_2680);

  if (node == NULL)
    return;
  assert_sound (node);
  g_assert_cmpuint (node->n_cores, ==, 24);
  g_assert_cmpuint (node->n_memories, ==, 4);
  g_assert_cmpuint (node->adapter, ==, topo_node_above (node, 0, TOPO_OBJECT_PACKAGE));
  g_assert_cmpuint (count (node, TOPO_OBJECT_PACKAGE, 0), ==, 2);
  g_assert_cmpuint (count (node, TOPO_OBJECT_CACHE, 3), ==, 4);
  for (uint32_t core = 0; core < 24; core++) {
    uint32_t memory = topo_node_above (node, core, TOPO_OBJECT_MEMORY);

    g_assert_cmpuint (node->objects[memory].os_index, ==, memories[core / 6]);
    g_assert_cmpuint (node->objects[memory].parent, ==,
                      topo_node_above (node, core, TOPO_OBJECT_CACHE));
  }
}

static void
test_machine_without_packages (void)
{
  g_autoptr (TopoNode) node = node_fixture_of ("core:4 pu:2");

  assert_sound (node);
  g_assert_cmpuint (node->n_cores, ==, 4);
  g_assert_cmpuint (topo_node_above (node, 3, TOPO_OBJECT_PACKAGE), ==, TOPO_NONE);
  g_assert_cmpuint (topo_node_above (node, 3, TOPO_OBJECT_CACHE), ==, TOPO_NONE);
  g_assert_cmpuint (topo_node_above (node, 3, TOPO_OBJECT_MEMORY), ==, node->memory[0]);
}

/* Of caches with the same cores only the largest is kept. */
static void
test_nested_caches (void)
{
  g_autoptr (TopoNode) node =
      node_fixture_of ("pack:1 l3:1(size=8388608) l2:1(size=1048576) core:2 pu:1");

  assert_sound (node);
  g_assert_cmpuint (node->n_objects, ==, 6);
  g_assert_cmpuint (count (node, TOPO_OBJECT_CACHE, 3), ==, 1);
  g_assert_cmpuint (count (node, TOPO_OBJECT_CACHE, 2), ==, 0);
}

static void
test_print (void)
{
  g_autoptr (TopoNode) node = topo_node_harpertown ();
  g_autofree char *text = topo_node_print (node);

  g_assert_cmpstr (text, ==,
                   "node, host adapter\n"
                   "  memory 0\n"
                   "  package 0\n"
                   "    L2 of 6 MiB\n"
                   "      cores 0 1, each with L1 of 32 KiB (CPUs 0 4)\n"
                   "    L2 of 6 MiB\n"
                   "      cores 2 3, each with L1 of 32 KiB (CPUs 2 6)\n"
                   "  package 1\n"
                   "    L2 of 6 MiB\n"
                   "      cores 4 5, each with L1 of 32 KiB (CPUs 1 5)\n"
                   "    L2 of 6 MiB\n"
                   "      cores 6 7, each with L1 of 32 KiB (CPUs 3 7)\n");
}

/* Takes both. */
static void
assert_refused (TopoNode *node, GError *error, int code, const char *part)
{
  g_autoptr (GError) owned = error;

  g_assert_null (node);
  topo_testing_refused (owned, code, NULL, part);
}

static void
test_hwloc3_is_refused_by_name (void)
{
  g_autofree char *path = node_fixture_path (HWLOC3);
  GError *error = NULL;
  TopoNode *node;

  if (path == NULL)
    return;
  node = topo_node_load (path, &error);
  assert_refused (node, error, TOPO_ERROR_SYNTAX,
                  HWLOC3 ": written by hwloc 3, which hwloc 2 cannot read");
}

static void
test_broken_texts (void)
{
  static const struct {
    const char *text, *part;
  } broken[] = {
    { "", "empty" },
    { "nodes, and no XML", "" },
    { "<lstopo version=\"2.0\"/>", "expected hwloc's <topology>, found <lstopo>" },
    { "<topology version=\"2.0\">", "" },
    { "<topology></topology>", "<topology> has no <object>" },
    { "<topology version=\"4.1\"></topology>", "written by hwloc 4" },
    { "<topology version=\"2.0\">\n<object type=\"NUMANode\"/></topology>",
      ":2: the first object is of type \"NUMANode\", not Machine" },
  };

  for (guint at = 0; at < G_N_ELEMENTS (broken); at++) {
    GError *error = NULL;
    TopoNode *node = node_fixture_text (broken[at].text, &error);

    assert_refused (node, error, TOPO_ERROR_SYNTAX, broken[at].part);
  }
}

/* A machine of one core with one processor, with the sets of the core, the attributes of the
 * processor, and what stands behind the core to choose. */
static char *
one_core (const char *core_sets, const char *pu, const char *more)
{
  return g_strdup_printf (
      "<topology version=\"2.0\">\n<object type=\"Machine\" " ALL_SETS (
          "0xff") ">\n"
                  "<object type=\"NUMANode\" os_index=\"0\" " ALL_SETS (
                      "0xff") "/>\n"
                              "<object type=\"Core\" %s>\n<object type=\"PU\" %s/>\n</object>\n%s</object></topology>",
      core_sets, pu, more);
}

#define PU_0 "os_index=\"0\" " ALL_SETS ("0x1")

/* The hardware threads are the processors that are there, whatever the core's set says. */
static void
test_set_of_absent_processors (void)
{
  g_autofree char *text = one_core (ALL_SETS ("0xff"), PU_0, "");
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoNode) node = node_fixture_text (text, &error);

  g_assert_no_error (error);
  assert_sound (node);
  g_assert_cmpuint (node->n_cores, ==, 1);
  g_assert_cmpuint (node->n_cpus, ==, 1);
  g_assert_cmpuint (node->cpu[0], ==, 0);
}

/* hwloc 2.9 aborts on some of these, reads null pointers or takes a gigabyte on others. */
static void
test_objects_that_disagree (void)
{
  static const struct {
    const char *core_sets, *pu, *more, *part;
  } broken[] = {
    { ALL_SETS (",0x1"), PU_0, "", ":4: cpuset=\",0x1\": expected a set" },
    { ALL_SETS ("0x0000NUMANod0002"), PU_0, "", ":4: cpuset=\"0x0000NUMANod0002\": expected" },
    { ALL_SETS ("0x1 "), PU_0, "", ":4: cpuset=" },
    { ALL_SETS ("0x"), PU_0, "", ":4: cpuset=" },
    { ALL_SETS ("0x000000001"), PU_0, "", ":4: cpuset=" },
    { ALL_SETS ("1"), PU_0, "", ":4: cpuset=" },
    { ALL_SETS ("0xf...f0x1"), PU_0, "", ":4: cpuset=" },
    { "cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"-\"", PU_0, "", ":4: nodeset=\"-\"" },
    { "cpuset=\"0x1\" complete_cpuset=\"0x1\"", PU_0, "", "\"Core\" has no nodeset" },
    { "cpusets=\"0x1\"", PU_0, "", "\"Core\" has no cpuset" },
    { ALL_SETS ("0x100"), PU_0, "", ":4: type \"Core\": its processors are not all in" },
    { "cpuset=\"0x3\" complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\"", PU_0, "",
      "its cpuset is not inside its complete_cpuset" },
    { ALL_SETS ("0x3"), ALL_SETS ("0x1"), "", ":5: type \"PU\": expected an os_index below" },
    { ALL_SETS ("0x3"), "os_index=\"8192\" " ALL_SETS ("0x1"), "", "os_index below 8192" },
    { ALL_SETS ("0x3"), "os_index=\"4294967296\" " ALL_SETS ("0x1"), "", "up to 4294967295" },
    { ALL_SETS ("0x3"), "os_index=\"-1\" " ALL_SETS ("0x1"), "", ":5: os_index=\"-1\"" },
    { ALL_SETS ("0x3"), "os_index=\"1\" " ALL_SETS ("0x1"), "", "other processors than os_index" },
    { ALL_SETS ("0x3"), "os_index=\"0\" " ALL_SETS ("0x3"), "", "other processors than os_index" },
    { ALL_SETS ("0x1"), PU_0, "<object type=\"Core\" " ALL_SETS ("0x1") "/>",
      ":7: type \"Core\": an object before it has some" },
    { ALL_SETS ("0x1"), PU_0, "<object type=\"NUMANode\" os_index=\"0\" " ALL_SETS ("0x1") "/>",
      "a second one with os_index=\"0\"" },
    { ALL_SETS ("0x1"), PU_0, "<object type=\"NUMANode\" " ALL_SETS ("0x1") "/>",
      "os_index below 1024" },
    { ALL_SETS ("0x1"), PU_0, "<object type=\"L9Cache\" " ALL_SETS ("0x2") "/>",
      "hwloc 2 has no objects of type \"L9Cache\"" },
    { ALL_SETS ("0x1"), PU_0, "<object type=\"L2Cache\" depth=\"3\" " ALL_SETS ("0x2") "/>",
      "is not a cache of depth 3" },
    { ALL_SETS ("0x1"), PU_0, "<object type=\"L2Cache\" cache_type=\"9\" " ALL_SETS ("0x2") "/>",
      "cache_type=\"9\"" },
    { ALL_SETS ("0x1"), PU_0,
      "<object type=\"Misc\"><object type=\"Core\" " ALL_SETS ("0x2") "/>"
                                                                      "</object>",
      "type \"Core\" inside of type \"Misc\"" },
    { ALL_SETS ("0x1"), PU_0, "<object/>", "an object has no type" },
    { ALL_SETS ("0x1"), PU_0, "<info><object type=\"Misc\"/></info>", "another kind" },
  };

  for (guint at = 0; at < G_N_ELEMENTS (broken); at++) {
    g_autofree char *text = one_core (broken[at].core_sets, broken[at].pu, broken[at].more);
    GError *error = NULL;
    TopoNode *node = node_fixture_text (text, &error);

    assert_refused (node, error, TOPO_ERROR_SYNTAX, broken[at].part);
  }
}

/* Sets of 2,000 words and objects a hundred deep are refused before hwloc makes room for them. */
static void
test_far_and_deep (void)
{
  g_autoptr (GString) far = g_string_new ("cpuset=\"0x1");
  g_autoptr (GString) deep = g_string_new (NULL);
  g_autofree char *text = NULL;
  GError *error = NULL;
  TopoNode *node;

  for (guint word = 0; word < 2000; word++)
    g_string_append (far, ",0x0");
  g_string_append_c (far, '"');
  text = one_core (far->str, PU_0, "");
  node = node_fixture_text (text, &error);
  assert_refused (node, error, TOPO_ERROR_SYNTAX, "of numbers below 8192");
  g_free (text);
  for (guint level = 0; level < 100; level++)
    g_string_append (deep, "<object type=\"Group\" " ALL_SETS ("0x2") ">");
  text = one_core (ALL_SETS ("0x1"), PU_0, deep->str);
  error = NULL;
  node = node_fixture_text (text, &error);
  assert_refused (node, error, TOPO_ERROR_SYNTAX, "more than 64 objects inside of each other");
}

/* A real file cut anywhere, by tenths. */
static void
test_truncated (void)
{
  g_autofree char *path = node_fixture_path (E5420);
  g_autofree char *text = NULL;
  gsize length;

  if (path == NULL)
    return;
  g_assert_true (g_file_get_contents (path, &text, &length, NULL));
  for (gsize tenth = 9; tenth > 0; tenth--) {
    GError *error = NULL;
    TopoNode *node;

    text[length * tenth / 10] = '\0';
    node = node_fixture_text (text, &error);
    assert_refused (node, error, TOPO_ERROR_SYNTAX, "node-");
  }
}

static void
test_impossible_machines (void)
{
  GError *error = NULL;
  TopoNode *node = node_fixture_synthetic ("pack:1 core:257 pu:1", &error);

  assert_refused (node, error, TOPO_ERROR_RANGE, "257 cores; a node has at most 256");
  error = NULL;
  node = node_fixture_synthetic ("pack:2 pu:2", &error);
  assert_refused (node, error, TOPO_ERROR_RANGE, "the machine has no cores");
  error = NULL;
  node = node_fixture_text (
      "<topology version=\"2.0\"><object type=\"Machine\" " ALL_SETS ("0x1") "/></topology>",
      &error);
  assert_refused (node, error, TOPO_ERROR_RANGE, "the machine has no memory");
  error = NULL;
  node = topo_node_load ("/nowhere/node.xml", &error);
  assert_refused (node, error, TOPO_ERROR_FILE, "/nowhere/node.xml");
}

/* Files of hwloc 1 are still about. */
static void
test_hwloc1 (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoNode) node = node_fixture_export ("pack:2 l2:2(size=6291456) core:2 pu:1",
                                                   HWLOC_TOPOLOGY_EXPORT_XML_FLAG_V1, &error);

  g_assert_no_error (error);
  assert_sound (node);
  g_assert_cmpuint (node->n_cores, ==, 8);
  g_assert_cmpuint (node->n_memories, ==, 1);
}

/* The most that is allowed. */
static void
test_256_cores (void)
{
  g_autoptr (TopoNode) node = node_fixture_of ("pack:2 numa:4 l3:4(size=16777216) core:8 pu:2");

  assert_sound (node);
  g_assert_cmpuint (node->n_cores, ==, 256);
  g_assert_cmpuint (node->n_memories, ==, 8);
}

/* Two memories next to two cores, one of them high-bandwidth, and one that is next to none: it
 * counts for what it stands in, here the machine. */
static void
test_high_bandwidth_memory (void)
{
  static const char *const kinds[][2] = { { "HBM", "DRAM" },
                                          { "MCDRAM", "DRAM" },
                                          { "HBM", "HBM" } };

  for (gsize at = 0; at < G_N_ELEMENTS (kinds); at++) {
    g_autofree char *text = g_strdup_printf (
        "<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\" " THREE_SETS (
            "0x3",
            "7") ">"
                 "<object type=\"NUMANode\" os_index=\"0\" subtype=\"%s\" local_memory=\"4096\" " THREE_SETS (
                     "0x3",
                     "1") "/>"
                          "<object type=\"NUMANode\" os_index=\"1\" subtype=\"%s\" local_memory=\"8192\" " THREE_SETS (
                              "0x3",
                              "2") "/>"
                                   "<object type=\"NUMANode\" os_index=\"2\" subtype=\"HBM\" local_memory=\"1024\" " THREE_SETS (
                                       "0x0",
                                       "4") "/>"
                                            "<object type=\"Core\" os_index=\"0\" " THREE_SETS (
                                                "0x1",
                                                "3") ">"
                                                     "<object type=\"PU\" os_index=\"0\" " THREE_SETS (
                                                         "0x1",
                                                         "3") "/></object>"
                                                              "<object type=\"Core\" os_index=\"1\" " THREE_SETS (
                                                                  "0x2",
                                                                  "3") ">"
                                                                       "<object type=\"PU\" os_index=\"1\" " THREE_SETS (
                                                                           "0x2",
                                                                           "3") "/></object>"
                                                                                "</object></topology>",
        kinds[at][0], kinds[at][1]);
    g_autoptr (GError) error = NULL;
    g_autoptr (TopoNode) node = node_fixture_text (text, &error);
    bool is_mixed = !g_str_equal (kinds[at][1], "HBM");

    g_assert_no_error (error);
    assert_sound (node);
    g_assert_cmpuint (node->n_memories, ==, 3);
    for (uint32_t number = 0; number < 3; number++) {
      const TopoObject *memory = &node->objects[node->memory[number]];

      g_assert_true (memory->is_hbm == (number != 1 || !is_mixed));
      g_assert_cmpuint (memory->n_cores, ==, 2);
      g_assert_cmpuint (memory->parent, ==, 0);
    }
    /* The ordinary memory is that of a core, wherever it stands. */
    for (uint32_t core = 0; core < 2; core++)
      g_assert_cmpuint (topo_node_above (node, core, TOPO_OBJECT_MEMORY), ==,
                        node->memory[is_mixed]);
  }
}

/* Xeon Gold 6140: hardware threads n and n + 2 of a package's 18 cores are one core. */
static void
test_threads (void)
{
  g_autoptr (TopoNode) node = node_fixture_load (GOLD_6140);
  g_autoptr (TopoNode) threads = NULL, none = NULL;
  g_autoptr (GError) error = NULL;

  if (node == NULL)
    return;
  g_assert_cmpuint (node->n_cpus, ==, 72);
  threads = topo_node_threads (node, 2, &error);
  g_assert_no_error (error);
  assert_sound (threads);
  g_assert_cmpuint (threads->n_cores, ==, 72);
  g_assert_cmpuint (threads->n_memories, ==, 2);
  g_assert_cmpuint (count (threads, TOPO_OBJECT_CACHE, 2), ==, 36);
  for (uint32_t thread = 0; thread < 72; thread++) {
    const TopoObject *it = &threads->objects[threads->core[thread]];

    g_assert_cmpuint (threads->first_thread[thread], ==, thread / 2 * 2);
    g_assert_cmpuint (it->os_index, ==, node->cpu[thread]);
    g_assert_cmpuint (node->cpu_core[thread], ==, thread / 2);
    g_assert_cmpuint (threads->objects[it->parent].level, ==, 2);
    g_assert_cmpuint (threads->objects[it->parent].n_cores, ==, 2);
    g_assert_cmpuint (
        threads->objects[topo_node_above (threads, thread, TOPO_OBJECT_PACKAGE)].os_index, ==,
        thread / 36);
  }
  none = topo_node_threads (node, 3, &error);
  assert_refused (none, g_steal_pointer (&error), TOPO_ERROR_RANGE, "threads=3");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/node/harpertown", test_harpertown);
  g_test_add_func ("/topology/node/e5420", test_e5420_is_a_harpertown);
  g_test_add_func ("/topology/node/nehalem", test_nehalem);
  g_test_add_func ("/topology/node/hyper-threads", test_westmere_has_hyper_threads);
  g_test_add_func ("/topology/node/sandy-bridge", test_sandy_bridge);
  g_test_add_func ("/topology/node/haswell", test_haswell);
  g_test_add_func ("/topology/node/no-packages", test_machine_without_packages);
  g_test_add_func ("/topology/node/nested-caches", test_nested_caches);
  g_test_add_func ("/topology/node/256-cores", test_256_cores);
  g_test_add_func ("/topology/node/high-bandwidth-memory", test_high_bandwidth_memory);
  g_test_add_func ("/topology/node/threads", test_threads);
  g_test_add_func ("/topology/node/hwloc1", test_hwloc1);
  g_test_add_func ("/topology/node/print", test_print);
  g_test_add_func ("/topology/node/hwloc3", test_hwloc3_is_refused_by_name);
  g_test_add_func ("/topology/node/broken", test_broken_texts);
  g_test_add_func ("/topology/node/absent-processors", test_set_of_absent_processors);
  g_test_add_func ("/topology/node/disagree", test_objects_that_disagree);
  g_test_add_func ("/topology/node/far-and-deep", test_far_and_deep);
  g_test_add_func ("/topology/node/truncated", test_truncated);
  g_test_add_func ("/topology/node/impossible", test_impossible_machines);
  return g_test_run ();
}
