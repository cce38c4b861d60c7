/* benchmark_output_test.c - tables of OSU, IMB and hopcast-pingpong, whole and broken, and their places.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/calibrate/benchmark_output.h"

#include "study/study_error.h"

#include <glib/gstdio.h>
#include <string.h>

#define OSU_HEADINGS "# Size          Latency (us)\n"
#define IMB_LINE     "#---------------------------------------------------\n"
#define CSV_HEADINGS "operation,where,class,pairs,outside,ranks,bytes,time_us\n"

/* The tables of a text; NULL and *error when it is broken. */
static GPtrArray *
tables_of (const char *text, GError **error)
{
  g_autofree char *path = NULL;
  g_autoptr (GPtrArray) tables = g_ptr_array_new_with_free_func (study_measured_free);
  int descriptor = g_file_open_tmp ("hopcast-XXXXXX", &path, NULL);
  gboolean done;

  g_assert_true (g_close (descriptor, NULL) && g_file_set_contents (path, text, -1, NULL));
  done = study_measured_read (tables, path, error);
  g_remove (path);
  return done ? g_steal_pointer (&tables) : NULL;
}

static GPtrArray *
good_tables (const char *text)
{
  GError *error = NULL;
  GPtrArray *tables = tables_of (text, &error);

  g_assert_no_error (error);
  return tables;
}

static const StudyMeasured *
table_at (const GPtrArray *tables, guint at)
{
  g_assert_cmpuint (at, <, tables->len);
  return g_ptr_array_index (tables, at);
}

static void
assert_point (const StudyMeasured *table, guint at, uint64_t bytes, double measured,
              StudyBenchmarkUnit unit)
{
  const StudyMeasuredPoint *point = &g_array_index (table->points, StudyMeasuredPoint, at);

  g_assert_cmpuint (at, <, table->points->len);
  g_assert_cmpuint (point->run.bytes, ==, bytes);
  g_assert_cmpfloat_with_epsilon (point->measured, measured, 1e-9);
  g_assert_cmpint (point->run.unit, ==, unit);
  g_assert_cmpuint (point->run.n_ranks, ==, table->n_ranks);
  g_assert_true (point->run.benchmark == table->benchmark);
}

/* --- OSU --- */

static void
test_latency (void)
{
  g_autoptr (GPtrArray) tables =
      good_tables ("srun: job 17 started\n"
                   "# OSU MPI Latency Test v5.6.2\n" OSU_HEADINGS "0                       1.01\n"
                   "1                       1.02\n\n"
                   "srun: done\n");
  const StudyMeasured *table = table_at (tables, 0);

  g_assert_cmpuint (tables->len, ==, 1);
  g_assert_cmpstr (table->name, ==, "osu_latency");
  g_assert_cmpuint (table->n_ranks, ==, 2);
  g_assert_cmpuint (table->first_line, ==, 4);
  g_assert_cmpuint (table->last_line, ==, 5);
  assert_point (table, 1, 1, 1.02, STUDY_BENCHMARK_US);
}

/* Of newer versions: a line about the datatype, an empty one, and more columns. */
static void
test_newer_version (void)
{
  g_autoptr (GPtrArray) tables = good_tables (
      "\n# hopcast: ranks=64 ranks-per-node=32 cores=scatter\n"
      "# OSU MPI All-to-All Personalized Exchange Latency Test v7.3\n"
      "# Datatype: MPI_CHAR.\n"
      "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
      "1                     116.41            110.02            121.50        1000\n");
  const StudyMeasured *table = table_at (tables, 0);

  g_assert_cmpstr (table->name, ==, "osu_alltoall");
  g_assert_cmpuint (table->n_ranks, ==, 64);
  g_assert_cmpuint (table->ranks_per_node, ==, 32);
  g_assert_cmpstr (table->cores, ==, "scatter");
  assert_point (table, 0, 1, 116.41, STUDY_BENCHMARK_US);
}

static void
test_rates (void)
{
  g_autoptr (GPtrArray) tables =
      good_tables ("# OSU MPI Multiple Bandwidth / Message Rate Test v5.6.2\n"
                   "# [ pairs: 4 ] [ window size: 32 ]\n"
                   "# Size                  MB/s        Messages/s\n"
                   "8                     230.10       28762500.00\n");
  const StudyMeasured *table = table_at (tables, 0);

  g_assert_cmpuint (table->n_ranks, ==, 8);
  assert_point (table, 0, 8, 28762500, STUDY_BENCHMARK_PER_S);
  g_assert_cmpuint (g_array_index (table->points, StudyMeasuredPoint, 0).run.window, ==, 32);
}

