/* modern_test.c - the table of benchmarks, their programs on a machine of round numbers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/modern/modern.h"
#include "validation/replayed_program.h"

#include <math.h>
#include <string.h>

static const char measured_csv[] =
#include "validation/modern/modern_measured.inc"
    ;
static const char nodes_csv[] =
#include "validation/modern/modern_leonardo_nodes.inc"
    ;

#define HEADING "set,test,variant,ranks_per_node,ranks,bytes,value,unit\n"

/* --- The table --- */

static const ModernPoint *
only_point (GPtrArray *points)
{
  g_assert_nonnull (points);
  g_assert_cmpuint (points->len, ==, 1);
  return g_ptr_array_index (points, 0);
}

static void
test_lines_are_read (void)
{
  g_autoptr (GPtrArray) points = modern_points_parse (
      "# note\n" HEADING "csd3,osu_mbw_mr,,56,112,64,2.1e+07,1/s\n", "x.csv", NULL);
  g_autoptr (GPtrArray) blocks = modern_points_parse (
      HEADING "leonardo,pico_alltoall,linear,4,1024,16384,917,us\n", "x.csv", NULL);
  const ModernPoint *point = only_point (points);

  g_assert_cmpstr (point->set->name, ==, "csd3");
  g_assert_cmpuint (point->ranks_per_node, ==, 56);
  g_assert_cmpuint (point->run.n_ranks, ==, 112);
  g_assert_cmpuint (point->run.bytes, ==, 64);
  g_assert_cmpfloat (point->measured, ==, 2.1e7);
  g_assert_cmpint (point->run.unit, ==, STUDY_BENCHMARK_PER_S);
  g_assert_cmpint (study_benchmark_quantity (&point->run), ==, STUDY_BENCHMARK_MESSAGE_RATE);
  /* 4,096 numbers for 1,024 ranks. */
  point = only_point (blocks);
  g_assert_cmpuint (point->run.bytes, ==, 16);
  g_assert_cmpuint (point->table_bytes, ==, 16384);
  g_assert_cmpstr (point->variant, ==, "linear");
}

static void
test_wrong_lines_are_refused (void)
{
  static const char *const wrong[] = {
    "set,test\n",
    HEADING "csd3,osu_mbw_mr,,56,112,64,2.1e+07\n",
    HEADING "csd4,osu_mbw_mr,,56,112,64,2.1e+07,1/s\n",
    HEADING "csd3,osu_put,,56,112,64,2.1e+07,1/s\n",
    HEADING "csd3,osu_mbw_mr,,56,1,64,2.1e+07,1/s\n",
    HEADING "csd3,osu_mbw_mr,,56,112,64,0,1/s\n",
    HEADING "csd3,osu_mbw_mr,,56,112,64,1,GB/s\n",
    HEADING "csd3,osu_mbw_mr,,0,112,64,1,1/s\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GError) error = NULL;

    g_assert_null (modern_points_parse (wrong[i], "x.csv", &error));
    g_assert_error (error, VALIDATION_ERROR, VALIDATION_ERROR_DATA);
    g_assert_nonnull (strstr (error->message, "x.csv:"));
  }
}

/* Every point is of a figure, and every figure has points that are simulated by default. */
static void
test_points_are_of_figures (void)
{
  g_autoptr (GPtrArray) points = modern_points_parse (measured_csv, "measured.csv", NULL);
  g_autoptr (GPtrArray) figures =
      validation_published_parse (validation_modern.figures, validation_modern.path, NULL);
  g_autoptr (GHashTable) n_usual = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  g_assert_nonnull (points);
  g_assert_nonnull (figures);
  for (guint i = 0; i < points->len; i++) {
    const ModernPoint *point = g_ptr_array_index (points, i);
    g_autofree char *name = modern_point_figure (point);
    guint n = GPOINTER_TO_UINT (g_hash_table_lookup (n_usual, name));

    g_hash_table_insert (n_usual, g_steal_pointer (&name),
                         GUINT_TO_POINTER (n + modern_point_is_usual (point)));
  }
  g_assert_cmpuint (figures->len, ==, g_hash_table_size (n_usual));
  for (guint i = 0; i < figures->len; i++) {
    const ValidationPublished *published = g_ptr_array_index (figures, i);

    g_assert_cmpuint (GPOINTER_TO_UINT (g_hash_table_lookup (n_usual, published->name)), >=, 3);
    g_assert_cmpstr (published->role, ==, "limit");
  }
}

