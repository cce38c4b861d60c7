/* inputs.c - machines and mappings from the options of a command line or the keys of a study file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/inputs.h"

#include "study/study_error.h"
#include "topology/fabric/sharp_tree.h"
#include "topology/launcher/launcher.h"

#include <stdlib.h>
#include <string.h>

/* Makes *error, of any domain, one about an option. */
static void
refuse_option (GError **error)
{
  if (error != NULL && *error != NULL) {
    (*error)->domain = STUDY_ERROR;
    (*error)->code = STUDY_ERROR_OPTION;
  }
}

/* Whether a text is a path, or meant as one: it has a slash or an ending. */
static gboolean
is_path (const char *text)
{
  return g_file_test (text, G_FILE_TEST_EXISTS) || strpbrk (text, "/.") != NULL;
}

TopoMachine *
study_machine_new (const StudyMachineInputs *inputs, GError **error)
{
  gboolean has_ranks = inputs->ranks_per_node != G_MININT,
           has_pattern = inputs->pattern != G_MININT;
  gboolean has_files = is_path (inputs->spec) || g_str_has_prefix (inputs->spec, "fabric:") ||
                       strstr (inputs->spec, ",node=") != NULL;
  g_autoptr (TopoMachine) machine = NULL;

  /* Inputs that are wrong whatever the machine. */
  if (has_ranks &&
      (inputs->ranks_per_node < 1 || inputs->ranks_per_node > TOPO_MAX_RANKS_PER_NODE)) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_OPTION, "--ranks-per-node: %d is not within 1..%d",
                 inputs->ranks_per_node, TOPO_MAX_RANKS_PER_NODE);
    return NULL;
  }
  if (has_pattern && inputs->pattern < 1) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_OPTION, "--pattern: %d, but patterns count from 1",
                 inputs->pattern);
    return NULL;
  }
  if (has_pattern && (inputs->cores != NULL || has_ranks)) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_OPTION,
                 "--pattern sets the slots and cores; it does not go with --cores or "
                 "--ranks-per-node");
    return NULL;
  }

  machine = topo_machine_new (inputs->spec, error);
  if (machine == NULL && !has_files) {
    refuse_option (error);
    if (error != NULL && !g_str_has_prefix ((*error)->message, "machine \""))
      g_prefix_error (error, "machine \"%s\": ", inputs->spec);
  }
  if (machine == NULL)
    return NULL;

  /* The order of the cores is set before their number. */
  if (inputs->cores != NULL && !topo_machine_set_cores (machine, inputs->cores, error)) {
    g_prefix_error (error, "--cores %s: ", inputs->cores);
    refuse_option (error);
    return NULL;
  }
  if (has_pattern && !topo_machine_set_pattern (machine, (uint32_t) inputs->pattern, error)) {
    g_prefix_error (error, "--pattern: ");
    refuse_option (error);
    return NULL;
  }
  if (has_ranks &&
      !topo_machine_set_ranks_per_node (machine, (uint32_t) inputs->ranks_per_node, error)) {
    g_prefix_error (error, "--ranks-per-node: ");
    refuse_option (error);
    return NULL;
  }

  for (const char *const *setting = inputs->settings; setting != NULL && *setting != NULL;
       setting++) {
    const char *equals = strchr (*setting, '=');
    g_autofree char *key =
        equals != NULL ? g_strndup (*setting, (gsize) (equals - *setting)) : NULL;

    if (key == NULL || strchr (key, '.') == NULL) {
      g_set_error (error, STUDY_ERROR, STUDY_ERROR_OPTION,
                   "--set: '%s' is not of the form GROUP.KEY=VALUE", *setting);
      return NULL;
    }
    if (!topo_parameters_set (&machine->parameters, key, equals + 1, error)) {
      g_prefix_error (error, "--set %s: ", *setting);
      refuse_option (error);
      return NULL;
    }
  }
  if (!topo_sharp_check (machine, error)) {
    g_prefix_error (error, "--set: ");
    refuse_option (error);
    return NULL;
  }
  return g_steal_pointer (&machine);
}

TopoMapping *
study_mapping_new (const char *text, TopoMachine *machine, uint32_t n_ranks, GError **error)
{
  TopoMapping *mapping;
  gboolean has_files;
  const char *path;

  if (text != NULL && machine->node != NULL && topo_mapping_is_rankfile (text) &&
      !topo_machine_set_ranks_per_node (machine, machine->node->n_cores, error))
    return NULL;
  mapping = topo_mapping_new (text, machine, n_ranks, error);
  if (mapping != NULL || text == NULL || error == NULL || *error == NULL)
    return mapping;
  has_files =
      (is_path (text) && strchr (text, '(') == NULL) || topo_launcher_named (text, &path) != NULL;
  /* TOPO_ERROR_RANGE is about the number of ranks. */
  if (!has_files && !g_error_matches (*error, TOPO_ERROR, TOPO_ERROR_RANGE))
    refuse_option (error);
  return NULL;
}

/* --- Machine files for stores --- */

