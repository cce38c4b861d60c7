/* model_fixture.h - small models, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/model/model.h"

/* The first four features of Friedman's functions. */
extern const char *const model_features[];

/* Of these features, target y, ten trees at most; not evaluated. */
PredictRecipe model_recipe (PredictMethod method);

/* No error may happen in these two. */
PredictModel *model_train (const PredictTable *table, const PredictRecipe *recipe);
PredictAnswer model_apply (const PredictModel *model, const PredictTable *table, double level);

/* What would stand in the file; the caller frees. */
char *model_text (const PredictModel *model);

/* From a file with the first n bytes of the text; -1: all. */
PredictModel *model_read_text (const char *text, gssize n, GError **error);
