/* grouping.c - which tasks share a node, as the aggregation paper decides it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validation/grouping.h"

#include <glib.h>

/* A gain that is less than this share of the costs is rounding. */
#define LEAST_GAIN 1e-12

typedef struct {
  uint32_t *tasks[2]; /* of both parts, [size] each */
  uint32_t size;
  const double *cost;
  uint32_t stride;
  double *differences[2]; /* cost to the other part less that within the own */
} Parts;

static double
cost_of (const Parts *it, uint32_t a, uint32_t b)
{
  return it->cost[(size_t) a * it->stride + b];
}

/* Writes the differences of one side; returns the sum of all costs it has seen. */
static double
find_differences (Parts *it, uint32_t side)
{
  double seen = 0;

  for (uint32_t i = 0; i < it->size; i++) {
    double outside = 0, inside = 0;

    for (uint32_t j = 0; j < it->size; j++) {
      outside += cost_of (it, it->tasks[side][i], it->tasks[1 - side][j]);
      inside += j == i ? 0 : cost_of (it, it->tasks[side][i], it->tasks[side][j]);
    }
    it->differences[side][i] = outside - inside;
    seen += outside + inside;
  }
  return seen;
}

static double
gain_of (const Parts *it, uint32_t a, uint32_t b)
{
  return it->differences[0][a] + it->differences[1][b] -
         2 * cost_of (it, it->tasks[0][a], it->tasks[1][b]);
}

static void
exchange (uint32_t *tasks, uint32_t i, uint32_t j)
{
  uint32_t task = tasks[i];

  tasks[i] = tasks[j];
  tasks[j] = task;
}

static void
exchange_differences (double *differences, uint32_t i, uint32_t j)
{
  double difference = differences[i];

  differences[i] = differences[j];
  differences[j] = difference;
}

/* Brings the pair that gains most, of those from `first` on, to `first`; its gain. */
static double
choose_pair (Parts *it, uint32_t first)
{
  uint32_t best[2] = { first, first };
  double gain = gain_of (it, first, first);

  for (uint32_t a = first; a < it->size; a++)
    for (uint32_t b = first; b < it->size; b++)
      if (gain_of (it, a, b) > gain) {
        gain = gain_of (it, a, b);
        best[0] = a;
        best[1] = b;
      }
  for (uint32_t side = 0; side < 2; side++) {
    exchange (it->tasks[side], first, best[side]);
    exchange_differences (it->differences[side], first, best[side]);
  }
  return gain;
}

/* What the others gain once the tasks at `first` have changed sides. */
static void
set_aside (Parts *it, uint32_t first)
{
  for (uint32_t side = 0; side < 2; side++)
    for (uint32_t i = first + 1; i < it->size; i++) {
      uint32_t task = it->tasks[side][i];

      it->differences[side][i] += 2 * cost_of (it, task, it->tasks[side][first]) -
                                  2 * cost_of (it, task, it->tasks[1 - side][first]);
    }
}

/* One round of the procedure for two parts; whether it has bettered them. */
static gboolean
better_two (Parts *it)
{
  double seen = find_differences (it, 0) + find_differences (it, 1);
  double sum = 0, most = 0;
  uint32_t n_exchanged = 0;

  for (uint32_t first = 0; first < it->size; first++) {
    sum += choose_pair (it, first);
    if (sum > most) {
      most = sum;
      n_exchanged = first + 1;
    }
    set_aside (it, first);
  }
  if (most <= LEAST_GAIN * seen)
    return FALSE;
  for (uint32_t i = 0; i < n_exchanged; i++) {
    uint32_t task = it->tasks[0][i];

    it->tasks[0][i] = it->tasks[1][i];
    it->tasks[1][i] = task;
  }
  return TRUE;
}

void
validation_group (uint32_t *tasks, uint32_t n, uint32_t n_parts, const double *cost,
                  uint32_t stride)
{
  uint32_t size = n / n_parts;
  g_autofree double *first = g_new (double, size), *second = g_new (double, size);
  gboolean bettered = TRUE;

  g_assert (n % n_parts == 0);
  while (bettered) {
    bettered = FALSE;
    for (uint32_t a = 0; a < n_parts; a++)
      for (uint32_t b = a + 1; b < n_parts; b++) {
        Parts parts = {
          { tasks + a * size, tasks + b * size }, size, cost, stride, { first, second }
        };

        while (better_two (&parts))
          bettered = TRUE;
      }
  }
}
