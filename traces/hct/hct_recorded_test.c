/* hct_recorded_test.c - traces of real programs come back from .hct field by
 * field.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/hct/hct_testing.h"

static const char *const names[] = {
  "recorded/npb-bt-W-16",
  "recorded/npb-cg-A-16",
  "recorded/npb-ep-A-16",
  "recorded/npb-ft-W-16",
  "recorded/npb-is-A-16",
  "recorded/npb-lu-W-16",
  "recorded/npb-mg-A-16",
  "recorded/npb-sp-W-16",
  "recorded/comd-256-ti",
  "dumpi/amg-27-hopper/dumpi-2014.03.03.14.55.00.meta",
  "dumpi/gen-lammps-lj-16/dumpi-2026.11.20.11.54.52.meta",
  "dumpi/gen-lulesh-27/dumpi-2026.11.20.12.00.06.meta",
  "dumpi/sst-testbgp-bluegene/testbgp.meta",
  "dumpi/sst-testtrace-4/testtrace.meta",
  "ti/gen-lulesh-27/lulesh-27.txt",
  "ti/gen-nas-is-S-16/nas-is-S-16.txt",
  "ti/simgrid-manual-deploy/mixed.txt",
};

static void
test_comes_back (gconstpointer name)
{
  g_autoptr (TraceTestingFolder) folder = NULL;
  g_autofree char *path = trace_testing_recorded (name, &folder);
  g_autoptr (Trace) trace = path != NULL ? trace_testing_open (path) : NULL;

  if (trace != NULL)
    hct_testing_round_trip (trace);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *path = g_strconcat ("/traces/hct/", names[i], NULL);

    g_test_add_data_func (path, names[i], test_comes_back);
  }
  return g_test_run ();
}
