/* published.c - figures that others have published, and whether ours agree.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/published.h"

#include <math.h>
#include <string.h>

enum { NAME, UNIT, LOW, HIGH, TOLERANCE, ROLE, SOURCE, CONDITIONS, N_COLUMNS };

static const char heading[] = "name,unit,low,high,tolerance,role,source,conditions";

GQuark
validation_error_quark (void)
{
  return g_quark_from_static_string ("validation-error-quark");
}

static void
published_free (gpointer data)
{
  ValidationPublished *published = data;

  g_free (published->name);
  g_free (published->unit);
  g_free (published->role);
  g_free (published->source);
  g_free (published->conditions);
  g_free (published);
}

/* An empty field has the value `empty`; false when the field is no number. */
static bool
parse_number (const char *field, double empty, double *value)
{
  char *end;

  if (*field == '\0') {
    *value = empty;
    return true;
  }
  *value = g_ascii_strtod (field, &end);
  return *end == '\0' && isfinite (*value);
}

static ValidationPublished *
parse_line (const char *line)
{
  static const char *const roles[] = { "calibrated", "predicted", "limit", "recomputed", NULL };
  g_auto (GStrv) fields = g_strsplit (line, ",", -1);
  double low, high, tolerance;
  ValidationPublished *published;

  if (g_strv_length (fields) != N_COLUMNS || *fields[NAME] == '\0' ||
      !parse_number (fields[LOW], -INFINITY, &low) ||
      !parse_number (fields[HIGH], INFINITY, &high) ||
      !parse_number (fields[TOLERANCE], 0, &tolerance) || low > high || tolerance < 0 ||

      !g_strv_contains (roles, fields[ROLE]) || (isinf (low) && isinf (high)))
    return NULL;
  published = g_new (ValidationPublished, 1);
  *published = (ValidationPublished){
    .name = g_strdup (fields[NAME]),
    .unit = g_strdup (fields[UNIT]),
    .low = low,
    .high = high,
    .tolerance = tolerance,
    .role = g_strdup (fields[ROLE]),
    .source = g_strdup (fields[SOURCE]),
    .conditions = g_strdup (fields[CONDITIONS]),
  };
  return published;
}

GPtrArray *
validation_published_parse (const char *text, const char *path, GError **error)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (published_free);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  bool has_heading = false;

  for (guint i = 0; lines[i] != NULL; i++) {
    ValidationPublished *published = NULL;
    bool is_heading = !has_heading && strcmp (lines[i], heading) == 0;

    if (*lines[i] == '\0' || *lines[i] == '#')
      continue;
    if (has_heading)
      published = parse_line (lines[i]);
    if (published != NULL)
      g_ptr_array_add (all, published);
    else if (!is_heading) {
      g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_DATA,
                   "%s:%u: expected %s, found \"%s\"", path, i + 1, heading, lines[i]);
      return NULL;
    }
    has_heading = true;
  }
  return g_steal_pointer (&all);
}

bool
validation_agrees_within (const ValidationPublished *published, double lower, double upper)
{
  return upper >= published->low * (1 - published->tolerance) &&
         lower <= published->high * (1 + published->tolerance);
}

bool
validation_agrees (const ValidationPublished *published, double simulated)
{
  return validation_agrees_within (published, simulated, simulated);
}

double
validation_deviation (const ValidationPublished *published, double simulated)
{
  if (simulated < published->low)
    return simulated / published->low - 1;
  if (simulated > published->high)
    return simulated / published->high - 1;
  return 0;
}
