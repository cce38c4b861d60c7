/* random.h - streams of random numbers, one per purpose.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * SplitMix64 (Steele, Lea, Flood 2014): a 64-bit counter that is mixed.  The same
 * seed and stream give the same numbers on every machine; streams of one seed
 * are independent, so that tree 17 is the same whichever thread makes it. */
#pragma once

#include <stdint.h>

typedef struct {
  uint64_t state;
} PredictRandom;

static inline uint64_t
predict_random_next (PredictRandom *random)
{
  uint64_t z = random->state += 0x9E3779B97F4A7C15u;

  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/* Stream `stream` of `seed`. */
static inline PredictRandom
predict_random (uint64_t seed, uint64_t stream)
{
  PredictRandom of_seed = { seed };
  PredictRandom of_stream = { predict_random_next (&of_seed) ^ stream * 0xD1342543DE82EF95u };

  return (PredictRandom){ predict_random_next (&of_stream) };
}

/* Uniform in [0, 1), 53 bits. */
static inline double
predict_random_unit (PredictRandom *random)
{
  return (double) (predict_random_next (random) >> 11) * 0x1p-53;
}

/* Uniform in 0 ... n - 1 (Lemire 2019 without the rejection: the bias is below n / 2^64). */
static inline uint64_t
predict_random_below (PredictRandom *random, uint64_t n)
{
  return (uint64_t) ((unsigned __int128) predict_random_next (random) * n >> 64);
}
