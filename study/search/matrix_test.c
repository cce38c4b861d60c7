/* matrix_test.c - communication matrices, good and bad.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/search/matrix.h"
#include "study/study_error.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

static char *folder, *path;

static StudyMatrix *
loaded (const char *text, GError **error)
{
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  return study_matrix_load (path, error);
}

/* What study_matrix_write() makes of it; the caller frees it. */
static char *
rewritten (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (StudyMatrix) matrix = loaded (text, &error);
  char *written = NULL, *copy;
  size_t length = 0;
  FILE *out = open_memstream (&written, &length);

  g_assert_no_error (error);
  study_matrix_write (matrix, out);
  fclose (out);
  copy = g_strdup (written);
  free (written);
  return copy;
}

#define HEADING "src,dst,messages,bytes\n"

static void
test_forms (void)
{
  static const char *const cases[][2] = {
    { "src,dst,bytes\n1,0,7\n0,2,5\n", HEADING "0,2,1,5\n1,0,1,7\n" },
    { "src,dst,messages,bytes\n0,1,3,30\n0,1,1,2\n", HEADING "0,1,4,32\n" },
    { "0 1 3 30\n", HEADING "0,1,3,30\n" },
    { "# who; to whom\n3;1;9 # late\n\n", HEADING "3,1,1,9\n" },
    { "0 5\n6 0\n", HEADING "0,1,1,5\n1,0,1,6\n" },
    { "0,0,4\n0,0,0\n1,0,0\n", HEADING "0,2,1,4\n2,0,1,1\n" },
    { "src,dst,bytes\n1,1,8\n1,0,2\n1,2,3\n", HEADING "1,0,1,2\n1,1,1,8\n1,2,1,3\n" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = NULL;

    g_test_message ("%s", cases[i][0]);
    text = rewritten (cases[i][0]);
    g_assert_cmpstr (text, ==, cases[i][1]);
  }
}

static void
test_probe_tells_matrices_from_traces (void)
{
  static const struct {
    const char *text;
    gboolean is_matrix;
  } cases[] = {
    { "src,dst,messages,bytes\n", TRUE },
    { "0,5,6\n1,2,3\n", TRUE },
    { "0 init\n", FALSE },
    { "hostname=node\nnumprocs=4\n", FALSE },
    { "", FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_assert_true (g_file_set_contents (path, cases[i].text, -1, NULL));
    g_assert_cmpint (study_matrix_probe (path), ==, cases[i].is_matrix);
  }
  g_assert_false (study_matrix_probe ("/nonexistent"));
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
  g_assert_true (study_matrix_probe (path));
  g_string_printf (out, "%u:", study_matrix_ranks (matrix));
  edges = sim_edges_sorted (study_matrix_edges (matrix), &n_edges);
  for (uint64_t i = 0; i < n_edges; i++)
    g_string_append_printf (out, " %u>%u:%" G_GUINT64_FORMAT, edges[i].source, edges[i].destination,
                            edges[i].bytes);
  return g_string_free (out, FALSE);
}

#define MARKET "%%MatrixMarket matrix "

static void
test_graph_formats (void)
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
    /* Lists and squares of few small numbers are not taken for graphs. */
    { "1 2 3\n2 1 1\n", "3: 1>2:3 2>1:1" },
    { "0 5\n6 0\n", "2: 0>1:5 1>0:6" },
    { "2 1\n1 2\n", "2: 0>1:1 1>0:1" },
    { "3 1 2 1\n1 3 2 1\n", "4: 1>3:1 3>1:1" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = NULL;

    g_test_message ("%s", cases[i][0]);
    text = said (cases[i][0]);
    g_assert_cmpstr (text, ==, cases[i][1]);
  }
}

static void
test_bad_files (void)
{
  static const char *const cases[][2] = {
    { "src,dst,bytes\n0,1,x\n", ":2: 'x'" },
    { "src,dst,bytes\n0,-1,4\n", ":2: '-1'" },
    { "src,dst,bytes\n0,1,4\n0,1\n", ":3: 2 columns, expected 3" },
    { "src,dst,bytes\n99999999999,1,4\n", ":2: '99999999999'" },
    { "0 1\n2 3 4\n", ":2: 3 columns, expected 2" },
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
    { "0\n2 2\n0 010\n1 8 1\n", "the rest differs" },
    { "0\n2 2\n3 010\n1 8 1\n1 8 1\n", ":3: expected base 0 or 1" },
    { "0\n99999999 2\n0 010\n", ":2: expected the number of vertices" },
    /* These do not look like matrices. */
    { "", "empty" },
    { "# nothing\n", "empty" },
    { "1.5 1\n2 3\n", ":1: '1.5'" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;

    g_assert_null (loaded (cases[i][0], &error));
    g_assert_cmpint (study_matrix_probe (path), ==, i + 3 < G_N_ELEMENTS (cases));
    g_assert_error (error, STUDY_ERROR, STUDY_ERROR_INPUT);
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, cases[i][1]));
    g_assert_true (g_str_has_prefix (error->message, path));
  }
}

