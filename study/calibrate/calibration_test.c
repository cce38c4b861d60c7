/* calibration_test.c - planted parameters come back; those that the figures do not determine are named.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/calibrate/calibration.h"

#include "study/aggregate/network_pingpong.h"
#include "study/study_error.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define SPEC "edr:2,node=skylake"

/* --- Synthetic figures --- */

/* A table of `name`, with the placement of ranks_per_node ranks on a node; figures are added by
 * measure(). */
static StudyMeasured *
table_new (const char *name, uint32_t ranks_per_node, const uint64_t *sizes, guint n_sizes,
           StudyBenchmarkUnit unit)
{
  StudyMeasured *table = g_new0 (StudyMeasured, 1);

  *table = (StudyMeasured){ .name = g_strdup (name),
                            .benchmark = study_benchmark_find (name),
                            .path = g_strdup_printf ("%s-%u.txt", name, ranks_per_node),
                            .first_line = 3,
                            .last_line = 2 + n_sizes,
                            .n_ranks = 2,
                            .ranks_per_node = ranks_per_node,
                            .points = g_array_new (FALSE, FALSE, sizeof (StudyMeasuredPoint)) };
  for (guint at = 0; at < n_sizes; at++) {
    StudyMeasuredPoint point = {
      .run = { table->benchmark, 2, STUDY_BENCHMARK_WINDOW, sizes[at], unit }, .measured = 1
    };

    g_array_append_val (table->points, point);
  }
  return table;
}

static GPtrArray *
tables_new (void)
{
  static const uint64_t sizes[] = { 1, 8, 64, 512, 1024, 4096, 8192, 16384, 65536, 1048576 };
  GPtrArray *tables = g_ptr_array_new_with_free_func (study_measured_free);

  g_ptr_array_add (tables, table_new ("osu_latency", 1, sizes, 10, STUDY_BENCHMARK_US));
  g_ptr_array_add (tables, table_new ("osu_latency", 2, sizes, 10, STUDY_BENCHMARK_US));
  g_ptr_array_add (tables, table_new ("osu_bw", 1, sizes, 8, STUDY_BENCHMARK_MBPS));
  return tables;
}

/* Sets the figures to what the machine simulates, with errors of about a hundredth. */
static void
measure (GPtrArray *tables, TopoMachine *machine)
{
  g_autofree double *logs = g_new (double, 1000);
  double *log_time = logs;

  g_assert_true (study_calibration_test (machine, tables, 1e6, 1, NULL, NULL, logs, NULL));
  for (guint at = 0; at < tables->len; at++) {
    StudyMeasured *table = g_ptr_array_index (tables, at);

    for (guint i = 0; i < table->points->len; i++, log_time++) {
      StudyMeasuredPoint *point = &g_array_index (table->points, StudyMeasuredPoint, i);
      double noise = 0.01 * sin (5.0 * (double) (log_time - logs) + 1);

      point->measured =
          exp ((point->run.unit == STUDY_BENCHMARK_US ? 1 : -1) * (*log_time + noise));
    }
  }
}

static TopoMachine *
machine_new (const char *const *settings)
{
  TopoMachine *machine = topo_machine_new (SPEC, NULL);

  g_assert_nonnull (machine);
  for (; settings != NULL && *settings != NULL; settings += 2)
    g_assert_true (topo_parameters_set (&machine->parameters, settings[0], settings[1], NULL));
  return machine;
}

static const StudyCalibrated *
parameter_of (const StudyCalibration *calibration, const char *key)
{
  for (guint at = 0; at < calibration->parameters->len; at++) {
    const StudyCalibrated *parameter = g_ptr_array_index (calibration->parameters, at);

    if (strcmp (parameter->key, key) == 0)
      return parameter;
  }
  g_assert_not_reached ();
}

static double
number_of (TopoUnit unit, const char *text)
{
  TopoValue value;

  g_assert_true (topo_unit_parse (unit, text, &value, NULL));
  return (double) value.whole;
}

/* --- Tests --- */

static const char *const planted[] = { "hca.receive_latency",
                                       "450 ns",
                                       "hca.read_latency",
                                       "700 ns",
                                       "ucx.copy_bandwidth",
                                       "9 GB/s",
                                       "memory.transfer_latency",
                                       "130 ns",
                                       NULL };

