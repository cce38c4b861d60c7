/* keyfile.c - GLib key files, with the line numbers that GLib does not keep.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/keyfile.h"

#include "base/file.h"
#include "topology/machine.h"

#include <string.h>

/* The name in "[name]", NULL when the line is not the head of a group. */
static char *
group_of_line (const char *line)
{
  size_t length = strlen (line);

  if (length < 3 || line[0] != '[' || line[length - 1] != ']')
    return NULL;
  return g_strndup (line + 1, length - 2);
}

/* The key in "key = value", NULL when the line is not of this form. */
static char *
key_of_line (const char *line)
{
  const char *equals = strchr (line, '=');

  if (equals == NULL || equals == line)
    return NULL;
  return g_strchomp (g_strndup (line, (gsize) (equals - line)));
}

GKeyFile *
topo_keyfile_load (const char *path, GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GError) cause = NULL;
  g_autofree char *text = NULL, *group = NULL;
  g_auto (GStrv) lines = NULL;
  gsize length;

  if (!base_file_read (path, &text, &length, &cause)) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_FILE, "%s", cause->message);
    return NULL;
  }
  if (!g_utf8_validate (text, (gssize) length, NULL)) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s: not a text file", path);
    return NULL;
  }
  lines = g_strsplit (text, "\n", -1);
  for (guint at = 0; lines[at] != NULL; at++) {
    const char *line = g_strstrip (lines[at]);
    g_autofree char *head = group_of_line (line);
    g_autofree char *key = head == NULL ? key_of_line (line) : NULL;

    if (line[0] == '\0' || line[0] == '#')
      continue;
    if (head != NULL) {
      g_free (group);
      group = g_steal_pointer (&head);
    } else if (key == NULL || group == NULL) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s:%u: expected %s, found \"%s\"", path,
                   at + 1, group == NULL ? "[group]" : "[group] or key = value", line);
      return NULL;
    } else if (!g_hash_table_add (seen, g_strdup_printf ("%s]%s", group, key))) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s:%u: \"%s\" is set twice in [%s]", path,
                   at + 1, key, group);
      return NULL;
    }
  }
  if (g_key_file_load_from_data (file, text, length, G_KEY_FILE_NONE, NULL))
    return g_steal_pointer (&file);

  /* GLib refuses the text without a line number: finds the first line that it refuses alone. */
  for (guint at = 0; lines[at] != NULL; at++) {
    g_autoptr (GKeyFile) alone = g_key_file_new ();
    g_autofree char *line = g_strconcat (*lines[at] == '[' ? "" : "[group]\n", lines[at], NULL);

    if (!g_key_file_load_from_data (alone, line, (gsize) -1, G_KEY_FILE_NONE, NULL)) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                   "%s:%u: no name that a group or a key can have: \"%s\"", path, at + 1,
                   lines[at]);
      return NULL;
    }
  }
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s: no groups of keys", path);
  return NULL;
}

char *
topo_keyfile_where (const char *path, const char *group, const char *key)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  gboolean inside = FALSE;

  g_file_get_contents (path, &text, NULL, NULL);
  lines = g_strsplit (text != NULL ? text : "", "\n", -1);
  for (guint at = 0; lines[at] != NULL; at++) {
    const char *line = g_strstrip (lines[at]);
    g_autofree char *head = group_of_line (line);
    g_autofree char *found = key_of_line (line);

    if (head != NULL)
      inside = g_str_equal (head, group);
    if (inside && (key == NULL || (head == NULL && g_strcmp0 (found, key) == 0)))
      return g_strdup_printf ("%s:%u", path, at + 1);
  }
  return g_strdup (path);
}
