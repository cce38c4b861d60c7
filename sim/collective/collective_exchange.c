/* collective_exchange.c - step algorithms of collectives without a root.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sources: MPICH 4.0 (src/mpi/coll) and ompi/mca/coll/base of Open MPI 4.1,
 * the same as coll/tuned of 1.3; coll/basic for Open MPI's prefixes. */
#include "sim/collective/collective_steps.h"

#include <glib.h>

/* Isends and irecvs that MPICH's scattered alltoall starts before it waits. */
#define SCATTERED_AT_ONCE 32u

static uint32_t
log_steps (const SimCollective *collective)
{
  return sim_ceil_log2 (collective->n_ranks);
}

/* --- Barrier --- */

/* To rank 0, which waits for all before it answers any. */
static uint32_t
barrier_linear_steps (const SimCollective *collective)
{
  return collective->rank == 0 ? 2 * sim_others (collective) : 2;
}

static SimStep
barrier_linear_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n = sim_others (collective);

  if (collective->rank > 0)
    return step == 0 ? sim_step_send (0, 0, true) : sim_step_receive (0, 0, true);
  if (step < n)
    return sim_step_receive (step + 1, 0, step + 1 == n);
  return sim_step_send (step - n + 1, 0, true);
}

const SimAlgorithm sim_barrier_linear = { barrier_linear_steps, barrier_linear_step, NULL };

static SimStep
dissemination_step (const SimCollective *collective, uint32_t step)
{
  uint32_t distance = 1u << step;

  return sim_step_both (sim_rank_after (collective, collective->rank, distance), 0,
                        sim_rank_before (collective, collective->rank, distance), 0, true);
}

const SimAlgorithm sim_barrier_dissemination = { log_steps, dissemination_step, NULL };

/* Recursive doubling among the largest power of two of ranks; each rank above
 * has a partner below, which answers when all ranks are there. */
static uint32_t
barrier_doubling_steps (const SimCollective *collective)
{
  uint32_t log2_inner = sim_floor_log2 (collective->n_ranks);
  uint32_t n_inner = 1u << log2_inner;

  if (collective->rank >= n_inner)
    return 1;
  return collective->rank + n_inner < collective->n_ranks ? log2_inner + 2 : log2_inner;
}

static SimStep
barrier_doubling_step (const SimCollective *collective, uint32_t step)
{
  uint32_t log2_inner = sim_floor_log2 (collective->n_ranks);
  uint32_t outer = collective->rank ^ 1u << log2_inner;
  bool has_outer = outer < collective->n_ranks;

  if (collective->rank > outer)
    return sim_step_both (outer, 0, outer, 0, true);
  if (has_outer && step-- == 0)
    return sim_step_receive (outer, 0, true);
  if (step == log2_inner)
    return sim_step_send (outer, 0, true);
  return sim_step_both (collective->rank ^ 1u << step, 0, collective->rank ^ 1u << step, 0, true);
}

const SimAlgorithm sim_barrier_doubling = { barrier_doubling_steps, barrier_doubling_step, NULL };

/* Up a binomial tree to rank 0, and down again. */
static uint32_t
barrier_tree_steps (const SimCollective *collective)
{
  return 2 * log_steps (collective);
}

static SimStep
barrier_tree_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n = log_steps (collective);
  bool up = step < n;
  uint32_t distance = 1u << (up ? step : 2 * n - 1 - step);
  uint32_t peer = collective->rank ^ distance;

  if ((collective->rank & (distance - 1)) != 0 || peer >= collective->n_ranks)
    return sim_step_send (TOPO_NONE, 0, false);
  return up == (peer > collective->rank) ? sim_step_receive (peer, 0, true)
                                         : sim_step_send (peer, 0, true);
}

const SimAlgorithm sim_barrier_tree = { barrier_tree_steps, barrier_tree_step, NULL };

/* --- Allgather and allgatherv --- */

/* Contributions of n ranks from `first` on, around the ring. */
static uint64_t
contributions (const SimCollective *collective, uint32_t first, uint32_t n)
{
  uint64_t bytes = 0;

  if (collective->kind == TRACE_OP_ALLGATHER)
    return collective->bytes * n;
  for (uint32_t nth = 0; nth < n; nth++)
    bytes += sim_count_of (collective->recv_counts, sim_rank_after (collective, first, nth));
  return bytes;
}

