/* execute.h - makes one run of a plan, here and now.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/plan/plan.h"
#include "study/session/worker_pool.h"

/* The state of a worker between runs: the last trace, machine, routes and traffic,
 * so that a sweep over mappings opens them once. */
typedef struct StudyBench StudyBench;
StudyBench *study_bench_new (const StudyPlan *plan); /* resolved; borrowed */
void study_bench_free (StudyBench *bench);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyBench, study_bench_free)

/* Measures of a load run, which estimate a run of any network with the same inputs. */
typedef struct {
  double read_s;      /* reading the trace, once per worker */
  double load_s;      /* a load run after that */
  double packet_hops; /* simulated by a packet run: hop_bytes / payload of a packet + messages *
                       * avg_dilation, as a message has at least one packet, and one that is not
                       * full; divided by the factor that its messages are shrunk by */
} StudyBenchSize;

/* FALSE when the inputs cannot be opened. */
gboolean study_bench_measure (StudyBench *bench, guint run, StudyBenchSize *size);

/* --- Jobs and their results, between the master and the workers of a study --- */

/* Job j below the number of runs is run j of the plan; n_runs + j is the communication graph of
 * the trace of run j, collectives decomposed as on its machine. */

/* The result of a job: a row or edges. */
typedef struct {
  StudyRow *row;    /* of a run that failed with the reason */
  gboolean changed; /* failed, as an input no longer has the hash in its key: the row does not
                       belong to that key and is not kept */
  GBytes *places;   /* study_store_pack_places(); NULL: the master has it, or there is none */
  GBytes *edges;    /* study_store_pack_edges(); NULL: there are none, or too many */
  uint64_t n_edges;
} StudyJobResult;

void study_job_result_clear (StudyJobResult *result);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (StudyJobResult, study_job_result_clear)

/* A StudyJobFunction; data is a StudyBench. */
GBytes *study_job_make (void *data, guint job, gboolean *spent);

/* In the master.  Workers that are forked later do not send the placement again.  FALSE when it is
 * no such block. */
gboolean study_job_read (StudyBench *bench, GBytes *block, StudyJobResult *result);
