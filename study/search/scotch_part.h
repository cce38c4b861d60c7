/* scotch_part.h - parts of a graph by Scotch: to start from, and to compare with.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/group/cost_graph.h"

/* part[task]; sizes differ by one at most: what Scotch puts into a part beyond its size is moved.  The
 * same for the same seed.  The caller g_free()s; NULL and *error (STUDY_ERROR_SEARCH) when Scotch
 * cannot. */
uint32_t *
study_scotch_part (const PredictCostGraph *graph, uint32_t n_parts, uint64_t seed, GError **error);