static void
test_few_points_are_usual (void)
{
  static const struct {
    const char *line;
    bool is_usual;
  } known[] = {
    { "csd3,osu_latency,,1,2,64,1,us\n", true },
    { "csd3,osu_latency,,1,2,128,1,us\n", false },
    { "csd3,osu_mbw_mr,,28,56,64,1,1/s\n", true },
    { "orfeo,osu_bcast,binary_tree,128,255,2,1,us\n", true },
    { "orfeo,osu_bcast,binary_tree,128,192,2,1,us\n", true },
    { "orfeo,osu_bcast,binary_tree,128,200,2,1,us\n", false },
    { "leonardo,pico_bcast,,1,254,2048,1,us\n", true },
  };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++) {
    g_autofree char *text = g_strconcat (HEADING, known[i].line, NULL);
    g_autoptr (GPtrArray) points = modern_points_parse (text, "x.csv", NULL);

    g_assert_true (modern_point_is_usual (only_point (points)) == known[i].is_usual);
  }
}

static void
test_nodes_of_leonardo (void)
{
  g_autofree uint32_t *few = modern_nodes_parse ("nodes,numbers\n2,7 9\n3,1 2 3\n", 2);
  g_autofree uint32_t *many = modern_nodes_parse (nodes_csv, 2048);

  g_assert_cmpuint (few[0], ==, 7);
  g_assert_cmpuint (few[1], ==, 9);
  g_assert_null (modern_nodes_parse ("nodes,numbers\n2,7 9\n", 4));
  g_assert_null (modern_nodes_parse ("nodes,numbers\n2,7\n", 2));
  g_assert_nonnull (many);
  for (uint32_t at = 0; at < 2048; at++) {
    g_assert_cmpuint (many[at], >=, 1);
    g_assert_cmpuint (many[at], <=, 4992);
  }
}

/* --- Programs --- */

/* A send takes its processor 10 us, nothing else takes long: with 8 bytes all times are sends. */
static const char *const slow_sends[] = { "mpi.send_overhead=10 us", "mpi.receive_overhead=0 ns",
                                          "mpi.call_overhead=0 ns", NULL };

static double
simulated (const char *line)
{
  g_autofree char *text = g_strconcat (HEADING, line, NULL);
  g_autoptr (GPtrArray) points = modern_points_parse (text, "x.csv", NULL);
  const ModernPoint *point = only_point (points);
  GError *error = NULL;
  TopoMachine *machine = validation_machine_new ("torus:8", slow_sends, &error);
  g_autoptr (ModernSite) site = NULL;
  double value;

  g_assert_no_error (error);
  site = modern_site_new (point->set, machine, NULL, &error);
  g_assert_no_error (error);
  value = modern_point_simulate (site, point, &error);
  g_assert_no_error (error);
  g_test_message ("%s: %g", line, value);
  return value;
}

/* What else there is takes less than 2 us in each of these programs. */
static void
assert_us (double us, double expected_us)
{
  g_assert_cmpfloat (us, >=, expected_us);
  g_assert_cmpfloat (us, <, expected_us + 2);
}

static void
test_times_of_pairs (void)
{
  /* Half of two sends. */
  assert_us (simulated ("csd3,osu_latency,,1,2,8,1,us\n"), 10);
  assert_us (simulated ("csd3,osu_multi_lat,,1,8,8,1,us\n"), 10);
  /* 64 sends and an answer: 650 us. */
  assert_us (64 / simulated ("csd3,osu_bw,,1,2,8,1,MB/s\n") * 8, 650);
  assert_us (64 / simulated ("csd3,imb_uniband,,1,2,8,1,1/s\n") * 1e6, 650);
  /* Four pairs at once. */
  assert_us (4 * 64 / simulated ("csd3,osu_mbw_mr,,1,8,8,1,1/s\n") * 1e6, 650);
  /* Both ends send: 640 us for 128 messages, without and with an answer. */
  assert_us (128 / simulated ("csd3,osu_bibw,,1,2,8,1,MB/s\n") * 8, 640);
  assert_us (128 / simulated ("csd3,imb_biband,,1,2,8,1,1/s\n") * 1e6, 650);
}

static void
test_times_of_collectives (void)
{
  /* The root sends three times, the others have it after one, two and three: the mean of 30, 10, 20
   * and 30, and the slowest. */
  assert_us (simulated ("csd3,osu_bcast,basic_linear,1,4,8,1,us\n"), 22.5);
  assert_us (simulated ("csd3,pico_bcast,basic_linear,1,4,8,1,us\n"), 30);
  /* Three steps. */
  assert_us (simulated ("csd3,pico_allgather,ring,1,4,32,1,us\n"), 30);
  /* Two. */
  assert_us (simulated ("csd3,pico_allreduce,recursive_doubling,1,4,8,1,us\n"), 20);
}

static void
cores_of (const ModernSite *site, const char *line, uint8_t core[64])
{
  g_autofree char *text = g_strconcat (HEADING, line, NULL);
  g_autoptr (GPtrArray) points = modern_points_parse (text, "x.csv", NULL);

  modern_point_cores (site, only_point (points), core);
}

