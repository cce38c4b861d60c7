/* warnings.c - warnings about a trace, one line for many ranks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/warnings.h"

#include "cli/print/terminal.h"

#include <stdio.h>
#include <string.h>

/* The end of the first "rank N" in the text; NULL when there is none. */
static const char *
after_rank (const char *text)
{
  for (const char *at = strstr (text, "rank "); at; at = strstr (at + 1, "rank ")) {
    const char *number = at + strlen ("rank ");

    if (g_ascii_isdigit (*number) && (at == text || !g_ascii_isalpha (at[-1])))
      return number + strspn (number, "0123456789");
  }
  return NULL;
}

GPtrArray *
cli_warnings_summarize (const GPtrArray *warnings)
{
  g_autoptr (GHashTable) alike = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) keys = g_ptr_array_new_with_free_func (g_free);
  GPtrArray *lines = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < warnings->len; i++) {
    const char *text = warnings->pdata[i], *after = after_rank (text);
    const char *number = after;
    char *key;
    guint n;

    /* The message without its rank is the key. */
    while (number && number > text && g_ascii_isdigit (number[-1]))
      number--;
    key = after ? g_strdup_printf ("%.*s%s", (int) (number - text), text, after) : g_strdup (text);
    n = GPOINTER_TO_UINT (g_hash_table_lookup (alike, key));
    g_ptr_array_add (keys, key);
    g_hash_table_replace (alike, g_strdup (key), GUINT_TO_POINTER (n + 1));
  }
  for (guint i = 0; i < warnings->len; i++) {
    const char *text = warnings->pdata[i], *after = after_rank (text);
    guint n = GPOINTER_TO_UINT (g_hash_table_lookup (alike, keys->pdata[i]));

    if (n == 0)
      continue; /* part of the line of an earlier message */
    g_ptr_array_add (lines, n == 1 || !after ? g_strdup (text)
                                             : g_strdup_printf ("%.*s and %u more rank%s%s",
                                                                (int) (after - text), text, n - 1,
                                                                n == 2 ? "" : "s", after));
    g_hash_table_remove (alike, keys->pdata[i]);
  }
  return lines;
}

void
cli_warnings_tell (const GPtrArray *warnings)
{
  g_autoptr (GPtrArray) lines = cli_warnings_summarize (warnings);

  for (guint i = 0; i < lines->len; i++)
    cli_printf (stderr, "hopcast: warning: %s\n", (const char *) lines->pdata[i]);
}
