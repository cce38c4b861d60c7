/* choice_table.h - the table of bounds that a choice looks up: a file's, or filled by simulation.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/aggregation/bound_table.h"
#include "topology/mapping/aggregation.h"
#include "topology/machine.h"
#include "traces/trace.h"

typedef struct {
  const char *path;         /* NULL: no bounds are asked for; borrowed */
  PredictBoundTable *table; /* NULL: not opened yet */
  gboolean is_ours;         /* filled here, not read */
} CliChoiceTable;

void cli_choice_table_clear (CliChoiceTable *table);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliChoiceTable, cli_choice_table_clear)

/* A file that is there is read, and used as it is.  One that is not is filled with messages and
 * with the collectives of the trace on the machine, whose slots are cores, and kept; for a next
 * trace also with its collectives. */
gboolean cli_choice_table_open (CliChoiceTable *table, Trace *trace, const TopoMachine *machine,
                                const TopoPatterns *patterns, gboolean quiet, GError **error);
