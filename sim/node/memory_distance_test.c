/* memory_distance_test.c - hand-overs by distance and home, core groups, threads, two memories.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/node/memory.h"

#include ".ci/test_data.h"

#include <math.h>
#include <string.h>

#define PIECE 4096u
#define SMALL (16u * 1024)        /* at home in an L2 */
#define LARGE (64u * 1024 * 1024) /* in memory */
#define NS    1000

static TopoMachine *
new_machine (const char *options)
{
  g_autofree char *spec = g_strconcat ("fattree:2x1:1,node=", options, NULL);
  g_autoptr (GError) error = NULL;
  TopoMachine *machine = topo_machine_new (spec, &error);

  g_assert_no_error (error);
  return machine;
}

/* --- Measured hand-overs --- */

typedef enum {
  SAME_GROUP,
  HOME_DOMAIN,
  SAME_DOMAIN,
  SAME_PACKAGE,
  FAR_HOME,
  OTHER_PACKAGE,
  CLASSES
} Class;

static const char *const class_names[] = { "group",   "domain of the home",    "domain",
                                           "package", "package far from home", "other package" };

/* A machine that was measured, and the node that stands for it: its cores, by package and group,
 * are the first ones of each package of the node. */
typedef struct {
  const char *file, *node;
  uint32_t n_cores, per_package, per_group, per_domain;
  uint32_t home;         /* a core beside the line, as measured cores are numbered */
  double error[CLASSES]; /* of medians, at most; 0: the machine has no such pairs */
  double mean_error;     /* of all pairs, at most */
} Measured;

/* A package of the presets has at least as many cores as one that was measured. */
static uint32_t
core_of (const Measured *it, const TopoNode *node, uint32_t core)
{
  return core / it->per_package * (node->n_cores / 2) + core % it->per_package;
}

static Class
class_of (const Measured *it, uint32_t a, uint32_t b)
{
  if (a / it->per_group == b / it->per_group)
    return SAME_GROUP;
  if (a / it->per_package != b / it->per_package)
    return OTHER_PACKAGE;
  if (a / it->per_package != it->home / it->per_package)
    return FAR_HOME;
  if (a / it->per_domain != b / it->per_domain)
    return SAME_PACKAGE;
  return a / it->per_domain == it->home / it->per_domain ? HOME_DOMAIN : SAME_DOMAIN;
}

