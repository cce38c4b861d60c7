/* forest_grow.c - learning a forest: every tree from the samples that it draws.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * In order: the training data as all trees read it; random cuts (extra-trees) and best cuts (random
 * forests, single trees) of a node; one tree, its nodes in preorder; the trees of all threads put
 * together. */
#include "predictors/forest/forest.h"
#include "predictors/forest/forest_lanes.h"
#include "predictors/forest/sort_rows.h"
#include "predictors/forest/work_threads.h"

#include <math.h>
#include <string.h>

/* Gains that differ by less than this share are equal: chance chooses, not rounding. */
#define TIE 1e-12

/* The samples as trees read them; shared by all threads. */
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
} Training;

typedef struct {
  guint feature;
  float cut;
  double gain; /* (weight sum_left - weight_left sum)^2 / (weight_left weight_right) */
} Split;

/* One thread's memory, and the tree that it grows. */
typedef struct {
  const Training *training;
  BaseRandom random;
  PredictTreeSample *drawn; /* [n_drawn] those of a node are together */
  uint32_t n_drawn;
  PredictTreeSample *spare; /* [n_samples] */
  uint32_t *weights;        /* [n_samples] by row */
  guint *features;          /* [n_features] a permutation: those tried in a node are in front */

  /* Of random cuts: */
  const PredictLanes *lanes;
  guint n_blocks;
  PredictBlock *blocks; /* [n_blocks]; features that are not there are never tried */

  /* Of best cuts: */
  uint32_t *order;       /* [n_features][n_drawn] */
  uint32_t *order_spare; /* [n_samples] */
  uint8_t *left;         /* [n_samples] by row: goes to the left of the cut */

  PredictNode *nodes; /* [n_nodes] */
  double *values;     /* [n_nodes] */
  uint32_t n_nodes, capacity;
  double *importances; /* [n_features] */
  guint depth, n_leaves;
} Grower;

/* --- Training data --- */

/* Features by rows, for random cuts.  A row is at most a cache line, or some whole ones; some rows are
 * copied at a time, so that the lines that are written stay in the cache. */
static void
copy_by_rows (Training *training)
{
  enum { TOGETHER = 64 };
  const PredictSamples *samples = training->samples;
  uint64_t n = samples->n_samples;
  guint n_features = samples->n_features;
  size_t stride = 1;
  void *block = NULL;
  float *rows;

  if (n_features >= PREDICT_LANES)
    stride = (n_features + PREDICT_LANES - 1) / PREDICT_LANES * (size_t) PREDICT_LANES;
  while (stride < n_features)
    stride *= 2;
  if (posix_memalign (&block, 64, (n * stride + PREDICT_LANES) * sizeof (float)) != 0)
    g_error ("no memory for %zu values", (size_t) (n * stride + PREDICT_LANES));
  rows = block;
  for (uint64_t first = 0; first < n; first += TOGETHER) {
    uint64_t end = MIN (n, first + TOGETHER);

    memset (rows + first * stride, 0, (end - first) * stride * sizeof *rows);
    for (guint feature = 0; feature < n_features; feature++)
      for (uint64_t row = first; row < end; row++)
        rows[row * stride + feature] = samples->x[feature * n + row];
  }
  memset (rows + n * stride, 0, PREDICT_LANES * sizeof *rows);
  training->rows = rows;
  training->x = rows;
  training->row_stride = stride;
  training->feature_stride = 1;
}

