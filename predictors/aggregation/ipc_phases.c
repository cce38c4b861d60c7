/* ipc_phases.c - counted phases of programs, and the events that a model of the IPC uses.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/aggregation/ipc_phases.h"

#include "predictors/predict_error.h"
#include "predictors/table/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Phases are an array of programs by patterns.  The limit keeps it small when the column holds
 * something else. */
#define MAX_PATTERNS 256u

/* The rows of a table while they are sorted into phases. */
typedef struct {
  const PredictTable *table;
  uint32_t *program, *pattern; /* [n_rows] numbers in order of appearance */
  uint32_t n_labels;
  char **labels;    /* [n_labels] of patterns, in order of appearance */
  guint *place;     /* [n_labels] the index of a pattern among those of the phases */
  uint64_t *row_of; /* [n_programs][n_patterns] n_rows: none */
} Rows;

static void
rows_clear (Rows *rows)
{
  g_free (rows->program);
  g_free (rows->pattern);
  g_strfreev (rows->labels);
  g_free (rows->place);
  g_free (rows->row_of);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Rows, rows_clear)

static gboolean
check_once (const char *const *names, const char *what, GError **error)
{
  for (guint i = 0; names[i] != NULL; i++)
    if (g_strv_contains ((const char *const *) names + i + 1, names[i])) {
      g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION, "%s '%s' is named twice", what,
                   names[i]);
      return FALSE;
    }
  return TRUE;
}

/* The cell of each group's first row; a row without one is an error.  NULL-terminated. */
static char **
labels_of (const PredictTable *table, const char *column, const uint32_t *group, uint32_t n_groups,
           GError **error)
{
  guint at = (guint) (predict_table_find (table, column) - table->columns);
  g_auto (GStrv) labels = g_new0 (char *, n_groups + 1);

  for (uint64_t row = 0; row < table->n_rows; row++) {
    if (labels[group[row]] == NULL)
      labels[group[row]] = predict_table_cell (table, at, row);
    if (*labels[group[row]] == '\0') {
      predict_table_refuse (table, row, error, "column \"%s\" is empty", column);
      return NULL;
    }
  }
  return g_steal_pointer (&labels);
}

/* --- Counters of the samples --- */

static gboolean
take_rates (const Rows *rows, const char *const *events, PredictIpcPhases *phases, GError **error)
{
  g_autofree const PredictColumn **columns = g_new (const PredictColumn *, phases->n_events + 1);
  double *rate = phases->rates =
      g_new0 (double, (gsize) phases->n_programs * phases->n_samples * phases->n_events + 1);

  for (guint event = 0; event < phases->n_events; event++)
    if (!(columns[event] = predict_table_numbers (rows->table, events[event], error)))
      return FALSE;
  for (guint program = 0; program < phases->n_programs; program++)
    for (guint sample = 0; sample < phases->n_samples; sample++) {
      uint64_t row = rows->row_of[(gsize) program * phases->n_patterns + sample];

      if (row == rows->table->n_rows) {
        g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE,
                     "%s: program \"%s\" has no row of sample pattern %s", rows->table->source,
                     phases->programs[program], phases->patterns[sample]);
        return FALSE;
      }
      for (guint event = 0; event < phases->n_events; event++, rate++) {
        *rate = columns[event]->numbers[row];
        if (isfinite (*rate) && *rate >= 0)
          continue;
        return predict_table_refuse (
            rows->table, row, error, "program \"%s\", sample pattern %s: %s \"%s\"",
            phases->programs[program], phases->patterns[sample],
            isfinite (*rate) ? "a rate is negative:" : "there is no", columns[event]->name);
      }
    }
  return TRUE;
}

