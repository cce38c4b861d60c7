/* search.h - better mappings by local search on static metrics.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Starts are the default, the best of the families of recipes (orders of dimensions,
 * curves, the 84 of SC13), a greedy construction, Scotch's mapping and what the caller
 * names.  Then rounds: annealing
 * from one start or the other, colder from the best so far, and, where the busiest
 * link counts, relieving it.  Four rounds are made at a time, however many threads
 * there are, each longer than those before. */
#pragma once

#include "study/search/candidates.h"

typedef struct {
  /* Map files, orders or recipes to start from, NULL-terminated; may be NULL. */
  const char *const *starts;
  uint64_t seed;
  guint n_threads;
  guint n_rounds;      /* at most; 0: until deadline_us */
  int64_t deadline_us; /* g_get_monotonic_time(); 0: none */
  /* Asked often, also by threads, for whether to end at once, and told the share that is
   * done; may be NULL. */
  gboolean (*stop) (void *data);
  void (*progress) (void *data, double share);
  void *data;
} StudySearch;

typedef struct {
  uint64_t n_steps;   /* exchanges that were tried by annealing */
  guint n_rounds;     /* made */
  char *scotch_error; /* why Scotch has no mapping; NULL */
} StudySearched;

/* Adds what it finds to the candidates.  Without a deadline the result depends on
 * the arguments alone.  FALSE and *error when a start is no mapping. */
gboolean study_search (StudyCandidates *candidates, const StudySearch *options,
                       StudySearched *searched, GError **error);
