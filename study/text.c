/* text.c - numbers and fields as every table of ours writes them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/text.h"

#include "predictors/decimal.h"

#include <glib.h>
#include <string.h>

G_STATIC_ASSERT (STUDY_NUMBER_SIZE >= PREDICT_DECIMAL_SIZE);

const char *
study_number (char text[STUDY_NUMBER_SIZE], double value)
{
  return predict_decimal_print (text, value);
}

char *
study_count (guint n, const char *noun)
{
  return g_strdup_printf ("%u %s%s", n, noun, n == 1 ? "" : "s");
}

void
study_csv_field (FILE *out, const char *text)
{
  if (!strpbrk (text, ",\"\r\n")) {
    fputs (text, out);
    return;
  }
  fputc ('"', out);
  for (; *text; text++) {
    if (*text == '"')
      fputc ('"', out);
    fputc (*text, out);
  }
  fputc ('"', out);
}
