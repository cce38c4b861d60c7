/* replay_active.c - collectives: entering, steps, progress.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The n-th collective of a rank on a communicator, blocking or not, is the
 * n-th of all its members; (communicator, n) is an instance.  How each method
 * costs:
 *
 *   STEPS     every message as a send and a receive of the user would
 *   HARDWARE  all meet, nobody's processor works: released at the latest
 *             arrival plus sim_collective_hardware_ps(); see replay_meet.c
 *   DIRECT    direct_overhead per message; messages without data are not
 *             sent, and arrivals cost no processor time; see replay_direct.c
 *   NOTHING   call_overhead
 *
 * A nonblocking one costs call_overhead more, and its request is complete when
 * it has ended.  The call does what can be done at once: the steps up to the
 * first that has to wait, or all direct messages.  Later steps are the
 * processor's work, so they are done, in the order in which the collectives
 * were posted, when the rank is in MPI: when it is blocked there, or makes its
 * next call after a computation; or at once where async_progress lets
 * another hardware thread do it.  What the network does alone needs nobody. */
#include "sim/replay/replay_private.h"

#include <string.h>

/* -- the collectives of a rank -------------------------------------------- */

SimActive *
sim_active_find (const SimReplay *replay, uint32_t rank, uint32_t comm, uint32_t sequence)
{
  SimActive *active = replay->ranks[rank].active;

  while (active != NULL && (active->comm != comm || active->sequence != sequence))
    active = active->next;
  return active;
}

static SimEnvelope
active_envelope (const SimActive *active, uint32_t source)
{
  return (SimEnvelope){ sim_protocol_context (active->comm, true), source,
                        (int32_t) active->sequence };
}

SimActive *
sim_active_of (const SimReplay *replay, const SimRequest *request)
{
  for (SimActive *active = replay->ranks[request->rank].active; active != NULL;
       active = active->next) {
    SimEnvelope envelope = active_envelope (active, 0);

    if (envelope.context == request->envelope.context && envelope.tag == request->envelope.tag)
      return active;
  }
  return NULL;
}

bool
sim_active_posted (const SimRank *rank)
{
  return rank->active != NULL && (!rank->active->blocks || rank->active->next != NULL);
}

static void
active_remove (SimRank *rank, const SimActive *active)
{
  SimActive **link = &rank->active;

  while (*link != active)
    link = &(*link)->next;
  *link = active->next;
}

static void
active_append (SimRank *rank, SimActive *active)
{
  SimActive **link = &rank->active;

  while (*link != NULL)
    link = &(*link)->next;
  active->next = NULL;
  *link = active;
}

void
sim_active_unblock (SimReplay *replay, SimActive *active)
{
  SimRank *it = &replay->ranks[active->rank];

  active->blocks = false;
  active_remove (it, active);
  active_append (it, active);
}

void
sim_active_end (SimReplay *replay, SimActive *active, int64_t at_ps)
{
  active_remove (&replay->ranks[active->rank], active);
  if (active->request != TOPO_NONE)
    sim_request_complete (replay, active->request, at_ps);
  g_free (active);
}

void
sim_active_clear (SimRank *rank)
{
  while (rank->active != NULL) {
    SimActive *active = rank->active;

    rank->active = active->next;
    g_free (active);
  }
}

/* -- collectives by messages --------------------------------------------- */

/* Requests that the active one waits for. */
static uint32_t
active_pending (const SimReplay *replay, const SimActive *active)
{
  return active->blocks ? replay->ranks[active->rank].pending : active->pending;
}

static uint32_t
step_request (SimReplay *replay, SimActive *active, uint32_t peer, uint64_t bytes, bool is_send)
{
  uint32_t world = sim_active_member (replay, active, peer);

  active->pending += !active->blocks;
  return sim_request_take (replay,
                           (SimRequest){
                               .bytes = bytes,
                               .envelope = active_envelope (active, is_send ? active->rank : world),
                               .rank = active->rank,
                               .peer = world,
                               .mode = TRACE_SEND_STANDARD,
                               .is_send = is_send,
                               .owned = !active->blocks,
                           });
}

static void
step_run (SimReplay *replay, SimActive *active, const SimStep *step)
{
  uint32_t request;

  if (step->recv_from != TOPO_NONE) {
    request = step_request (replay, active, step->recv_from, step->recv_bytes, false);
    sim_protocol_post (replay, request);
    if (active->blocks)
      sim_request_await (replay, request);
  }
  if (step->send_to != TOPO_NONE) {
    request = step_request (replay, active, step->send_to, step->send_bytes, true);
    sim_protocol_send (replay, request);
    if (active->blocks)
      sim_request_await (replay, request);
  }
}

/* Called when nothing is pending; true when all is done. */
static bool
steps_run (SimReplay *replay, SimActive *active)
{
  while (active->step < active->collective.n_steps) {
    SimStep step = sim_collective_step (&active->collective, active->step++);

    step_run (replay, active, &step);
    if (step.wait && active_pending (replay, active) > 0)
      return false;
  }
  return active_pending (replay, active) == 0;
}

