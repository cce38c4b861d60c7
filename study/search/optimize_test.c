/* optimize_test.c - gains, their intervals, and how runs are divided.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/search/optimize.h"
#include "base/random.h"
#include "study/search/search_fixture.h"

#include <math.h>

/* Perturbed ratios 2, 1 and 1/2: mean 1, the logarithm's standard deviation log 2;
 * t(0.975, 2) = 4.302653, so the half width is that times log 2 * sqrt (4 / 3) = 3.443747.  The
 * nominal ratio, 9, is in none of it. */
static void
test_interval (void)
{
  static const double default_s[] = { 9, 2, 3, 1 }, time_s[] = { 1, 1, 3, 2 };
  StudyGain gain = study_gain_new (default_s, time_s, 4);

  g_assert_cmpfloat (gain.nominal, ==, 8);
  g_assert_cmpfloat_with_epsilon (gain.mean, 0, 1e-12);
  g_assert_cmpfloat_with_epsilon (gain.low, exp (-3.443747) - 1, 1e-5);
  g_assert_cmpfloat_with_epsilon (gain.high, exp (3.443747) - 1, 1e-3);
  g_assert_cmpuint (gain.n_faster, ==, 1);
  g_assert_cmpuint (gain.n_pairs, ==, 3);
}

/* Were the gains as the interval assumes, one more would lie in 95 of 100 of them: four
 * standard errors of 4,000 trials are 1.4 %. */
static void
test_coverage (void)
{
  const guint n_trials = 4000;
  BaseRandom random = { 1 };
  guint n_inside = 0;

  for (guint trial = 0; trial < n_trials; trial++) {
    double default_s[6] = { 1, 1, 1, 1, 1, 1 }, time_s[6] = { 1 };
    StudyGain gain;

    for (guint i = 1; i < 6; i++) { /* Box and Muller */
      double radius = sqrt (-2 * log (1 - base_random_unit (&random)));

      time_s[i] = exp (-0.1 - 0.02 * radius * cos (2 * G_PI * base_random_unit (&random)));
    }
    gain = study_gain_new (default_s, time_s, 5);
    n_inside += 1 / time_s[5] - 1 >= gain.low && 1 / time_s[5] - 1 <= gain.high;
  }
  g_assert_cmpfloat (fabs ((double) n_inside / n_trials - 0.95), <, 0.014);
}

/* What one seed draws, its neighbour does not. */
static void
test_seeds_are_independent (void)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:32", NULL);

  for (guint i = 1; i < 10; i++)
    for (guint k = 1; k < 10; k++) {
      double scale = 1, other = 1;

      study_gain_perturbed (machine, 0, i, &scale);
      study_gain_perturbed (machine, 1, k, &other);
      g_assert_cmpfloat (scale, !=, other);
    }
}

static void
test_few_pairs_have_no_interval (void)
{
  static const double default_s[] = { 2, 3, 4 }, time_s[] = { 1, 2, 1 };

  g_assert_true (isnan (study_gain_new (NULL, NULL, 0).nominal));
  g_assert_true (isnan (study_gain_new (default_s, time_s, 1).low));
  g_assert_cmpfloat (study_gain_new (default_s, time_s, 1).mean, ==, 1);
  g_assert_true (isnan (study_gain_new (default_s, time_s, 3).high));
  g_assert_cmpfloat_with_epsilon (study_gain_new (default_s, time_s, 3).mean, sqrt (6) - 1, 1e-12);
}

static void
test_perturbed_machines (void)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:32", NULL);
  double sum = 0;

  for (guint i = 1; i <= 200; i++) {
    double scale = 1, again = 1;
    TopoMachine one = study_gain_perturbed (machine, 7, i, &scale);
    TopoMachine other = study_gain_perturbed (machine, 7, i, &again);
    double ratio = (double) one.parameters.link.bandwidth_Bps /
                   (double) machine->parameters.link.bandwidth_Bps;

    g_assert_cmpfloat (scale, ==, again);
    g_assert_cmpuint (one.parameters.link.bandwidth_Bps, ==, other.parameters.link.bandwidth_Bps);
    g_assert_cmpfloat (fabs (log (ratio)), <=, log (STUDY_PERTURBATION) + 1e-6);
    g_assert_cmpfloat (fabs (log (scale)), <=, log (STUDY_PERTURBATION) + 1e-12);
    sum += log (ratio);
  }
  /* An even spread: four standard errors of 200 values within +- log 1.1. */
  g_assert_cmpfloat (fabs (sum / 200), <, 4 * log (1.1) / sqrt (3 * 200));
}

