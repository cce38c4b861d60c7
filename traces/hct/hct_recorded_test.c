/* hct_recorded_test.c - traces of real programs come back from .hct field by
 * field.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/hct/hct_testing.h"

static const char *const recorded[] = {
  "npb-bt-W-16", "npb-cg-A-16", "npb-ep-A-16", "npb-ft-W-16", "npb-is-A-16",
  "npb-lu-W-16", "npb-mg-A-16", "npb-sp-W-16", "comd-256-ti",
};

static const char *const shared[] = {
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
check_comes_back (const char *path)
{
  g_autoptr (Trace) trace = trace_testing_open (path);

  hct_testing_round_trip (trace);
}

static void
test_shared (gconstpointer name)
{
  g_autofree char *path = trace_testing_shared (name);

  if (path != NULL)
    check_comes_back (path);
}

static void
test_recorded (gconstpointer name)
{
  char *folder = NULL;
  g_autofree char *path = trace_testing_recorded (name, &folder);

  if (path == NULL)
    return;
  check_comes_back (path);
  trace_testing_remove (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (recorded); i++) {
    g_autofree char *path = g_strconcat ("/traces/hct/recorded/", recorded[i], NULL);

    g_test_add_data_func (path, recorded[i], test_recorded);
  }
  for (guint i = 0; i < G_N_ELEMENTS (shared); i++) {
    g_autofree char *path = g_strconcat ("/traces/hct/shared/", shared[i], NULL);

    g_test_add_data_func (path, shared[i], test_shared);
  }
  return g_test_run ();
}
