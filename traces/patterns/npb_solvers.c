/* npb_solvers.c - the NPB pseudo-applications: BT, SP and LU.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/patterns/npb.h"

/* --- The cells of BT and SP, and the steps that both share --- */

/* Rank (column i, row j) has the cells (i + c, j - c, c) modulo q, c < q.
 * Whatever the cell, the next one along an axis belongs to the same
 * neighbour.  The cells of uneven grids are larger by a point at the start of
 * each axis. */

/* The multi-partition scheme: the grid is cut into q x q x q cells for q x q
 * ranks.  Each rank owns q of them, one in every slab across every axis, so
 * that a sweep along any axis keeps all ranks busy. */
typedef struct {
  uint32_t q, column, row; /* place of the rank among q x q */
  uint32_t n;              /* points of the grid along an axis */
  int32_t successor[3], predecessor[3];
} Partition;

typedef struct {
  uint32_t at[3];   /* place among q x q x q */
  uint32_t size[3]; /* points */
} Cell;

/* The communicators of both programs, handles bound in the setup. */
enum { COMM_SETUP = 4, COMM_SOLVE = 5, COMM_RHS = 6 };

/* The turn of a cell in a sweep along an axis: it receives from the slab
 * before, computes, and sends to the next.  Peers beyond the first and last
 * slab of a sweep are TRACE_PROC_NULL. */
typedef struct {
  const Npb *npb;
  const Partition *partition;
  PatternOps *ops;
  guint axis;
  gboolean up; /* towards the successors; else back */
} Sweep;

typedef void (*Turn) (const Sweep *sweep, const Cell *cell, int32_t from, int32_t to);

#define PART_VARIABLES   5 /* of a point */
#define PART_FACE_LAYERS 2
#define MIN_CELL         3 /* points along an axis; the programs stop when there are fewer */

/* The tags of messages along an axis, to the successor or the predecessor; the
 * exchange of faces and the solvers use them in opposite ways. */
static const int32_t low_tags[3] = { 2000, 4000, 7000 };
static const int32_t high_tags[3] = { 3000, 5000, 6000 };

static uint32_t
root_of (uint32_t n_ranks)
{
  uint32_t q = 1;

  while ((uint64_t) (q + 1) * (q + 1) <= n_ranks)
    q++;
  return q;
}

static int32_t
rank_at (uint32_t q, uint32_t column, uint32_t row)
{
  return (int32_t) (column % q + q * (row % q));
}

static Partition
partition_of (const Npb *npb, uint32_t rank)
{
  uint32_t q = root_of (npb->n_ranks), i = rank % q, j = rank / q;

  return (Partition){
    .q = q,
    .column = i,
    .row = j,
    .n = (uint32_t) npb->problem.n[0],
    .successor = { rank_at (q, i + 1, j), rank_at (q, i, j + 1), rank_at (q, i + q - 1, j + 1) },
    .predecessor = { rank_at (q, i + q - 1, j), rank_at (q, i, j + q - 1),
                     rank_at (q, i + 1, j + q - 1) },
  };
}

/* The rank's cell in a slab across an axis. */
static Cell
cell_at (const Partition *p, guint axis, uint32_t slab)
{
  uint32_t c = slab;
  Cell cell;

  if (axis == 0)
    c = (slab + p->q - p->column) % p->q;
  else if (axis == 1)
    c = (p->row + p->q - slab) % p->q;
  cell.at[0] = (p->column + c) % p->q;
  cell.at[1] = (p->row + p->q - c) % p->q;
  cell.at[2] = c;
  for (guint i = 0; i < 3; i++)
    cell.size[i] = p->n / p->q + (cell.at[i] < p->n % p->q);
  return cell;
}

