/* launcher_hostfile.c - lists of hosts: which nodes a job has, in which order.
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
#include "topology/launcher/launcher_private.h"
#include "topology/mapping/mapping_private.h"
#include "topology/fabric/names.h"

typedef struct {
  const char *path;
  uint32_t line;
  const TopoMachine *machine;
  TopoHosts hosts;
  uint32_t *slots; /* [n_nodes] */
  uint32_t *order; /* [n_nodes] nodes, as they stand first */
  uint32_t n;
} Reader;

/* Anything but a number, where nodes have names. */
static bool
probe_hostfile (const TopoMachine *machine, const char *text)
{
  text = topo_launcher_skip (text);
  return *text != '\0' && !g_ascii_isdigit (*text) && topo_machine_host (machine, 0) != NULL;
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

static gboolean
read_hostfile (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
               GError **error)
{
  uint32_t n_nodes = topo_shape_nodes (&machine->shape);
  g_auto (TopoHosts) hosts = topo_hosts_new (machine);
  g_autofree uint32_t *slots = g_new0 (uint32_t, n_nodes);
  g_autofree uint32_t *order = g_new (uint32_t, n_nodes);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  Reader reader = {
    .path = path, .line = 1, .machine = machine, .hosts = hosts, .slots = slots, .order = order
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

/* --- Writing --- */

/* Refuses ranks that come back to a node after others: the list has a node once. */
static gboolean
check_blocks (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  g_autofree bool *seen = g_new0 (bool, topo_shape_nodes (&machine->shape));

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    uint32_t node = mapping->node[rank];

    if (seen[node] && mapping->node[rank - 1] != node) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                   "rank %u comes back to %s: a list of hosts fills a host before the next one",
                   rank, topo_machine_host (machine, node));
      return FALSE;
    }
    seen[node] = true;
  }
  return TRUE;
}

/* Refuses cores in another than ascending order: mpirun 4.1 with --cpu-list takes
 * them so, whatever the order of the list. */
static gboolean
check_cores (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  uint32_t n_slots = machine->node != NULL ? topo_launcher_slots_used (mapping) : 0;

  for (uint32_t slot = 1; slot < n_slots; slot++)
    if (machine->slot_core[slot] < machine->slot_core[slot - 1]) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                   "slot %u is core %u, slot %u core %u: with a list of hosts Open MPI takes cores "
                   "in ascending order; a rankfile can say it",
                   slot - 1, machine->slot_core[slot - 1], slot, machine->slot_core[slot]);
      return FALSE;
    }
  return TRUE;
}

static char *
print_hostfile (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  GString *text;

  if (!topo_launcher_check_hosts (mapping, machine, "a list of hosts", error) ||
      !topo_launcher_check_slots (mapping, machine, "a list of hosts", error) ||
      !check_blocks (mapping, machine, error) || !check_cores (mapping, machine, error))
    return NULL;
  text = g_string_new (NULL);
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank += topo_launcher_run (mapping, rank))
    g_string_append_printf (text, "%s slots=%u\n", topo_machine_host (machine, mapping->node[rank]),
                            topo_launcher_run (mapping, rank));
  return g_string_free (text, FALSE);
}

/* The cores of the slots, as Open MPI and hwloc number them. */
static char *
bind_to (const TopoMapping *mapping, const TopoMachine *machine)
{
  uint32_t n_slots = topo_launcher_slots_used (mapping);
  GString *text;

  if (machine->node == NULL)
    return g_strdup ("");
  text = g_string_new (" --cpu-list ");
  for (uint32_t slot = 0; slot < n_slots; slot++)
    g_string_append_printf (text, "%s%u", slot > 0 ? "," : "", machine->slot_core[slot]);
  return g_string_free (g_string_append (text, " --bind-to cpu-list:ordered"), FALSE);
}

static TopoLaunch
launch_hostfile (const TopoMapping *mapping, const TopoMachine *machine, const char *file)
{
  g_autofree char *binding = bind_to (mapping, machine);

  return (TopoLaunch){ .line =
                           g_strdup_printf ("mpirun -np %u --hostfile %s --map-by slot%s ./program",
                                            mapping->n_ranks, file, binding) };
}

const TopoLauncher topo_launcher_hostfile = {
  .name = "hostfile",
  .summary = "Open MPI's list of hosts: ranks fill one after the other",
  .probe = probe_hostfile,
  .read = read_hostfile,
  .print = print_hostfile,
  .launch = launch_hostfile,
};
