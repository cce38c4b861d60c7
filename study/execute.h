/* execute.h - makes one run of a plan, here and now.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/plan.h"

/* What a worker keeps between runs: the last trace, machine and routes, so that
 * a sweep over mappings opens them once. */
typedef struct StudyBench StudyBench;
StudyBench *study_bench_new (const StudyPlan *plan); /* borrows the plan */
void study_bench_free (StudyBench *bench);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyBench, study_bench_free)

/* Never NULL: a run that fails gives a row that says why.  A trace, machine file
 * or map that is no longer what it was when the key was computed is such a failure
 * (STUDY_ERROR_CHANGED's text), and is not kept under the old key. */
StudyRow *study_bench_run (StudyBench *bench, guint run);
