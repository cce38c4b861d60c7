/* npb_kernels.c - the NPB kernels: CG, EP, FT, IS and MG.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/patterns/npb.h"

#include <math.h>
#include <string.h>

/* --- CG: an eigenvalue by inverse iteration with conjugate gradients --- */

/* The matrix is cut into 2^floor(k/2) rows by 2^ceil(k/2) columns of blocks,
 * one for each of the 2^k ranks.  A matrix-vector product is summed within the
 * rows of ranks, by exchanges with partners at half, a quarter ... of the row,
 * and then goes to the rank of the transposed block (which may be the rank
 * itself).  Sums of scalars use the same partners.  The algorithm is in
 * report RNR-94-007. */

#define INNER_ITERATIONS 25
#define MAX_PARTNERS     16
#define TRANSPOSE_TAG    1

typedef struct {
  uint32_t n_partners; /* log2 of the columns */
  int32_t partners[MAX_PARTNERS], transposed;
  uint64_t row_values;    /* of the vector that the row of blocks makes */
  uint64_t kept_values;   /* those that stay with this rank in the end */
  uint64_t column_values; /* of the vector that its block multiplies */
  gboolean is_square;     /* as many columns as rows; else twice as many */
} Block;

/* The size of a part of n elements cut into n_parts, the first ones larger by one. */
static uint64_t
part_of (uint64_t n, uint32_t n_parts, uint32_t part)
{
  return n / n_parts + (part < n % n_parts);
}

/* Halves of odd numbers: the even rank has one more. */
static uint64_t
half_of (uint64_t n, uint32_t rank)
{
  return rank % 2 == 0 ? (n + 1) / 2 : n / 2;
}

static uint32_t
n_columns (uint32_t n_ranks)
{
  uint32_t n = 1;

  while ((uint64_t) n * n < n_ranks)
    n *= 2;
  return n;
}

static Block
block_of (const Npb *npb, uint32_t rank)
{
  uint32_t columns = n_columns (npb->n_ranks), rows = npb->n_ranks / columns;
  uint32_t row = rank / columns, column = rank % columns;
  uint64_t n = (uint64_t) npb->problem.n[0];
  Block block = { .is_square = rows == columns, .row_values = part_of (n, rows, row) };

  for (uint32_t distance = columns / 2; distance > 0; distance /= 2)
    block.partners[block.n_partners++] = (int32_t) (rank ^ distance);
  if (block.is_square) {
    block.transposed = (int32_t) (rank % rows * rows + rank / rows);
    block.kept_values = block.row_values;
    block.column_values = part_of (n, columns, column);
  } else {
    block.transposed = (int32_t) (2 * (rank / 2 % rows * rows + rank / 2 / rows) + rank % 2);
    block.kept_values = half_of (block.row_values, rank);
    block.column_values = half_of (part_of (n, columns / 2, column / 2), rank);
  }
  return block;
}

static gboolean
cg_prepare (Npb *npb, GError **error)
{
  uint32_t columns = n_columns (npb->n_ranks);

  if (!npb_need_power_of_two (npb, error))
    return FALSE;
  if (columns > (uint32_t) npb->problem.n[0])
    return npb_refuse (npb, error, "the matrix of order %d has no %u columns of blocks",
                       npb->problem.n[0], columns);
  return TRUE;
}

/* A sum of scalars over the row of ranks. */
static void
sum (const Block *block, uint64_t bytes, PatternOps *ops)
{
  for (uint32_t i = 0; i < block->n_partners; i++)
    npb_exchange (ops, block->partners[i], bytes, block->partners[i], bytes, (int32_t) i + 1);
}

static void
multiply (const Npb *npb, const Block *block, PatternOps *ops)
{
  uint64_t kept_bytes = block->kept_values * DOUBLE_BYTES;

  npb_compute (npb, ops, 1.0 / (INNER_ITERATIONS + 1) / npb->n_ranks);
  /* Where columns are twice the rows, the first exchange leaves each rank of a
   * pair half the vector; the others are about that half. */
  for (uint32_t i = block->n_partners; i-- > 0;) {
    gboolean halves = !block->is_square && i == block->n_partners - 1;
    uint64_t sent = halves ? block->row_values - block->kept_values : block->kept_values;

    npb_exchange (ops, block->partners[i], kept_bytes, block->partners[i], sent * DOUBLE_BYTES,
                  (int32_t) i + 1);
  }
  if (block->n_partners > 0)
    npb_exchange (ops, block->transposed, block->column_values * DOUBLE_BYTES, block->transposed,
                  kept_bytes, TRANSPOSE_TAG);
}

