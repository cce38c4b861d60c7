/* forest.c - a forest: its predictions, and its place in a model file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/forest/forest.h"

#include "base/error.h"
#include "base/json.h"
#include "predictors/forest/work_threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
predict_forest_free (PredictForest *forest)
{
  if (forest == NULL)
    return;
  g_free (forest->first);
  g_free (forest->nodes);
  g_free (forest->values);
  g_free (forest);
}

void
predict_forest_report_clear (PredictForestReport *report)
{
  g_clear_pointer (&report->importances, g_free);
  g_clear_pointer (&report->depths, g_free);
  g_clear_pointer (&report->leaves, g_free);
  g_clear_pointer (&report->out_of_bag, g_free);
  g_clear_pointer (&report->out_of_bag_sd, g_free);
}

/* --- Descending ---
 *
 * The rows are divided from the root on, as when the tree grew: that reads a
 * column and the tree from front to back.  Few rows descend together, one step
 * each by turns, so that none waits for the memory of its own path. */

#define TOGETHER 16

/* Rows that are still to descend from a node. */
typedef struct {
  uint32_t node;
  uint32_t begin, n; /* in order[] */
} Descent;

/* Some samples (borrowed), by columns and by rows, with the memory to descend a tree. */
typedef struct {
  uint32_t n;
  const float *columns; /* value of a row's feature: columns[feature column_stride + row] */
  size_t column_stride;
  float *rows; /* the same by rows, each after an infinity: "feature" -1, which keeps a row at its
                  leaf */
  size_t row_stride;
  uint32_t *order;  /* [n] rows; those of a node are together */
  uint32_t *spare;  /* [n] */
  Descent *pending; /* [n]: each has a row of its own */
} Rows;

/* At most TOGETHER rows, all the way down. */
static void
descend (const Rows *rows, const Descent *from, const PredictNode *tree, const double *values,
         double *predicted)
{
  const uint32_t *order = rows->order + from->begin;
  const float *x[TOGETHER];
  uint32_t at[TOGETHER], moved;

  for (uint32_t k = 0; k < from->n; k++) {
    x[k] = rows->rows + order[k] * rows->row_stride + 1;
    at[k] = from->node;
    __builtin_prefetch (x[k]);
    __builtin_prefetch (x[k] + rows->row_stride / 2);
  }
  do {
    moved = 0;
    for (uint32_t k = 0; k < from->n; k++) {
      const PredictNode *node = &tree[at[k]];
      uint32_t left = at[k] + 1;
      uint32_t is_left = x[k][node->feature] <= node->cut;
      uint32_t next = node->right ^ ((node->right ^ left) & -is_left); /* without a branch */

      moved |= next ^ at[k];
      at[k] = next;
    }
  } while (moved);
  for (uint32_t k = 0; k < from->n; k++)
    predicted[order[k]] = values[at[k]];
}

/* predicted[n]: the value of each row's leaf. */
static void
predict_tree (Rows *rows, const PredictNode *tree, const double *values, double *predicted)
{
  uint32_t n_pending = 0;

  for (uint32_t row = 0; row < rows->n; row++)
    rows->order[row] = row;
  rows->pending[n_pending++] = (Descent){ 0, 0, rows->n };
  while (n_pending > 0) {
    Descent now = rows->pending[--n_pending];

    while (now.n > TOGETHER && tree[now.node].feature >= 0) {
      const PredictNode *node = &tree[now.node];
      const float *x = rows->columns + node->feature * rows->column_stride;
      uint32_t *order = rows->order + now.begin, n_left = 0;

      /* Rows that go left come first; both sides stay in ascending order. */
      for (uint32_t i = 0; i < now.n; i++) {
        uint32_t row = order[i];

        order[n_left] = row;
        rows->spare[i - n_left] = row;
        n_left += x[row] <= node->cut;
      }
      memcpy (order + n_left, rows->spare, (now.n - n_left) * sizeof *order);
      if (n_left < now.n && n_left > 0)
        rows->pending[n_pending++] = (Descent){ node->right, now.begin + n_left, now.n - n_left };
      now.node = n_left > 0 ? now.node + 1 : node->right;
      now.n = n_left > 0 ? n_left : now.n;
    }
    if (now.n <= TOGETHER)
      descend (rows, &now, tree, values, predicted);
    else
      for (uint32_t i = 0; i < now.n; i++)
        predicted[rows->order[now.begin + i]] = values[now.node];
  }
}

/* --- Means over the trees --- */

#define ROWS_TOGETHER 16384u /* a tree is read once for so many */
#define FEW_ROWS      512u   /* not worth a thread */

/* The predictions of the trees for one sample, one after the other (Welford 1962). */
typedef struct {
  guint n;
  double mean, squares; /* sum of squares of the deviations from the mean */
} RunningMean;

