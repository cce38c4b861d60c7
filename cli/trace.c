/* trace.c - `hopcast trace info` and `trace matrix`: look at a trace.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/options.h"
#include "cli/matrix.h"
#include "sim/load.h"

static void
add_rank_option (GOptionContext *context, int *n_ranks)
{
  const GOptionEntry entries[] = {
    { "trace-ranks", 0, 0, G_OPTION_ARG_INT, n_ranks,
      "Ranks of a trace that does not say how many it has", "N" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
}

static Trace *
open_trace (const char *path, int n_ranks, GError **error)
{
  if (n_ranks < 0) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--trace-ranks: must not be negative");
    return NULL;
  }
  return trace_open (path, (uint32_t) n_ranks, error);
}

static void
add_collectives (JsonBuilder *builder, const SimCensus *census)
{
  json_builder_set_member_name (builder, "collectives");
  json_builder_begin_object (builder);
  for (guint kind = 0; kind < TRACE_N_OPS; kind++)
    if (census->collectives[kind] > 0)
      cli_add_integer (builder, trace_op_name ((TraceOpKind) kind), census->collectives[kind]);
  json_builder_end_object (builder);
}

static JsonNode *
info_record (Trace *trace, const SimCensus *census, const char *hash)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  cli_add_string (builder, "format", trace_format_name (trace));
  cli_add_integer (builder, "ranks", trace_ranks (trace));
  cli_add_integer (builder, "operations", census->operations);
  cli_add_integer (builder, "sends", census->sends);
  cli_add_integer (builder, "send_bytes", census->send_bytes);
  cli_add_integer (builder, "receives", census->receives);
  add_collectives (builder, census);
  cli_add_integer (builder, "communicators", census->communicators);
  cli_add_integer (builder, "unmatched_sends", census->unmatched_sends);
  cli_add_integer (builder, "unmatched_receives", census->unmatched_receives);
  cli_add_strings (builder, "missing", trace_warnings (trace));
  cli_add_string (builder, "hash", hash);
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}

int
cli_trace_info (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "TRACE", NULL };
  g_autoptr (GOptionContext) context =
      cli_context_new ("TRACE", "Counts what a trace contains and tells what its source left out.");
  g_auto (CliFormatOptions) format = { 0 };
  g_autofree SimCensus *census = g_new0 (SimCensus, 1);
  g_autoptr (Trace) trace = NULL;
  g_autoptr (JsonNode) record = NULL;
  const char *path, *hash;
  int n_ranks = 0;

  add_rank_option (context, &n_ranks);
  cli_add_format_options (context, &format);
  if (!cli_parse (context, argc, argv, names, &path, error) || !cli_parse_format (&format, error) ||
      !(trace = open_trace (path, n_ranks, error)) ||
      !sim_census (trace, NULL, SIM_CENSUS_POINT_TO_POINT, true, NULL, NULL, census, error) ||
      !(hash = trace_hash (trace, error)))
    return CLI_FAILED;
  record = info_record (trace, census, hash);
  cli_print_record (stdout, record, format.format);
  return CLI_DONE;
}

static void
count_message (void *matrix, uint32_t source, uint32_t destination, uint64_t bytes,
               bool direct_collective G_GNUC_UNUSED)
{
  cli_matrix_add (matrix, source, destination, 1, bytes);
}

static gboolean
print_matrix (Trace *trace, const TopoMachine *machine, SimCensusScope scope, GError **error)
{
  g_autoptr (CliMatrix) matrix = cli_matrix_new (trace_ranks (trace));
  g_autofree SimCensus *census = g_new0 (SimCensus, 1);

  if (!sim_census (trace, machine, scope, false, count_message, matrix, census, error))
    return FALSE;
  cli_matrix_write (matrix, stdout);
  return TRUE;
}

int
cli_trace_matrix (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "TRACE", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "TRACE", "Prints src,dst,messages,bytes of all point-to-point sends, in world ranks.");
  g_auto (CliMachineOptions) options = CLI_MACHINE_OPTIONS_INIT;
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (Trace) trace = NULL;
  gboolean collectives = FALSE;
  SimCensusScope scope = SIM_CENSUS_POINT_TO_POINT;
  const char *path;
  int n_ranks = 0;
  const GOptionEntry entries[] = {
    { "with-collectives", 0, 0, G_OPTION_ARG_NONE, &collectives,
      "Also the messages of collectives that --machine does without hardware", NULL },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_machine_option (context, &options);
  cli_add_machine_detail_options (context, &options);
  add_rank_option (context, &n_ranks);
  if (!cli_parse (context, argc, argv, names, &path, error))
    return CLI_FAILED;
  if ((collectives || options.spec) && !(machine = cli_machine_new (&options, error)))
    return CLI_FAILED;
  if (collectives)
    scope = SIM_CENSUS_POINT_TO_POINT | SIM_CENSUS_COLLECTIVES;
  if (!(trace = open_trace (path, n_ranks, error)) || !print_matrix (trace, machine, scope, error))
    return CLI_FAILED;
  return CLI_DONE;
}
