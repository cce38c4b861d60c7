/* launcher_hosts.c - launchers' files that list hosts: hostfiles, Hydra's and Slurm's host files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/fabric/names.h"
#include "topology/launcher/launcher_private.h"
#include "topology/mapping/mapping_private.h"

/* --- Hostfiles: a host and its slots, a line each ---
 *
 *   node3 slots=4        Open MPI's hostfile; max_slots is passed over
 *   node5:2              MPICH's
 *   node7                one slot; a host that stands again has one more (PBS)
 *   node[08-11,20]:4     Slurm's list of nodes: so many slots on each
 *
 * Ranks fill the slots of a host before those of the next one, hosts in the
 * order in which they stand first: Open MPI's placement by slot. */

typedef struct {
  const char *path;
  uint32_t line;
  const TopoMachine *machine;
  TopoHosts hosts;
  uint32_t *slots; /* [n_nodes] */
  uint32_t *order; /* [n_nodes] nodes, as they stand first */
  uint32_t n;
} HostReader;

/* Anything but a number, where nodes have names. */
static bool
probe_hostfile (const TopoMachine *machine, const char *text)
{
  text = topo_launcher_skip (text);
  return *text != '\0' && !g_ascii_isdigit (*text) && topo_machine_host (machine, 0) != NULL;
}

static gboolean
bad_hostfile_line (const HostReader *reader, const char *found, GError **error)
{
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
               "%s:%u: expected HOST, HOST slots=N or HOST:N, or for HOST a list such as "
               "node[1-16,18], found \"%s\"",
               reader->path, reader->line, found);
  return FALSE;
}

static gboolean
add_host (HostReader *reader, const char *name, uint64_t n_slots, GError **error)
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
read_hostfile_line (HostReader *reader, const char *line, GError **error)
{
  g_auto (GStrv) words = g_strsplit_set (line, " \t", -1);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  uint64_t n_slots;

  /* The slots that stand behind the name of the host. */
  char *colon = strchr (words[0], ':');

  n_slots = 1;
  if (colon != NULL) {
    *colon = '\0';
    if (!g_ascii_string_to_unsigned (colon + 1, 10, 1, UINT16_MAX, &n_slots, NULL))
      return bad_hostfile_line (reader, colon + 1, error);
  }
  for (gsize at = 1; words[at] != NULL; at++) {
    if (*words[at] == '\0' || g_str_has_prefix (words[at], "max_slots=") ||
        g_str_has_prefix (words[at], "max-slots="))
      continue;
    if (!g_str_has_prefix (words[at], "slots=") ||
        !g_ascii_string_to_unsigned (words[at] + strlen ("slots="), 10, 1, UINT16_MAX, &n_slots,
                                     NULL))
      return bad_hostfile_line (reader, words[at], error);
  }
  if (!topo_names_expand (words[0], names))
    return bad_hostfile_line (reader, words[0], error);
  for (guint at = 0; at < names->len; at++)
    if (!add_host (reader, names->pdata[at], n_slots, error))
      return FALSE;
  return TRUE;
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
  HostReader reader = {
    .path = path, .line = 1, .machine = machine, .hosts = hosts, .slots = slots, .order = order
  };

  for (gsize at = 0; lines[at] != NULL; at++) {
    char *comment = strchr (lines[at], '#');

    reader.line = (uint32_t) at + 1;
    if (comment != NULL)
      *comment = '\0';
    if (*g_strstrip (lines[at]) != '\0' && !read_hostfile_line (&reader, lines[at], error))
      return FALSE;
  }
  uint32_t rank = 0;

  for (uint32_t at = 0; at < reader.n; at++)
    for (uint32_t slot = 0; slot < reader.slots[reader.order[at]] && rank < mapping->n_ranks;
         slot++, rank++) {
      mapping->node[rank] = reader.order[at];
      mapping->slot[rank] = (uint8_t) slot;
    }
  if (rank == mapping->n_ranks)
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "%s:%u: the hosts have slots for %u ranks of %u", reader.path, reader.line, rank,
               mapping->n_ranks);
  return FALSE;
}

/* --- Writing --- */

