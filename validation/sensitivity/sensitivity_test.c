/* sensitivity_test.c - shares of intervals and pairs that hold, from stores that are made up.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/store/store.h"
#include "validation/suite.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define N_REPLICAS 24u

/* A done run of a mapping; replica by replica 1, 2, 3, 2 ... is added to its time. */
static void
add_row (GPtrArray *rows, guint mapping, guint replica, double time_s)
{
  StudyRow *row = study_row_new ();

  row->key = g_strdup_printf ("%062u%02u", mapping, replica);
  row->trace = g_strdup ("gen:ring:ranks=4");
  row->machine = g_strdup ("torus:2x2");
  row->mapping = g_strdup_printf ("m%u.map", mapping);
  row->network = g_strdup ("packet");
  row->routing = g_strdup ("default");
  row->shrink = g_strdup ("off");
  row->version = g_strdup (PACKAGE_VERSION);
  row->ranks = row->nodes = 4;
  row->ranks_per_node = 1;
  row->compute_scale = 1;
  row->seed = row->replica = replica;
  row->jitter_s = 1e-6;
  row->status = STUDY_DONE;
  row->time_s = row->mean_end_s = time_s;
  row->packet_hops = 1000;
  g_ptr_array_add (rows, row);
}

/* A store of n mappings; further_s: what mapping m's replicas behind the fourth take longer. */
static char *
write_store (guint n, const double *further_s)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);
  g_autofree char *folder = g_dir_make_tmp ("sensitivity-XXXXXX", NULL);
  char *path = g_build_filename (folder, "a.store", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (StudyStore) store = study_store_open (path, STUDY_STORE_CREATE, &error);
  g_autoptr (StudyStoreGroup) group = study_store_group_new ();

  g_assert_no_error (error);
  for (guint mapping = 0; mapping < n; mapping++)
    for (guint replica = 0; replica < N_REPLICAS; replica++)
      add_row (rows, mapping, replica,
               100 + 10 * mapping + (replica + mapping) % 3 +
                   (replica < 4 ? 0 : further_s[mapping]));
  study_store_set_plan (store, "a", "", (StudyRow **) rows->pdata, rows->len, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < rows->len; i++)
    g_ptr_array_add (group->rows, rows->pdata[i]);
  study_store_put_group (store, group, &error);
  g_assert_no_error (error);
  g_ptr_array_set_free_func (rows, NULL); /* the group has freed them */
  return path;
}

static void
remove_store (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);

  g_unlink (path);
  g_rmdir (folder);
}

static void
report (void *data, const ValidationResult *result)
{
  g_hash_table_insert (data, g_strdup (result->published->name),
                       g_memdup2 (&result->simulated, sizeof result->simulated));
}

static GHashTable *
measure (const char *path)
{
  const char *const stores[] = { path, NULL };
  const ValidationSuite *const suites[] = { &validation_sensitivity, NULL };
  GHashTable *figures = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  const ValidationWatch watch = { .report = report, .data = figures, .stores = stores };
  g_autoptr (GError) error = NULL;

  validation_run (suites, NULL, &watch, &error);
  g_assert_no_error (error);
  return figures;
}

static void
assert_figure (GHashTable *figures, const char *name, double expected)
{
  const double *value = g_hash_table_lookup (figures, name);

  g_assert_nonnull (value);
  if (isnan (expected))
    g_assert_true (isnan (*value));
  else
    g_assert_cmpfloat_with_epsilon (*value, expected, 1e-9);
}

/* Of five mappings one ends later in its further replicas. */
static void
test_intervals (void)
{
  static const double further_s[5] = { 0, 0, 9, 0, 0 };
  g_autofree char *path = write_store (5, further_s);
  g_autoptr (GHashTable) figures = measure (path);

  assert_figure (figures, "intervals_hold", 80);
  assert_figure (figures, "intervals_hold_mean_end", 80);
  assert_figure (figures, "ranking_wrong", (double) NAN);
  remove_store (path);
}

/* Of twelve mappings the third changes places with the two behind it: two of 66 pairs. */
static void
test_ranking (void)
{
  static const double further_s[12] = { 0, 0, 25, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
  g_autofree char *path = write_store (12, further_s);
  g_autoptr (GHashTable) figures = measure (path);

  assert_figure (figures, "ranking_wrong", 100.0 * 2 / 66);
  assert_figure (figures, "ranking_told_apart", 100);
  assert_figure (figures, "intervals_hold", (double) NAN);
  remove_store (path);
}

/* Of twelve mappings, too few to screen, the first is 10 % faster than the second and has less than
 * 2 % of noise: twelve first runs and the second ones of eight, of 48. */
static void
test_races (void)
{
  static const double further_s[12] = { 0 };
  g_autofree char *path = write_store (12, further_s);
  g_autoptr (GHashTable) figures = measure (path);

  assert_figure (figures, "races_best", 20);
  assert_figure (figures, "races_within_noise", 20);
  assert_figure (figures, "races_behind", 0);
  assert_figure (figures, "races_cost", 100.0 * 20 / 48);
  assert_figure (figures, "races_cost_of_one", 100.0 * 20 / 48);
  remove_store (path);
}

/* Few mappings are no race. */
static void
test_no_races (void)
{
  static const double further_s[5] = { 0 };
  g_autofree char *path = write_store (5, further_s);
  g_autoptr (GHashTable) figures = measure (path);

  assert_figure (figures, "races_best", (double) NAN);
  remove_store (path);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/validation/sensitivity/intervals", test_intervals);
  g_test_add_func ("/validation/sensitivity/ranking", test_ranking);
  g_test_add_func ("/validation/sensitivity/races", test_races);
  g_test_add_func ("/validation/sensitivity/no-races", test_no_races);
  return g_test_run ();
}
