/* ti_text.c - texts of time-independent traces: their lines, lists of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/ti/ti_text.h"

#include "traces/trace_file.h"
#include "traces/trace.h"

#include <string.h>

TiText *
ti_text_open (const char *path, GError **error)
{
  GBytes *bytes = trace_file_load (path, error);
  TiText *text;

  if (bytes == NULL)
    return NULL;
  text = g_new (TiText, 1);
  text->name = g_path_get_basename (path);
  text->bytes = bytes;
  text->data = g_bytes_get_data (bytes, &text->size);
  return text;
}

void
ti_text_close (TiText *text)
{
  if (text == NULL)
    return;
  g_bytes_unref (text->bytes);
  g_free (text->name);
  g_free (text);
}

/* The line at *at without its end; *at moves to the next.  FALSE at the end. */
gboolean
ti_next_line (const char *data, gsize size, gsize *at, const char **line, gsize *length)
{
  const char *end;

  if (*at >= size)
    return FALSE;
  *line = data + *at;
  end = memchr (*line, '\n', size - *at);
  *length = end != NULL ? (gsize) (end - *line) : size - *at;
  *at += *length + (end != NULL);
  return TRUE;
}

static gboolean
is_blank (char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static gsize
skip_blanks (const char *line, gsize length)
{
  gsize i = 0;

  while (i < length && is_blank (line[i]))
    i++;
  return i;
}

gboolean
ti_line_is_empty (const char *line, gsize length)
{
  gsize i = skip_blanks (line, length);

  return i == length || line[i] == '#';
}

/* The rank in front of a line; *rest is where it ends. */
gboolean
ti_line_rank (const char *line, gsize length, uint32_t *rank, gsize *rest)
{
  gsize i = skip_blanks (line, length), begin = i;
  uint32_t value = 0;

  for (; i < length && g_ascii_isdigit (line[i]) && value < TI_MAX_RANKS; i++)
    value = value * 10 + (uint32_t) (line[i] - '0');
  if (i == begin || value >= TI_MAX_RANKS || (i < length && !is_blank (line[i])))
    return FALSE;
  *rank = value;
  *rest = i;
  return TRUE;
}

/* The first line that is neither empty nor a comment. */
gboolean
ti_first_line (const char *data, gsize size, const char **line, gsize *length)
{
  gsize at = 0;

  while (ti_next_line (data, size, &at, line, length))
    if (!ti_line_is_empty (*line, *length))
      return TRUE;
  return FALSE;
}

gboolean
ti_line_is_action (const char *line, gsize length)
{
  uint32_t rank;
  gsize i;

  if (!ti_line_rank (line, length, &rank, &i))
    return FALSE;
  i += skip_blanks (line + i, length - i);
  return i < length && g_ascii_isalpha (line[i]);
}

uint64_t
ti_line_number (const TiText *text, gsize at)
{
  const char *end = text->data + MIN (at, text->size);
  uint64_t number = 1;

  for (const char *c = text->data; c < end && (c = memchr (c, '\n', (gsize) (end - c))) != NULL;
       c++)
    number++;
  return number;
}

gboolean
ti_bad_line (const char *name, uint64_t number, const char *line, gsize length, const char *what,
             GError **error)
{
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT,
               "%s:%" G_GUINT64_FORMAT ": %s, found \"%.*s\"", name, number, what,
               (int) MIN (length, 80), line);
  return FALSE;
}

/* Paths in a list count from the current folder, as for SimGrid, else from
 * the list's; a file that was moved together with its list is found by its
 * name alone. */
char *
ti_list_find (const char *list, const char *entry)
{
  g_autofree char *folder = g_path_get_dirname (list);
  g_autofree char *name = g_path_get_basename (entry);
  g_autofree char *beside = g_build_filename (folder, entry, NULL);
  g_autofree char *alone = g_build_filename (folder, name, NULL);
  char *found = trace_file_find (entry);

  if (found == NULL && !g_path_is_absolute (entry))
    found = trace_file_find (beside);
  return found != NULL ? found : trace_file_find (alone);
}

/* The files that a list names, in its order. */
GPtrArray *
ti_list_read (const char *path, GError **error)
{
  g_autoptr (GPtrArray) listed = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (TiText) list = ti_text_open (path, error);
  const char *line;
  gsize at = 0, length;

  if (list == NULL)
    return NULL;
  for (uint32_t number = 1; ti_next_line (list->data, list->size, &at, &line, &length); number++) {
    g_autofree char *entry = NULL;
    char *found;

    if (ti_line_is_empty (line, length))
      continue;
    entry = g_strstrip (g_strndup (line, length));
    found = ti_list_find (path, entry);
    if (found == NULL) {
      g_set_error (error, TRACE_ERROR, TRACE_ERROR_OPEN, "%s:%u: no such file: \"%s\"", path,
                   number, entry);
      return NULL;
    }
    g_ptr_array_add (listed, found);
  }
  return g_steal_pointer (&listed);
}
