/* pingpong_reread.c - a table of bounds, read and written again; for the test of hopcast-pingpong.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Usage: pingpong_reread TABLE.csv */
#include "predictors/aggregation/bound_table.h"

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (PredictBoundTable) table =
      argc == 2 ? predict_bound_table_read (argv[1], &error) : NULL;

  if (table == NULL) {
    fprintf (stderr, "pingpong_reread: %s\n", error != NULL ? error->message : "one table");
    return 1;
  }
  predict_bound_table_write (table, stdout);
  return 0;
}
