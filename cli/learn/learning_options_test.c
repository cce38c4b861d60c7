/* learning_options_test.c - which table a command line names.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/learn/learning_options.h"
#include "predictors/predict_error.h"
#include "study/study_error.h"
#include "study/store/store_fixture.h"

#include <math.h>
#include <string.h>

/* Parses "--observed-runs A --feature-runs B"; NULL: not given. */
static gboolean
parse (CliLearningOptions *options, const char *observed, const char *features, GError **error)
{
  options->observed_text = g_strdup (observed);
  options->features_text = g_strdup (features);
  return cli_parse_learning (options, error);
}

static void
test_choices (void)
{
  g_auto (CliLearningOptions) options = { 0 }, none = { 0 };
  g_autoptr (GError) error = NULL;

  parse (&options, "shrink=off,network=packet", "routing=zone1", &error);
  g_assert_no_error (error);
  g_assert_cmpstr (options.learning.observed.network, ==, "packet");
  g_assert_cmpstr (options.learning.observed.shrink, ==, "off");
  g_assert_null (options.learning.observed.routing);
  g_assert_cmpstr (options.learning.features.routing, ==, "zone1");
  g_assert_null (options.learning.features.network);
  g_assert_true (parse (&none, NULL, NULL, NULL));
  g_assert_null (none.learning.observed.network);
}

static void
test_wrong_usage (void)
{
  static const struct {
    const char *text, *problem;
  } cases[] = {
    { "", "expected KEY=VALUE" },
    { "packet", "expected KEY=VALUE: \"packet\"" },
    { "network=", "expected KEY=VALUE: \"network=\"" },
    { "network=packet,", "expected KEY=VALUE" },
    { "network=packets", "--observed-runs" },
    { "routing=fast", "--observed-runs" },
    { "seed=1", "'seed' is none of network, routing, shrink" },
    { "network=packet,network=load", "given twice: \"network\"" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_auto (CliLearningOptions) options = { 0 }, features = { 0 };
    g_autoptr (GError) error = NULL, of_features = NULL;

    g_assert_false (parse (&options, cases[at].text, NULL, &error));
    g_assert_error (error, CLI_ERROR, CLI_ERROR_USAGE);
    g_assert_nonnull (strstr (error->message, cases[at].problem));
    g_assert_false (parse (&features, NULL, cases[at].text, &of_features));
    g_assert_nonnull (strstr (of_features->message, "--feature-runs"));
  }
}

typedef struct {
  char *folder, *csv, *store;
} Files;

/* The store has the name of a table, and one run of each of two placements. */
static void
files_init (Files *files)
{
  g_autoptr (StudyStore) store = NULL;

  files->folder = fixture_folder ();
  files->csv = g_build_filename (files->folder, "table.csv", NULL);
  files->store = g_build_filename (files->folder, "store.csv", NULL);
  g_assert_true (g_file_set_contents (files->csv, "a,b\n1,2\n", -1, NULL));
  store = fixture_open (files->store, STUDY_STORE_CREATE);
  fixture_fill (store, 2);
}

static void
files_clear (Files *files)
{
  g_free (files->csv);
  g_free (files->store);
  fixture_remove (files->folder);
}

static void
test_tables (void)
{
  g_auto (CliLearningOptions) none = { 0 };
  g_autoptr (PredictTable) csv = NULL, runs = NULL;
  g_autoptr (GError) error = NULL, missing = NULL;
  Files files;

  files_init (&files);
  parse (&none, NULL, NULL, &error);
  csv = cli_learning_table (files.csv, &none, FALSE, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (csv->n_columns, ==, 2);
  runs = cli_learning_table (files.store, &none, FALSE, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (runs->n_rows, ==, 2);
  g_assert_nonnull (predict_table_find (runs, "time_s"));
  g_assert_null (cli_learning_table (files.folder, &none, FALSE, NULL, &missing));
  g_assert_error (missing, G_FILE_ERROR, G_FILE_ERROR_ISDIR);
  files_clear (&files);
}

/* Options reach the store, and are refused where there is none. */
static void
test_options_of_stores (void)
{
  g_auto (CliLearningOptions) flow = { 0 };
  g_autoptr (GError) error = NULL, usage = NULL;
  Files files;

  files_init (&files);
  parse (&flow, NULL, "network=flow", NULL);
  g_assert_null (cli_learning_table (files.store, &flow, FALSE, NULL, &error));
  g_assert_error (error, STUDY_ERROR, STUDY_ERROR_INPUT);
  g_assert_nonnull (strstr (error->message, "none of the 2 observed runs"));
  g_assert_null (cli_learning_table (files.csv, &flow, FALSE, NULL, &usage));
  g_assert_error (usage, CLI_ERROR, CLI_ERROR_USAGE);
  g_assert_nonnull (strstr (usage->message, "--feature-runs applies to stores"));
  files_clear (&files);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/learning/choices", test_choices);
  g_test_add_func ("/cli/learning/usage", test_wrong_usage);
  g_test_add_func ("/cli/learning/tables", test_tables);
  g_test_add_func ("/cli/learning/options", test_options_of_stores);
  return g_test_run ();
}
