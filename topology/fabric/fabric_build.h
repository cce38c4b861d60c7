/* fabric_build.h - puts a fabric together from what a file says; private.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Devices and ends of cables come in any order; what does not fit together
 * is found at the end, with the line that says it. */
#pragma once

#include "topology/fabric/fabric.h"

typedef struct TopoFabricBuilder TopoFabricBuilder;

/* `source` is a path, or the name of a preset. */
TopoFabricBuilder *topo_build_new (const char *source);
void topo_build_free (TopoFabricBuilder *builder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TopoFabricBuilder, topo_build_free)

typedef struct {
  const char *id, *name;
  uint64_t guid; /* 0: none */
  bool is_switch;
  uint32_t n_ports;
  uint32_t lid;
  uint32_t model; /* PCI device id; 0: not known */
  uint32_t line;  /* 0: no file */
} TopoBuildDevice;

/* The device's number; TOPO_NONE and *error when the id or the GUID is
 * there already, or the number of ports impossible. */
uint32_t
topo_build_device (TopoFabricBuilder *builder, const TopoBuildDevice *device, GError **error);

/* Number of a device that is there, TOPO_NONE otherwise. */
uint32_t topo_build_find (const TopoFabricBuilder *builder, const char *id);

typedef struct {
  uint32_t device;
  uint32_t number; /* of the port, from 1 */
  const char *peer_id;
  uint32_t peer_number;
  uint64_t guid;     /* of this port; 0: not known */
  uint32_t lid, lmc; /* of this port; 0: not known */
  uint32_t peer_lid; /* of the far end */
  uint32_t lanes;
  TopoSpeed speed;
  uint32_t line;
} TopoBuildEnd;

/* One end of a cable, as this end sees it. */
gboolean topo_build_end (TopoFabricBuilder *builder, const TopoBuildEnd *end, GError **error);

/* The fabric, with every cable seen from both of its ends. */
TopoFabric *topo_build_finish (TopoFabricBuilder *builder, GError **error);

/* --- fabric_tree.c: devices and cables by number --- */

/* Kinds of devices; a board is the part of a director with the outer ports. */
enum {
  TOPO_WIRE_NODE = 1,
  TOPO_WIRE_LEAF = 2,
  TOPO_WIRE_SPINE = 3,
  TOPO_WIRE_CORE = 4,
  TOPO_WIRE_BOARD = 5,
};

/* A port of device `number` of a kind. */
typedef struct {
  uint32_t kind, number, port;
} TopoPlug;

/* A device with an id in the form of ibnetdiscover.  name: NULL for leaf0, leaf1 ...; of a node
 * that of the host. */
gboolean topo_wire_device (TopoFabricBuilder *builder, uint32_t kind, uint32_t number,
                           const char *name, uint32_t n_ports, GError **error);

gboolean
topo_wire_cable (TopoFabricBuilder *builder, TopoPlug a, TopoPlug b, TopoRate rate, GError **error);

/* --- fabric_faults.c: parts that are out --- */

/* Takes the parts of a list ("leaf0:3; spine1; node7") out of the fabric: cables by the device and the
 * port of either end, switches, adapters, nodes.  Devices are named by description or id.  *n_nodes
 * (>= 1): so many nodes from the first on are the machine's; then those of them that are left.
 * *error (TOPO_ERROR) for unknown names, for a cable that is the only one of a node, and when no
 * node is left; then the fabric is only good to be freed. */
gboolean topo_fabric_fail (TopoFabric *fabric, const char *list, uint32_t *n_nodes, GError **error);

/* Gives cables fewer lanes ("leaf0:3 1x; leaf1:4 2x").  *error (TOPO_ERROR) also where a cable has no
 * more lanes than that. */
gboolean topo_fabric_degrade (TopoFabric *fabric, const char *list, GError **error);

/* --- fabric_dragonfly.c: a table of nodes, CELL and SWITCH of each --- */

bool topo_fabric_is_table (const char *text);
TopoFabric *
topo_fabric_of_table (const char *path, char *text, const TopoCabling *given, GError **error);