static char *
print_hostfile (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  GString *text;

  if (!topo_launcher_check_hosts (mapping, machine, "a list of hosts", error) ||
      !topo_launcher_check_slots (mapping, machine, "a list of hosts", error))
    return NULL;
  /* Refuses ranks that come back to a node after others: the list has a node once. */
  g_autofree bool *seen = g_new0 (bool, topo_shape_nodes (&machine->shape));

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    uint32_t node = mapping->node[rank];

    if (seen[node] && mapping->node[rank - 1] != node) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                   "rank %u comes back to %s: a list of hosts fills a host before the next one",
                   rank, topo_machine_host (machine, node));
      return NULL;
    }
    seen[node] = true;
  }
  /* Refuses cores in another than ascending order: mpirun 4.1 with --cpu-list takes
   * them so, whatever the order of the list. */
  uint32_t n_slots = machine->node != NULL ? topo_launcher_slots_used (mapping) : 0;

  for (uint32_t slot = 1; slot < n_slots; slot++)
    if (machine->slot_core[slot] < machine->slot_core[slot - 1]) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                   "slot %u is core %u, slot %u core %u: with a list of hosts Open MPI takes cores "
                   "in ascending order; a rankfile can say it",
                   slot - 1, machine->slot_core[slot - 1], slot, machine->slot_core[slot]);
      return NULL;
    }

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

/* --- Host files of Hydra, the mpiexec of MPICH ---
 *
 *   node3:2        ranks 0 and 1
 *   node5          rank 2
 *   node3          rank 3: Hydra takes the line for another node
 *
 * Ranks follow the lines (MPICH 4.0.2, tried).  A host that stands again has a proxy
 * of its own again, and PMI calls it another node: MPI then uses no memory that the
 * parts of a split host share, and -bind-to begins anew in each part. */

static gboolean
read_hydra (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
            GError **error)
{
  g_auto (TopoPlacer) placer = topo_placer_new (mapping, machine, path);
  g_auto (TopoHosts) hosts = topo_hosts_new (machine);
  char *line;

  while ((line = topo_placer_line (&placer, &text)) != NULL) {
    char *colon = strchr (line, ':');
    uint64_t n = 1;
    uint32_t node;

    if (colon != NULL)
      *colon = '\0';
    if (strpbrk (line, " \t") != NULL ||
        (colon != NULL && !g_ascii_string_to_unsigned (colon + 1, 10, 1, UINT32_MAX, &n, NULL)))
      return topo_placer_fail (&placer, TOPO_ERROR_SYNTAX, error,
                               "expected HOST or HOST:N, found \"%s%s%s\"", line,
                               colon != NULL ? ":" : "", colon != NULL ? colon + 1 : "");
    if (!topo_hosts_find (&hosts, line, &node, error)) {
      g_prefix_error (error, "%s:%u: ", placer.path, placer.line);
      return FALSE;
    }
    for (; n > 0; n--)
      if (!topo_placer_fill (&placer, node, error))
        return FALSE;
  }
  return topo_placer_finish (&placer, error);
}

static char *
print_hydra (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  GString *text;

  if (!topo_launcher_check_hosts (mapping, machine, "a host file of Hydra", error) ||
      !topo_launcher_check_slots (mapping, machine, "a host file of Hydra", error))
    return NULL;
  text = g_string_new (NULL);
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank += topo_launcher_run (mapping, rank))
    g_string_append_printf (text, "%s:%u\n", topo_machine_host (machine, mapping->node[rank]),
                            topo_launcher_run (mapping, rank));
  return g_string_free (text, FALSE);
}

/* Nodes to which ranks come back after others. */
static uint32_t
count_split (const TopoMapping *mapping, const TopoMachine *machine)
{
  g_autofree uint8_t *n_runs = g_new0 (uint8_t, topo_shape_nodes (&machine->shape));
  uint32_t n_split = 0;

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank += topo_launcher_run (mapping, rank)) {
    uint8_t *n = &n_runs[mapping->node[rank]];

    n_split += *n == 1;
    *n = (uint8_t) MIN (*n + 1, 2);
  }
  return n_split;
}

static TopoLaunch
launch_hydra (const TopoMapping *mapping, const TopoMachine *machine, const char *file)
{
  uint32_t n_split = count_split (mapping, machine);
  g_autofree char *binding =
      n_split > 0 ? g_strdup ("")
                  : topo_launcher_processors (mapping, machine, " -bind-to user:", ',');
  TopoLaunch launch = { .line = g_strdup_printf ("mpiexec.hydra -n %u -f %s%s ./program",
                                                 mapping->n_ranks, file, binding) };

  if (n_split > 0)
    launch.note = g_strdup_printf (
        "%u host%s split: Hydra takes each line for a node of its own, so that ranks in different "
        "lines of a host share no memory, and they are not bound to cores",
        n_split, n_split == 1 ? " is" : "s are");
  return launch;
}

