/* launcher_vcoord.c - coordinate files of Fujitsu's mpiexec (K, FX100, Fugaku).
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   (0,0,1)      rank 0
 *   (3,0,1)      rank 1; (X,Y) and (X) for jobs of two dimensions and one
 *
 * A line per rank; the ranks of a node have the same line (RIKEN's rankmap4d and
 * Fugaku's guide; mapping-and-results.md section A3). */
#include "topology/launcher/launcher_private.h"

#define MAX_DIMENSIONS 3

static gboolean
check_machine (const TopoMachine *machine, GError **error)
{
  if (machine->fabric == NULL && machine->shape.n_dimensions <= MAX_DIMENSIONS)
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "a coordinate file is of a torus of one to three dimensions; %s is none",
               machine->spec);
  return FALSE;
}

/* Takes a sign with blanks around. */
static bool
take (const char **text, char sign)
{
  *text += strspn (*text, " \t");
  if (**text != sign)
    return false;
  ++*text;
  *text += strspn (*text, " \t");
  return true;
}

static gboolean
read_line (TopoPlacer *placer, const char *line, GError **error)
{
  const TopoShape *shape = &placer->machine->shape;
  const char *at = line;
  bool good = take (&at, '(');
  uint32_t node = 0;

  for (uint32_t dimension = 0; good && dimension < shape->n_dimensions; dimension++) {
    char *end = NULL;
    guint64 value = g_ascii_isdigit (*at) ? g_ascii_strtoull (at, &end, 10) : 0;

    if (end == NULL) {
      good = false;
      break;
    }
    if (value >= shape->size[dimension])
      return topo_placer_fail (placer, TOPO_ERROR_RANGE, error,
                               "%c = %" G_GUINT64_FORMAT " is not within 0 .. %u",
                               'X' + (char) dimension, value, shape->size[dimension] - 1);
    node = node * shape->size[dimension] + (uint32_t) value;
    at = end;
    good = take (&at, dimension + 1 < shape->n_dimensions ? ',' : ')');
  }
  if (!good || *at != '\0')
    return topo_placer_fail (placer, TOPO_ERROR_SYNTAX, error,
                             "expected %u coordinates as in (0,1,2), found \"%s\"",
                             shape->n_dimensions, line);
  return topo_placer_fill (placer, node, error);
}

static gboolean
read_vcoord (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
             GError **error)
{
  g_auto (TopoPlacer) placer = { NULL };
  const char *line;

  if (!check_machine (machine, error))
    return FALSE;
  placer = topo_placer_new (mapping, machine, path);
  while ((line = topo_placer_line (&placer, &text)) != NULL)
    if (!read_line (&placer, line, error))
      return FALSE;
  return topo_placer_finish (&placer, error);
}

static bool
probe_vcoord (const TopoMachine *machine G_GNUC_UNUSED, const char *text)
{
  text = topo_launcher_skip (text);
  return *text == '(' && g_ascii_isdigit (text[1 + strspn (text + 1, " \t")]);
}

static char *
print_vcoord (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  GString *text;

  if (!check_machine (machine, error) ||
      !topo_launcher_check_slots (mapping, machine, "a coordinate file", error))
    return NULL;
  text = g_string_new (NULL);
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    TopoCoordinates at = topo_shape_coordinates (&machine->shape, mapping->node[rank]);

    for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++)
      g_string_append_printf (text, "%c%u", dimension > 0 ? ',' : '(', at.at[dimension]);
    g_string_append (text, ")\n");
  }
  return g_string_free (text, FALSE);
}

static TopoLaunch
launch_vcoord (const TopoMapping *mapping, const TopoMachine *machine, const char *file)
{
  g_autofree char *shape = topo_launcher_shape (machine);

  return (TopoLaunch){
    .line = g_strdup_printf ("mpiexec -n %u --vcoordfile %s ./program", mapping->n_ranks, file),
    .note = g_strdup_printf ("in a job with #PJM -L node=%s and #PJM --mpi max-proc-per-node=%u",
                             shape, topo_launcher_slots_used (mapping)),
  };
}

const TopoLauncher topo_launcher_vcoord = {
  .name = "vcoord",
  .summary = "coordinate file of Fujitsu's mpiexec: the node of every rank",
  .probe = probe_vcoord,
  .read = read_vcoord,
  .print = print_vcoord,
  .launch = launch_vcoord,
};
