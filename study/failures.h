/* failures.h - what single parts that are out cost: the slow-down by each, the median and the worst.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A study file's `failures` repeats the runs of a machine with one part out, under the machine's name
 * with the part behind it: "fattree:4x4:2 failed=leaf0:5", "fattree:4x4:2 degraded=leaf0:5 1x".  Rows
 * are told apart by that name alone, so that merged and older stores need nothing else. */
#pragma once

#include "study/store/row.h"

/* The name of a machine with one part out, or with a cable of so many lanes > 0.  The caller frees it. */
char *study_failure_machine (const char *whole, const char *part, uint32_t lanes);

/* The length of the whole machine's name in that of a machine with a part out; *part and *fault, as in
 * the structs below, are borrowed from it.  0: it is whole. */
gsize study_failure_whole_length (const char *machine, const char **part, const char **fault);

/* One part out: the mean of its runs. */
typedef struct {
  const char *part;    /* "leaf0:5", "leaf0:5 1x"; borrowed from a row */
  const StudyRow *row; /* its first failed run, else its first done one; borrowed */
  guint n_done;        /* different runs */
  gboolean has_failed; /* a run has: the job does not run without the part */
  double value;        /* NaN: none is done, or one has failed */
  double slow_down;    /* value / that of the whole machine - 1; NaN: not known */
} StudyFailure;

/* A mapping on a machine, whole and with each single part out, or with each single cable degraded: runs that differ in nothing else but
 * seed, repetition and replica. */
typedef struct {
  char *name;           /* "gen:alltoall..., fattree:4x4:2, packet" */
  char *machine;        /* the whole one */
  const char *fault;    /* "out", or the width of degraded cables, "1x" */
  const StudyRow *row;  /* any of its rows, for trace, network and so on; borrowed */
  const char *column;   /* compared: "time_s", or "max_bytes" of networks without time */
  StudyFailure whole;   /* without a failure; .part is NULL, .row too when it is not there */
  GArray *failures;     /* (element-type StudyFailure) the worst first: those without which the job
                           * does not run, then by slow-down, equal ones in the order of the rows */
  guint n_failed;       /* parts without which the job does not run */
  guint n_slowed;       /* parts that slow it down by more than the tie */
  double median, worst; /* slow-down where it runs; NaN: none is known */
  const char *worst_part; /* NULL likewise */
} StudyFailureCase;

/* (element-type StudyFailureCase) in the order of the rows (element-type StudyRow), which it borrows;
 * none: no row is of a machine with a part out.  tie: relative. */
GPtrArray *study_failure_cases (const GPtrArray *rows, double tie);
