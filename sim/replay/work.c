/* work.c - the processors of ranks on a fabric.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/work.h"

void
sim_workers_init (SimReplay *replay, SimWorkers *workers, const SimWorkRules *rules,
                  int64_t request_ps)
{
  static const SimWorkQueue empty = { TOPO_NONE, TOPO_NONE, 0 };

  *workers = (SimWorkers){ .rules = rules,
                           .memory = replay->network->memory,
                           .workers = g_new0 (SimWorker, replay->n_ranks),
                           .request_ps = request_ps,
                           .first_free_work = TOPO_NONE };
  for (uint32_t rank = 0; rank < replay->n_ranks; rank++) {
    workers->workers[rank].own = workers->workers[rank].agent =
        (SimProcessor){ .calls = empty, .arrived = empty, .work = TOPO_NONE };
    workers->workers[rank].early = empty;
  }
  if (workers->memory == NULL)
    workers->memory = workers->own_memory = sim_memory_new (replay->machine);
}

void
sim_workers_clear (SimWorkers *workers)
{
  if (workers->own_memory != NULL)
    sim_memory_free (workers->own_memory);
  g_free (workers->workers);
  g_free (workers->works);
}

void
sim_workers_dump (SimReplay *replay, BaseDump *dump)
{
  SimWorkers *all = sim_workers (replay);

  base_dump_array (dump, all->workers, replay->n_ranks, sizeof *all->workers);
  base_dump_list (dump, (void **) &all->works, &all->n_works, &all->works_capacity,
                  sizeof *all->works);
  BASE_DUMP_VALUE (dump, all->first_free_work);
  if (all->own_memory != NULL)
    sim_memory_dump (all->own_memory, dump);
}

/* -- within a node, and past the libraries ---------------------------------------- */

/* Its reader polls a FIFO in its own memory. */
int64_t
sim_fifo_ps (const SimReplay *replay, uint32_t from, uint32_t to)
{
  const TopoParameters *parameters = replay->parameters;
  uint64_t n_lines = parameters->ompi.sm_lines;

  if (n_lines == 0)
    return parameters->ompi.sm_latency_ps;
  return parameters->ompi.sm_latency_ps +
         (int64_t) n_lines *
             sim_memory_handover_ps (sim_workers (replay)->memory, sim_core_of (replay, from),
                                     sim_core_of (replay, to), sim_core_of (replay, to));
}

void
sim_write_to (SimReplay *replay, uint32_t from, uint32_t to, uint64_t bytes, uint64_t cookie,
              bool acknowledge, int64_t at_ps)
{
  sim_message_transmit (replay,
                        (SimMessage){ .cookie = cookie,
                                      .bytes = bytes,
                                      .source_rank = from,
                                      .destination_rank = to,
                                      .kind = SIM_MESSAGE_WRITE,
                                      .acknowledge = acknowledge },
                        at_ps);
}

void
sim_work_copy_within (SimReplay *replay, uint32_t rank, uint32_t peer, uint64_t bytes,
                      uint32_t notify, uint64_t cookie)
{
  sim_work_add (replay, rank,
                (SimWork){ .kind = SIM_WORK_COPY,
                           .at_ps = replay->ranks[rank].local_ps,
                           .bytes = bytes,
                           .transfer = peer,
                           .notify = notify,
                           .cookie = cookie },
                SIM_TURN_CALL);
}

void
sim_work_direct (SimReplay *replay, uint32_t rank, uint32_t peer, uint64_t bytes, uint64_t cookie)
{
  SimRank *it = &replay->ranks[rank];

  it->local_ps += replay->parameters->mpi.send_overhead_ps;
  if (it->node == replay->ranks[peer].node) {
    sim_work_copy_within (replay, rank, peer, bytes, peer, cookie);
    return;
  }
  it->local_ps += sim_workers (replay)->request_ps;
  sim_write_to (replay, rank, peer, bytes, cookie, false, it->local_ps);
}

