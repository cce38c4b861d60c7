/* grouping.c - which tasks belong together: many starts, each perturbed many times.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/group/grouping.h"

#include "predictors/group/grouping_start.h"
#include "predictors/group/kernighan_lin.h"

#include <string.h>

/* Small graphs are perturbed so often per task from one start, and no more. */
#define PERTURBATIONS_PER_TASK 30

/* Streams of random numbers; random starts have theirs from RANDOM_START on. */
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

/* Fills part[n] with the start of that number, counted from 0 behind the given ones; its name,
 * which the caller frees. */
static char *
own_start (const PredictCostGraph *graph, const PredictGroupOptions *options, uint32_t number,
           uint32_t *part)
{
  uint32_t n_named = graph->n > PREDICT_HALVES_MAX_TASKS ? 3 : 4;
  BaseRandom random;

  if (number == 0) {
    predict_start_block (graph->n, options->n_parts, part);
    return g_strdup ("block");
  }
  if (number == 1) {
    predict_start_round_robin (graph->n, options->n_parts, part);
    return g_strdup ("round robin");
  }
  if (number == 2) {
    predict_start_greedy (graph, options->n_parts, part);
    return g_strdup ("greedy");
  }
  if (number < n_named) {
    predict_start_halves (graph, options->n_parts, part);
    return g_strdup ("halves");
  }
  random = base_random_stream (options->seed, RANDOM_START + number);
  predict_start_random (graph->n, options->n_parts, &random, part);
  return g_strdup_printf ("random %u", number - n_named + 1);
}

static char *
start (const PredictCostGraph *graph, const PredictGroupOptions *options, uint32_t number,
       uint32_t *part)
{
  const PredictGroupStart *given = &options->given[number];

  if (number >= options->n_given)
    return own_start (graph, options, number - options->n_given, part);
  memcpy (part, given->part, graph->n * sizeof *part);
  return g_strdup (given->name);
}

/* --- Perturbations --- */

/* A task of another part than `task`, which one of the edges of `task` leads to if there is one. */
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

static uint32_t
member (const PredictParts *parts, uint32_t part, BaseRandom *random)
{
  uint32_t n;
  const uint32_t *members = predict_parts_members (parts, part, &n);

  return members[base_random_below (random, n)];
}

/* Two or three parts that have to do with each other pass some tasks on, each to the next. */
static void
perturb (PredictParts *parts, const PredictCostGraph *graph, BaseRandom *random)
{
  const uint32_t *part = predict_parts_of (parts);
  uint32_t task = (uint32_t) base_random_below (random, graph->n);
  uint32_t second = foreign_task (graph, part, task, random);
  uint32_t third = foreign_task (graph, part, second, random);
  uint32_t p[3] = { part[task], part[second], part[third] }, n_members;
  uint64_t n;

  predict_parts_members (parts, p[0], &n_members);
  n = 1 + base_random_below (random, 1 + base_random_below (random, 1 + n_members / 2));
  for (uint64_t i = 0; i < n; i++) {
    uint32_t passed = member (parts, p[0], random);

    predict_parts_exchange (parts, passed, member (parts, p[1], random));
    if (p[2] != p[0])
      predict_parts_exchange (parts, passed, member (parts, p[2], random));
  }
}

/* Betters the parts until `until` of their work is done. */
static void
better_perturbed (PredictParts *parts, const PredictCostGraph *graph, uint64_t until,
                  BaseRandom *random)
{
  uint64_t n_left = (uint64_t) graph->n * PERTURBATIONS_PER_TASK;
  int64_t cut = predict_parts_cut (parts);

  predict_parts_keep (parts);
  while (cut > 0 && n_left-- > 0 && predict_parts_work (parts) < until) {
    perturb (parts, graph, random);
    predict_parts_better (parts);
    if (predict_parts_cut (parts) > cut)
      predict_parts_take_back (parts);
    else
      predict_parts_keep (parts);
    cut = predict_parts_cut (parts);
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

/* The parts of the block start. */
static PredictParts *
parts_new (const PredictCostGraph *graph, uint32_t n_parts)
{
  g_autofree uint32_t *size = g_new (uint32_t, n_parts), *room = g_new (uint32_t, n_parts);

  for (uint32_t p = 0; p < n_parts; p++) {
    size[p] = predict_part_size (graph->n, n_parts, p);
    room[p] = (graph->n + n_parts - 1) / n_parts;
  }
  return predict_parts_new (graph, n_parts, size, room);
}

/* One start and what comes of it; `until` as work. */
static void
try_start (PredictGroups *groups, PredictParts *parts, const PredictCostGraph *graph,
           const PredictGroupOptions *options, uint64_t until)
{
  uint32_t number = groups->trials->len;
  g_autofree uint32_t *part = g_new (uint32_t, graph->n);
  BaseRandom random = base_random_stream (options->seed, PERTURB);
  PredictGroupTrial trial = { .name = start (graph, options, number, part) };

  predict_parts_set (parts, part);
  trial.cut_start = predict_parts_cut (parts);
  predict_parts_better (parts);
  trial.cut_bettered = predict_parts_cut (parts);
  better_perturbed (parts, graph, until, &random);
  trial.cut = predict_parts_cut (parts);
  g_array_append_val (groups->trials, trial);
  if (number == 0 || trial.cut < groups->cut) {
    groups->cut = trial.cut;
    groups->best = number;
    memcpy (groups->part, predict_parts_of (parts), graph->n * sizeof *part);
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
  g_autoptr (PredictParts) parts = NULL;
  uint32_t n_starts = options->work > 0 ? options->n_given + options->n_starts : 1;

  g_assert (options->n_parts >= 1 && options->n_parts <= graph->n && n_starts >= 1);
  parts = parts_new (graph, options->n_parts);
  for (uint32_t i = 0; i < n_starts; i++) {
    uint64_t done = predict_parts_work (parts);
    uint64_t left = options->work > done ? options->work - done : 0;

    if (i > 0 && (left == 0 || groups->cut == 0))
      break;
    try_start (groups, parts, graph, options, done + left / (n_starts - i));
  }
  renumber (groups->part, graph->n, options->n_parts);
  return groups;
}
