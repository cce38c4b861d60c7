/* table_copy.h - a table again, with more columns.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/table/table.h"

#include <stdio.h>

typedef struct {
  const char *name;
  const double *values; /* [n_rows] */
} CliNewColumn;

/* Makes standard input readable twice: what is no file is put aside in one.  To be called before
 * it is read for the first time. */
gboolean cli_keep_input (GError **error);

/* CSV: the lines of the file at `path` ("-": standard input, see above) that `table` was read from,
 * to the letter, each with its numbers of `columns` (ended by a NULL name) behind it; the cells of a
 * table that is in no file.  Empty lines are dropped.  FALSE and *error: a name that the table has,
 * a file that has changed since.  Errors of `out` are for its owner to find. */
gboolean cli_table_copy (const PredictTable *table, const char *path, const CliNewColumn *columns,
                         FILE *out, GError **error);
