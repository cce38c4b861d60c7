/* graph_files_test.c - matrices in the formats of graph libraries, good and bad.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/study_error.h"
#include "study/search/graph_files.h"

#include <glib/gstdio.h>
#include <string.h>

static char *folder, *path;

static StudyMatrix *
loaded (const char *text, GError **error)
{
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_true (study_matrix_probe (path));
  return study_matrix_load (path, error);
}

/* "ranks: src>dst:bytes ...", the caller frees it. */
static char *
said (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (StudyMatrix) matrix = loaded (text, &error);
  GString *out = g_string_new (NULL);
  g_autofree SimEdge *edges = NULL;
  uint64_t n_edges;

  g_assert_no_error (error);
  g_string_printf (out, "%u:", study_matrix_ranks (matrix));
  edges = sim_edges_sorted (study_matrix_edges (matrix), &n_edges);
  for (uint64_t i = 0; i < n_edges; i++)
    g_string_append_printf (out, " %u>%u:%" G_GUINT64_FORMAT, edges[i].source, edges[i].destination,
                            edges[i].bytes);
  return g_string_free (out, FALSE);
}

#define MARKET "%%MatrixMarket matrix "

static void
test_formats (void)
{
  static const char *const cases[][2] = {
    { "4\n0 1 643976096\n1 0 5\n", "4: 0>1:643976096 1>0:5" },
    { MARKET "coordinate real general\n% made\n3 3 2\n1 2 2.0\n3 1 1e3\n", "3: 0>1:2 2>0:1000" },
    { MARKET "coordinate pattern symmetric\n2 2 1\n2 1\n", "2: 0>1:1 1>0:1" },
    { MARKET "coordinate integer symmetric\n2 2 2\n2 1 9\n1 1 4\n", "2: 0>1:9 1>0:9" },
    { MARKET "array integer general\n2 2\n0\n3\n4\n0\n", "2: 0>1:4 1>0:3" },
    { "% METIS\n3 2\n2\n1 3\n2\n", "3: 0>1:1 1>0:1 1>2:1 2>1:1" },
    { "3 2 001\n2 7\n1 7 3 9\n2 9\n", "3: 0>1:7 1>0:7 1>2:9 2>1:9" },
    { "3 1 11 1\n5 2 7\n5 1 7\n5\n", "3: 0>1:7 1>0:7" },
    /* Vertices without neighbours: an empty line within, none at the end. */
    { "4 1\n\n3\n2\n", "4: 1>2:1 2>1:1" },
    { "0\n3 4\n0 000\n1 1\n2 0 2\n1 1\n", "3: 0>1:1 1>0:1 1>2:1 2>1:1" },
    { "0\n2 2\n1 010\n1 8 2\n1 8 1\n", "2: 0>1:8 1>0:8" },
    { "0\n2 2\n0 111\n70 3 1 8 1\n71 3 1 8 0\n", "2: 0>1:8 1>0:8" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = said (cases[i][0]);

    g_assert_cmpstr (text, ==, cases[i][1]);
  }
}

/* Lists and squares of few small numbers are not taken for graphs. */
static void
test_lists_stay_lists (void)
{
  static const char *const cases[][2] = {
    { "1 2 3\n2 1 1\n", "3: 1>2:3 2>1:1" },
    { "0 5\n6 0\n", "2: 0>1:5 1>0:6" },
    { "2 1\n1 2\n", "2: 0>1:1 1>0:1" },
    { "3 1 2 1\n1 3 2 1\n", "4: 1>3:1 3>1:1" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = said (cases[i][0]);

    g_assert_cmpstr (text, ==, cases[i][1]);
  }
}

static void
test_bad_files_name_the_line (void)
{
  static const char *const cases[][2] = {
    { "4\n0 1 5\n0 4 5\n", ":3: expected a rank of the graph, found '4'" },
    { "4\n0 1 5\n0 2\n", ":3: expected a number of bytes, found ''" },
    { "4\n0 1 5 6\n", "" },
    { "0\n0 1 5\n", ":1: expected the number of ranks" },
    { MARKET "coordinate complex general\n1 1 0\n", ":1: a MatrixMarket" },
    { MARKET "coordinate real general\n", ":1: a MatrixMarket" },
    { MARKET "coordinate real general\n2 3 1\n1 1 1\n", ":2: expected as many columns" },
    { MARKET "coordinate real general\n2 2 2\n1 2 1\n", "1 of 2 entries" },
    { MARKET "coordinate real general\n2 2 1\n1 2 1\n2 1 1\n", ":4: expected no more" },
    { MARKET "coordinate real general\n2 2 1\n1 2 -1\n", ":3: expected a number of bytes" },
    { MARKET "coordinate real general\n2 2 1\n1 3 1\n", ":3: expected a rank" },
    { "2 1\n3\n1\n", ":2: expected a rank of the graph, found '3'" },
    { "0\n2 2\n0 010\n1 8 1\n", "something else follows" },
    { "0\n2 2\n3 010\n1 8 1\n1 8 1\n", ":3: expected base 0 or 1" },
    { "0\n99999999 2\n0 010\n", ":2: expected the number of vertices" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;

    g_assert_null (loaded (cases[i][0], &error));
    g_assert_error (error, STUDY_ERROR, STUDY_ERROR_INPUT);
    if (!strstr (error->message, cases[i][1]))
      g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, cases[i][1]));
  }
}

/* Every beginning of a file is read or refused. */
static void
test_truncated (void)
{
  static const char *const whole[] = {
    "4\n0 1 643976096\n1 0 5\n",
    MARKET "coordinate real general\n3 3 2\n1 2 2.0\n3 1 1e3\n",
    "3 2 001\n2 7\n1 7 3 9\n2 9\n",
    "0\n2 2\n0 111\n70 3 1 8 1\n71 3 1 8 0\n",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (whole); i++)
    for (gsize length = 0; length < strlen (whole[i]); length++) {
      g_autoptr (GError) error = NULL;
      g_autoptr (StudyMatrix) matrix = NULL;

      g_assert_true (g_file_set_contents (path, whole[i], (gssize) length, NULL));
      matrix = study_matrix_load (path, &error);
      g_assert_true ((matrix == NULL) == (error != NULL));
    }
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("hopcast-graph-XXXXXX", NULL);
  path = g_build_filename (folder, "graph", NULL);
  g_test_add_func ("/study/graph-files/formats", test_formats);
  g_test_add_func ("/study/graph-files/lists", test_lists_stay_lists);
  g_test_add_func ("/study/graph-files/bad", test_bad_files_name_the_line);
  g_test_add_func ("/study/graph-files/truncated", test_truncated);
  status = g_test_run ();
  g_unlink (path);
  g_rmdir (folder);
  g_free (path);
  g_free (folder);
  return status;
}
