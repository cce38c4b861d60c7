/* sort_rows.c - the rows of a table in the order of one feature, by radix.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/forest/sort_rows.h"

#include <glib.h>
#include <string.h>

/* Ascending as the float is: negative ones have all bits turned, the others the sign. */
static inline uint32_t
sort_key (float value)
{
  uint32_t bits;

  value += 0.0f; /* -0 is 0 */
  memcpy (&bits, &value, sizeof bits);
  return bits ^ ((uint32_t) - (int32_t) (bits >> 31) | 0x80000000u);
}

void
predict_sort_rows (const float *values, uint64_t n, uint32_t *rows, uint32_t *spare)
{
  enum { BITS = 11, BUCKETS = 1 << BITS };

  for (uint64_t i = 0; i < n; i++)
    rows[i] = (uint32_t) i;
  for (guint shift = 0; shift < 32; shift += BITS) {
    uint64_t start[BUCKETS + 1] = { 0 };

    for (uint64_t i = 0; i < n; i++)
      start[(sort_key (values[i]) >> shift) % BUCKETS + 1]++;
    for (guint bucket = 0; bucket < BUCKETS; bucket++)
      start[bucket + 1] += start[bucket];
    for (uint64_t i = 0; i < n; i++)
      spare[start[(sort_key (values[rows[i]]) >> shift) % BUCKETS]++] = rows[i];
    memcpy (rows, spare, n * sizeof *rows);
  }
}
