/* benchmark_output.h - output files of OSU, IMB and hopcast-pingpong, and the places of their ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A file may hold several tables, one after the other, between other lines that begin with #.  OSU and
 * IMB do not print the places of the ranks; a line before a table does, for it and those below:
 *
 *   # hopcast: ranks=64 ranks-per-node=32 nodes=0,1 cores=scatter
 *   # OSU MPI All-to-All Personalized Exchange Latency Test v5.6.2
 *   # Size       Avg Latency(us)
 *   1                     116.41
 *
 * Every key may be missing: ranks of messages are those that the table names, otherwise two; half of
 * these are on each of two nodes.  Nodes are numbered from 0 and filled one after the other, cores
 * are those of the machine's slots.  Rank r exchanges messages with rank r + ranks / 2. */
#pragma once

#include "study/calibrate/benchmark.h"

typedef struct {
  StudyBenchmarkPoint run;
  double measured;
} StudyMeasuredPoint;

/* A table. */
typedef struct {
  char *name;                      /* of the benchmark, osu_latency; an unknown one's as printed */
  const StudyBenchmark *benchmark; /* NULL: not simulated */
  char *path;
  guint first_line, last_line; /* of the figures */
  uint32_t n_ranks;            /* 0: not known */
  uint32_t ranks_per_node;     /* 0: not said */
  char *nodes, *cores;         /* NULL: not said */
  char *class;                 /* hopcast-pingpong's, instead of the three above; NULL: none */
  bool is_within;              /* with a class: both ranks are on one node */
  GArray *points;              /* (element-type StudyMeasuredPoint) */
} StudyMeasured;

/* Appends the tables of a file, (element-type StudyMeasured); *error (STUDY_ERROR_INPUT, G_FILE_ERROR)
 * names file and line.  A file
 * without any is none. */
gboolean study_measured_read (GPtrArray *tables, const char *path, GError **error);

/* For the array's elements. */
void study_measured_free (gpointer measured);

/* The places of the ranks on a machine whose slots are those of its file: node[n_ranks],
 * core[n_ranks].  *error (STUDY_ERROR_INPUT) names file and line. */
gboolean study_measured_place (const StudyMeasured *measured, const TopoMachine *machine,
                               uint32_t *node, uint8_t *core, GError **error);

/* Whether two tables are of the same placement: ranks, nodes and cores. */
bool study_measured_same_place (const StudyMeasured *a, const StudyMeasured *b);
