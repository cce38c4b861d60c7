/* features_test.c - every feature against cases worked out by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The last test reads statistics that another program (MapLib) computed from
 * measured communication matrices. */
#include "sim/features.h"

#include ".ci/test_data.h"
#include "sim/net/load.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  TopoMachine machine;
  TopoMapping mapping;
  SimEdges *edges;
  SimCounters *counters;
  double features[SIM_N_FEATURES];
} Case;

static void
case_init (Case *it, TopoShape shape, uint32_t n_ranks, const uint32_t *nodes)
{
  *it = (Case){ .machine = { .shape = shape, .ranks_per_node = 64 } };
  it->mapping.n_ranks = n_ranks;
  it->mapping.node = g_memdup2 (nodes, n_ranks * sizeof *nodes);
  it->mapping.slot = g_new0 (uint8_t, n_ranks);
  it->edges = sim_edges_new (n_ranks);
  it->counters = sim_counters_new (&it->machine);
}

static void
case_clear (Case *it)
{
  g_free (it->mapping.node);
  g_free (it->mapping.slot);
  sim_edges_free (it->edges);
  sim_counters_free (it->counters);
}

static void
case_compute (Case *it)
{
  g_autoptr (RoutePaths) paths = route_paths_new (&it->machine, NULL);

  sim_features_compute (it->features, paths, &it->mapping, it->edges, it->counters);
}

static void
assert_feature (const Case *it, SimFeature feature, double wanted)
{
  g_assert_cmpfloat_with_epsilon (it->features[feature], wanted, 1e-12 * (1 + fabs (wanted)));
}

/* Four nodes in a line, rank r on node r.  Messages: one of 100 bytes from 0
 * to 3 (3 hops), one of 50 from 1 to 2 and one of 10 from 0 to 1 (1 hop each).
 *
 *        110        150        100         bytes to the right
 *     0 ------> 1 ------> 2 ------> 3
 *                                          none to the left: 6 links */
static void
fill_line (Case *it)
{
  sim_edges_add (it->edges, 0, 3, 1, 100);
  sim_edges_add (it->edges, 1, 2, 1, 50);
  sim_edges_add (it->edges, 0, 1, 1, 10);
  it->counters->link[2 * 0 + 1].payload_bytes = 110;
  it->counters->link[2 * 1 + 1].payload_bytes = 150;
  it->counters->link[2 * 2 + 1].payload_bytes = 100;
}

static void
fill_line_and_back (Case *it)
{
  fill_line (it);
  sim_edges_add (it->edges, 2, 0, 5, 1);
}

static void
fill_buffers (Case *it)
{
  it->counters->has_buffers = true;
  it->counters->link[1] = (SimLinkCounters){ .received_packets = 10,
                                             .buffered_packets = 5,
                                             .buffered_ps = 40 * SIM_NETWORK_CYCLE_PS,
                                             .bubble_chunks = 170 };
  it->counters->link[3] = (SimLinkCounters){ .received_packets = 4,
                                             .buffered_packets = 4,
                                             .buffered_ps = 6 * SIM_NETWORK_CYCLE_PS + 1000,
                                             .dynamic_chunks = 60,
                                             .priority_chunks = 8 };
  it->counters->link[5] = (SimLinkCounters){ .received_packets = 8, .bubble_chunks = 122 };
}

/* A fabric counts bytes: three chunks of 32 and one and a half. */
static void
fill_wire (Case *it)
{
  it->counters->has_buffers = true;
  it->counters->link[1].wire_bytes = 96;
  it->counters->link[3].wire_bytes = 48;
}

static void
fill_fifos (Case *it)
{
  g_assert_cmpuint (it->counters->n_fifos, ==, 2);
  it->counters->fifo_messages[2 * 0 + 1] = 2;
  it->counters->fifo_messages[2 * 1 + 1] = 1;
}

static void
fill_block (Case *it)
{
  sim_counters_free (it->counters);
  it->machine.is_bgq = true;
  it->counters = sim_counters_new (&it->machine);
  it->counters->fifo_messages[13] = 40;
}

