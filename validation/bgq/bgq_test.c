/* bgq_test.c - the simulator agrees with what was measured on Blue Gene/Q.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * `hopcast validate` shows all figures; those in the lists below must agree,
 * or something in the model has been broken. */
#include "validation/messages_at_once.h"
#include "validation/suite.h"

static void
on_result (void *data, const ValidationResult *result)
{
  guint *n_results = data;

  (*n_results)++;
  g_test_message ("%s: simulated %g %s, published %g..%g", result->published->name,
                  result->simulated, result->published->unit, result->published->low,
                  result->published->high);
  g_assert_true (result->agrees);
}

static gboolean
run (const char *const *names, guint *n_results, GError **error)
{
  const ValidationSuite *const suites[] = { &validation_bgq, NULL };
  const ValidationWatch watch = { .report = on_result, .data = n_results };

  return validation_run (suites, names, &watch, error);
}

static const char *const latency[] = { "mpi_latency_neighbour", "mpi_latency_nearest",
                                       "mpi_latency_farthest", "latency_per_hop", NULL };
static const char *const bandwidth[] = { "mpi_bandwidth_lowest", "mpi_bandwidth_highest",
                                         "mpi_bandwidth_e_neighbour", NULL };
static const char *const patterns[] = { "shift_slowest",
                                        "shift_fastest",
                                        "alltoall_efficiency",
                                        "pairing_efficiency",
                                        "transpose_gain",
                                        "geometry_gain",
                                        NULL };

static void
test_figures_agree (gconstpointer names)
{
  g_autoptr (GError) error = NULL;
  guint n_results = 0;

#ifdef WITH_SANITIZERS
  if (names == patterns) {
    g_test_skip ("takes minutes with sanitizers");
    return;
  }
#endif
  g_assert_true (run (names, &n_results, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (n_results, ==, g_strv_length ((char **) names));
}

static void
test_refuses_unknown_names (void)
{
  static const char *const names[] = { "latency_per_hop", "no_such_figure", NULL };
  g_autoptr (GError) error = NULL;
  guint n_results = 0;

  g_assert_false (run (names, &n_results, &error));
  g_assert_error (error, VALIDATION_ERROR, VALIDATION_ERROR_NAME);
  g_assert_cmpuint (n_results, ==, 0);
}

/* A long message and a short one, far apart: each has its own time.  2^20 bytes
 * cannot take less than 524 us on a raw link of 2 GB/s; 512 bytes on an idle
 * hop take less than a microsecond. */
static void
test_pattern_reports_each_message (void)
{
  const ValidationMessage messages[] = {
    { 0, 1, 1 << 20, SIM_MESSAGE_DIRECT },
    { 2, 3, 512, SIM_MESSAGE_DATA },
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMachine) machine = topo_machine_new ("torus:8", &error);
  g_autofree int64_t *delivered_ps =
      validation_pattern_run (machine, ROUTE_POLICY_DEFAULT, NULL, messages, 2, &error);

  g_assert_no_error (error);
  g_assert_cmpint (delivered_ps[1], >, 512 * INT64_C (500));
  g_assert_cmpint (delivered_ps[1], <, 1000000);
  g_assert_cmpint (delivered_ps[0], >, (INT64_C (1) << 20) * 500);
  g_assert_cmpint (validation_pattern_end_ps (delivered_ps, 2), ==, delivered_ps[0]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/validation/bgq/latency", latency, test_figures_agree);
  g_test_add_data_func ("/validation/bgq/bandwidth", bandwidth, test_figures_agree);
  g_test_add_data_func ("/validation/bgq/patterns", patterns, test_figures_agree);
  g_test_add_func ("/validation/bgq/refuses-unknown-names", test_refuses_unknown_names);
  g_test_add_func ("/validation/bgq/pattern-reports-each-message",
                   test_pattern_reports_each_message);
  return g_test_run ();
}
