/* launcher_hydra.c - host files of Hydra, the mpiexec of MPICH.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   node3:2        ranks 0 and 1
 *   node5          rank 2
 *   node3          rank 3: Hydra takes the line for another node
 *
 * Ranks follow the lines (MPICH 4.0.2, tried).  A host that stands again has a proxy
 * of its own again, and PMI calls it another node: MPI then uses no memory that the
 * parts of a split host share, and -bind-to begins anew in each part. */
#include "topology/launcher/launcher_private.h"
#include "topology/mapping/mapping_private.h"

static gboolean
read_line (TopoPlacer *placer, const TopoHosts *hosts, char *line, GError **error)
{
  char *colon = strchr (line, ':');
  uint64_t n = 1;
  uint32_t node;

  if (colon != NULL)
    *colon = '\0';
  if (strpbrk (line, " \t") != NULL ||
      (colon != NULL && !g_ascii_string_to_unsigned (colon + 1, 10, 1, UINT32_MAX, &n, NULL)))
    return topo_placer_fail (placer, TOPO_ERROR_SYNTAX, error,
                             "expected HOST or HOST:N, found \"%s%s%s\"", line,
                             colon != NULL ? ":" : "", colon != NULL ? colon + 1 : "");
  if (!topo_hosts_find (hosts, line, &node, error)) {
    g_prefix_error (error, "%s:%u: ", placer->path, placer->line);
    return FALSE;
  }
  for (; n > 0; n--)
    if (!topo_placer_fill (placer, node, error))
      return FALSE;
  return TRUE;
}

static gboolean
read_hydra (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
            GError **error)
{
  g_auto (TopoPlacer) placer = topo_placer_new (mapping, machine, path);
  g_auto (TopoHosts) hosts = topo_hosts_new (machine);
  char *line;

  while ((line = topo_placer_line (&placer, &text)) != NULL)
    if (!read_line (&placer, &hosts, line, error))
      return FALSE;
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
