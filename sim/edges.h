/* edges.h - the communication graph: messages and bytes between ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An edge is a directed pair of different ranks (world ranks).  Per source
 * rank one small open-addressed table, so that adding is local to the rank
 * that sends. */
#pragma once

#include <stdint.h>

typedef struct {
  uint32_t source, destination;
  uint64_t messages, bytes;
} SimEdge;

typedef struct SimEdges SimEdges;

SimEdges *sim_edges_new (uint32_t n_ranks);
void sim_edges_free (SimEdges *edges);

/* Messages to oneself are ignored. */
void sim_edges_add (SimEdges *edges, uint32_t source, uint32_t destination, uint64_t messages,
                    uint64_t bytes);

/* All edges sorted by source, then destination; the caller g_free()s. */
SimEdge *sim_edges_sorted (const SimEdges *edges, uint64_t *n_edges);
