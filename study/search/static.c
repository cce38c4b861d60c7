/* static.c - the metrics of a mapping that need no simulated time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/search/static.h"

#include "sim/net/load.h"

/* Some messages of an edge have one byte more where they must. */
static void
add_edge (SimCounters *counters, const RoutePaths *paths, const TopoMapping *mapping,
          const SimEdge *edge)
{
  uint64_t share = edge->messages > 0 ? edge->bytes / edge->messages : 0;
  uint64_t rest = edge->messages > 0 ? edge->bytes % edge->messages : 0;

  sim_load_add_many (counters, paths, mapping, edge->source, edge->destination, share + 1, false,
                     rest);
  sim_load_add_many (counters, paths, mapping, edge->source, edge->destination, share, false,
                     edge->messages - rest);
}

void
study_static_features (double features[SIM_N_FEATURES], const RoutePaths *paths,
                       const TopoMapping *mapping, const SimEdges *edges)
{
  SimCounters *counters = sim_counters_new (paths->machine);
  uint64_t n_edges;
  g_autofree SimEdge *sorted = sim_edges_sorted (edges, &n_edges);

  for (uint64_t i = 0; i < n_edges; i++)
    add_edge (counters, paths, mapping, &sorted[i]);
  sim_features_compute (features, paths, mapping, edges, counters);
  sim_counters_free (counters);
}
