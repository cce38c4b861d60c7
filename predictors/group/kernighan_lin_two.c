/* kernighan_lin_two.c - the procedure of Kernighan and Lin for two parts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/group/kernighan_lin_private.h"

#include <string.h>

/* Up to so many places of both parts their costs are copied side by side. */
#define SMALL_PLACES 128

/* What it takes to begin with two parts, in steps of work. */
#define CALL_WORK 100

/* What one of the scattered costs of a dense graph takes. */
#define SQUARE_WORK 4

void
predict_two_init (PredictTwo *two, uint32_t n_tasks, uint32_t largest_room)
{
  gsize n = 2 * (gsize) largest_room;

  two->task = g_new (uint32_t, n);
  two->local = g_new (uint32_t, n_tasks);
  for (uint32_t task = 0; task < n_tasks; task++)
    two->local[task] = PREDICT_NO_TASK;
  two->left[0] = g_new (uint32_t, largest_room);
  two->left[1] = g_new (uint32_t, largest_room);
  two->difference = g_new (int64_t, n);
  two->matrix = g_new (int64_t, MIN (n, SMALL_PLACES) * MIN (n, SMALL_PLACES));
  two->row = g_new0 (int64_t, n);
}

void
predict_two_clear (PredictTwo *two)
{
  g_free (two->task);
  g_free (two->local);
  g_free (two->left[0]);
  g_free (two->left[1]);
  g_free (two->difference);
  g_free (two->matrix);
  g_free (two->row);
}

static uint32_t
count_places (const PredictTwo *two)
{
  return two->n[0] + two->n[1];
}

/* --- Costs between places --- */

static void
add_row (PredictParts *parts, PredictTwo *two, uint32_t local, int64_t *row, int64_t sign)
{
  uint32_t task = two->task[local];

  if (task == PREDICT_NO_TASK)
    return;
  parts->work += parts->graph->first[task + 1] - parts->graph->first[task];
  for (uint64_t e = parts->graph->first[task]; e < parts->graph->first[task + 1]; e++) {
    uint32_t other = two->local[parts->graph->neighbour[e]];

    if (other != PREDICT_NO_TASK)
      row[other] += sign * parts->graph->cost[e];
  }
}

static void
copy_row (PredictParts *parts, PredictTwo *two, uint32_t local, int64_t *row)
{
  uint32_t n = count_places (two), task = two->task[local];

  memset (row, 0, n * sizeof *row);
  if (parts->square != NULL && task != PREDICT_NO_TASK) {
    parts->work += SQUARE_WORK * n;
    for (uint32_t other = 0; other < n; other++) {
      if (two->task[other] != PREDICT_NO_TASK)
        row[other] = parts->square[(size_t) task * parts->graph->n + two->task[other]];
    }
  } else
    add_row (parts, two, local, row, 1);
}

/* The costs of a place to all places; valid until the next call. */
static const int64_t *
row_of (PredictParts *parts, uint32_t local)
{
  PredictTwo *two = &parts->two;

  if (two->is_small)
    return two->matrix + (size_t) local * count_places (two);
  if (two->row_owner != local) {
    if (two->row_owner != PREDICT_NO_TASK)
      add_row (parts, two, two->row_owner, two->row, -1);
    add_row (parts, two, local, two->row, 1);
    two->row_owner = local;
  }
  return two->row;
}

/* --- One round --- */

static void
take_places (const PredictParts *parts, PredictTwo *two, uint32_t side, uint32_t part)
{
  uint32_t base = side == 0 ? 0 : two->n[0];
  uint32_t n = parts->first[part + 1] - parts->first[part];

  two->n[side] = n;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t task = i < parts->size[part] ? parts->member[parts->first[part] + i] : PREDICT_NO_TASK;

    two->task[base + i] = task;
    if (task != PREDICT_NO_TASK)
      two->local[task] = base + i;
    two->left[side][i] = base + i;
  }
}

static void
leave_places (PredictTwo *two)
{
  for (uint32_t i = 0; i < count_places (two); i++)
    if (two->task[i] != PREDICT_NO_TASK)
      two->local[two->task[i]] = PREDICT_NO_TASK;
}

