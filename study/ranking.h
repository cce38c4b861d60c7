/* ranking.h - the mappings of a study, best first.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A case is all runs that differ in nothing but mapping, seed, repetition and replica.  A mapping's
 * value is the mean of its runs.  One run's end is one draw (replicas.h), so two mappings have
 * different places only where the runs tell them apart. */
#pragma once

#include "study/machine_reader.h"

/* The default tie of single runs: results within 1 % of each other. */
#define STUDY_TIE 0.01

typedef struct {
  const char *mapping;
  const StudyRow *row; /* the first repetition that is done; borrowed */
  guint n_runs;        /* done ones */
  double value;        /* mean of the ranked column over them */
  double lower, upper; /* 95 % interval of the mean; NaN: of one run, or without jitter, where all
                        * runs are the same */
  double gain; /* value of the default mapping / value: above 1 is better; NaN without one */
  guint place; /* 1 = best; ties share a place */
} StudyRanked;

typedef struct {
  char *name;          /* "gen:halo2d..., bgq:512, packet": common to the rows */
  const StudyRow *row; /* any row of the case; borrowed */
  GArray *ranked;      /* (element-type StudyRanked) by value, then by the order of the rows */
  const char *column;  /* ranked: "time_s", or a column of row.h such as "max_bytes" */
  guint n_failed;
  char *default_mapping; /* the machine's default, by its name here; NULL: not in the study */
} StudyCase;

/* The name of the case of a row, as if it were on `machine`.  The caller frees it. */
char *study_case_name (const StudyRow *row, const char *machine);

/* (element-type StudyCase), in the order of the rows, which it borrows.  column
 * NULL: time_s, and max_bytes for networks without time; "time", "mean_end" and "waits" are short for
 * time_s, mean_end_s and wait_s_avg.  A mapping shares the place of the best before it where the 95 %
 * interval of the mean difference between runs of the same seed holds 0; without two such pairs,
 * where its value is within tie (relative; 0: equal).
 *
 * The default is identified by its name, ABCDET, AT ...; in a case without such a mapping it is the
 * first mapping that places every rank as the default of its machine does.  machine finds that
 * machine; NULL: names alone count. */
GPtrArray *study_cases_new (const GPtrArray *rows, const char *column, double tie,
                            StudyMachineOf machine, void *data, GError **error);

/* The same cases by values[rows->len] that are in no column, such as predictions (NaN: not ranked).
 * `name` names them and is borrowed. */
GPtrArray *study_cases_new_by_values (const GPtrArray *rows, const char *name, const double *values,
                                      double tie, StudyMachineOf machine, void *data);
