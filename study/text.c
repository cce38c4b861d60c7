/* text.c - numbers and fields as every table of ours writes them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/text.h"

#include "base/decimal.h"

#include <glib.h>
#include <string.h>

G_STATIC_ASSERT (STUDY_NUMBER_SIZE >= BASE_DECIMAL_SIZE);

const char *
study_number (char text[STUDY_NUMBER_SIZE], double value)
{
  return base_decimal_print (text, value);
}

char *
study_count (guint n, const char *noun)
{
  return g_strdup_printf ("%u %s%s", n, noun, n == 1 ? "" : "s");
}

static gboolean csv_is_safe;

void
study_csv_make_safe (void)
{
  csv_is_safe = TRUE;
}

gboolean
study_csv_is_safe (void)
{
  return csv_is_safe;
}

static gboolean
is_formula (const char *text)
{
  char *end;

  if (*text == '\0' || strchr ("=+-@\t\r", *text) == NULL)
    return FALSE;
  g_ascii_strtod (text, &end);
  return end == text || *end != '\0';
}

void
study_csv_field (FILE *out, const char *text)
{
  g_autofree char *safe = csv_is_safe && is_formula (text) ? g_strconcat ("'", text, NULL) : NULL;

  if (safe != NULL)
    text = safe;
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
