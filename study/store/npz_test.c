/* npz_test.c - arrays for NumPy, read by NumPy itself.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/store/export.h"
#include "study/store/store_fixture.h"

#include <stdlib.h>
#include <string.h>

static char *folder, *path;

/* What the distribution's Python prints of the file. */
static char *
python (const char *program)
{
  const char *const arguments[] = { "/usr/bin/python3", "-c", program, path, NULL };
  char *out = NULL;
  int status;

  g_assert_true (g_spawn_sync (NULL, (char **) arguments, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out,
                               NULL, &status, NULL));
  g_assert_true (g_spawn_check_wait_status (status, NULL));
  return out;
}

static gboolean
has_numpy (void)
{
  const char *const arguments[] = { "/usr/bin/python3", "-c", "import numpy", NULL };
  int status;

  return g_spawn_sync (NULL, (char **) arguments, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                       NULL, NULL, &status, NULL) &&
         g_spawn_check_wait_status (status, NULL);
}

static void
write_arrays (uint64_t limit)
{
  static const double reals[] = { 0.5, -1e300, 3 };
  static const uint64_t integers[] = { 0, G_MAXUINT64 };
  /* The last ends within a character of two bytes. */
  static const char *const texts[] = { "a", NULL, "Zürich, \"b\"", "d\xc3" };
  const uint64_t shape[] = { 2, 3 };
  FILE *out = fopen (path, "wb");
  StudyNpz *npz = study_npz_new (out);

  study_npz_set_limit (npz, limit);
  study_npz_add_reals (npz, "reals", reals, 3);
  study_npz_add_integers (npz, "integers", integers, 2);
  study_npz_add_integers (npz, "none", NULL, 0);
  study_npz_add_texts (npz, "texts", texts, 4);
  study_npz_begin (npz, "grid", "<f8", shape, 2);
  for (int row = 0; row < 2; row++)
    study_npz_write (npz, reals, sizeof reals);
  study_npz_end (npz);
  study_npz_free (npz);
  g_assert_cmpint (fclose (out), ==, 0);
}

/* With small limits everything takes the 64-bit way. */
static void
test_arrays (void)
{
  static const uint64_t limits[] = { 0xfffffffe, 400, 0 };

  if (!has_numpy ()) {
    g_test_skip ("no NumPy for /usr/bin/python3");
    return;
  }
  for (gsize at = 0; at < G_N_ELEMENTS (limits); at++) {
    g_autofree char *seen = NULL;

    write_arrays (limits[at]);
    seen = python ("import numpy, sys, zipfile\n"
                   "assert zipfile.ZipFile(sys.argv[1]).testzip() is None\n"
                   "z = numpy.load(sys.argv[1])\n"
                   "for name in z: print(name, z[name].dtype, z[name].shape, "
                   "ascii(z[name].tolist()))\n");
    g_assert_cmpstr (seen, ==,
                     "reals float64 (3,) [0.5, -1e+300, 3.0]\n"
                     "integers uint64 (2,) [0, 18446744073709551615]\n"
                     "none uint64 (0,) []\n"
                     "texts <U11 (4,) ['a', '', 'Z\\xfcrich, \"b\"', 'd\\ufffd']\n"
                     "grid float64 (2, 3) [[0.5, -1e+300, 3.0], [0.5, -1e+300, 3.0]]\n");
  }
}