static void
cg_step (const Npb *npb, uint32_t rank, PatternOps *ops)
{
  Block block = block_of (npb, rank);

  sum (&block, DOUBLE_BYTES, ops);
  for (guint i = 0; i < INNER_ITERATIONS; i++) {
    multiply (npb, &block, ops);
    sum (&block, DOUBLE_BYTES, ops);
    sum (&block, DOUBLE_BYTES, ops);
  }
  multiply (npb, &block, ops);
  sum (&block, DOUBLE_BYTES, ops);
  sum (&block, 2 * DOUBLE_BYTES, ops); /* the two norms of the outer iteration */
}

/* The setup of CG, EP and IS: one parameter for all ranks. */
static void
setup_one_parameter (PatternOps *ops)
{
  npb_call (ops, "MPI_Comm_rank");
  npb_call (ops, "MPI_Comm_size");
  npb_bcast (ops, TRACE_COMM_WORLD, 4);
}

static void
cg_fill (const Npb *npb, uint32_t rank, NpbStage stage, uint32_t step, PatternOps *ops)
{
  (void) step;
  switch (stage) {
  case NPB_SETUP: setup_one_parameter (ops); break;
  case NPB_WARM_UP:
    cg_step (npb, rank, ops);
    npb_barrier (ops, TRACE_COMM_WORLD);
    break;
  case NPB_STEP: cg_step (npb, rank, ops); break;
  case NPB_END: npb_reduce (ops, TRACE_COMM_WORLD, DOUBLE_BYTES); break;
  }
}

const NpbKernel npb_cg = { cg_prepare, cg_fill };

/* --- EP: random numbers, each rank for itself, and sums at the end --- */

/* Pairs are handed out in blocks of 2^16, whatever the number of ranks;
 * report RNR-94-007. */

#define LOG_BLOCK      16
#define COUNTS_OF_PAIR 10 /* how many pairs fell into each ring */

static gboolean
ep_prepare (Npb *npb, GError **error)
{
  if (npb->iterations > 1)
    return npb_refuse (npb, error, "it has one iteration");
  if (npb->n_ranks > 1u << (npb->problem.n[0] - LOG_BLOCK))
    return npb_refuse (npb, error, "there are only %u blocks of random numbers",
                       1u << (npb->problem.n[0] - LOG_BLOCK));
  return TRUE;
}

static void
ep_fill (const Npb *npb, uint32_t rank, NpbStage stage, uint32_t step, PatternOps *ops)
{
  (void) step;
  switch (stage) {
  case NPB_SETUP: setup_one_parameter (ops); break;
  case NPB_WARM_UP: npb_barrier (ops, TRACE_COMM_WORLD); break;
  case NPB_STEP: {
    uint32_t n_blocks = 1u << (npb->problem.n[0] - LOG_BLOCK);
    uint32_t mine = n_blocks / npb->n_ranks + (rank < n_blocks % npb->n_ranks);

    npb_compute (npb, ops, (double) mine / n_blocks);
    break;
  }
  case NPB_END:
    npb_allreduce (ops, TRACE_COMM_WORLD, DOUBLE_BYTES);
    npb_allreduce (ops, TRACE_COMM_WORLD, DOUBLE_BYTES);
    npb_allreduce (ops, TRACE_COMM_WORLD, COUNTS_OF_PAIR * DOUBLE_BYTES);
    npb_allreduce (ops, TRACE_COMM_WORLD, DOUBLE_BYTES); /* the slowest rank's time */
    break;
  }
}

const NpbKernel npb_ep = { ep_prepare, ep_fill };

/* --- FT: a partial differential equation solved in Fourier space --- */

/* Up to nz ranks have slabs of planes, and a transform has one transposition
 * over all ranks.  More ranks are nz by P / nz, have pencils, and transpose
 * twice: within the P / nz ranks of a row and within the nz of a column.
 * Complex numbers of 16 bytes; report RNR-94-007. */

#define COMPLEX_BYTES 16

enum { COMM_ROW = 4, COMM_COLUMN = 5 };

typedef struct {
  uint32_t n1, n2; /* ranks of a column and of a row */
  uint64_t local_points;
} Layout;

