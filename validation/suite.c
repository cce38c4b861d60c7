/* suite.c - published figures of one kind of machine, and their repetition in simulation.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/suite.h"

#include "validation/recorded.h"

#include <math.h>
#include <string.h>

const ValidationSuite *const validation_suites[] = {
  &validation_bgq,         &validation_infiniband,
  &validation_aggregation, &validation_simgrid,
  &validation_modern,      &validation_evh1,
  &validation_sc13,        &validation_sensitivity,
  &validation_shrink,      NULL
};
const ValidationSuite *const validation_long_suites[] = {
  &validation_modern,      &validation_evh1,   &validation_sc13,
  &validation_sensitivity, &validation_shrink, NULL
};

const char validation_details_heading[] = "series,point,published,simulated,unit\n";

static bool
is_wanted (const ValidationPublished *published, const char *const *only)
{
  if (only == NULL)
    return true;
  for (; *only != NULL; only++)
    if (g_pattern_match_simple (*only, published->name))
      return true;
  return false;
}

/* Whether a figure of some suite is called so. */
static bool
is_name (const GPtrArray *all, const char *name)
{
  const char *const only[] = { name, NULL };

  for (guint i = 0; i < all->len; i++) {
    const GPtrArray *figures = g_ptr_array_index (all, i);

    for (guint at = 0; at < figures->len; at++)
      if (is_wanted (g_ptr_array_index (figures, at), only))
        return true;
  }
  return false;
}

/* NULL: the suite's table has no such figure, or it has no table. */
static const ValidationMeasure *
find_measure (const ValidationSuite *suite, const char *name)
{
  for (guint at = 0; at < suite->n_measures; at++)
    if (strcmp (suite->measures[at].name, name) == 0)
      return &suite->measures[at];
  return NULL;
}

bool
validation_measure (const ValidationSuite *suite, gpointer state,
                    const ValidationPublished *published, double *simulated, GError **error)
{
  const ValidationMeasure *row = find_measure (suite, published->name);

  if (suite->measures == NULL)
    return suite->measure (state, published, simulated, error);
  if (row == NULL)
    return validation_no_experiment (published, error);
  *simulated = row->measure (state, row->which, error);
  return !isnan (*simulated);
}

const char *
validation_cause (const ValidationSuite *suite, const char *name)
{
  const ValidationMeasure *row = find_measure (suite, name);

  if (suite->measures == NULL)
    return suite->cause != NULL ? suite->cause (name) : NULL;
  return row != NULL ? row->cause : NULL;
}

/* Measures one figure and reports it. */
static gboolean
run_figure (const ValidationSuite *suite, gpointer state, const ValidationPublished *published,
            const ValidationWatch *watch, GError **error)
{
  ValidationResult result = {
    .suite = suite->name, .published = published, .lower = (double) NAN, .upper = (double) NAN
  };
  g_autoptr (GError) why = NULL;
  g_autofree char *note = NULL;

  if (validation_measure (suite, state, published, &result.simulated, &why)) {
    result.is_run = true;
    result.agrees =
        suite->spread != NULL && suite->spread (state, published, &result.lower, &result.upper)
            ? validation_agrees_within (published, result.lower, result.upper)
            : validation_agrees (published, result.simulated);
    if (suite->note != NULL)
      result.note = note = suite->note (state, find_measure (suite, published->name));
    if (suite->range != NULL && isnan (result.lower))
      result.is_range =
          suite->range (state, find_measure (suite, published->name), &result.lower, &result.upper);
    if (!result.agrees)
      result.cause = validation_cause (suite, published->name);
  } else if (g_error_matches (why, VALIDATION_ERROR, VALIDATION_ERROR_NOT_RUN)) {
    result.simulated = (double) NAN;
    result.why = why->message;
  } else {
    if (why == NULL)
      g_set_error (&why, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT,
                   "the experiment gave no number");
    g_propagate_prefixed_error (error, g_steal_pointer (&why), "%s: ", published->name);
    return FALSE;
  }
  watch->report (watch->data, &result);
  return TRUE;
}

static bool
is_recorded (const ValidationSuite *suite, const ValidationWatch *watch)
{
  for (guint i = 0; watch->recorded != NULL && watch->recorded[i] != NULL; i++)
    if (watch->recorded[i] == suite)
      return true;
  return false;
}

/* Reports the recorded result of a figure. */
static void
report_recorded (const ValidationSuite *suite, const ValidationPublished *published,
                 const ValidationWatch *watch)
{
  ValidationRecorded recorded;
  ValidationResult result = { .suite = suite->name,
                              .published = published,
                              .simulated = (double) NAN,
                              .lower = (double) NAN,
                              .upper = (double) NAN,
                              .why = "no result is part of the tree" };

  if (validation_recorded_find (suite->name, published->name, &recorded)) {
    result.is_run = true;
    result.simulated = recorded.simulated;
    result.lower = recorded.lower;
    result.upper = recorded.upper;
    result.agrees = recorded.agrees;
    result.commit = recorded.commit;
    if (!result.agrees)
      result.cause = validation_cause (suite, published->name);
  }
  watch->report (watch->data, &result);
}

gboolean
validation_run (const ValidationSuite *const *suites, const char *const *only,
                const ValidationWatch *watch, GError **error)
{
  /* The figures of each suite (element-type GPtrArray). */
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  guint n_done = 0, n = 0;
  gboolean done = TRUE;

  for (guint i = 0; suites[i] != NULL; i++) {
    GPtrArray *figures = validation_published_parse (suites[i]->figures, suites[i]->path, error);

    if (figures == NULL)
      return FALSE;
    g_ptr_array_add (all, figures);
    for (guint at = 0; at < figures->len; at++)
      n += is_wanted (g_ptr_array_index (figures, at), only);
  }
  for (guint i = 0; only != NULL && only[i] != NULL; i++)
    if (!is_name (all, only[i])) {
      g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_NAME, "no figure is called \"%s\"",
                   only[i]);
      return FALSE;
    }
  for (guint i = 0; i < all->len && done; i++) {
    const GPtrArray *figures = g_ptr_array_index (all, i);
    bool recorded = is_recorded (suites[i], watch);
    gpointer state = recorded ? NULL : suites[i]->open (watch);

    for (guint at = 0; at < figures->len && done; at++) {
      const ValidationPublished *published = g_ptr_array_index (figures, at);

      if (!is_wanted (published, only))
        continue;
      if (watch->progress != NULL)
        watch->progress (watch->data, (double) n_done++ / n);
      if (recorded)
        report_recorded (suites[i], published, watch);
      else
        done = run_figure (suites[i], state, published, watch, error);
    }
    if (recorded)
      continue;
    if (done && suites[i]->print != NULL && watch->out != NULL)
      suites[i]->print (state, watch->out);
    suites[i]->close (state);
  }
  return done;
}

bool
validation_no_experiment (const ValidationPublished *published, GError **error)
{
  g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT,
               "no experiment measures \"%s\"", published->name);
  return false;
}

static void
append_number (GString *out, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (!isnan (value))
    g_string_append (out, g_ascii_formatd (text, sizeof text, "%.6g", value));
}

void
validation_detail (GString *details, const char *series, const char *point, double published,
                   double simulated, const char *unit)
{
  if (details == NULL)
    return;
  g_string_append_printf (details, "%s,%s,", series, point);
  append_number (details, published);
  g_string_append_c (details, ',');
  append_number (details, simulated);
  g_string_append_printf (details, ",%s\n", unit);
}
