/* regression_fixture.h - sets of numbers that other programs have learned from too.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/table/samples.h"

/* The file `name` among the reference data of the forest; NULL, and the test is skipped: it is not
 * here.  The caller frees. */
char *regression_path (const char *name);

/* The `part` ("train", "test") of the set `name` ("diabetes", "friedman1"); the last column is the
 * target.  NULL, and the test is skipped: it is not here. */
PredictTable *regression_table (const char *name, const char *part);
PredictSamples *regression_samples (const char *name, const char *part);