static Layout
layout_of (const Npb *npb)
{
  const int32_t *n = npb->problem.n;
  Layout layout = { .n1 = 1, .n2 = npb->n_ranks };

  if (npb->n_ranks > (uint32_t) n[2]) {
    layout.n1 = (uint32_t) n[2];
    layout.n2 = npb->n_ranks / layout.n1;
  }
  layout.local_points = (uint64_t) n[0] * (uint64_t) n[1] * (uint64_t) n[2] / npb->n_ranks;
  return layout;
}

/* With n1 along y and then x, n2 along z and then y, all sides are powers of
 * two, so that the shortest decides. */
static gboolean
ft_prepare (Npb *npb, GError **error)
{
  const int32_t *n = npb->problem.n;
  uint32_t most = (uint32_t) n[2] * (uint32_t) MIN (MIN (n[0], n[1]), n[2]);

  if (!npb_need_power_of_two (npb, error))
    return FALSE;
  if (npb->n_ranks > most)
    return npb_refuse (npb, error, "the grid of %dx%dx%d has pencils for up to %u ranks", n[0],
                       n[1], n[2], most);
  return TRUE;
}

/* The transposition stands between halves of the work. */
static void
transform (const Npb *npb, gboolean back, double share, PatternOps *ops)
{
  Layout layout = layout_of (npb);
  uint64_t column_bytes = COMPLEX_BYTES * layout.local_points / layout.n1;
  double half = share / 2 / npb->n_ranks;

  npb_compute (npb, ops, half);
  if (!back && layout.n1 > 1)
    pattern_ops_alltoall (ops, COMM_COLUMN, column_bytes);
  if (npb->n_ranks > 1)
    pattern_ops_alltoall (ops, COMM_ROW, COMPLEX_BYTES * layout.local_points / layout.n2);
  if (back && layout.n1 > 1)
    pattern_ops_alltoall (ops, COMM_COLUMN, column_bytes);
  npb_compute (npb, ops, half);
}

static void
ft_fill (const Npb *npb, uint32_t rank, NpbStage stage, uint32_t step, PatternOps *ops)
{
  (void) step;
  switch (stage) {
  case NPB_SETUP: {
    Layout layout = layout_of (npb);
    int32_t row = (int32_t) (rank / layout.n2), column = (int32_t) (rank % layout.n2);

    npb_call (ops, "MPI_Comm_size");
    npb_call (ops, "MPI_Comm_rank");
    for (guint i = 0; i < 5; i++)
      npb_bcast (ops, TRACE_COMM_WORLD, 4);
    pattern_ops_split (ops, TRACE_COMM_WORLD, row, column, COMM_ROW);
    pattern_ops_split (ops, TRACE_COMM_WORLD, column, row, COMM_COLUMN);
    break;
  }
  case NPB_WARM_UP: {
    /* Two forward transforms, one to touch memory and one to begin: their share
     * of an iteration follows from the benchmark's operation counts. */
    const int32_t *n = npb->problem.n;
    double log_points = log ((double) n[0] * n[1] * n[2]);
    double share = (14.8157 + 7.19641 * log_points) / (5.23518 + 7.21113 * log_points);

    transform (npb, FALSE, share, ops);
    npb_barrier (ops, TRACE_COMM_WORLD);
    transform (npb, FALSE, share, ops);
    break;
  }
  case NPB_STEP:
    transform (npb, TRUE, 1, ops);
    npb_reduce (ops, TRACE_COMM_WORLD, COMPLEX_BYTES);
    break;
  case NPB_END:
    if (rank == 0)
      npb_call (ops, "MPI_Comm_size");
    break;
  }
}

const NpbKernel npb_ft = { ft_prepare, ft_fill };

/* --- The keys that IS sorts, drawn and counted --- */

/* The generator of report RNR-94-007 (s' = 5^13 s modulo 2^46,
 * from 314159265), four numbers to a key.  All arithmetic is of integers:
 * the benchmark's, in doubles, is exact as well. */

#define SEED            314159265ull
#define MULTIPLIER      1220703125ull /* 5^13 */
#define MODULUS_BITS    46
#define DRAWS           4  /* per key */
#define MAX_LOG_COUNTED 31 /* class D, in seconds */

/* Keys of rank 0 that the iterations replace, so that each sorts other keys:
 * number i becomes i, and number n_iterations + i the largest key less i. */
