/* forest.h - regression trees: extra-trees, random forests, single trees.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Extra-trees are those of Geurts, Ernst, Wehenkel, "Extremely randomized trees"
 * (2006), table 1, with scikit-learn's rules where the paper is silent: max_features
 * features are drawn, of which those that are constant in the node (span <= 1e-7) are
 * passed over, and drawing goes on until one is not; a cut is uniform between the
 * smallest and the largest value and a sample goes left when its value is <= the cut;
 * a node is a leaf when it has fewer than min_samples_split samples or 2
 * min_samples_leaf, at max_depth, or when its targets are all equal (of any size:
 * scikit-learn compares their variance with 2e-16, which makes leaves of targets in
 * nanoseconds).  A cut that gains nothing is made.  With bootstrap, the limits count
 * different samples.  max_features above the number of features means all. */
#pragma once

#include "predictors/model/method.h"
#include "predictors/table/samples.h"

#include <json-glib/json-glib.h>

/* One node; a tree's nodes lie in preorder: the left child is the next node. */
typedef struct {
  float cut;       /* x <= cut: left.  Of a leaf: 0 */
  int32_t feature; /* -1: a leaf */
  uint32_t right;  /* index of the right child within the tree; of a leaf: its own */
} PredictNode;

typedef struct {
  guint n_features;
  guint n_trees;
  uint64_t *first;    /* [n_trees + 1] where a tree's nodes begin */
  PredictNode *nodes; /* [first[n_trees]] */
  double *values; /* [first[n_trees]] mean target of the samples of a node, also of inner ones */
} PredictForest;

/* Results of fitting that the forest does not hold. */
typedef struct {
  double *importances; /* [n_features] mean decrease of impurity; they add up to 1, or are all 0 */
  guint *depths;       /* [n_trees] */
  guint *leaves;       /* [n_trees] */
  double *out_of_bag;  /* [n_samples] mean over the trees that did not see the sample; NaN: all
                            did.  NULL without bootstrap */
  double *out_of_bag_sd; /* [n_samples] standard deviation over those trees (0 of a single one) */
} PredictForestReport;

/* settings->method is one of the three.  report may be NULL.  The same seed gives the same
 * bytes whatever the threads.  Whole seconds of work with millions of samples; `progress`
 * (may be NULL) is called with the share that is done, from the calling thread. */
typedef void (*PredictProgress) (void *data, double share);
PredictForest *
predict_forest_fit (const PredictSamples *samples, const PredictSettings *settings,
                    PredictForestReport *report, PredictProgress progress, void *progress_data);
void predict_forest_report_clear (PredictForestReport *report);
void predict_forest_free (PredictForest *forest);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictForest, predict_forest_free)

/* predicted[n_samples]; deviation (may be NULL) [n_samples]: standard deviation over the trees.
 * Reads samples->x only.  threads as in PredictSettings, 0: one per processor. */
void predict_forest_predict (const PredictForest *forest, const PredictSamples *samples,
                             guint threads, double *predicted, double *deviation);

/* The same from the trees that did not see a sample, NaN where all did.  in_bag: a bit per sample and
 * tree, [n_trees][(n_samples + 63) / 64]; NULL: no tree saw any. */
void predict_forest_predict_out_of_bag (const PredictForest *forest, const PredictSamples *samples,
                                        const uint64_t *in_bag, guint threads, double *predicted,
                                        double *deviation);

/* As the member "forest" of an object of `builder` (doc/handbook/format-model.md). */
void predict_forest_write (const PredictForest *forest, JsonBuilder *builder);
/* From such an object.  NULL and *error when it is no forest of n_features: children must stand after
 * their parents and within their tree, each node be reached exactly once, cuts and values be finite. */
PredictForest *predict_forest_read (JsonObject *object, guint n_features, GError **error);
