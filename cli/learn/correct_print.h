/* correct_print.h - a mended model, for people and programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/output.h"
#include "predictors/correction/correction.h"

/* All borrowed. */
typedef struct {
  const PredictCorrectionData *data;
  const PredictCorrectionSettings *settings;
  const PredictCorrection *correction;
} CliCorrection;

/* "take the term", "take the refitted model" or "take neither". */
const char *cli_correction_verdict (const PredictCorrection *correction);

/* Errors before and after, the formula (infix, LaTeX, C), parameters, how many trials were better.
 * JSON has every trial as well. */
void cli_correction_print (FILE *out, const CliCorrection *shown, CliFormat format);

/* CSV: set, point, observed, original, corrected (empty when there is no mended model). */
void cli_correction_print_points (FILE *out, const CliCorrection *shown);