static void
fill_evenly (Case *it)
{
  g_assert_cmpuint (it->counters->n_links, ==, 16);
  for (uint32_t link = 0; link < 16; link++)
    it->counters->link[link].payload_bytes = 7;
}

static void
fill_tops (Case *it)
{
  it->counters->link[1].payload_bytes = 949;
  it->counters->link[2].payload_bytes = 1000;
  it->counters->link[3].payload_bytes = 10;
  it->counters->link[4].payload_bytes = 950;
}

static void
fill_one_edge (Case *it)
{
  sim_edges_add (it->edges, 0, 1, 1, 1);
}

static void
fill_shared_node (Case *it)
{
  sim_edges_add (it->edges, 0, 1, 1, 1000);
  sim_edges_add (it->edges, 0, 2, 1, 10);
  sim_edges_add (it->edges, 1, 0, 1, 0);
}

#define LINE                  \
  { 1, { 4 }, { false } }, 4, \
  {                           \
    0, 1, 2, 3                \
  }

static const struct {
  const char *name;
  TopoShape shape;
  uint32_t n_ranks, nodes[4];
  void (*fill) (Case *it);
  uint32_t n;
  struct {
    SimFeature feature;
    double value;
  } wanted[10];
} cases[] = {
  /* Dilations 3, 1, 1: mean 5/3, above it only 3.  Senders: 0 has at most 3, 1
   * at most 1, so the mean is 2 and above it is 3.
   * Hop bytes: 3 * 100 + 1 * 50 + 1 * 10 = 360, of 160 bytes.
   * Bytes of links: 110, 150, 100, 0, 0, 0: the mean of 60 divides by the idle links too,
   * and is hop bytes over links (equation 5).  Above it 110, 150, 100; within 5 % of 150
   * only 150. */
  { "line",
    LINE,
    fill_line,
    10,
    { { SIM_FEATURE_MAX_DILATION, 3 },
      { SIM_FEATURE_AVG_DILATION, 5.0 / 3 },
      { SIM_FEATURE_SUM_HOPS_AO, 3 },
      { SIM_FEATURE_SUM_DILATION_AO, 3 },
      { SIM_FEATURE_HOP_BYTES, 360 },
      { SIM_FEATURE_AVG_HOPS_PER_BYTE, 2.25 },
      { SIM_FEATURE_AVG_BYTES, 360 / 6 },
      { SIM_FEATURE_MAX_BYTES, 150 },
      { SIM_FEATURE_AVG_BYTES_AO, 120 },
      { SIM_FEATURE_AVG_BYTES_TO, 150 } } },
  /* With one more edge from 2 to 0 the senders have at most 3, 1 and 2 hops:
   * the third is at their mean, not above it.  The edges have 3, 1, 1 and 2
   * hops, 1.75 on average: 3 and 2 are above.  Of the eight messages one has 3 hops, two have 1
   * and five 2, 15/8 on average: above it are 3 and five times 2. */
  { "senders at the mean",
    LINE,
    fill_line_and_back,
    3,
    { { SIM_FEATURE_SUM_DILATION_AO, 3 },
      { SIM_FEATURE_SUM_HOPS_AO, 5 },
      { SIM_FEATURE_SUM_MESSAGE_DILATION_AO, 13 } } },
  /* Waiting packets added up over the cycles: 40, 6.5 and 0; three links got nothing.  Mean
   * 46.5/6 = 7.75, above it and at the top 40.  Per packet received 40/10, 6.5/4, 0/8: mean 5.625/6,
   * above it 4 and 1.625. */
  { "buffers and delays",
    LINE,
    fill_buffers,
    8,
    { { SIM_FEATURE_AVG_BUFFER, 7.75 },
      { SIM_FEATURE_MAX_BUFFER, 40 },
      { SIM_FEATURE_AVG_BUFFER_AO, 40 },
      { SIM_FEATURE_AVG_BUFFER_TO, 40 },
      { SIM_FEATURE_AVG_DELAY, 5.625 / 6 },
      { SIM_FEATURE_MAX_DELAY, 4 },
      { SIM_FEATURE_AVG_DELAY_AO, 2.8125 },
      { SIM_FEATURE_AVG_DELAY_TO, 4 } } },
  /* 5 and 4 packets had to wait: mean 9/6 = 1.5, above it both, at the top 5.  Chunks of all
   * kinds: 170, 68 and 122, mean 60, all three above it. */
  { "packets that waited, chunks",
    LINE,
    fill_buffers,
    8,
    { { SIM_FEATURE_AVG_WAITED, 1.5 },
      { SIM_FEATURE_MAX_WAITED, 5 },
      { SIM_FEATURE_AVG_WAITED_AO, 4.5 },
      { SIM_FEATURE_AVG_WAITED_TO, 5 },
      { SIM_FEATURE_AVG_CHUNKS, 60 },
      { SIM_FEATURE_MAX_CHUNKS, 170 },
      { SIM_FEATURE_AVG_CHUNKS_AO, 120 },
      { SIM_FEATURE_AVG_CHUNKS_TO, 170 } } },
  { "chunks of a fabric",
    LINE,
    fill_wire,
    2,
    { { SIM_FEATURE_MAX_CHUNKS, 3 }, { SIM_FEATURE_AVG_CHUNKS, 0.75 } } },
  /* 950 is within 5 % of 1000, 949 is not. */
  { "links at the top", LINE, fill_tops, 1, { { SIM_FEATURE_AVG_BYTES_TO, 975 } } },
  /* Two FIFOs on each of four nodes: 2, 1 and six times 0 messages. */
  { "fifos",
    LINE,
    fill_fifos,
    4,
    { { SIM_FEATURE_AVG_FIFO, 3.0 / 8 },
      { SIM_FEATURE_MAX_FIFO, 2 },
      { SIM_FEATURE_AVG_FIFO_AO, 1.5 },
      { SIM_FEATURE_AVG_FIFO_TO, 2 } } },
  /* On Blue Gene/Q there are ten torus FIFOs on each node, also where a
   * dimension of the partition is 1. */
  { "ten fifos on Blue Gene/Q",
    { 5, { 1, 1, 1, 1, 2 }, { true, true, true, true, true } },
    1,
    { 0 },
    fill_block,
    1,
    { { SIM_FEATURE_AVG_FIFO, 2 } } },
  /* 2 x 2 torus: 16 links, as both cables of each pair count, with 7 bytes each.
   * No link is above the mean; all are at the top. */
  { "uniform load",
    { 2, { 2, 2 }, { true, true } },
    4,
    { 0, 1, 2, 3 },
    fill_evenly,
    3,
    { { SIM_FEATURE_AVG_BYTES, 7 },
      { SIM_FEATURE_AVG_BYTES_AO, 0 },
      { SIM_FEATURE_AVG_BYTES_TO, 7 } } },
  /* Opposite corners of a 2 x 2 torus are 2 hops apart; around a ring of 4 the
   * last node is 1 hop away. */
  { "opposite corners",
    { 2, { 2, 2 }, { true, true } },
    2,
    { 0, 3 },
    fill_one_edge,
    1,
    { { SIM_FEATURE_MAX_DILATION, 2 } } },
  { "around a ring",
    { 1, { 4 }, { true } },
    2,
    { 0, 3 },
    fill_one_edge,
    1,
    { { SIM_FEATURE_MAX_DILATION, 1 } } },
  /* Ranks 0 and 1 share a node.  Their edge has 0 hops, but it is one. */
  { "edges within a node",
    { 1, { 4 }, { false } },
    3,
    { 0, 0, 1 },
    fill_shared_node,
    5,
    { { SIM_FEATURE_AVG_DILATION, 1.0 / 3 },
      { SIM_FEATURE_HOP_BYTES, 10 },
      { SIM_FEATURE_AVG_HOPS_PER_BYTE, 10.0 / 1010 },
      { SIM_FEATURE_SUM_HOPS_AO, 1 },
      { SIM_FEATURE_SUM_DILATION_AO, 1 } } },
};