static gboolean
partition_prepare (Npb *npb, GError **error)
{
  uint32_t q = root_of (npb->n_ranks), n = (uint32_t) npb->problem.n[0];

  if (q * q != npb->n_ranks)
    return npb_refuse (npb, error, "it runs on a square number of ranks: %u, %u ...", q * q,
                       (q + 1) * (q + 1));
  if (n / q < MIN_CELL)
    return npb_refuse (npb, error,
                       "each of the %u cells along an axis must have %d of the %u points", q,
                       MIN_CELL, n);
  return TRUE;
}

static void
duplicate (PatternOps *ops, uint32_t comm, uint32_t new_comm)
{
  TraceOp *op = pattern_ops_add (ops, TRACE_OP_COMM_DUP, "MPI_Comm_dup");

  op->comm = comm;
  op->new_comm = new_comm;
}

static void
post (PatternOps *ops, TraceOpKind kind, uint32_t comm, int32_t peer, int32_t tag, uint64_t bytes,
      uint32_t request)
{
  TraceOp *op = pattern_ops_add (ops, kind, kind == TRACE_OP_ISEND ? "MPI_Isend" : "MPI_Irecv");

  op->comm = comm;
  op->peer = peer;
  op->tag = tag;
  op->bytes = bytes;
  op->request = request;
}

/* All faces across an axis that go one way are one message: those of the
 * cells in every slab but the last (or, the other way, the first). */
static uint64_t
faces_bytes (const Partition *p, guint axis, uint32_t left_out)
{
  uint64_t n_points = 0;

  for (uint32_t slab = 0; slab < p->q; slab++) {
    Cell cell = cell_at (p, axis, slab);

    if (slab != left_out)
      n_points += (uint64_t) cell.size[(axis + 1) % 3] * cell.size[(axis + 2) % 3];
  }
  return n_points * PART_FACE_LAYERS * PART_VARIABLES * DOUBLE_BYTES;
}

static void
copy_faces (const Npb *npb, const Partition *p, PatternOps *ops)
{
  uint64_t to_successor[3], to_predecessor[3];
  uint32_t request = PATTERN_FIRST_REQUEST;

  if (npb->n_ranks == 1)
    return;
  for (guint axis = 0; axis < 3; axis++) {
    to_successor[axis] = faces_bytes (p, axis, p->q - 1);
    to_predecessor[axis] = faces_bytes (p, axis, 0);
  }
  for (guint axis = 0; axis < 3; axis++) {
    post (ops, TRACE_OP_IRECV, COMM_RHS, p->successor[axis], high_tags[axis], to_successor[axis],
          request++);
    post (ops, TRACE_OP_IRECV, COMM_RHS, p->predecessor[axis], low_tags[axis], to_predecessor[axis],
          request++);
  }
  for (guint axis = 0; axis < 3; axis++) {
    post (ops, TRACE_OP_ISEND, COMM_RHS, p->successor[axis], low_tags[axis], to_successor[axis],
          request++);
    post (ops, TRACE_OP_ISEND, COMM_RHS, p->predecessor[axis], high_tags[axis],
          to_predecessor[axis], request++);
  }
  pattern_ops_wait (ops, PATTERN_FIRST_REQUEST, request - PATTERN_FIRST_REQUEST);
}

/* The benchmarks do not divide their operations among the phases: a quarter is
 * assumed for the right-hand side and for each of the three axes. */
#define PART_PHASES 4.0

/* The computation of a cell's turn. */
static void
compute_cell (const Sweep *sweep, const Cell *cell)
{
  double n = sweep->partition->n;
  double cell_share = cell->size[0] / n * (cell->size[1] / n) * (cell->size[2] / n);

  npb_compute (sweep->npb, sweep->ops, cell_share / PART_PHASES / 2);
}

