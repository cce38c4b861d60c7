/* scotch_graph.h - a graph as Scotch takes it, and what is worked out on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Only for what is built with Scotch's own header. */
#pragma once

#include <glib.h>
#include <stdint.h>
/* Scotch's header needs it, and does not include it. */
#include <stdio.h>

#ifdef HAVE_SCOTCH_SCOTCH_H
#include <scotch/scotch.h>
#else
#include <scotch.h>
#endif

typedef struct {
  SCOTCH_Num n, *first, *neighbour, *weight;
} StudyScotchGraph;

/* Of compressed rows: the neighbours of vertex v are neighbour[first[v]] .. neighbour[first[v + 1] - 1],
 * each edge in the rows of both its ends.  Scotch adds up weights, times up to `longest` hops, in its own integers:
 * they are scaled so that the sum fits, and every edge keeps at least 1.  FALSE: too many edges. */
gboolean
study_scotch_graph_fill (StudyScotchGraph *graph, uint32_t n, const uint64_t *first,
                         const uint32_t *neighbour, const int64_t *weight, uint32_t longest);
void study_scotch_graph_clear (StudyScotchGraph *graph);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (StudyScotchGraph, study_scotch_graph_clear)

/* What is to be found: place[n] by a strategy that is empty yet.  0, or what Scotch returned. */
typedef int (*StudyScotchWork) (SCOTCH_Graph *graph, SCOTCH_Strat *strategy, SCOTCH_Num *place,
                                gpointer data);

/* Works on one thread with a stream of random numbers of its own: the result depends on the seed
 * alone, and other threads may search meanwhile.  Not 0: failed. */
int study_scotch_run (const StudyScotchGraph *graph, uint64_t seed, StudyScotchWork work,
                      gpointer data, SCOTCH_Num *place);

/* What Scotch said last in this thread, "" if nothing since study_scotch_forget(). */
const char *study_scotch_complaint (void);
void study_scotch_forget (void);