static void
test_cases (void)
{
  for (uint32_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    Case it;

    case_init (&it, cases[i].shape, cases[i].n_ranks, cases[i].nodes);
    cases[i].fill (&it);
    case_compute (&it);
    for (uint32_t k = 0; k < cases[i].n; k++) {
      g_test_message ("%s, %s", cases[i].name, sim_feature_name (cases[i].wanted[k].feature));
      assert_feature (&it, cases[i].wanted[k].feature, cases[i].wanted[k].value);
    }
    case_clear (&it);
  }
}

static void
test_unknown_buffers_are_nan (void)
{
  static const uint32_t nodes[] = { 0, 1, 2, 3 };
  Case line;

  case_init (&line, (TopoShape){ 1, { 4 }, { false } }, 4, nodes);
  fill_line (&line);
  case_compute (&line);
  for (uint32_t feature = 0; feature < SIM_N_FEATURES; feature++)
    g_assert_true (isnan (line.features[feature]) ==
                   (feature >= SIM_FEATURE_AVG_CHUNKS && feature <= SIM_FEATURE_AVG_WAITED_TO));
  case_clear (&line);
}

static void
test_nothing_sent (void)
{
  static const uint32_t nodes[] = { 0, 1 };
  Case line;

  case_init (&line, (TopoShape){ 1, { 2 }, { false } }, 2, nodes);
  line.counters->has_buffers = true;
  case_compute (&line);
  for (uint32_t feature = 0; feature < SIM_N_FEATURES; feature++)
    g_assert_cmpfloat (line.features[feature], ==, 0);
  case_clear (&line);
}

