/* friedman_testing.h - tables of a known law, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Friedman, "Multivariate adaptive regression splines" (1991), equations 61 to 64, with the
 * noise that scikit-learn's reference values were made with: standard deviation 1, 125
 * and 0.1. */
#pragma once

#include "predictors/table/samples.h"

/* Columns x0 ... and y of function 1 (ten features, five of them idle), 2 or 3 (four features). */
PredictTable *friedman_table (guint function, uint64_t n_rows, uint64_t seed);

/* Function 1 of n_features >= 5, all but five of them idle; of ten, those of the table. */
PredictSamples *friedman_samples (uint64_t n_samples, guint n_features, uint64_t seed);

/* Every row so many times, with another small noise (a tenth), as one mapping is measured several
 * times; a column "group" numbers the rows that they come from. */
PredictTable *
friedman_table_repeated (guint function, uint64_t n_rows, uint64_t seed, guint repeats);
