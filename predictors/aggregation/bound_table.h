/* bound_table.h - times of MPI operations while other tasks of the node communicate.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The prediction table of the aggregation paper (section V), as a CSV file:
 *
 *   operation,where,class,pairs,outside,ranks,bytes,time_us
 *   pingpong,within,((oo)(#001#001)),1,0,2,1024,1.7
 *   allreduce,,((oo)(..)),0,0,16,8,21.5
 *
 * A pingpong is one message, half of a round trip, between two ranks of a node (within) or of
 * two nodes (between).  Its class is the text of topo_placement_class() (topology/mapping/message_placement.h):
 * where on the node the observed message and the noise are; `pairs` of noise are in the node,
 * `outside` go to other nodes.  Any other operation is a collective of all `ranks`, as traces
 * call it; `where` is empty, and the class that of the cores that the tasks of a node use, all of
 * them marked as observed.  Its bytes are those of the trace's operation.
 *
 * Rows that differ in the size alone are a curve.  Between two of its sizes times are on a straight
 * line in the size, as they are on a network with a latency and a bandwidth; a line in the
 * logarithm of the size would make a message in the middle of a step by four a quarter too long.  A
 * longer message is never faster: where it was measured faster, it takes the time of the shorter one.
 * Below the smallest size its time holds.  Above the largest the line of the last two sizes goes on
 * (of a single size, the time grows as the size does), which the caller is told: extrapolated. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PREDICT_BOUND_MESSAGE "pingpong"

typedef enum {
  PREDICT_BOUND_ALL, /* where: of collectives, empty */
  PREDICT_BOUND_WITHIN,
  PREDICT_BOUND_BETWEEN,
} PredictBoundWhere;

/* The rows of one curve. */
typedef struct {
  const char *operation;
  PredictBoundWhere where;
  const char *placement; /* column "class" */
  uint32_t pairs, outside;
  uint32_t ranks; /* of a pingpong 2 */
} PredictBoundKind;

typedef struct PredictBoundTable PredictBoundTable;
typedef struct PredictBoundCurve PredictBoundCurve;

/* An empty table; `source` is its name in errors. */
PredictBoundTable *predict_bound_table_new (const char *source);
void predict_bound_table_free (PredictBoundTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictBoundTable, predict_bound_table_free)

/* Errors (PREDICT_ERROR_TABLE, G_FILE_ERROR) name file and line: an unknown `where`, a count or
 * size that is no whole number, a time that is not above 0, a size that a curve has twice. */
PredictBoundTable *predict_bound_table_read (const char *path, GError **error);

/* Copies the kind.  False: the curve has this size already.  time_us is above 0 and finite. */
bool predict_bound_table_add (PredictBoundTable *table, const PredictBoundKind *kind,
                              uint64_t bytes, double time_us);

/* Curves in the order in which they came, sizes ascending. */
void predict_bound_table_write (const PredictBoundTable *table, FILE *out);

const char *predict_bound_table_source (const PredictBoundTable *table);
/* Borrowed; good until something is added.  NULL: there is none. */
const PredictBoundCurve *
predict_bound_table_find (const PredictBoundTable *table, const PredictBoundKind *kind);

/* Its sizes, ascending. */
uint32_t predict_bound_curve_points (const PredictBoundCurve *curve);
uint64_t predict_bound_curve_bytes (const PredictBoundCurve *curve, uint32_t point);

/* Seconds of an operation of so many bytes.  *extrapolated is set when the size is above all of the
 * curve, and else left alone. */
double predict_bound_curve_s (const PredictBoundCurve *curve, double bytes, bool *extrapolated);

/* When the very placement is not there, as in a table that was measured for a few of them: the
 * longest time of all curves of the same operation, ranks and `where` that have at least as
 * many pairs and messages outside, wherever these are.  NaN: there is no such curve. */
double predict_bound_table_longest_s (const PredictBoundTable *table, const PredictBoundKind *kind,
                                      double bytes, bool *extrapolated);
