/* replay_direct.c - collectives in which every rank sends to every other at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The messages are handed over in bursts, between which the network catches
 * up.  Those of an instance that a rank has not entered yet are counted. */
#include "sim/replay/ob1.h"

/* Direct messages handed over before the network must catch up. */
#define DIRECT_BURST 16

typedef struct {
  uint32_t comm, sequence, n;
} EarlyDirect;

/* Messages of this instance that came before the rank entered it. */
static uint32_t
early_take (SimRank *rank, uint32_t comm, uint32_t sequence)
{
  for (uint32_t i = 0; rank->early_direct != NULL && i < rank->early_direct->len; i++) {
    EarlyDirect early = g_array_index (rank->early_direct, EarlyDirect, i);

    if (early.comm == comm && early.sequence == sequence) {
      g_array_remove_index_fast (rank->early_direct, i);
      return early.n;
    }
  }
  return 0;
}

static void
early_add (SimRank *rank, uint32_t comm, uint32_t sequence)
{
  uint32_t n = early_take (rank, comm, sequence) + 1;
  EarlyDirect early = { comm, sequence, n };

  if (rank->early_direct == NULL)
    rank->early_direct = g_array_new (FALSE, FALSE, sizeof (EarlyDirect));
  g_array_append_val (rank->early_direct, early);
}

static void
direct_begin (SimRank *rank, SimActive *active)
{
  uint32_t early;

  active->direct_ready = true;
  for (uint32_t source = 0; source < active->collective.n_ranks; source++)
    if (source != active->collective.rank &&
        sim_collective_direct_received (&active->collective, source) > 0)
      active->missing++;
  early = early_take (rank, active->comm, active->sequence);
  active->missing -= MIN (early, active->missing);
}

static void
direct_send (SimReplay *replay, const SimActive *active, uint32_t peer, uint64_t bytes)
{
  uint32_t rank = active->rank, world = sim_active_member (replay, active, peer);
  SimRank *it = &replay->ranks[rank];
  uint64_t cookie = sim_cookie (SIM_COOKIE_DIRECT, active->comm, active->sequence);

  sim_protocol_count (replay, rank, world, bytes);
  if (replay->ob1 != NULL) {
    sim_ob1_direct (replay, rank, world, bytes, cookie);
    return;
  }
  it->local_ps += replay->parameters->direct_overhead_ps;
  if (it->node == replay->ranks[world].node)
    sim_network_timer (replay->network, world, cookie,
                       it->local_ps + replay->parameters->shm_latency_ps +
                           sim_rendezvous_copy_ps (replay, bytes));
  else
    sim_network_send (replay->network,
                      &(SimMessage){ .cookie = cookie,
                                     .bytes = bytes,
                                     .source_rank = rank,
                                     .destination_rank = world,
                                     .kind = SIM_MESSAGE_DIRECT },
                      it->local_ps);
}

/* All is handed over: a posted one does not hold the rank any more. */
static void
direct_handed_over (SimReplay *replay, SimActive *active)
{
  SimRank *it = &replay->ranks[active->rank];

  if (active->missing == 0)
    sim_active_end (replay, active, it->local_ps);
  else if (active->request == TOPO_NONE)
    it->state = SIM_RANK_GATHERING;
  else
    sim_active_unblock (replay, active);
}

/* A burst of messages, then the network catches up. */
void
sim_direct_continue (SimReplay *replay, SimActive *active)
{
  uint32_t n_others = active->collective.n_ranks - 1;

  if (!active->direct_ready)
    direct_begin (&replay->ranks[active->rank], active);
  for (uint32_t sent = 0; active->step < n_others && sent < DIRECT_BURST;) {
    uint64_t bytes;
    uint32_t peer = sim_collective_direct (&active->collective, active->step++, &bytes);

    if (bytes > 0) {
      direct_send (replay, active, peer, bytes);
      sent++;
    }
  }
  if (active->step < n_others)
    sim_rank_sleep (replay, active->rank);
  else
    direct_handed_over (replay, active);
}

void
sim_direct_arrived (SimReplay *replay, uint32_t rank, uint64_t cookie)
{
  uint32_t comm = sim_cookie_high (cookie), sequence = sim_cookie_low (cookie);
  SimRank *it = &replay->ranks[rank];
  SimActive *active = sim_active_find (replay, rank, comm, sequence);

  if (active == NULL || !active->direct_ready) {
    early_add (it, comm, sequence);
    return;
  }
  active->missing -= active->missing > 0;
  if (active->missing > 0 || (active->blocks && it->state != SIM_RANK_GATHERING))
    return;
  if (active->blocks) {
    it->state = SIM_RANK_READY;
    sim_rank_wait_until (replay, rank, replay->now_ps);
  }
  sim_active_end (replay, active, replay->now_ps);
  sim_rank_wake (replay, rank);
}
