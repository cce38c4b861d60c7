/* search.h - mappings that are compared, and the search for better ones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/features.h"
#include "study/search/slot_placement.h"

/* The metric by which mappings are compared before they are simulated. */
typedef enum {
  STUDY_OBJECTIVE_HOP_BYTES,
  STUDY_OBJECTIVE_MAX_BYTES,
  STUDY_OBJECTIVE_BOTH, /* the mean of the two, each relative to the default's */
} StudyObjective;

/* By how much a mapping is faster than the default: optimize.h. */
typedef struct {
  double nominal;   /* with the inputs as they are: time of the default / time - 1; NaN: unknown */
  double mean;      /* geometric, over the perturbed pairs; the nominal one without any */
  double low, high; /* of the interval; NaN with fewer than three pairs */
  guint n_pairs;    /* perturbed */
  guint n_faster;   /* pairs in which the mapping was faster than the default */
} StudyGain;

typedef struct {
  char *name; /* how it came about: "ABCDET", "scotch", "annealed from scotch" */
  uint32_t *slot;
  TopoMapping *mapping;
  double hop_bytes, max_bytes; /* as study_static_features() has them */
  double score;                /* 1: as good as the default; less is better */
  double time_s;               /* simulated; NaN: not */
  char *error;                 /* why the simulation failed; NULL */
  StudyGain gain;              /* over the default */
} StudyCandidate;

/* A list of them: the default first and forever, the others by score. */
typedef struct {
  const StudyProblem *problem;
  const RoutePaths *paths;
  const SimEdges *edges;
  StudyObjective objective;
  GPtrArray *list; /* (element-type StudyCandidate) */
} StudyCandidates;

/* Takes the default's slots. */
StudyCandidates *
study_candidates_new (const StudyProblem *problem, const RoutePaths *paths, const SimEdges *edges,
                      StudyObjective objective, const char *default_name, uint32_t *default_slot);
void study_candidates_free (StudyCandidates *candidates);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyCandidates, study_candidates_free)

static inline StudyCandidate *
study_candidate (const StudyCandidates *candidates, guint i)
{
  return g_ptr_array_index (candidates->list, i);
}

/* The one with the lowest score; the default unless another is better. */
guint study_candidates_best (const StudyCandidates *candidates);

/* --- The metrics of a mapping that need no simulated time --- */

/* Of the edges of a communication graph with deterministic routes.  The messages of
 * an edge share its bytes evenly. */
void study_static_features (double features[SIM_N_FEATURES], const RoutePaths *paths,
                            const TopoMapping *mapping, const SimEdges *edges);

/* --- Better mappings by local search on static metrics --- */

/* Starts are the default, the best of the families of recipes (orders of dimensions,
 * curves, the 84 of SC13), a greedy construction, Scotch's mapping and the caller's
 * own.  Then rounds: annealing
 * from one start or the other, colder from the best so far, and, where the busiest
 * link counts, relieving it.  Four rounds are made at a time, however many threads
 * there are, each longer than those before. */

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

/* Adds the mappings that it finds to the candidates.  Without a deadline the result depends on
 * the arguments alone.  FALSE and *error when a start is no mapping. */
gboolean study_search (StudyCandidates *candidates, const StudySearch *options,
                       StudySearched *searched, GError **error);
