/* network.c - what every network shares.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/network.h"

void
sim_network_watch (SimNetwork *network, SimLinkLoads *loads)
{
  g_assert (network->class->count != NULL);
  network->loads = loads;
  for (uint32_t part = 0; part < sim_network_n_parts (network); part++)
    sim_network_part (network, part)->windows_per_call = 1;
}

GQuark
sim_error_quark (void)
{
  return g_quark_from_static_string ("sim-error-quark");
}

void
sim_network_free (SimNetwork *network)
{
  if (network != NULL)
    network->class->free (network);
}