/* Two packages of 28 cores: where each has a rank packages take turns, else as many ranks of each are drawn. */
static void
test_cores (void)
{
  TopoMachine *machine = validation_machine_new ("hdr100:2,node=cascadelake", NULL, NULL);
  const ModernSet *set = modern_sets;
  g_autoptr (ModernSite) site = NULL;
  uint8_t full[64], part[64], again[64], other[64];
  uint32_t n_first = 0;
  bool seen[56] = { false };

  while (strcmp (set->name, "csd3") != 0)
    set++;
  site = modern_site_new (set, machine, NULL, NULL);
  cores_of (site, "csd3,imb_biband,,56,112,64,1,1/s\n", full);
  for (uint32_t at = 0; at < 56; at++)
    g_assert_cmpuint (full[at], ==, at % 2 * 28 + at / 2);

  cores_of (site, "csd3,osu_allreduce,,32,64,64,1,us\n", part);
  for (uint32_t at = 0; at < 32; at++) {
    g_assert_cmpuint (part[at], <, 56);
    g_assert_false (seen[part[at]]);
    seen[part[at]] = true;
    n_first += part[at] < 28;
  }
  g_assert_cmpuint (n_first, ==, 16);
  cores_of (site, "csd3,osu_allreduce,,32,64,64,1,us\n", again);
  cores_of (site, "csd3,osu_allreduce,,32,64,256,1,us\n", other);
  g_assert_true (memcmp (part, again, 32) == 0);
  g_assert_false (memcmp (part, other, 32) == 0);
  g_assert_false (memcmp (part, full, 32) == 0);
}

/* Packets of a program, and none of an algorithm that is not known. */
static void
test_packets (void)
{
  static const struct {
    const char *line;
    double packets;
  } known[] = {
    /* Two packets and a message each: three windows of 64. */
    { "csd3,osu_bw,,1,2,8192,1,MB/s\n", 3 * 64 * 3 },
    { "csd3,osu_bibw,,1,2,8192,1,MB/s\n", 3 * 64 * 3 * 2 },
    /* Three calls, each 4 x 3 messages of one packet. */
    { "csd3,pico_alltoall,linear,1,4,64,1,us\n", 3 * 12 * 2 },
    { "csd3,pico_alltoall,by_magic,1,4,64,1,us\n", (double) INFINITY },
  };
  TopoMachine *machine = validation_machine_new ("torus:8", NULL, NULL);
  g_autoptr (ModernSite) site = modern_site_new (&modern_sets[0], machine, NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (known); i++) {
    g_autofree char *text = g_strconcat (HEADING, known[i].line, NULL);
    g_autoptr (GPtrArray) points = modern_points_parse (text, "x.csv", NULL);

    g_assert_cmpfloat (modern_point_packets (site, only_point (points)), ==, known[i].packets);
  }
}

/* Every set's machine is made and runs. */
static void
test_a_figure_of_each_set (void)
{
  const ValidationWatch watch = { .report = NULL };
  gpointer state = validation_modern.open (&watch);
  g_autoptr (GPtrArray) figures =
      validation_published_parse (validation_modern.figures, validation_modern.path, NULL);
  const ValidationPublished nothing = { .name = (char *) "csd3_scatter" };
  g_autoptr (GError) refused = NULL;
  double value;

  g_assert_nonnull (validation_modern.cause ("impi_latency"));
  g_assert_null (validation_modern.cause ("csd3_latency"));
  g_assert_false (validation_modern.measure (state, &nothing, &value, &refused));
  g_assert_error (refused, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT);
  for (guint i = 0; i < figures->len; i++) {
    const ValidationPublished *published = g_ptr_array_index (figures, i);
    GError *error = NULL;

    if (!g_str_has_suffix (published->name, "_latency"))
      continue;
    g_assert_true (validation_modern.measure (state, published, &value, &error));
    g_assert_no_error (error);
    g_assert_true (isfinite (value) && value >= 0);
  }
  validation_modern.close (state);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/validation/modern/lines-are-read", test_lines_are_read);
  g_test_add_func ("/validation/modern/wrong-lines-are-refused", test_wrong_lines_are_refused);
  g_test_add_func ("/validation/modern/points-are-of-figures", test_points_are_of_figures);
  g_test_add_func ("/validation/modern/few-points-are-usual", test_few_points_are_usual);
  g_test_add_func ("/validation/modern/nodes-of-leonardo", test_nodes_of_leonardo);
  g_test_add_func ("/validation/modern/times-of-pairs", test_times_of_pairs);
  g_test_add_func ("/validation/modern/times-of-collectives", test_times_of_collectives);
  g_test_add_func ("/validation/modern/cores", test_cores);
  g_test_add_func ("/validation/modern/packets", test_packets);
  g_test_add_func ("/validation/modern/a-figure-of-each-set", test_a_figure_of_each_set);
  return g_test_run ();
}
