/* calibration.h - parameters of a machine, fitted to benchmarks of messages that were measured on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The residual of a point is log (simulated time / measured time).  Levenberg and Marquardt's method
 * (lmder of CMinpack) makes the sum of c^2 * 2 (sqrt (1 + (r / c)^2) - 1) minimal, which grows as
 * the square of small residuals and as large ones themselves: a step of the library that the
 * model lacks must not bend its latencies.  A parameter is searched between physical bounds, by its
 * logarithm.
 *
 * Only parameters that the points determine are fitted.  The slopes d log time / d log parameter
 * decide: those whose slopes are nil stay at their default, and so do those whose slopes are those of
 * others, as with several latencies of the same way, of which the largest is fitted.  A
 * parameter that runs to a bound, or whose interval is wider than a factor of two on either side,
 * goes back to its default too.
 *
 * Ping-pongs and windows of one direction are fitted, of one pair at a time.  The rest is there to be
 * predicted: collectives, several pairs, and both directions at once, where the model lacks
 * so much that parameters of the single message would take the blame (handbook, calibration.md). */
#pragma once

#include "study/calibrate/benchmark_output.h"

/* Points of more packets are not fitted: windows of long messages say what ping-pongs of them say. */
#define STUDY_CALIBRATION_PACKETS 3e4

typedef struct {
  const char *key;       /* group.key */
  bool is_fitted;        /* otherwise it has its initial value */
  char *why;             /* of one that is not fitted; of one that is, the lines of files that
                                  it depends on: "osu_latency.txt:4-27, ..." */
  char *initial, *value; /* texts with units */
  char *low, *high;      /* of the 95 % interval; NULL: not fitted */
} StudyCalibrated;

/* Of a table of measured figures. */
typedef struct {
  guint n;              /* points that are fitted */
  guint n_long;         /* points of too many packets */
  const char *left_out; /* why the table is not fitted; NULL: it is */
  StudyBenchmarkSummary before, after,
      predicted; /* predicted: without the points' own block of sizes */
} StudyCalibratedTable;

typedef struct {
  GPtrArray *parameters;                          /* (element-type StudyCalibrated) */
  StudyCalibratedTable *tables;                   /* one for each that was given */
  StudyBenchmarkSummary before, after, predicted; /* of all points */
} StudyCalibration;

void study_calibration_free (StudyCalibration *calibration);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyCalibration, study_calibration_free)

/* Fits the parameters of the machine, which has them afterwards, to tables (element-type
 * StudyMeasured), in n_threads (0: one per core) processes.  progress may be NULL.  NULL and *error when a table does
 * not fit on the machine, nothing is left to be fitted, or a simulation fails. */
StudyCalibration *
study_calibrate (TopoMachine *machine, const GPtrArray *tables, guint n_threads,
                 void (*progress) (void *data, double share), void *data, GError **error);

/* The complete machine file; its comments have the interval and the origin of each fitted parameter, and
 * name those that the figures do not determine.  The caller frees. */
char *study_calibration_print (const StudyCalibration *calibration, const TopoMachine *machine,
                               const GPtrArray *tables);

/* Simulates every point of the tables, of at most so many packets; of those that it does, logs gets
 * the logarithm of simulated over measured time, of others NaN: logs[all points, table by table].
 * Tables without benchmark are left out. */
gboolean study_calibration_test (TopoMachine *machine, const GPtrArray *tables, double most_packets,
                                 guint n_threads, void (*progress) (void *data, double share),
                                 void *data, double *logs, GError **error);
