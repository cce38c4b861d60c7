/* fabric_tree.c - fat trees by numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two levels, as 36-port switches are wired into trees of up to 648 nodes:
 * the first ports of a leaf go to its nodes, in order, the next ones to the
 * spines, in order, with all cables to one spine side by side; the ports of a
 * spine go to the leaves in order. */
#include "topology/fabric/fabric.h"

#include "topology/fabric/fabric_wire.h"
#include "topology/machine.h"

#define MAX_RADIX 64u /* of the switches of a three-level tree: 65,536 nodes */

/* --- Two levels --- */

typedef struct {
  uint32_t leaves, nodes, spines, cables; /* nodes: of a leaf; cables: from a leaf to a spine */
} Tree;

static gboolean
wire_tree (TopoFabricBuilder *builder, const Tree *tree, TopoSpeed speed, GError **error)
{
  for (uint32_t leaf = 0; leaf < tree->leaves; leaf++) {
    for (uint32_t at = 0; at < tree->nodes; at++)
      if (!topo_wire_cable (builder, (TopoPlug){ TOPO_WIRE_LEAF, leaf, at + 1 },
                            (TopoPlug){ TOPO_WIRE_NODE, leaf * tree->nodes + at, 1 }, speed, error))
        return FALSE;
    for (uint32_t spine = 0; spine < tree->spines; spine++)
      for (uint32_t cable = 0; cable < tree->cables; cable++)
        if (!topo_wire_cable (
                builder,
                (TopoPlug){ TOPO_WIRE_LEAF, leaf, tree->nodes + spine * tree->cables + cable + 1 },
                (TopoPlug){ TOPO_WIRE_SPINE, spine, leaf * tree->cables + cable + 1 }, speed,
                error))
          return FALSE;
  }
  return TRUE;
}

TopoFabric *
topo_fabric_tree (uint32_t leaves, uint32_t nodes, uint32_t spines, TopoSpeed speed, GError **error)
{
  g_autofree char *source = g_strdup_printf ("fattree:%ux%u:%u", leaves, nodes, spines);
  g_autoptr (TopoFabricBuilder) builder = topo_build_new (source);
  Tree tree = { leaves, nodes, spines, 1 };

  if (leaves < 1 || nodes < 1 || leaves > 254 || nodes > 253) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%s: 1 to 254 leaves with 1 to 253 nodes each are possible", source);
    return NULL;
  }
  if (tree.spines == 0)
    tree.spines = nodes % 2 == 0 ? nodes / 2 : nodes;
  if (nodes > tree.spines)
    tree.cables = nodes / tree.spines;
  if (nodes + tree.spines * tree.cables > 254 || leaves * tree.cables > 254) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%s: needs leaves of %u and spines of %u ports; a switch has at most 254", source,
                 nodes + tree.spines * tree.cables, leaves * tree.cables);
    return NULL;
  }
  if (!topo_wire_devices (builder, TOPO_WIRE_LEAF, leaves, nodes + tree.spines * tree.cables,
                          error) ||
      !topo_wire_devices (builder, TOPO_WIRE_SPINE, tree.spines, leaves * tree.cables, error) ||
      !topo_wire_devices (builder, TOPO_WIRE_NODE, leaves * nodes, 1, error) ||
      !wire_tree (builder, &tree, speed, error))
    return NULL;
  return topo_build_finish (builder, error);
}

/* --- Three levels --- */

/* k-port switches in k pods: each pod has k/2 leaves and k/2 spines, leaf and
 * spine number s of any pod are joined by one cable; spine s of every pod
 * reaches the cores s * k/2 .. s * k/2 + k/2 - 1. */
static gboolean
wire_pod (TopoFabricBuilder *builder, uint32_t pod, uint32_t half, TopoSpeed speed, GError **error)
{
  for (uint32_t leaf = 0; leaf < half; leaf++)
    for (uint32_t at = 0; at < half; at++)
      if (!topo_wire_cable (builder, (TopoPlug){ TOPO_WIRE_LEAF, pod * half + leaf, at + 1 },
                            (TopoPlug){ TOPO_WIRE_NODE, (pod * half + leaf) * half + at, 1 }, speed,
                            error) ||
          !topo_wire_cable (builder, (TopoPlug){ TOPO_WIRE_LEAF, pod * half + leaf, half + at + 1 },
                            (TopoPlug){ TOPO_WIRE_SPINE, pod * half + at, leaf + 1 }, speed, error))
        return FALSE;
  for (uint32_t spine = 0; spine < half; spine++)
    for (uint32_t at = 0; at < half; at++)
      if (!topo_wire_cable (builder,
                            (TopoPlug){ TOPO_WIRE_SPINE, pod * half + spine, half + at + 1 },
                            (TopoPlug){ TOPO_WIRE_CORE, spine * half + at, pod + 1 }, speed, error))
        return FALSE;
  return TRUE;
}

TopoFabric *
topo_fabric_tree3 (uint32_t radix, TopoSpeed speed, GError **error)
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
  if (!topo_wire_devices (builder, TOPO_WIRE_LEAF, radix * half, radix, error) ||
      !topo_wire_devices (builder, TOPO_WIRE_SPINE, radix * half, radix, error) ||
      !topo_wire_devices (builder, TOPO_WIRE_CORE, half * half, radix, error) ||
      !topo_wire_devices (builder, TOPO_WIRE_NODE, radix * half * half, 1, error))
    return NULL;
  for (uint32_t pod = 0; pod < radix; pod++)
    if (!wire_pod (builder, pod, half, speed, error))
      return NULL;
  return topo_build_finish (builder, error);
}
