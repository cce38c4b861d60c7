/* pattern_shuffle.c - random permutations of ranks without a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A Feistel network permutes the numbers of an even count of bits; what comes
 * out above n goes in again until it is below (Black and Rogaway, Ciphers with
 * arbitrary finite domains, CT-RSA 2002, "cycle walking").  There are less
 * than 4 n numbers, so that it takes less than four turns on average. */
#include "traces/patterns/pattern_shuffle.h"

#include "base/random.h"

#include <glib.h>

#define N_ROUNDS 8

uint64_t
pattern_shuffle_key (uint64_t seed, uint64_t round, uint64_t number)
{
  return base_random_mix (base_random_mix (base_random_mix (seed) ^ round) ^ number);
}

/* Half the bits of a number below n. */
static guint
half_bits (uint32_t n)
{
  guint bits = g_bit_storage (MAX (n, 2) - 1);

  return (bits + 1) / 2;
}

static uint32_t
scramble (uint64_t key, guint round, uint32_t half, uint32_t mask)
{
  return (uint32_t) base_random_mix (key ^ ((uint64_t) round << 32 | half)) & mask;
}

uint32_t
pattern_shuffle (uint64_t key, uint32_t n, uint32_t x)
{
  guint bits = half_bits (n);
  uint32_t mask = (1u << bits) - 1;

  do {
    uint32_t left = x >> bits, right = x & mask;

    for (guint round = 0; round < N_ROUNDS; round++) {
      uint32_t next = left ^ scramble (key, round, right, mask);

      left = right;
      right = next;
    }
    x = left << bits | right;
  } while (x >= n);
  return x;
}

uint32_t
pattern_unshuffle (uint64_t key, uint32_t n, uint32_t y)
{
  guint bits = half_bits (n);
  uint32_t mask = (1u << bits) - 1;

  do {
    uint32_t left = y >> bits, right = y & mask;

    for (guint round = N_ROUNDS; round-- > 0;) {
      uint32_t before = right ^ scramble (key, round, left, mask);

      right = left;
      left = before;
    }
    y = left << bits | right;
  } while (y >= n);
  return y;
}