/* n_ranks is a power of two. */
static SimStep
allgather_doubling_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n = 1u << step;
  uint32_t mine = collective->rank & ~(n - 1);
  uint32_t peer = collective->rank ^ n;

  return sim_step_both (peer, contributions (collective, mine, n), peer,
                        contributions (collective, mine ^ n, n), true);
}

const SimAlgorithm sim_allgather_doubling = { log_steps, allgather_doubling_step, NULL };

/* Each rank has the contributions of itself and its followers. */
static SimStep
allgather_bruck_step (const SimCollective *collective, uint32_t step)
{
  uint32_t have = 1u << step;
  uint32_t n = MIN (have, collective->n_ranks - have);
  uint32_t from = sim_rank_after (collective, collective->rank, have);

  return sim_step_both (sim_rank_before (collective, collective->rank, have),
                        contributions (collective, collective->rank, n), from,
                        contributions (collective, from, n), true);
}

const SimAlgorithm sim_allgather_bruck = { log_steps, allgather_bruck_step, NULL };

static SimStep
allgather_ring_step (const SimCollective *collective, uint32_t step)
{
  uint32_t sent = sim_rank_before (collective, collective->rank, step);

  return sim_step_both (sim_rank_after (collective, collective->rank, 1),
                        contributions (collective, sent, 1),
                        sim_rank_before (collective, collective->rank, 1),
                        contributions (collective, sim_rank_before (collective, sent, 1), 1), true);
}

const SimAlgorithm sim_allgather_ring = { sim_others, allgather_ring_step, NULL };

/* Exchanges with the two neighbours in turn. */

/* n_ranks is even. */
static uint32_t
neighbor_steps (const SimCollective *collective)
{
  return collective->n_ranks / 2;
}

/* The first rank of the pair whose contributions a rank gets in a step, or has
 * from the first step on. */
static uint32_t
pair_received (const SimCollective *collective, uint32_t step)
{
  bool even = collective->rank % 2 == 0;
  uint32_t mine = collective->rank & ~1u;

  if (step == 0)
    return mine;
  if (step % 2 == 1)
    return even ? sim_rank_before (collective, mine, step + 1)
                : sim_rank_after (collective, mine, (step + 1) % collective->n_ranks);
  return even ? sim_rank_after (collective, mine, step) : sim_rank_before (collective, mine, step);
}

static SimStep
neighbor_step (const SimCollective *collective, uint32_t step)
{
  bool upwards = collective->rank % 2 == step % 2;
  uint32_t peer = upwards ? sim_rank_after (collective, collective->rank, 1)
                          : sim_rank_before (collective, collective->rank, 1);

  if (step == 0)
    return sim_step_both (peer, contributions (collective, collective->rank, 1), peer,
                          contributions (collective, peer, 1), true);
  return sim_step_both (peer, contributions (collective, pair_received (collective, step - 1), 2),
                        peer, contributions (collective, pair_received (collective, step), 2),
                        true);
}

const SimAlgorithm sim_allgather_neighbor = { neighbor_steps, neighbor_step, NULL };

/* --- Alltoall and alltoallv --- */

static SimStep
alltoall_bruck_step (const SimCollective *collective, uint32_t step)
{
  uint32_t distance = 1u << step;
  /* The blocks that still have 2^step ranks to go are those of the numbers
   * 1 .. n-1 with that bit. */
  uint32_t whole = collective->n_ranks >> (step + 1) << step;
  uint32_t rest = collective->n_ranks & (2 * distance - 1);
  uint64_t bytes = collective->bytes * (whole + (rest > distance ? rest - distance : 0));

  return sim_step_both (sim_rank_after (collective, collective->rank, distance), bytes,
                        sim_rank_before (collective, collective->rank, distance), bytes, true);
}

const SimAlgorithm sim_alltoall_bruck = { log_steps, alltoall_bruck_step, NULL };

/* Counts of 0 in an alltoallv make no messages. */
static SimStep
exchange (const SimCollective *collective, uint32_t to, uint32_t from, bool wait)
{
  SimStep step = sim_step_both (to, collective->bytes, from, collective->bytes, wait);

  if (collective->kind == TRACE_OP_ALLTOALLV) {
    step.send_bytes = sim_count_of (collective->counts, to);
    step.recv_bytes = sim_count_of (collective->recv_counts, from);
    step.send_to = step.send_bytes > 0 ? to : TOPO_NONE;
    step.recv_from = step.recv_bytes > 0 ? from : TOPO_NONE;
  }
  return step;
}

