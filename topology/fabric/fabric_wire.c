/* fabric_wire.c - devices and cables of fabrics that are made by numbers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/fabric/fabric_wire.h"

/* Ids in the form of ibnetdiscover, from made-up GUIDs: kind, then number. */
static const char *const kind_names[] = {
  [TOPO_WIRE_NODE] = "node", [TOPO_WIRE_LEAF] = "leaf",   [TOPO_WIRE_SPINE] = "spine",
  [TOPO_WIRE_CORE] = "core", [TOPO_WIRE_BOARD] = "board",
};

static uint64_t
guid_of (uint32_t kind, uint32_t number)
{
  return UINT64_C (0x0002c90000000000) | (uint64_t) kind << 24 | (uint64_t) number << 4;
}

static char *
id_of (uint32_t kind, uint32_t number)
{
  return g_strdup_printf ("%c-%016" G_GINT64_MODIFIER "x", kind == TOPO_WIRE_NODE ? 'H' : 'S',
                          guid_of (kind, number));
}

static gboolean
add_device (TopoFabricBuilder *builder, uint32_t kind, uint32_t number, uint32_t n_ports,
            GError **error)
{
  g_autofree char *id = id_of (kind, number);
  g_autofree char *name =
      g_strdup_printf ("%s%u%s", kind_names[kind], number, kind == TOPO_WIRE_NODE ? " HCA-1" : "");
  TopoBuildDevice device = { .id = id,
                             .name = name,
                             .guid = guid_of (kind, number),
                             .is_switch = kind != TOPO_WIRE_NODE,
                             .n_ports = n_ports };

  return topo_build_device (builder, &device, error) != TOPO_NONE;
}

static gboolean
add_end (TopoFabricBuilder *builder, TopoPlug from, TopoPlug to, TopoSpeed speed, GError **error)
{
  g_autofree char *id = id_of (from.kind, from.number), *peer = id_of (to.kind, to.number);
  TopoBuildEnd end = { .device = topo_build_find (builder, id),
                       .number = from.port,
                       .peer_id = peer,
                       .peer_number = to.port,
                       .lanes = 4,
                       .speed = speed };

  return topo_build_end (builder, &end, error);
}

gboolean
topo_wire_cable (TopoFabricBuilder *builder, TopoPlug a, TopoPlug b, TopoSpeed speed,
                 GError **error)
{
  return add_end (builder, a, b, speed, error) && add_end (builder, b, a, speed, error);
}

gboolean
topo_wire_devices (TopoFabricBuilder *builder, uint32_t kind, uint32_t n, uint32_t n_ports,
                   GError **error)
{
  for (uint32_t number = 0; number < n; number++)
    if (!add_device (builder, kind, number, n_ports, error))
      return FALSE;
  return TRUE;
}
