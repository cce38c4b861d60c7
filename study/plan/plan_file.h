/* plan_file.h - a study file as it was read; private to the plan.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/plan/plan.h"

#include <glib.h>

/* The parts that are out one at a time: cables between switches, switches, nodes, or those whose
 * names match a pattern (topo_machine_parts()). */
typedef struct {
  char *text; /* as in the file */
  char *what;
  uint32_t lanes;              /* the cables are degraded to so many; 0: the parts are out */
  guint64 every, sample, seed; /* every K-th, or so many by lot; 0: all */
} StudyFailures;

/* A binding says which value each name has, as its index; -1 for the names that a
 * text does not have. */

typedef struct {
  char *name;
  char **values;
  gboolean is_used; /* by any text */
} StudyValue;

typedef struct {
  GArray *all; /* (element-type StudyValue) */
} StudyValues;

struct StudyPlanFile {
  char *path, *folder, *text;
  GKeyFile *keys;

  char *name, *store;
  /* Lists are NULL-terminated and never NULL, but perhaps empty. */
  char **traces;
  char *from_region;
  guint trace_ranks;
  gboolean allow_lossy;
  GArray *compute_scales; /* (element-type double) at least one */
  char **machines;
  GArray *ranks_per_node; /* (element-type int) G_MININT when not given; as patterns */
  GArray *patterns;
  char *cores;
  char **settings;
  GArray *failures; /* (element-type StudyFailures) */
  char **mappings, **families;
  gboolean skip_unfit;
  GArray *networks; /* (element-type int) SimNetworkKind */
  GArray *routings; /* (element-type int) RoutePolicy */
  GArray *shrinks;  /* (element-type SimShrink) */
  guint repetitions, replicas;
  int64_t jitter_ps;
  uint64_t seed;
  gboolean keep_links, keep_ranks, keep_path;
  StudyValues values;
};

StudyPlanFile *study_plan_file_load (const char *path, GError **error);
void study_plan_file_free (StudyPlanFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyPlanFile, study_plan_file_free)

/* *error gets "path:line: group.key: " in front; always FALSE. */
gboolean study_plan_file_blame (const StudyPlanFile *file, const char *group, const char *key,
                                GError **error);

/* A path of the file as one from here. */
char *study_plan_file_path (const StudyPlanFile *file, const char *path);

/* --- {NAME} in the texts of a study file --- */

/* The first binding of the names in a text: NULL and *error when it has one that
 * nothing defines.  g_free(). */
int *study_values_bind (const StudyValues *values, const char *text, GError **error);
/* The next one; false after the last. */
gboolean study_values_next (const StudyValues *values, int *binding);
int *study_values_copy (const StudyValues *values, const int *binding);
/* A text with its names replaced. */
char *study_values_fill (const StudyValues *values, const char *text, const int *binding);

/* Whether no name has two values. */
gboolean study_values_agree (const StudyValues *values, const int *left, const int *right);
/* Whether the name either is not in it or has that value. */
gboolean
study_values_allow (const StudyValues *values, const int *binding, const char *name, int value);
