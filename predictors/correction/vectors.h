/* vectors.h - parameters of a model, drawn, crossed and mutated within their bounds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/formula/base_model.h"
#include "base/random.h"

/* A value as it is searched: its logarithm where the bounds say so; and the value back from that, not
 * outside of the bounds. */
double predict_parameter_inner (const PredictParameter *bounds, double value);
double predict_parameter_outer (const PredictParameter *bounds, double inner);

/* vector[n]: uniform within bounds. */
void predict_vector_draw (const PredictParameter *bounds, uint32_t n, BaseRandom *random,
                          double *vector);

/* child[n]: blend crossover (BLX-0.5; Eshelman and Schaffer 1993); then, with the chance `mutation`
 * each, a step of a normal distribution whose standard deviation is a tenth of the range. */
void
predict_vector_cross (const PredictParameter *bounds, uint32_t n, const double *mother,
                      const double *father, double mutation, BaseRandom *random, double *child);

/* Mean 0, variance 1: the sum of twelve uniform numbers, with the same bits everywhere. */
double predict_random_normal (BaseRandom *random);
