/* place.c - where in a text something is wrong.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/table/place.h"

gboolean
predict_fail_at_v (const PredictPlace *place, guint column, GError **error, const char *format,
                   va_list arguments)
{
  g_autofree char *message = g_strdup_vprintf (format, arguments);

  if (place->source == NULL)
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_MODEL, "column %u: %s", column, message);
  else
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_MODEL, "%s:%u:%u: %s", place->source,
                 place->line, column, message);
  return FALSE;
}

gboolean
predict_fail_at (const PredictPlace *place, guint column, GError **error, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  predict_fail_at_v (place, column, error, format, arguments);
  va_end (arguments);
  return FALSE;
}
