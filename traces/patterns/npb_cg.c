/* npb_cg.c - CG: an eigenvalue by inverse iteration with conjugate gradients.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The matrix is cut into 2^floor(k/2) rows by 2^ceil(k/2) columns of blocks,
 * one for each of the 2^k ranks.  A product with it is summed within the rows
 * of ranks, by exchanges with partners at half, a quarter ... of the row, and
 * then goes to the rank of the transposed block (which may be the rank
 * itself).  Sums of scalars use the same partners.  The algorithm is in
 * report RNR-94-007. */
#include "traces/patterns/npb.h"

#define DOUBLE_BYTES     8
#define INNER_ITERATIONS 25
#define MAX_PARTNERS     16
#define TRANSPOSE_TAG    1

typedef struct {
  uint32_t n_partners; /* log2 of the columns */
  int32_t partners[MAX_PARTNERS], transposed;
  uint64_t row_values;    /* of the vector that the row of blocks makes */
  uint64_t kept_values;   /* of it, what this rank ends up with */
  uint64_t column_values; /* of the vector that its block multiplies */
  gboolean is_square;     /* as many columns as rows; else twice as many */
} Block;

/* Of n things cut into n_parts, the first ones larger by one, a part's. */
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

static void
find_sizes (Block *block, uint64_t n, uint32_t rows, uint32_t columns, uint32_t rank)
{
  uint32_t row = rank / columns, column = rank % columns;

  block->row_values = part_of (n, rows, row);
  if (block->is_square) {
    block->kept_values = block->row_values;
    block->column_values = part_of (n, columns, column);
  } else {
    block->kept_values = half_of (block->row_values, rank);
    block->column_values = half_of (part_of (n, columns / 2, column / 2), rank);
  }
}

static Block
block_of (const Npb *npb, uint32_t rank)
{
  uint32_t columns = n_columns (npb->n_ranks), rows = npb->n_ranks / columns;
  Block block = { .is_square = rows == columns };

  for (uint32_t distance = columns / 2; distance > 0; distance /= 2)
    block.partners[block.n_partners++] = (int32_t) (rank ^ distance);
  if (block.is_square)
    block.transposed = (int32_t) (rank % rows * rows + rank / rows);
  else
    block.transposed = (int32_t) (2 * (rank / 2 % rows * rows + rank / 2 / rows) + rank % 2);
  find_sizes (&block, (uint64_t) npb->problem.n[0], rows, columns, rank);
  return block;
}

static gboolean
prepare (Npb *npb, GError **error)
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
sum (const Block *block, uint64_t bytes, TraceBatch *batch)
{
  for (uint32_t i = 0; i < block->n_partners; i++)
    npb_exchange (batch, block->partners[i], bytes, block->partners[i], bytes, (int32_t) i + 1);
}

/* The first exchange of rows with twice the columns leaves each rank of a
 * pair half the vector; the others are about that half. */
static void
sum_vector (const Block *block, TraceBatch *batch)
{
  uint64_t received = block->kept_values * DOUBLE_BYTES;

  for (uint32_t i = block->n_partners; i-- > 0;) {
    gboolean halves = !block->is_square && i == block->n_partners - 1;
    uint64_t sent = halves ? block->row_values - block->kept_values : block->kept_values;

    npb_exchange (batch, block->partners[i], received, block->partners[i], sent * DOUBLE_BYTES,
                  (int32_t) i + 1);
  }
}

static void
multiply (const Npb *npb, const Block *block, TraceBatch *batch)
{
  npb_compute (npb, batch, 1.0 / (INNER_ITERATIONS + 1) / npb->n_ranks);
  sum_vector (block, batch);
  if (block->n_partners > 0)
    npb_exchange (batch, block->transposed, block->column_values * DOUBLE_BYTES, block->transposed,
                  block->kept_values * DOUBLE_BYTES, TRANSPOSE_TAG);
}

static void
step (const Npb *npb, uint32_t rank, G_GNUC_UNUSED uint32_t number, TraceBatch *batch)
{
  Block block = block_of (npb, rank);

  sum (&block, DOUBLE_BYTES, batch);
  for (guint i = 0; i < INNER_ITERATIONS; i++) {
    multiply (npb, &block, batch);
    sum (&block, DOUBLE_BYTES, batch);
    sum (&block, DOUBLE_BYTES, batch);
  }
  multiply (npb, &block, batch);
  sum (&block, DOUBLE_BYTES, batch);
  sum (&block, 2 * DOUBLE_BYTES, batch); /* the two norms of the outer iteration */
}

static void
setup (G_GNUC_UNUSED const Npb *npb, G_GNUC_UNUSED uint32_t rank, TraceBatch *batch)
{
  npb_call (batch, "MPI_Comm_rank");
  npb_call (batch, "MPI_Comm_size");
  npb_bcast (batch, TRACE_COMM_WORLD, 4);
}

static void
warm_up (const Npb *npb, uint32_t rank, TraceBatch *batch)
{
  step (npb, rank, 0, batch);
  npb_barrier (batch, TRACE_COMM_WORLD);
}

static void
end (G_GNUC_UNUSED const Npb *npb, G_GNUC_UNUSED uint32_t rank, TraceBatch *batch)
{
  npb_reduce (batch, TRACE_COMM_WORLD, DOUBLE_BYTES);
}

const NpbKernel npb_cg = { .prepare = prepare,
                           .release = npb_release_nothing,
                           .setup = setup,
                           .warm_up = warm_up,
                           .step = step,
                           .end = end };
