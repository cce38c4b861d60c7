/* fabric_tree.c - fabrics by numbers: fat trees and TACC's Stampede.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/fabric/fabric.h"
#include "topology/fabric/fabric_build.h"
#include "topology/machine.h"

/* --- Devices and cables --- */

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
wire_end (TopoFabricBuilder *builder, TopoPlug from, TopoPlug to, TopoRate rate, GError **error)
{
  g_autofree char *id = id_of (from.kind, from.number), *peer = id_of (to.kind, to.number);
  TopoBuildEnd end = { .device = topo_build_find (builder, id),
                       .number = from.port,
                       .peer_id = peer,
                       .peer_number = to.port,
                       .lanes = rate.lanes,
                       .speed = rate.speed };

  return topo_build_end (builder, &end, error);
}

gboolean
topo_wire_cable (TopoFabricBuilder *builder, TopoPlug a, TopoPlug b, TopoRate rate, GError **error)
{
  return wire_end (builder, a, b, rate, error) && wire_end (builder, b, a, rate, error);
}

gboolean
topo_wire_device (TopoFabricBuilder *builder, uint32_t kind, uint32_t number, const char *name,
                  uint32_t n_ports, GError **error)
{
  g_autofree char *id = id_of (kind, number);
  g_autofree char *numbered = g_strdup_printf ("%s%u", kind_names[kind], number);
  g_autofree char *whole =
      g_strconcat (name != NULL ? name : numbered, kind == TOPO_WIRE_NODE ? " HCA-1" : "", NULL);
  TopoBuildDevice device = { .id = id,
                             .name = whole,
                             .guid = guid_of (kind, number),
                             .is_switch = kind != TOPO_WIRE_NODE,
                             .n_ports = n_ports };

  return topo_build_device (builder, &device, error) != TOPO_NONE;
}

/* Devices number 0 .. n-1 of a kind. */
static gboolean
wire_devices (TopoFabricBuilder *builder, uint32_t kind, uint32_t n, uint32_t n_ports,
              GError **error)
{
  for (uint32_t number = 0; number < n; number++)
    if (!topo_wire_device (builder, kind, number, NULL, n_ports, error))
      return FALSE;
  return TRUE;
}

/* --- Fat trees ---
 *
 * Two levels, as 36-port switches are wired into trees of up to 648 nodes:
 * the first ports of a leaf go to its nodes, in order, the next ones to the
 * spines, in order, with all cables to one spine side by side; the ports of a
 * spine go to the leaves in order. */

#define MAX_RADIX 64u /* of the switches of a three-level tree: 65,536 nodes */

/* --- Fat trees of two levels --- */

TopoFabric *
topo_fabric_tree (uint32_t leaves, uint32_t nodes, uint32_t spines, TopoRate rate, GError **error)
{
  g_autofree char *source = g_strdup_printf ("fattree:%ux%u:%u", leaves, nodes, spines);
  g_autoptr (TopoFabricBuilder) builder = topo_build_new (source);
  uint32_t cables = 1, leaf_ports; /* cables from a leaf to a spine */

  if (leaves < 1 || nodes < 1 || leaves > 254 || nodes > 253) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%s: 1 to 254 leaves with 1 to 253 nodes each are possible", source);
    return NULL;
  }
  if (spines == 0)
    spines = nodes % 2 == 0 ? nodes / 2 : nodes;
  if (nodes > spines)
    cables = nodes / spines;
  leaf_ports = nodes + spines * cables;
  if (leaf_ports > 254 || leaves * cables > 254) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%s: needs leaves of %u and spines of %u ports; a switch has at most 254", source,
                 leaf_ports, leaves * cables);
    return NULL;
  }
  if (!wire_devices (builder, TOPO_WIRE_LEAF, leaves, leaf_ports, error) ||
      !wire_devices (builder, TOPO_WIRE_SPINE, spines, leaves * cables, error) ||
      !wire_devices (builder, TOPO_WIRE_NODE, leaves * nodes, 1, error))
    return NULL;
  for (uint32_t leaf = 0; leaf < leaves; leaf++) {
    for (uint32_t at = 0; at < nodes; at++)
      if (!topo_wire_cable (builder, (TopoPlug){ TOPO_WIRE_LEAF, leaf, at + 1 },
                            (TopoPlug){ TOPO_WIRE_NODE, leaf * nodes + at, 1 }, rate, error))
        return NULL;
    for (uint32_t spine = 0; spine < spines; spine++)
      for (uint32_t cable = 0; cable < cables; cable++)
        if (!topo_wire_cable (
                builder, (TopoPlug){ TOPO_WIRE_LEAF, leaf, nodes + spine * cables + cable + 1 },
                (TopoPlug){ TOPO_WIRE_SPINE, spine, leaf * cables + cable + 1 }, rate, error))
          return NULL;
  }
  return topo_build_finish (builder, error);
}

/* --- Fat trees of three levels --- */

