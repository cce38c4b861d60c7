/* plan_keys.h - values of a study file's keys; private to the plan.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What is not there leaves the variable as it is; *error names line, group and key. */
#pragma once

#include "study/plan/plan_file.h"

/* Says what is wrong with a key; always FALSE. */
gboolean study_plan_refuse (const StudyPlanFile *file, const char *group, const char *key,
                            GError **error, const char *format, ...) G_GNUC_PRINTF (5, 6);

/* A list with blanks around its members and empty ones left out; never NULL. */
gboolean study_plan_get_list (const StudyPlanFile *file, const char *group, const char *key,
                              char ***list, GError **error);

/* NULL when it is not there. */
char *study_plan_get_text (const StudyPlanFile *file, const char *group, const char *key);

gboolean study_plan_get_number (const StudyPlanFile *file, const char *group, const char *key,
                                guint64 lowest, guint64 highest, guint64 *number, GError **error);

gboolean study_plan_get_flag (const StudyPlanFile *file, const char *group, const char *key,
                              gboolean *flag, GError **error);

/* Appends numbers of 1 .. highest (element-type int), G_MININT alone when the key is
 * not there. */
gboolean study_plan_get_integers (const StudyPlanFile *file, const char *group, const char *key,
                                  int highest, GArray *numbers, GError **error);
