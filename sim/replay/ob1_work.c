/* ob1_work.c - the work of ob1 that waits for the processors of the ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A rank has one processor, and everything that costs it time is a piece of
 * work; one is done after the other.  Work that the rank's calls ask for is done
 * before the calls end, as MPI_Isend copies before it returns (pml_ob1_isend.c);
 * messages are handled in the order in which they came, while the rank is blocked
 * in MPI, or when it makes a call after the network has caught up with it: then those
 * that are there.  With [mpi] async_progress an agent handles messages, and does
 * the work of posted collectives, at once and in no time of the rank's;
 * in a graph it does everything.
 *
 * A copy is made at the time of the network, in pieces, as the memory of a node
 * is shared and copies of other ranks come between: a rank that is ahead waits
 * for the network.  Work without a copy is done ahead, as on a torus. */
#include "sim/replay/ob1_private.h"

#define PAGE_BYTES 4096u

/* -- the cost of work: processor time ------------------------------------------ */

/* Registers a piece of a buffer of the sender or receiver. */
static int64_t
register_ps (SimReplay *replay, uint32_t transfer, bool sender, uint64_t bytes)
{
  uint64_t pages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES;

  if (message_of (replay, transfer)->pinned) {
    const SimTransfer *it = sim_transfer_at (replay, transfer);
    uint32_t rank = sender ? it->envelope.source : it->destination;
    uint32_t peer = sender ? it->destination : it->envelope.source;
    uint32_t *known = &base_map_add (&ob1_of (replay)->ranks[rank].pinned, peer, 0)->value[!sender];

    if (pages <= *known)
      return 0;
    *known = (uint32_t) MIN (pages, UINT32_MAX);
  }
  return (int64_t) MIN ((double) replay->parameters->ompi.registration_ps +
                            (double) pages * (double) replay->parameters->ompi.registration_page_ps,
                        (double) SIM_LAST_PS);
}

/* Handling one piece or control message, on either side: a fragment of the
 * shared segment and its FIFO, or a work request and its completion. */
static int64_t
handling_ps (const SimReplay *replay, uint32_t transfer)
{
  if (is_self (replay, transfer))
    return 0;
  return is_local (replay, transfer) ? replay->parameters->ompi.sm_overhead_ps
                                     : replay->parameters->ompi.fragment_overhead_ps;
}

/* Processor time before the copy. */
static int64_t
work_lead_ps (SimReplay *replay, const Work *work)
{
  uint32_t transfer = work->transfer;
  const Message *it;
  int64_t lead_ps = 0;

  switch ((WorkKind) work->kind) {
  case WORK_SEND:
    if (replay->graphs == NULL)
      lead_ps = replay->parameters->mpi.send_overhead_ps;
    if (message_of (replay, transfer)->pinned)
      lead_ps += register_ps (replay, transfer, true, sim_transfer_at (replay, transfer)->bytes);
    return lead_ps + handling_ps (replay, transfer);
  case WORK_TAKE:
    it = message_of (replay, transfer);
    if (replay->graphs == NULL)
      lead_ps = replay->parameters->mpi.receive_overhead_ps;
    /* Else it was paid when the first piece was put aside. */
    if (!it->stashed)
      lead_ps += handling_ps (replay, transfer);
    if (sim_ob1_is_acknowledged (replay, transfer))
      lead_ps += handling_ps (replay, transfer);
    return lead_ps;
  case WORK_STASH:
  case WORK_ACKED:
  case WORK_SEND_FRAGMENT:
  case WORK_TAKE_FRAGMENT:
  case WORK_FINISH:
  case WORK_FINISHED: return handling_ps (replay, transfer);
  case WORK_ASK:
  case WORK_ANSWER:
    return handling_ps (replay, transfer) +
           register_ps (replay, transfer, work->kind == WORK_ANSWER, work->bytes);
  case WORK_COPY:
  case WORK_FIRST_DELIVERED:
  case WORK_DELIVERED:
  case WORK_NOTHING: return 0;
  }
  g_assert_not_reached ();
}

/* -- the cost of work: copies ---------------------------------------------------- */

