/* forest_descend.c - what a tree says about many samples.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The rows are divided from the root on, as when the tree grew: that reads a
 * column and the tree from front to back.  Few rows descend together, one step
 * each by turns, so that none waits for the memory of its own path. */
#include "config.h"

#include "predictors/forest/forest_private.h"

#include <math.h>
#include <string.h>

#define TOGETHER 16

/* Rows that are still to descend from a node. */
typedef struct {
  uint32_t node;
  uint32_t begin, n; /* in order[] */
} Descent;

struct PredictRows {
  uint32_t n;
  const float *columns; /* value of a row's feature: columns[feature column_stride + row] */
  size_t column_stride;
  float *rows; /* the same by rows; before each stands infinity: a leaf's "feature" -1, which
                           leads it to itself */
  size_t row_stride;
  uint32_t *order;  /* [n] rows; those of a node are together */
  uint32_t *spare;  /* [n] */
  Descent *pending; /* [n]: each has a row of its own */
};

PredictRows *
predict_rows_new (const PredictSamples *samples, uint64_t first, uint32_t n)
{
  PredictRows *rows = g_new (PredictRows, 1);
  size_t stride = samples->n_features + 1;

  *rows = (PredictRows){ .n = n,
                         .columns = samples->x + first,
                         .column_stride = samples->n_samples,
                         .rows = g_new (float, n *stride),
                         .row_stride = stride,
                         .order = g_new (uint32_t, n),
                         .spare = g_new (uint32_t, n),
                         .pending = g_new (Descent, n) };
  for (uint32_t row = 0; row < n; row++) {
    rows->rows[row * stride] = INFINITY;
    for (guint feature = 0; feature < samples->n_features; feature++)
      rows->rows[row * stride + 1 + feature] =
          samples->x[feature * samples->n_samples + first + row];
  }
  return rows;
}

void
predict_rows_free (PredictRows *rows)
{
  g_free (rows->rows);
  g_free (rows->order);
  g_free (rows->spare);
  g_free (rows->pending);
  g_free (rows);
}

/* Puts those that go left first, all in ascending order; their number. */
static uint32_t
divide (const float *x, float cut, uint32_t *order, uint32_t n, uint32_t *spare)
{
  uint32_t n_left = 0;

  for (uint32_t i = 0; i < n; i++) {
    uint32_t row = order[i];

    order[n_left] = row;
    spare[i - n_left] = row;
    n_left += x[row] <= cut;
  }
  memcpy (order + n_left, spare, (n - n_left) * sizeof *order);
  return n_left;
}

/* At most TOGETHER rows, all the way down. */
static void
descend (const PredictRows *rows, const Descent *it, const PredictNode *tree, const double *values,
         double *said)
{
  const uint32_t *order = rows->order + it->begin;
  const float *x[TOGETHER];
  uint32_t at[TOGETHER], moved;

  for (uint32_t k = 0; k < it->n; k++) {
    x[k] = rows->rows + order[k] * rows->row_stride + 1;
    at[k] = it->node;
    __builtin_prefetch (x[k]);
    __builtin_prefetch (x[k] + rows->row_stride / 2);
  }
  do {
    moved = 0;
    for (uint32_t k = 0; k < it->n; k++) {
      const PredictNode *node = &tree[at[k]];
      uint32_t left = at[k] + 1;
      uint32_t is_left = x[k][node->feature] <= node->cut;
      uint32_t next = node->right ^ ((node->right ^ left) & -is_left); /* without a branch */

      moved |= next ^ at[k];
      at[k] = next;
    }
  } while (moved);
  for (uint32_t k = 0; k < it->n; k++)
    said[order[k]] = values[at[k]];
}

void
predict_rows_ask (PredictRows *rows, const PredictNode *tree, const double *values, double *said)
{
  uint32_t n_pending = 0;

  for (uint32_t row = 0; row < rows->n; row++)
    rows->order[row] = row;
  rows->pending[n_pending++] = (Descent){ 0, 0, rows->n };
  while (n_pending > 0) {
    Descent it = rows->pending[--n_pending];

    while (it.n > TOGETHER && tree[it.node].feature >= 0) {
      const PredictNode *node = &tree[it.node];
      uint32_t n_left = divide (rows->columns + node->feature * rows->column_stride, node->cut,
                                rows->order + it.begin, it.n, rows->spare);

      if (n_left < it.n && n_left > 0)
        rows->pending[n_pending++] = (Descent){ node->right, it.begin + n_left, it.n - n_left };
      it.node = n_left > 0 ? it.node + 1 : node->right;
      it.n = n_left > 0 ? n_left : it.n;
    }
    if (it.n <= TOGETHER)
      descend (rows, &it, tree, values, said);
    else
      for (uint32_t i = 0; i < it.n; i++)
        said[rows->order[it.begin + i]] = values[it.node];
  }
}
