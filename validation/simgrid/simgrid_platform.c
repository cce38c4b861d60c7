/* simgrid_platform.c - the program that prints a machine as a SimGrid platform file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/simgrid/platform_file.h"

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (RoutePaths) paths = NULL;
  guint64 n_nodes = 0;

  if (argc < 2 || argc > 3 || argv[1][0] == '-') {
    fputs ("Usage: simgrid_platform MACHINE [NODES]\n", stderr);
    return 2;
  }
  machine = topo_machine_new (argv[1], &error);
  if (machine != NULL)
    n_nodes = topo_shape_nodes (&machine->shape);
  if (machine != NULL && argc > 2)
    g_ascii_string_to_unsigned (argv[2], 10, 1, n_nodes, &n_nodes, &error);
  if (error == NULL)
    paths = route_paths_new (machine, &error);
  if (error != NULL) {
    fprintf (stderr, "simgrid_platform: %s\n", error->message);
    return 1;
  }
  simgrid_platform_write (paths, (uint32_t) n_nodes, stdout);
  return fflush (stdout) == 0 && !ferror (stdout) ? 0 : 1;
}
