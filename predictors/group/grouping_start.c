/* grouping_start.c - parts to start from.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/group/grouping_start.h"

#include "predictors/group/kernighan_lin.h"

#include <stdbool.h>
#include <string.h>

void
predict_start_block (uint32_t n, uint32_t n_parts, uint32_t *part)
{
  uint32_t task = 0;

  for (uint32_t p = 0; p < n_parts; p++)
    for (uint32_t i = predict_part_size (n, n_parts, p); i > 0; i--)
      part[task++] = p;
}

void
predict_start_round_robin (uint32_t n, uint32_t n_parts, uint32_t *part)
{
  for (uint32_t task = 0; task < n; task++)
    part[task] = task % n_parts;
}

void
predict_start_random (uint32_t n, uint32_t n_parts, BaseRandom *random, uint32_t *part)
{
  predict_start_block (n, n_parts, part);
  for (uint32_t left = n; left > 1; left--) {
    uint32_t other = (uint32_t) base_random_below (random, left), p = part[left - 1];

    part[left - 1] = part[other];
    part[other] = p;
  }
}

/* --- Greedy --- */

typedef struct {
  const PredictCostGraph *graph;
  bool *is_taken;
  int64_t *cost;     /* [task] of its edges to the part that grows */
  uint32_t *touched; /* tasks that have such edges */
  uint32_t n_touched;
} Growth;

static void
take (Growth *it, uint32_t task)
{
  it->is_taken[task] = true;
  for (uint64_t e = it->graph->first[task]; e < it->graph->first[task + 1]; e++) {
    uint32_t other = it->graph->neighbour[e];

    if (it->is_taken[other] || it->graph->cost[e] == 0)
      continue;
    if (it->cost[other] == 0)
      it->touched[it->n_touched++] = other;
    it->cost[other] += it->graph->cost[e];
  }
}

/* The dearest task that is left, of equal ones the first; n when the part has no edges. */
static uint32_t
dearest (Growth *it)
{
  uint32_t best = it->graph->n, n = 0;

  for (uint32_t i = 0; i < it->n_touched; i++) {
    uint32_t task = it->touched[i];

    if (it->is_taken[task])
      continue;
    it->touched[n++] = task;
    if (best == it->graph->n || it->cost[task] > it->cost[best] ||
        (it->cost[task] == it->cost[best] && task < best))
      best = task;
  }
  it->n_touched = n;
  return best;
}

/* The first part gets size[0] tasks, and so on. */
static void
grow (const PredictCostGraph *graph, uint32_t n_parts, const uint32_t *size, uint32_t *part)
{
  g_autofree bool *is_taken = g_new0 (bool, graph->n);
  g_autofree int64_t *cost = g_new0 (int64_t, graph->n);
  g_autofree uint32_t *touched = g_new (uint32_t, graph->n);
  Growth it = { graph, is_taken, cost, touched, 0 };
  uint32_t next = 0;

  for (uint32_t p = 0; p < n_parts; p++) {
    for (uint32_t i = 0; i < size[p]; i++) {
      uint32_t task = dearest (&it);

      while (task == graph->n && is_taken[next])
        next++;
      task = task == graph->n ? next : task;
      part[task] = p;
      take (&it, task);
    }
    for (uint32_t i = 0; i < it.n_touched; i++)
      cost[touched[i]] = 0;
    it.n_touched = 0;
  }
}

void
predict_start_greedy (const PredictCostGraph *graph, uint32_t n_parts, uint32_t *part)
{
  g_autofree uint32_t *size = g_new (uint32_t, n_parts);

  for (uint32_t p = 0; p < n_parts; p++)
    size[p] = predict_part_size (graph->n, n_parts, p);
  grow (graph, n_parts, size, part);
}

/* --- Halves --- */

/* Two parts of these sizes, from the better of two starts. */
static void
halve (const PredictCostGraph *graph, const uint32_t size[2], uint32_t *half)
{
  g_autoptr (PredictParts) parts = predict_parts_new (graph, 2, size, size);
  int64_t cut;

  predict_parts_better (parts);
  cut = predict_parts_cut (parts);
  memcpy (half, predict_parts_of (parts), graph->n * sizeof *half);
  if (cut > 0) {
    g_autofree uint32_t *grown = g_new (uint32_t, graph->n);

    grow (graph, 2, size, grown);
    predict_parts_set (parts, grown);
    predict_parts_better (parts);
    if (predict_parts_cut (parts) < cut)
      memcpy (half, predict_parts_of (parts), graph->n * sizeof *half);
  }
}

/* tasks[n], which ascend, get the parts from `from` on; `in` is how many all are parted into. */
static void
divide (const PredictCostGraph *all, uint32_t in, const uint32_t *tasks, uint32_t n, uint32_t from,
        uint32_t n_parts, uint32_t *part)
{
  g_autoptr (PredictCostRows) rows = NULL;
  g_autofree uint32_t *half = NULL, *chosen = NULL;
  uint32_t n_first = n_parts / 2, size[2] = { 0, n };

  if (n_parts == 1) {
    for (uint32_t i = 0; i < n; i++)
      part[tasks[i]] = from;
    return;
  }
  for (uint32_t p = 0; p < n_first; p++)
    size[0] += predict_part_size (all->n, in, from + p);
  size[1] -= size[0];
  rows = predict_cost_rows_among (all, tasks, n);
  half = g_new (uint32_t, n);
  chosen = g_new (uint32_t, n);
  halve (&rows->graph, size, half);
  for (uint32_t side = 0; side < 2; side++) {
    uint32_t n_chosen = 0;

    for (uint32_t i = 0; i < n; i++)
      if (half[i] == side)
        chosen[n_chosen++] = tasks[i];
    divide (all, in, chosen, n_chosen, side == 0 ? from : from + n_first,
            side == 0 ? n_first : n_parts - n_first, part);
  }
}

void
predict_start_halves (const PredictCostGraph *graph, uint32_t n_parts, uint32_t *part)
{
  g_autofree uint32_t *tasks = g_new (uint32_t, graph->n);

  for (uint32_t task = 0; task < graph->n; task++)
    tasks[task] = task;
  divide (graph, n_parts, tasks, graph->n, 0, n_parts, part);
}
