/* regression_fixture.h - samples for the tests and the benchmark of what learns.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/random.h"
#include "predictors/samples.h"

/* All zero; regression_free(). */
PredictSamples *regression_new (uint64_t n_samples, guint n_features);
void regression_free (PredictSamples *samples);

/* Friedman's first function (1991) of the first five features, all uniform in [0, 1), and
 * noise of the standard deviation 1.  n_features >= 5. */
PredictSamples *regression_friedman (uint64_t n_samples, guint n_features, uint64_t seed);

/* The set `name` ("diabetes", "friedman1"), whose last column is the target; NULL: the reference
 * data is not here. */
PredictSamples *regression_read (const char *name, const char *part);

/* The file `name` among the reference data of the forest; NULL: it is not here.  The caller
 * frees. */
char *regression_path (const char *name);

/* 1 - squared errors / squared deviations from the mean. */
double regression_r2 (const double *observed, const double *predicted, uint64_t n);
