/* simgrid_platform.c - prints a machine as a SimGrid platform file.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * With it SimGrid's own replayer, smpirun -replay, runs on our links and our
 * routes; see the handbook page on the flow network. */
#include "sim/net/flow_platform.h"

/* Hosts for the nodes 0 .. n_nodes-1. */
static bool
print_platform (const RoutePaths *paths, uint32_t n_nodes)
{
  g_autofree uint32_t *nodes = g_new (uint32_t, n_nodes);
  SimFlowPlatform platform = { paths, nodes, n_nodes, true };

  for (uint32_t node = 0; node < n_nodes; node++)
    nodes[node] = node;
  sim_flow_platform_write (&platform, stdout);
  return fflush (stdout) == 0 && !ferror (stdout);
}

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
    g_ascii_string_to_unsigned (argv[2], 10, 1, MIN (n_nodes, SIM_FLOW_MAX_HOSTS), &n_nodes,
                                &error);
  if (error == NULL)
    paths = route_paths_new (machine, &error);
  if (error != NULL) {
    fprintf (stderr, "simgrid_platform: %s\n", error->message);
    return 1;
  }
  return print_platform (paths, (uint32_t) n_nodes) ? 0 : 1;
}
