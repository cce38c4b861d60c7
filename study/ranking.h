/* ranking.h - the mappings of a study, best first.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A case is all runs that differ in nothing but mapping, seed and repetition. */
#pragma once

#include "study/machine_reader.h"

/* The default tie: results within 1 % of each other. */
#define STUDY_TIE 0.01

typedef struct {
  const char *mapping;
  const StudyRow *row; /* the first repetition that is done; borrowed */
  guint n_runs;        /* done ones */
  double value;        /* median of the ranked column over the repetitions */
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

/* (element-type StudyCase), in the order of the rows, which it borrows.  column
 * NULL: time_s, and max_bytes for networks without time.  Values closer than
 * tie (relative; 0: equal) to the best of a group share its place.
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
