/* pair_times.c - see pair_times.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/aggregate/pair_times.h"

#include "study/search/graph.h"

PredictPairTime *
study_pair_times (const SimEdges *messages, uint32_t n_ranks, const PredictPingPong *times,
                  uint64_t *n_pairs)
{
  g_autoptr (StudyGraph) graph = study_graph_new (messages, n_ranks);
  uint64_t n_edges, n = 0;
  g_autofree SimEdge *edges = sim_edges_sorted (messages, &n_edges);
  g_autofree uint64_t *first = g_new0 (uint64_t, (gsize) n_ranks + 1);
  PredictPairTime *pairs = g_new0 (PredictPairTime, graph->first[n_ranks] / 2 + 1);

  for (uint32_t a = 0; a < n_ranks; a++) {
    first[a] = n;
    for (uint64_t e = graph->first[a]; e < graph->first[a + 1]; e++)
      if (graph->neighbour[e] > a)
        pairs[n++] = (PredictPairTime){ .a = a, .b = graph->neighbour[e] };
  }
  first[n_ranks] = n;
  for (uint64_t i = 0; i < n_edges; i++) {
    uint32_t a = MIN (edges[i].source, edges[i].destination);
    uint32_t b = MAX (edges[i].source, edges[i].destination);
    uint64_t low = first[a], high = first[a + 1];

    /* The pairs of a ascend by b. */
    while (high - low > 1) {
      uint64_t middle = low + (high - low) / 2;

      if (pairs[middle].b <= b)
        low = middle;
      else
        high = middle;
    }
    if (edges[i].messages > 0)
      predict_pair_add (times, &pairs[low], (double) edges[i].messages,
                        (double) edges[i].bytes / (double) edges[i].messages);
  }
  *n_pairs = n;
  return pairs;
}
