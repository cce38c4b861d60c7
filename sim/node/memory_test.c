/* memory_test.c - copies by hand, and their cost for each other.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Times are worked out from these round figures, which are set here and not
 * taken from the defaults, so that a better default breaks no test. */
#include "sim/node/memory.h"

#include ".ci/test_data.h"

#define PIECE      4096u
#define SMALL      (16u * 1024)        /* at home in an L1 of 32 KiB */
#define MIDDLE     (3u * 1024 * 1024)  /* in an L2 of 6 MiB, and not a byte more */
#define LARGE      (64u * 1024 * 1024) /* in memory */
#define FRAGMENTS  (3u * 32 * 1024)
#define CORE_PS    200. /* per byte */
#define MEMORY_PS  250.
#define LINE_PS    500.
#define FAR        1.3
#define LATENCY_PS 100000
#define MORE_PS    30000

/* So many pieces have passed an object of node 0. */
#define PASSED(object, n_pieces) \
  g_assert_cmpuint (sim_memory_bytes (memory, 0, object), ==, (n_pieces) *PIECE)

#define X5550   "netloc-plafrim-Intel_Xeon_CPU_X5550__2.67GHz.xml"
#define E5_2660 "netloc-avakas-Intel_Xeon_CPU_E5-2660_0__2.20GHz.xml"
#define E5_2680 "netloc-plafrim2-Intel_Xeon_CPU_E5-2680_v3__2.50GHz.xml"

static TopoMachine *
new_machine (void)
{
  g_autoptr (GError) error = NULL;
  TopoMachine *machine = topo_machine_new ("systemg:2", &error);
  TopoParameters *parameters;

  g_assert_no_error (error);
  parameters = &machine->parameters;
  parameters->memory.core_bandwidth_Bps = 5000000000;
  parameters->memory.core_memory_bandwidth_Bps = 4000000000;
  parameters->memory.core_transfer_bandwidth_Bps = 2000000000;
  parameters->memory.cache_bandwidth_Bps = 20000000000;
  parameters->memory.bus_bandwidth_Bps = 8000000000;
  parameters->memory.dram_bandwidth_Bps = 12500000000;
  parameters->memory.cache_share = 0.5;
  parameters->memory.transfer_latency_ps = LATENCY_PS;
  parameters->memory.package_latency_ps = MORE_PS;
  parameters->memory.copy_quantum_bytes = PIECE;
  return machine;
}

/* Another inside for all nodes; NULL, and the test marked as skipped, when the
 * shared data is not there. */
static TopoMachine *
new_machine_of (const char *name)
{
  g_autofree char *in_data = g_build_filename ("nodes", name, NULL);
  g_autofree char *path = test_data (in_data);
  g_autoptr (GError) error = NULL;
  TopoMachine *machine;

  if (path == NULL)
    return NULL;
  machine = new_machine ();
  topo_node_free (machine->node);
  machine->node = topo_node_load (path, &error);
  g_assert_no_error (error);
  return machine;
}

/* Servers so fast that only the cores' own rates count. */
static void
free_servers (TopoParameters *parameters)
{
  parameters->memory.cache_bandwidth_Bps = UINT64_C (100000000000000);
  parameters->memory.bus_bandwidth_Bps = UINT64_C (100000000000000);
  parameters->memory.dram_bandwidth_Bps = UINT64_C (100000000000000);
}

static void
free_cores (TopoParameters *parameters)
{
  parameters->memory.core_bandwidth_Bps = UINT64_C (100000000000000);
  parameters->memory.core_memory_bandwidth_Bps = UINT64_C (100000000000000);
  parameters->memory.core_transfer_bandwidth_Bps = UINT64_C (100000000000000);
  parameters->memory.transfer_latency_ps = 0;
  parameters->memory.package_latency_ps = 0;
}

static SimBuffer
private_of (uint32_t core, uint64_t footprint_bytes)
{
  return (SimBuffer){ SIM_BUFFER_PRIVATE, core, core, footprint_bytes };
}

static SimBuffer
shared_of (uint32_t writer, uint32_t reader)
{
  return (SimBuffer){ SIM_BUFFER_SHARED, writer, reader, FRAGMENTS };
}

