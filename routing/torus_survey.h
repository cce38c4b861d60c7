/* torus_survey.h - loads, rings and credit loops of the deterministic routes of all pairs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every ordered pair of different nodes is one route.  Up to a few thousand
 * nodes every route is walked, which also proves that it arrives.  Above, the
 * same figures come from one dimension at a time: a route finishes the
 * dimensions in a fixed order, so while it travels in one, the coordinates of
 * the finished ones are its destination's and of the others its source's,
 * both free; only the parity of the source couples them (it decides ties).
 *
 * Dependencies of one buffer on the next.  On a torus they close around each
 * ring; there the bubble rule, and not the absence of a loop, prevents
 * deadlock, so rings are counted apart from loops over several rings. */
#pragma once

#include "routing/torus.h"

#define ROUTE_SURVEY_EVERY_PAIR_NODES 4096

typedef struct {
  bool every_pair;      /* walked, not derived */
  uint64_t pairs;       /* ordered, of different nodes */
  uint64_t unreachable; /* pairs whose route ends elsewhere */
  uint32_t max_hops;
  uint64_t *pairs_by_hops; /* [max_hops + 1] */
  uint32_t links;
  uint64_t load_min, load_max; /* routes over a link */
  double load_median;
  uint32_t bubble_rings; /* directed rings whose buffers depend on each other all around */
  uint32_t credit_loops; /* rows of links on a loop over several rows */
} RouteSurvey;

RouteSurvey *route_survey_new (const RouteTorus *route, bool every_pair);
void route_survey_free (RouteSurvey *survey);
