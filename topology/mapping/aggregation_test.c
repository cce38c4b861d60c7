/* aggregation_test.c - aggregation patterns of real and of made-up nodes, counted by hand.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/mapping/aggregation.h"

#include "topology/machine.h"
#include "topology/node/node_build.h"
#include "topology/node/node_fixture.h"

/* "0 4" */
static char *
places_of (const TopoPattern *pattern)
{
  GString *text = g_string_new (NULL);

  for (uint32_t at = 0; at < pattern->n_tasks; at++)
    g_string_append_printf (text, "%s%u", at > 0 ? " " : "", pattern->place[at]);
  return g_string_free (text, FALSE);
}

/* "1x1 1x2 2x2", uneven ones with a '~'. */
static char *
all_takes (const TopoPatterns *patterns)
{
  GString *text = g_string_new (NULL);

  for (uint32_t at = 0; at < patterns->n; at++) {
    g_autofree char *takes = topo_pattern_takes (patterns->levels, &patterns->pattern[at]);

    g_string_append_printf (text, "%s%s%s", at > 0 ? " " : "", takes,
                            patterns->pattern[at].is_uneven ? "~" : "");
  }
  return g_string_free (text, FALSE);
}

/* ---- the paper's node ---- */

/* The reference, infiniband.md section 0; symmetries counted by hand: which socket, which
 * die in it, which core in that. */
static const struct {
  const char *cores, *takes;
  uint32_t n_sockets, n_dies;
  double symmetries;
} paper[] = {
  { "0", "1x1x1", 1, 1, 8 },        { "0 4", "2x1x1", 2, 2, 16 },
  { "0 2", "1x2x1", 1, 2, 8 },      { "0 1", "1x1x2", 1, 1, 4 },
  { "0 2 4 6", "2x2x1", 2, 4, 16 }, { "0 1 4 5", "2x1x2", 2, 2, 4 },
  { "0 1 2 3", "1x2x2", 1, 2, 2 },  { "0 1 2 3 4 5 6 7", "2x2x2", 2, 4, 1 },
};

static void
assert_paper (const TopoNode *node)
{
  g_autoptr (TopoPatterns) patterns = topo_patterns_new (node, TOPO_PATTERNS_DEFAULT);
  g_autofree char *levels = topo_levels_describe (patterns->levels);

  g_assert_cmpstr (levels, ==, "2 package, each 2 L2, each 2 core");
  g_assert_cmpuint (patterns->n, ==, G_N_ELEMENTS (paper));
  for (uint32_t at = 0; at < patterns->n; at++) {
    const TopoPattern *pattern = &patterns->pattern[at];
    g_autofree char *cores = places_of (pattern);
    g_autofree char *takes = topo_pattern_takes (patterns->levels, pattern);

    g_assert_cmpuint (pattern->id, ==, at + 1);
    g_assert_cmpstr (cores, ==, paper[at].cores);
    g_assert_cmpstr (takes, ==, paper[at].takes);
    g_assert_cmpuint (pattern->n_sockets, ==, paper[at].n_sockets);
    g_assert_cmpuint (pattern->n_dies, ==, paper[at].n_dies);
    g_assert_cmpfloat (pattern->symmetries, ==, paper[at].symmetries);
    g_assert_cmpuint (pattern->energy_rank, ==, 8 - at);
    g_assert_false (pattern->is_uneven);
    g_assert_null (pattern->excluded);
  }
}

static void
test_harpertown (void)
{
  g_autoptr (TopoNode) node = topo_node_harpertown ();

  assert_paper (node);
}

static void
test_e5420 (void)
{
  g_autoptr (TopoNode) node = node_fixture_load (E5420);

  if (node != NULL)
    assert_paper (node);
}