static void
test_barrier_and_unknown (void)
{
  g_autoptr (GPtrArray) tables = good_tables ("# hopcast: ranks=8 ranks-per-node=4\n"
                                              "# OSU MPI Barrier Latency Test v5.6.2\n"
                                              "# Avg Latency(us)\n"
                                              "             4.25\n"
                                              "# OSU MPI_Put Latency Test v5.6.2\n" OSU_HEADINGS
                                              "1                       1.02\n");

  assert_point (table_at (tables, 0), 0, 0, 4.25, STUDY_BENCHMARK_US);
  g_assert_cmpstr (table_at (tables, 1)->name, ==, "OSU MPI_Put Latency Test");
  g_assert_null (table_at (tables, 1)->benchmark);
}

/* --- IMB --- */

static void
test_imb (void)
{
  g_autoptr (GPtrArray) tables = good_tables (
      "# hopcast: ranks-per-node=2\n"
      "# List of Benchmarks to run:\n# PingPong\n" IMB_LINE "# Benchmarking PingPong \n"
      "# #processes = 2 \n# ( 2 additional processes waiting in MPI_Barrier)\n" IMB_LINE
      "       #bytes #repetitions      t[usec]   Mbytes/sec\n"
      "            0         1000         0.96         0.00\n"
      "         1024         1000         1.92       533.33\n"
      "\n" IMB_LINE "# Benchmarking Uniband \n# #processes = 4 \n" IMB_LINE
      "       #bytes #repetitions   Mbytes/sec      Msg/sec\n"
      "            0         1000         0.00      7423240\n"
      "\n" IMB_LINE "# Benchmarking Allreduce \n# #processes = 4 \n" IMB_LINE
      "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
      "            4         1000         3.00         5.00         4.00\n"
      "\n" IMB_LINE "# Benchmarking Exchange \n# #processes = 4 \n" IMB_LINE
      "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec\n"
      "            4         1000         3.00         5.00         4.00         1.00\n"
      "\n# All processes entering MPI_Finalize\n\n");

  g_assert_cmpuint (tables->len, ==, 4);
  g_assert_cmpuint (table_at (tables, 0)->n_ranks, ==, 2);
  g_assert_cmpuint (table_at (tables, 0)->ranks_per_node, ==, 2);
  assert_point (table_at (tables, 0), 1, 1024, 1.92, STUDY_BENCHMARK_US);
  assert_point (table_at (tables, 1), 0, 0, 7423240, STUDY_BENCHMARK_PER_S);
  assert_point (table_at (tables, 2), 0, 4, 4, STUDY_BENCHMARK_US);
  g_assert_cmpstr (table_at (tables, 3)->name, ==, "IMB Exchange");
}

/* --- hopcast-pingpong --- */

static void
test_pingpong (void)
{
  g_autoptr (GPtrArray) tables =
      good_tables (CSV_HEADINGS "pingpong,within,((oo)),0,0,2,8,0.5\n"
                                "pingpong,within,((oo)),0,0,2,64,0.6\n"
                                "pingpong,between,((o.)),0,0,2,8,1.5\n"
                                "pingpong,within,((oo)(#1#1)),1,0,2,8,2\n"
                                "allreduce,,((oo)),0,0,4,8,3\n");

  g_assert_cmpuint (tables->len, ==, 4);
  g_assert_true (table_at (tables, 0)->is_within && !table_at (tables, 1)->is_within);
  assert_point (table_at (tables, 0), 1, 64, 0.6, STUDY_BENCHMARK_US);
  g_assert_cmpstr (table_at (tables, 2)->name, ==, "pingpong beside noise");
  g_assert_null (table_at (tables, 2)->benchmark);
  g_assert_cmpuint (table_at (tables, 3)->n_ranks, ==, 4);
}

/* --- Broken files --- */

