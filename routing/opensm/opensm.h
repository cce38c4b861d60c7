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
