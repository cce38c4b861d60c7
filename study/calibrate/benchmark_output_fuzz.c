/* benchmark_output_fuzz.c - any bytes as the output of a benchmark.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tables that are read are sound: figures above zero, and ranks that can be placed or are refused. */
#include ".ci/fuzzing.h"
#include "study/calibrate/benchmark_output.h"
#include "study/study_error.h"

#include <string.h>

static const char *const texts[] = {
  "# OSU MPI Latency Test v5.6.2\n# Size Latency (us)\n0 1.01\n1 1.02\n",
  "# hopcast: ranks=8 ranks-per-node=4 cores=scatter\n"
  "# OSU MPI Multiple Bandwidth / Message Rate Test v5.6.2\n# [ pairs: 4 ] [ window size: 64 ]\n"
  "# Size MB/s Messages/s\n1 2.5 2500000\n",
  "# Benchmarking PingPong\n# #processes = 2\n #bytes #repetitions t[usec] Mbytes/sec\n"
  " 0 1000 0.96 0.00\n\n",
  "# hopcast: ranks=4\n# OSU MPI Barrier Latency Test v5\n# Avg Latency(us)\n 4.25\n",
  "operation,where,class,pairs,outside,ranks,bytes,time_us\n"
  "pingpong,within,(((..)(..))((..)(oo))),0,0,2,8,0.5\nallreduce,,(((oo)(oo))((oo)(oo))),0,0,16,8,3\n",
  NULL,
};

static const char *const words[] = {
  "# hopcast: ", "ranks=",          "ranks-per-node=", "nodes=0,1",    "cores=0,4-7", "compact",
  "# OSU MPI ",  "Latency Test v5", "# Benchmarking ", "#processes =", "#bytes",      "t_avg[usec]",
  "Msg/sec",     "Messages/s",      "window size:",    "between",      "\\x0a",       NULL
};

static TopoMachine *machine;

static void
start (void)
{
  machine = topo_machine_new ("systemg:4", NULL);
}

static void
seed (FuzzSeeds *seeds)
{
  fuzz_add_texts (seeds, texts);
  fuzz_add_words (seeds, words);
}

static void
check (const uint8_t *data, size_t size)
{
  g_autoptr (GPtrArray) tables = g_ptr_array_new_with_free_func (study_measured_free);
  g_autoptr (GError) error = NULL;

  if (!study_measured_read (tables, fuzz_file (data, size), &error)) {
    g_assert_true (error->domain == STUDY_ERROR && strchr (error->message, '\n') == NULL);
    return;
  }
  for (guint at = 0; at < tables->len; at++) {
    const StudyMeasured *table = g_ptr_array_index (tables, at);
    g_autofree uint32_t *node = g_new (uint32_t, table->n_ranks);
    g_autofree uint8_t *core = g_new (uint8_t, table->n_ranks);
    g_autoptr (GError) refused = NULL;

    g_assert_true (table->points->len > 0 && table->n_ranks > 0);
    for (guint i = 0; i < table->points->len; i++)
      g_assert_true (g_array_index (table->points, StudyMeasuredPoint, i).measured > 0);
    if (table->benchmark == NULL || !study_measured_place (table, machine, node, core, &refused))
      continue;
    for (uint32_t rank = 0; rank < table->n_ranks; rank++)
      g_assert_true (node[rank] < 4 && core[rank] < 8);
  }
}

const FuzzProgram fuzz_program = { start, seed, check };