static void
steps_continue (SimReplay *replay, SimActive *active)
{
  if (steps_run (replay, active))
    sim_active_end (replay, active, replay->ranks[active->rank].local_ps);
}

/* The steps of a posted one, by the rank's processor or, in no time of the
 * rank's, by an agent.  A rank that is done helps the others from
 * MPI_Finalize, but comes there in its own time.  One that waits for the end
 * goes on at the agent's time, so the clock is its own again before. */
static void
steps_advance (SimReplay *replay, SimActive *active, bool agent)
{
  SimRank *it = &replay->ranks[active->rank];
  int64_t own_ps = it->local_ps, agent_ps;
  bool done;

  if (!agent) {
    sim_rank_wait_until (replay, active->rank, active->at_ps);
    steps_continue (replay, active);
    return;
  }
  it->local_ps = MAX (active->at_ps, it->state == SIM_RANK_DONE ? own_ps : replay->now_ps);
  done = steps_run (replay, active);
  agent_ps = it->local_ps;
  it->local_ps = own_ps;
  if (done)
    sim_active_end (replay, active, agent_ps);
}

void
sim_active_progress (SimReplay *replay, uint32_t rank)
{
  SimRank *it = &replay->ranks[rank];
  bool agent = replay->parameters->async_progress || it->state == SIM_RANK_DONE;
  SimActive *next;

  if (!it->active_ready || (it->state == SIM_RANK_RUNNING && !agent))
    return;
  it->active_ready = false;
  for (SimActive *active = it->active; active != NULL; active = next) {
    next = active->next;
    if (!active->blocks && active->collective.method == SIM_COLLECTIVE_STEPS &&
        active->pending == 0)
      steps_advance (replay, active, agent);
  }
}

void
sim_active_owned (SimReplay *replay, const SimRequest *request, int64_t at_ps)
{
  SimActive *active = sim_active_of (replay, request);

  g_assert (active != NULL);
  active->at_ps = MAX (active->at_ps, at_ps);
  if (--active->pending == 0)
    replay->ranks[request->rank].active_ready = true;
}

/* -- entering ------------------------------------------------------------ */

/* A copy of an operation's list, behind the ones that are copied already. */
static const void *
list_copy (char **to, const void *list, gsize bytes)
{
  void *copy = *to;

  if (list == NULL || bytes == 0)
    return NULL;
  *to += (bytes + sizeof (uint64_t) - 1) / sizeof (uint64_t) * sizeof (uint64_t);
  return memcpy (copy, list, bytes);
}

/* Copies the operation's arrays, as the cursor keeps them for one call only. */
static SimActive *
active_new (const SimReplay *replay, uint32_t rank, const TraceOp *op, uint32_t comm, uint32_t me)
{
  bool neighbors = sim_collective_has_neighbors (op->kind);
  gsize n_lists = ((gsize) op->n_counts + op->n_recv_counts) * (neighbors ? 2 : 1);
  SimActive *active = g_malloc0 (sizeof (SimActive) + n_lists * sizeof (uint64_t));
  char *to = (char *) active->arrays;
  TraceOp copy = *op;

  copy.counts = list_copy (&to, op->counts, op->n_counts * sizeof *op->counts);
  copy.recv_counts = list_copy (&to, op->recv_counts, op->n_recv_counts * sizeof *op->recv_counts);
  if (neighbors) {
    copy.values = list_copy (&to, op->values, op->n_counts * sizeof *op->values);
    copy.values2 = list_copy (&to, op->values2, op->n_recv_counts * sizeof *op->values2);
  }
  active->rank = rank;
  active->comm = comm;
  active->request = TOPO_NONE;
  sim_collective_init (&active->collective, replay->machine, &copy,
                       trace_comms_size (replay->comms, comm), me,
                       trace_comms_is_world (replay->comms, comm));
  return active;
}

static bool
count_check (SimReplay *replay, uint32_t rank, uint32_t n_counts, uint32_t size)
{
  if (n_counts == 0 || n_counts == size)
    return true;
  sim_report_fail (replay, rank, "%u counts on a communicator of %u ranks", n_counts, size);
  return false;
}

static bool
neighbors_check (SimReplay *replay, uint32_t rank, const int32_t *neighbors, uint32_t n,
                 uint32_t size)
{
  for (uint32_t i = 0; i < n; i++)
    if (neighbors == NULL || neighbors[i] < 0 || (uint32_t) neighbors[i] >= size) {
      sim_report_fail (replay, rank, "neighbour %d in a communicator of %u ranks",
                       neighbors == NULL ? TRACE_PROC_NULL : neighbors[i], size);
      return false;
    }
  return true;
}

