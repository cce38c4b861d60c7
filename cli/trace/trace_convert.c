/* trace_convert.c - `hopcast trace convert`: a trace in another format.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/trace/trace_write.h"

int
cli_trace_convert (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "TRACE", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "TRACE", "Writes a trace in another format.  What that format cannot express is refused, or\n"
               "replaced with a warning where the same is communicated nevertheless.");
  g_auto (CliTraceWriteOptions) write_options = { 0 };
  g_auto (CliTraceOptions) trace_options = { 0 };
  CliTalkOptions talk = { 0 };
  g_autoptr (Trace) trace = NULL;
  const char *path;

  cli_add_trace_write_options (context, &write_options);
  cli_add_trace_options (context, &trace_options);
  cli_add_talk_options (context, &talk);
  if (!cli_parse (context, argc, argv, names, &path, error))
    return CLI_FAILED;
  if (!write_options.path) {
    cli_refuse (error, "--output FILE is missing");
    return CLI_FAILED;
  }
  if (!(trace = cli_trace_open (path, &trace_options, error)) ||
      !cli_trace_write (trace, &write_options, &talk, error))
    return CLI_FAILED;
  return CLI_DONE;
}
