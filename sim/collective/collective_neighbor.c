/* collective_neighbor.c - the step algorithm of neighbourhoods.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * MPICH starts all receives in the order of the sources, then all sends in
 * the order of the destinations, and waits for everything; so does this, one
 * message per step. */
#include "sim/collective/collective_steps.h"

static uint32_t
neighbor_steps (const SimCollective *collective)
{
  return collective->n_sources + collective->n_destinations;
}

static SimStep
neighbor_step (const SimCollective *collective, uint32_t step)
{
  bool last = step + 1 == neighbor_steps (collective);

  if (step < collective->n_sources)
    return sim_step_receive ((uint32_t) collective->sources[step],
                             sim_count_of (collective->recv_counts, step), last);
  step -= collective->n_sources;
  return sim_step_send ((uint32_t) collective->destinations[step],
                        sim_count_of (collective->counts, step), last);
}

const SimAlgorithm sim_neighbor_exchange = { neighbor_steps, neighbor_step, NULL };
