/* ipc_events.c - which events a model of the IPC is made of; see ipc_phases.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/aggregation/ipc_phases.h"

#include <math.h>
#include <stdlib.h>

gboolean
predict_ipc_is_reserved (const char *name)
{
  /* "row": what an index without a name is called. */
  static const char *const reserved[] = { "program", "pattern", "ipc", "row", NULL };

  return g_strv_contains (reserved, name);
}

char **
predict_ipc_all_events (const PredictTable *table)
{
  GPtrArray *events = g_ptr_array_new ();

  for (guint i = 0; i < table->n_columns; i++)
    if (table->columns[i].numbers != NULL && !predict_ipc_is_reserved (table->columns[i].name))
      g_ptr_array_add (events, g_strdup (table->columns[i].name));
  g_ptr_array_add (events, NULL);
  return (char **) g_ptr_array_free (events, FALSE);
}

/* Of an event's rate in a sample with the IPC in a pattern, over the programs that have it; 0 where
 * one of the two does not vary. */
static double
correlation (const PredictIpcPhases *phases, guint sample, guint event, guint pattern)
{
  double n = 0, mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;

  for (guint program = 0; program < phases->n_programs; program++) {
    const double *rates, *ipc = predict_ipc_phase (phases, program, &rates);
    double dx = rates[sample * phases->n_events + event] - mean_x, dy = ipc[pattern] - mean_y;

    if (isnan (ipc[pattern]))
      continue;
    n++;
    mean_x += dx / n;
    mean_y += dy / n;
    xx += dx * dx * (n - 1) / n;
    yy += dy * dy * (n - 1) / n;
    xy += dx * dy * (n - 1) / n;
  }
  return xx > 0 && yy > 0 ? xy / sqrt (xx * yy) : 0;
}

typedef struct {
  guint event;
  double strength;
} Candidate;

/* Events of equal strength stay in the order of their columns. */
static int
compare_candidates (gconstpointer left, gconstpointer right)
{
  const Candidate *a = left, *b = right;

  if (a->strength != b->strength)
    return a->strength < b->strength ? 1 : -1;
  return a->event < b->event ? -1 : a->event > b->event;
}

char **
predict_ipc_choose_events (const PredictTable *table, const char *const *samples, guint most,
                           GError **error)
{
  g_auto (GStrv) events = predict_ipc_all_events (table);
  g_autoptr (PredictIpcPhases) phases =
      predict_ipc_phases_from (table, samples, (const char *const *) events, error);
  g_autofree Candidate *candidates = NULL;
  char **chosen;

  if (phases == NULL)
    return NULL;
  candidates = g_new0 (Candidate, phases->n_events + 1);
  for (guint event = 0; event < phases->n_events; event++) {
    candidates[event].event = event;
    for (guint sample = 0; sample < phases->n_samples; sample++)
      for (guint pattern = phases->n_samples; pattern < phases->n_patterns; pattern++)
        candidates[event].strength += fabs (correlation (phases, sample, event, pattern));
  }
  qsort (candidates, phases->n_events, sizeof *candidates, compare_candidates);
  most = MIN (most, phases->n_events);
  chosen = g_new0 (char *, most + 1);
  for (guint i = 0; i < most; i++)
    chosen[i] = g_strdup (events[candidates[i].event]);
  return chosen;
}
