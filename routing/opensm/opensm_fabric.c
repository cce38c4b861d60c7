/* opensm_fabric.c - the fabric in the words of ibsim and OpenSM.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "routing/forwarding/forwarding_private.h"
#include "routing/opensm/opensm_private.h"
#include "routing/routes.h"
#include "topology/machine.h"

#include <string.h>

#define FIRST_GUID UINT64_C (0x0010000000000000)

/* The last byte has room for the ports, the three before it for the place,
 * the last of them for its highest part: see route_compared_guid(). */
static uint64_t
guid_of_place (uint32_t place)
{
  return FIRST_GUID | (uint64_t) (place >> 16 & 0xff) << 8 | (uint64_t) (place >> 8 & 0xff) << 16 |
         (uint64_t) (place & 0xff) << 24;
}

static gint
by_guid (gconstpointer left, gconstpointer right, gpointer data)
{
  const TopoFabric *fabric = data;
  uint32_t a = *(const uint32_t *) left, b = *(const uint32_t *) right;
  uint64_t guid = route_compared_guid (fabric, a), other = route_compared_guid (fabric, b);

  if (guid != other)
    return guid < other ? -1 : 1;
  return a < b ? -1 : a > b;
}

uint64_t *
route_opensm_guids (const TopoFabric *fabric)
{
  uint64_t *guids = g_new (uint64_t, fabric->n_devices + 1);
  g_autofree uint32_t *order = g_new (uint32_t, fabric->n_devices + 1);

  for (uint32_t device = 0; device < fabric->n_devices; device++)
    order[device] = device;
  g_qsort_with_data (order, (gint) fabric->n_devices, sizeof *order, by_guid, (gpointer) fabric);
  for (uint32_t place = 0; place < fabric->n_devices; place++)
    guids[order[place]] = guid_of_place (place);
  return guids;
}

static void
write_device (GString *text, const TopoFabric *fabric, const uint64_t *guids, uint32_t device)
{
  const TopoDevice *it = &fabric->devices[device];

  g_string_append_printf (
      text, "%sguid=0x%" G_GINT64_MODIFIER "x\n%s %u \"%c-%016" G_GINT64_MODIFIER "x\" # \"%u\"\n",
      it->is_switch ? "switch" : "ca", guids[device], it->is_switch ? "Switch" : "Ca", it->n_ports,
      it->is_switch ? 'S' : 'H', guids[device], device);
  for (uint32_t number = 1; number <= it->n_ports; number++) {
    const TopoPort *port = &fabric->ports[it->first_port + number - 1];
    const TopoPort *peer = port->peer != TOPO_NONE ? &fabric->ports[port->peer] : NULL;

    if (peer != NULL)
      g_string_append_printf (text, "[%u] \"%c-%016" G_GINT64_MODIFIER "x\"[%u] # lid 0 %ux%s\n",
                              number, fabric->devices[peer->device].is_switch ? 'S' : 'H',
                              guids[peer->device], topo_fabric_port_number (fabric, port->peer),
                              port->lanes, topo_speed_name (port->speed));
  }
  g_string_append_c (text, '\n');
}

gboolean
route_opensm_write_fabric (const TopoFabric *fabric, const char *path, GError **error)
{
  g_autofree uint64_t *guids = route_opensm_guids (fabric);
  g_autoptr (GString) text = g_string_new (NULL);

  for (int kind = 0; kind < 2; kind++)
    for (uint32_t device = 0; device < fabric->n_devices; device++)
      if (fabric->devices[device].is_switch == (kind == 0))
        write_device (text, fabric, guids, device);
  return g_file_set_contents (path, text->str, (gssize) text->len, error);
}

/* The same fabric under the GUIDs that were written; arrays are its own. */
static TopoFabric
renamed (const TopoFabric *fabric)
{
  g_autofree uint64_t *guids = route_opensm_guids (fabric);
  TopoFabric copy = *fabric;

  copy.devices = g_memdup2 (fabric->devices, fabric->n_devices * sizeof *fabric->devices);
  copy.ports = g_memdup2 (fabric->ports, fabric->n_ports * sizeof *fabric->ports);
  for (uint32_t device = 0; device < copy.n_devices; device++) {
    copy.devices[device].guid = guids[device];
    copy.devices[device].lid = 0;
  }
  for (uint32_t port = 0; port < copy.n_ports; port++)
    copy.ports[port].guid = copy.ports[port].lid = copy.ports[port].lmc = 0;
  return copy;
}

RouteForwarding *
route_opensm_load (const TopoFabric *fabric, const char *path, const char *engine, GError **error)
{
  TopoFabric copy = renamed (fabric);
  g_autoptr (GError) cause = NULL;
  RouteForwarding *tables = route_forwarding_load (&copy, path, &cause);

  g_free (copy.devices);
  g_free (copy.ports);
  if (tables == NULL) {
    /* The dump is gone by the time anybody reads this. */
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "routes=opensm:%s: OpenSM's tables do not fit %s, which may fall apart%s", engine,
                 fabric->source, strrchr (cause->message, ':'));
    return NULL;
  }
  tables->fabric = fabric;
  g_free (tables->engine);
  tables->engine = g_strconcat ("opensm:", engine, NULL);
  return tables;
}