static void
test_broken_files (void)
{
  static const struct {
    const char *text, *message;
  } broken[] = {
    { "# OSU MPI Latency Test v5.6.2\n" OSU_HEADINGS "1  x\n",
      ":3: osu_latency: expected a size and" },
    { "# OSU MPI Latency Test v5.6.2\n" OSU_HEADINGS "1\n", ":3: osu_latency: expected" },
    { "# OSU MPI Latency Test v5.6.2\n" OSU_HEADINGS "1 -2\n", ":3: osu_latency: expected" },
    { "# OSU MPI Latency Test v5.6.2\n" OSU_HEADINGS "1 nan\n", ":3: osu_latency: expected" },
    { "# OSU MPI Latency Test v5.6.2\n" OSU_HEADINGS "1.5 2\n", ":3: osu_latency: expected" },
    { "# OSU MPI Latency Test v5.6.2\n" OSU_HEADINGS "1 1.0\nkilled\n",
      ":4: osu_latency: expected" },
    { "# OSU MPI Latency Test v5.6.2\n1 1.0\n", ":2: osu_latency: figures before" },
    { "# OSU MPI Latency Test v5.6.2\n" OSU_HEADINGS "1 1.0\n\377\n", ":4: not a text" },
    { "# OSU MPI Allreduce Latency Test v5.6.2\n# Size Avg Latency(us)\n4 9\n",
      ":3: osu_allreduce: the number of ranks is not known" },
    { "# hopcast: ranks=3\n# OSU MPI Latency Test v5.6.2\n" OSU_HEADINGS "1 1\n",
      ":4: osu_latency: 3 ranks are no pairs" },
    { "# hopcast: ranks\n", ":1: expected KEY=VALUE, found \"ranks\"" },
    { "# hopcast: ranks=0\n", ":1: ranks: expected 1 to" },
    { "# hopcast: size=0\n", ":1: unknown key \"size\"" },
    { "# OSU MPI Multiple Bandwidth / Message Rate Test v5\n# [ pairs: x ]\n",
      ":2: pairs: expected" },
    { "# Benchmarking PingPong\n# #processes = 2\n# ( 2 additional processes waiting in MPI_Barrier)\n",
      ":3: imb_pingpong on a part of the processes" },
    { CSV_HEADINGS "pingpong,within,((oo)),0,0,2,8\n", ":2: expected operation,where" },
    { CSV_HEADINGS "pingpong,within,((oo)),0,0,2,8,0\n", ":2: expected bytes and a time" },
    { CSV_HEADINGS "pingpong,within,((oo)),0,0,two,8,1\n", ":2: ranks: expected" },
  };

  for (guint at = 0; at < G_N_ELEMENTS (broken); at++) {
    g_autoptr (GError) error = NULL;

    g_assert_null (tables_of (broken[at].text, &error));
    g_assert_error (error, STUDY_ERROR, STUDY_ERROR_INPUT);
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, broken[at].message));
  }
}

static void
test_nul_bytes (void)
{
  static const char bytes[] = "# OSU MPI Latency Test v5\n# Size Latency\n1 1.0\n\0\n";
  g_autoptr (GPtrArray) tables = g_ptr_array_new_with_free_func (study_measured_free);
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  int descriptor = g_file_open_tmp ("hopcast-XXXXXX", &path, NULL);

  g_assert_true (g_close (descriptor, NULL) &&
                 g_file_set_contents (path, bytes, sizeof bytes - 1, NULL));
  g_assert_false (study_measured_read (tables, path, &error));
  g_remove (path);
  g_assert_nonnull (strstr (error->message, ":4: not a text"));
}

static void
test_files_without_tables (void)
{
  g_autoptr (GPtrArray) empty = good_tables ("");
  g_autoptr (GPtrArray) other = good_tables ("name,value\n1,2\n");
  g_autoptr (GPtrArray) cut = good_tables ("# OSU MPI Latency Test v5.6.2\n" OSU_HEADINGS);

  g_assert_cmpuint (empty->len + other->len + cut->len, ==, 0);
}

/* --- Places --- */

#define TABLE(places, title) places "# OSU MPI " title " v5\n# Size Latency\n1 1\n"

