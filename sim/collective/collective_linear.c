/* collective_linear.c - algorithms in which ranks talk to each other directly.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sources: the "basic_linear" functions of ompi/mca/coll/base of Open MPI 4.1
 * (coll/tuned in 1.3), and coll/basic for gatherv, scatterv and prefixes.  The
 * order of the peers and which calls block are theirs. */
#include "sim/collective/collective_steps.h"

#include <glib.h>

static bool
is_root (const SimCollective *collective)
{
  return collective->rank == (uint32_t) collective->root;
}

static uint32_t
n_others (const SimCollective *collective)
{
  return collective->n_ranks - 1;
}

/* The others in the order of their ranks. */
static uint32_t
nth_other (uint32_t me, uint32_t nth)
{
  return nth < me ? nth : nth + 1;
}

/* The root has a step for each other rank, they have one. */
static uint32_t
star_steps (const SimCollective *collective)
{
  return is_root (collective) ? n_others (collective) : 1;
}

static uint32_t
root_of (const SimCollective *collective)
{
  return (uint32_t) collective->root;
}

/* --- Barrier --- */

/* To rank 0, who has heard of all before it answers any. */
static uint32_t
barrier_steps (const SimCollective *collective)
{
  return collective->rank == 0 ? 2 * n_others (collective) : 2;
}

static SimStep
barrier_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n = n_others (collective);

  if (collective->rank > 0)
    return step == 0 ? sim_step_send (0, 0, true) : sim_step_receive (0, 0, true);
  if (step < n)
    return sim_step_receive (step + 1, 0, step + 1 == n);
  return sim_step_send (step - n + 1, 0, true);
}

const SimAlgorithm sim_barrier_linear = { barrier_steps, barrier_step, NULL };

/* --- Broadcast and scatter --- */

static SimStep
bcast_step (const SimCollective *collective, uint32_t step)
{
  if (!is_root (collective))
    return sim_step_receive (root_of (collective), collective->bytes, true);
  return sim_step_send (nth_other (root_of (collective), step), collective->bytes,
                        step + 1 == n_others (collective));
}

const SimAlgorithm sim_bcast_linear = { star_steps, bcast_step, NULL };

static SimStep
scatter_step_of (const SimCollective *collective, uint32_t step, bool wait)
{
  if (!is_root (collective))
    return sim_step_receive (root_of (collective), collective->recv_bytes, true);
  return sim_step_send (nth_other (root_of (collective), step), collective->bytes, wait);
}

static SimStep
scatter_step (const SimCollective *collective, uint32_t step)
{
  return scatter_step_of (collective, step, true);
}

static SimStep
scatter_at_once_step (const SimCollective *collective, uint32_t step)
{
  return scatter_step_of (collective, step, step + 1 == n_others (collective));
}

const SimAlgorithm sim_scatter_linear = { star_steps, scatter_step, NULL };
const SimAlgorithm sim_scatter_linear_at_once = { star_steps, scatter_at_once_step, NULL };

/* Those who get nothing stay out of it. */
static uint32_t
scatterv_steps (const SimCollective *collective)
{
  return is_root (collective) ? n_others (collective) : collective->recv_bytes > 0;
}

static SimStep
scatterv_step (const SimCollective *collective, uint32_t step)
{
  uint32_t peer;
  uint64_t bytes;

  if (!is_root (collective))
    return sim_step_receive (root_of (collective), collective->recv_bytes, true);
  peer = nth_other (root_of (collective), step);
  bytes = sim_count_of (collective->counts, peer);
  return sim_step_send (bytes == 0 ? TOPO_NONE : peer, bytes, true);
}

const SimAlgorithm sim_scatterv_in_turn = { scatterv_steps, scatterv_step, NULL };

/* --- Reduction and gather --- */

/* The last rank's comes first: the operation may not commute. */
static SimStep
reduce_step (const SimCollective *collective, uint32_t step)
{
  uint32_t nth = n_others (collective) - 1 - step;

  if (!is_root (collective))
    return sim_step_send (root_of (collective), collective->bytes, true);
  return sim_step_receive (nth_other (root_of (collective), nth), collective->bytes, true);
}

const SimAlgorithm sim_reduce_linear = { star_steps, reduce_step, NULL };

static SimStep
gather_step (const SimCollective *collective, uint32_t step)
{
  if (!is_root (collective))
    return sim_step_send (root_of (collective), collective->bytes, true);
  return sim_step_receive (nth_other (root_of (collective), step), collective->recv_bytes, true);
}

const SimAlgorithm sim_gather_linear = { star_steps, gather_step, NULL };

