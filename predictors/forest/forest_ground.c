/* forest_ground.c - what all trees grow on, and what one draws of it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/forest/forest_private.h"

#include <math.h>
#include <string.h>

/* --- Targets --- */

/* A power of two changes no digit, and keeps squares of large targets finite. */
static void
scale_targets (PredictGround *ground)
{
  const PredictSamples *samples = ground->samples;
  double largest = 0;
  int exponent;

  for (uint64_t i = 0; i < samples->n_samples; i++)
    largest = fmax (largest, fabs (samples->y[i]));
  frexp (largest, &exponent);
  ground->unit = ldexp (1, exponent - 1);
  ground->y = g_new (double, samples->n_samples);
  for (uint64_t i = 0; i < samples->n_samples; i++)
    ground->y[i] = ldexp (samples->y[i], 1 - exponent);
}

/* --- Features by rows --- */

/* A row is at most a cache line, or some whole ones. */
static size_t
row_floats (guint n_features)
{
  size_t floats = 1;

  if (n_features >= PREDICT_LANES)
    return (n_features + PREDICT_LANES - 1) / PREDICT_LANES * (size_t) PREDICT_LANES;
  while (floats < n_features)
    floats *= 2;
  return floats;
}

static float *
aligned_floats (size_t n)
{
  void *block = NULL;

  if (posix_memalign (&block, 64, n * sizeof (float)) != 0)
    g_error ("no memory for %zu values", n);
  return block;
}

/* Some rows at a time, so that the lines that are written stay in the cache. */
static void
by_rows (PredictGround *ground)
{
  enum { TOGETHER = 64 };
  const PredictSamples *samples = ground->samples;
  uint64_t n = samples->n_samples;
  size_t stride = row_floats (samples->n_features);
  size_t all = n * stride + PREDICT_LANES;
  float *rows = aligned_floats (all);

  for (uint64_t first = 0; first < n; first += TOGETHER) {
    uint64_t end = MIN (n, first + TOGETHER);

    memset (rows + first * stride, 0, (end - first) * stride * sizeof *rows);
    for (guint feature = 0; feature < samples->n_features; feature++)
      for (uint64_t row = first; row < end; row++)
        rows[row * stride + feature] = samples->x[feature * n + row];
  }
  memset (rows + n * stride, 0, PREDICT_LANES * sizeof *rows);
  ground->rows = rows;
  ground->x = rows;
  ground->row_stride = stride;
  ground->feature_stride = 1;
}

/* --- Features in order --- */

/* Ascending as the float is: negative ones have all bits turned, the others the sign. */
static inline uint32_t
sort_key (float value)
{
  uint32_t bits;

  value += 0.0f; /* -0 is 0 */
  memcpy (&bits, &value, sizeof bits);
  return bits ^ ((uint32_t) - (int32_t) (bits >> 31) | 0x80000000u);
}

/* Stable: of equal values, the lower row comes first. */
static void
sort_rows (const float *values, uint64_t n, uint32_t *rows, uint32_t *spare)
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

static void
by_order (PredictGround *ground)
{
  const PredictSamples *samples = ground->samples;
  uint64_t n = samples->n_samples;
  g_autofree uint32_t *spare = g_new (uint32_t, n);

  ground->order = g_new (uint32_t, n * samples->n_features);
  for (guint feature = 0; feature < samples->n_features; feature++)
    sort_rows (samples->x + feature * n, n, ground->order + feature * n, spare);
  ground->x = samples->x;
  ground->row_stride = 1;
  ground->feature_stride = n;
}

/* --- The ground --- */

void
predict_ground_init (PredictGround *ground, const PredictSamples *samples,
                     const PredictSettings *settings)
{
  guint wanted = settings->max_features;

  *ground = (PredictGround){ .samples = samples, .settings = settings };
  ground->max_features = wanted == 0 ? samples->n_features : MIN (wanted, samples->n_features);
  ground->best = settings->method != PREDICT_EXTRA_TREES;
  scale_targets (ground);
  if (ground->best)
    by_order (ground);
  else
    by_rows (ground);
  if (settings->bootstrap) {
    ground->n_words = (samples->n_samples + 63) / 64;
    ground->in_bag = g_new0 (uint64_t, ground->n_words * settings->trees);
  }
}

void
predict_ground_clear (PredictGround *ground)
{
  g_free (ground->y);
  free (ground->rows);
  g_free (ground->order);
  g_free (ground->in_bag);
}

void
predict_ground_draw (PredictGrower *grower, guint tree)
{
  const PredictGround *ground = grower->ground;
  uint64_t n = ground->samples->n_samples;

  for (uint64_t row = 0; row < n; row++)
    grower->weights[row] = ground->settings->bootstrap ? 0 : 1;
  if (ground->settings->bootstrap)
    for (uint64_t i = 0; i < n; i++)
      grower->weights[base_random_below (&grower->random, n)]++;
  grower->n_drawn = 0;
  for (uint32_t row = 0; row < n; row++) {
    if (grower->weights[row] == 0)
      continue;
    grower->drawn[grower->n_drawn++] = (PredictDrawn){ ground->y[row], row, grower->weights[row] };
    if (ground->in_bag)
      ground->in_bag[tree * ground->n_words + row / 64] |= UINT64_C (1) << row % 64;
  }
}
