/* launcher_blocks.c - task maps: blocks of nodes that take so many ranks each.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   {"version":1,"map":[[0,4,2,2]]}     Flux, RFC 34: from node 0 on 4 nodes take 2
 *                                       ranks each, and that twice; or the list alone
 *   (vector,(0,4,2),(0,4,2))            PMI's process mapping, which cannot repeat
 *
 * Node 0 is the first node of the machine, and of the job. */
#include "topology/launcher/launcher_private.h"

#define MAX_ARGUMENT_BYTES (128u * 1024 - 64) /* Linux's MAX_ARG_STRLEN, less the option's name */

typedef struct {
  uint32_t node, n_nodes, ranks_per_node, n_times;
} Block;

/* --- Reading --- */

/* A text and how far it has been read. */
typedef struct {
  TopoPlacer *placer; /* whose line is that of `at` */
  const char *at;
} Scanner;

static void
skip_blanks (Scanner *scanner)
{
  for (; g_ascii_isspace (*scanner->at); scanner->at++)
    scanner->placer->line += *scanner->at == '\n';
}

/* Takes a word that may come next. */
static bool
take (Scanner *scanner, const char *word)
{
  skip_blanks (scanner);
  if (!g_str_has_prefix (scanner->at, word))
    return false;
  scanner->at += strlen (word);
  return true;
}

/* What is wrong with the text that comes next, of which the beginning is shown. */
static gboolean
fail_here (const Scanner *scanner, const char *expected, GError **error)
{
  return topo_placer_fail (scanner->placer, TOPO_ERROR_SYNTAX, error, "expected %s, found \"%.*s\"",
                           expected, (int) MIN (strcspn (scanner->at, "\r\n"), 20), scanner->at);
}

static gboolean
expect (Scanner *scanner, const char *word, GError **error)
{
  return take (scanner, word) || fail_here (scanner, word, error);
}

static gboolean
expect_number (Scanner *scanner, uint32_t *number, GError **error)
{
  char *end;
  guint64 value;

  skip_blanks (scanner);
  if (!g_ascii_isdigit (*scanner->at))
    return fail_here (scanner, "a number", error);
  value = g_ascii_strtoull (scanner->at, &end, 10);
  if (value > UINT32_MAX)
    return topo_placer_fail (scanner->placer, TOPO_ERROR_RANGE, error, "%.*s is too large",
                             (int) MIN (end - scanner->at, 20), scanner->at);
  scanner->at = end;
  *number = (uint32_t) value;
  return TRUE;
}

/* Gives the block's places to the next ranks. */
static gboolean
fill_block (TopoPlacer *placer, const Block *block, GError **error)
{
  uint32_t n_machine = topo_shape_nodes (&placer->machine->shape);

  if (block->n_nodes == 0 || block->ranks_per_node == 0 || block->n_times == 0)
    return topo_placer_fail (placer, TOPO_ERROR_RANGE, error,
                             "a block of no nodes, of no ranks or that is never there");
  if (block->node >= n_machine || block->n_nodes > n_machine - block->node)
    return topo_placer_fail (placer, TOPO_ERROR_RANGE, error,
                             "%u nodes from node %u on: %s has %u nodes", block->n_nodes,
                             block->node, placer->machine->spec, n_machine);
  for (uint32_t time = 0; time < block->n_times; time++)
    for (uint32_t node = block->node; node < block->node + block->n_nodes; node++)
      for (uint32_t rank = 0; rank < block->ranks_per_node; rank++)
        if (!topo_placer_fill (placer, node, error))
          return FALSE;
  return TRUE;
}

/* Numbers between brackets: "[0,4,2,2]" or "(0,4,2)". */
static gboolean
read_block (Scanner *scanner, const char *open, const char *close, bool repeats, GError **error)
{
  Block block = { .n_times = 1 };

  return expect (scanner, open, error) && expect_number (scanner, &block.node, error) &&
         expect (scanner, ",", error) && expect_number (scanner, &block.n_nodes, error) &&
         expect (scanner, ",", error) && expect_number (scanner, &block.ranks_per_node, error) &&
         (!repeats ||
          (expect (scanner, ",", error) && expect_number (scanner, &block.n_times, error))) &&
         expect (scanner, close, error) && fill_block (scanner->placer, &block, error);
}