/* A time step: faces, then a sweep up and one back along each axis. */
static void
partition_step (const Npb *npb, const Partition *p, Turn turn, PatternOps *ops)
{
  copy_faces (npb, p, ops);
  npb_compute (npb, ops, 1 / PART_PHASES / npb->n_ranks);
  for (guint axis = 0; axis < 3; axis++) {
    Sweep sweep = { .npb = npb, .partition = p, .ops = ops, .axis = axis };

    for (guint back = 0; back < 2; back++) {
      const int32_t *from = back ? p->successor : p->predecessor;
      const int32_t *to = back ? p->predecessor : p->successor;

      sweep.up = !back;
      for (uint32_t i = 0; i < p->q; i++) {
        Cell cell = cell_at (p, axis, back ? p->q - 1 - i : i);

        turn (&sweep, &cell, i > 0 ? from[axis] : TRACE_PROC_NULL,
              i + 1 < p->q ? to[axis] : TRACE_PROC_NULL);
      }
    }
  }
}

/* The stages of both programs, which differ in the turn of a cell and in the
 * sizes of the parameters that the setup broadcasts. */
static void
partition_fill (const Npb *npb, uint32_t rank, NpbStage stage, Turn turn,
                const uint64_t *parameters_bytes, guint n_parameters, PatternOps *ops)
{
  Partition p = partition_of (npb, rank);

  switch (stage) {
  case NPB_SETUP:
    npb_call (ops, "MPI_Comm_size");
    npb_call (ops, "MPI_Comm_rank");
    pattern_ops_split (ops, TRACE_COMM_WORLD, 0, (int32_t) rank, COMM_SETUP);
    npb_call (ops, "MPI_Comm_size");
    duplicate (ops, COMM_SETUP, COMM_SOLVE);
    duplicate (ops, COMM_SETUP, COMM_RHS);
    for (guint i = 0; i < n_parameters; i++)
      npb_bcast (ops, COMM_SETUP, parameters_bytes[i]);
    break;
  case NPB_WARM_UP:
    partition_step (npb, &p, turn, ops);
    npb_barrier (ops, COMM_SETUP);
    break;
  case NPB_STEP: partition_step (npb, &p, turn, ops); break;
  case NPB_END: /* the verification, the time of the slowest rank, and a last barrier */
    npb_allreduce (ops, COMM_SETUP, PART_VARIABLES * DOUBLE_BYTES);
    copy_faces (npb, &p, ops);
    npb_allreduce (ops, COMM_SETUP, PART_VARIABLES * DOUBLE_BYTES);
    npb_reduce (ops, COMM_SETUP, DOUBLE_BYTES);
    npb_barrier (ops, TRACE_COMM_WORLD);
    break;
  }
}

/* --- BT: block-tridiagonal solves along three axes --- */

/* A cell passes on, per point of its face, a 5 x 5 block and a vector of 5 on
 * the way up, the vector alone on the way back.  The buffers have the size of
 * the largest possible face, and are sent whole. */

#define BT_UP_VALUES   (5 * 5 + 5)
#define BT_BACK_VALUES 5

static void
bt_turn (const Sweep *sweep, const Cell *cell, int32_t from, int32_t to)
{
  const Partition *p = sweep->partition;
  uint64_t side = p->n / p->q + 1;
  uint64_t bytes = side * side * (sweep->up ? BT_UP_VALUES : BT_BACK_VALUES) * DOUBLE_BYTES;
  uint32_t sent = PATTERN_FIRST_REQUEST, received = sent + 1;

  /* The tag identifies the cell of a rank; sender and receiver agree on it, as
   * their cells differ in place along the axis only. */
  uint32_t minor = cell->at[sweep->axis == 0 ? 1 : 0], major = cell->at[sweep->axis == 2 ? 1 : 2];
  int32_t tag = (sweep->up ? high_tags : low_tags)[sweep->axis] + (int32_t) (minor + p->q * major);

  if (from >= 0) {
    post (sweep->ops, TRACE_OP_IRECV, COMM_SOLVE, from, tag, bytes, received);
    pattern_ops_wait (sweep->ops, sent, 1); /* the send of the cell before */
    pattern_ops_wait (sweep->ops, received, 1);
  }
  compute_cell (sweep, cell);
  if (to >= 0)
    post (sweep->ops, TRACE_OP_ISEND, COMM_SOLVE, to, tag, bytes, sent);
}

