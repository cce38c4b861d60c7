/* fake_fitted.h - a learner whose answers are known beforehand, for tests of its callers.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for fitted.c: PREDICT_MEAN is the mean of y; PREDICT_TREE is y of the nearest sample
 * it has learned from (sum of absolute differences, the first of equals), and the deviation is the
 * distance; PREDICT_LINEAR cannot be fitted; its error names the first y.  Threads are as many
 * as in the settings. */
#pragma once

#include "predictors/model/fitted.h"
