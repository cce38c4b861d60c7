/* splits.h - which samples are learned from and which are predicted.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whole groups go to one side: all samples of one mapping, say, so that no sample of the
 * test set has a twin in the training set. */
#pragma once

#include "base/random.h"

#include <glib.h>
#include <stdbool.h>

/* is_test[n]: about `share` of the groups (rounded up, at least one on either side when there are
 * two) are drawn; group[i] < n_groups, and no group is empty. */
void predict_split_draw (BaseRandom *random, const uint32_t *group, uint64_t n, uint32_t n_groups,
                         double share, bool *is_test);

/* fold[n], 0 ... n_folds - 1: groups are shuffled and dealt; sizes in groups differ by at most
 * one.  n_folds <= n_groups. */
void predict_split_deal (BaseRandom *random, const uint32_t *group, uint64_t n, uint32_t n_groups,
                         guint n_folds, uint32_t *fold);

/* Of the samples with chosen[i], in their order: group[], numbered anew, and how many there are.  The
 * caller frees. */
uint32_t *predict_split_groups (const uint32_t *group, const bool *chosen, uint64_t n,
                                uint32_t n_groups, uint32_t *n_left);
