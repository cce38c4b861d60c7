/* gain_test.c - gains, their intervals, and how runs are divided.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/gain.h"
#include "study/optimize.h"

#include <math.h>

/* Gains 1, 0.5 and 0: mean 0.5, standard deviation 0.5; t(0.975, 2) = 4.303, so the
 * half width is 4.303 * 0.5 * sqrt (4 / 3) = 2.4843. */
static void
test_interval (void)
{
  static const double default_s[] = { 2, 3, 1 }, time_s[] = { 1, 2, 1 };
  StudyGain gain = study_gain_new (default_s, time_s, 3);

  g_assert_cmpfloat (gain.nominal, ==, 1);
  g_assert_cmpfloat_with_epsilon (gain.mean, 0.5, 1e-12);
  g_assert_cmpfloat_with_epsilon (gain.low, 0.5 - 2.4843, 1e-4);
  g_assert_cmpfloat_with_epsilon (gain.high, 0.5 + 2.4843, 1e-4);
  g_assert_cmpuint (gain.n_faster, ==, 2);
}

static void
test_few_pairs_have_no_interval (void)
{
  static const double default_s[] = { 2, 3 }, time_s[] = { 1, 2 };

  g_assert_true (isnan (study_gain_new (NULL, NULL, 0).nominal));
  g_assert_true (isnan (study_gain_new (default_s, time_s, 1).low));
  g_assert_cmpfloat (study_gain_new (default_s, time_s, 1).mean, ==, 1);
  g_assert_true (isnan (study_gain_new (default_s, time_s, 2).high));
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
    double ratio = (double) one.parameters.link_bandwidth_Bps /
                   (double) machine->parameters.link_bandwidth_Bps;

    g_assert_cmpfloat (scale, ==, again);
    g_assert_cmpuint (one.parameters.link_bandwidth_Bps, ==, other.parameters.link_bandwidth_Bps);
    g_assert_cmpfloat (fabs (log (ratio)), <=, log (STUDY_PERTURBATION) + 1e-6);
    g_assert_cmpfloat (fabs (log (scale)), <=, log (STUDY_PERTURBATION) + 1e-12);
    sum += log (ratio);
  }
  /* An even spread: four standard errors of 200 values within +- log 1.1. */
  g_assert_cmpfloat (fabs (sum / 200), <, 4 * log (1.1) / sqrt (3 * 200));
}

static void
test_runs_are_never_more_than_asked_for (void)
{
  for (guint n_candidates = 1; n_candidates < 30; n_candidates++)
    for (guint n_runs = 1; n_runs < 300; n_runs++) {
      StudyHalving halving = study_halving (n_runs, n_candidates);

      g_assert_cmpuint (halving.n_first + (halving.n_finalists + 1) * halving.n_repeats, <=,
                        n_runs);
      g_assert_cmpuint (halving.n_first, <=, MIN (n_runs, n_candidates));
      g_assert_cmpuint (halving.n_first, >=, 1);
      g_assert_cmpuint (halving.n_finalists, <=, 2);
      g_assert_cmpuint (halving.n_finalists, <, MAX (halving.n_first, 2));
      if (n_runs >= 12 && n_candidates > 1)
        g_assert_cmpuint (halving.n_repeats, >=, 2); /* an interval */
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/study/gain/interval", test_interval);
  g_test_add_func ("/study/gain/few-pairs", test_few_pairs_have_no_interval);
  g_test_add_func ("/study/gain/perturbed", test_perturbed_machines);
  g_test_add_func ("/study/optimize/halving", test_runs_are_never_more_than_asked_for);
  return g_test_run ();
}
