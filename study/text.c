/* text.c - numbers and fields as every table of ours writes them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/text.h"

#include <glib.h>
#include <math.h>
#include <string.h>

const char *
study_number (char text[STUDY_NUMBER_SIZE], double value)
{
  if (isnan (value))
    return strcpy (text, "");
  for (int digits = 15; digits <= 17; digits++) {
    char format[8];

    g_snprintf (format, sizeof format, "%%.%dg", digits);
    g_ascii_formatd (text, STUDY_NUMBER_SIZE, format, value);
    if (g_ascii_strtod (text, NULL) == value)
      break;
  }
  return text;
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
