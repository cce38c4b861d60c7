/* grouping.c - the tasks that belong together: many starts, each perturbed many times.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/group/grouping.h"

#include "base/random.h"
#include "predictors/group/kernighan_lin.h"

#include <stdbool.h>
#include <string.h>

/* Upper limit of perturbations per task and start; it ends the search of small graphs. */
#define PERTURBATIONS_PER_TASK 30

/* Streams of random numbers: random start i uses RANDOM_START + i. */
enum { PERTURB, RANDOM_START };

static void
trial_clear (gpointer trial)
{
  g_free (((PredictGroupTrial *) trial)->name);
}

void
predict_groups_free (PredictGroups *groups)
{
  if (!groups)
    return;
  g_free (groups->part);
  g_array_unref (groups->trials);
  g_free (groups);
}

/* --- Starts --- */

/* Larger graphs are not halved: the time grows with the square of their tasks. */
#define HALVES_MAX_TASKS 2048u

/* The number of tasks, of n, in part p of n_parts: sizes differ by one at most, the first are larger. */
static uint32_t
part_size (uint32_t n, uint32_t n_parts, uint32_t p)
{
  return n / n_parts + (p < n % n_parts);
}

static void
start_block (uint32_t n, uint32_t n_parts, uint32_t *part)
{
  uint32_t task = 0;

  for (uint32_t p = 0; p < n_parts; p++)
    for (uint32_t i = part_size (n, n_parts, p); i > 0; i--)
      part[task++] = p;
}

/* --- The greedy start ---
 *
 * Each part begins with the first task that is left; then the task with the largest cost of edges to
 * the part joins it, again and again. */

/* The first part gets size[0] tasks, and so on. */
static void
grow (const PredictCostGraph *graph, uint32_t n_parts, const uint32_t *size, uint32_t *part)
{
  uint32_t n = graph->n, first_left = 0;
  g_autofree bool *is_taken = g_new0 (bool, n);
  g_autofree int64_t *cost = g_new0 (int64_t, n);     /* of a task's edges to the part that grows */
  g_autofree uint32_t *touched = g_new (uint32_t, n); /* the tasks with such edges */

  for (uint32_t p = 0; p < n_parts; p++) {
    uint32_t n_touched = 0;

    for (uint32_t i = 0; i < size[p]; i++) {
      uint32_t task = n, n_kept = 0;

      /* The task left with the largest cost, the first of equal ones. */
      for (uint32_t k = 0; k < n_touched; k++) {
        uint32_t other = touched[k];

        if (is_taken[other])
          continue;
        touched[n_kept++] = other;
        if (task == n || cost[other] > cost[task] || (cost[other] == cost[task] && other < task))
          task = other;
      }
      n_touched = n_kept;
      while (task == n && is_taken[first_left])
        first_left++;
      task = task == n ? first_left : task;
      part[task] = p;
      is_taken[task] = true;
      for (uint64_t e = graph->first[task]; e < graph->first[task + 1]; e++) {
        uint32_t other = graph->neighbour[e];

        if (is_taken[other] || graph->cost[e] == 0)
          continue;
        if (cost[other] == 0)
          touched[n_touched++] = other;
        cost[other] += graph->cost[e];
      }
    }
    for (uint32_t k = 0; k < n_touched; k++)
      cost[touched[k]] = 0;
  }
}

/* --- Halves by the procedure for two parts, halves of these, and so on --- */