typedef struct {
  uint64_t old_low, old_high; /* keys */
} Change;

/* The keys are random numbers with a prescribed generator and seed, so that
 * the number of keys from each rank to each other follows from the class and
 * the number of ranks.  They are drawn when they are first needed, which takes
 * seconds for class D.  For more keys than that, each rank is given the
 * expected share of every bucket. */
typedef struct {
  guint log_keys, log_largest, log_buckets;
  uint32_t n_ranks, n_buckets, n_iterations;
  GMutex lock;
  uint32_t *counts; /* [n_ranks][n_buckets] before any change; NULL: not drawn yet */
  uint64_t *totals; /* [n_buckets] of all ranks */
  Change *changes;  /* [n_iterations]; NULL: no keys were drawn */
} Keys;

static void
keys_free (gpointer data)
{
  Keys *keys = data;

  g_mutex_clear (&keys->lock);
  g_free (keys->counts);
  g_free (keys->totals);
  g_free (keys->changes);
  g_free (keys);
}

static uint64_t
times (uint64_t a, uint64_t b)
{
  return a * b & (((uint64_t) 1 << MODULUS_BITS) - 1);
}

static uint32_t
bucket_of (const Keys *keys, uint64_t key)
{
  return (uint32_t) (key >> (keys->log_largest - keys->log_buckets));
}

/* Ranks have successive parts of one sequence.  The numbers of a key are taken
 * from the state by powers of the multiplier, not one from another, so that a
 * processor works on all of them at a time. */
static void
draw_keys (Keys *keys)
{
  uint64_t per_rank = ((uint64_t) 1 << keys->log_keys) / keys->n_ranks, state = SEED;
  uint64_t powers[DRAWS] = { MULTIPLIER };

  for (guint i = 1; i < DRAWS; i++)
    powers[i] = times (powers[i - 1], MULTIPLIER);
  keys->changes = g_new (Change, keys->n_iterations);
  for (uint32_t rank = 0; rank < keys->n_ranks; rank++) {
    uint32_t *counts = keys->counts + (gsize) rank * keys->n_buckets;

    for (uint64_t i = 0; i < per_rank; i++) {
      uint64_t sum = 0, key;

      for (guint draw = 0; draw < DRAWS; draw++)
        sum += times (state, powers[draw]);
      state = times (state, powers[DRAWS - 1]);
      key = sum >> (MODULUS_BITS - (keys->log_largest - 2));
      counts[bucket_of (keys, key)]++;
      if (rank > 0 || i == 0)
        continue;
      if (i <= keys->n_iterations)
        keys->changes[i - 1].old_low = key;
      else if (i <= 2 * (uint64_t) keys->n_iterations)
        keys->changes[i - 1 - keys->n_iterations].old_high = key;
    }
  }
}

/* A key is in proportion to the sum of four uniform numbers in 0..1, of which
 * the chance to be below x is known (Irwin and Hall). */
static void
expect_keys (Keys *keys)
{
  static const double coefficients[DRAWS + 1] = { 1, -4, 6, -4, 1 };
  double per_rank = ldexp (1, (int) keys->log_keys) / keys->n_ranks;
  uint64_t below = 0;

  for (uint32_t bucket = 0; bucket < keys->n_buckets; bucket++) {
    double x = DRAWS * (bucket + 1.0) / keys->n_buckets, chance = 0;
    uint64_t next;

    for (guint k = 0; k <= DRAWS && k < x; k++)
      chance += coefficients[k] * pow (x - k, DRAWS) / 24;
    next = (uint64_t) (per_rank * MIN (chance, 1));
    keys->counts[bucket] = (uint32_t) (next - below);
    below = next;
  }
  keys->counts[keys->n_buckets - 1] += (uint32_t) ((uint64_t) per_rank - below);
  for (uint32_t rank = 1; rank < keys->n_ranks; rank++)
    memcpy (keys->counts + (gsize) rank * keys->n_buckets, keys->counts,
            keys->n_buckets * sizeof *keys->counts);
}

/* --- IS: bucket sort of integer keys --- */

/* An iteration sums the sizes of the buckets over all ranks, exchanges the
 * number of keys between each two ranks, and sends the keys; at the end every
 * rank sends its largest key to the next. */

