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

static uint32_t
twice_others (const SimCollective *collective)
{
  return 2 * sim_others (collective);
}

/* --- Barrier --- */

/* To rank 0, which waits for all before it answers any. */
static uint32_t
barrier_linear_steps (const SimCollective *collective)
{
  return collective->rank == 0 ? twice_others (collective) : 2;
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

const SimAlgorithm sim_barrier_linear = { .n_steps = barrier_linear_steps,
                                          .step = barrier_linear_step };

static SimStep
dissemination_step (const SimCollective *collective, uint32_t step)
{
  return sim_step_both (sim_after (collective, 1u << step), 0, sim_before (collective, 1u << step),
                        0);
}

const SimAlgorithm sim_barrier_dissemination = { .n_steps = log_steps, .step = dissemination_step };

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

  if (collective->rank > outer)
    return sim_step_swap (outer, 0, 0);
  if (outer < collective->n_ranks && step-- == 0)
    return sim_step_receive (outer, 0, true);
  if (step == log2_inner)
    return sim_step_send (outer, 0, true);
  return sim_step_swap (collective->rank ^ 1u << step, 0, 0);
}

const SimAlgorithm sim_barrier_doubling = { .n_steps = barrier_doubling_steps,
                                            .step = barrier_doubling_step };

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
    return sim_step_nothing ();
  return up == (peer > collective->rank) ? sim_step_receive (peer, 0, true)
                                         : sim_step_send (peer, 0, true);
}

const SimAlgorithm sim_barrier_tree = { .n_steps = barrier_tree_steps, .step = barrier_tree_step };

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

  return sim_step_swap (collective->rank ^ n, contributions (collective, mine, n),
                        contributions (collective, mine ^ n, n));
}

const SimAlgorithm sim_allgather_doubling = { .n_steps = log_steps,
                                              .step = allgather_doubling_step };

/* Each rank has the contributions of itself and its followers. */
static SimStep
allgather_bruck_step (const SimCollective *collective, uint32_t step)
{
  uint32_t have = 1u << step;
  uint32_t n = MIN (have, collective->n_ranks - have);
  uint32_t from = sim_after (collective, have);
  SimStep result =
      sim_step_both (sim_before (collective, have), contributions (collective, collective->rank, n),
                     from, contributions (collective, from, n));

  /* They are in the order of the ranks then, but rank 0's is not the first: those from rank 0 on
   * go aside, the others move down, and the former come back.  An allgatherv puts them in their
   * places as it goes. */
  if (step + 1 == log_steps (collective) && collective->kind == TRACE_OP_ALLGATHER &&
      collective->rank > 0)
    result.after.copy_bytes =
        collective->bytes *
        (2 * (uint64_t) (collective->n_ranks - collective->rank) + collective->rank);
  return result;
}

const SimAlgorithm sim_allgather_bruck = { .n_steps = log_steps, .step = allgather_bruck_step };

static SimStep
allgather_ring_step (const SimCollective *collective, uint32_t step)
{
  uint32_t sent = sim_before (collective, step);

  return sim_step_both (sim_after (collective, 1), contributions (collective, sent, 1),
                        sim_before (collective, 1),
                        contributions (collective, sim_rank_before (collective, sent, 1), 1));
}

const SimAlgorithm sim_allgather_ring = { .n_steps = sim_others, .step = allgather_ring_step };

/* Exchanges with the two neighbours in turn; n_ranks is even. */
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
  uint32_t peer = upwards ? sim_after (collective, 1) : sim_before (collective, 1);

  if (step == 0)
    return sim_step_swap (peer, contributions (collective, collective->rank, 1),
                          contributions (collective, peer, 1));
  return sim_step_swap (peer, contributions (collective, pair_received (collective, step - 1), 2),
                        contributions (collective, pair_received (collective, step), 2));
}

const SimAlgorithm sim_allgather_neighbor = { .n_steps = neighbor_steps, .step = neighbor_step };

/* --- Alltoall and alltoallv --- */

/* The processor's share is Open MPI's: its datatype has the blocks of a step in as many runs of
 * neighbours; it is described and packed, and unpacked and copied back. */