static void
training_init (Training *training, const PredictSamples *samples, const PredictSettings *settings)
{
  guint wanted = settings->max_features;
  uint64_t n = samples->n_samples;
  double largest = 0;
  int exponent;

  *training = (Training){ .samples = samples, .settings = settings };
  training->max_features = wanted == 0 ? samples->n_features : MIN (wanted, samples->n_features);
  training->best = settings->method != PREDICT_EXTRA_TREES;

  /* A power of two changes no digit, and keeps squares of large targets finite. */
  for (uint64_t i = 0; i < n; i++)
    largest = fmax (largest, fabs (samples->y[i]));
  frexp (largest, &exponent);
  training->unit = ldexp (1, exponent - 1);
  training->y = g_new (double, n);
  for (uint64_t i = 0; i < n; i++)
    training->y[i] = ldexp (samples->y[i], 1 - exponent);

  if (training->best) {
    g_autofree uint32_t *spare = g_new (uint32_t, n);

    training->order = g_new (uint32_t, n * samples->n_features);
    for (guint feature = 0; feature < samples->n_features; feature++)
      predict_sort_rows (samples->x + feature * n, n, training->order + feature * n, spare);
    training->x = samples->x;
    training->row_stride = 1;
    training->feature_stride = n;
  } else
    copy_by_rows (training);
  if (settings->bootstrap) {
    training->n_words = (n + 63) / 64;
    training->in_bag = g_new0 (uint64_t, training->n_words * settings->trees);
  }
}

/* Swaps a feature not yet tried in this node to place `n_tried`, and returns it. */
static inline guint
next_feature (Grower *grower, guint n_tried)
{
  guint n = grower->training->samples->n_features;
  guint at = n_tried + (guint) base_random_below (&grower->random, n - n_tried);
  guint feature = grower->features[at];

  grower->features[at] = grower->features[n_tried];
  grower->features[n_tried] = feature;
  return feature;
}

/* --- Random cuts ---
 *
 * Two passes over the samples of a node for sixteen features at a time: their ranges,
 * then the sums left of a cut that is drawn within each range. */

static void
try_no_feature (Grower *grower)
{
  for (guint block = 0; block < grower->n_blocks; block++)
    memset (grower->blocks[block].tried, 0, sizeof grower->blocks[block].tried);
}

static void
try_feature (Grower *grower, guint feature)
{
  grower->blocks[feature / PREDICT_LANES].tried[feature % PREDICT_LANES] = 1;
}

/* Draws and weighs cuts of the features that are tried; false: all are constant. */
static bool
draw_cuts (Grower *grower, const PredictNodeSamples *node)
{
  const Training *training = grower->training;
  const PredictTreeSample *drawn = grower->drawn + node->begin;
  bool any = false;

  for (guint i = 0; i < grower->n_blocks; i++) {
    PredictBlock *block = &grower->blocks[i];
    const float *x = training->rows + (size_t) i * PREDICT_LANES;

    grower->lanes->range (block, x, training->row_stride, drawn, node);
    if (!grower->lanes->draw (block, &grower->random)) {
      for (guint lane = 0; lane < PREDICT_LANES; lane++)
        block->gain[lane] = -1;
      continue;
    }
    any = true;
    grower->lanes->add (block, x, training->row_stride, drawn, node);
    grower->lanes->weigh (block, node, training->settings->min_samples_leaf);
  }
  return any;
}

/* The cut with the largest gain among random ones; chance decides between equal gains.  False: all
 * features are constant, or no cut is allowed. */