static void
bt_fill (const Npb *npb, uint32_t rank, NpbStage stage, uint32_t step, PatternOps *ops)
{
  static const uint64_t parameters_bytes[] = { 4, 8, 12, 4, 4, 4 };

  (void) step;
  partition_fill (npb, rank, stage, bt_turn, parameters_bytes, G_N_ELEMENTS (parameters_bytes),
                  ops);
}

const NpbKernel npb_bt = { partition_prepare, bt_fill };

/* --- SP: scalar pentadiagonal solves along three axes --- */

/* A cell passes 22 numbers per point of its face on the way up and 10 on the
 * way back.  Points on the boundary of the grid are left out, so that the
 * cells of a rank send messages of different sizes. */

#define SP_UP_VALUES   22
#define SP_BACK_VALUES 10
#define TAG            0

static void
sp_turn (const Sweep *sweep, const Cell *cell, int32_t from, int32_t to)
{
  uint64_t bytes = (sweep->up ? SP_UP_VALUES : SP_BACK_VALUES) * DOUBLE_BYTES;
  uint32_t received = PATTERN_FIRST_REQUEST, sent = received + 1;

  for (guint i = 0; i < 3; i++)
    if (i != sweep->axis)
      bytes *= cell->size[i] - (cell->at[i] == 0) - (cell->at[i] == sweep->partition->q - 1);
  if (from >= 0) {
    post (sweep->ops, TRACE_OP_IRECV, COMM_SOLVE, from, TAG, bytes, received);
    pattern_ops_wait (sweep->ops, received, 2); /* and for the send of the cell before */
  }
  compute_cell (sweep, cell);
  if (to >= 0)
    post (sweep->ops, TRACE_OP_ISEND, COMM_SOLVE, to, TAG, bytes, sent);
}

static void
sp_fill (const Npb *npb, uint32_t rank, NpbStage stage, uint32_t step, PatternOps *ops)
{
  static const uint64_t parameters_bytes[] = { 4, 8, 12, 4 };

  (void) step;
  partition_fill (npb, rank, stage, sp_turn, parameters_bytes, G_N_ELEMENTS (parameters_bytes),
                  ops);
}

const NpbKernel npb_sp = { partition_prepare, sp_fill };

/* --- LU: symmetric successive over-relaxation, swept as a wavefront --- */

/* The ranks cut x and y: 2^k of them are 2^ceil(k/2) along x by 2^floor(k/2)
 * along y, and every rank has all of z.  A step sweeps the planes of z up from
 * the (0, 0) corner and down from the other, with a small message per plane
 * to each neighbour behind; then two layers of faces are exchanged for the
 * right-hand side.  M. Yarrow and R. Van der Wijngaart, report NAS-97-032,
 * describe the pipeline. */

#define LU_VARIABLES   5
#define LU_FACE_LAYERS 2
#define MIN_POINTS     4   /* of a rank along an axis, as the benchmark demands */
#define LU_PHASES      3.0 /* two sweeps and the right-hand side, assumed to cost the same */

enum { TAG_TO_NORTH = 1, TAG_TO_SOUTH = 2, TAG_TO_WEST = 3, TAG_TO_EAST = 4 };

/* One rank's part of the grid.  North and south are along x, west and east along y. */
typedef struct {
  uint64_t nx, ny, nz;       /* points */
  uint64_t x_edges, y_edges; /* sides that are the grid's own boundary */
  int32_t north, south, west, east;
  double share; /* of the planes */
} Part;

static uint32_t
ranks_along_x (uint32_t n_ranks)
{
  uint32_t n = 1;

  while ((uint64_t) n * n < n_ranks)
    n *= 2;
  return n;
}

