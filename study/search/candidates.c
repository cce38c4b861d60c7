/* candidates.c - mappings that are compared, and what is known of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/search/candidates.h"

#include "study/search/static.h"

#include <math.h>
#include <string.h>

/* More are never simulated, and serve no search. */
#define MAX_CANDIDATES 24u

static void
candidate_free (StudyCandidate *candidate)
{
  g_free (candidate->name);
  g_free (candidate->slot);
  topo_mapping_free (candidate->mapping);
  g_free (candidate->error);
  g_free (candidate);
}

/* Takes slot. */
static StudyCandidate *
candidate_new (const StudyCandidates *candidates, const char *name, uint32_t *slot)
{
  StudyCandidate *candidate = g_new0 (StudyCandidate, 1);
  double features[SIM_N_FEATURES];

  candidate->name = g_strdup (name);
  candidate->slot = slot;
  candidate->mapping = study_placement_mapping (candidates->problem, slot, name);
  study_static_features (features, candidates->paths, candidate->mapping, candidates->edges);
  candidate->hop_bytes = features[SIM_FEATURE_HOP_BYTES];
  candidate->max_bytes = features[SIM_FEATURE_MAX_BYTES];
  candidate->time_s = NAN;
  candidate->gain = study_gain_new (NULL, NULL, 0);
  return candidate;
}

/* Of two values of which less is better; a default without any cannot be beaten. */
static double
relative (double value, double default_value)
{
  if (default_value > 0)
    return value / default_value;
  return value > 0 ? INFINITY : 1;
}

static double
score_of (const StudyCandidates *candidates, const StudyCandidate *candidate)
{
  const StudyCandidate *plain = study_candidate (candidates, 0);
  double hop_bytes = relative (candidate->hop_bytes, plain->hop_bytes);
  double max_bytes = relative (candidate->max_bytes, plain->max_bytes);

  switch (candidates->objective) {
  case STUDY_OBJECTIVE_HOP_BYTES: return hop_bytes;
  case STUDY_OBJECTIVE_MAX_BYTES: return max_bytes;
  case STUDY_OBJECTIVE_BOTH: return (hop_bytes + max_bytes) / 2;
  }
  g_assert_not_reached ();
}

StudyCandidates *
study_candidates_new (const StudyProblem *problem, const RoutePaths *paths, const SimEdges *edges,
                      StudyObjective objective, const char *default_name, uint32_t *default_slot)
{
  StudyCandidates *candidates = g_new0 (StudyCandidates, 1);
  StudyCandidate *plain;

  candidates->problem = problem;
  candidates->paths = paths;
  candidates->edges = edges;
  candidates->objective = objective;
  candidates->list = g_ptr_array_new_with_free_func ((GDestroyNotify) candidate_free);
  plain = candidate_new (candidates, default_name, default_slot);
  plain->score = 1;
  g_ptr_array_add (candidates->list, plain);
  return candidates;
}

void
study_candidates_free (StudyCandidates *candidates)
{
  if (!candidates)
    return;
  g_ptr_array_unref (candidates->list);
  g_free (candidates);
}

static gboolean
is_listed (const StudyCandidates *candidates, const StudyCandidate *candidate)
{
  for (guint i = 0; i < candidates->list->len; i++) {
    const StudyCandidate *other = study_candidate (candidates, i);

    if (other->hop_bytes == candidate->hop_bytes && other->max_bytes == candidate->max_bytes)
      return TRUE;
  }
  return FALSE;
}

void
study_candidates_add (StudyCandidates *candidates, const char *name, uint32_t *slot)
{
  StudyCandidate *candidate = candidate_new (candidates, name, slot);
  guint place = 1;

  if (is_listed (candidates, candidate)) {
    candidate_free (candidate);
    return;
  }
  candidate->score = score_of (candidates, candidate);
  while (place < candidates->list->len &&
         study_candidate (candidates, place)->score <= candidate->score)
    place++;
  g_ptr_array_insert (candidates->list, (gint) place, candidate);
  if (candidates->list->len > MAX_CANDIDATES)
    g_ptr_array_set_size (candidates->list, MAX_CANDIDATES);
}

guint
study_candidates_best (const StudyCandidates *candidates)
{
  return candidates->list->len > 1 && study_candidate (candidates, 1)->score < 1 ? 1 : 0;
}
