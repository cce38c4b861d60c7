/* replay_graph.c - ranks whose operations are a graph.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The meaning is GOAL's, as LogGOPSim (Hoefler, Schneider, Lumsdaine, LSAP
 * 2010) gives it: an operation may begin when all in its `after` have ended
 * and all in its `after_start` have begun.  It then waits for its processor, which serves one at a time by (time of becoming
 * ready, number).  It occupies the processor for
 *
 *   compute   its gap
 *   send      send_overhead; then the message goes, by MPI's protocol
 *   receive   receive_overhead, once its message is here
 *   a call    call_overhead; so do sends to and receives from nobody
 *
 * A compute or a call has ended then; a send when its request is complete,
 * which for a long one is when the receiver has the data; a receive when its
 * message is taken out.  A receive is posted, and has begun, as soon as it
 * may: while it waits the processor does other things.
 *
 * What a rank begins at one instant it begins in the order of the numbers.
 * Operations are read ahead: 16,384 of them that have not ended, or more
 * when the rank would have nothing to do.  Those that have ended are freed
 * from the oldest on. */
#include "sim/replay/ob1.h"
#include "sim/replay/replay_graph.h"

/* -- edges --------------------------------------------------------------- */

/* Takes out the edges that wait for the begin only, or all of them. */
static void
edges_release (SimReplay *replay, SimGraph *graph, SimGraphOperation *from, bool all)
{
  SimGraphEdgePool *pool = replay->graph_edges;
  uint32_t *link = &from->first_waiting;

  while (*link != TOPO_NONE) {
    uint32_t edge = *link;
    SimGraphEdge it = pool->edges[edge];

    if (!all && !it.start) {
      link = &pool->edges[edge].next;
      continue;
    }
    *link = it.next;
    pool->edges[edge].next = pool->first_free;
    pool->first_free = edge;
    if (--sim_graph_operation (graph, it.operation)->n_missing == 0)
      sim_graph_queue_push (&graph->unblocked, replay->now_ps, it.operation);
  }
}

/* -- beginning ----------------------------------------------------------- */

static void
processor_queue (SimReplay *replay, uint32_t rank, uint32_t number)
{
  SimGraph *graph = &replay->graphs[rank];
  uint32_t index = sim_graph_operation (graph, number)->processor;
  SimGraphProcessor *processor = &graph->processors[index];

  sim_graph_queue_push (&processor->ready, replay->now_ps, number);
  graph->n_ready++;
  if (processor->busy || processor->called)
    return;
  processor->called = true;
  sim_network_timer (replay->network, rank, sim_cookie (SIM_COOKIE_BEGIN, 0, index),
                     replay->now_ps);
}

static void
operation_started (SimReplay *replay, SimGraph *graph, SimGraphOperation *it)
{
  if (!it->started)
    edges_release (replay, graph, it, false);
  it->started = true;
}

static bool
is_receive (const SimReplay *replay, const SimGraphOperation *it)
{
  return it->request != TOPO_NONE && !replay->requests[it->request].is_send &&
         !replay->requests[it->request].nobody;
}

static void
operation_begin (SimReplay *replay, uint32_t rank, uint32_t number)
{
  SimGraph *graph = &replay->graphs[rank];
  SimGraphOperation *it = sim_graph_operation (graph, number);

  it->state = OPERATION_BEGUN;
  if (!is_receive (replay, it)) {
    processor_queue (replay, rank, number);
    return;
  }
  operation_started (replay, graph, it);
  replay->ranks[rank].local_ps = replay->now_ps;
  replay->result.ranks[rank].receives++;
  sim_protocol_post (replay, it->request);
}

/* Until nothing more may begin now.  What begins may let others begin. */
static void
begin_all (SimReplay *replay, uint32_t rank)
{
  SimGraph *graph = &replay->graphs[rank];

  while (graph->unblocked.n > 0)
    operation_begin (replay, rank, sim_graph_queue_pop (&graph->unblocked));
}

/* -- ending -------------------------------------------------------------- */

static void
free_oldest (SimGraph *graph)
{
  while (graph->n_oldest < graph->n && graph->operations[graph->n_oldest].state == OPERATION_ENDED)
    graph->n_oldest++;
}

/* The rank waited since its last processor became idle. */
static void
rank_waited (SimReplay *replay, uint32_t rank)
{
  int64_t idle_ps = replay->graphs[rank].idle_ps;

  replay->result.ranks[rank].wait_ps += replay->now_ps - idle_ps;
  if (replay->timeline != NULL)
    sim_timeline_wait (replay->timeline, rank, idle_ps, replay->now_ps);
}

static void
rank_finish (SimReplay *replay, uint32_t rank)
{
  SimGraph *graph = &replay->graphs[rank];

  replay->ranks[rank].local_ps = replay->now_ps;
  if (graph->n_busy == 0)
    rank_waited (replay, rank);
  sim_rank_finish (replay, rank);
}

/* The rank begins what it can, and is done when there is nothing left. */
static void
rank_go_on (SimReplay *replay, uint32_t rank)
{
  SimGraph *graph = &replay->graphs[rank];

  do {
    begin_all (replay, rank);
    sim_graph_read_ahead (replay, rank);
  } while (graph->unblocked.n > 0 && replay->error == NULL);
  if (graph->read_all && graph->n_open == 0 && replay->error == NULL &&
      replay->ranks[rank].state != SIM_RANK_DONE)
    rank_finish (replay, rank);
}

