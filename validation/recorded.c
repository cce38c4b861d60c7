/* recorded.c - results of long studies that are part of the tree.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/recorded.h"

#include <glib.h>
#include <math.h>
#include <string.h>

/* validation/data/recorded.csv as a string, made by the build. */
const char validation_recorded_csv[] =
#include "validation/recorded.inc"
    ;

enum { SUITE, NAME, SIMULATED, LOWER, UPPER, VERDICT, COMMIT, N_COLUMNS };

static double
number_of (const char *field)
{
  return *field == '\0' ? (double) NAN : g_ascii_strtod (field, NULL);
}

bool
validation_recorded_find (const char *suite, const char *name, ValidationRecorded *recorded)
{
  g_autofree char *start = g_strdup_printf ("\n%s,%s,", suite, name);
  const char *at = strstr (validation_recorded_csv, start);
  g_autofree char *line = NULL;
  g_auto (GStrv) fields = NULL;

  if (at == NULL)
    return false;
  at++;
  line = g_strndup (at, strcspn (at, "\n"));
  fields = g_strsplit (line, ",", -1);
  g_assert (g_strv_length (fields) == N_COLUMNS);
  *recorded = (ValidationRecorded){ .simulated = number_of (fields[SIMULATED]),
                                    .lower = number_of (fields[LOWER]),
                                    .upper = number_of (fields[UPPER]),
                                    .agrees = strcmp (fields[VERDICT], "agrees") == 0 };
  g_strlcpy (recorded->commit, fields[COMMIT], sizeof recorded->commit);
  return true;
}