/* Runs of a store; the last of them is of a smaller machine and the second failed. */
static void
fill_store (StudyStore *store)
{
  g_autoptr (StudyRow) first = fixture_row (0), second = fixture_row (1), third = fixture_row (2);
  StudyRow *rows[] = { first, second, third };

  second->status = STUDY_FAILED;
  second->error = g_strdup ("no, \"never\"\n");
  g_clear_pointer (&second->link_bytes, g_bytes_unref);
  g_clear_pointer (&second->rank_times, g_bytes_unref);
  g_bytes_unref (third->link_bytes);
  third->links = 2;
  third->link_bytes = g_bytes_new ("\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16);
  g_assert_true (study_store_set_plan (store, "s", "", rows, 3, NULL));
  g_assert_true (fixture_put (store, rows, 3, NULL));
}

static void
test_store (void)
{
  g_autofree char *store_path = g_build_filename (folder, "s.store", NULL);
  g_autoptr (StudyStore) store = fixture_open (store_path, STUDY_STORE_CREATE);
  g_autofree char *seen = NULL;
  FILE *out;

  if (!has_numpy ()) {
    g_test_skip ("no NumPy for /usr/bin/python3");
    return;
  }
  fill_store (store);
  out = fopen (path, "wb");
  g_assert_true (study_export_npz (store, FALSE, out, NULL));
  fclose (out);
  seen = python ("import numpy, sys\n"
                 "z = numpy.load(sys.argv[1])\n"
                 "assert 'wall_s' not in z\n"
                 "print(z['key'].tolist(), z['status'].tolist(), z['time_s'].tolist())\n"
                 "print(z['seed'].tolist(), z['messages'].tolist(), z['error'].tolist())\n"
                 "f = z['feature_names'].tolist()\n"
                 "print(z['features'].shape, z['features'][2, f.index('max_bytes')])\n"
                 "print(z['link_bytes_40'].shape, z['link_bytes_40'][0, 39],\n"
                 "      z['link_bytes_40_runs'].tolist(), z['link_bytes_2'].tolist())\n"
                 "print(z['rank_times'].shape, z['rank_times'][1, 7, 2],\n"
                 "      z['rank_times_runs'].tolist())\n");
  g_assert_cmpstr (seen, ==,
                   "['" FIXTURE_KEY ("00") "', '" FIXTURE_KEY ("01") "', '" FIXTURE_KEY (
                       "02") "'] ['done', 'failed', 'done'] [0.1, "
                             "0.43333333333333335, 0.7666666666666666]\n"
                             "[0, 1, 2] [1000.0, nan, 1002.0] ['', 'no, \"never\"\\n', '']\n"
                             "(3, 31) 3.142857142857143\n"
                             "(1, 40) 1521 [0] [[1, 2]]\n"
                             "(2, 8, 3) 0.125 [0, 2]\n");
}

static char *
exported (StudyStore *store, StudyExportKind what, StudyExportForm form, gboolean timing)
{
  char *text = NULL, *copy;
  size_t length = 0;
  FILE *out = open_memstream (&text, &length);

  g_assert_true (study_export (store, what, form, timing, out, NULL));
  fclose (out);
  copy = g_strdup (text);
  free (text);
  return copy;
}

static void
assert_has (const char *text, const char *part)
{
  if (strstr (text, part) == NULL)
    g_error ("'%s' is not in '%s'", part, text);
}

static void
test_tables (void)
{
  g_autofree char *store_path = g_build_filename (folder, "s.store", NULL);
  g_autoptr (StudyStore) store = fixture_open (store_path, STUDY_STORE_CREATE);
  g_autofree char *csv = NULL, *timed = NULL, *lines = NULL, *array = NULL, *links = NULL,
                  *ranks = NULL, *empty = NULL;

  empty = exported (store, STUDY_EXPORT_RUNS, STUDY_EXPORT_JSON, FALSE);
  g_assert_cmpstr (empty, ==, "[]\n");
  fill_store (store);
  csv = exported (store, STUDY_EXPORT_RUNS, STUDY_EXPORT_CSV, FALSE);
  assert_has (csv, "key,trace,trace_hash,machine,machine_hash,mapping,");
  assert_has (csv, ",avg_FIFO_TO,warnings\n");
  assert_has (csv, "\n" FIXTURE_KEY (
                       "00") ",gen:halo2d," FIXTURE_TRACE ",bgq:32," FIXTURE_MACHINE ",map-0,cc"
                             "00000000000000000000000000000000000000000000000000000000000000"
                             ",packet,default,off,");
  assert_has (csv, ",failed,\"no, \"\"never\"\"\n\",");
  timed = exported (store, STUDY_EXPORT_RUNS, STUDY_EXPORT_CSV, TRUE);
  assert_has (timed, ",warnings,wall_s,peak_rss_bytes\n");
  assert_has (timed, ",0.25,1048576\n");
  lines = exported (store, STUDY_EXPORT_RUNS, STUDY_EXPORT_JSONL, FALSE);
  assert_has (lines, "{\"key\":\"" FIXTURE_KEY ("00") "\",\"trace\":\"gen:halo2d\",");
  assert_has (lines, "\"error\":null,\"time_s\":0.1,\"mean_end_s\":null,\"compute_s_avg\":null,");
  assert_has (lines, "\"error\":\"no, \\\"never\\\"\\u000a\"");
  array = exported (store, STUDY_EXPORT_RUNS, STUDY_EXPORT_JSON, FALSE);
  g_assert_cmpint (array[0], ==, '[');
  assert_has (array, "},\n{\"key\":\"" FIXTURE_KEY ("01") "\"");
  g_assert_true (g_str_has_suffix (array, "}\n]\n"));
  links = exported (store, STUDY_EXPORT_LINKS, STUDY_EXPORT_CSV, FALSE);
  assert_has (links, "run,key,link,bytes\n0," FIXTURE_KEY ("00") ",0,0\n0," FIXTURE_KEY (
                         "00") ",1,1\n0," FIXTURE_KEY ("00") ",2,4\n");
  g_assert_true (
      g_str_has_suffix (links, "\n2," FIXTURE_KEY ("02") ",0,1\n2," FIXTURE_KEY ("02") ",1,2\n"));
  ranks = exported (store, STUDY_EXPORT_RANKS, STUDY_EXPORT_JSONL, FALSE);
  assert_has (ranks, "{\"run\":0,\"key\":\"" FIXTURE_KEY (
                         "00") "\",\"rank\":1,\"end_s\":0.1,\"compute_s\":0.01,"
                               "\"wait_s\":0.5}\n");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, test) fixture_add_test (name, test, "a.npz", &folder, &path)
  ADD ("/npz/arrays", test_arrays);
  ADD ("/npz/store", test_store);
  ADD ("/npz/tables", test_tables);
  return g_test_run ();
}