static void
test_planted_parameters_come_back (void)
{
  g_autoptr (GPtrArray) tables = tables_new ();
  g_autoptr (TopoMachine) truth = machine_new (planted);
  g_autoptr (TopoMachine) machine = machine_new (NULL);
  g_autoptr (StudyCalibration) calibration = NULL;
  g_autofree char *text = NULL, *path = NULL;
  g_autoptr (TopoMachine) again = NULL;
  GError *error = NULL;

  /* The ranks of a node are in different packages. */
  g_assert_true (topo_machine_set_cores (truth, "scatter", NULL) &&
                 topo_machine_set_cores (machine, "scatter", NULL));
  measure (tables, truth);
  calibration = study_calibrate (machine, tables, 0, NULL, NULL, &error);
  g_assert_no_error (error);
  for (guint at = 0; at < calibration->parameters->len; at++) {
    const StudyCalibrated *parameter = g_ptr_array_index (calibration->parameters, at);

    if (parameter->is_fitted)
      g_test_message ("%s: %s, now %s in %s to %s by %s", parameter->key, parameter->initial,
                      parameter->value, parameter->low, parameter->high, parameter->why);
  }
  g_test_message ("%.4f %.4f %.4f", calibration->before.spread, calibration->after.spread,
                  calibration->predicted.spread);
  for (guint at = 0; planted[at] != NULL; at += 2) {
    const StudyCalibrated *parameter = parameter_of (calibration, planted[at]);
    TopoUnit unit = strstr (planted[at], "bandwidth") ? TOPO_UNIT_BANDWIDTH : TOPO_UNIT_TIME;
    double value = number_of (unit, planted[at + 1]);

    g_assert_true (parameter->is_fitted);
    g_assert_cmpfloat (number_of (unit, parameter->low), <=, value);
    g_assert_cmpfloat (number_of (unit, parameter->high), >=, value);
  }
  g_assert_cmpfloat (calibration->before.spread, >, 0.05);
  g_assert_cmpfloat (calibration->after.spread, <, 0.012);

  /* The file is a machine with these parameters, and names their origin. */
  text = study_calibration_print (calibration, machine, tables);
  g_assert_nonnull (strstr (text, "calibrated [M], 95 % interval "));
  g_assert_nonnull (strstr (text, "osu_latency-1.txt:3-12"));
  g_assert_nonnull (strstr (text, "#   ib.cable_latency: not to be told from hca.receive_latency"));
  g_assert_true (g_close (g_file_open_tmp ("hopcast-XXXXXX.conf", &path, NULL), NULL));
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  again = topo_machine_new (path, &error);
  g_remove (path);
  g_assert_no_error (error);
  g_assert_cmpmem (&again->parameters, sizeof again->parameters, &machine->parameters,
                   sizeof machine->parameters);
  g_assert_cmpmem (again->slot_core, 48, machine->slot_core, 48);
}

/* Of messages between nodes only the largest of the latencies in a row is told, and nothing of the node. */
static void
test_what_is_not_determined (void)
{
  g_autoptr (GPtrArray) tables = tables_new ();
  g_autoptr (TopoMachine) machine = machine_new (NULL);
  g_autoptr (StudyCalibration) calibration = NULL;
  GError *error = NULL;

  measure (tables, machine);
  g_ptr_array_remove_index (tables, 2);
  g_ptr_array_remove_index (tables, 1);
  calibration = study_calibrate (machine, tables, 0, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (parameter_of (calibration, "mpi.sm_latency")->why, ==,
                   "no effect on these figures");
  g_assert_cmpstr (parameter_of (calibration, "switch.latency")->why, ==,
                   "not to be told from hca.receive_latency");
  g_assert_cmpuint (
      machine->parameters.switches.latency_ps, ==,
      number_of (TOPO_UNIT_TIME, parameter_of (calibration, "switch.latency")->initial));
}

static void
test_collectives_are_not_fitted (void)
{
  static const uint64_t sizes[] = { 8, 64, 512 };
  g_autoptr (GPtrArray) collectives = g_ptr_array_new_with_free_func (study_measured_free);
  g_autoptr (TopoMachine) machine = machine_new (NULL);
  g_autoptr (StudyCalibration) none = NULL;
  g_autoptr (GError) error = NULL;

  g_ptr_array_add (collectives, table_new ("osu_allreduce", 1, sizes, 3, STUDY_BENCHMARK_US));
  none = study_calibrate (machine, collectives, 0, NULL, NULL, &error);
  g_assert_null (none);
  g_assert_error (error, STUDY_ERROR, STUDY_ERROR_INPUT);
  g_assert_nonnull (strstr (error->message, "0 figures of messages"));
}

/* A torus has parameters of its own. */
static void
test_torus (void)
{
  static const uint64_t sizes[] = { 1, 64, 512, 2048, 16384, 262144 };
  g_autoptr (GPtrArray) tables = g_ptr_array_new_with_free_func (study_measured_free);
  g_autoptr (TopoMachine) truth = topo_machine_new ("torus:4", NULL);
  g_autoptr (TopoMachine) machine = topo_machine_new ("torus:4", NULL);
  g_autoptr (StudyCalibration) calibration = NULL;
  const StudyCalibrated *parameter;
  GError *error = NULL;

  g_assert_true (topo_parameters_set (&truth->parameters, "mpi.send_overhead", "2 us", NULL) &&
                 topo_parameters_set (&truth->parameters, "mpi.shm_bandwidth", "9 GB/s", NULL));
  g_ptr_array_add (tables, table_new ("osu_latency", 1, sizes, 6, STUDY_BENCHMARK_US));
  g_ptr_array_add (tables, table_new ("osu_latency", 2, sizes, 6, STUDY_BENCHMARK_US));
  measure (tables, truth);
  calibration = study_calibrate (machine, tables, 0, NULL, NULL, &error);
  g_assert_no_error (error);
  parameter = parameter_of (calibration, "mpi.shm_bandwidth");
  g_assert_true (parameter->is_fitted);
  g_assert_cmpfloat (number_of (TOPO_UNIT_BANDWIDTH, parameter->low), <=, 9e9);
  g_assert_cmpfloat (number_of (TOPO_UNIT_BANDWIDTH, parameter->high), >=, 9e9);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/study/calibration/planted-parameters-come-back",
                   test_planted_parameters_come_back);
  g_test_add_func ("/study/calibration/what-is-not-determined", test_what_is_not_determined);
  g_test_add_func ("/study/calibration/collectives-are-not-fitted",
                   test_collectives_are_not_fitted);
  g_test_add_func ("/study/calibration/torus", test_torus);
  return g_test_run ();
}
