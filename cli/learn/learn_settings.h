/* learn_settings.h - the options that choose a method and how it learns.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/model/method.h"

typedef struct {
  char *method, *max_features, *early_stopping; /* NULL: not given */
  /* G_MININT: not given */
  int trees, min_samples_split, min_samples_leaf, max_depth, max_leaf_nodes;
  gboolean bootstrap;
  double learning_rate, l2, quantile, ridge, svr_c, svr_epsilon, svr_gamma; /* NaN: not given */
  gint64 seed;
  int threads; /* 0: a thread per processor */
} CliMethodOptions;

#define CLI_METHOD_OPTIONS_INIT                                                                  \
  {                                                                                              \
    .trees = G_MININT, .min_samples_split = G_MININT, .min_samples_leaf = G_MININT,              \
    .max_depth = G_MININT, .max_leaf_nodes = G_MININT, .learning_rate = NAN, .l2 = NAN,          \
    .quantile = NAN, .ridge = NAN, .svr_c = NAN, .svr_epsilon = NAN, .svr_gamma = NAN, .seed = 1 \
  }

void cli_method_options_clear (CliMethodOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliMethodOptions, cli_method_options_clear)

/* The struct must outlive parsing, and be cleared after. */
void cli_add_method_options (GOptionContext *context, CliMethodOptions *options);

/* The settings for a table with n_features features.  FALSE and *error: an option out of its range, or
 * one that the method ignores. */
gboolean cli_method_settings (const CliMethodOptions *options, guint n_features,
                              PredictSettings *settings, GError **error);

/* The settings that the method heeds, as "100 trees, max-features 3", for so many training samples; the
 * caller frees. */
char *cli_describe_settings (const PredictSettings *settings, uint64_t n_samples);
