/* correction_private.h - what the parts of predict_correct() share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/correction.h"

/* What all trials read. */
typedef struct {
  const PredictCorrectionData *data;
  const PredictCorrectionSettings *settings;
  PredictGrammar grammar;
  uint32_t most_steps;      /* of a term */
  bool searched;            /* the parameters are */
  bool added;               /* the term is; otherwise it has the model's time as a variable */
  bool best;                /* not as in the paper */
  double *given;            /* [n_parameters] as they were */
  double *given_time;       /* [train.n] of the model as it was */
  PredictRange given_range; /* over the box */
  double base_loss, base_test_loss;
  double least_loss; /* below is rounding */
} CorrectionProblem;

typedef struct {
  PredictTree tree;
  double *parameters; /* [n_parameters] */
  double factor;      /* of the tree; 1 in the paper's mode */
  double loss;        /* on the training set; INFINITY: undefined */
  double description; /* length, in nats; INFINITY: undefined */
} CorrectionMember;

/* A trial at work: memory of one thread. */
typedef struct {
  const CorrectionProblem *problem;
  PredictRandom random;
  PredictWorkspace *workspace;
  const double **columns;  /* [variables + 1] those of the training set, then time */
  double *time;            /* [train.n] of the model with a member's parameters */
  double *term, *sum;      /* [train.n] */
  PredictRange *ranges;    /* [variables + 1] */
  PredictRange *fixed;     /* [n_parameters] */
  PredictExpression whole; /* a member put together */
  int32_t *unknown;        /* [whole] */
  uint32_t capacity;       /* of whole */
} CorrectionWork;

CorrectionWork *correction_work_new (const CorrectionProblem *problem, guint trial);
void correction_work_free (CorrectionWork *work);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CorrectionWork, correction_work_free)

void correction_copy (const CorrectionProblem *problem, const CorrectionMember *from,
                      CorrectionMember *into);

/* Finds factor, loss and description of the rest. */
void correction_judge (CorrectionWork *work, CorrectionMember *member);

/* The factor with which a tree is best added to the model's time as it was; NaN: there is none. */
double correction_added_factor (CorrectionWork *work, const PredictTree *tree);

/* Fits factor, numbers and searched parameters to the `target`, whose columns
 * are the variables; judges when that is the training set. */
void correction_fit (CorrectionWork *work, CorrectionMember *member, const PredictTarget *target,
                     int most_evaluations);
PredictTarget correction_train (const CorrectionWork *work);

/* The member as a formula of variables and parameters (brief: of variables and the model's time). */
PredictExpression *
correction_formula (CorrectionWork *work, const CorrectionMember *member, bool brief);

/* Its loss at points that it was not fitted to: every fifth point is left out in turn. */
double correction_folds_loss (CorrectionWork *work, const CorrectionMember *member);

/* Whether its value is positive wherever it is looked at in the box: 256 places, half of them
 * drawn by logarithms where a range is positive. */
bool correction_stays_positive (CorrectionWork *work, const CorrectionMember *member);

/* Breeds.  The outcome of a trial, of which time is NULL when nothing was defined. */
void correction_breed (CorrectionWork *work, PredictCorrectionTrial *outcome);
