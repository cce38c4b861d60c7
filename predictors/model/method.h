/* method.h - the methods of learning and their settings.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Names, meanings and defaults of the settings are scikit-learn's (1.2) where it has them. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef enum {
  PREDICT_EXTRA_TREES, /* Geurts, Ernst, Wehenkel 2006: one random cut per feature */
  PREDICT_FOREST,      /* Breiman 2001: best cut, bootstrap */
  PREDICT_TREE,        /* CART: one tree, best cut */
  PREDICT_LINEAR,      /* least squares with a constant; ridge > 0: penalised (standardised x) */
  PREDICT_SVR,         /* epsilon-SVR with a radial kernel, x and y standardised */
  PREDICT_MEAN,        /* the mean of the training targets */
  PREDICT_BOOSTING,    /* Friedman 2001: trees that correct each other (boosting.h) */
  PREDICT_AUTO,        /* the one of them that predicts unseen samples best (choice.h) */
  PREDICT_N_METHODS
} PredictMethod;

/* "extra-trees", "forest", "tree", "linear", "svr", "mean", "boosting", "auto", NULL. */
extern const char *const predict_method_names[PREDICT_N_METHODS + 1];

/* Whether boosting ends when samples that are held out are not predicted better any more. */
typedef enum {
  PREDICT_STOPPING_AUTO, /* of more than 10,000 samples */
  PREDICT_STOPPING_ON,
  PREDICT_STOPPING_OFF,
  PREDICT_N_STOPPINGS
} PredictStopping;

/* "auto", "on", "off", NULL. */
extern const char *const predict_stopping_names[PREDICT_N_STOPPINGS + 1];

typedef struct {
  PredictMethod method;
  guint trees;                          /* 100; a tree: 1 */
  guint max_features;                   /* features tried per node; 0: all */
  guint min_samples_split;              /* 2 */
  guint min_samples_leaf;               /* 1; of boosting 0: by the number of samples */
  guint max_depth;                      /* 0: no limit */
  gboolean bootstrap;                   /* a forest: TRUE */
  double ridge;                         /* 0: ordinary least squares */
  double svr_c, svr_epsilon, svr_gamma; /* 1, 0.1, 0: 1 / features */
  guint max_leaf_nodes;                 /* of boosting: 31 */
  double learning_rate;                 /* of boosting: 0.1, at most 1 */
  double l2;                            /* of boosting: 0 */
  double quantile;                      /* of boosting: learned instead of the mean; 0: the mean */
  PredictStopping early_stopping;       /* of boosting */
  uint64_t seed;                        /* 1 */
  guint threads; /* 0: as many as the process has processors.  Never changes a result */
} PredictSettings;

PredictSettings predict_settings_default (PredictMethod method);

/* FALSE and *error (PREDICT_ERROR_OPTION): a setting that the method uses is invalid for any table. */
gboolean predict_settings_check (const PredictSettings *settings, GError **error);

/* Of settings->threads: how many to use. */
guint predict_threads (const PredictSettings *settings);
