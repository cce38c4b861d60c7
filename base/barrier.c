/* barrier.c - spin first, then sleep.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/barrier.h"

#include <sched.h>

/* Looks at the round before a thread gives way to others, for a few microseconds; and how often it
 * gives way before it sleeps, from which it takes long to wake.  With more threads than processors
 * one that looks again and again keeps others from coming. */
#define SPINS  512u
#define YIELDS 200u

static inline void
pause_a_little (void)
{
#if defined __x86_64__ || defined __i386__
  __builtin_ia32_pause ();
#elif defined __aarch64__
  __asm__ volatile("yield");
#endif
}

void
base_barrier_init (BaseBarrier *barrier, uint32_t n_threads)
{
  barrier->n_threads = n_threads;
  barrier->n_spins = n_threads <= g_get_num_processors () ? SPINS : 0;
  g_mutex_init (&barrier->mutex);
  g_cond_init (&barrier->next_round);
}

void
base_barrier_clear (BaseBarrier *barrier)
{
  g_mutex_clear (&barrier->mutex);
  g_cond_clear (&barrier->next_round);
}

static inline uint32_t
round_of (const BaseBarrier *barrier)
{
  return __atomic_load_n (&barrier->round, __ATOMIC_ACQUIRE);
}

void
base_barrier_wait (BaseBarrier *barrier)
{
  uint32_t round = round_of (barrier);

  if (__atomic_add_fetch (&barrier->n_arrived, 1, __ATOMIC_ACQ_REL) == barrier->n_threads) {
    __atomic_store_n (&barrier->n_arrived, 0, __ATOMIC_RELAXED);
    g_mutex_lock (&barrier->mutex);
    __atomic_store_n (&barrier->round, round + 1, __ATOMIC_RELEASE);
    g_cond_broadcast (&barrier->next_round);
    g_mutex_unlock (&barrier->mutex);
    return;
  }
  for (uint32_t spin = 0; spin < barrier->n_spins + YIELDS; spin++) {
    if (round_of (barrier) != round)
      return;
    if (spin < barrier->n_spins)
      pause_a_little ();
    else
      sched_yield ();
  }
  g_mutex_lock (&barrier->mutex);
  while (round_of (barrier) == round)
    g_cond_wait (&barrier->next_round, &barrier->mutex);
  g_mutex_unlock (&barrier->mutex);
}
