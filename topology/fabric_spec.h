/* fabric_spec.h - fabrics as specs of machines; private to topology/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "topology/machine.h"

bool topo_fabric_is_spec (const char *spec);

/* Fills in what makes a machine a fabric: spec, fabric, routes and shape. */
gboolean topo_fabric_make (TopoMachine *machine, const char *spec, GError **error);