static SimBuffer
adapter_of (uint32_t core)
{
  return (SimBuffer){ SIM_BUFFER_ADAPTER, core, core, FRAGMENTS };
}

static int64_t
copy_in (SimMemory *memory, uint32_t sender, uint32_t receiver, uint64_t footprint, int64_t now_ps)
{
  return sim_memory_copy (memory,
                          &(SimCopy){ .core = sender,
                                      .from = private_of (sender, footprint),
                                      .to = shared_of (sender, receiver),
                                      .bytes = PIECE },
                          now_ps);
}

static int64_t
copy_out (SimMemory *memory, uint32_t sender, uint32_t receiver, uint64_t footprint, int64_t now_ps)
{
  return sim_memory_copy (memory,
                          &(SimCopy){ .core = receiver,
                                      .from = shared_of (sender, receiver),
                                      .to = private_of (receiver, footprint),
                                      .bytes = PIECE },
                          now_ps);
}

static int64_t
ps (double bytes, double byte_ps)
{
  return (int64_t) (bytes * byte_ps + 0.5);
}

/* One piece alone, at the cores' own rates, by placement of the receiver: same
 * die, other die of the package, other package. */
static void
test_single_copies (void)
{
  static const struct {
    uint32_t receiver;
    double line_ps;
    int64_t latency_ps;
  } placements[] = { { 1, 0, 0 },
                     { 2, LINE_PS, LATENCY_PS },
                     { 4, LINE_PS * FAR, LATENCY_PS + MORE_PS } };
  g_autoptr (TopoMachine) machine = new_machine ();
  g_autoptr (SimMemory) memory = NULL;

  free_servers (&machine->parameters);
  memory = sim_memory_new (machine);
  for (guint at = 0; at < G_N_ELEMENTS (placements); at++) {
    uint32_t receiver = placements[at].receiver;
    double line_ps = placements[at].line_ps;
    int64_t now_ps = (int64_t) at * 1000000000;

    g_assert_cmpint (copy_in (memory, 0, receiver, SMALL, now_ps) - now_ps, ==,
                     ps (PIECE, CORE_PS));
    g_assert_cmpint (copy_in (memory, 0, receiver, LARGE, now_ps) - now_ps, ==,
                     LATENCY_PS + ps (PIECE, MEMORY_PS));
    g_assert_cmpint (copy_out (memory, 0, receiver, SMALL, now_ps) - now_ps, ==,
                     placements[at].latency_ps + ps (PIECE, MAX (CORE_PS, line_ps)));
    g_assert_cmpint (copy_out (memory, 0, receiver, LARGE, now_ps) - now_ps, ==,
                     placements[at].latency_ps + ps (PIECE, line_ps + MEMORY_PS));
  }
}

/* One piece alone when a server limits it: the one that it passes
 * most, bytes over bandwidth. */
static void
test_limits_of_servers (void)
{
  g_autoptr (TopoMachine) machine = new_machine ();
  g_autoptr (SimMemory) memory = NULL;

  free_cores (&machine->parameters);
  memory = sim_memory_new (machine);
  /* L2: written and fetched, 20 GB/s. */
  g_assert_cmpint (copy_in (memory, 0, 1, SMALL, 0), ==, ps (2 * PIECE, 50));
  /* L2: read, fetched and written. */
  g_assert_cmpint (copy_in (memory, 2, 3, MIDDLE, 0), ==, ps (3 * PIECE, 50));
  /* Second package's bus: fetched and written back, 8 GB/s. */
  g_assert_cmpint (copy_out (memory, 4, 5, LARGE, 0), ==, ps (2 * PIECE, 125));
}

static uint32_t
l2 (const TopoNode *node, uint32_t core)
{
  return topo_node_above (node, core, TOPO_OBJECT_CACHE);
}

static uint32_t
bus (const TopoNode *node, uint32_t core)
{
  return topo_node_above (node, core, TOPO_OBJECT_PACKAGE);
}

/* One piece in and out: how often each server is passed, in all placements.
 * Columns: L2 of sender, its bus, L2 of receiver, its bus, memory; for the same
 * die or package one server stands in two columns. */
