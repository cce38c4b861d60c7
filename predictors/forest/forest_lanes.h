/* forest_lanes.h - sixteen features of a node's samples at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Samples lie by rows, so that sixteen features of a sample are one cache line and a node,
 * whose samples lie anywhere, reads whole lines.  A lane is a feature: each adds up the
 * samples in their order by itself, so that vectors of any width give the same sums. */
#pragma once

#include "base/random.h"

#include <stdbool.h>
#include <stddef.h>

#define PREDICT_LANES 16

/* A sample as one tree has it. */
typedef struct {
  double y;        /* target, scaled to below 2 in size */
  uint32_t row;    /* of the samples */
  uint32_t weight; /* how often the tree drew it */
} PredictTreeSample;

/* Sixteen features of a node. */
typedef struct {
  float low[PREDICT_LANES], high[PREDICT_LANES]; /* smallest and largest value */
  uint32_t tried[PREDICT_LANES];                 /* 1: a cut may be drawn, 0: not */
  float cut[PREDICT_LANES];                      /* -infinity: none was */
  /* Of the samples with x <= cut: */
  double sum[PREDICT_LANES]; /* of weight (y - shift) */
  uint32_t weight[PREDICT_LANES], samples[PREDICT_LANES];
  double gain[PREDICT_LANES]; /* below 0: no cut, or not one that the settings allow */
} PredictBlock;

/* The samples of a node. */
typedef struct {
  uint32_t begin, n; /* drawn[begin ... begin + n - 1] */
  double weight;     /* sum of the weights */
  double shift; /* the target of one of them: sums of y - shift lose no digits to a large mean */
  double sum;   /* of weight (y - shift) */
  bool pure;    /* all targets are equal */
} PredictNodeSamples;

/* The steps for a block, in this order.  x points to the first of its features in
 * row 0, rows are `stride` floats apart, and reading sixteen floats of any row is allowed. */
typedef struct {
  const char *name;
  /* low and high; the node has samples. */
  void (*range) (PredictBlock *block, const float *x, size_t stride, const PredictTreeSample *drawn,
                 const PredictNodeSamples *node);
  /* A cut, uniform from low to high, of each feature that is tried and varies; whether
   * there is one. */
  bool (*draw) (PredictBlock *block, BaseRandom *random);
  /* sum, weight and samples. */
  void (*add) (PredictBlock *block, const float *x, size_t stride, const PredictTreeSample *drawn,
               const PredictNodeSamples *node);
  /* Gains of cuts that leave at least so many samples on either side. */
  void (*weigh) (PredictBlock *block, const PredictNodeSamples *node, uint32_t least);
} PredictLanes;

/* A feature whose span in a node is not above this is constant there (scikit-learn). */
#define PREDICT_CONSTANT_SPAN 1e-7f

static inline bool
predict_is_constant (float low, float high)
{
  return high <= low + PREDICT_CONSTANT_SPAN;
}

/* The variants that this processor supports, the best first; the last has no name. */
const PredictLanes *predict_lanes (void);