#define KEY_BYTES      4
#define VERIFIED_KEYS  5 /* their ranks are summed with the buckets */
#define TAG            1000
#define MAX_RANKS      1024
#define MAX_RANKS_S    128
#define MAX_ITERATIONS 1000 /* each makes all later ones a little dearer to work out */
#define MAX_KEYS_LOG   29   /* of a rank, counted by an int */

static gboolean
is_prepare (Npb *npb, GError **error)
{
  uint64_t n_keys = (uint64_t) 1 << npb->problem.n[0];
  uint32_t most = npb->class_name == 'S' ? MAX_RANKS_S : MAX_RANKS;
  Keys *keys;

  if (!npb_need_power_of_two (npb, error))
    return FALSE;
  if (npb->n_ranks > most)
    return npb_refuse (npb, error, "it runs on up to %u ranks", most);
  if (n_keys / npb->n_ranks > (uint64_t) 1 << MAX_KEYS_LOG)
    return npb_refuse (npb, error, "it runs on at least %u ranks",
                       (uint32_t) (n_keys >> MAX_KEYS_LOG));
  if (npb->iterations > MAX_ITERATIONS)
    return npb_refuse (npb, error, "up to %d iterations are made", MAX_ITERATIONS);
  if (2 * (uint64_t) npb->iterations >= n_keys / npb->n_ranks)
    return npb_refuse (npb, error, "every iteration replaces two keys of %" G_GUINT64_FORMAT,
                       n_keys / npb->n_ranks);
  npb->own = keys = g_new0 (Keys, 1);
  npb->own_free = keys_free;
  keys->log_keys = (guint) npb->problem.n[0];
  keys->log_largest = (guint) npb->problem.n[1];
  keys->log_buckets = (guint) npb->problem.n[2];
  keys->n_ranks = npb->n_ranks;
  keys->n_buckets = 1u << keys->log_buckets;
  keys->n_iterations = npb->iterations;
  g_mutex_init (&keys->lock);
  return TRUE;
}

/* The MPI_Alltoallv of an iteration (from 1), with the bytes that the rank
 * sends to each rank and receives from each.  Any thread. */
static void
send_keys (const Npb *npb, uint32_t rank, uint32_t iteration, PatternOps *ops)
{
  Keys *keys = npb->own;
  uint32_t n_buckets = keys->n_buckets, owner = 0;
  uint64_t largest = (uint64_t) 1 << keys->log_largest, n_keys = 0;
  uint64_t per_rank = ((uint64_t) 1 << keys->log_keys) / keys->n_ranks;
  g_autofree uint32_t *first_counts = NULL; /* of rank 0, after the changes */
  const uint32_t *own_counts;
  uint64_t *sent, *received;

  pattern_ops_add (ops, TRACE_OP_ALLTOALLV, "MPI_Alltoallv");
  sent = pattern_ops_counts (ops, npb->n_ranks);
  received = pattern_ops_recv_counts (ops, npb->n_ranks);

  g_mutex_lock (&keys->lock);
  if (keys->counts == NULL) {
    keys->counts = g_new0 (uint32_t, (gsize) keys->n_ranks * n_buckets);
    if (keys->log_keys <= MAX_LOG_COUNTED)
      draw_keys (keys);
    else
      expect_keys (keys);
    keys->totals = g_new0 (uint64_t, n_buckets);
    for (uint32_t source = 0; source < keys->n_ranks; source++)
      for (uint32_t bucket = 0; bucket < n_buckets; bucket++)
        keys->totals[bucket] += keys->counts[(gsize) source * n_buckets + bucket];
  }
  g_mutex_unlock (&keys->lock);

  first_counts = g_memdup2 (keys->counts, n_buckets * sizeof *keys->counts);
  for (uint32_t i = 1; i <= iteration && keys->changes != NULL; i++) {
    first_counts[bucket_of (keys, keys->changes[i - 1].old_low)]--;
    first_counts[bucket_of (keys, keys->changes[i - 1].old_high)]--;
    first_counts[bucket_of (keys, i)]++;
    first_counts[bucket_of (keys, largest - i)]++;
  }

  /* A rank owns successive buckets until all ranks up to it have their average
   * share; the last ranks may be left without. */
  own_counts = rank == 0 ? first_counts : keys->counts + (gsize) rank * n_buckets;
  for (uint32_t bucket = 0; bucket < n_buckets; bucket++) {
    sent[owner] += (uint64_t) own_counts[bucket] * KEY_BYTES;
    if (owner == rank)
      received[0] += (uint64_t) first_counts[bucket] * KEY_BYTES;
    for (uint32_t source = 1; owner == rank && source < keys->n_ranks; source++)
      received[source] += (uint64_t) keys->counts[(gsize) source * n_buckets + bucket] * KEY_BYTES;
    n_keys += keys->totals[bucket] + first_counts[bucket] - keys->counts[bucket];
    if (n_keys >= (owner + 1) * per_rank && owner + 1 < keys->n_ranks)
      owner++;
  }
}

