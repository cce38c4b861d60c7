/* aggregation_claims_test.c - what `hopcast validate aggregation` is made of, apart from what it finds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/aggregation/aggregation_claims.h"

#include "study/aggregate/network_pingpong.h"

#include <math.h>
#include <string.h>

/* Table I has 21 IPCs: mean and largest error by hand from its columns. */
static void
test_table (void)
{
  g_assert_cmpfloat_with_epsilon (aggregation_ipc_error (false), 1.190, 0.0005);
  g_assert_cmpfloat_with_epsilon (aggregation_ipc_error (true), 100 * (1.601 / 1.568 - 1), 1e-9);
  g_assert_cmpfloat (aggregation_ipc_alone (AGGREGATION_SP), ==, 1.952);
}

typedef struct {
  TopoMachine *machine;
  TopoPatterns *patterns;
} Fixture;

static void
set_up (Fixture *f, gconstpointer unused G_GNUC_UNUSED)
{
  f->machine = topo_machine_new ("systemg:16", NULL);
  study_slots_are_cores (f->machine);
  f->patterns = topo_patterns_new (f->machine->node, TOPO_PATTERNS_DEFAULT);
}

static void
tear_down (Fixture *f, gconstpointer unused G_GNUC_UNUSED)
{
  topo_patterns_free (f->patterns);
  topo_machine_free (f->machine);
}

static double
slowdown (const Fixture *f, AggregationProgram program, uint32_t n_ranks, uint32_t pattern)
{
  const PredictMemoryUse use =
      aggregation_memory_use (program, f->machine, f->patterns, &aggregation_usual);

  return aggregation_slowdown (program, n_ranks, f->machine, f->patterns,
                               &f->patterns->pattern[pattern - 1], &use);
}

/* What is published is taken as it is. */
static void
test_published (Fixture *f, gconstpointer unused G_GNUC_UNUSED)
{
  g_assert_cmpfloat_with_epsilon (slowdown (f, AGGREGATION_LU, 16, 8), 1.926 / 1.699, 1e-12);
  g_assert_cmpfloat_with_epsilon (slowdown (f, AGGREGATION_FT, 16, 2), 1.441 / 1.568, 1e-12);
  g_assert_cmpfloat (slowdown (f, AGGREGATION_BT, 16, 1), ==, 1);
}

/* Patterns 4 and 5 are missing: two tasks on a die, four on dies of their own.  The former share no
 * more than 7's four on two dies, the latter no more than 6's. */
static void
test_filled_in (Fixture *f, gconstpointer unused G_GNUC_UNUSED)
{
  static const AggregationProgram known[] = { AGGREGATION_LU, AGGREGATION_SP };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++) {
    double four = slowdown (f, known[i], 16, 4), five = slowdown (f, known[i], 16, 5);

    g_assert_cmpfloat (four, >=, 1);
    g_assert_cmpfloat (four, <, slowdown (f, known[i], 16, 7));
    g_assert_cmpfloat (five, >=, 1);
    g_assert_cmpfloat (five, <, slowdown (f, known[i], 16, 6));
  }
}

/* A plane of LU is 10 MB on 16 tasks; on 64 a quarter, which half of a die's 6 MB holds. */
static void
test_strong_scaling (Fixture *f, gconstpointer unused G_GNUC_UNUSED)
{
  double few = slowdown (f, AGGREGATION_LU, 32, 8) / slowdown (f, AGGREGATION_LU, 32, 1);

  g_assert_cmpfloat (few, >, 1.01);
  g_assert_cmpfloat (few, <, 1.926 / 1.699);
  g_assert_cmpfloat_with_epsilon (
      slowdown (f, AGGREGATION_LU, 64, 8) / slowdown (f, AGGREGATION_LU, 64, 1), 1, 1e-12);
}

/* SP with the times of Table I and no communication; patterns 4 and 5 are too slow.  Pattern 3 is chosen, and
 * saves 1 - 8 (180 + 20 + 2 x 12) W / (16 (180 + 20 + 12) W) x 1.952 / 1.99.  Of the guesses the power of a core
 * counts most: with 24 and 6 W the ratio of powers is 248 / 224 and 212 / 206. */
