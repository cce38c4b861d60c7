/* choice.h - `hopcast aggregate TRACE`: its options, and what it prints and writes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/options.h"
#include "study/aggregate/pattern_choice.h"

/* --- Options --- */

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

  /* After cli_choice_check(). */
  StudyChoiceOptions choice; /* borrows from here */
  StudyPower power;
  gboolean power_is_guess;
  GArray *ranks; /* (element-type guint) NULL: those of the trace */
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

/* --- Results --- */

/* The advice, without a full stop: the pattern and how much slower than the fastest it is, or why
 * none is recommended, and the order by time; the caller frees it. */
char *cli_choice_advice (const StudyChoice *choice);

/* choices: (element-type StudyChoice), one for each number of ranks. */
void cli_choice_print (FILE *out, const GPtrArray *choices, const CliChoiceOptions *options);

/* Self-contained HTML with a picture for each of the choices (element-type StudyChoice). */
void cli_choice_write_page (FILE *out, const GPtrArray *choices, const CliChoiceOptions *options);

/* The launcher files of the options, and on standard error how to launch with each.  A file that
 * cannot express the placement is an error; a file of --output PREFIX is then left out with a warning. */
gboolean
cli_choice_write_files (const StudyChoice *choice, const CliChoiceOptions *options, GError **error);
