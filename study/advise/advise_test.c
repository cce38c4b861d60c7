/* advise_test.c - ranks per node, and the trust in models.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whole advices are tested from the command line: cli/study/advise_command_test.sh. */
#include "study/advise/advise.h"
#include "study/study_error.h"

#include <math.h>

/* --- Ranks per node --- */

static void
check_numbers (const char *spec, uint32_t n_ranks, gboolean is_fixed, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMachine) machine = topo_machine_new (spec, &error);
  g_autoptr (GArray) numbers = NULL;
  g_autoptr (GString) text = g_string_new (NULL);

  g_assert_no_error (error);
  numbers = study_advice_ranks_per_node (machine, n_ranks, is_fixed, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < numbers->len; i++)
    g_string_append_printf (text, "%s%u", i > 0 ? " " : "", g_array_index (numbers, guint, i));
  g_assert_cmpstr (text->str, ==, expected);
}

static void
test_ranks_per_node (void)
{
  /* 64 ranks need two on each of 32 nodes; a node has 16 cores. */
  check_numbers ("bgq:32", 64, FALSE, "2 4 8 16");
  check_numbers ("bgq:32", 32, FALSE, "1 2 4 8 16");
  /* More than four ranks never share a node. */
  check_numbers ("bgq:32", 4, FALSE, "1 2 4");
  /* Three ranks on a node are offered as four. */
  check_numbers ("bgq:32", 96, FALSE, "4 8 16");
  check_numbers ("systemg:32", 256, FALSE, "8");
  check_numbers ("systemg:8", 16, FALSE, "2 4 8");
  /* Seven of eight cores: the ranks do not fit with four. */
  check_numbers ("systemg:2", 14, FALSE, "8");
  /* The cores of this torus are not known. */
  check_numbers ("torus:4x4", 16, FALSE, "1");
  check_numbers ("torus:4x4", 48, FALSE, "4");
  check_numbers ("torus:4x4", 16, TRUE, "1");
}

static void
test_too_many_ranks (void)
{
  static const struct {
    const char *spec;
    uint32_t n_ranks;
    gboolean is_fixed;
  } cases[] = { { "bgq:32", 32 * 16 + 1, FALSE },
                { "systemg:2", 17, FALSE },
                { "bgq:32", 33, TRUE } };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoMachine) machine = topo_machine_new (cases[at].spec, NULL);
    g_autoptr (GError) error = NULL;

    g_assert_null (
        study_advice_ranks_per_node (machine, cases[at].n_ranks, cases[at].is_fixed, &error));
    g_assert_error (error, STUDY_ERROR, STUDY_ERROR_INPUT);
    g_assert_nonnull (strstr (error->message, "do not fit"));
  }
}

/* --- Trust --- */

/* Ten times with noise, by two measures, and two placements without a time. */
#define N 12u

static const double measures[N * 2] = {
  0.1, 1.2, 0.4, 0.3, 0.9, 0.8, 1.3, 1.9, 1.6, 0.2, 2.2, 1.1,
  2.4, 0.6, 2.9, 1.7, 3.1, 0.9, 3.6, 1.4, 1.0, 1.0, 4.0, 2.0
};
/* 0.5 a - 0.3 b, and the noise .04, -.05, .02, .06, -.03, -.01, .05, -.06, .01, -.03. */
static const double log_times[N] = { -0.27, 0.06, 0.23, 0.14, 0.71, 0.76,
                                     1.07,  0.88, 1.29, 1.35, NAN,  NAN };

static StudyTrust
validate (const double *of, double *predicted)
{
  StudyTrust trust = { .name = "load" };
  g_autoptr (GError) error = NULL;

  g_assert_true (study_advice_validate (measures, 2, of, N, &trust, predicted, &error));
  g_assert_no_error (error);
  return trust;
}

/* trust_reference.py, by numpy: least squares with every sample and every ridge in turn. */
static void
test_nested (void)
{
  double predicted[N];
  StudyTrust trust = validate (log_times, predicted);

  g_assert_cmpuint (trust.n, ==, 10);
  g_assert_true (trust.trusted);
  g_assert_cmpfloat_with_epsilon (trust.r2, 0.9898379085, 1e-5);
  g_assert_cmpfloat_with_epsilon (trust.error, 0.0544656740, 1e-5);
  g_assert_cmpfloat_with_epsilon (trust.spread, 0.7411622900, 1e-5);
  g_assert_cmpfloat_with_epsilon (predicted[0], -0.2793916354, 1e-5);
  g_assert_cmpfloat_with_epsilon (predicted[10], 0.2151595028, 1e-5);
  g_assert_cmpfloat_with_epsilon (predicted[11], 1.3885266592, 1e-5);
}

/* Times that have nothing to do with the measures, though a line through them explains some of their
 * variance. */
static void
test_noise_is_not_trusted (void)
{
  static const double noise[N] = {
    0.3, -0.2, 0.4, -0.1, -0.4, 0.2, 0.5, -0.3, 0.1, -0.5, NAN, NAN
  };
  double predicted[N];
  StudyTrust trust = validate (noise, predicted);

  g_assert_cmpuint (trust.n, ==, 10);
  g_assert_false (trust.trusted);
  g_assert_cmpfloat (trust.r2, <, .5);
}

static void
test_few_are_not_trusted (void)
{
  double few[N], predicted[N];
  StudyTrust trust;

  for (guint i = 0; i < N; i++)
    few[i] = i < 7 ? log_times[i] : (double) NAN;
  trust = validate (few, predicted);
  g_assert_cmpuint (trust.n, ==, 7);
  g_assert_false (trust.trusted);
  g_assert_true (isnan (trust.r2));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/study/advise/ranks-per-node", test_ranks_per_node);
  g_test_add_func ("/study/advise/too-many-ranks", test_too_many_ranks);
  g_test_add_func ("/study/advise/nested", test_nested);
  g_test_add_func ("/study/advise/noise-is-not-trusted", test_noise_is_not_trusted);
  g_test_add_func ("/study/advise/few-are-not-trusted", test_few_are_not_trusted);
  return g_test_run ();
}
