/* double_double.h - sums and products with twice the digits of a double.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A number is the unevaluated sum of two doubles, the second below half a unit in
 * the last place of the first: 106 bits (Dekker 1971; Hida, Li, Bailey 2001). */
#pragma once

#include <math.h>

typedef struct {
  double high, low;
} PredictDouble2;

/* high + low = a + b exactly (Knuth). */
static inline PredictDouble2
predict_double2_sum (double a, double b)
{
  double high = a + b, of_b = high - a;

  return (PredictDouble2){ high, (a - (high - of_b)) + (b - of_b) };
}

/* a + b, relative error below 2^-104 unless they cancel. */
static inline PredictDouble2
predict_double2_add (PredictDouble2 a, PredictDouble2 b)
{
  PredictDouble2 high = predict_double2_sum (a.high, b.high);
  PredictDouble2 low = predict_double2_sum (a.low, b.low);
  double middle = high.low + low.high, sum = high.high + middle;

  return predict_double2_sum (sum, middle - (sum - high.high) + low.low);
}

/* a b. */
static inline PredictDouble2
predict_double2_times (PredictDouble2 a, double b)
{
  double high = a.high * b;

  return predict_double2_sum (high, fma (a.high, b, -high) + a.low * b);
}