typedef struct {
  const PredictForest *forest;
  const PredictSamples *samples;
  const uint64_t *in_bag;   /* [trees][n_words] trees that saw a sample do not count; or NULL */
  double *mean, *deviation; /* [n_samples]; deviation may be NULL */
  guint n_rows;             /* of a part; the last one may have less */
} Prediction;

static void
predict_part (void *data, guint part)
{
  const Prediction *prediction = data;
  const PredictForest *forest = prediction->forest;
  uint64_t n_words = (prediction->samples->n_samples + 63) / 64;
  uint64_t first = (uint64_t) part * prediction->n_rows;
  guint n = (guint) MIN (prediction->n_rows, prediction->samples->n_samples - first);
  g_autofree double *predicted = g_new (double, n);
  g_autofree RunningMean *means = g_new0 (RunningMean, n);
  const PredictSamples *samples = prediction->samples;
  gsize stride = samples->n_features + 1;
  Rows rows = { .n = n,
                .columns = samples->x + first,
                .column_stride = samples->n_samples,
                .rows = g_new (float, n *stride),
                .row_stride = stride,
                .order = g_new (uint32_t, n),
                .spare = g_new (uint32_t, n),
                .pending = g_new (Descent, n) };

  for (guint row = 0; row < n; row++) {
    rows.rows[row * stride] = INFINITY;
    for (guint feature = 0; feature < samples->n_features; feature++)
      rows.rows[row * stride + 1 + feature] =
          samples->x[feature * samples->n_samples + first + row];
  }
  for (guint tree = 0; tree < forest->n_trees; tree++) {
    predict_tree (&rows, forest->nodes + forest->first[tree], forest->values + forest->first[tree],
                  predicted);
    for (guint row = 0; row < n; row++) {
      uint64_t at = first + row;
      RunningMean *mean = &means[row];
      double difference = predicted[row] - mean->mean;

      if (prediction->in_bag && prediction->in_bag[tree * n_words + at / 64] >> at % 64 & 1)
        continue;
      mean->n++;
      mean->mean += difference / mean->n;
      mean->squares += difference * (predicted[row] - mean->mean);
    }
  }
  for (guint row = 0; row < n; row++) {
    const RunningMean *mean = &means[row];

    prediction->mean[first + row] = mean->n > 0 ? mean->mean : (double) NAN;
    if (prediction->deviation)
      prediction->deviation[first + row] =
          mean->n > 0 ? sqrt (mean->squares / mean->n) : (double) NAN;
  }
  g_free (rows.rows);
  g_free (rows.order);
  g_free (rows.spare);
  g_free (rows.pending);
}

void
predict_forest_predict_out_of_bag (const PredictForest *forest, const PredictSamples *samples,
                                   const uint64_t *in_bag, guint threads, double *predicted,
                                   double *deviation)
{
  guint n_threads = predict_threads (&(PredictSettings){ .threads = threads });
  uint64_t n = samples->n_samples, even = (n + n_threads - 1) / n_threads;
  Prediction prediction = { forest,    samples,   in_bag,
                            predicted, deviation, (guint) CLAMP (even, FEW_ROWS, ROWS_TOGETHER) };

  g_assert (samples->n_features == forest->n_features);
  predict_work (predict_part, &prediction,
                (guint) ((n + prediction.n_rows - 1) / prediction.n_rows), n_threads, NULL);
}

void
predict_forest_predict (const PredictForest *forest, const PredictSamples *samples, guint threads,
                        double *predicted, double *deviation)
{
  predict_forest_predict_out_of_bag (forest, samples, NULL, threads, predicted, deviation);
}

/* --- Model files (doc/handbook/format-model.md) ---
 *
 * The nodes of all trees, one after the other, by columns that are packed: thousand trees of
 * 4,000 nodes are 80 MB, which JSON numbers would make 200 and a minute of parsing. */

void
predict_forest_write (const PredictForest *forest, JsonBuilder *builder)
{
  gsize n = forest->first[forest->n_trees];
  g_autofree int32_t *whole = g_new (int32_t, n);
  g_autofree float *cuts = g_new (float, n);

  json_builder_set_member_name (builder, "forest");
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "nodes_of_trees");
  json_builder_begin_array (builder);
  for (guint tree = 0; tree < forest->n_trees; tree++)
    json_builder_add_int_value (builder, (gint64) (forest->first[tree + 1] - forest->first[tree]));
  json_builder_end_array (builder);
  for (gsize i = 0; i < n; i++)
    whole[i] = forest->nodes[i].feature;
  base_json_add_packed (builder, "feature", whole, n, sizeof *whole);
  for (gsize i = 0; i < n; i++)
    cuts[i] = forest->nodes[i].cut;
  base_json_add_packed (builder, "cut", cuts, n, sizeof *cuts);
  for (gsize i = 0; i < n; i++)
    whole[i] = (int32_t) forest->nodes[i].right;
  base_json_add_packed (builder, "right", whole, n, sizeof *whole);
  base_json_add_packed (builder, "value", forest->values, n, sizeof *forest->values);
  json_builder_end_object (builder);
}

