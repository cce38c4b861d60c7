/* mapping_private.h - columns of maps, and nodes by the names of their hosts; private to topology/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "topology/mapping/mapping.h"

#define TOPO_MAX_COLUMNS (TOPO_MAX_DIMENSIONS + 1)

/* The columns of a machine's maps: its dimensions and the slot. */
typedef struct {
  uint32_t n;
  uint32_t size[TOPO_MAX_COLUMNS];   /* the number of values; the last column is the slot */
  char letter[TOPO_MAX_COLUMNS + 1]; /* "ABCDET" */
} TopoColumns;

TopoColumns topo_columns_of (const TopoMachine *machine);

/* Nodes by the names of their hosts; of a torus without names there are none. */
typedef struct {
  const TopoMachine *machine;
  GHashTable *node_of; /* (element-type utf8 uint) number + 1; borrows the names */
} TopoHosts;

TopoHosts topo_hosts_new (const TopoMachine *machine);
void topo_hosts_clear (TopoHosts *hosts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TopoHosts, topo_hosts_clear)

/* The node of a name, or of Open MPI's "+n3": the fourth node of the machine. */
gboolean topo_hosts_find (const TopoHosts *hosts, const char *name, uint32_t *node, GError **error);
