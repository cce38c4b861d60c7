/* aggregate_table.c - `hopcast aggregate table`: times of operations with noise beside them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/print/outfile.h"
#include "cli/print/progress.h"
#include "cli/size_list.h"
#include "study/aggregate/bound_fill.h"

#include <string.h>

#define MAX_SIZES 1000

typedef struct {
  CliMachineOptions machine;
  CliTalkOptions talk;
  char *sizes, *collectives, *output;
  int max_pairs, max_outside, n_threads; /* G_MININT: not given */
  gboolean only_collectives;
  GArray *bytes;  /* (element-type guint64) ascending */
  GArray *wanted; /* (element-type StudyBoundCollective) */
} Options;

#define OPTIONS_INIT                                                                     \
  {                                                                                      \
    .machine = CLI_MACHINE_OPTIONS_INIT, .max_pairs = G_MININT, .max_outside = G_MININT, \
    .n_threads = G_MININT, .bytes = g_array_new (FALSE, FALSE, sizeof (uint64_t)),       \
    .wanted = g_array_new (FALSE, FALSE, sizeof (StudyBoundCollective))                  \
  }

static void
options_clear (Options *options)
{
  cli_machine_options_clear (&options->machine);
  g_free (options->sizes);
  g_free (options->collectives);
  g_free (options->output);
  g_array_unref (options->bytes);
  g_array_unref (options->wanted);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* "allreduce:16" */
static gboolean
parse_collective (const char *word, StudyBoundCollective *wanted, GError **error)
{
  const char *colon = strchr (word, ':');
  guint64 n_ranks;

  if (colon != NULL && g_ascii_string_to_unsigned (colon + 1, 10, 2, G_MAXINT32, &n_ranks, NULL))
    for (int kind = 0; kind < TRACE_N_OPS; kind++) {
      const char *name =
          trace_op_is_collective ((TraceOpKind) kind) ? trace_op_name ((TraceOpKind) kind) : NULL;

      if (name != NULL && strlen (name) == (gsize) (colon - word) &&
          g_str_has_prefix (word, name)) {
        *wanted = (StudyBoundCollective){ (TraceOpKind) kind, (uint32_t) n_ranks };
        return TRUE;
      }
    }
  return cli_refuse (error,
                     "--collectives: '%s' is not an operation and its ranks, such as "
                     "allreduce:16",
                     word);
}

static gboolean
parse_collectives (Options *options, GError **error)
{
  g_auto (GStrv) words =
      options->collectives != NULL ? g_strsplit (options->collectives, ",", -1) : NULL;

  if (words != NULL && words[0] == NULL)
    return parse_collective ("", NULL, error);
  for (guint i = 0; words != NULL && words[i] != NULL; i++) {
    StudyBoundCollective wanted;

    if (!parse_collective (g_strstrip (words[i]), &wanted, error))
      return FALSE;
    for (guint before = 0; before < options->wanted->len; before++) {
      const StudyBoundCollective *other =
          &g_array_index (options->wanted, StudyBoundCollective, before);

      if (other->kind == wanted.kind && other->n_ranks == wanted.n_ranks)
        return cli_refuse (error, "--collectives: %s is listed twice", words[i]);
    }
    g_array_append_val (options->wanted, wanted);
  }
  return TRUE;
}

static gboolean
parse (Options *options, int argc, char **argv, GError **error)
{
  static const char *const names[] = { NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      NULL, "Simulates messages with every class of noise beside them, inside a node and between "
            "two, and writes how long they take: what 'aggregate bound' looks up.");
  const GOptionEntry entries[] = {
    { "sizes", 0, 0, G_OPTION_ARG_STRING, &options->sizes,
      "Bytes of the messages (default: 15 from 1 B to 4 MiB, with the protocols' steps)",
      "SIZE,..." },
    { "collectives", 0, 0, G_OPTION_ARG_STRING, &options->collectives,
      "Also collectives of so many ranks, in every pattern that they fill: allreduce:16,bcast:16",
      "NAME:RANKS,..." },
    { "only-collectives", 0, 0, G_OPTION_ARG_NONE, &options->only_collectives,
      "No messages: for adding to a table", NULL },
    { "max-pairs", 0, 0, G_OPTION_ARG_INT, &options->max_pairs,
      "At most so many noisy pairs in a node (default: all that fit)", "N" },
    { "max-outside", 0, 0, G_OPTION_ARG_INT, &options->max_outside,
      "At most so many noisy messages to other nodes (default: all that fit)", "N" },
    { "threads", 0, 0, G_OPTION_ARG_INT, &options->n_threads,
      "Simulations at a time (default: one per core)", "N" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output,
      "Where to write (default: standard output)", "FILE" },
    { NULL },
  };

  cli_add_machine_option (context, &options->machine);
  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_quiet_option (context, &options->talk);
  if (!cli_parse (context, argc, argv, names, NULL, error))
    return FALSE;
  if (options->machine.spec == NULL)
    return cli_refuse (error, "--machine SPEC is missing");
  if (options->only_collectives && options->collectives == NULL)
    return cli_refuse (error, "--only-collectives needs --collectives");
  if (!cli_check_number ("--max-pairs", options->max_pairs, 0, TOPO_MAX_RANKS_PER_NODE, error) ||
      !cli_check_number ("--max-outside", options->max_outside, 0, TOPO_MAX_RANKS_PER_NODE,
                         error) ||
      !cli_check_number ("--threads", options->n_threads, 1, CLI_MAX_THREADS, error))
    return FALSE;
  if (options->sizes == NULL)
    g_array_append_vals (options->bytes, study_bound_sizes, study_bound_n_sizes);
  else if (!cli_size_list (options->bytes, options->sizes, UINT64_C (1) << 40, "1 TiB", error))
    return FALSE;
  if (options->bytes->len > MAX_SIZES)
    return cli_refuse (error, "--sizes: %u sizes are more than %d", options->bytes->len, MAX_SIZES);
  return parse_collectives (options, error);
}

int
cli_aggregate_table (int argc, char **argv, GError **error)
{
  g_auto (Options) options = OPTIONS_INIT;
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (PredictBoundTable) table = NULL;
  g_autoptr (CliOutfile) file = NULL;
  g_autoptr (CliProgress) progress = NULL;
  StudyBoundFill fill = { .progress = cli_progress_share };

  if (!parse (&options, argc, argv, error) ||
      !(machine = cli_machine_new (&options.machine, error)) ||
      !(file = cli_outfile_new (options.output, error)))
    return CLI_FAILED;
  progress = cli_progress_new (options.talk.quiet);
  fill.machine = machine;
  fill.bytes = (const uint64_t *) (const void *) options.bytes->data;
  fill.n_bytes = options.bytes->len;
  fill.noise.max_pairs = options.max_pairs == G_MININT ? UINT32_MAX : (uint32_t) options.max_pairs;
  fill.noise.max_outside =
      options.max_outside == G_MININT ? UINT32_MAX : (uint32_t) options.max_outside;
  fill.no_messages = options.only_collectives;
  fill.collectives = (const StudyBoundCollective *) (const void *) options.wanted->data;
  fill.n_collectives = options.wanted->len;
  fill.n_threads = options.n_threads == G_MININT ? 0 : (guint) options.n_threads;
  fill.progress_data = progress;
  if (!(table = study_bound_fill (&fill, error)))
    return CLI_FAILED;
  g_clear_pointer (&progress, cli_progress_free);
  predict_bound_table_write (table, cli_outfile_stream (file));
  return cli_outfile_commit (file, error) ? CLI_DONE : CLI_FAILED;
}
