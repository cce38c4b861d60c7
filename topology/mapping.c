/* mapping.c - which node and slot each rank has.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/mapping_private.h"
#include "topology/recipe.h"

#include <string.h>

/* One column of a map: the dimensions and, last, the slot. */
#define MAX_COLUMNS (TOPO_MAX_DIMENSIONS + 1)

/* The columns of a machine's maps and how many values each may have. */
typedef struct {
  uint32_t n;
  uint32_t size[MAX_COLUMNS];
  char letter[MAX_COLUMNS + 1];
} Columns;

static Columns
columns_of (const TopoMachine *machine)
{
  uint32_t n_dimensions = machine->shape.n_dimensions;
  Columns columns = { .n = n_dimensions + 1 };

  for (uint32_t dimension = 0; dimension < n_dimensions; dimension++) {
    columns.size[dimension] = machine->shape.size[dimension];
    columns.letter[dimension] = topo_dimension_letter (dimension);
  }
  columns.size[n_dimensions] = machine->ranks_per_node;
  columns.letter[n_dimensions] = 'T';
  return columns;
}

/* Position of a row of values: the node (row-major) and the slot. */
static void
place (TopoMapping *mapping, uint32_t rank, const Columns *columns, const uint32_t *at)
{
  uint32_t node = 0;

  for (uint32_t column = 0; column + 1 < columns->n; column++)
    node = node * columns->size[column] + at[column];
  mapping->node[rank] = node;
  mapping->slot[rank] = (uint8_t) at[columns->n - 1];
}

/* Looks up the columns in the order that the letters give. */
static gboolean
parse_permutation (const char *text, const Columns *columns, uint32_t *order, GError **error)
{
  uint32_t seen = 0;

  for (gsize at = 0; text[at] != '\0'; at++) {
    const char *found = strchr (columns->letter, text[at]);
    uint32_t column = found == NULL ? 0 : (uint32_t) (found - columns->letter);

    if (found == NULL || (seen >> column & 1u)) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                   "mapping \"%s\": \"%c\" %s; a mapping has each letter of %s once", text,
                   text[at], found == NULL ? "is no dimension of this machine" : "stands twice",
                   columns->letter);
      return FALSE;
    }
    seen |= 1u << column;
    order[at] = column;
  }
  if (seen != (1u << columns->n) - 1) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                 "mapping \"%s\": a mapping has each letter of %s once", text, columns->letter);
    return FALSE;
  }
  return TRUE;
}

/* Counts through the columns like an odometer, order[n - 1] the fastest. */
static void
fill_permutation (TopoMapping *mapping, const Columns *columns, const uint32_t *order)
{
  uint32_t at[MAX_COLUMNS] = { 0 };

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    uint32_t wheel = columns->n - 1;

    place (mapping, rank, columns, at);
    while (++at[order[wheel]] == columns->size[order[wheel]]) {
      at[order[wheel]] = 0;
      if (wheel-- == 0)
        break;
    }
  }
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

/* A map file while it is read. */
typedef struct {
  const char *path;
  uint32_t line;
  const Columns *columns;
  uint32_t n_ranks_read;
  uint32_t *rank_at; /* [node * ranks_per_node + slot], TOPO_NONE when free */
} Reader;

/* Reads the values of a line up to its comment; *text moves behind them. */
static gboolean
read_values (const Reader *reader, const char *text, uint32_t *at, GError **error)
{
  const Columns *columns = reader->columns;

  for (uint32_t column = 0; column < columns->n; column++) {
    char *end;
    guint64 value;

    text += strspn (text, " \t\r");
    value = g_ascii_isdigit (*text) ? g_ascii_strtoull (text, &end, 10) : 0;
    if (!g_ascii_isdigit (*text) || (*end != '\0' && strchr (" \t\r#", *end) == NULL)) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                   "%s:%u: expected %u numbers (%s), found \"%s\" in column %u", reader->path,
                   reader->line, columns->n, columns->letter, text, column + 1);
      return FALSE;
    }
    if (value >= columns->size[column]) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                   "%s:%u: %c = %" G_GUINT64_FORMAT " is not within 0 .. %u", reader->path,
                   reader->line, columns->letter[column], value, columns->size[column] - 1);
      return FALSE;
    }
    at[column] = (uint32_t) value;
    text = end;
  }
  text += strspn (text, " \t\r");
  if (*text == '\0' || *text == '#')
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s:%u: \"%s\" after the last of %u numbers",
               reader->path, reader->line, text, columns->n);
  return FALSE;
}

