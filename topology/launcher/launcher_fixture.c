/* launcher_fixture.c - what the tests of launchers' files have in common.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/launcher/launcher_fixture.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

char *
launcher_fixture_file (const char *text)
{
  char *path = NULL;
  int fd = g_file_open_tmp ("ranks-XXXXXX", &path, NULL);
  gssize length = (gssize) strlen (text);

  /* Not g_file_set_contents(), which waits for the disk. */
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, text, (gsize) length), ==, length);
  g_close (fd, NULL);
  return path;
}

void
launcher_fixture_name_hosts (TopoMachine *machine)
{
  g_autofree char *list = g_strdup_printf ("h[0-%u]", topo_shape_nodes (&machine->shape) - 1);
  g_autofree char *path = launcher_fixture_file (list);

  g_assert_true (topo_machine_set_hosts (machine, path, NULL));
  g_unlink (path);
}

TopoMachine *
launcher_fixture_machine (const char *spec, uint32_t ranks_per_node)
{
  TopoMachine *machine = topo_machine_new (spec, NULL);

  g_assert_nonnull (machine);
  g_assert_true (topo_machine_set_ranks_per_node (machine, ranks_per_node, NULL));
  return machine;
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
  g_autofree char *path = launcher_fixture_file (text);
  g_autofree char *named = kind != NULL ? g_strconcat (kind, ":", path, NULL) : g_strdup (path);
  TopoMapping *mapping = topo_mapping_new (named, machine, n_ranks, error);

  g_unlink (path);
  return mapping;
}
