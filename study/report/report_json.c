/* report_json.c - JSON text that may stand in a page.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/report/report_json.h"

#include "study/text.h"

#include <math.h>

/* '<' could end the script that the text stands in, '&' could be taken for an
 * entity when the page is treated as XML. */
static gboolean
must_escape (gunichar character)
{
  return character < 0x20 || character == '"' || character == '\\' || character == '<' ||
         character == '>' || character == '&' || character == 0x2028 || character == 0x2029;
}

void
study_json_string (GString *json, const char *text)
{
  g_autofree char *valid = text ? g_utf8_make_valid (text, -1) : NULL;

  if (!text) {
    g_string_append (json, "null");
    return;
  }
  g_string_append_c (json, '"');
  for (const char *at = valid; *at; at = g_utf8_next_char (at)) {
    gunichar character = g_utf8_get_char (at);

    if (must_escape (character))
      g_string_append_printf (json, "\\u%04x", character);
    else
      g_string_append_unichar (json, character);
  }
  g_string_append_c (json, '"');
}

void
study_json_number (GString *json, double value)
{
  char text[STUDY_NUMBER_SIZE];

  g_string_append (json, isfinite (value) ? study_number (text, value) : "null");
}

void
study_json_next (GString *json)
{
  char last = json->len > 0 ? json->str[json->len - 1] : '[';

  if (last != '[' && last != '{')
    g_string_append_c (json, ',');
}

void
study_json_member (GString *json, const char *name)
{
  study_json_next (json);
  study_json_string (json, name);
  g_string_append_c (json, ':');
}

void
study_json_member_string (GString *json, const char *name, const char *text)
{
  study_json_member (json, name);
  study_json_string (json, text);
}

void
study_json_member_number (GString *json, const char *name, double value)
{
  study_json_member (json, name);
  study_json_number (json, value);
}
