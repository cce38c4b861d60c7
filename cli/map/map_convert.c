/* map_convert.c - `hopcast map convert`: a mapping for a launcher.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/map/map_options.h"

#include <string.h>

typedef struct {
  CliMapOptions map;
  char *kind;
  gboolean launch_line;
} Options;

static void
options_clear (Options *options)
{
  cli_map_options_clear (&options->map);
  g_free (options->kind);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static gboolean
parse (Options *options, int argc, char **argv, const char **name, GError **error)
{
  static const char *const names[] = { "M", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "M", "Writes a mapping, of any kind that is read, as the file of a launcher, and says how to "
           "launch with it.  What the file cannot say is refused.");
  g_autofree char *kinds = cli_map_describe_kinds ();
  const GOptionEntry entries[] = {
    { "to", 0, 0, G_OPTION_ARG_STRING, &options->kind, "What to write: see the kinds below",
      "KIND" },
    { "launch-line", 0, 0, G_OPTION_ARG_NONE, &options->launch_line,
      "Prints the command that launches with the file, and it alone, on standard output", NULL },
    { NULL },
  };

  g_option_context_set_description (context, kinds);
  cli_map_add_ranks_option (context, &options->map);
  cli_map_add_hosts_option (context, &options->map);
  cli_map_add_output_option (context, &options->map);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!cli_parse (context, argc, argv, names, name, error) ||
      !cli_map_check_ranks (&options->map, TRUE, error))
    return FALSE;
  if (options->launch_line && (!options->map.output || !strcmp (options->map.output, "-"))) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--launch-line needs --output FILE");
    return FALSE;
  }
  return TRUE;
}

static gboolean
convert (const Options *options, const TopoLauncher *launcher, const TopoMachine *machine,
         const TopoMapping *mapping, GError **error)
{
  g_autofree char *text = launcher->print (mapping, machine, error);
  g_auto (TopoLaunch) launch = { NULL };

  if (!text)
    return FALSE;
  launch = cli_map_launch (launcher, mapping, machine, options->map.output);
  if (options->launch_line && !launch.line) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "--launch-line: %s", launch.note);
    return FALSE;
  }
  if (!cli_map_write_text (text, options->map.output, error))
    return FALSE;
  cli_map_tell_launch (&launch, options->launch_line);
  return TRUE;
}

int
cli_map_convert (int argc, char **argv, GError **error)
{
  g_auto (Options) options = { .map = CLI_MAP_OPTIONS_INIT };
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (TopoMapping) mapping = NULL;
  const TopoLauncher *launcher;
  const char *name;

  if (!parse (&options, argc, argv, &name, error) ||
      !(launcher = cli_map_parse_kind (options.kind, error)) ||
      !(machine = cli_map_machine_new (&options.map, error)) ||
      !(mapping = cli_mapping_new (name, machine, (uint32_t) options.map.n_ranks, error)) ||
      !convert (&options, launcher, machine, mapping, error))
    return CLI_FAILED;
  return CLI_DONE;
}
