/* hosts.c - the names of a machine's nodes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/mapping/mapping_private.h"

#include "base/file.h"
#include "topology/fabric/names.h"

#include <string.h>

const char *
topo_machine_host (const TopoMachine *machine, uint32_t node)
{
  if (machine->hosts != NULL)
    return machine->hosts[node];
  return machine->fabric != NULL ? machine->fabric->hosts[node].name : NULL;
}

/* --- From a file --- */

gboolean
topo_machine_set_hosts (TopoMachine *machine, const char *path, GError **error)
{
  uint32_t n_nodes = topo_shape_nodes (&machine->shape);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GError) cause = NULL;
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (!base_file_read (path, &text, NULL, &cause)) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_FILE, "%s", cause->message);
    return FALSE;
  }
  lines = g_strsplit (text, "\n", -1);
  for (guint at = 0; lines[at] != NULL; at++) {
    char *line = lines[at], *comment = strchr (line, '#');
    guint name = names->len;

    if (comment != NULL)
      *comment = '\0';
    if (*g_strstrip (line) == '\0')
      continue;
    if (strpbrk (line, " \t,*:=") != NULL || !topo_names_expand (line, names)) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                   "%s:%u: expected the name of a host, or a list such as node[1-16], found \"%s\"",
                   path, at + 1, line);
      return FALSE;
    }
    for (; name < names->len; name++)
      if (!g_hash_table_add (seen, names->pdata[name])) {
        g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "%s:%u: host %s appears twice", path,
                     at + 1, (const char *) names->pdata[name]);
        return FALSE;
      }
  }
  if (names->len != n_nodes) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "%s: names %u hosts; %s has %u nodes", path,
                 names->len, machine->spec, n_nodes);
    return FALSE;
  }
  g_ptr_array_add (names, NULL);
  g_strfreev (machine->hosts);
  machine->hosts = (char **) g_ptr_array_free (g_steal_pointer (&names), FALSE);
  return TRUE;
}

/* --- Looking up --- */

TopoHosts
topo_hosts_new (const TopoMachine *machine)
{
  TopoHosts hosts = { machine, g_hash_table_new (g_str_hash, g_str_equal) };

  for (uint32_t node = 0; node < topo_shape_nodes (&machine->shape); node++) {
    const char *name = topo_machine_host (machine, node);

    if (name != NULL)
      g_hash_table_insert (hosts.node_of, (gpointer) name, GUINT_TO_POINTER (node + 1));
  }
  return hosts;
}

void
topo_hosts_clear (TopoHosts *hosts)
{
  g_clear_pointer (&hosts->node_of, g_hash_table_unref);
}

gboolean
topo_hosts_find (const TopoHosts *hosts, const char *name, uint32_t *node, GError **error)
{
  const TopoMachine *machine = hosts->machine;
  const TopoFabric *fabric = machine->hosts == NULL ? machine->fabric : NULL;
  uint32_t n_nodes = topo_shape_nodes (&machine->shape);
  bool is_on_fabric = false;
  guint64 number;

  if (name[0] == '+' && (name[1] == 'n' || name[1] == 'N')) {
    if (!g_ascii_string_to_unsigned (name + 2, 10, 0, n_nodes - 1, &number, NULL)) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "host \"%s\": %s has +n0 to +n%u", name,
                   machine->spec, n_nodes - 1);
      return FALSE;
    }
    *node = (uint32_t) number;
    return TRUE;
  }
  number = GPOINTER_TO_UINT (g_hash_table_lookup (hosts->node_of, name));
  if (number == 0) {
    for (uint32_t host = 0; fabric != NULL && host < fabric->n_hosts; host++)
      is_on_fabric = is_on_fabric || g_str_equal (fabric->hosts[host].name, name);
    g_set_error (
        error, TOPO_ERROR, TOPO_ERROR_RANGE, "host \"%s\" is %s %s%s", name,
        is_on_fabric ? "not among the nodes of" : "not a node of", machine->spec,
        topo_machine_host (machine, 0) == NULL ? ", whose nodes have no names (see --hosts)" : "");
    return FALSE;
  }
  *node = (uint32_t) number - 1;
  return TRUE;
}
