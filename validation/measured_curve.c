/* measured_curve.c - a measured quantity over message sizes, and how far ours is from it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/measured_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char heading[] = "curve,bytes,value,unit";

enum { NAME, BYTES, VALUE, UNIT, N_COLUMNS };

static void
curve_free (gpointer data)
{
  ValidationCurve *curve = data;

  g_free (curve->name);
  g_free (curve->unit);
  g_array_unref (curve->bytes);
  g_array_unref (curve->values);
  g_free (curve);
}

/* Adds a point to the last curve, or to a new one when the name changes.  False for a line that is
 * malformed, of a curve that stands farther up, in another unit, or of a size that does not grow. */
static bool
add_line (GPtrArray *curves, const char *line)
{
  g_auto (GStrv) fields = g_strsplit (line, ",", -1);
  ValidationCurve *curve = curves->len == 0 ? NULL : g_ptr_array_index (curves, curves->len - 1);
  guint64 bytes;
  double value;
  char *end;

  if (g_strv_length (fields) != N_COLUMNS || *fields[NAME] == '\0' || *fields[UNIT] == '\0' ||
      !g_ascii_string_to_unsigned (fields[BYTES], 10, 0, G_MAXUINT32, &bytes, NULL))
    return false;
  value = g_ascii_strtod (fields[VALUE], &end);
  if (end == fields[VALUE] || *end != '\0' || !isfinite (value) || value <= 0)
    return false;
  if (curve == NULL || strcmp (curve->name, fields[NAME]) != 0) {
    if (validation_curve_find (curves, fields[NAME]) != NULL)
      return false;
    curve = g_new (ValidationCurve, 1);
    *curve = (ValidationCurve){ .name = g_strdup (fields[NAME]),
                                .unit = g_strdup (fields[UNIT]),
                                .bytes = g_array_new (FALSE, FALSE, sizeof (guint64)),
                                .values = g_array_new (FALSE, FALSE, sizeof (double)) };
    g_ptr_array_add (curves, curve);
  } else if (strcmp (curve->unit, fields[UNIT]) != 0 ||
             g_array_index (curve->bytes, guint64, curve->bytes->len - 1) >= bytes)
    return false;
  g_array_append_val (curve->bytes, bytes);
  g_array_append_val (curve->values, value);
  return true;
}

GPtrArray *
validation_curves_parse (const char *text, const char *path, GError **error)
{
  g_autoptr (GPtrArray) curves = g_ptr_array_new_with_free_func (curve_free);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  bool has_heading = false;

  for (guint i = 0; lines[i] != NULL; i++) {
    bool fits;

    if (*lines[i] == '\0' || *lines[i] == '#')
      continue;
    fits = has_heading ? add_line (curves, lines[i]) : strcmp (lines[i], heading) == 0;
    if (!fits) {
      g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_DATA,
                   "%s:%u: expected %s, found \"%s\"", path, i + 1, heading, lines[i]);
      return NULL;
    }
    has_heading = true;
  }
  return g_steal_pointer (&curves);
}

const ValidationCurve *
validation_curve_find (const GPtrArray *curves, const char *name)
{
  for (guint i = 0; i < curves->len; i++) {
    const ValidationCurve *curve = g_ptr_array_index (curves, i);

    if (strcmp (curve->name, name) == 0)
      return curve;
  }
  return NULL;
}

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

double
validation_median (double *values, guint n)
{
  if (n == 0)
    return (double) NAN;
  qsort (values, n, sizeof *values, compare_doubles);
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

double
validation_curve_error (const ValidationCurve *curve, const double *simulated)
{
  guint n = curve->values->len;
  g_autofree double *errors = g_new (double, n);

  for (guint i = 0; i < n; i++)
    errors[i] = fabs (simulated[i] / g_array_index (curve->values, double, i) - 1);
  return validation_median (errors, n);
}
