/* cost_graph_fixture.h - graphs and what holds of their parts, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/group/cost_graph.h"
#include "base/random.h"

/* Edges of costs 1 to 99, each pair with the probability `share`. */
PredictCostRows *cost_graph_random (uint32_t n, double share, BaseRandom *random);

/* Parts differ by one task at most. */
void cost_graph_assert_sizes (const uint32_t *part, uint32_t n, uint32_t n_parts);
