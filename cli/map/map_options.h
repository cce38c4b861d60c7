/* map_options.h - the options and steps that the commands on mappings share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/options.h"
#include "topology/launcher/launcher.h"

typedef struct {
  CliMachineOptions machine;
  CliFormatOptions format;
  char *mapping, *output;
  char *hosts; /* path of the names of the nodes; NULL: not given */
  int n_ranks; /* G_MININT: not given */
} CliMapOptions;

#define CLI_MAP_OPTIONS_INIT                                    \
  {                                                             \
    CLI_MACHINE_OPTIONS_INIT, { 0 }, NULL, NULL, NULL, G_MININT \
  }

void cli_map_options_clear (CliMapOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliMapOptions, cli_map_options_clear)

/* --ranks and the options of the machine. */
void cli_map_add_ranks_option (GOptionContext *context, CliMapOptions *options);
void cli_map_add_output_option (GOptionContext *context, CliMapOptions *options);
void cli_map_add_hosts_option (GOptionContext *context, CliMapOptions *options);

/* The machine of the options, with the names of its nodes. */
TopoMachine *cli_map_machine_new (const CliMapOptions *options, GError **error);

/* Checks that --ranks is at least 1, or missing when it is not required. */
gboolean cli_map_check_ranks (const CliMapOptions *options, gboolean required, GError **error);

/* The launcher of that name, given with --to; NULL and *error: unknown, or `kind` is NULL. */
const TopoLauncher *cli_map_parse_kind (const char *kind, GError **error);

/* The kinds of files, for the help; the caller frees it. */
char *cli_map_describe_kinds (void);

/* How to start a job with the launcher's file at `path` (NULL, "-": standard output). */
TopoLaunch cli_map_launch (const TopoLauncher *launcher, const TopoMapping *mapping,
                           const TopoMachine *machine, const char *path);

/* Prints it; as_data: the line goes to standard output. */
void cli_map_tell_launch (const TopoLaunch *launch, gboolean as_data);