void
sim_work_access (SimReplay *replay, uint32_t transfer)
{
  const SimTransfer *access = sim_transfer_at (replay, transfer);
  uint32_t origin = access->envelope.source, target = access->destination;
  bool put = access->state == TRACE_OP_PUT;

  if (sim_transfer_is_local (replay, access)) {
    sim_work_copy_within (replay, origin, target, access->bytes + access->back_bytes, origin,
                          sim_cookie (SIM_COOKIE_ACCESSED, 0, transfer));
    return;
  }
  replay->ranks[origin].local_ps += sim_workers (replay)->request_ps;
  sim_write_to (replay, origin, target, access->bytes,
                sim_event_cookie (put ? SIM_WORK_STORE : SIM_WORK_ACCESS, transfer), put,
                replay->ranks[origin].local_ps);
}

/* The target's adapter has the data of an access, or what asks for it. */
static void
access_comes (SimReplay *replay, uint32_t rank, uint32_t transfer)
{
  const SimTransfer *access = sim_transfer_at (replay, transfer);

  if (access->state != TRACE_OP_GET)
    sim_window_arrived (replay, transfer);
  sim_write_to (replay, rank, access->envelope.source, access->back_bytes,
                sim_cookie (SIM_COOKIE_ACCESSED, 0, transfer), false, replay->now_ps);
}

/* -- rules of all libraries -------------------------------------------------------- */

static int64_t
work_lead_ps (SimReplay *replay, const SimWork *work, int64_t begin_ps)
{
  if (work->kind < SIM_WORK_LIBRARY)
    return 0;
  return sim_workers (replay)->rules->lead_ps (replay, work, begin_ps);
}

static uint64_t
work_copy_bytes (const SimReplay *replay, const SimWork *work)
{
  if (work->kind == SIM_WORK_NOTHING)
    return 0;
  return work->kind == SIM_WORK_COPY ? work->bytes
                                     : sim_workers (replay)->rules->copy_bytes (replay, work);
}

static void
work_copy_between (const SimReplay *replay, const SimWork *work, SimCopy *copy)
{
  if (work->kind == SIM_WORK_COPY) {
    copy->from = (SimBuffer){ .core = copy->core, .footprint_bytes = work->bytes };
    copy->to = sim_private_buffer (replay, work->transfer, work->bytes);
  } else {
    sim_workers (replay)->rules->copy_between (replay, work, copy);
  }
}

static void
work_begins (SimReplay *replay, const SimWork *work, int64_t at_ps)
{
  if (work->kind >= SIM_WORK_LIBRARY && sim_workers (replay)->rules->begins != NULL)
    sim_workers (replay)->rules->begins (replay, work, at_ps);
}

static void
work_ends (SimReplay *replay, uint32_t rank, const SimWork *work, int64_t at_ps)
{
  if (work->kind == SIM_WORK_COPY)
    sim_network_timer (replay->network, work->notify, work->cookie,
                       at_ps + sim_fifo_ps (replay, rank, work->notify));
  else if (work->kind != SIM_WORK_NOTHING)
    sim_workers (replay)->rules->ends (replay, rank, work, at_ps);
}

/* -- work that waits -------------------------------------------------------------- */

static void
queue_append (SimWorkers *all, SimWorkQueue *queue, uint32_t work)
{
  if (queue->n++ == 0)
    queue->first = work;
  else
    all->works[queue->last].next = work;
  queue->last = work;
}

static uint32_t
queue_pop (const SimWorkers *all, SimWorkQueue *queue)
{
  uint32_t work = queue->first;

  queue->first = all->works[work].next;
  queue->n--;
  return work;
}

static void
work_give (SimReplay *replay, uint32_t work)
{
  SimWorkers *all = sim_workers (replay);

  replay->n_works--;
  all->works[work].next = all->first_free_work;
  all->first_free_work = work;
}

