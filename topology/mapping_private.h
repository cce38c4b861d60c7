/* mapping_private.h - the kinds of files that place ranks; private to topology/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "topology/mapping.h"

/* Nodes of a fabric by the names of their hosts. */
typedef struct {
  const TopoMachine *machine;
  GHashTable *node_of; /* (element-type utf8 uint) number + 1; borrows the names */
} TopoHosts;

TopoHosts topo_hosts_new (const TopoMachine *machine);
void topo_hosts_clear (TopoHosts *hosts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TopoHosts, topo_hosts_clear)

/* The node of a name, or of Open MPI's "+n3": the fourth node of the machine. */
gboolean topo_hosts_find (const TopoHosts *hosts, const char *name, uint32_t *node, GError **error);

/* Both fill in a mapping that has its rooms, from a text that they cut up;
 * errors name the path and the line. */
bool topo_is_rankfile (const char *text);
gboolean topo_rankfile_read (TopoMapping *mapping, const TopoMachine *machine, const char *path,
                             char *text, GError **error);
bool topo_is_hostfile (const char *text);
gboolean topo_hostfile_read (TopoMapping *mapping, const TopoMachine *machine, const char *path,
                             char *text, GError **error);