TopoFabric *
topo_fabric_tree3 (uint32_t radix, TopoRate rate, GError **error)
{
  g_autofree char *source = g_strdup_printf ("fattree3:%u", radix);
  g_autoptr (TopoFabricBuilder) builder = topo_build_new (source);
  uint32_t half = radix / 2;

  if (radix < 4 || radix % 2 != 0 || radix > MAX_RADIX) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%s: the switches of a three-level tree have an even number of ports, 4 to %u",
                 source, MAX_RADIX);
    return NULL;
  }
  if (!wire_devices (builder, TOPO_WIRE_LEAF, radix * half, radix, error) ||
      !wire_devices (builder, TOPO_WIRE_SPINE, radix * half, radix, error) ||
      !wire_devices (builder, TOPO_WIRE_CORE, half * half, radix, error) ||
      !wire_devices (builder, TOPO_WIRE_NODE, radix * half * half, 1, error))
    return NULL;
  for (uint32_t pod = 0; pod < radix; pod++) {
    /* k-port switches in k pods: each pod has k/2 leaves and k/2 spines, leaf and
     * spine number s of any pod are joined by one cable; spine s of every pod
     * reaches the cores s * k/2 .. s * k/2 + k/2 - 1. */
    for (uint32_t leaf = 0; leaf < half; leaf++)
      for (uint32_t at = 0; at < half; at++)
        if (!topo_wire_cable (builder, (TopoPlug){ TOPO_WIRE_LEAF, pod * half + leaf, at + 1 },
                              (TopoPlug){ TOPO_WIRE_NODE, (pod * half + leaf) * half + at, 1 },
                              rate, error) ||
            !topo_wire_cable (
                builder, (TopoPlug){ TOPO_WIRE_LEAF, pod * half + leaf, half + at + 1 },
                (TopoPlug){ TOPO_WIRE_SPINE, pod * half + at, leaf + 1 }, rate, error))
          return NULL;
    for (uint32_t spine = 0; spine < half; spine++)
      for (uint32_t at = 0; at < half; at++)
        if (!topo_wire_cable (
                builder, (TopoPlug){ TOPO_WIRE_SPINE, pod * half + spine, half + at + 1 },
                (TopoPlug){ TOPO_WIRE_CORE, spine * half + at, pod + 1 }, rate, error))
          return NULL;
  }
  return topo_build_finish (builder, error);
}

/* --- TACC's Stampede of 2013 ---
 *
 * TACC's user guide: over 320 36-port leaf switches with 20 nodes and 16 cables to the
 * core each, eight 648-port directors (Mellanox SX6536), at most 5 hops.  A
 * director of this size is 36 boards of 18 outer ports and 18 spine chips, one cable
 * from each board to each.  Which outer port a leaf's cable goes to is our
 * assumption: in the order of the leaves. */

#define LEAF_NODES     20
#define DIRECTORS      8
#define LEAF_CABLES    2 /* from a leaf to a director */
#define LEAF_PORTS     36
#define BOARD_PORTS    18 /* outer ones, and as many inner ones */
#define DIRECTOR_CHIPS 18

TopoFabric *
topo_fabric_stampede (uint32_t n_nodes, TopoRate rate, GError **error)
{
  g_autofree char *source = g_strdup_printf ("stampede:%u", n_nodes);
  g_autoptr (TopoFabricBuilder) builder = topo_build_new (source);
  uint32_t n_leaves = (n_nodes + LEAF_NODES - 1) / LEAF_NODES;
  uint32_t n_boards = n_leaves > 1 ? (n_leaves * LEAF_CABLES + BOARD_PORTS - 1) / BOARD_PORTS : 0;
  uint32_t n_chips = n_boards > 1 ? DIRECTOR_CHIPS : 0; /* of a director */

  if (!wire_devices (builder, TOPO_WIRE_LEAF, n_leaves, LEAF_PORTS, error) ||
      !wire_devices (builder, TOPO_WIRE_BOARD, DIRECTORS * n_boards, 2 * BOARD_PORTS, error) ||
      !wire_devices (builder, TOPO_WIRE_SPINE, DIRECTORS * n_chips, LEAF_PORTS, error) ||
      !wire_devices (builder, TOPO_WIRE_NODE, n_nodes, 1, error))
    return NULL;
  for (uint32_t node = 0; node < n_nodes; node++)
    if (!topo_wire_cable (builder,
                          (TopoPlug){ TOPO_WIRE_LEAF, node / LEAF_NODES, node % LEAF_NODES + 1 },
                          (TopoPlug){ TOPO_WIRE_NODE, node, 1 }, rate, error))
      return NULL;

  for (uint32_t director = 0; director < DIRECTORS && n_boards > 0; director++) {
    /* From the leaves to the boards, then from the boards to the spine chips. */
    for (uint32_t outer = 0; outer < n_leaves * LEAF_CABLES; outer++) {
      uint32_t leaf = outer / LEAF_CABLES;
      uint32_t port = LEAF_NODES + director * LEAF_CABLES + outer % LEAF_CABLES + 1;
      uint32_t board = director * n_boards + outer / BOARD_PORTS;

      if (!topo_wire_cable (builder, (TopoPlug){ TOPO_WIRE_LEAF, leaf, port },
                            (TopoPlug){ TOPO_WIRE_BOARD, board, outer % BOARD_PORTS + 1 }, rate,
                            error))
        return NULL;
    }
    for (uint32_t board = 0; board < n_boards; board++)
      for (uint32_t chip = 0; chip < n_chips; chip++)
        if (!topo_wire_cable (
                builder,
                (TopoPlug){ TOPO_WIRE_BOARD, director * n_boards + board, BOARD_PORTS + chip + 1 },
                (TopoPlug){ TOPO_WIRE_SPINE, director * DIRECTOR_CHIPS + chip, board + 1 }, rate,
                error))
          return NULL;
  }
  return topo_build_finish (builder, error);
}