static gboolean
expect_end (Scanner *scanner, GError **error)
{
  skip_blanks (scanner);
  if (*scanner->at != '\0')
    return fail_here (scanner, "the end of the map", error);
  return topo_placer_finish (scanner->placer, error);
}

/* "[[0,4,2,2],[4,1,1,1]]" */
static gboolean
read_list (Scanner *scanner, GError **error)
{
  if (!expect (scanner, "[", error))
    return FALSE;
  do
    if (!read_block (scanner, "[", "]", true, error))
      return FALSE;
  while (take (scanner, ","));
  return expect (scanner, "]", error);
}

/* The members "version" and "map" of the object, in any order. */
static gboolean
read_object (Scanner *scanner, GError **error)
{
  bool has_version = false, has_map = false;

  do
    if (!has_version && take (scanner, "\"version\"")) {
      uint32_t version;

      has_version = true;
      if (!expect (scanner, ":", error) || !expect_number (scanner, &version, error))
        return FALSE;
      if (version != 1)
        return topo_placer_fail (scanner->placer, TOPO_ERROR_RANGE, error,
                                 "a task map of version %u; 1 is known", version);
    } else {
      has_map = true;
      if (!expect (scanner, "\"map\"", error) || !expect (scanner, ":", error) ||
          !read_list (scanner, error))
        return FALSE;
    }
  while (!(has_version && has_map) && take (scanner, ","));
  if (!has_version || !has_map)
    return topo_placer_fail (scanner->placer, TOPO_ERROR_SYNTAX, error, "there is no \"%s\"",
                             has_version ? "map" : "version");
  return expect (scanner, "}", error);
}

static gboolean
read_flux (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
           GError **error)
{
  g_auto (TopoPlacer) placer = topo_placer_new (mapping, machine, path);
  Scanner scanner = { &placer, text };

  placer.line = 1;
  if (!(take (&scanner, "{") ? read_object (&scanner, error) : read_list (&scanner, error)))
    return FALSE;
  return expect_end (&scanner, error);
}

static gboolean
read_pmi (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
          GError **error)
{
  g_auto (TopoPlacer) placer = topo_placer_new (mapping, machine, path);
  Scanner scanner = { &placer, text };

  placer.line = 1;
  if (!expect (&scanner, "(", error) || !expect (&scanner, "vector", error))
    return FALSE;
  while (take (&scanner, ","))
    if (!read_block (&scanner, "(", ")", false, error))
      return FALSE;
  return expect (&scanner, ")", error) && expect_end (&scanner, error);
}

static bool
probe_flux (const TopoMachine *machine G_GNUC_UNUSED, const char *text)
{
  text += strspn (text, " \t\r\n");
  return *text == '{' || *text == '[';
}

static bool
probe_pmi (const TopoMachine *machine G_GNUC_UNUSED, const char *text)
{
  text += strspn (text, " \t\r\n");
  return *text == '(' && g_str_has_prefix (text + 1 + strspn (text + 1, " \t\r\n"), "vector");
}

/* --- Writing --- */

/* Makes a block longer by the next one, where that goes on with its next node. */
static bool
grows (Block *block, const Block *next)
{
  if (next->node != block->node + block->n_nodes || next->ranks_per_node != block->ranks_per_node)
    return false;
  block->n_nodes += next->n_nodes;
  return true;
}

static bool
same_place (const Block *block, const Block *other)
{
  return block->node == other->node && block->n_nodes == other->n_nodes &&
         block->ranks_per_node == other->ranks_per_node;
}