static SimStep
alltoall_scattered_step (const SimCollective *collective, uint32_t step)
{
  bool last = step + 2 == collective->n_ranks;

  return exchange (collective, sim_rank_before (collective, collective->rank, step + 1),
                   sim_rank_after (collective, collective->rank, step + 1),
                   last || step % SCATTERED_AT_ONCE == SCATTERED_AT_ONCE - 1);
}

const SimAlgorithm sim_alltoall_scattered = { sim_others, alltoall_scattered_step, NULL };

static SimStep
alltoall_pairwise_step (const SimCollective *collective, uint32_t step)
{
  uint32_t distance = step + 1;
  uint32_t peer = collective->rank ^ distance;

  if (sim_is_power_of_two (collective->n_ranks))
    return exchange (collective, peer, peer, true);
  return exchange (collective, sim_rank_after (collective, collective->rank, distance),
                   sim_rank_before (collective, collective->rank, distance), true);
}

const SimAlgorithm sim_alltoall_pairwise = { sim_others, alltoall_pairwise_step, NULL };

/* Open MPI's goes around the ring for any number of ranks, and counts of 0 are
 * messages too. */
static SimStep
alltoall_pairwise_ring_step (const SimCollective *collective, uint32_t step)
{
  uint32_t to = sim_rank_after (collective, collective->rank, step + 1);
  uint32_t from = sim_rank_before (collective, collective->rank, step + 1);

  if (collective->kind == TRACE_OP_ALLTOALLV)
    return sim_step_both (to, sim_count_of (collective->counts, to), from,
                          sim_count_of (collective->recv_counts, from), true);
  return sim_step_both (to, collective->bytes, from, collective->bytes, true);
}

const SimAlgorithm sim_alltoall_pairwise_ring = { sim_others, alltoall_pairwise_ring_step, NULL };

/* All receives, then all sends: Open MPI's. */

static uint32_t
alltoall_linear_steps (const SimCollective *collective)
{
  return 2 * sim_others (collective);
}

/* All receives, upwards from the next rank, then all sends, downwards, so that
 * messages arrive in the order of the receives. */
static SimStep
alltoall_linear_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n = sim_others (collective);

  if (step < n)
    return sim_step_receive (sim_rank_after (collective, collective->rank, step + 1),
                             collective->bytes, false);
  return sim_step_send (sim_rank_before (collective, collective->rank, step - n + 1),
                        collective->bytes, step + 1 == 2 * n);
}

const SimAlgorithm sim_alltoall_linear = { alltoall_linear_steps, alltoall_linear_step, NULL };

/* Both in the order of the ranks.  Open MPI 4.1 sends counts of 0 too. */
static SimStep
alltoallv_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n = sim_others (collective);
  uint32_t peer = step % n < collective->rank ? step % n : step % n + 1;

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

const SimAlgorithm sim_alltoallv_linear = { alltoall_linear_steps, alltoallv_step, NULL };
const SimAlgorithm sim_alltoallv_linear_nonzero = { alltoall_linear_steps, alltoallv_nonzero_step,
                                                    NULL };

/* --- Reductions to all ranks ---
 *
 * Halving and doubling want 2^k ranks.  When there are `extra` ranks more,
 * the first 2 * extra ranks make pairs, and one of each pair folds: it gives
 * its vector to the other and waits for the result (or is done).  The ranks
 * that did not fold are numbered 0 .. 2^k-1 in their order; those numbers
 * are called cores here. */

typedef struct {
  uint32_t log2_cores;
  uint32_t extra;
  uint32_t core;    /* mine; TOPO_NONE: I have folded */
  uint32_t partner; /* the other of my pair; TOPO_NONE: I am in none */
} Fold;

static uint32_t
n_extra (const SimCollective *collective)
{
  return collective->n_ranks - (1u << sim_floor_log2 (collective->n_ranks));
}

/* The even one of a pair folds, unless it is the root of a reduction: MPICH
 * would let the root fold and put it in another's place later, which costs
 * one more message. */
static bool
even_folds (const SimCollective *collective, uint32_t pair)
{
  return collective->root != (int32_t) (2 * pair);
}

static uint32_t
rank_of_core (const SimCollective *collective, uint32_t core)
{
  uint32_t extra = n_extra (collective);

  return core >= extra ? core + extra : 2 * core + even_folds (collective, core);
}