static bool
find_random_split (Grower *grower, const PredictNodeSamples *node, Split *split)
{
  guint n_features = grower->training->samples->n_features;
  guint n_tried = grower->training->max_features, n_equal = 0;
  double best[4] = { -1, -1, -1, -1 }; /* independent strands */
  double largest, least;
  uint64_t chosen;

  if (n_tried < n_features) {
    try_no_feature (grower);
    for (guint i = 0; i < n_tried; i++)
      try_feature (grower, next_feature (grower, i));
  }
  if (!draw_cuts (grower, node)) {
    /* All features drawn so far are constant.  Drawing would go on to the first that varies, which is
     * any of those with equal chances. */
    guint n_varying = 0, varying = 0;

    for (guint feature = 0; feature < n_features; feature++) {
      const PredictBlock *block = &grower->blocks[feature / PREDICT_LANES];
      guint lane = feature % PREDICT_LANES;

      if (!predict_is_constant (block->low[lane], block->high[lane]) &&
          base_random_below (&grower->random, ++n_varying) == 0)
        varying = feature;
    }
    if (n_varying == 0)
      return false;
    try_no_feature (grower);
    try_feature (grower, varying);
    if (!draw_cuts (grower, node))
      return false;
  }
  for (guint i = 0; i < grower->n_blocks; i++)
    for (guint lane = 0; lane < PREDICT_LANES; lane++) {
      double gain = grower->blocks[i].gain[lane];

      best[lane % 4] = gain > best[lane % 4] ? gain : best[lane % 4];
    }
  largest = MAX (MAX (best[0], best[1]), MAX (best[2], best[3]));
  least = largest * (1 - TIE);
  for (guint i = 0; i < grower->n_blocks; i++)
    for (guint lane = 0; lane < PREDICT_LANES; lane++)
      n_equal += grower->blocks[i].gain[lane] >= least;
  chosen = n_equal > 1 ? base_random_below (&grower->random, n_equal) : 0;
  if (largest < 0)
    return false;
  for (guint feature = 0;; feature++) {
    const PredictBlock *block = &grower->blocks[feature / PREDICT_LANES];
    guint lane = feature % PREDICT_LANES;

    if (block->gain[lane] >= least && chosen-- == 0) {
      *split = (Split){ feature, block->cut[lane], block->gain[lane] };
      return true;
    }
  }
}

/* --- Best cuts ---
 *
 * Rows are put in the order of every feature once for all trees.  A node's rows stay
 * in that order when it is divided, so that its cuts are weighed in one pass and
 * nothing is ever sorted again. */

static uint32_t *
feature_order (const Grower *grower, const PredictNodeSamples *node, guint feature)
{
  return grower->order + (size_t) feature * grower->n_drawn + node->begin;
}

/* The cut with the largest gain of all cuts of the features that are tried; the first of equal ones.
 * A constant feature does not count as tried until another one varies. */
static bool
find_best_split (Grower *grower, const PredictNodeSamples *node, Split *split)
{
  const Training *training = grower->training;
  uint32_t least = training->settings->min_samples_leaf;
  bool any = false;

  *split = (Split){ .gain = -1 };
  for (guint n_tried = 0;
       n_tried < training->samples->n_features && (n_tried < training->max_features || !any);
       n_tried++) {
    guint feature = next_feature (grower, n_tried);
    const float *x = training->x + feature * training->feature_stride;
    const uint32_t *order = feature_order (grower, node, feature);
    double sum = 0, weight = 0;

    if (predict_is_constant (x[order[0]], x[order[node->n - 1]]))
      continue;
    any = true;
    for (uint32_t i = 0; i + least < node->n; i++) {
      uint32_t row = order[i];
      float value = x[row], next = x[order[i + 1]];
      float middle = value / 2 + next / 2;
      double difference, gain;

      sum += grower->weights[row] * (training->y[row] - node->shift);
      weight += grower->weights[row];
      if (predict_is_constant (value, next) || i + 1 < least)
        continue;
      difference = node->weight * sum - weight * node->sum;
      gain = difference * difference / (weight * (node->weight - weight));
      /* The cut is never at the upper value, and at the lower one if no float lies between. */
      if (split->gain < 0 || gain > split->gain * (1 + TIE))
        *split = (Split){ feature, middle > value && middle < next ? middle : value, gain };
    }
  }
  return split->gain >= 0;
}

/* --- One tree --- */

#define NO_PARENT UINT32_MAX

/* A node that is still to be made. */
typedef struct {
  uint32_t begin, n;
  uint32_t parent; /* of a right child; NO_PARENT for a left child and the root */
  guint depth;
} Pending;

static Grower *
grower_new (const Training *training)
{
  Grower *grower = g_new0 (Grower, 1);
  uint64_t n = training->samples->n_samples;
  guint n_features = training->samples->n_features;

  grower->training = training;
  grower->drawn = g_new (PredictTreeSample, n);
  grower->spare = g_new (PredictTreeSample, n);
  grower->weights = g_new (uint32_t, n);
  grower->features = g_new (guint, n_features);
  if (training->best) {
    grower->order = g_new (uint32_t, n * n_features);
    grower->order_spare = g_new (uint32_t, n);
    grower->left = g_new (uint8_t, n);
  } else {
    grower->lanes = predict_lanes ();
    grower->n_blocks = (n_features + PREDICT_LANES - 1) / PREDICT_LANES;
    grower->blocks = g_new0 (PredictBlock, grower->n_blocks);
    for (guint feature = 0; feature < n_features; feature++)
      try_feature (grower, feature);
  }
  return grower;
}

