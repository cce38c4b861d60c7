/* forest_best.c - the best cut of each feature.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rows are put in the order of every feature once for all trees.  A node's rows stay
 * in that order when it is divided, so that its cuts are weighed in one pass and
 * nothing is ever sorted again. */
#include "config.h"

#include "predictors/forest/forest_private.h"

#include <math.h>
#include <string.h>

struct PredictBestTools {
  uint32_t *order; /* [n_features][n_drawn] */
  uint32_t *spare; /* [n_samples] */
  uint8_t *left;   /* [n_samples] by row: goes to the left of the cut */
};

struct PredictBestTools *
predict_best_tools_new (const PredictGround *ground)
{
  struct PredictBestTools *tools = g_new (struct PredictBestTools, 1);
  uint64_t n = ground->samples->n_samples;

  tools->order = g_new (uint32_t, n * ground->samples->n_features);
  tools->spare = g_new (uint32_t, n);
  tools->left = g_new (uint8_t, n);
  return tools;
}

void
predict_best_tools_free (struct PredictBestTools *tools)
{
  if (tools == NULL)
    return;
  g_free (tools->order);
  g_free (tools->spare);
  g_free (tools->left);
  g_free (tools);
}

/* Of the order of all rows, those that were drawn. */
void
predict_best_begin (PredictGrower *grower)
{
  const PredictSamples *samples = grower->ground->samples;
  const uint32_t *order = grower->ground->order;
  uint32_t *drawn = grower->best_tools->order;

  for (uint64_t i = 0; i < samples->n_samples * samples->n_features; i++)
    if (grower->weights[order[i]] > 0)
      *drawn++ = order[i];
}

static const uint32_t *
feature_order (const PredictGrower *grower, const PredictCrowd *crowd, guint feature)
{
  return grower->best_tools->order + (size_t) feature * grower->n_drawn + crowd->begin;
}

/* In the middle, but never at the upper value, and at the lower one if there is nothing between. */
static float
middle (float low, float high)
{
  float half = low / 2 + high / 2;

  return half > low && half < high ? half : low;
}

/* Weighs all cuts of a feature; one that gains more than *split takes its place. */
static void
try_feature (const PredictGrower *grower, const PredictCrowd *crowd, guint feature,
             PredictSplit *split)
{
  const PredictGround *ground = grower->ground;
  const float *x = ground->x + feature * ground->feature_stride;
  const uint32_t *order = feature_order (grower, crowd, feature);
  uint32_t least = ground->settings->min_samples_leaf;
  double sum = 0, weight = 0;

  for (uint32_t i = 0; i + least < crowd->n; i++) {
    uint32_t row = order[i];
    float value = x[row], next = x[order[i + 1]];
    double difference, gain;

    sum += grower->weights[row] * (ground->y[row] - crowd->shift);
    weight += grower->weights[row];
    if (predict_is_constant (value, next) || i + 1 < least)
      continue;
    difference = crowd->weight * sum - weight * crowd->sum;
    gain = difference * difference / (weight * (crowd->weight - weight));
    if (split->gain < 0 || gain > split->gain * (1 + PREDICT_TIE))
      *split = (PredictSplit){ feature, middle (value, next), gain };
  }
}

bool
predict_best_split (PredictGrower *grower, const PredictCrowd *crowd, PredictSplit *split)
{
  const PredictGround *ground = grower->ground;
  bool any = false;

  *split = (PredictSplit){ .gain = -1 };
  for (guint n_tried = 0;
       n_tried < ground->samples->n_features && (n_tried < ground->max_features || !any);
       n_tried++) {
    guint feature = predict_grower_next_feature (grower, n_tried);
    const float *x = ground->x + feature * ground->feature_stride;
    const uint32_t *order = feature_order (grower, crowd, feature);

    if (predict_is_constant (x[order[0]], x[order[crowd->n - 1]]))
      continue;
    any = true;
    try_feature (grower, crowd, feature, split);
  }
  return split->gain >= 0;
}

/* Stable, and without a branch that nobody could foretell. */
static void
order_divide (uint32_t *order, uint32_t n, const uint8_t *left, uint32_t *spare)
{
  uint32_t n_left = 0, n_right = 0;

  for (uint32_t i = 0; i < n; i++) {
    uint32_t row = order[i];

    order[n_left] = row;
    spare[n_right] = row;
    n_left += left[row];
    n_right += !left[row];
  }
  memcpy (order + n_left, spare, n_right * sizeof *order);
}

void
predict_best_divide (PredictGrower *grower, const PredictCrowd *crowd, const PredictSplit *split)
{
  const PredictGround *ground = grower->ground;
  struct PredictBestTools *tools = grower->best_tools;
  const float *x = ground->x + split->feature * ground->feature_stride;

  for (uint32_t i = 0; i < crowd->n; i++) {
    uint32_t row = grower->drawn[crowd->begin + i].row;

    tools->left[row] = x[row] <= split->cut;
  }
  for (guint feature = 0; feature < ground->samples->n_features; feature++)
    order_divide (tools->order + (size_t) feature * grower->n_drawn + crowd->begin, crowd->n,
                  tools->left, tools->spare);
}