static void
is_step (const Npb *npb, uint32_t rank, uint32_t iteration, PatternOps *ops)
{
  uint64_t n_buckets = (uint64_t) 1 << npb->problem.n[2];
  double half = 0.5 / npb->n_ranks;

  npb_compute (npb, ops, half);
  npb_allreduce (ops, TRACE_COMM_WORLD, (n_buckets + VERIFIED_KEYS) * KEY_BYTES);
  pattern_ops_alltoall (ops, TRACE_COMM_WORLD, KEY_BYTES);
  send_keys (npb, rank, iteration, ops);
  npb_compute (npb, ops, half);
}

static void
is_fill (const Npb *npb, uint32_t rank, NpbStage stage, uint32_t step, PatternOps *ops)
{
  int32_t before = (int32_t) rank - 1;
  int32_t after = rank + 1 < npb->n_ranks ? (int32_t) rank + 1 : TRACE_PROC_NULL;

  switch (stage) {
  case NPB_SETUP: setup_one_parameter (ops); break;
  case NPB_WARM_UP:
    is_step (npb, rank, 1, ops);
    npb_call (ops, "MPI_Wtime");
    break;
  case NPB_STEP: is_step (npb, rank, step, ops); break;
  case NPB_END:
    npb_call (ops, "MPI_Wtime");
    npb_reduce (ops, TRACE_COMM_WORLD, 8);
    npb_exchange (ops, before, KEY_BYTES, after, KEY_BYTES, TAG);
    npb_reduce (ops, TRACE_COMM_WORLD, 4);
    break;
  }
}

const NpbKernel npb_is = { is_prepare, is_fill };

/* --- MG: V-cycles of a multigrid solver on a periodic grid --- */

/* 2^k ranks are 2^floor(k/3) along x, half of the other factors along y, the
 * rest along z.  A level has half the points of the next along each axis;
 * where that leaves less than a point for every rank, every second rank drops
 * out, and the others have their neighbours twice as far away.  Ghost points
 * are exchanged axis by axis after every operator.  On the way up, active
 * ranks hand points to those that come back.  The algorithm is in report
 * RNR-94-007. */

#define GHOSTS     2 /* along an axis, one on each side */
#define MAX_LEVELS 31

/* One rank on one level. */
typedef struct {
  uint64_t n[3]; /* points along each axis, ghosts included */
  int32_t low[3], high[3];
  gboolean idle;              /* has no point */
  gboolean gives[3], gets[3]; /* between this level and the one below */
} Level;

typedef struct {
  guint n_levels;
  Level levels[MAX_LEVELS + 1]; /* from 1, the coarsest */
  uint64_t buffer_bytes;        /* of the buffer of every receive */
} Grid;

static guint
log2_of (uint32_t n)
{
  return (guint) g_bit_storage (n) - 1;
}

static void
count_ranks (uint32_t n_ranks, uint32_t ranks[3])
{
  guint log_ranks = log2_of (n_ranks), x = log_ranks / 3, y = (log_ranks - x) / 2;

  ranks[0] = 1u << x;
  ranks[1] = 1u << y;
  ranks[2] = 1u << (log_ranks - x - y);
}

/* Points of a level with n along an axis that the rank at `at` of it has. */
static uint64_t
points_at (uint64_t n, uint32_t n_ranks, uint64_t at)
{
  return (at + 1) * n / n_ranks - at * n / n_ranks;
}

