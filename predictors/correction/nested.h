/* nested.h - the error of a corrected model where neither its search nor its choice has looked.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A fold of the points is set aside, everything is done anew with the others (breeding, the choice
 * of a trial, fitting), and the outcome predicts that fold; and so with each fold (Stone 1974; Varma
 * and Simon 2006).  Fitting only the numbers anew, as the choice between trials does, leaves the shape
 * of a term as all points made it and promises too little error.  Points with the same variables
 * are in the same fold.
 *
 * In this way all candidates are judged alike: the model as it was, refitted, the parts of a simulated
 * time with a factor each (factors.h; where they are known), the two surfaces (surface.h), a term of any
 * case, and a blend of all but the first: the geometric mean of their times with weights that fit the
 * times left out (Breiman, Stacked regressions, 1996), found without the fold that is predicted.  The
 * blend is chosen, unless another one's loss is less by more than chance.  That choice saw all
 * points; what it costs is found by drawing points with repetition: the choice is made by those drawn
 * and judged by the others (Tsamardinos, Greasidou and Borboudakis 2018). */
#pragma once

#include "predictors/correction/correction.h"
#include "predictors/correction/factors.h"
#include "predictors/correction/surface.h"

#define PREDICT_N_CASES 4u

typedef enum {
  PREDICT_CANDIDATE_BASE,
  PREDICT_CANDIDATE_REFITTED,
  PREDICT_CANDIDATE_FACTORS,
  PREDICT_CANDIDATE_QUADRATIC,
  PREDICT_CANDIDATE_KRIGING,
  PREDICT_CANDIDATE_CASES, /* the first of PREDICT_N_CASES */
  PREDICT_CANDIDATE_BLEND = PREDICT_CANDIDATE_CASES + PREDICT_N_CASES,
  PREDICT_N_CANDIDATES
} PredictCandidateKind;

/* "base", "refitted", "factors", "quadratic", "kriging", "case_1" ... "case_4", "blend". */
extern const char *const predict_candidate_names[PREDICT_N_CANDIDATES];

typedef struct {
  double nested; /* the loss at points left out; INFINITY: not defined at one; NaN: not compared */
  double *left_out;   /* [train.n] the times predicted there, s; NULL: not compared */
  double *test_times; /* [test.n] learned from all points, s */
  PredictErrors test; /* of these; NaN: no test points */
} PredictCandidate;

typedef struct {
  PredictCandidate candidates[PREDICT_N_CANDIDATES];
  double weights[PREDICT_CANDIDATE_BLEND]; /* of the blend; they are not negative and sum to 1 */
  guint n_folds;
  PredictCandidateKind chosen;
  double chosen_nested;   /* with the cost of the choice */
  PredictFactors factors; /* learned from all points; n 0: the parts are not known */
} PredictComparison;

/* corrections[]: of the cases that are compared, what predict_correct() made of all points; NULL: not
 * compared.  settings->number is not read.  A term is replaced by the refitted model (cases 3 and 4) or the
 * model as it was (1 and 2) where no trial finds one.  n_folds at least 2; fewer where there are not
 * so many different points.  The same result whatever n_threads.  NULL and *error (PREDICT_ERROR_NUMERIC):
 * numbers too large for a surface. */
PredictComparison *
predict_compare (const PredictCorrectionData *data, const PredictCorrectionSettings *settings,
                 const PredictCorrection *const *corrections, guint n_folds,
                 PredictProgress progress, void *progress_data, GError **error);
void predict_comparison_free (PredictComparison *comparison);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictComparison, predict_comparison_free)

/* How far a new time may be from the one that a candidate predicts: with the chance `level`, if it is
 * like those learned from, |log (observed / predicted)| is at most `margin`, or |observed - predicted|
 * where a time was not positive.  Conformal, of the times left out (scoring/interval.h): of points that
 * are the same one counts.  INFINITY: too few points for the level, or no value at one. */
typedef struct {
  bool logarithms;
  double margin;
} PredictMargin;

PredictMargin predict_comparison_margin (const PredictComparison *comparison, guint candidate,
                                         const PredictCorrectionData *data, double level);
/* The ends of the interval of a predicted time. */
void predict_margin_ends (PredictMargin margin, double predicted, double *lower, double *upper);

/* The verdict of a correction of case `number`, looked at again: its losses of points left out become the nested
 * ones, and a term or a refitted model that is not better by them is not taken; the factors take the place of
 * one that is not better than they are. */
void predict_comparison_review (const PredictComparison *comparison, guint number,
                                PredictCorrection *correction);

/* A candidate, such as the chosen one, learned from all points, as a model file of the variables alone: formulas
 * with their numbers, a surface or a blend as definitions.  Arguments as those of predict_compare().  The caller frees.
 * NULL and *error (PREDICT_ERROR_NUMERIC): kriging of so many points is too long for a formula. */
char *predict_comparison_text (const PredictComparison *comparison, guint candidate,
                               const PredictCorrectionData *data,
                               const PredictCorrectionSettings *settings,
                               const PredictCorrection *const *corrections, GError **error);