/* The bytes that a piece of work copies in all. */
static uint64_t
work_copy_bytes (const SimReplay *replay, const Work *work)
{
  const SimTransfer *it;
  const Message *message;
  uint64_t first_bytes;

  switch ((WorkKind) work->kind) {
  case WORK_SEND:
    it = sim_transfer_at (replay, work->transfer);
    message = message_of (replay, work->transfer);
    /* BTL self sends from where the data is (btl_self_component.c: SEND_INPLACE). */
    first_bytes = is_self (replay, work->transfer) ? 0 : message->first_bytes;
    if (!message->eager && replay->requests[it->send_request].mode == TRACE_SEND_BUFFERED)
      return it->bytes - message->first_bytes + first_bytes;
    return first_bytes;
  case WORK_TAKE:
    message = message_of (replay, work->transfer);
    return message->single ? sim_transfer_at (replay, work->transfer)->bytes : message->first_bytes;
  case WORK_COPY:
  case WORK_STASH:
  case WORK_SEND_FRAGMENT:
  case WORK_TAKE_FRAGMENT: return work->bytes;
  case WORK_ACKED:
  case WORK_FIRST_DELIVERED:
  case WORK_DELIVERED:
  case WORK_ASK:
  case WORK_ANSWER:
  case WORK_FINISH:
  case WORK_FINISHED:
  case WORK_NOTHING: return 0;
  }
  g_assert_not_reached ();
}

static uint8_t
core_of (const SimReplay *replay, uint32_t rank)
{
  return replay->machine->slot_core[replay->mapping->slot[rank]];
}

static SimBuffer
private_of (const SimReplay *replay, uint32_t rank, uint64_t footprint_bytes)
{
  return (SimBuffer){ .kind = SIM_BUFFER_PRIVATE,
                      .core = core_of (replay, rank),
                      .footprint_bytes = footprint_bytes };
}

/* The BTL's buffer of the first piece or of the fragments: between nodes the
 * sender's or the receiver's. */
static SimBuffer
library_buffer (const SimReplay *replay, uint32_t transfer, bool sender, bool first)
{
  const SimTransfer *it = sim_transfer_at (replay, transfer);
  const TopoParameters *parameters = replay->parameters;
  uint32_t source = it->envelope.source, destination = it->destination;

  if (is_local (replay, transfer))
    return (SimBuffer){ .kind = SIM_BUFFER_SHARED,
                        .core = core_of (replay, source),
                        .peer = core_of (replay, destination),
                        .footprint_bytes = first ? parameters->ompi.sm_eager_bytes
                                                 : parameters->ompi.sm_depth *
                                                       parameters->ompi.sm_fragment_bytes };
  return (SimBuffer){ .kind = SIM_BUFFER_ADAPTER,
                      .core = core_of (replay, sender ? source : destination),
                      .footprint_bytes = first ? parameters->mpi.eager_bytes
                                               : parameters->ompi.send_fragment_bytes };
}

/* A pointer from one rank of a node to another: its reader polls a FIFO in its own memory. */
int64_t
sim_ob1_fifo_ps (const SimReplay *replay, uint32_t from, uint32_t to)
{
  const TopoParameters *parameters = replay->parameters;
  uint64_t n_lines = parameters->ompi.sm_lines;

  if (n_lines == 0)
    return parameters->ompi.sm_latency_ps;
  return parameters->ompi.sm_latency_ps +
         (int64_t) n_lines * sim_memory_handover_ps (ob1_of (replay)->memory,
                                                     core_of (replay, from), core_of (replay, to),
                                                     core_of (replay, to));
}

/* From where to where the next part of the copy goes. */
static void
work_copy_between (const SimReplay *replay, const Work *work, SimCopy *copy)
{
  uint32_t transfer = work->transfer;
  const Message *message;
  const SimTransfer *it;

  if (work->kind == WORK_COPY) { /* of the rank that `transfer` is then */
    copy->from = (SimBuffer){ .core = copy->core, .footprint_bytes = work->bytes };
    copy->to = private_of (replay, transfer, work->bytes);
    return;
  }
  it = sim_transfer_at (replay, transfer);
  message = message_of (replay, transfer);
  copy->from = private_of (replay, it->envelope.source, it->bytes);
  copy->to = private_of (replay, it->destination, it->bytes);
  if (work->kind == WORK_SEND) /* then the rest of a buffered one */
    copy->to = work->copied_bytes < message->first_bytes
                   ? library_buffer (replay, transfer, true, true)
                   : private_of (replay, it->envelope.source, it->bytes);
  else if (work->kind == WORK_SEND_FRAGMENT)
    copy->to = library_buffer (replay, transfer, true, false);
  else if (work->kind == WORK_STASH) {
    copy->from = library_buffer (replay, transfer, false, true);
    copy->to = private_of (replay, it->destination, work->bytes);
  } else if (work->kind == WORK_TAKE_FRAGMENT)
    copy->from = library_buffer (replay, transfer, false, false);
  else if (message->stashed)
    copy->from = private_of (replay, it->destination, message->first_bytes);
  else if (!message->single && !is_self (replay, transfer))
    copy->from = library_buffer (replay, transfer, false, true);
}

