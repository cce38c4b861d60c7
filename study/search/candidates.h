/* candidates.h - mappings that are compared, and what is known of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/search/slot_placement.h"
#include "study/search/gain.h"

/* What mappings are compared by before they are simulated. */
typedef enum {
  STUDY_OBJECTIVE_HOP_BYTES,
  STUDY_OBJECTIVE_MAX_BYTES,
  STUDY_OBJECTIVE_BOTH, /* the mean of the two, each relative to the default's */
} StudyObjective;

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

/* Scores a mapping and lists it, unless one with the same metrics is there, or
 * enough that are better.  Takes slot. */
void study_candidates_add (StudyCandidates *candidates, const char *name, uint32_t *slot);

static inline StudyCandidate *
study_candidate (const StudyCandidates *candidates, guint i)
{
  return g_ptr_array_index (candidates->list, i);
}

/* The one with the lowest score; the default unless another is better. */
guint study_candidates_best (const StudyCandidates *candidates);
