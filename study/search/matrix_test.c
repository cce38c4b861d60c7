/* matrix_test.c - communication matrices, good and bad.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/study_error.h"
#include "study/search/matrix.h"

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
    g_autofree char *text = rewritten (cases[i][0]);

    g_assert_cmpstr (text, ==, cases[i][1]);
  }
}

static void
test_bad_files_name_the_line (void)
{
  static const char *const cases[][2] = {
    { "", "empty" },
    { "# nothing\n", "empty" },
    { "src,dst,bytes\n0,1,x\n", ":2: 'x'" },
    { "src,dst,bytes\n0,-1,4\n", ":2: '-1'" },
    { "src,dst,bytes\n0,1,4\n0,1\n", ":3: 2 columns, expected 3" },
    { "src,dst,bytes\n99999999999,1,4\n", ":2: '99999999999'" },
    { "0 1\n2 3 4\n", ":2: 3 columns, expected 2" },
    { "1.5 1\n2 3\n", ":1: '1.5'" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;

    g_assert_null (loaded (cases[i][0], &error));
    g_assert_error (error, STUDY_ERROR, STUDY_ERROR_INPUT);
    g_assert_nonnull (strstr (error->message, cases[i][1]));
    g_assert_true (g_str_has_prefix (error->message, path));
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

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("hopcast-matrix-XXXXXX", NULL);
  path = g_build_filename (folder, "matrix.csv", NULL);
  g_test_add_func ("/study/matrix/forms", test_forms);
  g_test_add_func ("/study/matrix/bad-files", test_bad_files_name_the_line);
  g_test_add_func ("/study/matrix/probe", test_probe_tells_matrices_from_traces);
  status = g_test_run ();
  g_unlink (path);
  g_rmdir (folder);
  g_free (path);
  g_free (folder);
  return status;
}
