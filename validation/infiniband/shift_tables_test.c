/* shift_tables_test.c - shifts on a real director switch with its real tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The Avakas cluster has a switch of the maker and kind of the one that PNNL
 * measured 1.3 to 2.5 GB/s per node on, from 2.8 for a pair alone, and its
 * forwarding tables are public.  PNNL's 1.3 is three messages on a link of
 * 3.95 GB/s, which those tables make and evenly spread ones do not. */
#include "validation/infiniband/infiniband.h"

#include ".ci/test_data.h"

#define FABRIC "fabrics/avakas/ib-subnet-fe80_0000_0000_0000.txt"
#define TABLES "fabrics/avakas/ibroutes"

static void
test_shifts_of_avakas (void)
{
  g_autofree char *path = test_data (FABRIC);
  g_autofree char *tables = test_data (TABLES);
  g_autofree char *spec = g_strdup_printf ("fabric:%s,routes=%s", path, tables);
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (GError) error = NULL;
  double slowest_Bps, fastest_Bps;

  if (path == NULL || tables == NULL)
    return;
  machine = validation_machine_new (spec, ib_shift_settings, &error);
  g_assert_no_error (error);
  for (uint32_t seed = 1; seed <= 3; seed++) {
    g_assert_true (ib_shift_range (machine, seed, NULL, &slowest_Bps, &fastest_Bps, &error));
    g_assert_no_error (error);
    g_test_message ("seed %u: %.3f .. %.3f GB/s", seed, slowest_Bps * 1e-9, fastest_Bps * 1e-9);
    g_assert_cmpfloat (slowest_Bps, >, 1.3e9 * 0.85);
    g_assert_cmpfloat (slowest_Bps, <, 1.3e9 * 1.05);
    g_assert_cmpfloat (fastest_Bps, >, 2.5e9);
    g_assert_cmpfloat (fastest_Bps, <, 2.8e9);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/validation/shift-tables/avakas", test_shifts_of_avakas);
  return g_test_run ();
}