static Fold
fold_of (const SimCollective *collective, uint32_t rank)
{
  uint32_t extra = n_extra (collective);
  Fold fold = { sim_floor_log2 (collective->n_ranks), extra, rank - extra, TOPO_NONE };

  if (rank < 2 * extra) {
    bool odd = rank & 1u;

    fold.partner = rank ^ 1u;
    fold.core = odd == even_folds (collective, rank / 2) ? rank / 2 : TOPO_NONE;
  }
  return fold;
}

/* The step of a core between the folding and the giving back. */
typedef SimStep (*CoreStep) (const SimCollective *collective, const Fold *fold, uint32_t step);

static uint32_t
folded_steps (const Fold *fold, uint32_t n_core_steps, bool gives_back)
{
  uint32_t n_pair_steps = fold->partner == TOPO_NONE ? 0 : 1 + (uint32_t) gives_back;

  return fold->core == TOPO_NONE ? n_pair_steps : n_pair_steps + n_core_steps;
}

static SimStep
folded_step (const SimCollective *collective, const Fold *fold, uint32_t step,
             uint32_t n_core_steps, CoreStep core_step, uint64_t bytes, uint64_t back_bytes)
{
  if (fold->core == TOPO_NONE)
    return step == 0 ? sim_step_send (fold->partner, bytes, true)
                     : sim_step_receive (fold->partner, back_bytes, true);
  if (fold->partner != TOPO_NONE && step-- == 0)
    return sim_step_receive (fold->partner, bytes, true);
  if (step < n_core_steps)
    return core_step (collective, fold, step);
  return sim_step_send (fold->partner, back_bytes, true);
}

/* --- Allreduce by recursive doubling --- */

static SimStep
doubling_core_step (const SimCollective *collective, const Fold *fold, uint32_t step)
{
  uint32_t peer = rank_of_core (collective, fold->core ^ 1u << step);

  return sim_step_both (peer, collective->bytes, peer, collective->bytes, true);
}

static uint32_t
allreduce_doubling_steps (const SimCollective *collective)
{
  Fold fold = fold_of (collective, collective->rank);

  return folded_steps (&fold, fold.log2_cores, true);
}

static SimStep
allreduce_doubling_step (const SimCollective *collective, uint32_t step)
{
  Fold fold = fold_of (collective, collective->rank);

  return folded_step (collective, &fold, step, fold.log2_cores, doubling_core_step,
                      collective->bytes, collective->bytes);
}

const SimAlgorithm sim_allreduce_doubling = { allreduce_doubling_steps, allreduce_doubling_step,
                                              NULL };

/* --- Reduce-scatter in halves, then gather or allgather (Rabenseifner) --- */

/* The vector is cut into as many blocks as there are cores, the first ones a
 * byte longer when it does not divide. */
static uint64_t
block_offset (const SimCollective *collective, const Fold *fold, uint32_t block)
{
  uint64_t length = collective->bytes >> fold->log2_cores;
  uint64_t rest = collective->bytes & ((UINT64_C (1) << fold->log2_cores) - 1);

  return block * length + MIN (block, rest);
}

static uint64_t
blocks_bytes (const SimCollective *collective, const Fold *fold, uint32_t first, uint32_t n)
{
  return block_offset (collective, fold, first + n) - block_offset (collective, fold, first);
}

/* The first of the blocks that a core still works on after `step` halvings,
 * of which the k-th is shared with the core that differs in bit k. */
static uint32_t
first_block (const Fold *fold, uint32_t core, uint32_t step)
{
  uint32_t first = 0;

  for (uint32_t bit = 0; bit < step; bit++)
    first += (core >> bit & 1u) << (fold->log2_cores - 1 - bit);
  return first;
}

/* Both peers keep the half that their bit says; `kept` and `given` are the
 * bytes of the two halves as this core sees them. */
static uint32_t
halving_peer (const SimCollective *collective, const Fold *fold, uint32_t bit, uint64_t *kept,
              uint64_t *given)
{
  uint32_t peer = fold->core ^ 1u << bit;
  uint32_t n = 1u << (fold->log2_cores - 1 - bit);

  *kept = blocks_bytes (collective, fold, first_block (fold, fold->core, bit + 1), n);
  *given = blocks_bytes (collective, fold, first_block (fold, peer, bit + 1), n);
  return rank_of_core (collective, peer);
}

static SimStep
halving_step (const SimCollective *collective, const Fold *fold, uint32_t bit)
{
  uint64_t kept, given;
  uint32_t peer = halving_peer (collective, fold, bit, &kept, &given);

  return sim_step_both (peer, given, peer, kept, true);
}

