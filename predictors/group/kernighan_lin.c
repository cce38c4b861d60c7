/* kernighan_lin.c - parts of a graph, bettered two at a time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/group/kernighan_lin_private.h"

/* A graph with so great a share of all edges, and no more tasks, is kept as a square. */
#define DENSE_SHARE     4
#define DENSE_MAX_TASKS 2048

static int64_t *
square_new (const PredictCostGraph *graph)
{
  uint64_t n = graph->n;
  int64_t *square;

  if (n > DENSE_MAX_TASKS || graph->first[n] < n * n / DENSE_SHARE)
    return NULL;
  square = g_new0 (int64_t, n * n);
  for (uint32_t task = 0; task < n; task++)
    for (uint64_t e = graph->first[task]; e < graph->first[task + 1]; e++)
      square[task * n + graph->neighbour[e]] = graph->cost[e];
  return square;
}

PredictParts *
predict_parts_new (const PredictCostGraph *graph, uint32_t n_parts, const uint32_t *size,
                   const uint32_t *room)
{
  PredictParts *parts = g_new0 (PredictParts, 1);
  uint32_t largest = 0, task = 0;

  parts->graph = graph;
  parts->square = square_new (graph);
  parts->n_parts = n_parts;
  parts->first = g_new0 (uint32_t, n_parts + 1);
  for (uint32_t part = 0; part < n_parts; part++) {
    g_assert (room[part] == size[part] || room[part] == size[part] + 1);
    parts->first[part + 1] = parts->first[part] + room[part];
    largest = MAX (largest, room[part]);
  }
  parts->size = g_memdup2 (size, n_parts * sizeof *size);
  parts->member = g_new (uint32_t, parts->first[n_parts]);
  parts->place = g_new (uint32_t, graph->n);
  parts->part = g_new (uint32_t, graph->n);
  parts->exchanges = g_array_new (FALSE, FALSE, sizeof (PredictExchange));
  parts->changed = g_new0 (uint64_t, n_parts);
  parts->swept = g_new0 (uint64_t, n_parts);
  parts->is_waiting = g_new0 (bool, n_parts);
  parts->queue = g_new (uint32_t, n_parts);
  parts->near = g_new (uint32_t, n_parts);
  parts->is_near = g_new0 (bool, n_parts);
  predict_two_init (&parts->two, graph->n, largest);
  for (uint32_t part = 0; part < n_parts; part++)
    for (uint32_t i = 0; i < size[part]; i++)
      parts->part[task++] = part;
  g_assert (task == graph->n);
  predict_parts_set (parts, parts->part);
  return parts;
}

void
predict_parts_free (PredictParts *parts)
{
  if (!parts)
    return;
  predict_two_clear (&parts->two);
  g_free (parts->square);
  g_free (parts->first);
  g_free (parts->size);
  g_free (parts->member);
  g_free (parts->place);
  g_free (parts->part);
  g_array_unref (parts->exchanges);
  g_free (parts->changed);
  g_free (parts->swept);
  g_free (parts->is_waiting);
  g_free (parts->queue);
  g_free (parts->near);
  g_free (parts->is_near);
  g_free (parts);
}

/* --- Who is where --- */

static void
put (PredictParts *parts, uint32_t task, uint32_t part, uint32_t place)
{
  parts->member[place] = task;
  parts->place[task] = place;
  parts->part[task] = part;
}

/* The part has other tasks than before: its pairs may gain. */
static void
wake (PredictParts *parts, uint32_t part)
{
  parts->changed[part] = ++parts->clock;
  if (parts->is_waiting[part])
    return;
  parts->is_waiting[part] = true;
  parts->queue[(parts->queue_head + parts->n_waiting++) % parts->n_parts] = part;
}

void
predict_parts_set (PredictParts *parts, const uint32_t *part)
{
  for (uint32_t p = 0; p < parts->n_parts; p++)
    parts->size[p] = 0;
  for (uint32_t task = 0; task < parts->graph->n; task++) {
    uint32_t p = part[task];

    g_assert (p < parts->n_parts && parts->first[p] + parts->size[p] < parts->first[p + 1]);
    put (parts, task, p, parts->first[p] + parts->size[p]++);
  }
  for (uint32_t p = 0; p < parts->n_parts; p++) {
    g_assert (parts->first[p] + parts->size[p] + 1 >= parts->first[p + 1]);
    wake (parts, p);
  }
  parts->cut = predict_cut (parts->graph, parts->part);
  parts->work += parts->graph->first[parts->graph->n];
  predict_parts_keep (parts);
}

/* Takes a task to the empty place of a part; the last task of its own fills the gap. */
static void
move (PredictParts *parts, uint32_t task, uint32_t to)
{
  uint32_t from = parts->part[task];
  uint32_t last = parts->member[parts->first[from] + --parts->size[from]];

  put (parts, last, from, parts->place[task]);
  put (parts, task, to, parts->first[to] + parts->size[to]++);
}

static void
exchange (PredictParts *parts, uint32_t a, uint32_t b)
{
  uint32_t place = parts->place[a], part = parts->part[a];

  put (parts, a, parts->part[b], parts->place[b]);
  put (parts, b, part, place);
}

