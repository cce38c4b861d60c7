/* correction.h - a user's performance model, corrected by observations.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The model error correction procedure: genetic programming breeds an error-correction term, ect,
 * and a genetic algorithm the model's parameters, in four cases:
 *
 *     1   time = ect (variables, t_comm)         parameters as they are
 *     2   time = t_comm + ect (variables)        parameters as they are
 *     3   time = ect (variables, t_comm)         parameters searched within their bounds
 *     4   time = t_comm + ect (variables)        parameters searched within their bounds
 *
 * where t_comm is the model's time.  As the paper does it (PREDICT_CORRECTION_PAPER): 3,000
 * formulas of + - * / ^ log exp, 100 generations, the smallest training error wins.  Its
 * "graduated elitist" selection is read as copies that fall with the rank: three of the best
 * 1 %, two of the next 4 %, one of the next 15 %; the rest are children.
 *
 * Better (PREDICT_CORRECTION_BEST): the term has a factor by least squares, all its numbers and
 * the searched parameters are fitted by Levenberg and Marquardt, a formula that may be
 * undefined anywhere in a box of the variables is refused, and from the best formulas of each size the one with the
 * shortest description is taken, provided that it holds in cross-validation. */
#pragma once

#include "predictors/formula/bounds.h"
#include "predictors/forest/work_threads.h"
#include "predictors/correction/genetic.h"
#include "predictors/correction/levenberg.h"

typedef enum { PREDICT_CORRECTION_BEST, PREDICT_CORRECTION_PAPER } PredictCorrectionMode;

typedef struct {
  PredictCorrectionMode mode;
  guint number; /* the case, 1 ... 4 */
  PredictLoss loss;
  guint n_trials, n_threads;
  uint64_t seed;
  guint population, generations; /* at least 10 and 1 */
  const PredictOp *functions; /* [n_functions] borrowed: the functions of terms; a function that is
                                    named twice being drawn twice as often; NULL: those of the mode */
  guint n_functions;
} PredictCorrectionSettings;

/* The paper's table 1: the depth of first formulas, and the share of children that are crossed; the
 * others are mutated. */
#define PREDICT_PAPER_DEPTH     7u
#define PREDICT_PAPER_CROSSOVER 0.9

/* The paper's case 4, or the best settings; one thread, seed 1. */
PredictCorrectionSettings predict_correction_settings (PredictCorrectionMode mode);

/* Borrowed.  Columns are those of the model's variables, in order. */
typedef struct {
  const PredictBaseModel *model;
  PredictPoints train, test; /* test.n may be 0 */
  const double *train_observed, *test_observed;
  const PredictRange *box; /* [variables] where the model is to be used; holds the points */
  /* Parts that a simulated time is the sum of, for predict_compare(): their names, and as many points
   * of columns in that order; n_parts 0: not known. */
  guint n_parts; /* at most PREDICT_MOST_FACTORS */
  const char *const *part_names;
  PredictPoints train_parts, test_parts;
} PredictCorrectionData;

/* INFINITY: not defined, as at a point where the model is not. */
typedef struct {
  double log_rmse, rmse, mape;
} PredictErrors;

typedef struct {
  bool converged;           /* the training loss is smaller than that of the model as it was */
  bool better;              /* so is the loss on the test set (training set, if there is none) */
  PredictExpression *time;  /* of variables and parameters; NULL: nothing was found */
  PredictExpression *brief; /* the same of variables and, as the last one, t_comm */
  double *parameters;       /* [n_parameters] */
  double loss, test_loss, description, folds_loss; /* NaN: not computed */
  uint32_t n_numbers;  /* that were fitted or drawn: searched parameters, those of the term */
  double *points_loss; /* [train.n] the point's part of the loss, when a fold with it is left out */
  PredictErrors train, test;
} PredictCorrectionTrial;

/* The use of the outcome, decided by the training points alone.  Of the model as it was, the
 * refitted model and the best trial, the loss at each point is found with the point's fold left out of
 * the fit.  One is better than another when the mean of its losses and Student's 97.5 % point times
 * their standard error are below the mean of the other's.  The shape of the term was chosen with all
 * points, so that this is the least that can be asked of it.
 *
 * The term is taken when it is better than both others, there are fewer numbers in it than points in
 * four folds, its times are shown to be positive (predict_shown_positive(); where all observed ones
 * are), and it is not degenerate: the model alone, with other parameters, gives the same times, or
 * term and model cancel each other.  Else the refitted model is taken when it is better than
 * the model as it was, and shown to be positive.  Factors for the parts of a time are advised by
 * predict_comparison_review() alone. */
typedef enum {
  PREDICT_TAKE_NEITHER,
  PREDICT_TAKE_REFITTED,
  PREDICT_TAKE_FACTORS,
  PREDICT_TAKE_TERM
} PredictVerdict;

typedef struct {
  PredictErrors base_train, base_test;         /* of the model as it was */
  PredictErrors refitted_train, refitted_test; /* and with its parameters fitted */
  double *refitted;                            /* [n_parameters] */
  PredictCorrectionTrial *trials;              /* [n_trials] */
  guint n_trials, n_converged, n_better;
  guint best; /* the trial with the shortest description (paper: the smallest training loss);
                 n_trials: none converged */
  PredictVerdict verdict;
  char *reason;                                       /* of the verdict, in words */
  double base_folds, refitted_folds, corrected_folds; /* losses with folds left out; NaN: none */
} PredictCorrection;

/* Whether a value of a parameter is, but for rounding, one of its bounds. */
bool predict_parameter_at_bound (const PredictParameter *parameter, double value);

/* The same result whatever n_threads.  NULL and *error (PREDICT_ERROR_NUMERIC or _OPTION): fewer
 * than three points, observations that are all the same or for which the loss is not defined, a model that
 * is undefined at a point (which, and why) or somewhere in the box. */
PredictCorrection *
predict_correct (const PredictCorrectionData *data, const PredictCorrectionSettings *settings,
                 PredictProgress progress, void *progress_data, GError **error);
void predict_correction_free (PredictCorrection *correction);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictCorrection, predict_correction_free)

/* The name of the model's own time in `brief`: "t_comm", or longer if the model has that name. */
char *predict_correction_base_name (const PredictBaseModel *model);

/* A model file of a trial, without units (those of a bred term have no meaning); reads back to a model
 * with the same values.  The caller frees. */
char *predict_correction_text (const PredictBaseModel *model, const PredictCorrectionTrial *trial);
