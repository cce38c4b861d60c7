/* plan_private.h - what the parts of a plan share; private to them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/plan_file.h"

/* One mapping of a study on one machine for one number of ranks. */
typedef struct {
  char *text; /* as rows name it, after substitution */
  char *path; /* NULL: the default */
  char *problem;
  int *binding;
} StudyPlanMapping;

/* Those that the file asks for on a machine that is there, no text twice
 * (element-type StudyPlanMapping). */
GPtrArray *
study_plan_mappings_new (const StudyPlanFile *file, const TopoMachine *machine, uint32_t n_ranks);
/* The same where there is no trace or machine: families are one each. */
GPtrArray *study_plan_mappings_unknown (const StudyPlanFile *file, const char *problem);
