/* model.h - a model learned from a table, with all that predicting needs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/scoring/coverage.h"
#include "predictors/scoring/evaluate.h"
#include "predictors/scoring/interval.h"
#include "predictors/table/table.h"

#include <stdio.h>

/* Of the intervals whose coverage a training reports. */
#define PREDICT_COVERAGE_LEVEL 0.9

/* The task of a training. */
typedef struct {
  const char *const *features; /* names of columns, NULL-terminated */
  const char *target;
  gboolean log_target;
  /* Names of features, NULL-terminated; NULL: none.  The prediction never falls when one of them grows, or
   * never rises.  Only of boosting without a quantile; names that are no features do not count. */
  const char *const *increasing, *const *decreasing;
  const char *group; /* column whose equal cells stay on one side of a split; NULL */
  /* Columns whose cells tell the sets apart that are normalized, each by its own means
   * (predict_samples_normalize()), NULL-terminated; NULL: nothing is.  Not with log_target. */
  const char *const *sets;
  PredictSettings settings;
  guint calibration_folds;   /* for intervals where nothing is out of bag, or samples come in groups
                                  (samples out of bag then have near copies in it): 10 */
  PredictTrial trial;        /* repeats 0: not evaluated */
  guint permutation_repeats; /* of each feature, for importances by permutation; 0: none */
} PredictRecipe;

typedef struct {
  char *version;            /* of hopcast that trained it */
  char **features, **units; /* [n_features], NULL-terminated; a unit may be "" */
  char *target;
  gboolean log_target;
  char **sets;         /* as in the recipe; NULL: not normalized */
  char *source, *hash; /* of the training table: name, predict_table_hash() of the columns */
  uint64_t n_samples;
  double *smallest, *largest; /* [n_features] of the training samples: outside, predictions are
                                  extrapolated */
  double *importances;        /* [n_features] by impurity; NULL of methods without */
  double *permutation;        /* [n_features] of samples that were not learned from (three folds);
                                  NULL: not asked */
  double out_of_bag_r2;       /* NaN without bootstrap; too good when samples have near copies */
  gboolean evaluated;
  PredictEvaluation evaluation;
  PredictInterval interval;
  /* (element-type PredictCoverage) of intervals at PREDICT_COVERAGE_LEVEL: of all, by prediction, and of columns
   * of texts, the group and the sets.  Empty of more than a million samples; NULL of a model
   * from a file. */
  GArray *coverage;
  PredictFitted *fitted;
} PredictModel;

/* What a training learns from: features and target of the table, normalized if the recipe says so.
 * NULL and *error as predict_samples_from() and predict_table_sets(). */
PredictSamples *
predict_recipe_samples (const PredictTable *table, const PredictRecipe *recipe, GError **error);

/* NULL and *error: a column is missing or not of finite numbers (features of boosting may be NaN, missing, in some
 * rows when there are no sets), a feature is the target or named
 * twice, the settings are wrong, or there are too few groups for the trial.  The bytes of the model
 * do not depend on settings.threads.  With fewer than two groups its intervals are infinite. */
PredictModel *predict_model_train (const PredictTable *table, const PredictRecipe *recipe,
                                   PredictProgress progress, void *progress_data, GError **error);
void predict_model_free (PredictModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictModel, predict_model_free)

/* The predictions of a model for the rows of a table. */
typedef struct {
  double *predicted; /* [n_rows] in the unit of the target; of a model with sets over the mean of
                          * the row's set, which it does not know */
  double *lower, *upper; /* [n_rows]; NULL unless a level was given */
  /* [n_rows] how far outside of the range of the training, as a share of that range, the feature is that is
   * farthest; 0: none is; infinite when it had one value only.  There the interval is wider (interval.h).
   * NULL of a formula */
  double *outside;
  uint64_t n_outside;   /* rows with a feature outside of the range of the training */
  uint64_t *outside_of; /* [n_features] rows outside of that of each; NULL of a formula */
} PredictAnswer;

/* Sets of a model with some are told apart in this table, and normalized by its rows.
 * level 0: no interval.  FALSE and *error when the table lacks a feature (all that are missing are
 * named), or a value or its prediction is not a finite number.  threads as in PredictSettings, 0: one per
 * processor. */
gboolean predict_model_apply (const PredictModel *model, const PredictTable *table, double level,
                              guint threads, PredictAnswer *answer, GError **error);
void predict_answer_clear (PredictAnswer *answer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PredictAnswer, predict_answer_clear)

/* What a model with sets predicts of the rows: observed[n_rows] of its target over the mean of each row's
 * set, as far as it is known (others are NaN).  Of other models a copy.  NULL and *error when the table lacks a column of the sets. */
double *predict_model_observed (const PredictModel *model, const PredictTable *table,
                                const double *observed, GError **error);

/* JSON, "schema": "hopcast.model/1" (doc/handbook/format-model.md).  Doubles are printed so that
 * they read back the same.  FALSE and *error, with nothing written, when predict_model_read() would
 * refuse the result.  Errors of the stream are for its owner to find. */
gboolean predict_model_write (const PredictModel *model, FILE *out, GError **error);
/* NULL and *error: no such file, no JSON, another schema (which is named), or anything in it that
 * would make a prediction wrong. */
PredictModel *predict_model_read (const char *path, GError **error);
