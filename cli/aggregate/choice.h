/* choice.h - `hopcast aggregate TRACE`: the aggregation patterns of a job, and the choice among them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * cli_choice_new() judges every pattern of a machine's nodes for one number of ranks, and
 * choice_print.c prints the result.  A sequence of choices for strong scaling shares one table of
 * bounds. */
#pragma once

#include "cli/options.h"
#include "predictors/aggregation/aggregation_choice.h"
#include "predictors/aggregation/bound_table.h"
#include "sim/run.h"
#include "study/aggregate/power.h"
#include "topology/machine.h"
#include "topology/mapping/aggregation.h"
#include "traces/trace.h"

/* --- Options --- */

typedef enum {
  CLI_COMPUTATION_UNCHANGED,
  CLI_COMPUTATION_IPC,     /* observed, or predicted by a model */
  CLI_COMPUTATION_SHARING, /* a model of the node: predictors/aggregation/node_sharing.h */
} CliComputation;

/* The communication that decides. */
typedef enum { CLI_BASIS_SIMULATION, CLI_BASIS_BOUND } CliBasis;

extern const char *const cli_basis_names[]; /* "simulation", "bound", NULL */

typedef struct {
  CliMachineOptions machine; /* only the spec and the settings */
  CliFormatOptions format;
  CliTalkOptions talk;
  CliTraceOptions trace;
  char *ipc, *samples, *program, *computation_name;
  char *task_memory, *node_memory, *slowdown, *power_path, *memory_traffic, *network_name, *hosts;
  char *memory_share_text, *working_set_text, *table, *basis_name;
  char *sizes; /* "16,32": ranks */
  char *report, *prefix, *rankfile, *hostfile, *slurm;
  gboolean part_filled, no_simulate;
  int reference, recorded, pattern; /* G_MININT: not given */
  gint64 seed;

  /* After cli_choice_check(); reference and recorded have values. */
  gboolean reference_is_given;
  CliComputation computation;
  SimNetworkKind network;
  CliBasis basis;
  double max_slowdown;
  double memory_share, working_set; /* share; bytes of all ranks, INFINITY: more than any cache */
  TopoJob job;                      /* except its ranks and nodes */
  GArray *ranks;                    /* (element-type guint) NULL: those of the trace */
  gboolean has_power, power_is_guess;
  StudyPower power;
  double memory_bytes; /* of all tasks, to or from memory */
} CliChoiceOptions;

#define CLI_CHOICE_OPTIONS_INIT                                                       \
  {                                                                                   \
    .machine = CLI_MACHINE_OPTIONS_INIT, .reference = G_MININT, .recorded = G_MININT, \
    .pattern = G_MININT                                                               \
  }

void cli_choice_options_clear (CliChoiceOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliChoiceOptions, cli_choice_options_clear)

/* The struct must outlive parsing. */
void cli_choice_add_options (GOptionContext *context, CliChoiceOptions *options);

/* Checks the options for TRACE, and reads the file of the power model. */
gboolean cli_choice_check (CliChoiceOptions *options, const char *trace, GError **error);

/* --- Choices --- */

typedef struct {
  const char *path;         /* NULL: no bounds are asked for; borrowed */
  PredictBoundTable *table; /* NULL: not opened yet */
  gboolean is_ours;         /* filled here, not read */
} CliChoiceTable;

void cli_choice_table_clear (CliChoiceTable *table);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliChoiceTable, cli_choice_table_clear)

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
} CliChoiceRow;

typedef struct {
  char *trace, *machine;
  const char *computation; /* source of the factors */
  uint32_t n_ranks;
  TopoPatterns *patterns;
  CliChoiceRow *row;                   /* [patterns->n] */
  PredictAggregationJudgement *judged; /* [patterns->n] */
  gboolean is_recommended;             /* FALSE: nothing models sharing, so none is chosen */
  /* Indices of patterns->pattern. */
  uint32_t chosen, fastest;
  uint32_t placed;       /* in the files: the pattern of --pattern, or the chosen one */
  uint32_t reference;    /* the fastest, if that of the options is excluded */
  TopoMapping **mapping; /* [patterns->n] NULL: excluded */
  TopoMachine *opened;   /* its slots are those of the placed pattern */
  GPtrArray *warnings;   /* (element-type utf8) */
} CliChoice;

/* The patterns of the machine's nodes for the trace.  NULL and *error: a file cannot be used, the
 * machine has no nodes with cores or too few of them, the table lacks operations of the trace, or
 * the reference or the pattern of the options is excluded. */
CliChoice *cli_choice_new (const char *trace, const char *machine, const CliChoiceOptions *options,
                           CliChoiceTable *table, GError **error);
void cli_choice_free (CliChoice *choice);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CliChoice, cli_choice_free)

/* --- Results --- */

/* The advice, without a full stop: the pattern and how much slower than the fastest it is, or why
 * none is recommended, and the order by time; the caller frees it. */
char *cli_choice_advice (const CliChoice *choice);

/* choices: (element-type CliChoice), one for each number of ranks. */
void cli_choice_print (FILE *out, const GPtrArray *choices, const CliChoiceOptions *options);

/* Self-contained HTML with a picture for each of the choices (element-type CliChoice). */
void cli_choice_write_page (FILE *out, const GPtrArray *choices, const CliChoiceOptions *options);

/* The launcher files of the options, and on standard error how to launch with each.  A file that
 * cannot express the placement is an error; a file of --output PREFIX is then left out with a warning. */
gboolean
cli_choice_write_files (const CliChoice *choice, const CliChoiceOptions *options, GError **error);
