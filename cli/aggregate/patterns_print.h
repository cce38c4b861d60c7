/* patterns_print.h - aggregation patterns as `hopcast aggregate patterns` prints them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/output.h"
#include "topology/mapping/aggregation.h"

/* What was asked for, and the patterns with what it means for them. */
typedef struct {
  const char *node; /* file or machine */
  bool with_threads;
  uint64_t n_ranks;    /* 0: not given */
  uint64_t task_bytes; /* 0: not given */
  uint64_t node_bytes; /* 0: not known */
  const TopoPatterns *patterns;
} CliPatternSheet;

void cli_print_patterns (FILE *out, const CliPatternSheet *sheet, CliFormat format);
