/* scotch.h - mappings by Scotch's dual recursive bipartitioning.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Scotch is told the nodes, not their slots: a torus of up to five dimensions that
 * are longer than one node as such, meshes of up to three dimensions likewise, trees
 * whose switches have equally many nodes as trees, and any other machine of up
 * to STUDY_SCOTCH_MAX_NODES nodes as the graph of its nearest nodes.  (Version 7.0.3
 * crashes on tori of six dimensions and takes a mesh of four for a torus.)  It
 * balances the nodes; what it puts on a node beyond its slots is moved. */
#pragma once

#include "predictors/group/cost_graph.h"
#include "study/search/slot_placement.h"

/* Of machines that must be told as a graph; Scotch's time grows with the square. */
#define STUDY_SCOTCH_MAX_NODES 2048u

/* The same with every rank in a slot. */
uint32_t *study_scotch_map (const StudyProblem *problem, const TopoMachine *machine, uint64_t seed,
                            GError **error);

/* --- Parts of a graph by Scotch: to start from, and to compare with --- */

/* part[task]; sizes differ by one at most: what Scotch puts into a part beyond its size is moved.  The
 * same for the same seed.  The caller g_free()s; NULL and *error (STUDY_ERROR_SEARCH) when Scotch
 * cannot. */
uint32_t *
study_scotch_part (const PredictCostGraph *graph, uint32_t n_parts, uint64_t seed, GError **error);