static SimStep
scatter_allgather_core_step (const SimCollective *collective, const Fold *fold, uint32_t step)
{
  uint64_t kept, given;
  uint32_t peer;

  if (step < fold->log2_cores)
    return halving_step (collective, fold, step);
  peer = halving_peer (collective, fold, 2 * fold->log2_cores - 1 - step, &kept, &given);
  return sim_step_both (peer, kept, peer, given, true);
}

static uint32_t
scatter_allgather_steps (const SimCollective *collective)
{
  Fold fold = fold_of (collective, collective->rank);

  return folded_steps (&fold, 2 * fold.log2_cores, true);
}

static SimStep
scatter_allgather_step (const SimCollective *collective, uint32_t step)
{
  Fold fold = fold_of (collective, collective->rank);

  return folded_step (collective, &fold, step, 2 * fold.log2_cores, scatter_allgather_core_step,
                      collective->bytes, collective->bytes);
}

const SimAlgorithm sim_allreduce_scatter_allgather = { scatter_allgather_steps,
                                                       scatter_allgather_step, NULL };

/* The bits in which a core differs from the root's. */
static uint32_t
bits_from_root (const SimCollective *collective, const Fold *fold)
{
  return fold->core ^ fold_of (collective, (uint32_t) collective->root).core;
}

/* The gather undoes the halvings, last one first.  A core takes part until
 * the first bit in which it differs from the root's: there it gives what it
 * has. */
static uint32_t
n_gather_steps (const SimCollective *collective, const Fold *fold)
{
  uint32_t bits;

  if (fold->core == TOPO_NONE)
    return 0;
  bits = bits_from_root (collective, fold);
  return bits == 0 ? fold->log2_cores : fold->log2_cores - sim_floor_log2 (bits);
}

static SimStep
scatter_gather_core_step (const SimCollective *collective, const Fold *fold, uint32_t step)
{
  uint64_t kept, given;
  uint32_t bit, peer;

  if (step < fold->log2_cores)
    return halving_step (collective, fold, step);
  bit = 2 * fold->log2_cores - 1 - step;
  peer = halving_peer (collective, fold, bit, &kept, &given);
  if (bits_from_root (collective, fold) >> bit & 1u)
    return sim_step_send (peer, kept, true);
  return sim_step_receive (peer, given, true);
}

static uint32_t
scatter_gather_steps (const SimCollective *collective)
{
  Fold fold = fold_of (collective, collective->rank);

  return folded_steps (&fold, fold.log2_cores + n_gather_steps (collective, &fold), false);
}

static SimStep
scatter_gather_step (const SimCollective *collective, uint32_t step)
{
  Fold fold = fold_of (collective, collective->rank);

  return folded_step (collective, &fold, step, fold.log2_cores + n_gather_steps (collective, &fold),
                      scatter_gather_core_step, collective->bytes, 0);
}

const SimAlgorithm sim_reduce_scatter_gather = { scatter_gather_steps, scatter_gather_step, NULL };

/* --- Reduce-scatter --- */

static uint64_t
counts_of_ranks (const SimCollective *collective, uint32_t first, uint32_t end)
{
  uint64_t bytes = 0;

  for (uint32_t rank = first; rank < end; rank++)
    bytes += sim_count_of (collective->recv_counts, rank);
  return bytes;
}

static uint64_t
counts_of_cores (const SimCollective *collective, const Fold *fold, uint32_t first, uint32_t n)
{
  uint32_t end = first + n;

  /* The cores of pairs stand for both ranks. */
  return counts_of_ranks (collective, first < fold->extra ? 2 * first : first + fold->extra,
                          end < fold->extra ? 2 * end : end + fold->extra);
}

/* Halves of cores in their order, far ones first. */
static SimStep
reduce_scatter_core_step (const SimCollective *collective, const Fold *fold, uint32_t step)
{
  uint32_t n = 1u << (fold->log2_cores - 1 - step);
  uint32_t kept = fold->core & ~(n - 1);
  uint32_t peer = rank_of_core (collective, fold->core ^ n);

  return sim_step_both (peer, counts_of_cores (collective, fold, kept ^ n, n), peer,
                        counts_of_cores (collective, fold, kept, n), true);
}

static uint32_t
reduce_scatter_halving_steps (const SimCollective *collective)
{
  Fold fold = fold_of (collective, collective->rank);

  return folded_steps (&fold, fold.log2_cores, true);
}

