/* random.h - streams of random numbers, one per purpose.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014): a
 * 64-bit counter that is mixed.  The same seed and stream give the same numbers on every machine;
 * streams of one seed are independent, so that tree 17 is the same whichever thread makes it.
 *
 * There are two ways to make a stream and three to draw below n, because results that were published
 * or stored depend on each.  New code uses base_random_stream() and base_random_below(). */
#pragma once

#include <stdint.h>

#include "base/int128.h"

typedef struct {
  uint64_t state; /* any value is a good seed */
} BaseRandom;

#define BASE_RANDOM_STEP UINT64_C (0x9E3779B97F4A7C15)

/* The first number of the seed x: a hash whose every bit depends on all bits of x. */
static inline uint64_t
base_random_mix (uint64_t x)
{
  x += BASE_RANDOM_STEP;
  x = (x ^ (x >> 30)) * UINT64_C (0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C (0x94D049BB133111EB);
  return x ^ (x >> 31);
}

static inline uint64_t
base_random_next (BaseRandom *random)
{
  uint64_t number = base_random_mix (random->state);

  random->state += BASE_RANDOM_STEP;
  return number;
}

/* --- Streams: neither seed nor number is a state as it is, since states a few steps apart give the
 * same numbers, shifted --- */

/* Stream `stream` of `seed`. */
static inline BaseRandom
base_random_stream (uint64_t seed, uint64_t stream)
{
  uint64_t mixed = base_random_mix (seed) ^ stream * UINT64_C (0xD1342543DE82EF95);

  return (BaseRandom){ base_random_mix (mixed) };
}

/* Stream `stream` of `seed` for the search of mappings, which adds the number to the mixed seed. */
static inline BaseRandom
base_random_stream_added (uint64_t seed, uint64_t stream)
{
  return (BaseRandom){ base_random_mix (base_random_mix (seed) + stream) };
}

/* --- Ranges --- */

/* Uniform in [0, 1), 53 bits. */
static inline double
base_random_unit (BaseRandom *random)
{
  return (double) (base_random_next (random) >> 11) * 0x1p-53;
}

/* Uniform in 0 ... n - 1 (Lemire 2019 without the rejection: the bias is below n / 2^64). */
static inline uint64_t
base_random_below (BaseRandom *random, uint64_t n)
{
  return (uint64_t) ((BaseUint128) base_random_next (random) * n >> 64);
}

/* The same from the upper 32 bits only: the bias is below n / 2^32. */
static inline uint32_t
base_random_below_32 (BaseRandom *random, uint32_t n)
{
  return (uint32_t) (((base_random_next (random) >> 32) * n) >> 32);
}

/* Uniform in 0 ... n - 1 without bias: numbers below 2^64 mod n are thrown away. */
static inline uint32_t
base_random_below_exact (BaseRandom *random, uint32_t n)
{
  uint64_t excess = (0 - (uint64_t) n) % n;
  uint64_t number;

  do
    number = base_random_next (random);
  while (number < excess);
  return (uint32_t) (number % n);
}