/* Times change, speeds do not, on either kind of machine. */
static void
test_stretched_machines (void)
{
  g_autoptr (TopoMachine) torus = topo_machine_new ("bgq:32", NULL);
  g_autoptr (TopoMachine) cluster = topo_machine_new ("systemg:4", NULL);
  TopoMachine slow_torus = study_gain_stretched (torus, 2);
  TopoMachine fast_cluster = study_gain_stretched (cluster, .5);

  g_assert_cmpint (slow_torus.parameters.link.hop_latency_ps, ==,
                   2 * torus->parameters.link.hop_latency_ps);
  g_assert_cmpint (slow_torus.parameters.mpi.send_overhead_ps, ==,
                   2 * torus->parameters.mpi.send_overhead_ps);
  g_assert_cmpuint (slow_torus.parameters.link.bandwidth_Bps, ==,
                    torus->parameters.link.bandwidth_Bps);
  g_assert_cmpint (2 * fast_cluster.parameters.switches.latency_ps, ==,
                   cluster->parameters.switches.latency_ps);
  g_assert_cmpuint (fast_cluster.parameters.hca.pcie_bandwidth_Bps, ==,
                    cluster->parameters.hca.pcie_bandwidth_Bps);
  g_assert_cmpuint (fast_cluster.parameters.memory.core_bandwidth_Bps, ==,
                    cluster->parameters.memory.core_bandwidth_Bps);
}

/* Candidates for a halo on a torus of another form: the default alone, or those of a search. */
static void
check_runs (const Fixture *fixture, guint n_runs, gboolean only_default)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMapping) plain = topo_mapping_new (NULL, fixture->machine, 16, NULL);
  g_autoptr (StudyCandidates) candidates = study_candidates_new (
      &fixture->problem, fixture->paths, study_matrix_edges (fixture->matrix), STUDY_OBJECTIVE_BOTH,
      plain->name, study_placement_of (&fixture->problem, plain));
  const StudySearch search = { .seed = 1, .n_rounds = 1, .n_threads = 1 };
  const StudyTrialPlan plan = { .trace_path = "gen:halo2d:iterations=1,grid=4x4,bytes=4096",
                                .network = SIM_NETWORK_PACKET,
                                .n_threads = 2,
                                .compute_scale = 1,
                                .n_runs = n_runs };
  guint best, n_done, n_first = 0, n_pairs = 0, n_most = 0;
  StudySearched searched;

  if (!only_default)
    g_assert_true (study_search (candidates, &search, &searched, NULL));
  g_assert_true (study_optimize_trials (candidates, &plan, &best, &n_done, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (n_done, <=, n_runs);
  for (guint i = 0; i < candidates->list->len; i++) {
    const StudyCandidate *candidate = study_candidate (candidates, i);

    n_first += !isnan (candidate->time_s);
    n_pairs += candidate->gain.n_pairs;
    n_most = MAX (n_most, candidate->gain.n_pairs);
  }
  g_assert_cmpuint (n_first, >=, 1);
  /* The default has the other half of every pair. */
  g_assert_cmpuint (n_done, ==, n_first + n_pairs + n_most);
  if (n_runs >= 18 && best > 0)
    g_assert_cmpuint (study_candidate (candidates, best)->gain.n_pairs, >=, 3); /* an interval */
  g_test_message ("%u runs: %u made, of %u of %u candidates, %u pairs, %u of the best", n_runs,
                  n_done, n_first, candidates->list->len, n_pairs,
                  study_candidate (candidates, best)->gain.n_pairs);
}

static void
test_runs_are_never_more_than_asked_for (void)
{
  static const guint n_runs[] = { 1, 2, 3, 5, 6, 7, 17, 18, 39, 40, 70 };
  g_auto (Fixture) fixture = fixture_new ("torus:2x8", 1, fixture_grid (4, 4));

  for (gsize i = 0; i < G_N_ELEMENTS (n_runs); i++) {
    check_runs (&fixture, n_runs[i], FALSE);
    check_runs (&fixture, n_runs[i], TRUE);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/study/gain/interval", test_interval);
  g_test_add_func ("/study/gain/coverage", test_coverage);
  g_test_add_func ("/study/gain/seeds", test_seeds_are_independent);
  g_test_add_func ("/study/gain/few-pairs", test_few_pairs_have_no_interval);
  g_test_add_func ("/study/gain/perturbed", test_perturbed_machines);
  g_test_add_func ("/study/gain/stretched", test_stretched_machines);
  g_test_add_func ("/study/optimize/race", test_runs_are_never_more_than_asked_for);
  return g_test_run ();
}
