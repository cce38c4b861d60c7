/* choice.h - what each aggregation pattern would mean for a job, and which one it should have.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/aggregate/choice_options.h"
#include "predictors/aggregation/bound_table.h"
#include "topology/mapping/aggregation.h"
#include "topology/machine.h"
#include "traces/trace.h"
#include "cli/print/progress.h"

typedef struct {
  const char *path;         /* NULL: no bounds are asked for; borrowed */
  PredictBoundTable *table; /* NULL: not opened yet */
  gboolean is_ours;         /* filled here, not read */
} CliChoiceTable;

void cli_choice_table_clear (CliChoiceTable *table);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliChoiceTable, cli_choice_table_clear)

/* A file that is there is read, and used as it is.  One that is not is filled with messages and
 * with the collectives of the trace on the machine, whose slots are cores, and kept; for a next
 * trace also with its collectives. */
gboolean cli_choice_table_open (CliChoiceTable *table, Trace *trace, const TopoMachine *machine,
                                const TopoPatterns *patterns, gboolean quiet, GError **error);

/* What is not known is NaN. */
typedef struct {
  char *excluded; /* NULL: the pattern can be had */
  double ipc;
  double factor;        /* of computations: times those of the trace */
  double computation_s; /* mean over the ranks */
  /* Communication, of the rank with most. */
  double bound_s, simulated_s;
  double extrapolated; /* share of the operations of the bound that the table is too short for */
  double time_s;       /* simulated: end of the last rank */
  double energy_J;     /* of the basis's time */
} CliChoiceRow;

typedef struct {
  char *trace, *machine;
  const char *computation; /* what the factors are from */
  uint32_t n_ranks;
  TopoPatterns *patterns;
  CliChoiceRow *row;                   /* [patterns->n] */
  PredictAggregationJudgement *judged; /* [patterns->n] */
  gboolean is_recommended;             /* something models what tasks share: else none is chosen */
  uint32_t chosen;                     /* of patterns->pattern; so are: */
  uint32_t fastest, placed;            /* of the files: the one that was named, or chosen */
  uint32_t reference;                  /* the fastest, if that of the options is excluded */
  TopoMapping **mapping;               /* [patterns->n] NULL: excluded */
  TopoMachine *opened;                 /* its slots are those of the placed pattern */
  GPtrArray *warnings;                 /* (element-type utf8) */
} CliChoice;

/* The patterns of the machine's nodes for the trace.  NULL and *error: a file cannot be used, the
 * machine has no nodes with cores, the table lacks what the trace needs, the ranks are more than
 * those have room for, or the reference or the pattern that was named is excluded. */
CliChoice *cli_choice_new (const char *trace, const char *machine, const CliChoiceOptions *options,
                           CliChoiceTable *table, GError **error);
void cli_choice_free (CliChoice *choice);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CliChoice, cli_choice_free)
