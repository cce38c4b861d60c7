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

/* Begins with anything but a number, where nodes have names. */
static bool
probe_hostfile (const TopoMachine *machine, const char *text)
{
  text = topo_launcher_skip (text);
  return *text != '\0' && !g_ascii_isdigit (*text) && topo_machine_host (machine, 0) != NULL;
}

static gboolean
read_hostfile (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
               GError **error)
{
  uint32_t n_nodes = topo_shape_nodes (&machine->shape);
  g_auto (TopoHosts) hosts = topo_hosts_new (machine);
  g_autofree uint32_t *n_slots = g_new0 (uint32_t, n_nodes);
  g_autofree uint32_t *order = g_new (uint32_t, n_nodes); /* nodes, by their first line */
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  uint32_t line = 1, n_hosts = 0, rank = 0;

  for (gsize at = 0; lines[at] != NULL; at++) {
    g_auto (GStrv) words = NULL;
    g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
    const char *bad = NULL;
    char *colon, *comment = strchr (lines[at], '#');
    uint64_t n_more = 1;

    line = (uint32_t) at + 1;
    if (comment != NULL)
      *comment = '\0';
    if (*g_strstrip (lines[at]) == '\0')
      continue;

    /* HOST:N, and the words after it. */
    words = g_strsplit_set (lines[at], " \t", -1);
    colon = strchr (words[0], ':');
    if (colon != NULL) {
      *colon = '\0';
      if (!g_ascii_string_to_unsigned (colon + 1, 10, 1, UINT16_MAX, &n_more, NULL))
        bad = colon + 1;
    }
    for (char **word = words + 1; *word != NULL && bad == NULL; word++)
      if (**word != '\0' && !g_str_has_prefix (*word, "max_slots=") &&
          !g_str_has_prefix (*word, "max-slots=") &&
          (!g_str_has_prefix (*word, "slots=") ||
           !g_ascii_string_to_unsigned (*word + strlen ("slots="), 10, 1, UINT16_MAX, &n_more,
                                        NULL)))
        bad = *word;
    if (bad == NULL && !topo_names_expand (words[0], names))
      bad = words[0];
    if (bad != NULL) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                   "%s:%u: expected HOST, HOST slots=N or HOST:N, or for HOST a list such as "
                   "node[1-16,18], found \"%s\"",
                   path, line, bad);
      return FALSE;
    }

    for (guint name = 0; name < names->len; name++) {
      uint32_t node;

      if (!topo_hosts_find (&hosts, names->pdata[name], &node, error)) {
        g_prefix_error (error, "%s:%u: ", path, line);
        return FALSE;
      }
      if (n_slots[node] == 0)
        order[n_hosts++] = node;
      n_slots[node] += (uint32_t) n_more;
      if (n_slots[node] > machine->ranks_per_node) {
        g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                     "%s:%u: %u slots on %s, which has %u (see --ranks-per-node)", path, line,
                     n_slots[node], (const char *) names->pdata[name], machine->ranks_per_node);
        return FALSE;
      }
    }
  }

  for (uint32_t host = 0; host < n_hosts; host++)
    for (uint32_t slot = 0; slot < n_slots[order[host]] && rank < mapping->n_ranks;
         slot++, rank++) {
      mapping->node[rank] = order[host];
      mapping->slot[rank] = (uint8_t) slot;
    }
  if (rank == mapping->n_ranks)
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "%s:%u: the hosts have slots for %u ranks of %u", path, line, rank,
               mapping->n_ranks);
  return FALSE;
}

/* --- Writing --- */

static char *
print_hostfile (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  GString *text;

  if (!topo_launcher_check_hosts (mapping, machine, "a list of hosts", error))
    return NULL;
  /* Refuses ranks that come back to a node after others: the list has a node once. */
  g_autofree bool *seen = g_new0 (bool, topo_shape_nodes (&machine->shape));

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    uint32_t node = mapping->node[rank];

    if (seen[node] && mapping->node[rank - 1] != node) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                   "rank %u returns to %s: a list of hosts fills each host before the next", rank,
                   topo_machine_host (machine, node));
      return NULL;
    }
    seen[node] = true;
  }
  if (machine->threads_per_core > 1) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "threads=%u: the command line of a list of hosts names cores, not their threads",
                 machine->threads_per_core);
    return NULL;
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

