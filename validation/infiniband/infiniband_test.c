/* infiniband_test.c - the experiments of `hopcast validate infiniband`, apart from what they find.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * That each figure has its experiment and its data, and that what the
 * experiments share measures what it says: on a torus, against its own
 * closed forms. */
#include "study/aggregate/network_pingpong.h"
#include "validation/infiniband/infiniband.h"
#include "topology/mapping/aggregation.h"

#include <math.h>
#include <string.h>

static const char curves_csv[] =
#include "validation/infiniband/infiniband_curves.inc"
    ;

static void
test_data_are_readable (void)
{
  static const struct {
    const char *name;
    guint n;
  } expected[] = {
    { "stampede-between", 21 },   { "stampede-inside", 21 },      { "connectx-latency", 24 },
    { "connectx-bandwidth", 23 }, { "connectx-bibandwidth", 23 },
  };
  GError *error = NULL;
  g_autoptr (GPtrArray) curves = validation_curves_parse (curves_csv, "curves", &error);

  g_assert_no_error (error);
  g_assert_cmpuint (curves->len, ==, G_N_ELEMENTS (expected));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    const ValidationCurve *curve = validation_curve_find (curves, expected[i].name);

    g_assert_nonnull (curve);
    g_assert_cmpuint (curve->bytes->len, ==, expected[i].n);
  }
}

static double
value_at (const ValidationCurve *curve, uint64_t bytes)
{
  for (guint i = 0; i < curve->bytes->len; i++)
    if (g_array_index (curve->bytes, guint64, i) == bytes)
      return g_array_index (curve->values, double, i);
  return (double) NAN;
}

/* What is published beside the curves is on the curves. */
static void
test_figures_are_the_curves_own (void)
{
  g_autoptr (GPtrArray) curves = validation_curves_parse (curves_csv, "curves", NULL);
  const ValidationCurve *latency = validation_curve_find (curves, "connectx-latency");
  const ValidationCurve *bandwidth = validation_curve_find (curves, "connectx-bandwidth");
  const ValidationCurve *both = validation_curve_find (curves, "connectx-bibandwidth");
  double one_way = value_at (bandwidth, 4194304);

  g_assert_cmpfloat_with_epsilon (value_at (latency, 0), 1.62, 1e-9);
  g_assert_cmpfloat_with_epsilon (value_at (latency, 128) - value_at (latency, 64), 1.2, 1e-9);
  g_assert_cmpfloat_with_epsilon (one_way, 3389, 0.5);
  g_assert_cmpfloat_with_epsilon (value_at (both, 4194304) / one_way, 1.93, 0.01);
}

/* A figure without an experiment fails at once, with a name; so run none. */
static void
test_every_figure_has_a_role_and_name_of_its_own (void)
{
  g_autoptr (GPtrArray) figures =
      validation_published_parse (validation_infiniband.figures, validation_infiniband.path, NULL);
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  g_assert_nonnull (figures);
  g_assert_cmpuint (figures->len, >=, 28);
  for (guint i = 0; i < figures->len; i++)
    g_assert_true (
        g_hash_table_add (names, ((ValidationPublished *) g_ptr_array_index (figures, i))->name));
}

static void
test_refuses_figures_without_experiment (void)
{
  const ValidationPublished published = { .name = (char *) "no_such_figure" };
  g_autoptr (GError) error = NULL;
  gpointer state = validation_infiniband.open (&(ValidationWatch){ 0 });
  double simulated;

  g_assert_false (
      validation_measure (&validation_infiniband, state, &published, &simulated, &error));
  g_assert_error (error, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT);
  validation_infiniband.close (state);
}

/* Steady rounds: as long as those that the torus experiments time. */
static void
test_pingpong_is_half_a_round (void)
{
  const uint32_t node[] = { 0, 1, 4, 5 };
  const uint8_t core[] = { 0, 0, 0, 0 };
  const uint32_t pair[] = { 0, 4 };
  GError *error = NULL;
  g_autoptr (TopoMachine) machine = validation_machine_new ("torus:8", NULL, &error);
  double alone_us = study_pingpong_us (machine, NULL, 2, pair, core, 8, &error);
  double beside_us = study_pingpong_us (machine, NULL, 4, node, core, 8, &error);

  g_assert_no_error (error);
  g_assert_cmpfloat_with_epsilon (alone_us, validation_latency_ps (machine, 4, 8, &error) * 1e-6,
                                  1e-9);
  /* 0 with 4 and 1 with 5, on links of which they share three: 8 bytes do not mind. */
  g_assert_cmpfloat_with_epsilon (beside_us, alone_us, 0.2 * alone_us);
}

static void
test_settings_apply (void)
{
  static const char *const slow[] = { "link.hop_latency=1 us", NULL };
  static const char *const wrong[] = { "link.hop_latency=1 furlong", NULL };
  const uint32_t pair[] = { 0, 1 };
  const uint8_t core[] = { 0, 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMachine) machine = validation_machine_new ("torus:8", NULL, NULL);
  g_autoptr (TopoMachine) slower = validation_machine_new ("torus:8", slow, NULL);
  double us = study_pingpong_us (machine, NULL, 2, pair, core, 8, NULL);

  g_assert_cmpfloat (study_pingpong_us (slower, NULL, 2, pair, core, 8, NULL), >, us + 0.9);
  g_assert_null (validation_machine_new ("torus:8", wrong, &error));
  g_assert_nonnull (error);
}