/* All 2^8 sets of cores under all 2^7 symmetries: a pattern has as many images as say. */
static void
test_symmetries_by_force (void)
{
  for (gsize at = 0; at < G_N_ELEMENTS (paper); at++) {
    g_auto (GStrv) cores = g_strsplit (paper[at].cores, " ", -1);
    bool is_image[256] = { false };
    uint32_t n = 0;

    for (uint32_t symmetry = 0; symmetry < 128; symmetry++) {
      uint32_t image = 0;

      for (gsize i = 0; cores[i] != NULL; i++) {
        uint32_t core = (uint32_t) (*cores[i] - '0'), die = core / 2, socket = core / 4;

        image |= 1u << (core ^ (symmetry & 1) * 4 ^ (symmetry >> (1 + socket) & 1) * 2 ^
                        (symmetry >> (3 + die) & 1));
      }
      n += !is_image[image];
      is_image[image] = true;
    }
    g_assert_cmpfloat (paper[at].symmetries, ==, n);
  }
}

/* ---- other nodes ---- */

static void
test_other_shapes (void)
{
  static const struct {
    const char *description, *levels, *takes;
  } cases[] = {
    { "core:1 pu:1", "1 core", "1" },
    { "core:6 pu:2", "6 core", "1 2 3 4 6" },
    { "pack:2 core:1 pu:1", "2 core", "1 2" },
    { "pack:1 l3:1(size=8388608) core:4 pu:1", "4 core", "1 2 4" },
    { "pack:2 numa:1 l3:1(size=8388608) core:4 pu:2", "2 package+memory+L3, each 4 core",
      "1x1 2x1 1x2 2x2 1x4 2x4" },
    { "pack:2 numa:2 core:2 pu:1", "2 package, each 2 memory, each 2 core",
      "1x1x1 2x1x1 1x2x1 1x1x2 2x2x1 2x1x2 1x2x2 2x2x2" },
    { "numa:2 pack:2 core:2 pu:1", "2 memory, each 2 package, each 2 core",
      "1x1x1 2x1x1 1x2x1 1x1x2 2x2x1 2x1x2 1x2x2 2x2x2" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoNode) node = node_fixture_of (cases[at].description);
    g_autoptr (TopoPatterns) patterns = topo_patterns_new (node, TOPO_PATTERNS_DEFAULT);
    g_autofree char *levels = topo_levels_describe (patterns->levels);
    g_autofree char *takes = all_takes (patterns);

    g_test_message ("%s", cases[at].description);
    g_assert_cmpstr (levels, ==, cases[at].levels);
    g_assert_cmpstr (takes, ==, cases[at].takes);
  }
}

/* Primes have the powers of two, so that a node of 2 x 13 can be filled half. */
static void
test_counts (void)
{
  g_autoptr (TopoNode) node = node_fixture_of ("pack:2 core:13 pu:1");
  g_autoptr (TopoPatterns) some = topo_patterns_new (node, TOPO_PATTERNS_DEFAULT);
  g_autoptr (TopoPatterns) all = topo_patterns_new (node, TOPO_PATTERNS_ALL_COUNTS);
  g_autofree char *takes = all_takes (some);

  g_assert_cmpstr (takes, ==, "1x1 2x1 1x2 2x2 1x4 2x4 1x8 1x13 2x8 2x13");
  g_assert_cmpuint (all->n, ==, 26);
}

/* Large nodes have lists that people read. */
static void
test_length_of_lists (void)
{
  static const struct {
    const char *description;
    uint32_t n;
  } nodes[] = {
    { "pack:2 l3:1(size=8388608) core:20 pu:2", 16 }, /* 1 2 4 5 8 10 16 20 */
    { "pack:2 l3:1(size=8388608) core:12 pu:2", 14 }, /* 1 2 3 4 6 8 12 */
    { "pack:2 l3:1(size=8388608) core:8 pu:2", 8 },
    { "pack:2 numa:4 l3:2(size=8388608) core:4 pu:1", 36 },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (nodes); at++) {
    g_autoptr (TopoNode) node = node_fixture_of (nodes[at].description);
    g_autoptr (TopoPatterns) patterns = topo_patterns_new (node, TOPO_PATTERNS_DEFAULT);

    g_assert_cmpuint (patterns->n, ==, nodes[at].n);
  }
}

