/* replay_graph_read.c - the operations of a graph, as they are read.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An operation is kept, with the edges to those that wait for it, until it and
 * all before it have ended. */
#include "sim/replay/replay_graph.h"

#include <string.h>

/* Operations of 32 bytes, and the requests of 48 of those that are messages:
 * up to 1.25 MiB per rank. */
#define LOOK_AHEAD (16u * 1024)

void
sim_graph_init (SimReplay *replay)
{
  SimGraphEdgePool *pool;

  if (!trace_is_graph (replay->trace))
    return;
  replay->graphs = g_new0 (SimGraph, replay->n_ranks);
  replay->graph_edges = pool = g_new0 (SimGraphEdgePool, 1);
  pool->first_free = TOPO_NONE;
}

void
sim_graph_free (SimReplay *replay)
{
  for (uint32_t rank = 0; replay->graphs != NULL && rank < replay->n_ranks; rank++) {
    SimGraph *graph = &replay->graphs[rank];

    for (uint32_t processor = 0; processor < graph->n_processors; processor++)
      sim_graph_queue_clear (&graph->processors[processor].ready);
    sim_graph_queue_clear (&graph->unblocked);
    trace_map_clear (&graph->processor_of);
    g_free (graph->processors);
    g_free (graph->operations);
  }
  if (replay->graph_edges != NULL)
    g_free (replay->graph_edges->edges);
  g_free (replay->graph_edges);
  g_free (replay->graphs);
}

static void
edge_add (SimGraphEdgePool *pool, SimGraphOperation *from, uint32_t to, bool start)
{
  uint32_t edge = pool->first_free;

  if (edge != TOPO_NONE)
    pool->first_free = pool->edges[edge].next;
  else {
    if (pool->n == pool->capacity) {
      pool->capacity = MAX (256u, 2 * pool->capacity);
      pool->edges = g_renew (SimGraphEdge, pool->edges, pool->capacity);
    }
    edge = pool->n++;
  }
  pool->edges[edge] = (SimGraphEdge){ to, from->first_waiting, start };
  from->first_waiting = edge;
}

static uint32_t
processor_index (SimGraph *graph, uint32_t number)
{
  /* The largest number, which no map can hold, shares one with that below. */
  TraceMapEntry *entry =
      trace_map_add (&graph->processor_of, MIN (number, UINT32_MAX - 1), TOPO_NONE);

  if (entry->value[0] == TOPO_NONE) {
    entry->value[0] = graph->n_processors++;
    graph->processors = g_renew (SimGraphProcessor, graph->processors, graph->n_processors);
    graph->processors[entry->value[0]] = (SimGraphProcessor){ .busy = false };
  }
  return entry->value[0];
}

/* Room for one more at the end. */
static SimGraphOperation *
operation_add (SimGraph *graph)
{
  if (graph->n_oldest > 0 && graph->n_oldest >= graph->n / 2) {
    graph->n -= graph->n_oldest;
    graph->base += graph->n_oldest;
    memmove (graph->operations, graph->operations + graph->n_oldest,
             graph->n * sizeof *graph->operations);
    graph->n_oldest = 0;
  }
  if (graph->n == graph->capacity) {
    graph->capacity = MAX (16u, 2 * graph->capacity);
    graph->operations = g_renew (SimGraphOperation, graph->operations, graph->capacity);
  }
  graph->n_open++;
  return &graph->operations[graph->n++];
}

/* False, and the replay failed, when one of them is not there yet. */
static bool
operation_waits (SimReplay *replay, uint32_t rank, uint32_t number, const uint32_t *after,
                 uint32_t n, bool start)
{
  SimGraph *graph = &replay->graphs[rank];

  for (uint32_t i = 0; i < n; i++) {
    SimGraphOperation *from;

    if (after[i] >= number) {
      sim_report_fail (replay, rank, "operation %u waits for operation %u, which is not before it",
                       number, after[i]);
      return false;
    }
    if (after[i] < graph->base)
      continue;
    from = sim_graph_operation (graph, after[i]);
    if (from->state == OPERATION_ENDED || (start && from->started))
      continue;
    edge_add (replay->graph_edges, from, number, start);
    sim_graph_operation (graph, number)->n_missing++;
  }
  return true;
}

/* A request of what is a message, or the time of what is not. */
static void
operation_fill (SimReplay *replay, uint32_t rank, const TraceOp *op, SimGraphOperation *it)
{
  g_autoptr (GError) error = NULL;

  switch ((int) op->kind) {
  case TRACE_OP_COMPUTE: it->busy_ps = sim_ops_compute_ps (replay, op); break;
  case TRACE_OP_SEND:
  case TRACE_OP_ISEND: it->request = sim_ops_send (replay, rank, op); break;
  case TRACE_OP_RECV:
  case TRACE_OP_IRECV: it->request = sim_ops_receive (replay, rank, op); break;
  case TRACE_OP_INIT:
  case TRACE_OP_FINALIZE:
  case TRACE_OP_CALL: it->busy_ps = replay->parameters->call_overhead_ps; break;
  case TRACE_OP_COMM_DEFINE:
    if (!trace_comms_define (replay->comms, rank, op, &error))
      sim_report_fail (replay, rank, "%s", error->message);
    break;
  default: sim_report_fail (replay, rank, "this call cannot be in a graph");
  }
}

static void
operation_read (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  SimGraph *graph = &replay->graphs[rank];
  SimGraphOperation *it = operation_add (graph);
  uint32_t number = graph->base + graph->n - 1;

  *it = (SimGraphOperation){ .first_waiting = TOPO_NONE,
                             .request = TOPO_NONE,
                             .processor = processor_index (graph, op->cpu),
                             .kind = (uint8_t) op->kind };
  replay->ranks[rank].call = op->name;
  operation_fill (replay, rank, op, it);
  if (it->request != TOPO_NONE) {
    replay->requests[it->request].graph = true;
    replay->requests[it->request].next = number;
  }
  if (replay->error == NULL &&
      operation_waits (replay, rank, number, op->after, op->n_after, false) &&
      operation_waits (replay, rank, number, op->after_start, op->n_after_start, true) &&
      sim_graph_operation (graph, number)->n_missing == 0)
    sim_graph_queue_push (&graph->unblocked, replay->now_ps, number);
}

static bool
has_nothing_to_do (const SimGraph *graph)
{
  return graph->n_busy == 0 && graph->n_ready == 0 && graph->unblocked.n == 0;
}

void
sim_graph_read_ahead (SimReplay *replay, uint32_t rank)
{
  SimGraph *graph = &replay->graphs[rank];
  TraceOp op;

  while (!graph->read_all && replay->error == NULL &&
         (graph->n_open < LOOK_AHEAD || has_nothing_to_do (graph)))
    switch (trace_cursor_next (replay->ranks[rank].cursor, &op, &replay->error)) {
    case TRACE_NEXT_OPERATION: operation_read (replay, rank, &op); break;
    case TRACE_NEXT_END: graph->read_all = true; break;
    case TRACE_NEXT_ERROR: return;
    }
}
