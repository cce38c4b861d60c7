/* bound_print.h - bounds of communication as `hopcast aggregate bound` prints them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/output.h"
#include "predictors/model/scores.h"
#include "study/aggregate/bound_replay.h"
#include "topology/mapping/aggregation.h"

/* Of one pattern. */
typedef struct {
  const TopoPattern *pattern;
  double path_s, sum_s, simulated_s; /* NaN: excluded, or not simulated */
  double compute_s;                  /* of the rank of path_s */
  uint64_t n_messages, n_collectives, n_extrapolated, n_substituted;
  uint32_t n_classes;
} CliBoundRow;

typedef struct {
  const char *trace, *machine, *table;
  uint32_t n_ranks;
  bool is_simulated;
  const CliBoundRow *rows; /* [n] */
  guint n;
} CliBoundSheet;

void cli_print_bounds (FILE *out, const CliBoundSheet *sheet, CliFormat format);
