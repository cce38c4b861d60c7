/* boosting.c - gradient boosting: bins, histograms, trees, rounds; predictions, model files.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * In order: features in bins; the histograms of a node and its best cut; a tree, leaf by leaf; its leaves' values and
 * its place in the forest; the rounds and where they stop; predictions; model files. */
#include "predictors/boosting/boosting.h"

#include "base/json.h"
#include "base/random.h"
#include "predictors/forest/sort_rows.h"
#include "predictors/forest/work_threads.h"
#include "predictors/model/scale.h"
#include "predictors/scoring/evaluate.h"
#include "predictors/scoring/scores.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bins of values that are known; with that of missing ones their numbers fit in a byte. */
#define MAX_BINS 255u

/* A gain that is a smaller share of its parts is made of rounding. */
#define NO_GAIN 1e-12

/* Early stopping (scikit-learn's numbers). */
#define STOPPING_SAMPLES  10000u /* of PREDICT_STOPPING_AUTO: more than so many */
#define STOPPING_SHARE    0.1    /* of the groups is held out */
#define STOPPING_PATIENCE 10u    /* rounds without a better loss */
#define STOPPING_BETTER   1e-7   /* a gain below this share of the first loss is none */
/* The stream of the seed that draws whom to hold out. */
#define STREAM_STOPPING (UINT64_C (1) << 61)

/* Fewer additions than this are not worth waking threads for. */
#define WORTH_THREADS (UINT64_C (1) << 18)

/* --- Features in bins --- */

/* Bin b of a feature has the values above cut b - 1 and up to cut b; missing ones have the bin after the
 * last. */
typedef struct {
  const PredictSamples *samples;
  uint8_t *bin;  /* [n_features][n_samples] */
  float *cuts;   /* [n_features][MAX_BINS - 1] ascending */
  guint *n_cuts; /* [n_features] */
  bool *missing; /* [n_features] some values are */
  gsize *first;  /* [n_features + 1] where a feature's bins begin in a histogram */
} Binned;

/* The cut between two values: never the upper one, the lower one if no float lies between. */
static float
cut_between (float low, float high)
{
  float middle = low / 2 + high / 2;

  return middle > low && middle < high ? middle : low;
}

/* The cuts of ascending values[n]: between all that differ or, of more than MAX_BINS, at the quantiles that
 * divide them evenly; some of those may coincide. */
static guint
find_cuts (const float *values, uint64_t n, float *cuts)
{
  guint n_distinct = n > 0, n_cuts = 0;

  for (uint64_t i = 1; i < n && n_distinct <= MAX_BINS; i++)
    if (values[i] > values[i - 1]) {
      if (n_distinct < MAX_BINS)
        cuts[n_distinct - 1] = cut_between (values[i - 1], values[i]);
      n_distinct++;
    }
  if (n_distinct <= MAX_BINS)
    return MAX (n_distinct, 1) - 1;
  for (guint k = 1; k < MAX_BINS; k++) {
    uint64_t low = (n - 1) * k / MAX_BINS, high = low + ((n - 1) * k % MAX_BINS > 0);
    float cut = cut_between (values[low], values[high]);

    if ((n_cuts == 0 || cut > cuts[n_cuts - 1]) && cut < values[n - 1])
      cuts[n_cuts++] = cut;
  }
  return n_cuts;
}

static void
bin_feature (void *data, guint feature)
{
  Binned *binned = data;
  uint64_t n = binned->samples->n_samples, n_known = 0;
  const float *x = binned->samples->x + feature * n;
  uint8_t *bin = binned->bin + feature * n;
  float *cuts = binned->cuts + feature * (gsize) (MAX_BINS - 1);
  g_autofree float *known = g_new (float, n), *sorted = g_new (float, n);
  g_autofree uint32_t *rows = g_new (uint32_t, n), *spare = g_new (uint32_t, n);
  guint n_cuts;

  for (uint64_t i = 0; i < n; i++) {
    known[n_known] = x[i];
    n_known += !isnan (x[i]);
  }
  predict_sort_rows (known, n_known, rows, spare);
  for (uint64_t i = 0; i < n_known; i++)
    sorted[i] = known[rows[i]];
  n_cuts = binned->n_cuts[feature] = find_cuts (sorted, n_known, cuts);
  binned->missing[feature] = n_known < n;
  for (uint64_t i = 0; i < n; i++) {
    guint low = 0;

    /* The number of cuts below x, by halves and without a branch that depends on values. */
    for (guint left = n_cuts; left > 0;) {
      guint half = (left + 1) / 2;

      low += cuts[low + half - 1] < x[i] ? half : 0;
      left -= half;
    }
    bin[i] = (uint8_t) (isnan (x[i]) ? n_cuts + 1 : low);
  }
}

