/* rank_print.h - a ranking as people and programs read it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/output.h"
#include "study/ranking.h"

/* A column beside what is ranked. */
typedef struct {
  const char *name;
  GPtrArray *of_case; /* (element-type GHashTable) [cases] mapping -> double *; absent: not known */
} CliRankColumn;

/* What is printed of a store's study. */
typedef struct {
  const char *store, *study;
  guint n_missing;        /* runs that nobody has made yet */
  const GPtrArray *cases; /* (element-type StudyCase) all of them */
  const bool *chosen;     /* [cases] */
  guint top;              /* mappings per case, ties with the last one included */
  const GArray *columns;  /* (element-type CliRankColumn) NULL: none */
  const char *note;       /* where the values are from; NULL: the runs themselves */
} CliRanking;

/* How many of its mappings a case shows. */
guint cli_ranking_length (const CliRanking *ranking, const StudyCase *study_case);

/* The value of a column; NaN: not known. */
double cli_ranking_value (const CliRanking *ranking, guint column, guint number,
                          const StudyRanked *ranked);

void cli_ranking_print (FILE *out, const CliRanking *ranking, CliFormat format);
