/* forest_lanes_test.c - every kind of processor comes to the same bytes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/forest/forest_lanes.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define N_ROWS   100u
#define N_LOADED (N_ROWS * 20 + PREDICT_LANES) /* rows of 20 floats */

typedef struct {
  float x[N_LOADED];
  PredictTreeSample drawn[N_ROWS];
  PredictNodeSamples samples;
} Node;

/* Values in steps, so that some are equal to each other and to zero. */
static void
node_draw (Node *node, BaseRandom *random, uint32_t n)
{
  node->samples = (PredictNodeSamples){ .n = n, .shift = 0.25, .weight = 0 };
  for (guint i = 0; i < N_LOADED; i++)
    node->x[i] = (float) base_random_below (random, 17) - 8;
  for (uint32_t i = 0; i < n; i++) {
    node->drawn[i] = (PredictTreeSample){ base_random_unit (random) - 0.5,
                                          (uint32_t) base_random_below (random, N_ROWS),
                                          1 + (uint32_t) base_random_below (random, 3) };
    node->samples.weight += node->drawn[i].weight;
    node->samples.sum += node->drawn[i].weight * (node->drawn[i].y - 0.25);
  }
}

static PredictBlock
block_make (const PredictLanes *lanes, const Node *node, uint64_t seed)
{
  PredictBlock block;
  BaseRandom random = { seed };

  memset (&block, 0, sizeof block);
  for (guint lane = 0; lane < PREDICT_LANES; lane++)
    block.tried[lane] = lane % 5 != 4;
  lanes->range (&block, node->x + 3, 20, node->drawn, &node->samples);
  lanes->draw (&block, &random);
  lanes->add (&block, node->x + 3, 20, node->drawn, &node->samples);
  lanes->weigh (&block, &node->samples, 2);
  return block;
}

static void
test_same_bytes (void)
{
  BaseRandom random = { 1 };
  const PredictLanes *plain = predict_lanes ();
  Node node;

  while (plain[1].name)
    plain++;
  g_assert_cmpstr (plain->name, ==, "plain");
  for (uint32_t n = 1; n < N_ROWS; n += 1 + n / 8) {
    PredictBlock expected;

    node_draw (&node, &random, n);
    expected = block_make (plain, &node, n);
    for (const PredictLanes *lanes = predict_lanes (); lanes->name; lanes++) {
      PredictBlock block = block_make (lanes, &node, n);

      g_assert_cmpmem (&block, sizeof block, &expected, sizeof expected);
    }
  }
}

/* One lane by hand, of every processor. */
static void
test_a_block (void)
{
  for (const PredictLanes *lanes = predict_lanes (); lanes->name; lanes++) {
    BaseRandom random = { 5 };
    PredictBlock block = { .tried = { 1, 1, 0 } };
    float x[3 * PREDICT_LANES] = { 0 };
    const PredictTreeSample drawn[] = { { 1, 0, 1 }, { 4, 1, 2 }, { 2, 2, 1 } };
    const PredictNodeSamples samples = { .n = 3, .weight = 4, .shift = 1, .sum = 0 + 2 * 3 + 1 };

    for (guint row = 0; row < 3; row++) { /* lanes 0 and 2: 5, 6, 7; lane 1: constant */
      x[row * PREDICT_LANES] = x[row * PREDICT_LANES + 2] = 5 + (float) row;
      x[row * PREDICT_LANES + 1] = -3;
    }
    lanes->range (&block, x, PREDICT_LANES, drawn, &samples);
    g_assert_cmpfloat (block.low[0], ==, 5);
    g_assert_cmpfloat (block.high[0], ==, 7);
    g_assert_true (lanes->draw (&block, &random));
    g_assert_true (block.cut[0] >= 5 && block.cut[0] < 7);
    g_assert_true (isinf (block.cut[1]) && isinf (block.cut[2])); /* constant, not tried */
    block.cut[0] = 6;
    lanes->add (&block, x, PREDICT_LANES, drawn, &samples);
    g_assert_cmpfloat (block.sum[0], ==, 6);
    g_assert_cmpuint (block.weight[0], ==, 3);
    g_assert_cmpuint (block.samples[0], ==, 2);
    lanes->weigh (&block, &samples, 1);
    /* (4 x 6 - 3 x 7)^2 / (3 x 1) */
    g_assert_cmpfloat_with_epsilon (block.gain[0], 3, 1e-12);
    g_assert_cmpfloat (block.gain[1], <, 0);
    lanes->weigh (&block, &samples, 2); /* one sample is left on the right */
    g_assert_cmpfloat (block.gain[0], <, 0);
  }
}

/* Cuts are uniform: the mean of 16 x 1,000 within four standard errors, none outside. */
static void
test_cuts_are_uniform (void)
{
  BaseRandom random = { 9 };
  PredictBlock block;
  double sum = 0, squares = 0;

  for (guint lane = 0; lane < PREDICT_LANES; lane++) {
    block.low[lane] = -1;
    block.high[lane] = 3;
    block.tried[lane] = 1;
  }
  for (guint i = 0; i < 1000; i++) {
    g_assert_true (predict_lanes ()->draw (&block, &random));
    for (guint lane = 0; lane < PREDICT_LANES; lane++) {
      double at = ((double) block.cut[lane] + 1) / 4;

      g_assert_true (at >= 0 && at < 1);
      sum += at / 16000;
      squares += at * at / 16000;
    }
  }
  g_assert_cmpfloat (fabs (sum - 0.5), <, 4 * sqrt (1 / 12.0 / 16000));
  g_assert_cmpfloat (fabs (squares - 1 / 3.0), <, 4 * sqrt (4 / 45.0 / 16000));
}

/* The span of two huge values is no float. */
static void
test_huge_range (void)
{
  const float huge = 3.4e38f;

  for (const PredictLanes *lanes = predict_lanes (); lanes->name; lanes++) {
    BaseRandom random = { 2 };
    PredictBlock block = { .low = { -huge }, .high = { huge }, .tried = { 1 } };

    g_assert_true (lanes->draw (&block, &random));
    g_assert_true (isfinite (block.cut[0]));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/forest-lanes/same-bytes", test_same_bytes);
  g_test_add_func ("/predictors/forest-lanes/block", test_a_block);
  g_test_add_func ("/predictors/forest-lanes/uniform", test_cuts_are_uniform);
  g_test_add_func ("/predictors/forest-lanes/huge", test_huge_range);
  return g_test_run ();
}
