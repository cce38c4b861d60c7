/* replicas_test.c - spreads by hand, replicas against single runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/replicas.h"
#include "study/study_error.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* --- Spreads --- */

static void
test_spread (void)
{
  const double values[] = { 4, 1, (double) NAN, 3, 2 };
  StudySpread spread = study_spread (values, G_N_ELEMENTS (values));
  /* s = sqrt (5 / 3); Student's 3.18245 of 3 degrees of freedom, times s / 2. */
  const double half = 3.182446305 * sqrt (5.0 / 3) / 2;

  g_assert_cmpuint (spread.n, ==, 4);
  g_assert_cmpfloat_with_epsilon (spread.mean, 2.5, 1e-15);
  g_assert_cmpfloat (spread.least, ==, 1);
  g_assert_cmpfloat (spread.most, ==, 4);
  g_assert_cmpfloat_with_epsilon (spread.lower, 2.5 - half, 1e-8);
  g_assert_cmpfloat_with_epsilon (spread.upper, 2.5 + half, 1e-8);
}

static void
test_spread_of_few (void)
{
  const double one[] = { (double) NAN, 7 };
  StudySpread spread = study_spread (one, 2);

  g_assert_cmpuint (spread.n, ==, 1);
  g_assert_cmpfloat (spread.mean, ==, 7);
  g_assert_true (isnan (spread.lower) && isnan (spread.upper));
  spread = study_spread (one, 1);
  g_assert_cmpuint (spread.n, ==, 0);
  g_assert_true (isnan (spread.mean) && isnan (spread.least) && isnan (spread.most));
  spread = study_spread (NULL, 0);
  g_assert_true (isnan (spread.mean));
}

/* The variance is right when all values begin with the same ten digits. */
static void
test_spread_of_close (void)
{
  const double values[] = { 1e10 + 1, 1e10 + 2, 1e10 + 3 };
  StudySpread spread = study_spread (values, 3);

  g_assert_cmpfloat_with_epsilon (spread.upper - spread.mean, 4.302652730 / sqrt (3), 1e-5);
}

/* --- Replicas --- */

typedef struct {
  double last;
  guint n_calls;
} Progress;

static void
take_progress (void *data, double share, int64_t now_ps)
{
  Progress *progress = data;

  g_assert_cmpint (now_ps, ==, 0);
  g_assert_cmpfloat (share, >=, 0);
  g_assert_cmpfloat (share, <=, 1);
  progress->last = share;
  progress->n_calls++;
}

static void
assert_same_run (const StudyRow *row, const SimRun *run)
{
  g_assert_cmpstr (row->key, ==, run->key);
  g_assert_cmpfloat (row->time_s, ==, (double) run->result.time_ps / 1e12);
  g_assert_cmpmem (row->features, sizeof row->features, run->features, sizeof run->features);
  g_assert_cmpuint (row->packet_hops, ==, run->counters->packet_hops);
}

/* Whoever makes them, replicas are the runs with the seeds that follow. */
static void
test_runs (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Trace) trace = trace_open ("gen:halo3d:ranks=32,bytes=64K,iterations=1", NULL, &error);
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:32", &error);
  g_autoptr (TopoMapping) mapping = topo_mapping_new ("random(1)", machine, 32, &error);
  StudyReplicas replicas = {
    .trace = trace,
    .machine = machine,
    .mapping = mapping,
    .options = { .compute_scale = 1, .seed = 11, .jitter_ps = 1000000, .progress = take_progress },
    .n_replicas = 5
  };
  g_autoptr (StudyRow) mean = NULL;
  double sum_s = 0, least_s = INFINITY, most_s = 0;

  g_assert_no_error (error);
  for (guint n_workers = 1; n_workers <= 3; n_workers++) {
    g_autoptr (GPtrArray) rows = NULL;
    Progress progress = { 0 };

    replicas.n_workers = n_workers;
    replicas.options.progress_data = &progress;
    rows = study_replicas_run (&replicas, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (rows->len, ==, 5);
    g_assert_cmpfloat (progress.last, ==, 1);
    for (guint i = 0; i < rows->len; i++) {
      SimRunOptions options = replicas.options;
      g_autoptr (SimRun) run = NULL;

      options.seed += i;
      options.progress = NULL;
      run = sim_run (trace, machine, mapping, &options, &error);
      g_assert_no_error (error);
      assert_same_run (rows->pdata[i], run);
    }
    if (n_workers == 1) {
      mean = study_rows_mean (rows);
      for (guint i = 0; i < rows->len; i++) {
        double time_s = ((StudyRow *) rows->pdata[i])->time_s;

        sum_s += time_s;
        least_s = MIN (least_s, time_s);
        most_s = MAX (most_s, time_s);
      }
    }
  }
  /* They do differ. */
  g_assert_cmpfloat (least_s, <, most_s);
  g_assert_cmpfloat_with_epsilon (mean->time_s, sum_s / 5, 1e-15);
  g_assert_cmpfloat (mean->features[SIM_FEATURE_HOP_BYTES], >, 0);
}

