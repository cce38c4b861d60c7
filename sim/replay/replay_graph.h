/* replay_graph.h - the operations of a graph that are in memory; private to sim/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   replay_graph.c       what begins, occupies processors and ends
 *   replay_graph_read.c  what comes after what, as it is read */
#pragma once

#include "sim/replay/graph_queue.h"
#include "sim/replay/replay_private.h"

enum {
  OPERATION_BLOCKED, /* what it must come after has not ended or begun */
  OPERATION_BEGUN,   /* waits for its processor, or for its message */
  OPERATION_TAKES,   /* a receive whose message is here */
  OPERATION_ENDED,
};

typedef struct {
  int64_t busy_ps;        /* what it costs its processor; of a receive once TAKES */
  uint32_t n_missing;     /* BLOCKED: what it still must come after */
  uint32_t first_waiting; /* edges to those that must come after this */
  uint32_t request;       /* of a message; TOPO_NONE */
  uint32_t transfer;      /* TAKES */
  uint32_t processor;     /* index into processors */
  uint8_t kind;           /* TraceOpKind */
  uint8_t state;
  bool started; /* those that wait for its begin know */
} SimGraphOperation;

typedef struct {
  SimGraphQueue ready;
  bool busy;
  bool called; /* a timer will look at `ready` */
} SimGraphProcessor;

typedef struct {
  uint32_t operation, next;
  bool start; /* waits for the begin only */
} SimGraphEdge;

typedef struct SimGraph {
  SimGraphOperation *operations; /* [capacity] number - base is the index */
  uint32_t base, n, capacity;
  uint32_t n_open;               /* that have not ended */
  uint32_t n_oldest;             /* of the first ones, that have */
  SimGraphProcessor *processors; /* [n_processors] in the order of their first operation */
  TraceMap processor_of;         /* the trace's number -> index */
  SimGraphQueue unblocked;       /* may begin now */
  uint32_t n_processors, n_busy, n_ready;
  int64_t idle_ps; /* since when nothing was busy */
  bool read_all;   /* the stream is over */
} SimGraph;

/* Edges of all ranks; the free ones are chained. */
typedef struct SimGraphEdgePool {
  SimGraphEdge *edges;
  uint32_t n, capacity, first_free;
} SimGraphEdgePool;

static inline SimGraphOperation *
sim_graph_operation (const SimGraph *graph, uint32_t number)
{
  return &graph->operations[number - graph->base];
}

/* Reads on, as far as replay_graph.c says. */
void sim_graph_read_ahead (SimReplay *replay, uint32_t rank);