static uint64_t
points_of (int32_t n, uint32_t n_parts, uint32_t part)
{
  return (uint32_t) n / n_parts + (part < (uint32_t) n % n_parts);
}

static Part
part_of (const Npb *npb, uint32_t rank)
{
  const int32_t *n = npb->problem.n;
  uint32_t xs = ranks_along_x (npb->n_ranks), ys = npb->n_ranks / xs;
  uint32_t row = rank % xs, column = rank / xs;
  int32_t me = (int32_t) rank;
  Part part = {
    .nx = points_of (n[0], xs, row),
    .ny = points_of (n[1], ys, column),
    .nz = (uint64_t) n[2],
    .x_edges = (row == 0) + (row == xs - 1),
    .y_edges = (column == 0) + (column == ys - 1),
    .north = row > 0 ? me - 1 : TRACE_PROC_NULL,
    .south = row < xs - 1 ? me + 1 : TRACE_PROC_NULL,
    .west = column > 0 ? me - (int32_t) xs : TRACE_PROC_NULL,
    .east = column < ys - 1 ? me + (int32_t) xs : TRACE_PROC_NULL,
  };

  part.share = (double) (part.nx * part.ny) / ((double) n[0] * n[1]);
  return part;
}

static gboolean
lu_prepare (Npb *npb, GError **error)
{
  const int32_t *n = npb->problem.n;
  uint32_t xs = ranks_along_x (npb->n_ranks);

  if (!npb_need_power_of_two (npb, error))
    return FALSE;
  if ((uint32_t) n[0] / xs < MIN_POINTS)
    return npb_refuse (npb, error, "each of the %u ranks along x must have %d of the %d points", xs,
                       MIN_POINTS, n[0]);
  return TRUE;
}

/* Both layers of faces, all the way up. */
static void
exchange_faces (const Part *part, PatternOps *ops)
{
  uint64_t layers_bytes = LU_FACE_LAYERS * LU_VARIABLES * DOUBLE_BYTES * part->nz;
  uint64_t x_bytes = layers_bytes * part->ny, y_bytes = layers_bytes * part->nx;

  npb_exchange (ops, part->north, x_bytes, part->south, x_bytes, TAG_TO_SOUTH);
  npb_exchange (ops, part->south, x_bytes, part->north, x_bytes, TAG_TO_NORTH);
  npb_exchange (ops, part->west, y_bytes, part->east, y_bytes, TAG_TO_EAST);
  npb_exchange (ops, part->east, y_bytes, part->west, y_bytes, TAG_TO_WEST);
}

static void
norm (PatternOps *ops)
{
  npb_allreduce (ops, TRACE_COMM_WORLD, LU_VARIABLES * DOUBLE_BYTES);
}

/* Norms are taken in the last step only, wherever that is. */
static void
lu_step (const Npb *npb, const Part *part, gboolean is_last, PatternOps *ops)
{
  /* The inner points of one plane's border: boundary points of the grid do not take part. */
  uint64_t n_planes = part->nz - 2;
  uint64_t x_bytes = LU_VARIABLES * DOUBLE_BYTES * (part->ny - part->y_edges);
  uint64_t y_bytes = LU_VARIABLES * DOUBLE_BYTES * (part->nx - part->x_edges);
  double share = part->share / LU_PHASES / (double) n_planes;

  for (uint64_t plane = 0; plane < n_planes; plane++) {
    if (part->north >= 0)
      pattern_ops_recv (ops, part->north, TAG_TO_SOUTH, x_bytes);
    if (part->west >= 0)
      pattern_ops_recv (ops, part->west, TAG_TO_EAST, y_bytes);
    npb_compute (npb, ops, share);
    pattern_ops_send (ops, part->south, TAG_TO_SOUTH, x_bytes);
    pattern_ops_send (ops, part->east, TAG_TO_EAST, y_bytes);
  }
  for (uint64_t plane = 0; plane < n_planes; plane++) {
    if (part->south >= 0)
      pattern_ops_recv (ops, part->south, TAG_TO_NORTH, x_bytes);
    if (part->east >= 0)
      pattern_ops_recv (ops, part->east, TAG_TO_WEST, y_bytes);
    npb_compute (npb, ops, share);
    pattern_ops_send (ops, part->north, TAG_TO_NORTH, x_bytes);
    pattern_ops_send (ops, part->west, TAG_TO_WEST, y_bytes);
  }
  if (is_last)
    norm (ops);
  exchange_faces (part, ops);
  npb_compute (npb, ops, part->share / LU_PHASES);
  if (is_last)
    norm (ops);
}