static int
compare (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static double
median (GArray *values)
{
  g_array_sort (values, compare);
  return g_array_index (values, double, values->len / 2);
}

/* The model's hand-over beside the measured one, for every pair of cores. */
static void
compare_all (const Measured *it, const char *text)
{
  g_autoptr (TopoMachine) machine = new_machine (it->node);
  g_autoptr (SimMemory) memory = sim_memory_new (machine);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  GArray *measured[CLASSES], *predicted[CLASSES];
  double sum = 0;
  uint32_t n = 0;

  for (Class class = SAME_GROUP; class < CLASSES; class ++) {
    measured[class] = g_array_new (FALSE, FALSE, sizeof (double));
    predicted[class] = g_array_new (FALSE, FALSE, sizeof (double));
  }
  for (uint32_t row = 0; row < it->n_cores; row++) {
    g_auto (GStrv) cells = g_strsplit (lines[row], ",", -1);

    for (uint32_t column = 0; column < row; column++) {
      double ns = g_ascii_strtod (cells[column], NULL);
      double model_ns = (double) sim_memory_handover_ps (memory, core_of (it, machine->node, row),
                                                         core_of (it, machine->node, column),
                                                         core_of (it, machine->node, it->home)) /
                        NS;
      Class class = class_of (it, row, column);

      g_assert_cmpfloat (ns, >, 0);
      g_array_append_val (measured[class], ns);
      g_array_append_val (predicted[class], model_ns);
      sum += fabs (model_ns / ns - 1);
      n++;
    }
  }
  for (Class class = SAME_GROUP; class < CLASSES; class ++) {
    if (measured[class]->len > 0) {
      double is = median (measured[class]), model = median (predicted[class]);

      g_test_message ("%s, %s: %u pairs, %g ns measured, %g model", it->node, class_names[class],
                      measured[class]->len, is, model);
      g_assert_cmpfloat (fabs (model / is - 1), <=, it->error[class]);
    } else {
      g_assert_cmpfloat (it->error[class], ==, 0);
    }
    g_array_unref (measured[class]);
    g_array_unref (predicted[class]);
  }
  g_test_message ("%s: mean error of %u pairs %.1f %%", it->node, n, 100 * sum / n);
  g_assert_cmpfloat (sum / n, <=, it->mean_error);
}

/* Matrices of github.com/nviennot/core-to-core-latency.  The table of processors has four of their
 * medians; here all pairs are compared, and those in the package that is far from the line are
 * predicted.  Rome's line is taken to be in its last quadrant, whose pairs are the fastest. */
static void
test_core_to_core (void)
{
  static const Measured cases[] = {
    { "dual_epyc7742_rome.csv",
      "rome",
      128,
      64,
      4,
      16,
      127,
      { 0.03, 0.12, 0.16, 0.03, 0.03, 0.03 },
      0.06 },
    { "dual_epyc7r13_milan.csv",
      "milan",
      96,
      48,
      8,
      48,
      0,
      { 0.03, 0.03, 0, 0, 0.03, 0.03 },
      0.05 },
    { "dual_xeon8375c_icelake.csv",
      "icelake",
      64,
      32,
      32,
      32,
      0,
      { 0.03, 0, 0, 0, 0, 0.03 },
      0.05 },
    { "dual_xeon8275cl_cascadelake.csv",
      "cascadelake",
      48,
      24,
      24,
      24,
      0,
      { 0.03, 0, 0, 0, 0, 0.03 },
      0.05 },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autofree char *name =
        g_build_filename ("measured", "modern", "core2core", cases[at].file, NULL);
    g_autofree char *path = test_data (name), *text = NULL;

    if (path == NULL)
      return;
    g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
    compare_all (&cases[at], text);
  }
}

/* On a Harpertown: nothing below a common L2, 100 ns in the package, 130 across; one memory. */
static void
test_old_hand_overs (void)
{
  g_autoptr (TopoMachine) machine = new_machine ("harpertown");
  g_autoptr (SimMemory) memory = sim_memory_new (machine);

  for (uint32_t home = 0; home < 8; home++) {
    g_assert_cmpint (sim_memory_handover_ps (memory, 0, 0, home), ==, 0);
    g_assert_cmpint (sim_memory_handover_ps (memory, 0, 1, home), ==, 0);
    g_assert_cmpint (sim_memory_handover_ps (memory, 0, 2, home), ==, 100 * NS);
    g_assert_cmpint (sim_memory_handover_ps (memory, 2, 5, home), ==, 130 * NS);
  }
}

/* --- Copies --- */

static SimBuffer
private_of (uint32_t core, uint64_t footprint_bytes)
{
  return (SimBuffer){ SIM_BUFFER_PRIVATE, core, core, footprint_bytes };
}

/* A piece of a fragment that `writer` has filled, at its reader, now = 0; into its own L2. */
static int64_t
copy_out_ps (const TopoMachine *machine, uint32_t writer, uint32_t reader)
{
  g_autoptr (SimMemory) memory = sim_memory_new (machine);

  return sim_memory_copy (
      memory,
      &(SimCopy){ .core = reader,
                  .from = (SimBuffer){ SIM_BUFFER_SHARED, writer, reader, 3 * 32 * 1024 },
                  .to = private_of (reader, SMALL),
                  .bytes = PIECE },
      0);
}

/* Every class of a Rome's pairs, with round figures: 10 GB/s, so 409.6 ns for the piece, and from a
 * cache that is not above the reader 4 GB/s of lines, 1024 ns; 1.2 and 3 times as long farther on. */
static void
test_copies_by_distance (void)
{
  static const struct {
    uint32_t reader;
    int64_t ps;
  } cases[] = {
    { 0, 409600 },                        /* its own */
    { 3, 409600 + 30 * NS },              /* the same CCX */
    { 4, 1024000 + 100 * NS },            /* the same domain */
    { 16, 1024000 * 12 / 10 + 120 * NS }, /* another one */
    { 127, 1024000 * 3 + 300 * NS },      /* the other package */
  };
  g_autoptr (TopoMachine) machine = new_machine ("rome");
  TopoParameters *parameters = &machine->parameters;

  parameters->memory.core_bandwidth_Bps = 10000000000;
  parameters->memory.core_transfer_bandwidth_Bps = 4000000000;
  parameters->memory.cache_bandwidth_Bps = parameters->memory.bus_bandwidth_Bps =
      parameters->memory.dram_bandwidth_Bps = UINT64_C (100000000000000);
  parameters->memory.group_bandwidth_Bps = 0;
  parameters->memory.cache_latency_ps = 30 * NS;
  parameters->memory.transfer_latency_ps = 100 * NS;
  parameters->memory.domain_latency_ps = 20 * NS;
  parameters->memory.package_latency_ps = 200 * NS;
  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++)
    g_assert_cmpint (copy_out_ps (machine, 0, cases[at].reader), ==, cases[at].ps);
}

