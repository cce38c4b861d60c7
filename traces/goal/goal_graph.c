/* goal_graph.c - the operations of one rank of a GOAL schedule, and what each waits for.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/goal/goal_graph.h"

#include <stdlib.h>

GoalGraph *
goal_graph_new (void)
{
  GoalGraph *graph = g_new0 (GoalGraph, 1);

  graph->nodes = g_array_new (FALSE, FALSE, sizeof (GoalNode));
  graph->edges = g_array_new (FALSE, FALSE, sizeof (GoalEdge));
  return graph;
}

void
goal_graph_free (GoalGraph *graph)
{
  if (graph == NULL)
    return;
  g_array_unref (graph->nodes);
  g_array_unref (graph->edges);
  g_free (graph->order);
  g_free (graph->after);
  g_free (graph->first_after);
  g_free (graph->first_after_start);
  g_free (graph);
}

void
goal_graph_add_edge (GoalGraph *graph, uint32_t node, uint32_t on, gboolean on_start)
{
  GoalEdge edge = { node, on, on_start ? 1 : 0 };

  g_array_append_val (graph->edges, edge);
}

static const GoalEdge *
edge_at (const GoalGraph *graph, guint index)
{
  return &g_array_index (graph->edges, GoalEdge, index);
}

static gboolean
is_in_order (const GoalGraph *graph)
{
  for (guint i = 0; i < graph->edges->len; i++)
    if (edge_at (graph, i)->on >= edge_at (graph, i)->node)
      return FALSE;
  return TRUE;
}

/* -- sorting ---------------------------------------------------------------- */

/* The nodes that wait for a node: list[first[node]] up to list[first[node + 1]]. */
typedef struct {
  uint64_t *first; /* [nodes + 1] */
  uint32_t *list;  /* [edges] */
  uint32_t *left;  /* [nodes] edges that a node still waits for */
  uint32_t *heap;  /* [nodes] nodes that wait for nothing more, least number first */
  uint32_t n_heap;
} Sorter;

static void
sorter_init (Sorter *sorter, const GoalGraph *graph)
{
  guint n_nodes = graph->nodes->len;

  *sorter = (Sorter){ .first = g_new0 (uint64_t, n_nodes + 2),
                      .list = g_new (uint32_t, graph->edges->len),
                      .left = g_new0 (uint32_t, n_nodes),
                      .heap = g_new (uint32_t, n_nodes) };
  /* first[] is one further while it counts and fills, and right at the end. */
  for (guint i = 0; i < graph->edges->len; i++)
    sorter->first[edge_at (graph, i)->on + 2]++;
  for (guint node = 0; node < n_nodes; node++)
    sorter->first[node + 2] += sorter->first[node + 1];
  for (guint i = 0; i < graph->edges->len; i++) {
    sorter->list[sorter->first[edge_at (graph, i)->on + 1]++] = edge_at (graph, i)->node;
    sorter->left[edge_at (graph, i)->node]++;
  }
}

static void
sorter_clear (Sorter *sorter)
{
  g_free (sorter->first);
  g_free (sorter->list);
  g_free (sorter->left);
  g_free (sorter->heap);
}

static void
heap_push (Sorter *sorter, uint32_t node)
{
  uint32_t at = sorter->n_heap++;

  for (; at > 0 && sorter->heap[(at - 1) / 2] > node; at = (at - 1) / 2)
    sorter->heap[at] = sorter->heap[(at - 1) / 2];
  sorter->heap[at] = node;
}

static uint32_t
heap_pop (Sorter *sorter)
{
  uint32_t least = sorter->heap[0], last = sorter->heap[--sorter->n_heap];
  uint32_t at = 0, child;

  while ((child = 2 * at + 1) < sorter->n_heap) {
    if (child + 1 < sorter->n_heap && sorter->heap[child + 1] < sorter->heap[child])
      child++;
    if (sorter->heap[child] >= last)
      break;
    sorter->heap[at] = sorter->heap[child];
    at = child;
  }
  sorter->heap[at] = last;
  return least;
}

/* Of what may come next, the first in the file comes next.  Returns how many
 * could be placed. */
static uint32_t
sorter_run (Sorter *sorter, uint32_t n_nodes, uint32_t *order)
{
  uint32_t n = 0;

  for (uint32_t node = 0; node < n_nodes; node++)
    if (sorter->left[node] == 0)
      heap_push (sorter, node);
  while (sorter->n_heap > 0) {
    uint32_t node = heap_pop (sorter);

    order[n++] = node;
    for (uint64_t i = sorter->first[node]; i < sorter->first[node + 1]; i++)
      if (--sorter->left[sorter->list[i]] == 0)
        heap_push (sorter, sorter->list[i]);
  }
  return n;
}

