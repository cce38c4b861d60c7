/* benchmark.h - programs of OSU, IMB and others that measure messages and collectives, simulated.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A benchmark is simulated as the program that it is: ping-pongs, windows of nonblocking messages, or
 * collectives with a barrier before each call.  validation/modern compares its results with
 * published measurements, calibration.h fits parameters of a machine to them. */
#pragma once

#include "mpi/operation.h"
#include "routing/paths.h"

#include <glib.h>
#include <stdbool.h>

typedef enum {
  STUDY_BENCHMARK_PINGPONG,
  STUDY_BENCHMARK_ONE_WAY,   /* a window of messages, then a short answer */
  STUDY_BENCHMARK_BOTH_WAYS, /* windows of both ends at once */
  STUDY_BENCHMARK_ANSWERED,  /* the same, then a short answer */
  STUDY_BENCHMARK_COLLECTIVE, /* its mean over the ranks, a barrier before each call; later ones too */
  STUDY_BENCHMARK_IN_A_ROW, /* the same without the barriers */
  STUDY_BENCHMARK_SLOWEST,  /* its slowest rank, a barrier before each call */
} StudyBenchmarkProgram;

/* Windows of messages of one pair count as bandwidth; of several pairs those up to
 * STUDY_BENCHMARK_SHORT_BYTES count as rates. */
typedef enum {
  STUDY_BENCHMARK_LATENCY,
  STUDY_BENCHMARK_BANDWIDTH,
  STUDY_BENCHMARK_MESSAGE_RATE,
  STUDY_BENCHMARK_PAIRS_BANDWIDTH,
  STUDY_BENCHMARK_ALLTOALL,
  STUDY_BENCHMARK_ALLGATHER,
  STUDY_BENCHMARK_ALLREDUCE,
  STUDY_BENCHMARK_BCAST,
  STUDY_BENCHMARK_REDUCE,
  STUDY_BENCHMARK_REDUCE_SCATTER,
  STUDY_BENCHMARK_GATHER,
  STUDY_BENCHMARK_SCATTER,
  STUDY_BENCHMARK_BARRIER,
  STUDY_BENCHMARK_QUANTITIES
} StudyBenchmarkQuantity;

#define STUDY_BENCHMARK_SHORT_BYTES 4096
#define STUDY_BENCHMARK_WINDOW      64 /* messages in flight: osu_bw, osu_mbw_mr and IMB */

extern const char *const study_benchmark_quantities[STUDY_BENCHMARK_QUANTITIES];

typedef struct {
  const char *name; /* osu_latency, imb_pingpong ... */
  StudyBenchmarkProgram program;
  TraceOpKind kind; /* of a collective */
  StudyBenchmarkQuantity quantity;
} StudyBenchmark;

/* NULL: there is none of this name. */
const StudyBenchmark *study_benchmark_find (const char *name);

typedef enum { STUDY_BENCHMARK_US, STUDY_BENCHMARK_MBPS, STUDY_BENCHMARK_PER_S } StudyBenchmarkUnit;

/* NULL at the end. */
extern const char *const study_benchmark_units[];

/* One figure that a benchmark prints. */
typedef struct {
  const StudyBenchmark *benchmark;
  uint32_t n_ranks; /* rank r exchanges messages with r + n_ranks / 2 */
  uint32_t window;
  uint64_t bytes; /* of a message, or a call's as a trace counts them */
  StudyBenchmarkUnit unit;
} StudyBenchmarkPoint;

StudyBenchmarkQuantity study_benchmark_quantity (const StudyBenchmarkPoint *point);

/* Messages and packets that the programs of a point move. */
double study_benchmark_packets (const StudyBenchmarkPoint *point, const TopoMachine *machine);

/* The simulated value in the unit of the point, of rates that of all pairs together; rank r is on
 * core[r] of node[r].  Every core must be a slot of its number (study_slots_are_cores()).  NaN and
 * *error on failure. */
double study_benchmark_simulate (const StudyBenchmarkPoint *point, const TopoMachine *machine,
                                 const RoutePaths *paths, const uint32_t *node, const uint8_t *core,
                                 GError **error);

/* The logarithm of simulated over measured time, for rates and bandwidths too. */
double
study_benchmark_log_time (const StudyBenchmarkPoint *point, double simulated, double measured);

/* --- Deviations of many points --- */

typedef struct {
  guint n;
  double spread; /* median of |log (simulated / measured)|; n = 0: NaN */
  double bias;   /* median of the log */
  guint worst;   /* the index of the largest; n = 0: 0 */
} StudyBenchmarkSummary;

StudyBenchmarkSummary study_benchmark_summary (const double *logs, guint n);
