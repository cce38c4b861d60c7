/* task_counters_perf.c - counters from `perf stat -x`.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A line is
 *
 *     [TIME,][CPU,|CORE,CPUS,]COUNT,UNIT,EVENT[,DEVIATION%],RUNNING,PERCENT[,METRIC,UNIT]
 *
 * with TIME under -I, a place under -A and --per-..., and DEVIATION under -r, where COUNT is the mean.
 * Metrics beside a count are of no use here, and stand on lines of their own whose count, unit and event are
 * empty. */
#include "config.h"

#include "predictors/aggregation/task_counters_private.h"
#include "base/decimal.h"

#include <math.h>
#include <string.h>

#define MAX_PREFIX 4u      /* fields before the count */
#define NOT_DONE   "<not " /* counted>, supported> */

static gboolean
is_number (const char *field)
{
  double value;

  return base_decimal_all (field, &value);
}

static gboolean
is_count (const char *field)
{
  return is_number (field) || g_str_has_prefix (field, NOT_DONE);
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

/* Where the count is; G_MAXUINT: nowhere. */
static guint
find_count (char **fields)
{
  guint n = g_strv_length (fields);

  for (guint at = 0; at < MAX_PREFIX && at + 2 < n; at++)
    if (is_count (fields[at]) && !is_number (fields[at + 1]) && *fields[at + 2] != '\0' &&
        !is_count (fields[at + 2]) && !g_str_has_prefix (fields[at + 1], NOT_DONE))
      return at;
  return G_MAXUINT;
}

static gboolean
is_metric (char **fields)
{
  guint n = g_strv_length (fields);

  for (guint at = 0; at < MAX_PREFIX && at + 2 < n; at++)
    if (*fields[at] == '\0' && *fields[at + 1] == '\0' && *fields[at + 2] == '\0')
      return TRUE;
  return FALSE;
}

/* What the fields say, added to what is known of the event; seen: of the lines so far, everything before the
 * count, and the event. */
static gboolean
take_count (const PredictCounterFile *file, guint line, char **fields, guint at, GArray *counts,
            GHashTable *seen, GError **error)
{
  PredictCount count = { NULL, NAN, line };
  const char *event = fields[at + 2];
  GString *key = g_string_new (event);

  for (guint i = 0; i < at; i++)
    g_string_append_printf (key, "\n%s", fields[i]);
  if (!g_hash_table_add (seen, g_string_free (key, FALSE)))
    return predict_counters_fail (file, line, error, "\"%s\" is counted twice", event);
  if (*fields[at + 1] != '\0') /* milliseconds, joules ... */
    return TRUE;
  if (!g_str_has_prefix (fields[at], NOT_DONE))
    base_decimal_all (fields[at], &count.count);
  if (count.count < 0 || isinf (count.count))
    return predict_counters_fail (file, line, error, "\"%s\" is no count", fields[at]);
  for (guint i = 0; i < counts->len; i++) {
    PredictCount *known = &g_array_index (counts, PredictCount, i);

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

/* perf's own page recommends another separator for events that have commas. */
static const char *
separator_of (const PredictCounterFile *file)
{
  for (char **line = file->lines; *line != NULL; line++)
    if (**line != '\0' && **line != '#')
      return strchr (*line, ';') != NULL ? ";" : strchr (*line, '\t') != NULL ? "\t" : ",";
  return ",";
}

static gboolean
take_line (const PredictCounterFile *file, guint line, const char *separator, GArray *counts,
           GHashTable *seen, GError **error)
{
  g_auto (GStrv) fields = g_strsplit (file->lines[line - 1], separator, -1);
  guint at;

  for (char **field = fields; *field != NULL; field++)
    g_strstrip (*field);
  at = find_count (fields);
  if (at == G_MAXUINT)
    return is_metric (fields) ||
           predict_counters_fail (file, line, error,
                                  "no line of perf stat -x: COUNT,UNIT,EVENT,...");
  join_event (fields, at + 2, separator);
  return take_count (file, line, fields, at, counts, seen, error);
}

gboolean
predict_counters_read_perf (PredictCounterFile *file, GError **error)
{
  g_autoptr (GPtrArray) groups = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GArray *counts = predict_counts_new ();
  const char *separator = separator_of (file);

  g_ptr_array_add (groups, counts);
  for (guint line = 1; file->lines[line - 1] != NULL; line++) {
    const char *text = file->lines[line - 1];

    if (*text != '\0' && *text != '#' && !take_line (file, line, separator, counts, seen, error))
      return FALSE;
  }
  if (counts->len == 0)
    return predict_counters_fail (file, 0, error, "there is no counter in it");
  return predict_counters_add (file, file->path, groups, error);
}
