/* graph_queue.c - what waits for a processor of a graph.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/graph_queue.h"

#include <glib.h>

static bool
is_before (const SimGraphReady *one, const SimGraphReady *other)
{
  if (one->ready_ps != other->ready_ps)
    return one->ready_ps < other->ready_ps;
  return one->operation < other->operation;
}

void
sim_graph_queue_clear (SimGraphQueue *queue)
{
  g_free (queue->heap);
  *queue = (SimGraphQueue){ 0 };
}

void
sim_graph_queue_push (SimGraphQueue *queue, int64_t ready_ps, uint32_t operation)
{
  SimGraphReady ready = { ready_ps, operation };
  uint32_t at = queue->n++;

  if (queue->n > queue->capacity) {
    queue->capacity = MAX (4u, 2 * queue->capacity);
    queue->heap = g_renew (SimGraphReady, queue->heap, queue->capacity);
  }
  while (at > 0 && is_before (&ready, &queue->heap[(at - 1) / 2])) {
    queue->heap[at] = queue->heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  queue->heap[at] = ready;
}

uint32_t
sim_graph_queue_pop (SimGraphQueue *queue)
{
  uint32_t first = queue->heap[0].operation, at = 0, child;
  SimGraphReady last = queue->heap[--queue->n];

  while ((child = 2 * at + 1) < queue->n) {
    child += child + 1 < queue->n && is_before (&queue->heap[child + 1], &queue->heap[child]);
    if (!is_before (&queue->heap[child], &last))
      break;
    queue->heap[at] = queue->heap[child];
    at = child;
  }
  queue->heap[at] = last;
  return first;
}
