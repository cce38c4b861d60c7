/* trace_write.h - the options and the step that commands share which write a trace.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/options.h"

typedef struct {
  char *path; /* NULL: no file was asked for */
  char *format_name;
} CliTraceWriteOptions;

void cli_add_trace_write_options (GOptionContext *context, CliTraceWriteOptions *options);

void cli_trace_write_options_clear (CliTraceWriteOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliTraceWriteOptions, cli_trace_write_options_clear)

/* Writes the trace to options->path in the format of --to, or that of the ending of the path.  Unless
 * quiet, shows its progress, and at the end what the trace lacks or its new form lost. */
gboolean cli_trace_write (Trace *trace, const CliTraceWriteOptions *options,
                          const CliTalkOptions *talk, GError **error);