static void
test_guesses (void)
{
  static const double ipc[] = { 1.952, 1.956, 1.99, 0.9, 0.9, 1.755, 1.61 };
  const ValidationMeasure *row = NULL;
  g_autoptr (GString) details = g_string_new (NULL);
  Aggregation *aggregation = validation_aggregation.open (&(ValidationWatch){ .details = details });
  AggregationJob *job = g_new0 (AggregationJob, 1);
  const double time = 1.952 / 1.99;
  g_autoptr (GError) error = NULL;
  double saving, low, high;

  *job = (AggregationJob){ .program = AGGREGATION_SP,
                           .n_ranks = AGGREGATION_TASKS,
                           .machine = topo_machine_new ("systemg:16", NULL) };
  study_slots_are_cores (job->machine);
  job->patterns = topo_patterns_new (job->machine->node, TOPO_PATTERNS_DEFAULT);
  g_assert_true (topo_patterns_admit (
      job->patterns, &(TopoJob){ .n_ranks = AGGREGATION_TASKS, .n_nodes = AGGREGATION_TASKS },
      &error));
  job->use = aggregation_memory_use (job->program, job->machine, job->patterns, &aggregation_usual);
  for (guint at = 0; at < G_N_ELEMENTS (ipc); at++) {
    job->has[at + 1] = true;
    job->computation_s[at + 1] = 100 * ipc[0] / ipc[at];
  }
  g_ptr_array_add (aggregation->jobs, job);
  for (guint i = 0; i < validation_aggregation.n_measures; i++)
    if (g_str_equal (validation_aggregation.measures[i].name, "saving_sp"))
      row = &validation_aggregation.measures[i];
  g_assert_nonnull (row);
  /* Under guesses that differ by nothing that counts the job is worked out as it would be simulated. */
  aggregation->guesses.memory_share[AGGREGATION_MG] = 0.5;
  saving = row->measure (aggregation, row->which, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat_with_epsilon (saving, 100 * (1 - 0.5 * 224 / 212 * time), 1e-9);
  aggregation->guesses.memory_share[AGGREGATION_MG] =
      aggregation_usual.memory_share[AGGREGATION_MG];
  /* The usual guesses give the job as it was simulated, of which this one has no energies. */
  job->chosen = 3;
  job->energy_J[1] = 16 * 212;
  job->energy_J[3] = 8 * 224 * time;
  g_assert_true (validation_aggregation.range (aggregation, row, &low, &high));
  g_assert_cmpfloat_with_epsilon (low, 100 * (1 - 0.5 * 248 / 224 * time), 1e-9);
  g_assert_cmpfloat_with_epsilon (high, 100 * (1 - 0.5 * 212 / 206 * time), 1e-9);
  g_assert_nonnull (strstr (details->str, "guess-saving_sp,a core 24 W,,45."));
  validation_aggregation.close (aggregation);
}

/* A figure without an experiment fails at once, with a name; so run none. */
static void
test_figures (void)
{
  const ValidationPublished unknown = { .name = (char *) "no_such_figure" };
  g_autoptr (GPtrArray) figures =
      validation_published_parse (validation_aggregation.figures, "figures", NULL);
  gpointer state = validation_aggregation.open (&(ValidationWatch){ NULL });
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GError) error = NULL;
  double simulated;

  g_assert_cmpuint (figures->len, ==, 27);
  for (guint i = 0; i < figures->len; i++)
    g_assert_true (
        g_hash_table_add (names, ((ValidationPublished *) g_ptr_array_index (figures, i))->name));
  g_assert_false (
      validation_measure (&validation_aggregation, state, &unknown, &simulated, &error));
  g_assert_error (error, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT);
  g_assert_nonnull (strstr (error->message, "no_such_figure"));
  g_clear_error (&error);
  validation_aggregation.close (state);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/aggregation/table", test_table);
  g_test_add ("/aggregation/published", Fixture, NULL, set_up, test_published, tear_down);
  g_test_add ("/aggregation/filled-in", Fixture, NULL, set_up, test_filled_in, tear_down);
  g_test_add ("/aggregation/strong-scaling", Fixture, NULL, set_up, test_strong_scaling, tear_down);
  g_test_add_func ("/aggregation/guesses", test_guesses);
  g_test_add_func ("/aggregation/figures", test_figures);
  return g_test_run ();
}
