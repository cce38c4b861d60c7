/* static.h - the metrics of a mapping that need no simulated time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/features.h"

/* Of the edges of a communication graph with deterministic routes.  The messages of
 * an edge share its bytes evenly. */
void study_static_features (double features[SIM_N_FEATURES], const RoutePaths *paths,
                            const TopoMapping *mapping, const SimEdges *edges);
