/* plan_private.h - what the parts of a plan share; private to them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/plan/plan_file.h"

/* --- plan_mappings.c --- */

/* One mapping of a study on one machine for one number of ranks. */
typedef struct {
  char *text;   /* as rows name it, after substitution */
  char *path;   /* NULL: the default */
  char *source; /* what the file asks for it by: that of a family is one for all its members */
  char *problem;
  int *binding;
} StudyPlanMapping;

/* Those that the file asks for on a machine that is there, no text twice
 * (element-type StudyPlanMapping). */
GPtrArray *
study_plan_mappings_new (const StudyPlanFile *file, const TopoMachine *machine, uint32_t n_ranks);
/* The same where there is no trace or machine: families are one each. */
GPtrArray *study_plan_mappings_unknown (const StudyPlanFile *file, const char *problem);

/* --- plan.c --- */

void study_plan_run_free (StudyPlanRun *run);

/* --- plan_unfit.c --- */

/* Which mappings fit where, while a plan is resolved. */
typedef struct StudyFits StudyFits;
StudyFits *study_fits_new (void);
void study_fits_free (StudyFits *fits);
/* The run's trace and machine are there; fits: so is the mapping. */
void
study_fits_add (StudyFits *fits, const StudyPlanRun *run, const char *source, gboolean does_fit);
/* When all runs are in the plan: tells plan->unfit, and takes those out that the file
 * wants to be left out. */
void study_fits_end (const StudyFits *fits, StudyPlan *plan);
void study_unfit_free (StudyUnfit *unfit);

/* --- plan_open.c --- */

void study_plan_open_trace (StudyTrace *trace);

/* NULL and machine->error when there is none; to be freed before the machine. */
RoutePaths *study_plan_open_machine (StudyMachine *machine);

/* The same machine but for these two, not yet open. */
StudyMachine *study_plan_variant_new (const StudyPlanFile *file, const StudyMachine *origin,
                                      gboolean all_cores, gboolean not_adaptive);
