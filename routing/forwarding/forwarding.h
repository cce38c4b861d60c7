/* forwarding.h - the forwarding tables of a fabric: one port per destination.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A switch sends a packet out through the port that its linear forwarding
 * table names for the packet's destination (infiniband.md section A6), so that
 * all packets to one destination follow a tree.
 *
 *   destination  0 .. n_destinations-1: the plugged-in ports of host adapters,
 *                in the order of the fabric's ports
 *   switch       0 .. n_switches-1: the switches in the order of its devices
 *
 * Pure tables once made, shared by readers. */
#pragma once

#include "topology/fabric/fabric.h"

#define ROUTE_NO_PORT 0 /* the table has no way to the destination */

typedef struct {
  const TopoFabric *fabric; /* borrowed */
  char *engine;             /* "minhop", or the path of the dump */
  uint32_t n_switches, n_destinations;
  uint32_t *switch_device;    /* [n_switches] device of a switch */
  uint32_t *switch_of;        /* [n_devices] TOPO_NONE: an adapter */
  uint32_t *destination_port; /* [n_destinations] port of the fabric */
  uint32_t *destination_of;   /* [n_ports] TOPO_NONE: not a destination */
  uint8_t *out;               /* [switch * n_destinations + destination] number of the port */
  uint8_t *vl;    /* [source * n_destinations + destination] lane of the pair on all its links, the
                * source by its number as a destination; NULL: all on VL 0 */
  uint32_t n_vls; /* all lanes are below it; at least 1 */
  /* What an adaptive switch may choose among (route_forwarding_add_groups):
   * [(switch * n_switches + the destination's switch) * group_words + word],
   * bit = number of a port that begins a shortest way there; NULL: none. */
  uint64_t *group;
  uint32_t group_words;
} RouteForwarding;

void route_forwarding_free (RouteForwarding *tables);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (RouteForwarding, route_forwarding_free)

static inline uint32_t
route_forwarding_out (const RouteForwarding *tables, uint32_t at_switch, uint32_t destination)
{
  return tables->out[(size_t) at_switch * tables->n_destinations + destination];
}

static inline uint32_t
route_forwarding_vl (const RouteForwarding *tables, uint32_t source, uint32_t destination)
{
  return tables->vl != NULL ? tables->vl[(size_t) source * tables->n_destinations + destination]
                            : 0;
}

/* The switch behind a port of an adapter or switch; TOPO_NONE: an adapter. */
static inline uint32_t
route_forwarding_behind (const RouteForwarding *tables, uint32_t port)
{
  const TopoFabric *fabric = tables->fabric;

  return tables->switch_of[fabric->ports[fabric->ports[port].peer].device];
}

/* Writes the links (ports that are left) of the way from one adapter port to
 * a destination to links[] (room for n_switches + 2); returns how many, 0 when
 * the tables do not lead there. */
uint32_t route_forwarding_path (const RouteForwarding *tables, uint32_t from_port,
                                uint32_t destination, uint32_t *links);
