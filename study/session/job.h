/* job.h - what master and workers of a study tell each other.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Job j below the number of runs is run j of the plan; n_runs + j asks who sends to
 * whom in the trace of run j. */
#pragma once

#include "study/session/crew.h"
#include "study/session/execute.h"

/* What came of a job; either row or edges. */
typedef struct {
  StudyRow *row;
  gboolean changed; /* StudyBenchNotes */
  GBytes *places;   /* study_store_pack_places(); NULL: the master has it, or there is none */
  GBytes *edges;    /* study_store_pack_edges(); NULL: there are none, or too many */
  uint64_t n_edges;
} StudyJobResult;

void study_job_result_clear (StudyJobResult *result);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (StudyJobResult, study_job_result_clear)

/* What a worker works with. */
typedef struct {
  StudyBench *bench;
  guint n_runs;
  GHashTable *known; /* set of utf8, mapping hashes that the master has */
} StudyJobMaker;

StudyJobMaker *study_job_maker_new (const StudyPlan *plan); /* borrows the plan */
void study_job_maker_free (StudyJobMaker *maker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyJobMaker, study_job_maker_free)

/* A StudyCrewMake; data is a StudyJobMaker. */
GBytes *study_job_make (void *data, guint job, gboolean *spent);

/* FALSE when it is no such block. */
gboolean study_job_read (GBytes *block, StudyJobResult *result);