static SimStep
alltoall_bruck_step (const SimCollective *collective, uint32_t step)
{
  uint32_t distance = 1u << step;
  /* The blocks that still have 2^step ranks to go are those of the numbers
   * 1 .. n-1 with that bit. */
  uint32_t whole = collective->n_ranks >> (step + 1) << step;
  uint32_t rest = collective->n_ranks & (2 * distance - 1);
  uint64_t bytes = collective->bytes * (whole + (rest > distance ? rest - distance : 0));
  uint32_t n_runs = (collective->n_ranks >> (step + 1)) + (rest > distance);
  uint64_t all_bytes = collective->bytes * collective->n_ranks;
  SimStep result = sim_step_both (sim_after (collective, distance), bytes,
                                  sim_before (collective, distance), bytes);

  result.before.n_types = 1;
  result.before.n_described = n_runs;
  result.before.n_blocks = n_runs;
  result.after.n_blocks = 2 * n_runs;
  result.after.copy_bytes = bytes;
  /* All blocks are turned by the number of the rank before, and into their places after. */
  if (step == 0)
    result.before.copy_bytes = all_bytes;
  if (step + 1 == log_steps (collective)) {
    result.after.copy_bytes += all_bytes;
    result.after.n_blocks += collective->n_ranks;
  }
  return result;
}

const SimAlgorithm sim_alltoall_bruck = { .n_steps = log_steps, .step = alltoall_bruck_step };

static SimStep
exchange (const SimCollective *collective, uint32_t to, uint32_t from)
{
  if (collective->kind == TRACE_OP_ALLTOALLV)
    return sim_step_both (to, sim_count_of (collective->counts, to), from,
                          sim_count_of (collective->recv_counts, from));
  return sim_step_both (to, collective->bytes, from, collective->bytes);
}

/* Counts of 0 in an alltoallv make no messages. */
static SimStep
without_empty (const SimCollective *collective, SimStep step)
{
  if (collective->kind == TRACE_OP_ALLTOALLV) {
    step.send_to = step.send_bytes > 0 ? step.send_to : TOPO_NONE;
    step.recv_from = step.recv_bytes > 0 ? step.recv_from : TOPO_NONE;
  }
  return step;
}

static SimStep
alltoall_scattered_step (const SimCollective *collective, uint32_t step)
{
  SimStep result =
      exchange (collective, sim_before (collective, step + 1), sim_after (collective, step + 1));

  result.wait = step + 2 == collective->n_ranks || (step + 1) % SCATTERED_AT_ONCE == 0;
  return without_empty (collective, result);
}

const SimAlgorithm sim_alltoall_scattered = { .n_steps = sim_others,
                                              .step = alltoall_scattered_step };

/* Open MPI's goes around the ring for any number of ranks, and counts of 0 are
 * messages too. */
static SimStep
alltoall_pairwise_ring_step (const SimCollective *collective, uint32_t step)
{
  return exchange (collective, sim_after (collective, step + 1), sim_before (collective, step + 1));
}

static SimStep
alltoall_pairwise_step (const SimCollective *collective, uint32_t step)
{
  uint32_t peer = collective->rank ^ (step + 1);

  return without_empty (collective, sim_is_power_of_two (collective->n_ranks)
                                        ? exchange (collective, peer, peer)
                                        : alltoall_pairwise_ring_step (collective, step));
}

const SimAlgorithm sim_alltoall_pairwise = { .n_steps = sim_others,
                                             .step = alltoall_pairwise_step };
const SimAlgorithm sim_alltoall_pairwise_ring = { .n_steps = sim_others,
                                                  .step = alltoall_pairwise_ring_step };

/* Open MPI's: all receives, upwards from the next rank, then all sends, downwards, so
 * that messages arrive in the order of the receives. */
static SimStep
alltoall_linear_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n = sim_others (collective);

  if (step < n)
    return sim_step_receive (sim_after (collective, step + 1), collective->bytes, false);
  return sim_step_send (sim_before (collective, step - n + 1), collective->bytes,
                        step + 1 == 2 * n);
}

const SimAlgorithm sim_alltoall_linear = { .n_steps = twice_others, .step = alltoall_linear_step };

/* Both in the order of the ranks.  Open MPI 4.1 sends counts of 0 too, 1.3 does not. */
static SimStep
alltoallv_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n = sim_others (collective);
  uint32_t peer = step % n < collective->rank ? step % n : step % n + 1;

  if (step < n)
    return sim_step_receive (peer, sim_count_of (collective->recv_counts, peer), false);
  return sim_step_send (peer, sim_count_of (collective->counts, peer), step + 1 == 2 * n);
}

static SimStep
alltoallv_nonzero_step (const SimCollective *collective, uint32_t step)
{
  return without_empty (collective, alltoallv_step (collective, step));
}