/* Followed by the hash, a blank and the path, to the end of the line. */
#define HASH_LINE "# sha256 "

static gint
compare_paths (gconstpointer left, gconstpointer right)
{
  return strcmp (*(const char *const *) left, *(const char *const *) right);
}

char *
study_machine_text (const TopoMachine *machine)
{
  g_autofree char *text = topo_machine_print (machine);
  GString *all = g_string_new (text);
  g_autofree const char **paths = NULL;
  guint n_paths = 0;

  if (machine->files != NULL)
    paths = (const char **) g_hash_table_get_keys_as_array (machine->files, &n_paths);
  if (n_paths > 0) {
    qsort (paths, n_paths, sizeof *paths, compare_paths);
    g_string_append (all, "\n# The files that it was made of\n");
  }
  for (guint at = 0; at < n_paths; at++)
    g_string_append_printf (all, HASH_LINE "%s %s\n",
                            (const char *) g_hash_table_lookup (machine->files, paths[at]),
                            paths[at]);
  return g_string_free (all, FALSE);
}

GHashTable *
study_machine_text_hashes (const char *text)
{
  GHashTable *hashes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (char **line = lines; *line != NULL; line++) {
    const char *hash = *line + strlen (HASH_LINE);
    const char *blank = g_str_has_prefix (*line, HASH_LINE) ? strchr (hash, ' ') : NULL;

    if (blank != NULL)
      g_hash_table_insert (hashes, g_strdup (blank + 1), g_strndup (hash, (gsize) (blank - hash)));
  }
  return hashes;
}

/* --- Hashes --- */

/* Numbers are hashed as little-endian, the same on every machine. */
static void
add_number (GChecksum *sum, uint32_t number)
{
  uint32_t little = GUINT32_TO_LE (number);

  g_checksum_update (sum, (const guchar *) &little, sizeof little);
}

/* The NUL keeps one text from running into the next. */
static void
add_text (GChecksum *sum, const char *text)
{
  g_checksum_update (sum, (const guchar *) text, (gssize) strlen (text) + 1);
}

char *
study_machine_hash (const TopoMachine *machine)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);

  g_autofree char *text = topo_machine_print (machine);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  /* Not the lines of a fabric's machine file that may hold the path of another file: the contents
   * of those files are hashed instead. */
  for (char **line = lines; *line != NULL; line++) {
    gboolean is_path_line = g_str_has_prefix (*line, "spec = ") ||
                            g_str_has_prefix (*line, "routes = ") ||
                            g_str_has_prefix (*line, "node = ");

    if (**line != '#' && (machine->fabric == NULL || !is_path_line))
      add_text (sum, *line);
  }
  if (machine->fabric != NULL) {
    const TopoFabric *fabric = machine->fabric;
    g_autofree char *routes = g_path_get_basename (machine->routes);

    add_text (sum, routes);
    add_number (sum, topo_shape_nodes (&machine->shape));
    for (uint32_t host = 0; host < fabric->n_hosts; host++)
      add_text (sum, fabric->hosts[host].name);
    for (uint32_t device = 0; device < fabric->n_devices; device++) {
      add_number (sum, fabric->devices[device].is_switch);
      add_number (sum, fabric->devices[device].n_ports);
      add_number (sum, fabric->devices[device].node);
    }
    for (uint32_t port = 0; port < fabric->n_ports; port++) {
      add_number (sum, fabric->ports[port].peer);
      add_number (sum, fabric->ports[port].lanes);
      add_number (sum, fabric->ports[port].speed);
    }
  }
  if (machine->node != NULL) {
    const TopoNode *node = machine->node;

    add_number (sum, node->adapter);
    for (uint32_t object = 0; object < node->n_objects; object++) {
      const TopoObject *it = &node->objects[object];

      add_number (sum, it->kind);
      add_number (sum, it->level);
      add_number (sum, it->parent);
      add_number (sum, it->first_core);
      add_number (sum, it->n_cores);
      add_number (sum, (uint32_t) it->cache_bytes);
      add_number (sum, (uint32_t) (it->cache_bytes >> 32));
    }
  }
  return g_strdup (g_checksum_get_string (sum));
}

char *
study_mapping_hash (const TopoMapping *mapping)
{
  g_autofree uint32_t *places = g_new (uint32_t, (gsize) mapping->n_ranks * 2);

  for (gsize rank = 0; rank < mapping->n_ranks; rank++) {
    places[rank * 2] = GUINT32_TO_LE (mapping->node[rank]);
    places[rank * 2 + 1] = GUINT32_TO_LE (mapping->slot[rank]);
  }
  return g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) places,
                                      (gsize) mapping->n_ranks * 2 * sizeof *places);
}

gboolean
study_jitter_parse (const char *text, int64_t *jitter_ps, GError **error)
{
  TopoValue value;

  if (!topo_unit_parse (TOPO_UNIT_TIME, text, &value, error))
    return FALSE;
  if (value.whole > UINT64_C (1000000000000)) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "'%s' is more than a second", text);
    return FALSE;
  }
  *jitter_ps = (int64_t) value.whole;
  return TRUE;
}
