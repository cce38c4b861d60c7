/* topology_testing.c - machines and files for tests of all rooms.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/topology_testing.h"

#include ".ci/test_data.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

TopoMachine *
topo_testing_machine (const char *spec, uint32_t ranks_per_node)
{
  g_autoptr (GError) error = NULL;
  TopoMachine *machine = topo_machine_new (spec, &error);

  g_assert_no_error (error);
  if (ranks_per_node > 0)
    machine->ranks_per_node = ranks_per_node;
  return machine;
}

TopoFabric *
topo_testing_fabric (const char *name)
{
  g_autofree char *in_data = g_build_filename ("fabrics", name, NULL);
  g_autofree char *path = test_data (in_data);
  g_autoptr (GError) error = NULL;
  TopoFabric *fabric = path != NULL ? topo_fabric_load (path, NULL, &error) : NULL;

  g_assert_no_error (error);
  return fabric;
}

void
topo_testing_places (const TopoMapping *mapping, const TopoMachine *machine)
{
  gsize n_slots = (gsize) topo_shape_nodes (&machine->shape) * machine->ranks_per_node;
  g_autofree bool *taken = g_new0 (bool, n_slots);

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    gsize place = (gsize) mapping->node[rank] * machine->ranks_per_node + mapping->slot[rank];

    g_assert_cmpuint (mapping->slot[rank], <, machine->ranks_per_node);
    g_assert_cmpuint (place, <, n_slots);
    g_assert_false (taken[place]);
    taken[place] = true;
  }
}

char *
topo_testing_file (const char *text)
{
  char *path = NULL;
  int fd = g_file_open_tmp ("test-XXXXXX", &path, NULL);
  gssize length = (gssize) strlen (text);

  /* Not g_file_set_contents(), which waits for the disk. */
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, text, (gsize) length), ==, length);
  g_close (fd, NULL);
  return path;
}

void
topo_testing_refused (const GError *error, int code, const char *where, const char *named)
{
  if (error == NULL || error->domain != TOPO_ERROR || (code >= 0 && error->code != code) ||
      (where != NULL && !g_str_has_prefix (error->message, where)) ||
      strstr (error->message, named) == NULL || strchr (error->message, '\n') != NULL)
    g_error ("\"%s\" instead of \"%s ... %s\", code %d",
             error != NULL ? error->message : "no error", where != NULL ? where : "", named, code);
}
