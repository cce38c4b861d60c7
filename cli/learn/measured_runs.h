/* measured_runs.h - which runs of a store were measured, by what a table says of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/table/table.h"

/* For each row of `measured` the run that it names: a table of these rows of `runs` (of
 * study_learning_table()), whose places are those of `measured`.  A run is named by those columns
 * of `measured` that tell what goes into a run: trace, machine, mapping, and so on.  Its columns of
 * numbers that no run has, but `observed`, are there too.  NULL and *error: no column names a run,
 * or a row names none, several, or one that was named before. */
PredictTable *cli_measured_runs (const PredictTable *runs, const PredictTable *measured,
                                 const char *observed, GError **error);
