/* fabric_wire.h - devices and cables of fabrics that are made by numbers; private.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "topology/fabric/fabric_build.h"

/* What a device is; a board is the part of a director that cables reach. */
enum {
  TOPO_WIRE_NODE = 1,
  TOPO_WIRE_LEAF = 2,
  TOPO_WIRE_SPINE = 3,
  TOPO_WIRE_CORE = 4,
  TOPO_WIRE_BOARD = 5,
};

typedef struct {
  uint32_t kind, number, port;
} TopoPlug;

/* Devices number 0 .. n-1 of a kind: leaf0, leaf1 ... */
gboolean topo_wire_devices (TopoFabricBuilder *builder, uint32_t kind, uint32_t n, uint32_t n_ports,
                            GError **error);

/* A cable of four lanes. */
gboolean topo_wire_cable (TopoFabricBuilder *builder, TopoPlug a, TopoPlug b, TopoSpeed speed,
                          GError **error);
