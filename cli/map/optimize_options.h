/* optimize_options.h - the options of `hopcast map optimize`.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/map/map_options.h"
#include "study/search/search.h"

typedef struct {
  CliMapOptions map;
  CliTraceOptions trace;
  CliTalkOptions talk;
  char *budget, *network_name, *routing_name, *objective_name; /* NULL: not given */
  char **starts;
  double compute_scale;
  gint64 seed;
  int threads;

  /* After cli_check_optimize_options(). */
  int64_t budget_us; /* 0: budget_n counts */
  guint budget_n;
  int network;   /* SimNetworkKind */
  int routing;   /* RoutePolicy */
  int objective; /* StudyObjective; cli_optimize_objective() is the one to be taken */
} CliOptimizeOptions;

#define CLI_OPTIMIZE_OPTIONS_INIT                                 \
  {                                                               \
    .map = CLI_MAP_OPTIONS_INIT, .compute_scale = 1, .threads = 1 \
  }

void cli_optimize_options_clear (CliOptimizeOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliOptimizeOptions, cli_optimize_options_clear)

/* The struct must outlive parsing. */
void cli_add_optimize_options (GOptionContext *context, CliOptimizeOptions *options);

/* Checks what was given; CLI_ERROR_USAGE. */
gboolean cli_check_optimize_options (CliOptimizeOptions *options, GError **error);

/* What was asked for, or what is the default of a trace or of a matrix. */
StudyObjective cli_optimize_objective (const CliOptimizeOptions *options, gboolean is_trace);

/* [StudyObjective], NULL-terminated. */
extern const char *const cli_objective_names[];