/* Every beginning of a file is read or refused. */
static void
test_truncated_graphs (void)
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

static void
test_both_ends_know_an_edge (void)
{
  SimEdges *edges = sim_edges_new (4);
  g_autoptr (StudyGraph) graph = NULL;

  sim_edges_add (edges, 0, 2, 1, 10);
  sim_edges_add (edges, 2, 0, 1, 5);
  sim_edges_add (edges, 3, 2, 1, 7);
  graph = study_graph_new (edges, 4);
  g_assert_cmpuint (graph->n_edges, ==, 3);
  g_assert_cmpuint (graph->first[4], ==, 4);
  g_assert_cmpuint (graph->first[1] - graph->first[0], ==, 1);
  g_assert_cmpuint (graph->first[2] - graph->first[1], ==, 0);
  g_assert_cmpuint (graph->neighbour[0], ==, 2);
  g_assert_cmpint (graph->weight[0], ==, 15);
  g_assert_cmpuint (graph->sent[0], ==, 10);
  g_assert_cmpuint (graph->received[0], ==, 5);
  /* Rank 2: 0, then 3. */
  g_assert_cmpuint (graph->neighbour[1], ==, 0);
  g_assert_cmpuint (graph->sent[1], ==, 5);
  g_assert_cmpuint (graph->neighbour[2], ==, 3);
  g_assert_cmpuint (graph->sent[2], ==, 0);
  g_assert_cmpint (graph->weight[2], ==, 7);
  sim_edges_free (edges);
}

/* Sums that would not fit are kept small, and no edge becomes nothing. */
static void
test_large_weights_are_shifted (void)
{
  SimEdges *edges = sim_edges_new (3);
  g_autoptr (StudyGraph) graph = NULL;

  sim_edges_add (edges, 0, 1, 1, G_MAXINT64);
  sim_edges_add (edges, 1, 0, 1, G_MAXINT64);
  sim_edges_add (edges, 1, 2, 1, 1);
  graph = study_graph_new (edges, 3);
  g_assert_cmpuint (graph->shift, >, 0);
  g_assert_cmpint (graph->weight[0], >, 0);
  g_assert_cmpint (graph->weight[0], <, G_MAXINT64 / STUDY_MAX_HOPS);
  g_assert_cmpint (graph->weight[2], ==, 1);
  sim_edges_free (edges);
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("hopcast-matrix-XXXXXX", NULL);
  path = g_build_filename (folder, "matrix.csv", NULL);
  g_test_add_func ("/study/matrix/forms", test_forms);
  g_test_add_func ("/study/matrix/probe", test_probe_tells_matrices_from_traces);
  g_test_add_func ("/study/graph-files/formats", test_graph_formats);
  g_test_add_func ("/study/matrix/bad-files", test_bad_files);
  g_test_add_func ("/study/graph-files/truncated", test_truncated_graphs);
  g_test_add_func ("/study/graph/both-ends", test_both_ends_know_an_edge);
  g_test_add_func ("/study/graph/large-weights", test_large_weights_are_shifted);
  status = g_test_run ();
  g_unlink (path);
  g_rmdir (folder);
  g_free (path);
  g_free (folder);
  return status;
}
