/* recipe_scan.c - reads the text of recipes and points at what is wrong in it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/recipe/recipe_private.h"

#include <errno.h>
#include <string.h>

/* A piece of the recipe for a message: on one line, whatever is in it. */
static char *
shown (const char *text, gsize length)
{
  g_autofree char *piece = g_strndup (text, length);

  return g_strescape (piece, NULL);
}

gboolean
topo_scan_fail (const TopoScan *scan, const char *where, const char *format, ...)
{
  g_autofree char *message = NULL, *text = shown (scan->text, 200), *there = shown (where, 20);
  va_list arguments;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (*where == '\0')
    g_set_error (scan->error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "mapping \"%s\", at its end: %s", text,
                 message);
  else
    g_set_error (scan->error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                 "mapping \"%s\", column %u, at \"%s\": %s", text,
                 (uint32_t) (where - scan->text) + 1, there, message);
  return FALSE;
}

static void
skip_blanks (TopoScan *scan)
{
  scan->at += strspn (scan->at, " \t");
}

bool
topo_scan_accept (TopoScan *scan, char expected)
{
  skip_blanks (scan);
  if (*scan->at != expected)
    return false;
  scan->at++;
  return true;
}

gboolean
topo_scan_expect (TopoScan *scan, char expected)
{
  if (topo_scan_accept (scan, expected))
    return TRUE;
  return topo_scan_fail (scan, scan->at, "expected '%c'", expected);
}

gboolean
topo_scan_end (TopoScan *scan)
{
  skip_blanks (scan);
  if (*scan->at == '\0')
    return TRUE;
  return topo_scan_fail (scan, scan->at, "expected the end");
}

TopoWord
topo_scan_word (TopoScan *scan)
{
  TopoWord word = { 0 };
  gsize length = 0;

  skip_blanks (scan);
  word.start = scan->at;
  if (g_ascii_isalpha (*scan->at))
    while (g_ascii_isalnum (*scan->at)) {
      if (length + 1 < sizeof word.text)
        word.text[length++] = *scan->at;
      scan->at++;
    }
  return word;
}

gboolean
topo_scan_number (TopoScan *scan, int64_t least, int64_t most, int64_t *number)
{
  char *end;
  gint64 value;

  skip_blanks (scan);
  if (!g_ascii_isdigit (scan->at[0]) && !(scan->at[0] == '-' && g_ascii_isdigit (scan->at[1])))
    return topo_scan_fail (scan, scan->at, "expected a number");
  errno = 0;
  value = g_ascii_strtoll (scan->at, &end, 10);
  if (errno == ERANGE || value < least || value > most || g_ascii_isalpha (*end))
    return topo_scan_fail (scan, scan->at,
                           "expected a number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                           least, most);
  scan->at = end;
  *number = value;
  return TRUE;
}

gboolean
topo_scan_no_arguments (TopoScan *scan)
{
  return !topo_scan_accept (scan, '(') || topo_scan_expect (scan, ')');
}
