/* graph.c - the communication graph as a search reads it: neighbours in a row.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/search/graph.h"

/* Every directed edge, once at each end. */
typedef struct {
  uint32_t rank, neighbour;
  uint64_t sent, received;
} Half;

static int
compare_halves (const void *left, const void *right)
{
  const Half *a = left, *b = right;

  if (a->rank != b->rank)
    return a->rank < b->rank ? -1 : 1;
  return (a->neighbour > b->neighbour) - (a->neighbour < b->neighbour);
}

/* Adds up halves of the same pair, which are in a row; returns how many stay. */
static uint64_t
merge_halves (Half *halves, uint64_t n)
{
  uint64_t n_merged = 0;

  for (uint64_t i = 0; i < n; i++)
    if (n_merged > 0 && compare_halves (&halves[n_merged - 1], &halves[i]) == 0) {
      halves[n_merged - 1].sent += halves[i].sent;
      halves[n_merged - 1].received += halves[i].received;
    } else
      halves[n_merged++] = halves[i];
  return n_merged;
}

/* So that the sum over all edges, at both ends, of weight times hops stays far
 * below 2^63.  Counted in floating point, since the bytes themselves may not fit. */
static uint32_t
shift_for (const SimEdge *edges, uint64_t n_edges)
{
  double sum = 0;
  uint32_t shift = 0;

  for (uint64_t i = 0; i < n_edges; i++)
    sum += (double) edges[i].bytes;
  while (2 * (sum / (double) (1ull << shift) + (double) n_edges) * STUDY_MAX_HOPS > 0x1p61)
    shift++;
  return shift;
}

static int64_t
shifted (uint64_t bytes, uint32_t shift)
{
  return (int64_t) ((bytes >> shift) + ((bytes & ((1ull << shift) - 1)) != 0));
}

static void
fill_rows (StudyGraph *graph, const Half *halves, uint64_t n)
{
  graph->first = g_new0 (uint64_t, graph->n_ranks + 1);
  graph->neighbour = g_new (uint32_t, n);
  graph->sent = g_new (uint64_t, n);
  graph->received = g_new (uint64_t, n);
  graph->weight = g_new (int64_t, n);
  for (uint64_t i = 0; i < n; i++) {
    graph->first[halves[i].rank + 1]++;
    graph->neighbour[i] = halves[i].neighbour;
    graph->sent[i] = halves[i].sent;
    graph->received[i] = halves[i].received;
    graph->weight[i] =
        shifted (halves[i].sent, graph->shift) + shifted (halves[i].received, graph->shift);
  }
  for (uint32_t rank = 0; rank < graph->n_ranks; rank++)
    graph->first[rank + 1] += graph->first[rank];
}

StudyGraph *
study_graph_new (const SimEdges *edges, uint32_t n_ranks)
{
  StudyGraph *graph = g_new0 (StudyGraph, 1);
  g_autofree SimEdge *sorted = sim_edges_sorted (edges, &graph->n_edges);
  g_autofree Half *halves = g_new (Half, 2 * graph->n_edges);

  graph->n_ranks = n_ranks;
  graph->shift = shift_for (sorted, graph->n_edges);
  for (uint64_t i = 0; i < graph->n_edges; i++) {
    const SimEdge *edge = &sorted[i];

    halves[2 * i] = (Half){ edge->source, edge->destination, edge->bytes, 0 };
    halves[2 * i + 1] = (Half){ edge->destination, edge->source, 0, edge->bytes };
  }
  if (graph->n_edges > 0)
    qsort (halves, 2 * graph->n_edges, sizeof *halves, compare_halves);
  fill_rows (graph, halves, merge_halves (halves, 2 * graph->n_edges));
  return graph;
}

void
study_graph_free (StudyGraph *graph)
{
  if (!graph)
    return;
  g_free (graph->first);
  g_free (graph->neighbour);
  g_free (graph->sent);
  g_free (graph->received);
  g_free (graph->weight);
  g_free (graph);
}