static void
test_places (void)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("edr:4,node=skylake", NULL);
  g_autoptr (GPtrArray) tables = good_tables (
      TABLE ("", "Latency Test") TABLE ("# hopcast: nodes=3,1 cores=5\n", "Latency Test")
          TABLE ("# hopcast: ranks-per-node=2 cores=0,30\n", "Latency Test") TABLE (
              "# hopcast: ranks=6 ranks-per-node=2 cores=scatter\n", "Allreduce Latency Test"));
  uint32_t node[6];
  uint8_t core[6];

  g_assert_true (study_measured_place (table_at (tables, 0), machine, node, core, NULL));
  g_assert_true (node[0] == 0 && node[1] == 1 && core[0] == 0 && core[1] == 0);
  g_assert_true (study_measured_place (table_at (tables, 1), machine, node, core, NULL));
  g_assert_true (node[0] == 3 && node[1] == 1 && core[0] == 5 && core[1] == 5);
  g_assert_true (study_measured_place (table_at (tables, 2), machine, node, core, NULL));
  g_assert_true (node[0] == 0 && node[1] == 0 && core[0] == 0 && core[1] == 30);
  g_assert_true (study_measured_place (table_at (tables, 3), machine, node, core, NULL));
  g_assert_true (node[5] == 2 && core[4] == 0 && core[5] == 24);
}

static void
test_wrong_places (void)
{
  static const struct {
    const char *text, *message;
  } wrong[] = {
    { TABLE ("# hopcast: nodes=3,4\n", "Latency Test"), "no node 4 among the 4" },
    { TABLE ("# hopcast: nodes=a\n", "Latency Test"), "nodes: expected numbers" },
    { TABLE ("# hopcast: nodes=1\n", "Latency Test"), "need 2 nodes; nodes=1" },
    { TABLE ("# hopcast: cores=48\n", "Latency Test"), "cores=48: core 48" },
    { TABLE ("# hopcast: ranks=10\n", "Allreduce Latency Test"), "no node 4 among the 4" },
    { TABLE ("# hopcast: ranks=98 ranks-per-node=49\n", "Allreduce Latency Test"),
      "have 48 cores" },
    { CSV_HEADINGS "pingpong,within,((oo)),0,0,2,8,1\n", "has the class ((oo))" },
  };
  g_autoptr (TopoMachine) machine = topo_machine_new ("edr:4,node=skylake", NULL);

  for (guint at = 0; at < G_N_ELEMENTS (wrong); at++) {
    g_autoptr (GPtrArray) tables = good_tables (wrong[at].text);
    g_autoptr (GError) error = NULL;
    uint32_t node[98];
    uint8_t core[98];

    g_assert_false (study_measured_place (table_at (tables, 0), machine, node, core, &error));
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, wrong[at].message));
  }
}

/* The classes of Harpertown's node: pairs of cores share a cache, two pairs a package. */
static void
test_places_of_classes (void)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("systemg:4", NULL);
  g_autoptr (GPtrArray) tables =
      good_tables (CSV_HEADINGS "pingpong,within,(((..)(..))((..)(oo))),0,0,2,8,1\n"
                                "pingpong,between,(((..)(..))((..)(.o))),0,0,2,8,1\n"
                                "allreduce,,(((oo)(oo))((oo)(oo))),0,0,16,8,1\n");
  uint32_t node[16];
  uint8_t core[16];
  GError *error = NULL;

  study_measured_place (table_at (tables, 0), machine, node, core, &error);
  g_assert_no_error (error);
  g_assert_true (node[0] == node[1] && core[0] != core[1]);
  study_measured_place (table_at (tables, 1), machine, node, core, &error);
  g_assert_no_error (error);
  g_assert_true (node[0] != node[1] && core[0] == core[1]);
  study_measured_place (table_at (tables, 2), machine, node, core, &error);
  g_assert_no_error (error);
  g_assert_true (node[7] == 0 && node[8] == 1 && core[8] == core[0]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/study/benchmark-output/latency", test_latency);
  g_test_add_func ("/study/benchmark-output/newer-version", test_newer_version);
  g_test_add_func ("/study/benchmark-output/rates", test_rates);
  g_test_add_func ("/study/benchmark-output/barrier-and-unknown", test_barrier_and_unknown);
  g_test_add_func ("/study/benchmark-output/imb", test_imb);
  g_test_add_func ("/study/benchmark-output/pingpong", test_pingpong);
  g_test_add_func ("/study/benchmark-output/broken-files", test_broken_files);
  g_test_add_func ("/study/benchmark-output/nul-bytes", test_nul_bytes);
  g_test_add_func ("/study/benchmark-output/files-without-tables", test_files_without_tables);
  g_test_add_func ("/study/benchmark-output/places", test_places);
  g_test_add_func ("/study/benchmark-output/wrong-places", test_wrong_places);
  g_test_add_func ("/study/benchmark-output/places-of-classes", test_places_of_classes);
  return g_test_run ();
}
