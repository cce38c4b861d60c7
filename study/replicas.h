/* replicas.h - one run several times, its ranks starting a little apart.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A congested exchange is chaotic: whether a rank starts a microsecond earlier decides which of two
 * packets is first at a link, and in the end when the last message arrives.  So the time of one run
 * is one draw.  Replicas draw several, and say what their mean is and how sure that is. */
#pragma once

#include "study/store/row.h"

/* A number over replicas. */
typedef struct {
  guint n; /* that know it */
  double mean, least, most;
  double lower, upper; /* the mean of many replicas is between these with 95 % (Student's t); NaN:
                        * fewer than two know it */
} StudySpread;

/* NaNs do not count; without others all numbers are NaN. */
StudySpread study_spread (const double *values, guint n);

/* Of a column of rows, a field of row_fields.h. */
StudySpread study_rows_spread (const GPtrArray *rows, const char *column);

/* A row with the inputs of the first one and the means of all results; whole numbers are rounded.
 * Its key is that of all keys, its warnings are those that any has, its wall_s the sum. */
StudyRow *study_rows_mean (const GPtrArray *rows);

/* Of a run whose messages were shrunk by S, and of the same by 2S: what the results would be if none
 * were, as far as what they are off by grows with S: 2 T(S) - T(2S) of all times and features, at
 * least 0.  Counts are those of the first, of packets and events the sums; so are wall_s and the
 * key, as study_rows_mean() makes it.  NULL and *error when they did not shrink the same
 * messages by S and 2S. */
StudyRow *study_rows_extrapolate (const StudyRow *of_s, const StudyRow *of_2s, GError **error);

typedef struct {
  Trace *trace;
  const TopoMachine *machine;
  const TopoMapping *mapping;
  SimRunOptions options;       /* of the first replica; the others have the seeds that follow */
  guint n_replicas, n_workers; /* processes that make them; 0: one per core */
} StudyReplicas;

/* Makes all replicas: (element-type StudyRow) with network, seed, key and results, the same as
 * sim_run() of each one with its seed.  NULL and *error when one of them fails. */
GPtrArray *study_replicas_run (const StudyReplicas *replicas, GError **error);
