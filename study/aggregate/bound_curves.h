/* bound_curves.h - which curves a table is to have, and where their ranks are.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Private to bound_fill.c, which makes them. */
#pragma once

#include "routing/paths.h"
#include "study/aggregate/bound_fill.h"

/* A curve to be made: of messages when `op` is 0. */
typedef struct {
  PredictBoundKind kind;
  char *placement;
  TraceOpKind op;
  GArray *node, *core; /* (element-type guint32, guint8) of the ranks */
  uint32_t n_nodes;    /* of a collective */
} StudyBoundCurve;

typedef struct {
  const StudyBoundFill *fill;
  const TopoMachine *machine; /* whose slots are cores */
  RoutePaths *paths;
  GPtrArray *curves; /* (element-type StudyBoundCurve) */
  GArray *runs;      /* (element-type StudyBoundRun) in the order of the rows */
} StudyBoundWork;

typedef struct {
  guint curve;
  uint64_t bytes;
} StudyBoundRun;

/* Fills curves and runs of the work, whose other members are set. */
gboolean study_bound_list_curves (StudyBoundWork *work, GError **error);
void study_bound_curve_free (gpointer curve);
