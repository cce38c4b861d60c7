/* forest_fit.c - threads, and trees put together.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/forest/crowd.h"
#include "predictors/forest/forest_private.h"

#include <string.h>

/* A tree when it has been grown. */
typedef struct {
  PredictNode *nodes;
  double *values;
  uint32_t n_nodes;
  guint depth, n_leaves;
} Grown;

typedef struct {
  const PredictGround *ground;
  GAsyncQueue *idle;   /* (element-type PredictGrower): at most one per thread */
  Grown *grown;        /* [trees] */
  double *importances; /* [trees][n_features] */
} Orchard;

static void
grow_one (void *data, guint tree)
{
  Orchard *orchard = data;
  PredictGrower *grower = g_async_queue_try_pop (orchard->idle);

  if (grower == NULL)
    grower = predict_grower_new (orchard->ground);
  predict_grower_grow (grower, tree,
                       orchard->importances + (gsize) tree * orchard->ground->samples->n_features);
  orchard->grown[tree] = (Grown){ .nodes = g_new (PredictNode, grower->n_nodes),
                                  .values = g_new (double, grower->n_nodes),
                                  .n_nodes = grower->n_nodes,
                                  .depth = grower->depth,
                                  .n_leaves = grower->n_leaves };
  memcpy (orchard->grown[tree].nodes, grower->nodes, grower->n_nodes * sizeof *grower->nodes);
  memcpy (orchard->grown[tree].values, grower->values, grower->n_nodes * sizeof *grower->values);
  g_async_queue_push (orchard->idle, grower);
}

/* Each tree is freed when it has been copied, so that there is about one copy at any time. */
static PredictForest *
put_together (const Orchard *orchard)
{
  guint n_trees = orchard->ground->settings->trees;
  PredictForest *forest = g_new0 (PredictForest, 1);

  forest->n_features = orchard->ground->samples->n_features;
  forest->n_trees = n_trees;
  forest->first = g_new (uint64_t, n_trees + 1);
  forest->first[0] = 0;
  for (guint tree = 0; tree < n_trees; tree++)
    forest->first[tree + 1] = forest->first[tree] + orchard->grown[tree].n_nodes;
  forest->nodes = g_new (PredictNode, forest->first[n_trees]);
  forest->values = g_new (double, forest->first[n_trees]);
  for (guint tree = 0; tree < n_trees; tree++) {
    Grown *grown = &orchard->grown[tree];

    memcpy (forest->nodes + forest->first[tree], grown->nodes,
            grown->n_nodes * sizeof *grown->nodes);
    g_free (grown->nodes);
    memcpy (forest->values + forest->first[tree], grown->values,
            grown->n_nodes * sizeof *grown->values);
    g_free (grown->values);
  }
  return forest;
}

/* The mean over the trees that were divided at all; scikit-learn's. */
static double *
importances_mean (const Orchard *orchard)
{
  guint n_features = orchard->ground->samples->n_features;
  double *mean = g_new0 (double, n_features);
  double sum = 0;

  for (guint tree = 0; tree < orchard->ground->settings->trees; tree++)
    for (guint feature = 0; feature < n_features; feature++)
      mean[feature] += orchard->importances[(gsize) tree * n_features + feature];
  for (guint feature = 0; feature < n_features; feature++)
    sum += mean[feature];
  for (guint feature = 0; feature < n_features && sum > 0; feature++)
    mean[feature] /= sum;
  return mean;
}

static void
report_fill (PredictForestReport *report, const Orchard *orchard)
{
  guint n_trees = orchard->ground->settings->trees;

  *report = (PredictForestReport){ .importances = importances_mean (orchard),
                                   .depths = g_new (guint, n_trees),
                                   .leaves = g_new (guint, n_trees) };
  for (guint tree = 0; tree < n_trees; tree++) {
    report->depths[tree] = orchard->grown[tree].depth;
    report->leaves[tree] = orchard->grown[tree].n_leaves;
  }
}

PredictForest *
predict_forest_fit (const PredictSamples *samples, const PredictSettings *settings,
                    PredictForestReport *report, PredictProgress progress, void *progress_data)
{
  g_autofree Grown *grown = g_new0 (Grown, settings->trees);
  g_autofree double *importances = g_new0 (double, (gsize) settings->trees * samples->n_features);
  PredictGround ground;
  Orchard orchard = { &ground, g_async_queue_new (), grown, importances };
  PredictGrower *grower;
  PredictForest *forest;

  g_assert (samples->n_samples > 0 && samples->n_samples <= UINT32_MAX && samples->y);
  g_assert (predict_settings_check (settings, NULL) && settings->method <= PREDICT_TREE);
  predict_ground_init (&ground, samples, settings);
  predict_crowd (grow_one, &orchard, settings->trees, predict_threads (settings),
                 &(PredictStretch){ progress, progress_data, 0, 1 });
  while ((grower = g_async_queue_try_pop (orchard.idle)) != NULL)
    predict_grower_free (grower);
  g_async_queue_unref (orchard.idle);
  forest = put_together (&orchard);
  if (report) {
    report_fill (report, &orchard);
    if (settings->bootstrap)
      predict_forest_out_of_bag (forest, &ground, report);
  }
  predict_ground_clear (&ground);
  return forest;
}
