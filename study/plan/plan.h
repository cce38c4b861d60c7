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
 *               pattern (a list), set = group.key=value;..., failures = WHAT [LANESx]
 *               [every K | sample N [seed S]];...: each machine again with one part out
 *   [mappings]  mapping = ...;...   whatever --mapping takes, recipes included, or
 *               default; family = sc13;..., file = FILE (a mapping per line),
 *               skip-unfit
 *   [runs]      network, routing, shrink (lists), repetitions, replicas, jitter, seed,
 *               keep-links, keep-ranks, keep-path
 *   [NAME]      values = ...;...    {NAME} in a text above stands for each
 *
 * The runs are the cross product, mappings innermost, so that the runs of one
 * trace and machine are together; a {NAME} stands for the same value all over a
 * run.  Repetition r has the seed seed + r, which {seed} in a text stands for; its
 * replica k starts its ranks by the seed seed + r + k. */
#pragma once

#include "study/study_error.h"
#include "study/store/row.h"

/* One distinct trace or machine of the plan. */
typedef struct {
  char *text; /* of the file, after substitution */
  char *path; /* to open: relative paths start at the file's folder */
  TraceOptions options;
  int *binding; /* which value each {NAME} has; private */
  char *hash;   /* after study_plan_resolve(); NULL and .error when it cannot be read */
  uint32_t n_ranks;
  GError *error;
} StudyTrace;

typedef struct StudyMachine StudyMachine;
struct StudyMachine {
  char *text; /* spec and changed settings: the name in rows */
  char *spec, *cores;
  char **settings;
  int asked_ranks_per_node, pattern; /* G_MININT: not given */
  int *binding;                      /* private */
  /* Some runs of a fabric need it otherwise, and have a machine of their own that
   * study_plan_resolve() adds behind the file's: those of a rankfile, which takes any
   * core, and those with deterministic routing on switches that are adaptive. */
  gboolean all_cores, not_adaptive;
  gboolean shares; /* everything but its parameters with a machine of somebody else */
  /* The machine that this one is with a single part out; NULL: it is whole.  study_plan_resolve() adds
   * those with a part out behind each machine of the file.  There may be thousands, so that
   * they are not kept: study_plan_open_machine() makes them again. */
  const StudyMachine *whole;
  TopoMachine *machine; /* after study_plan_resolve(); NULL and .error when there is none */
  /* Of it. */
  char *hash;         /* study_machine_hash() */
  char *machine_text; /* study_machine_text() */
  uint32_t ranks_per_node, n_nodes, n_links;
  uint64_t payload_bytes; /* of the longest packet */
  GError *error;
};

/* What a run is made for. */
typedef enum {
  STUDY_RUN_LISTED, /* the study asks for it */
  STUDY_RUN_SHRUNK, /* screens a mapping before a race (study/race.h): with shrunk messages ... */
  STUDY_RUN_LOAD,   /* ... and its bytes on links */
  STUDY_RUN_OTHER,  /* the maker of a plan without a file has a use for it */
} StudyRunRole;

typedef struct StudyPlanRun StudyPlanRun;
struct StudyPlanRun {
  StudyRunRole role;
  const StudyPlanRun *screened; /* the first run of that mapping; NULL: this is listed */
  guint trace, machine;         /* indices in the plan */
  char *mapping;                /* as rows name it */
  char *mapping_path;           /* for topo_mapping_new(); NULL: the default */
  TopoMapping *places;          /* NULL: .mapping_path has them */
  SimNetworkKind network;
  RoutePolicy policy;
  double compute_scale;
  uint64_t seed;
  uint32_t repetition, replica;
  int64_t jitter_ps;
  SimShrink shrink;
  char *key;          /* sim_run()'s, or a hash of the texts when there is a problem */
  char *mapping_hash; /* study_mapping_hash(); NULL: problem */
  char *problem;      /* why it cannot be made: the row's error; NULL: nothing known */
};

/* Runs of one mapping on one machine that cannot be made for one reason, although the trace
 * and the machine are there. */
typedef struct {
  char *mapping, *machine, *problem;
  guint n_runs;
  gboolean is_left_out; /* the study wants it so, and the mapping fits elsewhere; never where a part
                         * is out, which may be the reason */
} StudyUnfit;

typedef struct StudyPlanFile StudyPlanFile;

typedef struct {
  char *name, *path, *text; /* of the study file */
  char *store_path;
  GPtrArray *traces;   /* (element-type StudyTrace) */
  GPtrArray *machines; /* (element-type StudyMachine) */
  GPtrArray *runs;     /* (element-type StudyPlanRun) after study_plan_resolve() */
  guint n_listed;      /* of them, the first ones: what the study asks for */
  gboolean is_raced;   /* to be set before: the others, which screen mappings, are added */
  GPtrArray *unfit;    /* (element-type StudyUnfit) likewise, in the order of the runs */
  GPtrArray *failures; /* (element-type utf8) likewise: which parts are out one at a time */
  gboolean keep_links, keep_ranks, keep_path;
  StudyPlanFile *file; /* private */
} StudyPlan;

/* Errors name file, line, group and key. */
StudyPlan *study_plan_load (const char *path, GError **error);
void study_plan_free (StudyPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyPlan, study_plan_free)

/* Opens every trace and machine once, makes every mapping and computes every
 * key.  A trace, machine or mapping that cannot be made is no error here: its runs
 * have a problem and will fail one by one; mappings that do not fit are left out if the study
 * says so.  Several runs may have one key: the same places under two names.  progress may be
 * NULL. */
gboolean study_plan_resolve (StudyPlan *plan, TraceProgress progress, void *data, GError **error);

/* --- A plan without a file --- */

/* Its maker adds traces, machines and runs, and it is resolved from the beginning.  name and text are
 * those of the study in its store. */
StudyPlan *study_plan_new (const char *name, const char *text);

/* An open trace under the name that rows have.  The index in the plan; G_MAXUINT and *error when its
 * content cannot be read. */
guint study_plan_add_trace (StudyPlan *plan, const char *text, const TraceOptions *options,
                            Trace *trace, GError **error);

/* A machine under the name that rows have.  It is copied, and so are its parameters; everything else is
 * shared with the original, which must outlive the plan.  The index in the plan. */
guint study_plan_add_machine (StudyPlan *plan, const char *text, const TopoMachine *machine);

/* A run of `pattern`, which has trace, machine, network and all other inputs, under the mapping: its
 * places are copied.  Routes are those of the machine.  Listed runs go before the others.  The index
 * in the plan. */
guint study_plan_add_run (StudyPlan *plan, const StudyPlanRun *pattern, const TopoMapping *mapping,
                          const RoutePaths *paths);

/* The row of a run with everything that went in, status failed, the problem as error. */
StudyRow *study_plan_row (const StudyPlan *plan, guint run);

/* A machine of the plan, made again from its files as they are now; the caller frees it. */
TopoMachine *study_plan_open_machine (const StudyMachine *machine, GError **error);

/* The mapping of a run on its machine, made again; NULL and *error when that is not possible. */
TopoMapping *
study_plan_mapping (const StudyPlan *plan, guint run, const TopoMachine *machine, GError **error);

/* [SimNetworkKind] "packet" ..., [RoutePolicy] "default" ...: as rows and options name them;
 * NULL at the end. */
extern const char *const study_network_names[];
extern const char *const study_routing_names[];
