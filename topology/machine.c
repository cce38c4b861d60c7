/* machine.c - the machine a program would run on: shape, parameters, capacity.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/machine.h"

#include "topology/fabric_spec.h"
#include "topology/machine_private.h"

#define MIDPLANE_SIZE 4 /* along A, B, C and D */
#define RACK_NODES    1024

GQuark
topo_error_quark (void)
{
  return g_quark_from_static_string ("topo-error-quark");
}

TopoMachine *
topo_machine_new (const char *spec, GError **error)
{
  g_autoptr (TopoMachine) machine = g_new0 (TopoMachine, 1);
  gboolean made;

  machine->ranks_per_node = 1;
  if (topo_torus_is_spec (spec))
    made = topo_torus_make (machine, spec, error);
  else if (topo_fabric_is_spec (spec))
    made = topo_fabric_make (machine, spec, NULL, error) && topo_fabric_finish (machine, error);
  else
    made = topo_machine_load (machine, spec, error);
  return made ? g_steal_pointer (&machine) : NULL;
}

void
topo_machine_free (TopoMachine *machine)
{
  if (machine == NULL)
    return;
  topo_fabric_free (machine->fabric);
  topo_node_free (machine->node);
  g_strfreev (machine->hosts);
  g_free (machine->routes);
  g_free (machine->spec);
  g_free (machine);
}

int64_t
topo_machine_extra_latency_ps (const TopoMachine *machine, uint32_t node, uint32_t port)
{
  const TopoShape *shape = &machine->shape;
  uint32_t dimension = port / 2;
  uint32_t neighbour = topo_shape_neighbour (shape, node, port);
  uint32_t here, there;

  if (!machine->is_bgq || neighbour == TOPO_NONE)
    return 0;
  here = topo_shape_coordinates (shape, node).at[dimension];
  there = topo_shape_coordinates (shape, neighbour).at[dimension];
  return here / MIDPLANE_SIZE != there / MIDPLANE_SIZE ? machine->parameters.midplane_latency_ps
                                                       : 0;
}

uint32_t
topo_machine_racks (const TopoMachine *machine)
{
  return machine->is_bgq ? topo_shape_nodes (&machine->shape) / RACK_NODES : 0;
}

char *
topo_path_in (const char *folder, const char *path)
{
  return folder == NULL || g_str_equal (folder, ".") || g_path_is_absolute (path)
             ? g_strdup (path)
             : g_build_filename (folder, path, NULL);
}