/* Each core of cores[] copies n pieces from memory to memory, in turns; bytes per second that all
 * of them move: read, fetched to be written, and written back. */
static double
moved_Bps (SimMemory *memory, const uint32_t *cores, uint32_t n_cores, uint32_t n_pieces)
{
  g_autofree int64_t *next_ps = g_new0 (int64_t, n_cores);
  int64_t last_ps = 0;

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
  return 3. * n_cores * n_pieces * PIECE * 1e12 / (double) last_ps;
}

/* Cores so fast that only servers count. */
static void
free_cores (TopoParameters *parameters)
{
  parameters->memory.core_bandwidth_Bps = parameters->memory.core_memory_bandwidth_Bps =
      parameters->memory.core_transfer_bandwidth_Bps = UINT64_C (100000000000000);
  parameters->memory.cache_latency_ps = parameters->memory.transfer_latency_ps =
      parameters->memory.domain_latency_ps = parameters->memory.package_latency_ps = 0;
}

/* Rome: a CCX moves what its link carries, two CCX of a domain twice as much, all four what the
 * memory of the domain does (43.75 GB/s of 4 x 22); other domains and the other package add theirs. */
static void
test_bandwidth_of_groups (void)
{
  static const struct {
    uint32_t n_cores, stride;
    double Bps;
  } cases[] = {
    { 4, 1, 22e9 },     /* a CCX */
    { 1, 1, 22e9 },     /* one core of it, which is not the limit here */
    { 2, 4, 43.75e9 },  /* two CCX of a domain: 44, but its memory carries 43.75 */
    { 16, 1, 43.75e9 }, /* a domain */
    { 2, 16, 44e9 },    /* two CCX of two domains */
    { 64, 1, 175e9 },   /* a package */
    { 128, 1, 350e9 },  /* both */
  };
  g_autoptr (TopoMachine) machine = new_machine ("rome");

  free_cores (&machine->parameters);
  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (SimMemory) memory = sim_memory_new (machine);
    uint32_t cores[128];

    for (uint32_t core = 0; core < cases[at].n_cores; core++)
      cores[core] = core * cases[at].stride;
    g_assert_cmpfloat_with_epsilon (
        moved_Bps (memory, cores, cases[at].n_cores, 64) / cases[at].Bps, 1, 0.02);
  }
  /* Without a limit of its own a CCX moves what its cache carries. */
  machine->parameters.memory.group_bandwidth_Bps = 0;
  g_autoptr (SimMemory) memory = sim_memory_new (machine);

  g_assert_cmpfloat_with_epsilon (moved_Bps (memory, (const uint32_t[]){ 0 }, 1, 64) / 43.75e9, 1,
                                  0.02);
}

