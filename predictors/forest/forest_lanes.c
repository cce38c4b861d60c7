/* forest_lanes.c - sixteen features of a node's samples at a time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/forest/forest_lanes.h"

#include <math.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#define AHEAD 8 /* rows that are fetched before they are needed */

/* The row of a sample; that of one a little further is on its way to the cache. */
static inline const float *
row_of (const float *x, size_t stride, const PredictTreeSample *drawn, uint32_t i, uint32_t n)
{
  __builtin_prefetch (x + stride * drawn[i + AHEAD < n ? i + AHEAD : i].row);
  return x + stride * drawn[i].row;
}

/* Without intrinsics; the compiler makes vectors of these. */
#define BODY static inline __attribute__ ((always_inline))

BODY bool
draw_body (PredictBlock *block, BaseRandom *random)
{
  uint64_t bits[PREDICT_LANES / 2];
  int32_t at[PREDICT_LANES]; /* 31 random bits: floats have 24 */
  uint32_t any = 0;

  for (int i = 0; i < PREDICT_LANES / 2; i++)
    bits[i] = base_random_next (random);
  for (int i = 0; i < PREDICT_LANES / 2; i++) {
    at[i] = (int32_t) (bits[i] >> 33);
    at[i + PREDICT_LANES / 2] = (int32_t) ((uint32_t) bits[i] >> 1);
  }
  for (int lane = 0; lane < PREDICT_LANES; lane++) {
    float low = block->low[lane], high = block->high[lane];
    float inside = (float) ((double) low + at[lane] * 0x1p-31 * ((double) high - (double) low));
    uint32_t varies = block->tried[lane] & !predict_is_constant (low, high);

    inside = inside < high ? inside : low;
    block->cut[lane] = varies ? inside : -INFINITY;
    any |= varies;
  }
  return any != 0;
}

/* The gain is a difference of means squared, times constants of the node. */
BODY void
weigh_body (PredictBlock *block, const PredictNodeSamples *node, uint32_t least)
{
  for (int lane = 0; lane < PREDICT_LANES; lane++) {
    uint32_t n_left = block->samples[lane];
    bool allowed = n_left >= least && node->n - n_left >= least;
    double weight = block->weight[lane];
    double difference = node->weight * block->sum[lane] - weight * node->sum;
    double product = weight * (node->weight - weight);

    block->gain[lane] = allowed ? difference * difference / product : -1;
  }
}

/* The two bodies, compiled for a set of instructions. */
#define BODIES_FOR(name, target)                                                        \
  target static bool draw_##name (PredictBlock *block, BaseRandom *random)              \
  {                                                                                     \
    return draw_body (block, random);                                                   \
  }                                                                                     \
  target static void weigh_##name (PredictBlock *block, const PredictNodeSamples *node, \
                                   uint32_t least)                                      \
  {                                                                                     \
    weigh_body (block, node, least);                                                    \
  }

/* --- Any processor --- */

BODIES_FOR (plain, )

static void
range_plain (PredictBlock *block, const float *x, size_t stride, const PredictTreeSample *drawn,
             const PredictNodeSamples *node)
{
  float *low = block->low, *high = block->high;

  memcpy (low, x + stride * drawn[0].row, sizeof block->low);
  memcpy (high, low, sizeof block->high);
  for (uint32_t i = 1; i < node->n; i++) {
    const float *row = row_of (x, stride, drawn, i, node->n);

    for (int lane = 0; lane < PREDICT_LANES; lane++) {
      low[lane] = row[lane] < low[lane] ? row[lane] : low[lane];
      high[lane] = row[lane] > high[lane] ? row[lane] : high[lane];
    }
  }
}