static void
test_bytes_by_hand (void)
{
  static const struct {
    uint32_t receiver;
    uint64_t footprint;
    uint32_t l2_sender, bus_sender, l2_receiver, bus_receiver, memory;
  } cases[] = {
    { 1, SMALL, 3, 0, 3, 0, 0 }, { 1, MIDDLE, 6, 0, 6, 0, 0 }, { 1, LARGE, 6, 3, 6, 3, 3 },
    { 2, SMALL, 3, 1, 1, 1, 1 }, { 2, MIDDLE, 4, 1, 3, 1, 1 }, { 2, LARGE, 4, 4, 3, 4, 4 },
    { 4, SMALL, 3, 1, 1, 1, 1 }, { 4, MIDDLE, 4, 1, 3, 1, 1 }, { 4, LARGE, 4, 2, 3, 3, 4 },
  };
  g_autoptr (TopoMachine) machine = new_machine ();
  const TopoNode *node = machine->node;

  for (guint at = 0; at < G_N_ELEMENTS (cases); at++) {
    uint32_t receiver = cases[at].receiver;
    g_autoptr (SimMemory) memory = sim_memory_new (machine);
    uint64_t all = 0, expected = 0;

    copy_out (memory, 0, receiver, cases[at].footprint,
              copy_in (memory, 0, receiver, cases[at].footprint, 0));
    PASSED (l2 (node, 0), cases[at].l2_sender);
    PASSED (bus (node, 0), cases[at].bus_sender);
    PASSED (l2 (node, receiver), cases[at].l2_receiver);
    PASSED (bus (node, receiver), cases[at].bus_receiver);
    PASSED (node->memory[0], cases[at].memory);
    for (uint32_t object = 0; object < node->n_objects; object++) {
      all += sim_memory_bytes (memory, 0, object);
      g_assert_cmpuint (sim_memory_bytes (memory, 1, object), ==, 0);
    }
    expected = cases[at].l2_sender + cases[at].bus_sender + cases[at].memory;
    expected += receiver / 2 != 0 ? cases[at].l2_receiver : 0;
    expected += receiver / 4 != 0 ? cases[at].bus_receiver : 0;
    g_assert_cmpuint (all, ==, expected * PIECE);
  }
}

/* Whole lines, even for one byte. */
static void
test_lines (void)
{
  g_autoptr (TopoMachine) machine = new_machine ();
  g_autoptr (SimMemory) memory = sim_memory_new (machine);
  uint32_t dram = machine->node->memory[0];

  sim_memory_dma (memory, 1, true, 1, 0);
  g_assert_cmpuint (sim_memory_bytes (memory, 1, dram), ==, 64);
  sim_memory_dma (memory, 1, false, 65, 0);
  g_assert_cmpuint (sim_memory_bytes (memory, 1, dram), ==, 192);
}

/* Each core of cores[] copies n pieces of its own from memory to memory; when
 * the last one is done. */
static int64_t
time_of_copies (SimMemory *memory, const uint32_t *cores, uint32_t n_cores, uint32_t n_pieces)
{
  int64_t next_ps[8] = { 0 }, last_ps = 0;

  for (uint32_t piece = 0; piece < n_pieces * n_cores; piece++) {
    uint32_t first = 0;

    for (uint32_t at = 1; at < n_cores; at++)
      if (next_ps[at] < next_ps[first])
        first = at;
    next_ps[first] = sim_memory_copy (memory,
                                      &(SimCopy){ .core = cores[first],
                                                  .from = private_of (cores[first], LARGE),
                                                  .to = private_of (cores[first], LARGE),
                                                  .bytes = PIECE },
                                      next_ps[first]);
    last_ps = MAX (last_ps, next_ps[first]);
  }
  return last_ps;
}

static double
slowdown (TopoMachine *machine, const uint32_t *cores, uint32_t n_cores)
{
  SimMemory *alone = sim_memory_new (machine);
  SimMemory *together = sim_memory_new (machine);
  double ratio = (double) time_of_copies (together, cores, n_cores, 256) /
                 (double) time_of_copies (alone, cores, 1, 256);

  sim_memory_free (alone);
  sim_memory_free (together);
  return ratio;
}

