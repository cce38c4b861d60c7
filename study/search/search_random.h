/* search_random.h - one stream of random numbers per search, the same on every machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * splitmix64 (Steele, Lea and Flood, OOPSLA 2014): any seed is a good one. */
#pragma once

#include <stdint.h>

static inline uint64_t
study_random (uint64_t *state)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15u;

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* The state that begins stream `number` of a seed.  States a few draws apart give the same
 * numbers, shifted: hence neither seed nor number is a state as it is. */
static inline uint64_t
study_random_stream (uint64_t seed, uint64_t number)
{
  uint64_t state = study_random (&seed) + number;

  return study_random (&state);
}

/* Within 0 .. n-1, n > 0; what is uneven about it is below n / 2^32. */
static inline uint32_t
study_random_below (uint64_t *state, uint32_t n)
{
  return (uint32_t) (((study_random (state) >> 32) * n) >> 32);
}

/* Within 0 (included) .. 1. */
static inline double
study_random_share (uint64_t *state)
{
  return (double) (study_random (state) >> 11) * 0x1p-53;
}
