/* fabric.c - link rates, and the names of ports.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/fabric/fabric.h"

#include <string.h>

/* Signalling per lane and line code: 8b/10b up to QDR, 64b/66b from FDR10 on,
 * where the faster ones have error correction too, whose share the names
 * (100, 200, 400 Gb/s at four lanes) already leave out. */
static const struct {
  const char *name;
  uint64_t lane_Bps; /* data */
} speeds[TOPO_SPEEDS] = {
  [TOPO_SPEED_SDR] = { "SDR", 250000000 },  [TOPO_SPEED_DDR] = { "DDR", 500000000 },
  [TOPO_SPEED_QDR] = { "QDR", 1000000000 }, [TOPO_SPEED_FDR10] = { "FDR10", 1250000000 },
  [TOPO_SPEED_FDR] = { "FDR", 1704545454 }, [TOPO_SPEED_EDR] = { "EDR", 3125000000 },
  [TOPO_SPEED_HDR] = { "HDR", 6250000000 }, [TOPO_SPEED_NDR] = { "NDR", 12500000000 },
};

bool
topo_speed_parse (const char *text, gsize length, TopoSpeed *speed)
{
  for (guint at = 0; at < TOPO_SPEEDS; at++)
    if (strlen (speeds[at].name) == length &&
        !g_ascii_strncasecmp (speeds[at].name, text, length)) {
      *speed = (TopoSpeed) at;
      return true;
    }
  return false;
}

const char *
topo_speed_name (TopoSpeed speed)
{
  g_assert (speed < TOPO_SPEEDS);
  return speeds[speed].name;
}

uint64_t
topo_link_bandwidth_Bps (uint32_t lanes, TopoSpeed speed)
{
  g_assert (speed < TOPO_SPEEDS);
  return lanes * speeds[speed].lane_Bps;
}

char *
topo_fabric_port_name (const TopoFabric *fabric, uint32_t port)
{
  return g_strdup_printf ("%s port %u", fabric->devices[fabric->ports[port].device].name,
                          topo_fabric_port_number (fabric, port));
}

void
topo_fabric_free (TopoFabric *fabric)
{
  if (fabric == NULL)
    return;
  for (uint32_t device = 0; device < fabric->n_devices; device++) {
    g_free (fabric->devices[device].id);
    g_free (fabric->devices[device].name);
  }
  for (uint32_t node = 0; node < fabric->n_hosts; node++)
    g_free (fabric->hosts[node].name);
  g_free (fabric->devices);
  g_free (fabric->ports);
  g_free (fabric->hosts);
  g_free (fabric->rails);
  g_free (fabric->source);
  g_clear_pointer (&fabric->warnings, g_ptr_array_unref);
  g_free (fabric);
}
