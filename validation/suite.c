/* suite.c - published figures of one kind of machine, and how each is measured again.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validation/suite.h"

#include <math.h>
#include <string.h>

const ValidationSuite *const validation_suites[] = { &validation_bgq, &validation_infiniband,
                                                     &validation_aggregation, NULL };

const char validation_details_heading[] = "series,point,published,simulated,unit\n";

static bool
is_wanted (const ValidationPublished *published, const char *const *only)
{
  return only == NULL || g_strv_contains (only, published->name);
}

static guint
count_wanted (const GPtrArray *figures, const char *const *only)
{
  guint n = 0;

  for (guint i = 0; i < figures->len; i++)
    n += is_wanted (g_ptr_array_index (figures, i), only);
  return n;
}

/* The figures of each suite (element-type GPtrArray). */
static GPtrArray *
read_figures (const ValidationSuite *const *suites, GError **error)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);

  for (; *suites != NULL; suites++) {
    GPtrArray *figures = validation_published_parse ((*suites)->figures, (*suites)->path, error);

    if (figures == NULL)
      return NULL;
    g_ptr_array_add (all, figures);
  }
  return g_steal_pointer (&all);
}

static bool
check_names (const GPtrArray *all, const char *const *names, GError **error)
{
  for (; names != NULL && *names != NULL; names++) {
    const char *const one[] = { *names, NULL };
    guint n = 0;

    for (guint i = 0; i < all->len; i++)
      n += count_wanted (g_ptr_array_index (all, i), one);
    if (n == 0) {
      g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_NAME, "no figure is called \"%s\"",
                   *names);
      return false;
    }
  }
  return true;
}

typedef struct {
  const char *const *only;
  const ValidationWatch *watch;
  guint n_done, n;
} Progress;

/* *why is what a figure that is not run lacks, and outlives result->why. */
static gboolean
measure_one (const ValidationSuite *suite, gpointer state, ValidationResult *result, GError **why,
             GError **error)
{
  const ValidationPublished *published = result->published;

  if (suite->measure (state, published, &result->simulated, why)) {
    result->is_run = true;
    result->agrees = validation_agrees (published, result->simulated);
    if (!result->agrees && suite->cause != NULL)
      result->cause = suite->cause (published->name);
    return TRUE;
  }
  if (g_error_matches (*why, VALIDATION_ERROR, VALIDATION_ERROR_NOT_RUN)) {
    result->simulated = (double) NAN;
    result->why = (*why)->message;
    return TRUE;
  }
  if (*why == NULL)
    g_set_error (why, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT,
                 "the experiment gave no number");
  g_propagate_prefixed_error (error, g_steal_pointer (why), "%s: ", published->name);
  return FALSE;
}

static gboolean
run_suite (const ValidationSuite *suite, gpointer state, const GPtrArray *figures,
           Progress *progress, GError **error)
{
  const ValidationWatch *watch = progress->watch;

  for (guint i = 0; i < figures->len; i++) {
    const ValidationPublished *published = g_ptr_array_index (figures, i);
    ValidationResult result = { .suite = suite->name, .published = published };
    g_autoptr (GError) why = NULL;

    if (!is_wanted (published, progress->only))
      continue;
    if (watch->progress != NULL)
      watch->progress (watch->data, (double) progress->n_done / progress->n);
    progress->n_done++;
    if (!measure_one (suite, state, &result, &why, error))
      return FALSE;
    watch->report (watch->data, &result);
  }
  return TRUE;
}

gboolean
validation_run (const ValidationSuite *const *suites, const char *const *only,
                const ValidationWatch *watch, GError **error)
{
  g_autoptr (GPtrArray) all = read_figures (suites, error);
  Progress progress = { .only = only, .watch = watch };
  gboolean done = TRUE;

  if (all == NULL || !check_names (all, only, error))
    return FALSE;
  for (guint i = 0; i < all->len; i++)
    progress.n += count_wanted (g_ptr_array_index (all, i), only);
  for (guint i = 0; i < all->len && done; i++) {
    gpointer state = suites[i]->open (watch);

    done = run_suite (suites[i], state, g_ptr_array_index (all, i), &progress, error);
    suites[i]->close (state);
  }
  return done;
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