static void
binned_init (Binned *binned, const PredictSamples *samples, guint threads)
{
  guint n_features = samples->n_features;

  *binned = (Binned){ .samples = samples,
                      .bin = g_new (uint8_t, n_features * samples->n_samples),
                      .cuts = g_new0 (float, (gsize) n_features *(MAX_BINS - 1)),
                      .n_cuts = g_new (guint, n_features),
                      .missing = g_new (bool, n_features),
                      .first = g_new0 (gsize, n_features + 1) };
  predict_work (bin_feature, binned, n_features,
                n_features * samples->n_samples < WORTH_THREADS ? 1 : threads, NULL);
  for (guint feature = 0; feature < n_features; feature++)
    binned->first[feature + 1] =
        binned->first[feature] + binned->n_cuts[feature] + 1 + binned->missing[feature];
}

static void
binned_clear (Binned *binned)
{
  g_free (binned->bin);
  g_free (binned->cuts);
  g_free (binned->n_cuts);
  g_free (binned->missing);
  g_free (binned->first);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Binned, binned_clear)

/* --- Nodes and cuts --- */

/* The samples of a node that are in one bin of a feature: two doubles, which one instruction adds. */
typedef struct {
  double gradient; /* sum */
  double n;
} Bin;
typedef double BinPair __attribute__ ((vector_size (sizeof (Bin))));

typedef struct {
  guint feature;
  guint bin; /* the last one on the left, but for the missing values' */
  bool missing_left;
  double gain; /* 0: no cut */
  Bin left;
  double left_value, right_value;
} Split;

typedef struct {
  uint32_t begin, n; /* rows[begin ... begin + n - 1] are its samples */
  guint depth;
  double gradient;     /* sum */
  double value;        /* -gradient / (n + l2) within the bounds of its parent */
  double lower, upper; /* where monotone features keep the values below it */
  Bin *histogram;      /* of all features, while it may be divided; else NULL */
  Split split;
  uint32_t left; /* its children are nodes[left] and nodes[left + 1]; 0: a leaf */
} Node;

/* A tree that grows, with what it needs of the rounds. */
typedef struct {
  const Binned *binned;
  const PredictSettings *settings;
  guint least; /* samples of a leaf */
  guint threads;

  double *y, unit;    /* [n_samples] targets / unit, a power of two, below 2 in size */
  double *prediction; /* [n_samples] after the trees so far */
  float *gradient;    /* [n_samples] */
  uint32_t *learned;  /* [n] samples to learn from, ascending */
  uint32_t *rows;     /* [n] the same; those of a node are together, ascending */
  uint32_t n;
  uint32_t *spare; /* [n] */

  GArray *nodes;       /* (element-type Node) the root first */
  GPtrArray *unused;   /* (element-type Bin *) histograms for the next nodes */
  float *ordered;      /* [n] gradients of a node's rows */
  Split *splits;       /* [2][n_features] of the two nodes that are new */
  double *importances; /* [n_features] sums of gains */
} Grower;

/* The two children of a node, or the root alone (`large` NULL), whose histograms are missing.  The large one
 * has its parent's. */
typedef struct {
  Grower *grower;
  Node *small, *large;
} Newborn;

static double
bounded_value (double gradient, double n, double l2, double lower, double upper)
{
  double value = -gradient / (n + l2);

  return CLAMP (value, lower, upper);
}