static void
operation_end (SimReplay *replay, uint32_t rank, uint32_t number)
{
  SimGraph *graph = &replay->graphs[rank];
  SimGraphOperation *it = sim_graph_operation (graph, number);

  it->state = OPERATION_ENDED;
  graph->n_open--;
  replay->n_operations++;
  edges_release (replay, graph, it, true);
  free_oldest (graph);
}

void
sim_graph_completed (SimReplay *replay, uint32_t rank, uint32_t operation)
{
  operation_end (replay, rank, operation);
  rank_go_on (replay, rank);
}

/* -- processors ---------------------------------------------------------- */

void
sim_graph_arrived (SimReplay *replay, uint32_t request, uint32_t transfer)
{
  uint32_t rank = replay->requests[request].rank, number = replay->requests[request].next;
  SimGraphOperation *it = sim_graph_operation (&replay->graphs[rank], number);

  it->state = OPERATION_TAKES;
  it->transfer = transfer;
  it->busy_ps = replay->parameters->receive_overhead_ps;
  processor_queue (replay, rank, number);
}

/* The processor is done with it. */
static void
operation_served (SimReplay *replay, uint32_t rank, uint32_t number)
{
  SimGraphOperation *it = sim_graph_operation (&replay->graphs[rank], number);
  uint32_t request = it->request;

  replay->ranks[rank].local_ps = replay->now_ps;
  if (it->state == OPERATION_TAKES)
    (replay->ob1 == NULL ? sim_pami_taken : sim_ob1_taken) (replay, it->transfer);
  else if (request == TOPO_NONE)
    sim_graph_completed (replay, rank, number);
  else if (replay->requests[request].nobody)
    sim_request_complete (replay, request, replay->now_ps);
  else {
    replay->result.ranks[rank].sends++;
    sim_protocol_send (replay, request);
  }
}

static int64_t
operation_cost_ps (const SimReplay *replay, const SimGraphOperation *it)
{
  if (it->request == TOPO_NONE || it->state == OPERATION_TAKES)
    return it->busy_ps;
  return replay->requests[it->request].nobody ? replay->parameters->call_overhead_ps
                                              : replay->parameters->send_overhead_ps;
}

/* Occupies the processor until a timer ends that. */
static void
processor_occupy (SimReplay *replay, uint32_t rank, SimGraphProcessor *processor, uint32_t number,
                  int64_t cost_ps)
{
  SimGraph *graph = &replay->graphs[rank];
  const SimGraphOperation *it = sim_graph_operation (graph, number);

  processor->busy = true;
  if (graph->n_busy++ == 0)
    rank_waited (replay, rank);
  if (replay->timeline != NULL)
    sim_timeline_work (replay->timeline, rank, it->processor, (TraceOpKind) it->kind,
                       replay->now_ps, replay->now_ps + cost_ps);
  if (replay->now_ps + cost_ps > SIM_LAST_PS)
    sim_report_fail (replay, rank, "simulated time passes %" G_GINT64_FORMAT " s",
                     SIM_LAST_PS / 1000000000000);
  sim_network_timer (replay->network, rank, sim_cookie (SIM_COOKIE_END, 0, number),
                     replay->now_ps + cost_ps);
}

/* Serves what takes no time, and the first thing that takes some. */
static void
processor_run (SimReplay *replay, uint32_t rank, uint32_t index)
{
  SimGraph *graph = &replay->graphs[rank];

  /* Serving one may add processors, so that they move. */
  while (!graph->processors[index].busy && graph->processors[index].ready.n > 0 &&
         replay->error == NULL) {
    uint32_t number = sim_graph_queue_pop (&graph->processors[index].ready);
    SimGraphOperation *it = sim_graph_operation (graph, number);
    int64_t cost_ps = operation_cost_ps (replay, it);

    graph->n_ready--;
    if (it->kind == TRACE_OP_COMPUTE)
      replay->result.ranks[rank].compute_ps += cost_ps;
    operation_started (replay, graph, it);
    if (cost_ps == 0)
      operation_served (replay, rank, number);
    else
      processor_occupy (replay, rank, &graph->processors[index], number, cost_ps);
    begin_all (replay, rank);
  }
}

void
sim_graph_begin (SimReplay *replay, uint32_t rank, uint32_t processor)
{
  replay->graphs[rank].processors[processor].called = false;
  processor_run (replay, rank, processor);
  rank_go_on (replay, rank);
}

void
sim_graph_end (SimReplay *replay, uint32_t rank, uint32_t operation)
{
  SimGraph *graph = &replay->graphs[rank];
  uint32_t processor = sim_graph_operation (graph, operation)->processor;

  graph->processors[processor].busy = false;
  if (--graph->n_busy == 0)
    graph->idle_ps = replay->now_ps;
  operation_served (replay, rank, operation);
  processor_run (replay, rank, processor);
  rank_go_on (replay, rank);
}

void
sim_graph_start (SimReplay *replay, uint32_t rank)
{
  replay->ranks[rank].state = SIM_RANK_GRAPH;
  if (sim_rank_open (replay, rank))
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
