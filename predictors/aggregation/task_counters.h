/* task_counters.h - hardware counters of the tasks of a program, from the files of tools.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two formats: `perf stat -x,` (or another separator), whose file is one task, and likwid-perfctr -O, where
 * every hardware thread is one.  Intervals (-I), processors (-A, --per-core ...) of perf are added up.  A rate
 * is in events per cycle. */
#pragma once

#include <glib.h>

typedef struct {
  char *name; /* as the tool calls it */
  double rate;
} PredictRate;

typedef struct {
  char *source; /* "FILE", "FILE: HWThread 3" */
  double ipc;
  double instructions;
  GArray *rates; /* PredictRate, in the order of the file; neither instructions nor cycles */
} PredictTask;

typedef struct {
  const char *cycles, *instructions; /* names of the events; NULL: those that tools use */
  const char *region;                /* of likwid's markers; NULL: the only one */
} PredictCounterOptions;

PredictTask *predict_task_new (const char *source);
void predict_task_free (PredictTask *task);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictTask, predict_task_free)
/* NULL: there is none. */
const PredictRate *predict_task_rate (const PredictTask *task, const char *name);

/* Adds the tasks of a file to tasks (element-type PredictTask).  An event that could not be counted is left
 * out, and told in notes (element-type utf8).  FALSE and *error, with file and line: another format, no
 * instructions or no cycles or several of one, an event twice, a number that is none, several
 * regions. */
gboolean predict_counters_read (const char *path, const PredictCounterOptions *options,
                                GPtrArray *tasks, GPtrArray *notes, GError **error);
