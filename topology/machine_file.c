/* machine_file.c - machine files: a machine as text, and back.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   [machine]
 *   spec = fabric:X5.topofile     paths are relative to the machine file
 *   routes = ftree                fabrics only, as the next one and `cores`
 *   node = harpertown
 *   ranks_per_node = 4
 *   cores = 0,4,2,6
 *
 * and a group for each kind of parameters.  Options behind a spec beat the
 * keys, those behind the path of the machine file beat both. */
#include "base/words.h"
#include "topology/fabric/fabric_spec.h"
#include "topology/keyfile.h"
#include "topology/machine_private.h"

#include <string.h>

#define MACHINE_GROUP "machine"
#define POSSIBLE_SPECS                                                           \
  "bgq:512, bgq:4x4x4x8x2, torus:8x8x8m, fattree:18x18:9, fattree3:8, systemg, " \
  "stampede, fabric:FILE or the path of a machine file"

/* A file while it is read. */
typedef struct {
  TopoMachine *machine;
  GKeyFile *file;
  const char *path;
  char *folder;
} Reader;

/* --- Reading --- */

static gboolean
prefix_key (const Reader *reader, const char *key, GError **error)
{
  g_autofree char *where = topo_keyfile_where (reader->path, MACHINE_GROUP, key);

  g_prefix_error (error, "%s: machine.%s: ", where, key);
  return FALSE;
}

static gboolean
check_keys (const Reader *reader, GError **error)
{
  static const char *const known[] = { "spec", "routes", "node", "ranks_per_node", "cores", NULL };
  g_auto (GStrv) keys = g_key_file_get_keys (reader->file, MACHINE_GROUP, NULL, NULL);

  for (gsize at = 0; keys != NULL && keys[at] != NULL; at++)
    if (!g_strv_contains (known, keys[at])) {
      g_autofree char *where = topo_keyfile_where (reader->path, MACHINE_GROUP, keys[at]);
      g_autofree char *list = g_strjoinv (", ", (char **) known);
      g_autofree char *meant = base_did_you_mean (keys[at], known);

      g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                   "%s: unknown key \"%s\" in [machine] (known: %s)%s", where, keys[at], list,
                   meant);
      return FALSE;
    }
  return TRUE;
}

/* The text of a key, NULL when it is not there; the caller frees it. */
static char *
value_of (const Reader *reader, const char *key)
{
  char *text = g_key_file_get_value (reader->file, MACHINE_GROUP, key, NULL);

  return text != NULL ? g_strstrip (text) : NULL;
}

static gboolean
load_spec (const Reader *reader, GError **error)
{
  g_autofree char *text = value_of (reader, "spec");
  gboolean made = FALSE;

  if (text == NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s: no spec in [machine]", reader->path);
    return FALSE;
  }
  if (topo_torus_is_spec (text))
    made = topo_torus_make (reader->machine, text, error);
  else if (topo_fabric_is_spec (text))
    made = topo_fabric_make (reader->machine, text, reader->folder, error);
  else
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                 "expected a spec such as bgq:512 or systemg:16, found \"%s\"", text);
  return made || prefix_key (reader, "spec", error);
}

static gboolean
load_ranks_per_node (TopoMachine *machine, const char *text, GError **error)
{
  guint64 ranks;

  if (!g_ascii_string_to_unsigned (text, 10, 1, TOPO_MAX_RANKS_PER_NODE, &ranks, NULL)) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "expected 1 to %d, found \"%s\"",
                 TOPO_MAX_RANKS_PER_NODE, text);
    return FALSE;
  }
  return topo_machine_set_ranks_per_node (machine, (uint32_t) ranks, error);
}

/* routes and node: what an option has set stays. */
static gboolean
load_fabric_keys (const Reader *reader, GError **error)
{
  TopoMachine *machine = reader->machine;
  g_autofree char *routes = value_of (reader, "routes");
  g_autofree char *node = value_of (reader, "node");

  if (routes != NULL && machine->routes == NULL &&
      !topo_fabric_set_routes (machine, routes, reader->folder, error))
    return prefix_key (reader, "routes", error);
  if (node != NULL && machine->node == NULL &&
      !topo_fabric_set_node (machine, node, reader->folder, error))
    return prefix_key (reader, "node", error);
  return topo_fabric_finish (machine, error);
}

static gboolean
refuse_fabric_keys (const Reader *reader, GError **error)
{
  static const char *const keys[] = { "routes", "node" };

  for (gsize at = 0; at < G_N_ELEMENTS (keys); at++)
    if (g_key_file_has_key (reader->file, MACHINE_GROUP, keys[at], NULL)) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "only fabrics have it, %s is a torus",
                   reader->machine->spec);
      return prefix_key (reader, keys[at], error);
    }
  return TRUE;
}

static gboolean
load_slots (const Reader *reader, GError **error)
{
  g_autofree char *cores = value_of (reader, "cores");
  g_autofree char *ranks = value_of (reader, "ranks_per_node");

  if (cores != NULL && !topo_machine_set_cores (reader->machine, cores, error))
    return prefix_key (reader, "cores", error);
  if (ranks != NULL && !load_ranks_per_node (reader->machine, ranks, error))
    return prefix_key (reader, "ranks_per_node", error);
  return TRUE;
}

static gboolean
load_file (const Reader *reader, GError **error)
{
  static const char *const own_groups[] = { MACHINE_GROUP, NULL };
  TopoMachine *machine = reader->machine;

  if (!check_keys (reader, error) || !load_spec (reader, error))
    return FALSE;
  if (!(machine->fabric != NULL ? load_fabric_keys : refuse_fabric_keys) (reader, error))
    return FALSE;
  return load_slots (reader, error) &&
         topo_parameters_load (&machine->parameters, reader->file, reader->path, own_groups, error);
}