const SimAlgorithm sim_alltoallv_linear = { .n_steps = twice_others, .step = alltoallv_step };
const SimAlgorithm sim_alltoallv_linear_nonzero = { .n_steps = twice_others,
                                                    .step = alltoallv_nonzero_step };

/* --- Reductions to all ranks ---
 *
 * Halving and doubling want 2^k ranks.  When there are `extra` ranks more,
 * the first 2 * extra ranks make pairs, and one of each pair folds: it gives
 * its vector to the other and waits for the result (or is done).  The ranks
 * that did not fold are numbered 0 .. 2^k-1 in their order; those numbers
 * are called cores here. */

struct SimFold {
  uint32_t log2_cores;
  uint32_t extra;
  uint32_t core;    /* mine; TOPO_NONE: I have folded */
  uint32_t partner; /* the other of my pair; TOPO_NONE: I am in none */
};

static uint32_t
log2_cores_of (const SimCollective *collective)
{
  return sim_floor_log2 (collective->n_ranks);
}

static uint32_t
n_extra (const SimCollective *collective)
{
  return collective->n_ranks - (1u << log2_cores_of (collective));
}

/* The even one of a pair folds, unless it is the root of a reduction: MPICH
 * would let the root fold and put it in another's place later, which costs
 * one more message. */
static bool
even_folds (const SimCollective *collective, uint32_t pair)
{
  return collective->root != (int32_t) (2 * pair);
}

/* `stays` is the lowest bit of the rank of a pair that does not fold. */
static uint32_t
rank_of_staying (const SimCollective *collective, uint32_t core, uint32_t stays)
{
  uint32_t extra = n_extra (collective);

  return core < extra ? 2 * core + stays : core + extra;
}

static uint32_t
rank_of_core (const SimCollective *collective, uint32_t core)
{
  return rank_of_staying (collective, core, even_folds (collective, core));
}

/* Counts of n cores and the ranks that they stand for. */
static uint64_t
counts_of_cores (const SimCollective *collective, uint32_t first, uint32_t n)
{
  uint32_t extra = n_extra (collective), end = first + n;
  uint32_t end_rank = end < extra ? 2 * end : end + extra;
  uint64_t bytes = 0;

  for (uint32_t rank = first < extra ? 2 * first : first + extra; rank < end_rank; rank++)
    bytes += sim_count_of (collective->recv_counts, rank);
  return bytes;
}

static SimFold
fold_of (const SimCollective *collective, uint32_t rank)
{
  uint32_t extra = n_extra (collective);
  SimFold fold = { log2_cores_of (collective), extra, rank - extra, TOPO_NONE };

  if (rank < 2 * extra) {
    bool odd = rank & 1u;

    fold.partner = rank ^ 1u;
    fold.core = odd == even_folds (collective, rank / 2) ? rank / 2 : TOPO_NONE;
  }
  return fold;
}

/* Before the steps of the cores a folding rank gives its vector away.  After them it gets
 * its result, except from a reduction to a root. */
static uint32_t
folded_steps (const SimCollective *collective)
{
  SimFold fold = fold_of (collective, collective->rank);
  uint32_t n_pair_steps = collective->kind == TRACE_OP_REDUCE ? 1 : 2;

  if (fold.partner == TOPO_NONE)
    n_pair_steps = 0;
  if (fold.core == TOPO_NONE)
    return n_pair_steps;
  return n_pair_steps + collective->algorithm->n_core_steps (collective, &fold);
}

static SimStep
folded_step (const SimCollective *collective, uint32_t step)
{
  SimFold fold = fold_of (collective, collective->rank);
  uint64_t bytes = collective->bytes, back_bytes = collective->bytes;

  if (collective->kind == TRACE_OP_REDUCE_SCATTER && fold.partner != TOPO_NONE) {
    bytes = collective->total_bytes;
    back_bytes = sim_count_of (collective->recv_counts,
                               fold.core == TOPO_NONE ? collective->rank : fold.partner);
  }
  if (fold.core == TOPO_NONE)
    return step == 0 ? sim_step_send (fold.partner, bytes, true)
                     : sim_step_receive (fold.partner, back_bytes, true);
  if (fold.partner != TOPO_NONE && step-- == 0)
    return sim_step_reducing (sim_step_receive (fold.partner, bytes, true));
  if (step < collective->algorithm->n_core_steps (collective, &fold))
    return collective->algorithm->core_step (collective, &fold, step);
  return sim_step_send (fold.partner, back_bytes, true);
}

