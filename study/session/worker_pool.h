/* worker_pool.h - processes that make the runs of a study: of this machine, or ranks of MPI.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A pool knows jobs by number and their results as blocks of bytes; what a job
 * is, the study says (session.c).  The one who hands out jobs is the master; the
 * function that makes them runs in the other processes of the pool only. */
#pragma once

#include <glib.h>
#include <signal.h>

/* Makes a job, in a worker.  *spent (false before) is set when this process can
 * make no other one.  Never NULL; the caller unrefs. */
typedef GBytes *(*StudyJobFunction) (void *data, guint job, gboolean *spent);

/* The end of a job. */
typedef struct {
  guint job;
  GBytes *block; /* the result; NULL: the worker ended before that */
  char *lost;    /* then the reason: "worker ended by signal 9" */
} StudyPoolResult;

void study_pool_result_clear (StudyPoolResult *result);

typedef enum {
  STUDY_POOL_RESULT,  /* *result is one */
  STUDY_POOL_NOTHING, /* not within the time */
  STUDY_POOL_ERROR,   /* no worker is left; *error */
} StudyPoolTaken;

typedef struct StudyPool StudyPool;
struct StudyPool {
  guint n_workers;
  /* The worker (below n_workers) that should get a job now, so that no worker is idle and no job
   * waits behind another for long; -1: none. */
  int (*idlest) (StudyPool *pool);
  void (*give) (StudyPool *pool, guint worker, guint job);
  /* Waits for a result, at most so long; a signal that `mask` lets through
   * ends the waiting.  The caller clears the result. */
  StudyPoolTaken (*take) (StudyPool *pool, gint timeout_ms, const sigset_t *mask,
                          StudyPoolResult *result, GError **error);
  void (*free) (StudyPool *pool); /* jobs in flight are dropped */
};

void study_pool_free (StudyPool *pool);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyPool, study_pool_free)

/* A way to make a pool. */
typedef struct {
  /* Whether this process hands out jobs; of a pool on this machine only the
   * master ever asks. */
  gboolean (*is_master) (void);
  /* In the master.  n_workers: the user's choice; 0: as many as there are. */
  StudyPool *(*pool_new) (guint n_workers, StudyJobFunction make, void *data, GError **error);
  /* In the others: makes jobs until there are no more. */
  gboolean (*serve) (StudyJobFunction make, void *data, GError **error);
} StudyPoolKind;

/* One process per core of this machine. */
extern const StudyPoolKind study_pool_of_processes;

/* From then on SIGINT, SIGTERM and SIGHUP do nothing in this process and in processes that it
 * forks; programs that it starts do not inherit that. */
void study_ignore_signals (void);

/* n_workers (0: one per core) processes of this machine, forked from this one; it must have no
 * other threads.  A worker that dies is replaced: the job that it was making is
 * lost, those behind it go to another one.  They end when the master does,
 * however that is, and let SIGINT, SIGTERM and SIGHUP pass, which are the
 * master's to handle.  They keep nothing open of the master's but the standard
 * streams.  data is borrowed. */
StudyPool *study_pool_new (guint n_workers, StudyJobFunction make, void *data, GError **error);

/* Sees each result, and NULL before the first and several times a second when there is none; n_done
 * results are there.  FALSE, perhaps with *error, ends the work. */
typedef gboolean (*StudyPoolLook) (void *data, const StudyPoolResult *result, guint n_done,
                                   GError **error);

/* Makes jobs 0 .. n_jobs - 1 in such processes; data is that of both functions. */
gboolean study_pool_run (guint n_workers, guint n_jobs, StudyJobFunction make, StudyPoolLook look,
                         void *data, GError **error);
