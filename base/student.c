/* student.c - Student's distribution, for intervals of means.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/student.h"

#include <math.h>

#define HALF_PI 1.57079632679489661923

/* The probability of -t ... t. */
static double
probability_within (double t, unsigned degrees)
{
  double angle = atan2 (t, sqrt (degrees)), cosine = cos (angle);
  unsigned first = degrees % 2 != 0 ? 3 : 2; /* degrees of freedom of the sum's first term */
  double term = degrees % 2 != 0 ? cosine : 1, sum = 0;

  for (unsigned at = first; at <= degrees; at += 2) {
    sum += term;
    term *= cosine * cosine * (at - 1) / at;
  }
  return degrees % 2 != 0 ? (angle + sin (angle) * sum) / HALF_PI : sin (angle) * sum;
}

double
base_student_within (double probability, unsigned degrees)
{
  double low = 0, high = 1;

  while (probability_within (high, degrees) < probability && high < 1e16)
    high *= 2;
  for (double middle = high / 2; middle > low && middle < high; middle = low + (high - low) / 2)
    if (probability_within (middle, degrees) < probability)
      low = middle;
    else
      high = middle;
  return high;
}

double
base_student_above (double t, unsigned degrees)
{
  double beyond = (1 - probability_within (fabs (t), degrees)) / 2;

  return t < 0 ? 1 - beyond : beyond;
}
