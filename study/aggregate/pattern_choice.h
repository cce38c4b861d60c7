/* pattern_choice.h - time and energy of a job in each aggregation pattern, and the choice among them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * study_choice_new() lists the patterns of the machine's nodes and finds how long computations take
 * in each; study_choice_run() bounds or simulates the communication of those that are not excluded,
 * and chooses by predictors/aggregation/aggregation_choice.h.
 *
 * Communication is simulated once per pattern, with the middle of what is unknown of computation; over the
 * ranges the computation of equation 5 changes alone. */
#pragma once

#include "predictors/aggregation/aggregation_choice.h"
#include "predictors/aggregation/bound_table.h"
#include "predictors/aggregation/node_sharing.h"
#include "sim/run.h"
#include "study/aggregate/ipc_factors.h"
#include "study/aggregate/power.h"
#include "topology/machine.h"
#include "topology/mapping/aggregation.h"
#include "topology/mapping/mapping.h"
#include "traces/trace.h"

typedef enum {
  STUDY_COMPUTATION_UNCHANGED,
  STUDY_COMPUTATION_IPC,     /* observed, or predicted by a model */
  STUDY_COMPUTATION_SHARING, /* a model of the node: predictors/aggregation/node_sharing.h */
} StudyComputation;

/* A program's use of memory (predictors/aggregation/node_sharing.h) as far as it is known: ranges, whose
 * ends are equal where it is.  Working sets are of all ranks; INFINITY: more than any cache. */
typedef struct {
  double share_low, share_middle, share_high;
  double set_low_bytes, set_middle_bytes, set_high_bytes;
} StudyMemoryUse;

/* Of a program of which nothing is known: the shares that the eleven codes of SPEC MPI2007 have on a Cray
 * XC30, least, median and most (validation/sc13/xc30_test.c), and any working set. */
extern const StudyMemoryUse study_memory_unknown;

/* Both ends of both ranges are equal. */
bool study_memory_is_known (const StudyMemoryUse *use);

/* The communication that decides. */
typedef enum { STUDY_BASIS_SIMULATION, STUDY_BASIS_BOUND } StudyBasis;

/* Patterns by their number. */
typedef struct {
  TopoJob job; /* except its ranks and nodes */
  uint32_t reference, recorded;
  gboolean reference_is_given; /* FALSE: where it is excluded, the fastest pattern replaces it */
  uint32_t placed;             /* the pattern whose placement is wanted; 0: the chosen one */
  StudyComputation computation;
  StudyIpcSource ipc;    /* STUDY_COMPUTATION_IPC */
  StudyMemoryUse memory; /* STUDY_COMPUTATION_SHARING */
  gboolean simulates;
  SimNetworkKind network;
  StudyBasis basis;
  double max_slowdown;     /* share */
  const StudyPower *power; /* NULL: energy is not known */
  double memory_bytes;     /* of all tasks, to or from memory */
  uint64_t seed;           /* of the grouping of ranks */
} StudyChoiceOptions;

/* A pattern; an unknown number is NaN. */
typedef struct {
  char *excluded; /* NULL: the pattern is possible */
  double ipc;
  double factor;        /* of computations, compared with the trace */
  double computation_s; /* mean over the ranks */
  /* Communication of the rank with most. */
  double bound_s, simulated_s;
  double extrapolated; /* share of the bound's operations that exceed the table's sizes */
  double time_s;       /* simulated: end of the last rank */
  double energy_J;     /* for the time of the basis */
  double delay_Js;     /* energy_J times that time: the energy-delay product */
  /* Largest memory share, up to 1, at which the pattern is not too slow with any working set of the range;
   * negative: none is.  NaN: computation is not by the node model, or nothing is unknown. */
  double share_limit;
  TopoMapping *mapping; /* NULL: excluded */
} StudyChoiceRow;

typedef struct {
  const StudyChoiceOptions *options; /* borrowed */
  char *trace_path, *spec;
  TopoMachine *machine;    /* its slots are cores; at the end those of the placed pattern */
  const char *computation; /* source of the factors */
  uint32_t n_ranks;
  TopoPatterns *patterns;
  StudyChoiceRow *row;   /* [patterns->n] */
  PredictShare **shares; /* [patterns->n] of the tasks; NULL: another computation */
  GArray *task_sets;     /* (element-type double) working sets of a task that are tried */
  PredictAggregationJudgement *judged; /* [patterns->n] after study_choice_run(), as what follows */
  gboolean is_recommended;             /* FALSE: nothing models sharing, so none is chosen */
  /* Indices of patterns->pattern. */
  uint32_t chosen, fastest, placed;
  uint32_t reference;  /* the fastest, if that of the options is excluded */
  GPtrArray *warnings; /* (element-type utf8) */
} StudyChoice;

/* Takes the machine, which has nodes with cores; `spec` is its name in errors.  NULL and *error: a
 * file of the options cannot be used, the machine is too small, or a pattern that the options name
 * does not exist or is excluded. */
StudyChoice *
study_choice_new (const char *trace_path, Trace *trace, const char *spec, TopoMachine *machine,
                  const StudyChoiceOptions *options, GError **error);
void study_choice_free (StudyChoice *choice);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyChoice, study_choice_free)

/* --- A table of bounds that is filled by simulation --- */

/* The collectives of the trace that can be simulated and that the table (NULL: empty) has in no
 * pattern (element-type StudyBoundCollective).  The caller unrefs. */
GArray *study_choice_missing (const StudyChoice *choice, Trace *trace,
                              const PredictBoundTable *table, GError **error);

/* Adds these collectives to *table; NULL becomes a new table, with messages. */
gboolean
study_choice_fill (const StudyChoice *choice, const GArray *collectives, PredictBoundTable **table,
                   void (*progress) (void *data, double share), void *data, GError **error);

/* --- The choice --- */

/* `share` of the work on the pattern after the first n_done of n_todo. */
typedef void (*StudyChoiceProgress) (void *data, uint32_t n_done, uint32_t n_todo, double share);

/* table NULL: without bounds.  FALSE and *error: the table lacks operations of the trace, or the
 * trace cannot be replayed. */
gboolean study_choice_run (StudyChoice *choice, Trace *trace, const PredictBoundTable *table,
                           StudyChoiceProgress progress, void *data, GError **error);
