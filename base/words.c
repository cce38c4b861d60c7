/* words.c - the known word that a misspelt one was probably meant to be.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"

#include <string.h>

#define MAX_EDITS 3
/* Shorter beginnings fit too many words. */
#define MIN_BEGINNING 3

/* Edits that make one word the other: a letter inserted, removed or replaced, or two neighbours
 * exchanged (optimal string alignment: no letter is edited twice). */
static guint
edit_distance (const char *left, const char *right)
{
  gsize n = strlen (right) + 1;
  g_autofree guint *rows = g_new0 (guint, n * 3);
  guint *row = rows, *above = rows + n, *before = rows + 2 * n;

  for (gsize j = 0; j < n; j++)
    row[j] = (guint) j;
  for (gsize i = 0; left[i] != '\0'; i++) {
    guint *free_row = before;

    before = above;
    above = row;
    row = free_row;
    row[0] = (guint) i + 1;
    for (gsize j = 0; right[j] != '\0'; j++) {
      guint replaced = above[j] + (left[i] != right[j]);

      row[j + 1] = MIN (replaced, 1 + MIN (above[j + 1], row[j]));
      if (i > 0 && j > 0 && left[i] == right[j - 1] && left[i - 1] == right[j])
        row[j + 1] = MIN (row[j + 1], before[j - 1] + 1);
    }
  }
  return row[n - 1];
}

const char *
base_nearest (const char *word, const char *const *words)
{
  gsize length = strlen (word);
  guint most = (guint) MIN (length / 3, MAX_EDITS), best_distance = most + 1;
  g_autofree char *small = g_ascii_strdown (word, -1);
  const char *best = NULL, *completed = NULL;
  guint n_completed = 0;

  for (const char *const *known = words; *known != NULL; known++) {
    g_autofree char *small_known = g_ascii_strdown (*known, -1);
    guint distance = edit_distance (small, small_known);

    if (distance < best_distance && distance < length) {
      best = *known;
      best_distance = distance;
    }
    if (length >= MIN_BEGINNING && g_str_has_prefix (*known, word)) {
      completed = *known;
      n_completed++;
    }
  }
  if (best == NULL && n_completed == 1)
    best = completed;
  return best;
}

char *
base_did_you_mean (const char *word, const char *const *words)
{
  const char *near = base_nearest (word, words);

  return near != NULL ? g_strdup_printf ("; did you mean %s?", near) : g_strdup ("");
}

char *
base_count (guint n, const char *noun)
{
  return g_strdup_printf ("%u %s%s", n, noun, n == 1 ? "" : "s");
}
