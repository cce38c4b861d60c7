/* ucx.h - the choices that UCX makes on a machine.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/replay/ucx_model.h"
#include "topology/mapping/mapping.h"

/* Of a fabric whose ranks are placed; by the node and the adapters of rank 0.  blocking: of sends
 * whose calls end when they are complete. */
void sim_ucx_choose_for (const TopoMachine *machine, const TopoMapping *mapping, bool blocking,
                         SimUcxChoice *choice);