const char *const *
topo_machine_kinds (void)
{
  static const char *const names[] = { "bgq",     "torus",    "fattree", "fattree3",
                                       "systemg", "stampede", "fabric",  NULL };

  return names;
}

/* Neither a spec nor a file. */
static void
refuse_spec (const char *text, GError **error)
{
  g_autofree char *kind = g_strndup (text, strcspn (text, ":"));
  g_autofree char *meant = base_did_you_mean (kind, topo_machine_kinds ());

  g_set_error (error, TOPO_ERROR, TOPO_ERROR_FILE,
               "machine \"%s\": neither a known machine nor a file; possible are " POSSIBLE_SPECS
               "%s",
               text, meant);
}

gboolean
topo_machine_load (TopoMachine *machine, const char *path_and_options, GError **error)
{
  const char *comma =
      g_file_test (path_and_options, G_FILE_TEST_EXISTS) ? NULL : strchr (path_and_options, ',');
  g_autofree char *path = comma == NULL
                              ? g_strdup (path_and_options)
                              : g_strndup (path_and_options, (gsize) (comma - path_and_options));
  g_autofree char *folder = g_path_get_dirname (path);
  g_autoptr (GKeyFile) file = NULL;
  Reader reader = { .machine = machine, .path = path, .folder = folder };

  if (!g_file_test (path, G_FILE_TEST_EXISTS)) {
    refuse_spec (path, error);
    return FALSE;
  }
  if (comma != NULL && !topo_fabric_read_options (machine, comma + 1, error))
    return FALSE;
  reader.file = file = topo_keyfile_load (path, error);
  if (file == NULL || !load_file (&reader, error))
    return FALSE;
  if (comma == NULL || machine->fabric != NULL)
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
               "%s: option \"%s\": only fabrics have options, %s is a torus", path, comma + 1,
               machine->spec);
  return FALSE;
}

/* --- Printing --- */

static void
print_torus (const TopoMachine *machine, GString *text)
{
  g_string_append_printf (text,
                          "# A machine file: edit any number and give the file's path as"
                          " the machine.\n# Origins: [S] IBM's sources, [P] published,"
                          " [A] published (abstract), [R] recalled,\n# [D] derived;"
                          " guess: nobody outside IBM knows.  Sections: handbook,"
                          " The Blue Gene/Q model.\n\n"
                          "[" MACHINE_GROUP "]\n"
                          "# Shape, %u nodes\n"
                          "spec = %s\n"
                          "# Slots for ranks on each node, 1 to %d\n"
                          "ranks_per_node = %u\n",
                          topo_shape_nodes (&machine->shape), machine->spec,
                          TOPO_MAX_RANKS_PER_NODE, machine->ranks_per_node);
}

/* Lines of a picture as comments. */
static void
print_comment (const char *picture, GString *text)
{
  g_auto (GStrv) lines = g_strsplit (picture, "\n", -1);

  for (gsize at = 0; lines[at] != NULL; at++)
    if (*lines[at] != '\0')
      g_string_append_printf (text, "#   %s\n", lines[at]);
}

static void
print_cores (const TopoMachine *machine, GString *text)
{
  g_string_append (text, "cores = ");
  for (uint32_t slot = 0; slot < machine->node->n_cores; slot++)
    g_string_append_printf (text, "%s%u", slot > 0 ? "," : "", machine->slot_core[slot]);
  g_string_append_c (text, '\n');
}

static void
print_fabric (const TopoMachine *machine, GString *text)
{
  const TopoFabric *fabric = machine->fabric;
  g_autofree char *spec = topo_fabric_print_spec (machine);
  g_autofree char *routes = topo_fabric_print_path (machine->routes);
  g_autofree char *node = topo_fabric_print_path (machine->node->source);
  g_autofree char *picture = topo_node_print (machine->node);

  g_string_append_printf (text,
                          "# A machine file: edit any number and give the file's path as"
                          " the machine.\n# Origins: [S] sources and standards, [M] measured,"
                          " [D] derived, [G] general knowledge;\n# guess: not known."
                          "  Sections: handbook, The InfiniBand model.\n\n"
                          "[" MACHINE_GROUP "]\n"
                          "# The first %u of %u nodes; %u switches, %u directed links\n"
                          "spec = %s\n"
                          "# minhop, updn, ftree, dor, opensm:ENGINE, or the path of"
                          " dumped tables;\n"
                          "# any of them after layers: on as many lanes as avoid deadlock\n"
                          "routes = %s\n"
                          "# harpertown, sandybridge, or the path of hwloc's XML;"
                          " cores are numbered as hwloc does:\n",
                          topo_shape_nodes (&machine->shape), fabric->n_hosts, fabric->n_switches,
                          fabric->n_links, spec, routes);
  print_comment (picture, text);
  g_string_append_printf (text,
                          "node = %s\n"
                          "# Slots for ranks on each node, 1 to %u\n"
                          "ranks_per_node = %u\n"
                          "# Core of each slot: a list, compact, scatter or os\n",
                          node, machine->node->n_cores, machine->ranks_per_node);
  print_cores (machine, text);
}

char *
topo_machine_print (const TopoMachine *machine)
{
  GString *text = g_string_new (NULL);
  uint32_t n_notes = 0;
  const TopoParameterNote *notes = NULL;

  if (machine->fabric != NULL) {
    print_fabric (machine, text);
    notes = topo_fabric_notes (machine->spec, &n_notes);
  } else
    print_torus (machine, text);
  topo_parameters_print_noted (&machine->parameters, notes, n_notes, text);
  return g_string_free (text, FALSE);
}
