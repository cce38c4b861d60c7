/* recorded.h - results of long studies that are part of the tree.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * validation/data/recorded.csv, compiled into the program, has what `hopcast validate SUITE` said of
 * each figure, and the commit whose runs it is of; validation/record.awk writes its lines.  A figure
 * that is not there was not run. */
#pragma once

#include <stdbool.h>

typedef struct {
  double simulated, lower, upper; /* as in ValidationResult */
  bool agrees;
  char commit[16];
} ValidationRecorded;

/* False when there is no result of that figure. */
bool validation_recorded_find (const char *suite, const char *name, ValidationRecorded *recorded);

/* All of the file, for its test: columns suite, name, simulated, lower, upper, verdict, commit. */
extern const char validation_recorded_csv[];