static void
add_plain (PredictBlock *block, const float *x, size_t stride, const PredictTreeSample *drawn,
           const PredictNodeSamples *node)
{
  memset (block->sum, 0, sizeof block->sum);
  memset (block->weight, 0, sizeof block->weight);
  memset (block->samples, 0, sizeof block->samples);
  for (uint32_t i = 0; i < node->n; i++) {
    const float *row = row_of (x, stride, drawn, i, node->n);
    double y = drawn[i].weight * (drawn[i].y - node->shift);

    for (int lane = 0; lane < PREDICT_LANES; lane++) {
      bool is_left = row[lane] <= block->cut[lane];

      block->sum[lane] += is_left ? y : 0;
      block->weight[lane] += is_left ? drawn[i].weight : 0;
      block->samples[lane] += is_left ? 1 : 0;
    }
  }
}

#ifdef __x86_64__

/* --- Vectors of 32 bytes --- */

#define AVX2 __attribute__ ((target ("avx2")))

BODIES_FOR (avx2, AVX2)

AVX2 static void
range_avx2 (PredictBlock *block, const float *x, size_t stride, const PredictTreeSample *drawn,
            const PredictNodeSamples *node)
{
  const float *first = x + stride * drawn[0].row;
  __m256 low0 = _mm256_loadu_ps (first), low1 = _mm256_loadu_ps (first + 8);
  __m256 high0 = low0, high1 = low1;

  for (uint32_t i = 1; i < node->n; i++) {
    const float *row = row_of (x, stride, drawn, i, node->n);
    __m256 x0 = _mm256_loadu_ps (row), x1 = _mm256_loadu_ps (row + 8);

    low0 = _mm256_min_ps (x0, low0);
    low1 = _mm256_min_ps (x1, low1);
    high0 = _mm256_max_ps (x0, high0);
    high1 = _mm256_max_ps (x1, high1);
  }
  _mm256_storeu_ps (block->low, low0);
  _mm256_storeu_ps (block->low + 8, low1);
  _mm256_storeu_ps (block->high, high0);
  _mm256_storeu_ps (block->high + 8, high1);
}

/* Eight lanes of a row: where it is left, all bits of a mask are set. */
AVX2 static inline void
add_eight (const float *row, __m256 cut, __m256d y, __m256i weight, __m256d sums[2],
           __m256i *weights, __m256i *samples)
{
  __m256i is_left = _mm256_castps_si256 (_mm256_cmp_ps (_mm256_loadu_ps (row), cut, _CMP_LE_OQ));
  __m256i first = _mm256_cvtepi32_epi64 (_mm256_castsi256_si128 (is_left));
  __m256i second = _mm256_cvtepi32_epi64 (_mm256_extracti128_si256 (is_left, 1));

  sums[0] = _mm256_add_pd (sums[0], _mm256_and_pd (y, _mm256_castsi256_pd (first)));
  sums[1] = _mm256_add_pd (sums[1], _mm256_and_pd (y, _mm256_castsi256_pd (second)));
  *weights = _mm256_add_epi32 (*weights, _mm256_and_si256 (is_left, weight));
  *samples = _mm256_sub_epi32 (*samples, is_left);
}

AVX2 static void
add_avx2 (PredictBlock *block, const float *x, size_t stride, const PredictTreeSample *drawn,
          const PredictNodeSamples *node)
{
  __m256 cuts[2] = { _mm256_loadu_ps (block->cut), _mm256_loadu_ps (block->cut + 8) };
  __m256d sums[4] = { _mm256_setzero_pd (), _mm256_setzero_pd (), _mm256_setzero_pd (),
                      _mm256_setzero_pd () };
  __m256i weights[2] = { _mm256_setzero_si256 (), _mm256_setzero_si256 () };
  __m256i samples[2] = { _mm256_setzero_si256 (), _mm256_setzero_si256 () };

  for (uint32_t i = 0; i < node->n; i++) {
    const float *row = row_of (x, stride, drawn, i, node->n);
    __m256d y = _mm256_set1_pd (drawn[i].weight * (drawn[i].y - node->shift));
    __m256i weight = _mm256_set1_epi32 ((int) drawn[i].weight);

    add_eight (row, cuts[0], y, weight, sums, &weights[0], &samples[0]);
    add_eight (row + 8, cuts[1], y, weight, sums + 2, &weights[1], &samples[1]);
  }
  for (int k = 0; k < 4; k++)
    _mm256_storeu_pd (block->sum + 4 * k, sums[k]);
  for (int k = 0; k < 2; k++) {
    _mm256_storeu_si256 ((__m256i *) (void *) (block->weight + 8 * k), weights[k]);
    _mm256_storeu_si256 ((__m256i *) (void *) (block->samples + 8 * k), samples[k]);
  }
}

