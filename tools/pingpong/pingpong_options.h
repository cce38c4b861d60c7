/* pingpong_options.h - the command line of hopcast-pingpong.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tools/pingpong/pingpong_ranks.h"

typedef struct {
  char *node, *machine; /* NULL: not given */
  char *sizes_text, *collectives_text, *output;
  GArray *sizes;              /* (element-type guint64) bytes, ascending */
  GArray *collectives;        /* (element-type guint) CliPingpongCollective */
  int max_pairs, max_outside; /* G_MININT: as many as fit, or a few */
  int pretend_nodes;          /* G_MININT: they are what they are */
  CliPingpongEffort effort;
  gboolean only_collectives, bind, dry_run, quiet, help, version;
} CliPingpongOptions;

CliPingpongOptions *cli_pingpong_options_new (void);
void cli_pingpong_options_free (CliPingpongOptions *options);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CliPingpongOptions, cli_pingpong_options_free)

/* Errors are CLI_ERROR_USAGE, or GLib's own of options.  *help: what --help prints, for the caller
 * to free. */
gboolean cli_pingpong_options_parse (CliPingpongOptions *options, int argc, char **argv,
                                     char **help, GError **error);
