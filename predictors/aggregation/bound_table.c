/* bound_table.c - measured bounds of communication times, as tables of curves.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/aggregation/bound_table.h"

#include "predictors/table/table.h"

#include <math.h>
#include <string.h>

#define MAX_WHOLE 0x1p53

typedef struct {
  uint64_t bytes;
  double time_us;  /* as measured */
  double least_us; /* the longest of this and all smaller sizes */
} Point;

struct PredictBoundCurve {
  char *operation, *placement;
  PredictBoundKind kind; /* borrows the two */
  GArray *points;        /* (element-type Point) by size */
};

struct PredictBoundTable {
  char *source;
  GPtrArray *curves;   /* (element-type PredictBoundCurve) */
  GHashTable *by_kind; /* PredictBoundKind of a curve -> the curve */
};

static const char *const where_names[] = { "", "within", "between", NULL };

/* --- Curves --- */

static guint
kind_hash (gconstpointer data)
{
  const PredictBoundKind *kind = data;

  return g_str_hash (kind->operation) * 31 + g_str_hash (kind->placement) * 7 +
         (guint) kind->where + kind->ranks * 131 + kind->pairs * 17 + kind->outside;
}

static gboolean
kind_equal (gconstpointer left, gconstpointer right)
{
  const PredictBoundKind *a = left, *b = right;

  return a->where == b->where && a->pairs == b->pairs && a->outside == b->outside &&
         a->ranks == b->ranks && g_str_equal (a->operation, b->operation) &&
         g_str_equal (a->placement, b->placement);
}

static void
curve_free (gpointer data)
{
  PredictBoundCurve *curve = data;

  g_free (curve->operation);
  g_free (curve->placement);
  g_array_unref (curve->points);
  g_free (curve);
}

