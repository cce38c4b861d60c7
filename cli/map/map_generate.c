/* map_generate.c - `hopcast map generate`: the map file of a mapping, or of each mapping of a family.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/csv.h"
#include "cli/command.h"
#include "cli/map/map_options.h"
#include "cli/print/outfile.h"
#include "topology/recipe/recipe.h"

#include <errno.h>
#include <glib/gstdio.h>

/* The name of a family's file: "001.map", with digits enough for n_mappings. */
static char *
file_name (guint number, guint n_mappings)
{
  g_autofree char *last = g_strdup_printf ("%u", n_mappings);

  return g_strdup_printf ("%0*u.map", (int) MAX (strlen (last), 3), number);
}

/* Writes FOLDER/001.map ... for the mappings (NULL-terminated), then FOLDER/index.csv: number, recipe
 * and file of each.  The folder is made if it is missing; files of these names are replaced. */
static gboolean
write_family (char **mappings, const TopoMachine *machine, uint32_t n_ranks, const char *folder,
              GError **error)
{
  guint n_mappings = g_strv_length (mappings);
  g_autofree char *path = g_build_filename (folder, "index.csv", NULL);
  g_autoptr (CliOutfile) index = NULL;
  FILE *out;

  if (g_mkdir_with_parents (folder, 0777) != 0) {
    int saved = errno;

    g_set_error (error, G_FILE_ERROR, (int) g_file_error_from_errno (saved), "%s: %s", folder,
                 g_strerror (saved));
    return FALSE;
  }
  for (guint at = 0; at < n_mappings; at++) {
    g_autofree char *name = file_name (at + 1, n_mappings);
    g_autofree char *file = g_build_filename (folder, name, NULL);
    g_autoptr (TopoMapping) mapping = topo_mapping_new (mappings[at], machine, n_ranks, error);
    g_autofree char *text = mapping ? topo_mapping_print (mapping, machine) : NULL;

    if (text == NULL || !cli_outfile_write (file, text, error))
      return FALSE;
  }
  if (!(index = cli_outfile_new (path, error)))
    return FALSE;
  out = cli_outfile_stream (index);
  fputs ("number,recipe,file\n", out);
  for (guint at = 0; at < n_mappings; at++) {
    g_autofree char *name = file_name (at + 1, n_mappings);

    fprintf (out, "%u,", at + 1);
    base_csv_field (out, mappings[at]);
    fprintf (out, ",%s\n", name);
  }
  return cli_outfile_commit (index, error);
}

/* program: the grid of --program, NULL when it is not given. */
static gboolean
check_options (const CliMapOptions *options, const char *family, const char *program, gboolean list,
               GError **error)
{
  if (list && family == NULL)
    return cli_refuse (error, "--list needs --family NAME");
  if (family != NULL && options->mapping != NULL)
    return cli_refuse (error, "--family and --mapping exclude each other");
  if (program != NULL && g_strcmp0 (family, "sc13") != 0)
    return cli_refuse (error, "--program needs --family sc13");
  if (list && options->output != NULL)
    return cli_refuse (error, "--list writes no files: --output has no effect");
  return cli_map_check_ranks (options, TRUE, error);
}

int
cli_map_generate (int argc, char **argv, GError **error)
{
  static const char *const names[] = { NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      NULL,
      "Writes the map file of a mapping: a line per rank with its coordinates and slot.  Of a "
      "family a file per mapping, and index.csv.");
  g_auto (CliMapOptions) options = CLI_MAP_OPTIONS_INIT;
  g_autofree char *family = NULL, *program = NULL;
  gboolean list = FALSE;
  const GOptionEntry entries[] = {
    { "family", 0, 0, G_OPTION_ARG_STRING, &family,
      "All mappings of a family: sc13:GRID, sc13-shared, permutations, curves or random:N",
      "NAME" },
    { "program", 0, 0, G_OPTION_ARG_STRING, &program,
      "With --family sc13: the grid of the program's ranks, such as 128x128; the last number runs "
      "fastest",
      "GRID" },
    { "list", 0, 0, G_OPTION_ARG_NONE, &list,
      "Print the mappings of the family, a line each, and write no files", NULL },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
      "Where to write: a file (default: standard output), of a family a folder (default: its name)",
      "FILE" },
    { NULL },
  };
  g_autoptr (TopoMachine) machine = NULL;
  g_auto (GStrv) mappings = NULL;
  g_autoptr (GError) trouble = NULL;
  g_autofree char *folder = NULL, *text = NULL;
  uint32_t n_ranks;

  cli_map_add_ranks_option (context, &options);
  cli_add_mapping_option (context, &options.mapping);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!cli_parse (context, argc, argv, names, NULL, error) ||
      !check_options (&options, family, program, list, error) ||
      !(machine = cli_machine_new (&options.machine, error)))
    return CLI_FAILED;
  n_ranks = (uint32_t) options.n_ranks;
  if (family == NULL) {
    g_autoptr (TopoMapping) mapping = cli_mapping_new (options.mapping, machine, n_ranks, error);

    text = mapping ? topo_mapping_print (mapping, machine) : NULL;
    return text && cli_outfile_write (options.output, text, error) ? CLI_DONE : CLI_FAILED;
  }
  if (program != NULL) {
    char *whole = g_strconcat (family, ":", program, NULL);

    g_free (family);
    family = whole;
  }
  mappings = topo_recipe_family (family, machine, n_ranks, &trouble);
  if (mappings == NULL) {
    /* Any other error is about the number of ranks. */
    if (g_error_matches (trouble, TOPO_ERROR, TOPO_ERROR_SYNTAX))
      cli_refuse (error, "--family: %s", trouble->message);
    else
      g_propagate_error (error, g_steal_pointer (&trouble));
    return CLI_FAILED;
  }
  if (list) {
    for (guint at = 0; mappings[at] != NULL; at++)
      puts (mappings[at]);
    return CLI_DONE;
  }
  folder = options.output ? g_strdup (options.output) : g_strdelimit (g_strdup (family), ":", '-');
  return write_family (mappings, machine, n_ranks, folder, error) ? CLI_DONE : CLI_FAILED;
}
