/* flow_queue.c - what the flow network has to do, by time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "sim/net/flow_queue.h"

#include <glib.h>
#include <stdbool.h>

static bool
event_before (const FlowEvent *a, const FlowEvent *b)
{
  return a->at_ps != b->at_ps ? a->at_ps < b->at_ps : a->serial < b->serial;
}

void
sim_flow_queue_push (FlowQueue *queue, FlowEvent event)
{
  uint32_t hole = queue->n++;

  if (queue->n > queue->capacity) {
    queue->capacity = MAX (64, 2 * queue->capacity);
    queue->events = g_renew (FlowEvent, queue->events, queue->capacity);
  }
  event.serial = queue->next_serial++;
  while (hole > 0 && event_before (&event, &queue->events[(hole - 1) / 2])) {
    queue->events[hole] = queue->events[(hole - 1) / 2];
    hole = (hole - 1) / 2;
  }
  queue->events[hole] = event;
}

FlowEvent
sim_flow_queue_pop (FlowQueue *queue)
{
  FlowEvent first = queue->events[0];
  FlowEvent last = queue->events[--queue->n];
  uint32_t hole = 0, child;

  while ((child = 2 * hole + 1) < queue->n) {
    if (child + 1 < queue->n && event_before (&queue->events[child + 1], &queue->events[child]))
      child++;
    if (!event_before (&queue->events[child], &last))
      break;
    queue->events[hole] = queue->events[child];
    hole = child;
  }
  queue->events[hole] = last;
  return first;
}
