/* ipc_fixture.h - counted programs whose law is known, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/aggregation/ipc_model.h"

/* "4", "5": the sample patterns. */
extern const char *const ipc_samples[];
/* "l2", "memory". */
extern const char *const ipc_events[];

/* From a file with this text. */
PredictTable *ipc_table (const char *text, GError **error);

/* Programs in the eight patterns of the paper's node: per_class[c] of each class of IPC.  The law is one of
 * cycles, not of the model: an instruction costs its own cycles, and those of its misses, which a shared
 * cache makes more and a shared bus dearer.  Every number is measured with a relative error of the
 * standard deviation `noise`. */
PredictTable *
ipc_contention_table (const guint per_class[PREDICT_IPC_N_CLASSES], double noise, uint64_t seed);

/* The same rows, in which the IPC of all patterns but the samples is the sum, with coefficients that
 * differ by pattern and class, of the constant and the nine terms. */
PredictTable *ipc_bilinear_table (const guint per_class[PREDICT_IPC_N_CLASSES], uint64_t seed);

/* The text of a model's file, g_free(), and the model of a text. */
char *ipc_model_text (const PredictIpcModel *model);
gpointer ipc_model_read_text (const char *text, GError **error);