/* The first point whose size is at least this. */
static guint
find_point (const PredictBoundCurve *curve, double bytes)
{
  guint low = 0, high = curve->points->len;

  while (low < high) {
    guint middle = low + (high - low) / 2;

    if ((double) g_array_index (curve->points, Point, middle).bytes < bytes)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

double
predict_bound_curve_s (const PredictBoundCurve *curve, double bytes, bool *extrapolated)
{
  const Point *points = (const Point *) (const void *) curve->points->data;
  guint n = curve->points->len, at = find_point (curve, bytes);
  double time_us = points[0].least_us;

  if (at == n)
    *extrapolated = true;
  if (at > 0 && n > 1) {
    const Point *high = &points[MIN (at, n - 1)], *low = high - 1;

    time_us = low->least_us + (high->least_us - low->least_us) * (bytes - (double) low->bytes) /
                                  (double) (high->bytes - low->bytes);
  } else if (at > 0 && points[0].bytes > 0)
    time_us = points[0].least_us * bytes / (double) points[0].bytes;
  return time_us * 1e-6;
}

uint32_t
predict_bound_curve_points (const PredictBoundCurve *curve)
{
  return curve->points->len;
}

uint64_t
predict_bound_curve_bytes (const PredictBoundCurve *curve, uint32_t point)
{
  return g_array_index (curve->points, Point, point).bytes;
}

/* --- Tables --- */

PredictBoundTable *
predict_bound_table_new (const char *source)
{
  PredictBoundTable *table = g_new0 (PredictBoundTable, 1);

  table->source = g_strdup (source);
  table->curves = g_ptr_array_new_with_free_func (curve_free);
  table->by_kind = g_hash_table_new (kind_hash, kind_equal);
  return table;
}

void
predict_bound_table_free (PredictBoundTable *table)
{
  if (table == NULL)
    return;
  g_hash_table_unref (table->by_kind);
  g_ptr_array_unref (table->curves);
  g_free (table->source);
  g_free (table);
}

bool
predict_bound_table_add (PredictBoundTable *table, const PredictBoundKind *kind, uint64_t bytes,
                         double time_us)
{
  PredictBoundCurve *curve = g_hash_table_lookup (table->by_kind, kind);
  const Point point = { bytes, time_us, time_us };
  Point *points;
  guint at;

  g_assert (time_us > 0 && isfinite (time_us));
  if (curve == NULL) {
    curve = g_new0 (PredictBoundCurve, 1);
    curve->operation = g_strdup (kind->operation);
    curve->placement = g_strdup (kind->placement);
    curve->kind = *kind;
    curve->kind.operation = curve->operation;
    curve->kind.placement = curve->placement;
    curve->points = g_array_new (FALSE, FALSE, sizeof (Point));
    g_ptr_array_add (table->curves, curve);
    g_hash_table_insert (table->by_kind, &curve->kind, curve);
  }
  at = find_point (curve, (double) bytes);
  if (at < curve->points->len && g_array_index (curve->points, Point, at).bytes == bytes)
    return false;
  g_array_insert_val (curve->points, at, point);
  points = (Point *) (void *) curve->points->data;
  for (guint i = at; i < curve->points->len; i++)
    points[i].least_us =
        i > 0 ? fmax (points[i - 1].least_us, points[i].time_us) : points[i].time_us;
  return true;
}

const char *
predict_bound_table_source (const PredictBoundTable *table)
{
  return table->source;
}

const PredictBoundCurve *
predict_bound_table_find (const PredictBoundTable *table, const PredictBoundKind *kind)
{
  return g_hash_table_lookup (table->by_kind, kind);
}

double
predict_bound_table_longest_s (const PredictBoundTable *table, const PredictBoundKind *kind,
                               double bytes, bool *extrapolated)
{
  double longest_s = NAN;
  bool beyond = false;

  for (guint i = 0; i < table->curves->len; i++) {
    const PredictBoundCurve *curve = g_ptr_array_index (table->curves, i);
    bool this_beyond = false;
    double time_s;

    if (curve->kind.where != kind->where || curve->kind.ranks != kind->ranks ||
        curve->kind.pairs < kind->pairs || curve->kind.outside < kind->outside ||
        !g_str_equal (curve->operation, kind->operation))
      continue;
    time_s = predict_bound_curve_s (curve, bytes, &this_beyond);
    if (isnan (longest_s) || time_s > longest_s) {
      longest_s = time_s;
      beyond = this_beyond;
    }
  }
  *extrapolated = *extrapolated || beyond;
  return longest_s;
}

/* --- Files --- */

void
predict_bound_table_write (const PredictBoundTable *table, FILE *out)
{
  fputs ("operation,where,class,pairs,outside,ranks,bytes,time_us\n", out);
  for (guint i = 0; i < table->curves->len; i++) {
    const PredictBoundCurve *curve = g_ptr_array_index (table->curves, i);

    for (guint at = 0; at < curve->points->len; at++) {
      const Point *point = &g_array_index (curve->points, Point, at);
      char format[8], time[G_ASCII_DTOSTR_BUF_SIZE];

      fprintf (out, "%s,%s,%s,%u,%u,%u,%" G_GUINT64_FORMAT ",", curve->operation,
               where_names[curve->kind.where], curve->placement, curve->kind.pairs,
               curve->kind.outside, curve->kind.ranks, point->bytes);
      for (int digits = 6; digits <= 17; digits++) {
        g_snprintf (format, sizeof format, "%%.%dg", digits);
        g_ascii_formatd (time, sizeof time, format, point->time_us);
        if (g_ascii_strtod (time, NULL) == point->time_us)
          break;
      }
      fprintf (out, "%s\n", time);
    }
  }
}

/* Where the columns are in a table that was read. */
typedef struct {
  const PredictTable *table;
  guint operation, where, placement;
  const double *pairs, *outside, *ranks, *bytes, *time_us;
} Columns;

static gboolean
take_whole (const Columns *columns, uint64_t row, const char *name, const double *values,
            double most, uint64_t *whole, GError **error)
{
  double value = values[row];

  if (!(value >= 0 && value <= most) || value != floor (value))
    return predict_table_refuse (columns->table, row, error,
                                 "%s: %g is not a whole number within 0..%.0f", name, value, most);
  *whole = (uint64_t) value;
  return TRUE;
}

static gboolean
take_row (PredictBoundTable *bounds, const Columns *columns, uint64_t row, GError **error)
{
  const PredictTable *table = columns->table;
  g_autofree char *operation = predict_table_cell (table, columns->operation, row);
  g_autofree char *where = predict_table_cell (table, columns->where, row);
  g_autofree char *placement = predict_table_cell (table, columns->placement, row);
  PredictBoundKind kind = { .operation = operation, .placement = placement };
  bool is_message = g_str_equal (operation, PREDICT_BOUND_MESSAGE);
  guint at = is_message ? PREDICT_BOUND_ALL + 1 : PREDICT_BOUND_ALL;
  guint last = is_message ? G_N_ELEMENTS (where_names) - 1 : PREDICT_BOUND_ALL + 1;
  uint64_t pairs = 0, outside = 0, ranks = 0, bytes = 0;

  if (*operation == '\0')
    return predict_table_refuse (table, row, error, "operation: none is named");
  while (at < last && !g_str_equal (where, where_names[at]))
    at++;
  if (at == last)
    return predict_table_refuse (table, row, error,
                                 is_message
                                     ? "where: \"%s\" of a pingpong is neither within nor between"
                                     : "where: \"%s\" is not empty, as it is of collectives",
                                 where);
  kind.where = (PredictBoundWhere) at;
  if (!take_whole (columns, row, "pairs", columns->pairs, UINT32_MAX, &pairs, error) ||
      !take_whole (columns, row, "outside", columns->outside, UINT32_MAX, &outside, error) ||
      !take_whole (columns, row, "ranks", columns->ranks, UINT32_MAX, &ranks, error) ||
      !take_whole (columns, row, "bytes", columns->bytes, MAX_WHOLE, &bytes, error))
    return FALSE;
  kind.pairs = (uint32_t) pairs;
  kind.outside = (uint32_t) outside;
  kind.ranks = (uint32_t) ranks;
  if (!(columns->time_us[row] > 0))
    return predict_table_refuse (table, row, error, "time_us: %g is not above 0",
                                 columns->time_us[row]);
  if (!predict_bound_table_add (bounds, &kind, bytes, columns->time_us[row]))
    return predict_table_refuse (table, row, error,
                                 "%s of %" G_GUINT64_FORMAT " bytes in placement %s is there twice",
                                 operation, bytes, placement);
  return TRUE;
}

PredictBoundTable *
predict_bound_table_read (const char *path, GError **error)
{
  static const char *const names[] = { "operation", "where", "class",   "pairs", "outside",
                                       "ranks",     "bytes", "time_us", NULL };
  g_autoptr (PredictTable) table = predict_table_read (path, error);
  g_autoptr (PredictBoundTable) bounds = NULL;
  Columns columns = { .table = table };

  if (table == NULL || !predict_table_has_all (table, names, error) ||
      !(columns.pairs = predict_table_finite (table, "pairs", error)) ||
      !(columns.outside = predict_table_finite (table, "outside", error)) ||
      !(columns.ranks = predict_table_finite (table, "ranks", error)) ||
      !(columns.bytes = predict_table_finite (table, "bytes", error)) ||
      !(columns.time_us = predict_table_finite (table, "time_us", error)))
    return NULL;
  columns.operation = (guint) (predict_table_find (table, "operation") - table->columns);
  columns.where = (guint) (predict_table_find (table, "where") - table->columns);
  columns.placement = (guint) (predict_table_find (table, "class") - table->columns);
  bounds = predict_bound_table_new (path);
  for (uint64_t row = 0; row < table->n_rows; row++)
    if (!take_row (bounds, &columns, row, error))
      return NULL;
  return g_steal_pointer (&bounds);
}
