/* plan_keys.c - values of a study file's keys.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/plan/plan_keys.h"

#include "topology/keyfile.h"

#include <string.h>

gboolean
study_plan_file_blame (const StudyPlanFile *file, const char *group, const char *key,
                       GError **error)
{
  g_autofree char *where = topo_keyfile_where (file->path, group, key);

  g_prefix_error (error, "%s: %s.%s: ", where, group, key);
  return FALSE;
}

gboolean
study_plan_refuse (const StudyPlanFile *file, const char *group, const char *key, GError **error,
                   const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error_literal (error, STUDY_ERROR, STUDY_ERROR_INPUT, text);
  return study_plan_file_blame (file, group, key, error);
}

/* Whether every backslash of a value begins an escape.  GLib reports two that do not as one error
 * set over another. */
static gboolean
has_good_escapes (const char *value, const char *escapes)
{
  for (; (value = strchr (value, '\\')) != NULL; value += 2)
    if (value[1] == '\0' || strchr (escapes, value[1]) == NULL)
      return FALSE;
  return TRUE;
}

gboolean
study_plan_get_list (const StudyPlanFile *file, const char *group, const char *key, char ***list,
                     GError **error)
{
  g_autofree char *value = g_key_file_get_value (file->keys, group, key, NULL);
  g_auto (GStrv) raw = NULL;
  GPtrArray *members = NULL;

  if (value != NULL && !has_good_escapes (value, "\\;sntr"))
    return study_plan_refuse (
        file, group, key, error,
        "\"%s\" has a backslash that is none of \\\\, \\;, \\s, \\n, \\t, \\r", value);
  if (value != NULL)
    raw = g_key_file_get_string_list (file->keys, group, key, NULL, NULL);
  members = g_ptr_array_new ();
  for (gsize at = 0; raw != NULL && raw[at] != NULL; at++)
    if (*g_strstrip (raw[at]) != '\0')
      g_ptr_array_add (members, g_strdup (raw[at]));
  g_ptr_array_add (members, NULL);
  *list = (char **) g_ptr_array_free (members, FALSE);
  return TRUE;
}

/* As it is written when it has backslashes that are no escapes, as in a path. */
char *
study_plan_get_text (const StudyPlanFile *file, const char *group, const char *key)
{
  char *text = g_key_file_get_value (file->keys, group, key, NULL);

  if (text != NULL && has_good_escapes (text, "\\sntr")) {
    g_free (text);
    text = g_key_file_get_string (file->keys, group, key, NULL);
  }
  return text != NULL ? g_strstrip (text) : NULL;
}

gboolean
study_plan_get_number (const StudyPlanFile *file, const char *group, const char *key,
                       guint64 lowest, guint64 highest, guint64 *number, GError **error)
{
  g_autofree char *text = study_plan_get_text (file, group, key);

  if (text == NULL || g_ascii_string_to_unsigned (text, 10, lowest, highest, number, NULL))
    return TRUE;
  return study_plan_refuse (file, group, key, error,
                            "expected %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT ", found \"%s\"",
                            lowest, highest, text);
}

gboolean
study_plan_get_flag (const StudyPlanFile *file, const char *group, const char *key, gboolean *flag,
                     GError **error)
{
  g_autofree char *text = study_plan_get_text (file, group, key);

  if (text == NULL)
    return TRUE;
  *flag = !strcmp (text, "true");
  return *flag || !strcmp (text, "false") ||
         study_plan_refuse (file, group, key, error, "expected true or false, found \"%s\"", text);
}

gboolean
study_plan_get_integers (const StudyPlanFile *file, const char *group, const char *key, int highest,
                         GArray *numbers, GError **error)
{
  g_auto (GStrv) list = NULL;
  const int otherwise = G_MININT;

  if (!study_plan_get_list (file, group, key, &list, error))
    return FALSE;
  for (char **text = list; *text != NULL; text++) {
    guint64 number;
    int value;

    if (!g_ascii_string_to_unsigned (*text, 10, 1, (guint64) highest, &number, NULL))
      return study_plan_refuse (file, group, key, error, "expected 1 to %d, found \"%s\"", highest,
                                *text);
    value = (int) number;
    g_array_append_val (numbers, value);
  }
  if (numbers->len == 0)
    g_array_append_val (numbers, otherwise);
  return TRUE;
}