uint32_t
sim_work_add (SimReplay *replay, uint32_t rank, SimWork work, SimTurn turn)
{
  SimWorkers *all = sim_workers (replay);
  SimWorker *it = &all->workers[rank];
  bool agent =
      replay->graphs != NULL || (replay->parameters->mpi.async_progress && turn != SIM_TURN_CALL);
  SimProcessor *processor = agent ? &it->agent : &it->own;
  uint32_t number = all->first_free_work;

  if (number != TOPO_NONE)
    all->first_free_work = all->works[number].next;
  else {
    if (all->n_works == all->works_capacity) {
      all->works_capacity = MAX (256u, 2 * all->works_capacity);
      all->works = g_renew (SimWork, all->works, all->works_capacity);
    }
    number = all->n_works++;
  }
  replay->n_works++;
  all->works[number] = work;
  all->works[number].next = TOPO_NONE;

  if (agent && work.at_ps > replay->now_ps) {
    /* By time, then in the order in which they came; they are few, as a rank makes
     * few calls ahead of the network. */
    uint32_t *link = &it->early.first;

    while (*link != TOPO_NONE && all->works[*link].at_ps <= work.at_ps)
      link = &all->works[*link].next;
    all->works[number].next = *link;
    *link = number;
    it->early.n++;
    sim_network_timer (replay->network, rank, sim_event_cookie (SIM_WORK_DUE, 0), work.at_ps);
  } else if (turn == SIM_TURN_NEXT) {
    all->works[number].next = processor->calls.first;
    processor->calls.first = number;
    if (processor->calls.n++ == 0)
      processor->calls.last = number;
  } else
    queue_append (all, turn == SIM_TURN_CALL ? &processor->calls : &processor->arrived, number);
  return number;
}

void
sim_work_arrived (SimReplay *replay, uint32_t rank, uint32_t transfer, uint8_t kind, uint64_t bytes)
{
  sim_work_add (replay, rank, (SimWork){ .kind = kind, .transfer = transfer, .bytes = bytes },
                SIM_TURN_ARRIVED);
}

/* Some of the agent's work may begin now. */
static void
work_due (SimReplay *replay, uint32_t rank)
{
  SimWorkers *all = sim_workers (replay);
  SimWorker *it = &all->workers[rank];

  while (it->early.n > 0 && all->works[it->early.first].at_ps <= replay->now_ps) {
    uint32_t work = queue_pop (all, &it->early);

    all->works[work].next = TOPO_NONE;
    queue_append (all, &it->agent.arrived, work);
  }
}

/* -- processors ---------------------------------------------------------------------- */

/* The clock of a rank's own processor is the rank's. */
static void
processor_advance (SimReplay *replay, uint32_t rank, SimProcessor *processor, int64_t at_ps)
{
  SimRank *it = &replay->ranks[rank];

  processor->clock_ps = at_ps;
  if (processor == &sim_workers (replay)->workers[rank].own)
    it->local_ps = MAX (it->local_ps, at_ps);
}

/* Until the processor has to wait for its clock, or is done.  In a graph all
 * is done at the network's time. */
static void
go_on (SimReplay *replay, uint32_t rank, SimProcessor *processor)
{
  SimWorkers *all = sim_workers (replay);
  bool agent = processor == &all->workers[rank].agent;
  SimWork work;

  while (true) {
    SimWork *it = &all->works[processor->work];
    uint64_t left_bytes = work_copy_bytes (replay, it) - it->copied_bytes;

    if (processor->clock_ps > replay->now_ps && (left_bytes > 0 || replay->graphs != NULL)) {
      sim_network_timer (replay->network, rank,
                         sim_event_cookie (agent ? SIM_WORK_AGENT : SIM_WORK_CLOCK, 0),
                         processor->clock_ps);
      return;
    }
    if (!it->begun) {
      it->begun = true;
      work = *it;
      work_begins (replay, &work, processor->clock_ps);
    } else if (left_bytes > 0) {
      SimCopy copy = { .node = replay->mapping->node[rank],
                       .core = sim_core_of (replay, rank),
                       .bytes = MIN (left_bytes, sim_memory_quantum_bytes (all->memory)) };

      /* The memory serves calls in the order of their times. */
      g_assert (processor->clock_ps == replay->now_ps);
      work_copy_between (replay, it, &copy);
      it->copied_bytes += copy.bytes;
      processor_advance (replay, rank, processor,
                         sim_memory_copy (all->memory, &copy, processor->clock_ps));
    } else
      break;
  }
  work = all->works[processor->work];
  work_give (replay, processor->work);
  work_ends (replay, rank, &work, processor->clock_ps);
  processor->work = TOPO_NONE;
}

