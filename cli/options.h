/* options.h - the options that several commands share, each defined once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/parse.h"
#include "cli/print/output.h"
#include "topology/mapping/mapping.h"
#include "traces/trace.h"

typedef struct {
  char *format_name;
  CliFormat format; /* after cli_parse_format() */
} CliFormatOptions;

typedef struct {
  char *spec;
  int ranks_per_node; /* G_MININT: not given, as the machine has them */
  char *cores;        /* which of a fabric's nodes are slots */
  int pattern;        /* the same by an aggregation pattern; G_MININT: none */
  char **settings;    /* "group.key=value", NULL-terminated */
} CliMachineOptions;

typedef struct {
  int n_ranks;
  char *from_region;
  gboolean allow_lossy;
} CliTraceOptions;

typedef struct {
  gboolean quiet, verbose;
} CliTalkOptions;

/* A context whose help has the positional arguments and the description. */
GOptionContext *cli_context_new (const char *arguments, const char *description);

/* The structs must outlive parsing, and be cleared after.  --format includes --csv-safe. */
void cli_add_format_options (GOptionContext *context, CliFormatOptions *options);

/* --csv-safe, for commands that write names from files as CSV and have no --format of this kind. */
void cli_add_csv_option (GOptionContext *context);
void cli_add_machine_option (GOptionContext *context, CliMachineOptions *options);
void cli_add_machine_detail_options (GOptionContext *context, CliMachineOptions *options);
/* --mapping, for cli_mapping_new(). */
void cli_add_mapping_option (GOptionContext *context, char **mapping);
void cli_add_trace_options (GOptionContext *context, CliTraceOptions *options);
/* Of commands that read tables; cli_add_trace_options() includes it. */
void cli_add_unpack_option (GOptionContext *context);
/* Of commands without --verbose. */
void cli_add_quiet_option (GOptionContext *context, CliTalkOptions *options);
void cli_add_talk_options (GOptionContext *context, CliTalkOptions *options);

/* Checks --format; the default is a table. */
gboolean cli_parse_format (CliFormatOptions *options, GError **error);

/* The machine of options->spec with the other options applied. */
TopoMachine *cli_machine_new (const CliMachineOptions *options, GError **error);

/* After a simulation on such a machine has failed: where the network cannot be built and --set was
 * given, the command line is wrong. */
void cli_machine_blame (const CliMachineOptions *options, GError *error);

/* The mapping of `text` (NULL: the default).  A rankfile names cores: with one,
 * every core of the nodes becomes a slot of `machine`. */
TopoMapping *
cli_mapping_new (const char *text, TopoMachine *machine, uint32_t n_ranks, GError **error);

/* The trace at `path`, read with the options. */
Trace *cli_trace_open (const char *path, const CliTraceOptions *options, GError **error);

void cli_format_options_clear (CliFormatOptions *options);
void cli_trace_options_clear (CliTraceOptions *options);
void cli_machine_options_clear (CliMachineOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliFormatOptions, cli_format_options_clear)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliTraceOptions, cli_trace_options_clear)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliMachineOptions, cli_machine_options_clear)

#define CLI_MACHINE_OPTIONS_INIT                     \
  {                                                  \
    .ranks_per_node = G_MININT, .pattern = G_MININT, \
  }
