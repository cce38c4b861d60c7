/* task_counters.c - hardware counters of tasks, from the files of perf and likwid.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/aggregation/task_counters.h"

#include "base/decimal.h"
#include "base/file.h"
#include "base/words.h"
#include "predictors/predict_error.h"

#include <math.h>
#include <string.h>

/* Events that were counted at the same time, each with its number. */
typedef struct {
  char *name;
  double count; /* NaN: could not be counted */
  guint line;
} Count;

typedef struct {
  const char *path;
  char **lines; /* NULL-terminated, without their ends */
  const PredictCounterOptions *options;
  GPtrArray *tasks, *notes;
} CounterFile;

/* Names of the event in the tools, on all processors; the first that was counted is taken. */
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
  g_free (((Count *) count)->name);
}

/* Counts that die with their array. */
static GArray *
counts_new (void)
{
  GArray *counts = g_array_new (FALSE, FALSE, sizeof (Count));

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

/* Sets *error: "FILE:LINE: ...".  Always FALSE. */
static gboolean G_GNUC_PRINTF (4, 5)
    counters_fail (const CounterFile *file, guint line, GError **error, const char *format, ...)
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

/* The count of that kind; NULL and *error: there is none, or more than one, or it could not be counted. */
static const Count *
find_kind (const CounterFile *file, const GArray *counts, const char *chosen,
           const char *const *names, const char *option, GError **error)
{
  const Count *found = NULL;
  gsize place = G_MAXSIZE;

  for (guint i = 0; i < counts->len; i++) {
    const Count *count = &g_array_index (counts, Count, i);
    /* "cycles:u" and "cpu_core/cycles/u" are "cycles". */
    const char *slash = strchr (count->name, '/');
    const char *begin = slash != NULL ? slash + 1 : count->name;
    g_autofree char *bare = g_ascii_strdown (begin, (gssize) strcspn (begin, "/:"));
    gsize at = 0;

    while (chosen == NULL && names[at] != NULL && strcmp (names[at], bare) != 0)
      at++;
    if (chosen != NULL ? strcmp (chosen, count->name) != 0 : names[at] == NULL || at > place)
      continue;
    if (found != NULL && at == place) {
      counters_fail (file, count->line, error,
                     "both \"%s\" and \"%s\" count %s: choose one by --%s", found->name,
                     count->name, option, option);
      return NULL;
    }
    found = count;
    place = at;
  }
  if (found == NULL && chosen != NULL) {
    g_autoptr (GPtrArray) events = g_ptr_array_new ();
    g_autofree char *meant = NULL;

    for (guint i = 0; i < counts->len; i++)
      g_ptr_array_add (events, g_array_index (counts, Count, i).name);
    g_ptr_array_add (events, NULL);
    meant = base_did_you_mean (chosen, (const char *const *) events->pdata);
    counters_fail (file, 0, error, "there is no event \"%s\"%s", chosen, meant);
  } else if (found == NULL)
    counters_fail (file, 0, error, "no event in it is known to count %s: name one by --%s", option,
                   option);
  else if (!(found->count > 0))
    counters_fail (file, found->line, error, "\"%s\": %s", found->name,
                   isnan (found->count) ? "could not be counted" : "counted nothing");
  return found != NULL && found->count > 0 ? found : NULL;
}

/* An event, summed over the groups. */
typedef struct {
  const char *name;
  double count, cycles;
} Sum;

/* Makes a task of groups of events that were counted together: GArrays of Count (element-type GArray),
 * each with its own cycles.  FALSE and *error. */
static gboolean
counters_add (CounterFile *file, const char *source, const GPtrArray *groups, GError **error)
{
  const PredictCounterOptions *options = file->options;
  g_autoptr (GArray) sums = g_array_new (FALSE, FALSE, sizeof (Sum));
  g_autoptr (PredictTask) task = predict_task_new (source);
  double instructions = 0, cycles = 0;

  for (guint i = 0; i < groups->len; i++) {
    const GArray *counts = g_ptr_array_index (groups, i);
    const Count *of_cycles =
        find_kind (file, counts, options->cycles, cycle_names, "cycles", error);
    const Count *of_instructions = of_cycles != NULL
                                       ? find_kind (file, counts, options->instructions,
                                                    instruction_names, "instructions", error)
                                       : NULL;

    if (of_instructions == NULL)
      return FALSE;
    instructions += of_instructions->count;
    cycles += of_cycles->count;
    for (guint k = 0; k < counts->len; k++) {
      const Count *count = &g_array_index (counts, Count, k);
      Sum sum = { count->name, 0, 0 };
      guint at = 0;

      if (count == of_cycles || count == of_instructions)
        continue;
      while (at < sums->len && strcmp (g_array_index (sums, Sum, at).name, count->name) != 0)
        at++;
      if (at == sums->len)
        g_array_append_val (sums, sum);
      /* NaN once is NaN for good: an event that could not always be counted has no rate. */
      g_array_index (sums, Sum, at).count += count->count;
      g_array_index (sums, Sum, at).cycles += of_cycles->count;
    }
  }
  task->ipc = instructions / cycles;
  task->instructions = instructions;
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

/* --- `perf stat -x` ---
 *
 * A line is
 *
 *     [TIME,][CPU,|CORE,CPUS,]COUNT,UNIT,EVENT[,DEVIATION%],RUNNING,PERCENT[,METRIC,UNIT]
 *
 * with TIME under -I, a place under -A and --per-..., and DEVIATION under -r, where COUNT is the mean.
 * Metrics beside a count are of no use here, and stand on lines of their own whose count, unit and event are
 * empty. */

#define MAX_PREFIX 4u      /* fields before the count */
#define NOT_DONE   "<not " /* counted>, supported> */

static gboolean
is_count (const char *field)
{
  double value;

  return base_decimal_all (field, &value) || g_str_has_prefix (field, NOT_DONE);
}

/* An event of a processor's own unit may have commas between its slashes: joins its fields, up to that
 * with the second slash or the last, by shifting those behind it. */
static void
join_event (char **fields, guint at, const char *separator)
{
  const char *slash = strchr (fields[at], '/');
  guint end = at + 1;
  char *behind, *joined;

  if (slash == NULL || strchr (slash + 1, '/') != NULL || fields[end] == NULL)
    return;
  while (fields[end] != NULL && strchr (fields[end], '/') == NULL)
    end++;
  end += fields[end] != NULL;
  behind = fields[end];
  fields[end] = NULL;
  joined = g_strjoinv (separator, fields + at);
  for (guint i = at; i < end; i++)
    g_free (fields[i]);
  fields[end] = behind;
  fields[at] = joined;
  memmove (fields + at + 1, fields + end, (g_strv_length (fields + end) + 1) * sizeof *fields);
}

/* Adds one line to the counts.  seen: the event and all that stands before the count, of the lines so
 * far. */
static gboolean
read_perf_line (const CounterFile *file, guint line, const char *separator, GArray *counts,
                GHashTable *seen, GError **error)
{
  g_auto (GStrv) fields = g_strsplit (file->lines[line - 1], separator, -1);
  guint n = g_strv_length (fields), at = 0;
  Count count = { NULL, NAN, line };
  gboolean is_metric = FALSE;
  const char *event;
  GString *key;

  for (char **field = fields; *field != NULL; field++)
    g_strstrip (*field);
  /* Find the count: neither unit nor event is a count. */
  for (; at < MAX_PREFIX && at + 2 < n; at++) {
    if (is_count (fields[at]) && !is_count (fields[at + 1]) && *fields[at + 2] != '\0' &&
        !is_count (fields[at + 2]))
      break;
    is_metric |= *fields[at] == '\0' && *fields[at + 1] == '\0' && *fields[at + 2] == '\0';
  }
  if (at == MAX_PREFIX || at + 2 >= n)
    return is_metric ||
           counters_fail (file, line, error, "no line of perf stat -x: COUNT,UNIT,EVENT,...");
  join_event (fields, at + 2, separator);
  event = fields[at + 2];
  key = g_string_new (event);
  for (guint i = 0; i < at; i++)
    g_string_append_printf (key, "\n%s", fields[i]);
  if (!g_hash_table_add (seen, g_string_free (key, FALSE)))
    return counters_fail (file, line, error, "\"%s\" is counted twice", event);
  if (*fields[at + 1] != '\0') /* milliseconds, joules ... */
    return TRUE;
  if (!g_str_has_prefix (fields[at], NOT_DONE))
    base_decimal_all (fields[at], &count.count);
  if (count.count < 0 || isinf (count.count))
    return counters_fail (file, line, error, "\"%s\" is no count", fields[at]);
  for (guint i = 0; i < counts->len; i++) {
    Count *known = &g_array_index (counts, Count, i);

    if (strcmp (known->name, event) == 0) {
      known->line = isnan (known->count) ? known->line : line;
      known->count += count.count;
      return TRUE;
    }
  }
  count.name = g_strdup (event);
  g_array_append_val (counts, count);
  return TRUE;
}

static gboolean
counters_read_perf (CounterFile *file, GError **error)
{
  g_autoptr (GPtrArray) groups = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GArray *counts = counts_new ();
  const char *separator = NULL;

  g_ptr_array_add (groups, counts);
  for (guint line = 1; file->lines[line - 1] != NULL; line++) {
    const char *text = file->lines[line - 1];

    if (*text == '\0' || *text == '#')
      continue;
    /* The manual of perf recommends another separator for events that have commas. */
    if (separator == NULL)
      separator = strchr (text, ';') != NULL ? ";" : strchr (text, '\t') != NULL ? "\t" : ",";
    if (!read_perf_line (file, line, separator, counts, seen, error))
      return FALSE;
  }
  if (counts->len == 0)
    return counters_fail (file, 0, error, "there is no counter in it");
  return counters_add (file, file->path, groups, error);
}

/* --- `likwid-perfctr -O` ---
 *
 * The file is a row of tables, one of which, for each group of events and each region, is
 *
 *     TABLE,Region solve,Group 1 Raw,L2CACHE,7,
 *     Event,Counter,HWThread 0,HWThread 1
 *     INSTR_RETIRED_ANY,FIXC0,1203845,1187522
 *     ...
 *
 * without the region where there are no markers; older versions say Core for HWThread.  Groups are measured
 * one after the other, so each has its own cycles.  Statistics over threads, and metrics, are left aside. */

#define HEAD        "Event,Counter,"
#define REGION      "Region "
#define NAME_FIELDS 2u /* event and counter */

/* A hardware thread and its groups of events. */
typedef struct {
  char *name;
  GPtrArray *groups; /* (element-type GArray of Count) */
} Thread;

static void
thread_free (gpointer data)
{
  Thread *thread = data;

  g_free (thread->name);
  g_ptr_array_unref (thread->groups);
  g_free (thread);
}

/* Whether a line is the head of a table of likwid's. */
static gboolean
counters_is_likwid (const char *line)
{
  return g_str_has_prefix (line, HEAD);
}

/* The thread of that name, a new one if need be. */
static Thread *
find_thread (GPtrArray *threads, const char *name)
{
  Thread *thread;

  for (guint i = 0; i < threads->len; i++) {
    thread = g_ptr_array_index (threads, i);
    if (strcmp (thread->name, name) == 0)
      return thread;
  }
  thread = g_new0 (Thread, 1);
  thread->name = g_strdup (name);
  thread->groups = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  g_ptr_array_add (threads, thread);
  return thread;
}

/* The table whose head is at *line; *line is then its last one. */
static gboolean
take_table (const CounterFile *file, guint *line, GPtrArray *threads, GError **error)
{
  g_auto (GStrv) head = g_strsplit (file->lines[*line - 1], ",", -1);
  g_autofree GArray **groups = g_new (GArray *, g_strv_length (head));
  guint n_threads = 0;

  for (const char *name;
       (name = head[NAME_FIELDS + n_threads]) != NULL &&
       (g_str_has_prefix (name, "HWThread ") || g_str_has_prefix (name, "Core "));) {
    Thread *thread = find_thread (threads, name);

    groups[n_threads] = counts_new ();
    g_ptr_array_add (thread->groups, groups[n_threads++]);
  }
  for (const char *text; (text = file->lines[*line]) != NULL && *text != '\0' &&
                         !g_str_has_prefix (text, "TABLE,") &&
                         !g_str_has_prefix (text, "STRUCT,") &&
                         !g_str_has_prefix (text, "Metric,") && !g_str_has_prefix (text, HEAD);) {
    g_auto (GStrv) fields = g_strsplit (file->lines[(*line)++], ",", -1);

    /* The time stamp counter is no event; a table without threads is one of statistics. */
    if (n_threads == 0 || (fields[1] != NULL && strcmp (fields[1], "TSC") == 0))
      continue;
    if (g_strv_length (fields) < NAME_FIELDS + n_threads)
      return counters_fail (file, *line, error, "\"%s\" has fewer than %u counts", fields[0],
                            n_threads);
    for (guint thread = 0; thread < n_threads; thread++) {
      const char *field = fields[NAME_FIELDS + thread];
      GArray *counts = groups[thread];
      Count count = { NULL, NAN, *line };

      if (strcmp (field, "-") != 0 && strcmp (field, "nil") != 0 &&
          (!base_decimal_all (field, &count.count) || count.count < 0 || isinf (count.count)))
        return counters_fail (file, *line, error, "\"%s\" is no count", field);
      for (guint i = 0; i < counts->len; i++)
        if (strcmp (g_array_index (counts, Count, i).name, fields[0]) == 0)
          return counters_fail (file, *line, error, "\"%s\" is counted twice", fields[0]);
      count.name = g_strdup (fields[0]);
      g_array_append_val (counts, count);
    }
  }
  return TRUE;
}

static gboolean
counters_read_likwid (CounterFile *file, GError **error)
{
  const char *chosen = file->options->region;
  g_autoptr (GPtrArray) threads = g_ptr_array_new_with_free_func (thread_free), unwanted = NULL;
  g_autofree char *region = NULL, *first = NULL;

  unwanted = g_ptr_array_new_with_free_func (thread_free);
  for (guint line = 1; file->lines[line - 1] != NULL; line++) {
    const char *text = file->lines[line - 1];

    if (g_str_has_prefix (text, "TABLE,")) {
      g_auto (GStrv) fields = g_strsplit (text, ",", 3);

      g_clear_pointer (&region, g_free);
      if (g_str_has_prefix (fields[1], REGION))
        region = g_strdup (fields[1] + strlen (REGION));
    }
    if (!counters_is_likwid (text))
      continue;
    if (chosen == NULL && first == NULL)
      first = g_strdup (region);
    if (chosen == NULL && region != NULL && strcmp (first, region) != 0)
      return counters_fail (file, line, error,
                            "region \"%s\" besides \"%s\": choose one by --region", region, first);
    if (!take_table (file, &line,
                     chosen == NULL || g_strcmp0 (region, chosen) == 0 ? threads : unwanted, error))
      return FALSE;
  }
  for (guint i = 0; i < threads->len; i++) {
    const Thread *thread = g_ptr_array_index (threads, i);
    g_autofree char *source = g_strdup_printf ("%s: %s", file->path, thread->name);

    if (!counters_add (file, source, thread->groups, error)) {
      g_prefix_error (error, "%s: ", thread->name);
      return FALSE;
    }
  }
  if (threads->len > 0)
    return TRUE;
  return chosen != NULL ? counters_fail (file, 0, error, "there is no region \"%s\"", chosen)
                        : counters_fail (file, 0, error, "there is no counter in it");
}

/* --- Files --- */

gboolean
predict_counters_read (const char *path, const PredictCounterOptions *options, GPtrArray *tasks,
                       GPtrArray *notes, GError **error)
{
  CounterFile file = { .path = path, .options = options, .tasks = tasks, .notes = notes };
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  gsize n;

  if (!base_file_read (path, &text, &n, error))
    return FALSE;
  if (memchr (text, '\0', n) != NULL || !g_utf8_validate (text, (gssize) n, NULL))
    return counters_fail (&file, 0, error, "no text of a counter tool");
  lines = g_strsplit (text, "\n", -1);
  file.lines = lines;
  for (char **line = lines; *line != NULL; line++)
    g_strchomp (*line);
  for (char **line = lines; *line != NULL; line++)
    if (counters_is_likwid (*line))
      return counters_read_likwid (&file, error);
  return counters_read_perf (&file, error);
}
