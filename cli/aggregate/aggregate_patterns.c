/* aggregate_patterns.c - `hopcast aggregate patterns`: the aggregation patterns of a node.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/aggregate/aggregate.h"
#include "cli/command.h"
#include "cli/print/columns.h"
#include "cli/print/terminal.h"
#include "topology/mapping/aggregation.h"

#include <stddef.h>

typedef struct {
  CliMachineOptions machine;
  CliFormatOptions format;
  char *node;
  gint64 n_ranks; /* G_MININT64: not given */
  char *task_memory, *node_memory;
  gboolean part_filled, threads, all_counts;
} Options;

static void
options_clear (Options *options)
{
  cli_machine_options_clear (&options->machine);
  cli_format_options_clear (&options->format);
  g_free (options->node);
  g_free (options->task_memory);
  g_free (options->node_memory);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static gboolean
parse (Options *options, TopoJob *job, int argc, char **argv, GError **error)
{
  static const char *const names[] = { NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      NULL, "Lists the aggregation patterns of a node, from one task to all its cores: how many "
            "sockets, dies and cores each uses, which needs the least energy, and which a job of "
            "so many ranks can have.");
  const GOptionEntry entries[] = {
    { "node", 0, 0, G_OPTION_ARG_FILENAME, &options->node,
      "The node, as hwloc's lstopo wrote it; instead of --machine", "FILE.xml" },
    { "ranks", 0, 0, G_OPTION_ARG_INT64, &options->n_ranks,
      "Ranks of the job: tells the nodes, and excludes patterns that they do not fill", "N" },
    { "memory-per-task", 0, 0, G_OPTION_ARG_STRING, &options->task_memory,
      "What a task needs, e.g. 3GiB: excludes patterns that exceed the node", "SIZE" },
    { "node-memory", 0, 0, G_OPTION_ARG_STRING, &options->node_memory,
      "What tasks can have of a node (default: all its memory)", "SIZE" },
    { "part-filled", 0, 0, G_OPTION_ARG_NONE, &options->part_filled,
      "The last node may have fewer tasks than the others", NULL },
    { "threads", 0, 0, G_OPTION_ARG_NONE, &options->threads,
      "Tasks may share a core, one on each of its hardware threads", NULL },
    { "all-counts", 0, 0, G_OPTION_ARG_NONE, &options->all_counts,
      "Any number of cores of a die ..., not only divisors and powers of two", NULL },
    { NULL },
  };

  cli_add_machine_option (context, &options->machine);
  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_format_options (context, &options->format);
  if (!cli_parse (context, argc, argv, names, NULL, error) ||
      !cli_parse_format (&options->format, error))
    return FALSE;
  if ((options->node != NULL) == (options->machine.spec != NULL))
    return cli_refuse (error, options->node != NULL
                                  ? "--node and --machine exclude each other"
                                  : "--node FILE.xml or --machine SPEC is missing");
  if (options->n_ranks != G_MININT64 && (options->n_ranks < 1 || options->n_ranks > G_MAXINT32))
    return cli_refuse (error, "--ranks: %" G_GINT64_FORMAT " is not within 1..%d", options->n_ranks,
                       G_MAXINT32);
  *job = (TopoJob){ .n_ranks = options->n_ranks == G_MININT64 ? 0 : (uint64_t) options->n_ranks,
                    .part_filled = options->part_filled };
  return cli_aggregate_bytes ("--memory-per-task", options->task_memory, &job->task_bytes, error) &&
         cli_aggregate_bytes ("--node-memory", options->node_memory, &job->node_bytes, error);
}

/* --- Printing --- */

typedef struct {
  uint32_t id, n_tasks, n_sockets, n_dies;
  uint32_t n_nodes, energy_rank; /* 0: not known */
  double symmetries;
  bool is_uneven;
  char *takes, *cores, *cpus;
  const char *excluded, *note; /* note: excluded, or uneven */
  JsonNode *takes_node, *used_node, *cores_node, *cpus_node;
} Row;

enum { WITH_THREADS = 1, WITHOUT_THREADS = 2 };

static const CliColumn columns[] = {
  { "id", "id", CLI_CELL_U32, offsetof (Row, id) },
  { "tasks_per_node", "tasks", CLI_CELL_U32, offsetof (Row, n_tasks) },
  { "nodes", "nodes", CLI_CELL_KNOWN_U32, offsetof (Row, n_nodes) },
  { "takes", "takes", CLI_CELL_TEXT, offsetof (Row, takes), .omit = CLI_NOT_JSON },
  { "takes", NULL, CLI_CELL_NODE, offsetof (Row, takes_node), .omit = CLI_NOT_CSV },
  { "used", NULL, CLI_CELL_NODE, offsetof (Row, used_node), .omit = CLI_NOT_CSV },
  { "sockets", "sockets", CLI_CELL_U32, offsetof (Row, n_sockets) },
  { "dies", "dies", CLI_CELL_U32, offsetof (Row, n_dies) },
  { "energy_rank", "energy", CLI_CELL_KNOWN_U32, offsetof (Row, energy_rank) },
  { "symmetries", "symmetries", CLI_CELL_NUMBER, offsetof (Row, symmetries), "%.17g" },
  { "uneven", NULL, CLI_CELL_BOOLEAN, offsetof (Row, is_uneven) },
  /* Without threads a core names a place. */
  { "cores", "cores", CLI_CELL_TEXT, offsetof (Row, cores), NULL, WITHOUT_THREADS, CLI_NOT_JSON },
  { "cpus", "cpus", CLI_CELL_TEXT, offsetof (Row, cpus), NULL, WITH_THREADS, CLI_NOT_JSON },
  { "cores", NULL, CLI_CELL_NODE, offsetof (Row, cores_node), .omit = CLI_NOT_CSV },
  { "cpus", NULL, CLI_CELL_NODE, offsetof (Row, cpus_node), .omit = CLI_NOT_CSV },
  { "excluded", NULL, CLI_CELL_TEXT, offsetof (Row, excluded) },
  { NULL, "note", CLI_CELL_TEXT, offsetof (Row, note) },
};

/* Ascending numbers as --cores takes them, "0,1,4-7"; the caller frees it. */
static char *
list_text (const uint32_t number[], const uint32_t place[], uint32_t n)
{
  GString *text = g_string_new (NULL);

  for (uint32_t at = 0; at < n;) {
    uint32_t end = at;

    while (end + 1 < n && number[place[end + 1]] == number[place[end]] + 1)
      end++;
    if (end < at + 2)
      end = at;
    g_string_append_printf (text, "%s%u", at > 0 ? "," : "", number[place[at]]);
    if (end > at)
      g_string_append_printf (text, "-%u", number[place[end]]);
    at = end + 1;
  }
  return g_string_free (text, FALSE);
}

/* A number for each level: of count[], or (NULL) the groups of the level. */
static JsonNode *
levels_node (const TopoLevels *levels, const uint32_t count[])
{
  JsonObject *object = json_object_new ();
  JsonNode *node = json_node_init_object (json_node_alloc (), object);

  for (uint32_t level = 0; level < levels->n_levels; level++)
    json_object_set_int_member (object, levels->level[level].name,
                                count != NULL ? count[level] : levels->level[level].n_groups);
  json_object_unref (object);
  return node;
}

static JsonNode *
list_node (const uint32_t number[], const TopoPattern *pattern)
{
  JsonArray *array = json_array_new ();
  JsonNode *node = json_node_init_array (json_node_alloc (), array);

  for (uint32_t at = 0; at < pattern->n_tasks; at++)
    json_array_add_int_element (array, number[pattern->place[at]]);
  json_array_unref (array);
  return node;
}

static void
add_known (JsonBuilder *builder, const char *name, uint64_t value)
{
  if (value > 0)
    cli_add_integer (builder, name, value);
  else
    cli_add_string (builder, name, NULL);
}

static void
print (const Options *options, const TopoPatterns *patterns, const TopoJob *job)
{
  const char *source = options->node != NULL ? options->node : options->machine.spec;
  uint64_t node_bytes = job->node_bytes > 0 ? job->node_bytes : patterns->node_bytes;
  g_autofree Row *row = g_new (Row, patterns->n);
  CliRows rows = CLI_ROWS (columns, row, patterns->n);

  rows.has = options->threads ? WITH_THREADS : WITHOUT_THREADS;
  for (uint32_t at = 0; at < patterns->n; at++) {
    const TopoLevels *levels = patterns->levels;
    const TopoPattern *pattern = &patterns->pattern[at];

    row[at] = (Row){ .id = pattern->id,
                     .n_tasks = pattern->n_tasks,
                     .n_nodes = pattern->n_nodes,
                     .n_sockets = pattern->n_sockets,
                     .n_dies = pattern->n_dies,
                     .energy_rank = pattern->energy_rank,
                     .symmetries = pattern->symmetries,
                     .is_uneven = pattern->is_uneven,
                     .takes = topo_pattern_takes (levels, pattern),
                     .cores = list_text (levels->core, pattern->place, pattern->n_tasks),
                     .cpus = list_text (levels->cpu, pattern->place, pattern->n_tasks),
                     .excluded = pattern->excluded,
                     .note = pattern->excluded != NULL ? pattern->excluded
                             : pattern->is_uneven      ? "uneven"
                                                       : NULL,
                     .takes_node = levels_node (levels, pattern->takes),
                     .used_node = levels_node (levels, pattern->used),
                     .cores_node = list_node (levels->core, pattern),
                     .cpus_node = list_node (levels->cpu, pattern) };
  }
  if (options->format.format == CLI_FORMAT_CSV)
    cli_rows_print_csv (stdout, &rows);
  else if (options->format.format == CLI_FORMAT_TABLE) {
    g_autofree char *levels = topo_levels_describe (patterns->levels);

    cli_printf (stdout, "%s: %s", source, levels);
    if (node_bytes > 0)
      printf ("; %.4g GiB", (double) node_bytes / (double) (1 << 30));
    putchar ('\n');
    cli_rows_print_table (stdout, &rows, "");
  } else {
    g_autoptr (JsonBuilder) builder = json_builder_new ();

    json_builder_begin_object (builder);
    cli_add_string (builder, "schema", "hopcast.patterns/1");
    cli_add_string (builder, "node", source);
    json_builder_set_member_name (builder, "levels");
    json_builder_add_value (builder, levels_node (patterns->levels, NULL));
    add_known (builder, "ranks", job->n_ranks);
    add_known (builder, "memory_per_task_bytes", job->task_bytes);
    add_known (builder, "node_memory_bytes", node_bytes);
    cli_rows_add_json (builder, "patterns", &rows);
    cli_print_object (stdout, builder);
  }
  for (uint32_t at = 0; at < patterns->n; at++) {
    g_free (row[at].takes);
    g_free (row[at].cores);
    g_free (row[at].cpus);
    json_node_unref (row[at].takes_node);
    json_node_unref (row[at].used_node);
    json_node_unref (row[at].cores_node);
    json_node_unref (row[at].cpus_node);
  }
}

int
cli_aggregate_patterns (int argc, char **argv, GError **error)
{
  g_auto (Options) options = { .machine = CLI_MACHINE_OPTIONS_INIT, .n_ranks = G_MININT64 };
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (TopoNode) node = NULL;
  g_autoptr (TopoPatterns) patterns = NULL;
  TopoJob job;

  if (!parse (&options, &job, argc, argv, error))
    return CLI_FAILED;
  if (options.node != NULL) {
    if (!(node = topo_node_load (options.node, error)))
      return CLI_FAILED;
  } else {
    if (!(machine = cli_aggregate_machine (&options.machine, error)))
      return CLI_FAILED;
    job.n_nodes = topo_shape_nodes (&machine->shape);
  }
  patterns = topo_patterns_new (node != NULL ? node : machine->node,
                                (options.threads ? TOPO_PATTERNS_THREADS : 0u) |
                                    (options.all_counts ? TOPO_PATTERNS_ALL_COUNTS : 0u));
  if (!topo_patterns_admit (patterns, &job, error)) {
    g_prefix_error (error, "%s: ", options.node != NULL ? options.node : options.machine.spec);
    return CLI_FAILED;
  }
  print (&options, patterns, &job);
  return CLI_DONE;
}
