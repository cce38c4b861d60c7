/* processor_test.c - which processor a name or number is, and what follows for a node.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Names and numbers are those that real processors report: of the XML files, and of the tables of
 * CPUID that Intel, AMD and the kernel (arch/x86/include/asm/intel-family.h) publish. */
#include "topology/node/processor.h"

#include "topology/node/node_fixture.h"
#include "topology/topology_testing.h"
#include <string.h>

#define INTEL "GenuineIntel"
#define AMD   "AuthenticAMD"

static void
assert_found (const TopoCpuSigns *signs, const char *name, bool nearest)
{
  bool is_nearest;
  const TopoProcessor *processor = topo_processor_find (signs, &is_nearest);

  g_test_message ("%s %u %u", signs->model != NULL ? signs->model : "-", signs->family,
                  signs->model_number);
  if (name == NULL) {
    g_assert_null (processor);
    return;
  }
  g_assert_nonnull (processor);
  g_assert_cmpstr (processor->name, ==, name);
  g_assert_true (is_nearest == nearest);
}

static void
test_names (void)
{
  static const char *const cases[][2] = {
    { "Intel(R) Xeon(R) CPU           E5420  @ 2.50GHz", "harpertown" },
    { "Intel(R) Xeon(R) CPU           E5462  @ 2.80GHz", "harpertown" },
    { "Intel(R) Xeon(R) CPU           X5550  @ 2.67GHz", "nehalem" },
    { "Intel(R) Xeon(R) CPU           X5675  @ 3.07GHz", "westmere" },
    { "Intel(R) Xeon(R) CPU E5-2660 0 @ 2.20GHz", "sandybridge" },
    { "Intel(R) Xeon(R) CPU E5-2680 v2 @ 2.80GHz", "ivybridge" },
    { "Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz", "haswell" },
    { "Intel(R) Xeon(R) CPU E7-8890 v4 @ 2.20GHz", "broadwell" },
    { "Intel(R) Xeon(R) Gold 6140 CPU @ 2.30GHz", "skylake" },
    { "Intel(R) Xeon(R) Platinum 8124M CPU @ 3.00GHz", "skylake" },
    { "Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz", "cascadelake" },
    { "Intel(R) Xeon(R) Platinum 8275CL CPU @ 3.00GHz", "cascadelake" },
    { "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz", "icelake" },
    { "Intel(R) Xeon(R) Platinum 8480+", "sapphirerapids" },
    { "Intel (R) Xeon (R) CPU Max 9460", "sapphirerapids" },
    { "AMD EPYC 7742 64-Core Processor", "rome" },
    { "AMD EPYC 7H12 64-Core Processor", "rome" },
    { "AMD EPYC 7763 64-Core Processor                ", "milan" },
    { "AMD EPYC 7R13 Processor", "milan" },
    { "AMD EPYC 7V73X 64-Core Processor", "milan" },
    { "AMD EPYC 9654 96-Core Processor", "genoa" },
    { "AMD EPYC 7551 32-Core Processor", NULL },
    { "Intel(R) Xeon(R) CPU 5150 @ 2.66GHz", NULL },
    { "Cavium ThunderX2(R) CPU CN9980 v2.1 @ 2.20GHz", NULL },
    { "", NULL },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++)
    assert_found (&(TopoCpuSigns){ .model = cases[at][0] }, cases[at][1], false);
}

