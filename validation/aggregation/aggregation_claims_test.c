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
  return aggregation_slowdown (program, n_ranks, f->machine, f->patterns,
                               &f->patterns->pattern[pattern - 1]);
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

  g_assert_cmpuint (figures->len, ==, 25);
  for (guint i = 0; i < figures->len; i++)
    g_assert_true (
        g_hash_table_add (names, ((ValidationPublished *) g_ptr_array_index (figures, i))->name));
  g_assert_false (
      validation_measure (&validation_aggregation, state, &unknown, &simulated, &error));
  g_assert_error (error, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT);
  g_assert_nonnull (strstr (error->message, "no_such_figure"));
  g_clear_error (&error);
  /* What is not given has no verdict. */
  for (guint i = 0; i < figures->len; i++) {
    const ValidationPublished *figure = g_ptr_array_index (figures, i);

    if (!g_str_has_prefix (figure->name, "xc30_"))
      continue;
    g_assert_false (
        validation_measure (&validation_aggregation, state, figure, &simulated, &error));
    g_assert_error (error, VALIDATION_ERROR, VALIDATION_ERROR_NOT_RUN);
    g_clear_error (&error);
  }
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
  g_test_add_func ("/aggregation/figures", test_figures);
  return g_test_run ();
}