/* The rounded sum of six shares 1/10 is below, that of 1/9 above six times the share; neither
 * may make outliers. */
static void
test_equal_values (void)
{
  static const uint32_t nodes[] = { 0, 1, 2, 3 };
  static const uint64_t received[] = { 9, 10 };

  for (uint32_t i = 0; i < G_N_ELEMENTS (received); i++) {
    Case line;

    case_init (&line, (TopoShape){ 1, { 4 }, { false } }, 4, nodes);
    line.counters->has_buffers = true;
    g_assert_cmpuint (line.counters->n_links, ==, 6);
    for (uint32_t link = 0; link < line.counters->n_places; link++) {
      line.counters->link[link].buffered_ps = SIM_NETWORK_CYCLE_PS;
      line.counters->link[link].received_packets = received[i];
    }
    case_compute (&line);
    g_assert_cmpfloat (line.features[SIM_FEATURE_AVG_DELAY], ==, 1. / (double) received[i]);
    g_assert_cmpfloat (line.features[SIM_FEATURE_AVG_DELAY_AO], ==, 0);
    assert_feature (&line, SIM_FEATURE_AVG_DELAY_TO, 1. / (double) received[i]);
    case_clear (&line);
  }
}

/* The names of the design's table, which tables and scripts rely on. */
static void
test_names (void)
{
  static const char *const names[] = {
    "max_dilation", "avg_dilation",      "sum_dilation_AO", "sum_message_dilation_AO",
    "hop_bytes",    "avg_hops_per_byte", "sum_hops_AO",     "avg_bytes",
    "max_bytes",    "avg_bytes_AO",      "avg_bytes_TO",    "avg_chunks",
    "max_chunks",   "avg_chunks_AO",     "avg_chunks_TO",   "avg_buffer",
    "max_buffer",   "avg_buffer_AO",     "avg_buffer_TO",   "avg_delay",
    "max_delay",    "avg_delay_AO",      "avg_delay_TO",    "avg_waited",
    "max_waited",   "avg_waited_AO",     "avg_waited_TO",   "avg_FIFO",
    "max_FIFO",     "avg_FIFO_AO",       "avg_FIFO_TO"
  };

  g_assert_cmpuint (G_N_ELEMENTS (names), ==, SIM_N_FEATURES);
  for (uint32_t feature = 0; feature < SIM_N_FEATURES; feature++) {
    g_assert_cmpstr (sim_feature_name ((SimFeature) feature), ==, names[feature]);
    g_assert_nonnull (sim_feature_unit ((SimFeature) feature));
  }
}

