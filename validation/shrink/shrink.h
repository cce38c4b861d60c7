/* shrink.h - shrunk runs beside exact ones, and those beside their replicas.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* A run of a case: exact, the same with other starts of the ranks ("replica"), or shrunk. */
typedef struct {
  char *experiment; /* the name of its case */
  guint mapping;    /* of the case, from 0 */
  char *run;        /* "exact", "replica", "2", "4" ... */
  double end_s, mean_end_s;
  /* Of the time of each message, as a share of that in the exact run: mean and 95th percentile of
   * what it is off by. */
  double message_error, message_p95;
  double waits_s; /* in receive buffers, of all packets */
  double max_bytes, avg_bytes;
  double links_off; /* with other bytes than in the exact run; NaN: dynamic routing */
  double packet_hops, cpu_s;
} ShrinkRun;

/* All runs of the experiments (element-type ShrinkRun), made in `n_workers` processes (0: one per core).
 * Those in the CSV file `path` (NULL: none) are not made again, and others are added to it, each case
 * as soon as it is done.  only (NULL: all): names of cases.  NULL and *error when a run fails, the
 * file cannot be read or written, or progress (may be NULL) returns FALSE. */
GPtrArray *shrink_runs (const char *path, const char *const *only, guint n_workers,
                        void (*progress) (void *data, double share), void *data, GError **error);

/* What a run is off by against the exact one of its case, and the case's replica likewise: the least
 * that could be hoped for. */
typedef struct {
  const char *experiment;
  guint factor;
  bool is_auto, is_screen; /* the factor is what "auto" or "auto:screen" takes */
  double end, mean_end, message_error, message_p95, waits, max_bytes, avg_bytes, links_off;
  double times_faster;
  double floor_end, floor_message_error, floor_waits;
  /* Of cases with several mappings: share of their pairs that are in the exact order. */
  double order_end, order_mean_end, floor_order_end, floor_order_mean_end;
} ShrinkCell;

/* (element-type ShrinkCell) of the cases that are complete; borrows from runs. */
GArray *shrink_cells (const GPtrArray *runs);