static void
grower_free (Grower *grower)
{
  g_free (grower->drawn);
  g_free (grower->spare);
  g_free (grower->weights);
  g_free (grower->features);
  g_free (grower->blocks);
  g_free (grower->order);
  g_free (grower->order_spare);
  g_free (grower->left);
  g_free (grower->nodes);
  g_free (grower->values);
  g_free (grower);
}

/* Sums in four strands, which do not wait for each other. */
static PredictNodeSamples
node_samples (const PredictTreeSample *drawn, uint32_t begin, uint32_t n)
{
  double shift = drawn[begin].y;
  double sum[4] = { 0 }, squares[4] = { 0 };
  uint64_t weight[4] = { 0 };

  for (uint32_t i = 0; i < n; i++) {
    const PredictTreeSample *sample = &drawn[begin + i];
    double y = sample->y - shift;

    sum[i % 4] += sample->weight * y;
    squares[i % 4] += y * y;
    weight[i % 4] += sample->weight;
  }
  return (PredictNodeSamples){
    .begin = begin,
    .n = n,
    .weight = (double) (weight[0] + weight[1] + weight[2] + weight[3]),
    .shift = shift,
    .sum = sum[0] + sum[1] + (sum[2] + sum[3]),
    .pure = squares[0] + squares[1] + squares[2] + squares[3] == 0,
  };
}

/* Moves the node's samples with x <= cut to the front and returns their number; for best cuts also
 * the rows in the order of each feature.  Stable, so that memory is read forwards, and without a
 * branch that depends on values. */
static uint32_t
divide_node (Grower *grower, const PredictNodeSamples *node, const Split *split)
{
  const Training *training = grower->training;
  const float *x = training->x + split->feature * training->feature_stride;
  PredictTreeSample *drawn = grower->drawn + node->begin;
  uint32_t n_left = 0;

  for (uint32_t i = 0; i < node->n; i++) {
    PredictTreeSample sample = drawn[i];
    uint32_t is_left = x[sample.row * training->row_stride] <= split->cut;

    if (training->best)
      grower->left[sample.row] = (uint8_t) is_left;
    drawn[n_left] = sample;
    grower->spare[i - n_left] = sample;
    n_left += is_left;
  }
  memcpy (drawn + n_left, grower->spare, (node->n - n_left) * sizeof *drawn);
  for (guint feature = 0; training->best && feature < training->samples->n_features; feature++) {
    uint32_t *order = feature_order (grower, node, feature), n_before = 0, n_behind = 0;

    for (uint32_t i = 0; i < node->n; i++) {
      uint32_t row = order[i];

      order[n_before] = row;
      grower->order_spare[n_behind] = row;
      n_before += grower->left[row];
      n_behind += !grower->left[row];
    }
    memcpy (order + n_before, grower->order_spare, n_behind * sizeof *order);
  }
  return n_left;
}

