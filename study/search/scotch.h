/* scotch.h - mappings by Scotch's dual recursive bipartitioning.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Scotch gets the nodes, not their slots: a torus of up to five dimensions that
 * are longer than one node as such, meshes of up to three dimensions likewise, trees
 * whose switches have equally many nodes as trees, and any other machine of up
 * to STUDY_SCOTCH_MAX_NODES nodes as the graph of its nearest nodes.  (Version 7.0.3
 * crashes on tori of six dimensions and takes a mesh of four for a torus.)  It
 * balances the nodes; ranks that do not fit the slots of their node are moved.  A build without
 * Scotch refuses everything. */
#pragma once

#include "predictors/group/cost_graph.h"
#include "study/search/slot_placement.h"

/* Of machines that are described as a graph; Scotch's time grows with the square. */
#define STUDY_SCOTCH_MAX_NODES 2048u

/* slot[rank]; the same for the same seed.  The caller g_free()s; NULL and *error
 * (STUDY_ERROR_SEARCH) when Scotch cannot. */
uint32_t *study_scotch_map (const StudyProblem *problem, const TopoMachine *machine, uint64_t seed,
                            GError **error);

/* --- Parts of a graph by Scotch: to start from, and to compare with --- */

/* part[task]; sizes differ by one at most: tasks beyond the size of their part are moved.  The
 * same for the same seed.  The caller g_free()s; NULL and *error (STUDY_ERROR_SEARCH) when Scotch
 * cannot. */
uint32_t *
study_scotch_part (const PredictCostGraph *graph, uint32_t n_parts, uint64_t seed, GError **error);