/* An edge between two nodes of a circle.  A node that could not be placed
 * waits for another such, so that going from one to the next ends in a circle. */
static void
find_circle (const GoalGraph *graph, const Sorter *sorter, uint32_t *node, uint32_t *on)
{
  guint n_nodes = graph->nodes->len;
  g_autofree uint32_t *next = g_new (uint32_t, n_nodes);
  uint32_t at = 0;

  for (guint i = graph->edges->len; i-- > 0;)
    if (sorter->left[edge_at (graph, i)->on] > 0)
      next[edge_at (graph, i)->node] = edge_at (graph, i)->on;
  while (sorter->left[at] == 0)
    at++;
  for (guint i = 0; i < n_nodes; i++)
    at = next[at];
  *node = at;
  *on = next[at];
}

/* -- places ------------------------------------------------------------------ */

static int
compare_places (gconstpointer a, gconstpointer b)
{
  uint32_t one = *(const uint32_t *) a, other = *(const uint32_t *) b;

  return (one > other) - (one < other);
}

static void
sort_run (uint32_t *run, uint64_t n)
{
  if (n > 1)
    qsort (run, n, sizeof *run, compare_places);
}

/* Counts the edges of each place, those on starts behind those on ends, so
 * that a run begins where the one before ends. */
static void
count_runs (GoalGraph *graph, const uint32_t *place)
{
  guint n_nodes = graph->nodes->len;
  uint64_t total = 0;

  graph->first_after = g_new0 (uint64_t, n_nodes + 1);
  graph->first_after_start = g_new0 (uint64_t, n_nodes);
  for (guint i = 0; i < graph->edges->len; i++) {
    const GoalEdge *edge = edge_at (graph, i);

    (edge->on_start ? graph->first_after_start : graph->first_after)[place[edge->node]]++;
  }
  for (guint at = 0; at < n_nodes; at++) {
    uint64_t ends = graph->first_after[at], starts = graph->first_after_start[at];

    graph->first_after[at] = total;
    graph->first_after_start[at] = total + ends;
    total += ends + starts;
  }
  graph->first_after[n_nodes] = total;
}

static void
fill_runs (GoalGraph *graph, const uint32_t *place)
{
  guint n_nodes = graph->nodes->len;
  g_autofree uint64_t *next = g_memdup2 (graph->first_after, n_nodes * sizeof *next);
  g_autofree uint64_t *next_start = g_memdup2 (graph->first_after_start, n_nodes * sizeof *next);

  graph->after = g_new (uint32_t, (gsize) graph->edges->len + 1); /* never NULL */
  for (guint i = 0; i < graph->edges->len; i++) {
    const GoalEdge *edge = edge_at (graph, i);
    uint64_t *at = edge->on_start ? next_start : next;

    graph->after[at[place[edge->node]]++] = place[edge->on];
  }
  for (guint at = 0; at < n_nodes; at++) {
    uint64_t first = graph->first_after[at], middle = graph->first_after_start[at];

    sort_run (graph->after + first, middle - first);
    sort_run (graph->after + middle, graph->first_after[at + 1] - middle);
  }
}

static void
set_runs (GoalGraph *graph)
{
  guint n_nodes = graph->nodes->len;
  g_autofree uint32_t *place = g_new (uint32_t, n_nodes);

  for (guint at = 0; at < n_nodes; at++)
    place[graph->order[at]] = at;
  count_runs (graph, place);
  fill_runs (graph, place);
  g_array_set_size (graph->edges, 0);
}

gboolean
goal_graph_sort (GoalGraph *graph, uint32_t *node, uint32_t *on)
{
  uint32_t n_nodes = graph->nodes->len;
  gboolean sorted = TRUE;

  graph->order = g_new (uint32_t, n_nodes);
  if (is_in_order (graph)) {
    for (uint32_t at = 0; at < n_nodes; at++)
      graph->order[at] = at;
  } else {
    Sorter sorter;

    sorter_init (&sorter, graph);
    sorted = sorter_run (&sorter, n_nodes, graph->order) == n_nodes;
    if (!sorted)
      find_circle (graph, &sorter, node, on);
    sorter_clear (&sorter);
  }
  if (sorted)
    set_runs (graph);
  return sorted;
}
