/* random_test.c - the numbers are those of SplitMix64, within their ranges.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"

#include <glib.h>

/* The numbers of seed 1234567, as published for java.util.SplittableRandom's generator. */
static void
test_numbers (void)
{
  static const uint64_t numbers[] = {
    UINT64_C (6457827717110365317), UINT64_C (3203168211198807973), UINT64_C (9817491932198370423),
    UINT64_C (4593380528125082431), UINT64_C (16408922859458223821)
  };
  BaseRandom random = { 1234567 };

  g_assert_cmpuint (base_random_mix (1234567), ==, numbers[0]);
  for (gsize at = 0; at < G_N_ELEMENTS (numbers); at++)
    g_assert_cmpuint (base_random_next (&random), ==, numbers[at]);
}

/* Streams of neighbouring seeds and numbers have no number in common, though states a step apart have. */
static void
test_streams_differ (void)
{
  enum { N = 8 };
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  for (uint64_t seed = 0; seed < N; seed++)
    for (uint64_t number = 0; number < N; number++) {
      BaseRandom streams[] = { base_random_stream (seed, number),
                               base_random_stream_added (seed, number) };

      /* Number 0 is the same stream in both. */
      for (guint way = 0; way < (number == 0 ? 1 : 2); way++)
        for (guint draw = 0; draw < N; draw++) {
          uint64_t drawn = base_random_next (&streams[way]);

          g_assert_true (g_hash_table_add (known, g_memdup2 (&drawn, sizeof drawn)));
        }
    }
}

/* Each number below n comes up about equally often, and nothing else. */
static void
test_ranges (void)
{
  enum { N = 7, DRAWS = 7000 };
  guint counts[3][N] = { 0 };
  BaseRandom random = { 1 };

  for (guint draw = 0; draw < DRAWS; draw++) {
    uint64_t drawn[] = { base_random_below (&random, N), base_random_below_32 (&random, N),
                         base_random_below_exact (&random, N) };
    double unit = base_random_unit (&random);

    g_assert_true (unit >= 0 && unit < 1);
    for (guint way = 0; way < 3; way++) {
      g_assert_cmpuint (drawn[way], <, N);
      counts[way][drawn[way]]++;
    }
  }
  for (guint way = 0; way < 3; way++)
    for (guint value = 0; value < N; value++)
      g_assert_cmpint (ABS ((int) counts[way][value] - DRAWS / N), <, 150); /* five sigma */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/random/numbers", test_numbers);
  g_test_add_func ("/base/random/streams-differ", test_streams_differ);
  g_test_add_func ("/base/random/ranges", test_ranges);
  return g_test_run ();
}