static SimStep
reduce_scatter_halving_step (const SimCollective *collective, uint32_t step)
{
  Fold fold = fold_of (collective, collective->rank);
  uint32_t folded = fold.core == TOPO_NONE ? collective->rank : collective->rank ^ 1u;
  uint64_t back_bytes = 0;

  if (fold.partner != TOPO_NONE)
    back_bytes = sim_count_of (collective->recv_counts, folded);
  return folded_step (collective, &fold, step, fold.log2_cores, reduce_scatter_core_step,
                      counts_of_ranks (collective, 0, collective->n_ranks), back_bytes);
}

const SimAlgorithm sim_reduce_scatter_halving = { reduce_scatter_halving_steps,
                                                  reduce_scatter_halving_step, NULL };

static SimStep
reduce_scatter_pairwise_step (const SimCollective *collective, uint32_t step)
{
  uint32_t to = sim_rank_after (collective, collective->rank, step + 1);
  uint32_t from = sim_rank_before (collective, collective->rank, step + 1);

  return sim_step_both (to, sim_count_of (collective->recv_counts, to), from,
                        sim_count_of (collective->recv_counts, collective->rank), true);
}

const SimAlgorithm sim_reduce_scatter_pairwise = { sim_others, reduce_scatter_pairwise_step, NULL };

/* --- Reductions around the ring --- */

/* Of `bytes` in n parts, the first ones longer by a byte when it does not
 * divide. */
static uint64_t
part_bytes (uint64_t bytes, uint64_t n, uint64_t nth)
{
  return bytes / n + (nth < bytes % n);
}

/* Rounds of the ring, each with a part of every block, so that a part is
 * about a segment. */
static uint32_t
n_phases (const SimCollective *collective)
{
  uint64_t round_bytes = collective->segment_bytes * collective->n_ranks;
  uint64_t rest_bytes, n;

  if (round_bytes == 0 || collective->bytes < round_bytes)
    return 1;
  n = collective->bytes / round_bytes;
  rest_bytes = collective->bytes % round_bytes;
  n += rest_bytes >= collective->n_ranks && rest_bytes > round_bytes / 2;
  return (uint32_t) MIN (n, UINT32_MAX / collective->n_ranks - 1);
}

static uint32_t
allreduce_ring_steps (const SimCollective *collective)
{
  return (n_phases (collective) + 1) * sim_others (collective);
}

/* First every block collects a sum on its way around the ring, then the sums
 * go around once more: `nth` counts a round's steps. */
static SimStep
allreduce_ring_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n = collective->n_ranks, phases = n_phases (collective);
  uint32_t phase = step / sim_others (collective), nth = step % sim_others (collective);
  bool collects = phase < phases;
  uint32_t after = sim_rank_after (collective, collective->rank, 1);
  uint32_t sent = sim_rank_before (collective, collects ? collective->rank : after, nth);
  uint32_t received = sim_rank_before (collective, sent, 1);
  uint64_t send_bytes = part_bytes (collective->bytes, n, sent);
  uint64_t recv_bytes = part_bytes (collective->bytes, n, received);

  if (collects) {
    send_bytes = part_bytes (send_bytes, phases, phase);
    recv_bytes = part_bytes (recv_bytes, phases, phase);
  }
  return sim_step_both (after, send_bytes, sim_rank_before (collective, collective->rank, 1),
                        recv_bytes, true);
}

const SimAlgorithm sim_allreduce_ring = { allreduce_ring_steps, allreduce_ring_step, NULL };

/* As the first round of the allreduce, from one block before, so that the last to come is
 * one's own. */
static SimStep
reduce_scatter_ring_step (const SimCollective *collective, uint32_t step)
{
  uint32_t before = sim_rank_before (collective, collective->rank, 1);
  uint32_t sent = sim_rank_before (collective, before, step);

  return sim_step_both (
      sim_rank_after (collective, collective->rank, 1),
      sim_count_of (collective->recv_counts, sent), before,
      sim_count_of (collective->recv_counts, sim_rank_before (collective, sent, 1)), true);
}

const SimAlgorithm sim_reduce_scatter_ring = { sim_others, reduce_scatter_ring_step, NULL };

/* --- Reductions that Open MPI halves in its own way ---
 *
 * Sources: coll_base_allreduce.c (redscat_allgather) and
 * coll_base_reduce_scatter.c (butterfly).  Of the first 2 * extra ranks one in
 * each pair drops out; those that stay are numbered: cores. */

