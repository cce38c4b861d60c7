/* fabric_nodes.c - which adapters are one node.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/fabric/fabric_build.h"

#include <string.h>

/* The host that an adapter says it is in: "node17" of "node17 HCA-1" or
 * "node17 mlx5_0"; NULL when the description is the vendor's. */
static char *
host_of (const char *name)
{
  static const char *const kinds[] = { "HCA-", "HCA", "mlx", "hfi", "qib", "ib", NULL };
  const char *blank = strchr (name, ' ');

  if (blank == NULL || blank == name)
    return NULL;
  for (guint kind = 0; kinds[kind] != NULL; kind++)
    if (g_str_has_prefix (blank + 1, kinds[kind]) && strchr (blank + 1, ' ') == NULL)
      return g_strndup (name, (gsize) (blank - name));
  return NULL;
}

static bool
is_plugged_in (const TopoFabric *fabric, const TopoDevice *device)
{
  for (uint32_t number = 0; number < device->n_ports; number++)
    if (fabric->ports[device->first_port + number].peer != TOPO_NONE)
      return true;
  return false;
}

/* A node for each host name, and one for each adapter without. */
static void
number_nodes (TopoFabric *fabric)
{
  g_autoptr (GHashTable) nodes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  fabric->hosts = g_new0 (TopoHost, MAX (fabric->n_adapters, 1));
  for (uint32_t index = 0; index < fabric->n_devices; index++) {
    TopoDevice *device = &fabric->devices[index];
    g_autofree char *host = device->is_switch ? NULL : host_of (device->name);
    guint known = host != NULL ? GPOINTER_TO_UINT (g_hash_table_lookup (nodes, host)) : 0;

    if (device->is_switch || !is_plugged_in (fabric, device))
      continue;
    if (known == 0) {
      fabric->hosts[fabric->n_hosts].name = g_strdup (host != NULL ? host : device->id);
      known = ++fabric->n_hosts;
      if (host != NULL)
        g_hash_table_insert (nodes, g_steal_pointer (&host), GUINT_TO_POINTER (known));
    }
    device->node = known - 1;
    fabric->hosts[device->node].n_rails++;
  }
}

static void
list_rails (TopoFabric *fabric)
{
  uint32_t next = 0;
  g_autofree uint32_t *filled = g_new0 (uint32_t, MAX (fabric->n_hosts, 1));

  fabric->rails = g_new (uint32_t, MAX (fabric->n_adapters, 1));
  for (uint32_t node = 0; node < fabric->n_hosts; node++) {
    fabric->hosts[node].first_rail = next;
    next += fabric->hosts[node].n_rails;
  }
  for (uint32_t index = 0; index < fabric->n_devices; index++) {
    uint32_t node = fabric->devices[index].node;

    if (node != TOPO_NONE)
      fabric->rails[fabric->hosts[node].first_rail + filled[node]++] = index;
  }
}

void
topo_build_nodes (TopoFabric *fabric)
{
  number_nodes (fabric);
  list_rails (fabric);
}
