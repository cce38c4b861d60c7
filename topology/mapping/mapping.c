/* mapping.c - which node and slot each rank has.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/mapping/mapping_private.h"

#include "base/file.h"
#include "base/words.h"
#include "topology/launcher/launcher_private.h"
#include "topology/recipe/recipe.h"

TopoColumns
topo_columns_of (const TopoMachine *machine)
{
  uint32_t n_dimensions = machine->shape.n_dimensions;
  TopoColumns columns = { .n = n_dimensions + 1 };

  for (uint32_t dimension = 0; dimension < n_dimensions; dimension++) {
    columns.size[dimension] = machine->shape.size[dimension];
    columns.letter[dimension] = topo_dimension_letter (dimension);
  }
  columns.size[n_dimensions] = machine->ranks_per_node;
  columns.letter[n_dimensions] = 'T';
  return columns;
}

/* A text of capital letters alone is a permutation, anything else a path. */
static bool
is_permutation (const char *text)
{
  for (; *text != '\0'; text++)
    if (!g_ascii_isupper (*text))
      return false;
  return true;
}

/* The name of the machine's own order, in study files too; a file of this name is ./default. */
static bool
is_default (const char *text)
{
  return text == NULL || strcmp (text, "default") == 0;
}

/* The kind of file before the colon of a text, or NULL; *path is the file. */
static const TopoLauncher *
split_text (const char *text, const char **path)
{
  const TopoLauncher *launcher = topo_launcher_named (text, path);

  if (launcher == NULL)
    *path = text;
  return launcher;
}

static gboolean
fill_from_file (TopoMapping *mapping, const TopoMachine *machine, const TopoColumns *columns,
                GError **error)
{
  const char *path;
  const TopoLauncher *launcher = split_text (mapping->name, &path);
  g_autoptr (GError) cause = NULL;
  g_autofree char *text = NULL;
  gsize length;

  if (!base_file_read (path, &text, &length, &cause)) {
    const char *const *words = topo_recipe_words ();
    g_autofree char *meant =
        g_strv_contains (words, path)
            ? g_strdup_printf ("; the recipe is %s(...), with its arguments", path)
            : base_did_you_mean (path, words);

    if (launcher != NULL)
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_FILE, "mapping %s", cause->message);
    else
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_FILE,
                   "mapping %s; possible are default, the letters %s in any order, a recipe such "
                   "as hilbert, or the path of a file (map file or a launcher's), perhaps with its "
                   "kind before it as in rankfile:FILE%s",
                   cause->message, columns->letter, meant);
    return FALSE;
  }
  if (memchr (text, '\0', length) != NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s: not a text file", path);
    return FALSE;
  }
  if (launcher == NULL)
    launcher = topo_launcher_detect (machine, text);
  return launcher->read (mapping, machine, path, text, error);
}

/* Fills the places in the order that a permutation of the letters gives, the last the fastest. */
static gboolean
fill_from_letters (TopoMapping *mapping, const TopoColumns *columns, GError **error)
{
  uint32_t order[TOPO_MAX_COLUMNS], at[TOPO_MAX_COLUMNS] = { 0 }, seen = 0;
  const char *text = mapping->name;

  for (gsize letter = 0; text[letter] != '\0'; letter++) {
    const char *found = strchr (columns->letter, text[letter]);
    uint32_t column = found == NULL ? 0 : (uint32_t) (found - columns->letter);

    if (found == NULL || (seen >> column & 1u)) {
      g_set_error (
          error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
          "mapping \"%s\": \"%c\" %s; a mapping has each letter of %s once", text, text[letter],
          found == NULL ? "is not a dimension of this machine" : "appears twice", columns->letter);
      return FALSE;
    }
    seen |= 1u << column;
    order[letter] = column;
  }
  if (seen != (1u << columns->n) - 1) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                 "mapping \"%s\": a mapping has each letter of %s once", text, columns->letter);
    return FALSE;
  }
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    uint32_t wheel = columns->n - 1, node = 0;

    for (uint32_t column = 0; column + 1 < columns->n; column++)
      node = node * columns->size[column] + at[column];
    mapping->node[rank] = node;
    mapping->slot[rank] = (uint8_t) at[columns->n - 1];
    /* Counts like an odometer. */
    while (++at[order[wheel]] == columns->size[order[wheel]]) {
      at[order[wheel]] = 0;
      if (wheel-- == 0)
        break;
    }
  }
  return TRUE;
}

bool
topo_mapping_is_rankfile (const char *text)
{
  const char *path;
  const TopoLauncher *launcher = split_text (text, &path);
  g_autofree char *content = NULL;

  if (launcher != NULL)
    return launcher == &topo_launcher_rankfile || launcher == &topo_launcher_erf;
  return !is_default (text) && !is_permutation (text) &&
         g_file_get_contents (path, &content, NULL, NULL) &&
         (topo_launcher_rankfile.probe (NULL, content) || topo_launcher_erf.probe (NULL, content));
}

TopoMapping *
topo_mapping_new (const char *text, const TopoMachine *machine, uint32_t n_ranks, GError **error)
{
  TopoColumns columns = topo_columns_of (machine);
  gsize n_slots = (gsize) topo_shape_nodes (&machine->shape) * machine->ranks_per_node;
  g_autoptr (TopoMapping) mapping = g_new0 (TopoMapping, 1);
  const char *path;
  gboolean ok;

  if (n_ranks == 0 || n_ranks > n_slots) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%u ranks: %s with %u ranks per node has places for 1 to %" G_GSIZE_FORMAT
                 " (see --ranks-per-node)",
                 n_ranks, machine->spec, machine->ranks_per_node, n_slots);
    return NULL;
  }
  mapping->name = g_strdup (is_default (text) ? columns.letter : text);
  mapping->n_ranks = n_ranks;
  mapping->node = g_new (uint32_t, n_ranks);
  mapping->slot = g_new (uint8_t, n_ranks);
  /* A file has precedence over a recipe of its name. */
  if (topo_launcher_named (mapping->name, &path) == NULL && topo_is_recipe (mapping->name) &&
      !g_file_test (mapping->name, G_FILE_TEST_IS_REGULAR))
    ok = topo_recipe_fill (mapping, machine, error);
  else if (is_permutation (mapping->name))
    ok = fill_from_letters (mapping, &columns, error);
  else
    ok = fill_from_file (mapping, machine, &columns, error);
  return ok ? g_steal_pointer (&mapping) : NULL;
}

void
topo_mapping_free (TopoMapping *mapping)
{
  if (mapping == NULL)
    return;
  g_free (mapping->name);
  g_free (mapping->node);
  g_free (mapping->slot);
  g_free (mapping);
}
