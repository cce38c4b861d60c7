/* map_family.c - the map files of a family of mappings.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/map/map_family.h"

#include "cli/command.h"
#include "cli/map/map_options.h"
#include "cli/outfile.h"

#include <errno.h>
#include <glib/gstdio.h>

static gboolean
make_folder (const char *folder, GError **error)
{
  int saved;

  if (g_mkdir_with_parents (folder, 0777) == 0)
    return TRUE;
  saved = errno;
  g_set_error (error, G_FILE_ERROR, (int) g_file_error_from_errno (saved), "%s: %s", folder,
               g_strerror (saved));
  return FALSE;
}

/* Names sort like numbers. */
static char *
file_name (guint number, guint n_mappings)
{
  g_autofree char *last = g_strdup_printf ("%u", n_mappings);

  return g_strdup_printf ("%0*u.map", (int) MAX (strlen (last), 3), number);
}

static gboolean
write_map (const char *recipe, const TopoMachine *machine, uint32_t n_ranks, const char *path,
           GError **error)
{
  g_autoptr (TopoMapping) mapping = topo_mapping_new (recipe, machine, n_ranks, error);
  g_autofree char *text = NULL;

  if (mapping == NULL)
    return FALSE;
  text = topo_mapping_print (mapping, machine);
  return cli_map_write_text (text, path, error);
}

static gboolean
write_index (char **mappings, const char *folder, GError **error)
{
  g_autofree char *path = g_build_filename (folder, "index.csv", NULL);
  g_autoptr (CliOutfile) file = cli_outfile_new (path, error);
  guint n_mappings = g_strv_length (mappings);

  if (file == NULL)
    return FALSE;
  fputs ("number,recipe,file\n", cli_outfile_stream (file));
  for (guint at = 0; at < n_mappings; at++) {
    g_autofree char *name = file_name (at + 1, n_mappings);

    fprintf (cli_outfile_stream (file), "%u,", at + 1);
    study_csv_field (cli_outfile_stream (file), mappings[at]);
    fprintf (cli_outfile_stream (file), ",%s\n", name);
  }
  return cli_outfile_commit (file, error);
}

gboolean
cli_map_write_family (char **mappings, const TopoMachine *machine, uint32_t n_ranks,
                      const char *folder, GError **error)
{
  guint n_mappings = g_strv_length (mappings);

  if (!make_folder (folder, error))
    return FALSE;
  for (guint at = 0; at < n_mappings; at++) {
    g_autofree char *name = file_name (at + 1, n_mappings);
    g_autofree char *path = g_build_filename (folder, name, NULL);

    if (!write_map (mappings[at], machine, n_ranks, path, error))
      return FALSE;
  }
  return write_index (mappings, folder, error);
}
