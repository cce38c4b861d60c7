/* worker.h - one process of a crew on this machine; private to crews.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * It has a socket to the master: numbers of jobs (guint32) go one way, results the
 * other, each behind a head. */
#pragma once

#include "study/session/crew.h"

#include <sys/types.h>

/* Only processes of one program on one machine read it. */
typedef struct {
  guint32 job, spent;
  guint64 n_bytes; /* of the block that follows */
} StudyWorkerHead;

/* What the process is told before it begins. */
typedef struct {
  int socket;
  pid_t master;
  volatile guint32 *n_begun; /* in memory that the master sees too: jobs that were begun */
  StudyCrewMake make;
  void *data;
} StudyWorker;

/* In the process that was forked: makes jobs until it is spent or the master is gone. */
G_NORETURN void study_worker_work (const StudyWorker *worker);

/* All bytes, without SIGPIPE; FALSE when nobody is at the other end. */
gboolean study_worker_send (int socket, gconstpointer from, gsize n_bytes);
