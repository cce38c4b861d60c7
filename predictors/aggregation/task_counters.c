/* task_counters.c - see counters.h: from counts to rates.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/aggregation/task_counters_private.h"

#include "base/words.h"
#include "base/file.h"
#include "predictors/predict_error.h"

#include <math.h>
#include <string.h>

/* How tools call them, of all processors; the first that was counted is taken. */
static const char *const cycle_names[] = { "cycles",
                                           "cpu-cycles",
                                           "cpu_clk_unhalted.thread",
                                           "cpu_clk_unhalted_core",
                                           "cpu_clocks_unhalted",
                                           "actual_cpu_clock",
                                           "cpu_cycles",
                                           NULL };
static const char *const instruction_names[] = { "instructions",      "inst_retired.any",
                                                 "instr_retired_any", "retired_instructions",
                                                 "inst_retired",      NULL };

static void
rate_clear (gpointer rate)
{
  g_free (((PredictRate *) rate)->name);
}

static void
count_clear (gpointer count)
{
  g_free (((PredictCount *) count)->name);
}

GArray *
predict_counts_new (void)
{
  GArray *counts = g_array_new (FALSE, FALSE, sizeof (PredictCount));

  g_array_set_clear_func (counts, count_clear);
  return counts;
}

PredictTask *
predict_task_new (const char *source)
{
  PredictTask *task = g_new0 (PredictTask, 1);

  task->source = g_strdup (source);
  task->rates = g_array_new (FALSE, FALSE, sizeof (PredictRate));
  g_array_set_clear_func (task->rates, rate_clear);
  return task;
}

void
predict_task_free (PredictTask *task)
{
  if (task == NULL)
    return;
  g_free (task->source);
  g_array_unref (task->rates);
  g_free (task);
}

const PredictRate *
predict_task_rate (const PredictTask *task, const char *name)
{
  for (guint i = 0; i < task->rates->len; i++) {
    const PredictRate *rate = &g_array_index (task->rates, PredictRate, i);

    if (strcmp (rate->name, name) == 0)
      return rate;
  }
  return NULL;
}

gboolean
predict_counters_fail (const PredictCounterFile *file, guint line, GError **error,
                       const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (line > 0)
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE, "%s:%u: %s", file->path, line, text);
  else
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE, "%s: %s", file->path, text);
  return FALSE;
}

/* "cycles:u" and "cpu_core/cycles/u" are "cycles"; small letters; the caller frees. */
static char *
bare_name (const char *name)
{
  const char *slash = strchr (name, '/');
  const char *begin = slash != NULL ? slash + 1 : name;
  gsize n = strcspn (begin, "/:");
  g_autofree char *bare = g_strndup (begin, n);

  return g_ascii_strdown (bare, -1);
}

static void
set_no_event (const PredictCounterFile *file, const GArray *counts, const char *chosen,
              GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree char *meant = NULL;

  for (guint i = 0; i < counts->len; i++)
    g_ptr_array_add (names, g_array_index (counts, PredictCount, i).name);
  g_ptr_array_add (names, NULL);
  meant = base_did_you_mean (chosen, (const char *const *) names->pdata);
  predict_counters_fail (file, 0, error, "there is no event \"%s\"%s", chosen, meant);
}

/* The count of that kind; NULL and *error: there is none, or more than one, or it could not be counted. */
static const PredictCount *
find_kind (const PredictCounterFile *file, const GArray *counts, const char *chosen,
           const char *const *names, const char *option, GError **error)
{
  const PredictCount *found = NULL;
  gsize place = G_MAXSIZE;

  for (guint i = 0; i < counts->len; i++) {
    const PredictCount *count = &g_array_index (counts, PredictCount, i);
    g_autofree char *bare = bare_name (count->name);
    gsize at = 0;

    while (chosen == NULL && names[at] != NULL && strcmp (names[at], bare) != 0)
      at++;
    if (chosen != NULL ? strcmp (chosen, count->name) != 0 : names[at] == NULL || at > place)
      continue;
    if (found != NULL && at == place) {
      predict_counters_fail (file, count->line, error,
                             "both \"%s\" and \"%s\" count %s: choose one by --%s", found->name,
                             count->name, option, option);
      return NULL;
    }
    found = count;
    place = at;
  }
  if (found == NULL && chosen != NULL)
    set_no_event (file, counts, chosen, error);
  else if (found == NULL)
    predict_counters_fail (file, 0, error, "no event in it is known to count %s: name one by --%s",
                           option, option);
  else if (!(found->count > 0))
    predict_counters_fail (file, found->line, error, "\"%s\": %s", found->name,
                           isnan (found->count) ? "could not be counted" : "counted nothing");
  return found != NULL && found->count > 0 ? found : NULL;
}

