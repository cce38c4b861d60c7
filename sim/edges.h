/* edges.h - the communication graph: messages and bytes between ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An edge is a directed pair of different ranks (world ranks).  Each source
 * rank has a table of its own, so that adding is local to the rank that sends:
 * open addressing at first; one place per rank as soon as that takes no more
 * room than the next larger one, so that an all-to-all needs no search. */
#pragma once

#include "base/dump.h"

#include <stdint.h>

typedef struct {
  uint32_t source, destination;
  uint64_t messages, bytes;
} SimEdge;

typedef struct SimEdges SimEdges;

SimEdges *sim_edges_new (uint32_t n_ranks);
void sim_edges_free (SimEdges *edges);
void sim_edges_dump (SimEdges *edges, BaseDump *dump);

/* Messages to oneself are ignored. */
void sim_edges_add (SimEdges *edges, uint32_t source, uint32_t destination, uint64_t messages,
                    uint64_t bytes);

/* Adds a message that keeps its place among those of its pair that were added by this function;
 * returns its number among them, from 0, modulo 2^32.  To oneself too, which makes no edge. */
uint32_t sim_edges_send (SimEdges *edges, uint32_t source, uint32_t destination, uint64_t bytes);

/* Adds all messages of `from`. */
void sim_edges_merge (SimEdges *to, const SimEdges *from);

/* All edges sorted by source, then destination; the caller g_free()s. */
SimEdge *sim_edges_sorted (const SimEdges *edges, uint64_t *n_edges);
