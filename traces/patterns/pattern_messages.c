/* pattern_messages.c - patterns of point-to-point messages: halos, permutations, rings, pairs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/patterns/pattern_ops.h"
#include "traces/patterns/pattern_grid.h"
#include "traces/patterns/pattern_parameters.h"

/* --- Halos: exchanges with neighbours in a grid --- */

typedef struct {
  PatternCommon common;
  PatternGrid grid;
  const PatternStep *steps;
  guint n_steps;
} Halo;

enum { RANKS = PATTERN_AT_RANKS, HALO_GRID = PATTERN_N_COMMON, PERIODIC };

static const TraceParameter halo_parameters[] = {
  PATTERN_COMMON ("", "16K", "bytes of a message to one neighbour", "100"),
  [HALO_GRID] = PATTERN_GRID ("", "ranks in each dimension, the last runs fastest (default: even)"),
  [PERIODIC] = PATTERN_PERIODIC ("yes"),
  PATTERN_END,
};

static gpointer
halo_open (TraceParameterValue *values, const PatternStep *steps, guint n_steps, guint n_dims,
           uint32_t *n_ranks, GError **error)
{
  Halo *halo;

  if (!pattern_grid_resolve (&values[RANKS], &values[HALO_GRID], n_dims, error))
    return NULL;
  halo = g_new (Halo, 1);
  *halo = (Halo){
    .common = pattern_common (values),
    .grid = pattern_grid_new (&values[HALO_GRID], n_dims, *values[PERIODIC].word == 'y'),
    .steps = steps,
    .n_steps = n_steps,
  };
  *n_ranks = halo->common.n_ranks;
  return halo;
}

static gboolean
halo_fill (gconstpointer state, uint32_t rank, uint64_t index, PatternOps *ops)
{
  const Halo *halo = state;

  if (index >= halo->common.iterations)
    return FALSE;
  pattern_ops_compute (ops, halo->common.compute_ps);
  pattern_grid_exchange (ops, &halo->grid, rank, halo->steps, halo->n_steps, halo->common.bytes);
  return TRUE;
}

/* --- The five-point exchange of a two-dimensional Jacobi relaxation --- */

/* Jain et al., SC13, section 4.2.1: every rank of a 2D grid exchanges one
 * message with each of its four nearest neighbours per iteration, of which
 * there are 100.  As all have four, the grid is periodic. */

static const PatternStep halo2d_steps[] = {
  { { -1, 0, 0 } },
  { { 1, 0, 0 } },
  { { 0, -1, 0 } },
  { { 0, 1, 0 } },
};

static gpointer
halo2d_open (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  return halo_open (values, halo2d_steps, G_N_ELEMENTS (halo2d_steps), 2, n_ranks, error);
}

const TracePattern trace_pattern_halo2d = {
  .name = "halo2d",
  .summary = "exchange with 4 neighbours in a 2D grid (SC13, 4.2.1)",
  .parameters = halo_parameters,
  .open = halo2d_open,
  .close = g_free,
  .fill = halo_fill,
};

/* --- The 15-point exchange in a three-dimensional grid --- */

/* Jain et al., SC13, section 4.2.2: every rank of a 3D grid communicates with
 * fourteen neighbours, six over the faces and eight over the corners of its
 * box, in each of 100 iterations.  As all have fourteen, the grid is
 * periodic.  The messages have the same size (section 5.1). */

static const PatternStep halo3d_steps[] = {
  { { -1, 0, 0 } },  { { 1, 0, 0 } },    { { 0, -1, 0 } },  { { 0, 1, 0 } },   { { 0, 0, -1 } },
  { { 0, 0, 1 } },   { { -1, -1, -1 } }, { { -1, -1, 1 } }, { { -1, 1, -1 } }, { { -1, 1, 1 } },
  { { 1, -1, -1 } }, { { 1, -1, 1 } },   { { 1, 1, -1 } },  { { 1, 1, 1 } },
};

