/* launcher_rankfile_print.c - mappings as Open MPI's rankfiles.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/launcher/launcher_private.h"

/* What Open MPI's scanner takes for the name of a host. */
static bool
is_host_name (const char *name)
{
  return g_ascii_isalpha (*name) &&
         name[strspn (name, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_-.")] == '\0';
}

static void
print_place (const TopoNode *node, uint32_t core, GString *text)
{
  uint32_t package = topo_node_above (node, core, TOPO_OBJECT_PACKAGE), socket = 0;

  for (uint32_t object = 0; package != TOPO_NONE && object < package; object++)
    socket += node->objects[object].kind == TOPO_OBJECT_PACKAGE;
  g_string_append_printf (text, "%u:%u", socket,
                          core - (package != TOPO_NONE ? node->objects[package].first_core : 0));
}

char *
topo_rankfile_print (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (machine->node == NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "a rankfile names hosts and cores; %s, a torus, has no names for them",
                 machine->spec);
    return NULL;
  }
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    const char *host = topo_machine_host (machine, mapping->node[rank]);

    if (!is_host_name (host)) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                   "rank %u: \"%s\" cannot stand in a rankfile as the name of a host", rank, host);
      return NULL;
    }
    g_string_append_printf (text, "rank %u=%s slot=", rank, host);
    print_place (machine->node, machine->slot_core[mapping->slot[rank]], text);
    g_string_append_c (text, '\n');
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

TopoLaunch
topo_rankfile_launch (const TopoMapping *mapping, const TopoMachine *machine G_GNUC_UNUSED,
                      const char *file)
{
  return (TopoLaunch){
    .line = g_strdup_printf ("mpirun -np %u --rankfile %s ./program", mapping->n_ranks, file),
    .note = g_strdup ("for Open MPI 4; from 5 on --map-by rankfile:FILE=... takes the place of "
                      "--rankfile"),
  };
}
