/* benchmark_test.c - programs of benchmarks on a machine of round numbers, and medians of deviations.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * validation/modern/modern_test.c has the times of every kind of program. */
#include "study/calibrate/benchmark.h"

#include "study/aggregate/network_pingpong.h"

#include <math.h>

/* A send takes its processor 10 us, nothing else takes long. */
static double
simulated (const char *name, uint32_t n_ranks, uint32_t window, StudyBenchmarkUnit unit)
{
  static const uint32_t node[] = { 0, 1, 2, 3 };
  static const uint8_t core[4] = { 0 };
  const StudyBenchmarkPoint point = { study_benchmark_find (name), n_ranks, window, 8, unit };
  g_autoptr (TopoMachine) machine = topo_machine_new ("torus:4", NULL);
  g_autoptr (RoutePaths) paths = route_paths_new (machine, NULL);
  GError *error = NULL;
  double value;

  g_assert_true (topo_parameters_set (&machine->parameters, "mpi.send_overhead", "10 us", NULL) &&
                 topo_parameters_set (&machine->parameters, "mpi.receive_overhead", "0 ns", NULL) &&
                 topo_parameters_set (&machine->parameters, "mpi.call_overhead", "0 ns", NULL));
  value = study_benchmark_simulate (&point, machine, paths, node, core, &error);
  g_assert_no_error (error);
  return value;
}

static void
test_windows (void)
{
  /* The messages of the window and an answer. */
  double long_us = 64e6 / simulated ("osu_bw", 2, 64, STUDY_BENCHMARK_PER_S);
  double short_us = 4e6 / simulated ("osu_bw", 2, 4, STUDY_BENCHMARK_PER_S);

  g_assert_cmpfloat_with_epsilon (long_us, 650, 2);
  g_assert_cmpfloat_with_epsilon (short_us, 50, 2);
}

/* A rank of a recursive doubling sends twice, whether a barrier is before it or not. */
static void
test_calls_in_a_row (void)
{
  g_assert_cmpfloat_with_epsilon (
      simulated ("imb_allreduce", 4, STUDY_BENCHMARK_WINDOW, STUDY_BENCHMARK_US),
      simulated ("osu_allreduce", 4, STUDY_BENCHMARK_WINDOW, STUDY_BENCHMARK_US), 2);
}

static void
test_names (void)
{
  g_assert_null (study_benchmark_find ("osu_put_latency"));
  g_assert_cmpint (study_benchmark_find ("osu_bibw")->program, ==, STUDY_BENCHMARK_BOTH_WAYS);
}

/* Rates and bandwidths count as times. */
static void
test_log_times (void)
{
  StudyBenchmarkPoint point = { .unit = STUDY_BENCHMARK_US };

  g_assert_cmpfloat_with_epsilon (study_benchmark_log_time (&point, 2, 1), log (2), 1e-12);
  point.unit = STUDY_BENCHMARK_MBPS;
  g_assert_cmpfloat_with_epsilon (study_benchmark_log_time (&point, 2, 1), -log (2), 1e-12);
}

static void
test_summaries (void)
{
  static const double logs[] = { 0.1, -0.5, 0.3, 0.2 };
  StudyBenchmarkSummary summary = study_benchmark_summary (logs, G_N_ELEMENTS (logs));

  g_assert_cmpuint (summary.n, ==, 4);
  g_assert_cmpfloat_with_epsilon (summary.spread, 0.25, 1e-12);
  g_assert_cmpfloat_with_epsilon (summary.bias, 0.15, 1e-12);
  g_assert_cmpuint (summary.worst, ==, 1);
  g_assert_true (isnan (study_benchmark_summary (NULL, 0).spread));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/study/benchmark/windows", test_windows);
  g_test_add_func ("/study/benchmark/calls-in-a-row", test_calls_in_a_row);
  g_test_add_func ("/study/benchmark/names", test_names);
  g_test_add_func ("/study/benchmark/log-times", test_log_times);
  g_test_add_func ("/study/benchmark/summaries", test_summaries);
  return g_test_run ();
}