static gpointer
halo3d_open (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  return halo_open (values, halo3d_steps, G_N_ELEMENTS (halo3d_steps), 3, n_ranks, error);
}

const TracePattern trace_pattern_halo3d = {
  .name = "halo3d",
  .summary = "exchange with 14 neighbours, faces and corners, in a 3D grid (SC13, 4.2.2)",
  .parameters = halo_parameters,
  .open = halo3d_open,
  .close = g_free,
  .fill = halo_fill,
};

/* --- Every rank sends to one other, in every iteration the same --- */

/* The permutations that networks are commonly tested with (Dally and Towles,
 * Principles and Practices of Interconnection Networks, 2004, section 3.2). */

typedef enum { SHIFT, TRANSPOSE, REVERSE, RANDOM } Kind;

typedef struct {
  PatternCommon common;
  Kind kind;
  uint32_t distance;      /* SHIFT */
  uint32_t rows, columns; /* TRANSPOSE */
  uint64_t key;           /* RANDOM */
} PermutationState;

enum { KIND = PATTERN_N_COMMON, DISTANCE, PERMUTATION_GRID, PERMUTATION_SEED };

static const TraceParameter permutation_parameters[] = {
  PATTERN_COMMON ("", "16K", "bytes of a message", "10"),
  [KIND] = { "kind", TRACE_PARAMETER_WORD, NULL, 0, "shift|transpose|reverse|random: to whom" },
  [DISTANCE] = { "distance", TRACE_PARAMETER_INTEGER, "1", 0,
                 "shift: rank r sends to r + distance, around" },
  [PERMUTATION_GRID] =
      PATTERN_GRID ("", "transpose: rows and columns of the ranks (default: even)"),
  [PERMUTATION_SEED] = PATTERN_SEED,
  PATTERN_END,
};

static gpointer
permutation_open (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  const char *word = values[KIND].word;
  Kind kind = *word == 's' ? SHIFT : *word == 't' ? TRANSPOSE : word[1] == 'e' ? REVERSE : RANDOM;
  int64_t n = values[PATTERN_AT_RANKS].integer;
  PermutationState *state;

  if (kind == TRANSPOSE) {
    if (!pattern_grid_resolve (&values[PATTERN_AT_RANKS], &values[PERMUTATION_GRID], 2, error))
      return NULL;
  } else if (n == 0) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "ranks=... must be given");
    return NULL;
  } else if (values[PERMUTATION_GRID].grid[0] != 0) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "grid: is for kind=transpose only");
    return NULL;
  } else if (kind == REVERSE && (n & (n - 1)) != 0) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                 "ranks: %" G_GINT64_FORMAT " is not a power of 2, as kind=reverse requires", n);
    return NULL;
  }
  state = g_new (PermutationState, 1);
  *state = (PermutationState){
    .common = pattern_common (values),
    .kind = kind,
    .distance = (uint32_t) (values[DISTANCE].integer % values[PATTERN_AT_RANKS].integer),
    .rows = (uint32_t) values[PERMUTATION_GRID].grid[0],
    .columns = (uint32_t) values[PERMUTATION_GRID].grid[1],
    .key = pattern_shuffle_key ((uint64_t) values[PERMUTATION_SEED].integer, 0, 0),
  };
  *n_ranks = state->common.n_ranks;
  return state;
}