static TopoLaunch
launch_hostfile (const TopoMapping *mapping, const TopoMachine *machine, const char *file)
{
  uint32_t n_slots = machine->node != NULL ? topo_launcher_slots_used (mapping) : 0;
  GString *line = g_string_new (NULL);

  g_string_append_printf (line, "mpirun -np %u --hostfile %s --map-by slot", mapping->n_ranks,
                          file);
  /* The cores of the slots, as Open MPI and hwloc number them. */
  for (uint32_t slot = 0; slot < n_slots; slot++)
    g_string_append_printf (line, "%s%u", slot > 0 ? "," : " --cpu-list ",
                            machine->slot_core[slot]);
  if (n_slots > 0)
    g_string_append (line, " --bind-to cpu-list:ordered");
  return (TopoLaunch){ .line = g_string_free (g_string_append (line, " ./program"), FALSE) };
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

  if (!topo_launcher_check_hosts (mapping, machine, "a host file of Hydra", error))
    return NULL;
  text = g_string_new (NULL);
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank += topo_launcher_run (mapping, rank))
    g_string_append_printf (text, "%s:%u\n", topo_machine_host (machine, mapping->node[rank]),
                            topo_launcher_run (mapping, rank));
  return g_string_free (text, FALSE);
}

static TopoLaunch
launch_hydra (const TopoMapping *mapping, const TopoMachine *machine, const char *file)
{
  g_autofree uint8_t *n_runs = g_new0 (uint8_t, topo_shape_nodes (&machine->shape));
  g_autofree char *binding = NULL;
  uint32_t n_split = 0; /* nodes with several runs of ranks */
  TopoLaunch launch;

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank += topo_launcher_run (mapping, rank)) {
    uint8_t *n = &n_runs[mapping->node[rank]];

    n_split += *n == 1;
    *n = (uint8_t) MIN (*n + 1, 2);
  }
  binding = n_split > 0 ? g_strdup ("")
                        : topo_launcher_processors (mapping, machine, " -bind-to user:", ',');
  launch = (TopoLaunch){ .line = g_strdup_printf ("mpiexec.hydra -n %u -f %s%s ./program",
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

static gboolean
read_slurm (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
            GError **error)
{
  g_auto (TopoPlacer) placer = topo_placer_new (mapping, machine, path);
  g_auto (TopoHosts) hosts = topo_hosts_new (machine);
  char *line;

  while ((line = topo_placer_line (&placer, &text)) != NULL)
    for (char *next; line != NULL; line = next) {
      g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
      char *star, *comma = line;
      uint64_t n_times = 1;

      /* Commas outside of brackets separate the items "NAMES" and "NAMES*N". */
      for (int depth = 0; *comma != '\0' && (*comma != ',' || depth > 0); comma++)
        depth += (*comma == '[') - (*comma == ']');
      next = *comma != '\0' ? comma + 1 : NULL;
      *comma = '\0';
      line = g_strstrip (line);
      star = strchr (line, '*');
      if (star != NULL) {
        *star = '\0';
        if (!g_ascii_string_to_unsigned (star + 1, 10, 1, UINT32_MAX, &n_times, NULL))
          n_times = 0;
      }
      if (n_times == 0 || !topo_names_expand (line, names))
        return topo_placer_fail (&placer, TOPO_ERROR_SYNTAX, error,
                                 "expected hosts such as node3, node[1-4] or node3*2, found \"%s\"",
                                 line);
      for (guint at = 0; at < names->len; at++) {
        uint32_t node;

        if (!topo_hosts_find (&hosts, names->pdata[at], &node, error)) {
          g_prefix_error (error, "%s:%u: ", placer.path, placer.line);
          return FALSE;
        }
        for (uint64_t n = 0; n < n_times; n++)
          if (!topo_placer_fill (&placer, node, error))
            return FALSE;
      }
    }
  return topo_placer_finish (&placer, error);
}

static char *
print_slurm (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  GString *text;

  if (!topo_launcher_check_hosts (mapping, machine, "a host file of Slurm", error))
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
