/* collective_reduce.c - step algorithms in which every rank reduces.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Halving and doubling want 2^k ranks.  When there are `extra` ranks more,
 * the first 2 * extra ranks make pairs, and one of each pair folds: it gives
 * its vector to the other and waits for the result (or is done).  The ranks
 * that did not fold are numbered 0 .. 2^k-1 in their order; those numbers
 * are called cores here. */
#include "sim/collective/collective_steps.h"

#include <glib.h>

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

/* What the cores do between the folding and the giving back. */
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

/* The first rank that a core stands for: the cores of pairs for both. */
static uint32_t
first_rank_of_core (const Fold *fold, uint32_t core)
{
  return core < fold->extra ? 2 * core : core + fold->extra;
}

static uint64_t
counts_of_cores (const SimCollective *collective, const Fold *fold, uint32_t first, uint32_t n)
{
  return counts_of_ranks (collective, first_rank_of_core (fold, first),
                          first_rank_of_core (fold, first + n));
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

static uint32_t
all_others (const SimCollective *collective)
{
  return collective->n_ranks - 1;
}

static SimStep
reduce_scatter_pairwise_step (const SimCollective *collective, uint32_t step)
{
  uint32_t to = sim_rank_after (collective, collective->rank, step + 1);
  uint32_t from = sim_rank_before (collective, collective->rank, step + 1);

  return sim_step_both (to, sim_count_of (collective->recv_counts, to), from,
                        sim_count_of (collective->recv_counts, collective->rank), true);
}

const SimAlgorithm sim_reduce_scatter_pairwise = { all_others, reduce_scatter_pairwise_step, NULL };

/* --- Prefixes --- */

static uint32_t
scan_steps (const SimCollective *collective)
{
  return sim_ceil_log2 (collective->n_ranks);
}

/* Recursive doubling without folding: a peer that does not exist would only
 * have had what higher ranks contribute. */
static SimStep
scan_step (const SimCollective *collective, uint32_t step)
{
  uint32_t peer = collective->rank ^ 1u << step;

  if (peer >= collective->n_ranks)
    return sim_step_send (TOPO_NONE, 0, false);
  return sim_step_both (peer, collective->bytes, peer, collective->bytes, true);
}

const SimAlgorithm sim_scan_doubling = { scan_steps, scan_step, NULL };
