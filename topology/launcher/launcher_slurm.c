/* launcher_slurm.c - host files for Slurm's arbitrary distribution: a host for every task.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   node3
 *   node5,node[7-8]     several on a line
 *   node3*2             twice
 *
 * From the manual of srun 22.05 (-m arbitrary, SLURM_HOSTFILE) and the way in which
 * its slurm_read_hostfile() takes lines apart.  It places tasks, it does not bind them:
 * --cpu-bind=map_cpu, a list by local task, does. */
#include "topology/launcher/launcher_private.h"
#include "topology/mapping/mapping_private.h"
#include "topology/fabric/names.h"

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
read_line (TopoPlacer *placer, const TopoHosts *hosts, char *line, GError **error)
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
    if (!read_line (&placer, &hosts, line, error))
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
