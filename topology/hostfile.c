/* hostfile.c - lists of hosts: which nodes a job has, in which order.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   node3 slots=4        Open MPI's hostfile; max_slots is passed over
 *   node5:2              MPICH's
 *   node7                one slot; a host that stands again has one more (PBS)
 *   node[08-11,20]:4     Slurm's list of nodes: so many slots on each
 *
 * Ranks fill the slots of a host before those of the next one, hosts in the
 * order in which they stand first: Open MPI's placement by slot. */
#include "topology/mapping_private.h"
#include "topology/names.h"

#include <string.h>

TopoHosts
topo_hosts_new (const TopoMachine *machine)
{
  TopoHosts hosts = { machine, g_hash_table_new (g_str_hash, g_str_equal) };

  for (uint32_t node = 0; node < topo_shape_nodes (&machine->shape); node++)
    g_hash_table_insert (hosts.node_of, machine->fabric->hosts[node].name,
                         GUINT_TO_POINTER (node + 1));
  return hosts;
}

void
topo_hosts_clear (TopoHosts *hosts)
{
  g_clear_pointer (&hosts->node_of, g_hash_table_unref);
}

static bool
is_on_fabric (const TopoFabric *fabric, const char *name)
{
  for (uint32_t node = 0; node < fabric->n_hosts; node++)
    if (g_str_equal (fabric->hosts[node].name, name))
      return true;
  return false;
}

gboolean
topo_hosts_find (const TopoHosts *hosts, const char *name, uint32_t *node, GError **error)
{
  const TopoMachine *machine = hosts->machine;
  uint32_t n_nodes = topo_shape_nodes (&machine->shape);
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
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "host \"%s\" is %s %s", name,
                 is_on_fabric (machine->fabric, name) ? "not among the nodes of" : "not a node of",
                 machine->spec);
    return FALSE;
  }
  *node = (uint32_t) number - 1;
  return TRUE;
}

/* --- The file --- */

typedef struct {
  const char *path;
  uint32_t line;
  const TopoMachine *machine;
  TopoHosts hosts;
  uint32_t *slots; /* [n_nodes] */
  uint32_t *order; /* [n_nodes] nodes, as they stand first */
  uint32_t n;
} Reader;

bool
topo_is_hostfile (const char *text)
{
  for (; *text != '\0'; text = strchr (text, '\n') + 1) {
    text += strspn (text, " \t\r\n");
    if (*text != '#')
      return *text != '\0' && !g_ascii_isdigit (*text);
    if (strchr (text, '\n') == NULL)
      return false;
  }
  return false;
}

static gboolean
bad_line (const Reader *reader, const char *found, GError **error)
{
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
               "%s:%u: expected HOST, HOST slots=N or HOST:N, or for HOST a list such as "
               "node[1-16,18], found \"%s\"",
               reader->path, reader->line, found);
  return FALSE;
}

/* How many slots a line gives, behind the name of its host. */
static gboolean
read_slots (const Reader *reader, char **words, uint64_t *n_slots, GError **error)
{
  char *colon = strchr (words[0], ':');

  *n_slots = 1;
  if (colon != NULL) {
    *colon = '\0';
    if (!g_ascii_string_to_unsigned (colon + 1, 10, 1, UINT16_MAX, n_slots, NULL))
      return bad_line (reader, colon + 1, error);
  }
  for (gsize at = 1; words[at] != NULL; at++) {
    if (*words[at] == '\0' || g_str_has_prefix (words[at], "max_slots=") ||
        g_str_has_prefix (words[at], "max-slots="))
      continue;
    if (!g_str_has_prefix (words[at], "slots=") ||
        !g_ascii_string_to_unsigned (words[at] + strlen ("slots="), 10, 1, UINT16_MAX, n_slots,
                                     NULL))
      return bad_line (reader, words[at], error);
  }
  return TRUE;
}

static gboolean
add_host (Reader *reader, const char *name, uint64_t n_slots, GError **error)
{
  uint32_t node;

  if (!topo_hosts_find (&reader->hosts, name, &node, error)) {
    g_prefix_error (error, "%s:%u: ", reader->path, reader->line);
    return FALSE;
  }
  if (reader->slots[node] == 0)
    reader->order[reader->n++] = node;
  reader->slots[node] += (uint32_t) n_slots;
  if (reader->slots[node] <= reader->machine->ranks_per_node)
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "%s:%u: %u slots on %s, which has %u (see --ranks-per-node)", reader->path,
               reader->line, reader->slots[node], name, reader->machine->ranks_per_node);
  return FALSE;
}

static gboolean
read_line (Reader *reader, const char *line, GError **error)
{
  g_auto (GStrv) words = g_strsplit_set (line, " \t", -1);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  uint64_t n_slots;

  if (!read_slots (reader, words, &n_slots, error))
    return FALSE;
  if (!topo_names_expand (words[0], names))
    return bad_line (reader, words[0], error);
  for (guint at = 0; at < names->len; at++)
    if (!add_host (reader, names->pdata[at], n_slots, error))
      return FALSE;
  return TRUE;
}

static gboolean
fill (const Reader *reader, TopoMapping *mapping, GError **error)
{
  uint32_t rank = 0;

  for (uint32_t at = 0; at < reader->n; at++)
    for (uint32_t slot = 0; slot < reader->slots[reader->order[at]] && rank < mapping->n_ranks;
         slot++, rank++) {
      mapping->node[rank] = reader->order[at];
      mapping->slot[rank] = (uint8_t) slot;
    }
  if (rank == mapping->n_ranks)
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "%s:%u: the hosts have slots for %u ranks of %u", reader->path, reader->line, rank,
               mapping->n_ranks);
  return FALSE;
}

gboolean
topo_hostfile_read (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
                    GError **error)
{
  uint32_t n_nodes = topo_shape_nodes (&machine->shape);
  g_auto (TopoHosts) hosts = topo_hosts_new (machine);
  g_autofree uint32_t *slots = g_new0 (uint32_t, n_nodes);
  g_autofree uint32_t *order = g_new (uint32_t, n_nodes);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  Reader reader = {
    .path = path, .machine = machine, .hosts = hosts, .slots = slots, .order = order
  };

  for (gsize at = 0; lines[at] != NULL; at++) {
    char *comment = strchr (lines[at], '#');

    reader.line = (uint32_t) at + 1;
    if (comment != NULL)
      *comment = '\0';
    if (*g_strstrip (lines[at]) != '\0' && !read_line (&reader, lines[at], error))
      return FALSE;
  }
  return fill (&reader, mapping, error);
}
