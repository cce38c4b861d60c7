/* pattern_grid.c - grids of ranks, and random permutations of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/patterns/pattern_grid.h"
#include "traces/format.h"

#include "base/random.h"

#include <glib.h>

/* --- Grids --- */

void
pattern_grid_balance (int64_t n, guint n_dims, int64_t *dims)
{
  g_assert (n >= 1 && n_dims >= 1);
  dims[0] = n;
  if (n_dims == 1)
    return;
  for (int64_t first = 1; first <= n; first++) {
    if (n % first != 0)
      continue;
    pattern_grid_balance (n / first, n_dims - 1, dims + 1);
    dims[0] = first;
    if (dims[1] <= first)
      return;
  }
}

static gboolean
check_ranks (int64_t n_ranks, GError **error)
{
  if (n_ranks <= PATTERN_MAX_RANKS)
    return TRUE;
  return TRACE_FAIL (TRACE_ERROR_RANGE, error, "there may be up to %" G_GINT64_FORMAT " ranks",
                     PATTERN_MAX_RANKS);
}

gboolean
pattern_grid_check (const char *name, const int64_t grid[3], guint n_dims, GError **error)
{
  for (guint d = 0; d < 3; d++)
    if ((grid[d] != 0) != (d < n_dims))
      return TRACE_FAIL (TRACE_ERROR_RANGE, error, "%s: %u numbers are needed, such as %s", name,
                         n_dims, n_dims == 2 ? "8x4" : "8x4x2");
  return TRUE;
}

gboolean
pattern_grid_resolve (TraceParameterValue *ranks, TraceParameterValue *grid, guint n_dims,
                      GError **error)
{
  int64_t n_ranks;

  if (grid->grid[0] == 0) {
    if (ranks->integer == 0)
      return TRACE_FAIL (TRACE_ERROR_RANGE, error, "ranks=... or grid=... must be given");
    if (!check_ranks (ranks->integer, error))
      return FALSE;
    pattern_grid_balance (ranks->integer, n_dims, grid->grid);
    return TRUE;
  }
  /* Ranks of a grid that was given. */
  if (!pattern_grid_check ("grid", grid->grid, n_dims, error))
    return FALSE;
  n_ranks = 1;
  for (guint d = 0; d < n_dims; d++) {
    n_ranks *= grid->grid[d];
    if (!check_ranks (n_ranks, error))
      return FALSE;
  }
  if (ranks->integer != 0 && ranks->integer != n_ranks)
    return TRACE_FAIL (TRACE_ERROR_RANGE, error,
                       "the grid has %" G_GINT64_FORMAT " ranks, but ranks=%" G_GINT64_FORMAT
                       " was given",
                       n_ranks, ranks->integer);
  ranks->integer = n_ranks;
  return TRUE;
}

PatternGrid
pattern_grid_new (const TraceParameterValue *grid, guint n_dims, gboolean periodic)
{
  PatternGrid made = { .n_dims = n_dims, .periodic = periodic };

  for (guint d = 0; d < n_dims; d++)
    made.dims[d] = (int32_t) grid->grid[d];
  return made;
}

void
pattern_grid_place (const PatternGrid *grid, uint32_t rank, int32_t place[3])
{
  for (guint d = grid->n_dims; d-- > 0;) {
    place[d] = (int32_t) (rank % (uint32_t) grid->dims[d]);
    rank /= (uint32_t) grid->dims[d];
  }
}

int32_t
pattern_grid_neighbour (const PatternGrid *grid, const int32_t place[3], const int step[3])
{
  int32_t rank = 0;

  for (guint d = 0; d < grid->n_dims; d++) {
    int32_t at = place[d] + step[d], size = grid->dims[d];

    if (!grid->periodic && (at < 0 || at >= size))
      return TRACE_PROC_NULL;
    rank = rank * size + (at % size + size) % size;
  }
  return rank;
}

void
pattern_grid_exchange (PatternOps *ops, const PatternGrid *grid, uint32_t rank,
                       const PatternStep *steps, guint n_steps, uint64_t bytes)
{
  uint32_t request = PATTERN_FIRST_REQUEST;
  int32_t place[3];

  pattern_grid_place (grid, rank, place);
  for (guint s = 0; s < n_steps; s++) {
    const int *step = steps[s].step;
    const int back[3] = { -step[0], -step[1], -step[2] };
    int32_t source = pattern_grid_neighbour (grid, place, back);

    if (source >= 0)
      pattern_ops_irecv (ops, source, (int32_t) s, bytes, request++);
  }
  for (guint s = 0; s < n_steps; s++) {
    int32_t destination = pattern_grid_neighbour (grid, place, steps[s].step);

    if (destination >= 0)
      pattern_ops_isend (ops, destination, (int32_t) s, bytes, request++);
  }
  pattern_ops_wait (ops, PATTERN_FIRST_REQUEST, request - PATTERN_FIRST_REQUEST);
}

/* --- Random permutations of ranks without a table --- */

/* A Feistel network permutes the numbers of an even count of bits; a result
 * above n goes in again until it is below (Black and Rogaway, Ciphers with
 * arbitrary finite domains, CT-RSA 2002, "cycle walking").  There are less
 * than 4 n numbers, so that it takes less than four turns on average. */

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
