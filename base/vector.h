/* vector.h - sums over arrays of numbers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* The inner product of a[n] and b[n], added from front to back: the same on every machine. */
static inline double
base_dot (const double *a, const double *b, size_t n)
{
  double sum = 0;

  for (size_t i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}