static void
test_numbers (void)
{
  static const struct {
    TopoCpuSigns signs;
    const char *name;
    bool is_nearest;
  } cases[] = {
    { { INTEL, NULL, 6, 23, 6 }, "harpertown", false },
    { { INTEL, NULL, 6, 26, 5 }, "nehalem", false },
    { { INTEL, NULL, 6, 44, 2 }, "westmere", false },
    { { INTEL, NULL, 6, 45, 7 }, "sandybridge", false },
    { { INTEL, NULL, 6, 62, 4 }, "ivybridge", false },
    { { INTEL, NULL, 6, 63, 2 }, "haswell", false },
    { { INTEL, NULL, 6, 79, 1 }, "broadwell", false },
    /* One model number, told apart by the stepping. */
    { { INTEL, NULL, 6, 85, 4 }, "skylake", false },
    { { INTEL, NULL, 6, 85, 7 }, "cascadelake", false },
    { { INTEL, NULL, 6, 106, 6 }, "icelake", false },
    { { INTEL, NULL, 6, 143, 8 }, "sapphirerapids", false },
    { { AMD, NULL, 23, 49, 0 }, "rome", false },
    { { AMD, NULL, 25, 1, 1 }, "milan", false },
    { { AMD, NULL, 25, 17, 1 }, "genoa", false },
    /* The numbers beat the name. */
    { { AMD, "AMD EPYC 7742 64-Core Processor", 25, 1, 1 }, "milan", false },
    /* Clovertown, Emerald Rapids; Naples, Turin. */
    { { INTEL, NULL, 6, 15, 7 }, "harpertown", true },
    { { INTEL, NULL, 6, 207, 2 }, "sapphirerapids", true },
    { { AMD, NULL, 23, 1, 2 }, "rome", true },
    { { AMD, NULL, 26, 2, 1 }, "genoa", true },
    { { "HygonGenuine", NULL, 24, 1, 0 }, NULL, false },
    { { NULL, NULL, 6, 85, 4 }, NULL, false },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++)
    assert_found (&cases[at].signs, cases[at].name, cases[at].is_nearest);
}

/* What the real files say; the numbers of the Cascade Lake's are in a format that is refused. */
static void
test_files (void)
{
  static const char *const cases[][2] = {
    { E5420, "harpertown" },    { X5550, "nehalem" },          { X5675, "westmere" },
    { E5_2660, "sandybridge" }, { E5_2680, "haswell" },        { EPYC_7763, "milan" },
    { GOLD_6140, "skylake" },   { MAX_9460, "sapphirerapids" }
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoNode) node = node_fixture_load (cases[at][0]);

    if (node == NULL)
      return;
    g_assert_nonnull (node->processor);
    g_assert_cmpstr (node->processor->name, ==, cases[at][1]);
    g_assert_nonnull (node->model);
    g_assert_false (node->is_nearest);
  }
}

/* The value that a node's processors give a key; NULL: none. */
static const char *
value_of (GPtrArray *notes, const char *key)
{
  const char *value = NULL;

  for (guint at = 0; at < notes->len; at++) {
    const TopoParameterNote *note = notes->pdata[at];

    if (!g_str_equal (note->key, key))
      continue;
    g_assert_null (value); /* a key once */
    value = note->value;
  }
  return value;
}

static void
assert_value (const char *name, const char *key, const char *expected)
{
  g_autoptr (TopoNode) node = topo_node_named (name);
  g_autoptr (GPtrArray) notes = topo_processor_notes (node);

  g_assert_cmpstr (value_of (notes, key), ==, expected);
}

/* A processor has the rows of the one that it builds on, unless it has its own. */
static void
test_rows (void)
{
  assert_value ("harpertown", "memory.bandwidth", NULL);
  assert_value ("westmere", "memory.transfer_latency", "87 ns");
  assert_value ("westmere", "memory.package_latency", "40 ns");
  assert_value ("nehalem", "memory.transfer_latency", "81 ns");
  assert_value ("milan", "memory.transfer_updates_memory", "false");
  assert_value ("milan", "memory.migratory", "true");
  assert_value ("genoa", "memory.core_bandwidth", "12 GB/s");
  assert_value ("icelake", "memory.dma_to_cache", "true");
  /* 350 GB/s on two packages of four domains each; 160 GB/s on one of one. */
  assert_value ("rome", "memory.bandwidth", "43.75 GB/s");
  assert_value ("icelake", "memory.bandwidth", "160 GB/s");
}

/* Every key is one, with a value in its range; every row says where it comes from. */
static void
test_all_apply (void)
{
  const char *const *names = topo_processor_names ();

  for (gsize at = 0; names[at] != NULL; at++) {
    g_autoptr (TopoNode) node = topo_node_named (names[at]);
    g_autoptr (GPtrArray) notes = topo_processor_notes (node);
    TopoParameters parameters;

    g_assert_cmpstr (node->source, ==, names[at]);
    g_assert_true (node->processor == topo_processor_named (names[at]));
    topo_parameters_default (&parameters, TOPO_FAMILY_FABRIC);
    for (guint number = 0; number < notes->len; number++) {
      const TopoParameterNote *note = notes->pdata[number];
      g_autoptr (GError) error = NULL;

      topo_parameters_set (&parameters, note->key, note->value, &error);
      g_assert_no_error (error);
      g_assert_true (strstr (note->about, "guess") != NULL || strstr (note->about, "[S]") != NULL ||
                     strstr (note->about, "[M]") != NULL || strstr (note->about, "[D]") != NULL ||
                     strstr (note->about, "[G]") != NULL);
    }
  }
  g_assert_null (topo_processor_named ("naples"));
  g_assert_null (topo_node_named ("naples"));
}