/* Between two CCX the bytes leave one link and enter the other, and no memory is written on the way
 * (AMD); memories count nothing but what is at home in them. */
static void
test_bytes_between_groups (void)
{
  g_autoptr (TopoMachine) machine = new_machine ("rome");
  const TopoNode *node = machine->node;
  g_autoptr (SimMemory) memory = sim_memory_new (machine);
  uint64_t all = 0;

  sim_memory_copy (memory,
                   &(SimCopy){ .core = 4,
                               .from = (SimBuffer){ SIM_BUFFER_SHARED, 0, 4, 3 * 32 * 1024 },
                               .to = private_of (4, SMALL),
                               .bytes = PIECE },
                   0);
  for (uint32_t object = 0; object < node->n_objects; object++)
    all += sim_memory_bytes (memory, 0, object);
  g_assert_cmpuint (sim_memory_bytes (memory, 0, topo_node_above (node, 0, TOPO_OBJECT_CACHE)), ==,
                    PIECE);
  g_assert_cmpuint (sim_memory_bytes (memory, 0, topo_node_above (node, 4, TOPO_OBJECT_CACHE)), ==,
                    PIECE);
  g_assert_cmpuint (all, ==, 2 * PIECE);
}

/* One CCX feeds two others: its link carries what both fetch, theirs half of it each.  The other way
 * round one CCX fetches from two. */
static void
test_links_both_ways (void)
{
  static const uint32_t pairs[2][2][2] = { { { 0, 4 }, { 0, 8 } }, { { 4, 0 }, { 8, 1 } } };
  const uint32_t n_pieces = 64;
  g_autoptr (TopoMachine) machine = new_machine ("rome");

  free_cores (&machine->parameters);
  machine->parameters.memory.cache_bandwidth_Bps = UINT64_C (100000000000000);
  for (guint way = 0; way < 2; way++) {
    g_autoptr (SimMemory) memory = sim_memory_new (machine);
    int64_t next_ps[2] = { 0 };

    for (uint32_t piece = 0; piece < 2 * n_pieces; piece++) {
      const uint32_t *pair = pairs[way][piece % 2];

      next_ps[piece % 2] = sim_memory_copy (
          memory,
          &(SimCopy){ .core = pair[1],
                      .from = (SimBuffer){ SIM_BUFFER_SHARED, pair[0], pair[1], 3 * 32 * 1024 },
                      .to = private_of (pair[1], SMALL),
                      .bytes = PIECE },
          next_ps[piece % 2]);
    }
    g_assert_cmpfloat_with_epsilon (2. * n_pieces * PIECE * 1e12 / (double) next_ps[1] / 22e9, 1,
                                    0.02);
  }
}

/* --- Threads --- */

/* Two threads of a core copy in their own L2, each at half the rate; threads of two cores at the
 * full one.  A line that one writes is the other's after 8 ns. */
