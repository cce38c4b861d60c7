/* modern.h - benchmarks that were measured on clusters of today; private to their files.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A point is one measured number: a benchmark, its ranks and a size (validation/data/modern).  It is
 * simulated as the program that the benchmark is.  A figure is one set of points and one quantity. */
#pragma once

#include "study/calibrate/benchmark.h"
#include "validation/suite.h"

/* The order in which the ranks of a node fill its cores. */
typedef enum {
  MODERN_COMPACT, /* one package after the other */
  MODERN_SLURM, /* packages take turns if each core has a rank, as Slurm binds them, else unbound */
  MODERN_HALVES,  /* half of the ranks in each package */
  MODERN_UNBOUND, /* half of the ranks in each package, drawn */
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
  char *variant; /* a forced algorithm, or "core N", that of the second rank; "": neither */
  uint32_t ranks_per_node;
  StudyBenchmarkPoint run;
  uint64_t table_bytes; /* as in the table */
  double measured;
} ModernPoint;

/* modern_points.c */

/* (element-type ModernPoint); NULL and *error (VALIDATION_ERROR_DATA) naming `path` and the line. */
GPtrArray *modern_points_parse (const char *text, const char *path, GError **error);

/* Whether the point is one of the thinned set: powers of four, few numbers of ranks. */
bool modern_point_is_usual (const ModernPoint *point);

/* The name of its figure: SET_QUANTITY; SET_node_rate and SET_node_bandwidth for windows of messages within a
 * node.  The caller frees. */
char *modern_point_figure (const ModernPoint *point);

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

/* The cores of the ranks of a node, core[MAX (2, ranks_per_node)].  Unbound ranks are where Linux has put
 * them: as many in each package, of which nothing else is known.  Each point is another draw, so that no figure
 * hangs on one. */
void modern_point_cores (const ModernSite *site, const ModernPoint *point, uint8_t *core);

/* The simulated value in the unit of the point; NaN and *error on failure. */
double modern_point_simulate (const ModernSite *site, const ModernPoint *point, GError **error);
