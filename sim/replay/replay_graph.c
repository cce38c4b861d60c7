/* replay_graph.c - ranks whose operations are a graph.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The meaning is GOAL's, as LogGOPSim (Hoefler, Schneider, Lumsdaine, LSAP
 * 2010) gives it: an operation may begin when all in its `after` have ended
 * and all in its `after_start` have begun.  It then waits for its processor,
 * which serves one at a time by (time of becoming ready, number).  It occupies
 * the processor for
 *
 *   compute   its gap
 *   send      send_overhead; then the message goes, by MPI's protocol
 *   receive   receive_overhead, once its message is here
 *   a call    call_overhead; so do sends to and receives from MPI_PROC_NULL
 *
 * A compute or a call has ended then; a send when its request is complete,
 * which for a long one is when the receiver has the data; a receive when its
 * message is taken out.  A receive is posted, and has begun, as soon as it
 * may: while it waits the processor does other things.
 *
 * Operations that a rank begins at one instant begin in the order of their numbers.
 * Operations are read ahead: 16,384 of them that have not ended, or more
 * when the rank would have nothing to do.  Those that have ended are freed
 * from the oldest on; until then their edges are kept. */
#include "sim/replay/replay_private.h"

#include <string.h>

/* Operations of 32 bytes, and the requests of 48 of those that are messages:
 * up to 1.25 MiB per rank. */
#define LOOK_AHEAD (16u * 1024)

/* Operations that wait: a heap by (time at which it became ready, number). */
typedef struct {
  int64_t ready_ps;
  uint32_t operation;
} Ready;

typedef struct {
  Ready *heap; /* [capacity] */
  uint32_t n, capacity;
} Queue;

enum {
  OPERATION_BLOCKED, /* operations before it have not ended or begun */
  OPERATION_BEGUN,   /* waits for its processor, or for its message */
  OPERATION_TAKES,   /* a receive whose message is here */
  OPERATION_ENDED,
};

typedef struct {
  int64_t busy_ps;        /* its time on the processor; of a receive once TAKES */
  uint32_t n_missing;     /* BLOCKED: operations that it still must come after */
  uint32_t first_waiting; /* edges to those that must come after this */
  uint32_t request;       /* of a message; TOPO_NONE */
  uint32_t transfer;      /* TAKES */
  uint32_t processor;     /* index into processors */
  uint8_t kind;           /* TraceOpKind */
  uint8_t state;
  bool started; /* those that wait for its begin know */
} Operation;

typedef struct {
  Queue ready;
  bool busy;
  bool called; /* a timer will look at `ready` */
} Processor;

typedef struct {
  uint32_t operation, next;
  bool start; /* waits for the begin only */
} Edge;

typedef struct SimGraph {
  Operation *operations; /* [capacity] number - base is the index */
  uint32_t base, n, capacity;
  uint32_t n_open;       /* that have not ended */
  uint32_t n_oldest;     /* of the first ones, that have */
  Processor *processors; /* [n_processors] in the order of their first operation */
  BaseMap processor_of;  /* the trace's number -> index */
  Queue unblocked;       /* may begin now */
  uint32_t n_processors, n_busy, n_ready;
  int64_t idle_ps; /* since when nothing was busy */
  bool read_all;   /* the stream is over */
} SimGraph;

/* Edges of the ranks of a view; the free ones are chained. */
typedef struct SimGraphEdges {
  Edge *edges;
  uint32_t n, capacity, first_free;
} SimGraphEdges;

/* -- queues ---------------------------------------------------------------- */

static bool
is_before (const Ready *one, const Ready *other)
{
  if (one->ready_ps != other->ready_ps)
    return one->ready_ps < other->ready_ps;
  return one->operation < other->operation;
}

