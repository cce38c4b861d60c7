/* anneal.h - fewer hop-bytes by exchanging ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A step exchanges the places of two ranks, or moves a rank to a free slot; the
 * change is summed over the partners of these two ranks only.  Simulated annealing
 * (Kirkpatrick, Gelatt and Vecchi 1983) takes a bad step with probability
 * exp (-delta / temperature) while the temperature falls; the descent takes the best
 * step of each rank in turn until none is good. */
#pragma once

#include "study/search/slot_placement.h"

typedef struct {
  uint64_t seed;
  uint64_t n_steps; /* proposals before the descent */
  double heat;      /* first temperature, as a multiple of the average cost of a bad step: 1 forgets
                       the start, 0.05 repairs it */
  /* Called every few thousand steps; TRUE ends the search; may be NULL. */
  gboolean (*stop) (void *data);
  void *stop_data;
} StudyAnneal;

/* Improves slot[n_ranks] in place; the result never has more hop-bytes than the
 * start.  The same arguments give the same placement, unless stop() says so. */
void study_anneal (const StudyProblem *problem, uint32_t *slot, const StudyAnneal *options);

/* --- Less on the busiest links by exchanging ranks --- */

/* Bytes go over the links of their deterministic ways.  The search minimizes the
 * sum of the fourth powers of all links' bytes: the busiest links dominate it, as they do the
 * maximum, but it distinguishes good steps where one link alone does not. */

/* Improves slot[n_ranks] in place by n_steps proposals, of which only good ones are
 * taken; options->heat is not used.  The same arguments give the same placement,
 * unless stop() says so. */
void study_relieve (const StudyProblem *problem, const RoutePaths *paths, uint32_t *slot,
                    const StudyAnneal *options);