const TopoLauncher topo_launcher_hydra = {
  .name = "hydra",
  .summary = "host file of MPICH's mpiexec: ranks follow the lines",
  .probe = topo_launcher_probe_never,
  .read = read_hydra,
  .print = print_hydra,
  .launch = launch_hydra,
};

/* --- Host files for Slurm's arbitrary distribution: a host for every task ---
 *
 *   node3
 *   node5,node[7-8]     several on a line
 *   node3*2             twice
 *
 * From the manual of srun 22.05 (-m arbitrary, SLURM_HOSTFILE) and the way in which
 * its slurm_read_hostfile() takes lines apart.  It places tasks, it does not bind them:
 * --cpu-bind=map_cpu, a list by local task, does. */

/* Cuts "NAMES*N" and gives N, 1 without; 0 when it is no number. */
static uint64_t
cut_times (char *text)
{
  char *star = strchr (text, '*');
  uint64_t times = 1;

  if (star == NULL)
    return 1;
  *star = '\0';
  return g_ascii_string_to_unsigned (star + 1, 10, 1, UINT32_MAX, &times, NULL) ? times : 0;
}

static gboolean
add_names (TopoPlacer *placer, const TopoHosts *hosts, const char *list, uint64_t times,
           GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  uint32_t node;

  if (times == 0 || !topo_names_expand (list, names))
    return topo_placer_fail (placer, TOPO_ERROR_SYNTAX, error,
                             "expected hosts such as node3, node[1-4] or node3*2, found \"%s\"",
                             list);
  for (guint at = 0; at < names->len; at++) {
    if (!topo_hosts_find (hosts, names->pdata[at], &node, error)) {
      g_prefix_error (error, "%s:%u: ", placer->path, placer->line);
      return FALSE;
    }
    for (uint64_t n = 0; n < times; n++)
      if (!topo_placer_fill (placer, node, error))
        return FALSE;
  }
  return TRUE;
}

/* Commas outside of brackets part a line. */
static gboolean
read_slurm_line (TopoPlacer *placer, const TopoHosts *hosts, char *line, GError **error)
{
  int depth = 0;

  for (char *at = line;; at++) {
    bool ends = *at == '\0';
    uint64_t times;

    depth += (*at == '[') - (*at == ']');
    if (!ends && (*at != ',' || depth > 0))
      continue;
    *at = '\0';
    line = g_strstrip (line);
    times = cut_times (line);
    if (!add_names (placer, hosts, line, times, error))
      return FALSE;
    if (ends)
      return TRUE;
    line = at + 1;
  }
}

static gboolean
read_slurm (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
            GError **error)
{
  g_auto (TopoPlacer) placer = topo_placer_new (mapping, machine, path);
  g_auto (TopoHosts) hosts = topo_hosts_new (machine);
  char *line;

  while ((line = topo_placer_line (&placer, &text)) != NULL)
    if (!read_slurm_line (&placer, &hosts, line, error))
      return FALSE;
  return topo_placer_finish (&placer, error);
}

static char *
print_slurm (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  GString *text;

  if (!topo_launcher_check_hosts (mapping, machine, "a host file of Slurm", error) ||
      !topo_launcher_check_slots (mapping, machine, "a host file of Slurm", error))
    return NULL;
  text = g_string_new (NULL);
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++)
    g_string_append_printf (text, "%s\n", topo_machine_host (machine, mapping->node[rank]));
  return g_string_free (text, FALSE);
}

static TopoLaunch
launch_slurm (const TopoMapping *mapping, const TopoMachine *machine, const char *file)
{
  g_autofree char *binding =
      topo_launcher_processors (mapping, machine, " --cpu-bind=map_cpu:", ',');

  return (TopoLaunch){ .line =
                           g_strdup_printf ("SLURM_HOSTFILE=%s srun -m arbitrary -n %u%s ./program",
                                            file, mapping->n_ranks, binding) };
}

const TopoLauncher topo_launcher_slurm = {
  .name = "slurm",
  .summary = "host file for Slurm's arbitrary distribution: the host of every rank",
  .probe = topo_launcher_probe_never,
  .read = read_slurm,
  .print = print_slurm,
  .launch = launch_slurm,
};
