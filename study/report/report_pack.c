/* report_pack.c - many numbers in a page: a byte each, compressed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/report/report_pack.h"

#include "study/report/report_json.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

#define LEVELS 256

typedef struct {
  gboolean exact;
  guint n;
  double value[LEVELS];
} Levels;

static int
compare_values (const void *left, const void *right)
{
  uint64_t a = *(const uint64_t *) left, b = *(const uint64_t *) right;

  return (a > b) - (a < b);
}

/* Level 0 is no bytes, levels 1 to 255 are equal factors apart. */
static void
set_logarithmic (Levels *levels, uint64_t low, uint64_t high)
{
  double step = log ((double) high / (double) low) / (LEVELS - 2);

  levels->n = LEVELS;
  levels->value[0] = 0;
  for (guint level = 1; level < LEVELS; level++)
    levels->value[level] = rint ((double) low * exp ((level - 1) * step));
  levels->value[1] = (double) low;
  levels->value[LEVELS - 1] = (double) high;
}

static void
find_levels (Levels *levels, const uint64_t *values, gsize n)
{
  g_autofree uint64_t *sorted = g_memdup2 (values, n * sizeof *values);
  gsize n_different = 0;

  qsort (sorted, n, sizeof *sorted, compare_values);
  for (gsize i = 0; i < n; i++)
    if (i == 0 || sorted[i] != sorted[i - 1])
      sorted[n_different++] = sorted[i];
  levels->exact = n_different <= LEVELS;
  if (!levels->exact) {
    set_logarithmic (levels, sorted[sorted[0] == 0], sorted[n_different - 1]);
    return;
  }
  levels->n = (guint) n_different;
  for (guint level = 0; level < levels->n; level++)
    levels->value[level] = (double) sorted[level];
}

/* The level nearest to a value; no bytes and some bytes are never mixed up. */
static guint8
code_of (const Levels *levels, double value)
{
  guint low = 0, high = levels->n - 1;

  while (high - low > 1) {
    guint middle = (low + high) / 2;

    if (levels->value[middle] <= value)
      low = middle;
    else
      high = middle;
  }
  if (value > 0 && levels->value[low] == 0)
    return (guint8) high;
  return (guint8) (levels->value[high] - value < value - levels->value[low] ? high : low);
}

void
study_pack_bytes (GString *json, const void *bytes, gsize n)
{
  uLongf size = compressBound (n);
  g_autofree guint8 *packed = g_malloc (size);
  g_autofree char *text = NULL;
  int status = compress2 (packed, &size, bytes, n, Z_BEST_COMPRESSION);

  g_assert (status == Z_OK);
  text = g_base64_encode (packed, size);
  g_string_append_printf (json, "\"%s\"", text);
}

void
study_pack_values (GString *json, const uint64_t *values, gsize n)
{
  g_autofree guint8 *codes = g_malloc (MAX (n, 1));
  Levels levels = { .exact = TRUE };

  if (n > 0)
    find_levels (&levels, values, n);
  for (gsize i = 0; i < n; i++)
    codes[i] = code_of (&levels, (double) values[i]);
  g_string_append_c (json, '{');
  study_json_member (json, "exact");
  g_string_append (json, levels.exact ? "true" : "false");
  study_json_member (json, "levels");
  g_string_append_c (json, '[');
  for (guint level = 0; level < levels.n; level++) {
    study_json_next (json);
    study_json_number (json, levels.value[level]);
  }
  g_string_append_c (json, ']');
  study_json_member (json, "codes");
  study_pack_bytes (json, codes, n);
  g_string_append_c (json, '}');
}
