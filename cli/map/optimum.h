/* optimum.h - what a search for mappings found, for people and for programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/output.h"
#include "study/search/search.h"

typedef struct {
  const char *source, *network, *objective;
  const TopoMachine *machine;
  const StudyCandidates *candidates;
  guint best;
  guint n_runs;       /* simulated */
  guint n_rounds;     /* of search */
  gboolean simulates; /* times are known, or would be */
  gboolean stopped;   /* by a signal */
  uint64_t seed;
} CliOptimum;

/* JSON: one object with all candidates; CSV: a line for each; table: the same and what
 * it comes to. */
void cli_optimum_print (FILE *out, const CliOptimum *optimum, CliFormat format);

/* What the first lines of the map file tell; the caller frees it. */
char *cli_optimum_comment (const CliOptimum *optimum);