/* A packed array of as many values as there are nodes. */
static void *
read_column (JsonObject *object, const char *name, guint width, const PredictForest *forest,
             GError **error)
{
  gsize n;
  g_autofree void *values = base_json_packed (object, name, width, &n, error);

  if (values != NULL && n != forest->first[forest->n_trees]) {
    g_set_error (error, BASE_ERROR, BASE_ERROR_JSON,
                 "\"%s\" has %" G_GSIZE_FORMAT " values for %" G_GUINT64_FORMAT " nodes", name, n,
                 forest->first[forest->n_trees]);
    return NULL;
  }
  return g_steal_pointer (&values);
}

static gboolean
fail (GError **error, guint tree, uint64_t node, const char *what)
{
  g_set_error (error, BASE_ERROR, BASE_ERROR_JSON, "tree %u, node %" G_GUINT64_FORMAT ": %s", tree,
               node, what);
  return FALSE;
}

/* Whether it is a tree: each node reached exactly once, features that are there, finite numbers.  In
 * preorder, a leaf is followed by the right child that was announced last. */
static gboolean
tree_check (const PredictForest *forest, guint tree, GError **error)
{
  uint64_t n_nodes = forest->first[tree + 1] - forest->first[tree];
  const PredictNode *nodes = forest->nodes + forest->first[tree];
  const double *values = forest->values + forest->first[tree];
  g_autoptr (GArray) announced = g_array_new (FALSE, FALSE, sizeof (uint32_t));

  for (uint32_t at = 0; at < n_nodes; at++) {
    const PredictNode *node = &nodes[at];

    if (!isfinite (node->cut) || !isfinite (values[at]))
      return fail (error, tree, at, "not a finite number");
    if (node->feature < -1 || node->feature >= (gint64) forest->n_features)
      return fail (error, tree, at, "no such feature");
    if (node->feature >= 0) {
      g_array_append_val (announced, node->right);
      continue;
    }
    if (node->right != at)
      return fail (error, tree, at, "the right child of a leaf is not itself");
    if (announced->len == 0)
      return at + 1 == n_nodes || fail (error, tree, at + 1, "no node leads to it");
    if (g_array_index (announced, uint32_t, announced->len - 1) != at + 1)
      return fail (error, tree, at + 1, "not in preorder");
    g_array_set_size (announced, announced->len - 1);
  }
  return fail (error, tree, n_nodes, "the tree ends before its last leaf");
}

PredictForest *
predict_forest_read (JsonObject *object, guint n_features, GError **error)
{
  JsonObject *trees = base_json_object (object, "forest", error);
  JsonArray *sizes = trees != NULL ? base_json_array (trees, "nodes_of_trees", error) : NULL;
  guint n_trees = sizes != NULL ? json_array_get_length (sizes) : 0;
  g_autofree double *n_nodes = g_new (double, n_trees);
  g_autofree int32_t *features = NULL;
  g_autofree float *cuts = NULL;
  g_autofree uint32_t *rights = NULL;
  g_autoptr (PredictForest) forest = NULL;

  if (sizes == NULL || !base_json_numbers (trees, "nodes_of_trees", n_trees, n_nodes, error))
    return NULL;
  if (n_trees == 0) {
    base_json_fail ("nodes_of_trees", "a list of at least one tree", error);
    return NULL;
  }
  forest = g_new0 (PredictForest, 1);
  forest->n_features = n_features;
  forest->n_trees = n_trees;
  forest->first = g_new0 (uint64_t, n_trees + 1);
  for (guint tree = 0; tree < n_trees; tree++) {
    if (!(n_nodes[tree] >= 1 && n_nodes[tree] <= INT32_MAX)) {
      base_json_fail ("nodes_of_trees", "an array of numbers of nodes", error);
      return NULL;
    }
    forest->first[tree + 1] = forest->first[tree] + (uint64_t) n_nodes[tree];
  }
  if (!(features = read_column (trees, "feature", sizeof *features, forest, error)) ||
      !(cuts = read_column (trees, "cut", sizeof *cuts, forest, error)) ||
      !(rights = read_column (trees, "right", sizeof *rights, forest, error)))
    return NULL;
  forest->nodes = g_new (PredictNode, forest->first[n_trees]);
  for (gsize i = 0; i < forest->first[n_trees]; i++)
    forest->nodes[i] = (PredictNode){ cuts[i], features[i], rights[i] };
  forest->values = read_column (trees, "value", sizeof *forest->values, forest, error);
  if (forest->values == NULL)
    return NULL;
  for (guint tree = 0; tree < n_trees; tree++)
    if (!tree_check (forest, tree, error))
      return NULL;
  return g_steal_pointer (&forest);
}
