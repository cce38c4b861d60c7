/* correction_private.h - types and functions shared by the files of predict_correct().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/correction/correction.h"

/* Read by all trials. */
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
  BaseRandom random;
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

/* A number is added to the tree of a member that was judged last, if that makes its description
 * shorter. */
void correction_offset (CorrectionWork *work, CorrectionMember *member);

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

/* Of fits of a model's parameters. */
#define CORRECTION_STARTS 20u

/* Every fifth point is left out in turn, where the shape of a formula is chosen. */
#define CORRECTION_FOLDS 5u

/* The points of which (point % CORRECTION_FOLDS == fold) is `inside`, as columns of the caller's; how
 * many. */
uint64_t correction_choose_points (const PredictCorrectionData *data, uint32_t n_columns,
                                   guint fold, bool inside, double **columns, double *observed);

/* A point's part of a loss: the square of its deviation, or its absolute value; INFINITY: not
 * defined. */
double correction_point_loss (PredictLoss loss, double observed, double predicted);

/* The loss of parts of n points. */
double correction_points_loss (PredictLoss loss, const double *points_loss, uint64_t n);

/* Its loss at points that it was not fitted to.  points_loss: NULL, or [train.n] the parts of the
 * points. */
double
correction_folds_loss (CorrectionWork *work, const CorrectionMember *member, double *points_loss);

/* The numbers that are fitted with it: searched parameters, the factor, those of the tree. */
uint32_t correction_n_numbers (CorrectionWork *work, const CorrectionMember *member);

/* Whether its value is positive everywhere in the box: at its corners (those of the first eight
 * variables), where it may be 0, at 256 places, half of them drawn by logarithms where a range is
 * positive, which is quick to refute most, and by predict_shown_positive(). */
bool correction_stays_positive (CorrectionWork *work, const CorrectionMember *member);

/* Operations go as long as the description becomes shorter; numbers get the fewest digits that
 * keep the loss. */
void correction_polish (CorrectionWork *work, CorrectionMember *member);

/* Breeds.  The outcome of a trial, of which time is NULL when nothing was defined. */
void correction_breed (CorrectionWork *work, PredictCorrectionTrial *outcome);