/* -- work that waits -------------------------------------------------------------- */

static void
queue_append (Ob1 *ob1, Queue *queue, uint32_t work)
{
  if (queue->n++ == 0)
    queue->first = work;
  else
    ob1->works[queue->last].next = work;
  queue->last = work;
}

static uint32_t
queue_pop (const Ob1 *ob1, Queue *queue)
{
  uint32_t work = queue->first;

  queue->first = ob1->works[work].next;
  queue->n--;
  return work;
}

static void
work_give (SimReplay *replay, uint32_t work)
{
  Ob1 *ob1 = ob1_of (replay);

  replay->n_works--;
  ob1->works[work].next = ob1->first_free_work;
  ob1->first_free_work = work;
}

uint32_t
sim_ob1_work_add (SimReplay *replay, uint32_t rank, Work work, Turn turn)
{
  Ob1 *ob1 = ob1_of (replay);
  Ob1Rank *it = &ob1->ranks[rank];
  bool agent =
      replay->graphs != NULL || (replay->parameters->mpi.async_progress && turn != TURN_CALL);
  Processor *processor = agent ? &it->agent : &it->own;
  uint32_t number = ob1->first_free_work;

  if (number != TOPO_NONE)
    ob1->first_free_work = ob1->works[number].next;
  else {
    if (ob1->n_works == ob1->works_capacity) {
      ob1->works_capacity = MAX (256u, 2 * ob1->works_capacity);
      ob1->works = g_renew (Work, ob1->works, ob1->works_capacity);
    }
    number = ob1->n_works++;
  }
  replay->n_works++;
  ob1->works[number] = work;
  ob1->works[number].next = TOPO_NONE;

  if (agent && work.at_ps > replay->now_ps) {
    /* By time, then in the order in which they came; they are few, as a rank makes
     * few calls ahead of the network. */
    uint32_t *link = &it->early.first;

    while (*link != TOPO_NONE && ob1->works[*link].at_ps <= work.at_ps)
      link = &ob1->works[*link].next;
    ob1->works[number].next = *link;
    *link = number;
    it->early.n++;
    sim_network_timer (replay->network, rank, event_cookie (EVENT_DUE, 0), work.at_ps);
  } else if (turn == TURN_NEXT) {
    ob1->works[number].next = processor->calls.first;
    processor->calls.first = number;
    if (processor->calls.n++ == 0)
      processor->calls.last = number;
  } else
    queue_append (ob1, turn == TURN_CALL ? &processor->calls : &processor->arrived, number);
  return number;
}

void
sim_ob1_work_due (SimReplay *replay, uint32_t rank)
{
  Ob1 *ob1 = ob1_of (replay);
  Ob1Rank *it = &ob1->ranks[rank];

  while (it->early.n > 0 && ob1->works[it->early.first].at_ps <= replay->now_ps) {
    uint32_t work = queue_pop (ob1, &it->early);

    ob1->works[work].next = TOPO_NONE;
    queue_append (ob1, &it->agent.arrived, work);
  }
}

/* -- processors ---------------------------------------------------------------------- */

/* The clock of a rank's own processor is the rank's. */
static void
processor_advance (SimReplay *replay, uint32_t rank, Processor *processor, int64_t at_ps)
{
  SimRank *it = &replay->ranks[rank];

  processor->clock_ps = at_ps;
  if (processor == &ob1_of (replay)->ranks[rank].own)
    it->local_ps = MAX (it->local_ps, at_ps);
}

/* Until the processor has to wait for its clock, or is done.  In a graph all
 * is done at the network's time. */