/* Makes the node and appends its two children to `pending`, unless it is a leaf. */
static void
make_node (Grower *grower, const Pending *from, GArray *pending)
{
  const Training *training = grower->training;
  const PredictSettings *settings = training->settings;
  PredictNodeSamples samples = node_samples (grower->drawn, from->begin, from->n);
  double mean = samples.shift + samples.sum / samples.weight;
  uint32_t node = grower->n_nodes++;
  Pending left = { from->begin, 0, NO_PARENT, from->depth + 1 }, right = left;
  bool may_split =
      !samples.pure && !(settings->max_depth > 0 && from->depth >= settings->max_depth) &&
      from->n >= settings->min_samples_split && from->n / 2 >= settings->min_samples_leaf;
  Split split;

  if (node == grower->capacity) {
    grower->capacity = MAX (64, grower->capacity + grower->capacity / 2);
    grower->nodes = g_renew (PredictNode, grower->nodes, grower->capacity);
    grower->values = g_renew (double, grower->values, grower->capacity);
  }
  /* A leaf, whose right child is itself. */
  grower->nodes[node] = (PredictNode){ 0, -1, node };
  grower->values[node] = mean * training->unit;
  if (from->parent != NO_PARENT)
    grower->nodes[from->parent].right = node;
  grower->depth = MAX (grower->depth, from->depth);
  if (!may_split || !(training->best ? find_best_split (grower, &samples, &split)
                                     : find_random_split (grower, &samples, &split))) {
    grower->n_leaves++;
    return;
  }
  grower->nodes[node].cut = split.cut;
  grower->nodes[node].feature = (int32_t) split.feature;
  grower->importances[split.feature] += split.gain / samples.weight;
  left.n = divide_node (grower, &samples, &split);
  right = (Pending){ from->begin + left.n, from->n - left.n, node, from->depth + 1 };
  g_array_append_val (pending, right);
  g_array_append_val (pending, left);
}

/* Scales the importances to a sum of 1, unless all are 0. */
static void
normalise (double *importances, guint n)
{
  double sum = 0;

  for (guint feature = 0; feature < n; feature++)
    sum += importances[feature];
  for (guint feature = 0; feature < n && sum > 0; feature++)
    importances[feature] /= sum;
}

/* Grows tree number `tree`, which replaces the previous one.  importances[n_features], as in
 * scikit-learn: the decrease of the impurity at a feature's cuts, as shares of all. */
static void
grow_tree (Grower *grower, guint tree, double *importances)
{
  const Training *training = grower->training;
  uint64_t n = training->samples->n_samples;
  guint n_features = training->samples->n_features;
  bool bootstrap = training->settings->bootstrap;
  g_autoptr (GArray) pending = g_array_new (FALSE, FALSE, sizeof (Pending));
  Pending next = { .parent = NO_PARENT };

  grower->random = base_random_stream (training->settings->seed, tree);
  for (guint feature = 0; feature < n_features; feature++)
    grower->features[feature] = feature;
  grower->n_nodes = 0;
  grower->depth = 0;
  grower->n_leaves = 0;
  grower->importances = importances;

  /* Draw the samples. */
  for (uint64_t row = 0; row < n; row++)
    grower->weights[row] = bootstrap ? 0 : 1;
  for (uint64_t i = 0; bootstrap && i < n; i++)
    grower->weights[base_random_below (&grower->random, n)]++;
  grower->n_drawn = 0;
  for (uint32_t row = 0; row < n; row++) {
    if (grower->weights[row] == 0)
      continue;
    grower->drawn[grower->n_drawn++] =
        (PredictTreeSample){ training->y[row], row, grower->weights[row] };
    if (training->in_bag)
      training->in_bag[tree * training->n_words + row / 64] |= UINT64_C (1) << row % 64;
  }
  if (training->best) {
    uint32_t *order = grower->order;

    for (uint64_t i = 0; i < n * n_features; i++)
      if (grower->weights[training->order[i]] > 0)
        *order++ = training->order[i];
  }

  next.n = grower->n_drawn;
  g_array_append_val (pending, next);
  while (pending->len > 0) {
    next = g_array_index (pending, Pending, pending->len - 1);
    g_array_set_size (pending, pending->len - 1);
    make_node (grower, &next, pending);
  }
  normalise (importances, n_features);
}

/* --- All trees --- */

/* A tree when it has been grown. */
typedef struct {
  PredictNode *nodes;
  double *values;
  uint32_t n_nodes;
  guint depth, n_leaves;
} Grown;

typedef struct {
  const Training *training;
  GAsyncQueue *idle;   /* (element-type Grower): at most one per thread */
  Grown *grown;        /* [trees] */
  double *importances; /* [trees][n_features] */
} Fit;