/* A rank that would send to itself sends nothing. */
static gboolean
permutation_fill (gconstpointer data, uint32_t rank, uint64_t index, PatternOps *ops)
{
  const PermutationState *state = data;
  uint32_t n = state->common.n_ranks, destination = 0, source;

  switch (state->kind) {
  case SHIFT:
    destination = (uint32_t) (((uint64_t) rank + state->distance) % n);
    source = (uint32_t) (((uint64_t) rank + n - state->distance) % n);
    break;
  case TRANSPOSE:
    destination = rank % state->columns * state->rows + rank / state->columns;
    source = rank % state->rows * state->columns + rank / state->rows;
    break;
  case REVERSE:
    for (uint32_t bit = 1, left = rank; bit < n; bit <<= 1, left >>= 1)
      destination = destination << 1 | (left & 1);
    source = destination;
    break;
  case RANDOM:
    destination = pattern_shuffle (state->key, n, rank);
    source = pattern_unshuffle (state->key, n, rank);
    break;
  default: g_assert_not_reached ();
  }
  if (index >= state->common.iterations)
    return FALSE;
  pattern_ops_compute (ops, state->common.compute_ps);
  if (destination == rank)
    return TRUE;
  pattern_ops_irecv (ops, (int32_t) source, 0, state->common.bytes, PATTERN_FIRST_REQUEST);
  pattern_ops_isend (ops, (int32_t) destination, 0, state->common.bytes, PATTERN_FIRST_REQUEST + 1);
  pattern_ops_wait (ops, PATTERN_FIRST_REQUEST, 2);
  return TRUE;
}

const TracePattern trace_pattern_permutation = {
  .name = "permutation",
  .summary = "every rank sends to one other: shift, transpose, bit reversal or random",
  .parameters = permutation_parameters,
  .open = permutation_open,
  .close = g_free,
  .fill = permutation_fill,
};

/* --- Uniform random traffic: new destinations in every iteration --- */

/* Message m of all ranks of one iteration is a random permutation, so that a
 * rank receives as many messages as it sends and can compute their sources. */

typedef struct {
  PatternCommon common;
  uint32_t n_messages;
  uint64_t seed;
} RandomState;

enum { MESSAGES = PATTERN_N_COMMON, RANDOM_SEED };

static const TraceParameter random_parameters[] = {
  PATTERN_COMMON (NULL, "16K", "bytes of a message", "10"),
  [MESSAGES] = { "messages", TRACE_PARAMETER_INTEGER, "4", 0,
                 "messages that a rank sends in each iteration, up to 65536" },
  [RANDOM_SEED] = PATTERN_SEED,
  PATTERN_END,
};

static gpointer
random_open (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  RandomState *state;

  if (!pattern_check_most ("messages", values[MESSAGES].integer, 65536, error))
    return NULL;
  state = g_new (RandomState, 1);
  *state = (RandomState){ pattern_common (values), (uint32_t) values[MESSAGES].integer,
                          (uint64_t) values[RANDOM_SEED].integer };
  *n_ranks = state->common.n_ranks;
  return state;
}

/* Messages to itself are left out. */
static gboolean
random_fill (gconstpointer data, uint32_t rank, uint64_t index, PatternOps *ops)
{
  const RandomState *state = data;
  uint32_t n = state->common.n_ranks, request = PATTERN_FIRST_REQUEST;

  if (index >= state->common.iterations)
    return FALSE;
  pattern_ops_compute (ops, state->common.compute_ps);
  for (uint32_t m = 0; m < state->n_messages; m++) {
    uint32_t from = pattern_unshuffle (pattern_shuffle_key (state->seed, index, m), n, rank);

    if (from != rank)
      pattern_ops_irecv (ops, (int32_t) from, (int32_t) m, state->common.bytes, request++);
  }
  for (uint32_t m = 0; m < state->n_messages; m++) {
    uint32_t to = pattern_shuffle (pattern_shuffle_key (state->seed, index, m), n, rank);

    if (to != rank)
      pattern_ops_isend (ops, (int32_t) to, (int32_t) m, state->common.bytes, request++);
  }
  pattern_ops_wait (ops, PATTERN_FIRST_REQUEST, request - PATTERN_FIRST_REQUEST);
  return TRUE;
}

const TracePattern trace_pattern_random = {
  .name = "random",
  .summary = "random destinations, others in every iteration",
  .parameters = random_parameters,
  .open = random_open,
  .close = g_free,
  .fill = random_fill,
};

