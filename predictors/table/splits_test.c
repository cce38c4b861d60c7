/* splits_test.c - whole groups, their shares and their chances.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/table/samples.h"

#include <string.h>

/* 84 mappings with 6 message sizes each, the mappings in turns. */
enum { N_GROUPS = 84, N = 6 * N_GROUPS };

static void
fill_groups (uint32_t *group)
{
  for (uint32_t i = 0; i < N; i++)
    group[i] = i % N_GROUPS;
}

/* How many groups are in the test set; that each is on one side. */
static guint
count_test (const uint32_t *group, const bool *is_test, guint n, guint n_groups)
{
  g_autofree int *side = g_new (int, n_groups);
  guint count = 0;

  memset (side, -1, n_groups * sizeof *side);
  for (guint i = 0; i < n; i++) {
    g_assert_true (side[group[i]] == -1 || side[group[i]] == is_test[i]);
    count += side[group[i]] == -1 && is_test[i];
    side[group[i]] = is_test[i];
  }
  return count;
}

static guint
draw (uint32_t n_groups, double share)
{
  BaseRandom random = base_random_stream (1, n_groups);
  uint32_t group[100];
  bool is_test[100];

  for (uint32_t i = 0; i < n_groups; i++)
    group[i] = i;
  predict_split_draw (&random, group, n_groups, n_groups, share, is_test);
  return count_test (group, is_test, n_groups, n_groups);
}

/* SC13: 28 of 84 mappings are predicted. */
static void
test_shares (void)
{
  g_assert_cmpuint (draw (84, 1.0 / 3), ==, 28);
  g_assert_cmpuint (draw (85, 1.0 / 3), ==, 29);
  g_assert_cmpuint (draw (100, 0.07), ==, 7);
  g_assert_cmpuint (draw (100, 0.001), ==, 1);
  g_assert_cmpuint (draw (100, 0.999), ==, 99);
  g_assert_cmpuint (draw (2, 0.01), ==, 1);
  g_assert_cmpuint (draw (2, 0.99), ==, 1);
}

static void
test_groups_stay_whole (void)
{
  BaseRandom random = base_random_stream (7, 0);
  uint32_t group[N], fold[N], size[5] = { 0 };
  bool is_test[N];

  fill_groups (group);
  predict_split_draw (&random, group, N, N_GROUPS, 1.0 / 3, is_test);
  g_assert_cmpuint (count_test (group, is_test, N, N_GROUPS), ==, 28);
  predict_split_deal (&random, group, N, N_GROUPS, 5, fold);
  for (guint i = 0; i < N; i++) {
    g_assert_cmpuint (fold[i], ==, fold[group[i]]);
    size[fold[i]]++;
  }
  for (guint i = 0; i < 5; i++)
    g_assert_cmpuint (size[i], ==, 6 * (i < 4 ? 17 : 16));
}

/* Of 3,000 draws, a group is tested in 1,000 -+ 4 standard deviations of 25.8 (and none in the same
 * as another more often than the 332 that are expected -+ 5 of 17.2); the same of folds. */
static void
test_chances (void)
{
  BaseRandom random = base_random_stream (11, 0);
  uint32_t group[N], fold[N];
  guint drawn[N_GROUPS] = { 0 }, first[N_GROUPS] = { 0 }, with_next[N_GROUPS] = { 0 };
  bool is_test[N];

  fill_groups (group);
  for (guint repeat = 0; repeat < 3000; repeat++) {
    predict_split_draw (&random, group, N_GROUPS, N_GROUPS, 1.0 / 3, is_test);
    predict_split_deal (&random, group, N_GROUPS, N_GROUPS, 3, fold);
    for (guint i = 0; i < N_GROUPS; i++) {
      drawn[i] += is_test[i];
      with_next[i] += is_test[i] && is_test[(i + 1) % N_GROUPS];
      first[i] += fold[i] == 0;
    }
  }
  for (guint i = 0; i < N_GROUPS; i++) {
    g_assert_cmpfloat_with_epsilon (drawn[i], 1000, 4 * 25.8);
    g_assert_cmpfloat_with_epsilon (first[i], 1000, 4 * 25.8);
    g_assert_cmpfloat_with_epsilon (with_next[i], 3000 * 28.0 * 27 / (84 * 83), 5 * 17.2);
  }
}

static void
test_seeds (void)
{
  BaseRandom random = base_random_stream (3, 0), same = base_random_stream (3, 0);
  uint32_t group[N], fold[2][N];

  fill_groups (group);
  predict_split_deal (&random, group, N, N_GROUPS, 4, fold[0]);
  predict_split_deal (&same, group, N, N_GROUPS, 4, fold[1]);
  g_assert_cmpmem (fold[0], sizeof fold[0], fold[1], sizeof fold[1]);
  predict_split_deal (&random, group, N, N_GROUPS, 4, fold[1]);
  g_assert_cmpint (memcmp (fold[0], fold[1], sizeof fold[0]), !=, 0);
}

static void
test_groups_of_some (void)
{
  static const uint32_t group[] = { 0, 3, 1, 3, 2, 0 }, wanted[] = { 0, 1, 0, 2 };
  static const bool chosen[] = { false, true, true, true, false, true };
  uint32_t n_left;
  g_autofree uint32_t *left = predict_split_groups (group, chosen, 6, 4, &n_left);

  g_assert_cmpuint (n_left, ==, 3);
  g_assert_cmpmem (left, sizeof wanted, wanted, sizeof wanted);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/splits/shares", test_shares);
  g_test_add_func ("/predictors/splits/groups-stay-whole", test_groups_stay_whole);
  g_test_add_func ("/predictors/splits/chances", test_chances);
  g_test_add_func ("/predictors/splits/seeds", test_seeds);
  g_test_add_func ("/predictors/splits/groups-of-some", test_groups_of_some);
  return g_test_run ();
}
