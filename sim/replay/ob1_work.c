/* ob1_work.c - processors: what they do, in which order, copies in pieces.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A rank has one processor.  What its calls ask for is done before the calls
 * end, as MPI_Isend copies before it returns (pml_ob1_isend.c); what has come
 * is done in the order in which it came, while the rank is blocked in MPI,
 * or when it makes a call after the network has caught up with it: so much
 * then as is there.  With [mpi] async_progress an agent does what has come,
 * and what posted collectives ask for, at once and in no time of the rank's;
 * in a graph it does everything.
 *
 * A copy is made at the time of the network, as the memory of a node is
 * shared: a rank that is ahead waits for the network.  What copies nothing is
 * done ahead, as on a torus. */
#include "sim/replay/ob1.h"

SimOb1 *
sim_ob1_new (uint32_t n_ranks)
{
  static const SimOb1Queue empty = { TOPO_NONE, TOPO_NONE, 0 };
  SimOb1 *ob1 = g_new0 (SimOb1, 1);

  ob1->ranks = g_new0 (SimOb1Rank, n_ranks);
  ob1->first_free_work = TOPO_NONE;
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    ob1->ranks[rank].own = ob1->ranks[rank].agent =
        (SimOb1Processor){ .calls = empty, .arrived = empty, .work = TOPO_NONE };
    ob1->ranks[rank].early = empty;
  }
  return ob1;
}

void
sim_ob1_use_memory (SimReplay *replay)
{
  SimOb1 *ob1 = replay->ob1;

  ob1->memory = replay->network->memory;
  if (ob1->memory == NULL)
    ob1->memory = ob1->own_memory = sim_memory_new (replay->machine);
}

void
sim_ob1_free (SimOb1 *ob1, uint32_t n_ranks)
{
  if (ob1 == NULL)
    return;
  for (uint32_t rank = 0; rank < n_ranks; rank++)
    trace_map_clear (&ob1->ranks[rank].pinned);
  if (ob1->own_memory != NULL)
    sim_memory_free (ob1->own_memory);
  g_free (ob1->ranks);
  g_free (ob1->works);
  g_free (ob1->messages);
  g_free (ob1);
}

/* -- queues --------------------------------------------------------------- */

static uint32_t
work_take (SimOb1 *ob1, SimOb1Work value)
{
  uint32_t work = ob1->first_free_work;

  if (work != TOPO_NONE)
    ob1->first_free_work = ob1->works[work].next;
  else {
    if (ob1->n_works == ob1->works_capacity) {
      ob1->works_capacity = MAX (256u, 2 * ob1->works_capacity);
      ob1->works = g_renew (SimOb1Work, ob1->works, ob1->works_capacity);
    }
    work = ob1->n_works++;
  }
  ob1->works[work] = value;
  ob1->works[work].next = TOPO_NONE;
  return work;
}

static void
work_give (SimOb1 *ob1, uint32_t work)
{
  ob1->works[work].next = ob1->first_free_work;
  ob1->first_free_work = work;
}

static void
queue_append (SimOb1 *ob1, SimOb1Queue *queue, uint32_t work)
{
  if (queue->n++ == 0)
    queue->first = work;
  else
    ob1->works[queue->last].next = work;
  queue->last = work;
}

static void
queue_prepend (SimOb1 *ob1, SimOb1Queue *queue, uint32_t work)
{
  ob1->works[work].next = queue->first;
  queue->first = work;
  if (queue->n++ == 0)
    queue->last = work;
}

static uint32_t
queue_pop (const SimOb1 *ob1, SimOb1Queue *queue)
{
  uint32_t work = queue->first;

  queue->first = ob1->works[work].next;
  queue->n--;
  return work;
}

/* By time, then in the order in which they came; they are few, as a rank makes
 * few calls ahead of the network. */
static void
early_insert (SimReplay *replay, uint32_t rank, uint32_t work)
{
  SimOb1Work *works = replay->ob1->works;
  SimOb1Queue *early = &replay->ob1->ranks[rank].early;
  uint32_t *link = &early->first;

  while (*link != TOPO_NONE && works[*link].at_ps <= works[work].at_ps)
    link = &works[*link].next;
  works[work].next = *link;
  *link = work;
  early->n++;
  sim_network_timer (replay->network, rank, sim_ob1_cookie (SIM_OB1_DUE, 0), works[work].at_ps);
}