/* The best cut of a node in a feature; of equal ones the first. */
static Split
best_cut (const Grower *grower, const Node *node, guint feature)
{
  const Binned *binned = grower->binned;
  const int8_t *monotone = binned->samples->monotone;
  const Bin *bins = node->histogram + binned->first[feature];
  guint n_cuts = binned->n_cuts[feature];
  double l2 = grower->settings->l2;
  Split best = { .gain = 0 };

  for (guint missing_left = 0; missing_left <= binned->missing[feature]; missing_left++) {
    Bin left = missing_left ? bins[n_cuts + 1] : (Bin){ 0 };
    /* Also all that is known against what is missing. */
    guint end = n_cuts + (binned->missing[feature] && !missing_left);

    for (guint bin = 0; bin < end; bin++) {
      double n_right, left_value, right_value, left_gain, right_gain, gain;

      left.gradient += bins[bin].gradient;
      left.n += bins[bin].n;
      n_right = node->n - left.n;
      if (n_right < grower->least)
        break;
      if (left.n < grower->least || bins[bin].n == 0)
        continue;
      left_value = bounded_value (left.gradient, left.n, l2, node->lower, node->upper);
      right_value =
          bounded_value (node->gradient - left.gradient, n_right, l2, node->lower, node->upper);
      if (monotone != NULL && monotone[feature] * (right_value - left_value) < 0)
        continue;
      left_gain = -left.gradient * left_value;
      right_gain = (left.gradient - node->gradient) * right_value;
      gain = left_gain + right_gain + node->gradient * node->value;
      if (gain > best.gain && gain > NO_GAIN * (fabs (left_gain) + fabs (right_gain)))
        best = (Split){ feature, bin, missing_left, gain, left, left_value, right_value };
    }
  }
  return best;
}

/* Histograms and best cuts of the new nodes in one feature. */
static void
weigh_feature (void *data, guint feature)
{
  const Newborn *born = data;
  Grower *grower = born->grower;
  const Binned *binned = grower->binned;
  gsize first = binned->first[feature], n_bins = binned->first[feature + 1] - first;
  const uint8_t *bin = binned->bin + feature * binned->samples->n_samples;
  const uint32_t *rows = grower->rows + born->small->begin;
  const float *ordered = grower->ordered;
  Bin *sums = born->small->histogram + first;

  memset (sums, 0, n_bins * sizeof *sums);
  for (uint32_t i = 0; i < born->small->n; i++) {
    Bin *sum = &sums[bin[rows[i]]];
    BinPair pair;

    memcpy (&pair, sum, sizeof pair);
    pair += (BinPair){ (double) ordered[i], 1 };
    memcpy (sum, &pair, sizeof pair);
  }
  grower->splits[feature] = best_cut (grower, born->small, feature);
  if (born->large == NULL)
    return;
  for (gsize i = 0; i < n_bins; i++) {
    Bin *rest = &born->large->histogram[first + i];

    rest->gradient -= sums[i].gradient;
    rest->n -= sums[i].n;
  }
  grower->splits[binned->samples->n_features + feature] = best_cut (grower, born->large, feature);
}

/* The cut with the largest gain; of equal ones that of the first feature. */
static Split
best_of (const Split *splits, guint n_features)
{
  guint best = 0;

  for (guint feature = 1; feature < n_features; feature++)
    if (splits[feature].gain > splits[best].gain)
      best = feature;
  return splits[best];
}

static void
weigh (Newborn *born)
{
  Grower *grower = born->grower;
  guint n_features = grower->binned->samples->n_features;
  Node *small = born->small;
  uint64_t n_additions = (uint64_t) small->n * n_features;

  small->histogram = grower->unused->len > 0
                         ? g_ptr_array_steal_index_fast (grower->unused, grower->unused->len - 1)
                         : g_new (Bin, grower->binned->first[n_features]);
  for (uint32_t i = 0; i < small->n; i++)
    grower->ordered[i] = grower->gradient[grower->rows[small->begin + i]];
  predict_work (weigh_feature, born, n_features, n_additions < WORTH_THREADS ? 1 : grower->threads,
                NULL);
  small->split = best_of (grower->splits, n_features);
  if (born->large != NULL)
    born->large->split = best_of (grower->splits + n_features, n_features);
}

