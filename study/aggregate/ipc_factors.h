/* ipc_factors.h - how aggregation patterns change the time of computations, from counted IPCs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program executes as many instructions in every pattern (section VI of the aggregation paper;
 * its authors saw them differ by 8.5e-5 % at most), so that its computations take longer by as
 * much as their instructions per cycle (IPC) fall. */
#pragma once

#include "topology/mapping/aggregation.h"

/* The source of the IPCs. */
typedef struct {
  const char *model_path; /* of aggregate train-ipc; NULL: all IPCs are in the table */
  const char
      *table_path; /* columns program, pattern (its number), ipc and, with a model, its events */
  const char *program; /* NULL: the only one of the table */
} StudyIpcSource;

/* ipc[p - 1] of each pattern p, [patterns->n]: of the table, or of the model where it predicts the
 * pattern; NaN where neither has it.  With a model a prediction that is not above 0, which no
 * IPC is, is NaN, and why[p - 1] is the reason for people (the caller g_free()s; NULL otherwise).
 * A program whose counted instructions differ between patterns is a line in warnings (element-type utf8).
 * FALSE and *error: a file cannot be used (predict_ipc_phases_from(), predict_ipc_apply()), or the
 * program is not in the table, or not said and one of several. */
gboolean study_ipc_read (const StudyIpcSource *source, const TopoPatterns *patterns, double *ipc,
                         char **why, GPtrArray *warnings, GError **error);
