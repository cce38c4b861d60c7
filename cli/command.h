/* command.h - the commands of the program, one function each.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A command gets its own part of the command line: argv[0] is the last word
 * of its name.  It returns an exit status; when it fails it sets *error
 * instead of printing, and main() prints it and finds the status. */
#pragma once

#include <glib.h>

enum {
  CLI_DONE = 0,
  CLI_FAILED = 1,
  CLI_USAGE = 2,
  CLI_PARTLY = 3, /* finished, but some runs of a study failed */
};

#define CLI_ERROR (cli_error_quark ())
typedef enum {
  CLI_ERROR_USAGE, /* the command line is wrong: exit 2 */
  CLI_ERROR_FILE,  /* a file is, or cannot be written: exit 1 */
} CliError;
GQuark cli_error_quark (void);

/* Both set *error, CLI_ERROR_USAGE or CLI_ERROR_FILE, and return FALSE. */
gboolean cli_refuse (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);
gboolean cli_fail (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Makes an error of another room, about a text of the command line, CLI_ERROR_USAGE. */
void cli_blame_usage (GError *error);

typedef struct {
  const char *name;    /* one or two words: "simulate", "trace info" */
  const char *summary; /* one line for the help */
  int (*run) (int argc, char **argv, GError **error);
} CliCommand;

/* The whole program, for main(). */
int cli_main (int argc, char **argv);

int cli_advise (int argc, char **argv, GError **error);
int cli_aggregate (int argc, char **argv, GError **error);
int cli_aggregate_counters (int argc, char **argv, GError **error);
int cli_aggregate_predict_ipc (int argc, char **argv, GError **error);
int cli_aggregate_train_ipc (int argc, char **argv, GError **error);
int cli_aggregate_bound (int argc, char **argv, GError **error);
int cli_aggregate_table (int argc, char **argv, GError **error);
int cli_aggregate_memory_share (int argc, char **argv, GError **error);
int cli_aggregate_patterns (int argc, char **argv, GError **error);
int cli_aggregate_group (int argc, char **argv, GError **error);
int cli_calibrate (int argc, char **argv, GError **error);
int cli_correct (int argc, char **argv, GError **error);
int cli_machine_check (int argc, char **argv, GError **error);
int cli_machine_links (int argc, char **argv, GError **error);
int cli_machine_show (int argc, char **argv, GError **error);
int cli_machine_test (int argc, char **argv, GError **error);
int cli_map_check (int argc, char **argv, GError **error);
int cli_map_generate (int argc, char **argv, GError **error);
int cli_map_convert (int argc, char **argv, GError **error);
int cli_map_metrics (int argc, char **argv, GError **error);
int cli_predict (int argc, char **argv, GError **error);
int cli_rank (int argc, char **argv, GError **error);
int cli_report (int argc, char **argv, GError **error);
int cli_score (int argc, char **argv, GError **error);
int cli_map_optimize (int argc, char **argv, GError **error);
int cli_simulate (int argc, char **argv, GError **error);
int cli_study_export (int argc, char **argv, GError **error);
int cli_study_failures (int argc, char **argv, GError **error);
int cli_study_merge (int argc, char **argv, GError **error);
int cli_study_run (int argc, char **argv, GError **error);
int cli_study_status (int argc, char **argv, GError **error);
int cli_trace_convert (int argc, char **argv, GError **error);
int cli_trace_generate (int argc, char **argv, GError **error);
int cli_trace_info (int argc, char **argv, GError **error);
int cli_trace_matrix (int argc, char **argv, GError **error);
int cli_trace_record (int argc, char **argv, GError **error);
int cli_train (int argc, char **argv, GError **error);
int cli_validate (int argc, char **argv, GError **error);
