/* pattern_shuffle.h - random permutations of ranks without a table; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each key stands for one permutation of 0 .. n - 1, of which any element can
 * be asked for, in both directions: a rank knows whom it sends to, and who
 * sends to it. */
#pragma once

#include <stdint.h>

/* A key from a seed and what else tells permutations apart. */
uint64_t pattern_shuffle_key (uint64_t seed, uint64_t round, uint64_t number);

/* Where x goes, and what goes to y; both below n, which is 2^30 at most. */
uint32_t pattern_shuffle (uint64_t key, uint32_t n, uint32_t x);
uint32_t pattern_unshuffle (uint64_t key, uint32_t n, uint32_t y);
