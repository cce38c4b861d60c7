/* task_counters_likwid.c - counters from `likwid-perfctr -O`.
 *
 * SPDX-License-Identifier: Apache-2.0
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
#include "config.h"

#include "predictors/aggregation/task_counters_private.h"
#include "base/decimal.h"

#include <math.h>
#include <string.h>

#define HEAD        "Event,Counter,"
#define REGION      "Region "
#define NAME_FIELDS 2u /* event and counter */

/* A hardware thread and what its groups are. */
typedef struct {
  char *name;
  GPtrArray *groups; /* (element-type GArray of PredictCount) */
} Thread;

static void
thread_free (gpointer data)
{
  Thread *thread = data;

  g_free (thread->name);
  g_ptr_array_unref (thread->groups);
  g_free (thread);
}

gboolean
predict_counters_is_likwid (const char *line)
{
  return g_str_has_prefix (line, HEAD);
}

static gboolean
is_thread (const char *field)
{
  return g_str_has_prefix (field, "HWThread ") || g_str_has_prefix (field, "Core ");
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

/* "solve" of a line that names a region; NULL of others.  The caller frees. */
static char *
region_of (const char *line)
{
  g_auto (GStrv) fields = g_strsplit (line, ",", 3);

  return g_strv_length (fields) > 1 && g_str_has_prefix (fields[1], REGION)
             ? g_strdup (fields[1] + strlen (REGION))
             : NULL;
}

/* The events of one line to the groups[] of its threads; FALSE and *error. */
static gboolean
take_event (const PredictCounterFile *file, guint line, char **fields, GArray *const *groups,
            guint n_threads, GError **error)
{
  if (g_strv_length (fields) < NAME_FIELDS + n_threads)
    return predict_counters_fail (file, line, error, "\"%s\" has fewer than %u counts", fields[0],
                                  n_threads);
  for (guint thread = 0; thread < n_threads; thread++) {
    const char *field = fields[NAME_FIELDS + thread];
    PredictCount count = { NULL, NAN, line };

    if (strcmp (field, "-") != 0 && strcmp (field, "nil") != 0 &&
        (!base_decimal_all (field, &count.count) || count.count < 0 || isinf (count.count)))
      return predict_counters_fail (file, line, error, "\"%s\" is no count", field);
    for (guint i = 0; i < groups[thread]->len; i++)
      if (strcmp (g_array_index (groups[thread], PredictCount, i).name, fields[0]) == 0)
        return predict_counters_fail (file, line, error, "\"%s\" is counted twice", fields[0]);
    count.name = g_strdup (fields[0]);
    g_array_append_val (groups[thread], count);
  }
  return TRUE;
}

/* Whether a line is within a table that began before it. */
static gboolean
goes_on (const char *line)
{
  return line != NULL && *line != '\0' && !g_str_has_prefix (line, "TABLE,") &&
         !g_str_has_prefix (line, "STRUCT,") && !g_str_has_prefix (line, "Metric,") &&
         !g_str_has_prefix (line, HEAD);
}

/* The table whose head is at *line; *line is then its last one. */
static gboolean
take_table (const PredictCounterFile *file, guint *line, GPtrArray *threads, GError **error)
{
  g_auto (GStrv) head = g_strsplit (file->lines[*line - 1], ",", -1);
  g_autofree GArray **groups = g_new (GArray *, g_strv_length (head));
  guint n_threads = 0;

  while (head[NAME_FIELDS + n_threads] != NULL && is_thread (head[NAME_FIELDS + n_threads])) {
    Thread *thread = find_thread (threads, head[NAME_FIELDS + n_threads]);

    groups[n_threads] = predict_counts_new ();
    g_ptr_array_add (thread->groups, groups[n_threads++]);
  }
  while (goes_on (file->lines[*line])) {
    g_auto (GStrv) fields = g_strsplit (file->lines[(*line)++], ",", -1);

    /* The time stamp counter is no event; a table without threads is one of statistics. */
    if (n_threads == 0 || (fields[1] != NULL && strcmp (fields[1], "TSC") == 0))
      continue;
    if (!take_event (file, *line, fields, groups, n_threads, error))
      return FALSE;
  }
  return TRUE;
}

/* Whether the table at the line is wanted; FALSE and *error: of another region where none was chosen. */
static gboolean
choose_region (const PredictCounterFile *file, guint line, const char *region, char **first,
               gboolean *is_wanted, GError **error)
{
  const char *chosen = file->options->region;

  *is_wanted = chosen == NULL || g_strcmp0 (region, chosen) == 0;
  if (chosen != NULL || region == NULL || g_strcmp0 (*first, region) == 0)
    return TRUE;
  if (*first == NULL) {
    *first = g_strdup (region);
    return TRUE;
  }
  return predict_counters_fail (
      file, line, error, "region \"%s\" besides \"%s\": choose one by --region", region, *first);
}

static gboolean
add_tasks (PredictCounterFile *file, const GPtrArray *threads, GError **error)
{
  for (guint i = 0; i < threads->len; i++) {
    const Thread *thread = g_ptr_array_index (threads, i);
    g_autofree char *source = g_strdup_printf ("%s: %s", file->path, thread->name);

    if (!predict_counters_add (file, source, thread->groups, error)) {
      g_prefix_error (error, "%s: ", thread->name);
      return FALSE;
    }
  }
  if (threads->len > 0)
    return TRUE;
  return file->options->region != NULL
             ? predict_counters_fail (file, 0, error, "there is no region \"%s\"",
                                      file->options->region)
             : predict_counters_fail (file, 0, error, "there is no counter in it");
}

gboolean
predict_counters_read_likwid (PredictCounterFile *file, GError **error)
{
  g_autoptr (GPtrArray) threads = g_ptr_array_new_with_free_func (thread_free), unwanted = NULL;
  g_autofree char *region = NULL, *first = NULL;

  unwanted = g_ptr_array_new_with_free_func (thread_free);
  for (guint line = 1; file->lines[line - 1] != NULL; line++) {
    gboolean is_wanted;

    if (g_str_has_prefix (file->lines[line - 1], "TABLE,")) {
      g_free (region);
      region = region_of (file->lines[line - 1]);
    }
    if (!predict_counters_is_likwid (file->lines[line - 1]))
      continue;
    if (!choose_region (file, line, region, &first, &is_wanted, error) ||
        !take_table (file, &line, is_wanted ? threads : unwanted, error))
      return FALSE;
  }
  return add_tasks (file, threads, error);
}
