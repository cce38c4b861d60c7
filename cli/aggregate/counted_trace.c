/* counted_trace.c - the hardware counters of a trace, as those of tasks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/aggregate/counted_trace.h"

#include "cli/command.h"
#include "predictors/aggregation/task_counters.h"
#include "traces/trace.h"

#include <stdio.h>
#include <string.h>

#define LOOKED_AT 4096u

static gboolean
add_rank (Trace *trace, const char *path, uint32_t rank, GPtrArray *tasks, GError **error)
{
  g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, error);
  g_autofree char *source = g_strdup_printf ("%s: rank %u", path, rank);
  TraceNext next = TRACE_NEXT_ERROR;
  double instructions = 0, cycles = 0;
  PredictTask *task;
  TraceOp op;

  while (cursor != NULL && (next = trace_cursor_next (cursor, &op, error)) == TRACE_NEXT_OPERATION)
    if (op.kind == TRACE_OP_COMPUTE) {
      instructions += (double) op.instructions;
      cycles += (double) op.cycles;
    }
  if (next == TRACE_NEXT_ERROR)
    return FALSE;
  if (!(instructions > 0 && cycles > 0)) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s has no counters", source);
    return FALSE;
  }
  task = predict_task_new (source);
  task->ipc = instructions / cycles;
  g_ptr_array_add (tasks, task);
  return TRUE;
}

gboolean
cli_counted_trace_read (const char *path, GPtrArray *tasks, GError **error)
{
  const TraceOptions options = { 0 };
  g_autoptr (Trace) trace = trace_open (path, &options, error);

  if (trace == NULL)
    return FALSE;
  for (uint32_t rank = 0; rank < trace_ranks (trace); rank++)
    if (!add_rank (trace, path, rank, tasks, error))
      return FALSE;
  return TRUE;
}

gboolean
cli_is_counted_trace (const char *path)
{
  char head[LOOKED_AT];
  FILE *file;
  gsize n;

  if (g_file_test (path, G_FILE_TEST_IS_DIR) || g_str_has_prefix (path, "gen:"))
    return TRUE;
  file = fopen (path, "re");
  if (file == NULL) /* whoever reads it says why */
    return FALSE;
  n = fread (head, 1, sizeof head, file);
  fclose (file);
  return memchr (head, '\0', n) != NULL || (n >= 2 && (guchar) head[0] == 0x1f); /* gzip */
}
