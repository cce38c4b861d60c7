/* network.c - what every network shares.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/network.h"

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