static gboolean
read_rank (Reader *reader, const char *text, TopoMapping *mapping, GError **error)
{
  uint32_t at[MAX_COLUMNS];
  uint32_t rank = reader->n_ranks_read;
  uint32_t n_slots = reader->columns->size[reader->columns->n - 1];
  uint32_t *holder;

  if (!read_values (reader, text, at, error))
    return FALSE;
  if (rank == mapping->n_ranks) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%s:%u: \"%s\" is one line too many for %u ranks", reader->path, reader->line,
                 text, mapping->n_ranks);
    return FALSE;
  }
  place (mapping, rank, reader->columns, at);
  holder = &reader->rank_at[(gsize) mapping->node[rank] * n_slots + mapping->slot[rank]];
  if (*holder != TOPO_NONE) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%s:%u: \"%s\" is already the place of rank %u", reader->path, reader->line, text,
                 *holder);
    return FALSE;
  }
  *holder = rank;
  reader->n_ranks_read++;
  return TRUE;
}

/* Cuts the text into lines in place. */
static gboolean
read_lines (Reader *reader, char *text, TopoMapping *mapping, GError **error)
{
  while (text != NULL) {
    char *line = text;
    char *end = strchr (line, '\n');

    text = end == NULL ? NULL : end + 1;
    if (end != NULL)
      *end = '\0';
    reader->line++;
    line += strspn (line, " \t\r");
    if (*line == '\0' || *line == '#')
      continue;
    if (!read_rank (reader, g_strchomp (line), mapping, error))
      return FALSE;
  }
  if (reader->n_ranks_read == mapping->n_ranks)
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "%s:%u: the file places %u ranks of %u",
               reader->path, reader->line, reader->n_ranks_read, mapping->n_ranks);
  return FALSE;
}

static gboolean
fill_from_map (TopoMapping *mapping, const char *path, char *text, const Columns *columns,
               gsize n_slots, GError **error)
{
  g_autofree uint32_t *rank_at = g_new (uint32_t, n_slots);
  Reader reader = { .path = path, .columns = columns, .rank_at = rank_at };

  memset (rank_at, 0xff, n_slots * sizeof *rank_at);
  return read_lines (&reader, text, mapping, error);
}

static gboolean
fill_from_file (TopoMapping *mapping, const TopoMachine *machine, const Columns *columns,
                gsize n_slots, GError **error)
{
  const char *path = mapping->name;
  g_autoptr (GError) cause = NULL;
  g_autofree char *text = NULL;
  gsize length;

  if (!g_file_get_contents (path, &text, &length, &cause)) {
    g_set_error (
        error, TOPO_ERROR, TOPO_ERROR_FILE,
        "mapping \"%s\": %s; possible are the letters %s in any order or the path of a file "
        "(map file, rankfile, host list)",
        path, cause->message, columns->letter);
    return FALSE;
  }
  if (memchr (text, '\0', length) != NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s: not a text file", path);
    return FALSE;
  }
  if (machine->fabric == NULL && topo_is_rankfile (text)) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%s: a rankfile places ranks on the hosts of a fabric; %s is a torus", path,
                 machine->spec);
    return FALSE;
  }
  if (machine->fabric != NULL && topo_is_rankfile (text))
    return topo_rankfile_read (mapping, machine, path, text, error);
  if (machine->fabric != NULL && topo_is_hostfile (text))
    return topo_hostfile_read (mapping, machine, path, text, error);
  return fill_from_map (mapping, path, text, columns, n_slots, error);
}

static gboolean
fill (TopoMapping *mapping, const TopoMachine *machine, const Columns *columns, gsize n_slots,
      GError **error)
{
  uint32_t order[MAX_COLUMNS];

  /* A file beats a recipe of its name. */
  if (topo_is_recipe (mapping->name) && !g_file_test (mapping->name, G_FILE_TEST_IS_REGULAR))
    return topo_recipe_fill (mapping, machine, error);
  if (!is_permutation (mapping->name))
    return fill_from_file (mapping, machine, columns, n_slots, error);
  if (!parse_permutation (mapping->name, columns, order, error))
    return FALSE;
  fill_permutation (mapping, columns, order);
  return TRUE;
}

TopoMapping *
topo_mapping_new (const char *text, const TopoMachine *machine, uint32_t n_ranks, GError **error)
{
  Columns columns = columns_of (machine);
  gsize n_slots = (gsize) topo_shape_nodes (&machine->shape) * machine->ranks_per_node;
  g_autoptr (TopoMapping) mapping = g_new0 (TopoMapping, 1);

  if (n_ranks == 0 || n_ranks > n_slots) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%u ranks: %s with %u ranks per node has places for 1 to %" G_GSIZE_FORMAT
                 " (see --ranks-per-node)",
                 n_ranks, machine->spec, machine->ranks_per_node, n_slots);
    return NULL;
  }
  mapping->name = g_strdup (text == NULL ? columns.letter : text);
  mapping->n_ranks = n_ranks;
  mapping->node = g_new (uint32_t, n_ranks);
  mapping->slot = g_new (uint8_t, n_ranks);
  if (!fill (mapping, machine, &columns, n_slots, error))
    return NULL;
  return g_steal_pointer (&mapping);
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