/* --- Every rank sends to the next one --- */

typedef struct {
  PatternCommon common;
  gboolean both;
} RingState;

enum { BOTH = PATTERN_N_COMMON };
enum { TAG_UP, TAG_DOWN };

static const TraceParameter ring_parameters[] = {
  PATTERN_COMMON (NULL, "16K", "bytes of a message", "10"),
  [BOTH] = { "both", TRACE_PARAMETER_WORD, "no", 0, "yes|no: also to the one before?" },
  PATTERN_END,
};

static gpointer
ring_open (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  RingState *state = g_new (RingState, 1);

  (void) error;
  *state = (RingState){ pattern_common (values), *values[BOTH].word == 'y' };
  *n_ranks = state->common.n_ranks;
  return state;
}

static gboolean
ring_fill (gconstpointer data, uint32_t rank, uint64_t index, PatternOps *ops)
{
  const RingState *state = data;
  uint32_t n = state->common.n_ranks, request = PATTERN_FIRST_REQUEST;
  uint64_t bytes = state->common.bytes;
  int32_t next = (int32_t) ((rank + 1) % n), previous = (int32_t) ((rank + n - 1) % n);

  if (index >= state->common.iterations)
    return FALSE;
  pattern_ops_compute (ops, state->common.compute_ps);
  pattern_ops_irecv (ops, previous, TAG_UP, bytes, request++);
  if (state->both)
    pattern_ops_irecv (ops, next, TAG_DOWN, bytes, request++);
  pattern_ops_isend (ops, next, TAG_UP, bytes, request++);
  if (state->both)
    pattern_ops_isend (ops, previous, TAG_DOWN, bytes, request++);
  pattern_ops_wait (ops, PATTERN_FIRST_REQUEST, request - PATTERN_FIRST_REQUEST);
  return TRUE;
}

const TracePattern trace_pattern_ring = {
  .name = "ring",
  .summary = "every rank sends to the next one, the last to the first",
  .parameters = ring_parameters,
  .open = ring_open,
  .close = g_free,
  .fill = ring_fill,
};

/* --- Messages to and fro between pairs of ranks --- */

/* Rank r of the first half and rank r + ranks/2 are a pair; all pairs exchange
 * messages at the same time. */

static const TraceParameter pingpong_parameters[] = {
  PATTERN_COMMON ("2", "8", "bytes of a message", "10"),
  PATTERN_END,
};

static gpointer
pingpong_open (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  PatternCommon *common;

  if (values[PATTERN_AT_RANKS].integer % 2 != 0) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                 "ranks: %" G_GINT64_FORMAT " is odd, but ranks are in pairs",
                 values[PATTERN_AT_RANKS].integer);
    return NULL;
  }
  common = g_new (PatternCommon, 1);
  *common = pattern_common (values);
  *n_ranks = common->n_ranks;
  return common;
}

static gboolean
pingpong_fill (gconstpointer data, uint32_t rank, uint64_t index, PatternOps *ops)
{
  const PatternCommon *common = data;
  uint32_t half = common->n_ranks / 2;
  gboolean first = rank < half;
  int32_t peer = (int32_t) (first ? rank + half : rank - half);

  if (index >= common->iterations)
    return FALSE;
  pattern_ops_compute (ops, common->compute_ps);
  if (first)
    pattern_ops_send (ops, peer, 0, common->bytes);
  pattern_ops_recv (ops, peer, 0, common->bytes);
  if (!first)
    pattern_ops_send (ops, peer, 0, common->bytes);
  return TRUE;
}

const TracePattern trace_pattern_pingpong = {
  .name = "pingpong",
  .summary = "a message to and fro between the ranks of each pair",
  .parameters = pingpong_parameters,
  .open = pingpong_open,
  .close = g_free,
  .fill = pingpong_fill,
};
