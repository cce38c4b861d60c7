/* dump.c - forwarding tables from the dumps of real ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   Unicast lids [0x0-0x132] of switch Lid 1 guid 0x00066a02e8001310 (QLogic L101):
 *   0x0002 019 : (Switch portguid 0x00066a00eb002cb2: 'QLogic S201A')
 *   0x0004 001 # Channel Adapter portguid 0x0002c90001000001: 'node0 HCA-1'
 *
 * The head names a switch, each line an LID and the port towards it.  An LID
 * means the adapter port with that GUID where one has it, else the one that
 * has that LID in the description of the fabric: LIDs are given out anew by
 * every run of the subnet manager, GUIDs are not, but some dumps name the
 * GUID of another level of the device.  The same goes for switches.  A
 * switch's own management port and other switches are no destinations. */
#include "routing/forwarding/forwarding_private.h"

#include "base/file.h"
#include "routing/forwarding/forwarding.h"
#include "topology/machine.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  RouteForwarding *tables;
  GHashTable *port_by_guid;   /* guint64 -> port + 1 */
  GHashTable *port_by_lid;    /* lid -> port + 1 */
  GHashTable *switch_by_guid; /* guint64 -> switch + 1 */
  GHashTable *switch_by_lid;
  bool *filled; /* [n_switches] */
  const char *path;
  uint32_t line, at; /* at: the switch whose lines follow, TOPO_NONE: none */
} Dump;

static gboolean
bad_line (const Dump *dump, const char *problem, const char *text, GError **error)
{
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s:%u: %s: \"%s\"", dump->path, dump->line,
               problem, text);
  return FALSE;
}

static void
add_guid (GHashTable *table, uint64_t guid, uint32_t index)
{
  if (guid != 0 && !g_hash_table_contains (table, &guid))
    g_hash_table_insert (table, g_memdup2 (&guid, sizeof guid), GUINT_TO_POINTER (index + 1));
}

static void
add_lid (GHashTable *table, uint32_t lid, uint32_t index)
{
  if (lid != 0)
    g_hash_table_insert (table, GUINT_TO_POINTER (lid), GUINT_TO_POINTER (index + 1));
}

static uint32_t
find (GHashTable *by_guid, GHashTable *by_lid, uint64_t guid, uint32_t lid)
{
  guint found = GPOINTER_TO_UINT (g_hash_table_lookup (by_guid, &guid));

  if (found == 0)
    found = GPOINTER_TO_UINT (g_hash_table_lookup (by_lid, GUINT_TO_POINTER (lid)));
  return found > 0 ? found - 1 : TOPO_NONE;
}

static gboolean
read_head (Dump *dump, const char *text, GError **error)
{
  unsigned lid;
  unsigned long long guid;
  const char *found = strstr (text, "witch Lid ");

  if (found == NULL || sscanf (found, "witch Lid %6u guid 0x%16llx", &lid, &guid) != 2)
    return bad_line (dump, "expected \"switch Lid N guid 0xGUID\"", text, error);
  dump->at = find (dump->switch_by_guid, dump->switch_by_lid, guid, lid);
  if (dump->at == TOPO_NONE)
    return bad_line (dump, "the fabric has no such switch", text, error);
  if (dump->filled[dump->at])
    return bad_line (dump, "a second table of this switch", text, error);
  dump->filled[dump->at] = true;
  return TRUE;
}

static gboolean
read_entry (Dump *dump, const char *text, GError **error)
{
  unsigned lid, number;
  unsigned long long guid = 0;
  const char *guid_text = strstr (text, "portguid 0x");
  uint32_t port;

  /* "255" is OpenSM's word for no way, and other words stand for it too. */
  if (sscanf (text, "0x%6x %6u", &lid, &number) != 2)
    return TRUE;
  if (dump->at == TOPO_NONE)
    return bad_line (dump, "an entry before the head of its switch", text, error);
  if (guid_text != NULL)
    sscanf (guid_text, "portguid 0x%16llx", &guid);
  if (strstr (text, "Switch") != NULL || number == 0 || number == 255)
    return TRUE;
  port = find (dump->port_by_guid, dump->port_by_lid, guid, lid);
  if (port == TOPO_NONE)
    return TRUE; /* an adapter that the description of the fabric does not have */
  /* The switch must have this port, with a cable in it. */
  const TopoFabric *fabric = dump->tables->fabric;
  const TopoDevice *device = &fabric->devices[dump->tables->switch_device[dump->at]];

  if (number < 1 || number > device->n_ports ||
      fabric->ports[device->first_port + number - 1].peer == TOPO_NONE)
    return bad_line (dump, "nothing is plugged into this port of the switch", text, error);
  route_forwarding_set (dump->tables, dump->at, dump->tables->destination_of[port], number);
  return TRUE;
}

