/* npb_partition.h - the cells that a rank of BT and SP owns; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The multi-partition scheme: the grid is cut into q x q x q cells for q x q
 * ranks.  Each rank owns q of them, one in every slab across every axis, so
 * that a sweep along any axis keeps all ranks busy. */
#pragma once

#include "traces/patterns/npb.h"

typedef struct {
  uint32_t q, column, row; /* place of the rank among q x q */
  uint32_t n;              /* points of the grid along an axis */
  int32_t successor[3], predecessor[3];
} NpbPartition;

typedef struct {
  uint32_t at[3];   /* place among q x q x q */
  uint32_t size[3]; /* points */
} NpbCell;

/* The communicators of both programs, handles bound in the setup. */
enum { NPB_COMM_SETUP = 4, NPB_COMM_SOLVE = 5, NPB_COMM_RHS = 6 };

/* The tags of messages along an axis, to the successor or the predecessor;
 * which is which differs between the exchange of faces and the solvers. */
extern const int32_t npb_low_tags[3], npb_high_tags[3];

NpbPartition npb_partition (const Npb *npb, uint32_t rank);
/* The rank's cell in a slab across an axis. */
NpbCell npb_partition_cell (const NpbPartition *partition, guint axis, uint32_t slab);

/* What both programs do. */
gboolean npb_partition_prepare (Npb *npb, GError **error);
void npb_partition_setup (uint32_t rank, TraceBatch *batch);
void npb_partition_copy_faces (const Npb *npb, const NpbPartition *partition, TraceBatch *batch);
/* A cell's turn in a sweep along an axis: what came in from the slab before,
 * computation, what goes on to the next.  The first and last slab of a sweep
 * have nobody there (a peer below 0). */
typedef struct {
  const Npb *npb;
  const NpbPartition *partition;
  TraceBatch *batch;
  guint axis;
  gboolean up; /* towards the successors; else back */
} NpbSweep;

typedef void (*NpbTurn) (const NpbSweep *sweep, const NpbCell *cell, int32_t from, int32_t to);

/* A time step: faces, then a sweep up and one back along each axis. */
void npb_partition_step (const Npb *npb, uint32_t rank, TraceBatch *batch, NpbTurn turn);
/* The computation of a cell's turn. */
void npb_partition_compute (const NpbSweep *sweep, const NpbCell *cell);
void npb_partition_end (const Npb *npb, uint32_t rank, TraceBatch *batch);