static void
grow_one (void *data, guint tree)
{
  Fit *fit = data;
  Grower *grower = g_async_queue_try_pop (fit->idle);

  if (grower == NULL)
    grower = grower_new (fit->training);
  grow_tree (grower, tree, fit->importances + (gsize) tree * fit->training->samples->n_features);
  fit->grown[tree] =
      (Grown){ .nodes = g_memdup2 (grower->nodes, grower->n_nodes * sizeof *grower->nodes),
               .values = g_memdup2 (grower->values, grower->n_nodes * sizeof *grower->values),
               .n_nodes = grower->n_nodes,
               .depth = grower->depth,
               .n_leaves = grower->n_leaves };
  g_async_queue_push (fit->idle, grower);
}

/* Each tree is freed when it has been copied, so that there is about one copy at any time. */
static PredictForest *
put_together (const Fit *fit)
{
  guint n_trees = fit->training->settings->trees;
  PredictForest *forest = g_new0 (PredictForest, 1);

  forest->n_features = fit->training->samples->n_features;
  forest->n_trees = n_trees;
  forest->first = g_new (uint64_t, n_trees + 1);
  forest->first[0] = 0;
  for (guint tree = 0; tree < n_trees; tree++)
    forest->first[tree + 1] = forest->first[tree] + fit->grown[tree].n_nodes;
  forest->nodes = g_new (PredictNode, forest->first[n_trees]);
  forest->values = g_new (double, forest->first[n_trees]);
  for (guint tree = 0; tree < n_trees; tree++) {
    Grown *grown = &fit->grown[tree];

    memcpy (forest->nodes + forest->first[tree], grown->nodes,
            grown->n_nodes * sizeof *grown->nodes);
    g_free (grown->nodes);
    memcpy (forest->values + forest->first[tree], grown->values,
            grown->n_nodes * sizeof *grown->values);
    g_free (grown->values);
  }
  return forest;
}

PredictForest *
predict_forest_fit (const PredictSamples *samples, const PredictSettings *settings,
                    PredictForestReport *report, PredictProgress progress, void *progress_data)
{
  guint n_trees = settings->trees, n_features = samples->n_features;
  g_autofree Grown *grown = g_new0 (Grown, n_trees);
  g_autofree double *importances = g_new0 (double, (gsize) n_trees *n_features);
  Training training;
  Fit fit = { &training, g_async_queue_new (), grown, importances };
  Grower *grower;
  PredictForest *forest;

  g_assert (samples->n_samples > 0 && samples->n_samples <= UINT32_MAX && samples->y);
  g_assert (predict_settings_check (settings, NULL) && settings->method <= PREDICT_TREE);
  training_init (&training, samples, settings);
  predict_work (grow_one, &fit, n_trees, predict_threads (settings),
                &(PredictWorkShare){ progress, progress_data, 0, 1 });
  while ((grower = g_async_queue_try_pop (fit.idle)) != NULL)
    grower_free (grower);
  g_async_queue_unref (fit.idle);
  forest = put_together (&fit);
  if (report) {
    *report = (PredictForestReport){ .importances = g_new0 (double, n_features),
                                     .depths = g_new (guint, n_trees),
                                     .leaves = g_new (guint, n_trees) };
    /* Importances are the mean over the trees that have a cut, as in scikit-learn. */
    for (guint tree = 0; tree < n_trees; tree++) {
      for (guint feature = 0; feature < n_features; feature++)
        report->importances[feature] += importances[(gsize) tree * n_features + feature];
      report->depths[tree] = grown[tree].depth;
      report->leaves[tree] = grown[tree].n_leaves;
    }
    normalise (report->importances, n_features);
    if (settings->bootstrap) {
      report->out_of_bag = g_new (double, samples->n_samples);
      report->out_of_bag_sd = g_new (double, samples->n_samples);
      predict_forest_predict_out_of_bag (forest, samples, training.in_bag, settings->threads,
                                         report->out_of_bag, report->out_of_bag_sd);
    }
  }
  g_free (training.y);
  free (training.rows);
  g_free (training.order);
  g_free (training.in_bag);
  return forest;
}
