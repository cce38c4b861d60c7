/* pingpong_options.c - the command line of hopcast-pingpong, and the collectives that it names.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/pingpong/pingpong.h"

#include "cli/command.h"
#include "cli/parse.h"
#include "cli/size_list.h"

#define DEFAULT_SECONDS   0.1
#define DEFAULT_PRECISION 1.0 /* percent */
#define LARGEST_DEFAULT   (UINT64_C (1) << 24)
#define MAX_NOISE         200 /* pairs, as topology/mapping/message_placement.h takes them */
#define MAX_NODES         (1 << 20)

const char *const cli_pingpong_collectives[] = { "barrier", "bcast",     "gather",
                                                 "scatter", "allgather", "alltoall",
                                                 "reduce",  "allreduce", NULL };

G_STATIC_ASSERT (G_N_ELEMENTS (cli_pingpong_collectives) == CLI_PINGPONG_COLLECTIVES + 1);

uint64_t
cli_pingpong_buffer_bytes (CliPingpongCollective collective, uint64_t bytes, uint32_t n_ranks)
{
  switch (collective) {
  case CLI_PINGPONG_BARRIER:
  case CLI_PINGPONG_BCAST:
  case CLI_PINGPONG_REDUCE:
  case CLI_PINGPONG_ALLREDUCE:
  case CLI_PINGPONG_COLLECTIVES: return bytes;
  case CLI_PINGPONG_GATHER:
  case CLI_PINGPONG_SCATTER:
  case CLI_PINGPONG_ALLGATHER:
  case CLI_PINGPONG_ALLTOALL: return bytes * n_ranks;
  }
  g_assert_not_reached ();
}

void
cli_pingpong_options_clear (CliPingpongOptions *options)
{
  g_free (options->node);
  g_free (options->machine);
  g_free (options->sizes_text);
  g_free (options->collectives_text);
  g_free (options->output);
  g_array_unref (options->sizes);
  g_array_unref (options->collectives);
}

static gboolean
check (CliPingpongOptions *options, GError **error)
{
  g_auto (GStrv) words =
      options->collectives_text != NULL ? g_strsplit (options->collectives_text, ",", -1) : NULL;

  if (options->node != NULL && options->machine != NULL)
    return cli_refuse (error, "--node and --machine exclude each other");
  if (!(options->effort.seconds > 0 && options->effort.seconds <= 3600))
    return cli_refuse (error, "--seconds: %g is not within 0..3600", options->effort.seconds);
  if (!(options->effort.precision >= 0 && options->effort.precision <= 100))
    return cli_refuse (error, "--precision: %g is not within 0..100", options->effort.precision);
  options->effort.precision /= 100;
  if (!cli_check_number ("--max-pairs", options->max_pairs, 0, MAX_NOISE, error) ||
      !cli_check_number ("--max-outside", options->max_outside, 0, MAX_NOISE, error) ||
      !cli_check_number ("--pretend-nodes", options->pretend_nodes, 1, MAX_NODES, error))
    return FALSE;
  if (options->sizes_text == NULL)
    for (uint64_t bytes = 1; bytes <= LARGEST_DEFAULT; bytes *= 4)
      g_array_append_val (options->sizes, bytes);
  else if (!cli_size_list (options->sizes, options->sizes_text, CLI_PINGPONG_MAX_BYTES, "256 MiB",
                           error))
    return FALSE;
  for (guint i = 0; words != NULL && words[i] != NULL; i++) {
    int which =
        cli_parse_choice ("--collectives", g_strstrip (words[i]), cli_pingpong_collectives, error);

    if (which < 0)
      return FALSE;
    for (guint at = 0; at < options->collectives->len; at++)
      if (g_array_index (options->collectives, guint, at) == (guint) which)
        return cli_refuse (error, "--collectives: %s is listed twice", words[i]);
    g_array_append_val (options->collectives, which);
  }
  return !options->only_collectives || options->collectives->len > 0 ||
         cli_refuse (error, "--only-collectives needs --collectives");
}

gboolean
cli_pingpong_options_parse (CliPingpongOptions *options, int argc, char **argv, char **help,
                            GError **error)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  const GOptionEntry entries[] = {
    { "node", 0, 0, G_OPTION_ARG_FILENAME, &options->node,
      "What cores share: the node as hwloc's lstopo wrote it (default: all cores are alike)",
      "FILE.xml" },
    { "machine", 0, 0, G_OPTION_ARG_STRING, &options->machine,
      "The same from a machine: systemg, stampede, fabric:FILE,node=FILE.xml ...", "SPEC" },
    { "sizes", 0, 0, G_OPTION_ARG_STRING, &options->sizes_text,
      "Bytes of the messages (default: powers of four to 16 MiB)", "SIZE,..." },
    { "max-pairs", 0, 0, G_OPTION_ARG_INT, &options->max_pairs,
      "At most so many noisy pairs in a node (default: all that fit on 8 cores, 2 on more)", "N" },
    { "max-outside", 0, 0, G_OPTION_ARG_INT, &options->max_outside,
      "At most so many noisy messages to other nodes (default: as above)", "N" },
    { "collectives", 0, 0, G_OPTION_ARG_STRING, &options->collectives_text,
      "Also these of all processes, e.g. allreduce,alltoall,bcast,barrier", "NAME,..." },
    { "only-collectives", 0, 0, G_OPTION_ARG_NONE, &options->only_collectives,
      "No messages: for adding to a table", NULL },
    { "seconds", 0, 0, G_OPTION_ARG_DOUBLE, &options->effort.seconds,
      "How long each class and size is measured at most (default: 0.1)", "S" },
    { "precision", 0, 0, G_OPTION_ARG_DOUBLE, &options->effort.precision,
      "Enough when the median is known so well (default: 1 %)", "PERCENT" },
    { "bind", 0, 0, G_OPTION_ARG_NONE, &options->bind,
      "Bind each process of a node to a core of its own", NULL },
    { "pretend-nodes", 0, 0, G_OPTION_ARG_INT, &options->pretend_nodes,
      "To try it out on one node: as if the processes were on so many", "N" },
    { "dry-run", 0, 0, G_OPTION_ARG_NONE, &options->dry_run,
      "Only list what would be measured, and how long that takes", NULL },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output,
      "Where to write (default: standard output)", "FILE" },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &options->quiet, "No progress, no warnings", NULL },
    { "help", 'h', 0, G_OPTION_ARG_NONE, &options->help, "Print this", NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &options->version, "Print the version", NULL },
    { NULL },
  };

  options->max_pairs = options->max_outside = options->pretend_nodes = G_MININT;
  options->effort = (CliPingpongEffort){ DEFAULT_SECONDS, DEFAULT_PRECISION };
  options->sizes = g_array_new (FALSE, FALSE, sizeof (uint64_t));
  options->collectives = g_array_new (FALSE, FALSE, sizeof (guint));
  /* GLib's own --help would end one process of the job and leave the others waiting. */
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_set_summary (
      context,
      "Run by mpirun or srun, one process per core on two nodes: measures how long messages "
      "take beside every class of noise, inside a node and between two, and writes the "
      "table that 'hopcast aggregate' looks up.");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!cli_parse_options (context, NULL, &argc, &argv, error))
    return FALSE;
  if (argc > 1)
    return cli_refuse (error, "one argument too many: '%s'", argv[1]);
  *help = options->help ? g_option_context_get_help (context, FALSE, NULL) : NULL;
  return options->help || options->version || check (options, error);
}
