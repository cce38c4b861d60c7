/* choice_files.c - see choice_files.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/aggregate/choice_files.h"

#include "cli/command.h"
#include "cli/map/map_options.h"
#include "cli/terminal.h"

#include <string.h>

static const char *const kinds[] = { "rankfile", "hostfile", "slurm" };

static gboolean
write_file (const CliChoice *choice, const char *kind, const char *path, GError **error)
{
  const TopoLauncher *launcher = topo_launcher_find (kind, strlen (kind));
  const TopoMapping *mapping = choice->mapping[choice->placed];
  g_autofree char *text = launcher->print (mapping, choice->opened, error);
  g_auto (TopoLaunch) launch = { NULL };

  if (text == NULL) {
    g_prefix_error (error, "%s: ", path);
    return FALSE;
  }
  if (!cli_map_write_text (text, path, error))
    return FALSE;
  launch = cli_map_launch (launcher, mapping, choice->opened, path);
  cli_map_tell_launch (&launch, FALSE);
  return TRUE;
}

/* FALSE: none could be written. */
static gboolean
write_all (const CliChoice *choice, const CliChoiceOptions *options, GError **error)
{
  guint n_written = 0;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    g_autofree char *path = g_strconcat (options->prefix, ".", kinds[i], NULL);
    g_autoptr (GError) trouble = NULL;

    if (write_file (choice, kinds[i], path, &trouble))
      n_written++;
    else if (trouble->domain != TOPO_ERROR || (i + 1 == G_N_ELEMENTS (kinds) && n_written == 0)) {
      g_propagate_error (error, g_steal_pointer (&trouble));
      return FALSE;
    } else if (!options->talk.quiet)
      cli_printf (stderr, "hopcast: warning: not written: %s\n", trouble->message);
  }
  return TRUE;
}

gboolean
cli_choice_write_files (const CliChoice *choice, const CliChoiceOptions *options, GError **error)
{
  const char *const paths[] = { options->rankfile, options->hostfile, options->slurm };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (paths[i] != NULL && !write_file (choice, kinds[i], paths[i], error))
      return FALSE;
  return options->prefix == NULL || write_all (choice, options, error);
}