/* Cores of a node, of what an outermost cache holds, and NUMA nodes: data sheets. */
static void
test_usual_nodes (void)
{
  static const struct {
    const char *name;
    uint32_t n_cores, n_shared, n_memories;
    uint64_t cache_mebibytes;
  } cases[] = {
    { "nehalem", 8, 4, 2, 8 },       { "westmere", 12, 6, 2, 12 },
    { "sandybridge", 16, 8, 2, 20 }, { "ivybridge", 20, 10, 2, 25 },
    { "haswell", 24, 12, 2, 30 },    { "broadwell", 28, 14, 2, 35 },
    { "skylake", 48, 24, 2, 33 },    { "icelake", 72, 36, 2, 54 },
    { "rome", 128, 4, 8, 16 },       { "milan", 128, 8, 8, 32 },
    { "genoa", 192, 8, 8, 32 },      { "sapphirerapids", 112, 56, 2, 105 },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoNode) node = topo_node_named (cases[at].name);
    uint32_t last = node->n_cores - 1;
    const TopoObject *l3 = &node->objects[topo_node_above (node, last, TOPO_OBJECT_CACHE)];

    g_test_message ("%s", cases[at].name);
    g_assert_cmpuint (node->n_cores, ==, cases[at].n_cores);
    g_assert_cmpuint (node->n_memories, ==, cases[at].n_memories);
    g_assert_cmpuint (l3->n_cores, ==, cases[at].n_shared);
    g_assert_cmpuint (l3->cache_bytes, ==, cases[at].cache_mebibytes << 20);
    g_assert_cmpuint (topo_node_above (node, last, TOPO_OBJECT_MEMORY), ==,
                      node->memory[node->n_memories - 1]);
    for (uint32_t core = 0; core < node->n_cores; core++) {
      const TopoObject *package = &node->objects[topo_node_above (node, core, TOPO_OBJECT_PACKAGE)];

      g_assert_cmpuint (package->os_index, ==, core / (node->n_cores / 2));
      g_assert_cmpuint (node->objects[node->core[core]].first_core, ==, core);
    }
  }
}

/* Xeon Max and Gold 6140 from CPUID: one memory for both packages, whose processors have a memory
 * controller each.  A Harpertown's memory is behind a chipset and stays. */
static void
test_one_memory_for_all (void)
{
  static const struct {
    const char *file;
    uint32_t n_cores, n_memories;
    bool is_split;
  } cases[] = { { GOLD_6140, 36, 2, true },
                { MAX_9460, 80, 2, true },
                { EPYC_7763, 128, 2, false },
                { E5420, 8, 1, false },
                { E5_2680, 24, 4, false } };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoNode) node = node_fixture_load (cases[at].file);

    if (node == NULL)
      return;
    g_assert_cmpuint (node->n_cores, ==, cases[at].n_cores);
    g_assert_cmpuint (node->n_memories, ==, cases[at].n_memories);
    g_assert_true (node->has_split_memory == cases[at].is_split);
    for (uint32_t core = 0; core < node->n_cores && cases[at].n_memories > 1; core++)
      g_assert_cmpuint (
          node->objects[topo_node_above (node, core, TOPO_OBJECT_MEMORY)].first_core, >=,
          node->objects[topo_node_above (node, core, TOPO_OBJECT_PACKAGE)].first_core);
  }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/processor/names", test_names);
  g_test_add_func ("/topology/processor/numbers", test_numbers);
  g_test_add_func ("/topology/processor/files", test_files);
  g_test_add_func ("/topology/processor/rows", test_rows);
  g_test_add_func ("/topology/processor/all-apply", test_all_apply);
  g_test_add_func ("/topology/processor/usual-nodes", test_usual_nodes);
  g_test_add_func ("/topology/processor/one-memory", test_one_memory_for_all);
  return g_test_run ();
}