static uint32_t
log2_cores (const SimCollective *collective)
{
  return sim_floor_log2 (collective->n_ranks);
}

static bool
is_paired (const SimCollective *collective)
{
  return collective->rank < 2 * n_extra (collective);
}

/* `stays` is the lowest bit of the ranks that stay. */
static uint32_t
rank_of_staying (const SimCollective *collective, uint32_t core, uint32_t stays)
{
  uint32_t extra = n_extra (collective);

  return core < extra ? 2 * core + stays : core + extra;
}

static uint32_t
core_of_me (const SimCollective *collective)
{
  return is_paired (collective) ? collective->rank / 2 : collective->rank - n_extra (collective);
}

/* Allreduce (Rabenseifner).
 *
 * The two of a pair reduce half the vector each, then the odd one gives its
 * half to the even one and drops out. */

static uint32_t
halves_steps (const SimCollective *collective)
{
  uint32_t n_core_steps = 2 * log2_cores (collective);

  if (!is_paired (collective))
    return n_core_steps;
  return collective->rank % 2 == 1 ? 3 : n_core_steps + 3;
}

/* The part that a core still works on after some halvings: the lower half,
 * rounded down, belongs to cores whose bit is clear. */
static uint64_t
window_bytes (const SimCollective *collective, uint32_t core, uint32_t n_halvings)
{
  uint64_t bytes = collective->bytes;

  for (uint32_t bit = 0; bit < n_halvings; bit++)
    bytes = core >> bit & 1u ? bytes - bytes / 2 : bytes / 2;
  return bytes;
}

static SimStep
halves_core_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n = log2_cores (collective), core = core_of_me (collective);
  uint32_t bit = step < n ? step : 2 * n - 1 - step;
  uint32_t peer = rank_of_staying (collective, core ^ 1u << bit, 0);
  uint64_t kept = window_bytes (collective, core, bit + 1);
  uint64_t given = window_bytes (collective, core, bit) - kept;

  return step < n ? sim_step_both (peer, given, peer, kept, true)
                  : sim_step_both (peer, kept, peer, given, true);
}

static SimStep
halves_step (const SimCollective *collective, uint32_t step)
{
  uint64_t lower_bytes = collective->bytes / 2, upper_bytes = collective->bytes - lower_bytes;
  uint32_t peer = collective->rank ^ 1u;
  bool odd = collective->rank % 2 == 1;

  if (!is_paired (collective))
    return halves_core_step (collective, step);
  if (step == 0)
    return odd ? sim_step_both (peer, lower_bytes, peer, upper_bytes, true)
               : sim_step_both (peer, upper_bytes, peer, lower_bytes, true);
  if (step == 1)
    return odd ? sim_step_send (peer, upper_bytes, true)
               : sim_step_receive (peer, upper_bytes, true);
  if (odd)
    return sim_step_receive (peer, collective->bytes, true);
  if (step == 2 + 2 * log2_cores (collective))
    return sim_step_send (peer, collective->bytes, true);
  return halves_core_step (collective, step - 2);
}

const SimAlgorithm sim_allreduce_halves = { halves_steps, halves_step, NULL };

/* Reduce-scatter (butterfly).
 *
 * The even one of a pair gives its vector to the odd one.  Halving by near
 * cores first leaves each core with the result of the one whose number is its
 * own with the bits in reverse; that goes where it belongs in the end. */

static uint32_t
mirrored (const SimCollective *collective, uint32_t core)
{
  uint32_t mirror = 0;

  for (uint32_t bit = 0; bit < log2_cores (collective); bit++)
    mirror = mirror << 1 | (core >> bit & 1u);
  return mirror;
}

/* Of n cores and the ranks that they stand for. */
static uint64_t
counts_of_staying (const SimCollective *collective, uint32_t first, uint32_t n)
{
  uint32_t extra = n_extra (collective), end = first + n;
  uint32_t last_rank = end < extra ? 2 * end : end + extra;
  uint64_t bytes = 0;

  for (uint32_t rank = first < extra ? 2 * first : first + extra; rank < last_rank; rank++)
    bytes += sim_count_of (collective->recv_counts, rank);
  return bytes;
}

