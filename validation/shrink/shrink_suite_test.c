/* shrink_suite_test.c - cells and limits from runs that are made up; a file of runs that was cut off.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/shrink/shrink.h"
#include "validation/suite.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static const char heading[] = "case,mapping,run,end_s,mean_end_s,message_error,message_p95,waits_s,"
                              "max_bytes,avg_bytes,links_off,packet_hops,cpu_s\n";
/* Of the case "halo3d 64K", which has the factors 2 and 4. */
static const char lines[] = "\"halo3d 64K\",0,exact,2,1,0,0,10,100,50,0,4000,8\n"
                            "\"halo3d 64K\",0,replica,2.2,1.1,.08,.2,11,100,50,0,4000,8\n"
                            "\"halo3d 64K\",0,2,1.9,.9,.05,.1,9,100,50,0,2000,4\n"
                            "\"halo3d 64K\",0,4,1.8,.8,.2,.3,8,100,50,3,1000,2\n";

static char *
write_file (const char *text)
{
  g_autofree char *folder = g_dir_make_tmp ("shrink-XXXXXX", NULL);
  char *path = g_build_filename (folder, "runs.csv", NULL);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  return path;
}

static void
remove_file (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);

  g_unlink (path);
  g_rmdir (folder);
}

/* Nothing is left to be made of that one case. */
static const char *const only[] = { "halo3d 64K", NULL };

static void
test_cells (void)
{
  g_autofree char *text = g_strconcat (heading, lines, NULL);
  g_autofree char *path = write_file (text);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) runs = shrink_runs (path, only, 1, NULL, NULL, &error);
  g_autoptr (GArray) cells = NULL;
  const ShrinkCell *cell;

  g_assert_no_error (error);
  g_assert_cmpuint (runs->len, ==, 4);
  cells = shrink_cells (runs);
  g_assert_cmpuint (cells->len, ==, 2);
  cell = &g_array_index (cells, ShrinkCell, 1);
  g_assert_cmpstr (cell->experiment, ==, "halo3d 64K");
  g_assert_cmpuint (cell->factor, ==, 4);
  g_assert_false (cell->is_auto || cell->is_screen); /* 128 packets */
  g_assert_cmpfloat_with_epsilon (cell->end, -.1, 1e-12);
  g_assert_cmpfloat_with_epsilon (cell->mean_end, -.2, 1e-12);
  g_assert_cmpfloat_with_epsilon (cell->message_error, .2, 1e-12);
  g_assert_cmpfloat_with_epsilon (cell->waits, -.2, 1e-12);
  g_assert_cmpfloat_with_epsilon (cell->times_faster, 4, 1e-12);
  g_assert_cmpfloat_with_epsilon (cell->floor_end, .1, 1e-12);
  g_assert_cmpfloat_with_epsilon (cell->floor_message_error, .08, 1e-12);
  g_assert_cmpfloat (cell->links_off, ==, 3);
  g_assert_true (isnan (cell->order_end)); /* of one mapping */
  remove_file (path);
}

/* A file that another process has just made. */
static void
test_heading_alone (void)
{
  static const char *const nothing[] = { "no such case", NULL };
  g_autofree char *path = write_file (heading);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) runs = shrink_runs (path, nothing, 1, NULL, NULL, &error);
  g_autoptr (GArray) cells = NULL;

  g_assert_no_error (error);
  g_assert_cmpuint (runs->len, ==, 0);
  cells = shrink_cells (runs);
  g_assert_cmpuint (cells->len, ==, 0);
  remove_file (path);
}

/* A case whose last line is missing is made again, and its new lines are added. */
static void
test_cut_off (void)
{
  g_autofree char *text =
      g_strconcat (heading, "\"uniform 64K\",0,exact,2,1,0,0,10,100,50,0,4000,8\n\"unifo", NULL);
  static const char *const uniform[] = { "uniform 64K", NULL };
  g_autofree char *path = write_file (text);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) runs = shrink_runs (path, uniform, 2, NULL, NULL, &error);
  g_autoptr (GPtrArray) again = NULL;
  g_autoptr (GArray) cells = NULL;

  g_assert_no_error (error);
  /* exact, replica and three factors, behind the line that was there. */
  g_assert_cmpuint (runs->len, ==, 6);
  cells = shrink_cells (runs);
  g_assert_cmpuint (cells->len, ==, 3);
  for (guint i = 0; i < cells->len; i++)
    g_assert_cmpfloat (g_array_index (cells, ShrinkCell, i).links_off, ==, 0);
  again = shrink_runs (path, uniform, 2, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (again->len, ==, 6);
  remove_file (path);
}

static void
test_bad_files (void)
{
  static const char *const texts[] = { "case,mapping\nx,1\n", "a,b\n1,2\n" };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autofree char *path = write_file (texts[i]);
    g_autoptr (GError) error = NULL;

    g_assert_null (shrink_runs (path, only, 1, NULL, NULL, &error));
    g_assert_nonnull (error);
    remove_file (path);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/validation/shrink/cells", test_cells);
  g_test_add_func ("/validation/shrink/heading-alone", test_heading_alone);
  g_test_add_func ("/validation/shrink/cut-off", test_cut_off);
  g_test_add_func ("/validation/shrink/bad-files", test_bad_files);
  return g_test_run ();
}
