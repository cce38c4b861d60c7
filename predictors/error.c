/* error.c - see error.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/error.h"

G_DEFINE_QUARK (predict-error-quark, predict_error)
