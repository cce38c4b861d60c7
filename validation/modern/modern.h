/* modern.h - benchmarks that were measured on clusters of today; private to their files.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A point is one measured number: a benchmark, its ranks and a size (validation/data/modern).  It is
 * simulated as the program that the benchmark is.  A figure is one set of points and one quantity. */
#pragma once

#include "mpi/operation.h"
#include "routing/paths.h"
#include "validation/suite.h"

/* What a figure is about.  Windows of messages of one pair count as bandwidth; of several pairs those up
 * to MODERN_SHORT_BYTES count as rates. */
typedef enum {
  MODERN_LATENCY,
  MODERN_BANDWIDTH,
  MODERN_MESSAGE_RATE,
  MODERN_PAIRS_BANDWIDTH,
  MODERN_ALLTOALL,
  MODERN_ALLGATHER,
  MODERN_ALLREDUCE,
  MODERN_BCAST,
  MODERN_REDUCE,
  MODERN_REDUCE_SCATTER,
  MODERN_GATHER,
  MODERN_SCATTER,
  MODERN_BARRIER,
  MODERN_QUANTITIES
} ModernQuantity;

#define MODERN_SHORT_BYTES 4096

extern const char *const modern_quantities[MODERN_QUANTITIES];

typedef enum {
  MODERN_PINGPONG,
  MODERN_ONE_WAY,    /* a window of messages, then a short answer */
  MODERN_BOTH_WAYS,  /* windows of both ends at once */
  MODERN_ANSWERED,   /* the same, then a short answer */
  MODERN_COLLECTIVE, /* its mean over the ranks, a barrier before each call */
  MODERN_SLOWEST,    /* its slowest rank, likewise */
} ModernProgram;

typedef struct {
  const char *name;
  ModernProgram program;
  TraceOpKind kind; /* of a collective */
  ModernQuantity quantity;
} ModernTest;

typedef enum { MODERN_US, MODERN_MBPS, MODERN_PER_S } ModernUnit;

extern const char *const modern_units[];

/* The order in which the ranks of a node fill its cores. */
typedef enum {
  MODERN_COMPACT, /* one package after the other */
  MODERN_CYCLIC,  /* packages take turns: Slurm's default */
  MODERN_HALVES,  /* half of the ranks in each package */
} ModernCores;

/* A machine on which a set was measured. */
typedef struct {
  const char *name;
  const char *spec; /* %s: the path of the table of Leonardo's nodes */
  const char *const *settings;
  ModernCores cores;
} ModernSet;

extern const ModernSet modern_sets[];
extern const guint modern_n_sets;

typedef struct {
  const ModernSet *set;
  const ModernTest *test;
  char *variant; /* a forced algorithm, or "core N", that of the second rank; "": neither */
  uint32_t ranks_per_node, n_ranks;
  uint64_t bytes;       /* of a message, or a call's as a trace counts them */
  uint64_t table_bytes; /* as in the table */
  double measured;
  ModernUnit unit;
} ModernPoint;

/* modern_points.c */

/* (element-type ModernPoint); NULL and *error (VALIDATION_ERROR_DATA) naming `path` and the line. */
GPtrArray *modern_points_parse (const char *text, const char *path, GError **error);

ModernQuantity modern_point_quantity (const ModernPoint *point);

/* Whether the point is one of the thinned set: powers of four, few numbers of ranks. */
bool modern_point_is_usual (const ModernPoint *point);

/* The numbers of the nodes of a run of so many nodes, from 1; NULL: there is no such run.  The caller
 * frees. */
uint32_t *modern_nodes_parse (const char *text, uint32_t n_nodes);

/* modern_programs.c */

/* A set's machine, ready for runs.  Its parameters have the forced algorithm of the last point. */
typedef struct {
  const ModernSet *set;
  TopoMachine *machine;
  RoutePaths *paths;
  const char *nodes; /* table of node numbers by number of nodes; NULL: in the machine's order */
} ModernSite;

/* Takes the machine; borrows the rest.  NULL and *error on failure. */
ModernSite *
modern_site_new (const ModernSet *set, TopoMachine *machine, const char *nodes, GError **error);
void modern_site_free (ModernSite *site);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ModernSite, modern_site_free)

/* Messages and packets that the programs of a point move; infinite for an algorithm that is not
 * known. */
double modern_point_packets (const ModernSite *site, const ModernPoint *point);

/* The simulated value in the unit of the point; NaN and *error on failure. */
double modern_point_simulate (const ModernSite *site, const ModernPoint *point, GError **error);

/* modern.c */

typedef struct {
  guint n;
  double spread; /* median of |log (simulated / measured)| */
  double bias;   /* median of the log */
  guint worst;   /* the index of the largest; n = 0: 0 */
} ModernSummary;

ModernSummary modern_summary (const double *logs, guint n);
