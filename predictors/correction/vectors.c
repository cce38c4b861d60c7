/* vectors.c - parameters of a model, drawn, crossed and mutated within their bounds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/formula/elementary.h"
#include "predictors/correction/vectors.h"

#define BLEND 0.5 /* of BLX-0.5 */
#define STEP  0.1 /* of the range */

double
predict_parameter_inner (const PredictParameter *bounds, double value)
{
  return bounds->log ? predict_log (value) : value;
}

double
predict_parameter_outer (const PredictParameter *bounds, double inner)
{
  return CLAMP (bounds->log ? predict_exp (inner) : inner, bounds->low, bounds->high);
}

double
predict_random_normal (BaseRandom *random)
{
  double sum = -6;

  for (int i = 0; i < 12; i++)
    sum += base_random_unit (random);
  return sum;
}

void
predict_vector_draw (const PredictParameter *bounds, uint32_t n, BaseRandom *random, double *vector)
{
  for (uint32_t at = 0; at < n; at++) {
    double low = predict_parameter_inner (&bounds[at], bounds[at].low);
    double high = predict_parameter_inner (&bounds[at], bounds[at].high);

    vector[at] =
        predict_parameter_outer (&bounds[at], low + (high - low) * base_random_unit (random));
  }
}

void
predict_vector_cross (const PredictParameter *bounds, uint32_t n, const double *mother,
                      const double *father, double mutation, BaseRandom *random, double *child)
{
  for (uint32_t at = 0; at < n; at++) {
    double a = predict_parameter_inner (&bounds[at], mother[at]);
    double b = predict_parameter_inner (&bounds[at], father[at]);
    double range = predict_parameter_inner (&bounds[at], bounds[at].high) -
                   predict_parameter_inner (&bounds[at], bounds[at].low);
    double value = a + ((1 + 2 * BLEND) * base_random_unit (random) - BLEND) * (b - a);

    if (base_random_unit (random) < mutation)
      value += STEP * range * predict_random_normal (random);
    child[at] = predict_parameter_outer (&bounds[at], value);
  }
}
