/* launcher_map.c - map files: the coordinates and the slot of every rank, a line each.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   # A B C D E T
 *   0 0 0 0 1 3        Blue Gene/Q: rank 0, in the slot 3
 *   0 1 0              any torus, here 2-dimensional; on a fabric a node and a slot
 *
 * Blue Gene/Q's runjob takes them as they are (bgq.md section 1); Blue Gene/P's mpirun
 * with the columns X Y Z T, of which T is one of four cores (LLNL's Boxfish has such
 * files; mapping-and-results.md section A3). */
#include "topology/mapping/columns.h"
#include "topology/launcher/launcher_private.h"

#define BGP_DIMENSIONS 3
#define BGP_CORES      4

/* --- Reading --- */

/* Reads the values of a line. */
static gboolean
read_values (const TopoPlacer *placer, const TopoColumns *columns, const char *text, uint32_t *at,
             GError **error)
{
  for (uint32_t column = 0; column < columns->n; column++) {
    char *end;
    guint64 value;

    text += strspn (text, " \t\r");
    value = g_ascii_isdigit (*text) ? g_ascii_strtoull (text, &end, 10) : 0;
    if (!g_ascii_isdigit (*text) || (*end != '\0' && strchr (" \t\r", *end) == NULL))
      return topo_placer_fail (placer, TOPO_ERROR_SYNTAX, error,
                               "expected %u numbers (%s), found \"%s\" in column %u", columns->n,
                               columns->letter, text, column + 1);
    if (value >= columns->size[column])
      return topo_placer_fail (placer, TOPO_ERROR_RANGE, error,
                               "%c = %" G_GUINT64_FORMAT " is not within 0 .. %u",
                               columns->letter[column], value, columns->size[column] - 1);
    at[column] = (uint32_t) value;
    text = end;
  }
  text += strspn (text, " \t\r");
  return *text == '\0' ||
         topo_placer_fail (placer, TOPO_ERROR_SYNTAX, error, "\"%s\" after the last of %u numbers",
                           text, columns->n);
}

static gboolean
read_rank (TopoPlacer *placer, const TopoColumns *columns, const char *text, GError **error)
{
  uint32_t at[TOPO_MAX_COLUMNS];
  uint32_t node = 0;

  if (!read_values (placer, columns, text, at, error))
    return FALSE;
  if (placer->n_placed == placer->mapping->n_ranks)
    return topo_placer_fail (placer, TOPO_ERROR_RANGE, error,
                             "\"%s\" is one line too many for %u ranks", text,
                             placer->mapping->n_ranks);
  for (uint32_t column = 0; column + 1 < columns->n; column++)
    node = node * columns->size[column] + at[column];
  return topo_placer_put (placer, placer->n_placed, node, at[columns->n - 1], error);
}

static gboolean
read_map (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
          GError **error)
{
  g_auto (TopoPlacer) placer = topo_placer_new (mapping, machine, path);
  TopoColumns columns = topo_columns_of (machine);
  const char *line;

  while ((line = topo_placer_line (&placer, &text)) != NULL)
    if (!read_rank (&placer, &columns, line, error))
      return FALSE;
  return topo_placer_finish (&placer, error);
}

/* --- Writing --- */

char *
topo_mapping_print (const TopoMapping *mapping, const TopoMachine *machine)
{
  GString *text = g_string_new ("#");

  for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++)
    g_string_append_printf (text, " %c", topo_dimension_letter (dimension));
  g_string_append (text, " T\n");
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    TopoCoordinates at = topo_shape_coordinates (&machine->shape, mapping->node[rank]);

    for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++)
      g_string_append_printf (text, "%u ", at.at[dimension]);
    g_string_append_printf (text, "%u\n", mapping->slot[rank]);
  }
  return g_string_free (text, FALSE);
}

static char *
print_map (const TopoMapping *mapping, const TopoMachine *machine, GError **error G_GNUC_UNUSED)
{
  return topo_mapping_print (mapping, machine);
}

/* runjob has 1, 2, 4 ... 64 ranks per node. */
static uint32_t
power_of_two_above (uint32_t n)
{
  uint32_t power = 1;

  while (power < n)
    power *= 2;
  return power;
}

static TopoLaunch
launch_map (const TopoMapping *mapping, const TopoMachine *machine, const char *file)
{
  uint32_t ranks_per_node = power_of_two_above (topo_launcher_slots_used (mapping));
  g_autofree char *shape = topo_launcher_shape (machine);

  if (!machine->is_bgq)
    return (TopoLaunch){
      .note = g_strdup ("of the launchers only Blue Gene's read map files; this machine is none")
    };
  return (TopoLaunch){
    .line = g_strdup_printf ("runjob --np %u --ranks-per-node %u --mapping %s : ./program",
                             mapping->n_ranks, ranks_per_node, file),
    .note = g_strdup_printf ("in a block or sub-block of shape %s; with a tool attached "
                             "runjob_server must be able to read the file",
                             shape),
  };
}

const TopoLauncher topo_launcher_map = {
  .name = "map",
  .summary = "map file: coordinates and slot of every rank (Blue Gene/Q's runjob)",
  .probe = topo_launcher_probe_never,
  .read = read_map,
  .print = print_map,
  .launch = launch_map,
};

/* --- Blue Gene/P --- */

static gboolean
check_bgp (const TopoMachine *machine, GError **error)
{
  if (machine->fabric == NULL && machine->shape.n_dimensions == BGP_DIMENSIONS)
    return TRUE;
  g_set_error (
      error, TOPO_ERROR, TOPO_ERROR_RANGE,
      "a map file of Blue Gene/P has the columns X Y Z T; %s is no three-dimensional torus",
      machine->spec);
  return FALSE;
}

static gboolean
read_bgp (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
          GError **error)
{
  return check_bgp (machine, error) && read_map (mapping, machine, path, text, error);
}

static char *
print_bgp (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  GString *text;

  if (!check_bgp (machine, error))
    return NULL;
  if (topo_launcher_slots_used (mapping) > BGP_CORES) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "the mapping has slot %u; a node of Blue Gene/P has slots 0 to %u",
                 topo_launcher_slots_used (mapping) - 1, BGP_CORES - 1);
    return NULL;
  }
  text = g_string_new (NULL);
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    TopoCoordinates at = topo_shape_coordinates (&machine->shape, mapping->node[rank]);

    g_string_append_printf (text, "%u %u %u %u\n", at.at[0], at.at[1], at.at[2],
                            mapping->slot[rank]);
  }
  return g_string_free (text, FALSE);
}

static TopoLaunch
launch_bgp (const TopoMapping *mapping, const TopoMachine *machine, const char *file)
{
  static const char *const modes[] = { "SMP", "SMP", "DUAL", "VN", "VN" };
  g_autofree char *shape = topo_launcher_shape (machine);

  return (TopoLaunch){
    .line = g_strdup_printf ("mpirun -np %u -mode %s -mapfile %s ./program", mapping->n_ranks,
                             modes[topo_launcher_slots_used (mapping)], file),
    .note = g_strdup_printf ("in a partition of shape %s", shape),
  };
}

const TopoLauncher topo_launcher_bgp = {
  .name = "bgp",
  .summary = "map file of Blue Gene/P: X Y Z T of every rank",
  .probe = topo_launcher_probe_never,
  .read = read_bgp,
  .print = print_bgp,
  .launch = launch_bgp,
};
