/* task_counters_private.h - between the readers of counters.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/aggregation/task_counters.h"

/* Events that were counted at the same time, each with its number. */
typedef struct {
  char *name;
  double count; /* NaN: could not be counted */
  guint line;
} PredictCount;

typedef struct {
  const char *path;
  char **lines; /* NULL-terminated, without their ends */
  const PredictCounterOptions *options;
  GPtrArray *tasks, *notes;
} PredictCounterFile;

/* Counts that die with their array. */
GArray *predict_counts_new (void);

/* Makes a task of what was counted: GArrays of PredictCount (element-type GArray), of each its own
 * cycles.  FALSE and *error. */
gboolean predict_counters_add (PredictCounterFile *file, const char *source,
                               const GPtrArray *groups, GError **error);

/* Sets *error: "FILE:LINE: ...".  Always FALSE. */
gboolean predict_counters_fail (const PredictCounterFile *file, guint line, GError **error,
                                const char *format, ...) G_GNUC_PRINTF (4, 5);

gboolean predict_counters_read_likwid (PredictCounterFile *file, GError **error);
gboolean predict_counters_read_perf (PredictCounterFile *file, GError **error);
/* Whether a line is the head of a table of likwid's. */
gboolean predict_counters_is_likwid (const char *line);