static void
queue_push (Queue *queue, int64_t ready_ps, uint32_t operation)
{
  Ready ready = { ready_ps, operation };
  uint32_t at = queue->n++;

  if (queue->n > queue->capacity) {
    queue->capacity = MAX (4u, 2 * queue->capacity);
    queue->heap = g_renew (Ready, queue->heap, queue->capacity);
  }
  while (at > 0 && is_before (&ready, &queue->heap[(at - 1) / 2])) {
    queue->heap[at] = queue->heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  queue->heap[at] = ready;
}

static uint32_t
queue_pop (Queue *queue)
{
  uint32_t first = queue->heap[0].operation, at = 0, child;
  Ready last = queue->heap[--queue->n];

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

/* -- operations and edges --------------------------------------------------- */

static Operation *
operation_at (const SimGraph *graph, uint32_t number)
{
  return &graph->operations[number - graph->base];
}

void
sim_graph_init (SimReplay *replay)
{
  if (trace_is_graph (replay->trace))
    replay->graphs = g_new0 (SimGraph, replay->n_ranks);
}

void
sim_graph_init_view (SimReplay *replay)
{
  replay->graph_edges = g_new0 (SimGraphEdges, 1);
  replay->graph_edges->first_free = TOPO_NONE;
}

void
sim_graph_free_view (SimReplay *replay)
{
  g_free (replay->graph_edges->edges);
  g_free (replay->graph_edges);
}

void
sim_graph_free (SimReplay *replay)
{
  for (uint32_t rank = 0; replay->graphs != NULL && rank < replay->n_ranks; rank++) {
    SimGraph *graph = &replay->graphs[rank];

    for (uint32_t processor = 0; processor < graph->n_processors; processor++)
      g_free (graph->processors[processor].ready.heap);
    g_free (graph->unblocked.heap);
    base_map_clear (&graph->processor_of);
    g_free (graph->processors);
    g_free (graph->operations);
  }
  g_free (replay->graphs);
}

static void
queue_dump (Queue *queue, BaseDump *dump)
{
  base_dump_list (dump, (void **) &queue->heap, &queue->n, &queue->capacity, sizeof *queue->heap);
}

void
sim_graph_dump_view (SimReplay *replay, BaseDump *dump)
{
  SimGraphEdges *pool = replay->graph_edges;

  base_dump_list (dump, (void **) &pool->edges, &pool->n, &pool->capacity, sizeof *pool->edges);
  BASE_DUMP_VALUE (dump, pool->first_free);
}

void
sim_graph_dump (SimReplay *replay, BaseDump *dump)
{
  if (replay->graphs == NULL)
    return;
  base_dump_section (dump, "graphs");
  for (uint32_t rank = 0; rank < replay->n_ranks; rank++) {
    SimGraph *graph = &replay->graphs[rank], plain = *graph;

    plain.operations = NULL;
    plain.processors = NULL;
    plain.processor_of = (BaseMap){ NULL, 0, 0 };
    plain.unblocked = (Queue){ NULL, 0, 0 };
    BASE_DUMP_VALUE (dump, plain);
    if (base_dump_loads (dump))
      *graph = plain;
    base_dump_list (dump, (void **) &graph->operations, &graph->n, &graph->capacity,
                    sizeof *graph->operations);
    base_map_dump (&graph->processor_of, dump);
    queue_dump (&graph->unblocked, dump);
    if (base_dump_loads (dump))
      graph->processors = g_new0 (Processor, graph->n_processors);
    for (uint32_t number = 0; number < graph->n_processors; number++) {
      Processor *processor = &graph->processors[number];

      queue_dump (&processor->ready, dump);
      BASE_DUMP_VALUE (dump, processor->busy);
      BASE_DUMP_VALUE (dump, processor->called);
    }
  }
}

/* Takes out the edges that wait for the begin only, or all of them. */
static void
edges_release (SimReplay *replay, SimGraph *graph, Operation *from, bool all)
{
  SimGraphEdges *pool = replay->graph_edges;
  uint32_t *link = &from->first_waiting;

  while (*link != TOPO_NONE) {
    uint32_t edge = *link;
    Edge it = pool->edges[edge];

    if (!all && !it.start) {
      link = &pool->edges[edge].next;
      continue;
    }
    *link = it.next;
    pool->edges[edge].next = pool->first_free;
    pool->first_free = edge;
    if (--operation_at (graph, it.operation)->n_missing == 0)
      queue_push (&graph->unblocked, replay->now_ps, it.operation);
  }
}

/* -- reading ------------------------------------------------------------------ */

/* False, and the replay failed, when one of them is not there yet. */
static bool
operation_waits (SimReplay *replay, uint32_t rank, uint32_t number, const uint32_t *after,
                 uint32_t n, bool start)
{
  SimGraphEdges *pool = replay->graph_edges;
  SimGraph *graph = &replay->graphs[rank];

  for (uint32_t i = 0; i < n; i++) {
    Operation *from;
    uint32_t edge;

    if (after[i] >= number) {
      sim_report_fail (replay, rank, "operation %u waits for operation %u, which is not before it",
                       number, after[i]);
      return false;
    }
    if (after[i] < graph->base)
      continue;
    from = operation_at (graph, after[i]);
    if (from->state == OPERATION_ENDED || (start && from->started))
      continue;
    edge = pool->first_free;
    if (edge != TOPO_NONE)
      pool->first_free = pool->edges[edge].next;
    else {
      if (pool->n == pool->capacity) {
        pool->capacity = MAX (256u, 2 * pool->capacity);
        pool->edges = g_renew (Edge, pool->edges, pool->capacity);
      }
      edge = pool->n++;
    }
    pool->edges[edge] = (Edge){ number, from->first_waiting, start };
    from->first_waiting = edge;
    operation_at (graph, number)->n_missing++;
  }
  return true;
}

static void
operation_read (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  g_autoptr (GError) error = NULL;
  SimGraph *graph = &replay->graphs[rank];
  /* The largest number, which no map can hold, shares one with that below. */
  BaseMapEntry *processor =
      base_map_add (&graph->processor_of, MIN (op->cpu, UINT32_MAX - 1), TOPO_NONE);
  Operation *it;
  uint32_t number;

  if (processor->value[0] == TOPO_NONE) {
    processor->value[0] = graph->n_processors++;
    graph->processors = g_renew (Processor, graph->processors, graph->n_processors);
    graph->processors[processor->value[0]] = (Processor){ .busy = false };
  }

  /* Room for one more at the end. */
  if (graph->n_oldest > 0 && graph->n_oldest >= graph->n / 2) {
    graph->n -= graph->n_oldest;
    graph->base += graph->n_oldest;
    memmove (graph->operations, graph->operations + graph->n_oldest,
             graph->n * sizeof *graph->operations);
    graph->n_oldest = 0;
  }
  if (graph->n == graph->capacity) {
    graph->capacity = MAX (16u, 2 * graph->capacity);
    graph->operations = g_renew (Operation, graph->operations, graph->capacity);
  }
  graph->n_open++;
  number = graph->base + graph->n;
  it = &graph->operations[graph->n++];
  *it = (Operation){ .first_waiting = TOPO_NONE,
                     .request = TOPO_NONE,
                     .processor = processor->value[0],
                     .kind = (uint8_t) op->kind };
  replay->ranks[rank].call = op->name;
  switch ((int) op->kind) {
  case TRACE_OP_COMPUTE: it->busy_ps = sim_ops_compute_ps (replay, op); break;
  case TRACE_OP_SEND:
  case TRACE_OP_ISEND:
  case TRACE_OP_RECV:
  case TRACE_OP_IRECV: it->request = sim_ops_request (replay, rank, op); break;
  case TRACE_OP_INIT:
  case TRACE_OP_FINALIZE:
  case TRACE_OP_CALL: it->busy_ps = replay->parameters->mpi.call_overhead_ps; break;
  case TRACE_OP_COMM_DEFINE:
    if (!trace_comms_define (replay->comms, rank, op, &error))
      sim_report_fail (replay, rank, "%s", error->message);
    break;
  default: sim_report_fail (replay, rank, "this call cannot be in a graph");
  }
  if (it->request != TOPO_NONE) {
    replay->requests[it->request].graph = true;
    replay->requests[it->request].next = number;
  }
  if (replay->error == NULL &&
      operation_waits (replay, rank, number, op->after, op->n_after, false) &&
      operation_waits (replay, rank, number, op->after_start, op->n_after_start, true) &&
      operation_at (graph, number)->n_missing == 0)
    queue_push (&graph->unblocked, replay->now_ps, number);
}

static void
read_ahead (SimReplay *replay, uint32_t rank)
{
  SimGraph *graph = &replay->graphs[rank];
  TraceOp op;

  while (!graph->read_all && replay->error == NULL &&
         (graph->n_open < LOOK_AHEAD ||
          (graph->n_busy == 0 && graph->n_ready == 0 && graph->unblocked.n == 0)))
    switch (trace_cursor_next (replay->ranks[rank].cursor, &op, &replay->error)) {
    case TRACE_NEXT_OPERATION: operation_read (replay, rank, &op); break;
    case TRACE_NEXT_END: graph->read_all = true; break;
    case TRACE_NEXT_ERROR: return;
    }
}

/* -- beginning ----------------------------------------------------------- */

static void
processor_queue (SimReplay *replay, uint32_t rank, uint32_t number)
{
  SimGraph *graph = &replay->graphs[rank];
  uint32_t index = operation_at (graph, number)->processor;
  Processor *processor = &graph->processors[index];

  queue_push (&processor->ready, replay->now_ps, number);
  graph->n_ready++;
  if (processor->busy || processor->called)
    return;
  processor->called = true;
  sim_network_timer (replay->network, rank, sim_cookie (SIM_COOKIE_BEGIN, 0, index),
                     replay->now_ps);
}

static void
operation_started (SimReplay *replay, SimGraph *graph, Operation *it)
{
  if (!it->started)
    edges_release (replay, graph, it, false);
  it->started = true;
}

/* Until no more may begin now.  Each that begins may let others begin. */
static void
begin_all (SimReplay *replay, uint32_t rank)
{
  SimGraph *graph = &replay->graphs[rank];

  while (graph->unblocked.n > 0) {
    uint32_t number = queue_pop (&graph->unblocked);
    Operation *it = operation_at (graph, number);

    it->state = OPERATION_BEGUN;
    if (it->request == TOPO_NONE || replay->requests[it->request].is_send ||
        replay->requests[it->request].no_message) {
      processor_queue (replay, rank, number);
      continue;
    }
    operation_started (replay, graph, it);
    replay->ranks[rank].local_ps = replay->now_ps;
    replay->result.ranks[rank].receives++;
    sim_message_post (replay, it->request);
  }
}

/* -- ending -------------------------------------------------------------- */

/* The rank waited since its last processor became idle. */
static void
rank_waited (SimReplay *replay, uint32_t rank)
{
  int64_t idle_ps = replay->graphs[rank].idle_ps;

  replay->ranks[rank].wait_ps += replay->now_ps - idle_ps;
  if (replay->timeline != NULL)
    sim_timeline_wait (replay->timeline, rank, idle_ps, replay->now_ps);
}

/* The rank begins all that it can, and is done when nothing is left. */
static void
rank_go_on (SimReplay *replay, uint32_t rank)
{
  SimGraph *graph = &replay->graphs[rank];

  do {
    begin_all (replay, rank);
    read_ahead (replay, rank);
  } while (graph->unblocked.n > 0 && replay->error == NULL);
  if (graph->read_all && graph->n_open == 0 && replay->error == NULL &&
      replay->ranks[rank].state != SIM_RANK_DONE) {
    replay->ranks[rank].local_ps = replay->now_ps;
    if (graph->n_busy == 0)
      rank_waited (replay, rank);
    sim_rank_finish (replay, rank);
  }
}

void
sim_graph_completed (SimReplay *replay, uint32_t rank, uint32_t operation)
{
  SimGraph *graph = &replay->graphs[rank];
  Operation *it = operation_at (graph, operation);

  it->state = OPERATION_ENDED;
  graph->n_open--;
  replay->n_operations++;
  edges_release (replay, graph, it, true);
  while (graph->n_oldest < graph->n && graph->operations[graph->n_oldest].state == OPERATION_ENDED)
    graph->n_oldest++;
  rank_go_on (replay, rank);
}

/* -- processors ---------------------------------------------------------- */

void
sim_graph_arrived (SimReplay *replay, uint32_t request, uint32_t transfer)
{
  uint32_t rank = replay->requests[request].rank, number = replay->requests[request].next;
  Operation *it = operation_at (&replay->graphs[rank], number);

  it->state = OPERATION_TAKES;
  it->transfer = transfer;
  it->busy_ps = replay->parameters->mpi.receive_overhead_ps;
  processor_queue (replay, rank, number);
}

/* The processor is done with it. */
static void
operation_served (SimReplay *replay, uint32_t rank, uint32_t number)
{
  Operation *it = operation_at (&replay->graphs[rank], number);
  uint32_t request = it->request;

  replay->ranks[rank].local_ps = replay->now_ps;
  if (it->state == OPERATION_TAKES)
    replay->protocol->taken (replay, it->transfer);
  else if (request == TOPO_NONE)
    sim_graph_completed (replay, rank, number);
  else if (replay->requests[request].no_message)
    sim_request_complete (replay, request, replay->now_ps);
  else {
    replay->result.ranks[rank].sends++;
    sim_message_send (replay, request);
  }
}

/* Serves operations that take no time, and the first one that takes some. */
static void
processor_run (SimReplay *replay, uint32_t rank, uint32_t index)
{
  SimGraph *graph = &replay->graphs[rank];

  /* Serving one may add processors, so that they move. */
  while (!graph->processors[index].busy && graph->processors[index].ready.n > 0 &&
         replay->error == NULL) {
    uint32_t number = queue_pop (&graph->processors[index].ready);
    Operation *it = operation_at (graph, number);
    int64_t cost_ps = it->busy_ps;

    if (it->request != TOPO_NONE && it->state != OPERATION_TAKES)
      cost_ps = replay->requests[it->request].no_message ? replay->parameters->mpi.call_overhead_ps
                                                         : replay->parameters->mpi.send_overhead_ps;
    graph->n_ready--;
    if (it->kind == TRACE_OP_COMPUTE)
      replay->result.ranks[rank].compute_ps += cost_ps;
    operation_started (replay, graph, it);
    if (cost_ps == 0)
      operation_served (replay, rank, number);
    else { /* a timer ends it */
      int64_t end_ps = replay->now_ps + cost_ps;

      graph->processors[index].busy = true;
      if (graph->n_busy++ == 0)
        rank_waited (replay, rank);
      if (replay->timeline != NULL)
        sim_timeline_work (replay->timeline, rank, index, (TraceOpKind) it->kind, replay->now_ps,
                           end_ps);
      if (end_ps > SIM_LAST_PS)
        sim_report_fail (replay, rank, "simulated time passes %" G_GINT64_FORMAT " s",
                         SIM_LAST_PS / 1000000000000);
      sim_network_timer (replay->network, rank, sim_cookie (SIM_COOKIE_END, 0, number), end_ps);
    }
    begin_all (replay, rank);
  }
}

/* A processor may begin something, or its operation does not occupy it any more. */
void
sim_graph_timer (SimReplay *replay, uint32_t rank, uint64_t cookie)
{
  SimGraph *graph = &replay->graphs[rank];
  uint32_t number = sim_cookie_low (cookie), processor = number;

  if (sim_cookie_kind (cookie) == SIM_COOKIE_BEGIN)
    graph->processors[processor].called = false;
  else {
    processor = operation_at (graph, number)->processor;
    graph->processors[processor].busy = false;
    if (--graph->n_busy == 0)
      graph->idle_ps = replay->now_ps;
    operation_served (replay, rank, number);
  }
  processor_run (replay, rank, processor);
  rank_go_on (replay, rank);
}

void
sim_graph_start (SimReplay *replay, uint32_t rank)
{
  replay->ranks[rank].state = SIM_RANK_GRAPH;
  rank_go_on (replay, rank);
}

uint32_t
sim_graph_oldest (const SimReplay *replay, uint32_t rank, uint32_t *request, uint32_t *n_open)
{
  const SimGraph *graph = &replay->graphs[rank];

  *n_open = graph->n_open;
  *request = graph->operations[graph->n_oldest].request;
  return graph->base + graph->n_oldest;
}