/* Fills the differences; returns what the parts cost each other. */
static int64_t
find_differences (PredictParts *parts, PredictTwo *two)
{
  uint32_t n = count_places (two);
  int64_t cut = 0;

  for (uint32_t i = 0; i < n; i++) {
    int64_t side_cost[2] = { 0 };
    const int64_t *row;

    if (two->is_small)
      copy_row (parts, two, i, two->matrix + (size_t) i * n);
    row = row_of (parts, i);
    for (uint32_t other = 0; other < n; other++)
      side_cost[other >= two->n[0]] += row[other];
    two->difference[i] = i < two->n[0] ? side_cost[1] - side_cost[0] : side_cost[0] - side_cost[1];
    cut += i < two->n[0] ? side_cost[1] : 0;
  }
  parts->work += (uint64_t) n * n / 2;
  return cut;
}

/* The same of large parts, from the edges alone. */
static int64_t
find_sparse_differences (PredictParts *parts, PredictTwo *two)
{
  uint32_t n = count_places (two);
  int64_t cut = 0;

  for (uint32_t i = 0; i < n; i++) {
    uint32_t task = two->task[i];

    two->difference[i] = 0;
    if (task == PREDICT_NO_TASK)
      continue;
    for (uint64_t e = parts->graph->first[task]; e < parts->graph->first[task + 1]; e++) {
      uint32_t other = two->local[parts->graph->neighbour[e]];

      if (other == PREDICT_NO_TASK)
        continue;
      if ((other < two->n[0]) == (i < two->n[0]))
        two->difference[i] -= parts->graph->cost[e];
      else {
        two->difference[i] += parts->graph->cost[e];
        cut += i < two->n[0] ? parts->graph->cost[e] : 0;
      }
    }
    parts->work += parts->graph->first[task + 1] - parts->graph->first[task];
  }
  return cut;
}

/* The most that exchanging the place `local` of the first side gains; *best is which of those left
 * on the second side it is, of equal ones the first.  Only more than `gain` counts. */
static int64_t
best_partner (PredictParts *parts, PredictTwo *two, uint32_t local, uint32_t step, int64_t gain,
              uint32_t *best)
{
  const int64_t *row = row_of (parts, local);
  int64_t own = two->difference[local];

  for (uint32_t j = step; j < two->n[1]; j++) {
    uint32_t other = two->left[1][j];
    int64_t here = own + two->difference[other] - 2 * row[other];

    if (here > gain) {
      gain = here;
      *best = j;
    }
  }
  parts->work += two->n[1] - step;
  return gain;
}

/* Which of those left on a side has the largest difference, of equal ones the first. */
static uint32_t
largest (const PredictTwo *two, uint32_t side, uint32_t step)
{
  uint32_t best = step;

  for (uint32_t i = step; i < two->n[side]; i++)
    if (two->difference[two->left[side][i]] > two->difference[two->left[side][best]])
      best = i;
  return best;
}

/* Sets the pair that gains most aside, to `step` of what is left, of equal ones the first; its
 * gain.  No edge is cheaper than nothing: what the largest differences promise bounds all pairs,
 * and what the first of them keep of it spares most of the others. */
static int64_t
choose_pair (PredictParts *parts, PredictTwo *two, uint32_t step)
{
  uint32_t best[2] = { largest (two, 0, step), largest (two, 1, step) };
  int64_t top = two->difference[two->left[1][best[1]]];
  int64_t gain = best_partner (parts, two, two->left[0][best[0]], step, INT64_MIN, &best[1]) - 1;

  for (uint32_t i = step; i < two->n[0]; i++) {
    uint32_t local = two->left[0][i];
    int64_t here = gain;

    if (two->difference[local] + top > gain)
      here = best_partner (parts, two, local, step, gain, &best[1]);
    if (here > gain) {
      gain = here;
      best[0] = i;
    }
  }
  parts->work += two->n[0] + two->n[1] - 2 * step;
  for (uint32_t side = 0; side < 2; side++) {
    uint32_t local = two->left[side][best[side]];

    two->left[side][best[side]] = two->left[side][step];
    two->left[side][step] = local;
  }
  return gain;
}

