/* barrier.h - threads wait for each other, many thousand times a second.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct {
  uint32_t n_threads, n_spins;
  /* Each on a cache line: those who wait read `round` only. */
  _Alignas(64) uint32_t n_arrived;
  _Alignas(64) uint32_t round;
  _Alignas(64) GMutex mutex;
  GCond next_round;
} BaseBarrier;

/* Zeroed memory becomes a barrier of so many threads. */
void base_barrier_init (BaseBarrier *barrier, uint32_t n_threads);
void base_barrier_clear (BaseBarrier *barrier);

/* Returns when all threads have called it.  What they wrote before, all see then. */
void base_barrier_wait (BaseBarrier *barrier);
