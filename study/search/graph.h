/* graph.h - the communication graph as a search reads it: neighbours in a row.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A pair of ranks that exchange messages is an edge of both, with the bytes that
 * go either way.  Compressed rows: the neighbours of rank r are
 * neighbour[first[r]] .. neighbour[first[r + 1] - 1], ascending. */
#pragma once

#include "sim/edges.h"

#include <glib.h>

typedef struct {
  uint32_t n_ranks;
  uint64_t n_edges;    /* directed ones, as there are messages */
  uint64_t *first;     /* [n_ranks + 1] */
  uint32_t *neighbour; /* [first[n_ranks]] */
  uint64_t *sent;      /* bytes to the neighbour */
  uint64_t *received;  /* bytes from it */
  int64_t *weight;     /* bytes both ways, as (bytes + 2^shift - 1) >> shift */
  uint32_t shift;      /* 0, unless sums of weights times hops would not fit */
} StudyGraph;

/* Hops are never more, so that no sum overflows. */
#define STUDY_MAX_HOPS 4096

/* Of edges between ranks below n_ranks. */
StudyGraph *study_graph_new (const SimEdges *edges, uint32_t n_ranks);
void study_graph_free (StudyGraph *graph);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyGraph, study_graph_free)