/* Parts tasks[n], which ascend, into the parts `from` ... from + n_parts - 1 of all_parts. */
static void
divide (const PredictCostGraph *all, uint32_t all_parts, const uint32_t *tasks, uint32_t n,
        uint32_t from, uint32_t n_parts, uint32_t *part)
{
  g_autoptr (PredictCostRows) rows = NULL;
  g_autoptr (PredictPartition) halves = NULL;
  g_autofree uint32_t *half = NULL, *chosen = NULL;
  uint32_t n_first = n_parts / 2, size[2] = { 0, n };
  int64_t cut;

  if (n_parts == 1) {
    for (uint32_t i = 0; i < n; i++)
      part[tasks[i]] = from;
    return;
  }
  for (uint32_t p = 0; p < n_first; p++)
    size[0] += part_size (all->n, all_parts, from + p);
  size[1] -= size[0];
  rows = predict_cost_rows_among (all, tasks, n);
  half = g_new (uint32_t, n);
  chosen = g_new (uint32_t, n);
  /* The better of two starts: blocks, and grown parts. */
  halves = predict_partition_new (&rows->graph, 2, size, size);
  predict_partition_improve (halves);
  cut = predict_partition_cut (halves);
  memcpy (half, predict_partition_of (halves), n * sizeof *half);
  if (cut > 0) {
    grow (&rows->graph, 2, size, chosen);
    predict_partition_set (halves, chosen);
    predict_partition_improve (halves);
    if (predict_partition_cut (halves) < cut)
      memcpy (half, predict_partition_of (halves), n * sizeof *half);
  }
  g_clear_pointer (&halves, predict_partition_free);
  for (uint32_t side = 0; side < 2; side++) {
    uint32_t n_chosen = 0;

    for (uint32_t i = 0; i < n; i++)
      if (half[i] == side)
        chosen[n_chosen++] = tasks[i];
    divide (all, all_parts, chosen, n_chosen, side == 0 ? from : from + n_first,
            side == 0 ? n_first : n_parts - n_first, part);
  }
}

/* Fills part[n] with the start of that number: first the given starts, then those of this file.
 * Returns its name, which the caller frees. */
static char *
start (const PredictCostGraph *graph, const PredictGroupOptions *options, uint32_t number,
       uint32_t *part)
{
  uint32_t n = graph->n, n_parts = options->n_parts, own = number - options->n_given;
  uint32_t n_named = n > HALVES_MAX_TASKS ? 3 : 4;
  BaseRandom random;

  if (number < options->n_given) {
    memcpy (part, options->given[number].part, n * sizeof *part);
    return g_strdup (options->given[number].name);
  }
  if (own == 0) {
    start_block (n, n_parts, part);
    return g_strdup ("block");
  }
  if (own == 1) {
    for (uint32_t task = 0; task < n; task++)
      part[task] = task % n_parts;
    return g_strdup ("round robin");
  }
  if (own == 2) {
    g_autofree uint32_t *size = g_new (uint32_t, n_parts);

    for (uint32_t p = 0; p < n_parts; p++)
      size[p] = part_size (n, n_parts, p);
    grow (graph, n_parts, size, part);
    return g_strdup ("greedy");
  }
  if (own < n_named) {
    g_autofree uint32_t *tasks = g_new (uint32_t, n);

    for (uint32_t task = 0; task < n; task++)
      tasks[task] = task;
    divide (graph, n_parts, tasks, n, 0, n_parts, part);
    return g_strdup ("halves");
  }
  random = base_random_stream (options->seed, RANDOM_START + own);
  start_block (n, n_parts, part);
  for (uint32_t left = n; left > 1; left--) {
    uint32_t other = (uint32_t) base_random_below (&random, left), p = part[left - 1];

    part[left - 1] = part[other];
    part[other] = p;
  }
  return g_strdup_printf ("random %u", own - n_named + 1);
}

/* --- Perturbations --- */

static uint32_t
random_member (const PredictPartition *parts, uint32_t part, BaseRandom *random)
{
  uint32_t n;
  const uint32_t *members = predict_partition_members (parts, part, &n);

  return members[base_random_below (random, n)];
}

/* A task of another part than `task`: a neighbour, if it has one there that is drawn. */
static uint32_t
foreign_task (const PredictCostGraph *graph, const uint32_t *part, uint32_t task,
              BaseRandom *random)
{
  uint64_t n_edges = graph->first[task + 1] - graph->first[task];
  uint32_t other = task;

  if (n_edges > 0)
    other = graph->neighbour[graph->first[task] + base_random_below (random, n_edges)];
  while (part[other] == part[task])
    other = (uint32_t) base_random_below (random, graph->n);
  return other;
}

