/* pair_times.h - what all messages of each pair of ranks take.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/group/cost_graph.h"
#include "sim/edges.h"

/* Of the pairs that communicate, both ways, sorted by a, then b; all messages of a pair in one
 * direction are taken to have their mean size.  The caller frees. */
PredictPairTime *study_pair_times (const SimEdges *messages, uint32_t n_ranks,
                                   const PredictPingPong *times, uint64_t *n_pairs);
