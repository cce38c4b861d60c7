/* launcher.c - the table of launchers' files, and what its kinds share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/launcher/launcher_private.h"
#include "topology/mapping/mapping_private.h"

/* The order of probing: what begins with a word of its own before what begins with
 * any word, the map file last. */
const TopoLauncher *const topo_launchers[] = {
  &topo_launcher_rankfile, &topo_launcher_erf,  &topo_launcher_pmi,      &topo_launcher_vcoord,
  &topo_launcher_flux,     &topo_launcher_cray, &topo_launcher_hostfile, &topo_launcher_hydra,
  &topo_launcher_slurm,    &topo_launcher_bgp,  &topo_launcher_map,      NULL
};

void
topo_launch_clear (TopoLaunch *launch)
{
  g_clear_pointer (&launch->line, g_free);
  g_clear_pointer (&launch->note, g_free);
}

const TopoLauncher *
topo_launcher_find (const char *name, gsize length)
{
  for (const TopoLauncher *const *launcher = topo_launchers; *launcher != NULL; launcher++)
    if (strlen ((*launcher)->name) == length && strncmp (name, (*launcher)->name, length) == 0)
      return *launcher;
  return NULL;
}

const TopoLauncher *
topo_launcher_named (const char *text, const char **path)
{
  const char *colon = strchr (text, ':');
  const TopoLauncher *launcher =
      colon != NULL ? topo_launcher_find (text, (gsize) (colon - text)) : NULL;

  if (launcher != NULL)
    *path = colon + 1;
  return launcher;
}

const TopoLauncher *
topo_launcher_detect (const TopoMachine *machine, const char *text)
{
  for (const TopoLauncher *const *launcher = topo_launchers; *launcher != NULL; launcher++)
    if ((*launcher)->probe (machine, text))
      return *launcher;
  return &topo_launcher_map;
}

const char *
topo_launcher_skip (const char *text)
{
  for (;;) {
    text += strspn (text, " \t\r\n");
    if (*text != '#')
      return text;
    text += strcspn (text, "\n");
  }
}

bool
topo_launcher_probe_never (const TopoMachine *machine G_GNUC_UNUSED, const char *text G_GNUC_UNUSED)
{
  return false;
}

/* --- Reading --- */

TopoPlacer
topo_placer_new (TopoMapping *mapping, const TopoMachine *machine, const char *path)
{
  uint32_t n_nodes = topo_shape_nodes (&machine->shape);
  gsize n_slots = (gsize) n_nodes * machine->ranks_per_node;
  TopoPlacer placer = { .mapping = mapping,
                        .machine = machine,
                        .path = path,
                        .rank_at = g_new (uint32_t, n_slots),
                        .n_filled = g_new0 (uint32_t, n_nodes) };

  memset (placer.rank_at, 0xff, n_slots * sizeof *placer.rank_at);
  memset (mapping->node, 0xff, mapping->n_ranks * sizeof *mapping->node);
  return placer;
}

void
topo_placer_clear (TopoPlacer *placer)
{
  g_clear_pointer (&placer->rank_at, g_free);
  g_clear_pointer (&placer->n_filled, g_free);
}

gboolean
topo_placer_fail (const TopoPlacer *placer, TopoError code, GError **error, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list arguments;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, TOPO_ERROR, code, "%s:%u: %s", placer->path, placer->line, message);
  return FALSE;
}

gboolean
topo_placer_put (TopoPlacer *placer, uint64_t rank, uint32_t node, uint32_t slot, GError **error)
{
  uint32_t *holder = &placer->rank_at[(gsize) node * placer->machine->ranks_per_node + slot];

  if (rank >= placer->mapping->n_ranks)
    return topo_placer_fail (placer, TOPO_ERROR_RANGE, error,
                             "rank %" G_GUINT64_FORMAT ": there are ranks 0 to %u", rank,
                             placer->mapping->n_ranks - 1);
  if (placer->mapping->node[rank] != TOPO_NONE)
    return topo_placer_fail (placer, TOPO_ERROR_RANGE, error,
                             "rank %" G_GUINT64_FORMAT " has a place already", rank);
  if (*holder != TOPO_NONE)
    return topo_placer_fail (placer, TOPO_ERROR_RANGE, error,
                             "slot %u of node %u is already the place of rank %u", slot, node,
                             *holder);
  *holder = (uint32_t) rank;
  placer->mapping->node[rank] = node;
  placer->mapping->slot[rank] = (uint8_t) slot;
  placer->n_placed++;
  return TRUE;
}