static gboolean
read_file (Dump *dump, const char *path, GError **error)
{
  g_autofree char *contents = NULL;
  g_autoptr (GError) cause = NULL;

  if (!base_file_read (path, &contents, NULL, &cause)) {
    g_set_error_literal (error, TOPO_ERROR, TOPO_ERROR_FILE, cause->message);
    return FALSE;
  }
  dump->path = path;
  dump->line = 0;
  dump->at = TOPO_NONE;
  for (char *line = contents, *next; line != NULL; line = next) {
    next = strchr (line, '\n');
    if (next != NULL)
      *next++ = '\0';
    dump->line++;
    if (!(g_str_has_prefix (line, "Unicast lids") ? read_head : read_entry) (dump, line, error))
      return FALSE;
  }
  if (dump->at != TOPO_NONE)
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
               "%s: no forwarding table (\"Unicast lids [..] of switch Lid ..\")", path);
  return FALSE;
}

static gint
by_name (gconstpointer left, gconstpointer right)
{
  return strcmp (*(char *const *) left, *(char *const *) right);
}

static gboolean
read_folder (Dump *dump, const char *path, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) folder = base_folder_open (path, error);
  const char *name;

  if (folder == NULL)
    return FALSE;
  while ((name = g_dir_read_name (folder)) != NULL)
    if (name[0] != '.')
      g_ptr_array_add (names, g_build_filename (path, name, NULL));
  g_ptr_array_sort (names, by_name);
  for (guint at = 0; at < names->len; at++)
    if (!read_file (dump, names->pdata[at], error))
      return FALSE;
  return TRUE;
}

RouteForwarding *
route_forwarding_load (const TopoFabric *fabric, const char *path, GError **error)
{
  g_autoptr (RouteForwarding) tables = route_forwarding_new (fabric, path);
  g_autoptr (GHashTable) port_by_guid =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autoptr (GHashTable) switch_by_guid =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autoptr (GHashTable) port_by_lid = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) switch_by_lid = g_hash_table_new (NULL, NULL);
  g_autofree bool *filled = g_new0 (bool, tables->n_switches + 1);
  Dump dump = { .tables = tables,
                .port_by_guid = port_by_guid,
                .port_by_lid = port_by_lid,
                .switch_by_guid = switch_by_guid,
                .switch_by_lid = switch_by_lid,
                .filled = filled };
  gboolean is_folder = g_file_test (path, G_FILE_TEST_IS_DIR);

  /* A port's own GUID; where the description has none, the one that vendors and
   * ibsim derive: the device's plus the number of the port. */
  for (uint32_t port = 0; port < fabric->n_ports; port++) {
    const TopoPort *it = &fabric->ports[port];

    if (dump.tables->destination_of[port] == TOPO_NONE)
      continue;
    add_guid (dump.port_by_guid, it->guid, port);
    for (uint32_t alias = 0; alias < 1u << it->lmc; alias++)
      add_lid (dump.port_by_lid, it->lid != 0 ? it->lid + alias : 0, port);
  }
  for (uint32_t port = 0; port < fabric->n_ports; port++) {
    const TopoDevice *device = &fabric->devices[fabric->ports[port].device];

    if (dump.tables->destination_of[port] != TOPO_NONE && fabric->ports[port].guid == 0 &&
        device->guid != 0)
      add_guid (dump.port_by_guid, device->guid + topo_fabric_port_number (fabric, port), port);
  }
  for (uint32_t at = 0; at < dump.tables->n_switches; at++) {
    const TopoDevice *device = &fabric->devices[dump.tables->switch_device[at]];

    add_guid (dump.switch_by_guid, device->guid, at);
    add_lid (dump.switch_by_lid, device->lid, at);
  }
  if (!(is_folder ? read_folder : read_file) (&dump, path, error))
    return NULL;
  for (uint32_t at = 0; at < dump.tables->n_switches; at++)
    if (!dump.filled[at] && topo_fabric_has_cable (fabric, dump.tables->switch_device[at])) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s: no table of switch \"%s\" (%s)", path,
                   fabric->devices[dump.tables->switch_device[at]].id,
                   fabric->devices[dump.tables->switch_device[at]].name);
      return NULL;
    }

  return g_steal_pointer (&tables);
}
