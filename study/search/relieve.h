/* relieve.h - less on the busiest links by exchanging ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Bytes go over the links of their deterministic ways.  What is made smaller is the
 * sum of the fourth powers of all links' bytes: it is ruled by the busiest links, as the
 * maximum is, but tells good steps from others where one link alone does not. */
#pragma once

#include "study/search/anneal.h"

/* Improves slot[n_ranks] in place by n_steps proposals, of which only good ones are
 * taken; options->heat is not used.  The same arguments give the same placement,
 * unless stop() says so. */
void study_relieve (const StudyProblem *problem, const RoutePaths *paths, uint32_t *slot,
                    const StudyAnneal *options);