void
sim_ob1_due (SimReplay *replay, uint32_t rank)
{
  SimOb1 *ob1 = replay->ob1;
  SimOb1Rank *it = &ob1->ranks[rank];

  while (it->early.n > 0 && ob1->works[it->early.first].at_ps <= replay->now_ps) {
    uint32_t work = queue_pop (ob1, &it->early);

    ob1->works[work].next = TOPO_NONE;
    queue_append (ob1, &it->agent.arrived, work);
  }
}

uint32_t
sim_ob1_do (SimReplay *replay, uint32_t rank, SimOb1Work work, SimOb1Turn turn)
{
  SimOb1Rank *it = &replay->ob1->ranks[rank];
  bool agent =
      replay->graphs != NULL || (replay->parameters->async_progress && turn != SIM_OB1_CALL);
  SimOb1Processor *processor = agent ? &it->agent : &it->own;
  uint32_t number = work_take (replay->ob1, work);

  if (agent && work.at_ps > replay->now_ps) {
    early_insert (replay, rank, number);
    return number;
  }
  switch (turn) {
  case SIM_OB1_CALL: queue_append (replay->ob1, &processor->calls, number); break;
  case SIM_OB1_NEXT: queue_prepend (replay->ob1, &processor->calls, number); break;
  case SIM_OB1_ARRIVED: queue_append (replay->ob1, &processor->arrived, number); break;
  }
  return number;
}

/* -- one piece of work ----------------------------------------------------- */

/* The clock of a rank's own processor is the rank's. */
static void
processor_advance (SimReplay *replay, uint32_t rank, SimOb1Processor *processor, int64_t at_ps)
{
  SimRank *it = &replay->ranks[rank];

  processor->clock_ps = at_ps;
  if (processor == &replay->ob1->ranks[rank].own)
    it->local_ps = MAX (it->local_ps, at_ps);
}

static void
piece_copy (SimReplay *replay, uint32_t rank, SimOb1Processor *processor, SimOb1Work *work,
            uint64_t left_bytes)
{
  SimMemory *memory = replay->ob1->memory;
  SimCopy copy = { .node = replay->mapping->node[rank],
                   .core = replay->machine->slot_core[replay->mapping->slot[rank]],
                   .bytes = MIN (left_bytes, sim_memory_quantum_bytes (memory)) };

  /* The memory serves calls in the order of their times. */
  g_assert (processor->clock_ps == replay->now_ps);
  sim_ob1_copy_between (replay, work, &copy);
  work->copied_bytes += copy.bytes;
  processor_advance (replay, rank, processor, sim_memory_copy (memory, &copy, processor->clock_ps));
}

/* Until the processor has to wait for its clock, or is done.  In a graph all
 * is done at the network's time. */
static void
work_go_on (SimReplay *replay, uint32_t rank, SimOb1Processor *processor)
{
  SimOb1 *ob1 = replay->ob1;
  bool agent = processor == &ob1->ranks[rank].agent;
  SimOb1Work work;

  while (true) {
    SimOb1Work *it = &ob1->works[processor->work];
    uint64_t left_bytes = sim_ob1_copy_bytes (replay, it) - it->copied_bytes;

    if (processor->clock_ps > replay->now_ps && (left_bytes > 0 || replay->graphs != NULL)) {
      sim_network_timer (replay->network, rank,
                         sim_ob1_cookie (agent ? SIM_OB1_AGENT : SIM_OB1_CLOCK, 0),
                         processor->clock_ps);
      return;
    }
    if (!it->begun) {
      it->begun = true;
      work = *it;
      sim_ob1_begin (replay, &work, processor->clock_ps);
    } else if (left_bytes > 0)
      piece_copy (replay, rank, processor, it, left_bytes);
    else
      break;
  }
  work = ob1->works[processor->work];
  work_give (ob1, processor->work);
  sim_ob1_end (replay, &work, processor->clock_ps);
  processor->work = TOPO_NONE;
}

