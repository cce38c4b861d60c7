/* evh1_claims.h - the paper on model error correction, and its procedure on a stand-in for its data.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The paper corrects a formula for the communication of EVH1 on an IBM p690.  Its 32 measured times,
 * its formula and its pictures are lost; what is left are two tables, the shares of figure 5 and
 * claims in words.  Here the same procedure works on a stand-in (evh1_like.awk): R1, a
 * reconstruction of the formula, and 32 times of it with a planted fault and noise.  Whether a claim
 * holds there says that the procedure can do it, not that EVH1's times were like that. */
#pragma once

#include "predictors/correction/correction.h"
#include "validation/suite.h"

#define EVH1_POINTS 32u
#define EVH1_CASES  4u
#define EVH1_SMALL  4u /* test points that the paper calls the smaller ones */

typedef struct {
  PredictBaseModel *model;
  double *memory; /* of all columns below */
  const double
      *columns[2][3]; /* of T, nx, np: train, test; the latter in the order of their times */
  PredictRange box[3];
  PredictCorrectionData data;
  PredictCorrectionSettings settings[2];  /* of PredictCorrectionMode; a test may make them small */
  PredictCorrection *made[2][EVH1_CASES]; /* NULL: not made yet */
  GString *details;                       /* NULL: not wanted */
} Evh1;

/* Never returns NULL: table and model are compiled in.  Borrows the details of the watch. */
Evh1 *evh1_new (const ValidationWatch *watch);
void evh1_free (Evh1 *evh1);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Evh1, evh1_free)

/* The trials of a case, 1 ... 4, made when they are asked for first; borrowed, NULL and *error. */
const PredictCorrection *
evh1_case (Evh1 *evh1, PredictCorrectionMode mode, guint number, GError **error);

/* As in the paper, the trial with the least error at the test points, in the loss of the mode; NULL:
 * none converged. */
const PredictCorrectionTrial *
evh1_best_trial (const PredictCorrection *correction, PredictCorrectionMode mode);

/* Where a share lies by the chance of `n` trials of which `count` succeeded, from 5 to 95 % (E. B.
 * Wilson, 1927): shares, 0 ... 1. */
void evh1_share_range (guint count, guint n, double *lower, double *upper);