/* False, and the replay failed, when the call does not fit its communicator. */
static bool
collective_check (SimReplay *replay, uint32_t rank, const TraceOp *op, uint32_t size)
{
  if (sim_collective_has_neighbors (op->kind))
    return neighbors_check (replay, rank, op->values, op->n_counts, size) &&
           neighbors_check (replay, rank, op->values2, op->n_recv_counts, size);
  if (!count_check (replay, rank, op->n_counts, size) ||
      !count_check (replay, rank, op->n_recv_counts, size))
    return false;
  if (sim_collective_has_root (op->kind) && (op->root < 0 || (uint32_t) op->root >= size)) {
    sim_report_fail (replay, rank, "root %d of a communicator of %u ranks", op->root, size);
    return false;
  }
  return true;
}

/* Goes on with a collective of any method, until it has to wait. */
static void
active_run (SimReplay *replay, SimActive *active)
{
  SimRank *it = &replay->ranks[active->rank];

  switch ((SimCollectiveMethod) active->collective.method) {
  case SIM_COLLECTIVE_STEPS: steps_continue (replay, active); break;
  case SIM_COLLECTIVE_HARDWARE: sim_meet_in_hardware (replay, active); break;
  case SIM_COLLECTIVE_DIRECT: sim_direct_continue (replay, active); break;
  case SIM_COLLECTIVE_NOTHING:
    if (active->request == TOPO_NONE)
      it->local_ps += replay->parameters->call_overhead_ps;
    sim_active_end (replay, active, it->local_ps);
    break;
  }
}

/* Makes it a nonblocking one, with a request under the program's handle. */
static void
active_post (SimReplay *replay, SimActive *active, uint32_t handle)
{
  active->request = sim_request_take (replay, (SimRequest){
                                                  .envelope = active_envelope (active, TOPO_NONE),
                                                  .rank = active->rank,
                                                  .peer = TOPO_NONE,
                                                  .nobody = true,
                                                  .collective = true,
                                              });
  sim_handle_push (replay, active->rank, handle, active->request);
  replay->ranks[active->rank].local_ps += replay->parameters->call_overhead_ps;
}

/* The one that blocks stands first. */
static void
active_insert (SimRank *rank, SimActive *active)
{
  active->blocks =
      active->request == TOPO_NONE || active->collective.method == SIM_COLLECTIVE_DIRECT;
  if (!active->blocks) {
    active_append (rank, active);
    return;
  }
  active->next = rank->active;
  rank->active = active;
}

/* The operation on its communicator; NULL, and the replay failed, when it
 * cannot be there. */
static SimActive *
active_make (SimReplay *replay, uint32_t rank, const TraceOp *op, uint32_t comm)
{
  uint32_t me;

  if (comm == TRACE_COMMS_NULL ||
      !collective_check (replay, rank, op, trace_comms_size (replay->comms, comm)))
    return NULL;
  me = comm == TRACE_COMMS_SELF ? 0 : trace_comms_rank (replay->comms, comm, rank);
  if (me != TOPO_NONE)
    return active_new (replay, rank, op, comm, me);
  sim_report_fail (replay, rank, "not a member of communicator %u", op->comm);
  return NULL;
}

/* Begins, unless the rank must wait for something else before it. */
static void
active_begin (SimReplay *replay, SimActive *active)
{
  SimRank *it = &replay->ranks[active->rank];

  active_insert (it, active);
  if (it->pending == 0)
    active_run (replay, active);
}

bool
sim_active_number (SimReplay *replay, uint32_t rank, const TraceOp *op, uint32_t comm,
                   uint32_t *sequence)
{
  g_autoptr (GError) error = NULL;

  *sequence = trace_map_add (&replay->ranks[rank].sequences, comm, 0)->value[0]++;
  if (sim_agreement_enter (replay->agreement, rank, comm, *sequence, op, &error))
    return true;
  if (replay->error == NULL)
    replay->error = g_steal_pointer (&error);
  return false;
}

void
sim_active_enter (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  SimActive *active = active_make (replay, rank, op, sim_ops_comm (replay, rank, op));

  if (active == NULL)
    return;
  if (!sim_active_number (replay, rank, op, active->comm, &active->sequence)) {
    g_free (active);
    return;
  }
  if (op->bytes == TRACE_UNKNOWN_BYTES || op->recv_bytes == TRACE_UNKNOWN_BYTES)
    sim_report_warn (replay, rank, SIM_WARNING_UNKNOWN_SIZE);
  replay->result.collectives++;
  if (op->nonblocking)
    active_post (replay, active, op->request);
  active_begin (replay, active);
}

void
sim_active_exchange (SimReplay *replay, uint32_t rank, const TraceOp *op, uint32_t comm,
                     uint32_t number)
{
  SimActive *active = active_make (replay, rank, op, comm);

  if (active == NULL)
    return;
  active->sequence = number;
  active_begin (replay, active);
}

void
sim_active_continue (SimReplay *replay, uint32_t rank)
{
  active_run (replay, replay->ranks[rank].active);
}
