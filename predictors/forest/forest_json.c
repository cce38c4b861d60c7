/* forest_json.c - forests in model files (doc/handbook/format-model.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The nodes of all trees, one after the other, by columns that are packed: thousand trees of
 * 4,000 nodes are 80 MB, which JSON numbers would make 200 and a minute of parsing. */
#include "config.h"

#include "base/error.h"
#include "predictors/model/fitted_private.h"
#include "base/json.h"

#include <string.h>

static void
write_trees (const PredictForest *forest, JsonBuilder *builder)
{
  json_builder_set_member_name (builder, "nodes_of_trees");
  json_builder_begin_array (builder);
  for (guint tree = 0; tree < forest->n_trees; tree++)
    json_builder_add_int_value (builder, (gint64) (forest->first[tree + 1] - forest->first[tree]));
  json_builder_end_array (builder);
}

void
predict_forest_write (const PredictForest *forest, JsonBuilder *builder)
{
  gsize n = forest->first[forest->n_trees];
  g_autofree int32_t *whole = g_new (int32_t, n);
  g_autofree float *cuts = g_new (float, n);

  json_builder_set_member_name (builder, "forest");
  json_builder_begin_object (builder);
  write_trees (forest, builder);
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

/* Where the trees begin: first[n_trees + 1]. */
static gboolean
read_trees (JsonObject *object, PredictForest *forest, GError **error)
{
  JsonArray *sizes = base_json_array (object, "nodes_of_trees", error);
  g_autofree double *values = NULL;

  if (sizes == NULL)
    return FALSE;
  forest->n_trees = json_array_get_length (sizes);
  values = g_new (double, forest->n_trees);
  if (!base_json_numbers (object, "nodes_of_trees", forest->n_trees, values, error))
    return FALSE;
  forest->first = g_new0 (uint64_t, forest->n_trees + 1);
  for (guint tree = 0; tree < forest->n_trees; tree++) {
    if (!(values[tree] >= 1 && values[tree] <= INT32_MAX))
      return base_json_fail ("nodes_of_trees", "an array of numbers of nodes", error);
    forest->first[tree + 1] = forest->first[tree] + (uint64_t) values[tree];
  }
  return forest->n_trees > 0 || base_json_fail ("nodes_of_trees", "of one tree at least", error);
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
read_nodes (JsonObject *object, PredictForest *forest, GError **error)
{
  gsize n = forest->first[forest->n_trees];
  g_autofree int32_t *features = read_column (object, "feature", sizeof *features, forest, error);
  g_autofree float *cuts =
      features != NULL ? read_column (object, "cut", sizeof *cuts, forest, error) : NULL;
  g_autofree uint32_t *rights =
      cuts != NULL ? read_column (object, "right", sizeof *rights, forest, error) : NULL;

  if (rights == NULL)
    return FALSE;
  forest->nodes = g_new (PredictNode, n);
  for (gsize i = 0; i < n; i++)
    forest->nodes[i] = (PredictNode){ cuts[i], features[i], rights[i] };
  forest->values = read_column (object, "value", sizeof *forest->values, forest, error);
  return forest->values != NULL;
}

PredictForest *
predict_forest_read (JsonObject *object, guint n_features, GError **error)
{
  JsonObject *trees = base_json_object (object, "forest", error);
  g_autoptr (PredictForest) forest = NULL;

  if (trees == NULL)
    return NULL;
  forest = g_new0 (PredictForest, 1);
  forest->n_features = n_features;
  return read_trees (trees, forest, error) && read_nodes (trees, forest, error) &&
                 predict_forest_check (forest, error)
             ? g_steal_pointer (&forest)
             : NULL;
}