/* (element-type Block) */
static GArray *
blocks_of (const TopoMapping *mapping)
{
  GArray *blocks = g_array_new (FALSE, FALSE, sizeof (Block));

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank += topo_launcher_run (mapping, rank)) {
    Block block = { mapping->node[rank], 1, topo_launcher_run (mapping, rank), 1 };

    if (blocks->len == 0 || !grows (&g_array_index (blocks, Block, blocks->len - 1), &block))
      g_array_append_val (blocks, block);
  }
  return blocks;
}

/* Counts blocks that follow their like. */
static void
join_equal (GArray *blocks)
{
  guint n = 0;

  for (guint at = 0; at < blocks->len; at++) {
    Block *block = &g_array_index (blocks, Block, at);
    Block *last = n > 0 ? &g_array_index (blocks, Block, n - 1) : NULL;

    if (last != NULL && same_place (last, block))
      last->n_times++;
    else
      g_array_index (blocks, Block, n++) = *block;
  }
  g_array_set_size (blocks, n);
}

static char *
print_flux (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  g_autoptr (GArray) blocks = NULL;
  GString *text;

  if (!topo_launcher_check_slots (mapping, machine, "a task map", error))
    return NULL;
  blocks = blocks_of (mapping);
  join_equal (blocks);
  text = g_string_new ("{\"version\":1,\"map\":[");
  for (guint at = 0; at < blocks->len; at++) {
    const Block *block = &g_array_index (blocks, Block, at);

    g_string_append_printf (text, "%s[%u,%u,%u,%u]", at > 0 ? "," : "", block->node, block->n_nodes,
                            block->ranks_per_node, block->n_times);
  }
  return g_string_free (g_string_append (text, "]}\n"), FALSE);
}

static char *
print_pmi (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  g_autoptr (GArray) blocks = NULL;
  GString *text;

  if (!topo_launcher_check_slots (mapping, machine, "a process mapping", error))
    return NULL;
  blocks = blocks_of (mapping);
  text = g_string_new ("(vector");
  for (guint at = 0; at < blocks->len; at++) {
    const Block *block = &g_array_index (blocks, Block, at);

    g_string_append_printf (text, ",(%u,%u,%u)", block->node, block->n_nodes,
                            block->ranks_per_node);
  }
  return g_string_free (g_string_append (text, ")\n"), FALSE);
}

static TopoLaunch
launch_flux (const TopoMapping *mapping, const TopoMachine *machine, const char *file)
{
  g_autofree char *processors =
      topo_launcher_processors (mapping, machine, " -o 'cpu-affinity=map:", ';');
  g_autofree char *text = print_flux (mapping, machine, NULL);

  if (text != NULL && strlen (text) > MAX_ARGUMENT_BYTES)
    return (TopoLaunch){ .note = g_strdup (
                             "flux takes the map as an argument, and this one is longer than the "
                             "128 KiB that Linux lets one be") };
  return (TopoLaunch){
    .line = g_strdup_printf ("flux run -N %u -n %u --taskmap=manual:\"$(cat %s)\"%s%s ./program",
                             topo_launcher_nodes_used (mapping), mapping->n_ranks, file, processors,
                             *processors != '\0' ? "'" : ""),
    .note = g_strdup ("the nodes of the job must be those of the machine, in its order"),
  };
}

static TopoLaunch
launch_pmi (const TopoMapping *mapping G_GNUC_UNUSED, const TopoMachine *machine G_GNUC_UNUSED,
            const char *file G_GNUC_UNUSED)
{
  return (TopoLaunch){ .note = g_strdup (
                           "this is what a process manager tells MPI; no launcher reads it") };
}

const TopoLauncher topo_launcher_flux = {
  .name = "flux",
  .summary = "task map of Flux (RFC 34): ranks of blocks of nodes, as JSON",
  .probe = probe_flux,
  .read = read_flux,
  .print = print_flux,
  .launch = launch_flux,
};

const TopoLauncher topo_launcher_pmi = {
  .name = "pmi",
  .summary = "PMI's process mapping: ranks of blocks of nodes",
  .probe = probe_pmi,
  .read = read_pmi,
  .print = print_pmi,
  .launch = launch_pmi,
};