PredictIpcPhases *
predict_ipc_phases_from (const PredictTable *table, const char *const *samples,
                         const char *const *events, GError **error)
{
  g_autoptr (PredictIpcPhases) phases = g_new0 (PredictIpcPhases, 1);
  g_auto (Rows) rows = { .table = table };
  const PredictColumn *ipc;
  guint n_samples;
  gsize n;

  if (!check_once (samples, "sample pattern", error) || !check_once (events, "event", error))
    return NULL;
  phases->n_samples = n_samples = g_strv_length ((char **) samples);
  phases->n_events = g_strv_length ((char **) events);
  if (!(rows.program = predict_table_groups (table, "program", &phases->n_programs, error)) ||
      !(rows.pattern = predict_table_groups (table, "pattern", &rows.n_labels, error)) ||
      !(ipc = predict_table_numbers (table, "ipc", error)))
    return NULL;
  if (table->n_rows == 0) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE, "%s has no rows", table->source);
    return NULL;
  }
  if (rows.n_labels > MAX_PATTERNS) {
    g_set_error (
        error, PREDICT_ERROR, PREDICT_ERROR_TABLE,
        "%s: column \"pattern\" has %u different values, more than the %u patterns that there "
        "may be",
        table->source, rows.n_labels, MAX_PATTERNS);
    return NULL;
  }
  if (!(phases->programs = labels_of (table, "program", rows.program, phases->n_programs, error)) ||
      !(rows.labels = labels_of (table, "pattern", rows.pattern, rows.n_labels, error)))
    return NULL;

  /* Name the patterns: the samples first, then the others. */
  phases->patterns = g_new0 (char *, n_samples + rows.n_labels + 1);
  for (guint sample = 0; sample < n_samples; sample++)
    phases->patterns[sample] = g_strdup (samples[sample]);
  phases->n_patterns = n_samples;
  rows.place = g_new (guint, rows.n_labels + 1);
  for (uint32_t label = 0; label < rows.n_labels; label++) {
    guint sample = 0;

    while (sample < n_samples && strcmp (samples[sample], rows.labels[label]) != 0)
      sample++;
    rows.place[label] = sample < n_samples ? sample : phases->n_patterns;
    if (sample == n_samples)
      phases->patterns[phases->n_patterns++] = g_strdup (rows.labels[label]);
  }

  n = (gsize) phases->n_programs * phases->n_patterns;
  rows.row_of = g_new (uint64_t, n + 1);
  phases->ipc = g_new (double, n + 1);
  for (gsize at = 0; at < n; at++) {
    rows.row_of[at] = table->n_rows;
    phases->ipc[at] = NAN;
  }
  for (uint64_t row = 0; row < table->n_rows; row++) {
    guint place = rows.place[rows.pattern[row]];
    gsize at = (gsize) rows.program[row] * phases->n_patterns + place;
    double value = ipc->numbers[row];

    if (rows.row_of[at] < table->n_rows) {
      g_autofree char *first = predict_table_place (table, rows.row_of[at]);

      predict_table_refuse (table, row, error, "program \"%s\" has pattern %s already, at %s",
                            phases->programs[rows.program[row]], phases->patterns[place], first);
      return NULL;
    }
    rows.row_of[at] = row;
    phases->ipc[at] = value;
    /* A pattern that is not a sample need not have been run. */
    if (!(isfinite (value) && value > 0) && !(isnan (value) && place >= n_samples)) {
      predict_table_refuse (table, row, error, "column \"ipc\" has no positive number");
      return NULL;
    }
  }
  return take_rates (&rows, events, phases, error) ? g_steal_pointer (&phases) : NULL;
}

void
predict_ipc_phases_free (PredictIpcPhases *phases)
{
  if (phases == NULL)
    return;
  g_strfreev (phases->programs);
  g_strfreev (phases->patterns);
  g_free (phases->ipc);
  g_free (phases->rates);
  g_free (phases);
}

/* --- Events --- */

gboolean
predict_ipc_is_reserved (const char *name)
{
  /* "row" is the name of an index column without a name. */
  static const char *const reserved[] = {
    "program", "pattern", "ipc", "row", "instructions", NULL
  };

  return g_strv_contains (reserved, name);
}

void
predict_ipc_check_instructions (const PredictTable *table, GPtrArray *found)
{
  const PredictColumn *counts = predict_table_find (table, "instructions");
  uint32_t n_programs;
  g_autofree uint32_t *program =
      counts != NULL && counts->numbers != NULL && predict_table_find (table, "pattern") != NULL
          ? predict_table_groups (table, "program", &n_programs, NULL)
          : NULL;

  for (uint32_t at = 0; program != NULL && at < n_programs; at++) {
    uint64_t fewest = table->n_rows, most = table->n_rows;

    for (uint64_t row = 0; row < table->n_rows; row++) {
      double count = counts->numbers[row];

      if (program[row] != at || !(count > 0) || isinf (count))
        continue;
      if (fewest == table->n_rows || count < counts->numbers[fewest])
        fewest = row;
      if (most == table->n_rows || count > counts->numbers[most])
        most = row;
    }
    if (fewest < table->n_rows &&
        counts->numbers[most] > (1 + PREDICT_IPC_INSTRUCTIONS) * counts->numbers[fewest]) {
      guint names = (guint) (predict_table_find (table, "program") - table->columns);
      guint patterns = (guint) (predict_table_find (table, "pattern") - table->columns);
      g_autofree char *name = predict_table_cell (table, names, fewest);
      g_autofree char *many = predict_table_cell (table, patterns, most);
      g_autofree char *few = predict_table_cell (table, patterns, fewest);

      g_ptr_array_add (
          found,
          g_strdup_printf ("%s: program \"%s\" executes %.2g %% more instructions in pattern %s "
                           "than in pattern %s: its times do not go with its IPCs",
                           table->source, name,
                           100 * (counts->numbers[most] / counts->numbers[fewest] - 1), many, few));
    }
  }
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
