/* pattern_grid_test.c - grids of ranks, and random permutations of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/patterns/pattern_grid.h"
#include "traces/patterns/pattern_grid.h"

/* What MPI_Dims_create of Open MPI 4.1.4 answers.  Of all numbers up to 4,096
 * in two and three dimensions ours is the same for 8,048 and more even for
 * the 144 others, of which 72 is the first: there Open MPI says 12 x 6. */
static void
test_balance_is_that_of_mpi (void)
{
  static const struct {
    int64_t n;
    guint n_dims;
    int64_t dims[3];
  } cases[] = {
    { 1, 2, { 1, 1 } },          { 7, 2, { 7, 1 } },         { 6, 2, { 3, 2 } },
    { 512, 2, { 32, 16 } },      { 1000, 2, { 40, 25 } },    { 4096, 2, { 64, 64 } },
    { 12, 3, { 3, 2, 2 } },      { 60, 3, { 5, 4, 3 } },     { 512, 3, { 8, 8, 8 } },
    { 1000, 3, { 10, 10, 10 } }, { 2048, 3, { 16, 16, 8 } }, { 4093, 3, { 4093, 1, 1 } },
    { 72, 2, { 9, 8 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    int64_t dims[3] = { 0, 0, 0 };

    pattern_grid_balance (cases[i].n, cases[i].n_dims, dims);
    g_assert_cmpmem (dims, sizeof dims, cases[i].dims, sizeof cases[i].dims);
  }
}

/* No other way to split has a smaller first dimension, nor the same one and
 * a smaller second. */
static void
test_balance_is_the_most_even (void)
{
  for (int64_t n = 1; n <= 400; n++) {
    int64_t dims[3];

    pattern_grid_balance (n, 3, dims);
    g_assert_cmpint (dims[0] * dims[1] * dims[2], ==, n);
    g_assert_true (dims[0] >= dims[1] && dims[1] >= dims[2]);
    for (int64_t a = 1; a <= n; a++)
      for (int64_t b = 1; n % a == 0 && b <= a; b++)
        if (n / a % b == 0 && n / a / b <= b)
          g_assert_true (a > dims[0] || (a == dims[0] && b >= dims[1]));
  }
}

static void
test_last_dimension_runs_fastest (void)
{
  const PatternGrid grid = { { 4, 3, 5 }, 3, TRUE };
  int32_t place[3];

  pattern_grid_place (&grid, 2 * 15 + 1 * 5 + 3, place);
  g_assert_cmpint (place[0], ==, 2);
  g_assert_cmpint (place[1], ==, 1);
  g_assert_cmpint (place[2], ==, 3);
  g_assert_cmpint (pattern_grid_neighbour (&grid, place, (int[3]){ 0, 0, 1 }), ==, 39);
  g_assert_cmpint (pattern_grid_neighbour (&grid, place, (int[3]){ 2, 0, 0 }), ==, 8);
  g_assert_cmpint (pattern_grid_neighbour (&grid, place, (int[3]){ -1, -1, 2 }), ==, 15);
}

static void
test_edges (void)
{
  const PatternGrid open = { { 3, 2 }, 2, FALSE };
  const int32_t corner[3] = { 2, 1, 0 };

  g_assert_cmpint (pattern_grid_neighbour (&open, corner, (int[3]){ 1, 0, 0 }), ==,
                   TRACE_PROC_NULL);
  g_assert_cmpint (pattern_grid_neighbour (&open, corner, (int[3]){ -1, 1, 0 }), ==,
                   TRACE_PROC_NULL);
  g_assert_cmpint (pattern_grid_neighbour (&open, corner, (int[3]){ -1, -1, 0 }), ==, 2);
}

/* Of every size, all numbers are hit once, and the way back is right. */
static void
test_shuffle_is_a_permutation (void)
{
  for (uint32_t n = 1; n <= 300; n++) {
    g_autofree gboolean *hit = g_new0 (gboolean, n);
    uint64_t key = pattern_shuffle_key (42, n, 0);

    for (uint32_t x = 0; x < n; x++) {
      uint32_t y = pattern_shuffle (key, n, x);

      g_assert_cmpuint (y, <, n);
      g_assert_false (hit[y]);
      hit[y] = TRUE;
      g_assert_cmpuint (pattern_unshuffle (key, n, y), ==, x);
    }
  }
}

/* Over many keys, 5 of 11 goes to each place about as often: the deviations
 * are within what chi square with 10 degrees of freedom exceeds once in a
 * million times (45.1). */
static void
test_shuffle_is_uniform (void)
{
  enum { N = 11, KEYS = 11000 };
  double chi_square = 0;
  guint hits[N] = { 0 };

  for (uint64_t number = 0; number < KEYS; number++)
    hits[pattern_shuffle (pattern_shuffle_key (7, 3, number), N, 5)]++;
  for (guint y = 0; y < N; y++)
    chi_square += ((double) hits[y] - KEYS / N) * ((double) hits[y] - KEYS / N) / (KEYS / N);
  g_assert_cmpfloat (chi_square, <, 45.1);
}

/* Seed, round and number all matter. */
static void
test_keys_differ (void)
{
  uint64_t key = pattern_shuffle_key (1, 2, 3);

  g_assert_cmpuint (key, ==, pattern_shuffle_key (1, 2, 3));
  g_assert_cmpuint (key, !=, pattern_shuffle_key (2, 2, 3));
  g_assert_cmpuint (key, !=, pattern_shuffle_key (1, 3, 3));
  g_assert_cmpuint (key, !=, pattern_shuffle_key (1, 2, 4));
  g_assert_cmpuint (key, !=, pattern_shuffle_key (1, 3, 2));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/pattern-grid/mpi", test_balance_is_that_of_mpi);
  g_test_add_func ("/traces/pattern-grid/most-even", test_balance_is_the_most_even);
  g_test_add_func ("/traces/pattern-grid/order", test_last_dimension_runs_fastest);
  g_test_add_func ("/traces/pattern-grid/edges", test_edges);
  g_test_add_func ("/traces/pattern-shuffle/permutation", test_shuffle_is_a_permutation);
  g_test_add_func ("/traces/pattern-shuffle/uniform", test_shuffle_is_uniform);
  g_test_add_func ("/traces/pattern-shuffle/keys", test_keys_differ);
  return g_test_run ();
}
