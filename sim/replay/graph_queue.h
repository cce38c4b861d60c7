/* graph_queue.h - what waits for a processor of a graph; private to sim/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A heap by (time at which it became ready, number of the operation). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  int64_t ready_ps;
  uint32_t operation;
} SimGraphReady;

typedef struct {
  SimGraphReady *heap; /* [capacity] */
  uint32_t n, capacity;
} SimGraphQueue;

void sim_graph_queue_clear (SimGraphQueue *queue);
void sim_graph_queue_push (SimGraphQueue *queue, int64_t ready_ps, uint32_t operation);
/* The first one, taken out; n > 0. */
uint32_t sim_graph_queue_pop (SimGraphQueue *queue);