/* --- One tree --- */

static Node *
node_at (const Grower *grower, guint node)
{
  return &g_array_index (grower->nodes, Node, node);
}

/* Gives the node's histogram back: it stays a leaf, or has become two. */
static void
drop_histogram (Grower *grower, Node *node)
{
  if (node->histogram != NULL)
    g_ptr_array_add (grower->unused, g_steal_pointer (&node->histogram));
}

/* The rows of the left child come first; both sides stay in ascending order. */
static void
divide_rows (Grower *grower, const Node *node)
{
  const Split *split = &node->split;
  const Binned *binned = grower->binned;
  const uint8_t *bin = binned->bin + split->feature * binned->samples->n_samples;
  guint of_missing = binned->n_cuts[split->feature] + 1;
  uint32_t *rows = grower->rows + node->begin, n_left = 0;

  for (uint32_t i = 0; i < node->n; i++) {
    uint32_t row = rows[i];

    rows[n_left] = row;
    grower->spare[i - n_left] = row;
    n_left += bin[row] <= split->bin || (split->missing_left && bin[row] == of_missing);
  }
  memcpy (rows + n_left, grower->spare, (node->n - n_left) * sizeof *rows);
}

static bool
may_split (const Grower *grower, const Node *node)
{
  guint max_depth = grower->settings->max_depth;

  return node->n / 2 >= grower->least && (max_depth == 0 || node->depth < max_depth);
}

/* Divides a node.  Its children may be divided in turn unless they are the last. */
static void
split_node (Grower *grower, guint parent, bool are_last)
{
  const int8_t *monotone = grower->binned->samples->monotone;
  Node node = *node_at (grower, parent), *left, *right;
  const Split *split = &node.split;
  Node child = { .depth = node.depth + 1, .lower = node.lower, .upper = node.upper };
  int direction = monotone != NULL ? monotone[split->feature] : 0;
  double middle = (split->left_value + split->right_value) / 2;
  bool splits_left, splits_right;

  divide_rows (grower, &node);
  grower->importances[split->feature] += split->gain;
  node_at (grower, parent)->left = grower->nodes->len;
  node_at (grower, parent)->histogram = NULL;
  g_array_append_val (grower->nodes, child);
  g_array_append_val (grower->nodes, child);
  right = node_at (grower, grower->nodes->len - 1);
  left = right - 1;
  left->begin = node.begin;
  left->n = (uint32_t) split->left.n;
  left->gradient = split->left.gradient;
  left->value = split->left_value;
  right->begin = node.begin + left->n;
  right->n = node.n - left->n;
  right->gradient = node.gradient - left->gradient;
  right->value = split->right_value;
  if (direction != 0) {
    (direction > 0 ? left : right)->upper = middle;
    (direction > 0 ? right : left)->lower = middle;
  }
  splits_left = !are_last && may_split (grower, left);
  splits_right = !are_last && may_split (grower, right);
  if (splits_left || splits_right) {
    Newborn born = { grower, left->n <= right->n ? left : right,
                     left->n <= right->n ? right : left };

    born.large->histogram = node.histogram;
    weigh (&born);
  } else
    g_ptr_array_add (grower->unused, node.histogram);
  if (!splits_left)
    left->split.gain = 0;
  if (!splits_right)
    right->split.gain = 0;
  if (!(left->split.gain > 0))
    drop_histogram (grower, left);
  if (!(right->split.gain > 0))
    drop_histogram (grower, right);
}

