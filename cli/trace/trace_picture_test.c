/* trace_picture_test.c - drawings of small traces, line by line.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/trace_picture.h"

#include <string.h>

static void
test_classes_of_sizes (void)
{
  CliSizes sizes = { 0 };

  cli_sizes_add (&sizes, 0);
  cli_sizes_add (&sizes, 1);
  cli_sizes_add (&sizes, 1023);
  cli_sizes_add (&sizes, 1024);
  cli_sizes_add (&sizes, UINT64_MAX);
  g_assert_cmpuint (sizes.messages[0], ==, 1);
  g_assert_cmpuint (sizes.messages[1], ==, 1);
  g_assert_cmpuint (sizes.messages[10], ==, 1);
  g_assert_cmpuint (sizes.messages[11], ==, 1);
  g_assert_cmpuint (sizes.bytes[11], ==, 1024);
  g_assert_cmpuint (sizes.messages[64], ==, 1);
}

/* Asserts that the drawing of either has this text; NULL: that it is empty. */
static void
assert_drawn (const CliSizes *sizes, const StudyMatrix *matrix, const char *expected)
{
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream (&text, &length);

  if (sizes != NULL)
    cli_draw_sizes (out, sizes);
  else
    cli_draw_matrix (out, matrix);
  fclose (out);
  g_test_message ("%s", text);
  if (expected != NULL)
    g_assert_nonnull (strstr (text, expected));
  else
    g_assert_cmpstr (text, ==, "");
  free (text);
}

static void
test_sizes_are_drawn (void)
{
  CliSizes sizes = { 0 };

  assert_drawn (&sizes, NULL, NULL);
  for (int i = 0; i < 64; i++)
    cli_sizes_add (&sizes, 2048);
  cli_sizes_add (&sizes, 8);
  assert_drawn (&sizes, NULL,
                "   2 KiB           64     131 kB  ################################\n");
  assert_drawn (&sizes, NULL, "     8 B            1        8 B  #\n");
}

static void
test_partners (void)
{
  g_autoptr (StudyMatrix) matrix = study_matrix_new (4);
  CliPartners partners;

  study_matrix_add (matrix, 0, 1, 1, 10);
  study_matrix_add (matrix, 0, 2, 5, 10);
  study_matrix_add (matrix, 0, 0, 1, 10);
  study_matrix_add (matrix, 3, 0, 1, 10);
  partners = cli_partners (matrix);
  g_assert_cmpuint (partners.pairs, ==, 3);
  g_assert_cmpuint (partners.min, ==, 0);
  g_assert_cmpuint (partners.max, ==, 2);
  g_assert_cmpfloat (partners.average, ==, 0.75);
}

/* Every shade is a quarter of the one before; a message without bytes shows.  100 ranks are drawn in
 * 32 blocks, each named by its first rank. */
static void
test_matrix_is_drawn (void)
{
  g_autoptr (StudyMatrix) small = study_matrix_new (3);
  g_autoptr (StudyMatrix) large = study_matrix_new (100);

  assert_drawn (NULL, small, NULL);
  study_matrix_add (small, 0, 1, 1, 1600);
  study_matrix_add (small, 1, 2, 1, 200);
  study_matrix_add (small, 2, 0, 1, 0);
  assert_drawn (NULL, small, "        0 | @ |\n        1 |  #|\n        2 |-  |\n");
  assert_drawn (NULL, small, "3 pairs; a rank sends to 1 .. 1 others, 1.0 on average\n");
  study_matrix_add (large, 99, 0, 1, 10);
  assert_drawn (NULL, large, "        4 |");
  assert_drawn (NULL, large, "       97 |@                               |\n");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/trace-picture/classes", test_classes_of_sizes);
  g_test_add_func ("/cli/trace-picture/sizes", test_sizes_are_drawn);
  g_test_add_func ("/cli/trace-picture/partners", test_partners);
  g_test_add_func ("/cli/trace-picture/matrix", test_matrix_is_drawn);
  return g_test_run ();
}
