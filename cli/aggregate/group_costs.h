/* group_costs.h - what it costs to part ranks: bytes, or the times of their messages.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/group/edge_cost.h"
#include "study/search/matrix.h"

typedef struct {
  uint32_t n_ranks;
  const char *kind;       /* "bytes", "mended" or "literal" */
  PredictCostGraph graph; /* borrows from one of the next two */
  StudyGraph *bytes;
  PredictCostRows *rows;
  int exponent; /* costs of the graph are the true ones times 2^exponent */
  double c;     /* of equation 4; NaN: costs are bytes */
} CliGroupCosts;

void cli_group_costs_clear (CliGroupCosts *costs);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliGroupCosts, cli_group_costs_clear)

/* Bytes both ways; ranks beyond those of the matrix are silent. */
void cli_group_costs_of_bytes (CliGroupCosts *costs, const StudyMatrix *matrix, uint32_t n_ranks);

/* Equation 4, from the ping-pongs of a CSV file with the columns bytes, within_us and between_us.
 * All messages of a pair in one direction are taken to have their mean size. */
gboolean cli_group_costs_of_times (CliGroupCosts *costs, const StudyMatrix *matrix,
                                   uint32_t n_ranks, const char *times_path, uint32_t n_parts,
                                   PredictCostForm form, GError **error);

/* A cost of the graph in its true unit. */
double cli_group_cost (const CliGroupCosts *costs, int64_t cost);