static Grid
grid_of (const Npb *npb, uint32_t rank)
{
  Grid grid = { .n_levels = log2_of ((uint32_t) npb->problem.n[0]) };
  uint32_t ranks[3], at[3], unit = 1;
  uint64_t side;

  count_ranks (npb->n_ranks, ranks);
  at[0] = rank % ranks[0];
  at[1] = rank / ranks[0] % ranks[1];
  at[2] = rank / ranks[0] / ranks[1];
  for (guint axis = 0; axis < 3; unit *= ranks[axis++]) {
    uint32_t base = rank - at[axis] * unit, n_ranks = ranks[axis], distance = 1;

    /* The partner is `distance` ranks away, which doubles with each level that
     * has less points than ranks; both have a point every now and then, and
     * hand it over. */
    for (guint number = grid.n_levels; number > 0; number--) {
      Level *level = &grid.levels[number];
      uint64_t n = (uint64_t) 1 << number;
      uint64_t mine = points_at (n, n_ranks, at[axis]);
      uint64_t theirs = points_at (n, n_ranks, at[axis] + distance);

      level->n[axis] = mine + GHOSTS;
      level->idle = level->idle || mine == 0;
      if (number < grid.n_levels) {
        level[1].gives[axis] = theirs == 0 && mine == 1;
        level[1].gets[axis] = theirs == 1 && mine == 0;
      }
      if (mine == 0 || theirs == 0)
        distance *= 2;
      level->high[axis] = (int32_t) (base + (at[axis] + distance) % n_ranks * unit);
      level->low[axis] =
          (int32_t) (base + (at[axis] + n_ranks - distance % n_ranks) % n_ranks * unit);
    }
  }
  side = (uint32_t) npb->problem.n[0] / ranks[0] + GHOSTS;
  grid.buffer_bytes = 2 * side * side * DOUBLE_BYTES;
  return grid;
}

static gboolean
mg_prepare (Npb *npb, GError **error)
{
  uint32_t ranks[3];

  if (!npb_need_power_of_two (npb, error))
    return FALSE;
  count_ranks (npb->n_ranks, ranks);
  if (ranks[2] > (uint32_t) npb->problem.n[2])
    return npb_refuse (npb, error, "each of the %u ranks along z must have one of the %d points",
                       ranks[2], npb->problem.n[2]);
  return TRUE;
}

static int32_t
tag_of (guint axis, gboolean upwards)
{
  return (int32_t) (axis + 1) * 1000 + (upwards ? 300 : 100);
}

static void
post_receives (const Grid *grid, const Level *level, guint axis, PatternOps *ops)
{
  pattern_ops_irecv (ops, level->high[axis], tag_of (axis, FALSE), grid->buffer_bytes,
                     PATTERN_FIRST_REQUEST);
  pattern_ops_irecv (ops, level->low[axis], tag_of (axis, TRUE), grid->buffer_bytes,
                     PATTERN_FIRST_REQUEST + 1);
}

static void
wait_for_both (PatternOps *ops)
{
  pattern_ops_wait (ops, PATTERN_FIRST_REQUEST, 1);
  pattern_ops_wait (ops, PATTERN_FIRST_REQUEST + 1, 1);
}

/* The faces carry the ghosts of the axes that were exchanged before. */
static void
exchange (const Npb *npb, const Grid *grid, guint number, PatternOps *ops)
{
  const Level *level = &grid->levels[number];
  const uint64_t n_values[3] = { (level->n[1] - GHOSTS) * (level->n[2] - GHOSTS),
                                 level->n[0] * (level->n[2] - GHOSTS), level->n[0] * level->n[1] };

  if (level->idle || npb->n_ranks == 1)
    return;
  for (guint axis = 0; axis < 3; axis++) {
    post_receives (grid, level, axis, ops);
    pattern_ops_send (ops, level->high[axis], tag_of (axis, TRUE), n_values[axis] * DOUBLE_BYTES);
    pattern_ops_send (ops, level->low[axis], tag_of (axis, FALSE), n_values[axis] * DOUBLE_BYTES);
    wait_for_both (ops);
  }
}

/* After interpolation: ranks that were idle on the level below get planes
 * from active ones, two from below and one from above. */
static void
hand_over (const Npb *npb, const Grid *grid, guint number, PatternOps *ops)
{
  const Level *level = &grid->levels[number];
  const uint64_t *n = level->n;
  const uint64_t n_values[3] = { n[1] * n[2], n[0] * n[2], n[0] * n[1] };

  for (guint axis = 0; axis < 3 && npb->n_ranks > 1; axis++) {
    if (level->gets[axis]) {
      post_receives (grid, level, axis, ops);
      wait_for_both (ops);
    }
    if (level->gives[axis]) {
      pattern_ops_send (ops, level->high[axis], tag_of (axis, TRUE),
                        2 * n_values[axis] * DOUBLE_BYTES);
      pattern_ops_send (ops, level->low[axis], tag_of (axis, FALSE), n_values[axis] * DOUBLE_BYTES);
    }
  }
}

