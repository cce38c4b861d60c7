/* estimate.h - how long the runs of a study that are left will take.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Per case, that is trace, machine and network.  Where the store has runs of a case,
 * the mean of their wall_s is what another one takes.  Else one load run of the case's
 * first mapping is made here: its time is that of a load run, and its packet hops
 * (StudyBenchSize) divided by the rate of the store's packet runs or, without any,
 * by STUDY_ESTIMATE_HOPS_PER_S, is the time of a packet run.  How long a flow run takes
 * nobody knows before the first. */
#pragma once

#include "study/session/session.h"

/* A guess: exact packets with all of MPI around them, on one core of 2020's make.
 * Half a million (messages of 512 bytes) to five (16 KiB) were seen. */
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