/* Grows a tree to the gradients. */
static void
grow_tree (Grower *grower)
{
  Node root = { .n = grower->n, .lower = -INFINITY, .upper = INFINITY };
  guint n_leaves = 1, max_leaves = grower->settings->max_leaf_nodes;
  Newborn born = { grower, NULL, NULL };

  for (uint32_t i = 0; i < grower->n; i++)
    root.gradient += (double) grower->gradient[grower->rows[i]];
  root.value = bounded_value (root.gradient, root.n, grower->settings->l2, root.lower, root.upper);
  g_array_set_size (grower->nodes, 0);
  g_array_append_val (grower->nodes, root);
  born.small = node_at (grower, 0);
  if (!may_split (grower, born.small))
    return;
  weigh (&born);
  for (; n_leaves < max_leaves; n_leaves++) {
    guint best = 0;

    /* Few leaves: a heap would be slower.  Nodes that have been divided have no histogram any more. */
    for (guint at = 1; at < grower->nodes->len; at++)
      if (node_at (grower, at)->histogram != NULL &&
          (node_at (grower, best)->histogram == NULL ||
           node_at (grower, at)->split.gain > node_at (grower, best)->split.gain))
        best = at;
    if (node_at (grower, best)->histogram == NULL || !(node_at (grower, best)->split.gain > 0))
      break;
    split_node (grower, best, n_leaves + 1 == max_leaves);
  }
  for (guint at = 0; at < grower->nodes->len; at++)
    drop_histogram (grower, node_at (grower, at));
}

/* --- Values of the leaves, and the tree among the others --- */

/* The quantile of values[n] (sorted here), as numpy's default. */
static double
quantile_of (double *values, uint32_t n, double share)
{
  qsort (values, n, sizeof *values, predict_compare_values);
  return predict_quantile (values, n, share);
}

/* Gives each node the step that it adds to the prediction, and adds it to that of its samples. */
static void
step (Grower *grower)
{
  const PredictSettings *settings = grower->settings;
  g_autofree double *rest = settings->quantile > 0 ? g_new (double, grower->n) : NULL;

  for (guint at = 0; at < grower->nodes->len; at++) {
    Node *node = node_at (grower, at);
    const uint32_t *rows = grower->rows + node->begin;

    if (rest != NULL && node->left == 0) {
      for (uint32_t i = 0; i < node->n; i++)
        rest[i] = grower->y[rows[i]] - grower->prediction[rows[i]];
      node->value = quantile_of (rest, node->n, settings->quantile);
    }
    node->value *= settings->learning_rate;
    for (uint32_t i = 0; node->left == 0 && i < node->n; i++)
      grower->prediction[rows[i]] += node->value;
  }
}

/* The tree of a sample that it did not learn from adds to its prediction. */
static void
step_held (Grower *grower, const uint32_t *held, uint32_t n_held)
{
  const Binned *binned = grower->binned;

  for (uint32_t i = 0; i < n_held; i++) {
    const Node *node = node_at (grower, 0);

    while (node->left != 0) {
      const Split *split = &node->split;
      guint bin = binned->bin[split->feature * binned->samples->n_samples + held[i]];
      bool is_left =
          bin <= split->bin || (split->missing_left && bin == binned->n_cuts[split->feature] + 1);

      node = node_at (grower, node->left + !is_left);
    }
    grower->prediction[held[i]] += node->value;
  }
}

/* Appends the tree in preorder.  twin[n_features]: the second column of a feature with missing values. */
static void
append_tree (const Grower *grower, const guint *twin, PredictForest *forest)
{
  const Binned *binned = grower->binned;
  uint64_t first = forest->first[forest->n_trees];
  g_autoptr (GArray) pending = g_array_new (FALSE, FALSE, 2 * sizeof (uint32_t));
  uint32_t next[2] = { 0, UINT32_MAX }; /* a node, and whose right child it is */
  uint32_t n = 0;

  forest->nodes = g_renew (PredictNode, forest->nodes, first + grower->nodes->len);
  forest->values = g_renew (double, forest->values, first + grower->nodes->len);
  g_array_append_val (pending, next);
  while (pending->len > 0) {
    const Node *node;
    const Split *split;

    memcpy (next, pending->data + (pending->len - 1) * sizeof next, sizeof next);
    g_array_set_size (pending, pending->len - 1);
    node = node_at (grower, next[0]);
    split = &node->split;
    if (next[1] != UINT32_MAX)
      forest->nodes[first + next[1]].right = n;
    forest->values[first + n] = node->value * grower->unit;
    forest->nodes[first + n] = (PredictNode){ 0, -1, n };
    if (node->left != 0) {
      guint n_cuts = binned->n_cuts[split->feature];
      const float *cuts = binned->cuts + split->feature * (gsize) (MAX_BINS - 1);
      uint32_t left[2] = { node->left, UINT32_MAX }, right[2] = { node->left + 1, n };

      /* A cut behind the last bin parts what is known from what is missing. */
      forest->nodes[first + n] = (PredictNode){
        .cut = split->bin < n_cuts ? cuts[split->bin] : FLT_MAX,
        .feature = (int32_t) (split->missing_left ? twin[split->feature] : split->feature),
      };
      g_array_append_val (pending, right);
      g_array_append_val (pending, left);
    }
    n++;
  }
  forest->first[++forest->n_trees] = first + n;
}

