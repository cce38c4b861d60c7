/* racing.h - the races of a study: each case's mappings against each other.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A case is all runs of a study that differ in nothing but mapping, seed, repetition and replica;
 * the draws of a mapping are its runs in a case.  More than a few mappings are screened first: by a
 * run with shrunk messages each (auto:race of sim/shrink.h), or, where messages are too short, by the
 * bytes on links (the load network).  study/race.h judges.  Cases of the load network have no times:
 * all of their runs are made. */
#pragma once

#include "study/plan/plan.h"
#include "study/store/store.h"

#define STUDY_RACING_MEASURES 3u

/* What a run that screens says, of either kind; NaN: nothing. */
void study_racing_measures (const StudyRow *screen, double measures[STUDY_RACING_MEASURES]);

typedef struct StudyRacing StudyRacing;

/* The plan was resolved with is_raced.  Fails where the mappings of a case have not the same seeds. */
StudyRacing *
study_racing_new (const StudyPlan *plan, guint n_best, double confidence, GError **error);
void study_racing_free (StudyRacing *racing);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyRacing, study_racing_free)

/* The runs (element-type guint, of the plan) that are needed now and that no earlier call has
 * returned.  All of them are to be told; then there may be others. */
GArray *study_racing_wanted (StudyRacing *racing);

/* The result of such a run. */
void study_racing_tell (StudyRacing *racing, guint run, const StudyRow *row);

/* How many cases are raced, and how many races are over. */
void study_racing_count (const StudyRacing *racing, guint *n_races, guint *n_over);

/* What has become of the mappings of all races that are over (element-type StudyRaceRow): in the
 * order of the plan's cases, each one's best first. */
GPtrArray *study_racing_outcome (const StudyRacing *racing);
