/* kernighan_lin.c - parts of a graph, improved two at a time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/group/kernighan_lin.h"

#include <stdbool.h>
#include <string.h>

/* A graph with at least a 1 / DENSE_SHARE of all edges, and not too many tasks, is kept as a square. */
#define DENSE_SHARE     4
#define DENSE_MAX_TASKS 2048

/* Up to this number of places in both parts, their costs are copied into a matrix. */
#define SMALL_PLACES 128

/* Steps of work to begin with two parts. */
#define CALL_WORK 100

/* Steps of work to fetch one of the scattered costs of a dense graph. */
#define SQUARE_WORK 4

#define NO_TASK UINT32_MAX

/* Two tasks that change places; b is NO_TASK when a moves to an empty place. */
typedef struct {
  uint32_t a, b;
  uint32_t from, to; /* the parts of a before and after */
} Exchange;

/* Work space of the procedure for two parts; "local" numbers count the places of both, those of
 * the first part before those of the second. */
typedef struct {
  uint32_t n[2];
  uint32_t *task;      /* [local]; NO_TASK: an empty place */
  uint32_t *local;     /* [task]; NO_TASK: in neither part */
  uint32_t *left[2];   /* local numbers, those set aside first */
  int64_t *difference; /* [local] cost to the other part less that within the own */
  int64_t *matrix;     /* costs between places, when they are few; else NULL */
  int64_t *row;        /* costs of one place, when they are many */
  uint32_t row_owner;
  bool is_small;
} PartPair;

struct PredictPartition {
  const PredictCostGraph *graph;
  int64_t *square; /* [n * n] costs of a dense graph; NULL: it is sparse */
  uint32_t n_parts;
  uint32_t *first;        /* [n_parts + 1] the first place of each part */
  uint32_t *size;         /* [n_parts] */
  uint32_t *member;       /* [place]; the empty ones of a part come last */
  uint32_t *place, *part; /* [task] */
  int64_t cut, kept_cut;
  uint64_t work;
  GArray *exchanges; /* Exchange, since the last keep */
  /* A pair may gain if one of its parts has changed since either was swept. */
  uint64_t clock, *changed, *swept; /* [n_parts] */
  bool *is_waiting;                 /* [n_parts] */
  uint32_t *queue, queue_head, n_waiting;
  uint32_t *near; /* the parts that one has edges to */
  bool *is_near;
  PartPair pair;
};

PredictPartition *
predict_partition_new (const PredictCostGraph *graph, uint32_t n_parts, const uint32_t *size,
                       const uint32_t *room)
{
  PredictPartition *parts = g_new0 (PredictPartition, 1);
  uint64_t n = graph->n;
  uint32_t largest = 0, task = 0;

  parts->graph = graph;
  if (graph->n <= DENSE_MAX_TASKS && graph->first[graph->n] >= n * n / DENSE_SHARE) {
    parts->square = g_new0 (int64_t, n * n);
    for (uint32_t i = 0; i < graph->n; i++)
      for (uint64_t e = graph->first[i]; e < graph->first[i + 1]; e++)
        parts->square[i * n + graph->neighbour[e]] = graph->cost[e];
  }
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
  parts->exchanges = g_array_new (FALSE, FALSE, sizeof (Exchange));
  parts->changed = g_new0 (uint64_t, n_parts);
  parts->swept = g_new0 (uint64_t, n_parts);
  parts->is_waiting = g_new0 (bool, n_parts);
  parts->queue = g_new (uint32_t, n_parts);
  parts->near = g_new (uint32_t, n_parts);
  parts->is_near = g_new0 (bool, n_parts);

  PartPair *pair = &parts->pair;
  gsize n_places = 2 * (gsize) largest;

  pair->task = g_new (uint32_t, n_places);
  pair->local = g_new (uint32_t, graph->n);
  for (uint32_t i = 0; i < graph->n; i++)
    pair->local[i] = NO_TASK;
  pair->left[0] = g_new (uint32_t, largest);
  pair->left[1] = g_new (uint32_t, largest);
  pair->difference = g_new (int64_t, n_places);
  pair->matrix = g_new (int64_t, MIN (n_places, SMALL_PLACES) * MIN (n_places, SMALL_PLACES));
  pair->row = g_new0 (int64_t, n_places);
  for (uint32_t part = 0; part < n_parts; part++)
    for (uint32_t i = 0; i < size[part]; i++)
      parts->part[task++] = part;
  g_assert (task == graph->n);
  predict_partition_set (parts, parts->part);
  return parts;
}

