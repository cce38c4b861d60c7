/* choice_options.h - the options of `hopcast aggregate TRACE`.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/options.h"
#include "predictors/aggregation/aggregation_choice.h"
#include "sim/run.h"
#include "study/aggregate/power.h"
#include "topology/mapping/aggregation.h"

typedef enum {
  CLI_COMPUTATION_UNCHANGED,
  CLI_COMPUTATION_IPC, /* observed, or predicted by a model */
  CLI_COMPUTATION_SHARING, /* by what the tasks of a node share: predictors/aggregation/node_sharing.h */
} CliComputation;

/* Whose communication decides. */
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
  TopoJob job;                      /* but for its ranks and nodes */
  GArray *ranks;                    /* (element-type guint) NULL: the trace is one */
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

/* Checks what was given for TRACE, and reads the file of the power model. */
gboolean cli_choice_check (CliChoiceOptions *options, const char *trace, GError **error);