/* C(20,5) in each of two sockets, and either socket. */
static void
test_many_symmetries (void)
{
  g_autoptr (TopoNode) node = node_fixture_of ("pack:2 core:20 pu:1");
  g_autoptr (TopoPatterns) patterns = topo_patterns_new (node, TOPO_PATTERNS_DEFAULT);
  const TopoPattern *both = NULL, *one = NULL;

  for (uint32_t at = 0; at < patterns->n; at++)
    if (patterns->pattern[at].takes[1] == 5)
      *(patterns->pattern[at].takes[0] == 2 ? &both : &one) = &patterns->pattern[at];
  g_assert_cmpfloat (one->symmetries, ==, 2 * 15504);
  g_assert_cmpfloat (both->symmetries, ==, 15504.0 * 15504);
}

static void
test_threads (void)
{
  g_autoptr (TopoNode) node = node_fixture_of ("pack:2 core:2 pu:2");
  g_autoptr (TopoPatterns) cores = topo_patterns_new (node, TOPO_PATTERNS_DEFAULT);
  g_autoptr (TopoPatterns) threads = topo_patterns_new (node, TOPO_PATTERNS_THREADS);
  g_autofree char *levels = topo_levels_describe (threads->levels);
  g_autofree char *first = NULL;

  g_assert_cmpuint (cores->n, ==, 4);
  g_assert_cmpuint (cores->levels->cpu[3], ==, 6);
  g_assert_cmpstr (levels, ==, "2 package, each 2 core, each 2 thread");
  g_assert_cmpuint (threads->n, ==, 8);
  g_assert_cmpuint (threads->pattern[7].n_tasks, ==, 8);
  g_assert_cmpuint (threads->levels->core[7], ==, 3);
  g_assert_cmpuint (threads->levels->cpu[7], ==, 7);
  first = places_of (&threads->pattern[4]); /* a thread of each core */
  g_assert_cmpstr (first, ==, "0 2 4 6");
}

/* Haswells in cluster-on-die mode: a memory and an L3 for each half of a socket. */
static void
test_haswell (void)
{
  g_autoptr (TopoNode) node = node_fixture_load (E5_2680);
  g_autoptr (TopoPatterns) patterns = NULL;
  g_autofree char *levels = NULL;
  const TopoPattern *halves;

  if (node == NULL)
    return;
  patterns = topo_patterns_new (node, TOPO_PATTERNS_DEFAULT);
  levels = topo_levels_describe (patterns->levels);
  g_assert_cmpstr (levels, ==, "2 package, each 2 memory+L3, each 6 core");
  g_assert_cmpuint (patterns->n, ==, 20); /* 2 x 2 x {1 2 3 4 6} */
  g_assert_cmpuint (patterns->pattern[19].n_tasks, ==, 24);
  g_assert_cmpuint (patterns->node_bytes >> 30, ==, 127); /* of 128 GiB, what the system left */
  halves = &patterns->pattern[5];                         /* 2x2x1: id 5 is 1x1x3 */
  g_assert_cmpuint (halves->n_dies, ==, 4);
  g_assert_cmpuint (halves->n_sockets, ==, 2);
}

static void
test_other_real_nodes (void)
{
  static const struct {
    const char *file, *levels;
    uint32_t n;
  } nodes[] = {
    { X5550, "2 package+memory+L3, each 4 core", 6 },
    { X5675, "2 package+memory+L3, each 6 core", 10 },
    { E5_2660, "2 package+memory+L3, each 8 core", 8 },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (nodes); at++) {
    g_autoptr (TopoNode) node = node_fixture_load (nodes[at].file);
    g_autoptr (TopoPatterns) patterns = NULL;
    g_autofree char *levels = NULL;

    if (node == NULL)
      return;
    patterns = topo_patterns_new (node, TOPO_PATTERNS_DEFAULT);
    levels = topo_levels_describe (patterns->levels);
    g_assert_cmpstr (levels, ==, nodes[at].levels);
    g_assert_cmpuint (patterns->n, ==, nodes[at].n);
    for (uint32_t other = 0; other < patterns->n; other++)
      g_assert_cmpuint (patterns->pattern[other].energy_rank, ==, patterns->n - other);
  }
}

/* ---- asymmetric nodes ---- */

