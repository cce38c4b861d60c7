/* session.h - makes the runs of a study that its store does not have yet.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The master resolves the plan, opens the store, hands out the runs and is the only
 * one that writes.  Whenever it is killed, what it has stored stays, and
 * the same command goes on from there. */
#pragma once

#include "study/session/crew.h"
#include "study/plan/plan.h"
#include "study/store/store.h"

/* Runs are counted once each, however often the plan lists them. */
typedef struct {
  guint n_runs;  /* of the shard */
  guint n_there; /* of those, in the store before, failed ones that are not tried again too */
  guint n_failed_before;
  guint n_done, n_failed; /* now */
  guint n_changed;        /* of n_failed: an input is another one now; not in the store */
  double wall_s;          /* of the runs made now, added up */
  double elapsed_s;
  double store_s; /* of that, writing to the store */
  char *first_error;
  int signal; /* that ended it; 0: none */
} StudyTally;

void study_tally_clear (StudyTally *tally);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (StudyTally, study_tally_clear)

typedef void (*StudySessionProgress) (void *data, const StudyTally *tally);

typedef struct {
  guint n_workers;        /* 0: one per core, or all there are */
  guint shard, n_shards;  /* run i of the plan is of shard i % n_shards + 1; n_shards 0: all */
  const char *store_path; /* NULL: study_session_store_path() */
  gboolean retry_failed;
  StudySessionProgress progress; /* now and then; may be NULL */
  void *progress_data;
} StudySessionOptions;

/* Where the runs are kept unless the user says otherwise: the plan's store, for a shard
 * "NAME.2of4.store".  The caller frees it. */
char *study_session_store_path (const StudyPlan *plan, const StudySessionOptions *options);

/* The plan must be resolved.  FALSE when the store cannot be used or nobody can
 * work; runs that fail are counted, and SIGINT, SIGTERM and SIGHUP end it early with
 * tally->signal. */
gboolean study_session_run (const StudyPlan *plan, const StudyCrewMaker *maker,
                            const StudySessionOptions *options, StudyTally *tally, GError **error);

/* What a run of it would find, without writing anything: n_runs, n_there and
 * n_failed_before, and the runs that are left (element-type guint).  A store that does
 * not exist is an empty one. */
GArray *study_session_todo (const StudyPlan *plan, const StudySessionOptions *options,
                            StudyTally *tally, GError **error);

/* In a process that is no master: makes runs until there are none. */
gboolean study_session_serve (const StudyPlan *plan, const StudyCrewMaker *maker, GError **error);
