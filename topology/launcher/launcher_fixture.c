/* launcher_fixture.c - reading texts as launchers' files in tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/launcher/launcher_fixture.h"

#include <glib/gstdio.h>
#include <string.h>

void
launcher_fixture_name_hosts (TopoMachine *machine)
{
  g_autofree char *list = g_strdup_printf ("h[0-%u]", topo_shape_nodes (&machine->shape) - 1);
  g_autofree char *path = topo_testing_file (list);

  g_assert_true (topo_machine_set_hosts (machine, path, NULL));
  g_unlink (path);
}

const TopoLauncher *
launcher_fixture_find (const char *kind)
{
  const TopoLauncher *launcher = topo_launcher_find (kind, strlen (kind));

  g_assert_nonnull (launcher);
  return launcher;
}

TopoMapping *
launcher_fixture_read (const char *kind, const char *text, const TopoMachine *machine,
                       uint32_t n_ranks, GError **error)
{
  g_autofree char *path = topo_testing_file (text);
  g_autofree char *named = kind != NULL ? g_strconcat (kind, ":", path, NULL) : g_strdup (path);
  TopoMapping *mapping = topo_mapping_new (named, machine, n_ranks, error);

  g_unlink (path);
  return mapping;
}