/* Both runs of a shrunk one. */
static void
test_extrapolated (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Trace) trace =
      trace_open ("gen:random:ranks=32,bytes=256K,messages=2,iterations=1", NULL, &error);
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:32", &error);
  g_autoptr (TopoMapping) mapping = topo_mapping_new (NULL, machine, 32, &error);
  g_autoptr (StudyRow) row = NULL;
  g_autoptr (GPtrArray) made = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  const StudyRow *exact, *of_4, *of_8;

  g_assert_no_error (error);
  for (uint32_t shrink = 0; shrink <= 8; shrink += 4) {
    StudyReplicas replicas = { .trace = trace,
                               .machine = machine,
                               .mapping = mapping,
                               .options = { .compute_scale = 1,
                                            .policy = ROUTE_POLICY_DETERMINISTIC,
                                            .seed = 1,
                                            .jitter_ps = 1000000,
                                            .shrink = { .factor = shrink } },
                               .n_replicas = 1 };

    g_ptr_array_add (made, study_replicas_run (&replicas, &error));
    g_assert_no_error (error);
  }
  exact = g_ptr_array_index ((GPtrArray *) made->pdata[0], 0);
  of_4 = g_ptr_array_index ((GPtrArray *) made->pdata[1], 0);
  of_8 = g_ptr_array_index ((GPtrArray *) made->pdata[2], 0);
  row = study_rows_extrapolate (of_4, of_8, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat_with_epsilon (row->time_s, 2 * of_4->time_s - of_8->time_s, 1e-15);
  g_assert_cmpfloat_with_epsilon (row->wait_s_avg, 2 * of_4->wait_s_avg - of_8->wait_s_avg, 1e-15);
  for (guint feature = 0; feature < SIM_N_FEATURES; feature++)
    g_assert_cmpfloat (row->features[feature], >=, 0);
  g_assert_cmpfloat (row->features[SIM_FEATURE_MAX_BYTES], ==,
                     exact->features[SIM_FEATURE_MAX_BYTES]);
  /* These are 10 and 21 % too small. */
  g_assert_cmpfloat (
      fabs (row->features[SIM_FEATURE_AVG_BUFFER] / exact->features[SIM_FEATURE_AVG_BUFFER] - 1), <,
      1 - of_4->features[SIM_FEATURE_AVG_BUFFER] / exact->features[SIM_FEATURE_AVG_BUFFER]);
  g_assert_cmpuint (row->messages, ==, exact->messages);
  g_assert_cmpuint (row->packets, ==, of_4->packets + of_8->packets);
  g_assert_cmpuint (row->shrink_factor, ==, 4);
  g_assert_cmpfloat (row->shrink_share, ==, 1);
  g_assert_cmpstr (row->key, !=, of_4->key);
  g_assert_null (study_rows_extrapolate (of_8, of_4, &error));
  g_assert_error (error, STUDY_ERROR, STUDY_ERROR_INPUT);
}

/* Ranks start where the seed says, whatever else runs: with the same seed on the same ranks. */
static void
test_without_jitter (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Trace) trace = trace_open ("gen:ring:ranks=8,bytes=1K", NULL, &error);
  g_autoptr (TopoMachine) machine = topo_machine_new ("torus:8", &error);
  g_autoptr (TopoMapping) mapping = topo_mapping_new (NULL, machine, 8, &error);
  const SimRunOptions plain = { .compute_scale = 1 }, seeded = { .compute_scale = 1, .seed = 5 };
  g_autoptr (SimRun) first = sim_run (trace, machine, mapping, &plain, &error);
  g_autoptr (SimRun) second = sim_run (trace, machine, mapping, &seeded, &error);

  g_assert_cmpint (first->result.time_ps, ==, second->result.time_ps);
}

/* A trace that cannot end is an error of the replicas, with its reason. */
static void
test_failure (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("replicas-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "stuck.ti", NULL);
  g_autoptr (Trace) trace = NULL;
  g_autoptr (TopoMachine) machine = topo_machine_new ("torus:2x2", &error);
  g_autoptr (TopoMapping) mapping = topo_mapping_new (NULL, machine, 2, &error);
  StudyReplicas replicas = { .machine = machine,
                             .mapping = mapping,
                             .options = { .compute_scale = 1, .jitter_ps = 1000 },
                             .n_replicas = 2,
                             .n_workers = 2 };

  g_assert_no_error (error);
  g_assert_true (g_file_set_contents (
      path, "0 init\n1 init\n0 recv 1 0 10\n0 finalize\n1 finalize\n", -1, NULL));
  trace = trace_open (path, NULL, &error);
  g_assert_no_error (error);
  replicas.trace = trace;
  g_assert_null (study_replicas_run (&replicas, &error));
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, "rank 0"));
  g_unlink (path);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/study/spread", test_spread);
  g_test_add_func ("/study/spread/of-few", test_spread_of_few);
  g_test_add_func ("/study/spread/of-close", test_spread_of_close);
  g_test_add_func ("/study/replicas/runs", test_runs);
  g_test_add_func ("/study/replicas/extrapolated", test_extrapolated);
  g_test_add_func ("/study/replicas/without-jitter", test_without_jitter);
  g_test_add_func ("/study/replicas/failure", test_failure);
  return g_test_run ();
}
