/* forest.c - see forest.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/forest/forest.h"

#include "base/error.h"

#include <math.h>

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

/* --- Whether it is one --- */

static gboolean
fail (GError **error, guint tree, uint64_t node, const char *what)
{
  g_set_error (error, BASE_ERROR, BASE_ERROR_JSON, "tree %u, node %" G_GUINT64_FORMAT ": %s", tree,
               node, what);
  return FALSE;
}

/* What a node must be by itself; NULL: it is. */
static const char *
node_fault (const PredictForest *forest, const PredictNode *node, uint32_t index, double value)
{
  if (!isfinite (node->cut) || !isfinite (value))
    return "not a finite number";
  if (node->feature < -1 || node->feature >= (gint64) forest->n_features)
    return "no such feature";
  if (node->feature < 0 && node->right != index)
    return "the right child of a leaf is not itself";
  return NULL;
}

/* In preorder, what follows a leaf is the right child that was announced last. */
static gboolean
tree_check (const PredictForest *forest, guint tree, GError **error)
{
  uint64_t n_nodes = forest->first[tree + 1] - forest->first[tree];
  const PredictNode *nodes = forest->nodes + forest->first[tree];
  const double *values = forest->values + forest->first[tree];
  g_autoptr (GArray) announced = g_array_new (FALSE, FALSE, sizeof (uint32_t));

  for (uint32_t node = 0; node < n_nodes; node++) {
    const char *fault = node_fault (forest, &nodes[node], node, values[node]);

    if (fault)
      return fail (error, tree, node, fault);
    if (nodes[node].feature >= 0) {
      g_array_append_val (announced, nodes[node].right);
      continue;
    }
    if (announced->len == 0)
      return node + 1 == n_nodes || fail (error, tree, node + 1, "nothing leads to it");
    if (g_array_index (announced, uint32_t, announced->len - 1) != node + 1)
      return fail (error, tree, node + 1, "not in preorder");
    g_array_set_size (announced, announced->len - 1);
  }
  return fail (error, tree, n_nodes, "the tree ends before its last leaf");
}

gboolean
predict_forest_check (const PredictForest *forest, GError **error)
{
  if (forest->n_trees == 0 || forest->first[0] != 0) {
    g_set_error_literal (error, BASE_ERROR, BASE_ERROR_JSON, "a forest without trees");
    return FALSE;
  }
  for (guint tree = 0; tree < forest->n_trees; tree++) {
    if (forest->first[tree + 1] <= forest->first[tree] ||
        forest->first[tree + 1] - forest->first[tree] > UINT32_MAX)
      return fail (error, tree, 0, "a tree has 1 to 4294967295 nodes");
    if (!tree_check (forest, tree, error))
      return FALSE;
  }
  return TRUE;
}
