/* plan_values.c - {NAME} in the texts of a study file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/plan/plan_values.h"

#include "base/words.h"
#include "study/study_error.h"
#include "study/text.h"

#include <string.h>

static StudyValue *
value_at (const StudyValues *values, guint at)
{
  return &g_array_index (values->all, StudyValue, at);
}

static int
find (const StudyValues *values, const char *name)
{
  for (guint at = 0; at < values->all->len; at++)
    if (!strcmp (value_at (values, at)->name, name))
      return (int) at;
  return -1;
}

static void
clear_value (gpointer data)
{
  StudyValue *value = data;

  g_free (value->name);
  g_strfreev (value->values);
}

StudyValues
study_values_new (void)
{
  StudyValues values = { g_array_new (FALSE, TRUE, sizeof (StudyValue)) };

  g_array_set_clear_func (values.all, clear_value);
  return values;
}

void
study_values_clear (StudyValues *values)
{
  g_clear_pointer (&values->all, g_array_unref);
}

void
study_values_add (StudyValues *values, const char *name, char **list)
{
  StudyValue value = { g_strdup (name), list, FALSE };

  g_array_append_val (values->all, value);
}

gboolean
study_values_has (const StudyValues *values, const char *name)
{
  return find (values, name) >= 0;
}

/* The name in a {NAME} at or behind *at, which moves to its brace; *end behind the
 * other one.  NULL: no more.  What is in braces and no word is left alone. */
static char *
next_name (const char **at, const char **end)
{
  for (const char *open = strchr (*at, '{'); open != NULL; open = strchr (open + 1, '{')) {
    gsize length = 0;

    while (g_ascii_isalnum (open[1 + length]) || open[1 + length] == '-' || open[1 + length] == '_')
      length++;
    if (length == 0 || open[1 + length] != '}')
      continue;
    *at = open;
    *end = open + length + 2;
    return g_strndup (open + 1, length);
  }
  return NULL;
}

static void
refuse_name (const StudyValues *values, const char *name, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  const char *near;

  for (guint at = 0; at < values->all->len; at++)
    g_ptr_array_add (names, value_at (values, at)->name);
  g_ptr_array_add (names, NULL);
  near = base_nearest (name, (const char *const *) names->pdata);
  if (near != NULL)
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "{%s}: there is no group [%s]; did you mean {%s}?", name, name, near);
  else
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "{%s}: there is no group [%s] with values",
                 name, name);
}

int *
study_values_bind (const StudyValues *values, const char *text, GError **error)
{
  g_autofree int *binding = g_new (int, values->all->len + 1);
  const char *end;

  for (guint at = 0; at < values->all->len; at++)
    binding[at] = -1;
  for (char *name; (name = next_name (&text, &end)) != NULL; text = end) {
    g_autofree char *owned = name;
    int at = find (values, name);

    if (at < 0) {
      refuse_name (values, name, error);
      return NULL;
    }
    binding[at] = 0;
    value_at (values, (guint) at)->is_used = TRUE;
  }
  return g_steal_pointer (&binding);
}

gboolean
study_values_next (const StudyValues *values, int *binding)
{
  for (guint left = values->all->len; left > 0; left--) {
    int *wheel = &binding[left - 1];

    if (*wheel < 0)
      continue;
    if (value_at (values, left - 1)->values[++*wheel] != NULL)
      return TRUE;
    *wheel = 0;
  }
  return FALSE;
}

int *
study_values_copy (const StudyValues *values, const int *binding)
{
  return g_memdup2 (binding, (values->all->len + 1) * sizeof *binding);
}

char *
study_values_fill (const StudyValues *values, const char *text, const int *binding)
{
  GString *filled = g_string_new (NULL);
  const char *at = text, *end;

  for (char *name; (name = next_name (&at, &end)) != NULL; text = at = end) {
    int value = find (values, name);

    g_string_append_len (filled, text, at - text);
    g_string_append (filled, value_at (values, (guint) value)->values[binding[value]]);
    g_free (name);
  }
  g_string_append (filled, text);
  return g_string_free (filled, FALSE);
}

gboolean
study_values_agree (const StudyValues *values, const int *left, const int *right)
{
  for (guint at = 0; at < values->all->len; at++)
    if (left[at] >= 0 && right[at] >= 0 && left[at] != right[at])
      return FALSE;
  return TRUE;
}

gboolean
study_values_allow (const StudyValues *values, const int *binding, const char *name, int value)
{
  int at = find (values, name);

  return at < 0 || binding[at] < 0 || binding[at] == value;
}