void
predict_partition_free (PredictPartition *parts)
{
  if (!parts)
    return;
  g_free (parts->pair.task);
  g_free (parts->pair.local);
  g_free (parts->pair.left[0]);
  g_free (parts->pair.left[1]);
  g_free (parts->pair.difference);
  g_free (parts->pair.matrix);
  g_free (parts->pair.row);
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

/* --- Places of tasks --- */

static void
put (PredictPartition *parts, uint32_t task, uint32_t part, uint32_t place)
{
  parts->member[place] = task;
  parts->place[task] = place;
  parts->part[task] = part;
}

/* The tasks of the part have changed: queues it, since its pairs may gain. */
static void
wake (PredictPartition *parts, uint32_t part)
{
  parts->changed[part] = ++parts->clock;
  if (parts->is_waiting[part])
    return;
  parts->is_waiting[part] = true;
  parts->queue[(parts->queue_head + parts->n_waiting++) % parts->n_parts] = part;
}

void
predict_partition_set (PredictPartition *parts, const uint32_t *part)
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
  predict_partition_keep (parts);
}

/* Moves a task to the empty place of a part; the last task of its old part fills the gap. */
static void
move (PredictPartition *parts, uint32_t task, uint32_t to)
{
  uint32_t from = parts->part[task];
  uint32_t last = parts->member[parts->first[from] + --parts->size[from]];

  put (parts, last, from, parts->place[task]);
  put (parts, task, to, parts->first[to] + parts->size[to]++);
}

static void
exchange (PredictPartition *parts, uint32_t a, uint32_t b)
{
  uint32_t place = parts->place[a], part = parts->part[a];

  put (parts, a, parts->part[b], parts->place[b]);
  put (parts, b, part, place);
}

/* Moves tasks and records it; the caller updates the cut. */
static void
apply (PredictPartition *parts, Exchange change)
{
  g_array_append_val (parts->exchanges, change);
  if (change.b == NO_TASK)
    move (parts, change.a, change.to);
  else
    exchange (parts, change.a, change.b);
}

/* How much less a task costs in the part `to` than in its own: D of the paper. */
static int64_t
difference (const PredictPartition *parts, uint32_t task, uint32_t to)
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

void
predict_partition_exchange (PredictPartition *parts, uint32_t a, uint32_t b)
{
  const PredictCostGraph *graph = parts->graph;
  uint32_t from = parts->part[a], to = parts->part[b];

  g_assert (from != to);
  parts->cut -= difference (parts, a, to) + difference (parts, b, from);
  for (uint64_t e = graph->first[a]; e < graph->first[a + 1]; e++)
    if (graph->neighbour[e] == b) {
      parts->cut += 2 * graph->cost[e];
      break;
    }
  apply (parts, (Exchange){ a, b, from, to });
  wake (parts, from);
  wake (parts, to);
}

void
predict_partition_keep (PredictPartition *parts)
{
  g_array_set_size (parts->exchanges, 0);
  parts->kept_cut = parts->cut;
}

void
predict_partition_undo (PredictPartition *parts)
{
  for (guint i = parts->exchanges->len; i-- > 0;) {
    Exchange change = g_array_index (parts->exchanges, Exchange, i);

    if (change.b == NO_TASK)
      move (parts, change.a, change.from);
    else
      exchange (parts, change.a, change.b);
  }
  parts->cut = parts->kept_cut;
  predict_partition_keep (parts);
}

/* --- The procedure for two parts --- */

static uint32_t
count_places (const PartPair *pair)
{
  return pair->n[0] + pair->n[1];
}

static void
add_row (PredictPartition *parts, PartPair *pair, uint32_t local, int64_t *row, int64_t sign)
{
  uint32_t task = pair->task[local];

  if (task == NO_TASK)
    return;
  parts->work += parts->graph->first[task + 1] - parts->graph->first[task];
  for (uint64_t e = parts->graph->first[task]; e < parts->graph->first[task + 1]; e++) {
    uint32_t other = pair->local[parts->graph->neighbour[e]];

    if (other != NO_TASK)
      row[other] += sign * parts->graph->cost[e];
  }
}

/* The costs of a place to all places; valid until the next call. */
static const int64_t *
row_of (PredictPartition *parts, uint32_t local)
{
  PartPair *pair = &parts->pair;

  if (pair->is_small)
    return pair->matrix + (size_t) local * count_places (pair);
  if (pair->row_owner != local) {
    if (pair->row_owner != NO_TASK)
      add_row (parts, pair, pair->row_owner, pair->row, -1);
    add_row (parts, pair, local, pair->row, 1);
    pair->row_owner = local;
  }
  return pair->row;
}

/* --- One round --- */

static void
take_places (const PredictPartition *parts, PartPair *pair, uint32_t side, uint32_t part)
{
  uint32_t base = side == 0 ? 0 : pair->n[0];
  uint32_t n = parts->first[part + 1] - parts->first[part];

  pair->n[side] = n;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t task = i < parts->size[part] ? parts->member[parts->first[part] + i] : NO_TASK;

    pair->task[base + i] = task;
    if (task != NO_TASK)
      pair->local[task] = base + i;
    pair->left[side][i] = base + i;
  }
}

