/* aggregate_patterns.c - `hopcast aggregate patterns`: which cores of a node a job can use.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/options.h"
#include "cli/aggregate/patterns_print.h"
#include "topology/mapping/aggregation.h"
#include "topology/unit.h"

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
parse (Options *options, int argc, char **argv, GError **error)
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
  if ((options->node != NULL) == (options->machine.spec != NULL)) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE,
                 options->node != NULL ? "--node and --machine both say the node"
                                       : "--node FILE.xml or --machine SPEC is missing");
    return FALSE;
  }
  if (options->n_ranks != G_MININT64 && (options->n_ranks < 1 || options->n_ranks > G_MAXINT32)) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE,
                 "--ranks: %" G_GINT64_FORMAT " is not within 1..%d", options->n_ranks, G_MAXINT32);
    return FALSE;
  }
  return TRUE;
}

/* text NULL: 0. */
static gboolean
parse_bytes (const char *option, const char *text, uint64_t *bytes, GError **error)
{
  TopoValue value = { 0 };
  g_autoptr (GError) cause = NULL;

  *bytes = 0;
  if (text == NULL)
    return TRUE;
  if (!topo_unit_parse (TOPO_UNIT_BYTES, text, &value, &cause) || value.whole == 0) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "%s: %s", option,
                 cause != NULL ? cause->message : "no memory at all");
    return FALSE;
  }
  *bytes = value.whole;
  return TRUE;
}

/* The job that the options tell of. */
static gboolean
parse_job (const Options *options, TopoJob *job, GError **error)
{
  *job = (TopoJob){ .n_ranks = options->n_ranks == G_MININT64 ? 0 : (uint64_t) options->n_ranks,
                    .part_filled = options->part_filled };
  return parse_bytes ("--memory-per-task", options->task_memory, &job->task_bytes, error) &&
         parse_bytes ("--node-memory", options->node_memory, &job->node_bytes, error);
}

static TopoPatterns *
list_patterns (const Options *options, const TopoNode *node)
{
  return topo_patterns_new (node, (options->threads ? TOPO_PATTERNS_THREADS : 0u) |
                                      (options->all_counts ? TOPO_PATTERNS_ALL_COUNTS : 0u));
}

/* The patterns of the machine's nodes, whose number becomes that of the job. */
static TopoPatterns *
patterns_of_machine (const Options *options, TopoJob *job, GError **error)
{
  g_autoptr (TopoMachine) machine = cli_machine_new (&options->machine, error);

  if (machine == NULL)
    return NULL;
  if (machine->node == NULL) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT,
                 "%s is a torus: nothing is said of the inside of its nodes", machine->spec);
    return NULL;
  }
  job->n_nodes = topo_shape_nodes (&machine->shape);
  return list_patterns (options, machine->node);
}

static TopoPatterns *
patterns_of_file (const Options *options, GError **error)
{
  g_autoptr (TopoNode) node = topo_node_load (options->node, error);

  return node != NULL ? list_patterns (options, node) : NULL;
}

int
cli_aggregate_patterns (int argc, char **argv, GError **error)
{
  g_auto (Options) options = { .machine = CLI_MACHINE_OPTIONS_INIT, .n_ranks = G_MININT64 };
  g_autoptr (TopoPatterns) patterns = NULL;
  TopoJob job;

  if (!parse (&options, argc, argv, error) || !parse_job (&options, &job, error))
    return CLI_FAILED;
  patterns = options.node != NULL ? patterns_of_file (&options, error)
                                  : patterns_of_machine (&options, &job, error);
  if (patterns == NULL)
    return CLI_FAILED;
  if (!topo_patterns_admit (patterns, &job, error)) {
    g_prefix_error (error, "%s: ", options.node != NULL ? options.node : options.machine.spec);
    return CLI_FAILED;
  }
  cli_print_patterns (
      stdout,
      &(CliPatternSheet){ .node = options.node != NULL ? options.node : options.machine.spec,
                          .with_threads = options.threads,
                          .n_ranks = job.n_ranks,
                          .task_bytes = job.task_bytes,
                          .node_bytes = job.node_bytes > 0 ? job.node_bytes : patterns->node_bytes,
                          .patterns = patterns },
      options.format.format);
  return CLI_DONE;
}
