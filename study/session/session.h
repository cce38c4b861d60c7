/* session.h - makes the runs of a study that its store does not have yet.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The master resolves the plan, opens the store, hands out the runs and is the only process that
 * writes.  When it is killed the stored runs stay, and the same command continues from there. */
#pragma once

#include "study/plan/plan.h"
#include "study/session/worker_pool.h"
#include "study/store/store.h"

#include <glib.h>

/* Runs are counted once each, however often the plan lists them. */
typedef struct {
  guint n_runs;  /* of the shard; of a race, so far */
  guint n_there; /* of those, in the store before; also failed runs that are not tried again */
  guint n_failed_before;
  guint n_done, n_failed; /* now */
  guint n_changed;        /* of n_failed: an input has changed; not in the store */
  guint n_races, n_over;
  double wall_s; /* of the runs made now, added up */
  double elapsed_s;
  double store_s; /* the part of elapsed_s that writes to the store */
  char *first_error;
  int signal; /* that ended it; 0: none */
} StudyTally;

void study_tally_clear (StudyTally *tally);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (StudyTally, study_tally_clear)

typedef void (*StudySessionProgress) (void *data, const StudyTally *tally);

/* Chooses the runs of a plan as results come in. */
typedef struct {
  /* The runs (element-type guint) that are needed now and that no earlier call has returned; the caller
   * unrefs.  Each of them is told, unless the session ends before.  When there are none and all are told
   * the session is over. */
  GArray *(*wanted) (void *data);
  void (*tell) (void *data, guint run, const StudyRow *row);
  /* How many races there are, and how many of them are over. */
  void (*count) (void *data, guint *n_races, guint *n_over);
} StudyChooser;

typedef struct {
  guint n_workers;        /* 0: one per core, or all there are */
  guint shard, n_shards;  /* run i of the plan is of shard i % n_shards + 1; n_shards 0: all */
  const char *store_path; /* NULL: study_session_store_path() */
  gboolean retry_failed;
  guint race_best; /* 0: make all runs; else only those that find the so many best mappings of each
                      * case (racing.h); the plan was resolved with is_raced */
  double confidence;           /* of the race */
  const StudyChooser *chooser; /* NULL: all runs, or those of races; race_best is 0 */
  void *chooser_data;
  gint64 deadline_us; /* g_get_monotonic_time(): then the runs in flight are dropped; 0: none */
  StudySessionProgress progress; /* now and then; may be NULL */
  void *progress_data;
} StudySessionOptions;

/* The default store of the runs: the plan's, for a shard "NAME.2of4.store".  The caller frees. */
char *study_session_store_path (const StudyPlan *plan, const StudySessionOptions *options);

/* The plan must be resolved.  FALSE when the store cannot be used or no worker can be
 * started; runs that fail are counted, and SIGINT, SIGTERM and SIGHUP end it early with
 * tally->signal. */
gboolean study_session_run (const StudyPlan *plan, const StudyPoolKind *maker,
                            const StudySessionOptions *options, StudyTally *tally, GError **error);

/* Fills n_runs, n_there and n_failed_before and returns the runs that are left (element-type
 * guint), without writing anything.  A store that does not exist counts as empty. */
GArray *study_session_todo (const StudyPlan *plan, const StudySessionOptions *options,
                            StudyTally *tally, GError **error);

/* In a process that is not the master: makes runs until none are left. */
gboolean study_session_serve (const StudyPlan *plan, const StudyPoolKind *maker, GError **error);

/* --- The time that the remaining runs of a study will take --- */

/* Per case, that is trace, machine, network and shrink.  Where the store has runs of a case,
 * the estimate of another is the mean of their wall_s.  Else one load run of the case's
 * first mapping is made here: its time is that of a load run, and its packet hops
 * (StudyBenchSize) divided by the rate of the store's packet runs or, without any,
 * by STUDY_ESTIMATE_HOPS_PER_S, is the time of a packet run.  Before the first flow run of a case
 * its time is unknown. */

/* A guess: exact packets with the MPI protocol, on one core of about 2020.  Measured: half a
 * million (messages of 512 bytes) to five million (16 KiB). */
#define STUDY_ESTIMATE_HOPS_PER_S 1.5e6

typedef struct {
  double run_s;            /* of one core, all runs that could be estimated */
  guint n_unknown;         /* runs that could not */
  guint n_measured;        /* estimated from runs in the store */
  uint64_t peak_rss_bytes; /* of one worker, at least */
} StudyEstimate;

/* todo as study_session_todo() gives it.  Errors are those of the store; a case that
 * cannot be opened is unknown. */
gboolean study_estimate (const StudyPlan *plan, const StudySessionOptions *options,
                         const GArray *todo, StudyEstimate *estimate, GError **error);
