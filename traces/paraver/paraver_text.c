/* paraver_text.c - lines of a Paraver text, and their fields.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/trace_file.h"
#include "traces/paraver/paraver_format.h"

#include <string.h>

ParaverText *
paraver_text_open (const char *path, GError **error)
{
  GBytes *bytes = trace_file_load (path, error);
  ParaverText *text;
  gsize n;

  if (bytes == NULL)
    return NULL;
  text = g_new0 (ParaverText, 1);
  text->name = g_path_get_basename (path);
  text->bytes = bytes;
  text->at = g_bytes_get_data (bytes, &n);
  text->end = text->at + n;
  return text;
}

void
paraver_text_close (ParaverText *text)
{
  if (text == NULL)
    return;
  g_bytes_unref (text->bytes);
  g_free (text->name);
  g_free (text);
}

gboolean
paraver_text_next (ParaverText *text)
{
  const char *newline;

  if (text->at == text->end)
    return FALSE;
  newline = memchr (text->at, '\n', (gsize) (text->end - text->at));
  text->line = text->field = text->at;
  text->line_end = newline != NULL ? newline : text->end;
  text->at = newline != NULL ? newline + 1 : text->end;
  if (text->line_end > text->line && text->line_end[-1] == '\r')
    text->line_end--;
  text->number++;
  return TRUE;
}

gboolean
paraver_take_number (ParaverText *text, uint64_t max, uint64_t *value)
{
  const char *begin = text->field;
  uint64_t number = 0;

  for (; text->field < text->line_end && g_ascii_isdigit (*text->field); text->field++) {
    uint64_t digit = (uint64_t) (*text->field - '0');

    if (number > (max - digit) / 10 || digit > max)
      return FALSE;
    number = number * 10 + digit;
  }
  *value = number;
  return text->field > begin;
}

gboolean
paraver_take (ParaverText *text, char c)
{
  if (text->field == text->line_end || *text->field != c)
    return FALSE;
  text->field++;
  return TRUE;
}

gboolean
paraver_take_field (ParaverText *text, uint64_t max, uint64_t *value)
{
  return paraver_take (text, ':') && paraver_take_number (text, max, value);
}

gboolean
paraver_bad_line (const ParaverText *text, TraceError code, const char *what, GError **error)
{
  g_set_error (error, TRACE_ERROR, (gint) code, "%s:%" G_GUINT64_FORMAT ": %s, found \"%.*s\"",
               text->name, text->number, what, (int) MIN (text->line_end - text->line, 80),
               text->line);
  return FALSE;
}