/* The root asks one rank after the other, by a message without data, and goes
 * on to the next when the first piece has come; the second pieces may take
 * until the end.  Here the next rank but one is not asked before the second
 * piece is in. */
static uint32_t
gather_sync_steps (const SimCollective *collective)
{
  return is_root (collective) ? 2 * n_others (collective) : 3;
}

static uint64_t
piece_bytes (const SimCollective *collective, uint64_t bytes, bool second)
{
  uint64_t limit_bytes = collective->segment_bytes;
  uint64_t first_bytes = limit_bytes == 0 ? bytes : MIN (bytes, limit_bytes);

  return second ? bytes - first_bytes : first_bytes;
}

static SimStep
gather_sync_step (const SimCollective *collective, uint32_t step)
{
  uint32_t root = root_of (collective);
  uint32_t peer = nth_other (root, step / 2);
  uint64_t bytes = is_root (collective) ? collective->recv_bytes : collective->bytes;

  if (!is_root (collective) && step == 0)
    return sim_step_receive (root, 0, true);
  if (!is_root (collective))
    return sim_step_send (root, piece_bytes (collective, bytes, step == 2), true);
  if (step % 2 == 1)
    return sim_step_receive (peer, piece_bytes (collective, bytes, true), false);
  return sim_step_both (peer, 0, peer, piece_bytes (collective, bytes, false), true);
}

const SimAlgorithm sim_gather_linear_sync = { gather_sync_steps, gather_sync_step, NULL };

static uint32_t
gatherv_steps (const SimCollective *collective)
{
  return is_root (collective) ? n_others (collective) : collective->bytes > 0;
}

static SimStep
gatherv_step (const SimCollective *collective, uint32_t step)
{
  uint32_t peer;
  uint64_t bytes;

  if (!is_root (collective))
    return sim_step_send (root_of (collective), collective->bytes, true);
  peer = nth_other (root_of (collective), step);
  bytes = sim_count_of (collective->recv_counts, peer);
  return sim_step_receive (bytes == 0 ? TOPO_NONE : peer, bytes, true);
}

const SimAlgorithm sim_gatherv_in_turn = { gatherv_steps, gatherv_step, NULL };

/* --- Alltoall --- */

static uint32_t
alltoall_steps (const SimCollective *collective)
{
  return 2 * n_others (collective);
}

/* All receives, upwards from the next rank, then all sends, downwards, so that
 * messages arrive in the order of the receives. */
static SimStep
alltoall_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n = n_others (collective);

  if (step < n)
    return sim_step_receive (sim_rank_after (collective, collective->rank, step + 1),
                             collective->bytes, false);
  return sim_step_send (sim_rank_before (collective, collective->rank, step - n + 1),
                        collective->bytes, step + 1 == 2 * n);
}

const SimAlgorithm sim_alltoall_linear = { alltoall_steps, alltoall_step, NULL };

/* Both in the order of the ranks.  Open MPI 4.1 sends counts of 0 too. */
static SimStep
alltoallv_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n = n_others (collective);
  uint32_t peer = nth_other (collective->rank, step % n);

  if (step < n)
    return sim_step_receive (peer, sim_count_of (collective->recv_counts, peer), false);
  return sim_step_send (peer, sim_count_of (collective->counts, peer), step + 1 == 2 * n);
}

/* Open MPI 1.3 does not. */
static SimStep
alltoallv_nonzero_step (const SimCollective *collective, uint32_t step)
{
  SimStep result = alltoallv_step (collective, step);

  if (result.recv_bytes == 0)
    result.recv_from = TOPO_NONE;
  if (result.send_bytes == 0)
    result.send_to = TOPO_NONE;
  return result;
}

const SimAlgorithm sim_alltoallv_linear = { alltoall_steps, alltoallv_step, NULL };
const SimAlgorithm sim_alltoallv_linear_nonzero = { alltoall_steps, alltoallv_nonzero_step, NULL };

/* --- Prefixes --- */

/* From each rank to the next, of what came from the one before. */
static uint32_t
scan_steps (const SimCollective *collective)
{
  return (collective->rank > 0) + (collective->rank + 1 < collective->n_ranks);
}

static SimStep
scan_step (const SimCollective *collective, uint32_t step)
{
  if (collective->rank > 0 && step == 0)
    return sim_step_receive (collective->rank - 1, collective->bytes, true);
  return sim_step_send (collective->rank + 1, collective->bytes, true);
}

const SimAlgorithm sim_scan_linear = { scan_steps, scan_step, NULL };
