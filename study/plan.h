/* plan.h - a study file and the runs that it asks for.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A GLib key file; doc/handbook/studies.md.  Lists are separated by ';'.
 *
 *   [study]     name, store (default: the file's name with .store)
 *   [traces]    trace = ...;...     paths (from the file's folder) or gen: specs;
 *               trace-ranks, allow-lossy, from-region, compute-scale (a list)
 *   [machines]  machine = ...;...   specs; ranks-per-node (a list), cores,
 *               pattern (a list), set = group.key=value;...
 *   [mappings]  mapping = ...;...   whatever --mapping takes, recipes included;
 *               family = sc13, file = FILE (a mapping per line)
 *   [runs]      network, routing (lists), repetitions, seed, keep-links, keep-ranks
 *   [NAME]      values = ...;...    {NAME} in a text above stands for each
 *
 * The runs are the cross product, mappings innermost, so that the runs of one
 * trace and machine are together.  Repetition r has the seed seed + r, which
 * {seed} in a text stands for. */
#pragma once

#include "study/error.h"
#include "study/row.h"

/* One distinct trace or machine of the plan. */
typedef struct {
  char *text; /* what the file says, after substitution */
  char *path; /* what is opened: relative paths start at the file's folder */
  TraceOptions options;
  char *hash; /* after study_plan_resolve(); NULL and .error when it cannot be read */
  uint32_t n_ranks;
  GError *error;
} StudyTrace;

typedef struct {
  char *text;           /* spec and what was changed: how rows name it */
  TopoMachine *machine; /* after study_plan_resolve() */
  char *hash;           /* of machine_text */
  char *machine_text;   /* topo_machine_print() */
  char *spec, *cores;
  char **settings;
  int ranks_per_node, pattern; /* G_MININT: not given */
  GError *error;
} StudyMachine;

typedef struct {
  guint trace, machine; /* indices in the plan */
  char *mapping;        /* as rows name it; NULL: the default */
  char *mapping_path;   /* what topo_mapping_new() is given */
  SimNetworkKind network;
  RoutePolicy policy;
  double compute_scale;
  uint64_t seed;
  uint32_t repetition;
  char *key; /* after study_plan_resolve() */
} StudyPlanRun;

typedef struct {
  char *name, *path, *text; /* of the study file */
  char *store_path;
  GPtrArray *traces;   /* (element-type StudyTrace) */
  GPtrArray *machines; /* (element-type StudyMachine) */
  GPtrArray *runs;     /* (element-type StudyPlanRun) */
  gboolean keep_links, keep_ranks;
} StudyPlan;

/* Errors name file, group and key (and line where GLib tells it). */
StudyPlan *study_plan_load (const char *path, GError **error);
void study_plan_free (StudyPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyPlan, study_plan_free)

/* Opens every trace and machine once, makes every mapping and computes every
 * key.  A trace, machine or mapping that cannot be made is no error here: its runs
 * get a key of their texts and will fail one by one.  progress may be NULL. */
gboolean study_plan_resolve (StudyPlan *plan, TraceProgress progress, void *data, GError **error);

/* The row of a run with everything that went in, status failed, no error yet. */
StudyRow *study_plan_row (const StudyPlan *plan, guint run);