/* k copies that only a bus limits take k times as long, wherever in the
 * package they run, and as long as one with a bus for each. */
static void
test_copies_share_a_bus (void)
{
  static const uint32_t one_package[] = { 0, 1, 2, 3 }, dies[] = { 0, 2 }, packages[] = { 0, 4 };
  g_autoptr (TopoMachine) machine = new_machine ();

  free_cores (&machine->parameters);
  machine->parameters.memory.dram_bandwidth_Bps = UINT64_C (100000000000000);
  for (uint32_t k = 1; k <= 4; k++)
    g_assert_cmpfloat_with_epsilon (slowdown (machine, one_package, k), k, 0.01 * k);
  g_assert_cmpfloat_with_epsilon (slowdown (machine, dies, 2), 2, 0.02);
  g_assert_cmpfloat_with_epsilon (slowdown (machine, packages, 2), 1, 0.01);
}

/* STREAM's copy counts two bytes where three move, so that its figures are two
 * thirds of the bytes that a bus, or the memory behind both, carries. */
static void
test_stream (void)
{
  static const uint32_t cores[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
  g_autoptr (TopoMachine) machine = new_machine ();

  for (uint32_t n_cores = 4; n_cores <= 8; n_cores += 4) {
    g_autoptr (SimMemory) memory = sim_memory_new (machine);
    double seconds = (double) time_of_copies (memory, cores, n_cores, 256) / 1e12;
    double copied = 2. * n_cores * 256 * PIECE / seconds;

    g_assert_cmpfloat_with_epsilon (copied / (n_cores == 4 ? 8e9 : 12.5e9), 2. / 3, 0.01);
  }
}

/* All packages share the memory. */
static void
test_packages_share_memory (void)
{
  static const uint32_t packages[] = { 0, 4 };
  g_autoptr (TopoMachine) machine = new_machine ();

  free_cores (&machine->parameters);
  machine->parameters.memory.bus_bandwidth_Bps = UINT64_C (100000000000000);
  g_assert_cmpfloat_with_epsilon (slowdown (machine, packages, 2), 2, 0.02);
}

/* Two copies whose buffers are in their L2 disturb each other on one die only. */
static void
test_dies_do_not_share_caches (void)
{
  g_autoptr (TopoMachine) machine = new_machine ();
  int64_t same, other;
  g_autoptr (SimMemory) memory = NULL;

  free_cores (&machine->parameters);
  memory = sim_memory_new (machine);
  copy_in (memory, 0, 1, SMALL, 0);
  same = copy_in (memory, 1, 0, SMALL, 0);
  other = copy_in (memory, 2, 3, SMALL, 0);
  g_assert_cmpint (same, ==, 2 * other);
}

/* Nodes do not share anything. */
static void
test_nodes_are_apart (void)
{
  g_autoptr (TopoMachine) machine = new_machine ();
  g_autoptr (SimMemory) memory = sim_memory_new (machine);
  int64_t first = sim_memory_dma (memory, 0, true, 1 << 20, 0);

  g_assert_cmpint (sim_memory_dma (memory, 0, true, 1 << 20, 0), ==, 2 * first);
  g_assert_cmpint (sim_memory_dma (memory, 1, true, 1 << 20, 0), ==, first);
}

/* One byte more than its share of a cache, and a buffer is somewhere else. */
static void
test_footprints (void)
{
  static const struct {
    uint64_t footprint;
    uint32_t l2, memory; /* passages when read */
  } cases[] = { { SMALL, 0, 0 }, { SMALL + 1, 1, 0 }, { MIDDLE, 1, 0 }, { MIDDLE + 1, 1, 1 } };
  g_autoptr (TopoMachine) machine = new_machine ();
  const TopoNode *node = machine->node;
  int64_t before_ps = 0;

  for (guint at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (SimMemory) memory = sim_memory_new (machine);
    int64_t took_ps = copy_in (memory, 0, 1, cases[at].footprint, 0);

    PASSED (l2 (node, 0), (2 + cases[at].l2));
    PASSED (node->memory[0], cases[at].memory);
    g_assert_cmpint (took_ps, >=, before_ps);
    before_ps = took_ps;
  }
  g_assert_cmpint (before_ps, ==, LATENCY_PS + ps (PIECE, MEMORY_PS));
}

/* Bytes that the adapter wrote come from memory; those that it will read are driven
 * out over the bus, and counted in memory when it reads. */
static void
test_adapter_of_a_bus_node (void)
{
  g_autoptr (TopoMachine) machine = new_machine ();
  const TopoNode *node = machine->node;
  g_autoptr (SimMemory) memory = sim_memory_new (machine);
  SimCopy out = { .core = 0, .from = adapter_of (0), .to = private_of (0, SMALL), .bytes = PIECE };
  SimCopy in = { .core = 4, .from = private_of (4, SMALL), .to = adapter_of (4), .bytes = PIECE };

  g_assert_cmpint (sim_memory_dma (memory, 0, true, PIECE, 0), ==, ps (PIECE, 80));
  PASSED (bus (node, 0), 0);
  sim_memory_copy (memory, &out, 1000000);
  PASSED (bus (node, 0), 1);
  PASSED (node->memory[0], 2);
  sim_memory_copy (memory, &in, 2000000);
  sim_memory_dma (memory, 0, false, PIECE, 3000000);
  PASSED (bus (node, 4), 1);
  PASSED (l2 (node, 4), 2);
  PASSED (node->memory[0], 3);
}

/* Sandy Bridge: the adapter hangs below the second package. */
static void
test_adapter_of_a_package (void)
{
  g_autoptr (TopoMachine) machine = new_machine_of (E5_2660);
  SimCopy in = { .core = 0, .from = private_of (0, SMALL), .to = adapter_of (0), .bytes = PIECE };
  const TopoNode *node;
  g_autoptr (SimMemory) memory = NULL;

  if (machine == NULL)
    return;
  node = machine->node;
  memory = sim_memory_new (machine);
  sim_memory_dma (memory, 0, true, PIECE, 0);
  PASSED (node->memory[0], 0);
  PASSED (node->memory[1], 1);
  sim_memory_copy (memory, &in, 0);
  PASSED (bus (node, 0), 1);
  PASSED (bus (node, 8), 1);
  in.core = in.from.core = in.to.core = 8;
  sim_memory_copy (memory, &in, 1000000);
  PASSED (bus (node, 8), 1);
}

/* A bridge below a package that has no memory of its own. */
static void
test_adapter_without_memory (void)
{
  g_autoptr (TopoMachine) machine = new_machine ();
  g_autoptr (SimMemory) memory = NULL;

  machine->node->adapter = bus (machine->node, 4);
  memory = sim_memory_new (machine);
  g_assert_cmpint (sim_memory_dma (memory, 0, true, PIECE, 0), ==, ps (PIECE, 80));
  PASSED (machine->node->memory[0], 1);
}

/* With DDIO arriving bytes are read at the speed of the adapter's cache. */
static void
test_dma_to_cache (void)
{
  g_autoptr (TopoMachine) machine = new_machine_of (E5_2660);
  SimCopy out = { .core = 8, .from = adapter_of (8), .to = private_of (8, SMALL), .bytes = PIECE };
  const TopoNode *node;
  g_autoptr (SimMemory) memory = NULL;

  if (machine == NULL)
    return;
  node = machine->node;
  machine->parameters.memory.dma_to_cache = true;
  memory = sim_memory_new (machine);
  sim_memory_dma (memory, 0, true, PIECE, 0);
  g_assert_cmpint (sim_memory_copy (memory, &out, 1000000) - 1000000, ==, ps (PIECE, CORE_PS));
  PASSED (l2 (node, 8), 2);
  PASSED (node->memory[1], 0);
}

/* A copy that core 0 reads from the memory next to another core, to its own. */
static int64_t
copy_from (SimMemory *memory, uint32_t owner)
{
  return sim_memory_copy (memory,
                          &(SimCopy){ .core = 0,
                                      .from = private_of (owner, LARGE),
                                      .to = private_of (0, LARGE),
                                      .bytes = PIECE },
                          0);
}

static void
test_local_and_remote_memory (void)
{
  g_autoptr (TopoMachine) machine = new_machine_of (X5550);
  const TopoNode *node;
  g_autoptr (SimMemory) memory = NULL;

  if (machine == NULL)
    return;
  node = machine->node;
  free_servers (&machine->parameters);
  memory = sim_memory_new (machine);
  g_assert_cmpint (copy_from (memory, 0), ==, LATENCY_PS + ps (PIECE, 2 * MEMORY_PS));
  PASSED (bus (node, 0), 0);
  g_assert_cmpint (copy_from (memory, 4), ==,
                   LATENCY_PS + MORE_PS + ps (PIECE, MEMORY_PS * FAR + MEMORY_PS));
  PASSED (bus (node, 0), 1);
  PASSED (bus (node, 4), 1);
  PASSED (node->memory[0], 5);
  PASSED (node->memory[1], 1);
  /* Lines from the other package's memory do not pass its cache. */
  PASSED (l2 (node, 4), 0);
  PASSED (l2 (node, 0), 6);
}

/* Cluster on die: the other half of the package is near, the other package is
 * not; neither half needs the interconnect for the other. */
static void
test_clusters_on_die (void)
{
  g_autoptr (TopoMachine) machine = new_machine_of (E5_2680);
  const TopoNode *node;
  SimMemory *memory;

  if (machine == NULL)
    return;
  node = machine->node;
  free_servers (&machine->parameters);
  memory = sim_memory_new (machine);
  g_assert_cmpint (copy_from (memory, 6), ==, copy_from (memory, 0));
  PASSED (bus (node, 0), 0);
  g_assert_cmpint (copy_from (memory, 12), >, copy_from (memory, 6));
  PASSED (bus (node, 0), 1);
  copy_out (memory, 0, 6, SMALL, 0);
  PASSED (bus (node, 0), 1);
  PASSED (l2 (node, 12), 0);
  sim_memory_free (memory);
  /* Both halves of the adapter's package hold buffers. */
  memory = sim_memory_new (machine);
  sim_memory_dma (memory, 0, true, PIECE, 0);
  for (uint32_t number = 0; number < 4; number++)
    g_assert_cmpuint (sim_memory_bytes (memory, 0, node->memory[number]), ==,
                      number < 2 ? PIECE / 2 : 0);
  sim_memory_free (memory);
}

/* One copy instead of two, straight from the sender's buffer. */
static void
test_single_copy (void)
{
  g_autoptr (TopoMachine) machine = new_machine ();
  const TopoNode *node = machine->node;
  SimMemory *memory = sim_memory_new (machine);
  SimCopy copy = {
    .core = 2, .from = private_of (0, SMALL), .to = private_of (2, SMALL), .bytes = PIECE
  };

  g_assert_cmpint (sim_memory_copy (memory, &copy, 0), ==, LATENCY_PS + ps (PIECE, LINE_PS));
  PASSED (bus (node, 0), 1);
  PASSED (node->memory[0], 1);
  machine->parameters.memory.transfer_updates_memory = false;
  sim_memory_free (memory);
  memory = sim_memory_new (machine);
  sim_memory_copy (memory, &copy, 0);
  PASSED (bus (node, 0), 1);
  PASSED (node->memory[0], 0);
  sim_memory_free (memory);
}

/* Into the receiver's buffer in its cache: the line leaves there, and is the
 * writer's. */
static void
test_store_into_another_cache (void)
{
  g_autoptr (TopoMachine) machine = new_machine ();
  const TopoNode *node = machine->node;
  g_autoptr (SimMemory) memory = sim_memory_new (machine);
  SimCopy copy = {
    .core = 0, .from = private_of (0, SMALL), .to = private_of (4, SMALL), .bytes = PIECE
  };

  sim_memory_copy (memory, &copy, 0);
  PASSED (l2 (node, 0), 2);
  PASSED (l2 (node, 4), 1);
  PASSED (bus (node, 0), 1);
  PASSED (bus (node, 4), 1);
  PASSED (node->memory[0], 1);
}

/* Fragments that do not stay in a cache go to memory and back, and need not
 * be driven out for the adapter. */
static void
test_many_fragments (void)
{
  g_autoptr (TopoMachine) machine = new_machine ();
  const TopoNode *node = machine->node;
  g_autoptr (SimMemory) memory = sim_memory_new (machine);
  SimCopy copy = {
    .core = 0, .from = private_of (0, SMALL), .to = shared_of (0, 1), .bytes = PIECE
  };

  copy.to.footprint_bytes = LARGE;
  for (uint32_t kind = SIM_BUFFER_SHARED; kind <= SIM_BUFFER_ADAPTER; kind++) {
    copy.to.kind = (uint8_t) kind;
    sim_memory_copy (memory, &copy, 0);
  }
  PASSED (bus (node, 0), 4);
  PASSED (node->memory[0], 4);
}

/* Of Harpertown: 6 MB of L2 for two cores, of which a buffer of each may take a quarter. */
static void
test_pass_of_all_cores (void)
{
  g_autoptr (TopoMachine) machine = new_machine ();
  const uint64_t fits_bytes = 6 << 20 >> 2;
  int64_t fits = (int64_t) fits_bytes;

  /* 5 GB/s of a copy, three accesses in place of two; then two lines fetched at 4 GB/s. */
  g_assert_cmpint (sim_memory_pass_ps (machine, 1000, 1), ==, 200000);
  g_assert_cmpint (sim_memory_pass_ps (machine, 1000, 2), ==, 300000);
  g_assert_cmpint (sim_memory_pass_ps (machine, fits_bytes, 2), ==, 300 * fits);
  g_assert_cmpint (sim_memory_pass_ps (machine, fits_bytes + 1, 1), ==, 500 * (fits + 1));
  g_assert_cmpint (sim_memory_pass_ps (machine, fits_bytes + 1, 2), ==, 500 * (fits + 1));
  g_assert_cmpint (sim_memory_pass_ps (machine, 0, 1), ==, 0);
  g_assert_cmpint (sim_memory_pass_ps (machine, UINT64_MAX, 1), ==, INT64_C (1) << 60);
}

/* A torus. */
static void
test_pass_without_a_node (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:32", &error);

  g_assert_no_error (error);
  g_assert_cmpint (sim_memory_pass_ps (machine, 1000, 2), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/memory/single-copies", test_single_copies);
  g_test_add_func ("/sim/memory/limits", test_limits_of_servers);
  g_test_add_func ("/sim/memory/bytes", test_bytes_by_hand);
  g_test_add_func ("/sim/memory/lines", test_lines);
  g_test_add_func ("/sim/memory/shared-bus", test_copies_share_a_bus);
  g_test_add_func ("/sim/memory/stream", test_stream);
  g_test_add_func ("/sim/memory/shared-memory", test_packages_share_memory);
  g_test_add_func ("/sim/memory/caches-apart", test_dies_do_not_share_caches);
  g_test_add_func ("/sim/memory/nodes-apart", test_nodes_are_apart);
  g_test_add_func ("/sim/memory/footprints", test_footprints);
  g_test_add_func ("/sim/memory/adapter-bus", test_adapter_of_a_bus_node);
  g_test_add_func ("/sim/memory/adapter-package", test_adapter_of_a_package);
  g_test_add_func ("/sim/memory/adapter-alone", test_adapter_without_memory);
  g_test_add_func ("/sim/memory/other-cache", test_store_into_another_cache);
  g_test_add_func ("/sim/memory/many-fragments", test_many_fragments);
  g_test_add_func ("/sim/memory/dma-to-cache", test_dma_to_cache);
  g_test_add_func ("/sim/memory/numa", test_local_and_remote_memory);
  g_test_add_func ("/sim/memory/cluster-on-die", test_clusters_on_die);
  g_test_add_func ("/sim/memory/single-copy", test_single_copy);
  g_test_add_func ("/sim/memory/pass", test_pass_of_all_cores);
  g_test_add_func ("/sim/memory/pass-without-a-node", test_pass_without_a_node);
  return g_test_run ();
}