#define FOLDED .n_steps = folded_steps, .step = folded_step

static uint32_t
one_round (G_GNUC_UNUSED const SimCollective *collective, const SimFold *fold)
{
  return fold->log2_cores;
}

static uint32_t
two_rounds (G_GNUC_UNUSED const SimCollective *collective, const SimFold *fold)
{
  return 2 * fold->log2_cores;
}

/* Allreduce by recursive doubling. */
static SimStep
doubling_core_step (const SimCollective *collective, const SimFold *fold, uint32_t step)
{
  return sim_step_reducing (sim_step_swap (rank_of_core (collective, fold->core ^ 1u << step),
                                           collective->bytes, collective->bytes));
}

const SimAlgorithm sim_allreduce_doubling = { FOLDED, .n_core_steps = one_round,
                                              .core_step = doubling_core_step };

/* --- Reduce-scatter in halves, then gather or allgather (Rabenseifner) --- */

/* The vector is cut into as many blocks as there are cores, the first ones a
 * byte longer when it does not divide. */
static uint64_t
blocks_bytes (const SimCollective *collective, uint32_t first, uint32_t n)
{
  uint32_t log2_cores = log2_cores_of (collective);
  uint64_t rest = collective->bytes & ((UINT64_C (1) << log2_cores) - 1);

  return n * (collective->bytes >> log2_cores) + MIN (first + n, rest) - MIN (first, rest);
}

/* The first of the blocks that a core still works on after some halvings, of which
 * the k-th is shared with the core that differs in bit k. */
static uint32_t
first_block (const SimCollective *collective, uint32_t core, uint32_t n_halvings)
{
  uint32_t first = 0;

  for (uint32_t bit = 0; bit < n_halvings; bit++)
    first += (core >> bit & 1u) << (log2_cores_of (collective) - 1 - bit);
  return first;
}

/* Both peers keep the half of their bit and give the other one; `undo`: each gets the
 * half that it gave. */
static SimStep
halving_step (const SimCollective *collective, const SimFold *fold, uint32_t bit, bool undo)
{
  uint32_t peer = fold->core ^ 1u << bit, n = 1u << (fold->log2_cores - 1 - bit);
  uint64_t kept = blocks_bytes (collective, first_block (collective, fold->core, bit + 1), n);
  uint64_t given = blocks_bytes (collective, first_block (collective, peer, bit + 1), n);

  return undo ? sim_step_swap (rank_of_core (collective, peer), kept, given)
              : sim_step_reducing (sim_step_swap (rank_of_core (collective, peer), given, kept));
}

static SimStep
scatter_allgather_core_step (const SimCollective *collective, const SimFold *fold, uint32_t step)
{
  return step < fold->log2_cores
             ? halving_step (collective, fold, step, false)
             : halving_step (collective, fold, 2 * fold->log2_cores - 1 - step, true);
}

const SimAlgorithm sim_allreduce_scatter_allgather = { FOLDED, .n_core_steps = two_rounds,
                                                       .core_step = scatter_allgather_core_step };

/* The bits in which a core differs from the root's. */
static uint32_t
bits_from_root (const SimCollective *collective, const SimFold *fold)
{
  return fold->core ^ fold_of (collective, (uint32_t) collective->root).core;
}

/* The gather undoes the halvings, last one first.  A core takes part until
 * the first bit in which it differs from the root's: there it gives all its
 * blocks. */
static uint32_t
scatter_gather_core_steps (const SimCollective *collective, const SimFold *fold)
{
  uint32_t bits = bits_from_root (collective, fold);

  return 2 * fold->log2_cores - (bits == 0 ? 0 : sim_floor_log2 (bits));
}

static SimStep
scatter_gather_core_step (const SimCollective *collective, const SimFold *fold, uint32_t step)
{
  uint32_t bit = 2 * fold->log2_cores - 1 - step;
  SimStep undone;

  if (step < fold->log2_cores)
    return halving_step (collective, fold, step, false);
  undone = halving_step (collective, fold, bit, true);
  if (bits_from_root (collective, fold) >> bit & 1u)
    return sim_step_send (undone.send_to, undone.send_bytes, true);
  return sim_step_receive (undone.recv_from, undone.recv_bytes, true);
}

const SimAlgorithm sim_reduce_scatter_gather = { FOLDED, .n_core_steps = scatter_gather_core_steps,
                                                 .core_step = scatter_gather_core_step };

