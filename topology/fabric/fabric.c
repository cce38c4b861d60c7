/* fabric.c - fabrics: link rates, names, and how one is put together from its devices and cables.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/fabric/fabric.h"

#include "topology/fabric/fabric_build.h"
#include "topology/machine.h"

#include <string.h>

/* --- Link rates --- */

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

/* The names of halved cables: a port of four lanes split in two, or an adapter with two lanes. */
static const struct {
  const char *name;
  TopoRate rate;
} halves[] = {
  { "HDR100", { 2, TOPO_SPEED_HDR } },
  { "NDR200", { 2, TOPO_SPEED_NDR } },
};

bool
topo_rate_parse (const char *text, TopoRate *rate)
{
  TopoRate whole = { .lanes = 4 };

  for (gsize at = 0; at < G_N_ELEMENTS (halves); at++)
    if (!g_ascii_strcasecmp (halves[at].name, text)) {
      *rate = halves[at].rate;
      return true;
    }
  if (!topo_speed_parse (text, strlen (text), &whole.speed))
    return false;
  *rate = whole;
  return true;
}

const char *
topo_rate_name (TopoRate rate)
{
  for (gsize at = 0; at < G_N_ELEMENTS (halves); at++)
    if (halves[at].rate.lanes == rate.lanes && halves[at].rate.speed == rate.speed)
      return halves[at].name;
  g_assert (rate.lanes == 4);
  return topo_speed_name (rate.speed);
}

uint64_t
topo_link_bandwidth_Bps (uint32_t lanes, TopoSpeed speed)
{
  g_assert (speed < TOPO_SPEEDS);
  return lanes * speeds[speed].lane_Bps;
}

