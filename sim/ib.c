/* ib.c - the packet network of a switched fabric.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/network.h"

SimNetwork *
sim_ib_new (const TopoMachine *machine, G_GNUC_UNUSED const RoutePaths *paths,
            G_GNUC_UNUSED const TopoMapping *mapping, G_GNUC_UNUSED const SimClient *client,
            G_GNUC_UNUSED void *client_data, GError **error)
{
  g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK, "%s: no packets on fabrics yet", machine->spec);
  return NULL;
}
