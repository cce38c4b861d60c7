/* ipc_phases.h - counted phases of programs, by aggregation pattern, from a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The table has a row for each program in each pattern (doc/handbook/aggregation.md): columns
 * program, pattern, ipc, and one for each event, in events per cycle.  The name of a pattern is the
 * cell of its column.  A column `instructions` may have what a task executed. */
#pragma once

#include "predictors/table/table.h"

typedef struct {
  guint n_samples, n_events, n_programs, n_patterns;
  char **programs; /* [n_programs] in order of appearance, NULL-terminated */
  char *
      *patterns; /* [n_patterns] the samples as they were given, the others in order of appearance;
                       NULL-terminated */
  double *ipc;   /* [n_programs][n_patterns] NaN: not in the table */
  double *rates; /* [n_programs][n_samples][n_events] */
} PredictIpcPhases;

/* samples, events: NULL-terminated; neither may have a name twice.  NULL and *error (with file and
 * line where there is one): a column is missing or not of numbers, a program has two rows of a
 * pattern, an IPC is not positive or a rate negative, or a program lacks a sample pattern or one of
 * its counters. */
PredictIpcPhases *predict_ipc_phases_from (const PredictTable *table, const char *const *samples,
                                           const char *const *events, GError **error);
void predict_ipc_phases_free (PredictIpcPhases *phases);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictIpcPhases, predict_ipc_phases_free)

/* The IPCs and rates of a program in its sample patterns: [n_samples] and [n_samples][n_events]. */
static inline const double *
predict_ipc_phase (const PredictIpcPhases *phases, guint program, const double **rates)
{
  *rates = phases->rates + (gsize) program * phases->n_samples * phases->n_events;
  return phases->ipc + (gsize) program * phases->n_patterns;
}

/* Times go with IPCs only where a program executes as many instructions in every pattern.  Adds to `found`
 * (element-type utf8) a line for each program whose instructions differ by more than this share of
 * the fewest; nothing where the table has no column `instructions`, or a program fewer than two counts.
 * The paper's authors saw a difference of 8.5e-5 % at most. */
#define PREDICT_IPC_INSTRUCTIONS 0.01
void predict_ipc_check_instructions (const PredictTable *table, GPtrArray *found);

/* Whether a column of that name is no event. */
gboolean predict_ipc_is_reserved (const char *name);

/* Every column of numbers that can be an event, NULL-terminated, g_strfreev(). */
char **predict_ipc_all_events (const PredictTable *table);

/* The `most` of these whose rates in the sample patterns correlate most with the IPC of the other
 * patterns: by the mean of |Pearson's correlation| over samples and patterns; NULL-terminated, best
 * first, g_strfreev().  NULL and *error as predict_ipc_phases_from(). */
char **predict_ipc_choose_events (const PredictTable *table, const char *const *samples, guint most,
                                  GError **error);