/* Sockets of three and of four cores, as when one is switched off.  hwloc makes none of unlike
 * groups, so this is put together here. */
static TopoNode *
lame_node (void)
{
  GArray *objects = g_array_new (FALSE, TRUE, sizeof (TopoObject));
  uint32_t core = 0;

  g_array_append_val (
      objects, ((TopoObject){ .kind = TOPO_OBJECT_MACHINE, .parent = TOPO_NONE, .n_cores = 7 }));
  g_array_append_val (objects, ((TopoObject){ .kind = TOPO_OBJECT_MEMORY, .n_cores = 7 }));
  for (uint32_t socket = 0; socket < 2; socket++) {
    uint32_t package = objects->len;

    g_array_append_val (
        objects,
        ((TopoObject){ .kind = TOPO_OBJECT_PACKAGE, .first_core = core, .n_cores = 3 + socket }));
    for (uint32_t at = 0; at < 3 + socket; at++, core++)
      g_array_append_val (objects, ((TopoObject){ .kind = TOPO_OBJECT_CORE,
                                                  .parent = package,
                                                  .os_index = core,
                                                  .first_core = core,
                                                  .n_cores = 1 }));
  }
  return topo_node_make (g_strdup ("lame"), objects);
}

static void
test_uneven (void)
{
  g_autoptr (TopoNode) node = lame_node ();
  g_autoptr (TopoPatterns) patterns = topo_patterns_new (node, TOPO_PATTERNS_DEFAULT);
  g_autofree char *levels = topo_levels_describe (patterns->levels);
  g_autofree char *takes = all_takes (patterns);
  g_autofree char *four = NULL, *one = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_cmpstr (levels, ==, "2 package, each at most 4 core");
  g_assert_cmpstr (takes, ==, "1x1 2x1 1x2 1x3 2x2 1x4 2x3 2x4~");
  one = places_of (&patterns->pattern[0]);
  g_assert_cmpstr (one, ==, "0");
  g_assert_cmpfloat (patterns->pattern[0].symmetries, ==, 3);
  four = places_of (&patterns->pattern[5]);
  g_assert_cmpstr (four, ==, "3 4 5 6");
  g_assert_cmpuint (patterns->pattern[7].n_tasks, ==, 7);
  g_assert_false (topo_patterns_admit (patterns, &(TopoJob){ .task_bytes = 1 }, &error));
  g_assert_error (error, TOPO_ERROR, TOPO_ERROR_RANGE);
}

/* Numbers of patterns as options give them. */
static void
test_cores_of_a_pattern (void)
{
  g_autoptr (TopoNode) node = topo_node_harpertown ();
  uint8_t cores[TOPO_MAX_RANKS_PER_NODE];

  g_assert_cmpuint (topo_node_pattern (node, 0, cores), ==, 0);
  g_assert_cmpuint (topo_node_pattern (node, 9, cores), ==, 0);
  g_assert_cmpuint (topo_node_pattern (node, 6, cores), ==, 4);
  g_assert_cmpmem (cores, 4, ((uint8_t[]){ 0, 1, 4, 5 }), 4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/aggregation/harpertown", test_harpertown);
  g_test_add_func ("/topology/aggregation/e5420", test_e5420);
  g_test_add_func ("/topology/aggregation/symmetries-by-force", test_symmetries_by_force);
  g_test_add_func ("/topology/aggregation/other-shapes", test_other_shapes);
  g_test_add_func ("/topology/aggregation/counts", test_counts);
  g_test_add_func ("/topology/aggregation/length", test_length_of_lists);
  g_test_add_func ("/topology/aggregation/many-symmetries", test_many_symmetries);
  g_test_add_func ("/topology/aggregation/threads", test_threads);
  g_test_add_func ("/topology/aggregation/haswell", test_haswell);
  g_test_add_func ("/topology/aggregation/other-real-nodes", test_other_real_nodes);
  g_test_add_func ("/topology/aggregation/uneven", test_uneven);
  g_test_add_func ("/topology/aggregation/cores", test_cores_of_a_pattern);
  return g_test_run ();
}
