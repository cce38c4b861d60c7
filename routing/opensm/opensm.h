/* opensm.h - tables that a real subnet manager computes; private to routing/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "routing/forwarding/forwarding_private.h"

/* Runs OpenSM with this engine on ibsim's simulation of the fabric, both in a
 * folder of their own, and reads the tables that it leaves and the lanes that
 * it gives to pairs, of max_vls (1 .. 15).  At most half a minute; both programs
 * have ended when it returns, and end when this one does.  *error when they
 * are not installed, or the engine refuses the fabric. */
RouteForwarding *
route_opensm_run (const TopoFabric *fabric, const char *engine, uint32_t max_vls, GError **error);

/* GUIDs of our own by device, so that what comes back can be told apart whatever the
 * source of the fabric called its devices, in the order in which OpenSM puts
 * the real ones: it decides by them which of several ways to take.  That of
 * an adapter's port is the device's plus the number of the port, as ibsim makes
 * them.  The caller frees them. */
uint64_t *route_opensm_guids (const TopoFabric *fabric);

/* --- opensm_lanes.c: the service levels that OpenSM gives to pairs --- */

typedef struct {
  const char *socket_name; /* of ibsim */
  const char *lids;        /* path of OpenSM's table of GUIDs and LIDs */
  const char *log;         /* path of OpenSM's log */
  uint32_t max_vls;
  gint64 last_us; /* when to give up, of the monotonic clock */
} RouteOpensmLanes;

/* Asks a running OpenSM for the service level of every pair and fills in
 * tables->vl and n_vls. */
gboolean
route_opensm_read_lanes (RouteForwarding *tables, const RouteOpensmLanes *lanes, GError **error);