/* --- Reduce-scatter --- */

/* Halves of cores in their order, far ones first. */
static SimStep
reduce_scatter_core_step (const SimCollective *collective, const SimFold *fold, uint32_t step)
{
  uint32_t n = 1u << (fold->log2_cores - 1 - step);
  uint32_t kept = fold->core & ~(n - 1);

  return sim_step_reducing (sim_step_swap (rank_of_core (collective, fold->core ^ n),
                                           counts_of_cores (collective, kept ^ n, n),
                                           counts_of_cores (collective, kept, n)));
}

const SimAlgorithm sim_reduce_scatter_halving = { FOLDED, .n_core_steps = one_round,
                                                  .core_step = reduce_scatter_core_step };

static SimStep
reduce_scatter_pairwise_step (const SimCollective *collective, uint32_t step)
{
  uint32_t to = sim_after (collective, step + 1);

  return sim_step_reducing (sim_step_both (
      to, sim_count_of (collective->recv_counts, to), sim_before (collective, step + 1),
      sim_count_of (collective->recv_counts, collective->rank)));
}

const SimAlgorithm sim_reduce_scatter_pairwise = { .n_steps = sim_others,
                                                   .step = reduce_scatter_pairwise_step };

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
  uint32_t after = sim_after (collective, 1);
  uint32_t sent = sim_rank_before (collective, collects ? collective->rank : after, nth);
  uint64_t send_bytes = part_bytes (collective->bytes, n, sent);
  uint64_t recv_bytes = part_bytes (collective->bytes, n, sim_rank_before (collective, sent, 1));
  SimStep result;

  if (collects) {
    send_bytes = part_bytes (send_bytes, phases, phase);
    recv_bytes = part_bytes (recv_bytes, phases, phase);
  }
  result = sim_step_both (after, send_bytes, sim_before (collective, 1), recv_bytes);
  return collects ? sim_step_reducing (result) : result;
}

const SimAlgorithm sim_allreduce_ring = { .n_steps = allreduce_ring_steps,
                                          .step = allreduce_ring_step };

/* As the first round of the allreduce, from one block before, so that the last to come is
 * one's own. */
static SimStep
reduce_scatter_ring_step (const SimCollective *collective, uint32_t step)
{
  uint32_t before = sim_before (collective, 1);
  uint32_t sent = sim_rank_before (collective, before, step);
  uint32_t received = sim_rank_before (collective, sent, 1);

  return sim_step_reducing (sim_step_both (sim_after (collective, 1),
                                           sim_count_of (collective->recv_counts, sent), before,
                                           sim_count_of (collective->recv_counts, received)));
}

const SimAlgorithm sim_reduce_scatter_ring = { .n_steps = sim_others,
                                               .step = reduce_scatter_ring_step };

/* --- Reductions that Open MPI halves in its own way ---
 *
 * Sources: coll_base_allreduce.c (redscat_allgather) and
 * coll_base_reduce_scatter.c (butterfly).  Of the first 2 * extra ranks one in
 * each pair drops out; those that stay are numbered: cores. */

