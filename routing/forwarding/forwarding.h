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

#include "topology/machine.h"

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
  /* What it may choose besides for a packet that comes from an adapter or a leaf, in the same
   * form: ports that begin a way over another group of a Dragonfly+ (route_forwarding_add_detours);
   * NULL: none. */
  uint64_t *detour;
  bool *is_global; /* [n_ports] with detours: a cable between two spines */
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

/* --- Sources of tables --- */

/* Tables by one of our own engines:
 *
 *   minhop  shortest ways; each switch takes, for one destination after the
 *           other in OpenSM's order, the port of a shortest way with fewest
 *           destinations so far
 *   updn    the same among ways that never go up again after going down;
 *           levels are distances from the roots, which are found as OpenSM
 *           does: switches from which nearly all adapters are equally far
 *   ftree   for fat trees: goes up by the least used port, so that shift
 *           permutations do not meet on any link
 *   dor     to the switch behind the lowest-numbered port of a shortest way, by
 *           the least used of the ports that lead there
 *
 * Their names are topo_routing_engines().  NULL and *error (TOPO_ERROR) for an
 * unknown engine, and for one that cannot route this fabric. */
RouteForwarding *
route_forwarding_compute (const TopoFabric *fabric, const char *engine, GError **error);

/* Tables from the dump of real ones: OpenSM's opensm-lfts.dump, or what
 * ibroute or dump_lfts printed; a folder stands for all files in it, one per
 * switch.  Errors name file and line; so does a switch without a table. */
RouteForwarding *route_forwarding_load (const TopoFabric *fabric, const char *path, GError **error);

/* The tables that `routes` of a machine that is a fabric names: one of the
 * engines, opensm:ENGINE for tables that an installed OpenSM computes, or a path;
 * any of them after layers: with its pairs on as few virtual lanes as keep them
 * from deadlock.  OpenSM's lash, dfsssp and nue bring their own lanes.  *error
 * when the tables need more lanes than the ports have (switch.vls). */
RouteForwarding *route_forwarding_of_machine (const TopoMachine *machine, GError **error);

/* Fills in what an adaptive switch may choose among (RouteForwarding.group):
 * all ports with which a shortest way to the destination's switch begins.
 * *error (TOPO_ERROR) when buffers could then wait for each other in a circle,
 * as they cannot in a fat tree; the tables stay as they were. */
gboolean route_forwarding_add_groups (RouteForwarding *tables, GError **error);

/* Adds groups, and detours, for a Dragonfly+: a fabric of leaves, which have adapters, and spines,
 * which have none; the spines that leaves join are a group, and the cables between spines lead to
 * other groups.  A detour goes up to a spine, over to a spine of a third group and over again to the
 * group of the destination.  All packets start on lane 0; those on their second cable between
 * groups, and on the way down from there, are on lane 1, so that no buffers wait for each other in
 * a circle.  *error (TOPO_ERROR) for other fabrics, and for tables that have lanes of their own. */
gboolean route_forwarding_add_detours (RouteForwarding *tables, GError **error);

/* Either, or neither, as switch.adaptive of a machine says. */
gboolean
route_forwarding_add_choices (RouteForwarding *tables, TopoAdaptive adaptive, GError **error);