/* --- MapLib: 64 ranks on 4 x 4 x 4 --- */

#define MAPLIB_RANKS 64

static char *
maplib_path (const char *name)
{
  g_autofree char *in_data = g_build_filename ("mapping", "maplib", name, NULL);

  return test_data (in_data);
}

static char *
maplib_text (const char *name)
{
  g_autofree char *path = maplib_path (name);
  char *text;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  return text;
}

/* A row of numbers per source. */
static SimEdges *
maplib_edges (const char *application, const char *kind)
{
  g_autofree char *name = g_strdup_printf ("%sCMatrices/comm_matrix.p2p.%s.csv", application, kind);
  g_autofree char *text = maplib_text (name);
  SimEdges *edges = sim_edges_new (MAPLIB_RANKS);
  char *at = text;

  for (uint32_t source = 0; source < MAPLIB_RANKS; source++)
    for (uint32_t destination = 0; destination < MAPLIB_RANKS; destination++) {
      uint64_t weight = g_ascii_strtoull (at, &at, 10);

      g_assert_true (*at == (destination + 1 < MAPLIB_RANKS ? ',' : '\n') || *at == '\r' ||
                     *at == '\0');
      at += *at == ',';
      sim_edges_add (edges, source, destination, 1, weight);
    }
  return edges;
}

/* Two heading lines, then per node "x y z how-many rank". */
static void
maplib_map (const char *name, uint32_t *nodes)
{
  g_autofree char *text = maplib_text (name);
  g_auto (GStrv) lines = g_strsplit (text, "\n", 0);

  for (uint32_t line = 2; line < 2 + MAPLIB_RANKS; line++) {
    unsigned x, y, z, n, rank;

    g_assert_cmpint (sscanf (lines[line], "%u %u %u %u %u", &x, &y, &z, &n, &rank), ==, 5);
    g_assert_cmpuint (n, ==, 1);
    nodes[rank] = 16 * x + 4 * y + z;
  }
}

/* The "WTAD" that a statistics file gives for a mapping algorithm. */
static uint64_t
maplib_wtad (const char *statistics, const char *algorithm)
{
  g_autofree char *heading = g_strdup_printf ("Mapping: %s Topology:", algorithm);
  const char *section = strstr (statistics, heading);
  const char *value;

  g_assert_nonnull (section);
  value = strstr (section, "WTAD   :");
  g_assert_nonnull (value);
  return g_ascii_strtoull (value + strlen ("WTAD   :"), NULL, 10);
}

/* WTAD is the mean over pairs of ranks of weight times distance without
 * wrapping, rounded down; the pairs are n^2 - 1, each counted twice. */
static void
check_maplib_map (const char *folder, const char *file, const char *statistics,
                  const char *application, const char *kind)
{
  g_autofree char *name = g_build_filename (folder, file, NULL);
  g_auto (GStrv) parts = g_strsplit (file, ".", 0);
  uint32_t nodes[MAPLIB_RANKS];
  uint64_t hop_bytes;
  Case it;

  maplib_map (name, nodes);
  case_init (&it, (TopoShape){ 3, { 4, 4, 4 }, { false } }, MAPLIB_RANKS, nodes);
  sim_edges_free (it.edges);
  it.edges = maplib_edges (application, kind);
  case_compute (&it);
  hop_bytes = (uint64_t) it.features[SIM_FEATURE_HOP_BYTES];
  g_assert_cmpuint (2 * hop_bytes / (MAPLIB_RANKS * MAPLIB_RANKS - 1), ==,
                    maplib_wtad (statistics, parts[4]));
  case_clear (&it);
}

/* Returns how many mappings were checked: file names are
 * Mapping.p2p.KIND.csv.ALGORITHM.TOPOLOGY.4x4x4.csv. */