/* --- Rounds --- */

static void
grower_init (Grower *grower, const Binned *binned, const PredictSettings *settings)
{
  const PredictSamples *samples = binned->samples;
  uint64_t n = samples->n_samples;
  double largest = 0;
  int exponent;

  *grower = (Grower){ .binned = binned,
                      .settings = settings,
                      .threads = predict_threads (settings),
                      .y = g_new (double, n),
                      .prediction = g_new (double, n),
                      .gradient = g_new (float, n),
                      .learned = g_new (uint32_t, n),
                      .rows = g_new (uint32_t, n),
                      .spare = g_new (uint32_t, n),
                      .nodes = g_array_new (FALSE, FALSE, sizeof (Node)),
                      .unused = g_ptr_array_new_with_free_func (g_free),
                      .ordered = g_new (float, n),
                      .splits = g_new (Split, 2 * (gsize) samples->n_features),
                      .importances = g_new0 (double, samples->n_features) };
  /* A power of two changes no digit, and keeps gradients within single precision. */
  for (uint64_t i = 0; i < n; i++)
    largest = fmax (largest, fabs (samples->y[i]));
  frexp (largest, &exponent);
  grower->unit = ldexp (1, exponent - 1);
  for (uint64_t i = 0; i < n; i++)
    grower->y[i] = ldexp (samples->y[i], 1 - exponent);
}

static void
grower_clear (Grower *grower)
{
  g_free (grower->y);
  g_free (grower->prediction);
  g_free (grower->gradient);
  g_free (grower->learned);
  g_free (grower->rows);
  g_free (grower->spare);
  g_array_unref (grower->nodes);
  g_ptr_array_unref (grower->unused);
  g_free (grower->ordered);
  g_free (grower->splits);
  g_free (grower->importances);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Grower, grower_clear)

/* Begins to learn from the samples with is_held[i] == false (NULL: all), the others' rows go to held.
 * Returns the first prediction: the mean, or the quantile. */
static double
begin_rounds (Grower *grower, const bool *is_held, uint32_t *held)
{
  const PredictSettings *settings = grower->settings;
  uint64_t n = grower->binned->samples->n_samples;
  g_autofree double *known = g_new (double, n);
  uint32_t n_held = 0;
  double constant;

  grower->n = 0;
  for (uint32_t row = 0; row < n; row++)
    if (is_held != NULL && is_held[row])
      held[n_held++] = row;
    else {
      known[grower->n] = grower->y[row];
      grower->learned[grower->n++] = row;
    }
  grower->least = settings->min_samples_leaf > 0 ? settings->min_samples_leaf
                                                 : predict_boosting_least (grower->n);
  constant = settings->quantile > 0 ? quantile_of (known, grower->n, settings->quantile)
                                    : predict_scale_doubles (known, grower->n).mean;
  for (uint64_t row = 0; row < n; row++)
    grower->prediction[row] = constant;
  return constant;
}

/* Grows a tree to what is left over, and adds its steps. */
static void
one_round (Grower *grower)
{
  float quantile = (float) grower->settings->quantile;

  memcpy (grower->rows, grower->learned, grower->n * sizeof *grower->rows);
  for (uint32_t i = 0; i < grower->n; i++) {
    uint32_t row = grower->rows[i];
    double over = grower->prediction[row] - grower->y[row];

    grower->gradient[row] = quantile == 0 ? (float) over : over <= 0 ? -quantile : 1 - quantile;
  }
  grow_tree (grower);
  step (grower);
}

