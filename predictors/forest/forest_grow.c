/* forest_grow.c - one tree: nodes in preorder.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/forest/forest_private.h"

#include <string.h>

#define NO_PARENT UINT32_MAX

/* A node that is still to be made. */
typedef struct {
  uint32_t begin, n;
  uint32_t parent; /* whose right child it is; NO_PARENT of left ones and the root */
  guint depth;
} Pending;

PredictGrower *
predict_grower_new (const PredictGround *ground)
{
  PredictGrower *grower = g_new0 (PredictGrower, 1);
  guint n_features = ground->samples->n_features;

  grower->ground = ground;
  grower->drawn = g_new (PredictDrawn, ground->samples->n_samples);
  grower->spare = g_new (PredictDrawn, ground->samples->n_samples);
  grower->weights = g_new (uint32_t, ground->samples->n_samples);
  grower->features = g_new (guint, n_features);
  if (ground->best)
    grower->best_tools = predict_best_tools_new (ground);
  else
    grower->random_tools = predict_random_tools_new (ground);
  return grower;
}

void
predict_grower_free (PredictGrower *grower)
{
  g_free (grower->drawn);
  g_free (grower->spare);
  g_free (grower->weights);
  g_free (grower->features);
  predict_best_tools_free (grower->best_tools);
  predict_random_tools_free (grower->random_tools);
  g_free (grower->nodes);
  g_free (grower->values);
  g_free (grower);
}

static uint32_t
node_add (PredictGrower *grower, double value)
{
  if (grower->n_nodes == grower->capacity) {
    grower->capacity = MAX (64, grower->capacity + grower->capacity / 2);
    grower->nodes = g_renew (PredictNode, grower->nodes, grower->capacity);
    grower->values = g_renew (double, grower->values, grower->capacity);
  }
  /* As long as nothing else is known, it is a leaf, whose right child is itself. */
  grower->nodes[grower->n_nodes] = (PredictNode){ 0, -1, grower->n_nodes };
  grower->values[grower->n_nodes] = value;
  return grower->n_nodes++;
}

/* Sums in four strands, which do not wait for each other. */
static PredictCrowd
crowd_of (const PredictDrawn *drawn, uint32_t begin, uint32_t n)
{
  double shift = drawn[begin].y;
  double sum[4] = { 0 }, squares[4] = { 0 };
  uint64_t weight[4] = { 0 };

  for (uint32_t i = 0; i < n; i++) {
    const PredictDrawn *one = &drawn[begin + i];
    double y = one->y - shift;

    sum[i % 4] += one->weight * y;
    squares[i % 4] += y * y;
    weight[i % 4] += one->weight;
  }
  return (PredictCrowd){
    .begin = begin,
    .n = n,
    .weight = (double) (weight[0] + weight[1] + weight[2] + weight[3]),
    .shift = shift,
    .sum = sum[0] + sum[1] + (sum[2] + sum[3]),
    .pure = squares[0] + squares[1] + squares[2] + squares[3] == 0,
  };
}

/* Puts those with x <= cut first, without a branch that nobody could foretell; their number.  Rows
 * stay in ascending order, which is how memory is read best. */
static uint32_t
divide (PredictGrower *grower, const PredictCrowd *crowd, const PredictSplit *split)
{
  const PredictGround *ground = grower->ground;
  const float *x = ground->x + split->feature * ground->feature_stride;
  PredictDrawn *drawn = grower->drawn + crowd->begin;
  uint32_t n_left = 0;

  for (uint32_t i = 0; i < crowd->n; i++) {
    PredictDrawn one = drawn[i];
    uint32_t is_left = x[one.row * ground->row_stride] <= split->cut;

    drawn[n_left] = one;
    grower->spare[i - n_left] = one;
    n_left += is_left;
  }
  memcpy (drawn + n_left, grower->spare, (crowd->n - n_left) * sizeof *drawn);
  return n_left;
}

static bool
split_find (PredictGrower *grower, const PredictCrowd *crowd, guint depth, PredictSplit *split)
{
  const PredictSettings *settings = grower->ground->settings;

  if (crowd->pure || (settings->max_depth > 0 && depth >= settings->max_depth) ||
      crowd->n < settings->min_samples_split || crowd->n / 2 < settings->min_samples_leaf)
    return false;
  return grower->ground->best ? predict_best_split (grower, crowd, split)
                              : predict_random_split (grower, crowd, split);
}

/* Makes the node, and the two below it pending. */
static void
node_make (PredictGrower *grower, const Pending *it, GArray *pending)
{
  PredictCrowd crowd = crowd_of (grower->drawn, it->begin, it->n);
  double mean = crowd.shift + crowd.sum / crowd.weight;
  uint32_t node = node_add (grower, mean * grower->ground->unit);
  PredictSplit split;
  Pending left = { it->begin, 0, NO_PARENT, it->depth + 1 }, right = left;

  if (it->parent != NO_PARENT)
    grower->nodes[it->parent].right = node;
  grower->depth = MAX (grower->depth, it->depth);
  if (!split_find (grower, &crowd, it->depth, &split)) {
    grower->n_leaves++;
    return;
  }
  grower->nodes[node].cut = split.cut;
  grower->nodes[node].feature = (int32_t) split.feature;
  grower->importances[split.feature] += split.gain / crowd.weight;
  left.n = divide (grower, &crowd, &split);
  if (grower->ground->best)
    predict_best_divide (grower, &crowd, &split);
  right = (Pending){ it->begin + left.n, it->n - left.n, node, it->depth + 1 };
  g_array_append_val (pending, right);
  g_array_append_val (pending, left);
}

/* scikit-learn's: the decrease of the impurity at a feature's cuts, as shares of all. */
static void
importances_normalise (double *importances, guint n)
{
  double sum = 0;

  for (guint feature = 0; feature < n; feature++)
    sum += importances[feature];
  for (guint feature = 0; feature < n && sum > 0; feature++)
    importances[feature] /= sum;
}

void
predict_grower_grow (PredictGrower *grower, guint tree, double *importances)
{
  const PredictGround *ground = grower->ground;
  guint n_features = ground->samples->n_features;
  g_autoptr (GArray) pending = g_array_new (FALSE, FALSE, sizeof (Pending));
  Pending it = { .parent = NO_PARENT };

  grower->random = base_random_stream (ground->settings->seed, tree);
  for (guint feature = 0; feature < n_features; feature++)
    grower->features[feature] = feature;
  grower->n_nodes = 0;
  grower->depth = 0;
  grower->n_leaves = 0;
  grower->importances = importances;
  predict_ground_draw (grower, tree);
  if (ground->best)
    predict_best_begin (grower);
  it.n = grower->n_drawn;
  g_array_append_val (pending, it);
  while (pending->len > 0) {
    it = g_array_index (pending, Pending, pending->len - 1);
    g_array_set_size (pending, pending->len - 1);
    node_make (grower, &it, pending);
  }
  importances_normalise (importances, n_features);
}