/* What all groups say of an event so far. */
typedef struct {
  const char *name;
  double count, cycles;
} Sum;

/* NaN once is NaN for good: an event that could not always be counted has no rate. */
static void
add_to_sum (GArray *sums, const PredictCount *count, double cycles)
{
  Sum sum = { count->name, count->count, cycles };

  for (guint i = 0; i < sums->len; i++) {
    Sum *known = &g_array_index (sums, Sum, i);

    if (strcmp (known->name, count->name) == 0) {
      known->count += count->count;
      known->cycles += cycles;
      return;
    }
  }
  g_array_append_val (sums, sum);
}

static gboolean
sum_group (const PredictCounterFile *file, const GArray *counts, double *instructions,
           double *cycles, GArray *sums, GError **error)
{
  const PredictCount *of_cycles =
      find_kind (file, counts, file->options->cycles, cycle_names, "cycles", error);
  const PredictCount *of_instructions = of_cycles != NULL
                                            ? find_kind (file, counts, file->options->instructions,
                                                         instruction_names, "instructions", error)
                                            : NULL;

  if (of_instructions == NULL)
    return FALSE;
  *instructions += of_instructions->count;
  *cycles += of_cycles->count;
  for (guint i = 0; i < counts->len; i++) {
    const PredictCount *count = &g_array_index (counts, PredictCount, i);

    if (count != of_cycles && count != of_instructions)
      add_to_sum (sums, count, of_cycles->count);
  }
  return TRUE;
}

gboolean
predict_counters_add (PredictCounterFile *file, const char *source, const GPtrArray *groups,
                      GError **error)
{
  g_autoptr (GArray) sums = g_array_new (FALSE, FALSE, sizeof (Sum));
  g_autoptr (PredictTask) task = predict_task_new (source);
  double instructions = 0, cycles = 0;

  for (guint i = 0; i < groups->len; i++)
    if (!sum_group (file, g_ptr_array_index (groups, i), &instructions, &cycles, sums, error))
      return FALSE;
  task->ipc = instructions / cycles;
  for (guint i = 0; i < sums->len; i++) {
    const Sum *sum = &g_array_index (sums, Sum, i);
    PredictRate rate = { NULL, sum->count / sum->cycles };

    if (isnan (rate.rate)) {
      g_ptr_array_add (file->notes,
                       g_strdup_printf ("%s: \"%s\" could not be counted", source, sum->name));
      continue;
    }
    rate.name = g_strdup (sum->name);
    g_array_append_val (task->rates, rate);
  }
  g_ptr_array_add (file->tasks, g_steal_pointer (&task));
  return TRUE;
}

gboolean
predict_counters_read (const char *path, const PredictCounterOptions *options, GPtrArray *tasks,
                       GPtrArray *notes, GError **error)
{
  PredictCounterFile file = { .path = path, .options = options, .tasks = tasks, .notes = notes };
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  gsize n;

  if (!base_file_read (path, &text, &n, error))
    return FALSE;
  if (memchr (text, '\0', n) != NULL || !g_utf8_validate (text, (gssize) n, NULL))
    return predict_counters_fail (&file, 0, error, "no text of a counter tool");
  lines = g_strsplit (text, "\n", -1);
  file.lines = lines;
  for (char **line = lines; *line != NULL; line++)
    g_strchomp (*line);
  for (char **line = lines; *line != NULL; line++)
    if (predict_counters_is_likwid (*line))
      return predict_counters_read_likwid (&file, error);
  return predict_counters_read_perf (&file, error);
}