void
predict_parts_apply (PredictParts *parts, PredictExchange it)
{
  g_array_append_val (parts->exchanges, it);
  if (it.b == PREDICT_NO_TASK)
    move (parts, it.a, it.to);
  else
    exchange (parts, it.a, it.b);
}

/* What a task costs less in the part `to` than where it is: the difference of the paper. */
static int64_t
difference (const PredictParts *parts, uint32_t task, uint32_t to)
{
  int64_t sum = 0;

  for (uint64_t e = parts->graph->first[task]; e < parts->graph->first[task + 1]; e++) {
    uint32_t part = parts->part[parts->graph->neighbour[e]];

    sum += part == to                  ? parts->graph->cost[e]
           : part == parts->part[task] ? -parts->graph->cost[e]
                                       : 0;
  }
  return sum;
}

static int64_t
cost_between (const PredictCostGraph *graph, uint32_t a, uint32_t b)
{
  for (uint64_t e = graph->first[a]; e < graph->first[a + 1]; e++)
    if (graph->neighbour[e] == b)
      return graph->cost[e];
  return 0;
}

void
predict_parts_exchange (PredictParts *parts, uint32_t a, uint32_t b)
{
  uint32_t from = parts->part[a], to = parts->part[b];

  g_assert (from != to);
  parts->cut -= difference (parts, a, to) + difference (parts, b, from) -
                2 * cost_between (parts->graph, a, b);
  predict_parts_apply (parts, (PredictExchange){ a, b, from, to });
  wake (parts, from);
  wake (parts, to);
}

void
predict_parts_keep (PredictParts *parts)
{
  g_array_set_size (parts->exchanges, 0);
  parts->kept_cut = parts->cut;
}

void
predict_parts_take_back (PredictParts *parts)
{
  for (guint i = parts->exchanges->len; i-- > 0;) {
    PredictExchange it = g_array_index (parts->exchanges, PredictExchange, i);

    if (it.b == PREDICT_NO_TASK)
      move (parts, it.a, it.from);
    else
      exchange (parts, it.a, it.b);
  }
  parts->cut = parts->kept_cut;
  predict_parts_keep (parts);
}

/* --- Sweeps --- */

static int
compare_numbers (const void *left, const void *right)
{
  uint32_t a = *(const uint32_t *) left, b = *(const uint32_t *) right;

  return (a > b) - (a < b);
}

/* Fills parts->near, ascending; how many. */
static uint32_t
find_near (PredictParts *parts, uint32_t part)
{
  const PredictCostGraph *graph = parts->graph;
  uint32_t n = 0;

  for (uint32_t i = 0; i < parts->size[part]; i++) {
    uint32_t task = parts->member[parts->first[part] + i];

    for (uint64_t e = graph->first[task]; e < graph->first[task + 1]; e++) {
      uint32_t other = parts->part[graph->neighbour[e]];

      if (other != part && !parts->is_near[other] && graph->cost[e] > 0) {
        parts->is_near[other] = true;
        parts->near[n++] = other;
      }
    }
    parts->work += graph->first[task + 1] - graph->first[task];
  }
  for (uint32_t i = 0; i < n; i++)
    parts->is_near[parts->near[i]] = false;
  if (n > 1)
    qsort (parts->near, n, sizeof *parts->near, compare_numbers);
  return n;
}

/* Whether a sweep of one of them has found them as they are now. */
static bool
is_settled (const PredictParts *parts, uint32_t a, uint32_t b)
{
  uint64_t changed = MAX (parts->changed[a], parts->changed[b]);

  return changed < MAX (parts->swept[a], parts->swept[b]);
}

/* Betters the pairs of one part and those that it has edges to. */
static void
sweep (PredictParts *parts, uint32_t part)
{
  uint32_t n = find_near (parts, part);
  uint64_t begun = ++parts->clock;

  for (uint32_t i = 0; i < n; i++) {
    uint32_t other = parts->near[i];
    int64_t gain = is_settled (parts, part, other)
                       ? 0
                       : predict_two_better (parts, MIN (part, other), MAX (part, other));

    if (gain > 0) {
      parts->cut -= gain;
      wake (parts, part);
      wake (parts, other);
    }
  }
  parts->swept[part] = begun;
}

void
predict_parts_better (PredictParts *parts)
{
  while (parts->n_waiting > 0) {
    uint32_t part = parts->queue[parts->queue_head];

    parts->queue_head = (parts->queue_head + 1) % parts->n_parts;
    parts->n_waiting--;
    parts->is_waiting[part] = false;
    sweep (parts, part);
  }
}

/* --- What there is --- */

const uint32_t *
predict_parts_of (const PredictParts *parts)
{
  return parts->part;
}

int64_t
predict_parts_cut (const PredictParts *parts)
{
  return parts->cut;
}

const uint32_t *
predict_parts_members (const PredictParts *parts, uint32_t part, uint32_t *n_members)
{
  *n_members = parts->size[part];
  return parts->member + parts->first[part];
}

uint64_t
predict_parts_work (const PredictParts *parts)
{
  return parts->work;
}