/* The work of an operator is assumed proportional to the points of its level:
 * in a V-cycle and the residual after it, four operators work on every level
 * but the coarsest, which has one, and one more on the finest. */
static void
compute (const Npb *npb, const Grid *grid, guint number, PatternOps *ops)
{
  const Level *level = &grid->levels[number];
  double n_points = 1, n_all = 2 + ldexp (1, 3 * (int) grid->n_levels);

  for (guint i = 2; i <= grid->n_levels; i++)
    n_all += 4 * ldexp (1, 3 * (int) i);
  for (guint axis = 0; axis < 3; axis++)
    n_points *= (double) (level->n[axis] - GHOSTS);
  npb_compute (npb, ops, n_points / n_all);
}

/* An operator on a level, and the exchange after it. */
static void
operate (const Npb *npb, const Grid *grid, guint number, PatternOps *ops)
{
  compute (npb, grid, number, ops);
  exchange (npb, grid, number, ops);
}

/* Restriction all the way down, smoothing there; then, level by level,
 * interpolation, residual and smoothing; last the residual of the finest. */
static void
mg_step (const Npb *npb, const Grid *grid, PatternOps *ops)
{
  for (guint level = grid->n_levels; level > 1; level--) {
    compute (npb, grid, level, ops);
    exchange (npb, grid, level - 1, ops);
  }
  operate (npb, grid, 1, ops);
  for (guint level = 2; level <= grid->n_levels; level++) {
    compute (npb, grid, level, ops);
    hand_over (npb, grid, level, ops);
    operate (npb, grid, level, ops);
    operate (npb, grid, level, ops);
  }
  operate (npb, grid, grid->n_levels, ops);
}

/* The ten largest and the ten smallest of the random numbers are searched over
 * all ranks: the owner of each, and its place. */
static void
make_charges (const Npb *npb, const Grid *grid, PatternOps *ops)
{
  npb_barrier (ops, TRACE_COMM_WORLD);
  for (guint i = 0; i < 2 * 10; i++) {
    npb_allreduce (ops, TRACE_COMM_WORLD, DOUBLE_BYTES);
    npb_allreduce (ops, TRACE_COMM_WORLD, 4 * 4);
  }
  npb_barrier (ops, TRACE_COMM_WORLD);
  exchange (npb, grid, grid->n_levels, ops);
}

static void
norms (PatternOps *ops)
{
  npb_allreduce (ops, TRACE_COMM_WORLD, DOUBLE_BYTES);
  npb_allreduce (ops, TRACE_COMM_WORLD, DOUBLE_BYTES);
}

static void
mg_fill (const Npb *npb, uint32_t rank, NpbStage stage, uint32_t step, PatternOps *ops)
{
  static const uint64_t parameters_bytes[] = { 4, 4, 4, 4, 4, 32, 4 };
  Grid grid = grid_of (npb, rank);

  (void) step;
  switch (stage) {
  case NPB_SETUP:
    npb_call (ops, "MPI_Comm_rank");
    npb_call (ops, "MPI_Comm_size");
    npb_barrier (ops, TRACE_COMM_WORLD);
    for (guint i = 0; i < G_N_ELEMENTS (parameters_bytes); i++)
      npb_bcast (ops, TRACE_COMM_WORLD, parameters_bytes[i]);
    break;
  case NPB_WARM_UP:
    make_charges (npb, &grid, ops);
    norms (ops);
    exchange (npb, &grid, grid.n_levels, ops);
    norms (ops);
    mg_step (npb, &grid, ops);
    make_charges (npb, &grid, ops);
    npb_barrier (ops, TRACE_COMM_WORLD);
    exchange (npb, &grid, grid.n_levels, ops);
    norms (ops);
    break;
  case NPB_STEP: mg_step (npb, &grid, ops); break;
  case NPB_END:
    norms (ops);
    npb_reduce (ops, TRACE_COMM_WORLD, DOUBLE_BYTES);
    break;
  }
}

const NpbKernel npb_mg = { mg_prepare, mg_fill };
