/* recorded_test.c - recorded results are of figures that exist, and their verdicts still follow from them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/recorded.h"
#include "validation/suite.h"

#include <math.h>
#include <string.h>

static const ValidationSuite *
suite_of (const char *name)
{
  for (guint i = 0; validation_long_suites[i] != NULL; i++)
    if (strcmp (validation_long_suites[i]->name, name) == 0)
      return validation_long_suites[i];
  g_error ("recorded.csv: no long suite \"%s\"", name);
}

static const ValidationPublished *
figure_of (const GPtrArray *figures, const char *name)
{
  for (guint i = 0; i < figures->len; i++)
    if (strcmp (((const ValidationPublished *) g_ptr_array_index (figures, i))->name, name) == 0)
      return g_ptr_array_index (figures, i);
  g_error ("recorded.csv: no figure \"%s\"", name);
}

/* A suite judges its number, or the interval that chance leaves. */
static void
check_line (const char *line)
{
  g_auto (GStrv) fields = g_strsplit (line, ",", -1);
  const ValidationSuite *suite = suite_of (fields[0]);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) figures = validation_published_parse (suite->figures, suite->path, &error);
  const ValidationPublished *published;
  ValidationRecorded recorded;

  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length (fields), ==, 7);
  published = figure_of (figures, fields[1]);
  g_assert_true (validation_recorded_find (fields[0], fields[1], &recorded));
  g_assert_true (isfinite (recorded.simulated));
  g_assert_cmpuint (strlen (recorded.commit), ==, 7);
  g_assert_cmpuint (strspn (recorded.commit, "0123456789abcdef"), ==, 7);
  if (suite->spread != NULL && isfinite (recorded.lower))
    g_assert_cmpint (recorded.agrees, ==,
                     validation_agrees_within (published, recorded.lower, recorded.upper));
  else
    g_assert_cmpint (recorded.agrees, ==, validation_agrees (published, recorded.simulated));
}

static void
test_file (void)
{
  g_auto (GStrv) lines = g_strsplit (validation_recorded_csv, "\n", -1);
  guint n = 0;

  for (char **line = lines; *line != NULL; line++)
    if (**line != '\0' && **line != '#' && !g_str_has_prefix (*line, "suite,")) {
      check_line (*line);
      n++;
    }
  g_assert_cmpuint (n, >, 90);
}

static void
test_unknown (void)
{
  ValidationRecorded recorded;

  g_assert_false (validation_recorded_find ("evh1", "table1", &recorded));
  g_assert_false (validation_recorded_find ("sc13", "table1_depth", &recorded));
}

static void
collect (void *data, const ValidationResult *result)
{
  guint *n = data;

  g_assert_cmpstr (result->suite, ==, "shrink");
  g_assert_true (result->is_run);
  g_assert_cmpstr (result->commit, ==, "0deaacc");
  (*n)++;
}

/* Nothing of the suite, which takes an hour, is run. */
static void
test_run (void)
{
  const ValidationSuite *const suites[] = { &validation_shrink, NULL };
  guint n = 0;
  const ValidationWatch watch = { .report = collect,
                                  .data = &n,
                                  .recorded = validation_long_suites };
  g_autoptr (GError) error = NULL;

  g_assert_true (validation_run (suites, NULL, &watch, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (n, ==, 5);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/validation/recorded/file", test_file);
  g_test_add_func ("/validation/recorded/unknown", test_unknown);
  g_test_add_func ("/validation/recorded/run", test_run);
  return g_test_run ();
}