static bool
is_paired (const SimCollective *collective)
{
  return collective->rank < 2 * n_extra (collective);
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
  uint32_t n_core_steps = 2 * log2_cores_of (collective);

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
halves_step (const SimCollective *collective, uint32_t step)
{
  uint64_t lower_bytes = collective->bytes / 2, upper_bytes = collective->bytes - lower_bytes;
  uint32_t n = log2_cores_of (collective), core = core_of_me (collective);
  uint32_t partner = collective->rank ^ 1u, peer, bit;
  bool odd = collective->rank % 2 == 1;
  uint64_t kept, given;

  if (is_paired (collective)) {
    if (step == 0)
      return sim_step_reducing (odd ? sim_step_swap (partner, lower_bytes, upper_bytes)
                                    : sim_step_swap (partner, upper_bytes, lower_bytes));
    if (step == 1)
      return odd ? sim_step_send (partner, upper_bytes, true)
                 : sim_step_receive (partner, upper_bytes, true);
    if (odd)
      return sim_step_receive (partner, collective->bytes, true);
    if (step == 2 + 2 * n)
      return sim_step_send (partner, collective->bytes, true);
    step -= 2;
  }
  bit = step < n ? step : 2 * n - 1 - step;
  peer = rank_of_staying (collective, core ^ 1u << bit, 0);
  kept = window_bytes (collective, core, bit + 1);
  given = window_bytes (collective, core, bit) - kept;
  return step < n ? sim_step_reducing (sim_step_swap (peer, given, kept))
                  : sim_step_swap (peer, kept, given);
}

const SimAlgorithm sim_allreduce_halves = { .n_steps = halves_steps, .step = halves_step };

/* Reduce-scatter (butterfly).
 *
 * The even one of a pair gives its vector to the odd one.  Halving by near
 * cores first leaves each core with the result of the one whose number is its
 * own with the bits in reverse; that goes where it belongs in the end. */

static uint32_t
butterfly_steps (const SimCollective *collective)
{
  if (is_paired (collective) && collective->rank % 2 == 0)
    return 2;
  return is_paired (collective) + log2_cores_of (collective) + 2;
}

static SimStep
butterfly_step (const SimCollective *collective, uint32_t step)
{
  const uint64_t *counts = collective->recv_counts;
  uint32_t log2_cores = log2_cores_of (collective), core = core_of_me (collective);
  uint64_t own_bytes = sim_count_of (counts, collective->rank);
  uint32_t mirrored = 0, holder, peer, n;

  /* The core whose result this one has in the end, and whose core has this one's: the
   * relation is mutual. */
  for (uint32_t bit = 0; bit < log2_cores; bit++)
    mirrored = mirrored << 1 | (core >> bit & 1u);
  holder = rank_of_staying (collective, mirrored, 1);

  if (is_paired (collective) && collective->rank % 2 == 0)
    return step == 0 ? sim_step_send (collective->rank + 1, collective->total_bytes, true)
                     : sim_step_receive (holder, own_bytes, true);
  if (is_paired (collective) && step-- == 0)
    return sim_step_reducing (
        sim_step_receive (collective->rank - 1, collective->total_bytes, true));

  if (step < log2_cores) {
    n = 1u << (log2_cores - 1 - step);
    peer = core ^ 1u << step;
    return sim_step_reducing (
        sim_step_swap (rank_of_staying (collective, peer, 1),
                       counts_of_cores (collective, first_block (collective, peer, step + 1), n),
                       counts_of_cores (collective, first_block (collective, core, step + 1), n)));
  }

  /* The result goes to the two ranks of a core, or to its only one: first to the
   * rank that dropped out. */
  if (step == log2_cores && mirrored < n_extra (collective))
    return sim_step_send (holder - 1, sim_count_of (counts, holder - 1), true);
  if (step == log2_cores || holder == collective->rank)
    return sim_step_nothing ();
  return sim_step_swap (holder, sim_count_of (counts, holder), own_bytes);
}

const SimAlgorithm sim_reduce_scatter_butterfly = { .n_steps = butterfly_steps,
                                                    .step = butterfly_step };

/* --- Prefixes --- */

/* Recursive doubling without folding: a peer that does not exist would only
 * have had contributions of higher ranks. */
static SimStep
scan_doubling_step (const SimCollective *collective, uint32_t step)
{
  uint32_t peer = collective->rank ^ 1u << step;
  SimStep result;

  if (peer >= collective->n_ranks)
    return sim_step_nothing ();
  result = sim_step_reducing (sim_step_swap (peer, collective->bytes, collective->bytes));
  /* What came from below is in the rank's result, too. */
  result.after.reduce_bytes *= 1 + (peer < collective->rank);
  return result;
}

const SimAlgorithm sim_scan_doubling = { .n_steps = log_steps, .step = scan_doubling_step };

/* From each rank to the next, once the message of the one before has come. */
static uint32_t
scan_linear_steps (const SimCollective *collective)
{
  return (collective->rank > 0) + (collective->rank + 1 < collective->n_ranks);
}

static SimStep
scan_linear_step (const SimCollective *collective, uint32_t step)
{
  bool last = collective->rank + 1 == collective->n_ranks;
  SimStep result;

  if (collective->rank == 0 || step > 0)
    return sim_step_send (collective->rank + 1, collective->bytes, true);
  result = sim_step_receive (collective->rank - 1, collective->bytes, true);
  return collective->kind == TRACE_OP_EXSCAN && last ? result : sim_step_reducing (result);
}

const SimAlgorithm sim_scan_linear = { .n_steps = scan_linear_steps, .step = scan_linear_step };

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

const SimAlgorithm sim_neighbor_exchange = { .n_steps = neighborhood_steps,
                                             .step = neighborhood_step };
