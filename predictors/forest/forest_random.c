/* forest_random.c - extra-trees: a random cut of each feature.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two passes over the samples of a node for sixteen features at a time: their ranges,
 * then the sums left of a cut that is drawn within each range. */
#include "config.h"

#include "predictors/forest/forest_private.h"

#include <string.h>

struct PredictRandomTools {
  const PredictLanes *lanes;
  guint n_blocks;
  PredictBlock *blocks; /* [n_blocks]; features that are not there are never tried */
};

struct PredictRandomTools *
predict_random_tools_new (const PredictGround *ground)
{
  struct PredictRandomTools *tools = g_new0 (struct PredictRandomTools, 1);
  guint n_features = ground->samples->n_features;

  tools->lanes = predict_lanes ();
  tools->n_blocks = (n_features + PREDICT_LANES - 1) / PREDICT_LANES;
  tools->blocks = g_new0 (PredictBlock, tools->n_blocks);
  for (guint feature = 0; feature < n_features; feature++)
    tools->blocks[feature / PREDICT_LANES].tried[feature % PREDICT_LANES] = 1;
  return tools;
}

void
predict_random_tools_free (struct PredictRandomTools *tools)
{
  if (tools == NULL)
    return;
  g_free (tools->blocks);
  g_free (tools);
}

static void
try_none (struct PredictRandomTools *tools)
{
  for (guint block = 0; block < tools->n_blocks; block++)
    memset (tools->blocks[block].tried, 0, sizeof tools->blocks[block].tried);
}

static void
choose_features (PredictGrower *grower)
{
  struct PredictRandomTools *tools = grower->random_tools;

  if (grower->ground->max_features == grower->ground->samples->n_features)
    return;
  try_none (tools);
  for (guint n_tried = 0; n_tried < grower->ground->max_features; n_tried++) {
    guint feature = predict_grower_next_feature (grower, n_tried);

    tools->blocks[feature / PREDICT_LANES].tried[feature % PREDICT_LANES] = 1;
  }
}

static void
forget_gains (PredictBlock *block)
{
  for (guint lane = 0; lane < PREDICT_LANES; lane++)
    block->gain[lane] = -1;
}

/* Draws and weighs cuts of the features that are tried; false: all are constant. */
static bool
try_features (PredictGrower *grower, const PredictCrowd *crowd)
{
  const struct PredictRandomTools *tools = grower->random_tools;
  const PredictGround *ground = grower->ground;
  const PredictDrawn *drawn = grower->drawn + crowd->begin;
  bool any = false;

  for (guint i = 0; i < tools->n_blocks; i++) {
    PredictBlock *block = &tools->blocks[i];
    const float *x = ground->rows + (size_t) i * PREDICT_LANES;

    tools->lanes->range (block, x, ground->row_stride, drawn, crowd);
    if (!tools->lanes->draw (block, &grower->random)) {
      forget_gains (block);
      continue;
    }
    any = true;
    tools->lanes->add (block, x, ground->row_stride, drawn, crowd);
    tools->lanes->weigh (block, crowd, ground->settings->min_samples_leaf);
  }
  return any;
}

/* Where all that were drawn are constant, drawing goes on to the first that is not: any of those,
 * with equal chances.  False: there is none. */
static bool
choose_another (PredictGrower *grower)
{
  struct PredictRandomTools *tools = grower->random_tools;
  guint n_features = grower->ground->samples->n_features, n_varying = 0, chosen = 0;

  for (guint feature = 0; feature < n_features; feature++) {
    const PredictBlock *block = &tools->blocks[feature / PREDICT_LANES];
    guint lane = feature % PREDICT_LANES;

    if (!predict_is_constant (block->low[lane], block->high[lane]) &&
        base_random_below (&grower->random, ++n_varying) == 0)
      chosen = feature;
  }
  if (n_varying == 0)
    return false;
  try_none (tools);
  tools->blocks[chosen / PREDICT_LANES].tried[chosen % PREDICT_LANES] = 1;
  return true;
}

static double
best_gain (const struct PredictRandomTools *tools)
{
  double best[4] = { -1, -1, -1, -1 }; /* strands that do not wait for each other */

  for (guint i = 0; i < tools->n_blocks; i++)
    for (guint lane = 0; lane < PREDICT_LANES; lane++) {
      double gain = tools->blocks[i].gain[lane];

      best[lane % 4] = gain > best[lane % 4] ? gain : best[lane % 4];
    }
  return MAX (MAX (best[0], best[1]), MAX (best[2], best[3]));
}

static guint
count_of (const struct PredictRandomTools *tools, double least)
{
  guint n = 0;

  for (guint i = 0; i < tools->n_blocks; i++)
    for (guint lane = 0; lane < PREDICT_LANES; lane++)
      n += tools->blocks[i].gain[lane] >= least;
  return n;
}

/* The largest gain; chance decides between equal ones. */
static bool
choose_split (PredictGrower *grower, PredictSplit *split)
{
  const struct PredictRandomTools *tools = grower->random_tools;
  double best = best_gain (tools), least = best * (1 - PREDICT_TIE);
  guint n_equal = count_of (tools, least);
  uint64_t chosen = n_equal > 1 ? base_random_below (&grower->random, n_equal) : 0;

  if (best < 0)
    return false;
  for (guint feature = 0;; feature++) {
    const PredictBlock *block = &tools->blocks[feature / PREDICT_LANES];
    guint lane = feature % PREDICT_LANES;

    if (block->gain[lane] >= least && chosen-- == 0) {
      *split = (PredictSplit){ feature, block->cut[lane], block->gain[lane] };
      return true;
    }
  }
}

bool
predict_random_split (PredictGrower *grower, const PredictCrowd *crowd, PredictSplit *split)
{
  choose_features (grower);
  if (!try_features (grower, crowd) && !(choose_another (grower) && try_features (grower, crowd)))
    return false;
  return choose_split (grower, split);
}