bool
topo_fabric_has_cable (const TopoFabric *fabric, uint32_t device)
{
  for (uint32_t number = 0; number < fabric->devices[device].n_ports; number++)
    if (fabric->ports[fabric->devices[device].first_port + number].peer != TOPO_NONE)
      return true;
  return false;
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

/* --- The adapters of one node --- */

/* The host in the description of an adapter: "node17" of "node17 HCA-1" or
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

/* --- Collecting devices and ends of cables --- */

#define MAX_PORTS   254 /* port numbers are bytes, 0 and 255 mean others */
#define MAX_DEVICES (1u << 20)

typedef struct {
  char *id, *name;
  uint64_t guid;
  bool is_switch;
  uint32_t n_ports, lid, model, line;
} Device;

typedef struct {
  uint32_t device, number, peer_number;
  char *peer_id;
  uint64_t guid;
  uint32_t lid, lmc, peer_lid, lanes, line;
  TopoSpeed speed;
} End;

struct TopoFabricBuilder {
  char *source;
  GArray *devices;   /* (element-type Device) */
  GArray *ends;      /* (element-type End) */
  GHashTable *by_id; /* (element-type utf8 uint) number + 1 */
  GHashTable *by_guid;
  GPtrArray *warnings;
};

static void
device_clear (gpointer data)
{
  Device *device = data;

  g_free (device->id);
  g_free (device->name);
}

static void
end_clear (gpointer data)
{
  g_free (((End *) data)->peer_id);
}

TopoFabricBuilder *
topo_build_new (const char *source)
{
  TopoFabricBuilder *builder = g_new0 (TopoFabricBuilder, 1);

  builder->source = g_strdup (source);
  builder->devices = g_array_new (FALSE, FALSE, sizeof (Device));
  g_array_set_clear_func (builder->devices, device_clear);
  builder->ends = g_array_new (FALSE, FALSE, sizeof (End));
  g_array_set_clear_func (builder->ends, end_clear);
  builder->by_id = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  builder->by_guid = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  builder->warnings = g_ptr_array_new_with_free_func (g_free);
  return builder;
}

void
topo_build_free (TopoFabricBuilder *builder)
{
  if (builder == NULL)
    return;
  g_array_unref (builder->devices);
  g_array_unref (builder->ends);
  g_hash_table_unref (builder->by_id);
  g_hash_table_unref (builder->by_guid);
  g_ptr_array_unref (builder->warnings);
  g_free (builder->source);
  g_free (builder);
}

static Device *
device_at (const TopoFabricBuilder *builder, uint32_t device)
{
  return &g_array_index (builder->devices, Device, device);
}

static void fail (GError **error, const TopoFabricBuilder *builder, uint32_t line,
                  const char *format, ...) G_GNUC_PRINTF (4, 5);

static void
fail (GError **error, const TopoFabricBuilder *builder, uint32_t line, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (line > 0)
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s:%u: %s", builder->source, line, text);
  else
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s: %s", builder->source, text);
}

uint32_t
topo_build_find (const TopoFabricBuilder *builder, const char *id)
{
  guint found = GPOINTER_TO_UINT (g_hash_table_lookup (builder->by_id, id));

  return found > 0 ? found - 1 : TOPO_NONE;
}

uint32_t
topo_build_device (TopoFabricBuilder *builder, const TopoBuildDevice *device, GError **error)
{
  uint32_t index = builder->devices->len, there = topo_build_find (builder, device->id);
  gpointer owner = g_hash_table_lookup (builder->by_guid, &device->guid);
  Device new;

  if (there == TOPO_NONE && device->guid != 0 && owner != NULL)
    there = (uint32_t) GPOINTER_TO_UINT (owner) - 1;
  if (there != TOPO_NONE) {
    fail (error, builder, device->line, "\"%s\" has the name or GUID of \"%s\" in line %u",
          device->id, device_at (builder, there)->id, device_at (builder, there)->line);
    return TOPO_NONE;
  }
  if (device->n_ports < 1 || device->n_ports > MAX_PORTS) {
    fail (error, builder, device->line, "\"%s\" has %u ports; 1 to %d are possible", device->id,
          device->n_ports, MAX_PORTS);
    return TOPO_NONE;
  }
  if (index == MAX_DEVICES) {
    fail (error, builder, device->line, "more than %u devices", MAX_DEVICES);
    return TOPO_NONE;
  }
  new = (Device){
    .id = g_strdup (device->id),
    .name = g_strdup (device->name != NULL ? device->name : device->id),
    .guid = device->guid,
    .is_switch = device->is_switch,
    .n_ports = device->n_ports,
    .lid = device->lid,
    .model = device->model,
    .line = device->line,
  };
  g_array_append_val (builder->devices, new);
  g_hash_table_insert (builder->by_id, g_strdup (device->id), GUINT_TO_POINTER (index + 1));
  if (device->guid != 0)
    g_hash_table_insert (builder->by_guid, g_memdup2 (&device->guid, sizeof device->guid),
                         GUINT_TO_POINTER (index + 1));
  return index;
}

gboolean
topo_build_end (TopoFabricBuilder *builder, const TopoBuildEnd *end, GError **error)
{
  const Device *device = device_at (builder, end->device);
  End new;

  if (end->number < 1 || end->number > device->n_ports) {
    fail (error, builder, end->line, "port %u of \"%s\", which has %u", end->number, device->id,
          device->n_ports);
    return FALSE;
  }
  new = (End){
    .device = end->device,
    .number = end->number,
    .peer_id = g_strdup (end->peer_id),
    .peer_number = end->peer_number,
    .guid = end->guid,
    .lid = end->lid,
    .lmc = end->lmc,
    .peer_lid = end->peer_lid,
    .lanes = end->lanes,
    .speed = end->speed,
    .line = end->line,
  };
  g_array_append_val (builder->ends, new);
  return TRUE;
}

/* --- Putting it together --- */

/* Makes the devices and their ports, and finds the end of a cable at each port. */
static gboolean
place_ends (TopoFabricBuilder *builder, TopoFabric *fabric, const End ***end_of_port,
            GError **error)
{
  const End **ends;

  fabric->n_devices = builder->devices->len;
  fabric->devices = g_new0 (TopoDevice, MAX (fabric->n_devices, 1));
  for (uint32_t index = 0; index < fabric->n_devices; index++) {
    Device *from = device_at (builder, index);

    fabric->devices[index] = (TopoDevice){
      .id = g_steal_pointer (&from->id),
      .name = g_steal_pointer (&from->name),
      .guid = from->guid,
      .is_switch = from->is_switch,
      .n_ports = from->n_ports,
      .first_port = fabric->n_ports,
      .lid = from->lid,
      .model = from->model,
      .node = TOPO_NONE,
    };
    fabric->n_ports += from->n_ports;
    *(from->is_switch ? &fabric->n_switches : &fabric->n_adapters) += 1;
  }
  fabric->ports = g_new0 (TopoPort, MAX (fabric->n_ports, 1));
  *end_of_port = ends = g_new0 (const End *, MAX (fabric->n_ports, 1));
  for (uint32_t device = 0; device < fabric->n_devices; device++)
    for (uint32_t number = 0; number < fabric->devices[device].n_ports; number++)
      fabric->ports[fabric->devices[device].first_port + number] =
          (TopoPort){ .device = device, .peer = TOPO_NONE };
  for (uint32_t index = 0; index < builder->ends->len; index++) {
    const End *end = &g_array_index (builder->ends, End, index);
    uint32_t port = fabric->devices[end->device].first_port + end->number - 1;

    if (ends[port] != NULL) {
      fail (error, builder, end->line, "port %u of \"%s\" is in line %u already", end->number,
            fabric->devices[end->device].id, ends[port]->line);
      return FALSE;
    }
    ends[port] = end;
  }
  return TRUE;
}

/* Both ends of a cable must agree on its ports. */
static gboolean
connect_ports (TopoFabricBuilder *builder, TopoFabric *fabric, const End *const *end_of_port,
               GError **error)
{
  for (uint32_t at = 0; at < fabric->n_ports; at++) {
    TopoPort *port = &fabric->ports[at];
    const End *end = end_of_port[at], *back;
    uint32_t device;

    if (end == NULL)
      continue;
    device = topo_build_find (builder, end->peer_id);
    if (device == TOPO_NONE || end->peer_number < 1 ||
        end->peer_number > fabric->devices[device].n_ports) {
      fail (error, builder, end->line, "the cable leads to port %u of \"%s\", which %s",
            end->peer_number, end->peer_id,
            device == TOPO_NONE ? "is not described" : "has no such port");
      return FALSE;
    }
    port->peer = fabric->devices[device].first_port + end->peer_number - 1;
    back = end_of_port[port->peer];
    if (back == NULL) {
      fail (error, builder, end->line, "the cable to port %u of \"%s\" is seen from this end only",
            end->peer_number, end->peer_id);
      return FALSE;
    }
    if (topo_build_find (builder, back->peer_id) != port->device ||
        back->peer_number != end->number) {
      fail (
          error, builder, end->line,
          "the cable leads to port %u of \"%s\", whose cable leads to port %u of \"%s\" (line %u)",
          end->peer_number, end->peer_id, back->peer_number, back->peer_id, back->line);
      return FALSE;
    }
    port->guid = end->guid;
    port->lid = end->lid != 0 ? end->lid : back->peer_lid;
    port->lmc = (uint8_t) end->lmc;
    /* The ends negotiate; a dump taken meanwhile can show different rates. */
    port->lanes = (uint8_t) MIN (end->lanes, back->lanes);
    port->speed = (uint8_t) MIN (end->speed, back->speed);
    if (end->lanes != back->lanes || end->speed != back->speed)
      g_ptr_array_add (
          builder->warnings,
          g_strdup_printf (
              "%s:%u: %ux %s here, %ux %s at the other end (line %u): the slower counts",
              builder->source, end->line, end->lanes, topo_speed_name (end->speed), back->lanes,
              topo_speed_name (back->speed), back->line));
    fabric->n_links++;
  }
  return TRUE;
}

TopoFabric *
topo_build_finish (TopoFabricBuilder *builder, GError **error)
{
  g_autoptr (TopoFabric) fabric = g_new0 (TopoFabric, 1);
  g_autoptr (GHashTable) nodes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autofree const End **end_of_port = NULL; /* [n_ports] NULL: no cable */
  g_autofree uint32_t *filled = NULL;
  uint32_t next = 0;

  fabric->source = g_strdup (builder->source);
  if (!place_ends (builder, fabric, &end_of_port, error) ||
      !connect_ports (builder, fabric, end_of_port, error))
    return NULL;

  /* A node for each host name at the beginning of the descriptions of connected
   * adapters, and one for each adapter without a host name. */
  fabric->hosts = g_new0 (TopoHost, MAX (fabric->n_adapters, 1));
  for (uint32_t index = 0; index < fabric->n_devices; index++) {
    TopoDevice *device = &fabric->devices[index];
    g_autofree char *host = device->is_switch ? NULL : host_of (device->name);
    guint known = host != NULL ? GPOINTER_TO_UINT (g_hash_table_lookup (nodes, host)) : 0;
    bool is_connected = false;

    for (uint32_t number = 0; number < device->n_ports; number++)
      is_connected |= fabric->ports[device->first_port + number].peer != TOPO_NONE;
    if (device->is_switch || !is_connected)
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

  /* The adapters of each node. */
  filled = g_new0 (uint32_t, MAX (fabric->n_hosts, 1));
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
  if (fabric->n_hosts == 0) {
    fail (error, builder, 0, "no node: no host adapter is plugged in");
    return NULL;
  }
  fabric->warnings = g_steal_pointer (&builder->warnings);
  builder->warnings = g_ptr_array_new_with_free_func (g_free);
  return g_steal_pointer (&fabric);
}
