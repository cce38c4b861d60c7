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

guint
study_edit_distance (const char *left, const char *right)
{
  gsize n = strlen (right);
  g_autofree guint *row = g_new (guint, n + 1);

  for (gsize j = 0; j <= n; j++)
    row[j] = (guint) j;
  for (gsize i = 0; left[i]; i++) {
    guint diagonal = row[0];

    row[0] = (guint) i + 1;
    for (gsize j = 0; j < n; j++) {
      guint replaced = diagonal + (left[i] != right[j]);

      diagonal = row[j + 1];
      row[j + 1] = MIN (replaced, 1 + MIN (diagonal, row[j]));
    }
  }
  return row[n];
}

const char *
study_nearest (const char *word, const char *const *words)
{
  const char *best = NULL;
  guint best_distance = 4;

  for (; *words != NULL; words++) {
    guint distance = study_edit_distance (word, *words);

    if (distance < best_distance && distance < strlen (word)) {
      best = *words;
      best_distance = distance;
    }
  }
  return best;
}