/* What the others gain once `local` has changed sides. */
static void
change_side (PredictParts *parts, PredictTwo *two, uint32_t local)
{
  bool is_second = local >= two->n[0];
  uint32_t task = two->task[local];

  if (two->is_small) {
    const int64_t *row = row_of (parts, local);

    for (uint32_t i = 0; i < two->n[0]; i++)
      two->difference[i] += is_second ? -2 * row[i] : 2 * row[i];
    for (uint32_t i = two->n[0]; i < count_places (two); i++)
      two->difference[i] += is_second ? 2 * row[i] : -2 * row[i];
    parts->work += count_places (two) / 2;
  } else if (task != PREDICT_NO_TASK) {
    for (uint64_t e = parts->graph->first[task]; e < parts->graph->first[task + 1]; e++) {
      uint32_t other = two->local[parts->graph->neighbour[e]];

      if (other != PREDICT_NO_TASK)
        two->difference[other] +=
            ((other >= two->n[0]) == is_second ? 2 : -2) * parts->graph->cost[e];
    }
    parts->work += parts->graph->first[task + 1] - parts->graph->first[task];
  }
}

/* Sets all pairs aside; the most that the first *n_exchanges of them gain together. */
static int64_t
find_exchanges (PredictParts *parts, PredictTwo *two, uint32_t *n_exchanges)
{
  uint32_t n_steps = MIN (two->n[0], two->n[1]);
  int64_t sum = 0, most = 0;

  *n_exchanges = 0;
  for (uint32_t step = 0; step < n_steps; step++) {
    sum += choose_pair (parts, two, step);
    if (sum > most) {
      most = sum;
      *n_exchanges = step + 1;
    }
    change_side (parts, two, two->left[0][step]);
    change_side (parts, two, two->left[1][step]);
  }
  return most;
}

static void
exchange_places (PredictParts *parts, uint32_t step, uint32_t a, uint32_t b)
{
  uint32_t first = parts->two.task[parts->two.left[0][step]];
  uint32_t second = parts->two.task[parts->two.left[1][step]];

  if (first != PREDICT_NO_TASK)
    predict_parts_apply (parts, (PredictExchange){ first, second, a, b });
  else
    predict_parts_apply (parts, (PredictExchange){ second, first, b, a });
}

/* A part may lack one task, not two: empty places on both sides stay, and the places of the
 * second side move down. */
static void
hide_empty_places (PredictParts *parts, PredictTwo *two, uint32_t a, uint32_t b)
{
  if (parts->size[a] < parts->first[a + 1] - parts->first[a] &&
      parts->size[b] < parts->first[b + 1] - parts->first[b]) {
    for (uint32_t i = 0; i < two->n[1] - 1; i++) {
      two->task[two->n[0] - 1 + i] = two->task[two->n[0] + i];
      two->local[two->task[two->n[0] + i]] = two->n[0] - 1 + i;
      two->left[1][i] = two->n[0] - 1 + i;
    }
    two->n[0]--;
    two->n[1]--;
  }
}

int64_t
predict_two_better (PredictParts *parts, uint32_t a, uint32_t b)
{
  PredictTwo *two = &parts->two;
  int64_t gained = 0, gain;

  parts->work += CALL_WORK;
  do {
    uint32_t n_exchanges = 0;
    int64_t cut;

    gain = 0;
    take_places (parts, two, 0, a);
    take_places (parts, two, 1, b);
    hide_empty_places (parts, two, a, b);
    two->is_small = count_places (two) <= SMALL_PLACES;
    two->row_owner = PREDICT_NO_TASK;
    cut = two->is_small ? find_differences (parts, two) : find_sparse_differences (parts, two);
    /* Nothing is cheaper than parts without edges. */
    if (cut > 0)
      gain = find_exchanges (parts, two, &n_exchanges);
    if (!two->is_small && two->row_owner != PREDICT_NO_TASK)
      add_row (parts, two, two->row_owner, two->row, -1);
    leave_places (two);
    for (uint32_t i = 0; i < n_exchanges; i++)
      exchange_places (parts, i, a, b);
    gained += gain;
  } while (gain > 0);
  return gained;
}
