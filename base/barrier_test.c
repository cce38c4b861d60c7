/* barrier_test.c - no thread is ahead of another one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/barrier.h"

#define ROUNDS 3000

typedef struct {
  BaseBarrier barrier;
  uint32_t n_threads;
  uint32_t round[8]; /* [thread] not atomic: the barrier alone orders them */
} Race;

typedef struct {
  Race *race;
  uint32_t number;
} Runner;

/* Between two barriers all read what each wrote before the first. */
static gpointer
run (gpointer data)
{
  Runner *runner = data;
  Race *race = runner->race;

  for (uint32_t round = 1; round <= ROUNDS; round++) {
    race->round[runner->number] = round;
    base_barrier_wait (&race->barrier);
    for (uint32_t other = 0; other < race->n_threads; other++)
      g_assert_cmpuint (race->round[other], ==, round);
    /* The last one is late, so that the others sleep. */
    if (round % 500 == 0 && runner->number == race->n_threads - 1)
      g_usleep (5000);
    base_barrier_wait (&race->barrier);
  }
  return NULL;
}

static void
test_rounds (gconstpointer data)
{
  static Race race;
  Runner runners[8];
  GThread *threads[8];

  race = (Race){ .n_threads = GPOINTER_TO_UINT (data) };
  base_barrier_init (&race.barrier, race.n_threads);
  for (uint32_t number = 0; number < race.n_threads; number++) {
    runners[number] = (Runner){ &race, number };
    threads[number] = g_thread_new ("runner", run, &runners[number]);
  }
  for (uint32_t number = 0; number < race.n_threads; number++)
    g_thread_join (threads[number]);
  base_barrier_clear (&race.barrier);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/base/barrier/1", GUINT_TO_POINTER (1), test_rounds);
  g_test_add_data_func ("/base/barrier/2", GUINT_TO_POINTER (2), test_rounds);
  g_test_add_data_func ("/base/barrier/7", GUINT_TO_POINTER (7), test_rounds);
  return g_test_run ();
}