static SimStep
butterfly_core_step (const SimCollective *collective, uint32_t core, uint32_t bit)
{
  uint32_t n = 1u << (log2_cores (collective) - 1 - bit);
  uint32_t peer = rank_of_staying (collective, core ^ 1u << bit, 1);
  uint32_t base = 0, kept, given;

  for (uint32_t done = 0; done < bit; done++)
    base += (core >> done & 1u) << (log2_cores (collective) - 1 - done);
  kept = core >> bit & 1u ? base + n : base;
  given = core >> bit & 1u ? base : base + n;
  return sim_step_both (peer, counts_of_staying (collective, given, n), peer,
                        counts_of_staying (collective, kept, n), true);
}

/* The rank that has the result of the core that I would be. */
static uint32_t
holder_rank (const SimCollective *collective)
{
  return rank_of_staying (collective, mirrored (collective, core_of_me (collective)), 1);
}

/* My result goes to the two ranks of a core, or to its only one: first to the
 * rank that dropped out. */
static SimStep
butterfly_end_step (const SimCollective *collective, bool dropped)
{
  uint32_t held = mirrored (collective, core_of_me (collective));
  uint32_t peer = holder_rank (collective);

  if (dropped && held < n_extra (collective))
    return sim_step_send (peer - 1, sim_count_of (collective->recv_counts, peer - 1), true);
  if (dropped || peer == collective->rank)
    return sim_step_send (TOPO_NONE, 0, false);
  return sim_step_both (peer, sim_count_of (collective->recv_counts, peer), peer,
                        sim_count_of (collective->recv_counts, collective->rank), true);
}

static uint32_t
butterfly_steps (const SimCollective *collective)
{
  if (is_paired (collective) && collective->rank % 2 == 0)
    return 2;
  return is_paired (collective) + log2_cores (collective) + 2;
}

static SimStep
butterfly_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n = log2_cores (collective);

  if (is_paired (collective) && collective->rank % 2 == 0)
    return step == 0
               ? sim_step_send (collective->rank + 1, collective->total_bytes, true)
               : sim_step_receive (holder_rank (collective),
                                   sim_count_of (collective->recv_counts, collective->rank), true);
  if (is_paired (collective) && step-- == 0)
    return sim_step_receive (collective->rank - 1, collective->total_bytes, true);
  if (step < n)
    return butterfly_core_step (collective, core_of_me (collective), step);
  return butterfly_end_step (collective, step == n);
}

const SimAlgorithm sim_reduce_scatter_butterfly = { butterfly_steps, butterfly_step, NULL };

/* --- Prefixes --- */

/* Recursive doubling without folding: a peer that does not exist would only
 * have had what higher ranks contribute. */
static SimStep
scan_doubling_step (const SimCollective *collective, uint32_t step)
{
  uint32_t peer = collective->rank ^ 1u << step;

  if (peer >= collective->n_ranks)
    return sim_step_send (TOPO_NONE, 0, false);
  return sim_step_both (peer, collective->bytes, peer, collective->bytes, true);
}

const SimAlgorithm sim_scan_doubling = { log_steps, scan_doubling_step, NULL };

/* From each rank to the next, of what came from the one before. */
static uint32_t
scan_linear_steps (const SimCollective *collective)
{
  return (collective->rank > 0) + (collective->rank + 1 < collective->n_ranks);
}

static SimStep
scan_linear_step (const SimCollective *collective, uint32_t step)
{
  if (collective->rank > 0 && step == 0)
    return sim_step_receive (collective->rank - 1, collective->bytes, true);
  return sim_step_send (collective->rank + 1, collective->bytes, true);
}

const SimAlgorithm sim_scan_linear = { scan_linear_steps, scan_linear_step, NULL };

/* --- Neighbourhoods ---
 *
 * MPICH starts all receives in the order of the sources, then all sends in
 * the order of the destinations, and waits for everything; so does this, one
 * message per step. */

static uint32_t
neighborhood_steps (const SimCollective *collective)
{
  return collective->n_sources + collective->n_destinations;
}

static SimStep
neighborhood_step (const SimCollective *collective, uint32_t step)
{
  bool last = step + 1 == neighborhood_steps (collective);

  if (step < collective->n_sources)
    return sim_step_receive ((uint32_t) collective->sources[step],
                             sim_count_of (collective->recv_counts, step), last);
  step -= collective->n_sources;
  return sim_step_send ((uint32_t) collective->destinations[step],
                        sim_count_of (collective->counts, step), last);
}

const SimAlgorithm sim_neighbor_exchange = { neighborhood_steps, neighborhood_step, NULL };