static uint32_t
check_maplib_folder (const char *application, const char *kind, const char *topology)
{
  g_autofree char *folder = g_strdup_printf ("maps/%s/%sMAP%s", kind, application, topology);
  g_autofree char *path = maplib_path (folder);
  g_autofree char *statistics =
      g_strdup_printf ("%s/%s%c%sMap%sStatistics", folder, application, g_ascii_toupper (*topology),
                       topology + 1, *kind == 's' ? "Size" : "");
  g_autofree char *text = maplib_text (statistics);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  uint32_t n_maps = 0;
  const char *file;

  g_assert_nonnull (dir);
  while ((file = g_dir_read_name (dir)) != NULL)
    if (g_str_has_prefix (file, "Mapping.")) {
      check_maplib_map (folder, file, text, application, kind);
      n_maps++;
    }
  return n_maps;
}

static void
test_maplib_statistics (void)
{
  static const char *const applications[] = { "cg", "lulesh" },
                           *const kinds[] = { "count", "size" },
                           *const topologies[] = { "mesh", "torus", "haec" };
  g_autofree char *path = maplib_path ("maps");
  uint32_t n_maps = 0;

  if (path == NULL)
    return;
  for (uint32_t application = 0; application < 2; application++)
    for (uint32_t kind = 0; kind < 2; kind++)
      for (uint32_t topology = 0; topology < 3; topology++)
        n_maps +=
            check_maplib_folder (applications[application], kinds[kind], topologies[topology]);
  g_assert_cmpuint (n_maps, ==, 144);
}

/* Two leaves of two nodes under one spine: 8 links to and from nodes, 8 between
 * switches, 4 send queues.  Ranks 0 and 1 share node 0, 2 is on its leaf, 3 on
 * the other: 0, 2 and 4 links for 5, 10 and 100 bytes. */
static void
test_fabric (void)
{
  static const uint32_t nodes[] = { 0, 0, 1, 2 };
  g_autoptr (TopoMachine) machine = topo_machine_new ("fattree:2x2:1", NULL);
  g_autoptr (RoutePaths) paths = route_paths_new (machine, NULL);
  Case tree = { .mapping = { .n_ranks = 4,
                             .node = g_memdup2 (nodes, sizeof nodes),
                             .slot = g_new0 (uint8_t, 4) } };

  tree.edges = sim_edges_new (4);
  tree.counters = sim_counters_new (machine);
  sim_edges_add (tree.edges, 0, 1, 1, 5);
  sim_edges_add (tree.edges, 0, 2, 1, 10);
  sim_edges_add (tree.edges, 1, 3, 1, 100);
  sim_load_add (tree.counters, paths, &tree.mapping, 0, 1, 5, false);
  sim_load_add (tree.counters, paths, &tree.mapping, 0, 2, 10, false);
  sim_load_add (tree.counters, paths, &tree.mapping, 1, 3, 100, false);
  sim_features_compute (tree.features, paths, &tree.mapping, tree.edges, tree.counters);
  assert_feature (&tree, SIM_FEATURE_MAX_DILATION, 4);
  assert_feature (&tree, SIM_FEATURE_AVG_DILATION, 2);
  assert_feature (&tree, SIM_FEATURE_SUM_DILATION_AO, 4);
  assert_feature (&tree, SIM_FEATURE_HOP_BYTES, 420);
  assert_feature (&tree, SIM_FEATURE_AVG_HOPS_PER_BYTE, 420.0 / 115);
  assert_feature (&tree, SIM_FEATURE_AVG_BYTES, 420.0 / 16);
  assert_feature (&tree, SIM_FEATURE_MAX_BYTES, 110); /* out of node 0 */
  assert_feature (&tree, SIM_FEATURE_AVG_FIFO, 2.0 / 4);
  assert_feature (&tree, SIM_FEATURE_MAX_FIFO, 2);
  case_clear (&tree);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/features/cases", test_cases);
  g_test_add_func ("/sim/features/fabric", test_fabric);
  g_test_add_func ("/sim/features/unknown-buffers", test_unknown_buffers_are_nan);
  g_test_add_func ("/sim/features/nothing-sent", test_nothing_sent);
  g_test_add_func ("/sim/features/equal-values", test_equal_values);
  g_test_add_func ("/sim/features/names", test_names);
  g_test_add_func ("/sim/features/maplib-statistics", test_maplib_statistics);
  return g_test_run ();
}