/* The mean loss of the samples that are held out: squared, or pinball. */
static double
held_loss (const Grower *grower, const uint32_t *held, uint32_t n_held)
{
  double quantile = grower->settings->quantile, sum = 0;

  for (uint32_t i = 0; i < n_held; i++) {
    double over = grower->prediction[held[i]] - grower->y[held[i]];

    sum += quantile == 0 ? over * over : over > 0 ? (1 - quantile) * over : -quantile * over;
  }
  return sum / n_held;
}

/* The number of trees after which samples that are held out were predicted best. */
static guint
best_rounds (Grower *grower, const PredictWorkShare *share)
{
  const PredictSettings *settings = grower->settings;
  const PredictSamples *samples = grower->binned->samples;
  uint64_t n = samples->n_samples;
  uint32_t n_groups = samples->group != NULL ? samples->n_groups : (uint32_t) n;
  g_autofree uint32_t *alone = samples->group == NULL ? g_new (uint32_t, n) : NULL;
  g_autofree uint32_t *held = g_new (uint32_t, n);
  g_autofree bool *is_held = g_new (bool, n);
  BaseRandom random = base_random_stream (settings->seed, STREAM_STOPPING);
  double first_loss, best_loss;
  guint best = 0;

  for (uint32_t i = 0; alone != NULL && i < n; i++)
    alone[i] = i;
  predict_split_draw (&random, alone != NULL ? alone : samples->group, n, n_groups, STOPPING_SHARE,
                      is_held);
  begin_rounds (grower, is_held, held);
  first_loss = best_loss = held_loss (grower, held, (uint32_t) n - grower->n);
  for (guint round = 1; round <= settings->trees && round - best <= STOPPING_PATIENCE; round++) {
    double loss;

    one_round (grower);
    step_held (grower, held, (uint32_t) n - grower->n);
    loss = held_loss (grower, held, (uint32_t) n - grower->n);
    if (loss < best_loss - STOPPING_BETTER * first_loss) {
      best_loss = loss;
      best = round;
    }
    predict_work_report (share, (double) round / settings->trees);
  }
  memset (grower->importances, 0, samples->n_features * sizeof *grower->importances);
  return MAX (best, 1);
}

static bool
stops_early (const PredictSettings *settings, const PredictSamples *samples)
{
  uint64_t n_groups = samples->group != NULL ? samples->n_groups : samples->n_samples;

  return n_groups >= 2 && (settings->early_stopping == PREDICT_STOPPING_ON ||
                           (settings->early_stopping == PREDICT_STOPPING_AUTO &&
                            samples->n_samples > STOPPING_SAMPLES));
}

guint
predict_boosting_least (uint64_t n_samples)
{
  return (guint) CLAMP (sqrt (0.75 * (double) n_samples), 1, 20);
}

PredictBoosting *
predict_boosting_fit (const PredictSamples *samples, const PredictSettings *settings,
                      double *importances, PredictProgress progress, void *progress_data)
{
  bool stops = stops_early (settings, samples);
  PredictWorkShare share = { progress, progress_data, 0, stops ? 0.5 : 1 };
  guint n_features = samples->n_features, n_trees = settings->trees;
  g_autofree guint *twin = g_new0 (guint, n_features);
  PredictBoosting *boosting = g_new0 (PredictBoosting, 1);
  PredictForest *forest = boosting->forest = g_new0 (PredictForest, 1);
  g_auto (Binned) binned = { 0 };
  g_auto (Grower) grower = { 0 };
  double gains = 0;

  g_assert (samples->n_samples > 0 && samples->n_samples <= UINT32_MAX && samples->y);
  g_assert (settings->method == PREDICT_BOOSTING && predict_settings_check (settings, NULL));
  binned_init (&binned, samples, predict_threads (settings));
  grower_init (&grower, &binned, settings);
  boosting->n_features = n_features;
  boosting->missing = g_new (guint, n_features);
  for (guint feature = 0; feature < n_features; feature++)
    if (binned.missing[feature]) {
      twin[feature] = n_features + boosting->n_missing;
      boosting->missing[boosting->n_missing++] = feature;
    }
  if (stops) {
    n_trees = best_rounds (&grower, &share);
    share.from = 0.5;
    share.to = 1;
  }
  forest->n_features = n_features + boosting->n_missing;
  forest->first = g_new0 (uint64_t, n_trees + 1);
  boosting->constant = begin_rounds (&grower, NULL, NULL) * grower.unit;
  while (forest->n_trees < n_trees) {
    one_round (&grower);
    append_tree (&grower, twin, forest);
    predict_work_report (&share, (double) forest->n_trees / n_trees);
  }
  for (guint feature = 0; feature < n_features; feature++)
    gains += grower.importances[feature];
  for (guint feature = 0; importances != NULL && feature < n_features; feature++)
    importances[feature] = gains > 0 ? grower.importances[feature] / gains : 0;
  return boosting;
}

