/* error.c - errors about texts from outside.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* Characters of a quoted text. */
#define MAX_QUOTED 60

GQuark
base_error_quark (void)
{
  return g_quark_from_static_string ("hopcast-base-error");
}

gboolean
base_fail_at_v (const BasePlace *place, guint column, GError **error, const char *format,
                va_list arguments)
{
  g_autofree char *message = g_strdup_vprintf (format, arguments);

  if (place->source == NULL)
    g_set_error (error, BASE_ERROR, BASE_ERROR_TEXT, "column %u: %s", column, message);
  else
    g_set_error (error, BASE_ERROR, BASE_ERROR_TEXT, "%s:%u:%u: %s", place->source, place->line,
                 column, message);
  return FALSE;
}

gboolean
base_fail_at (const BasePlace *place, guint column, GError **error, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  base_fail_at_v (place, column, error, format, arguments);
  va_end (arguments);
  return FALSE;
}

char *
base_quote (const char *text)
{
  GString *quoted = g_string_new ("\"");

  for (guint n = 0; *text != '\0' && n < MAX_QUOTED; n++) {
    gunichar character = g_utf8_get_char (text);

    g_string_append_unichar (quoted, g_unichar_iscntrl (character) ? ' ' : character);
    text = g_utf8_next_char (text);
  }
  g_string_append (quoted, *text != '\0' ? "...\"" : "\"");
  return g_string_free (quoted, FALSE);
}

char *
base_parser_reason (const GError *cause, guint *line)
{
  const char *text = cause->message;
  char *reason;
  int length = 0;
  guint column;

  *line = 0;
  /* GLib: "Error on line 3 char 1: ..." or "Error on line 3: ..."; JSON-GLib: "<data>:3:1: Parse
   * error: ...".  Without a match nothing but *line may have been written. */
  if (sscanf (text, "Error on line %u char %u: %n", line, &column, &length) < 2 || length == 0)
    if (sscanf (text, "<data>:%u:%u: %n", line, &column, &length) < 2 || length == 0)
      if (sscanf (text, "Error on line %u: %n", line, &length) < 1)
        length = 0;
  if (length == 0)
    *line = 0;
  text += length;
  if (g_str_has_prefix (text, "Parse error: "))
    text += strlen ("Parse error: ");
  reason = g_strdelimit (g_strdup (text), "\n", ' ');
  reason[0] = g_ascii_tolower (reason[0]);
  return g_strchomp (reason);
}
