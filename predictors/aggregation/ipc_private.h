/* ipc_private.h - between the files of the IPC model.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/aggregation/ipc_model.h"
#include "predictors/table/samples.h"

#define PREDICT_IPC_SCHEMA "hopcast.ipc/1"

/* With its names and terms, and without targets.  NULL: more terms than there may be. */
PredictIpcModel *predict_ipc_model_new (const char *const *samples, const char *const *events);

/* The terms of the programs with chosen[program] (NULL: all) as features, without a target.  NULL and
 * *error: a term, a product of two rates, is too large for single precision. */
PredictSamples *predict_ipc_samples (const PredictIpcModel *model, const PredictIpcPhases *phases,
                                     const gboolean *chosen, GError **error);