/* Fills the differences, and of small parts the matrix; returns the cut between the parts. */
static int64_t
find_differences (PredictPartition *parts, PartPair *pair)
{
  const PredictCostGraph *graph = parts->graph;
  uint32_t n = count_places (pair);
  int64_t cut = 0;

  for (uint32_t i = 0; i < n; i++) {
    uint32_t task = pair->task[i];
    int64_t *row = pair->is_small ? pair->matrix + (size_t) i * n : NULL;
    int64_t side_cost[2] = { 0 };

    if (pair->is_small) {
      memset (row, 0, n * sizeof *row);
      if (parts->square != NULL && task != NO_TASK) {
        parts->work += SQUARE_WORK * n;
        for (uint32_t other = 0; other < n; other++)
          if (pair->task[other] != NO_TASK)
            row[other] = parts->square[(size_t) task * graph->n + pair->task[other]];
      } else
        add_row (parts, pair, i, row, 1);
      for (uint32_t other = 0; other < n; other++)
        side_cost[other >= pair->n[0]] += row[other];
    } else if (task != NO_TASK) {
      for (uint64_t e = graph->first[task]; e < graph->first[task + 1]; e++) {
        uint32_t other = pair->local[graph->neighbour[e]];

        if (other != NO_TASK)
          side_cost[other >= pair->n[0]] += graph->cost[e];
      }
      parts->work += graph->first[task + 1] - graph->first[task];
    }
    pair->difference[i] =
        i < pair->n[0] ? side_cost[1] - side_cost[0] : side_cost[0] - side_cost[1];
    cut += i < pair->n[0] ? side_cost[1] : 0;
  }
  if (pair->is_small)
    parts->work += (uint64_t) n * n / 2;
  return cut;
}

/* The largest gain, if more than `gain`, of exchanging the place `local` of the first side with one
 * left on the second side; *best is its index there, the first of equal ones. */
static int64_t
best_partner (PredictPartition *parts, PartPair *pair, uint32_t local, uint32_t step, int64_t gain,
              uint32_t *best)
{
  const int64_t *row = row_of (parts, local);
  int64_t own = pair->difference[local];

  for (uint32_t j = step; j < pair->n[1]; j++) {
    uint32_t other = pair->left[1][j];
    int64_t here = own + pair->difference[other] - 2 * row[other];

    if (here > gain) {
      gain = here;
      *best = j;
    }
  }
  parts->work += pair->n[1] - step;
  return gain;
}

/* The index of the largest difference left on a side, the first of equal ones. */
static uint32_t
largest (const PartPair *pair, uint32_t side, uint32_t step)
{
  uint32_t best = step;

  for (uint32_t i = step; i < pair->n[side]; i++)
    if (pair->difference[pair->left[side][i]] > pair->difference[pair->left[side][best]])
      best = i;
  return best;
}

/* Sets aside the pair with the largest gain, the first of equal ones, at index `step` of both
 * sides; returns its gain.  Costs are >= 0, so that the sum of two differences bounds the gain of
 * their pair: most pairs need not be tried. */
static int64_t
choose_pair (PredictPartition *parts, PartPair *pair, uint32_t step)
{
  uint32_t best[2] = { largest (pair, 0, step), largest (pair, 1, step) };
  int64_t top = pair->difference[pair->left[1][best[1]]];
  int64_t gain = best_partner (parts, pair, pair->left[0][best[0]], step, INT64_MIN, &best[1]) - 1;

  for (uint32_t i = step; i < pair->n[0]; i++) {
    uint32_t local = pair->left[0][i];
    int64_t here = gain;

    if (pair->difference[local] + top > gain)
      here = best_partner (parts, pair, local, step, gain, &best[1]);
    if (here > gain) {
      gain = here;
      best[0] = i;
    }
  }
  parts->work += pair->n[0] + pair->n[1] - 2 * step;
  for (uint32_t side = 0; side < 2; side++) {
    uint32_t local = pair->left[side][best[side]];

    pair->left[side][best[side]] = pair->left[side][step];
    pair->left[side][step] = local;
  }
  return gain;
}

