/* flow_queue.h - what the flow network has to do, by time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

typedef enum {
  FLOW_EVENT_TIMER,
  FLOW_EVENT_POST, /* fabrics: a work request reaches its adapter */
  FLOW_EVENT_START,
  FLOW_EVENT_DELIVER,
  FLOW_EVENT_SENT,
} FlowEventKind;

typedef struct {
  int64_t at_ps;
  uint64_t serial; /* order of creation, to break ties */
  uint64_t cookie; /* TIMER: the client's */
  uint32_t target; /* TIMER: rank; else the slot of the message */
  uint32_t kind;   /* FlowEventKind */
} FlowEvent;

/* A binary heap by (time, serial); all zero is empty.  The owner frees events. */
typedef struct {
  FlowEvent *events; /* the first is the next */
  uint32_t n, capacity;
  uint64_t next_serial;
} FlowQueue;

void sim_flow_queue_push (FlowQueue *queue, FlowEvent event);

/* The queue must not be empty. */
FlowEvent sim_flow_queue_pop (FlowQueue *queue);
