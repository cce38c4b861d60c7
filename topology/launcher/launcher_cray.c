/* launcher_cray.c - MPICH_RANK_ORDER of Cray MPICH: which rank each slot gets.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   # two nodes of four slots
 *   0,1,4,5
 *   2-3,6,7
 *
 * The other way round than all else: the n-th number is the rank that is put where a
 * job in order would have rank n, and so in the n-th slot, nodes one after the other
 * (HPE's manual of grid_order, which prints such files; LUMI's and NERSC's pages on
 * MPICH_RANK_REORDER_METHOD=3).  That a range a-b is taken is known from hearsay only, so
 * that none is written. */
#include "topology/launcher/launcher_private.h"

/* "3" or "2-5"; *first and *last are below 2^32. */
static bool
read_range (const char *text, uint64_t *first, uint64_t *last)
{
  g_autofree char *begin = NULL;
  const char *dash = strchr (text, '-');

  if (dash == NULL)
    return g_ascii_string_to_unsigned (text, 10, 0, UINT32_MAX, first, NULL) &&
           ((*last = *first), true);
  begin = g_strndup (text, (gsize) (dash - text));
  return g_ascii_string_to_unsigned (begin, 10, 0, UINT32_MAX, first, NULL) &&
         g_ascii_string_to_unsigned (dash + 1, 10, 0, UINT32_MAX, last, NULL) && *first <= *last;
}

static gboolean
read_line (TopoPlacer *placer, const char *line, GError **error)
{
  g_auto (GStrv) items = g_strsplit (line, ",", -1);
  uint32_t ranks_per_node = placer->machine->ranks_per_node;

  for (gsize at = 0; items[at] != NULL; at++) {
    uint64_t first, last;

    if (*g_strstrip (items[at]) == '\0' && at > 0 && items[at + 1] == NULL)
      break;
    if (!read_range (items[at], &first, &last))
      return topo_placer_fail (placer, TOPO_ERROR_SYNTAX, error,
                               "expected ranks and commas as in 0,1,4-7, found \"%s\"", items[at]);
    for (uint64_t rank = first; rank <= last; rank++) {
      uint32_t place = placer->n_placed;

      if (place == placer->mapping->n_ranks)
        return topo_placer_fail (placer, TOPO_ERROR_RANGE, error,
                                 "rank %" G_GUINT64_FORMAT " is one too many for %u slots", rank,
                                 place);
      if (!topo_placer_put (placer, rank, place / ranks_per_node, place % ranks_per_node, error))
        return FALSE;
    }
  }
  return TRUE;
}

static gboolean
read_cray (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
           GError **error)
{
  g_auto (TopoPlacer) placer = topo_placer_new (mapping, machine, path);
  const char *line;

  while ((line = topo_placer_line (&placer, &text)) != NULL)
    if (!read_line (&placer, line, error))
      return FALSE;
  return topo_placer_finish (&placer, error);
}

/* A number and then a comma or a dash. */
static bool
probe_cray (const TopoMachine *machine G_GNUC_UNUSED, const char *text)
{
  gsize n_digits;

  text = topo_launcher_skip (text);
  n_digits = strspn (text, G_CSET_DIGITS);
  return n_digits > 0 && (text[n_digits] == ',' || text[n_digits] == '-');
}

/* --- Writing --- */

/* The rank of each of the first n_ranks slots; NULL and *error when one of them is
 * free. */
static uint32_t *
invert (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  g_autofree uint32_t *rank_at = g_new (uint32_t, mapping->n_ranks);

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    gsize place = (gsize) mapping->node[rank] * machine->ranks_per_node + mapping->slot[rank];

    if (place >= mapping->n_ranks) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                   "rank %u is in slot %u of node %u: a rank order fills the first %u slots of the "
                   "machine, %u on each node (see --ranks-per-node)",
                   rank, mapping->slot[rank], mapping->node[rank], mapping->n_ranks,
                   machine->ranks_per_node);
      return NULL;
    }
    rank_at[place] = rank;
  }
  return g_steal_pointer (&rank_at);
}

/* A line per node. */
static char *
print_cray (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  g_autofree uint32_t *rank_at = invert (mapping, machine, error);
  GString *text;

  if (rank_at == NULL)
    return NULL;
  text = g_string_new (NULL);
  for (uint32_t place = 0; place < mapping->n_ranks; place++) {
    bool ends = (place + 1) % machine->ranks_per_node == 0 || place + 1 == mapping->n_ranks;

    g_string_append_printf (text, "%u%c", rank_at[place], ends ? '\n' : ',');
  }
  return g_string_free (text, FALSE);
}

static TopoLaunch
launch_cray (const TopoMapping *mapping, const TopoMachine *machine, const char *file)
{
  g_autofree char *binding =
      topo_launcher_processors (mapping, machine, " --cpu-bind=map_cpu:", ',');

  return (TopoLaunch){
    .line = g_strdup_printf ("MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE=%s srun -m block "
                             "-n %u --ntasks-per-node=%u%s ./program",
                             file, mapping->n_ranks, machine->ranks_per_node, binding),
    .note = g_strdup ("the nodes of the job must be those of the machine, in its order"),
  };
}

const TopoLauncher topo_launcher_cray = {
  .name = "cray",
  .summary = "MPICH_RANK_ORDER of Cray MPICH: the rank of every slot",
  .probe = probe_cray,
  .read = read_cray,
  .print = print_cray,
  .launch = launch_cray,
};
