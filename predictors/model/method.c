/* method.c - the methods, and the settings of each.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/model/method.h"

#include "predictors/predict_error.h"

#include <math.h>

const char *const predict_method_names[PREDICT_N_METHODS + 1] = {
  "extra-trees", "forest", "tree", "linear", "svr", "mean", "boosting", "auto", NULL,
};

const char *const predict_stopping_names[PREDICT_N_STOPPINGS + 1] = { "auto", "on", "off", NULL };

PredictSettings
predict_settings_default (PredictMethod method)
{
  return (PredictSettings){
    .method = method,
    .trees = method == PREDICT_TREE ? 1 : 100,
    .min_samples_split = 2,
    .min_samples_leaf = method == PREDICT_BOOSTING ? 0 : 1,
    .bootstrap = method == PREDICT_FOREST,
    .svr_c = 1,
    .svr_epsilon = 0.1,
    .max_leaf_nodes = 31,
    .learning_rate = 0.1,
    .seed = 1,
  };
}

static gboolean
at_least (const char *name, double value, double least, GError **error)
{
  if (isfinite (value) && value >= least)
    return TRUE;
  g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION, "%s is %g; it must be at least %g", name,
               value, least);
  return FALSE;
}

gboolean
predict_settings_check (const PredictSettings *settings, GError **error)
{
  switch (settings->method) {
  case PREDICT_EXTRA_TREES:
  case PREDICT_FOREST:
  case PREDICT_TREE:
    if (settings->method == PREDICT_TREE && settings->trees != 1) {
      g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                   "%u trees of method \"tree\", which is a single one", settings->trees);
      return FALSE;
    }
    return at_least ("the number of trees", settings->trees, 1, error) &&
           at_least ("min-samples-split", settings->min_samples_split, 2, error) &&
           at_least ("min-samples-leaf", settings->min_samples_leaf, 1, error);
  case PREDICT_LINEAR: return at_least ("ridge", settings->ridge, 0, error);
  case PREDICT_SVR:
    if (!(settings->svr_c > 0 && isfinite (settings->svr_c))) {
      g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                   "the penalty C of the SVR is %g; it must be above 0", settings->svr_c);
      return FALSE;
    }
    return at_least ("epsilon of the SVR", settings->svr_epsilon, 0, error) &&
           at_least ("gamma of the SVR", settings->svr_gamma, 0, error);
  case PREDICT_MEAN:
  case PREDICT_AUTO: return TRUE;
  case PREDICT_BOOSTING:
    if (!(settings->learning_rate > 0 && settings->learning_rate <= 1)) {
      g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                   "the learning rate is %g; it must be above 0 and at most 1",
                   settings->learning_rate);
      return FALSE;
    }
    if (!(settings->quantile >= 0 && settings->quantile < 1)) {
      g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                   "the quantile is %g; it must be between 0 and 1", settings->quantile);
      return FALSE;
    }
    return at_least ("the number of trees", settings->trees, 1, error) &&
           at_least ("max-leaf-nodes", settings->max_leaf_nodes, 2, error) &&
           at_least ("l2", settings->l2, 0, error);
  case PREDICT_N_METHODS: break;
  }
  g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION, "there is no method %d",
               (int) settings->method);
  return FALSE;
}

guint
predict_threads (const PredictSettings *settings)
{
  return settings->threads > 0 ? settings->threads : g_get_num_processors ();
}