/* The right-hand side of where the steps begin. */
static void
start (const Part *part, PatternOps *ops)
{
  exchange_faces (part, ops);
  norm (ops);
  npb_barrier (ops, TRACE_COMM_WORLD);
}

/* Unlike the faces, these are waited for before the own ones are sent. */
static void
pass_on (PatternOps *ops, int32_t from, int32_t to, uint64_t bytes, int32_t tag)
{
  npb_exchange (ops, from, bytes, TRACE_PROC_NULL, 0, tag);
  pattern_ops_send (ops, to, tag, bytes);
}

static void
lu_fill (const Npb *npb, uint32_t rank, NpbStage stage, uint32_t step, PatternOps *ops)
{
  static const uint64_t parameters_bytes[] = { 4, 4, 4, 8, 8, LU_VARIABLES * DOUBLE_BYTES,
                                               4, 4, 4, 4 };
  Part part = part_of (npb, rank);

  switch (stage) {
  case NPB_SETUP:
    npb_call (ops, "MPI_Comm_rank");
    npb_call (ops, "MPI_Comm_size");
    if (rank == 0)
      npb_call (ops, "MPI_Comm_size");
    for (guint i = 0; i < G_N_ELEMENTS (parameters_bytes); i++)
      npb_bcast (ops, TRACE_COMM_WORLD, parameters_bytes[i]);
    break;
  case NPB_WARM_UP:
    exchange_faces (&part, ops);
    start (&part, ops);
    lu_step (npb, &part, npb->iterations == 1, ops);
    npb_allreduce (ops, TRACE_COMM_WORLD, DOUBLE_BYTES); /* the slowest rank's time */
    start (&part, ops);
    break;
  case NPB_STEP: lu_step (npb, &part, step == npb->iterations, ops); break;
  case NPB_END: {
    uint64_t x_bytes = 2 * DOUBLE_BYTES * (part.ny + 2), y_bytes = 2 * DOUBLE_BYTES * part.nx;
    uint64_t z_bytes = DOUBLE_BYTES * part.nz;

    npb_allreduce (ops, TRACE_COMM_WORLD, DOUBLE_BYTES);
    norm (ops); /* of the error */
    /* The surface integral over the six sides: its data from the neighbours in
     * the south and in the east goes one way only. */
    pass_on (ops, part.east, part.west, y_bytes, TAG_TO_WEST);
    pass_on (ops, part.south, part.north, x_bytes, TAG_TO_NORTH);
    npb_allreduce (ops, TRACE_COMM_WORLD, DOUBLE_BYTES);
    for (uint64_t side = 0; side < part.y_edges; side++)
      pass_on (ops, part.south, part.north, z_bytes, TAG_TO_NORTH);
    npb_allreduce (ops, TRACE_COMM_WORLD, DOUBLE_BYTES);
    for (uint64_t side = 0; side < part.x_edges; side++)
      pass_on (ops, part.east, part.west, z_bytes, TAG_TO_WEST);
    npb_allreduce (ops, TRACE_COMM_WORLD, DOUBLE_BYTES);
    break;
  }
  }
}

const NpbKernel npb_lu = { lu_prepare, lu_fill };