gboolean
topo_placer_fill (TopoPlacer *placer, uint32_t node, GError **error)
{
  uint32_t slot = placer->n_filled[node]++;

  if (placer->n_placed == placer->mapping->n_ranks)
    return topo_placer_fail (placer, TOPO_ERROR_RANGE, error, "places for more than %u ranks",
                             placer->mapping->n_ranks);
  if (slot == placer->machine->ranks_per_node)
    return topo_placer_fail (placer, TOPO_ERROR_RANGE, error,
                             "more than %u ranks on node %u (see --ranks-per-node)", slot, node);
  return topo_placer_put (placer, placer->n_placed, node, slot, error);
}

gboolean
topo_placer_finish (const TopoPlacer *placer, GError **error)
{
  uint32_t rank = 0;

  if (placer->n_placed == placer->mapping->n_ranks)
    return TRUE;
  while (placer->mapping->node[rank] != TOPO_NONE)
    rank++;
  return topo_placer_fail (placer, TOPO_ERROR_RANGE, error,
                           "the file places %u of %u ranks; rank %u is missing", placer->n_placed,
                           placer->mapping->n_ranks, rank);
}

char *
topo_placer_line (TopoPlacer *placer, char **text)
{
  while (*text != NULL) {
    char *line = *text;
    char *end = strchr (line, '\n');
    char *comment;

    if (end != NULL)
      *end = '\0';
    *text = end != NULL ? end + 1 : NULL;
    placer->line++;
    if ((comment = strchr (line, '#')) != NULL)
      *comment = '\0';
    if (*g_strstrip (line) != '\0')
      return line;
  }
  return NULL;
}

/* --- Writing --- */

uint32_t
topo_launcher_run (const TopoMapping *mapping, uint32_t rank)
{
  uint32_t n = 1;

  while (rank + n < mapping->n_ranks && mapping->node[rank + n] == mapping->node[rank])
    n++;
  return n;
}

gboolean
topo_launcher_check_slots (const TopoMapping *mapping, const TopoMachine *machine, const char *kind,
                           GError **error)
{
  g_autofree uint32_t *n_on_node = g_new0 (uint32_t, topo_shape_nodes (&machine->shape));

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    uint32_t expected = n_on_node[mapping->node[rank]]++;

    if (mapping->slot[rank] != expected) {
      const char *host = topo_machine_host (machine, mapping->node[rank]);
      g_autofree char *node =
          host != NULL ? g_strdup (host) : g_strdup_printf ("node %u", mapping->node[rank]);

      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                   "rank %u has slot %u of %s, where %u lower ranks are: %s gives nodes only, "
                   "and fills their slots from 0 on with ascending ranks",
                   rank, mapping->slot[rank], node, expected, kind);
      return FALSE;
    }
  }
  return TRUE;
}

gboolean
topo_launcher_check_hosts (const TopoMapping *mapping, const TopoMachine *machine, const char *kind,
                           GError **error)
{
  if (topo_machine_host (machine, 0) == NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%s names hosts; %s is a torus, whose nodes have no host names (see --hosts)",
                 kind, machine->spec);
    return FALSE;
  }
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    const char *host = topo_machine_host (machine, mapping->node[rank]);

    if (!(g_ascii_isalnum (*host) &&
          host[strspn (host, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_-.")] == '\0')) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                   "rank %u: \"%s\" is not a host name that %s can have", rank, host, kind);
      return FALSE;
    }
  }
  return topo_launcher_check_slots (mapping, machine, kind, error);
}

uint32_t
topo_launcher_slots_used (const TopoMapping *mapping)
{
  uint32_t n = 0;

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++)
    n = MAX (n, mapping->slot[rank] + 1u);
  return n;
}

uint32_t
topo_launcher_nodes_used (const TopoMapping *mapping)
{
  uint32_t n = 0;

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++)
    n = MAX (n, mapping->node[rank] + 1);
  return n;
}

char *
topo_launcher_processors (const TopoMapping *mapping, const TopoMachine *machine,
                          const char *option, char between)
{
  const TopoNode *node = machine->node;
  uint32_t n_slots = topo_launcher_slots_used (mapping);
  GString *text;

  if (node == NULL)
    return g_strdup ("");
  text = g_string_new (option);
  for (uint32_t slot = 0; slot < n_slots; slot++) {
    if (slot > 0)
      g_string_append_c (text, between);
    g_string_append_printf (text, "%u",
                            node->objects[node->core[machine->slot_core[slot]]].os_index);
  }
  return g_string_free (text, FALSE);
}

char *
topo_launcher_shape (const TopoMachine *machine)
{
  GString *text = g_string_new (NULL);

  for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++)
    g_string_append_printf (text, "%s%u", dimension > 0 ? "x" : "", machine->shape.size[dimension]);
  return g_string_free (text, FALSE);
}
