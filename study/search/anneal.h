/* anneal.h - fewer hop-bytes by exchanging ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A step exchanges the places of two ranks, or moves a rank to a free slot; what it
 * changes is summed over the partners of these two ranks only.  Simulated annealing
 * (Kirkpatrick, Gelatt and Vecchi 1983) takes a bad step with probability
 * exp (-delta / temperature) while the temperature falls; the descent takes the best
 * step of each rank in turn until none is good. */
#pragma once

#include "study/search/slot_placement.h"

typedef struct {
  uint64_t seed;
  uint64_t n_steps; /* proposals */
  double heat;      /* first temperature, in what a random bad step costs on average: 1 forgets the
                       start, 0.05 mends it */
  /* Asked every few thousand steps; may be NULL. */
  gboolean (*stop) (void *data);
  void *stop_data;
} StudyAnneal;

/* Improves slot[n_ranks] in place; what comes out never has more hop-bytes than what
 * went in.  The same arguments give the same placement, unless stop() says so. */
void study_anneal (const StudyProblem *problem, uint32_t *slot, const StudyAnneal *options);

/* Only the descent. */
void study_descend (const StudyProblem *problem, uint32_t *slot, gboolean (*stop) (void *data),
                    void *stop_data);

/* --- Less on the busiest links by exchanging ranks --- */

/* Bytes go over the links of their deterministic ways.  What is made smaller is the
 * sum of the fourth powers of all links' bytes: it is ruled by the busiest links, as the
 * maximum is, but tells good steps from others where one link alone does not. */

/* Improves slot[n_ranks] in place by n_steps proposals, of which only good ones are
 * taken; options->heat is not used.  The same arguments give the same placement,
 * unless stop() says so. */
void study_relieve (const StudyProblem *problem, const RoutePaths *paths, uint32_t *slot,
                    const StudyAnneal *options);
