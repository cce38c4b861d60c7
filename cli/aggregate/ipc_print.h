/* ipc_print.h - what an IPC model has learned, and what it predicts, for people and programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/print/output.h"
#include "predictors/aggregation/ipc_model.h"

/* Every function of the model: CSV and tables have a line for each. */
void cli_ipc_print_model (FILE *out, const PredictIpcModel *model, CliFormat format);

/* On standard error: classes with fewer programs than coefficients, and classes that are predicted by
 * what was learned from all. */
void cli_ipc_warn (const PredictIpcModel *model);

/* A line for each program and pattern.  Where the table knows an IPC that was predicted, also that and
 * the error; CSV has the errors' mean only in cli_ipc_tell_errors(). */
void cli_ipc_print_answer (FILE *out, const PredictIpcModel *model, const PredictIpcAnswer *answer,
                           const char *source, CliFormat format);

/* On standard error, when there are any: how many, mean, deviation, largest. */
void cli_ipc_tell_errors (const PredictIpcModel *model, const PredictIpcAnswer *answer);
