/* trace_matrix.c - `hopcast trace matrix`: messages and bytes between ranks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/options.h"
#include "study/search/matrix.h"
#include "cli/print/progress.h"
#include "sim/net/load.h"

static void
count_message (void *matrix, uint32_t source, uint32_t destination, uint64_t bytes,
               bool direct_collective G_GNUC_UNUSED)
{
  study_matrix_add (matrix, source, destination, 1, bytes);
}

int
cli_trace_matrix (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "TRACE", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "TRACE", "Prints src,dst,messages,bytes of all point-to-point sends, in world ranks.");
  g_auto (CliMachineOptions) options = CLI_MACHINE_OPTIONS_INIT;
  g_autoptr (TopoMachine) machine = NULL;
  g_auto (CliTraceOptions) trace_options = { 0 };
  CliTalkOptions talk = { 0 };
  g_autoptr (Trace) trace = NULL;
  gboolean collectives = FALSE;
  SimCensusScope scope = SIM_CENSUS_POINT_TO_POINT;
  g_autoptr (CliProgress) progress = NULL;
  g_autoptr (StudyMatrix) matrix = NULL;
  g_autofree SimCensus *census = g_new0 (SimCensus, 1);
  const char *path;
  const GOptionEntry entries[] = {
    { "with-collectives", 0, 0, G_OPTION_ARG_NONE, &collectives,
      "Also the messages of collectives that --machine does without hardware", NULL },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_machine_option (context, &options);
  cli_add_machine_detail_options (context, &options);
  cli_add_trace_options (context, &trace_options);
  cli_add_quiet_option (context, &talk);
  if (!cli_parse (context, argc, argv, names, &path, error))
    return CLI_FAILED;
  if ((collectives || options.spec) && !(machine = cli_machine_new (&options, error)))
    return CLI_FAILED;
  if (collectives)
    scope = SIM_CENSUS_POINT_TO_POINT | SIM_CENSUS_COLLECTIVES;
  if (!(trace = cli_trace_open (path, &trace_options, error)))
    return CLI_FAILED;
  progress = cli_progress_new (talk.quiet);
  matrix = study_matrix_new (trace_ranks (trace));
  if (!sim_census (trace, machine, scope, false, count_message, matrix, cli_progress_share,
                   progress, census, error))
    return CLI_FAILED;
  g_clear_pointer (&progress, cli_progress_free);
  study_matrix_write (matrix, stdout);
  return CLI_DONE;
}
