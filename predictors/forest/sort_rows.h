/* sort_rows.h - the rows of a table in the order of one feature.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* rows[n]: 0 ... n - 1 by ascending value.  By radix; stable: of equal values, the lower row comes
 * first.  -0 is 0.  No value is NaN.  spare[n] is overwritten. */
void predict_sort_rows (const float *values, uint64_t n, uint32_t *rows, uint32_t *spare);
