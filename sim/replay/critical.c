/* critical.c - what the time of a run is made of, along its critical path.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/critical.h"

#include "sim/net/message_cost.h"
#include "sim/replay/work.h"

const char *const sim_class_names[SIM_N_CLASSES] = { "compute", "software", "latency", "bandwidth",
                                                     "queueing" };

static int64_t
path_end_ps (const SimPath *path)
{
  int64_t sum_ps = 0;

  for (uint32_t class = 0; class < SIM_N_CLASSES; class ++)
    sum_ps += path->ps[class];
  return sum_ps;
}

/* --- Life --- */

void
sim_critical_init (SimReplay *replay, const RoutePaths *routes)
{
  if (routes == NULL || replay->graphs != NULL)
    return;
  replay->critical = g_new (SimCritical, 1);
  *replay->critical = (SimCritical){ .routes = routes,
                                     .ranks = g_new0 (SimPath, replay->n_ranks),
                                     .released = g_new0 (SimPath, replay->n_ranks) };
}

void
sim_critical_free (SimReplay *replay)
{
  if (replay->critical == NULL)
    return;
  g_free (replay->critical->ranks);
  g_free (replay->critical->released);
  g_free (replay->critical);
}

/* Those of transfers are saved with the transfers. */
void
sim_critical_dump (SimReplay *replay, BaseDump *dump)
{
  SimCritical *critical = replay->critical;

  base_dump_section (dump, "critical path");
  if (critical == NULL)
    return;
  base_dump_array (dump, critical->ranks, replay->n_ranks, sizeof *critical->ranks);
  base_dump_array (dump, critical->released, replay->n_ranks, sizeof *critical->released);
}

/* --- Paths to ranks --- */

/* What a rank has done since its path was looked at is the messaging library's work. */
static SimPath *
rank_path (SimReplay *replay, uint32_t rank)
{
  SimPath *path = &replay->critical->ranks[rank];

  if (replay->ranks[rank].state != SIM_RANK_DONE)
    path->ps[SIM_CLASS_SOFTWARE] += MAX (0, replay->ranks[rank].local_ps - path_end_ps (path));
  return path;
}

void
sim_critical_start (SimReplay *replay, uint32_t rank)
{
  if (replay->critical != NULL)
    replay->critical->ranks[rank].ps[SIM_CLASS_COMPUTE] = replay->ranks[rank].local_ps;
}

void
sim_critical_compute (SimReplay *replay, uint32_t rank, int64_t compute_ps)
{
  if (replay->critical != NULL)
    rank_path (replay, rank)->ps[SIM_CLASS_COMPUTE] += compute_ps;
}

SimPath
sim_critical_of (SimReplay *replay, uint32_t rank)
{
  return replay->critical != NULL ? *rank_path (replay, rank) : (SimPath){ { 0 } };
}

/* --- The path to the present callback --- */

/* The time from the end of `path` to the callback, as the message spent it. */
static void
add_message (SimReplay *replay, SimPath *path, const SimMessage *message, uint64_t n_times)
{
  SimMessage whole = *message;
  SimMessageTimes idle;
  int64_t left_ps = replay->now_ps - path_end_ps (path);
  int64_t latency_ps, bandwidth_ps;

  whole.bytes = MAX (message->bytes, message->whole_bytes);
  idle = sim_message_idle_times (replay->critical->routes, replay->mapping, &whole,
                                 replay->critical_links);
  latency_ps = MIN (left_ps, idle.latency_ps);
  left_ps -= latency_ps;
  bandwidth_ps = idle.bandwidth_ps > left_ps / (int64_t) n_times
                     ? left_ps
                     : idle.bandwidth_ps * (int64_t) n_times;
  path->ps[SIM_CLASS_LATENCY] += latency_ps;
  path->ps[SIM_CLASS_BANDWIDTH] += bandwidth_ps;
  path->ps[SIM_CLASS_QUEUEING] += left_ps - bandwidth_ps;
}

/* Within a node: a pointer in its memory, and copies. */
static void
add_copy (const SimReplay *replay, SimPath *path)
{
  const TopoParameters *parameters = replay->parameters;
  int64_t latency_ps = parameters->family == TOPO_FAMILY_FABRIC ? parameters->ompi.sm_latency_ps
                                                                : parameters->mpi.shm_latency_ps;
  int64_t left_ps = replay->now_ps - path_end_ps (path);

  latency_ps = MIN (latency_ps, left_ps);
  path->ps[SIM_CLASS_LATENCY] += latency_ps;
  path->ps[SIM_CLASS_BANDWIDTH] += left_ps - latency_ps;
}

/* The transfer that an event is about; TOPO_NONE: none. */
static uint32_t
transfer_of (const SimReplay *replay, uint64_t cookie)
{
  uint32_t kind = sim_cookie_kind (cookie);
  bool is_own = replay->machine->fabric != NULL && sim_cookie_high (cookie) < SIM_WORK_ACCESS;

  if (kind == SIM_COOKIE_ACCESSED || (kind >= SIM_COOKIE_PROTOCOL && !is_own))
    return sim_cookie_low (cookie);
  return TOPO_NONE;
}