void
sim_ob1_work_go_on (SimReplay *replay, uint32_t rank, Processor *processor)
{
  Ob1 *ob1 = ob1_of (replay);
  bool agent = processor == &ob1->ranks[rank].agent;
  Work work;

  while (true) {
    Work *it = &ob1->works[processor->work];
    uint64_t left_bytes = work_copy_bytes (replay, it) - it->copied_bytes;

    if (processor->clock_ps > replay->now_ps && (left_bytes > 0 || replay->graphs != NULL)) {
      sim_network_timer (replay->network, rank, event_cookie (agent ? EVENT_AGENT : EVENT_CLOCK, 0),
                         processor->clock_ps);
      return;
    }
    if (!it->begun) {
      it->begun = true;
      work = *it;
      sim_ob1_work_begins (replay, &work, processor->clock_ps);
    } else if (left_bytes > 0) {
      SimCopy copy = { .node = replay->mapping->node[rank],
                       .core = core_of (replay, rank),
                       .bytes = MIN (left_bytes, sim_memory_quantum_bytes (ob1->memory)) };

      /* The memory serves calls in the order of their times. */
      g_assert (processor->clock_ps == replay->now_ps);
      work_copy_between (replay, it, &copy);
      it->copied_bytes += copy.bytes;
      processor_advance (replay, rank, processor,
                         sim_memory_copy (ob1->memory, &copy, processor->clock_ps));
    } else
      break;
  }
  work = ob1->works[processor->work];
  work_give (replay, processor->work);
  sim_ob1_work_ends (replay, rank, &work, processor->clock_ps);
  processor->work = TOPO_NONE;
}

/* Whether the processor took something up. */
static bool
processor_turn (SimReplay *replay, uint32_t rank, Processor *processor, bool may_progress)
{
  Ob1 *ob1 = ob1_of (replay);
  Queue *queue = processor->calls.n > 0 ? &processor->calls : &processor->arrived;
  uint32_t number;
  int64_t begin_ps;
  Work work;

  if (processor->work != TOPO_NONE || queue->n == 0 ||
      (queue == &processor->arrived && !may_progress))
    return false;
  number = queue_pop (ob1, queue);
  work = ob1->works[number];
  if (work.kind == WORK_NOTHING) {
    work_give (replay, number);
    return true;
  }
  begin_ps = MAX (MAX (replay->now_ps, processor->clock_ps), work.at_ps);
  if (processor == &ob1->ranks[rank].own) {
    begin_ps = MAX (begin_ps, replay->ranks[rank].local_ps);
    sim_rank_wait_until (replay, rank, begin_ps);
  }
  processor->work = number;
  processor_advance (replay, rank, processor, begin_ps + work_lead_ps (replay, &work));
  sim_ob1_work_go_on (replay, rank, processor);
  return true;
}

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

bool
sim_ob1_is_busy (const SimReplay *replay, uint32_t rank)
{
  const Processor *own = &ob1_of (replay)->ranks[rank].own;

  return own->work != TOPO_NONE || own->calls.n > 0;
}

void
sim_ob1_progress (SimReplay *replay, uint32_t rank, SimMoment moment)
{
  Ob1Rank *it = &ob1_of (replay)->ranks[rank];
  SimRank *state = &replay->ranks[rank];

  if (moment == SIM_MOMENT_ENTERED) { /* work that came until now is done before the rank goes on */
    it->round = it->own.arrived.n;
    if (state->state == SIM_RANK_READY && (it->round > 0 || sim_ob1_is_busy (replay, rank)))
      state->state = SIM_RANK_BUSY;
    return;
  }
  if (moment == SIM_MOMENT_CALLED) {
    while (processor_turn (replay, rank, &it->own, false))
      continue;
    return;
  }
  while (replay->error == NULL) {
    bool turned = processor_turn (replay, rank, &it->agent, true);

    if (!turned) {
      bool round = state->state == SIM_RANK_BUSY && it->round > 0;

      if (round && !sim_ob1_is_busy (replay, rank))
        it->round--;
      turned = processor_turn (replay, rank, &it->own, round || is_blocked (state));
    }
    if (!turned) {
      /* The rank may go on that was held up here, or its posted collectives. */
      if (state->state == SIM_RANK_BUSY && !sim_ob1_is_busy (replay, rank)) {
        state->state = SIM_RANK_READY;
        sim_ops_take_back (replay, rank);
      } else if (!state->active_ready || !is_blocked (state))
        return;
    }
    sim_rank_wake (replay, rank);
  }
}