static void
test_failures_are_told (void)
{
  const uint32_t far[] = { 0, 9 };
  const uint8_t core[] = { 0, 0 };
  g_autoptr (GError) error = NULL, no_trace = NULL;
  g_autoptr (TopoMachine) machine = validation_machine_new ("torus:8", NULL, NULL);
  ValidationRun run;

  g_assert_true (isnan (study_pingpong_us (machine, NULL, 3, far, core, 8, &error)));
  g_assert_nonnull (error);
  g_assert_false (
      validation_replay_text ("0 no_such_call\n", machine, 2, far, core, &run, &no_trace));
  g_assert_nonnull (no_trace);
}

static bool
are_neighbours (uint32_t task, uint32_t other)
{
  uint32_t rows = task / 4 > other / 4 ? task / 4 - other / 4 : other / 4 - task / 4;
  uint32_t columns = task % 4 > other % 4 ? task % 4 - other % 4 : other % 4 - task % 4;

  return rows + columns == 1;
}

/* LU's tasks are 4 x 4 and talk to their neighbours, in class W with messages
 * that are faster inside a node: so a task shares its node with one. */
static void
test_tasks_are_grouped_with_partners (void)
{
  static const uint8_t cores[] = { 0, 4 };
  InfiniBand *ib = validation_infiniband.open (&(ValidationWatch){ 0 });
  uint32_t node[IB_TASKS];
  uint8_t core[IB_TASKS];
  GError *error = NULL;

  g_assert_true (ib_group_tasks (ib, "gen:npb:kernel=lu,class=W,ranks=16,iterations=1", cores,
                                 G_N_ELEMENTS (cores), node, core, &error));
  g_assert_no_error (error);
  for (uint32_t task = 0; task < IB_TASKS; task++)
    for (uint32_t other = 0; other < task; other++)
      if (node[other] == node[task]) {
        g_assert_true (are_neighbours (task, other));
        g_assert_cmpuint (core[task] + core[other], ==, 4);
      }
  validation_infiniband.close (ib);
}

/* Whatever the pattern, a task has a core of its own. */
static void
test_grouped_tasks_have_cores (void)
{
  g_autoptr (TopoNode) harpertown = topo_node_harpertown ();
  InfiniBand *ib = validation_infiniband.open (&(ValidationWatch){ 0 });

  for (uint32_t pattern = 1; pattern <= IB_PATTERNS; pattern++) {
    uint8_t cores[IB_TASKS], core[IB_TASKS], taken[IB_TASKS][8] = { { 0 } };
    uint32_t node[IB_TASKS], n_cores = topo_node_pattern (harpertown, pattern, cores);

    g_assert_true (ib_group_tasks (ib, "gen:npb:kernel=mg,class=W,ranks=16,iterations=1", cores,
                                   n_cores, node, core, NULL));
    for (uint32_t task = 0; task < IB_TASKS; task++) {
      g_assert_cmpuint (node[task], <, IB_TASKS / n_cores);
      g_assert_nonnull (memchr (cores, core[task], n_cores));
      g_assert_cmpuint (taken[node[task]][core[task]]++, ==, 0);
    }
  }
  validation_infiniband.close (ib);
}

/* What has to agree, or something in the model has been broken. */
static const char *const must_agree[] = {
  "alltoall_change",      "ib_shift_slowest",     "ib_shift_fastest",
  "pingpong_qdr_between", "connectx_bandwidth",   "connectx_bandwidth_curve",
  "small_inside_gain",    "large_between_gain",   "die_to_socket",
  "socket_to_node",       "noise_least",          "noise_intensity",
  "noise_classes_most",   "noise_classes_growth", NULL
};

static void
on_result (void *data, const ValidationResult *result)
{
  guint *n_agree = data;

  g_test_message ("%s: simulated %g %s, published %g..%g", result->published->name,
                  result->simulated, result->published->unit, result->published->low,
                  result->published->high);
  if (!g_strv_contains (must_agree, result->published->name))
    return;
  g_assert_true (result->agrees);
  (*n_agree)++;
}

/* Every figure has an experiment that gives a number. */
static void
test_all_experiments (void)
{
  const ValidationSuite *const suites[] = { &validation_infiniband, NULL };
  GError *error = NULL;
  guint n_agree = 0;
  const ValidationWatch watch = { .report = on_result, .data = &n_agree };

#ifdef WITH_SANITIZERS
  g_test_skip ("takes minutes with sanitizers");
  return;
#endif
  validation_run (suites, NULL, &watch, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (n_agree, ==, G_N_ELEMENTS (must_agree) - 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/validation/infiniband/data-are-readable", test_data_are_readable);
  g_test_add_func ("/validation/infiniband/figures-are-the-curves-own",
                   test_figures_are_the_curves_own);
  g_test_add_func ("/validation/infiniband/every-figure-has-a-role-and-name-of-its-own",
                   test_every_figure_has_a_role_and_name_of_its_own);
  g_test_add_func ("/validation/infiniband/refuses-figures-without-experiment",
                   test_refuses_figures_without_experiment);
  g_test_add_func ("/validation/infiniband/pingpong-is-half-a-round",
                   test_pingpong_is_half_a_round);
  g_test_add_func ("/validation/infiniband/settings-apply", test_settings_apply);
  g_test_add_func ("/validation/infiniband/failures-are-told", test_failures_are_told);
  g_test_add_func ("/validation/infiniband/tasks-are-grouped-with-partners",
                   test_tasks_are_grouped_with_partners);
  g_test_add_func ("/validation/infiniband/grouped-tasks-have-cores",
                   test_grouped_tasks_have_cores);
  g_test_add_func ("/validation/infiniband/all-experiments", test_all_experiments);
  return g_test_run ();
}