static bool
is_meeting (uint64_t cookie)
{
  return sim_cookie_kind (cookie) == SIM_COOKIE_RELEASE ||
         sim_cookie_kind (cookie) == SIM_COOKIE_MET;
}

/* Messages of the collective that the rank is in. */
static uint64_t
n_direct (const SimReplay *replay, uint32_t rank)
{
  const SimActive *active = replay->ranks[rank].active;

  return active != NULL && active->collective.n_ranks > 1 ? active->collective.n_ranks - 1 : 1;
}

/* Most callbacks let nobody go on, so the path to one is only made when something asks for it. */
static const SimPath *
cause_path (SimReplay *replay)
{
  SimPath *cause = &replay->cause;
  uint32_t rank = replay->cause_rank, kind = sim_cookie_kind (replay->cause_cookie);
  uint32_t transfer = transfer_of (replay, replay->cause_cookie);
  const SimMessage *message = replay->cause_message;
  bool meeting = is_meeting (replay->cause_cookie);

  if (replay->cause_known)
    return cause;
  replay->cause_known = true;
  *cause = transfer != TOPO_NONE ? *sim_transfer_path (replay, transfer)
           : meeting             ? replay->critical->released[rank]
                                 : *rank_path (replay, rank);
  /* The clock of a released rank may be ahead. */
  if (path_end_ps (cause) > replay->now_ps &&
      !meeting) /* another piece of the message was sent since */
    *cause = *rank_path (replay, rank);
  if (path_end_ps (cause) >= replay->now_ps)
    return cause;
  if (message != NULL)
    add_message (replay, cause, message, kind == SIM_COOKIE_DIRECT ? n_direct (replay, rank) : 1);
  else if (transfer != TOPO_NONE)
    add_copy (replay, cause);
  else
    cause->ps[meeting ? SIM_CLASS_LATENCY : SIM_CLASS_SOFTWARE] +=
        replay->now_ps - path_end_ps (cause);
  return cause;
}

void
sim_critical_event (SimReplay *replay, const SimProtocolEvent *event, const SimMessage *message)
{
  if (replay->critical == NULL)
    return;
  replay->cause_cookie = event->cookie;
  replay->cause_rank = event->rank;
  replay->cause_message = message;
  replay->cause_known = false;
}

void
sim_critical_give (SimReplay *replay, uint32_t transfer)
{
  if (replay->critical != NULL && transfer_of (replay, replay->cause_cookie) == transfer)
    cause_path (replay);
}

/* The path to at_ps by way of the callback. */
static SimPath
path_at (SimReplay *replay, uint32_t rank, int64_t at_ps)
{
  SimPath path = *cause_path (replay);
  int64_t end_ps = path_end_ps (&path);

  if (end_ps <= at_ps)
    path.ps[is_meeting (replay->cause_cookie) ? SIM_CLASS_LATENCY : SIM_CLASS_SOFTWARE] +=
        at_ps - end_ps;
  else {
    path = *rank_path (replay, rank);
    path.ps[SIM_CLASS_QUEUEING] += MAX (0, at_ps - path_end_ps (&path));
  }
  return path;
}

void
sim_critical_wait (SimReplay *replay, uint32_t rank, int64_t at_ps)
{
  if (replay->critical != NULL)
    replay->critical->ranks[rank] = path_at (replay, rank, at_ps);
}

void
sim_critical_send (SimReplay *replay, uint32_t transfer, uint32_t rank, int64_t at_ps)
{
  const SimPath *own;

  if (replay->critical == NULL)
    return;
  own = rank_path (replay, rank);
  *sim_transfer_path (replay, transfer) =
      path_end_ps (own) == at_ps ? *own : path_at (replay, rank, at_ps);
}

/* --- Meetings --- */

void
sim_critical_release (SimReplay *replay, uint32_t rank, const SimPath *path)
{
  if (replay->critical != NULL)
    replay->critical->released[rank] = *path;
}

void
sim_critical_follow (SimReplay *replay, uint32_t rank, const SimPath *path)
{
  if (replay->critical == NULL)
    return;
  replay->critical->ranks[rank] = *path;
  replay->critical->ranks[rank].ps[SIM_CLASS_LATENCY] +=
      replay->ranks[rank].local_ps - path_end_ps (path);
}

/* --- Agents --- */

SimPath
sim_critical_enter_agent (SimReplay *replay, uint32_t rank)
{
  SimPath own = { { 0 } };

  if (replay->critical == NULL)
    return own;
  own = replay->critical->ranks[rank];
  replay->critical->ranks[rank] = path_at (replay, rank, replay->ranks[rank].local_ps);
  return own;
}

void
sim_critical_leave_agent (SimReplay *replay, uint32_t rank, SimPath own)
{
  if (replay->critical != NULL)
    replay->critical->ranks[rank] = own;
}
