/* predict_error.c - the domain of errors about tables, models and settings.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/predict_error.h"

GQuark
predict_error_quark (void)
{
  return g_quark_from_static_string ("hopcast-predict-error");
}
