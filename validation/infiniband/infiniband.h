/* infiniband.h - the experiments on InfiniBand clusters; private to their files.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each published figure (validation/data/infiniband_published.csv) is an entry of the table in
 * infiniband.c: an experiment and the number of its figure.  Each file holds one experiment.
 * Experiments return NaN when they have set *error, and keep points that several figures share in
 * InfiniBand, which is the state of those that the table calls (ValidationMeasure). */
#pragma once

#include "validation/measured_curve.h"
#include "validation/replayed_program.h"
#include "validation/suite.h"

/* Curves over message sizes, by their names in the data. */
typedef enum {
  IB_CURVE_STAMPEDE_BETWEEN,
  IB_CURVE_STAMPEDE_INSIDE,
  IB_CURVE_CONNECTX_LATENCY,
  IB_CURVE_CONNECTX_BANDWIDTH,
  IB_CURVE_CONNECTX_BIBANDWIDTH,
  IB_CURVES
} IbCurve;

/* Benchmarks under the aggregation patterns. */
typedef enum { IB_PROGRAM_LU, IB_PROGRAM_FT, IB_PROGRAM_MG, IB_PROGRAMS } IbProgram;

#define IB_PATTERNS 8  /* 1..8 */
#define IB_TASKS    16 /* of those benchmarks */

typedef struct {
  GString *details;             /* borrowed; may be NULL */
  GHashTable *made;             /* "series,point" -> double *: points that are known */
  GPtrArray *curves;            /* (element-type ValidationCurve) measured */
  double *simulated[IB_CURVES]; /* NULL until made: one value per point */
  double mpi_ps[IB_PROGRAMS][IB_PATTERNS + 1]; /* 0 until made */
  bool has_shifts;
  double slowest_shift_Bps, fastest_shift_Bps;
} InfiniBand;

/* Of ValidationSuite: an InfiniBand, which borrows the details of the watch. */
gpointer ib_new (const ValidationWatch *watch);
void ib_free (gpointer ib);

/* False: the point is not known yet. */
bool ib_known (const InfiniBand *ib, const char *series, const char *point, double *value);

/* Keeps a point and adds it to the details. */
void
ib_keep (InfiniBand *ib, const char *series, const char *point, double value, const char *unit);

/* infiniband_curves.c: `which` is an IbCurve. */
double ib_curve_error (gpointer ib, uint32_t which, GError **error);
double ib_curve_first (gpointer ib, uint32_t which, GError **error);
double ib_curve_last (gpointer ib, uint32_t which, GError **error); /* MB/s: as GB/s */
double ib_inline_step_us (gpointer ib, uint32_t unused, GError **error);
double ib_bidirectional_ratio (gpointer ib, uint32_t unused, GError **error);

/* infiniband_alltoall.c: time of a call with blocks of `bytes`, us. */
double ib_alltoall_us (gpointer ib, uint32_t bytes, GError **error);
double ib_pairwise_us (gpointer ib, uint32_t bytes, GError **error);
double ib_bruck_us (gpointer ib, uint32_t bytes, GError **error);
double ib_bruck_nehalem_us (gpointer ib, uint32_t bytes, GError **error);
/* The smallest block that the rules of the machine's MPI send pairwise, found
 * by the messages of a rank; last_bytes when none below is. */
double ib_alltoall_change_bytes (gpointer ib, uint32_t last_bytes, GError **error);
double ib_alltoall_drop (gpointer ib, uint32_t bytes, GError **error);
double ib_pairwise_flatness (gpointer ib, uint32_t unused, GError **error);
double ib_bruck_growth (gpointer ib, uint32_t unused, GError **error);

/* infiniband_sharp.c: time of an allreduce of `bytes` among 128 nodes in the switches, or by messages,
 * us. */
double ib_sharp_us (gpointer ib, uint32_t bytes, GError **error);
double ib_allreduce_us (gpointer ib, uint32_t bytes, GError **error);

/* infiniband_shift.c: GB/s per node of the slowest (0) or fastest (1) shift;
 * the median over several draws of the nodes. */
double ib_shift_GBps (gpointer ib, uint32_t fastest, GError **error);

/* Of the measured cluster; NULL at the end. */
extern const char *const ib_shift_settings[];

/* Shifts by 1..127 among 128 nodes of a fabric that are drawn at random. */
bool ib_shift_range (const TopoMachine *machine, uint32_t seed, GString *details,
                     double *slowest_Bps, double *fastest_Bps, GError **error);

/* infiniband_placement.c */
double ib_small_inside_gain (gpointer ib, uint32_t bytes, GError **error);
double ib_large_between_gain (gpointer ib, uint32_t bytes, GError **error);
double ib_distance_order (gpointer ib, uint32_t farther, GError **error);
double ib_noise_range (gpointer ib, uint32_t most, GError **error);
double ib_noise_intensity (gpointer ib, uint32_t unused, GError **error);
double ib_noise_classes_most (gpointer ib, uint32_t n_noise, GError **error);
double ib_noise_classes_growth (gpointer ib, uint32_t unused, GError **error);

/* infiniband_grouping.c: the node and core of each task of a trace, grouped as
 * the aggregation paper does it; every node's tasks are on cores[n_cores],
 * ascending.  False and *error on failure. */
bool ib_group_tasks (InfiniBand *ib, const char *trace, const uint8_t *cores, uint32_t n_cores,
                     uint32_t node[IB_TASKS], uint8_t core[IB_TASKS], GError **error);

/* infiniband_patterns.c: percent by which communication differs from that of pattern 1; figures of
 * aggregation.c. */
double ib_lu_spread (InfiniBand *ib, uint32_t high_patterns, GError **error);
double ib_ft_rise (InfiniBand *ib, uint32_t which, GError **error);
double ib_ft_worst (InfiniBand *ib, uint32_t unused, GError **error);
double ib_mg_gain (InfiniBand *ib, uint32_t pattern, GError **error);
double ib_mg_order (InfiniBand *ib, uint32_t unused, GError **error);
