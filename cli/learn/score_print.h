/* score_print.h - scores as a table, CSV or JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/output.h"
#include "predictors/model/scores.h"

typedef struct {
  const char *name;
  PredictScores scores;
} CliScoreGroup;

typedef struct {
  const char *source, *observed, *predicted;
  const char *group; /* the column; NULL: none */
  const char *rule;  /* how rcc counts ties */
  PredictScores all;
  const CliScoreGroup *groups; /* [n_groups] */
  uint32_t n_groups;
} CliScoreSheet;

void cli_score_print (FILE *out, const CliScoreSheet *sheet, CliFormat format);
