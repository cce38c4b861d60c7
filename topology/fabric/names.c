/* names.c - lists of names as Slurm writes them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/fabric/names.h"

#include <stdint.h>
#include <string.h>

#define MAX_NAMES  131072u /* in one list */
#define MAX_DIGITS 32      /* of a number in a name, with its leading zeros */
/* A name of a domain has at most 253 bytes; cables of machines are numbered in at most 3 places.
 * Without these limits a line of a file could expand to gigabytes of names, or overflow the
 * stack by recursion. */
#define MAX_NAME_BYTES 255
#define MAX_BRACKETS   8 /* in one name */

/* Expands the first pair of brackets, and then the rest; `brackets` pairs were before it. */
static bool
expand_name (const char *text, guint brackets, GPtrArray *names)
{
  const char *open = strchr (text, '['), *close = strchr (text, ']');
  g_autofree char *prefix = NULL;
  g_autofree char *inside = NULL;
  g_auto (GStrv) ranges = NULL;

  if (open == NULL && close == NULL) {
    gsize length = strlen (text);

    if (length == 0 || length > MAX_NAME_BYTES || names->len == MAX_NAMES)
      return false;
    g_ptr_array_add (names, g_strdup (text));
    return true;
  }
  if (open == NULL || close < open + 2 || open - text > MAX_NAME_BYTES || brackets == MAX_BRACKETS)
    return false;
  prefix = g_strndup (text, (gsize) (open - text));
  inside = g_strndup (open + 1, (gsize) (close - open - 1));
  ranges = g_strsplit (inside, ",", -1);
  for (guint at = 0; ranges[at] != NULL; at++) {
    /* "1-16" or "007"; the first number has the width. */
    int width = (int) strcspn (ranges[at], "-");
    guint64 first, last;
    char *end;

    if (!g_ascii_isdigit (*ranges[at]))
      return false;
    first = last = g_ascii_strtoull (ranges[at], &end, 10);
    if (*end == '-') {
      const char *start = end + 1;

      if (!g_ascii_isdigit (*start))
        return false;
      last = g_ascii_strtoull (start, &end, 10);
    }
    if (*end != '\0' || first > last || last > UINT32_MAX || last - first >= MAX_NAMES ||
        width > MAX_DIGITS)
      return false;
    for (guint64 number = first; number <= last; number++) {
      g_autofree char *name =
          g_strdup_printf ("%s%0*" G_GUINT64_FORMAT "%s", prefix, width, number, close + 1);

      if (!expand_name (name, brackets + 1, names))
        return false;
    }
  }
  return true;
}

/* Commas outside brackets separate the names. */
bool
topo_names_expand (const char *text, GPtrArray *names)
{
  g_autofree char *list = g_strdup (text);
  char *start = list;
  int depth = 0;

  for (char *at = list;; at++) {
    bool ends = *at == '\0';

    depth += (*at == '[') - (*at == ']');
    if (!ends && (*at != ',' || depth > 0))
      continue;
    *at = '\0';
    if (!expand_name (start, 0, names))
      return false;
    if (ends)
      return true;
    start = at + 1;
  }
}