/* Perturbs and improves the parts until their work reaches `until`. */
static void
improve_perturbed (PredictPartition *parts, const PredictCostGraph *graph, uint64_t until,
                   BaseRandom *random)
{
  uint64_t n_left = (uint64_t) graph->n * PERTURBATIONS_PER_TASK;
  int64_t cut = predict_partition_cut (parts);

  predict_partition_keep (parts);
  while (cut > 0 && n_left-- > 0 && predict_partition_work (parts) < until) {
    const uint32_t *part = predict_partition_of (parts);
    uint32_t task = (uint32_t) base_random_below (random, graph->n);
    uint32_t second = foreign_task (graph, part, task, random);
    uint32_t third = foreign_task (graph, part, second, random);
    uint32_t p[3] = { part[task], part[second], part[third] }, n_members;
    uint64_t n;

    /* Two or three parts that share edges pass some tasks on, each to the next. */
    predict_partition_members (parts, p[0], &n_members);
    n = 1 + base_random_below (random, 1 + base_random_below (random, 1 + n_members / 2));
    for (uint64_t i = 0; i < n; i++) {
      uint32_t passed = random_member (parts, p[0], random);

      predict_partition_exchange (parts, passed, random_member (parts, p[1], random));
      if (p[2] != p[0])
        predict_partition_exchange (parts, passed, random_member (parts, p[2], random));
    }
    predict_partition_improve (parts);
    if (predict_partition_cut (parts) > cut)
      predict_partition_undo (parts);
    else
      predict_partition_keep (parts);
    cut = predict_partition_cut (parts);
  }
}

/* --- The search --- */

/* Numbers parts in the order of their first tasks. */
static void
renumber (uint32_t *part, uint32_t n, uint32_t n_parts)
{
  g_autofree uint32_t *number = g_new (uint32_t, n_parts);
  uint32_t next = 0;

  for (uint32_t p = 0; p < n_parts; p++)
    number[p] = n_parts;
  for (uint32_t task = 0; task < n; task++) {
    if (number[part[task]] == n_parts)
      number[part[task]] = next++;
    part[task] = number[part[task]];
  }
}

static PredictGroups *
groups_new (uint32_t *part)
{
  PredictGroups *groups = g_new0 (PredictGroups, 1);

  groups->part = part;
  groups->trials = g_array_new (FALSE, FALSE, sizeof (PredictGroupTrial));
  g_array_set_clear_func (groups->trials, trial_clear);
  return groups;
}

PredictGroups *
predict_groups_given (const PredictCostGraph *graph, const char *name, uint32_t *part,
                      uint32_t n_parts)
{
  PredictGroups *groups = groups_new (part);
  int64_t cut = predict_cut (graph, part);
  PredictGroupTrial trial = { g_strdup (name), cut, cut, cut };

  groups->cut = cut;
  g_array_append_val (groups->trials, trial);
  renumber (part, graph->n, n_parts);
  return groups;
}

PredictGroups *
predict_group (const PredictCostGraph *graph, const PredictGroupOptions *options)
{
  PredictGroups *groups = groups_new (g_new (uint32_t, graph->n));
  g_autofree uint32_t *size = g_new (uint32_t, options->n_parts);
  g_autofree uint32_t *room = g_new (uint32_t, options->n_parts);
  g_autofree uint32_t *part = g_new (uint32_t, graph->n);
  g_autoptr (PredictPartition) parts = NULL;
  uint32_t n_starts = options->work > 0 ? options->n_given + options->n_starts : 1;

  g_assert (options->n_parts >= 1 && options->n_parts <= graph->n && n_starts >= 1);
  for (uint32_t p = 0; p < options->n_parts; p++) {
    size[p] = part_size (graph->n, options->n_parts, p);
    room[p] = (graph->n + options->n_parts - 1) / options->n_parts;
  }
  parts = predict_partition_new (graph, options->n_parts, size, room);
  for (uint32_t i = 0; i < n_starts; i++) {
    uint64_t done = predict_partition_work (parts);
    uint64_t left = options->work > done ? options->work - done : 0;

    if (i > 0 && (left == 0 || groups->cut == 0))
      break;

    uint64_t until = done + left / (n_starts - i);
    uint32_t number = groups->trials->len;
    BaseRandom random = base_random_stream (options->seed, PERTURB);
    PredictGroupTrial trial = { .name = start (graph, options, number, part) };

    predict_partition_set (parts, part);
    trial.cut_start = predict_partition_cut (parts);
    predict_partition_improve (parts);
    trial.cut_improved = predict_partition_cut (parts);
    improve_perturbed (parts, graph, until, &random);
    trial.cut = predict_partition_cut (parts);
    g_array_append_val (groups->trials, trial);
    if (number == 0 || trial.cut < groups->cut) {
      groups->cut = trial.cut;
      groups->best = number;
      memcpy (groups->part, predict_partition_of (parts), graph->n * sizeof *part);
    }
  }
  renumber (groups->part, graph->n, options->n_parts);
  return groups;
}
