/* run_page.h - the report page of one simulation.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/trace/record.h"

/* The page of a run that has just been made; who sends to whom is read from
 * the trace once more.  options are those of the run. */
gboolean cli_report_write_run (FILE *out, const CliRunInputs *inputs, Trace *trace,
                               const SimRunOptions *options, const SimRun *run, GError **error);