static void
test_threads_share_a_core (void)
{
  static const uint32_t same[] = { 0, 1 }, different[] = { 0, 2 };
  g_autofree char *path = test_data ("nodes/hwloc2-Intel-Skylake-2xXeon6140.xml");
  g_autofree char *options = g_strconcat (path, ",threads=2", NULL);
  g_autoptr (TopoMachine) machine = NULL;
  double Bps[3];

  if (path == NULL)
    return;
  machine = new_machine (options);
  machine->parameters.memory.cache_bandwidth_Bps = UINT64_C (100000000000000);
  machine->parameters.memory.dram_bandwidth_Bps = UINT64_C (100000000000000);
  for (guint at = 0; at < 3; at++) {
    g_autoptr (SimMemory) memory = sim_memory_new (machine);

    Bps[at] = moved_Bps (memory, at == 2 ? different : same, at == 0 ? 1 : 2, 256);
  }
  g_assert_cmpfloat (Bps[1] / Bps[0], >, 1); /* one waits for lines while the other copies */
  g_assert_cmpfloat_with_epsilon (Bps[2] / Bps[0], 2, 0.01);
  machine->parameters.memory.transfer_latency_ps = 0;
  for (guint at = 0; at < 2; at++) {
    g_autoptr (SimMemory) memory = sim_memory_new (machine);

    Bps[at] = moved_Bps (memory, same, at + 1, 256);
  }
  g_assert_cmpfloat_with_epsilon (Bps[1] / Bps[0], 1, 0.01);

  g_autoptr (SimMemory) memory = sim_memory_new (machine);

  g_assert_cmpint (sim_memory_handover_ps (memory, 0, 1, 0), ==, 8 * NS);
  g_assert_cmpint (sim_memory_handover_ps (memory, 1, 2, 0), ==, 47 * NS);
  /* A core's L2 is no server of its two threads. */
  g_assert_cmpuint (
      sim_memory_bytes (memory, 0, machine->node->objects[machine->node->core[0]].parent), ==, 0);
}

/* --- Two memories beside the same cores --- */

/* Buffers are in ordinary memory until high-bandwidth memory is asked for. */
static void
test_high_bandwidth_memory (void)
{
  static const uint32_t cores[] = { 0, 1 };
  g_autoptr (TopoMachine) machine = new_machine ("sapphirerapids");
  TopoNode *node = machine->node;

  /* The memory of the second package becomes one beside all cores. */
  node->objects[node->memory[1]].is_hbm = true;
  node->objects[node->memory[1]].first_core = 0;
  node->objects[node->memory[1]].n_cores = node->n_cores;
  node->objects[node->memory[1]].parent = 0;
  machine->parameters.memory.bus_bandwidth_Bps = UINT64_C (100000000000000);
  free_cores (&machine->parameters);
  machine->parameters.memory.cache_bandwidth_Bps = UINT64_C (100000000000000);
  machine->parameters.memory.dma_to_cache = false;
  machine->parameters.memory.dram_bandwidth_Bps = 240000000000;
  machine->parameters.memory.hbm_bandwidth_Bps = 800000000000;
  for (guint at = 0; at < 2; at++) {
    g_autoptr (SimMemory) memory = NULL;

    machine->parameters.memory.uses_hbm = at == 1;
    memory = sim_memory_new (machine);
    g_assert_cmpfloat_with_epsilon (moved_Bps (memory, cores, 2, 256) / (at == 1 ? 800e9 : 240e9),
                                    1, 0.02);
    g_assert_cmpuint (sim_memory_bytes (memory, 0, node->memory[at]), ==, 2 * 256 * 3 * PIECE);
    /* The adapter finds the buffers where they are. */
    sim_memory_dma (memory, 0, true, PIECE, 0);
    g_assert_cmpuint (sim_memory_bytes (memory, 0, node->memory[at]), ==,
                      (2 * 256 * 3 + 1) * PIECE);
    g_assert_cmpuint (sim_memory_bytes (memory, 0, node->memory[!at]), ==, 0);
  }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/memory/core-to-core", test_core_to_core);
  g_test_add_func ("/sim/memory/old-hand-overs", test_old_hand_overs);
  g_test_add_func ("/sim/memory/copies-by-distance", test_copies_by_distance);
  g_test_add_func ("/sim/memory/bandwidth-of-groups", test_bandwidth_of_groups);
  g_test_add_func ("/sim/memory/bytes-between-groups", test_bytes_between_groups);
  g_test_add_func ("/sim/memory/links-both-ways", test_links_both_ways);
  g_test_add_func ("/sim/memory/threads", test_threads_share_a_core);
  g_test_add_func ("/sim/memory/high-bandwidth-memory", test_high_bandwidth_memory);
  return g_test_run ();
}
