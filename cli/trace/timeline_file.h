/* timeline_file.h - `simulate --timeline`: options, and the files.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * doc/handbook/timelines.md describes the files and their viewers. */
#pragma once

#include "cli/options.h"
#include "cli/trace/record.h"

#define CLI_TIMELINE_LIMIT 1000000

typedef struct {
  char *path;  /* NULL: none */
  char *ranks; /* "0-15,32"; NULL: all */
  gint64 limit;
} CliTimelineOptions;

#define CLI_TIMELINE_OPTIONS_INIT  \
  {                                \
    NULL, NULL, CLI_TIMELINE_LIMIT \
  }

void cli_timeline_options_clear (CliTimelineOptions *options);
void cli_add_timeline_options (GOptionContext *context, CliTimelineOptions *options);

/* Checks them, for a network with or without time. */
gboolean cli_timeline_check (const CliTimelineOptions *options, gboolean has_time, GError **error);

/* The timeline that a run records; NULL and no error without --timeline. */
SimTimeline *cli_timeline_new (const CliTimelineOptions *options, uint32_t n_ranks, GError **error);

/* Whether the file is the anchor of an OTF2 archive, which is several files. */
gboolean cli_timeline_is_otf2 (const char *path);

/* In the form that the ending of `path` names, which is not OTF2. */
void cli_timeline_write (FILE *out, const char *path, const SimTimeline *timeline,
                         const CliRunInputs *inputs);

/* A warning if the limit left something out, or NULL.  The caller frees it. */
char *cli_timeline_warning (const SimTimeline *timeline, int64_t time_ps);

/* -- timeline_file_chrome.c ----------------------------------------------------- */

/* Chrome's trace event format: calls with nested waits, arrows for messages.  A process is a node, a
 * thread a rank's processor. */
void cli_timeline_write_chrome (FILE *out, const SimTimeline *timeline, const CliRunInputs *inputs);

/* -- timeline_file_paje.c ------------------------------------------------------- */

/* Paje: a state per interval, a link per message, in the order of time. */
void cli_timeline_write_paje (FILE *out, const SimTimeline *timeline, const CliRunInputs *inputs);

/* -- timeline_file_otf2.c ------------------------------------------------------- */

/* Writes the archive of a trace that is no graph, all of it or nothing.  The trace is read twice more.
 * *warning: what has no records, or NULL; the caller frees it. */
gboolean
cli_timeline_write_otf2 (const char *path, const SimTimeline *timeline, const CliRunInputs *inputs,
                         Trace *trace, char **warning, GError **error);

/* -- timeline_otf2_place.c ------------------------------------------------------ */

/* Whether an archive can be written there; one that is there is replaced, any other folder in its
 * way is not. */
gboolean cli_timeline_otf2_check (const char *path, GError **error);

/* -- for all -------------------------------------------------------------- */

/* Microseconds with all six digits of a picosecond. */
#define CLI_TIME_SIZE 32
const char *cli_timeline_us (char text[CLI_TIME_SIZE], int64_t time_ps);
/* "node 3 (0,0,1,1,0)" or a host's name; "rank 5", "rank 5 cpu 1".  The caller
 * frees them. */
char *cli_timeline_node_name (const TopoMachine *machine, uint32_t node);
char *cli_timeline_lane_name (SimLane lane);
