/* map_generate.c - `hopcast map generate`: mappings from recipes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/csv.h"
#include "cli/command.h"
#include "cli/map/map_options.h"
#include "cli/print/outfile.h"
#include "topology/recipe/recipe.h"

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
    base_csv_field (cli_outfile_stream (file), mappings[at]);
    fprintf (cli_outfile_stream (file), ",%s\n", name);
  }
  return cli_outfile_commit (file, error);
}

/* Writes FOLDER/001.map ... for the mappings (NULL-terminated), then FOLDER/index.csv:
 * number, recipe and file of each.  The folder is made when it is not there; files of
 * these names are replaced. */
static gboolean
map_write_family (char **mappings, const TopoMachine *machine, uint32_t n_ranks, const char *folder,
                  GError **error)
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

/* --- `hopcast map generate`: the map file of a mapping, or of a family --- */

typedef struct {
  CliMapOptions map;
  char *family;
  gboolean list;
} GenerateOptions;

static void
add_options (GOptionContext *context, GenerateOptions *options)
{
  const GOptionEntry entries[] = {
    { "family", 0, 0, G_OPTION_ARG_STRING, &options->family,
      "All mappings of a family: sc13, permutations, curves or random:N", "NAME" },
    { "list", 0, 0, G_OPTION_ARG_NONE, &options->list,
      "Print the mappings of the family, a line each, and write no files", NULL },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->map.output,
      "Where to write: a file (default: standard output), of a family a folder (default: its name)",
      "FILE" },
    { NULL },
  };

  cli_map_add_ranks_option (context, &options->map);
  cli_map_add_mapping_option (context, &options->map);
  g_option_context_add_main_entries (context, entries, NULL);
}

static gboolean
check_options (const GenerateOptions *options, GError **error)
{
  const char *wrong = NULL;

  if (options->list && options->family == NULL)
    wrong = "--list goes with --family";
  else if (options->family != NULL && options->map.mapping != NULL)
    wrong = "--family and --mapping exclude each other";
  else if (options->list && options->map.output != NULL)
    wrong = "--list writes no files: --output has no effect";
  if (wrong != NULL)
    g_set_error_literal (error, CLI_ERROR, CLI_ERROR_USAGE, wrong);
  return wrong == NULL && cli_map_check_ranks (&options->map, TRUE, error);
}

static gboolean
write_mapping (const CliMapOptions *options, TopoMachine *machine, GError **error)
{
  g_autoptr (TopoMapping) mapping =
      cli_mapping_new (options->mapping, machine, (uint32_t) options->n_ranks, error);
  g_autofree char *text = NULL;

  if (mapping == NULL)
    return FALSE;
  text = topo_mapping_print (mapping, machine);
  return cli_map_write_text (text, options->output, error);
}

static gboolean
write_family (const GenerateOptions *options, const TopoMachine *machine, GError **error)
{
  g_autofree char *folder = NULL;
  g_auto (GStrv) family =
      topo_recipe_family (options->family, machine, (uint32_t) options->map.n_ranks, error);

  if (family == NULL) {
    /* Any other error is about the number of ranks. */
    if (g_error_matches (*error, TOPO_ERROR, TOPO_ERROR_SYNTAX)) {
      g_autofree char *reason = g_strdup ((*error)->message);

      g_clear_error (error);
      return cli_refuse (error, "--family: %s", reason);
    }
    return FALSE;
  }
  if (options->list) {
    for (guint at = 0; family[at] != NULL; at++)
      puts (family[at]);
    return TRUE;
  }
  folder = options->map.output ? g_strdup (options->map.output)
                               : g_strdelimit (g_strdup (options->family), ":", '-');
  return map_write_family (family, machine, (uint32_t) options->map.n_ranks, folder, error);
}

static gboolean
generate (const GenerateOptions *options, GError **error)
{
  g_autoptr (TopoMachine) machine = NULL;

  if (!check_options (options, error) ||
      !(machine = cli_machine_new (&options->map.machine, error)))
    return FALSE;
  return options->family ? write_family (options, machine, error)
                         : write_mapping (&options->map, machine, error);
}

int
cli_map_generate (int argc, char **argv, GError **error)
{
  static const char *const names[] = { NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      NULL,
      "Writes the map file of a mapping: a line per rank with its coordinates and slot.  Of a "
      "family a file per mapping, and index.csv.");
  GenerateOptions options = { .map = CLI_MAP_OPTIONS_INIT };
  gboolean ok;

  add_options (context, &options);
  ok = cli_parse (context, argc, argv, names, NULL, error) && generate (&options, error);
  cli_map_options_clear (&options.map);
  g_free (options.family);
  return ok ? CLI_DONE : CLI_FAILED;
}