/* Whether the processor took something up. */
static bool
processor_turn (SimReplay *replay, uint32_t rank, SimProcessor *processor, bool may_progress)
{
  SimWorkers *all = sim_workers (replay);
  SimWorkQueue *queue = processor->calls.n > 0 ? &processor->calls : &processor->arrived;
  uint32_t number;
  int64_t begin_ps;
  SimWork work;

  if (processor->work != TOPO_NONE || queue->n == 0 ||
      (queue == &processor->arrived && !may_progress))
    return false;
  number = queue_pop (all, queue);
  work = all->works[number];
  if (work.kind == SIM_WORK_NOTHING) {
    work_give (replay, number);
    return true;
  }
  begin_ps = MAX (MAX (replay->now_ps, processor->clock_ps), work.at_ps);
  if (processor == &all->workers[rank].own) {
    begin_ps = MAX (begin_ps, replay->ranks[rank].local_ps);
    sim_rank_wait_until (replay, rank, begin_ps);
  }
  processor->work = number;
  processor_advance (replay, rank, processor, begin_ps + work_lead_ps (replay, &work, begin_ps));
  go_on (replay, rank, processor);
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
sim_work_is_busy (const SimReplay *replay, uint32_t rank)
{
  const SimProcessor *own = &sim_workers (replay)->workers[rank].own;

  return own->work != TOPO_NONE || own->calls.n > 0;
}

void
sim_work_progress (SimReplay *replay, uint32_t rank, SimMoment moment)
{
  SimWorker *it = &sim_workers (replay)->workers[rank];
  SimRank *state = &replay->ranks[rank];

  if (moment == SIM_MOMENT_ENTERED) { /* work that came until now is done before the rank goes on */
    it->round = it->own.arrived.n;
    if (state->state == SIM_RANK_READY && (it->round > 0 || sim_work_is_busy (replay, rank)))
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

      if (round && !sim_work_is_busy (replay, rank))
        it->round--;
      turned = processor_turn (replay, rank, &it->own, round || is_blocked (state));
    }
    if (!turned) {
      /* The rank may go on that was held up here, or its posted collectives. */
      if (state->state == SIM_RANK_BUSY && !sim_work_is_busy (replay, rank)) {
        state->state = SIM_RANK_READY;
        sim_ops_take_back (replay, rank);
      } else if (!state->active_ready || !is_blocked (state))
        return;
    }
    sim_rank_wake (replay, rank);
  }
}

bool
sim_work_event (SimReplay *replay, const SimProtocolEvent *event)
{
  uint32_t rank = event->rank, kind = sim_cookie_high (event->cookie);
  uint32_t transfer = sim_cookie_low (event->cookie);
  SimWorker *it = &sim_workers (replay)->workers[rank];

  if (kind >= SIM_WORK_EVENTS)
    return false;
  switch (kind) {
  case SIM_WORK_CLOCK:
  case SIM_WORK_AGENT:
    go_on (replay, rank, kind == SIM_WORK_AGENT ? &it->agent : &it->own);
    sim_rank_wake (replay, rank);
    break;
  case SIM_WORK_DUE: work_due (replay, rank); break;
  case SIM_WORK_ACCESS: access_comes (replay, rank, transfer); break;
  case SIM_WORK_STORE:
    if (event->acknowledged)
      sim_window_accessed (replay, transfer);
    break;
  default: g_assert_not_reached ();
  }
  return true;
}
