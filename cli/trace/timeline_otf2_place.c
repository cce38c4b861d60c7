/* timeline_otf2_place.c - where an OTF2 archive is written: whole, or not at all.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/timeline_otf2.h"

#include "cli/command.h"
#include "cli/trace/timeline_file.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#define SUFFIX ".otf2"

struct CliOtf2Place {
  char *path;          /* as the user wrote it */
  char *folder, *stem; /* "dir/run.otf2": "dir" and "run" */
  char *temporary;     /* NULL: could not be made */
  char *new_folder;    /* in it */
};

/* "dir/run.otf2": "dir" and "run". */
static void
split_path (const char *path, char **folder, char **stem)
{
  *folder = g_path_get_dirname (path);
  *stem = g_path_get_basename (path);
  (*stem)[strlen (*stem) - strlen (SUFFIX)] = '\0';
}

static gboolean
fail_write (const char *path, GError **error)
{
  return cli_fail (error, "%s: cannot write: %s", path, g_strerror (errno));
}

/* Whether the folder has files of an archive and nothing else: such a one may be replaced. */
static gboolean
holds_events (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name = NULL;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (!g_str_has_suffix (name, ".evt") && !g_str_has_suffix (name, ".def"))
      return FALSE;
  return dir != NULL;
}

static void
remove_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *path = g_build_filename (folder, name, NULL);

    if (g_unlink (path) != 0)
      remove_folder (path);
  }
  g_rmdir (folder);
}

gboolean
cli_timeline_otf2_check (const char *path, GError **error)
{
  g_autofree char *folder = NULL, *stem = NULL, *events = NULL;
  g_autofree char *temporary = g_strconcat (path, ".tmp-XXXXXX", NULL);

  split_path (path, &folder, &stem);
  events = g_build_filename (folder, stem, NULL);
  if (g_str_equal (stem, ""))
    return cli_refuse (error, "--timeline %s: the archive has no name before .otf2", path);
  if (g_file_test (events, G_FILE_TEST_EXISTS) &&
      !(g_file_test (path, G_FILE_TEST_IS_REGULAR) && holds_events (events)))
    return cli_refuse (
        error,
        "--timeline %s: the events go to the folder %s, which exists and is not that "
        "of an archive alone",
        path, events);
  if (g_mkdtemp (temporary) == NULL)
    return fail_write (path, error);
  g_rmdir (temporary);
  return TRUE;
}

CliOtf2Place *
cli_otf2_place_new (const char *path, GError **error)
{
  CliOtf2Place *place = g_new0 (CliOtf2Place, 1);

  place->path = g_strdup (path);
  split_path (path, &place->folder, &place->stem);
  place->temporary = g_strconcat (path, ".tmp-XXXXXX", NULL);
  if (g_mkdtemp (place->temporary) != NULL) {
    place->new_folder = g_build_filename (place->temporary, "new", NULL);
    return place;
  }
  fail_write (path, error);
  g_clear_pointer (&place->temporary, g_free);
  cli_otf2_place_free (place);
  return NULL;
}

void
cli_otf2_place_free (CliOtf2Place *place)
{
  if (place == NULL)
    return;
  if (place->temporary != NULL)
    remove_folder (place->temporary);
  g_free (place->path);
  g_free (place->folder);
  g_free (place->stem);
  g_free (place->temporary);
  g_free (place->new_folder);
  g_free (place);
}

const char *
cli_otf2_place_folder (const CliOtf2Place *place)
{
  return place->new_folder;
}

const char *
cli_otf2_place_name (const CliOtf2Place *place)
{
  return place->stem;
}

/* libotf2 3.0 reports nothing when the disk is full: the ends of all files are looked for. */
static gboolean
is_whole (const CliOtf2Place *place)
{
  g_autofree char *anchor =
      g_strconcat (place->new_folder, G_DIR_SEPARATOR_S, place->stem, SUFFIX, NULL);
  g_autoptr (Trace) written = trace_open (anchor, NULL, NULL);

  return written != NULL;
}

/* The archive that was there goes into the temporary folder. */
gboolean
cli_otf2_place_commit (CliOtf2Place *place, GError **error)
{
  /* In this order the old one ceases and the new one comes into being. */
  static const char *const leaving[] = { SUFFIX, ".def", "" }, *const coming[] = { "", ".def",
                                                                                   SUFFIX };

  if (!is_whole (place))
    return cli_fail (error, "%s: cannot write: data was lost (disk full?)", place->path);
  for (gsize i = 0; i < G_N_ELEMENTS (leaving); i++) {
    g_autofree char *name = g_strconcat (place->stem, leaving[i], NULL);
    g_autofree char *from = g_build_filename (place->folder, name, NULL);
    g_autofree char *to = g_strconcat (place->temporary, "/old", leaving[i], NULL);

    if (g_rename (from, to) != 0 && errno != ENOENT)
      return fail_write (place->path, error);
  }
  for (gsize i = 0; i < G_N_ELEMENTS (coming); i++) {
    g_autofree char *name = g_strconcat (place->stem, coming[i], NULL);
    g_autofree char *from = g_build_filename (place->new_folder, name, NULL);
    g_autofree char *to = g_build_filename (place->folder, name, NULL);

    if (g_rename (from, to) != 0)
      return fail_write (place->path, error);
  }
  return TRUE;
}