void
predict_boosting_free (PredictBoosting *boosting)
{
  if (boosting == NULL)
    return;
  g_free (boosting->missing);
  predict_forest_free (boosting->forest);
  g_free (boosting);
}

/* --- Predictions --- */

void
predict_boosting_predict (const PredictBoosting *boosting, const PredictSamples *samples,
                          guint threads, double *predicted)
{
  uint64_t n = samples->n_samples;
  gsize n_known = n * boosting->n_features;
  g_autoptr (PredictSamples) twins = NULL;

  if (boosting->n_missing > 0) {
    twins = predict_samples_new (n, boosting->forest->n_features, FALSE);
    memcpy (twins->x, samples->x, n_known * sizeof *twins->x);
    for (guint k = 0; k < boosting->n_missing; k++)
      for (uint64_t i = 0; i < n; i++) {
        float value = samples->x[boosting->missing[k] * n + i];

        twins->x[n_known + k * n + i] = isnan (value) ? -INFINITY : value;
      }
  }
  predict_forest_predict (boosting->forest, twins != NULL ? twins : samples, threads, predicted,
                          NULL);
  /* The forest gives the mean over its trees. */
  for (uint64_t i = 0; i < n; i++)
    predicted[i] = boosting->constant + boosting->forest->n_trees * predicted[i];
}

/* --- Model files (doc/handbook/format-model.md) --- */

void
predict_boosting_write (const PredictBoosting *boosting, JsonBuilder *builder)
{
  json_builder_set_member_name (builder, "boosting");
  json_builder_begin_object (builder);
  base_json_add_number (builder, "constant", boosting->constant);
  json_builder_set_member_name (builder, "missing");
  json_builder_begin_array (builder);
  for (guint k = 0; k < boosting->n_missing; k++)
    json_builder_add_int_value (builder, boosting->missing[k]);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  predict_forest_write (boosting->forest, builder);
}

PredictBoosting *
predict_boosting_read (JsonObject *object, guint n_features, GError **error)
{
  g_autoptr (PredictBoosting) boosting = g_new0 (PredictBoosting, 1);
  JsonObject *from = base_json_object (object, "boosting", error);
  JsonArray *missing = from != NULL ? base_json_array (from, "missing", error) : NULL;
  guint n = missing != NULL ? json_array_get_length (missing) : 0;
  g_autofree double *numbers = g_new (double, n);
  double least = 0;

  if (missing == NULL || !base_json_number (from, "constant", &boosting->constant, error) ||
      !base_json_numbers (from, "missing", n, numbers, error))
    return NULL;
  boosting->n_features = n_features;
  boosting->missing = g_new (guint, n);
  for (; boosting->n_missing < n; boosting->n_missing++) {
    double feature = numbers[boosting->n_missing];

    if (!(feature >= least && feature < n_features && feature == floor (feature))) {
      base_json_fail ("missing", "an ascending array of features", error);
      return NULL;
    }
    boosting->missing[boosting->n_missing] = (guint) feature;
    least = feature + 1;
  }
  boosting->forest = predict_forest_read (object, n_features + n, error);
  return boosting->forest != NULL ? g_steal_pointer (&boosting) : NULL;
}