/* Updates the differences as if `local` had changed sides. */
static void
change_side (PredictPartition *parts, PartPair *pair, uint32_t local)
{
  bool is_second = local >= pair->n[0];
  uint32_t task = pair->task[local];

  if (pair->is_small) {
    const int64_t *row = row_of (parts, local);

    for (uint32_t i = 0; i < pair->n[0]; i++)
      pair->difference[i] += is_second ? -2 * row[i] : 2 * row[i];
    for (uint32_t i = pair->n[0]; i < count_places (pair); i++)
      pair->difference[i] += is_second ? 2 * row[i] : -2 * row[i];
    parts->work += count_places (pair) / 2;
  } else if (task != NO_TASK) {
    for (uint64_t e = parts->graph->first[task]; e < parts->graph->first[task + 1]; e++) {
      uint32_t other = pair->local[parts->graph->neighbour[e]];

      if (other != NO_TASK)
        pair->difference[other] +=
            ((other >= pair->n[0]) == is_second ? 2 : -2) * parts->graph->cost[e];
    }
    parts->work += parts->graph->first[task + 1] - parts->graph->first[task];
  }
}

/* Improves two parts until nothing is gained; the gain. */
static int64_t
improve_pair (PredictPartition *parts, uint32_t a, uint32_t b)
{
  PartPair *pair = &parts->pair;
  int64_t gained = 0, gain;

  parts->work += CALL_WORK;
  do {
    uint32_t n_exchanges = 0;
    int64_t sum = 0;

    gain = 0;
    take_places (parts, pair, 0, a);
    take_places (parts, pair, 1, b);
    /* A part may lack one task, not two: empty places on both sides are left out, and the places of
     * the second side move down. */
    if (parts->size[a] < parts->first[a + 1] - parts->first[a] &&
        parts->size[b] < parts->first[b + 1] - parts->first[b]) {
      for (uint32_t i = 0; i < pair->n[1] - 1; i++) {
        pair->task[pair->n[0] - 1 + i] = pair->task[pair->n[0] + i];
        pair->local[pair->task[pair->n[0] + i]] = pair->n[0] - 1 + i;
        pair->left[1][i] = pair->n[0] - 1 + i;
      }
      pair->n[0]--;
      pair->n[1]--;
    }
    pair->is_small = count_places (pair) <= SMALL_PLACES;
    pair->row_owner = NO_TASK;
    /* A cut of 0 cannot improve.  Else all pairs are set aside, and those up to the largest sum of
     * gains change places. */
    if (find_differences (parts, pair) > 0)
      for (uint32_t step = 0; step < MIN (pair->n[0], pair->n[1]); step++) {
        sum += choose_pair (parts, pair, step);
        if (sum > gain) {
          gain = sum;
          n_exchanges = step + 1;
        }
        change_side (parts, pair, pair->left[0][step]);
        change_side (parts, pair, pair->left[1][step]);
      }
    if (!pair->is_small && pair->row_owner != NO_TASK)
      add_row (parts, pair, pair->row_owner, pair->row, -1);
    for (uint32_t i = 0; i < count_places (pair); i++)
      if (pair->task[i] != NO_TASK)
        pair->local[pair->task[i]] = NO_TASK;
    for (uint32_t i = 0; i < n_exchanges; i++) {
      uint32_t first = pair->task[pair->left[0][i]], second = pair->task[pair->left[1][i]];

      if (first != NO_TASK)
        apply (parts, (Exchange){ first, second, a, b });
      else
        apply (parts, (Exchange){ second, first, b, a });
    }
    gained += gain;
  } while (gain > 0);
  return gained;
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
find_near (PredictPartition *parts, uint32_t part)
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

void
predict_partition_improve (PredictPartition *parts)
{
  while (parts->n_waiting > 0) {
    uint32_t part = parts->queue[parts->queue_head], n_near = find_near (parts, part);
    uint64_t begun = ++parts->clock;

    parts->queue_head = (parts->queue_head + 1) % parts->n_parts;
    parts->n_waiting--;
    parts->is_waiting[part] = false;
    /* Improve the pairs of the part and those it has edges to, unless either was swept since both
     * changed last. */
    for (uint32_t i = 0; i < n_near; i++) {
      uint32_t other = parts->near[i];
      bool is_settled = MAX (parts->changed[part], parts->changed[other]) <
                        MAX (parts->swept[part], parts->swept[other]);
      int64_t gain = is_settled ? 0 : improve_pair (parts, MIN (part, other), MAX (part, other));

      if (gain > 0) {
        parts->cut -= gain;
        wake (parts, part);
        wake (parts, other);
      }
    }
    parts->swept[part] = begun;
  }
}

/* --- Results --- */

const uint32_t *
predict_partition_of (const PredictPartition *parts)
{
  return parts->part;
}

int64_t
predict_partition_cut (const PredictPartition *parts)
{
  return parts->cut;
}

const uint32_t *
predict_partition_members (const PredictPartition *parts, uint32_t part, uint32_t *n_members)
{
  *n_members = parts->size[part];
  return parts->member + parts->first[part];
}

uint64_t
predict_partition_work (const PredictPartition *parts)
{
  return parts->work;
}
