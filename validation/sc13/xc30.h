/* xc30.h - dense against sparse placement of SPEC MPI2007 on a Cray XC30, predicted without counters.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Published runs of real codes with the same ranks on all 24 cores of a node and on half of them:
 * the slow-down is the time of the former by that of the latter.  From the two smallest counts of
 * ranks one memory share for each code and one overhead for all are learned
 * (predictors/aggregation/node_sharing.h); the slow-downs with more ranks are predicted, and compared with
 * carrying each code's mean of the two slow-downs over unchanged.
 *
 * The model keeps slow-downs up that communication makes fade as ranks grow.  How much of them is left is
 * learned from the other codes, by turns: for every number of ranks the factor of the logarithm of the
 * modelled slow-down with the least absolute errors over all codes but the one that is predicted.  Where that
 * is not better than carrying over in both scores, carrying over is the prediction.
 *
 * The runs are a CSV with the columns benchmark, ranks, ranks_per_node, cores_per_node, chips_per_node
 * and median_s, made from the reports at spec.org; those of the XC30 are built in.  Rows with
 * hyper-threads (more ranks than cores), other densities and the codes 121.pop2 and
 * 128.GAPgeofem, which are noisy, do not count. */
#pragma once

#include "predictors/aggregation/node_sharing.h"

/* Counts of ranks that are learned from. */
#define VALIDATION_XC30_LEARNED 2

typedef struct {
  double spearman;
  double median_error, mean_error; /* of |predicted / measured - 1| */
} ValidationXc30Score;

typedef struct {
  guint n_codes, n_counts;
  char **code;          /* [n_codes], NULL at the end, in the order of the file */
  double *ranks;        /* [n_counts] ascending */
  double *measured;     /* [n_codes * n_counts] slow-downs, a code after the other */
  double *predicted;    /* as measured; the first VALIDATION_XC30_LEARNED of a code are the fit */
  double *carried;      /* as measured: the mean of the first two */
  double *faded;        /* as measured: predicted with what the other codes leave of it */
  double *memory_share; /* [n_codes] */
  double overhead;
  /* Over what was not learned from. */
  ValidationXc30Score model, mean, left_out; /* of predicted, carried, faded */
  bool falls_back;                           /* left_out is no better than mean */
  double mean_spearman_by_row; /* of the mean, where its ties count in the order of the rows: an
                                * arbitrary figure that others have quoted */
} ValidationXc30;

/* What the model assumes of the codes: see xc30.c. */
extern const PredictNodeAssumptions validation_xc30_assumptions;

/* csv_path NULL: the runs that are built in.  FALSE and *error naming the file (and the line): see predict_table_read(); a column is missing; a
 * number is not positive; a run that is needed is missing or there twice; fewer than three counts
 * of ranks or three codes.  To be cleared when it succeeds. */
gboolean validation_xc30 (const char *csv_path, ValidationXc30 *result, GError **error);
/* With other assumptions, and, if `without` is not NULL, as if the file had not this code. */
gboolean validation_xc30_vary (const char *csv_path, const PredictNodeAssumptions *assumptions,
                               const char *without, ValidationXc30 *result, GError **error);
void validation_xc30_clear (ValidationXc30 *result);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ValidationXc30, validation_xc30_clear)