static void
work_start (SimReplay *replay, uint32_t rank, SimOb1Processor *processor, uint32_t number)
{
  SimOb1 *ob1 = replay->ob1;
  SimOb1Work work = ob1->works[number];
  int64_t begin_ps = MAX (MAX (replay->now_ps, processor->clock_ps), work.at_ps);

  if (work.kind == SIM_OB1_NOTHING) {
    work_give (ob1, number);
    return;
  }
  if (processor == &ob1->ranks[rank].own) {
    begin_ps = MAX (begin_ps, replay->ranks[rank].local_ps);
    sim_rank_wait_until (replay, rank, begin_ps);
  }
  processor->work = number;
  processor_advance (replay, rank, processor, begin_ps + sim_ob1_lead_ps (replay, &work));
  work_go_on (replay, rank, processor);
}

/* -- what comes next ------------------------------------------------------- */

static bool
is_blocked (const SimRank *rank)
{
  switch ((SimRankState) rank->state) {
  case SIM_RANK_WAITING:
  case SIM_RANK_PROBING:
  case SIM_RANK_MEETING:
  case SIM_RANK_GATHERING:
  case SIM_RANK_DONE: return true;
  case SIM_RANK_READY:
  case SIM_RANK_RUNNING:
  case SIM_RANK_BUSY:
  case SIM_RANK_GRAPH: return false;
  }
  g_assert_not_reached ();
}

/* Whether the processor took something up. */
static bool
processor_turn (SimReplay *replay, uint32_t rank, SimOb1Processor *processor, bool may_progress)
{
  SimOb1Queue *queue = processor->calls.n > 0 ? &processor->calls : &processor->arrived;

  if (processor->work != TOPO_NONE || queue->n == 0 ||
      (queue == &processor->arrived && !may_progress))
    return false;
  work_start (replay, rank, processor, queue_pop (replay->ob1, queue));
  return true;
}

/* Goes on with a rank that was held up here, or with its posted collectives. */
static bool
rank_turn (SimReplay *replay, uint32_t rank)
{
  SimRank *it = &replay->ranks[rank];

  if (it->state == SIM_RANK_BUSY && !sim_ob1_is_occupied (replay, rank)) {
    it->state = SIM_RANK_READY;
    sim_rank_take_back (replay, rank);
  } else if (!it->active_ready || !is_blocked (it))
    return false;
  sim_rank_wake (replay, rank);
  return true;
}

static bool
own_turn (SimReplay *replay, uint32_t rank)
{
  SimOb1Rank *it = &replay->ob1->ranks[rank];
  const SimRank *state = &replay->ranks[rank];
  bool round = state->state == SIM_RANK_BUSY && it->round > 0;

  if (round && !sim_ob1_is_occupied (replay, rank))
    it->round--;
  return processor_turn (replay, rank, &it->own, round || is_blocked (state));
}

void
sim_ob1_go (SimReplay *replay, uint32_t rank)
{
  SimOb1Processor *agent = &replay->ob1->ranks[rank].agent;

  while (replay->error == NULL)
    if (processor_turn (replay, rank, agent, true) || own_turn (replay, rank))
      sim_rank_wake (replay, rank);
    else if (!rank_turn (replay, rank))
      return;
}

void
sim_ob1_call (SimReplay *replay, uint32_t rank)
{
  SimOb1Processor *own = &replay->ob1->ranks[rank].own;

  while (processor_turn (replay, rank, own, false))
    continue;
}

void
sim_ob1_progress (SimReplay *replay, uint32_t rank)
{
  SimOb1Rank *it = &replay->ob1->ranks[rank];
  SimRank *state = &replay->ranks[rank];

  it->round = it->own.arrived.n;
  if (state->state == SIM_RANK_READY && (it->round > 0 || sim_ob1_is_occupied (replay, rank)))
    state->state = SIM_RANK_BUSY;
}

bool
sim_ob1_is_occupied (const SimReplay *replay, uint32_t rank)
{
  const SimOb1Processor *own = &replay->ob1->ranks[rank].own;

  return own->work != TOPO_NONE || own->calls.n > 0;
}

void
sim_ob1_clock (SimReplay *replay, uint32_t rank, bool agent)
{
  SimOb1Rank *it = &replay->ob1->ranks[rank];

  work_go_on (replay, rank, agent ? &it->agent : &it->own);
  sim_rank_wake (replay, rank);
}