/* --- Vectors of 64 bytes: a row's sixteen features are one --- */

#define AVX512 __attribute__ ((target ("avx512f")))
#define ALL    ((__mmask16) 0xffff) /* without a mask, gcc 12 warns of its own header */

BODIES_FOR (avx512, AVX512)

AVX512 static void
range_avx512 (PredictBlock *block, const float *x, size_t stride, const PredictTreeSample *drawn,
              const PredictNodeSamples *node)
{
  __m512 smallest = _mm512_loadu_ps (x + stride * drawn[0].row), largest = smallest;

  for (uint32_t i = 1; i < node->n; i++) {
    __m512 values = _mm512_loadu_ps (row_of (x, stride, drawn, i, node->n));

    smallest = _mm512_mask_min_ps (smallest, ALL, values, smallest);
    largest = _mm512_mask_max_ps (largest, ALL, values, largest);
  }
  _mm512_storeu_ps (block->low, smallest);
  _mm512_storeu_ps (block->high, largest);
}

AVX512 static void
add_avx512 (PredictBlock *block, const float *x, size_t stride, const PredictTreeSample *drawn,
            const PredictNodeSamples *node)
{
  __m512 cuts = _mm512_loadu_ps (block->cut);
  __m512d sum0 = _mm512_setzero_pd (), sum1 = _mm512_setzero_pd ();
  __m512i weights = _mm512_setzero_si512 (), samples = _mm512_setzero_si512 ();

  for (uint32_t i = 0; i < node->n; i++) {
    __m512 values = _mm512_loadu_ps (row_of (x, stride, drawn, i, node->n));
    __m512d y = _mm512_set1_pd (drawn[i].weight * (drawn[i].y - node->shift));
    __m512i weight = _mm512_set1_epi32 ((int) drawn[i].weight);
    __mmask16 is_left = _mm512_cmp_ps_mask (values, cuts, _CMP_LE_OQ);

    sum0 = _mm512_mask_add_pd (sum0, (__mmask8) is_left, sum0, y);
    sum1 = _mm512_mask_add_pd (sum1, (__mmask8) (is_left >> 8), sum1, y);
    weights = _mm512_mask_add_epi32 (weights, is_left, weights, weight);
    samples = _mm512_mask_add_epi32 (samples, is_left, samples, _mm512_set1_epi32 (1));
  }
  _mm512_storeu_pd (block->sum, sum0);
  _mm512_storeu_pd (block->sum + 8, sum1);
  _mm512_storeu_si512 (block->weight, weights);
  _mm512_storeu_si512 (block->samples, samples);
}

#endif

const PredictLanes *
predict_lanes (void)
{
  static const PredictLanes all[] = {
#ifdef __x86_64__
    { "avx512", range_avx512, draw_avx512, add_avx512, weigh_avx512 },
    { "avx2", range_avx2, draw_avx2, add_avx2, weigh_avx2 },
#endif
    { "plain", range_plain, draw_plain, add_plain, weigh_plain },
    { NULL, NULL, NULL, NULL, NULL },
  };
  const PredictLanes *best = all;

#ifdef __x86_64__
  if (!__builtin_cpu_supports ("avx512f"))
    best += __builtin_cpu_supports ("avx2") ? 1 : 2;
#endif
  return best;
}
