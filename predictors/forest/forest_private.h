/* forest_private.h - what the files of the forest share.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   forest_fit.c       threads, trees put together
 *   forest_ground.c    what all trees grow on, and what one draws of it
 *   forest_grow.c      one tree: nodes in preorder
 *   forest_random.c    extra-trees: a random cut of each feature
 *   forest_best.c      the best cut of each feature
 *   forest_lanes.c     sixteen features of a node at a time
 *   forest_descend.c   what a tree says about many samples
 *   forest_predict.c   means over the trees, out of bag too */
#pragma once

#include "predictors/forest/forest.h"
#include "predictors/forest/forest_lanes.h"

/* Gains that differ by less than this share are equal: chance chooses, not rounding. */
#define PREDICT_TIE 1e-12

/* What all trees grow on; only read by them. */
typedef struct {
  const PredictSamples *samples;
  const PredictSettings *settings;
  guint max_features; /* 1 ... n_features */
  bool best;          /* cuts are the best ones, not random */
  double *y;          /* [n_samples] targets / unit, below 2 in size */
  double unit;        /* a power of two */
  const float *x;     /* value of a row's feature: x[row row_stride + feature feature_stride] */
  size_t row_stride, feature_stride;
  float *rows;      /* of random cuts: x by rows; else NULL */
  uint32_t *order;  /* of best cuts: [n_features][n_samples] rows by ascending value; else NULL */
  uint64_t *in_bag; /* [trees][n_words] bit per sample that a tree saw; NULL without bootstrap */
  size_t n_words;
} PredictGround;

void predict_ground_init (PredictGround *ground, const PredictSamples *samples,
                          const PredictSettings *settings);
void predict_ground_clear (PredictGround *ground);

typedef struct {
  guint feature;
  float cut;
  double gain; /* (weight sum_left - weight_left sum)^2 / (weight_left weight_right) */
} PredictSplit;

/* One thread's tools, and the tree that it grows. */
typedef struct {
  const PredictGround *ground;
  BaseRandom random;
  PredictDrawn *drawn; /* [n_drawn] those of a node are together */
  uint32_t n_drawn;
  PredictDrawn *spare; /* [n_samples] */
  uint32_t *weights;   /* [n_samples] by row */
  guint *features;     /* [n_features] a permutation: those tried in a node are in front */
  struct PredictRandomTools *random_tools; /* of random cuts; else NULL */
  struct PredictBestTools *best_tools;     /* of best cuts; else NULL */

  PredictNode *nodes; /* [n_nodes] */
  double *values;     /* [n_nodes] */
  uint32_t n_nodes, capacity;
  double *importances; /* [n_features], where they are wanted */
  guint depth, n_leaves;
} PredictGrower;

PredictGrower *predict_grower_new (const PredictGround *ground);
void predict_grower_free (PredictGrower *grower);
/* Grows tree number `tree`, which replaces the one before; importances[n_features]. */
void predict_grower_grow (PredictGrower *grower, guint tree, double *importances);

/* The samples of tree number `tree`, drawn with the grower's random numbers, with their weights. */
void predict_ground_draw (PredictGrower *grower, guint tree);

/* Swaps a feature not yet tried in this node to place `n_tried`, and returns it. */
static inline guint
predict_grower_next_feature (PredictGrower *grower, guint n_tried)
{
  guint n = grower->ground->samples->n_features;
  guint at = n_tried + (guint) base_random_below (&grower->random, n - n_tried);
  guint feature = grower->features[at];

  grower->features[at] = grower->features[n_tried];
  grower->features[n_tried] = feature;
  return feature;
}

/* FALSE: no cut divides the crowd as the settings want. */
struct PredictRandomTools *predict_random_tools_new (const PredictGround *ground);
void predict_random_tools_free (struct PredictRandomTools *tools);
bool predict_random_split (PredictGrower *grower, const PredictCrowd *crowd, PredictSplit *split);

struct PredictBestTools *predict_best_tools_new (const PredictGround *ground);
void predict_best_tools_free (struct PredictBestTools *tools);
void predict_best_begin (PredictGrower *grower);
bool predict_best_split (PredictGrower *grower, const PredictCrowd *crowd, PredictSplit *split);
/* The crowd is divided: its rows in the order of each feature, too. */
void
predict_best_divide (PredictGrower *grower, const PredictCrowd *crowd, const PredictSplit *split);

/* --- Descending --- */

/* Some samples, made ready to be asked about. */
typedef struct PredictRows PredictRows;

/* Samples first ... first + n - 1, which are borrowed; n > 0. */
PredictRows *predict_rows_new (const PredictSamples *samples, uint64_t first, uint32_t n);
void predict_rows_free (PredictRows *rows);

/* said[n]: the value of the leaf that each comes to. */
void
predict_rows_ask (PredictRows *rows, const PredictNode *tree, const double *values, double *said);

/* Fills report->out_of_bag and out_of_bag_sd. */
void predict_forest_out_of_bag (const PredictForest *forest, const PredictGround *ground,
                                PredictForestReport *report);
