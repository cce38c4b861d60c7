/* pattern_permutation.c - every rank sends to one other, in every iteration the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The permutations that networks are commonly tested with (Dally and Towles,
 * Principles and Practices of Interconnection Networks, 2004, section 3.2). */
#include "traces/patterns/batch.h"
#include "traces/patterns/pattern_grid.h"
#include "traces/patterns/pattern_parameters.h"
#include "traces/patterns/pattern_shuffle.h"

typedef enum { SHIFT, TRANSPOSE, REVERSE, RANDOM } Kind;

typedef struct {
  PatternCommon common;
  Kind kind;
  uint32_t distance;      /* SHIFT */
  uint32_t rows, columns; /* TRANSPOSE */
  uint64_t key;           /* RANDOM */
} State;

enum { KIND = PATTERN_N_COMMON, DISTANCE, GRID, SEED };

static const TraceParameter parameters[] = {
  PATTERN_COMMON ("", "16K", "bytes of a message", "10"),
  [KIND] = { "kind", TRACE_PARAMETER_WORD, NULL, 0, "shift|transpose|reverse|random: to whom" },
  [DISTANCE] = { "distance", TRACE_PARAMETER_INTEGER, "1", 0,
                 "shift: rank r sends to r + distance, around" },
  [GRID] = PATTERN_GRID ("", "transpose: rows and columns of the ranks (default: even)"),
  [SEED] = PATTERN_SEED,
  PATTERN_END,
};

static Kind
kind_of (const char *word)
{
  switch (*word) {
  case 's': return SHIFT;
  case 't': return TRANSPOSE;
  default: return word[1] == 'e' ? REVERSE : RANDOM;
  }
}

static gboolean
check_ranks (Kind kind, TraceParameterValue *values, GError **error)
{
  int64_t n = values[PATTERN_AT_RANKS].integer;

  if (kind == TRANSPOSE)
    return pattern_grid_resolve (&values[PATTERN_AT_RANKS], &values[GRID], 2, error);
  if (n == 0) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "ranks=... must be given");
    return FALSE;
  }
  if (values[GRID].grid[0] != 0) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "grid: is for kind=transpose only");
    return FALSE;
  }
  if (kind == REVERSE && (n & (n - 1)) != 0) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                 "ranks: %" G_GINT64_FORMAT " is no power of 2, which kind=reverse needs", n);
    return FALSE;
  }
  return TRUE;
}

static gpointer
open_pattern (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  Kind kind = kind_of (values[KIND].word);
  State *state;

  if (!check_ranks (kind, values, error))
    return NULL;
  state = g_new (State, 1);
  *state = (State){
    .common = pattern_common (values),
    .kind = kind,
    .distance = (uint32_t) (values[DISTANCE].integer % values[PATTERN_AT_RANKS].integer),
    .rows = (uint32_t) values[GRID].grid[0],
    .columns = (uint32_t) values[GRID].grid[1],
    .key = pattern_shuffle_key ((uint64_t) values[SEED].integer, 0, 0),
  };
  *n_ranks = state->common.n_ranks;
  return state;
}

static uint32_t
reverse_bits (uint32_t n, uint32_t rank)
{
  uint32_t reversed = 0;

  for (uint32_t bit = 1; bit < n; bit <<= 1, rank >>= 1)
    reversed = reversed << 1 | (rank & 1);
  return reversed;
}

static uint32_t
destination_of (const State *state, uint32_t rank)
{
  uint32_t n = state->common.n_ranks;

  switch (state->kind) {
  case SHIFT: return (uint32_t) (((uint64_t) rank + state->distance) % n);
  case TRANSPOSE: return rank % state->columns * state->rows + rank / state->columns;
  case REVERSE: return reverse_bits (n, rank);
  case RANDOM: return pattern_shuffle (state->key, n, rank);
  }
  g_assert_not_reached ();
}

static uint32_t
source_of (const State *state, uint32_t rank)
{
  uint32_t n = state->common.n_ranks;

  switch (state->kind) {
  case SHIFT: return (uint32_t) (((uint64_t) rank + n - state->distance) % n);
  case TRANSPOSE: return rank % state->rows * state->columns + rank / state->rows;
  case REVERSE: return reverse_bits (n, rank);
  case RANDOM: return pattern_unshuffle (state->key, n, rank);
  }
  g_assert_not_reached ();
}

/* A rank that would send to itself sends nothing. */
static gboolean
fill_batch (gconstpointer data, uint32_t rank, uint64_t index, TraceBatch *batch)
{
  const State *state = data;
  uint32_t destination = destination_of (state, rank), source = source_of (state, rank);

  if (index >= state->common.iterations)
    return FALSE;
  trace_batch_compute (batch, state->common.compute_ps);
  if (destination == rank)
    return TRUE;
  trace_batch_irecv (batch, (int32_t) source, 0, state->common.bytes, TRACE_BATCH_FIRST_REQUEST);
  trace_batch_isend (batch, (int32_t) destination, 0, state->common.bytes,
                     TRACE_BATCH_FIRST_REQUEST + 1);
  trace_batch_wait (batch, TRACE_BATCH_FIRST_REQUEST, 2);
  return TRUE;
}

const TracePattern trace_pattern_permutation = {
  .name = "permutation",
  .summary = "every rank sends to one other: shift, transpose, bit reversal or random",
  .parameters = parameters,
  .open = open_pattern,
  .close = g_free,
  .batch = fill_batch,
};
