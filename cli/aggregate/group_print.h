/* group_print.h - groups of ranks for people and for programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/aggregate/group_costs.h"
#include "cli/output.h"
#include "predictors/group/grouping.h"

/* Parts of parts: sockets of a node, dies of a socket. */
#define CLI_GROUP_MAX_LEVELS 2

typedef struct {
  const char *source, *method;
  uint64_t seed;
  uint32_t n_parts;
  const CliGroupCosts *costs;
  const PredictGroups *groups;
  uint32_t n_levels;
  uint32_t *level[CLI_GROUP_MAX_LEVELS]; /* [rank] which socket of the node, which die of that */
} CliGroupSheet;

/* CSV: rank,part[,socket[,die]], a line per rank; JSON: one object; table: a line per part and what
 * the starts came to. */
void cli_group_print (FILE *out, const CliGroupSheet *sheet, CliFormat format);
